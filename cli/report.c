// SPDX-License-Identifier: GPL-3.0-or-later
// rehype report: one page that shows a run, what would pay, and estimates by itself.
#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/findings.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/suggest_sketches.h"
#include "optimize/plan.h"
#include "optimize/search.h"
#include "optimize/warn_estimate.h"
#include "optimize/warn_pools.h"
#include "optimize/warn_resources.h"
#include "report/json.h"
#include "report/page/carry_part.h"
#include "report/page/document.h"
#include "report/page/page.h"
#include "report/text.h"
#include "report/window_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A page is there soon, and its switches try what was not: a quarter of what `suggest` takes.
#define PAGE_SEARCH_NS (SEARCH_NS / 4)
#define ALL_FIGURES_NS UINT64_C(1000000000) // an estimate of a larger trace has fewer figures, and no interval

// What a page has beside the trace, which is packed into the rest.
#define BESIDE_TRACE_MB 1.2
enum { SEED = 1, PLANS = 10, SLICES = 60 };

static struct {
    const char *output, *plan, *actual, *model, *window, *request, *size;
    bool full;
} options = {.output = "report.html", .size = "5"};

static const struct option_spec specs[] = {
    {"--output", 'o', OPTION_TEXT, &options.output, "FILE", "where the page goes (report.html)"},
    {"--apply", 0, OPTION_TEXT, &options.plan, "PLAN", "the plan that the page begins with (the best one)"},
    {"--actual", 0, OPTION_TEXT, &options.actual, "TRACE",
     "a recording of the changed program, shown over what was estimated"},
    MODEL_OPTION(&options.model),
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_REQUEST_OPTION(&options.request),
    {"--size", 0, OPTION_TEXT, &options.size, "MB", "how large the page may be, in megabytes (5), at least 1.2"},
    {"--full", 0, OPTION_FLAG, &options.full, NULL, "the whole trace in the page, however large that makes it"},
    {0},
};

// One run of a page.
struct told {
    struct analysis analysis;
    struct findings findings;
};

struct report {
    struct told whole, actual, part;
    struct told *recorded; // what the page is of: the whole, or a part of it that fits
    struct carried_part carried;
    size_t most; // bytes that the packed trace may have
    enum model_kind model;
    struct estimator *trace; // the one that is searched
    struct search_result result;
    struct plan plan; // that the page begins with
    cJSON *document;
    struct arena arena;
};

static bool tell(struct told *told, const char *path, struct report *report, cJSON **json, struct error *error) {
    struct actor_questions questions = {0};
    const struct dag *dag = told->analysis.dag;
    if (!actor_log_is_empty(dag->trace)) questions.slice_ms = (double)(dag->last_ns - dag->first_ns) / 1e6 / SLICES;
    if (!analysis_choose_requests(&told->analysis, options.request, error) ||
        !findings_make(&told->analysis, &questions, &report->arena, &told->findings, error))
        return false;
    *json = findings_json(&told->analysis, path, &told->findings);
    return true;
}

// ---- what the page is told

static bool tell_recorded(struct report *report, const char *path, struct error *error) {
    cJSON *document = report->document, *machine = NULL, *metrics = NULL;
    struct told *told = report->recorded;
    struct task_sizes *sizes;
    size_t size_count;
    if (!tell(told, path, report, &metrics, error)) return false;
    cJSON_AddItemToObject(document, "metrics", metrics);
    cJSON_AddItemToObject(document, "profile", page_profile_json(&told->analysis.estimator.work.series));
    const struct dag *dag = told->analysis.dag;
    if (!grain_sizes(dag, &report->arena, &sizes, &size_count, error) ||
        !page_machine_json(dag, &told->analysis.window, &machine, error)) {
        cJSON_Delete(machine);
        return false;
    }
    cJSON_AddItemToObject(document, "machine", machine);
    cJSON_AddItemToObject(document, "sizes",
                          page_sizes_json(dag, sizes, size_count, told->findings.grain, told->findings.grain_count));
    cJSON_AddItemToObject(document, "cores", json_integer(dag->trace->header.cores));
    return true;
}

static bool search(struct report *report, struct error *error) {
    report->trace = &report->recorded->analysis.estimator;
    struct search_options search = {.model = report->model,
                                    .top = PLANS,
                                    .all_figures = estimator_cost_ns(report->trace) < ALL_FIGURES_NS,
                                    .seed = SEED,
                                    .evaluations = SEARCH_EVALUATIONS,
                                    .budget_ns = PAGE_SEARCH_NS,
                                    .progress = progress_steps,
                                    .progress_context = "plans estimated"};
    progress_stage("searching");
    bool ok = objective_parse("balanced", &report->arena, &search.objective, error) &&
              search_run(&report->trace, 1, &search, &report->arena, &report->result, error);
    progress_end();
    return ok;
}

