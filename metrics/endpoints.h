// SPDX-License-Identifier: GPL-3.0-or-later
// What a service's endpoints are asked for, and where the time of their requests goes, of recordings that tell requests
// (trace-format.md, kinds 52 to 56).
//
// A request lasts from its begin to its end, whichever threads are at it. On a thread that is at it, each edge's time
// is what that edge is: computing, waiting for a core, waiting for a resource, asleep. While it waits for a task's
// result, the time is what that task does then: it stands in its pool's queue, or its body computes, waits and sleeps
// in turn, which is followed up to eight tasks deep; what passes between the task's end and the waiter's next step, or
// before a thread of its own begins, is hand-over. While no thread is at it (an asynchronous answer) it is elsewhere.
// All causes together come to its latency.
//
// A task belongs to a request if it was spawned while a thread was at it, or by a task that belongs to it.
#ifndef REHYPE_METRICS_ENDPOINTS_H
#define REHYPE_METRICS_ENDPOINTS_H

#include "metrics/figures.h"

enum endpoint_cause_kind {
    CAUSE_COMPUTING,
    CAUSE_CORE,      // ready to run, without a core or a carrier
    CAUSE_ASLEEP,    // Thread.sleep, I/O: no event says for what
    CAUSE_HAND_OVER, // a result's, or a thread's that begins
    CAUSE_ELSEWHERE, // no thread is at it
    CAUSE_RESOURCE,  // waiting for one
    CAUSE_QUEUE,     // a task of it, in a pool's queue
    CAUSE_WAIT,      // for what is no task, at a place: a latch, a condition, a signal
};

struct endpoint_cause {
    enum endpoint_cause_kind kind;
    uint32_t of;    // index into dag->resources, trace pool id, or trace site; else 0
    double mean_ns; // of a request
};

struct endpoint_held {
    uint32_t of; // trace pool id, 0 none; or index into dag->resources
    double mean; // threads, or units, at once on average over the time in which there were requests
};

struct endpoint {
    uint32_t endpoint; // index into trace->endpoints; 0: requests of which nothing says what they asked for
    uint64_t count, failed;
    double per_s;                                   // over endpoints.span_ns
    double mean_ns, p50_ns, p90_ns, p99_ns, max_ns; // of latencies; each but the mean is one that occurred: the least
                                                    // that at least such a share of the requests do not exceed
    uint64_t connections;                           // by which its requests came; 0: not told
    const struct endpoint_cause *causes;            // longest first, none of 0
    size_t cause_count;
    const struct endpoint_held *threads, *resources; // most first
    size_t thread_count, resource_count;
};

struct endpoints {
    const struct endpoint *endpoints; // by the time of all their requests, most first
    size_t count;
    uint64_t requests, failed, connections;
    int64_t span_ns; // from the first request's begin to the last one's end
};

// Of requests that begin within the window and end in the recording. All 0 where the trace tells none. In the arena.
// Errors: no memory; a damaged trace. Cost: one decode of the trace, some 20 ns a vertex, and 1 us a request.
bool metrics_endpoints(const struct dag *dag, const struct window *window, struct arena *arena,
                       struct endpoints *endpoints, struct error *error);

// "computing", "waiting for HikariPool-1", "in the queue of pricing". Returns text.
const char *endpoint_cause_text(const struct dag *dag, const struct endpoint_cause *cause, char *text, size_t size);

// "GET /product/{id}".
const char *endpoint_name(const struct dag *dag, const struct endpoint *endpoint);

#endif
