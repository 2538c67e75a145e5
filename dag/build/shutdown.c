// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that nothing known starts, once all others have done their last task: the JVM starts them as it ends (its
// shutdown hooks). In an edited run, too, they come behind the end of the program, not at a time of their own.
#include "dag/build/builder.h"
#include "dag/build/vertices.h"

#include <stdlib.h>

struct ending {
    uint32_t thread, vertex; // the end of its last task that does not repeat
    int64_t time_ns;
};

static int in_time(const void *a, const void *b) {
    const struct ending *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->thread > right->thread) - (left->thread < right->thread);
}

static bool is_main(const struct dag *dag, const struct dag_thread *thread) {
    return thread->run_task != DAG_NONE && dag->tasks[thread->run_task].flags & TASK_MAIN;
}

static bool comes_by_itself(const struct dag *dag, const struct dag_thread *thread) {
    return thread->count && thread->stream != DAG_NONE && !thread->worker && !thread->system && !thread->request &&
           !is_main(dag, thread) && dag->vertices.cause[thread->first] == DAG_NONE;
}

static bool comes_after(const struct dag *dag, const struct dag_thread *thread, int64_t end_ns) {
    return comes_by_itself(dag, thread) && dag->vertices.time_ns[thread->first] > end_ns;
}

// When all threads but those that come by themselves after that have had their last event; INT64_MIN: there are none.
static int64_t find_end_ns(const struct dag *dag) {
    int64_t end_ns = INT64_MIN, before_ns;
    do {
        before_ns = end_ns;
        for (uint32_t t = 0; t < dag->thread_count; t++) {
            const struct dag_thread *thread = &dag->threads[t];
            if (!thread->count || thread->system || thread->stream == DAG_NONE) continue;
            const bool ends = comes_by_itself(dag, thread) ? dag->vertices.time_ns[thread->first] <= end_ns : true;
            const int64_t last_ns = dag->vertices.time_ns[thread->first + thread->count - 1];
            if (ends && last_ns > end_ns) end_ns = last_ns;
        }
    } while (end_ns != before_ns);
    return end_ns;
}

// What repeats goes on for as long as its executor does, and has one run more or less in an edited run.
static bool ends_task(const struct dag *dag, uint32_t v) {
    const uint32_t task = dag->vertices.task[v];
    if (dag->vertices.kind[v] != VERTEX_END) return false;
    return task == DAG_NONE || !dag->period_ns || dag->period_ns[task] == 0;
}

static uint32_t find_endings(const struct dag *dag, int64_t end_ns, struct ending *endings) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        if (thread->system || thread->stream == DAG_NONE || comes_after(dag, thread, end_ns)) continue;
        for (uint32_t v = thread->first + thread->count; v-- > thread->first;) {
            if (!ends_task(dag, v)) continue;
            endings[count++] = (struct ending){t, v, dag->vertices.time_ns[v]};
            break;
        }
    }
    qsort(endings, count, sizeof *endings, in_time);
    return count;
}

// Returns the last, DAG_NONE: no memory.
static uint32_t await_endings(struct builder *builder, const struct ending *endings, uint32_t count) {
    struct dag *dag = builder->dag;
    if (!add_thread(builder, DAG_NONE)) return DAG_NONE;
    dag->threads[dag->thread_count - 1].system = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!add_vertex(builder, VERTEX_BARRIER, endings[i].time_ns, 0, DAG_NONE)) return DAG_NONE;
        dag->vertices.rule[dag->vertex_count - 1] = RULE_MAX;
        dag->vertices.cause[dag->vertex_count - 1] = endings[i].vertex;
    }
    return dag->vertex_count - 1;
}

// Whether anything else awaits what such a thread does, as a wait may that saw its result before that was told: then it
// is no end of the program, and would wait for itself.
static bool is_awaited(const struct dag *dag, int64_t end_ns) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count && !comes_after(dag, thread, end_ns); v++) {
            const uint32_t cause = dag->vertices.cause[v];
            if (cause != DAG_NONE && comes_after(dag, &dag->threads[dag_thread_of(dag, cause)], end_ns)) return true;
        }
    }
    return false;
}

static bool is_there(const struct dag *dag, int64_t end_ns) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (comes_after(dag, &dag->threads[t], end_ns)) return true;
    }
    return false;
}

static bool hold_up(struct builder *builder, struct ending *endings) {
    struct dag *dag = builder->dag;
    const uint32_t threads = dag->thread_count;
    const int64_t end_ns = find_end_ns(dag);
    if (!is_there(dag, end_ns) || is_awaited(dag, end_ns)) return true;
    uint32_t barrier = DAG_NONE;
    for (uint32_t t = 0; t < threads; t++) {
        if (!comes_after(dag, &dag->threads[t], end_ns)) continue;
        if (barrier == DAG_NONE) {
            const uint32_t count = find_endings(dag, end_ns, endings);
            if (count == 0) return true;
            if ((barrier = await_endings(builder, endings, count)) == DAG_NONE) return false;
        }
        dag->vertices.cause[dag->threads[t].first] = barrier;
        dag->vertices.rule[dag->threads[t].first] = RULE_BEGIN;
    }
    return true;
}

bool find_shutdown(struct builder *builder) {
    struct ending *endings = malloc(((size_t)builder->dag->thread_count + 1) * sizeof *endings);
    if (!endings) return no_memory(builder);
    const bool ok = hold_up(builder, endings);
    free(endings);
    return ok;
}
