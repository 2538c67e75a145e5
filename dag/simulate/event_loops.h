// SPDX-License-Identifier: GPL-3.0-or-later
// Pools of event loops: each worker has a queue of its own, and what comes by one connection is always the same one's.
// A connection is bound to a loop when it is accepted, to each loop in turns: of another number of loops, too. Where
// tasks are dealt to executors of one thread, each task is bound so.
#ifndef REHYPE_DAG_EVENT_LOOPS_H
#define REHYPE_DAG_EVENT_LOOPS_H

#include "dag/simulate/state.h"

bool event_loops_new(struct simulation *sim); // false: no memory
void event_loops_free(struct simulation *sim);
// As struct rules (pool.c).
enum dispatch event_loops_offer(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns);
uint32_t event_loops_take(struct simulation *sim, uint32_t worker);
// A worker has done with its task. Whether the pool ends with that: each recorded loop that retired did so behind its
// last task, and all of these have been run.
bool event_loops_end(struct simulation *sim, uint32_t worker);
void event_loops_begin_run(struct simulation *sim, uint32_t pool);

#endif
