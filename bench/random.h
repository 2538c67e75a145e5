// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that look random and are the same in every run.
#ifndef REHYPE_BENCH_RANDOM_H
#define REHYPE_BENCH_RANDOM_H

#include <stdint.h>

// Of one thread.
static inline uint64_t random_next(void) { // xorshift64*
    static uint64_t seed = 42;
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1d;
}

#endif
