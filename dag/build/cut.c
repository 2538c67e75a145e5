// SPDX-License-Identifier: GPL-3.0-or-later
// Which tasks a recording cut. Of what was under way at its end some go on for ever (a loop that takes connections),
// and keep their worker; others would have ended soon. That is told by others of their site; where they have none,
// of their class; where that is not known, of their pool. One that has taken no longer than twice the longest of these
// ends as they did. Where events were lost none is known to have gone on.
#include "dag/build/builder.h"
#include "dag/ns.h"

#include <stdlib.h>

static int64_t so_far_ns(const struct dag *dag, const struct dag_task *task) {
    return dag->last_ns - dag->vertices.time_ns[task->start];
}

// What tells tasks alike: a number below that of all sites, classes and pools, or DAG_NONE.
static uint32_t kind_of(const struct dag *dag, const struct dag_task *task) {
    if (task->start == DAG_NONE || task->flags & (TASK_NESTED | TASK_OF_ACTOR)) return DAG_NONE;
    const struct trace *trace = dag->trace;
    if (task->site != DAG_NONE) return task->site;
    if (!task->pool || task->pool >= trace->pool_count) return DAG_NONE;
    const bool has_class = task->task_class > 0 && task->task_class < trace->class_count;
    return dag->site_count + (has_class ? task->task_class : trace->class_count + task->pool);
}

static void find_longest(const struct dag *dag, int64_t *longest_ns) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        const uint32_t kind = kind_of(dag, task);
        if (kind == DAG_NONE || task->flags & (TASK_UNFINISHED | TASK_BEGUN_BEFORE)) continue;
        longest_ns[kind] =
            max_ns(longest_ns[kind], dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
    }
}

static bool is_at_workers_end(const struct dag *dag, const struct dag_task *task) {
    const struct dag_thread *thread = &dag->threads[task->thread];
    return task->tail + 1 == thread->first + thread->count;
}

bool find_cut_tasks(struct builder *builder) {
    struct dag *dag = builder->dag;
    const struct trace *trace = builder->trace;
    if (trace->lost_events) return true; // they may have ended
    int64_t *longest_ns =
        calloc((size_t)dag->site_count + trace->class_count + trace->pool_count + 1, sizeof *longest_ns);
    if (!longest_ns) return no_memory(builder);
    find_longest(dag, longest_ns);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        struct dag_task *task = &dag->tasks[t];
        const uint32_t kind = kind_of(dag, task);
        if (kind != DAG_NONE && task->flags & TASK_UNFINISHED && is_at_workers_end(dag, task) &&
            so_far_ns(dag, task) <= 2 * longest_ns[kind])
            task->flags |= TASK_CUT;
    }
    free(longest_ns);
    return true;
}
