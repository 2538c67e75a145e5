// SPDX-License-Identifier: Apache-2.0
#include "tracer/calling_schedule.h"

enum {
    EACH_DOUBLING = 8, // stacks
    COUNTS = 8192,     // of kinds
    BATCH_PART = 64,   // a batch is at most such a part of what there was
    BATCH_MOST = 1024,
};

_Atomic(uint64_t) calling_marks[CALLING_MARKS];
static _Atomic(uint64_t) counts[COUNTS];

static uint64_t mix(uint64_t value) { // splitmix64
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static uint64_t highest_bit(uint64_t value) {
    return (uint64_t)1 << (63 - __builtin_clzll(value));
}

// Numbers are parted into stretches, EACH_DOUBLING of them between two powers of two, and one of each is chosen.
uint64_t calling_stands_for(uint64_t first, uint32_t count) {
    uint64_t stands_for = 0;
    for (uint64_t at = first; at < first + count;) {
        uint64_t length = at < EACH_DOUBLING ? 1 : highest_bit(at) / EACH_DOUBLING, begin = at & ~(length - 1);
        uint64_t chosen = begin + (mix(begin) & (length - 1));
        if (chosen >= first && chosen < first + count) stands_for = length;
        at = begin + length;
    }
    return stands_for;
}

// How many are taken at a time is by chance, lest it fall in with the program's own rhythm.
uint64_t calling_ask(struct calling_tally *tally, uint32_t key) {
    if (tally->key != key) *tally = (struct calling_tally){.key = key, .batch = 1, .seed = key};
    uint32_t taken = tally->batch <= 1 ? 1 : 1 + tally->seed % (2 * tally->batch - 1);
    uint64_t first = atomic_fetch_add_explicit(&counts[key % COUNTS], taken, memory_order_relaxed);
    uint64_t most = first / BATCH_PART < BATCH_MOST ? first / BATCH_PART : BATCH_MOST;
    tally->left = taken - 1;
    tally->seed = (uint32_t)mix(first ^ (uint64_t)key << 32);
    tally->batch = 2 * tally->batch < most ? 2 * tally->batch : (uint32_t)(most ? most : 1);
    return calling_stands_for(first, taken);
}

void calling_mark(uint64_t task, uint64_t stands_for) {
    uint64_t logarithm = 63u - (unsigned)__builtin_clzll(stands_for);
    atomic_store_explicit(&calling_marks[task % CALLING_MARKS], task | logarithm << CALLING_MARK_SHIFT,
                          memory_order_relaxed);
}

uint64_t calling_unmark(uint64_t task) {
    uint64_t marked = atomic_exchange_explicit(&calling_marks[task % CALLING_MARKS], 0, memory_order_relaxed);
    return (marked ^ task) << (64 - CALLING_MARK_SHIFT) == 0 && marked ? (uint64_t)1 << (marked >> CALLING_MARK_SHIFT)
                                                                       : 0;
}

void calling_schedule_restart(void) {
    for (unsigned i = 0; i < COUNTS; i++) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
    for (unsigned i = 0; i < CALLING_MARKS; i++) atomic_store_explicit(&calling_marks[i], 0, memory_order_relaxed);
}
