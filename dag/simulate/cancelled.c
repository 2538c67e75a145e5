// SPDX-License-Identifier: GPL-3.0-or-later
// A body that gives up waiting for a task often cancels it. A task that was cancelled before it began was never seen to
// run; where it is not cancelled in time it does, like the task of its site that was spawned before it. What was
// cancelled under way has its result when it ends, unless it is cancelled before.
#include "dag/simulate/cancelled.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/queue.h"

#include <stdlib.h>

// ---- what can be done once more

bool is_repeatable_at(const struct dag *dag, uint32_t task, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    unsigned kind = vertices->kind[v];
    if (vertex_is_of_resource(kind)) return true;
    if (kind == VERTEX_END || kind == VERTEX_RESULT) return vertices->task[v] == task;
    if (kind == VERTEX_WAIT_END && dag_await_at(dag, v) != DAG_NONE) return false;
    return (kind == VERTEX_WAIT_BEGIN || kind == VERTEX_WAIT_END) && vertices->cause[v] == DAG_NONE;
}

bool can_be_repeated(const struct dag *dag, uint32_t task, uint32_t from) {
    const struct dag_task *of = &dag->tasks[task];
    if (of->flags & TASK_UNFINISHED) return false;
    for (uint32_t v = from + 1; v <= of->tail; v++) {
        if (!is_repeatable_at(dag, task, v)) return false;
    }
    return true;
}

// ---- bodies of tasks that were cancelled before they began

// And was cancelled by the body that gave up.
static bool never_began(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    return task->start == DAG_NONE && task->spawn_begin != DAG_NONE && task->site < sim->dag->site_count &&
           task->result != DAG_NONE && sim->recorded.traits[task->result] & TRAIT_CANCELS;
}

static bool has_body_to_give(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    return task->start != DAG_NONE && task->spawn_begin != DAG_NONE && task->site < dag->site_count &&
           task->enclosing == DAG_NONE && !dag_task_is_cancelled(dag, task) && can_be_repeated(dag, index, task->start);
}

// The last before it that has a body to give; of the first ones the first behind it.
static bool find_bodies(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint32_t *latest = malloc(((size_t)dag->site_count + 1) * sizeof *latest);
    sim->body_of = malloc(((size_t)dag->task_count + 1) * sizeof *sim->body_of);
    if (!latest || !sim->body_of) {
        free(latest);
        return false;
    }
    for (uint32_t s = 0; s < dag->site_count; s++) latest[s] = DAG_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < dag->task_count; i++) {
            uint32_t t = pass ? dag->task_count - 1 - i : i;
            if (pass == 0) sim->body_of[t] = DAG_NONE;
            if (never_began(sim, t) && sim->body_of[t] == DAG_NONE) {
                uint32_t body = latest[dag->tasks[t].site];
                if (body != DAG_NONE && dag->tasks[body].pool == dag->tasks[t].pool) sim->body_of[t] = body;
            } else if (has_body_to_give(dag, t)) {
                latest[dag->tasks[t].site] = t;
            }
        }
    }
    free(latest);
    return true;
}

bool cancelled_new(struct simulation *sim) {
    bool some = false;
    for (uint32_t t = 0; t < sim->dag->task_count && !some; t++) some = never_began(sim, t);
    return !some || find_bodies(sim);
}

void cancelled_free(struct simulation *sim) {
    free(sim->body_of);
}

// ---- in a run

// Of pools that go by what was recorded of each task, or where workers look for what they wait for, it stays as it was.
uint32_t cancelled_body_of(const struct simulation *sim, uint32_t task) {
    if (!sim->body_of || sim->body_of[task] == DAG_NONE) return DAG_NONE;
    uint32_t pool = sim->dag->tasks[task].pool;
    if (!pool_governs(sim, pool)) return DAG_NONE;
    enum discipline by = sim->pools[pool].discipline;
    return by == DISCIPLINE_FIFO || by == DISCIPLINE_LIFO || by == DISCIPLINE_HAND_OFF ? sim->body_of[task] : DAG_NONE;
}

static bool lies_in_queue(const struct simulation *sim, uint32_t task) {
    return sim->placement[task] == PLACEMENT_DISPATCHED && sim->queue.holder[task] != QUEUE_NOWHERE;
}

bool cancelled_now(struct simulation *sim, uint32_t task) {
    const struct dag_task *of = &sim->dag->tasks[task];
    if (sim->time_ns[of->result] != DAG_PENDING) return false;
    bool queued = lies_in_queue(sim, task), has_own = of->start != DAG_NONE;
    if (!queued || (has_own && !can_be_repeated(sim->dag, task, of->start))) return true;
    sim->dispatch[queue_take(sim, task)] = DISPATCH_NONE;
    for (uint32_t v = of->start; has_own && v <= of->tail; v++) vertex_vanish(sim, v);
    return true;
}

void cancelled_complete(struct simulation *sim, uint32_t index, uint32_t task, int64_t time_ns) {
    uint32_t result = sim->dag->tasks[task].result;
    if (sim->time_ns[result] != DAG_PENDING) return;
    process_pass_new(sim, index, VERTEX_RESULT, task, time_ns);
    vertex_set(sim, index, result, time_ns);
}
