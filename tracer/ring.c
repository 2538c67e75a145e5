// SPDX-License-Identifier: Apache-2.0
#include "tracer/ring.h"

#include <sys/mman.h>

static size_t mapped_bytes(uint32_t capacity) {
    return (2 * (size_t)capacity + 1) * sizeof(struct ring_record);
}

bool ring_init(struct ring *ring, uint32_t capacity) {
    // One record of space between the halves, so that a cursor at the end of one is never at the start of the other.
    size_t bytes = mapped_bytes(capacity);
    // Mapped, not allocated: pages that a quiet thread never reaches cost nothing.
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    ring->capacity = capacity;
    ring->half[0] = memory;
    ring->half[1] = ring->half[0] + capacity + 1;
    ring_reset(ring);
    return true;
}

void ring_reset(struct ring *ring) {
    ring->filling = ring->draining = 0;
    atomic_init(&ring->unreported, 0);
    ring->limit = ring->half[0] + ring->capacity;
    ring->read = ring->half[0];
    atomic_init(&ring->cursor, ring->half[0]);
    atomic_init(&ring->sealed[0], 0);
    atomic_init(&ring->sealed[1], 0);
}

void ring_destroy(struct ring *ring) {
    munmap(ring->half[0], mapped_bytes(ring->capacity));
}

static struct ring_record *drop(struct ring *ring, struct ring_record *at) {
    ring->limit = at; // smaller events, too, come here until the pair has room: EVENT_LOST must be first
    // One writer: a load and a store, not a locked increment; atomic only for the consumer's last look.
    uint64_t dropped = atomic_load_explicit(&ring->unreported, memory_order_relaxed);
    atomic_store_explicit(&ring->unreported, dropped + 1, memory_order_relaxed);
    return NULL;
}

struct ring_record *ring_swap(struct ring *ring, uint64_t ticks) {
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    unsigned other = ring->filling ^ 1u;
    if (atomic_load_explicit(&ring->sealed[other], memory_order_acquire) != 0) return drop(ring, at);
    uint32_t count = (uint32_t)(at - ring->half[ring->filling]);
    // The cursor leaves the old half before the seal is published: a consumer that sees neither the seal nor a cursor
    // in its half just comes again (ring_drain).
    ring->limit = ring->half[other] + ring->capacity;
    atomic_store_explicit(&ring->cursor, ring->half[other], memory_order_release);
    atomic_store_explicit(&ring->sealed[ring->filling], count, memory_order_release);
    ring->filling = other;
    at = ring->half[other];
    uint64_t dropped = atomic_load_explicit(&ring->unreported, memory_order_relaxed);
    if (dropped) {
        at->first = ticks;
        at->second = dropped << 8 | EVENT_LOST;
        atomic_store_explicit(&ring->unreported, 0, memory_order_relaxed);
        at++;
        atomic_store_explicit(&ring->cursor, at, memory_order_release);
    }
    return at;
}

// First record past what may be read of the half being drained.
static struct ring_record *published(struct ring *ring, bool *sealed) {
    struct ring_record *begin = ring->half[ring->draining];
    uint32_t count = atomic_load_explicit(&ring->sealed[ring->draining], memory_order_acquire);
    *sealed = count != 0;
    if (*sealed) return begin + count;
    // Neither sealed nor the cursor within: the producer is swapping at this moment, and the next drain sees the seal.
    struct ring_record *cursor = atomic_load_explicit(&ring->cursor, memory_order_acquire);
    bool inside = cursor >= ring->read && cursor <= begin + ring->capacity;
    return inside ? cursor : ring->read;
}

static const struct ring_record *decode(const struct ring_record *at, struct event *event) {
    event->time = at->first;
    event->kind = (uint8_t)at->second;
    event->operand[0] = at->second >> 8;
    if (event_kind_info(event->kind)->operands <= 1) return at + 1;
    event->operand[1] = at[1].first;
    event->operand[2] = at[1].second;
    return at + 2;
}

size_t ring_drain(struct ring *ring, struct event *events, size_t capacity) {
    size_t count = 0;
    for (;;) {
        bool sealed;
        struct ring_record *end = published(ring, &sealed);
        const struct ring_record *at = ring->read;
        while (at < end && count < capacity) at = decode(at, &events[count++]);
        ring->read = (struct ring_record *)at;
        if (at < end || !sealed) return count;
        atomic_store_explicit(&ring->sealed[ring->draining], 0, memory_order_release);
        ring->draining ^= 1u;
        ring->read = ring->half[ring->draining];
    }
}

uint64_t ring_unreported(const struct ring *ring) {
    return atomic_load_explicit(&ring->unreported, memory_order_relaxed);
}
