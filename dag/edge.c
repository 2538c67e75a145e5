// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/edge.h"

#include "dag/ns.h"

static uint32_t first_pause_from(const struct dag *dag, int64_t time_ns) {
    uint32_t low = 0, high = dag->pause_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->pauses[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t edge_pauses_ns(const struct dag *dag, int64_t from_ns, int64_t to_ns) {
    int64_t paused = 0;
    for (uint32_t i = first_pause_from(dag, from_ns); i < dag->pause_count; i++) {
        if (dag->pauses[i].begin_ns >= to_ns) break;
        paused += min_ns(dag->pauses[i].end_ns, to_ns) - dag->pauses[i].begin_ns;
    }
    return paused;
}

// All but the wait for a core. A thread that was kept from one before it waited was kept from that.
static int64_t unqueued_ns(const struct dag *dag, uint32_t v, int64_t since_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t length_ns = vertices->time_ns[v] - since_ns;
    if (!vertices->queued_ns) return length_ns;
    int64_t before_ns = vertices->kind[v] == VERTEX_WAIT_END ? since_ns - vertices->time_ns[v - 1] : 0; // held up
    return length_ns - min_ns(max_ns(vertices->queued_ns[v] - before_ns, 0), length_ns);
}

// Of so long an edge but for its wait for a core.
static int64_t paused_ns(const struct dag *dag, uint32_t v, int64_t since_ns, int64_t length_ns) {
    int64_t compute_ns = dag->vertices.compute_ns[v];
    if (dag->pause_count == 0 || compute_ns == 0) return 0;
    int64_t pause_ns = edge_pauses_ns(dag, since_ns, dag->vertices.time_ns[v]);
    if (pause_ns == 0) return 0;
    int64_t moving_ns = max_ns(length_ns - pause_ns, compute_ns);
    return (int64_t)((double)min_ns(pause_ns, length_ns - compute_ns) * (double)compute_ns / (double)moving_ns);
}

int64_t edge_paused_ns(const struct dag *dag, uint32_t v) {
    int64_t since_ns = dag->vertices.time_ns[v - 1];
    return paused_ns(dag, v, since_ns, unqueued_ns(dag, v, since_ns));
}

int64_t edge_own_ns(const struct dag *dag, uint32_t v, int64_t since_ns) {
    int64_t length_ns = unqueued_ns(dag, v, since_ns);
    return length_ns - paused_ns(dag, v, since_ns, length_ns);
}

int64_t edge_asleep_ns(const struct dag *dag, uint32_t v, int64_t since_ns) {
    return max_ns(edge_own_ns(dag, v, since_ns) - dag->vertices.compute_ns[v], 0);
}
