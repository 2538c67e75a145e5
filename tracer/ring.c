// SPDX-License-Identifier: Apache-2.0
#include "tracer/ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ring_record nowhere; // where a ring without a chunk stands: no record is ever put there

static uint32_t at_least_one(uint32_t count) {
    return count > 0 ? count : 1;
}

// The ring has no chunk.
static void begin(struct ring *ring) {
    ring->filling = ring->draining = NULL;
    ring->taken = 0;
    ring->owner = 0;
    ring->announced = true;
    ring->limit = &nowhere;
    ring->read = NULL;
    atomic_init(&ring->unreported, 0);
    atomic_init(&ring->cursor, &nowhere);
    atomic_init(&ring->first, NULL);
    atomic_init(&ring->given, 0);
}

void ring_init(struct ring *ring, struct chunks *chunks, uint32_t records, struct ring_bell *bell) {
    const uint32_t whole = chunks->chunk_records, burst = at_least_one(RING_BURST_RECORDS / at_least_one(whole));
    ring->chunks = chunks;
    ring->bell = bell;
    ring->chunk_records = records && records < whole ? records : whole;
    ring->most_chunks =
        records ? 2 * ((records + ring->chunk_records - 1) / at_least_one(ring->chunk_records)) : UINT32_MAX;
    ring->burst_chunks = ring->most_chunks / 2 < burst ? ring->most_chunks / 2 : burst;
    begin(ring);
}

void ring_reset(struct ring *ring) {
    struct chunk *chunk = ring->draining ? ring->draining : atomic_load_explicit(&ring->first, memory_order_acquire);
    while (chunk) {
        struct chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        chunks_give(ring->chunks, chunk);
        chunk = next;
    }
    begin(ring);
}

