// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/events.h"

static bool visit_thread(const struct dag *dag, uint32_t t, events_visitor visit, void *context, struct error *error) {
    const struct dag_thread *thread = &dag->threads[t];
    struct trace_cursor cursor;
    struct event event;
    uint32_t vertex = thread->first, end = thread->first + thread->count;
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[thread->stream]);
    error->status = STATUS_OK;
    for (uint64_t ordinal = 0; vertex < end && trace_cursor_next(&cursor, &event, error); ordinal++) {
        if (event.kind == EVENT_TIMED_OUT) visit(context, t, DAG_NONE, &event);
        while (vertex < end && dag->vertices.event[vertex] == ordinal) visit(context, t, vertex++, &event);
    }
    return error->status == STATUS_OK;
}

bool events_visit(const struct dag *dag, events_visitor visit, void *context, struct error *error) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (dag->threads[t].stream != DAG_NONE && !visit_thread(dag, t, visit, context, error)) return false;
    }
    return true;
}
