// SPDX-License-Identifier: Apache-2.0
// Parts what carriers' rings hold by virtual thread, and puts each thread's events in order. No JVM type in it.
//
// A virtual thread goes from carrier to carrier, and rings are emptied one after the other: what it did on a second
// carrier may be found before the last that it did on the first. So each turn on a carrier has a number, and events are
// kept until every ring has been emptied once more, since whatever came before them was in some ring by then. That
// needs no clock, and nothing that lasts as long as the thread. A turn whose events were lost leaves a gap.
//
// The drainer's alone.
#ifndef REHYPE_TRACER_PARTING_H
#define REHYPE_TRACER_PARTING_H

#include "tracefile/event.h"

#include <stddef.h>

// An owner as rings have it (RING_SWITCH): which turn of which thread. Turns are counted modulo 2^24.
static inline uint64_t parting_owner(uint32_t thread, uint32_t turn) {
    return (uint64_t)(turn & 0xffffff) << 32 | thread;
}

struct parting_segment {
    uint64_t owner;
    size_t first, count; // of the events kept
    size_t arrival;
};

// Zero-initialise; memory is kept for the next rounds.
struct parting {
    struct event *events, *sorted;
    struct parting_segment *segments;
    size_t event_count, event_capacity, sorted_capacity, segment_count, segment_capacity;
    size_t settled;  // the first so many segments may be written: all rings were emptied since they came
    size_t awaiting; // segments that there were at the last round's end
};

// Takes what a ring gave. Events of the ring's own thread move to the front of `events`, and *count becomes their
// number; the rest is kept. *owner is whose the ring's events are, from one batch to the next. false: no memory.
bool parting_take(struct parting *parting, uint64_t *owner, struct event *events, size_t *count);

// After each round over all rings: what had been taken before it may now be written.
void parting_round(struct parting *parting);

// Where a thread's events go.
typedef bool parting_sink(void *context, uint32_t thread, struct event *events, size_t count);

// Passes on what may be written, in one go a thread, or, at the end, everything. What it names must have been
// registered. false: the sink failed, or there was no memory. Cost: some 2 us a thread, 100 ns an event.
bool parting_write(struct parting *parting, parting_sink *sink, void *context, bool all);

void parting_destroy(struct parting *parting);

#endif
