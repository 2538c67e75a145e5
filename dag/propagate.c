// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate.h"

#include "dag/chain.h"
#include "dag/rules.h"
#include "dag/walk.h"

#include <stdlib.h>

static bool run_fail(struct dag_run *run, const struct dag *dag, struct error *error) {
    dag_run_destroy(run);
    return error_set(error, STATUS_FAILED, "no memory for the times of %u vertices", dag->vertex_count);
}

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error) {
    size_t vertices = (size_t)dag->vertex_count + 1, threads = (size_t)dag->thread_count + 1;
    *run = (struct dag_run){.time_ns = malloc(vertices * sizeof *run->time_ns),
                            .parking = calloc(1, sizeof *run->parking),
                            .walks = malloc(threads * sizeof *run->walks)};
    if (!run->time_ns || !run->parking || !run->walks) return run_fail(run, dag, error);
    run->parking->first = malloc(vertices * sizeof *run->parking->first);
    run->parking->next = malloc(threads * sizeof *run->parking->next);
    if (!run->parking->first || !run->parking->next) return run_fail(run, dag, error);
    for (uint32_t v = 0; v < dag->vertex_count; v++) run->parking->first[v] = DAG_NONE;
    return true;
}

void dag_run_destroy(struct dag_run *run) {
    if (run->parking) {
        free(run->parking->first);
        free(run->parking->next);
    }
    free(run->parking);
    free(run->time_ns);
    free(run->walks);
    *run = (struct dag_run){0};
}

static void mark_range(int64_t *time_ns, uint32_t from, uint32_t to) {
    for (uint32_t v = from; v < to; v++) time_ns[v] = DAG_ABSENT;
}

// A removed worker keeps nothing but the bodies that moved out of it.
static void mark_worker(const struct dag *dag, const struct dag_thread *thread, int64_t *time_ns) {
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (dag->vertices.kind[v] == VERTEX_START)
            v = dag->tasks[dag->vertices.task[v]].end;
        else
            time_ns[v] = DAG_ABSENT;
    }
}

// No body is ever marked, so that the order doesn't matter: a bracket may hold its own task's body (caller-runs), but
// nothing of other tasks (dag_inline_refusal).
void dag_mark_absent(const struct dag *dag, const struct dag_edit *edit, int64_t *time_ns) {
    for (uint32_t v = 0; v < dag->vertex_count; v++) time_ns[v] = DAG_PENDING;
    if (!edit->inlined_count) return;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag_edit_removes_thread(dag, edit, i)) mark_worker(dag, &dag->threads[i], time_ns);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!edit->inlined[t]) continue;
        const struct dag_task *task = &dag->tasks[t];
        bool in_place = chain_runs_in_place(task);
        mark_range(time_ns, task->pickup, task->start);
        mark_range(time_ns, task->spawn_begin, in_place ? task->pickup : task->spawn_end + 1);
        if (in_place) mark_range(time_ns, task->end + 1, task->spawn_end + 1);
    }
}

// Whether a worker does nothing before the pick-up of `first_task` that others could depend on: only then can its start
// wait for that task's spawn without closing a cycle.
static bool only_waits_before(const struct dag *dag, const struct dag_thread *thread, uint32_t first_task) {
    for (uint32_t v = thread->first + 1; v < dag->tasks[first_task].pickup; v++) {
        unsigned kind = dag->vertices.kind[v];
        if (kind == VERTEX_START)
            v = dag->tasks[dag->vertices.task[v]].end;
        else if (kind != VERTEX_IDLE && kind != VERTEX_BUSY && kind != VERTEX_BLOCK_BEGIN && kind != VERTEX_BLOCK_END)
            return false;
    }
    return true;
}

struct dag_constraint dag_constraint_of_start(const struct dag *dag, const struct dag_edit *edit, uint32_t vertex,
                                              uint32_t index, bool removed) {
    uint32_t cause = dag->vertices.cause[vertex];
    if (cause == DAG_NONE) return (struct dag_constraint){.cause = DAG_NONE};
    int64_t delay_ns = dag->vertices.time_ns[vertex] - dag->vertices.time_ns[cause];
    if (!removed) return (struct dag_constraint){cause, delay_ns};
    uint32_t first_task = dag_edit_first_task(dag, edit, index);
    bool replaced = first_task != DAG_NONE && dag->tasks[first_task].spawn_begin != DAG_NONE &&
                    only_waits_before(dag, &dag->threads[index], first_task);
    return (struct dag_constraint){replaced ? dag->tasks[first_task].spawn_begin : DAG_NONE, delay_ns};
}

