// SPDX-License-Identifier: GPL-3.0-or-later
// Resources: what processes hold and wait for beside results, workers and cores.
#ifndef REHYPE_DAG_RESOURCES_H
#define REHYPE_DAG_RESOURCES_H

#include "dag/simulate/state.h"

bool resources_new(struct simulation *sim);
void resources_free(struct simulation *sim);
void resources_begin_run(struct simulation *sim);
// In order of time. A process asks: whether it goes on at once. If not, or if process->wait.state is set, it has to
// settle it.
bool resource_ask(struct simulation *sim, uint32_t process, uint32_t ask, int64_t now_ns);
// Whether it is known when the process looks for what it waits for, gets it, or goes on without it.
bool resource_has_wait_of(const struct simulation *sim, const struct process *process, int64_t *time_ns);
// At that time: whether its wait is over. If not, it waits anew.
bool resource_settle(struct simulation *sim, uint32_t process, int64_t now_ns);
void resource_limit(struct simulation *sim, uint32_t process, int64_t now_ns); // its time is up
// It has what its taking is not told of, if that is free: nothing tells how long it would have waited.
void resource_had(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t now_ns);
void resource_release(struct simulation *sim, uint32_t process, uint32_t ask, int64_t now_ns);
// A task that the recording cut has ended (TASK_CUT): what it was not seen to give back it gives back, as others do.
void resource_release_cut(struct simulation *sim, uint32_t process, int64_t now_ns);
// As long as its holder had it has passed, of a resource whose releases are not told.
void resource_times_out(struct simulation *sim, uint32_t resource, int64_t now_ns);

#endif
