// SPDX-License-Identifier: GPL-3.0-or-later
// Workspace and result of dag_propagate (dag/propagate/propagate.h).
#ifndef REHYPE_DAG_RUN_H
#define REHYPE_DAG_RUN_H

#include "dag/dag.h"

#define DAG_DEADLOCK_TASKS 16

struct parking;
struct dag_move;
struct dag_segments;

struct dag_turn {
    uint32_t thread, until; // segment before which its chain rests
};

struct dag_walk {        // a thread's chain on its way, from segment to segment (dag/propagate/segments.h)
    uint32_t first, end; // segments of its thread, up to before `end`
    uint32_t segment;    // next: on its thread, or of a body that moved there
    uint32_t due;        // segment up to which its turns have come
    uint32_t awaits;     // vertex that it is parked on, DAG_NONE while it runs
    bool done;
    int64_t shift_ns; // T - t of the vertex before
};

// Reused from plan to plan. Not shared between threads.
struct dag_run {
    int64_t *time_ns;                      // a vertex each; DAG_ABSENT where it isn't part of the edited run
    struct dag_segments *segments;         // about one for four vertices
    struct dag_turn *turns;                // order in which the recorded graph can be walked without waiting
    uint32_t turn_count;                   // one for about every second segment
    struct dag_move *moves;                // scratch: three for each task that is inlined
    struct parking *parking;               // scratch: chains that wait for a vertex of a segment
    struct dag_walk *walks;                // scratch: where each thread's chain stands
    uint32_t deadlock[DAG_DEADLOCK_TASKS]; // tasks that wait for each other in a ring, when dag_propagate found one
    uint32_t deadlock_length;              // how many (those past DAG_DEADLOCK_TASKS are left out)
};

#endif
