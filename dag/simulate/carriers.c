// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads, where threads share the cores: a virtual thread computes on a carrier, and keeps that
// until it sleeps, since virtual threads do not share time (JEP 444). There are as many as the scheduler's parallelism,
// or on other cores as many as these; whatever is ready when all are taken waits in the order in which it became so.
#include "dag/simulate/carriers.h"

#include <math.h>
#include <string.h>

static uint32_t parallelism(const struct dag *dag) {
    for (uint32_t p = 1; p < dag->trace->pool_count; p++) {
        const struct trace_pool *pool = &dag->trace->pools[p];
        if (pool->kind && strcmp(pool->kind, "java.lang.VirtualThread") == 0 && pool->core > 0)
            return (uint32_t)pool->core;
    }
    return dag->trace->header.cores;
}

void carriers_begin_run(struct simulation *sim, double cores) {
    uint32_t count = cores > 0 && cores < UINT32_MAX ? (uint32_t)ceil(cores) : parallelism(sim->dag);
    sim->carriers = (struct carriers){.idle = count ? count : UINT32_MAX, .first = DAG_NONE, .last = DAG_NONE};
}

bool carrier_take(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    struct carriers *carriers = &sim->carriers;
    bool wants = index < sim->dag->thread_count && sim->dag->threads[index].is_virtual && !process->carried;
    if (!wants) return true;
    process->carried = carriers->idle > 0;
    carriers->idle -= process->carried;
    if (process->carried) return true;
    process->carrier_next = DAG_NONE;
    *(carriers->last != DAG_NONE ? &sim->processes[carriers->last].carrier_next : &carriers->first) = index;
    carriers->last = index;
    return false;
}

void carrier_give_back(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct carriers *carriers = &sim->carriers;
    uint32_t next = carriers->first;
    sim->processes[index].carried = false;
    carriers->idle += next == DAG_NONE;
    if (next == DAG_NONE) return;
    struct process *process = &sim->processes[next];
    carriers->first = process->carrier_next;
    if (carriers->first == DAG_NONE) carriers->last = DAG_NONE;
    process->carried = true;
    process->edge.state = EDGE_COMPUTES;
    cores_join(&sim->cores, next, now_ns, process->edge.compute_ns, process->edge.residual);
}
