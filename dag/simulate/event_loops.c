// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/event_loops.h"

#include "dag/idmap.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/queue.h"
#include "dag/simulate/worker.h"

#include <stdlib.h>

// ---- Lanes: what keeps together. Modulo the number of recorded loops a lane is the loop that had it -----------------

static bool is_of_loops(const struct dag *dag, uint32_t pool) {
    return pool < dag->pool_count && dag->pools[pool].discipline == DISCIPLINE_LOOPS;
}

// Which of its pool's workers a thread is.
static uint32_t slot_of(const struct simulation *sim, const struct dag_task *task) {
    const struct pool_state *pool = &sim->pools[task->pool];
    uint32_t slot = 0;
    while (slot < pool->recorded_count && pool->recorded[slot] != task->thread) slot++;
    return slot < pool->recorded_count ? slot : 0;
}

struct binding {
    struct idmap lane_of; // a connection each
    uint32_t *bound;      // by thread: connections, or tasks that are dealt, so far
};

static uint32_t next_lane(struct simulation *sim, struct binding *binding, const struct dag_task *task) {
    return slot_of(sim, task) + binding->bound[task->thread]++ * sim->pools[task->pool].recorded_count;
}

static bool bind(struct simulation *sim, struct binding *binding, const struct dag_request *request) {
    const struct dag_task *task = &sim->dag->tasks[request->task];
    uint32_t lane = request->connection ? idmap_get(&binding->lane_of, request->connection) : IDMAP_NONE;
    if (lane == IDMAP_NONE) {
        lane = next_lane(sim, binding, task);
        if (request->connection && !idmap_add(&binding->lane_of, request->connection, lane)) return false;
    }
    sim->recorded.lanes[request->task] = lane;
    return true;
}

static bool bind_all(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    struct binding binding = {.bound = calloc((size_t)dag->thread_count + 1, sizeof *binding.bound)};
    bool ok = binding.bound;
    for (uint32_t t = 0; ok && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        sim->recorded.lanes[t] = 0;
        if (!is_of_loops(dag, task->pool) || task->thread == DAG_NONE) continue;
        const bool is_dealt = dag->pools[task->pool].is_dealt;
        sim->recorded.lanes[t] = is_dealt ? next_lane(sim, &binding, task) : slot_of(sim, task);
    }
    for (uint32_t i = 0; ok && i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        const struct dag_task *task = request->task == DAG_NONE ? NULL : &dag->tasks[request->task];
        if (task && task->thread != DAG_NONE && is_of_loops(dag, task->pool)) ok = bind(sim, &binding, request);
    }
    idmap_destroy(&binding.lane_of);
    free(binding.bound);
    return ok;
}

bool event_loops_new(struct simulation *sim) {
    bool any = false;
    for (uint32_t p = 1; p < sim->dag->pool_count; p++) any |= is_of_loops(sim->dag, p);
    if (!any) return true;
    sim->recorded.lanes = malloc(((size_t)sim->dag->task_count + 1) * sizeof *sim->recorded.lanes);
    return sim->recorded.lanes && bind_all(sim);
}

void event_loops_free(struct simulation *sim) {
    free(sim->recorded.lanes);
}

// ---- The last task of each loop; those that are dealt to are told to shut down --------------------------------------

static bool is_last(const struct dag *dag, const struct dag_task *task) {
    const struct dag_thread *thread = task->thread == DAG_NONE ? NULL : &dag->threads[task->thread];
    uint32_t v = task->tail + 1;
    if (!thread || task->enclosing != DAG_NONE) return false;
    while (v < thread->first + thread->count && dag->vertices.kind[v] == VERTEX_IDLE) v++;
    return v < thread->first + thread->count && dag->vertices.kind[v] == VERTEX_RETIRE;
}

void event_loops_begin_run(struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    struct pool_state *pool = &sim->pools[index];
    pool->lasts_left = 0;
    const bool ends_by_itself = is_of_loops(dag, index) && !dag->pools[index].is_dealt;
    for (uint32_t t = 0; ends_by_itself && t < dag->task_count; t++)
        pool->lasts_left +=
            dag->tasks[t].pool == index && dag->tasks[t].start != DAG_NONE && is_last(dag, &dag->tasks[t]);
}

bool event_loops_end(struct simulation *sim, uint32_t worker) {
    const struct process_worker *of = &sim->processes[worker].worker;
    struct pool_state *pool = &sim->pools[of->pool];
    if (of->task == DAG_NONE || job_is_part(sim, of->task) || pool->lasts_left == 0) return false;
    return is_last(sim->dag, &sim->dag->tasks[of->task]) && --pool->lasts_left == 0;
}

// ---- Rules ---------------------------------------------------------------------------------------------------------

static uint32_t worker_at(const struct simulation *sim, const struct pool_state *pool, uint32_t slot) {
    uint32_t worker = pool->workers;
    while (worker != DAG_NONE && sim->processes[worker].worker.slot != slot)
        worker = sim->processes[worker].worker.next_of_pool;
    return worker;
}

enum dispatch event_loops_offer(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    const uint32_t task = job_task(sim, job), index = job_pool(sim, job);
    const struct pool_state *pool = &sim->pools[index];
    const uint32_t slot = sim->recorded.lanes[task] % (uint32_t)(pool->core > 0 ? pool->core : 1);
    uint32_t worker = worker_at(sim, pool, slot);
    (void)process;
    if (worker == DAG_NONE) {
        worker = worker_make_at(sim, index, slot, sim->dag->tasks[task].spawn_begin, now_ns);
        if (worker == DAG_NONE) return DISPATCH_NONE;
        worker_begin_at_once(sim, worker, job, DISPATCH_NEW, now_ns);
        return DISPATCH_NEW;
    }
    if (sim->processes[worker].life == LIFE_OVER) return DISPATCH_NONE;
    if (sim->processes[worker].life != LIFE_IDLE) {
        queue_put(sim, job, worker);
        return DISPATCH_QUEUED;
    }
    worker_rouse(sim, worker, now_ns);
    const enum dispatch dispatch = hand_over_to_woken(sim, job);
    worker_begin_at_once(sim, worker, job, dispatch, max_ns(now_ns, sim->processes[worker].now_ns));
    return dispatch;
}

// What was there when recording began, any loop takes.
uint32_t event_loops_take(struct simulation *sim, uint32_t worker) {
    const struct process *process = &sim->processes[worker];
    const struct pool_state *pool = &sim->pools[process->worker.pool];
    const uint32_t own = process->steal.own.oldest, job = own != DAG_NONE ? own : pool->shared.oldest;
    return job == DAG_NONE ? DAG_NONE : queue_take(sim, job);
}
