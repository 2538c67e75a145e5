// SPDX-License-Identifier: GPL-3.0-or-later
// Combinator (R Sec. 4.1, Fig. 3). The waits in a coordinator's body cut it into segments. The first takes the place of
// the bracket on the spawner's thread, as in an inline; the spawner then goes on behind the bracket. Or it stays a task
// of its pool, with bracket and pick-up, which ends where it would wait: its worker is free then. Each later segment
// hangs behind the result that its wait awaited, on the thread that brings it, if that comes after the segment before
// is over; else the segment before runs into it. A wait's two vertices become one, which takes no time and keeps no
// thread: the edge from the result leads to it. Where the bracket goes, the pick-up does. Sub-tasks keep their brackets
// and hand-overs, so that they stay parallel. The coordinator's result comes from wherever its last segment ends. Sound
// when all that the body waits for are tasks, whose completion can start a segment, and when nothing in it depends on
// the thread that runs it: thread-locals, and locks held over a wait, are beyond what a trace shows.
#include "dag/edit/body.h"
#include "dag/edit/edit.h"

const char *dag_combinator_refusal(const struct dag *dag, uint32_t index) {
    const char *refusal = dag_inline_refusal(dag, index);
    if (refusal) return refusal;
    const struct dag_task *task = &dag->tasks[index];
    bool waits = false;
    for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v)) {
        if (dag->vertices.kind[v] != VERTEX_WAIT_BEGIN) continue;
        if (dag->vertices.task[v] == DAG_NONE) return "it waits for what is no task";
        waits = true;
    }
    return waits ? NULL : "it waits for no task";
}

bool dag_combinator_keeps_pool(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->pool == 0 || task->pool >= dag->pool_count) return false;
    switch (dag->pools[task->pool].discipline) {
    case DISCIPLINE_UNKNOWN:
        return false;
    case DISCIPLINE_STEALING:
        return (task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_QUEUED) ||
               task->dispatch == DISPATCH_HELPED;
    default:
        return task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_CALLER;
    }
}

void dag_edit_combine(struct dag_edit *edit, uint32_t task, enum dag_first_stage first) {
    edit->staged_count += !edit->staged[task];
    edit->staged[task] = (uint8_t)first;
}
