// SPDX-License-Identifier: Apache-2.0
// The drainer: one native thread, unknown to the JVM, that empties every producer's ring into the trace file. It polls,
// because a producer that had to wake it would pay for a system call; the pause adapts to how much it finds in the
// rings, 0.5 to 100 ms, and there is none while it is behind. In one of more than 8 ms the first producer in a burst
// wakes it, or the 32nd to end.
//
// Rings take their memory from one store (chunks.h), whose limit follows what the machine has left.
//
// A recording of several files (rotation.h) is cut at one instant for all threads: what is older is written into the
// one file, what is younger into the next, behind what is under way at that instant (ongoing.h). To have all that is
// older, every ring is emptied twice more; what is younger is held in memory meanwhile. Threads notice nothing.
//
// When writing fails (disk full) it closes the file with the reason in it and ends; producers then fill their rings and
// drop, which costs them less than tracing did.
#ifndef REHYPE_TRACER_DRAINER_H
#define REHYPE_TRACER_DRAINER_H

#include "base/error.h"
#include "tracefile/writer.h"
#include "tracer/brief.h"
#include "tracer/ring.h"

// One producer's end: the ring and which thread of the trace it belongs to. A carrier's holds events of virtual
// threads, too.
struct channel {
    struct ring ring;
    uint32_t thread;      // id in the trace; set before the first event
    uint64_t owner;       // the drainer's: of the events that come next (tracer/parting.h)
    uint32_t recording;   // which one it belongs to
    _Atomic(bool) ended;  // by the producer, after its last event; then the channel is the drainer's
    struct brief brief;   // the drainer's
    struct channel *next; // the drainer's list
};

// What is left out, and how much memory there is for buffers. Zeroes leave nothing out.
struct drainer_settings {
    uint64_t least_ticks;  // functions that take less are left out
    uint64_t memory_bytes; // of all rings, but for what each is owed (chunks.h); 0: a share of what there is
    bool without_samples, several_files;
};

// Before drainer_start; the next recordings' until called again.
void drainer_set(const struct drainer_settings *settings);

// Takes the open writer over; it is closed by drainer_stop. For several files rotation_begin was called. `ticks_per_s`
// as in the trace's header. false and *error when no thread could be made (the writer is then still the caller's). May
// be called again after drainer_stop: producers of the recording before write nothing into this one.
bool drainer_start(struct trace_writer *writer, uint64_t ticks_per_s, struct error *error);

// Whether events still reach a file: from drainer_start until it stops, by itself or told to. Any thread.
bool drainer_running(void);

// A channel for one more producer, whose ring holds twice `ring_records`, or, if that is 0, as much as there is memory
// for. NULL without memory. Cold.
struct channel *drainer_open(uint32_t thread, uint32_t ring_records);

// By the producer: nothing more will come. One in 32 may make a system call.
void drainer_close(struct channel *channel);

// Drains what is left, writes the end block and closes the file. Idempotent. Producers that still run only fill their
// rings.
void drainer_stop(void);

#endif
