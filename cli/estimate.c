// SPDX-License-Identifier: GPL-3.0-or-later
// rehype estimate: what the run would have been under a plan.
#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "optimize/plan.h"
#include "report/costs.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/text.h"

#include <sys/stat.h>

static struct {
    const char *plan, *output, *model, *window, *request;
    uint64_t cores;
    bool json;
} options = {.output = "estimated.msgpack"};

static const struct option_spec specs[] = {
    {"--apply", 0, OPTION_TEXT, &options.plan, "PLAN", "the plan, from suggest or hand-written"},
    {"--output", 'o', OPTION_TEXT, &options.output, "FILE", "where the estimated trace goes (estimated.msgpack)"},
    {"--model", 0, OPTION_TEXT, &options.model, "M", "dag: threads as recorded (the only one)"},
    {"--cores", 0, OPTION_NUMBER, &options.cores, "N", "as on a machine with N cores; not with dag"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_REQUEST_OPTION(&options.request),
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.estimate/1)"},
    {0},
};

struct estimate {
    const char *trace_path;
    struct analysis analysis;
    struct baseline baseline;
    struct metrics estimated;
    struct chart charts[2];
};

static bool check_options(struct error *error) {
    if (!options.plan) return error_set(error, STATUS_USAGE, "--apply PLAN is missing");
    if (!analysis_check_model(options.model, error)) return false;
    if (options.cores) return error_set(error, STATUS_USAGE, "--cores means nothing to the model dag");
    return true;
}

// Writing over the trace would pull the mapped file away under the reader.
static bool check_output(const char *trace_path, struct error *error) {
    struct stat trace, output;
    if (stat(trace_path, &trace) != 0 || stat(options.output, &output) != 0) return true;
    if (trace.st_dev != output.st_dev || trace.st_ino != output.st_ino) return true;
    return error_set(error, STATUS_USAGE, "%s is the recorded trace: choose another file with -o", options.output);
}

static bool measure_base(struct estimate *e, struct error *error) {
    if (!estimator_measure_baseline(&e->analysis.estimator, false, &e->baseline, error)) return false;
    analysis_chart(&e->analysis, "before", &e->baseline.recorded, &e->charts[0]);
    return true;
}

static bool warn(struct estimate *e, const struct plan *plan, struct error *error) {
    struct warnings *warnings = &e->analysis.warnings;
    char name[300];
    if (!warn_of_replay(warnings, e->baseline.replay_error, error)) return false;
    for (size_t i = 0; i < plan->count; i++) {
        warnings->about = improvement_text(&plan->improvements[i], name, sizeof name);
        bool done = warn_of_change(warnings, &plan->improvements[i], error);
        warnings->about = NULL;
        if (!done) return false;
    }
    return true;
}

static bool measure_plan(struct estimate *e, struct arena *arena, struct error *error) {
    struct estimator *estimator = &e->analysis.estimator;
    struct plan plan;
    if (!plan_read(options.plan, e->analysis.dag, arena, &plan, error) ||
        !plan_apply(&plan, MODEL_DAG, &estimator->edit, error) ||
        !analysis_estimate(&e->analysis, &e->baseline.recorded, &e->estimated, error) || !warn(e, &plan, error)) {
        return false;
    }
    analysis_chart(&e->analysis, "after, as estimated", &e->estimated, &e->charts[1]);
    progress_stage("writing the estimated trace");
    return estimator_write(estimator, options.output, error);
}

static bool write_json(const struct estimate *e, struct error *error) {
    const struct warnings *warnings = &e->analysis.warnings;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.estimate/1"));
    cJSON_AddItemToObject(document, "model", json_text("dag"));
    cJSON_AddItemToObject(document, "trace", json_text(e->trace_path));
    cJSON_AddItemToObject(document, "output", json_text(options.output));
    cJSON_AddItemToObject(document, "base", json_metrics(&e->baseline.recorded));
    cJSON_AddItemToObject(document, "estimated", json_metrics(&e->estimated));
    cJSON_AddItemToObject(document, "composite", json_number(e->estimated.composite));
    cJSON_AddItemToObject(document, "balanced", json_number(e->estimated.balanced));
    cJSON_AddItemToObject(document, "null_replay_error", json_number(e->baseline.replay_error));
    cJSON_AddNullToObject(document, "interval");
    cJSON_AddItemToObject(document, "costs", costs_json(e->analysis.dag, e->analysis.estimator.costs));
    cJSON_AddItemToObject(document, "warnings", json_texts(warnings->texts, warnings->count));
    return json_write(document, stdout, error);
}

static bool write_text(const struct estimate *e, struct error *error) {
    bool utf8 = terminal_utf8();
    const struct metrics_text_run runs[2] = {{"before", &e->baseline.recorded}, {"after", &e->estimated}};
    if (!metrics_text_write_two(runs, LAST_CHANGE, stdout, utf8, error)) return false;
    printf("\n  composite %s, balanced %s (the run as recorded is 1, less is better)\n",
           text_number(e->estimated.composite).s, text_number(e->estimated.balanced).s);
    printf("  null-replay error %s: how far this model is off when nothing is changed\n",
           text_percent(e->baseline.replay_error).s);
    puts("\nWhat handing over cost in the recorded run");
    if (!costs_write(e->analysis.dag, e->analysis.estimator.costs, stdout, utf8, error)) return false;
    double top = chart_top(e->charts, 2);
    for (int i = 0; i < 2; i++) {
        putchar('\n');
        chart_write(&e->charts[i], top, stdout, utf8);
    }
    printf("\nThe estimated run is in %s; every command reads it.\n", options.output);
    return true;
}

static bool estimate(struct estimate *e, const struct operands *operands, struct arena *arena, struct error *error) {
    if (operands->count > 0)
        e->trace_path = operands->items[0];
    else if (!plan_trace_path(options.plan, arena, &e->trace_path, error))
        return false;
    if (!check_output(e->trace_path, error) || !analysis_open(&e->analysis, e->trace_path, options.window, error) ||
        !analysis_choose_requests(&e->analysis, options.request, error) || !measure_base(e, error) ||
        !measure_plan(e, arena, error)) {
        return false;
    }
    analysis_warn(&e->analysis);
    return options.json ? write_json(e, error) : write_text(e, error);
}

static int run(const struct operands *operands, struct error *error) {
    struct estimate e = {0};
    struct arena arena = ARENA_INIT;
    if (check_options(error)) estimate(&e, operands, &arena, error);
    analysis_close(&e.analysis);
    arena_destroy(&arena);
    return (int)error->status;
}

const struct command command_estimate = {
    .name = "estimate",
    .summary = "what the run would have been under a plan",
    .usage = "[TRACE] --apply PLAN [-o FILE] [--model M] [--cores N] [--window FROM..TO] [--request SITE] [--json]",
    .about =
        "Applies PLAN to the recorded run and works out when everything would have happened. TRACE is the plan's\n"
        "unless given. Writes the estimated run as a trace. A plan under which the run would deadlock is reported\n"
        "with the chain of sites, and the exit status is 1.",
    .example = "  rehype estimate --apply plan.json -o estimated.msgpack",
    .options = specs,
    .operands_least = 0,
    .operands_most = 1,
    .run = run,
};
