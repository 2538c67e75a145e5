// SPDX-License-Identifier: GPL-3.0-or-later
// An edit overlay: what a plan changes in a trace-DAG, without touching the DAG. Many overlays share one DAG. What each
// edit does to vertices and edges, and when it is sound, stands at the top of its file: inline.c, merge.c, split.c,
// combinator.c, resize.c, actors.c.
//
// Of inlining, which dag_propagate knows as well: a worker left without a task goes altogether; one whose creation was
// part of a dropped bracket is created by the first spawn of a task that is still its own. Delays: what led up to the
// bracket is followed by the body at once, the body by what came after the bracket. Between tasks a worker's own time
// before a pick-up goes with it; inside a body (a task that helps) it stays, being work. Because bodies are ranges, the
// overlay is one flag a task, and the walk over a thread's chain does the rest.
#ifndef REHYPE_DAG_EDIT_H
#define REHYPE_DAG_EDIT_H

#include "dag/dag.h"

// Where the code of a coordinator that becomes stages runs, up to its first wait.
enum dag_first_stage { FIRST_STAGE_NONE, FIRST_STAGE_ON_SPAWNER, FIRST_STAGE_ON_POOL };

// What becomes of an actor.
struct actor_edit {
    uint32_t joins;    // the actor that gets its messages; 0: itself
    uint32_t copies;   // so many get them by turns; 0: it alone
    uint32_t own_pool; // index into own_pools, from 1 on; 0: its dispatcher is as recorded
    bool gone;         // it joins another, and is not made: what it would have begun with is not needed
};

struct own_pool {    // a dispatcher that the program does not have yet
    uint32_t like;   // trace pool id: what handing over costs there it costs here
    int32_t threads; // 1 or more
};
enum { OWN_POOLS_MOST = 16 };

struct dag_edit {
    uint8_t *inlined; // a flag a task
    // What needs the simulation (dag/simulate/simulate.h):
    uint32_t *merged_next;   // a task each: the member of its group that runs after it, itself for the last; DAG_NONE
                             // for tasks that are in none
    uint32_t *parts;         // a task each: how many it is split into; 0: whole
    uint8_t *staged;         // a task each: enum dag_first_stage of a coordinator whose waits become stages
    int32_t *pool_threads;   // by pool id: its size; 0: as recorded
    int64_t *resource_units; // a resource each: its capacity; 0: as recorded
    uint8_t *unlocked;       // a flag a resource: it is never contended
    uint32_t inlined_count, merged_count, parts_count, staged_count; // tasks; merged ones are members of all groups
    uint32_t resized_count;                                          // pools and resources
    uint32_t *order;                                                 // scratch of dag_edit_merge, a task each
    struct actor_edit *actors; // an actor of the DAG each, from 1 on; NULL where it has none
    uint8_t *follows;          // a flag a task: a message that is handled right behind the handler that sent it, by
                               // the same worker; NULL where the DAG has no actors
    struct own_pool own_pools[OWN_POOLS_MOST];
    uint32_t own_pool_count, actors_count; // actors_count: edits of actors and messages
};

// NULL members when there is no memory. An edit is freed by dag_edit_destroy and cleared by dag_edit_clear.
bool dag_edit_init(struct dag_edit *edit, const struct dag *dag, struct error *error);
void dag_edit_clear(struct dag_edit *edit, const struct dag *dag);
void dag_edit_destroy(struct dag_edit *edit);

// Whether nothing but inlining was asked for, so that dag_propagate can tell the times; and whether nothing was.
bool dag_edit_only_inlines(const struct dag_edit *edit);
bool dag_edit_is_empty(const struct dag_edit *edit);

// What can't be done to a task or pool, and why: a text of static life, or NULL if it can. The edits themselves take
// only what was not refused, and are idempotent. One task takes part in one edit at most; improvements_conflict
// (optimize/plan.h) sees to that.

// Tasks that no edit but another pool size concerns, since the run does not show what they would have done:
// improvements leave them out (optimize/candidates.h), and they stay as they are.
enum dag_left_out {
    LEFT_OUT_NOT,
    LEFT_OUT_CANCELLED,
    LEFT_OUT_REJECTED,     // by their pool
    LEFT_OUT_UNENDED,      // recording ended before they did
    LEFT_OUT_LOST_END,     // it was not recorded
    LEFT_OUT_OUT_OF_ORDER, // recorded as starting before their spawn
    LEFT_OUT_MIXED,        // of inlining: what happened for other tasks lies in their being handed over
    LEFT_OUT_KINDS
};
enum dag_left_out dag_left_out(const struct dag *dag, uint32_t task); // but for LEFT_OUT_MIXED

// Whether the bracket of a task that was spawned and ended holds vertices of other tasks: what is done there must not
// vanish. A body of the task's own (caller-runs) may lie in it, and so may the making of a worker.
bool dag_bracket_serves_others(const struct dag *dag, uint32_t task);

// Of a task whose place is a time, not its spawn (TASK_DELAYED).
extern const char *const dag_delayed_refusal;
// Of a task that is an actor's mailbox (TASK_HANDLES).
extern const char *const dag_mailbox_refusal;

