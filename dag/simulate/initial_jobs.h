// SPDX-License-Identifier: GPL-3.0-or-later
// What pools had when recording began.
#ifndef REHYPE_DAG_INITIAL_JOBS_H
#define REHYPE_DAG_INITIAL_JOBS_H

#include "dag/simulate/state.h"

bool initial_jobs_new(struct simulation *sim);
void initial_jobs_free(struct simulation *sim);
void initial_jobs_come(struct simulation *sim, uint32_t job, int64_t now_ns); // what lacks its spawn: now
void initial_jobs_begin_run(struct simulation *sim); // processes are there, and placements are known

#endif
