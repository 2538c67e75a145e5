// SPDX-License-Identifier: GPL-3.0-or-later
// rehype estimate: what the run would have been under a plan.
#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/estimate_runs.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "dag/simulate/clients.h"
#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "optimize/warn_estimate.h"
#include "optimize/warn_pools.h"
#include "optimize/warn_resources.h"
#include "report/costs.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/noise.h"
#include "report/text.h"

#include <sys/stat.h>

#define AS_RECORDED UINT64_MAX

static struct {
    const char *plan, *output, *model, *without, *rate, *window, *request, *think;
    uint64_t cores, clients;
    bool no_interval, json, keep_tracer_cost;
} options = {.output = "estimated.msgpack", .cores = AS_RECORDED, .clients = AS_RECORDED};

static const struct option_spec specs[] = {
    {"--apply", 0, OPTION_TEXT, &options.plan, "PLAN", "the plan, from suggest or hand-written"},
    {"--output", 'o', OPTION_TEXT, &options.output, "FILE", "where the estimated trace goes (estimated.msgpack)"},
    MODEL_OPTION(&options.model),
    WITHOUT_OPTION(&options.without),
    {"--cores", 0, OPTION_NUMBER, &options.cores, "N", "as on a machine with N cores; with the model cpu"},
    {"--rate", 0, OPTION_TEXT, &options.rate, "2x", "as if requests came twice as often, or so many a second: 400"},
    {"--clients", 0, OPTION_NUMBER, &options.clients, "N", "as if N clients asked, each behind its answer"},
    {"--think", 0, OPTION_TEXT, &options.think, "T", "as if each client waited so long between two: 20ms"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_TRACER_OPTION(&options.keep_tracer_cost),
    ANALYSIS_REQUEST_OPTION(&options.request),
    {"--no-interval", 0, OPTION_FLAG, &options.no_interval, NULL,
     "leave out how sure figures are, by the tasks' own variation: as many estimates less"},
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.estimate/1)"},
    {0},
};

struct details { // of a run
    struct resource_use *uses;
    size_t use_count;
    struct lateness *lateness; // NULL: unknown
    size_t lateness_count;
};

struct estimate { // of one run
    const char *trace_path;
    struct analysis analysis;
    struct model model;
    struct baseline baseline;
    struct metrics estimated;
    struct intervals intervals;
    struct chart charts[2];
    struct details details[2]; // as recorded, as estimated
    struct arena arena;        // of their names and places
};

struct estimates { // of all runs
    struct estimate *each;
    size_t count;
    struct estimate *main; // the median run of the first load: what is written and told in detail
    struct estimate_runs runs;
};

// A loop is closed, by clients that wait for answers, or open.
static bool check_clients(struct offered_load *load, struct error *error) {
    if (options.think && !model_parse_think(options.think, load, error)) return false;
    if (options.clients == 0 || (options.clients != AS_RECORDED && options.clients > UINT32_MAX))
        return error_set(error, STATUS_USAGE, "--clients: expected 1 to %u", UINT32_MAX);
    if (options.clients != AS_RECORDED) load->clients = (uint32_t)options.clients;
    if (!options.rate || (options.clients == AS_RECORDED && !options.think)) return true;
    return error_set(error, STATUS_USAGE,
                     "--rate says when requests come, whatever the answers: --clients and --think "
                     "mean nothing with it");
}

static bool check_options(struct model *model, struct error *error) {
    if (!options.plan) return error_set(error, STATUS_USAGE, "--apply PLAN is missing");
    if (!model_parse(options.model, &model->kind, error)) return false;
    if (options.rate && !model_parse_rate(options.rate, model, error)) return false;
    if (!check_clients(&model->load, error)) return false;
    if (options.cores == AS_RECORDED) return true;
    if (options.cores == 0) return error_set(error, STATUS_USAGE, "--cores 0: expected at least one core");
    model->cores = (double)options.cores;
    if (model->kind == MODEL_CPU) return true;
    return error_set(error, STATUS_USAGE, "--cores means nothing to the model %s", model_names[model->kind]);
}

// Writing over the trace would pull the mapped file away under the reader.
static bool check_output(const char *trace_path, struct error *error) {
    struct stat trace, output;
    bool known = stat(trace_path, &trace) == 0 && stat(options.output, &output) == 0;
    if (!known || trace.st_dev != output.st_dev || trace.st_ino != output.st_ino)
        return output_check(options.output, "trace", error);
    return error_set(error, STATUS_USAGE, "%s is the recorded trace: choose another file with -o", options.output);
}

