// SPDX-License-Identifier: GPL-3.0-or-later
// What a task's hand-over leaves behind in the JVM is as of all others' (cold_code.h, garbage.h).
#ifndef REHYPE_DAG_HANDED_OVER_H
#define REHYPE_DAG_HANDED_OVER_H

#include "dag/dag.h"
#include "dag/edit/edit.h"

// Whether the task was handed over, and has a body of its own.
static inline bool is_handed_over(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    return task->spawn_begin != DAG_NONE && task->spawn_end != task->spawn_begin && task->start != DAG_NONE &&
           !(task->flags & (TASK_NESTED | TASK_OF_ACTOR));
}

// Whether it is not any more: it is inlined, or merged with one behind it.
static inline bool hand_over_goes(const struct dag *dag, const struct dag_edit *edit, uint32_t index) {
    const uint32_t next = edit->merged_next[index];
    return (edit->inlined[index] || (next != DAG_NONE && next != index)) && is_handed_over(dag, index);
}

#endif
