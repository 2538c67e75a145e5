// SPDX-License-Identifier: Apache-2.0
#include "tracer/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool clock_uses_counter;

#if defined(__x86_64__)
static const char COUNTER_NAME[] = "tsc";

// The kernel demotes the TSC when it finds it unstable; a guest may have another clock source and a good TSC all the
// same, so its word counts only when it says "tsc", and the processor's invariant bit counts otherwise.
static bool kernel_trusts_tsc(void) {
    char line[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file) return false;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return read && strncmp(line, "tsc", 3) == 0;
}

static bool counter_is_sound(void) {
    unsigned a, b, c, d;
    const unsigned INVARIANT_TSC_LEAF = 0x80000007u, INVARIANT_TSC_BIT = 1u << 8;
    bool invariant = __get_cpuid(INVARIANT_TSC_LEAF, &a, &b, &c, &d) && (d & INVARIANT_TSC_BIT);
    return invariant || kernel_trusts_tsc();
}
#elif defined(__aarch64__)
static const char COUNTER_NAME[] = "cntvct";

static bool counter_is_sound(void) {
    return true; // architected: one system counter for all cores
}
#else
static const char COUNTER_NAME[] = "monotonic";

static bool counter_is_sound(void) {
    return false;
}
#endif

void clock_pair(uint64_t *ticks, uint64_t *ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = clock_ticks();
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        uint64_t after = clock_ticks();
        if (after - before >= best) continue;
        best = after - before;
        *ticks = before + best / 2;
        *ns = now;
    }
}

static uint64_t measure_rate(void) {
    uint64_t ticks0, ns0, ticks1, ns1;
    clock_pair(&ticks0, &ns0);
    struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
    clock_pair(&ticks1, &ns1);
    return (uint64_t)((__uint128_t)(ticks1 - ticks0) * 1000000000u / (ns1 - ns0));
}

struct clock_source clock_init(bool monotonic) {
    clock_uses_counter = !monotonic && counter_is_sound();
    if (!clock_uses_counter) return (struct clock_source){"monotonic", 1000000000u};
    return (struct clock_source){COUNTER_NAME, measure_rate()};
}

// Skew: a ping-pong as in NTP. The partner stamps the middle of each round trip; over many rounds the tightest trip
// bounds its offset best. Once both run, the rounds take a fraction of a millisecond, if neither gives up its core:
// where others want it, getting it back takes longer than all of them. After SKEW_MOST_NS with one core the rounds so
// far count, since the JVM waits meanwhile.
enum { SKEW_ROUNDS = 200, SKEW_MOST_CORES = 16, SKEW_SPINS = 20000, SKEW_MOST_NS = 10000000 };
#define SKEW_OVER UINT32_MAX // asked last, and answered by nothing

struct partner {
    int cpu;
    bool pinned;
    _Atomic(uint32_t) ask, answer;
    uint64_t stamp; // published by `answer`
};

static bool pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Returns the count, which is `round` or more; what was published before it is visible then.
static uint32_t await_round(_Atomic(uint32_t) *count, uint32_t round) {
    for (;;) {
        for (int spins = 0; spins < SKEW_SPINS; spins++) {
            uint32_t reached = atomic_load_explicit(count, memory_order_acquire);
            if (reached >= round) return reached;
            relax();
        }
        sched_yield();
    }
}

static void *answer_rounds(void *argument) {
    struct partner *partner = argument;
    partner->pinned = pin(partner->cpu);
    for (uint32_t round = 1; round <= SKEW_ROUNDS; round++) {
        if (await_round(&partner->ask, round) == SKEW_OVER) break;
        partner->stamp = clock_ticks();
        atomic_store_explicit(&partner->answer, round, memory_order_release);
    }
    return NULL;
}

static bool offset_of(int cpu, int64_t *offset) {
    struct partner partner = {.cpu = cpu};
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer_rounds, &partner) != 0) return false;
    uint64_t best = UINT64_MAX, give_up_ns = clock_ns(CLOCK_MONOTONIC) + SKEW_MOST_NS;
    for (uint32_t round = 1; round <= SKEW_ROUNDS && (round == 1 || clock_ns(CLOCK_MONOTONIC) < give_up_ns); round++) {
        uint64_t before = clock_ticks();
        atomic_store_explicit(&partner.ask, round, memory_order_release);
        await_round(&partner.answer, round);
        uint64_t after = clock_ticks();
        if (after - before >= best) continue;
        best = after - before;
        *offset = (int64_t)(partner.stamp - (before + best / 2));
        // An offset within half a round trip can't be told from none.
        if ((uint64_t)(*offset < 0 ? -*offset : *offset) <= best / 2) *offset = 0;
    }
    atomic_store_explicit(&partner.ask, SKEW_OVER, memory_order_release);
    pthread_join(thread, NULL);
    return partner.pinned;
}

static void *measure_all(void *result) {
    int64_t lowest = 0, highest = 0, offset = 0;
    cpu_set_t all;
    int first = -1, others = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return NULL;
    for (int cpu = 0; cpu < CPU_SETSIZE && others < SKEW_MOST_CORES; cpu++) {
        if (!CPU_ISSET(cpu, &all)) continue;
        if (first < 0) {
            if (!pin(first = cpu)) return NULL;
        } else if (offset_of(cpu, &offset)) {
            others++;
            if (offset < lowest) lowest = offset;
            if (offset > highest) highest = offset;
        }
    }
    if (others) *(int64_t *)result = highest - lowest;
    return NULL;
}

int64_t clock_skew_ticks(void) {
    int64_t skew = -1;
    pthread_t thread; // of its own, since pinning must not touch the caller's affinity
    if (pthread_create(&thread, NULL, measure_all, &skew) == 0) pthread_join(thread, NULL);
    return skew;
}
