// SPDX-License-Identifier: GPL-3.0-or-later
// How inlining moves a body: what every walk of an edited run goes by (chain.h, dag_propagate, the simulation).
//
// A move is one step of a thread's chain that the recorded one does not have. Where the chain would come to what was
// recorded at from_ns, it goes on at vertex `to` instead, as if it had just passed what was recorded at to_ns. So what
// comes after it is from_ns - to_ns later than recorded, beside what was later before.
#ifndef REHYPE_DAG_MOVE_H
#define REHYPE_DAG_MOVE_H

#include "dag/dag.h"

struct edit_move {
    uint32_t to;
    int64_t from_ns, to_ns;
};

// Whether the task's body lies in its own spawn bracket (caller-runs), so that inlining it moves nothing.
static inline bool move_is_in_place(const struct dag_task *task) {
    return task->spawn_begin < task->start && task->start < task->spawn_end;
}

// The spawner goes from the bracket's begin into the body ...
static inline struct edit_move move_enter(const struct dag *dag, const struct dag_task *task) {
    const int64_t *time_ns = dag->vertices.time_ns;
    return (struct edit_move){task->start, time_ns[task->spawn_begin], time_ns[task->start]};
}

// ... and from the body's end behind the bracket.
static inline struct edit_move move_leave(const struct dag *dag, const struct dag_task *task) {
    const int64_t *time_ns = dag->vertices.time_ns;
    return (struct edit_move){task->spawn_end + 1, time_ns[task->end], time_ns[task->spawn_end]};
}

// The worker passes over pick-up and body, up to `last`; since_ns: recorded time of what the pick-up follows on it.
// What it did before the pick-up goes with the body, but for a task that helps: there it is work, and stays.
static inline struct edit_move move_skip(const struct dag *dag, const struct dag_task *task, uint32_t last,
                                         int64_t since_ns) {
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t from_ns = task->enclosing != DAG_NONE ? time_ns[task->pickup] : since_ns;
    return (struct edit_move){last + 1, from_ns, time_ns[last]};
}

#endif
