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

#define DAG_ABSENT         INT64_MIN // time of a vertex that the edit removed

#define DAG_DEADLOCK_TASKS 16

struct parking;
struct dag_move;
struct dag_segments;
struct dag_walk;

struct dag_turn {
    uint32_t thread, until; // segment before which its chain rests
};

// Workspace and result, reused from plan to plan. Not shared between threads.
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

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error);
void dag_run_destroy(struct dag_run *run);

enum dag_outcome { DAG_OK, DAG_DEADLOCK, DAG_NO_MEMORY };

// A worker's start whose creation an edit dropped follows the first spawn of a task that is still its own; if it did
// more before that task than wait for it, it keeps its recorded time. A cause that the edit removed constrains nothing.
// Helped bodies stay in their waits: where that makes a deadlock and dag_edit_sinks_any, the simulation knows better.
// Cost: about 28 instructions a vertex, 4 ns, with nothing edited. Each task that is inlined adds two or three thousand
// instructions: it breaks segments, and what awaits a vertex of a broken one takes the long way.
enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run);

// "Main.a:12 waits for Main.b:20 waits for Main.a:12", for messages.
char *dag_deadlock_text(const struct dag *dag, const struct dag_run *run, char *text, size_t size);

#endif
