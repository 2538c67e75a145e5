// SPDX-License-Identifier: GPL-3.0-or-later
// The steady part of a run: between start-up and shutdown, what is asked and what it costs no longer drift (SPEC
// section 2).
//
// Requests are sorted by when they came, and the time around the middle nine tenths of them is cut into equal slices.
// Two series are told of the slices: how many requests came, and the logarithm of their mean latency. Of all parts
// (runs of slices) that hold at least half of the requests, and whose two halves do not differ, that one is steady
// whose means are known best: the sum over both series of (squared deviations from the mean) / (slices squared) is
// least. That is the marginal standard error rule, MSER (White: An Effective Truncation Heuristic for Bias Reduction in
// Simulation Output, Simulation 69(6), 1997), with an end that is cut as well as the beginning. Halves differ where
// one's mean is off the other's by more than 5 % and by more than three standard errors.
//
// The last twentieth of the requests is left out in any case. In an edited run each client still brings as many as were
// recorded, so some have done so before others; and a window of it ends when as many events have come as in the
// recording (metrics/work.h), which then must not be while only a few clients are left.
#ifndef REHYPE_METRICS_STEADY_H
#define REHYPE_METRICS_STEADY_H

#include "dag/dag.h"

// Compilers that have less of a core for so long are done with what they had to do as the tracer came (cli/settling.h).
#define SETTLED_CORES 0.25
enum { SETTLED_MS = 500 };

enum { STEADY_LEAST = 50 }; // requests; among fewer, chance decides what looks steady

struct steady_request {
    int64_t arrived_ns;
    double latency_ns; // > 0; NAN: it was not answered
};

enum steady_verdict {
    STEADY_FOUND,
    STEADY_FEW,  // fewer requests than STEADY_LEAST
    STEADY_NONE, // they drift as long as they come
};

struct steady {
    enum steady_verdict verdict;
    size_t requests;        // in all
    int64_t from_ns, to_ns; // where it was found: from the first slice's begin to the last one's end
};

// Sorts the requests. false and *error only when there is no memory. Cost: 20 ns a request, and some 100 us.
bool steady_find(struct steady_request *requests, size_t count, struct steady *steady, struct error *error);

// Where the recording began in a JVM that ran, what came before its compilers were done is left out, if they were at
// all: as the tracer comes HotSpot throws compiled code away.
//
// Of a run's requests; of one that tells none, the tasks of its outermost site (metrics/requests.h).
bool steady_of_run(const struct dag *dag, struct steady *steady, struct error *error);

#endif