// Whose spawns the rate speeds up.
static bool choose_arrivals(struct estimate *e, struct error *error) {
    struct offered_load *load = &e->model.load;
    const double recorded_per_s = clients_recorded_per_s(e->analysis.dag);
    const bool asked = load->per_s > 0 || load->clients || load->thinks;
    if (asked && recorded_per_s == 0)
        return error_set(error, STATUS_FAILED,
                         "%s does not tell who brings its requests: only --rate with a factor (2x) is possible",
                         e->trace_path);
    if (recorded_per_s > 0 && e->model.rate > 0) load->per_s = e->model.rate * recorded_per_s;
    e->model.rate_site = DAG_NONE;
    if (e->model.rate == 0 || load->per_s > 0) return true;
    e->model.rate_site = e->baseline.recorded.requests.site;
    return e->model.rate_site != DAG_NONE ||
           error_set(error, STATUS_FAILED, "--rate: %s has no requests to come more often", e->trace_path);
}

// Of the run that was measured last.
static bool find_details(struct estimate *e, bool recorded, struct error *error) {
    const struct estimator *estimator = &e->analysis.estimator;
    struct details *details = &e->details[!recorded];
    return estimator_resources(estimator, recorded, &e->arena, &details->uses, &details->use_count, error) &&
           estimator_lateness(estimator, recorded, &e->arena, &details->lateness, &details->lateness_count, error);
}

static bool measure_base(struct estimate *e, struct error *error) {
    struct estimator *estimator = &e->analysis.estimator;
    if (e->model.cores && e->model.kind != MODEL_CPU) {
        return error_set(error, STATUS_FAILED, "--cores needs what %s lacks: what its tasks computed", e->trace_path);
    }
    estimator->model = e->model;
    if (!estimator_measure_baseline(estimator, false, &e->baseline, error) || !choose_arrivals(e, error)) return false;
    estimator->model = e->model;
    analysis_chart(&e->analysis, "before", &e->baseline.recorded, &e->charts[0]);
    return find_details(e, true, error);
}

static bool warn(struct estimate *e, const struct plan *plan, struct error *error) {
    struct warnings *warnings = &e->analysis.warnings;
    char name[300];
    if (!warn_of_replay(warnings, &e->baseline.replay_error, error)) return false;
    if (!warn_of_model(warnings, e->analysis.dag, &e->model, error)) return false;
    if (!warn_of_halted_pools(warnings, e->analysis.dag, error)) return false;
    if (!warn_of_resources(warnings, e->analysis.dag, error)) return false;
    if (!warn_of_estimate(warnings, &e->analysis.estimator, error)) return false;
    for (size_t i = 0; i < plan->count; i++) {
        warnings->about = improvement_text(&plan->improvements[i], name, sizeof name);
        bool done = warn_of_change(warnings, &plan->improvements[i], error);
        warnings->about = NULL;
        if (!done) return false;
    }
    return true;
}

// More than any plan that is worth choosing; what R's filter would keep out comes after all that it lets pass.
#define FILTERED 1e6

// How good the plan is, for choosing what it leaves open as suggest would.
static bool judge(void *context, const struct plan *plan, bool wall, double *value, struct error *error) {
    struct estimate *e = context;
    struct estimator *estimator = &e->analysis.estimator;
    struct error refusal = ERROR_INIT;
    struct metrics metrics;
    bool stuck = true;
    *value = INFINITY;
    dag_edit_clear(&estimator->edit, estimator->dag);
    if (!plan_apply(plan, e->model.kind, &estimator->edit, &refusal)) return true;
    if (!estimator_run(estimator, &stuck, error)) return false;
    if (stuck) return true;
    if (!estimator_measure(estimator, &e->baseline.recorded, false, &metrics, error)) return false;
    if (wall) *value = (double)metrics.wall_ns;
    if (wall || isnan(metrics.balanced)) return true;
    bool passes = !filter_failed(&metrics, &e->baseline.recorded, e->baseline.noise);
    *value = metrics.balanced + (passes ? 0 : FILTERED);
    return true;
}

