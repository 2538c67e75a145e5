// SPDX-License-Identifier: GPL-3.0-or-later
// What opens and closes on a thread, matched: of a DAG's vertices (work.c), and of what a simulated process came by
// that is no DAG (streamed.c).
#ifndef REHYPE_METRICS_PAIRING_H
#define REHYPE_METRICS_PAIRING_H

#include "dag/dag.h"

// What a vertex does to its thread's state. Opens and closes, sleeps and wakes are matched pairs that nest, so that an
// edit, which moves whole bodies, keeps them so. A pair with a lost half has none, but for those open at a thread's
// end. Spawns matter only where the edit puts a body in their place.
enum action {
    ACTION_NONE,
    ACTION_OPEN,
    ACTION_CLOSE,
    ACTION_WAIT,  // asleep for a task or pool that is known
    ACTION_BLOCK, // asleep for anything else
    ACTION_WAKE,  // from either
    ACTION_SPAWN
};

// A thread's open bodies and waits while its places, vertices or the like, are gone through in order of time.
struct pairing {
    const uint8_t *kind; // by place: enum vertex_kind
    const uint32_t *task;
    uint8_t *action; // enum action; ACTION_NONE at first
    uint32_t *open;  // stack of places; what was closed last stands at [depth]
    uint32_t depth, deepest;
};

static inline bool pairing_is_open(const struct pairing *pairing, uint32_t level, enum vertex_kind kind) {
    return pairing->kind[pairing->open[level]] == kind;
}

// In a body, and in no wait within it.
static inline bool pairing_is_active(const struct pairing *pairing) {
    return pairing->depth > 0 && pairing_is_open(pairing, pairing->depth - 1, VERTEX_START);
}

static inline void pairing_open(struct pairing *pairing, uint32_t at) {
    pairing->open[pairing->depth++] = at;
    if (pairing->depth > pairing->deepest) pairing->deepest = pairing->depth;
}

// Pairs an END with its START; what was left open inside has lost its other half.
static inline void pairing_end(struct pairing *pairing, uint32_t at) {
    uint32_t level = pairing->depth;
    while (level > 0 && !(pairing_is_open(pairing, level - 1, VERTEX_START) &&
                          pairing->task[pairing->open[level - 1]] == pairing->task[at]))
        level--;
    if (level == 0) return;
    pairing->action[at] = ACTION_CLOSE;
    for (uint32_t inner = level; inner < pairing->depth; inner++) pairing->action[pairing->open[inner]] = ACTION_NONE;
    pairing->depth = level - 1;
}

// A wait whose releaser is unknown leaves its thread active (SPEC section 2: that is blocked, not waiting).
static inline enum action pairing_sleep(const struct pairing *pairing, uint32_t begin, bool caused) {
    return caused || pairing->task[begin] != DAG_NONE ? ACTION_WAIT : ACTION_BLOCK;
}

static inline void pairing_wait_end(struct pairing *pairing, uint32_t at, bool caused) {
    while (pairing->depth > 0 && pairing_is_open(pairing, pairing->depth - 1, VERTEX_ACQUIRE))
        pairing->action[pairing->open[--pairing->depth]] = ACTION_NONE;
    if (pairing->depth == 0 || !pairing_is_open(pairing, pairing->depth - 1, VERTEX_WAIT_BEGIN)) return;
    uint32_t begin = pairing->open[--pairing->depth];
    pairing->action[begin] = (uint8_t)pairing_sleep(pairing, begin, caused);
    pairing->action[at] = ACTION_WAKE;
}

// A thread that has to get a lock while it waits is asleep for what it waits for.
static inline void pairing_acquire(struct pairing *pairing, uint32_t at) {
    bool waits = pairing->depth > 0 && !pairing_is_active(pairing);
    pairing->action[at] = waits ? ACTION_NONE : ACTION_BLOCK;
    pairing_open(pairing, at);
}

static inline void pairing_acquired(struct pairing *pairing, uint32_t at) {
    if (pairing->depth == 0 || !pairing_is_open(pairing, pairing->depth - 1, VERTEX_ACQUIRE)) return;
    uint32_t begin = pairing->open[--pairing->depth];
    pairing->action[at] = pairing->action[begin] == ACTION_BLOCK ? ACTION_WAKE : ACTION_NONE;
}

// The next place. caused: of a wait's end, it has a cause in this run.
static inline void pairing_pass(struct pairing *pairing, uint32_t at, bool caused) {
    switch (pairing->kind[at]) {
    case VERTEX_START:
        pairing->action[at] = ACTION_OPEN;
        pairing_open(pairing, at);
        break;
    case VERTEX_WAIT_BEGIN:
        pairing->action[at] = (uint8_t)pairing_sleep(pairing, at, false);
        pairing_open(pairing, at);
        break;
    case VERTEX_ACQUIRE:
        pairing_acquire(pairing, at);
        break;
    case VERTEX_ACQUIRED:
    case VERTEX_GIVEN_UP:
        pairing_acquired(pairing, at);
        break;
    case VERTEX_END:
        pairing_end(pairing, at);
        break;
    case VERTEX_WAIT_END:
        pairing_wait_end(pairing, at, caused);
        break;
    default:
        break;
    }
}

#endif
