// SPDX-License-Identifier: GPL-3.0-or-later
// When delayed and periodic tasks are due. While vertices are laid, a due time is kept as its distance to the vertex
// behind which it was set, since that one may yet move.
#include "dag/build/builder.h"

bool prepare_due(struct builder *builder) {
    struct dag *dag = builder->dag;
    size_t count = (size_t)dag->task_count + 1;
    if (!builder->trace->events_of_kind[EVENT_DUE]) return true;
    dag->due_ns = ARENA_NEW(&dag->arena, int64_t, count);
    dag->period_ns = ARENA_NEW(&dag->arena, int64_t, count);
    dag->due_set = ARENA_NEW(&dag->arena, uint32_t, count);
    if (!dag->due_ns || !dag->period_ns || !dag->due_set) return no_memory(builder);
    for (size_t t = 0; t < count; t++) {
        dag->due_ns[t] = INT64_MIN;
        dag->period_ns[t] = 0;
        dag->due_set[t] = DAG_NONE;
    }
    return true;
}

// Never INT64_MIN, which is none.
static int64_t sum_ns(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) sum = b < 0 ? -INT64_MAX : INT64_MAX;
    return sum == INT64_MIN ? -INT64_MAX : sum;
}

// A java.util.Timer hands over the next time within the task of the one before: that one's body is no cause of it.
static bool repeats_its_spawner(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (dag->period_ns[index] == 0 || task->spawner == DAG_NONE) return false;
    const struct dag_task *before = &dag->tasks[task->spawner];
    return before->pool == task->pool && before->site == task->site;
}

void note_due(struct dag *dag, uint32_t task, const struct event *event, uint32_t vertex) {
    int64_t since_ns = vertex == DAG_NONE ? 0 : dag->vertices.time_ns[vertex];
    dag->due_ns[task] = sum_ns((int64_t)event->time - since_ns, (int64_t)event->operand[1]);
    dag->period_ns[task] = (int64_t)event->operand[2];
    dag->due_set[task] = vertex;
    if (repeats_its_spawner(dag, task)) dag->tasks[task].spawner = DAG_NONE;
}

void settle_due(struct dag *dag) {
    for (uint32_t t = 0; dag->due_ns && t < dag->task_count; t++) {
        uint32_t set = dag->due_set[t];
        if (set != DAG_NONE) dag->due_ns[t] = sum_ns(dag->due_ns[t], dag->vertices.time_ns[set]);
    }
}
