// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies that waiters ran, where what they waited for is inlined (dag/edit/edit.h).
#include "dag/edit/body.h"
#include "dag/edit/edit.h"

// Where the wait begins in which a body ran, DAG_NONE: in none. Before it in the wait there can be other such bodies.
static uint32_t wait_around(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (task->dispatch != DISPATCH_HELPED) return DAG_NONE;
    for (uint32_t v = task->pickup - 1; v > dag->tasks[task->enclosing].start; v--) {
        if (vertices->kind[v] == VERTEX_WAIT_BEGIN) return v;
        if (vertices->kind[v] == VERTEX_END)
            v = dag->tasks[vertices->task[v]].pickup;
        else if (vertices->kind[v] != VERTEX_RESULT)
            return DAG_NONE;
    }
    return DAG_NONE;
}

// Of what a task spawned, the one that a descendant of it comes from; DAG_NONE for none of its descendants.
static uint32_t child_towards(const struct dag *dag, uint32_t ancestor, uint32_t task) {
    while (task != DAG_NONE && dag->tasks[task].spawner != ancestor) task = dag->tasks[task].spawner;
    return task;
}

// Where a task's body first begins to wait for another, DAG_NONE: it does not.
static uint32_t wait_for(const struct dag *dag, uint32_t waiter, uint32_t awaited) {
    const struct dag_vertices *vertices = &dag->vertices;
    const struct dag_task *task = &dag->tasks[waiter];
    for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v)) {
        if (vertices->kind[v] == VERTEX_WAIT_BEGIN && vertices->task[v] == awaited) return v;
    }
    return DAG_NONE;
}

// Whether a body lies before the end of a wait for it on the waiter's thread, so that none that comes of it can run
// before it does.
static bool runs_before(const struct dag *dag, const struct dag_edit *edit, uint32_t index, uint32_t wait) {
    return edit->inlined[index] || wait_around(dag, &dag->tasks[index]) == wait;
}

uint32_t dag_edit_sinks_to(const struct dag *dag, const struct dag_edit *edit, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    uint32_t wait = edit->inlined_count ? wait_around(dag, task) : DAG_NONE, waiter = task->enclosing;
    bool moves = edit->inlined[index] || edit->staged[index] || edit->merged_next[index] != DAG_NONE;
    uint32_t awaited = wait == DAG_NONE || moves ? DAG_NONE : dag->vertices.task[wait];
    if (awaited == DAG_NONE || !edit->inlined[awaited]) return DAG_NONE;
    while (awaited != index && runs_before(dag, edit, awaited, wait)) {
        if (dag->tasks[awaited].spawner != waiter) return DAG_NONE;
        waiter = awaited;
        awaited = child_towards(dag, waiter, index);
        wait = awaited == DAG_NONE ? DAG_NONE : wait_for(dag, waiter, awaited);
        if (wait == DAG_NONE) return DAG_NONE;
    }
    return wait;
}

bool dag_edit_sinks_any(const struct dag *dag, const struct dag_edit *edit) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag_edit_sinks_to(dag, edit, t) != DAG_NONE) return true;
    }
    return false;
}