static bool tell_suggestions(struct report *report, struct error *error) {
    struct analysis *analysis = &report->recorded->analysis;
    analysis->estimator.keeps = true; // the run by which its model is chosen is the search's first
    if (!model_parse(options.model, &report->model, error) ||
        !model_choose(analysis, report->model, &report->model, error) || !search(report, error))
        return false;
    const struct model model = {.kind = report->model};
    if (!warn_of_replay(&analysis->warnings, &report->result.null_replay_error, error) ||
        !warn_of_model(&analysis->warnings, analysis->dag, &model, error) ||
        !warn_of_pools(&analysis->warnings, analysis->dag, error) ||
        !warn_of_resources(&analysis->warnings, analysis->dag, error))
        return false;
    cJSON_AddItemToObject(report->document, "model", json_text(model_names[report->model]));
    cJSON_AddItemToObject(report->document, "model_number", json_integer(report->model));
    cJSON *suggestions = json_suggestions(&report->result, SEED);
    const struct suggest_sketches sketches = {.writer = {.arena = &report->arena}, .result = &report->result};
    cJSON_AddItemToObject(report->document, "suggestions", suggestions);
    cJSON_AddItemToObject(report->document, "switches", page_switches_json(&report->result));
    return suggest_sketches_add(&sketches, suggestions, error);
}

// ---- the plan that the page begins with

static bool choose_plan(struct report *report, struct error *error) {
    if (!options.plan) return search_best_plan(&report->result, &report->arena, &report->plan, error);
    if (!plan_read(options.plan, report->recorded->analysis.dag, &report->arena, &report->plan, error)) return false;
    for (size_t i = 0; i < report->plan.count; i++) {
        char text[1024];
        if (improvement_is_open(&report->plan.improvements[i]))
            return error_set(error, STATUS_BAD_INPUT,
                             "%s: %s is still to be chosen: `rehype estimate` chooses, and says what it chose",
                             options.plan, improvement_text(&report->plan.improvements[i], text, sizeof text));
    }
    return true;
}

// The switch of that improvement, one of those that are told, or made anew.
static int switch_of(struct report *report, const struct improvement *improvement) {
    cJSON *switches = cJSON_GetObjectItem(report->document, "switches"), *item;
    const uint64_t key = improvement_key(improvement, 0);
    int number = 0;
    cJSON_ArrayForEach(item, switches) {
        const cJSON *id = cJSON_GetObjectItem(item, "improvement");
        const size_t index = cJSON_IsNumber(id) || cJSON_IsRaw(id) ? (size_t)atoll(id->valuestring) - 1 : SIZE_MAX;
        if (index < report->result.candidate_count && improvement_key(report->result.candidates[index].named, 0) == key)
            return number;
        number++;
    }
    cJSON_AddItemToArray(switches, page_switch_json(improvement, 0));
    return number;
}

static bool run_plan(const struct plan *plan, enum model_kind model, struct estimator *estimator, bool *stuck,
                     struct error *error) {
    estimator->model = (struct model){.kind = model};
    dag_edit_clear(&estimator->edit, estimator->dag);
    return plan_apply(plan, model, &estimator->edit, error) && estimator_run(estimator, stuck, error);
}

// Its figures, and how much they owe to the accident of the recording; of one that could not end, how.
static bool tell_plan(struct report *report, struct error *error) {
    struct estimator *estimator = &report->recorded->analysis.estimator;
    cJSON *plan = cJSON_AddObjectToObject(report->document, "plan");
    cJSON *switches = cJSON_AddArrayToObject(plan, "switches");
    struct metrics estimated;
    struct intervals intervals;
    bool stuck = false;
    if (!run_plan(&report->plan, report->model, estimator, &stuck, error)) return false;
    for (size_t i = 0; i < report->plan.count; i++)
        cJSON_AddItemToArray(switches, json_integer(switch_of(report, &report->plan.improvements[i])));
    char chain[2048];
    cJSON_AddItemToObject(plan, "stuck",
                          stuck ? json_text(estimator_stuck_text(estimator, chain, sizeof chain)) : cJSON_CreateNull());
    if (stuck) return true;
    if (!estimator_measure(estimator, &report->result.base, true, &estimated, error)) return false;
    cJSON_AddItemToObject(plan, "estimate", json_metrics(&estimated));
    cJSON_AddItemToObject(plan, "profile", page_profile_json(&estimator->work.series));
    if (estimator_cost_ns(estimator) >= ALL_FIGURES_NS) return true;
    progress_stage("estimating replicates");
    if (!estimator_intervals(estimator, &estimated, &intervals, error)) return false;
    cJSON_AddItemToObject(plan, "interval", json_intervals(&intervals));
    return true;
}

