// SPDX-License-Identifier: GPL-3.0-or-later
// Executors that delay: jobs that are not due yet.
#ifndef REHYPE_DAG_DELAYS_H
#define REHYPE_DAG_DELAYS_H

#include "dag/simulate/state.h"

// Whether a job that is spawned now is to be delayed; then it is due at sim->due_ns[job].
bool delays_job(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns);
enum dispatch delay_job(struct simulation *sim, uint32_t pool, uint32_t job, int64_t now_ns); // until then
void delays_run(struct simulation *sim, uint32_t job, int64_t now_ns); // what has a due time runs now, or queues
void delays_end(struct simulation *sim, uint32_t job, int64_t now_ns); // it is due
void delays_leave_when_drained(struct simulation *sim, uint32_t pool); // of a pool that is shut down, once none is left

#endif