static bool apply_plan(struct estimate *e, struct arena *arena, struct plan *plan, struct error *error) {
    struct estimator *estimator = &e->analysis.estimator;
    if (!plan_read(options.plan, e->analysis.dag, arena, plan, error)) return false;
    progress_stage("choosing what the plan leaves open");
    if (!plan_resolve(plan, judge, e, arena, error)) return false;
    dag_edit_clear(&estimator->edit, estimator->dag);
    return plan_apply(plan, e->model.kind, &estimator->edit, error);
}

static bool measure_plan(struct estimate *e, struct arena *arena, struct plan *plan, struct error *error) {
    struct estimator *estimator = &e->analysis.estimator;
    if (!apply_plan(e, arena, plan, error) ||
        !analysis_estimate(&e->analysis, &e->baseline.recorded, &e->estimated, error) || !warn(e, plan, error)) {
        return false;
    }
    analysis_chart(&e->analysis, "after, as estimated", &e->estimated, &e->charts[1]);
    if (!find_details(e, false, error)) return false;
    progress_stage("writing the estimated trace");
    if (!estimator_write(estimator, options.output, error)) return false;
    if (options.no_interval) {
        e->intervals = intervals_unknown();
        return true;
    }
    progress_stage("estimating how sure that is");
    estimator->progress = progress_steps;
    estimator->progress_context = "variations of the run";
    return estimator_intervals(estimator, &e->estimated, &e->intervals, error);
}

static cJSON *metrics_of(const struct estimate *e, const struct metrics *metrics, const struct details *details) {
    const struct dag *dag = e->analysis.dag;
    cJSON *object = json_metrics(metrics);
    cJSON_AddItemToObject(object, "lateness_ns", json_lateness(dag, details->lateness, details->lateness_count));
    cJSON_AddItemToObject(object, "resources", json_resources(dag, details->uses, details->use_count));
    return object;
}

// Of several runs figures are the medians of those of the same load.
static bool write_json(const struct estimates *all, struct error *error) {
    const struct estimate *e = all->main;
    const struct warnings *warnings = &e->analysis.warnings;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.estimate/1"));
    cJSON_AddItemToObject(document, "model", json_text(model_names[e->model.kind]));
    cJSON_AddItemToObject(document, "cores", e->model.cores ? json_number(e->model.cores) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "rate", e->model.rate ? json_number(e->model.rate) : cJSON_CreateNull());
    const struct offered_load *load = &e->model.load;
    cJSON_AddItemToObject(document, "rate_per_s", load->per_s > 0 ? json_number(load->per_s) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "clients", load->clients ? json_number(load->clients) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "think_ns",
                          load->thinks ? json_number((double)load->think_ns) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "trace", json_text(e->trace_path));
    cJSON_AddItemToObject(document, "output", json_text(options.output));
    cJSON_AddItemToObject(document, "window", analysis_window_json(&e->analysis));
    cJSON_AddItemToObject(document, "base", metrics_of(e, &all->runs.loads[0].before, &e->details[0]));
    cJSON_AddItemToObject(document, "estimated", metrics_of(e, &all->runs.loads[0].after, &e->details[1]));
    cJSON_AddItemToObject(document, "composite", json_number(all->runs.loads[0].after.composite));
    cJSON_AddItemToObject(document, "balanced", json_number(all->runs.loads[0].after.balanced));
    cJSON_AddItemToObject(document, "null_replay_error", json_number(e->baseline.replay_error.share));
    cJSON_AddItemToObject(document, "interval", json_intervals(&e->intervals));
    cJSON_AddItemToObject(document, "costs", costs_json(e->analysis.dag, e->analysis.estimator.costs));
    cJSON_AddItemToObject(document, "warnings", json_texts(warnings->texts, warnings->count));
    estimate_runs_add(&all->runs, document);
    return json_write(document, stdout, error);
}

static void write_load(const struct estimate *e) {
    const struct offered_load *load = &e->model.load;
    if (load->per_s > 0) printf("  with %s requests a second, whenever answers come\n", text_number(load->per_s).s);
    if (load->clients) printf("  with %s clients\n", text_count(load->clients).s);
    if (load->thinks)
        printf("  with %s between an answer and the client's next request\n", text_duration((double)load->think_ns).s);
}

static bool write_figures(const struct estimates *all, struct error *error) {
    const struct estimate *e = all->main;
    const unsigned look = terminal_look(stdout);
    const struct metrics_text_run runs[2] = {{"before", &e->baseline.recorded}, {"after", &e->estimated}};
    if (all->count == 1) return metrics_text_write_two(runs, LAST_CHANGE, stdout, look, error);
    return estimate_runs_write(&all->runs, error);
}

