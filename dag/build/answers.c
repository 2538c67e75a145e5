// SPDX-License-Identifier: GPL-3.0-or-later
// What threads outside pools bring about when they are asked: a timer's thread that looks for work every few
// milliseconds, or one that waits for a socket. Such a thread does nothing that a trace could name its cause for. But
// if it slept, and while it did another thread came to wait for what it then brings, and what no task computes, it
// answers that one: the answer comes as long after the question as it did, whenever that is asked. Else it would come
// at its recorded time, though all that leads to the question comes earlier or later. Where the answer was there before
// the wait began, the question is the last that the waiter did before the answer.
#include "dag/build/builder.h"

// Whether a thread outside pools slept for most of the edge to a vertex, which begins there, or in a body of its own.
static bool slept_outside(const struct dag *dag, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, vertex)];
    if (thread->worker || thread->system || thread->is_virtual || vertex == thread->first) return false;
    const int64_t edge_ns = vertices->time_ns[vertex] - vertices->time_ns[vertex - 1];
    int64_t awake_ns = vertices->compute_ns[vertex];
    if (vertices->queued_ns) awake_ns += vertices->queued_ns[vertex];
    return 2 * awake_ns < edge_ns;
}

// The last vertex on the waiter's thread before the answer; DAG_NONE: there is none.
static uint32_t question_before(const struct dag *dag, uint32_t begin, uint32_t result) {
    const int64_t *time_ns = dag->vertices.time_ns;
    const uint32_t first = dag->threads[dag_thread_of(dag, begin)].first;
    uint32_t v = begin;
    while (v > first && time_ns[v] >= time_ns[result]) v--;
    return time_ns[v] < time_ns[result] && time_ns[v] > time_ns[result - 1] ? v : DAG_NONE;
}

static void look_at_wait(struct dag *dag, uint32_t end) {
    struct dag_vertices *vertices = &dag->vertices;
    const uint32_t result = vertices->cause[end], task = vertices->task[end], begin = end - 1;
    if (result == DAG_NONE || task == DAG_NONE || vertices->kind[begin] != VERTEX_WAIT_BEGIN) return;
    if (vertices->kind[result] != VERTEX_RESULT || vertices->cause[result] != DAG_NONE) return;
    const bool promised =
        dag->tasks[task].flags & TASK_NESTED && !(dag->tasks[task].flags & (TASK_PERMIT | TASK_SIGNAL));
    if (!promised || vertices->task[begin] != task || !slept_outside(dag, result)) return;
    const uint32_t question = question_before(dag, begin, result);
    if (question == DAG_NONE) return;
    vertices->cause[result] = question;
    vertices->rule[result] = RULE_WAKE;
}

// By the clocks of two cores a wait may end a little before its result came. It may also lie before the question, which
// then cannot have led to that.
static void leave_what_came_early(struct dag *dag, uint32_t end) {
    struct dag_vertices *vertices = &dag->vertices;
    const uint32_t result = vertices->cause[end];
    if (result == DAG_NONE || vertices->time_ns[end] >= vertices->time_ns[result]) return;
    if (vertices->kind[result] != VERTEX_RESULT || vertices->rule[result] != RULE_WAKE) return;
    vertices->cause[result] = DAG_NONE;
    vertices->rule[result] = RULE_RUN;
}

void find_answers(struct dag *dag) {
    if (!dag->vertices.compute_ns) return;
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        if (dag->vertices.kind[v] == VERTEX_WAIT_END) look_at_wait(dag, v);
    }
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        if (dag->vertices.kind[v] == VERTEX_WAIT_END) leave_what_came_early(dag, v);
    }
}
