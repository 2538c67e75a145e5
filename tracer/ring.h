// SPDX-License-Identifier: Apache-2.0
// The lockless double buffer between one producer (the traced thread) and one consumer (the drainer). No JVM type in
// it.
//
// Two halves. The producer fills one; when it is full the producer seals it and swaps to the other, if the consumer has
// given that back. If not, the pair is full: the event is dropped and counted, and the first record that fits again is
// an EVENT_LOST with the count. The producer never waits, allocates or takes a lock.
//
// What is published how (C11): a record becomes visible by the release store of `cursor` after it, read by the
// consumer's acquire load in ring_drain. A half is sealed by the release store of its count of records, and given back
// by the consumer's release store of RING_FREE; each pairs with the other side's acquire load. So the consumer can also
// take what stands in a half that isn't full yet, which is how a killed run still has its last events.
//
// A producer that takes long to fill a little more of a half swaps already then, if it can: over hours it would touch
// all of both, for nothing. So does one in a burst that has filled as much as caches hold. Only where the consumer is
// late, as where its core was taken from it, does it go on to the end of the half; what it touched goes back once it
// rests (ring_rest).
//
// A carrier's ring holds the events of the virtual threads that it carried, too: a RING_SWITCH says whose the events
// after it are. Where it finds no room, it is put before the next event that does.
#ifndef REHYPE_TRACER_RING_H
#define REHYPE_TRACER_RING_H

#include "tracefile/event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RING_DEFAULT_RECORDS 524288u // a half; twice 8 MiB a thread, of which only what is used is ever touched
#define RING_LEAST_RECORDS   16u
#define RING_MOST_RECORDS    (1u << 24)
#define RING_KEPT_BYTES      65536u
#define RING_BURST_RECORDS   65536u // how much at a time a half is used in a burst
#define RING_QUIET_RECORDS   4096u  // how much at a time a half is used, until a producer is seen to be quiet
#define RING_FETCHED_AHEAD   32u    // records, of four to a cache line
#define RING_OPERAND_BITS    56     // of a first operand; ids stay far below
#define RING_TIMED           254 // kind of what is no event, but what a probe measured (cost_meter.h); three operands

// Whose a half is, where it is not sealed with a count of records.
#define RING_FREE    0u               // nobody's: the producer may take it
#define RING_FILLING UINT32_MAX       // the producer's
#define RING_CLAIMED (UINT32_MAX - 1) // the consumer's for a moment (ring_rest)

// No event, and never in a file. Operand a: the owner of what follows, 0 being whose the ring is.
#define RING_SWITCH 255
_Static_assert(EVENT_KINDS <= RING_TIMED, "no event has the number of a switch or of what a probe measured");

// An event is one record, or two when its kind has more than one operand: the second holds operands b and c.
struct ring_record {
    uint64_t first;  // ticks; operand b
    uint64_t second; // operand a << 8 | kind; operand c
};
_Static_assert(sizeof(struct ring_record) == 16, "an event of one operand costs 16 bytes");

// What a producer rings when it has filled a half, for a consumer that sleeps long. One of all rings.
struct ring_bell {
    _Atomic(uint32_t) rings; // a futex
    _Atomic(bool) awaited;   // only then does a producer make a system call
    // Whoever takes at least that for RING_QUIET_RECORDS is quiet; 0: nobody is.
    _Atomic(uint64_t) quiet_ticks;
};

struct ring {
    // The producer's line. `cursor` is the only field of it that the consumer reads.
    _Alignas(64) _Atomic(struct ring_record *) cursor;
    struct ring_record *limit;    // end of the half being filled, or of as much of it as is needed so far
    unsigned filling;             // which half that is
    _Atomic(uint64_t) unreported; // dropped since the last EVENT_LOST
    uint64_t owner;               // of what is put
    bool announced;               // whether the last record of it that fit says so
    bool whole;                   // the limit is the half's end, or where all is full
    uint64_t limited;             // when the limit was raised last in this half
    // Shared, written once in a half's life by each side: how many records await draining, or whose the half is.
    _Alignas(64) _Atomic(uint32_t) sealed[2];
    // The consumer's line.
    _Alignas(64) struct ring_record *read; // first record not yet drained
    unsigned draining;
    const struct ring_record *touched[2]; // of each half, up to where it may be in memory
    // Constant.
    uint32_t capacity;      // records in a half
    struct ring_bell *bell; // NULL: none
    struct ring_record *half[2];
};

// Maps memory for two halves of `capacity` records; false when the system has none. Not for the hot path. `bell` may be
// NULL.
bool ring_init(struct ring *ring, uint32_t capacity, struct ring_bell *bell);
void ring_reset(struct ring *ring); // empty again, when neither side uses it

// Consumer, after the producer has ended, all is drained, and before ring_reset: memory that this producer touched
// beyond the first RING_KEPT_BYTES goes back to the system. A call of it if there is any.
void ring_trim(struct ring *ring);

// Consumer, when the producer records little: memory of records that were drained, beyond RING_QUIET_RECORDS of a half,
// goes back to the system. The half that is not being filled is claimed for that, for some microseconds at a time and
// only while the producer has a quarter of the other left. Cost: a call for what the half being filled had, and one for
// every RING_KEPT_BYTES of the other.
void ring_rest(struct ring *ring);
void ring_destroy(struct ring *ring);

// Producer, cold: swaps halves to make room for an event. NULL when the pair is full; the event is then counted
// as lost. `ticks` is the event's time, for the EVENT_LOST that may have to come before it.
struct ring_record *ring_swap(struct ring *ring, uint64_t ticks);

// Producer: the lines ahead were the consumer's last, and often stand in its core's cache: a store would wait for one.
// Near a half's end it asks for what isn't the ring's, and a hint may.
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

// Producer, cold: ring_put1 where the half is full.
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
// and gives drained halves back. Returns how many; less than capacity means that nothing more was there.
size_t ring_drain(struct ring *ring, struct event *events, size_t capacity);

// Any thread: wakes the consumer, awaited or not.
void ring_bell_ring(struct ring_bell *bell);

// Consumer: sleeps until the bell has been rung more than `rings` times, or, on CLOCK_MONOTONIC, until `until`. Returns
// whether it was rung.
bool ring_bell_wait(struct ring_bell *bell, uint32_t rings, const struct timespec *until);

// Consumer: how many were dropped after the last EVENT_LOST; exact once the producer has ended.
uint64_t ring_unreported(const struct ring *ring);

#endif