static void wake_consumer(struct ring_bell *bell) {
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void ring_bell_ring(struct ring_bell *bell) {
    atomic_fetch_add(&bell->rings, 1);
    wake_consumer(bell);
}

// Either the producer sees that it is awaited, or the consumer, which says so before it sleeps, finds that it was rung:
// both are sequentially consistent.
static void ring_if_awaited(struct ring_bell *bell) {
    atomic_fetch_add(&bell->rings, 1);
    if (atomic_load(&bell->awaited)) wake_consumer(bell);
}

bool ring_bell_wait(struct ring_bell *bell, uint32_t rings, const struct timespec *until) {
    while (atomic_load(&bell->rings) == rings) {
        long failed =
            syscall(SYS_futex, &bell->rings, FUTEX_WAIT_BITSET_PRIVATE, rings, until, NULL, FUTEX_BITSET_MATCH_ANY);
        if (failed && errno == ETIMEDOUT) return false;
    }
    return true;
}

// The producer goes on in a chunk that nobody else has. The cursor leaves the one before that is published: a consumer
// that sees neither the next chunk nor a cursor in its own just comes again (ring_drain).
static struct ring_record *hang_on(struct ring *ring, struct chunk *chunk) {
    struct chunk *filled = ring->filling;
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
    ring->filling = chunk;
    ring->limit = chunk->records + ring->chunk_records;
    atomic_store_explicit(&ring->cursor, chunk->records, memory_order_release);
    if (filled) filled->count = (uint32_t)(at - filled->records);
    atomic_store_explicit(filled ? &filled->next : &ring->first, chunk, memory_order_release);
    return chunk->records;
}

// Where there is room now that the limit is reached; NULL: nowhere.
static struct ring_record *make_room(struct ring *ring) {
    uint32_t held = ring->taken - atomic_load_explicit(&ring->given, memory_order_relaxed);
    struct chunk *chunk = held < ring->most_chunks ? chunks_take(ring->chunks, held) : NULL;
    if (!chunk) return NULL;
    ring->taken++;
    struct ring_record *at = hang_on(ring, chunk);
    if (held >= ring->burst_chunks && ring->bell) ring_if_awaited(ring->bell);
    return at;
}

static struct ring_record *put(struct ring_record *at, uint64_t ticks, unsigned kind, uint64_t a) {
    at->first = ticks;
    at->second = a << 8 | kind;
    return at + 1;
}

// What found no room until now comes before all else. A loss that spans owners is told of the ring's own thread.
static struct ring_record *catch_up(struct ring *ring, struct ring_record *at, uint64_t ticks) {
    uint64_t dropped = atomic_load_explicit(&ring->unreported, memory_order_relaxed);
    if (dropped && !ring->announced) at = put(at, ticks, RING_SWITCH, 0);
    if (dropped) at = put(at, ticks, EVENT_LOST, dropped);
    if (!ring->announced) at = put(at, ticks, RING_SWITCH, ring->owner);
    atomic_store_explicit(&ring->unreported, 0, memory_order_relaxed);
    ring->announced = true;
    atomic_store_explicit(&ring->cursor, at, memory_order_release);
    return at;
}

struct ring_record *ring_swap(struct ring *ring, uint64_t ticks) {
    struct ring_record *at = make_room(ring);
    // One writer: a load and a store, not a locked increment; atomic only for the consumer's last look.
    uint64_t dropped = atomic_load_explicit(&ring->unreported, memory_order_relaxed);
    if (at) return dropped || !ring->announced ? catch_up(ring, at, ticks) : at;
    // Smaller events, too, come here until the ring has room: EVENT_LOST must be first.
    ring->limit = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    atomic_store_explicit(&ring->unreported, dropped + 1, memory_order_relaxed);
    return NULL;
}

void ring_put1_into_next(struct ring *ring, uint64_t ticks, unsigned kind, uint64_t a) {
    struct ring_record *at = ring_swap(ring, ticks);
    if (at) ring_store1(ring, at, ticks, kind, a);
}

void ring_switch(struct ring *ring, uint64_t ticks, uint64_t owner) {
    ring->owner = owner;
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    if (at == ring->limit && !(at = make_room(ring))) {
        ring->announced = false;
        return;
    }
    ring->announced = false;
    catch_up(ring, at, ticks);
}

// First record past what may be read of the chunk being drained; *next is the one after it, if it is sealed.
static const struct ring_record *published(const struct ring *ring, struct chunk **next) {
    const struct chunk *chunk = ring->draining;
    *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
    if (*next) return chunk->records + chunk->count;
    // Neither sealed nor the cursor within: the producer is leaving it at this moment, and the next drain sees that.
    const struct ring_record *cursor = atomic_load_explicit(&ring->cursor, memory_order_acquire);
    bool inside = cursor >= ring->read && cursor <= chunk->records + ring->chunk_records;
    return inside ? cursor : ring->read;
}

// Whether there is a chunk to drain.
static bool enter_first(struct ring *ring) {
    if (ring->draining) return true;
    ring->draining = atomic_load_explicit(&ring->first, memory_order_acquire);
    if (ring->draining) ring->read = ring->draining->records;
    return ring->draining;
}

static void enter_next(struct ring *ring, struct chunk *next) {
    struct chunk *drained = ring->draining;
    ring->draining = next;
    ring->read = next->records;
    chunks_give(ring->chunks, drained);
    uint32_t given = atomic_load_explicit(&ring->given, memory_order_relaxed);
    atomic_store_explicit(&ring->given, given + 1, memory_order_relaxed); // one writer
}

static bool has_one_record(unsigned kind) {
    return kind == RING_SWITCH || (kind != RING_TIMED && event_kind_info(kind)->operands <= 1);
}

static const struct ring_record *decode(const struct ring_record *at, struct event *event) {
    event->time = at->first;
    event->kind = (uint8_t)at->second;
    event->operand[0] = at->second >> 8;
    if (has_one_record(event->kind)) return at + 1;
    event->operand[1] = at[1].first;
    event->operand[2] = at[1].second;
    return at + 2;
}

size_t ring_drain(struct ring *ring, struct event *events, size_t capacity) {
    size_t count = 0;
    if (!enter_first(ring)) return 0;
    for (;;) {
        struct chunk *next;
        const struct ring_record *end = published(ring, &next), *at = ring->read;
        while (at < end && count < capacity) at = decode(at, &events[count++]);
        ring->read = at;
        if (at < end || !next) return count;
        enter_next(ring, next);
    }
}

uint64_t ring_unreported(const struct ring *ring) {
    return atomic_load_explicit(&ring->unreported, memory_order_relaxed);
}
