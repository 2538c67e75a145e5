// SPDX-License-Identifier: GPL-3.0-or-later
// A task's own vertices: those of its body that lie in no other body within it (helping joins, caller-runs).
#ifndef REHYPE_DAG_BODY_H
#define REHYPE_DAG_BODY_H

#include "dag/dag.h"

// The vertex of the body's own that follows `vertex`; its last is the task's end:
//     for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v))
static inline uint32_t body_next(const struct dag *dag, uint32_t vertex) {
    uint32_t next = vertex + 1;
    while (dag->vertices.kind[next] == VERTEX_START) next = dag->tasks[dag->vertices.task[next]].end + 1;
    return next;
}

#endif
