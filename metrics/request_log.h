// SPDX-License-Identifier: GPL-3.0-or-later
// The requests of a recording, as its events tell them, and when which thread was at which of them.
#ifndef REHYPE_METRICS_REQUEST_LOG_H
#define REHYPE_METRICS_REQUEST_LOG_H

#include "metrics/figures.h"

struct logged_request {
    uint64_t id;
    int64_t begin_ns, end_ns;      // times of the DAG
    uint32_t endpoint, connection; // 0 unknown
    bool failed;
};

struct request_span {
    uint32_t request; // index into requests
    uint32_t thread;
    int64_t from_ns, to_ns;
};

struct request_log {
    struct logged_request *requests; // those whose begin and end are told, by id
    size_t request_count;
    struct request_span *spans; // by thread, then by time; none overlap on a thread
    size_t span_count;
    uint32_t *wait_site; // a vertex each: of the waits, trace site, 0 unknown; NULL without requests
};

// All 0 where the trace tells none. request_log_destroy in any case. Errors: no memory; a damaged trace.
bool request_log_read(struct request_log *log, const struct dag *dag, struct error *error);
void request_log_destroy(struct request_log *log);

// The span that covers an instant of a thread; NULL: none. Cost: a binary search.
const struct request_span *request_log_at(const struct request_log *log, uint32_t thread, int64_t time_ns);

#endif
