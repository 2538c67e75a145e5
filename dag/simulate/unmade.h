// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs that are handed over before they are made: a future's continuation is registered in one task and handed over
// where the future is completed. Where the completion comes first in this run, the registration finds the future
// complete, and hands the continuation over then.
#ifndef REHYPE_DAG_UNMADE_H
#define REHYPE_DAG_UNMADE_H

#include "dag/simulate/state.h"

bool unmade_new(struct simulation *sim); // false: no memory
void unmade_free(struct simulation *sim);
void unmade_begin_run(struct simulation *sim);

bool unmade_holds(struct simulation *sim, uint32_t job, int64_t now_ns);   // whether it is to wait, until it is due
void unmade_begins(struct simulation *sim, uint32_t task, int64_t now_ns); // a task that makes others
bool unmade_comes(struct simulation *sim, uint32_t job);                   // whether it is due since it is made now

#endif
