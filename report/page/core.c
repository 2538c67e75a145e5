// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/core_state.h"

#include "dag/build/perturbation.h"
#include "optimize/objective.h"
#include "optimize/ordering.h"
#include "report/page/columns.h"
#include "report/page/room.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct core page_core;

void *page_alloc(size_t bytes) {
    return malloc(bytes);
}

void page_free(void *memory) {
    free(memory);
}

// ---- messages

const char *page_message(void) {
    return page_core.message;
}

bool core_fail(struct core *core, const struct error *error) {
    error_text(error, core->message, sizeof core->message);
    return false;
}

bool core_say(struct core *core, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(core->message, sizeof core->message, format, arguments);
    va_end(arguments);
    return false;
}

// ---- open and close

// What a page carries becomes a trace file again; that may be had as it is, too.
static bool unpack(struct core *core, size_t *bytes, struct error *error) {
    struct trace_memory file = {0};
    if (!columns_are(core->bytes, *bytes)) return true;
    const bool ok = columns_unpack(core->bytes, *bytes, &file, error);
    free(core->bytes);
    core->bytes = file.bytes;
    *bytes = file.size;
    return ok;
}

static bool build(struct core *core, size_t bytes, struct error *error) {
    if (!unpack(core, &bytes, error)) return false;
    if (!(core->trace = trace_open_memory("the trace", core->bytes, bytes, false, error))) return false;
    if (core->trace->event_count == 0) return error_set(error, STATUS_BAD_INPUT, "the trace holds no events");
    if (vertices_of(core->trace) > VERTICES_MOST)
        return error_set(error, STATUS_FAILED, "a page has memory for %d events of tasks, and the trace has %" PRIu64,
                         VERTICES_MOST, vertices_of(core->trace));
    return (core->dag = dag_build(core->trace, error)) && dag_take_out_tracer_cost(core->dag, error);
}

static bool choose_model(struct core *core, int model, struct error *error) {
    if (model < MODEL_DAG || model > MODEL_CPU) return error_set(error, STATUS_USAGE, "there is no model %d", model);
    if (model == MODEL_CPU && !core->dag->vertices.compute_ns)
        return error_set(error, STATUS_USAGE, "the model cpu needs what tasks computed, which the trace does not tell");
    core->estimator.model = (struct model){.kind = (enum model_kind)model};
    return true;
}

static int64_t whole_ns(double ns) {
    if (ns <= -0x1p63) return INT64_MIN;
    return ns >= 0x1p63 ? INT64_MAX : (int64_t)ns;
}

static bool measure(struct core *core, int model, double from_ns, double to_ns, struct error *error) {
    core->window =
        from_ns <= to_ns ? (struct window){whole_ns(from_ns), whole_ns(to_ns)} : (struct window){INT64_MIN, INT64_MAX};
    if (!estimator_init(&core->estimator, core->dag, &core->window, error) || !choose_model(core, model, error))
        return false;
    bool stuck;
    uint32_t forgotten;
    if (!ordering_settle(core->dag, &core->estimator, &stuck, &forgotten, error)) return false;
    if (!estimator_measure_baseline(&core->estimator, true, &core->baseline, error)) return false;
    core->estimated = core->baseline.replayed;
    core->simulated = PAGE_REPLAYED;
    return true;
}

bool page_open(uint8_t *trace, size_t bytes, int model, double from_ns, double to_ns) {
    struct core *core = &page_core;
    struct error error = ERROR_INIT;
    page_close();
    core->bytes = trace;
    core->open = build(core, bytes, &error) && measure(core, model, from_ns, to_ns, &error);
    if (core->open) return true;
    page_close();
    return core_fail(core, &error);
}

static void forget_lanes(struct core *core, unsigned which) {
    laid_lanes_destroy(&core->laid[which].resources);
    laid_lanes_destroy(&core->laid[which].actors);
    core->has_laid[which] = false;
    if (core->has_lanes[which]) lanes_destroy(&core->lanes[which]);
    core->has_lanes[which] = false;
}

static void forget_series(struct core *core, enum page_run run) {
    for (int v = 0; v < 2; v++) {
        free(core->series[run][v].series.changes);
        core->series[run][v] = (struct core_series){0};
    }
}

