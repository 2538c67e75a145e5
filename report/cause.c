// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/cause.h"

uint32_t cause_last(const struct dag_vertices *vertices, uint32_t vertex) {
    uint32_t cause = vertices->cause[vertex];
    while (cause != DAG_NONE && vertices->kind[cause] == VERTEX_BARRIER) {
        const uint32_t own = vertices->cause[cause];
        const bool follows = cause > 0 && vertices->kind[cause - 1] == VERTEX_BARRIER &&
                             vertices->time_ns[cause - 1] == vertices->time_ns[cause];
        const bool decides = own != DAG_NONE && vertices->time_ns[own] >= vertices->time_ns[cause];
        cause = decides || !follows ? own : cause - 1;
    }
    return cause;
}

// A result that was there already ended no sleep: such a wait is one event, and two vertices, at one time where a
// simulated run has it so again.
static bool is_taken(const struct dag_vertices *vertices, uint32_t begin, uint32_t end) {
    return vertices->event ? vertices->event[begin] == vertices->event[end]
                           : vertices->time_ns[begin] == vertices->time_ns[end];
}

bool cause_ends_sleep(const struct dag_vertices *vertices, uint32_t vertex) {
    if (vertices->kind[vertex] == VERTEX_ACQUIRED) return true;
    if (vertices->kind[vertex] != VERTEX_WAIT_END || vertex == 0) return false;
    return vertices->kind[vertex - 1] != VERTEX_WAIT_BEGIN || !is_taken(vertices, vertex - 1, vertex);
}
