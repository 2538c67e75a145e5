// SPDX-License-Identifier: GPL-3.0-or-later
// What the recording tells of pools' workers: who they were, in which order they were made, and how they left.
#ifndef REHYPE_DAG_RECORDED_WORKERS_H
#define REHYPE_DAG_RECORDED_WORKERS_H

#include "dag/simulate/state.h"

bool recorded_workers_new(struct simulation *sim); // sim->pools and what stands beside it. false: no memory
void recorded_workers_free(struct simulation *sim);

static inline uint32_t last_vertex(const struct dag *dag, uint32_t thread) {
    return dag->threads[thread].first + dag->threads[thread].count - 1;
}

// The RETIRE that ends a thread's life as a worker, or DAG_NONE.
uint32_t find_retirement(const struct dag *dag, uint32_t thread);
// The last vertex at which a worker had not begun to leave: it may have to wait for the pool's lock first.
uint32_t last_before_leaving(const struct dag *dag, uint32_t retirement);
// When a worker that retired was free to, and had its cause; *slept says whether that woke it.
int64_t recorded_leaving_ns(const struct dag *dag, uint32_t retirement, bool *slept);

// How long after its last task it retired.
int64_t recorded_retiring_ns(const struct dag *dag, uint32_t retirement);

// Where the thread first shows that it works, DAG_NONE: nowhere.
uint32_t first_work(const struct dag *dag, const struct dag_thread *thread);
// The task that the worker had, or took up next, when recording began.
uint32_t first_initial_job(const struct dag *dag, const struct dag_thread *thread);
// Whether that worker was there, and so was not made for a task.
bool is_initial_worker(const struct dag *dag, const struct dag_thread *thread);

#endif
