// SPDX-License-Identifier: GPL-3.0-or-later
// When workers slept in the recording, and how long those needed to come who were called.
//
// Who is called is settled before it is known who takes what. A spawn calls a worker that sleeps; while that wakes up,
// others may come free and take the task. So in a replay, too, a worker comes as late as one came then, and takes what
// is left: the n-th on its way, as the n-th that came after that spawn.
#include "dag/propagate/rules.h"
#include "dag/simulate/strand.h"

#include <stdlib.h>

static void add_shift(struct simulation *sim, uint32_t pool, uint32_t vertex, int idle, int running) {
    const struct dag *dag = sim->dag;
    uint32_t task = dag_task_of(&dag->vertices, vertex);
    uint32_t spawn = task == DAG_NONE ? DAG_NONE : dag->tasks[task].spawn_begin;
    sim->shifts[sim->shift_count++] =
        (struct worker_shift){.time_ns = dag->vertices.time_ns[vertex],
                              .pool = pool,
                              .idle = idle,
                              .running = running,
                              .comes = idle < 0 && running > 0,
                              .task = task,
                              .spawned_ns = spawn == DAG_NONE ? INT64_MIN : dag->vertices.time_ns[spawn]};
}

static bool shifts(const struct dag *dag, uint32_t vertex) {
    return 1u << dag->vertices.kind[vertex] & (1u << VERTEX_IDLE | 1u << VERTEX_BUSY | 1u << VERTEX_RETIRE);
}

static void add_shifts(struct simulation *sim, const struct dag_thread *thread) {
    const uint8_t *kind = sim->dag->vertices.kind;
    bool idle = false;
    add_shift(sim, thread->pool, thread->first, 0, 1);
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (!shifts(sim->dag, v)) continue;
        if (kind[v] == VERTEX_RETIRE)
            add_shift(sim, thread->pool, v, idle ? -1 : 0, idle ? 0 : -1);
        else if (idle != (kind[v] == VERTEX_IDLE))
            add_shift(sim, thread->pool, v, idle ? -1 : 1, idle ? 1 : -1);
        idle = kind[v] == VERTEX_IDLE;
    }
}

static int by_pool_and_time(const void *a, const void *b) {
    const struct worker_shift *x = a, *y = b;
    if (x->pool != y->pool) return x->pool < y->pool ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

// ---- pools with a queue

static bool has_queue(const struct dag *dag, uint32_t pool) {
    if (pool == 0 || pool >= dag->pool_count) return false;
    enum discipline discipline = dag->pools[pool].discipline;
    return discipline == DISCIPLINE_FIFO || discipline == DISCIPLINE_LIFO || discipline == DISCIPLINE_PRIORITY;
}

static bool was_queued(const struct dag *dag, const struct dag_task *task) {
    return has_queue(dag, task->pool) && (task->dispatch == DISPATCH_WOKEN || task->dispatch == DISPATCH_QUEUED);
}

// A worker sleeps until it takes a task for which it had to wake up.
static void add_sleep(struct simulation *sim, const struct dag_task *task) {
    add_shift(sim, task->pool, task->pickup, 1, 0);
    add_shift(sim, task->pool, task->start, -1, 1);
}

// And to the end, if nothing wakes it up any more.
static void add_last_sleep(struct simulation *sim, const struct dag_thread *thread) {
    uint32_t last = thread->first + thread->count - 1;
    const struct dag_vertices *vertices = &sim->dag->vertices;
    while (last > thread->first && vertices->kind[last] != VERTEX_IDLE && vertices->kind[last] != VERTEX_END) last--;
    if (vertices->kind[last] == VERTEX_IDLE) add_shift(sim, thread->pool, last, 1, 0);
}

// ---- all pools

static bool is_worker_of(const struct dag *dag, const struct dag_thread *thread, bool steals) {
    if (!thread->worker || thread->pool >= dag->pool_count) return false;
    return steals ? dag->pools[thread->pool].discipline == DISCIPLINE_STEALING : has_queue(dag, thread->pool);
}

static size_t most_shifts(const struct dag *dag) {
    size_t most = 1 + (size_t)dag->thread_count;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!is_worker_of(dag, thread, true)) continue;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) most += shifts(dag, v);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) most += dag->tasks[t].dispatch == DISPATCH_WOKEN ? 2 : 0;
    return most;
}

