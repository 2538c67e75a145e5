// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/pipeline.h"

#include "dag/ns.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/recorded_workers.h"
#include "dag/simulate/worker.h"

// The thread is there as long after its start as it was; one that was not recorded as long as the first one.
static void begin_thread(struct simulation *sim, uint32_t index, uint32_t vertex, int64_t now_ns) {
    const struct dag *dag = sim->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    const uint32_t worker = worker_make(sim, index, vertex, now_ns);
    if (worker == DAG_NONE) return;
    const uint32_t model = sim->processes[worker].worker.model;
    const uint32_t first = dag->threads[model].first, maker = dag->vertices.cause[first];
    const int64_t begins_ns =
        maker == DAG_NONE || vertex == DAG_NONE ? now_ns : now_ns + time_ns[first] - time_ns[maker];
    worker_send(sim, worker, DISPATCH_NEW, begins_ns, 0);
}

static void begin_next(struct simulation *sim, uint32_t index, uint32_t vertex, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    pool->to_begin--;
    const int64_t wanted = pool->to_begin == 0 ? pool->maximum : min_ns((int64_t)pool->made + 1, pool->maximum);
    while ((int64_t)pool->made < wanted && !sim->no_memory) begin_thread(sim, index, vertex, now_ns);
    if (pool->to_begin == 0 && pool->alive == 0 && pool->shutdown != DAG_NONE) pool_end(sim, index);
}

void pipelines_begin_run(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t p = 1; sim->recorded.begun_by && p < dag->pool_count; p++) {
        const struct pool_state *pool = &sim->pools[p];
        if (!pool_governs(sim, p) || !dag->pools[p].is_stage) continue;
        for (uint32_t i = 0; i < pool->recorded_count; i++) {
            const uint32_t first = dag->threads[pool->recorded[i]].first;
            bool begins =
                dag->vertices.cause[first] == DAG_NONE && !is_initial_worker(dag, &dag->threads[pool->recorded[i]]);
            if (begins) begin_next(sim, p, DAG_NONE, dag->vertices.time_ns[first]);
        }
    }
}

void pipeline_begin_thread(struct simulation *sim, uint32_t vertex, int64_t now_ns) {
    const uint32_t pool = sim->dag->threads[pipeline_thread_begun_by(sim, vertex)].pool;
    if (pool_governs(sim, pool)) begin_next(sim, pool, vertex, now_ns);
}

void pipeline_put(struct simulation *sim, uint32_t task, uint32_t vertex, int64_t now_ns) {
    const uint32_t index = sim->dag->tasks[task].pool;
    struct pool_state *pool = &sim->pools[index];
    if (pool->puts_left > 0) pool->puts_left--;
    if (pool->puts_left == 0 && pool->ends_with_puts) pool_shut_down(sim, index, vertex, now_ns);
}

// What told the stage's threads to leave, or else what was there before them.
static uint32_t recorded_end(const struct simulation *sim, const struct pool_state *pool) {
    const uint32_t cause = sim->dag->vertices.cause[pool->retirement];
    return cause == DAG_NONE ? sim->dag->threads[pool->recorded[0]].first : cause;
}

bool pipelines_end(struct simulation *sim) {
    bool any = false;
    for (uint32_t p = 1; sim->recorded.begun_by && p < sim->dag->pool_count; p++) {
        const struct pool_state *pool = &sim->pools[p];
        bool ends = pool_governs(sim, p) && sim->dag->pools[p].is_stage && pool->shutdown == DAG_NONE &&
                    pool->retirement != DAG_NONE && pool->idle > 0;
        if (ends) pool_shut_down(sim, p, recorded_end(sim, pool), sim->clock_ns);
        any |= ends;
    }
    return any;
}
