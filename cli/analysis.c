// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/analysis.h"

#include "cli/progress.h"
#include "cli/terminal.h"
#include "dag/build/perturbation.h"
#include "optimize/plan.h"
#include "report/text.h"
#include "report/window_text.h"

#include <stdio.h>
#include <string.h>

enum { WARNING_INDENT = 2 };

void analysis_warn(struct analysis *analysis) {
    char text[4096];
    progress_end();
    for (; analysis->warned < analysis->warnings.count; analysis->warned++) {
        snprintf(text, sizeof text, "%s: %s", analysis->trace->path, analysis->warnings.texts[analysis->warned]);
        look_lead(stderr, terminal_look(stderr), TONE_WARNING, "rehype: warning: ", WARNING_INDENT, text);
    }
}

static bool build(struct analysis *analysis, const char *window, bool keep_tracer_cost, struct error *error) {
    progress_stage("building the graph of %s events", text_count(analysis->trace->event_count).s);
    if (analysis->trace->event_count == 0)
        return error_set(error, STATUS_BAD_INPUT, "%s holds no events", analysis->trace->path);
    if (!(analysis->dag = dag_build(analysis->trace, error))) return false;
    if (!keep_tracer_cost && !dag_take_out_tracer_cost(analysis->dag, error)) return false;
    return window_choose(window, analysis->dag, &analysis->window, &analysis->choice, error) &&
           estimator_init(&analysis->estimator, analysis->dag, &analysis->window, error) &&
           warn_of_trace(&analysis->warnings, analysis->dag, error);
}

static bool open_all(struct analysis *analysis, const char *path, const char *window, bool keep_tracer_cost,
                     struct error *error) {
    progress_stage("reading %s", path);
    return (analysis->trace = trace_open(path, false, error)) && build(analysis, window, keep_tracer_cost, error);
}

bool analysis_open(struct analysis *analysis, const char *path, const char *window, bool keep_tracer_cost,
                   struct error *error) {
    *analysis = (struct analysis){.warnings.arena = &analysis->arena};
    bool ok = open_all(analysis, path, window, keep_tracer_cost, error);
    if (ok)
        analysis_warn(analysis);
    else
        analysis_close(analysis);
    return ok;
}

bool analysis_open_trace(struct analysis *analysis, struct trace *trace, struct error *error) {
    *analysis = (struct analysis){.trace = trace, .warnings.arena = &analysis->arena};
    const bool ok = build(analysis, "..", false, error);
    if (!ok) analysis_close(analysis);
    return ok;
}

bool analysis_choose_requests(struct analysis *analysis, const char *site, struct error *error) {
    struct arena arena = ARENA_INIT;
    bool found = !site || plan_find_site(analysis->dag, site, &arena, &analysis->estimator.request_site, error);
    arena_destroy(&arena);
    if (found) return true;
    if (error->status == STATUS_BAD_INPUT) error->status = STATUS_USAGE; // the trace is as it should be
    return error_wrap(error, "--request: %s", analysis->trace->path);
}

void analysis_write_window(const struct analysis *analysis, bool named) {
    char text[WINDOW_TEXT_BYTES];
    window_text(analysis->dag, &analysis->window, &analysis->choice, text, sizeof text);
    if (*text)
        look_printf(stdout, terminal_look(stdout), 0, "%s%s%s", named ? analysis->trace->path : "", named ? ": " : "",
                    text);
}

cJSON *analysis_window_json(const struct analysis *analysis) {
    return window_json(analysis->dag, &analysis->window, &analysis->choice);
}

bool analysis_measure(struct analysis *analysis, struct metrics *metrics, struct error *error) {
    return estimator_measure_recorded(&analysis->estimator, metrics, error);
}

static bool is_stuck(const struct analysis *analysis, struct error *error) {
    char chain[ERROR_CAUSE_BYTES - 64];
    return error_set(error, STATUS_FAILED, "the plan would %s:\n    %s", estimator_stuck_verb(&analysis->estimator),
                     estimator_stuck_text(&analysis->estimator, chain, sizeof chain));
}

bool analysis_estimate(struct analysis *analysis, const struct metrics *base, struct metrics *metrics,
                       struct error *error) {
    bool stuck;
    progress_stage("estimating");
    if (!estimator_run(&analysis->estimator, &stuck, error)) return false;
    if (stuck) return is_stuck(analysis, error);
    return estimator_measure(&analysis->estimator, base, true, metrics, error);
}

void analysis_chart(const struct analysis *analysis, const char *title, const struct metrics *metrics,
                    struct chart *chart) {
    *chart = (struct chart){.title = title, .wall_ns = (double)metrics->wall_ns};
    metrics_profile(&analysis->estimator.work.series, STATE_OCCUPIED, chart->values, CHART_COLUMNS);
}

void analysis_close(struct analysis *analysis) {
    estimator_destroy(&analysis->estimator);
    dag_free(analysis->dag);
    trace_close(analysis->trace);
    arena_destroy(&analysis->arena);
    *analysis = (struct analysis){0};
}
