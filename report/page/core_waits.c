// SPDX-License-Identifier: GPL-3.0-or-later
// What a switch alone makes of one wait.
#include "optimize/plan.h"
#include "report/page/core_state.h"

#include <math.h>

// The vertex of a simulated run that stands for a recorded one, from `first` on; DAG_NONE: none does.
static uint32_t find_source(const struct dag *run, uint32_t recorded, uint32_t first) {
    for (uint32_t v = first; v < run->vertex_count; v++) {
        if (run->source[v] == recorded) return v;
    }
    return DAG_NONE;
}

// -1: the run does not have it.
static double waited_ns(const struct dag *run, const struct lane_span *wait) {
    const uint32_t begin = find_source(run, wait->vertex, 0);
    const uint32_t end = begin == DAG_NONE ? DAG_NONE : find_source(run, wait->end, begin + 1);
    return end == DAG_NONE ? -1 : (double)(run->vertices.time_ns[end] - run->vertices.time_ns[begin]);
}

// Has the estimator that run; the plan that is on is simulated again when its lanes are asked for.
static const struct dag *run_alone(struct core *core, int number, struct error *error) {
    const struct plan alone = {.improvements = number < 0 ? NULL : &core->switches[number], .count = number >= 0};
    bool stuck;
    core_forget_run(core);
    dag_edit_clear(&core->estimator.edit, core->dag);
    if (!plan_apply(&alone, core->estimator.model.kind, &core->estimator.edit, error) ||
        !estimator_run(&core->estimator, &stuck, error))
        return NULL;
    if (!stuck) return estimator_run_dag(&core->estimator, error);
    error_set(error, STATUS_FAILED, "the run could not end");
    return NULL;
}

double page_wait_alone(int number, double vertex) {
    struct core *core = &page_core;
    struct error error = ERROR_INIT;
    struct lane_span wait;
    const struct lanes *recorded = core_lanes(core, PAGE_RECORDED);
    if (!recorded || number < -1 || number >= (int)core->switch_count) return NAN;
    const bool waits = lane_span_find(recorded, vertex, &wait) && !wait.idle && !wait.holds && wait.end != DAG_NONE &&
                       (wait.of.kind == SPAN_WAIT || wait.of.kind == SPAN_BLOCKED);
    const struct dag *run = waits ? run_alone(core, number, &error) : NULL;
    if (run) return waited_ns(run, &wait);
    if (waits)
        core_fail(core, &error);
    else
        core_say(core, "no wait that ends begins there");
    return NAN;
}
