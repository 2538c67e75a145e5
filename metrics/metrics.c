// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/metrics.h"

#include "metrics/grain.h"
#include "metrics/requests.h"
#include "metrics/warm.h"
#include "metrics/work.h"

#include <stdlib.h>

// Collections stop every thread, hence they are told by recorded times, whatever the edit.
static void count_collections(const struct dag *dag, const struct window *window, struct metrics *metrics) {
    for (uint32_t p = 0; p < dag->pause_count; p++) {
        if (!work_is_within(window, dag->pauses[p].begin_ns)) continue;
        metrics->gc_pauses++;
        metrics->gc_ns += dag->pauses[p].end_ns - dag->pauses[p].begin_ns;
    }
}

static bool is_as_recorded(const struct dag *dag, const struct dag_edit *edit) {
    return !dag->origin && !edit->inlined_count && work_is_recorded(dag->trace);
}

static bool find_warm(const struct dag *dag, struct metrics *metrics, struct error *error) {
    struct warm warm;
    if (!warm_of_run(dag, &warm, error)) return false;
    if (warm.verdict == WARM_FOUND) metrics->warm_from_ns = (double)warm.from_ns;
    return true;
}

// What an edit makes of the machine's switches and idle cores nobody has sampled.
static bool count_grain(const struct dag *dag, struct task_metrics *tasks, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct grain_group *groups;
    size_t count = 0;
    bool found = grain_find(dag, &arena, &groups, &count, error);
    if (found) tasks->fine = tasks->coarse = (struct grain_count){0, 0};
    for (size_t g = 0; g < count; g++) {
        struct grain_count *grain = groups[g].grain == GRAIN_FINE ? &tasks->fine : &tasks->coarse;
        grain->sites++;
        grain->tasks += groups[g].task_count;
    }
    arena_destroy(&arena);
    return found;
}

static bool compute_all(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                        const struct window *window, const struct metrics *base, struct metrics_work *work,
                        struct metrics *metrics, struct error *error) {
    if (!usage_compute(dag, edit, run, window, base, work, metrics, error)) return false;
    cpu_compute(dag, edit, run, window, work, &metrics->cpu);
    count_collections(work_origin(dag), window, metrics);
    return tasks_compute(dag, edit, run, work, metrics, error) &&
           metrics_requests(dag, edit, run, window, DAG_NONE, work, &metrics->requests, error) &&
           (!is_as_recorded(dag, edit) || (count_grain(dag, &metrics->tasks, error) && find_warm(dag, metrics, error)));
}

bool metrics_usage(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   const struct window *window, const struct metrics *base, struct metrics_work *work,
                   struct metrics *metrics, struct error *error) {
    metrics_unknown(metrics);
    work_forget(work, dag);
    return work_bind(work, dag, edit, error) && usage_compute(dag, edit, run, window, base, work, metrics, error);
}

bool metrics_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                     const struct window *window, const struct metrics *base, struct metrics_work *work,
                     struct metrics *metrics, struct error *error) {
    metrics_unknown(metrics);
    work_forget(work, dag);
    return work_bind(work, dag, edit, error) && compute_all(dag, edit, run, window, base, work, metrics, error);
}

bool metrics_of_run(const struct dag *run, bool all, const struct window *window, const struct metrics *base,
                    struct metrics_work *work, struct metrics *metrics, struct error *error) {
    const struct dag_run times = {.time_ns = run->vertices.time_ns};
    metrics_unknown(metrics);
    work_forget(work, run);
    return work_bind_run(work, run, error) &&
           (all ? compute_all : usage_compute)(run, &work->scratch->empty, &times, window, base, work, metrics, error);
}

void metrics_work_destroy(struct metrics_work *work) {
    work_empty(work);
    if (work->scratch) {
        tasks_forget(work->scratch->span);
        streamed_free(work->scratch->streamed);
    }
    free(work->scratch);
    *work = (struct metrics_work){0};
}
