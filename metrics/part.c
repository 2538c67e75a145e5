// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/part.h"

#include "metrics/quantiles.h"

#include <stdlib.h>

// 15 requests lie beyond the 99th percentile of 1,500; of 30 latencies in a row one is cut.
enum { REQUESTS_LEAST = 1500, LATENCIES_LEAST = 30, SHARE_MOST = 3 };

struct begun { // requests whose begin is known, in that order
    uint32_t *vertex;
    double *latency_ns;
    uint32_t count, answered;
};

static void gather(const struct dag *dag, const struct window *window, struct begun *begun) {
    const int64_t *time_ns = dag->vertices.time_ns;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        if (request->begin == DAG_NONE) continue;
        const int64_t begin_ns = time_ns[request->begin];
        if (window && (begin_ns < window->from_ns || begin_ns > window->to_ns)) continue;
        begun->vertex[begun->count++] = request->begin;
        if (request->end != DAG_NONE) begun->latency_ns[begun->answered++] = (double)(time_ns[request->end] - begin_ns);
    }
}

// How many requests a part has; 0: there are too few for one.
static uint32_t size_of_part(const struct dag *dag, const struct begun *begun) {
    if (begun->count < SHARE_MOST * REQUESTS_LEAST || begun->answered == 0) return 0;
    const int64_t *time_ns = dag->vertices.time_ns;
    const double median_ns = quantiles_of(begun->latency_ns, begun->answered).p50;
    const double span_ns = (double)(time_ns[begun->vertex[begun->count - 1]] - time_ns[begun->vertex[0]]);
    const double wanted = span_ns > 0 ? LATENCIES_LEAST * median_ns * begun->count / span_ns : begun->count;
    if (wanted > (double)begun->count / SHARE_MOST) return 0;
    return wanted > REQUESTS_LEAST ? (uint32_t)wanted : REQUESTS_LEAST;
}

static bool time_of(const struct dag *dag, uint32_t vertex, uint64_t *ns, struct error *error) {
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, vertex)];
    struct trace_cursor cursor;
    struct event event;
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[thread->stream]);
    error->status = STATUS_OK;
    for (uint64_t i = trace_cursor_seek(&cursor, dag->vertices.event[vertex]); i <= dag->vertices.event[vertex]; i++) {
        if (!trace_cursor_next(&cursor, &event, error))
            return error->status != STATUS_OK ? false : error_set(error, STATUS_BAD_INPUT, "a request's event is gone");
    }
    *ns = event.time;
    return true;
}

bool part_find(const struct dag *dag, const struct window *window, struct part *part, struct error *error) {
    *part = (struct part){0};
    if (dag->request_count == 0 || !dag->vertices.event) return true;
    struct begun begun = {.vertex = malloc(dag->request_count * sizeof *begun.vertex),
                          .latency_ns = malloc(dag->request_count * sizeof *begun.latency_ns)};
    bool ok = (begun.vertex && begun.latency_ns) || error_set(error, STATUS_FAILED, "no memory for requests");
    if (ok) gather(dag, window, &begun);
    const uint32_t count = ok ? size_of_part(dag, &begun) : 0, first = (begun.count - count) / 2;
    if (count > 0) {
        part->requests = count;
        ok = time_of(dag, begun.vertex[first], &part->from_ns, error) &&
             time_of(dag, begun.vertex[first + count], &part->to_ns, error);
    }
    free(begun.vertex);
    free(begun.latency_ns);
    return ok;
}
