// SPDX-License-Identifier: GPL-3.0-or-later
// Merge (T 5.2). Of a group of tasks the last member's bracket and pick-up stay; those of the others go with their
// hand-over edges, their time with them, and what lay around them on the spawner and the workers is stitched together,
// less what was done once for each task there (dag/simulate/amortised.c).
// Behind the one pick-up the members' bodies follow each other in the order of their spawns, end to start, without a
// delay. The edges from members' results to their waiters now leave from the end of the last body. Sound when members
// are independent but for their order: one spawner hands them over in one context and to one pool, so that its code can
// gather them, and on its way to the last one's spawn it waits for none of them. Members that wait for each other would
// wait for ever, which shows when the times are worked out.
#include "dag/edit/edit.h"

#include <stdlib.h>
#include <string.h>

const char *dag_merge_refusal(const struct dag *dag, uint32_t task) {
    return dag_inline_refusal(dag, task);
}

static int compare_numbers(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

// By the task that gathers them, then by spawns. A thread's vertices stand side by side, so those that threads outside
// of any task spawned stand together by thread as well.
static int compare_spawns(const void *a, const void *b, void *context) {
    const struct dag *dag = context;
    const struct dag_task *left = &dag->tasks[*(const uint32_t *)a], *right = &dag->tasks[*(const uint32_t *)b];
    int order = compare_numbers(left->spawner, right->spawner);
    if (!order) order = compare_numbers(left->context, right->context);
    if (!order) order = compare_numbers(left->pool, right->pool);
    return order ? order : compare_numbers(left->spawn_begin, right->spawn_begin);
}

static bool gathers_both(const struct dag_task *a, const struct dag_task *b) {
    return a->spawner == b->spawner && a->context == b->context && a->pool == b->pool && a->site == b->site &&
           (a->flags & TASK_THREAD_RUN) == (b->flags & TASK_THREAD_RUN);
}

// Members rise by their spawns.
static bool is_member(const struct dag *dag, const uint32_t *members, uint32_t count, uint32_t task) {
    const uint32_t spawn = dag->tasks[task].spawn_begin;
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->tasks[members[middle]].spawn_begin < spawn)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && members[low] == task;
}

// Whether the thread waits for one of so many members of a group between the spawns of the newest and of the task after
// it.
static bool waits_between(const struct dag *dag, const uint32_t *members, uint32_t count,
                          const struct dag_task *after) {
    const struct dag_task *newest = &dag->tasks[members[count - 1]];
    for (uint32_t v = newest->spawn_begin + 1; v < after->spawn_begin; v++) {
        const uint32_t kind = dag->vertices.kind[v], awaited = dag->vertices.task[v];
        if (v == newest->spawn_end || (kind != VERTEX_WAIT_BEGIN && kind != VERTEX_WAIT_END)) continue;
        if (awaited != DAG_NONE && is_member(dag, members, count, awaited)) return true;
    }
    return false;
}

static void link_group(struct dag_edit *edit, const uint32_t *members, uint32_t count) {
    if (count < 2) return;
    for (uint32_t i = 0; i + 1 < count; i++) edit->merged_next[members[i]] = members[i + 1];
    edit->merged_next[members[count - 1]] = members[count - 1];
    edit->merged_count += count;
}

static bool joins(const struct dag *dag, const uint32_t *members, uint32_t count, const struct dag_task *task) {
    const struct dag_task *first = &dag->tasks[members[0]], *newest = &dag->tasks[members[count - 1]];
    if (!gathers_both(first, task)) return false;
    bool one_thread =
        task->spawner != DAG_NONE || dag_thread_of(dag, newest->spawn_begin) == dag_thread_of(dag, task->spawn_begin);
    return one_thread && !waits_between(dag, members, count, task);
}

// In order of first mention they mostly stand as they are wanted.
static void sort_spawns(const struct dag *dag, uint32_t *order, uint32_t count) {
    uint32_t sorted = 1;
    while (sorted < count && compare_spawns(&order[sorted - 1], &order[sorted], (void *)dag) < 0) sorted++;
    if (sorted < count) qsort_r(order, count, sizeof *order, compare_spawns, (void *)dag);
}

uint32_t dag_edit_merge(struct dag_edit *edit, const struct dag *dag, const uint32_t *tasks, uint32_t count,
                        uint32_t factor) {
    const uint32_t before = edit->merged_count;
    uint32_t *order = edit->order;
    memcpy(order, tasks, count * sizeof *order);
    sort_spawns(dag, order, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && end - first < factor && joins(dag, &order[first], end - first, &dag->tasks[order[end]])) {
            end++;
        }
        link_group(edit, order + first, end - first);
    }
    return edit->merged_count - before;
}

uint32_t dag_edit_group(const struct dag_edit *edit, uint32_t first) {
    uint32_t last = first;
    while (edit->merged_next[edit->order[last]] != DAG_NONE &&
           edit->merged_next[edit->order[last]] != edit->order[last]) {
        last++;
    }
    return last - first + 1;
}
