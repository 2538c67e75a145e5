// SPDX-License-Identifier: GPL-3.0-or-later
// Workers: made, woken, sent, and what they go through between tasks until they retire.
#ifndef REHYPE_DAG_WORKER_H
#define REHYPE_DAG_WORKER_H

#include "dag/simulate/state.h"

// How long a worker that is made needs to where it looks for a task: one that was recorded, as long as then after what
// made it, and after the job's spawn if it was made in that and is now; any other the pool's mean.
int64_t worker_time_to_begin(const struct simulation *sim, uint32_t worker, uint32_t job);
// Of a pool, made now by what happens at a vertex, alive and without a task; DAG_NONE: no memory.
uint32_t worker_make(struct simulation *sim, uint32_t pool, uint32_t maker, int64_t now_ns);
// The same, as the recorded one in that slot, if there is one, and in that slot of the pool.
uint32_t worker_make_at(struct simulation *sim, uint32_t pool, uint32_t slot, uint32_t maker, int64_t now_ns);
// Wakes the worker that comes first, DAG_NONE if nobody idles; it is free since its now_ns.
uint32_t worker_wake(struct simulation *sim, uint32_t pool, int64_t now_ns);
void worker_rouse(struct simulation *sim, uint32_t worker, int64_t now_ns); // wakes this one, which idles
void worker_begin_task(struct simulation *sim, uint32_t worker, uint32_t task, enum dispatch dispatch, int64_t from_ns,
                       int64_t start_ns);
void worker_pass_birth(struct simulation *sim, uint32_t worker, uint32_t task, int64_t from_ns, int64_t start_ns);
// The same from then on, after what such pick-ups cost.
void worker_begin_at_once(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch,
                          int64_t from_ns);
// A worker is on its way to where it looks for a task.
void worker_send(struct simulation *sim, uint32_t worker, enum dispatch dispatch, int64_t woken_ns, int64_t takes_ns);
// Whether a free thread of a stage leaves: what it had last told the recorded one to, and there are others for what is
// left.
bool worker_is_told_to_leave(const struct simulation *sim, uint32_t worker);
void worker_leave(struct simulation *sim, uint32_t worker);     // it is free, and ends
void worker_go_idle(struct simulation *sim, uint32_t worker);   // or leave, after a shutdown
void worker_idled_out(struct simulation *sim, uint32_t worker); // it was idle for as long as it may be
// The worker began to idle once it was free, after as long as that took when IDLE (if it has a recorded one) was
// recorded, at the latest at `latest_ns`. Returns when.
int64_t worker_pass_idle(struct simulation *sim, uint32_t worker, uint32_t idle, uint32_t task, int64_t latest_ns);
void pool_retire_idle(struct simulation *sim, uint32_t pool); // all of them, after a shutdown
// Whoever awaits the end of a pool that was shut down and has no worker any more can go on.
void pool_end(struct simulation *sim, uint32_t pool);

#endif
