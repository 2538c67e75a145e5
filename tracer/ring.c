// SPDX-License-Identifier: Apache-2.0
#include "tracer/ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t mapped_bytes(uint32_t capacity) {
    return (2 * (size_t)capacity + 1) * sizeof(struct ring_record);
}

bool ring_init(struct ring *ring, uint32_t capacity, struct ring_bell *bell) {
    // One record of space between the halves, so that a cursor at the end of one is never at the start of the other.
    size_t bytes = mapped_bytes(capacity);
    // Mapped, not allocated: pages that a quiet thread never reaches cost nothing.
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    ring->capacity = capacity;
    ring->bell = bell;
    ring->half[0] = memory;
    ring->half[1] = ring->half[0] + capacity + 1;
    ring_reset(ring);
    return true;
}

// The producer goes on in a half that is its own.
static void enter_half(struct ring *ring, unsigned half) {
    ring->filling = half;
    ring->whole = ring->capacity < 2 * RING_QUIET_RECORDS;
    ring->limit = ring->half[half] + (ring->whole ? ring->capacity : RING_QUIET_RECORDS);
}

void ring_reset(struct ring *ring) {
    ring->draining = 0;
    ring->owner = 0;
    ring->announced = true;
    atomic_init(&ring->unreported, 0);
    enter_half(ring, 0);
    ring->read = ring->half[0];
    ring->touched[0] = ring->half[0];
    ring->touched[1] = ring->half[1];
    atomic_init(&ring->cursor, ring->half[0]);
    atomic_init(&ring->sealed[0], RING_FILLING);
    atomic_init(&ring->sealed[1], RING_FREE);
}

void ring_trim(struct ring *ring) {
    char *begin = (char *)ring->half[0];
    size_t bytes = mapped_bytes(ring->capacity);
    bool touched = ring->touched[1] > ring->half[1] || (char *)ring->touched[0] > begin + RING_KEPT_BYTES;
    if (touched && bytes > RING_KEPT_BYTES) madvise(begin + RING_KEPT_BYTES, bytes - RING_KEPT_BYTES, MADV_DONTNEED);
}

// The half's first page that isn't kept.
static char *kept_end(const struct ring *ring, unsigned half) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return (char *)(((uintptr_t)(ring->half[half] + RING_QUIET_RECORDS) + page - 1) & ~(page - 1));
}

