// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/candidates.h"

#include <stdlib.h>

static bool is_spawned_at(const struct dag_task *task, uint32_t site, uint32_t context) {
    return task->site == site && (context == DAG_NONE || task->context == context) && !(task->flags & TASK_NESTED);
}

static void set_refusal(const struct dag *dag, struct improvement *improvement) {
    improvement->refusal = NULL;
    for (uint32_t i = 0; i < improvement->task_count && !improvement->refusal; i++) {
        improvement->refusal = dag_inline_refusal(dag, improvement->tasks[i]);
    }
}

bool candidates_fill(const struct dag *dag, struct arena *arena, struct improvement *improvement) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        count += is_spawned_at(&dag->tasks[t], improvement->site, improvement->context);
    }
    uint32_t *tasks = ARENA_NEW(arena, uint32_t, (size_t)count + 1);
    if (!tasks) return false;
    improvement->tasks = tasks;
    improvement->task_count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (is_spawned_at(&dag->tasks[t], improvement->site, improvement->context)) {
            tasks[improvement->task_count++] = t;
        }
    }
    set_refusal(dag, improvement);
    return true;
}

struct spawned {
    uint32_t site, context, task;
};

static int compare_spawned(const void *a, const void *b) {
    const struct spawned *left = a, *right = b;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    if (left->context != right->context) return left->context < right->context ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool add(const struct dag *dag, struct arena *arena, const struct spawned *spawned, size_t count,
                uint32_t context, struct improvement *improvement) {
    uint32_t *tasks = ARENA_NEW(arena, uint32_t, count);
    if (!tasks) return false;
    for (size_t i = 0; i < count; i++) tasks[i] = spawned[i].task;
    qsort(tasks, count, sizeof *tasks, compare_numbers);
    *improvement = (struct improvement){.kind = KIND_INLINE,
                                        .site = spawned[0].site,
                                        .context = context,
                                        .tasks = tasks,
                                        .task_count = (uint32_t)count};
    set_refusal(dag, improvement);
    return true;
}

// The run of equal sites (or of equal sites and contexts) that begins at `first`.
static size_t run_end(const struct spawned *spawned, size_t first, size_t count, bool contexts) {
    size_t end = first + 1;
    while (end < count && spawned[end].site == spawned[first].site &&
           (!contexts || spawned[end].context == spawned[first].context)) {
        end++;
    }
    return end;
}

static bool add_site(const struct dag *dag, struct arena *arena, const struct spawned *spawned, size_t count,
                     struct improvement *improvements, size_t *found) {
    if (!add(dag, arena, spawned, count, DAG_NONE, &improvements[(*found)++])) return false;
    if (run_end(spawned, 0, count, true) == count) return true;
    for (size_t first = 0, end; first < count; first = end) {
        end = run_end(spawned, first, count, true);
        if (!add(dag, arena, &spawned[first], end - first, spawned[first].context, &improvements[(*found)++]))
            return false;
    }
    return true;
}

static size_t list_spawned(const struct dag *dag, struct spawned *spawned) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site == DAG_NONE || task->flags & TASK_NESTED) continue;
        spawned[count++] = (struct spawned){task->site, task->context, t};
    }
    qsort(spawned, count, sizeof *spawned, compare_spawned);
    return count;
}

bool candidates_find(const struct dag *dag, struct arena *arena, struct improvement **improvements, size_t *count,
                     struct error *error) {
    struct spawned *spawned = malloc(((size_t)dag->task_count + 1) * sizeof *spawned);
    if (!spawned) return error_set(error, STATUS_FAILED, "no memory for candidates");
    size_t spawned_count = list_spawned(dag, spawned);
    *improvements = ARENA_NEW(arena, struct improvement, 2 * spawned_count + 1); // a site and a context each at most
    *count = 0;
    bool done = *improvements;
    for (size_t first = 0, end; done && first < spawned_count; first = end) {
        end = run_end(spawned, first, spawned_count, false);
        done = add_site(dag, arena, &spawned[first], end - first, *improvements, count);
    }
    free(spawned);
    return done || error_set(error, STATUS_FAILED, "no memory for candidates");
}