static bool has_cause(const struct dag *dag, const struct dag_chain *chain) {
    return dag_awaited_by(&dag->vertices, chain->vertex) != DAG_NONE && !chain->entered;
}

// Whether chain.vertex got its time; if not, walk->awaits says what it has to await first.
static inline bool time_vertex(const struct dag *dag, const struct dag_edit *edit, uint32_t thread,
                               struct dag_walk *walk, int64_t *time_ns) {
    uint32_t v = walk->chain.vertex, cause = dag->vertices.cause[v];
    if (dag->vertices.rule[v] == RULE_BEGIN && !walk->chain.entered) {
        bool removed = cause != DAG_NONE && time_ns[cause] == DAG_ABSENT;
        struct dag_constraint start = dag_constraint_of_start(dag, edit, v, thread, removed);
        walk->awaits = start.cause;
        if (start.cause != DAG_NONE && time_ns[start.cause] == DAG_PENDING) return false;
        time_ns[v] = start.cause == DAG_NONE ? dag->vertices.time_ns[v] : time_ns[start.cause] + start.delay_ns;
    } else if (has_cause(dag, &walk->chain)) {
        walk->awaits = cause;
        if (time_ns[cause] == DAG_PENDING) return false;
        struct reach reach = {walk->before_ns, walk->chain.lead_ns, walk->chain.since_ns};
        time_ns[v] = rule_time(dag, v, reach, time_ns[cause]);
    } else {
        time_ns[v] = walk->before_ns + walk->chain.lead_ns + dag->vertices.time_ns[v] - walk->chain.since_ns;
    }
    walk->before_ns = time_ns[v];
    return true;
}

// Whether there is a next vertex.
static bool visit_next(struct dag_chain *chain) {
    enum dag_hop hop;
    do {
        hop = chain_hop(chain);
    } while (hop == HOP_LEAVE || hop == HOP_SKIP);
    return hop == HOP_VISIT;
}

// Takes a chain as far as it goes. It stands at a vertex without a time, or at its beginning. The walk is copied, so
// that it can stay in registers.
static void advance(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, struct dag_run *run) {
    struct dag_walk walk = run->walks[thread];
    const uint32_t *parked = run->parking->first;
    int64_t *time_ns = run->time_ns;
    if (walk.chain.vertex == DAG_NONE) walk.done = !visit_next(&walk.chain);
    while (!walk.done && time_vertex(dag, edit, thread, &walk, time_ns)) {
        if (parked[walk.chain.vertex] != DAG_NONE) parking_release(run->parking, walk.chain.vertex);
        walk.done = !visit_next(&walk.chain);
    }
    run->walks[thread] = walk;
    if (!walk.done) parking_wait(run->parking, thread, walk.awaits);
}

static void start_walks(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    run->parking->ready = DAG_NONE;
    for (uint32_t i = dag->thread_count; i--;) {
        struct dag_walk *walk = &run->walks[i];
        uint32_t first = dag->threads[i].first;
        dag_chain_init(&walk->chain, dag, edit);
        dag_chain_start(&walk->chain, i);
        walk->done = false;
        walk->awaits = DAG_NONE;
        walk->before_ns = dag->vertices.rule[first] == RULE_MAX ? DAG_ABSENT : dag->vertices.time_ns[first];
        parking_make_ready(run->parking, i);
    }
}

static void forget_parked(const struct dag *dag, struct dag_run *run) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (!run->walks[i].done) run->parking->first[run->walks[i].awaits] = DAG_NONE;
    }
}

enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    dag_mark_absent(dag, edit, run->time_ns);
    start_walks(dag, edit, run);
    run->deadlock_length = 0;
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) advance(dag, edit, i, run);
    bool stuck = false;
    for (uint32_t i = 0; i < dag->thread_count && !stuck; i++) stuck = !run->walks[i].done;
    if (!stuck) return DAG_OK;
    forget_parked(dag, run);
    return dag_find_deadlock(dag, run) ? DAG_DEADLOCK : DAG_NO_MEMORY;
}
