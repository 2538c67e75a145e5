// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of random programs, for properties that must hold of any: a tree of tasks on pools, threads and carriers, that
// compute, call functions, spawn, wait, take, help, run for their callers and complete promises, played by a small
// discrete-event simulation. Times agree with causes exactly; some programs hang, as starved pools do.
#ifndef REHYPE_TESTS_RANDOM_TRACE_H
#define REHYPE_TESTS_RANDOM_TRACE_H

#include "trace_builder.h"

struct random_source {
    uint64_t state;
};
uint64_t random_below(struct random_source *source, uint64_t limit); // 0 <= x < limit

// The same seed gives the same trace.
struct trace_builder *random_trace(uint64_t seed);

// The same, and now and then a task sends an actor a message, or handles what was sent first.
struct trace_builder *random_actors(uint64_t seed);

// Events without rhyme or reason: what losses and a confused tracer could leave at worst. Of actors: mostly theirs.
struct trace_builder *random_events(uint64_t seed);
struct trace_builder *random_actor_events(uint64_t seed);

#endif
