// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs: room for them, and parts of tasks that are split.
#ifndef REHYPE_DAG_JOBS_H
#define REHYPE_DAG_JOBS_H

#include "dag/simulate/state.h"

bool jobs_reserve(struct simulation *sim, uint32_t count); // false: no memory
void jobs_free(struct simulation *sim);
uint32_t job_add(struct simulation *sim, uint32_t task, uint32_t part); // DAG_NONE: no memory

#endif
