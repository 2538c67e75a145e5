// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/ending.h"

#include "dag/simulate/passage.h"

static bool awaits_an_end(const struct simulation *sim, const struct process *process) {
    const uint8_t *kind = sim->dag->vertices.kind;
    return process->life == LIFE_RUNS && process->awaits != DAG_NONE && process->vertex != DAG_NONE &&
           process->vertex < STEP_LEAST && kind[process->vertex] == VERTEX_BARRIER &&
           kind[process->awaits] == VERTEX_END;
}

bool ending_comes(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->dag->thread_count; i++) {
        if (!awaits_an_end(sim, &sim->processes[i])) continue;
        vertex_vanish(sim, sim->processes[i].awaits);
        return true;
    }
    return false;
}
