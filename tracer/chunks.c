// SPDX-License-Identifier: Apache-2.0
#include "tracer/chunks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT_BYTES = 1 << 21 }; // of free chunks, in memory

static const uint64_t TURN = UINT64_C(1) << 32; // of a list

static void *map(uint64_t bytes) {
    // Not reserved: pages that no ring reaches cost nothing. Not in huge pages: then they would.
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

bool chunks_reserve(struct chunks *chunks, uint64_t bytes, uint32_t chunk_bytes) {
    const uint64_t most = (uint64_t)(UINT32_MAX / 2) * chunk_bytes;
    if (bytes > most) bytes = most;
    *chunks = (struct chunks){.chunk_bytes = chunk_bytes};
    chunks->chunk_records = (uint32_t)((chunk_bytes - sizeof(struct chunk)) / sizeof(struct ring_record));
    while (bytes >= chunk_bytes && !(chunks->memory = map(bytes))) bytes /= 2;
    if (!chunks->memory) return false;
    chunks->total = (uint32_t)(bytes / chunk_bytes);
    chunks->link = calloc(chunks->total, sizeof *chunks->link);
    if (chunks->link) return true;
    chunks_release(chunks);
    return false;
}

void chunks_release(struct chunks *chunks) {
    if (chunks->memory) munmap(chunks->memory, (uint64_t)chunks->total * chunks->chunk_bytes);
    free(chunks->link);
    *chunks = (struct chunks){0};
}

void chunks_limit(struct chunks *chunks, uint64_t bytes) {
    uint64_t most = chunks->chunk_bytes ? bytes / chunks->chunk_bytes : 0;
    atomic_store_explicit(&chunks->most, most < chunks->total ? (uint32_t)most : chunks->total, memory_order_relaxed);
}

// The link of a chunk that another thread takes meanwhile may be any; the turn then is another, too.
static uint32_t pop(struct chunks *chunks, _Atomic(uint64_t) *list) {
    uint64_t head = atomic_load_explicit(list, memory_order_acquire);
    while ((uint32_t)head) {
        uint64_t next = atomic_load_explicit(&chunks->link[(uint32_t)head - 1], memory_order_relaxed);
        uint64_t popped = ((head & -TURN) + TURN) | next;
        if (atomic_compare_exchange_weak_explicit(list, &head, popped, memory_order_acquire, memory_order_acquire))
            break;
    }
    return (uint32_t)head;
}

// Publishes what the chunk held, and its link, to whoever pops it.
static void push(struct chunks *chunks, _Atomic(uint64_t) *list, uint32_t number) {
    uint64_t head = atomic_load_explicit(list, memory_order_relaxed), pushed;
    do {
        atomic_store_explicit(&chunks->link[number - 1], (uint32_t)head, memory_order_relaxed);
        pushed = ((head & -TURN) + TURN) | number;
    } while (!atomic_compare_exchange_weak_explicit(list, &head, pushed, memory_order_release, memory_order_relaxed));
}

static uint32_t take_fresh(struct chunks *chunks) {
    uint32_t fresh = atomic_load_explicit(&chunks->fresh, memory_order_relaxed);
    while (fresh < chunks->total &&
           !atomic_compare_exchange_weak_explicit(&chunks->fresh, &fresh, fresh + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
    return fresh < chunks->total ? fresh + 1 : 0;
}

static bool may_take(const struct chunks *chunks, uint32_t held) {
    uint32_t taken = atomic_load_explicit(&chunks->taken, memory_order_relaxed);
    uint32_t most = atomic_load_explicit(&chunks->most, memory_order_relaxed);
    return held < CHUNKS_OWED || (taken < most && most - taken >= held / 4);
}

struct chunk *chunks_take(struct chunks *chunks, uint32_t held) {
    if (!may_take(chunks, held)) return NULL;
    uint32_t number = pop(chunks, &chunks->warm);
    if (!number) number = pop(chunks, &chunks->cold);
    if (!number) number = take_fresh(chunks);
    if (!number) return NULL;
    atomic_fetch_add_explicit(&chunks->taken, 1, memory_order_relaxed);
    return (struct chunk *)(chunks->memory + (size_t)(number - 1) * chunks->chunk_bytes);
}

void chunks_give(struct chunks *chunks, struct chunk *chunk) {
    push(chunks, &chunks->warm, (uint32_t)((size_t)((char *)chunk - chunks->memory) / chunks->chunk_bytes) + 1);
    uint32_t taken = atomic_fetch_sub_explicit(&chunks->taken, 1, memory_order_relaxed);
    if (taken > chunks->lately) chunks->lately = taken;
}

// All that lie in the list, the one given back last in front; without memory, none. The caller frees them.
static uint32_t *take_warm(struct chunks *chunks, uint32_t *count) {
    const uint32_t room = atomic_load_explicit(&chunks->fresh, memory_order_relaxed);
    uint32_t *numbers = room ? malloc(room * sizeof *numbers) : NULL;
    *count = 0;
    for (uint32_t number; numbers && *count < room && (number = pop(chunks, &chunks->warm));)
        numbers[(*count)++] = number;
    return numbers;
}

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void cool(struct chunks *chunks, uint32_t *numbers, uint32_t count) {
    qsort(numbers, count, sizeof *numbers, by_number);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && numbers[end] == numbers[end - 1] + 1; end++) {
        }
        madvise(chunks->memory + (size_t)(numbers[i] - 1) * chunks->chunk_bytes,
                (size_t)(end - i) * chunks->chunk_bytes, MADV_DONTNEED);
    }
    while (count > 0) push(chunks, &chunks->cold, numbers[--count]); // the lowest is taken first
}

void chunks_rest(struct chunks *chunks) {
    if (chunks->chunk_bytes < (size_t)sysconf(_SC_PAGESIZE)) return;
    const uint32_t least = KEPT_BYTES / chunks->chunk_bytes;
    const uint32_t taken = atomic_load_explicit(&chunks->taken, memory_order_relaxed);
    uint32_t kept = chunks->lately > taken + least ? chunks->lately - taken : least;
    chunks->lately = taken;
    uint32_t count, *numbers = take_warm(chunks, &count);
    if (kept > count) kept = count;
    if (count > kept) cool(chunks, numbers + kept, count - kept);
    while (kept > 0) push(chunks, &chunks->warm, numbers[--kept]);
    free(numbers);
}

uint64_t chunks_taken_bytes(const struct chunks *chunks) {
    return (uint64_t)atomic_load_explicit(&chunks->taken, memory_order_relaxed) * chunks->chunk_bytes;
}
