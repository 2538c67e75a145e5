// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/hand_over.h"

#include "dag/simulate/part_costs.h"
#include "dag/simulate/passage.h"

static int64_t rounded(const struct cost *cost) {
    return (int64_t)(cost->mean_ns + 0.5); // costs are no less than 0
}

static const struct pool_costs *costs_of(const struct simulation *sim, uint32_t job) {
    uint32_t pool = sim->dag->tasks[job_task(sim, job)].pool;
    return &sim->costs->pools[pool < sim->costs->pool_count ? pool : 0];
}

// The first part of a task costs what the task did.
bool is_as_recorded(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    bool first = job < sim->dag->task_count || sim->regroup.part_number[job - sim->dag->task_count] == 0;
    return first && sim->dag->tasks[job_task(sim, job)].dispatch == dispatch;
}

// Waking a worker, and making one, is the kernel's work, which is no cheaper for being done more often.
static int64_t of_part(const struct simulation *sim, uint32_t job, enum dispatch dispatch, int64_t mean_ns) {
    if (!sim->edit->parts_count || dispatch != DISPATCH_QUEUED) return mean_ns;
    return (int64_t)((double)mean_ns * part_costs_hand_over(sim, job) + 0.5);
}

int64_t mean_bracket(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    return of_part(sim, job, dispatch, rounded(&costs_of(sim, job)->bracket[dispatch]));
}

int64_t cost_of_bracket(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    if (is_as_recorded(sim, job, dispatch)) return sim->costs->bracket_ns[job_task(sim, job)];
    return mean_bracket(sim, job, dispatch);
}

int64_t pool_mean_pickup(const struct simulation *sim, uint32_t pool, enum dispatch dispatch) {
    return rounded(&sim->costs->pools[pool < sim->costs->pool_count ? pool : 0].pickup[dispatch]);
}

int64_t mean_pickup(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    const uint32_t pool = sim->dag->tasks[job_task(sim, job)].pool;
    return of_part(sim, job, dispatch, pool_mean_pickup(sim, pool, dispatch));
}

int64_t cost_of_pickup(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    if (!is_as_recorded(sim, job, dispatch)) return mean_pickup(sim, job, dispatch);
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t recorded_ns = time_ns[task->start] - dag_pickup_from_ns(sim->dag, task);
    if (sim->model != MODEL_CPU) return recorded_ns;
    return sim->costs->pickup_ns[job_task(sim, job)];
}

enum dispatch hand_over_to_woken(const struct simulation *sim, uint32_t job) {
    if (is_as_recorded(sim, job, DISPATCH_WOKEN)) return DISPATCH_WOKEN;
    int64_t waking_ns = mean_pickup(sim, job, DISPATCH_WOKEN) + mean_bracket(sim, job, DISPATCH_WOKEN);
    return sim->slept_ns >= waking_ns ? DISPATCH_WOKEN : DISPATCH_QUEUED;
}

bool bracket_is_own(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->spawn_end == task->spawn_begin) return false;
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (v == task->start) {
            v = task->tail;
        } else if (dag_task_of(&dag->vertices, v) != DAG_NONE && dag_task_of(&dag->vertices, v) != index) {
            return false;
        }
    }
    return true;
}

void bracket_leave_out(struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (v == task->start)
            v = task->tail;
        else
            vertex_vanish(sim, v);
    }
}
