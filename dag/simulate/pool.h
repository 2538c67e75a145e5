// SPDX-License-Identifier: GPL-3.0-or-later
// Pools of threads: which worker takes up which job, by java.util.concurrent.ThreadPoolExecutor's rules.
#ifndef REHYPE_DAG_POOL_H
#define REHYPE_DAG_POOL_H

#include "dag/simulate/state.h"

void pools_begin_run(struct simulation *sim);
void pools_end_run(struct simulation *sim); // logs who idles to the end
// A job is spawned now by a process; says how it is dispatched, DISPATCH_NONE if it is rejected.
enum dispatch pool_offer(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns);
void pool_take_back(struct simulation *sim, uint32_t worker);              // it is free: next task, idle, or gone
void pool_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns); // it was called
void pool_shut_down(struct simulation *sim, uint32_t pool, uint32_t vertex, int64_t now_ns);

#endif
