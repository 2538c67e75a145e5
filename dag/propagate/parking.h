// SPDX-License-Identifier: GPL-3.0-or-later
// Chains that wait for a vertex's time, by that vertex. Each chain waits for one vertex at most.
#ifndef REHYPE_DAG_PARKING_H
#define REHYPE_DAG_PARKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct parking {
    uint32_t *first; // a vertex each: chain that waits for it, or DAG_NONE. All DAG_NONE between uses
    uint32_t *next;  // a chain each: another that waits for the same vertex, or is ready, too
    uint32_t ready;  // first of those that can go on
};

// No chain waits, and none is ready. false: no memory; parking_destroy is harmless then, and on zeros.
static inline bool parking_init(struct parking *parking, size_t vertices, size_t chains) {
    *parking = (struct parking){.first = malloc((vertices + 1) * sizeof *parking->first),
                                .next = malloc((chains + 1) * sizeof *parking->next),
                                .ready = UINT32_MAX};
    for (size_t v = 0; parking->first && v < vertices; v++) parking->first[v] = UINT32_MAX;
    return parking->first && parking->next;
}

static inline void parking_destroy(struct parking *parking) {
    free(parking->first);
    free(parking->next);
}

static inline void parking_wait(struct parking *parking, uint32_t chain, uint32_t vertex) {
    parking->next[chain] = parking->first[vertex];
    parking->first[vertex] = chain;
}

static inline void parking_make_ready(struct parking *parking, uint32_t chain) {
    parking->next[chain] = parking->ready;
    parking->ready = chain;
}

static inline uint32_t parking_take_ready(struct parking *parking) {
    uint32_t chain = parking->ready;
    if (chain != UINT32_MAX) parking->ready = parking->next[chain];
    return chain;
}

// A chain that waits for the vertex does so no more.
static inline void parking_leave(struct parking *parking, uint32_t chain, uint32_t vertex) {
    uint32_t *link = &parking->first[vertex];
    while (*link != chain) link = &parking->next[*link];
    *link = parking->next[chain];
}

// The vertex has its time: what waits for it is ready.
static inline void parking_release(struct parking *parking, uint32_t vertex) {
    for (uint32_t chain = parking->first[vertex], next; chain != UINT32_MAX; chain = next) {
        next = parking->next[chain];
        parking_make_ready(parking, chain);
    }
    parking->first[vertex] = UINT32_MAX;
}

#endif
