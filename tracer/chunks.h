// SPDX-License-Identifier: Apache-2.0
// The memory of all rings: one mapping, cut into chunks of one size, that rings take as they need them and give back as
// they are drained. No JVM type in it.
//
// A chunk that was given back last is taken first, since caches have it. Lists are Treiber's stacks: their heads carry
// a number of turns, so that one that came back meanwhile is not taken for one that never left. Nobody waits.
//
// Pages are touched when a chunk is first used. What a burst touched goes back to the system (chunks_rest), and lies in
// a list of its own until it is needed again.
#ifndef REHYPE_TRACER_CHUNKS_H
#define REHYPE_TRACER_CHUNKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CHUNK_MOST_BYTES  16384u
#define CHUNK_LEAST_BYTES 512u
#define CHUNKS_OWED       2u // that a ring gets even where the limit is reached: one to fill, one to drain

// An event is one record, or two when its kind has more than one operand: the second holds operands b and c.
struct ring_record {
    uint64_t first;  // ticks; operand b
    uint64_t second; // operand a << 8 | kind; operand c
};
_Static_assert(sizeof(struct ring_record) == 16, "an event of one operand costs 16 bytes");

// One piece of a ring.
struct chunk {
    _Atomic(struct chunk *) next; // of the same ring; by then `count` says how many records there are
    uint32_t count;
    _Alignas(64) struct ring_record records[];
};

// Zeroes: there is no memory.
struct chunks {
    char *memory;
    uint32_t chunk_bytes, chunk_records; // a power of two; how many records fit a chunk
    uint32_t total;                      // chunks in the mapping
    _Atomic(uint32_t) *link;             // by number: which chunk comes next in a list
    // Numbers from 1 on, 0 being none; above them how many turns the list has seen.
    _Alignas(64) _Atomic(uint64_t) warm;
    _Atomic(uint64_t) cold;  // not in memory
    _Atomic(uint32_t) fresh; // chunks that were ever taken; those above never were
    _Atomic(uint32_t) taken, most;
    uint32_t lately; // who gives back: most that were taken since chunks_rest
};

// Maps `bytes`, or as much of that as the system has; for limits of half of it, so that rings are not owed in vain.
// `chunk_bytes` is a power of two. false: no memory. Cold, once.
bool chunks_reserve(struct chunks *chunks, uint64_t bytes, uint32_t chunk_bytes);
void chunks_release(struct chunks *chunks); // when no ring has any

// Rings may take so much, but for what each is owed. Any thread.
void chunks_limit(struct chunks *chunks, uint64_t bytes);

// For a ring that has `held`. The more that is, the more must be left for others: a fourth as many. NULL where the
// limit is reached, or there is no memory. Any thread; a few atomic operations.
struct chunk *chunks_take(struct chunks *chunks, uint32_t held);

// One thread at a time, as for chunks_rest.
void chunks_give(struct chunks *chunks, struct chunk *chunk);

// Memory of chunks that no ring has and that were more than needed since the last time goes back to the system. Now and
// then; a call for each run of them that lie side by side.
void chunks_rest(struct chunks *chunks);

// That rings have now. Any thread.
uint64_t chunks_taken_bytes(const struct chunks *chunks);

#endif
