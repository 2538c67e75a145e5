// SPDX-License-Identifier: GPL-3.0-or-later
// In which functions of the program requests sleep, and which calls that sleep a request makes one after the other, of
// recordings that tell requests and functions (record --include).
//
// Asleep is a thread that is at a request and neither computes, nor is ready, nor waits for a resource: it sleeps, does
// I/O, or waits for what another thread brings. What passed between two events that tell how much a thread has computed
// (an edge of the DAG) is shared out among the functions between them: it is taken to have slept in as few of the
// stretches from one function's entry or exit to the next as can be, the longest, as dag/build/compute.c does with
// edges. So of an edge in which one function computes for long and another sleeps, either may be told for the other.
//
// A sequence is at least two calls of one caller in one request, on one thread, each of which is asleep for more than
// half of its time and for 1 ms. Calls are left out that await a task which another of them handed over, that keep a
// lock or a connection, or that have one that another has for a tenth of its time. Nobody knows whether one needs what
// another returned.
#ifndef REHYPE_METRICS_CALLS_H
#define REHYPE_METRICS_CALLS_H

#include "metrics/call_sequences.h"
#include "metrics/endpoints.h"

struct called_function { // means of an endpoint's request, but for call_ns
    uint32_t method;     // trace method id
    double calls;
    double call_ns;     // of a call
    double asleep_ns;   // while it was the innermost recorded function
    double together_ns; // with what it called
};

struct endpoint_calls {
    uint32_t endpoint;                       // as in struct endpoint
    uint64_t requests;                       // that ended after the first function was recorded: means are of these
    const struct called_function *functions; // most time asleep first, that with calls next
    size_t function_count;
    const struct call_sequence *sequences; // by saved_ns, most first
    size_t sequence_count;
};

struct calls {
    const struct endpoint_calls *endpoints; // by endpoint; those in whose requests functions were recorded
    size_t count;
};

// Of the requests of metrics_endpoints, but for those that ended before the first function was recorded, as where
// functions are found while the program runs (record --calls). Empty where the trace tells no requests or no functions.
// In the arena. Errors: no memory; a damaged trace. Cost: two decodes of the threads that are at requests.
bool metrics_calls(const struct dag *dag, const struct window *window, struct arena *arena, struct calls *calls,
                   struct error *error);

struct call_advice {
    const struct endpoint *endpoint;
    const struct call_sequence *sequence;
};

// The sequence that would save most of all requests' time, and over a twentieth of its endpoint's latency. What the
// request holds something through is passed over. false: there is none.
bool calls_advise(const struct endpoints *endpoints, const struct calls *calls, struct call_advice *advice);

// NULL: there are none of that endpoint.
const struct endpoint_calls *calls_of(const struct calls *calls, uint32_t endpoint);

#endif