// Whether a body can leave its place and its bracket go: it is main, no task of its own, rejected, unfinished, never
// spawned, brought by a client, delayed, an actor's mailbox, handed over without a spawn, recorded as starting before
// its spawn, or its hand-over does other tasks' work. What inline, merge and combinator have in common. Cost: the
// vertices in its spawn bracket.
const char *dag_inline_refusal(const struct dag *dag, uint32_t task);
void dag_edit_inline(struct dag_edit *edit, uint32_t task);

// Bodies that a waiter ran (helping joins) are no part of the waiter's task, but lie in its wait: they stay in it, and
// go along where the waiter is inlined. If what was awaited is inlined itself, that wait sleeps no more, and comes
// after the inlined body, which may wait for the helped one. Where so the times would close a ring, helped bodies sink:
// into the inlined body, to where that waits for the child of its that the helped task is or comes from; if that child
// is inlined as well, or runs in that very wait, into the child's body, and so on. Their thread stays the same. This
// closes no ring of its own in programs whose tasks wait for all that they spawned: whatever comes behind that wait
// then waits for the helped task anyway, and all that comes before it on the thread is the helped task's ancestors', up
// to waits of theirs for other children, which have nothing of it to wait for.
//
// Where the wait begins that a helped body sinks to; DAG_NONE for those that stay, as there is no such wait. Cost: the
// vertices of the bodies that it passes.
uint32_t dag_edit_sinks_to(const struct dag *dag, const struct dag_edit *edit, uint32_t task);
bool dag_edit_sinks_any(const struct dag *dag, const struct dag_edit *edit);

// Merge (T 5.2): dag_inline_refusal. `tasks` are those of a site, or of a site and context, in any order; none of them
// is in a group yet. Groups are runs of up to `factor` (2 or more) consecutive ones that one spawner hands to one pool
// in one context. They end early where a wait for a member lies on the spawner's thread before the next member's spawn,
// since that would never come. Groups of one stay as they are. Returns how many tasks were put into groups. Cost: a
// sort of the tasks, and the spawners' vertices between their first and last spawn here.
const char *dag_merge_refusal(const struct dag *dag, uint32_t task);
uint32_t dag_edit_merge(struct dag_edit *edit, const struct dag *dag, const uint32_t *tasks, uint32_t count,
                        uint32_t factor);
// What the last dag_edit_merge made: the tasks are in edit->order, each group's side by side. How many belong to the
// group, or are alone, that begin with order[first].
uint32_t dag_edit_group(const struct dag_edit *edit, uint32_t first);

// Split (T 5.2): refused for what was not spawned, has no end or is delayed, and for bodies that spawn or wait. Factor:
// 2 or more. Cost of the refusal: the vertices of its body.
const char *dag_split_refusal(const struct dag *dag, uint32_t task);
void dag_edit_split(struct dag_edit *edit, uint32_t task, uint32_t factor);

// Combinator (R Sec. 4.1): dag_inline_refusal, or it waits for nothing, or for what is no task. Cost of the refusal:
// the vertices of its body.
const char *dag_combinator_refusal(const struct dag *dag, uint32_t task);
// FIRST_STAGE_ON_POOL only where dag_combinator_keeps_pool.
void dag_edit_combine(struct dag_edit *edit, uint32_t task, enum dag_first_stage first);
// Whether its first stage can stay a task of its pool: that has rules by which it is dispatched.
bool dag_combinator_keeps_pool(const struct dag *dag, uint32_t task);

// Another size of a pool: core and maximum both, and a queue without bound where it has none; of one that grows first
// the maximum, and `core` no more than that. Refused where its rules are unknown (discipline).
const char *dag_resize_refusal(const struct dag *dag, uint32_t pool);
int32_t dag_resized_core(const struct dag_pool *rules, int32_t threads);
void dag_edit_resize(struct dag_edit *edit, uint32_t pool, int32_t threads);

// Another capacity of a resource: refused where nothing goes round in it, so that it has none, and where its
// holders are not known. Where it can't be told how many there are, as many as were in use at once.
const char *dag_resize_resource_refusal(const struct dag *dag, uint32_t resource);
void dag_edit_resize_resource(struct dag_edit *edit, uint32_t resource, int64_t units);

// No contention for a lock: each thread that asks has it at once. Refused of what is no lock.
const char *dag_unlock_refusal(const struct dag *dag, uint32_t resource);
void dag_edit_unlock(struct dag_edit *edit, uint32_t resource);

// Edits of actors. What can't be done to one, or to a message: it is run by no dispatcher whose rules are known; of a
// message also: no handler sent it, or its sender's dispatcher is none such.
const char *dag_actor_refusal(const struct dag *dag, uint32_t actor);
const char *dag_follow_refusal(const struct dag *dag, uint32_t message);
void dag_edit_join_actor(struct dag_edit *edit, const struct dag *dag, uint32_t actor, uint32_t into);
void dag_edit_copy_actor(struct dag_edit *edit, uint32_t actor, uint32_t copies);
void dag_edit_follow(struct dag_edit *edit, uint32_t message);
// A dispatcher of so many threads and with a queue without bound: index into own_pools, from 1 on; 0: a plan has no
// room for more (OWN_POOLS_MOST).
uint32_t dag_edit_own_pool(struct dag_edit *edit, uint32_t like, int32_t threads);
void dag_edit_move_actor(struct dag_edit *edit, uint32_t actor, uint32_t own_pool);

#endif
