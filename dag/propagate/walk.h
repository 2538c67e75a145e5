// SPDX-License-Identifier: GPL-3.0-or-later
// What dag_propagate and the search for a deadlock share.
#ifndef REHYPE_DAG_WALK_H
#define REHYPE_DAG_WALK_H

#include "dag/propagate/parking.h"
#include "dag/propagate/propagate.h"

#define DAG_PENDING INT64_MAX // time of a vertex that has none yet

struct dag_walk {        // a thread's chain on its way, from segment to segment (dag/propagate/segments.h)
    uint32_t first, end; // segments of its thread, up to before `end`
    uint32_t segment;    // next: on its thread, or of a body that moved there
    uint32_t due;        // segment up to which its turns have come
    uint32_t awaits;     // vertex that it is parked on, DAG_NONE while it runs
    bool done;
    int64_t shift_ns; // T - t of the vertex before
};

// What a vertex has to await under an edit, where its recorded cause holds or is replaced (see dag_propagate).
struct dag_constraint {
    uint32_t cause;   // DAG_NONE for none; its time may be DAG_ABSENT
    int64_t delay_ns; // of RULE_BEGIN: from cause to vertex
};

// `removed`: whether the edit removed a vertex's cause; only of matter for RULE_BEGIN.
struct dag_constraint dag_constraint_of_start(const struct dag *dag, const struct dag_edit *edit, uint32_t vertex,
                                              uint32_t thread, bool removed);

// Marks what the edit removes as DAG_ABSENT and all else as DAG_PENDING.
void dag_mark_absent(const struct dag *dag, const struct dag_edit *edit, int64_t *time_ns);

// Fills run->deadlock from walks that can not go on. false: no memory.
bool dag_find_deadlock(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run);

#endif
