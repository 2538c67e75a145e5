// SPDX-License-Identifier: GPL-3.0-or-later
// Batches (struct dag_batch): which process takes which unit. Where the run dispatches the helpers' pool, a process
// that comes to a claim takes the unit that was taken next when recorded, and runs it where it is: a task until none is
// left, a helper as many as one was seen to at the most. All others take what they did.
#ifndef REHYPE_DAG_CLAIMS_H
#define REHYPE_DAG_CLAIMS_H

#include "dag/simulate/state.h"

bool claims_new(struct simulation *sim); // false: no memory
void claims_free(struct simulation *sim);
void claims_begin_run(struct simulation *sim); // once it is known which pools govern
// A process has its turn before a vertex where units are taken: it takes one, or goes on behind those that it had.
void claim_step(struct simulation *sim, uint32_t process);
bool claim_is_open(const struct simulation *sim, uint32_t vertex);

// Whether the frame's next step is a claim, which waits for its turn.
static inline bool claim_is_due(const struct simulation *sim, const struct frame *frame) {
    const uint32_t v = frame->next;
    if (!sim->recorded.claimed || !(sim->recorded.claimed[v / 8] & 1u << v % 8)) return false;
    const bool in_it = frame->kind == FRAME_UNIT && frame->link == v; // its taker took it there
    return !in_it && frame->kind != FRAME_DONOR && claim_is_open(sim, v);
}

#endif
