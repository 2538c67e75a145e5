// SPDX-License-Identifier: Apache-2.0
// The tracer's clock: the processor's counter where it is invariant, else CLOCK_MONOTONIC. HotSpot and others fall back
// to the system clock on guests that hide the flag; we look at the processor's own word and at the kernel's verdict.
#ifndef REHYPE_TRACER_CLOCK_H
#define REHYPE_TRACER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct clock_source {
    const char *name;     // "tsc", "cntvct", "monotonic"
    uint64_t ticks_per_s; // nominal, refined by the trace's clock blocks
};

extern bool clock_uses_counter; // set once by clock_init, read by every probe

// `monotonic`: not the counter, even if it is sound. Takes about 2 ms, to measure the counter's rate.
struct clock_source clock_init(bool monotonic);

static inline uint64_t clock_ns(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Cost: 8 to 12 ns with the counter, 30 to 40 without.
static inline uint64_t clock_ticks(void) {
    if (__builtin_expect(!clock_uses_counter, 0)) return clock_ns(CLOCK_MONOTONIC);
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_ns(CLOCK_MONOTONIC);
#endif
}

// The two clocks at one instant, as well as that can be had: the tightest of a few tries.
void clock_pair(uint64_t *ticks, uint64_t *ns);

// Largest difference between two cores' counters, in ticks, by messages between two threads pinned to them; -1 when it
// can't be measured (one core, no right to pin). Takes a fraction of a millisecond a core, and some ten where others
// keep the cores busy; of many cores the first 16.
int64_t clock_skew_ticks(void);

#endif
