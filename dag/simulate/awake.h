// SPDX-License-Identifier: GPL-3.0-or-later
// When the edges of a recording were awake, computing or ready to, as model `cpu` plays them (simulate.h).
#ifndef REHYPE_DAG_AWAKE_H
#define REHYPE_DAG_AWAKE_H

#include "dag/dag.h"

// How the edge to a vertex is played: what it computed and its wait for a core; that wait alone, by who was made or
// woken for a task; or not at all, as what else a worker does between tasks.
enum played { PLAYED_WHOLE, PLAYED_AS_WAIT, PLAYED_NOT };

// A vertex each: enum played. The caller's, free() it. NULL: no memory.
uint8_t *awake_played_new(const struct dag *dag);

// From the edge's beginning on, or, where it sleeps for what wakes it up, up to its end.
struct awake {
    int64_t from_ns, to_ns;
    int64_t compute_ns; // of what the edge computes
};

// Whether the edge to a vertex that is not its thread's first sleeps first, and computes once it is woken.
bool awake_is_wakeup(const struct dag *dag, uint32_t vertex);

// Of a vertex that is not its thread's first.
struct awake awake_part(const struct dag *dag, uint32_t vertex, enum played played);

// Whether the edge wants a core at all.
bool awake_is_needed(const struct dag *dag, uint32_t vertex, enum played played);

#endif
