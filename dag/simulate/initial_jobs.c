// SPDX-License-Identifier: GPL-3.0-or-later
// What pools had when recording began, where the program ran by then: workers, tasks under way, and tasks in the queue.
//
// A worker that was there takes up as its first what it took up first, at that very time, as long as its pool may have
// as many in this run. All other tasks that were there lie in the queue from the beginning, in the order in which they
// were started: what is recorded tells no other.
#include "dag/simulate/initial_jobs.h"

#include "dag/order.h"
#include "dag/simulate/delays.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/queue.h"
#include "dag/simulate/recorded_workers.h"
#include "dag/simulate/worker.h"

#include <stdlib.h>

bool initial_jobs_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) count += dag_task_stands(&dag->tasks[t]);
    struct order_key *order = malloc(((size_t)count + 1) * sizeof *order);
    sim->recorded.initial_jobs = malloc(((size_t)count + 1) * sizeof *sim->recorded.initial_jobs);
    for (uint32_t t = 0; order && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!dag_task_stands(task)) continue;
        order[sim->recorded.initial_job_count++] =
            (struct order_key){dag->vertices.time_ns[task->start], task->start, t};
    }
    bool ok = order && sim->recorded.initial_jobs && order_sort(order, sim->recorded.initial_job_count);
    for (uint32_t i = 0; ok && i < sim->recorded.initial_job_count; i++) sim->recorded.initial_jobs[i] = order[i].item;
    free(order);
    return ok;
}

void initial_jobs_free(struct simulation *sim) {
    free(sim->recorded.initial_jobs);
}

// What is left of what it did before recording began goes with the worker.
static void pass_before(struct simulation *sim, uint32_t worker, uint32_t until) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    for (uint32_t v = sim->dag->threads[worker].first; v < until; v++) {
        process_pass(sim, worker, v, time_ns[v]);
        sim->processes[worker].now_ns = time_ns[v];
    }
}

static void begin_worker(struct simulation *sim, uint32_t pool, uint32_t thread) {
    const struct dag *dag = sim->dag;
    uint32_t task = first_initial_job(dag, &dag->threads[thread]);
    uint32_t worker = worker_make(sim, pool, DAG_NONE, dag->vertices.time_ns[dag->threads[thread].first]);
    if (task == DAG_NONE) {
        pass_before(sim, worker, first_work(dag, &dag->threads[thread]));
        sim->processes[worker].life = LIFE_FREE;
        return;
    }
    pass_before(sim, worker, dag->tasks[task].pickup);
    int64_t start_ns = dag->vertices.time_ns[dag->tasks[task].start];
    worker_begin_task(sim, worker, task, DISPATCH_NONE, sim->processes[worker].now_ns, start_ns);
}

static void begin_workers(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    while (pool->made < pool->recorded_count && (int64_t)pool->alive < pool->maximum) {
        uint32_t thread = pool->recorded[pool->made];
        if (!is_initial_worker(sim->dag, &sim->dag->threads[thread])) return;
        begin_worker(sim, index, thread);
    }
}

// Whether its worker has it already.
static bool is_begun(const struct simulation *sim, uint32_t task) {
    const struct process *process = &sim->processes[sim->dag->tasks[task].thread];
    return process->life == LIFE_RUNS && process->worker.task == task;
}

// A larger pool would have had more workers, and they would have emptied the queue.
static void serve_queue(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    for (uint32_t i = 0, made = pool->made; i < made; i++) {
        if (sim->processes[pool->recorded[i]].life == LIFE_FREE) pool_take_back(sim, pool->recorded[i]);
    }
    if (pool->rules->is_stage) return;
    bool as_recorded = index < sim->dag->pool_count && sim->edit->pool_threads[index] == 0;
    int64_t wanted = as_recorded ? 1 : pool->rules->grows_first ? pool->maximum : pool->core;
    while (pool->queue_length > 0 && (int64_t)pool->alive < (wanted > 0 ? wanted : 1)) {
        uint32_t worker = worker_make(sim, index, DAG_NONE, sim->dag->first_ns);
        if (worker == DAG_NONE) return;
        pool_take_back(sim, worker);
    }
}

// What was not seen to be sent or handed over comes where its worker woke up for it, or came to it.
static void put_off(struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    const uint32_t before = task->start > sim->dag->threads[task->thread].first ? task->start - 1 : task->start;
    if (!(task->flags & TASK_OF_ACTOR)) sim->pools[task->pool].delayed++; // no pool ends before
    event_put(&sim->events, NOTICE_DUE, index, sim->dag->vertices.time_ns[before]);
}

// What a full queue rejects that it took then.
static bool is_rejected(const struct simulation *sim, uint32_t job) {
    const struct dag_task *task = &sim->dag->tasks[job];
    const enum discipline by = sim->pools[task->pool].discipline;
    return sim->dispatch[job] == DISPATCH_NONE && !(task->flags & TASK_OF_ACTOR) &&
           (by == DISCIPLINE_FIFO || by == DISCIPLINE_LIFO) && sim->queue.holder[job] == QUEUE_NOWHERE;
}

void initial_jobs_come(struct simulation *sim, uint32_t job, int64_t now_ns) {
    const uint32_t index = sim->dag->tasks[job].pool;
    const bool delayed = delays_job(sim, DAG_NONE, job, now_ns); // it is due by now, since it was taken then
    if (delayed)
        delays_run(sim, job, now_ns);
    else
        sim->dispatch[job] = (uint8_t)pool_offer(sim, DAG_NONE, job, now_ns);
    if (!delayed && is_rejected(sim, job)) {
        sim->dispatch[job] = DISPATCH_QUEUED;
        queue_put(sim, job, QUEUE_SHARED);
    }
    sim->pools[index].delayed--;
    delays_leave_when_drained(sim, index);
}

void initial_jobs_begin_run(struct simulation *sim) {
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (pool_governs(sim, p)) begin_workers(sim, p);
    }
    for (uint32_t i = 0; i < sim->recorded.initial_job_count; i++) {
        uint32_t task = sim->recorded.initial_jobs[i];
        if (sim->placement[task] != PLACEMENT_DISPATCHED || is_begun(sim, task)) continue;
        const struct dag_task *of = &sim->dag->tasks[task];
        if (dag_comes_unsent(sim->dag->trace, of) || dag_lacks_spawn(sim->dag->trace, of))
            put_off(sim, task);
        else
            queue_put(sim, task, QUEUE_SHARED);
    }
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (pool_governs(sim, p)) serve_queue(sim, p);
    }
}