// Index of the first shift later than that.
static uint32_t first_after(const struct simulation *sim, uint32_t pool, int64_t time_ns) {
    const struct worker_shift key = {.time_ns = time_ns, .pool = pool};
    uint32_t low = 0, high = sim->shift_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_pool_and_time(&sim->shifts[middle], &key) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_shifts_after(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t t = 0; sim->shift_count && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool == 0 || task->spawn_begin == DAG_NONE) continue;
        sim->shift_after[t] = first_after(sim, task->pool, dag->vertices.time_ns[task->spawn_begin]);
    }
}

bool shifts_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->shifts = malloc(most_shifts(dag) * sizeof *sim->shifts);
    sim->shift_after = calloc((size_t)dag->task_count + 1, sizeof *sim->shift_after);
    if (!sim->shifts || !sim->shift_after) return false;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (is_worker_of(dag, &dag->threads[i], true)) add_shifts(sim, &dag->threads[i]);
        if (is_worker_of(dag, &dag->threads[i], false)) add_last_sleep(sim, &dag->threads[i]);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (has_queue(dag, task->pool) && task->dispatch == DISPATCH_WOKEN) add_sleep(sim, task);
    }
    if (sim->shift_count) qsort(sim->shifts, sim->shift_count, sizeof *sim->shifts, by_pool_and_time);
    for (uint32_t i = 1; i < sim->shift_count; i++) {
        if (sim->shifts[i].pool != sim->shifts[i - 1].pool) continue;
        sim->shifts[i].idle += sim->shifts[i - 1].idle;
        sim->shifts[i].running += sim->shifts[i - 1].running;
    }
    find_shifts_after(sim);
    return true;
}

void shifts_free(struct simulation *sim) {
    free(sim->shifts);
    free(sim->shift_after);
}

// How long after a spawn that found a worker asleep the next one woke up in the recording; -1 where nobody had to.
int64_t shifts_waking_ns(const struct simulation *sim, uint32_t job) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    int64_t spawn_ns = sim->dag->vertices.time_ns[task->spawn_begin];
    uint32_t low = sim->shift_after[job_task(sim, job)];
    if (low == 0 || sim->shifts[low - 1].pool != task->pool) return -1;
    const struct worker_shift *then = &sim->shifts[low - 1];
    if (then->idle <= 0 || then->running >= sim->dag->pools[task->pool].core) return -1;
    for (uint32_t i = low; i < sim->shift_count && sim->shifts[i].pool == task->pool; i++) {
        if (sim->shifts[i].comes) return sim->shifts[i].time_ns - spawn_ns;
    }
    return -1;
}

// How many of a pool's workers slept then.
static int32_t asleep_before(const struct simulation *sim, uint32_t pool, uint32_t shift) {
    return shift > 0 && sim->shifts[shift - 1].pool == pool ? sim->shifts[shift - 1].idle : 0;
}

// What of a pick-up was spent ready, without a core: that arises anew where cores are shared.
static int64_t kept_ns(const struct simulation *sim, uint32_t index) {
    if (sim->model != MODEL_CPU) return 0;
    const struct dag_task *task = &sim->dag->tasks[index];
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t since_ns = dag_pickup_from_ns(sim->dag, task);
    return time_ns[task->start] - since_ns - sim->costs->pickup_ns[index];
}

int64_t shifts_coming_ns(const struct simulation *sim, uint32_t job, uint32_t coming, uint32_t *took) {
    uint32_t index = job_task(sim, job);
    const struct dag_task *task = &sim->dag->tasks[index];
    *took = DAG_NONE;
    if (!was_queued(sim->dag, task)) return mean_pickup(sim, job, DISPATCH_WOKEN);
    uint32_t first = sim->shift_after[index];
    if (asleep_before(sim, task->pool, first) <= (int32_t)coming) return mean_pickup(sim, job, DISPATCH_WOKEN);
    int64_t spawn_ns = sim->dag->vertices.time_ns[task->spawn_begin];
    int64_t taken_ns = sim->dag->vertices.time_ns[task->start];
    for (uint32_t i = first; i < sim->shift_count && sim->shifts[i].pool == task->pool; i++) {
        const struct worker_shift *shift = &sim->shifts[i];
        if (!shift->comes) continue;
        int64_t came_ns = shift->time_ns - kept_ns(sim, shift->task);
        if (came_ns < spawn_ns || coming-- > 0) continue; // it had come before, but without a core
        if (shift->spawned_ns > taken_ns) break;
        *took = shift->task;
        return came_ns - spawn_ns;
    }
    return taken_ns - spawn_ns +
           mean_pickup(sim, job, DISPATCH_WOKEN); // nobody came for it, or for what came while it lay there
}
