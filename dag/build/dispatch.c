// SPDX-License-Identifier: GPL-3.0-or-later
// How each task came to run, and what its worker did for it after its body. Known once times are repaired.
#include "dag/build/builder.h"
#include "dag/edit/move.h"
#include "dag/ns.h"

// Whether all that the worker did before was to begin, and to get at the queue's lock.
static bool is_first_of_thread(const struct dag *dag, const struct dag_task *task) {
    uint32_t first = dag->threads[task->thread].first, v = task->pickup;
    while (v > first && vertex_is_of_resource(dag->vertices.kind[v - 1])) v--;
    return v == first || (v == first + 1 && dag->vertices.kind[first] == VERTEX_THREAD_START);
}

// No thread of a stage is made for a task.
static bool is_made_for_tasks(const struct dag *dag, const struct dag_task *task) {
    return task->pool >= dag->trace->pool_count || !(dag->trace->pools[task->pool].flags & POOL_STAGE);
}

int64_t dag_free_ns(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t first = dag->threads[task->thread].first;
    const bool made = is_made_for_tasks(dag, task);
    if (task->pickup == first) return made ? INT64_MIN : vertices->time_ns[first];
    if (!made || !is_first_of_thread(dag, task)) return vertices->time_ns[task->pickup - 1];
    uint32_t maker = vertices->cause[first];
    if (maker == DAG_NONE) return vertices->time_ns[first];
    bool for_it = maker > task->spawn_begin && maker < task->spawn_end;
    return for_it ? INT64_MIN : vertices->time_ns[maker];
}

int64_t dag_pickup_from_ns(const struct dag *dag, const struct dag_task *task) {
    int64_t free_ns = dag_free_ns(dag, task);
    uint32_t since = task->spawn_begin != DAG_NONE ? task->spawn_begin : task->pickup;
    int64_t there_ns = max_ns(dag->vertices.time_ns[since], dag_due_ns(dag, task));
    if (task->spawn_begin == DAG_NONE && free_ns != INT64_MIN) return free_ns;
    return free_ns > there_ns ? free_ns : there_ns;
}

// The body that starts at a vertex if it lies in its own spawn's bracket and that begins behind `since`: it goes with
// what spawned it. Else DAG_NONE.
static uint32_t spawned_in_place(const struct dag *dag, uint32_t vertex, uint32_t since) {
    const uint32_t index = dag->vertices.task[vertex];
    if (dag->vertices.kind[vertex] != VERTEX_START || index == DAG_NONE) return DAG_NONE;
    const struct dag_task *task = &dag->tasks[index];
    return move_is_in_place(task) && task->spawn_begin > since ? index : DAG_NONE;
}

// What a worker goes through between the end of one task and the next one's pick-up that is not for the former.
static bool ends_tail(const struct dag *dag, uint32_t vertex) {
    switch (dag->vertices.kind[vertex]) {
    case VERTEX_START:
        return dag->vertices.task[vertex] == DAG_NONE || !dag_comes_behind(&dag->tasks[dag->vertices.task[vertex]]);
    case VERTEX_IDLE:
    case VERTEX_BUSY:
    case VERTEX_RETIRE:
    case VERTEX_THREAD_END:
        return true;
    default:
        return false;
    }
}

// A body that lies in another or in its own bracket has its own result behind it at most: all else is the outer one's.
static uint32_t find_tail(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    const struct dag_thread *thread = &dag->threads[task->thread];
    uint32_t tail = task->end, last = thread->first + thread->count - 1;
    if (task->enclosing != DAG_NONE || move_is_in_place(task)) {
        bool result =
            tail < last && dag->vertices.kind[tail + 1] == VERTEX_RESULT && dag->vertices.task[tail + 1] == index;
        return tail + result;
    }
    while (tail < last) {
        const uint32_t in_place = spawned_in_place(dag, tail + 1, task->end);
        if (in_place == DAG_NONE && ends_tail(dag, tail + 1)) break;
        tail = in_place == DAG_NONE ? tail + 1 : dag->tasks[in_place].end;
    }
    return tail;
}

// A worker's first task is one that it was made for, unless it stood by before that task was spawned.
static bool is_first_of_new(const struct dag *dag, const struct dag_task *task) {
    uint32_t first = dag->threads[task->thread].first;
    return is_first_of_thread(dag, task) && dag->vertices.time_ns[task->spawn_begin] <= dag->vertices.time_ns[first];
}

// It was there when the actor's last job ended, or came so soon after that the worker found it.
static bool is_next_of_mailbox(const struct dag *dag, const struct dag_task *task) {
    if (!(task->flags & TASK_OF_ACTOR) || task->pickup != task->start) return false;
    uint32_t before = task->start;
    while (before > dag->threads[task->thread].first && dag->vertices.kind[before - 1] != VERTEX_END) before--;
    if (before == dag->threads[task->thread].first) return false;
    uint32_t last = dag->vertices.task[before - 1];
    const int64_t *time_ns = dag->vertices.time_ns;
    if (time_ns[task->spawn_begin] > time_ns[before - 1] + SKEW_TOLERANCE_NS) return false;
    return last != DAG_NONE && dag->actor_of[last] == dag->actor_of[task - dag->tasks];
}

static enum dispatch find_dispatch(const struct dag *dag, const struct dag_task *task) {
    bool dispatched = task->start != DAG_NONE && task->spawn_begin != DAG_NONE;
    bool in_pool = task->flags & TASK_OF_ACTOR && task->pool && task->enclosing == DAG_NONE;
    if (!dispatched || task->flags & (TASK_MAIN | TASK_NESTED)) return DISPATCH_NONE;
    if (task->flags & TASK_HANDED_OVER && !in_pool) return DISPATCH_NONE;
    if (is_next_of_mailbox(dag, task)) return DISPATCH_NEXT;
    if (move_is_in_place(task)) return DISPATCH_CALLER;
    if (task->enclosing != DAG_NONE) return DISPATCH_HELPED;
    if (task->flags & TASK_THREAD_RUN) return DISPATCH_THREAD;
    if (dag_due_ns(dag, task) != INT64_MIN)
        return dag_due_ns(dag, task) > dag_free_ns(dag, task) ? DISPATCH_WOKEN : DISPATCH_QUEUED;
    if (is_made_for_tasks(dag, task) && is_first_of_new(dag, task)) return task->pool ? DISPATCH_NEW : DISPATCH_THREAD;
    return dag->vertices.time_ns[task->spawn_begin] > dag_free_ns(dag, task) ? DISPATCH_WOKEN : DISPATCH_QUEUED;
}

// Tasks are in order of time, their vertices by thread: what is looked at of them is fetched ahead.
FETCHES_AHEAD prefetch_task(const struct dag *dag, uint32_t t) {
    enum { AHEAD = 16 };
    const struct dag_task *task = dag->task_count - t > AHEAD ? &dag->tasks[t + AHEAD] : NULL;
    if (!task || task->start == DAG_NONE) return;
    __builtin_prefetch(&dag->vertices.kind[task->start]);
    __builtin_prefetch(&dag->vertices.time_ns[task->pickup]);
    if (task->spawn_begin != DAG_NONE) __builtin_prefetch(&dag->vertices.time_ns[task->spawn_begin]);
}

void find_dispatches(struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        prefetch_task(dag, t);
        struct dag_task *task = &dag->tasks[t];
        task->dispatch = (uint8_t)find_dispatch(dag, task);
        task->tail = task->start == DAG_NONE ? DAG_NONE : find_tail(dag, t);
    }
}
