// SPDX-License-Identifier: GPL-3.0-or-later
// Stages of pipelines: queues from which threads of the program's own take. A stage has its threads from where the
// program starts them, none is made for a task, and they leave when nothing more is to come: a thread that is awaited
// ends so, whichever thread got the last element.
#ifndef REHYPE_DAG_PIPELINE_H
#define REHYPE_DAG_PIPELINE_H

#include "dag/simulate/state.h"

// The thread of a stage that a vertex starts, DAG_NONE.
static inline uint32_t pipeline_thread_begun_by(const struct simulation *sim, uint32_t vertex) {
    return sim->recorded.begun_by ? sim->recorded.begun_by[vertex] : DAG_NONE;
}

// Whether a task is put into a stage that the run dispatches.
static inline bool pipeline_has(const struct simulation *sim, uint32_t task) {
    const uint32_t pool = sim->dag->tasks[task].pool;
    return sim->recorded.begun_by && pool_governs(sim, pool) && pool < sim->dag->pool_count &&
           sim->dag->pools[pool].is_stage;
}

void pipelines_begin_run(struct simulation *sim); // threads that nothing recorded starts

// At a vertex that starts a thread of a stage. As many come as the stage has in this run: what exceeds the recorded
// ones, with the last of these.
void pipeline_begin_thread(struct simulation *sim, uint32_t vertex, int64_t now_ns);

// At the spawn of a task of a stage, wherever that runs. The last one ends the stage.
void pipeline_put(struct simulation *sim, uint32_t task, uint32_t vertex, int64_t now_ns);

// Where nothing goes on any more: ends the stages whose threads still wait, since what was put last when recorded does
// not come in this run. false: there is none.
bool pipelines_end(struct simulation *sim);

#endif
