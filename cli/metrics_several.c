// SPDX-License-Identifier: GPL-3.0-or-later
// One trace is open at a time: what is shown of it is taken along.
#include "cli/metrics_several.h"

#include "cli/analysis.h"
#include "cli/metrics_csv.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "metrics/actor_runs.h"
#include "report/actor_runs_text.h"
#include "report/actors_json.h"
#include "report/json.h"

#include <stdlib.h>

struct several {
    const struct several_options *options;
    struct actor_run *runs;
    size_t count;
    cJSON *documents; // with --json, one a trace
    struct arena arena;
};

static cJSON *document_of(const struct analysis *analysis, const char *path, const struct metrics *metrics,
                          const struct actor_findings *findings) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "trace", json_text(path));
    cJSON_AddItemToObject(object, "window", analysis_window_json(analysis));
    json_add_metrics(object, metrics);
    json_add_actors(object, findings);
    return object;
}

static void take(struct several *several, const struct analysis *analysis, const char *path,
                 const struct metrics *metrics, const struct actor_findings *findings) {
    if (several->documents) cJSON_AddItemToArray(several->documents, document_of(analysis, path, metrics, findings));
    if (!several->documents && !several->options->csv) analysis_write_window(analysis, true);
    actor_run_take(&several->runs[several->count++], path, metrics, findings);
}

static bool write_csv(struct several *several, const struct analysis *analysis, const char *path,
                      const struct metrics *metrics, const struct actor_findings *findings, struct error *error) {
    struct endpoints endpoints;
    if (!several->options->csv) return true;
    if (several->options->actors_alone) {
        metrics_csv_write_actors(path, findings, several->count == 0);
        return true;
    }
    if (!metrics_endpoints(analysis->dag, &analysis->window, &several->arena, &endpoints, error))
        return error_wrap(error, "%s", path);
    metrics_csv_write(path, analysis->dag, metrics, &endpoints, several->count == 0);
    return true;
}

static bool measure(struct several *several, const char *path, struct error *error) {
    const struct several_options *options = several->options;
    struct analysis analysis;
    struct metrics metrics;
    struct actor_findings findings = {0};
    if (!analysis_open(&analysis, path, options->window, options->keep_tracer_cost, error)) return false;
    const bool ok =
        analysis_choose_requests(&analysis, options->request, error) && analysis_measure(&analysis, &metrics, error) &&
        (actor_findings_make(analysis.dag, &analysis.window, &options->questions, &several->arena, &findings, error) ||
         error_wrap(error, "%s", path)) &&
        write_csv(several, &analysis, path, &metrics, &findings, error);
    if (ok) take(several, &analysis, path, &metrics, &findings);
    actor_findings_destroy(&findings);
    analysis_close(&analysis);
    return ok;
}

static bool write_json(struct several *several, struct error *error) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.metrics/1"));
    cJSON_AddItemToObject(document, "runs", several->documents);
    const struct balances sum = actor_runs_sum(several->runs, several->count);
    cJSON_AddItemToObject(document, "balances", json_balances(&sum));
    cJSON_AddItemToObject(document, "correlation", json_number(actor_runs_correlation(several->runs, several->count)));
    several->documents = NULL;
    return json_write(document, stdout, error);
}

static void write_all(struct several *several, struct error *error) {
    progress_end();
    if (several->options->json)
        write_json(several, error);
    else if (!several->options->csv)
        actor_runs_text_write(several->runs, several->count, stdout, terminal_look(stdout), error);
}

int metrics_several(const struct operands *operands, const struct several_options *options, struct error *error) {
    struct several several = {.options = options};
    several.runs = calloc(operands->count, sizeof *several.runs);
    if (options->json) several.documents = cJSON_CreateArray();
    bool ok = several.runs || error_set(error, STATUS_FAILED, "no memory for %zu traces", operands->count);
    for (size_t i = 0; ok && i < operands->count; i++) ok = measure(&several, operands->items[i], error);
    if (ok) write_all(&several, error);
    cJSON_Delete(several.documents);
    free(several.runs);
    arena_destroy(&several.arena);
    return (int)error->status;
}