// Of several runs with what they may be off by, behind a blank.
static struct text noise_of_share(const struct load_figures *load, enum run_figure figure) {
    struct text text = {""};
    if (load->run_count < 2) return text;
    snprintf(text.s, sizeof text.s, " %.30s",
             noise_text(text_number(load->after_noises.of[figure].half_width), terminal_look(stdout)).s);
    return text;
}

static void write_shares(const struct load_figures *load) {
    printf("\n  composite %s%s, balanced %s%s (the run as recorded is 1, less is better)\n",
           text_number(load->after.composite).s, noise_of_share(load, RUN_COMPOSITE).s,
           text_number(load->after.balanced).s, noise_of_share(load, RUN_BALANCED).s);
}

static bool write_intervals(const struct estimates *all, unsigned look, struct error *error) {
    if (options.no_interval) return true;
    if (!metrics_text_write_intervals(&all->main->intervals, stdout, look, error)) return false;
    look_printf(stdout, look, 2, "  (of %s alone: what its tasks vary by%s)", all->main->trace_path,
                all->count > 1 ? "" : "; what runs differ by is known from several, record --repeat");
    putchar('\n');
    return true;
}

static bool write_text(const struct estimates *all, struct error *error) {
    const struct estimate *e = all->main;
    const struct load_figures *load = &all->runs.loads[0];
    unsigned look = terminal_look(stdout);
    char change[512];
    analysis_write_window(&e->analysis, false);
    const bool several = load->run_count > 1;
    const struct text_noises noises = {several ? &load->before_noises : NULL, several ? &load->after_noises : NULL,
                                       look};
    metrics_text_change(&load->before, &load->after, &noises, change, sizeof change);
    look_lead(stdout, look, TONE_HEAD, "After: ", 7, change);
    putchar('\n');
    if (!write_figures(all, error)) return false;
    write_shares(load);
    printf("  null-replay error %s: how far the model %s is off when nothing is changed\n",
           text_percent(e->baseline.replay_error.share).s, model_names[e->model.kind]);
    if (e->model.cores) printf("  on %s cores\n", text_number(e->model.cores).s);
    if (e->model.rate) printf("  with requests %s times as often\n", text_number(e->model.rate).s);
    write_load(e);
    putchar('\n');
    if (!write_intervals(all, look, error)) return false;
    look_heading(stdout, look, "What handing over cost in the recorded run");
    if (!costs_write(e->analysis.dag, e->analysis.estimator.costs, stdout, look, error)) return false;
    double top = chart_top(e->charts, 2);
    for (int i = 0; i < 2; i++) {
        putchar('\n');
        chart_write(&e->charts[i], top, stdout, look);
    }
    printf("\nThe estimated run is in %s; every command reads it.\n", options.output);
    return true;
}

// ---- One run, or several

static bool find_paths(const struct operands *operands, struct estimates *all, struct arena *arena,
                       struct error *error) {
    all->count = operands->count ? operands->count : 1;
    all->each = ARENA_NEW(arena, struct estimate, all->count);
    if (!all->each) return error_set(error, STATUS_FAILED, "no memory for the traces");
    for (size_t i = 0; i < operands->count; i++) all->each[i].trace_path = operands->items[i];
    if (operands->count) return true;
    const char **path = &all->each[0].trace_path;
    if (!plan_trace_path(options.plan, arena, path, error)) return false;
    return *path || error_set(error, STATUS_BAD_INPUT, "%s names no \"trace\": give one before --apply", options.plan);
}

static bool open_run(struct estimate *e, struct error *error) {
    const bool as_recorded = options.keep_tracer_cost || e->model.kind == MODEL_DAG;
    return check_output(e->trace_path, error) &&
           analysis_open(&e->analysis, e->trace_path, options.window, as_recorded, error) &&
           model_parse_without(options.without, &e->analysis.estimator.costs->without, error) &&
           analysis_choose_requests(&e->analysis, options.request, error);
}

// By one model.
static bool open_runs(struct estimates *all, struct model model, struct error *error) {
    for (size_t i = 0; i < all->count; i++) {
        all->each[i].model = model;
        if (!open_run(&all->each[i], error) || !model_choose(&all->each[i].analysis, model.kind, &model.kind, error))
            return false;
    }
    for (size_t i = 0; i < all->count; i++) {
        all->each[i].model.kind = model.kind;
        if (!measure_base(&all->each[i], error)) return false;
    }
    return true;
}

