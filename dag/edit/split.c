// SPDX-License-Identifier: GPL-3.0-or-later
// Split (T 5.2). In place of a task's bracket stand as many brackets as there are parts, one behind the other: the
// recorded one first, then ones of the pool's mean, or less as they get more (simulate/cold_code.h). A hand-over edge
// leads from each to a body of its own, which computes an equal share of what lay between the task's start and end, and
// sleeps as long as was slept there, unless that was luck (simulate/part_costs.h): to ask for half as much takes a
// server, or a timer, no less. Edges from the task's result to its waiters leave from the end of the last part to end.
// Sound only if the work is divisible, which no trace can tell: a proposal has to say so. A body that spawns or waits
// is refused, since the trace doesn't tell which part would do that. One that contends for a lock is not: its parts
// contend in its place.
#include "dag/edit/body.h"
#include "dag/edit/edit.h"

const char *dag_split_refusal(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->flags & TASK_MAIN) return "it is main";
    if (task->flags & TASK_NESTED) return "it runs inside another task";
    if (task->flags & TASK_REJECTED) return "its pool rejected it";
    if (task->flags & TASK_UNFINISHED) return "its end was not recorded";
    if (task->flags & TASK_HANDED_OVER) return "it was handed over without a spawn, by a queue of the program's own";
    if (task->spawn_begin == DAG_NONE) return "its spawn was not recorded";
    if (task->flags & TASK_DELAYED) return dag_delayed_refusal;
    if (task->flags & TASK_HANDLES) return dag_mailbox_refusal;
    for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v)) {
        if (dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN) return "it spawns tasks";
        if (dag->vertices.kind[v] == VERTEX_WAIT_BEGIN) return "it waits";
    }
    return NULL;
}

void dag_edit_split(struct dag_edit *edit, uint32_t task, uint32_t factor) {
    edit->parts_count += !edit->parts[task];
    edit->parts[task] = factor;
}