void page_close(void) {
    struct core *core = &page_core;
    for (unsigned which = 0; which < 2; which++) forget_lanes(core, which);
    for (enum page_run run = PAGE_RECORDED; run < PAGE_RUNS; run++) forget_series(core, run);
    metrics_work_destroy(&core->recorded_work);
    pixels_destroy(&core->pixels);
    estimator_destroy(&core->estimator);
    actor_log_destroy(&core->log);
    idmap_destroy(&core->named);
    dag_free(core->dag);
    trace_close(core->trace);
    arena_destroy(&core->arena);
    free(core->bytes);
    free(core->switches);
    free(core->plan);
    free(core->profile);
    free(core->span);
    *core = (struct core){.simulated = PAGE_RUNS};
}

// ---- figures

uint32_t page_figure_count(void) {
    return (uint32_t)quantity_count();
}

const char *page_figure_name(uint32_t figure) {
    return figure < quantity_count() ? quantity_name(figure) : "";
}

static const struct metrics *metrics_of(const struct core *core, enum page_run run) {
    if (run == PAGE_RECORDED) return &core->baseline.recorded;
    return run == PAGE_REPLAYED ? &core->baseline.replayed : &core->estimated;
}

double page_figure(enum page_run run, uint32_t figure) {
    const struct core *core = &page_core;
    if (!core->open || figure >= quantity_count()) return NAN;
    return quantity_of(figure, metrics_of(core, run), &core->baseline.recorded);
}

double page_replay_error(void) {
    return page_core.open ? page_core.baseline.replay_error.share : NAN;
}

// ---- runs

void core_forget_run(struct core *core) {
    forget_lanes(core, 1);
    core->simulated = PAGE_RUNS;
}

void core_forget_estimated(struct core *core) {
    core_forget_run(core);
    forget_series(core, PAGE_ESTIMATED);
    core->plan_count = 0;
    core->estimated = core->baseline.replayed;
}

// Has the estimator the run again that it had before the one it has now.
static bool simulate(struct core *core, enum page_run run, struct error *error) {
    bool stuck;
    core_forget_run(core);
    if (!core_apply(core, run == PAGE_ESTIMATED, error) || !estimator_run(&core->estimator, &stuck, error))
        return false;
    if (stuck) return error_set(error, STATUS_FAILED, "the run could not end");
    core->simulated = run;
    return true;
}

static bool make_lanes(struct core *core, enum page_run run, struct error *error) {
    if (run == PAGE_RECORDED) return lanes_init(&core->lanes[0], core->dag, &core->recorded_work, error);
    const struct dag *dag = estimator_run_dag(&core->estimator, error);
    return dag && lanes_init(&core->lanes[1], dag, &core->estimator.work, error);
}

const struct lanes *core_lanes(struct core *core, enum page_run run) {
    struct error error = ERROR_INIT;
    const unsigned which = run != PAGE_RECORDED;
    if (!core->open) {
        core_say(core, "no trace is open");
        return NULL;
    }
    if (run == PAGE_ESTIMATED && core->plan_count == 0) run = PAGE_REPLAYED;
    if (which && core->simulated != run && !simulate(core, run, &error)) {
        core_fail(core, &error);
        return NULL;
    }
    if (!core->has_lanes[which]) {
        core->has_lanes[which] = make_lanes(core, run, &error);
        if (!core->has_lanes[which]) {
            lanes_destroy(&core->lanes[which]);
            core_fail(core, &error);
        }
    }
    return core->has_lanes[which] ? &core->lanes[which] : NULL;
}

const struct laid_run *core_laid(struct core *core, enum page_run run) {
    struct error error = ERROR_INIT;
    const struct lanes *lanes = core_lanes(core, run);
    const unsigned which = run != PAGE_RECORDED;
    if (!lanes) return NULL;
    if (core->has_laid[which]) return &core->laid[which];
    struct laid_run *laid = &core->laid[which];
    laid->lanes = lanes;
    core->has_laid[which] =
        resource_lanes_make(&laid->resources, lanes, &error) && actor_lanes_make(&laid->actors, lanes, &error);
    if (core->has_laid[which]) return laid;
    laid_lanes_destroy(&laid->resources);
    laid_lanes_destroy(&laid->actors);
    core_fail(core, &error);
    return NULL;
}

static bool name_actors(struct core *core, struct error *error) {
    for (uint32_t i = 0; i < core->log.actor_count; i++) {
        if (idmap_get(&core->named, core->log.actors[i].id) == IDMAP_NONE &&
            !idmap_add(&core->named, core->log.actors[i].id, i))
            return error_set(error, STATUS_FAILED, "no memory for the names of actors");
    }
    return true;
}

bool core_read_log(struct core *core, struct error *error) {
    return core->log.dag || (actor_log_read(core->dag, &core->log, error) && name_actors(core, error));
}
