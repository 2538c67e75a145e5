// SPDX-License-Identifier: Apache-2.0
// The lockless buffer between one producer (the traced thread) and one consumer (the drainer). No JVM type in it.
//
// A chain of chunks (chunks.h). The producer fills one; when it is full the producer takes another and hangs it on. The
// consumer follows, and gives back what it has drained. So a ring is as long as the consumer is late, and a quiet
// thread's is one chunk. Where there is none to take, the event is dropped and counted, and the first record that fits
// again is an EVENT_LOST with the count. The producer never waits, allocates or takes a lock.
//
// What is published how (C11): a record becomes visible by the release store of `cursor` after it, read by the
// consumer's acquire load in ring_drain. A chunk is sealed by the release store of its `next`, which pairs with the
// consumer's acquire load of that; the first chunk's is `first`. So the consumer can also take what stands in a chunk
// that isn't full yet, which is how a killed run still has its last events.
//
// A carrier's ring holds the events of the virtual threads that it carried, too: a RING_SWITCH says whose the events
// after it are. Where it finds no room, it is put before the next event that does.
#ifndef REHYPE_TRACER_RING_H
#define REHYPE_TRACER_RING_H

#include "tracefile/event.h"
#include "tracer/chunks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RING_LEAST_RECORDS 16u
#define RING_MOST_RECORDS  (1u << 24)
#define RING_BURST_RECORDS 65536u // so many that wait wake the consumer
#define RING_FETCHED_AHEAD 32u    // records, of four to a cache line
#define RING_OPERAND_BITS  56     // of a first operand; ids stay far below
#define RING_TIMED         254    // kind of what is no event, but what a probe measured (cost_meter.h); three operands

// No event, and never in a file. Operand a: the owner of what follows, 0 being whose the ring is.
#define RING_SWITCH 255
_Static_assert(EVENT_KINDS <= RING_TIMED, "no event has the number of a switch or of what a probe measured");

// What a producer rings in a burst, for a consumer that sleeps long. One of all rings.
struct ring_bell {
    _Atomic(uint32_t) rings; // a futex
    _Atomic(bool) awaited;   // only then does a producer make a system call
};

struct ring {
    // The producer's line. `cursor` is the only field of it that the consumer reads.
    _Alignas(64) _Atomic(struct ring_record *) cursor;
    struct ring_record *limit;    // end of the chunk being filled, or where there was no room
    struct chunk *filling;        // NULL: none yet
    uint32_t taken;               // chunks since the ring was new
    _Atomic(uint64_t) unreported; // dropped since the last EVENT_LOST
    uint64_t owner;               // of what is put
    bool announced;               // whether the last record of it that fit says so
    // Shared, written once in a chunk's life.
    _Alignas(64) _Atomic(struct chunk *) first; // by the producer
    _Atomic(uint32_t) given;                    // by the consumer: chunks given back
    // The consumer's line.
    _Alignas(64) struct chunk *draining; // NULL: none yet
    const struct ring_record *read;      // first record not yet drained
    // Constant.
    struct chunks *chunks;
    struct ring_bell *bell;                            // NULL: none
    uint32_t chunk_records, most_chunks, burst_chunks; // of each chunk; at once; so many that wait ring the bell
};

// Of twice `records` at most, or, if that is 0, of as many as there is memory for. `bell` may be NULL. Takes nothing
// yet.
void ring_init(struct ring *ring, struct chunks *chunks, uint32_t records, struct ring_bell *bell);

// Consumer, when the producer has ended or is the consumer: empty again; its chunks go back.
void ring_reset(struct ring *ring);

// Producer, cold: takes another chunk to make room for an event. NULL when there is none; the event is then counted as
// lost. `ticks` is the event's time, for the EVENT_LOST that may have to come before it.
struct ring_record *ring_swap(struct ring *ring, uint64_t ticks);

// Producer: the lines ahead were the consumer's last, and often stand in its core's cache: a store would wait for one.
// Near a chunk's end it asks for what isn't the ring's, and a hint may.
static inline void ring_fetch_ahead(const struct ring_record *at) {
    __builtin_prefetch(at + RING_FETCHED_AHEAD, 1);
}

// Producer: the stores of an event of one operand, at a record that is free.
static inline void ring_store1(struct ring *ring, struct ring_record *at, uint64_t ticks, unsigned kind, uint64_t a) {
    ring_fetch_ahead(at);
    at->first = ticks;
    at->second = a << 8 | kind;
    atomic_store_explicit(&ring->cursor, at + 1, memory_order_release);
}

// Producer, cold: ring_put1 where the chunk is full.
void ring_put1_into_next(struct ring *ring, uint64_t ticks, unsigned kind, uint64_t a);

// Producer. Cost: the stores (one cache line every four events); what is rare comes last, so that a caller who does no
// more needs no frame.
static inline void ring_put1(struct ring *ring, uint64_t ticks, unsigned kind, uint64_t a) {
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    if (__builtin_expect(at != ring->limit, 1))
        ring_store1(ring, at, ticks, kind, a);
    else
        ring_put1_into_next(ring, ticks, kind, a);
}

static inline void ring_put3(struct ring *ring, uint64_t ticks, unsigned kind, uint64_t a, uint64_t b, uint64_t c) {
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    if (__builtin_expect(ring->limit - at < 2, 0) && !(at = ring_swap(ring, ticks))) return;
    ring_fetch_ahead(at);
    at[0].first = ticks;
    at[0].second = a << 8 | kind;
    at[1].first = b;
    at[1].second = c;
    atomic_store_explicit(&ring->cursor, at + 2, memory_order_release);
}

// Producer: what is put from here on is `owner`'s. Cost: as ring_put1 and a call.
void ring_switch(struct ring *ring, uint64_t ticks, uint64_t owner);

// Consumer: decodes what is published into `events`, RING_SWITCH and RING_TIMED among them, at most `capacity` of them,
// and gives drained chunks back. Returns how many; less than capacity means that nothing more was there.
size_t ring_drain(struct ring *ring, struct event *events, size_t capacity);

// Any thread: wakes the consumer, awaited or not.
void ring_bell_ring(struct ring_bell *bell);

// Consumer: sleeps until the bell has been rung more than `rings` times, or, on CLOCK_MONOTONIC, until `until`. Returns
// whether it was rung.
bool ring_bell_wait(struct ring_bell *bell, uint32_t rings, const struct timespec *until);

// Consumer: how many were dropped after the last EVENT_LOST; exact once the producer has ended.
uint64_t ring_unreported(const struct ring *ring);

#endif
