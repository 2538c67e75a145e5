// SPDX-License-Identifier: GPL-3.0-or-later
// One trace is open at a time, beside the first, which tells whether others repeat it: what is shown of it is taken
// along.
#include "cli/metrics_several.h"

#include "cli/analysis.h"
#include "cli/metrics_csv.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "metrics/actor_runs.h"
#include "report/actor_runs_text.h"
#include "report/actors_json.h"
#include "report/json.h"
#include "report/noise.h"

#include <stdlib.h>

enum { RUNS_LEAST = 3 }; // two are set against each other, and say next to nothing of noise

struct several {
    const struct several_options *options;
    struct actor_run *runs;
    size_t count;
    struct analysis first; // once there is one
    bool repeats;          // so far all are recordings of one load
    cJSON *documents;      // with --json, one a trace
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
    const bool is_first = several->count == 0;
    struct analysis other, *analysis = is_first ? &several->first : &other;
    struct metrics metrics;
    struct actor_findings findings = {0};
    if (!analysis_open(analysis, path, options->window, options->keep_tracer_cost, error)) return false;
    several->repeats &= is_first || runs_are_alike(several->first.dag->trace, analysis->dag->trace);
    const bool ok = analysis_choose_requests(analysis, options->request, error) &&
                    analysis_measure(analysis, &metrics, error) &&
                    (actor_findings_make(analysis->dag, &analysis->window, &options->questions, &several->arena,
                                         &findings, error) ||
                     error_wrap(error, "%s", path)) &&
                    write_csv(several, analysis, path, &metrics, &findings, error);
    if (ok) take(several, analysis, path, &metrics, &findings);
    actor_findings_destroy(&findings);
    if (!ok || !is_first) analysis_close(analysis);
    return ok;
}

// ---- repetitions of one load

static bool find_noises(const struct several *several, struct noises *noises, struct error *error) {
    const struct metrics **runs = malloc(several->count * sizeof *runs);
    bool ok = runs || error_set(error, STATUS_FAILED, "no memory for the runs");
    for (size_t r = 0; ok && r < several->count; r++) runs[r] = &several->runs[r].metrics;
    ok = ok && noises_of(runs, several->count, noises, error);
    free(runs);
    return ok;
}

// The main figures, in a paragraph.
static bool write_noises(const struct several *several, struct error *error) {
    const unsigned look = terminal_look(stdout);
    struct noises noises;
    if (!several->repeats) return true;
    if (!find_noises(several, &noises, error)) return false;
    const struct noise *of = noises.of;
    const char *caveat = noise_caveat(several->count);
    look_printf(
        stdout, look, 0, "Runs of one program: wall %s%s, thread-time %s%s, occupied threads %s%s (peak), %s%s (mean).",
        text_duration(of[RUN_WALL].median).s, noise_behind(&noises, RUN_WALL, NOISE_IN_TIME, look).s,
        text_duration(of[RUN_THREAD_TIME].median).s, noise_behind(&noises, RUN_THREAD_TIME, NOISE_IN_TIME, look).s,
        text_fixed(of[RUN_OCCUPIED_PEAK].median, 2).s, noise_behind(&noises, RUN_OCCUPIED_PEAK, 2, look).s,
        text_fixed(of[RUN_OCCUPIED_MEAN].median, 2).s, noise_behind(&noises, RUN_OCCUPIED_MEAN, 2, look).s);
    look_printf(stdout, look, 0,
                "These are medians of %zu runs, %s how far they may be off from run to run (95 %%).%s%s\n",
                several->count, look & LOOK_UTF8 ? "\u00b1" : "+-", *caveat ? " " : "", caveat);
    return true;
}

// null where they are no repetitions.
static cJSON *noises_json(const struct several *several, struct error *error) {
    struct noises noises;
    if (!several->repeats || !find_noises(several, &noises, error)) return cJSON_CreateNull();
    cJSON *noise = noise_json(&noises, NULL);
    cJSON_AddItemToObject(noise, "runs", json_integer((int64_t)several->count));
    return noise;
}

static bool write_json(struct several *several, struct error *error) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.metrics/1"));
    cJSON_AddItemToObject(document, "runs", several->documents);
    const struct balances sum = actor_runs_sum(several->runs, several->count);
    cJSON_AddItemToObject(document, "balances", json_balances(&sum));
    cJSON_AddItemToObject(document, "correlation", json_number(actor_runs_correlation(several->runs, several->count)));
    cJSON_AddItemToObject(document, "noise", noises_json(several, error));
    several->documents = NULL;
    return json_write(document, stdout, error);
}

static void write_all(struct several *several, struct error *error) {
    progress_end();
    if (several->options->json)
        write_json(several, error);
    else if (!several->options->csv && write_noises(several, error))
        actor_runs_text_write(several->runs, several->count, stdout, terminal_look(stdout), error);
}

int metrics_several(const struct operands *operands, const struct several_options *options, struct error *error) {
    struct several several = {.options = options, .repeats = operands->count >= RUNS_LEAST};
    several.runs = calloc(operands->count, sizeof *several.runs);
    if (options->json) several.documents = cJSON_CreateArray();
    bool ok = several.runs || error_set(error, STATUS_FAILED, "no memory for %zu traces", operands->count);
    for (size_t i = 0; ok && i < operands->count; i++) ok = measure(&several, operands->items[i], error);
    if (ok) write_all(&several, error);
    if (several.count) analysis_close(&several.first);
    cJSON_Delete(several.documents);
    free(several.runs);
    arena_destroy(&several.arena);
    return (int)error->status;
}