static bool tell_actual(struct report *report, struct error *error) {
    cJSON *metrics = NULL;
    if (!options.actual) return true;
    if (!analysis_open(&report->actual.analysis, options.actual, options.window, false, error) ||
        !tell(&report->actual, options.actual, report, &metrics, error))
        return false;
    cJSON *actual = cJSON_AddObjectToObject(report->document, "actual");
    cJSON_AddItemToObject(actual, "metrics", metrics);
    cJSON_AddItemToObject(actual, "profile", page_profile_json(&report->actual.analysis.estimator.work.series));
    return true;
}

// ---- the trace

static void tell_carried(cJSON *document, const struct carried *carried, bool fits) {
    cJSON *object = cJSON_AddObjectToObject(document, "carried");
    cJSON_AddItemToObject(object, "bytes", json_integer((int64_t)carried->bytes));
    cJSON_AddBoolToObject(object, "fits", fits);
    cJSON_AddItemToObject(object, "quantum_ns", json_integer((int64_t)carried->quantum_ns));
    cJSON_AddBoolToObject(object, "functions", carried->functions);
    if (carried->why[0]) cJSON_AddItemToObject(object, "why", json_text(carried->why));
}

static bool tell_overview(struct report *report, struct error *error) {
    cJSON *overview = NULL;
    const bool ok = page_overview_json(report->recorded->analysis.dag, &overview, error);
    cJSON_AddItemToObject(report->document, "overview", overview);
    return ok;
}

// ---- of a trace that is too large a part

// What the whole run's window is, as events tell times: the DAG's are without the tracer's own cost, so that this is as
// exact as it needs to be.
static bool find_range(const struct analysis *analysis, struct carry_range *range, struct error *error) {
    const struct dag *dag = analysis->dag;
    const double length_ns = (double)(dag->last_ns - dag->first_ns);
    struct carry_range all;
    if (!carry_whole_range(analysis->trace, &all, error)) return false;
    const double per_ns = length_ns > 0 ? (double)(all.to_ns - all.from_ns) / length_ns : 0;
    *range = all;
    if (analysis->window.from_ns > dag->first_ns)
        range->from_ns = all.from_ns + (uint64_t)(per_ns * (double)(analysis->window.from_ns - dag->first_ns));
    if (analysis->window.to_ns < dag->last_ns)
        range->to_ns = all.from_ns + (uint64_t)(per_ns * (double)(analysis->window.to_ns - dag->first_ns)) + 1;
    return true;
}

// What the plan that was found in the part brings of the whole run, or why that can't be told.
static bool estimate_whole(struct report *report, const struct metrics *base, cJSON *part, struct error *error) {
    struct estimator *estimator = &report->whole.analysis.estimator;
    struct error lacking = ERROR_INIT;
    struct metrics estimated;
    struct plan plan;
    bool stuck = false;
    if (!plan_for_other(&report->plan, estimator->dag, &report->arena, &plan, &lacking) ||
        !run_plan(&plan, report->model, estimator, &stuck, &lacking)) {
        char why[1024];
        cJSON_AddItemToObject(part, "why", json_text(error_text(&lacking, why, sizeof why)));
        return true;
    }
    if (stuck) return true;
    if (!estimator_measure(estimator, base, true, &estimated, error)) return false;
    cJSON_AddItemToObject(part, "estimate", json_metrics(&estimated));
    return true;
}

// The run of the changed program is a whole one, too.
static bool tell_whole_actual(struct report *report, cJSON *part, struct error *error) {
    struct analysis *analysis = &report->actual.analysis;
    struct metrics metrics;
    if (!options.actual) return true;
    if (!analysis_open(analysis, options.actual, options.window, false, error) ||
        !analysis_choose_requests(analysis, options.request, error) || !analysis_measure(analysis, &metrics, error))
        return false;
    cJSON_AddItemToObject(part, "actual", json_metrics(&metrics));
    return true;
}

