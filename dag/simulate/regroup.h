// SPDX-License-Identifier: GPL-3.0-or-later
// How tasks that an edit regroups run: merged ones, parts, stages.
#ifndef REHYPE_DAG_REGROUP_H
#define REHYPE_DAG_REGROUP_H

#include "dag/simulate/state.h"

bool regroup_new(struct simulation *sim);
void regroup_free(struct simulation *sim);
void regroup_begin_run(struct simulation *sim);
void group_begin(struct simulation *sim, uint32_t process, uint32_t task);   // behind the START of the one that ends it
void group_go_on(struct simulation *sim, uint32_t process, uint32_t member); // whose body is over
void group_end(struct simulation *sim, uint32_t process, uint32_t task);
void parts_begin(struct simulation *sim, uint32_t process, uint32_t task, int64_t time_ns);  // at its SPAWN_BEGIN
void copies_begin(struct simulation *sim, uint32_t process, uint32_t init, int64_t time_ns); // behind the original's
void part_step(struct simulation *sim, uint32_t process, uint32_t step, int64_t time_ns);
void stage_wait(struct simulation *sim, uint32_t process, uint32_t wait_end, int64_t time_ns);
void stages_resume(struct simulation *sim, uint32_t process);

#endif
