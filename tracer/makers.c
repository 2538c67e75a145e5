// SPDX-License-Identifier: Apache-2.0
#include "tracer/makers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { CHUNK = 1024, CHUNKS = (MAKERS_MOST + 1) / CHUNK };

struct maker {
    _Atomic(uint32_t) needless; // so far; NEEDED once one was
};

static const uint32_t NEEDED = UINT32_MAX;

// Chunks never move, so that probes read them without a lock.
static _Atomic(struct maker *) chunks[CHUNKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of those below
static uint32_t count = 1;                               // 0 is nobody's

static struct maker *maker_of(uint32_t maker) {
    struct maker *chunk = atomic_load_explicit(&chunks[maker / CHUNK], memory_order_acquire);
    return &chunk[maker % CHUNK];
}

static bool have_chunk(uint32_t maker) {
    if (atomic_load_explicit(&chunks[maker / CHUNK], memory_order_relaxed)) return true;
    struct maker *chunk = calloc(CHUNK, sizeof *chunk);
    atomic_store_explicit(&chunks[maker / CHUNK], chunk, memory_order_release);
    return chunk;
}

uint32_t makers_new(void) {
    pthread_mutex_lock(&lock);
    uint32_t maker = count <= MAKERS_MOST && have_chunk(count) ? count++ : 0;
    pthread_mutex_unlock(&lock);
    return maker;
}

bool makers_follow(uint32_t maker, uint32_t *made) {
    if (!maker) return true;
    uint32_t needless = atomic_load_explicit(&maker_of(maker)->needless, memory_order_relaxed);
    if (needless < MAKER_NEEDLESS_MOST || needless == NEEDED) return true;
    return ++*made % MAKER_SAMPLED == 0;
}

void makers_needed(uint32_t maker) {
    if (maker) atomic_store_explicit(&maker_of(maker)->needless, NEEDED, memory_order_relaxed);
}

// Two threads at once may count once: it is no matter when exactly the place has had its chance.
void makers_needless(uint32_t maker) {
    if (!maker) return;
    _Atomic(uint32_t) *needless = &maker_of(maker)->needless;
    uint32_t before = atomic_load_explicit(needless, memory_order_relaxed);
    if (before < MAKER_NEEDLESS_MOST)
        atomic_compare_exchange_strong_explicit(needless, &before, before + 1, memory_order_relaxed,
                                                memory_order_relaxed);
}
