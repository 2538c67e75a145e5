// SPDX-License-Identifier: GPL-3.0-or-later
// Times of an edited trace-DAG, model `dag`: R Eq. 3 with sleeps adjusted by Eq. 4 (enum vertex_rule). One code for
// every plan, the empty one included, for which every vertex comes back at its recorded time exactly.
//
// Threads' chains are walked side by side: each is advanced until its next vertex has a cause without a time yet, then
// parked on that cause and taken up again when the cause gets its time. Hence no topological sort, one visit a vertex,
// and a deadlock is plain to see: chains that are still parked when nothing can advance.
//
// Three things make that fast. Most vertices have no cause, and no edit moves a body at them: between two that are
// otherwise all are as much later or sooner than recorded, so that the walk goes from segment to segment
// (dag/propagate/segments.h) and finds shifts; one pass over all vertices then makes times of them. Only segments into
// which the edit reaches are walked vertex by vertex. And the order in which the recorded graph was walked once is kept
// as a list of turns (which thread, up to where). A walk that takes them in order finds each cause done before its
// effect as long as nothing is edited; where an edit makes a chain wait, the turns that it misses are made up for when
// it is taken up again.
#ifndef REHYPE_DAG_PROPAGATE_H
#define REHYPE_DAG_PROPAGATE_H

#include "dag/edit/edit.h"
#include "dag/propagate/rules.h"
#include "dag/propagate/run.h"

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error);
void dag_run_destroy(struct dag_run *run);

enum dag_outcome { DAG_OK, DAG_DEADLOCK, DAG_NO_MEMORY };

// A worker's start whose creation an edit dropped follows the first spawn of a task that is still its own; if it did
// more before that task than wait for it, it keeps its recorded time. A cause that the edit removed constrains nothing.
// Helped bodies stay in their waits: where that makes a deadlock and dag_edit_sinks_any, the simulation knows better.
// Cost: about 28 instructions a vertex, 4 ns, with nothing edited. Each task that is inlined adds two or three thousand
// instructions: it breaks segments, and what awaits a vertex of a broken one takes the long way.
enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run);

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

#endif
