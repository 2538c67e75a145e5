// SPDX-License-Identifier: GPL-3.0-or-later
// What of a thread edge was spent asleep. An edge is that from the vertex before on its thread to the vertex it is
// named by, which is not its thread's first.
#ifndef REHYPE_DAG_EDGE_H
#define REHYPE_DAG_EDGE_H

#include "dag/dag.h"

// Asleep for most of it, if it is long at all: in a wait, for a lock, for a task.
static inline bool edge_sleeps(const struct dag *dag, uint32_t vertex) {
    const uint32_t after = 1u << VERTEX_IDLE | 1u << VERTEX_WAIT_BEGIN | 1u << VERTEX_ACQUIRE;
    const uint32_t before = 1u << VERTEX_BUSY | 1u << VERTEX_RETIRE;
    return (after >> dag->vertices.kind[vertex - 1] | before >> dag->vertices.kind[vertex]) & 1;
}

// What a recorded edge is but for waits for a core and the JVM's pauses, from since_ns on: not before the vertex before
// it. Of pauses that came while the thread might as well have slept, so much was in its way as it computed of the rest.
// These three only of traces that measure computing. Cost: of edges that compute the logarithm of the pauses' number.
int64_t edge_own_ns(const struct dag *dag, uint32_t vertex, int64_t since_ns);

// What of that was not computed.
int64_t edge_asleep_ns(const struct dag *dag, uint32_t vertex, int64_t since_ns);

// How much of the time from one instant to the other the JVM stood still, in pauses that came then. Cost: the logarithm
// of the pauses' number.
int64_t edge_pauses_ns(const struct dag *dag, int64_t from_ns, int64_t to_ns);

// The pauses that are not the edge's own, of all of it.
int64_t edge_paused_ns(const struct dag *dag, uint32_t vertex);

#endif