// What the page suggests was found in the part: searching the whole as well would take far longer than all else.
static bool measure_whole(struct report *report, cJSON *part, struct error *error) {
    struct analysis *whole = &report->whole.analysis;
    struct metrics base;
    progress_stage("estimating the whole run");
    if (!analysis_choose_requests(whole, options.request, error) || !analysis_measure(whole, &base, error))
        return false;
    cJSON_AddItemToObject(part, "base", json_metrics(&base));
    return (report->plan.count == 0 || estimate_whole(report, &base, part, error)) &&
           tell_whole_actual(report, part, error);
}

// Which part the page is of, and what is known of the whole, if there is anything to say of it.
static bool tell_whole(struct report *report, struct error *error) {
    const struct trace *trace = report->whole.analysis.trace;
    struct carry_range all;
    if (!carry_whole_range(trace, &all, error)) return false;
    const cJSON *switches = cJSON_GetObjectItem(report->document, "switches"), *number;
    cJSON *part = cJSON_AddObjectToObject(report->document, "part");
    cJSON *changes = cJSON_AddArrayToObject(part, "changes");
    cJSON_AddItemToObject(part, "from_ns", json_integer((int64_t)(report->carried.range.from_ns - all.from_ns)));
    cJSON_AddItemToObject(part, "to_ns", json_integer((int64_t)(report->carried.range.to_ns - all.from_ns)));
    cJSON_AddItemToObject(part, "of_ns", json_integer((int64_t)(all.to_ns - all.from_ns)));
    cJSON_AddItemToObject(part, "events", json_integer((int64_t)trace->event_count));
    cJSON_ArrayForEach(number, cJSON_GetObjectItem(cJSON_GetObjectItem(report->document, "plan"), "switches")) {
        const cJSON *one = cJSON_GetArrayItem(switches, atoi(number->valuestring));
        cJSON_AddItemToArray(changes, cJSON_Duplicate(cJSON_GetObjectItem(one, "text"), true));
    }
    return (report->plan.count == 0 && !options.actual) || measure_whole(report, part, error);
}

// Whether there is a part that the page can be of: not where it has not what the plan changes, or whose tasks are
// requests.
static bool open_part(struct report *report, const struct carried *whole, bool *found, struct error *error) {
    struct analysis *analysis = &report->part.analysis;
    struct carry_range range;
    struct plan plan;
    struct error lacking = ERROR_INIT;
    *found = false;
    progress_stage("packing a part of the trace");
    if (!find_range(&report->whole.analysis, &range, error) ||
        !carry_part(report->whole.analysis.trace, &range, whole, report->most, &report->carried, error))
        return false;
    if (!report->carried.trace) return true;
    struct trace *trace = report->carried.trace;
    report->carried.trace = NULL; // the analysis closes it
    if (!analysis_open_trace(analysis, trace, &lacking)) return true;
    *found = analysis_choose_requests(analysis, options.request, &lacking) &&
             (!options.plan || plan_read(options.plan, analysis->dag, &report->arena, &plan, &lacking));
    if (!*found) analysis_close(analysis);
    return true;
}

// ---- the command

static void tell_rest(struct report *report, const char *path) {
    const struct analysis *analysis = &report->recorded->analysis;
    cJSON *document = report->document, *window = cJSON_AddObjectToObject(document, "window");
    cJSON_AddItemToObject(document, "version", json_text(REHYPE_VERSION));
    cJSON_AddItemToObject(document, "trace", json_text(path));
    cJSON_AddItemToObject(document, "events", json_integer((int64_t)analysis->trace->event_count));
    cJSON_AddItemToObject(document, "lost_events", json_integer((int64_t)analysis->trace->lost_events));
    cJSON_AddBoolToObject(window, "whole",
                          analysis->window.from_ns == INT64_MIN && analysis->window.to_ns == INT64_MAX);
    cJSON_AddItemToObject(window, "from_ns", json_number((double)analysis->window.from_ns));
    cJSON_AddItemToObject(window, "to_ns", json_number((double)analysis->window.to_ns));
    cJSON_AddItemToObject(window, "why", json_text(analysis->choice.why));
    char text[WINDOW_TEXT_BYTES];
    cJSON_AddItemToObject(
        window, "text", json_text(window_text(analysis->dag, &analysis->window, &analysis->choice, text, sizeof text)));
    cJSON_AddItemToObject(document, "warnings", json_texts(analysis->warnings.texts, analysis->warnings.count));
}

