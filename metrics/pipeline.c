// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/pipeline.h"

#include "dag/ns.h"
#include "metrics/quantiles.h"

#include <math.h>
#include <stdlib.h>

static uint32_t threads_of(const struct dag *dag, uint32_t pool) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++)
        count += dag->threads[i].worker && dag->threads[i].pool == pool && dag->threads[i].stream != DAG_NONE;
    return count;
}

// What of a task's body lies in the window.
static int64_t within_ns(const struct dag *dag, const struct dag_task *task, const struct window *window) {
    const int64_t *time_ns = dag->vertices.time_ns;
    const int64_t end_ns = task->end == DAG_NONE ? window->to_ns : time_ns[task->end];
    return max_ns(min_ns(end_ns, window->to_ns) - max_ns(time_ns[task->start], window->from_ns), 0);
}

// `values`: room for as many as there are tasks.
static struct pipeline_stage describe(const struct dag *dag, uint32_t pool, const struct window *window,
                                      double *values) {
    const int64_t *time_ns = dag->vertices.time_ns;
    struct pipeline_stage stage = {.pool = pool, .threads = threads_of(dag, pool)};
    double bodies_ns = 0, busy_ns = 0;
    size_t waits = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool != pool || task->start == DAG_NONE) continue;
        busy_ns += (double)within_ns(dag, task, window);
        if (time_ns[task->start] < window->from_ns || time_ns[task->start] > window->to_ns) continue;
        stage.tasks++;
        if (task->end != DAG_NONE) bodies_ns += (double)(time_ns[task->end] - time_ns[task->start]);
        if (task->spawn_begin != DAG_NONE)
            values[waits++] = (double)(time_ns[task->start] - time_ns[task->spawn_begin]);
    }
    const double wall_ns = (double)(window->to_ns - window->from_ns);
    stage.wait_ns = quantiles_of(values, waits);
    stage.task_ns = stage.tasks ? bodies_ns / (double)stage.tasks : NAN;
    stage.busy = wall_ns > 0 ? busy_ns / wall_ns : NAN;
    return stage;
}

static int by_load(const void *a, const void *b) {
    const struct pipeline_stage *x = a, *y = b;
    const double of_x = x->busy / (x->threads ? x->threads : 1), of_y = y->busy / (y->threads ? y->threads : 1);
    if (of_x != of_y) return of_x < of_y ? 1 : -1;
    return (x->pool > y->pool) - (x->pool < y->pool);
}

bool metrics_stages(const struct dag *dag, const struct window *window, struct arena *arena,
                    struct pipeline_stage **found, size_t *count, struct error *error) {
    const struct window within = {max_ns(window->from_ns, dag->first_ns), min_ns(window->to_ns, dag->last_ns)};
    *count = 0;
    double *values = malloc(((size_t)dag->task_count + 1) * sizeof *values);
    *found = ARENA_NEW(arena, struct pipeline_stage, (size_t)dag->pool_count + 1);
    for (uint32_t p = 1; values && *found && p < dag->pool_count; p++) {
        const struct pipeline_stage stage =
            dag->pools[p].is_stage ? describe(dag, p, &within, values) : (struct pipeline_stage){0};
        if (stage.tasks) (*found)[(*count)++] = stage;
    }
    const bool ok = values && *found;
    if (*count) qsort(*found, *count, sizeof **found, by_load);
    free(values);
    return ok || error_set(error, STATUS_FAILED, "no memory for stages");
}
