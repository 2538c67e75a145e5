// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/doctor.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { ROUNDS = 9, READINGS = 10000 };

static volatile uint64_t sink;

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_counters(void) {
#if defined(__x86_64__)
    for (int i = 0; i < READINGS; i++) sink = __rdtsc();
#elif defined(__aarch64__)
    for (int i = 0; i < READINGS; i++) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        sink = ticks;
    }
#endif
}

static void read_clocks(void) {
    for (int i = 0; i < READINGS; i++) sink = read_clock(CLOCK_MONOTONIC);
}

static void read_thread_clocks(void) {
    for (int i = 0; i < READINGS; i++) sink = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_ns(void (*work)(void)) {
    double rounds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
        work();
        rounds[i] = (double)(read_clock(CLOCK_MONOTONIC) - start_ns) / READINGS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare_doubles);
    return rounds[ROUNDS / 2];
}

void doctor_measure(struct event_costs *costs) {
#if defined(__x86_64__) || defined(__aarch64__)
    costs->counter_ns = median_ns(read_counters);
#else
    costs->counter_ns = NAN;
#endif
    costs->clock_ns = median_ns(read_clocks);
    costs->thread_clock_ns = median_ns(read_thread_clocks);
    costs->event_ns = doctor_event_ns();
}