// The plan, whose open numbers were chosen in one run, in another one. What that has no tasks for changes nothing
// there.
static bool apply_in(const struct plan *plan, struct estimate *e, struct arena *arena, struct error *error) {
    struct estimator *estimator = &e->analysis.estimator;
    struct plan own = {.improvements = ARENA_NEW(arena, struct improvement, plan->count + 1)};
    if (!own.improvements) return error_set(error, STATUS_FAILED, "no memory for the plan");
    for (size_t i = 0; i < plan->count; i++) {
        struct improvement *improvement = &own.improvements[own.count];
        if (!candidates_translate(&plan->improvements[i], estimator->dag, arena, improvement))
            return error_set(error, STATUS_FAILED, "no memory for the plan");
        if (improvement->task_count) own.count++;
    }
    dag_edit_clear(&estimator->edit, estimator->dag);
    return plan_apply(&own, e->model.kind, &estimator->edit, error);
}

static bool estimate_others(struct estimates *all, const struct plan *plan, struct arena *arena, struct error *error) {
    for (size_t i = 0; i < all->count; i++) {
        struct estimate *e = &all->each[i];
        if (e == all->main) continue;
        if (!apply_in(plan, e, arena, error) ||
            !analysis_estimate(&e->analysis, &e->baseline.recorded, &e->estimated, error))
            return error_wrap(error, "%s", e->trace_path);
    }
    return true;
}

static bool gather(struct estimates *all, struct arena *arena, struct error *error) {
    struct estimated_run *runs = ARENA_NEW(arena, struct estimated_run, all->count);
    if (!runs) return error_set(error, STATUS_FAILED, "no memory for the runs");
    for (size_t i = 0; i < all->count; i++) {
        const struct estimate *e = &all->each[i];
        runs[i] = (struct estimated_run){e->analysis.trace, &e->baseline.recorded, &e->estimated};
    }
    return estimate_runs_find(runs, all->count, arena, &all->runs, error);
}

static bool estimate(struct estimates *all, struct model model, const struct operands *operands, struct arena *arena,
                     struct error *error) {
    struct plan plan;
    if (!find_paths(operands, all, arena, error) || !open_runs(all, model, error) || !gather(all, arena, error))
        return false;
    all->main = &all->each[all->runs.loads[0].chosen];
    const bool done = measure_plan(all->main, arena, &plan, error) && estimate_others(all, &plan, arena, error) &&
                      estimate_runs_summarise(&all->runs, error);
    analysis_warn(&all->main->analysis); // where it failed, too: why another model was taken than asked for
    if (!done) return false;
    return options.json ? write_json(all, error) : write_text(all, error);
}

static int run(const struct operands *operands, struct error *error) {
    struct estimates all = {0};
    struct model model = {0};
    struct arena arena = ARENA_INIT;
    if (check_options(&model, error)) estimate(&all, model, operands, &arena, error);
    for (size_t i = 0; all.each && i < all.count; i++) {
        analysis_close(&all.each[i].analysis);
        arena_destroy(&all.each[i].arena);
    }
    arena_destroy(&arena);
    return (int)error->status;
}

const struct command command_estimate = {
    .name = "estimate",
    .summary = "what the run would have been under a plan",
    .usage = "[TRACE...] --apply PLAN [-o FILE] [--model M] [--cores N] [--rate 2x] [--window FROM..TO] "
             "[--keep-tracer-cost] [--request SITE] [--no-interval] [--wide] [--json]",
    .about = "Applies PLAN to the recorded run and works out when everything would have happened. TRACE is the plan's\n"
             "unless given. Writes the estimated run as a trace. A plan under which the run could not end is reported\n"
             "as deadlock or starvation with the chain of sites, and the exit status is 1. What the plan leaves open "
             "(factor,\n"
             "path) is chosen as 'suggest' would.\n"
             "Of several recordings those with equal command lines are repetitions: figures are medians, and beside "
             "each\n"
             "stands what they differ by from run to run, and whether the change is more than that. The trace that is\n"
             "written is that of the run of median wall time.",
    .example = "  rehype estimate --apply plan.json -o estimated.msgpack\n"
               "  rehype estimate trace-run*.msgpack --apply plan.json",
    .options = specs,
    .operands_least = 0,
    .operands_most = SIZE_MAX,
    .run = run,
};
