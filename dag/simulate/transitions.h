// SPDX-License-Identifier: GPL-3.0-or-later
// When workers slept, as recorded.
#ifndef REHYPE_DAG_TRANSITIONS_H
#define REHYPE_DAG_TRANSITIONS_H

#include "dag/simulate/state.h"

bool transitions_new(struct simulation *sim);
void transitions_free(struct simulation *sim);
// Of a stealing pool: how long after a spawn that found a worker asleep the next one woke up; -1 where nobody had to.
int64_t transitions_waking_ns(const struct simulation *sim, uint32_t job);
// Of a pool with a queue: whether more than so many workers slept when it was spawned, and so none of those took it at
// once.
bool transitions_slept(const struct simulation *sim, uint32_t job, uint32_t coming);
// Of a pool with a queue: how long after its spawn, which calls a worker while so many are on their way, that comes;
// and what the worker took that it stands for, DAG_NONE where none came then.
int64_t transitions_coming_ns(const struct simulation *sim, uint32_t job, uint32_t coming, uint32_t *took);

#endif
