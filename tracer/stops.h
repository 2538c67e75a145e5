// SPDX-License-Identifier: Apache-2.0
// How long the tracer makes the whole JVM stand still, by the JVM's own counters: what is asked of the JVM at a
// safepoint stands between stop_begin and stop_end. What else stops the JVM meanwhile, a collection, counts with it, so
// that no stop is told too short. Told to the trace (registry_stop) and to `rehype attach`.
#ifndef REHYPE_TRACER_STOPS_H
#define REHYPE_TRACER_STOPS_H

#include "tracefile/tables.h"

#include <stdbool.h>
#include <stdint.h>

struct stops_sum {
    uint64_t count, largest_ns, total_ns;
};

struct stop_mark {
    uint64_t ticks;
    uint64_t safepoints, ns;
};

// Once. Whether the JVM counts its stops.
bool stops_init(void);

void stop_begin(struct stop_mark *mark);
void stop_end(const struct stop_mark *mark, enum trace_stop_kind kind);

// Those since the last time; false: the JVM doesn't count.
bool stops_take(struct stops_sum *sum);

#endif
