// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences of calls (metrics/calls.h), gathered from the callers that have them.
#ifndef REHYPE_METRICS_CALL_SEQUENCES_H
#define REHYPE_METRICS_CALL_SEQUENCES_H

#include "dag/idmap.h"
#include "metrics/figures.h"

enum { SEQUENCE_FUNCTIONS = 12 }; // told of one sequence; calls of further ones are left out of it

struct sequence_function { // calls of one function in a sequence; means
    uint32_t method;
    double calls;   // in one
    double call_ns; // of all its calls in one
};

struct call_sequence {
    uint32_t caller;                           // trace method id; 0: the request itself
    const struct sequence_function *functions; // in the order of their first calls
    size_t function_count;
    uint64_t requests;         // that have it
    double per_s;              // of these, over the time in which there were requests
    double sum_ns, longest_ns; // of its calls: all, and the longest, which is what they take in parallel; means of one
    double saved_ns;           // of the difference, in a request of the endpoint: mean
    uint32_t held;             // index into dag->resources of what the request has meanwhile; DAG_NONE: nothing
};

struct sleeping_call {
    uint32_t method;
    int64_t since_ns;
    double length_ns;
    uint32_t first, last; // vertices of its thread that lie within: [first, last)
};

struct gathered_sequence;

struct call_sequences {
    const struct dag *dag;
    struct gathered_sequence *items;
    size_t count, capacity;
    struct idmap by_content, by_request;
    uint32_t *taken_by;         // a resource each: number of the caller whose call had it last
    uint32_t callers;           // so far
    struct sleeping_call *kept; // of the caller in hand
    size_t kept_capacity;
};

struct sequence_place {
    uint32_t endpoint, request; // index into the requests of a request_log
    uint32_t caller;            // trace method id, 0: the request itself
    uint32_t since;             // vertex with which the request begins on the thread
};

// call_sequences_destroy in any case. false: no memory.
bool call_sequences_init(struct call_sequences *sequences, const struct dag *dag);
void call_sequences_destroy(struct call_sequences *sequences);

// The calls of one caller that sleep, in order; there need not be a sequence of them. false: no memory. Cost: a look at
// each vertex within them, and at those of the request before them.
bool call_sequences_note(struct call_sequences *sequences, const struct sequence_place *place,
                         const struct sleeping_call *calls, size_t count);

// Those of an endpoint of which there were so many requests in so long; in the arena. NULL: no memory.
const struct call_sequence *call_sequences_tell(const struct call_sequences *sequences, uint32_t endpoint,
                                                uint64_t requests, int64_t span_ns, struct arena *arena, size_t *count);

#endif
