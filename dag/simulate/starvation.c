// SPDX-License-Identifier: GPL-3.0-or-later
// All workers of a pool wait for a resource, all of which they hold themselves: until one of them gives up, nothing can
// go on in that pool, whatever its size is.
#include "dag/simulate/starvation.h"

static int64_t units_held(const struct simulation *sim, const struct process *process, uint32_t resource) {
    int64_t units = 0;
    for (uint32_t h = process->holds; h != DAG_NONE; h = sim->holds[h].next) {
        const struct dag_ask *ask = &sim->dag->asks[sim->holds[h].ask];
        if (ask->resource == resource) units += ask->units;
    }
    return units;
}

void starvation_look(struct simulation *sim, uint32_t index) {
    const struct process *asking = &sim->processes[index];
    const struct pool_state *pool = &sim->pools[asking->worker.pool];
    if (!asking->worker.pool || pool->asking < pool->alive || (int64_t)pool->alive < pool->maximum) return;
    uint32_t resource = sim->dag->asks[asking->wait.ask].resource;
    if (!sim->dag->resources[resource].goes_round) return; // its holders are not those that it waits for
    int64_t held = 0;
    for (uint32_t i = pool->workers; i != DAG_NONE; i = sim->processes[i].worker.next_of_pool) {
        const struct process *process = &sim->processes[i];
        if (process->life == LIFE_OVER) continue;
        if (sim->dag->asks[process->wait.ask].resource != resource) return;
        held += units_held(sim, process, resource);
    }
    if (held == 0 || sim->resources[resource].available > 0) return;
    struct starvation *starvation = &sim->starvation;
    if (starvation->times++ == 0)
        *starvation = (struct starvation){pool_model(sim, asking->worker.pool), resource, 1, asking->wait.ask};
}