static bool write_page(const struct page *page, struct error *error) {
    const int descriptor = open(options.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) return error_set(error, STATUS_FAILED, "can't write %s: %s", options.output, strerror(errno));
    bool ok = page_write(page, file, error);
    const bool bad = ferror(file);
    if ((fclose(file) != 0 || bad) && ok)
        ok = error_set(error, STATUS_FAILED, "can't write %s: %s", options.output, strerror(errno));
    return ok;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void say_part(const struct report *report) {
    const cJSON *part = cJSON_GetObjectItem(report->document, "part");
    const char *from = cJSON_GetObjectItem(part, "from_ns")->valuestring;
    const char *to = cJSON_GetObjectItem(part, "to_ns")->valuestring;
    printf("The trace does not fit into it: it is of %s to ", text_duration(atof(from)).s);
    printf("%s of the run, and says what its changes bring to the whole.\n", text_duration(atof(to)).s);
}

static bool tell_run(struct report *report, const char *path, struct error *error) {
    report->document = cJSON_CreateObject();
    cJSON_AddItemToObject(report->document, "schema", json_text("rehype.report/1"));
    return tell_recorded(report, path, error) && tell_suggestions(report, error) && choose_plan(report, error) &&
           tell_plan(report, error);
}

// The trace as the page carries it, or a part of it, for free(), and what is said of that. NULL where it can't carry
// any: it then has an overview.
static bool tell_with_trace(struct report *report, const char *path, char **packed, struct error *error) {
    struct carried whole;
    bool part = false;
    progress_stage("packing the trace");
    if (!carry_trace(report->whole.analysis.trace, report->most, &whole, error)) return false;
    *packed = whole.text;
    if (!whole.text && !open_part(report, &whole, &part, error)) return false;
    if (part) {
        report->recorded = &report->part;
        *packed = report->carried.carried.text;
        report->carried.carried.text = NULL;
    }
    if (!tell_run(report, path, error)) return false;
    tell_carried(report->document, part ? &report->carried.carried : &whole, *packed != NULL);
    if (part) return tell_whole(report, error);
    return tell_actual(report, error) && (*packed || tell_overview(report, error));
}

static bool find_room(struct report *report, struct error *error) {
    char *end;
    const double mb = strtod(options.size, &end);
    if (*end || end == options.size || !(mb >= BESIDE_TRACE_MB && mb <= 1e6))
        return error_set(error, STATUS_USAGE, "--size: expected megabytes, at least %.1f, not '%s'", BESIDE_TRACE_MB,
                         options.size);
    report->most = options.full ? SIZE_MAX : (size_t)((mb - BESIDE_TRACE_MB) * 1e6);
    return true;
}

static bool make(struct report *report, const char *path, struct error *error) {
    char *packed = NULL, *text = NULL;
    report->recorded = &report->whole;
    bool ok = find_room(report, error) && analysis_open(&report->whole.analysis, path, options.window, false, error) &&
              page_is_built(error) && tell_with_trace(report, path, &packed, error);
    if (ok) tell_rest(report, path);
    progress_stage("writing the page");
    text = ok ? cJSON_PrintUnformatted(report->document) : NULL;
    if (ok && !text) ok = error_set(error, STATUS_FAILED, "no memory for the page");
    ok = ok && write_page(&(struct page){name_of(path), text, packed}, error);
    cJSON_free(text);
    free(packed);
    progress_end();
    if (ok) analysis_warn(&report->whole.analysis);
    if (ok) printf("The page is in %s; any browser opens it, without a network.\n", options.output);
    if (ok && report->recorded == &report->part) say_part(report);
    return ok;
}

static void close_told(struct told *told) {
    findings_destroy(&told->findings);
    analysis_close(&told->analysis);
}

static int run(const struct operands *operands, struct error *error) {
    struct report report = {0};
    if (output_check(options.output, "page", error)) make(&report, operands->items[0], error);
    cJSON_Delete(report.document);
    close_told(&report.actual);
    close_told(&report.part);
    close_told(&report.whole);
    carried_part_destroy(&report.carried);
    arena_destroy(&report.arena);
    return (int)error->status;
}

const struct command command_report = {
    .name = "report",
    .summary = "one page that shows the run and estimates changes by itself",
    .usage = "TRACE [-o report.html] [--apply PLAN] [--actual TRACE] [--model M] "
             "[--window FROM..TO] [--request SITE] [--size MB] [--full]",
    .about = "Writes one HTML file that needs no network: what to change and what it brings, concurrency\n"
             "before and after, threads and tasks over time, waits and what would remove them, sizes of\n"
             "tasks, the machine, resources, actors. Its switches estimate any combination of changes in\n"
             "the page, by the same code as 'rehype estimate'. With --actual the changed program's run\n"
             "lies over what was estimated of it.",
    .example = "  rehype report trace.msgpack -o report.html",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
