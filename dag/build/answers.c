// SPDX-License-Identifier: GPL-3.0-or-later
// What threads outside pools bring about when they are asked: a timer's thread that looks for work every few
// milliseconds, or one that waits for a socket. Such a thread does nothing that a trace could name its cause for. But
// if it slept, and while it did another thread came to wait for what it then brings, and what no task computes, it
// answers that one: the answer comes as long after the question as it did, whenever that is asked. Else it would come
// at its recorded time, though all that leads to the question comes earlier or later. Where the answer was there before
// the wait began, the question is the last that the waiter did before the answer.
#include "dag/build/builder.h"
#include "dag/ns.h"

#include <stdlib.h>

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

// By the clocks of two cores a wait may end a little before its result came. Until then nothing may follow from a
// question to its answer: the answer could lead to that result, and the wait's end to the question. All else follows
// times, so that a circle would need both.
struct early {
    int64_t from_ns, until_ns; // the wait's end, its result
};

static bool is_early(const struct dag_vertices *vertices, uint32_t end) {
    const uint32_t result = vertices->kind[end] == VERTEX_WAIT_END ? vertices->cause[end] : DAG_NONE;
    return result != DAG_NONE && vertices->time_ns[end] < vertices->time_ns[result];
}

static int by_beginning(const void *a, const void *b) {
    const struct early *one = a, *other = b;
    return (one->from_ns > other->from_ns) - (one->from_ns < other->from_ns);
}

// Those that overlap become one. Returns how many there are then.
static uint32_t join(struct early *early, uint32_t count) {
    uint32_t joined = 0;
    for (uint32_t i = 1; i < count; i++) {
        struct early *last = &early[joined];
        if (early[i].from_ns > last->until_ns)
            early[++joined] = early[i];
        else
            last->until_ns = max_ns(last->until_ns, early[i].until_ns);
    }
    return count ? joined + 1 : 0;
}

static bool lies_within(const struct early *early, uint32_t count, int64_t from_ns, int64_t until_ns) {
    uint32_t low = 0, high = count; // early[low - 1] begins no later than it
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (early[middle].from_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && until_ns <= early[low - 1].until_ns;
}

static void forget_answers(struct dag *dag, const struct early *early, uint32_t count) {
    struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (vertices->kind[v] != VERTEX_RESULT || vertices->rule[v] != RULE_WAKE) continue;
        if (!lies_within(early, count, vertices->time_ns[vertices->cause[v]], vertices->time_ns[v])) continue;
        vertices->cause[v] = DAG_NONE;
        vertices->rule[v] = RULE_RUN;
    }
}

static bool forget_what_came_early(struct builder *builder) {
    struct dag *dag = builder->dag;
    uint32_t count = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) count += is_early(&dag->vertices, v);
    if (count == 0) return true;
    struct early *early = malloc(count * sizeof *early);
    if (!early) return no_memory(builder);
    count = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (!is_early(&dag->vertices, v)) continue;
        early[count++] = (struct early){dag->vertices.time_ns[v], dag->vertices.time_ns[dag->vertices.cause[v]]};
    }
    qsort(early, count, sizeof *early, by_beginning);
    forget_answers(dag, early, join(early, count));
    free(early);
    return true;
}

bool find_answers(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!dag->vertices.compute_ns) return true;
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        if (dag->vertices.kind[v] == VERTEX_WAIT_END) look_at_wait(dag, v);
    }
    return forget_what_came_early(builder);
}
