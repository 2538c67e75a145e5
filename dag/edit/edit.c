// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/edit/edit.h"

#include <stdlib.h>
#include <string.h>

const char *const dag_mailbox_refusal = "actors handle their messages in it";
const char *const dag_delayed_refusal = "it is periodic, or was scheduled for a later time";

// The order is that of what says most: a cancelled task may lack its end, too.
enum dag_left_out dag_left_out(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    const int64_t *time_ns = dag->vertices.time_ns;
    if (task->flags & (TASK_MAIN | TASK_NESTED | TASK_HANDED_OVER)) return LEFT_OUT_NOT;
    if (task->flags & TASK_REJECTED) return LEFT_OUT_REJECTED;
    if (task->outcome == TASK_CANCELLED) return LEFT_OUT_CANCELLED;
    if (dag_task_outlasts(dag, task)) return LEFT_OUT_UNENDED;
    if (task->flags & TASK_UNFINISHED) return LEFT_OUT_LOST_END;
    if (task->spawn_begin == DAG_NONE) return LEFT_OUT_NOT;
    return time_ns[task->start] < time_ns[task->spawn_begin] ? LEFT_OUT_OUT_OF_ORDER : LEFT_OUT_NOT;
}

static void forget_edits(struct dag_edit *edit, const struct dag *dag) {
    memset(edit->inlined, 0, dag->task_count);
    memset(edit->parts, 0, dag->task_count * sizeof *edit->parts);
    memset(edit->staged, 0, dag->task_count);
    memset(edit->pool_threads, 0, dag->trace->pool_count * sizeof *edit->pool_threads);
    memset(edit->resource_units, 0, dag->resource_count * sizeof *edit->resource_units);
    memset(edit->unlocked, 0, dag->resource_count);
    for (uint32_t t = 0; t < dag->task_count; t++) edit->merged_next[t] = DAG_NONE;
    if (edit->actors) memset(edit->actors, 0, ((size_t)dag->actor_count + 1) * sizeof *edit->actors);
    if (edit->follows) memset(edit->follows, 0, (size_t)dag->task_count + 1);
    edit->own_pool_count = edit->actors_count = 0;
    edit->inlined_count = edit->merged_count = edit->parts_count = edit->staged_count = edit->resized_count = 0;
}

bool dag_edit_init(struct dag_edit *edit, const struct dag *dag, struct error *error) {
    size_t tasks = (size_t)dag->task_count + 1;
    edit->inlined = malloc(tasks);
    edit->merged_next = malloc(tasks * sizeof *edit->merged_next);
    edit->parts = malloc(tasks * sizeof *edit->parts);
    edit->staged = malloc(tasks);
    edit->pool_threads = malloc(((size_t)dag->trace->pool_count + 1) * sizeof *edit->pool_threads);
    edit->resource_units = malloc(((size_t)dag->resource_count + 1) * sizeof *edit->resource_units);
    edit->unlocked = malloc((size_t)dag->resource_count + 1);
    edit->order = malloc(tasks * sizeof *edit->order);
    edit->actors = dag->actors ? malloc(((size_t)dag->actor_count + 1) * sizeof *edit->actors) : NULL;
    edit->follows = dag->actors ? malloc(tasks) : NULL;
    bool has_actors = !dag->actors || (edit->actors && edit->follows);
    if (edit->inlined && edit->merged_next && edit->parts && edit->staged && edit->pool_threads &&
        edit->resource_units && edit->unlocked && edit->order && has_actors) {
        forget_edits(edit, dag);
        return true;
    }
    dag_edit_destroy(edit);
    return error_set(error, STATUS_FAILED, "no memory for an edit of %u tasks", dag->task_count);
}

void dag_edit_clear(struct dag_edit *edit, const struct dag *dag) {
    if (!dag_edit_only_inlines(edit)) {
        forget_edits(edit, dag);
        return;
    }
    memset(edit->inlined, 0, dag->task_count);
    edit->inlined_count = 0;
}

void dag_edit_destroy(struct dag_edit *edit) {
    free(edit->inlined);
    free(edit->merged_next);
    free(edit->parts);
    free(edit->staged);
    free(edit->pool_threads);
    free(edit->resource_units);
    free(edit->unlocked);
    free(edit->order);
    free(edit->actors);
    free(edit->follows);
    *edit = (struct dag_edit){0};
}

bool dag_edit_only_inlines(const struct dag_edit *edit) {
    return !(edit->merged_count | edit->parts_count | edit->staged_count | edit->resized_count | edit->actors_count);
}

bool dag_edit_is_empty(const struct dag_edit *edit) {
    return edit->inlined_count == 0 && dag_edit_only_inlines(edit);
}
