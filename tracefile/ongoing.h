// SPDX-License-Identifier: Apache-2.0
// What each thread has begun and not yet ended, by the events that were written: where a recording goes on in another
// file, that file begins with it, so that it can be read by itself. No JVM type in it. The drainer's alone.
//
// Kept by thread are its name, the functions, tasks, waits and blocks that are open, its pool, its carrier, and what it
// has computed, waited and executed so far. Hand-overs under way are not: a spawn's end by itself says nothing. An
// event that was lost may have ended functions, so after a loss those of the innermost task are forgotten.
#ifndef REHYPE_TRACEFILE_ONGOING_H
#define REHYPE_TRACEFILE_ONGOING_H

#include "tracefile/event.h"
#include "tracefile/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ongoing_thread;

// Zero-initialise.
struct ongoing {
    struct ongoing_thread **buckets; // by id, chained
    size_t room, count;              // room is a power of two
};

// A thread that was given a name in the file. false: no memory.
bool ongoing_name(struct ongoing *ongoing, uint32_t thread, const struct trace_thread *named);

// Events of a thread that were written, in order. After its end nothing is kept of a thread. false: no memory.
// Cost: some 5 ns an event.
bool ongoing_take(struct ongoing *ongoing, uint32_t thread, const struct event *events, size_t count);

// How many events ongoing_write will write.
uint64_t ongoing_events(const struct ongoing *ongoing);

// Writes all threads' names, the tasks that are under way, and events that begin once more, from `ticks` on, whatever
// is open. What these name must be in the file. false: the writer failed, or there was no memory.
bool ongoing_write(const struct ongoing *ongoing, struct trace_writer *writer, uint64_t ticks);

void ongoing_destroy(struct ongoing *ongoing);

#endif
