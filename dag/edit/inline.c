// SPDX-License-Identifier: GPL-3.0-or-later
// Inline (R Eq. 1, 2 as SPEC section 5 reads them). The body's vertices, start to end, take the place of the spawn
// bracket on the spawner's thread: the edge into SPAWN_BEGIN leads to the start, the edge out of SPAWN_END leaves from
// the end, with the delays that they had. The bracket's vertices go, and with them the hand-over edge to the pick-up,
// which goes as well; the worker's edges into the pick-up and out of the end are stitched into one. Edges from the
// result to waiters stay, so that what awaits the task finds it done. Sound when the body can run at its spawn: it has
// both ends recorded, began after its spawn, and shares its bracket with no other task's work. Bodies that lie in its
// waits go along; those that lay in waits for it go where they are needed (helping.c). One that waits for its spawner,
// or for what only that can bring about, closes a ring, which is found when the times are worked out.
#include "dag/edit/edit.h"

bool dag_bracket_serves_others(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    for (uint32_t v = task->spawn_begin; v <= task->spawn_end; v++) {
        if (v == task->start) {
            v = task->end;
            continue;
        }
        uint32_t served = dag_task_of(&dag->vertices, v);
        if (served != DAG_NONE && served != index) return true;
    }
    return false;
}

const char *dag_inline_refusal(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->flags & TASK_MAIN) return "it is main";
    if (task->flags & TASK_NESTED) return "it runs inside another task already";
    if (task->flags & TASK_REJECTED) return "its pool rejected it";
    if (task->flags & TASK_UNFINISHED) return "its end was not recorded";
    if (task->flags & TASK_HANDED_OVER) return "it was handed over without a spawn, by a queue of the program's own";
    if (task->spawn_begin == DAG_NONE) return "its spawn was not recorded";
    if (dag_comes_by_client(dag, task)) return "it is a request, which its client brings";
    if (task->flags & TASK_DELAYED) return dag_delayed_refusal;
    if (task->flags & TASK_HANDLES) return dag_mailbox_refusal;
    if (dag->vertices.time_ns[task->start] < dag->vertices.time_ns[task->spawn_begin]) {
        return "it was recorded as starting before its spawn";
    }
    if (dag_bracket_serves_others(dag, index)) return "its hand-over does work for other tasks";
    return NULL;
}

void dag_edit_inline(struct dag_edit *edit, uint32_t task) {
    edit->inlined_count += !edit->inlined[task];
    edit->inlined[task] = 1;
}
