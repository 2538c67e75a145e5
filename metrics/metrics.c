// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/requests.h"
#include "metrics/work.h"

// Collections stop every thread, hence they are told by the JVM's own stream and recorded times, whatever the edit.
static bool collections_count(const struct dag *dag, const struct window *window, struct metrics *metrics,
                              struct error *error) {
    const struct trace *trace = dag->trace;
    if (trace->events_of_kind[EVENT_GC_BEGIN] == 0 || trace->stream_count == 0 || trace->streams[0].id != 0)
        return true;
    struct trace_cursor cursor;
    struct event event;
    uint64_t begin = 0;
    bool open = false;
    error->status = STATUS_OK;
    for (trace_cursor_init(&cursor, trace, &trace->streams[0]); trace_cursor_next(&cursor, &event, error);) {
        if (event.kind == EVENT_GC_BEGIN) {
            begin = event.time;
            open = true;
        } else if (event.kind == EVENT_GC_END && open) {
            open = false;
            if (window && ((int64_t)begin < window->from_ns || (int64_t)begin > window->to_ns)) continue;
            metrics->gc_pauses++;
            metrics->gc_ns += (int64_t)(event.time - begin);
        }
    }
    return error->status == STATUS_OK;
}

static bool compute_all(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                        const struct window *window, const struct metrics *base, struct metrics_work *work,
                        struct metrics *metrics, struct error *error) {
    if (!usage_compute(dag, edit, run, window, base, work, metrics, error)) return false;
    cpu_compute(dag, edit, run, window, work, &metrics->cpu);
    return tasks_compute(dag, edit, run, work, metrics, error) &&
           metrics_requests(dag, edit, run, window, DAG_NONE, work, &metrics->requests, error) &&
           collections_count(dag, window, metrics, error);
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
