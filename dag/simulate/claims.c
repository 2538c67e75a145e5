// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/claims.h"

#include "dag/simulate/frame.h"

#include <stdlib.h>

bool claims_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    if (dag->claim_count == 0) return true;
    sim->units_taken = malloc(dag->batch_count * sizeof *sim->units_taken);
    sim->claims_left = malloc(dag->claim_count * sizeof *sim->claims_left);
    sim->recorded.claimed = calloc(dag->vertex_count / 8 + 1, 1);
    if (!sim->units_taken || !sim->claims_left || !sim->recorded.claimed) return false;
    for (uint32_t i = 0; i < dag->claim_count; i++) {
        const uint32_t v = dag->claims[i].vertex;
        sim->recorded.claimed[v / 8] |= (uint8_t)(1u << v % 8);
    }
    return true;
}

void claims_free(struct simulation *sim) {
    free(sim->units_taken);
    free(sim->claims_left);
    free(sim->recorded.claimed);
}

void claims_begin_run(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t i = 0; i < dag->batch_count; i++) sim->units_taken[i] = 0;
    for (uint32_t i = 0; i < dag->claim_count; i++) {
        const struct dag_claim *claim = &dag->claims[i];
        sim->claims_left[i] = pool_governs(sim, dag->batches[claim->batch].pool) ? claim->most : 0;
    }
}

bool claim_is_open(const struct simulation *sim, uint32_t vertex) {
    return sim->claims_left[dag_claim_from(sim->dag, vertex)] > 0;
}

static void leave(struct simulation *sim, struct frame *frame, const struct dag_claim *claim) {
    if (claim->after == claim->vertex) return;
    frame->next = claim->after;
    frame->since_ns = sim->dag->vertices.time_ns[claim->after - 1];
}

void claim_step(struct simulation *sim, uint32_t process) {
    const struct dag *dag = sim->dag;
    struct frame *frame = &sim->frames[sim->processes[process].frame];
    const uint32_t index = dag_claim_from(dag, frame->next);
    const struct dag_claim *claim = &dag->claims[index];
    const struct dag_batch *batch = &dag->batches[claim->batch];
    if (sim->units_taken[claim->batch] == batch->unit_count) {
        sim->claims_left[index] = 0;
        leave(sim, frame, claim);
        return;
    }
    if (--sim->claims_left[index] == 0) leave(sim, frame, claim); // once it has run that one
    const struct dag_unit *unit = &dag->units[batch->first_unit + sim->units_taken[claim->batch]++];
    frame_push(sim, process,
               (struct frame){.task = DAG_NONE,
                              .next = unit->first,
                              .end = unit->last + 1,
                              .link = unit->first,
                              .since_ns = dag->vertices.time_ns[unit->first - 1],
                              .kind = FRAME_UNIT});
}