// That of the record: of the half's last page, which it may share with another half, no more is asked for.
static char *page_of(const struct ring_record *record) {
    return (char *)((uintptr_t)record & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
}

static bool claim_half(struct ring *ring, unsigned half) {
    uint32_t whose = RING_FREE;
    return atomic_compare_exchange_strong_explicit(&ring->sealed[half], &whose, RING_CLAIMED, memory_order_acquire,
                                                   memory_order_relaxed);
}

// A producer that found its half full while the other is claimed would lose events.
static bool has_room(const struct ring *ring, unsigned half) {
    const struct ring_record *cursor = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    return ring->half[half] + ring->capacity - cursor >= ring->capacity / 4;
}

static void drop_free_half(struct ring *ring, unsigned half) {
    char *kept = kept_end(ring, half), *from, *end;
    while ((end = page_of(ring->touched[half])) > kept && has_room(ring, half ^ 1u) && claim_half(ring, half)) {
        from = end - kept > RING_KEPT_BYTES ? end - RING_KEPT_BYTES : kept;
        madvise(from, (size_t)(end - from), MADV_DONTNEED);
        ring->touched[half] = (const struct ring_record *)from;
        atomic_store_explicit(&ring->sealed[half], RING_FREE, memory_order_release);
    }
}

void ring_rest(struct ring *ring) {
    unsigned half = ring->draining;
    if (atomic_load_explicit(&ring->sealed[half], memory_order_relaxed) != RING_FILLING) return; // it goes on
    char *kept = kept_end(ring, half), *end = page_of(ring->read);
    if (end > kept) madvise(kept, (size_t)(end - kept), MADV_DONTNEED);
    drop_free_half(ring, half ^ 1u);
}

void ring_destroy(struct ring *ring) {
    munmap(ring->half[0], mapped_bytes(ring->capacity));
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

// It is the consumer's seldom, and costs a load then.
static bool take_half(struct ring *ring, unsigned half) {
    uint32_t whose = atomic_load_explicit(&ring->sealed[half], memory_order_relaxed);
    return whose == RING_FREE && atomic_compare_exchange_strong_explicit(&ring->sealed[half], &whose, RING_FILLING,
                                                                         memory_order_acquire, memory_order_relaxed);
}

// The first record of the other half, or NULL if the consumer still has that.
static struct ring_record *change_halves(struct ring *ring) {
    unsigned filled = ring->filling, other = filled ^ 1u;
    if (!take_half(ring, other)) return NULL;
    struct ring_record *at = atomic_load_explicit(&ring->cursor, memory_order_relaxed);
    uint32_t count = (uint32_t)(at - ring->half[filled]);
    // The cursor leaves the old half before the seal is published: a consumer that sees neither the seal nor a cursor
    // in its half just comes again (ring_drain).
    enter_half(ring, other);
    atomic_store_explicit(&ring->cursor, ring->half[other], memory_order_release);
    atomic_store_explicit(&ring->sealed[filled], count, memory_order_release);
    return ring->half[other];
}

// Whether what lies before the limit was long in coming. Of a half's first record it is known when that was.
static bool is_quiet(const struct ring *ring, uint64_t ticks) {
    const struct ring_record *begin = ring->half[ring->filling];
    uint64_t quiet_ticks = ring->bell ? atomic_load_explicit(&ring->bell->quiet_ticks, memory_order_relaxed) : 0;
    uint64_t since = ring->limit == begin + RING_QUIET_RECORDS ? begin->first : ring->limited;
    return quiet_ticks && ticks - since >= quiet_ticks;
}

// What is left of the half is never less than RING_QUIET_RECORDS: the event in hand may need two.
static struct ring_record *raise_limit(struct ring *ring, uint64_t ticks) {
    const struct ring_record *end = ring->half[ring->filling] + ring->capacity;
    ring->whole = end - ring->limit < 2 * RING_QUIET_RECORDS;
    ring->limit += ring->whole ? end - ring->limit : RING_QUIET_RECORDS;
    ring->limited = ticks;
    return atomic_load_explicit(&ring->cursor, memory_order_relaxed);
}

// Where there is room now that the limit is reached, in the other half or in the rest of this one; NULL: nowhere.
static struct ring_record *make_room(struct ring *ring, uint64_t ticks) {
    bool burst = ring->whole || ring->limit - ring->half[ring->filling] >= RING_BURST_RECORDS;
    struct ring_record *at = burst || is_quiet(ring, ticks) ? change_halves(ring) : NULL;
    if (at && burst && ring->bell) ring_if_awaited(ring->bell); // one that is quiet can wait
    return at || ring->whole ? at : raise_limit(ring, ticks);
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
    struct ring_record *at = make_room(ring, ticks);
    // One writer: a load and a store, not a locked increment; atomic only for the consumer's last look.
    uint64_t dropped = atomic_load_explicit(&ring->unreported, memory_order_relaxed);
    if (at) return dropped || !ring->announced ? catch_up(ring, at, ticks) : at;
    // Smaller events, too, come here until the pair has room: EVENT_LOST must be first.
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
    if (at == ring->limit && !(at = make_room(ring, ticks))) {
        ring->announced = false;
        return;
    }
    ring->announced = false;
    catch_up(ring, at, ticks);
}

// First record past what may be read of the half being drained.
static struct ring_record *published(struct ring *ring, bool *sealed) {
    struct ring_record *begin = ring->half[ring->draining];
    uint32_t count = atomic_load_explicit(&ring->sealed[ring->draining], memory_order_acquire);
    *sealed = count != RING_FILLING;
    if (*sealed) return begin + count;
    // Neither sealed nor the cursor within: the producer is swapping at this moment, and the next drain sees the seal.
    struct ring_record *cursor = atomic_load_explicit(&ring->cursor, memory_order_acquire);
    bool inside = cursor >= ring->read && cursor <= begin + ring->capacity;
    return inside ? cursor : ring->read;
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
    for (;;) {
        bool sealed;
        struct ring_record *end = published(ring, &sealed);
        const struct ring_record *at = ring->read;
        while (at < end && count < capacity) at = decode(at, &events[count++]);
        ring->read = (struct ring_record *)at;
        if (at > ring->touched[ring->draining]) ring->touched[ring->draining] = at;
        if (at < end || !sealed) return count;
        atomic_store_explicit(&ring->sealed[ring->draining], RING_FREE, memory_order_release);
        ring->draining ^= 1u;
        ring->read = ring->half[ring->draining];
    }
}

uint64_t ring_unreported(const struct ring *ring) {
    return atomic_load_explicit(&ring->unreported, memory_order_relaxed);
}
