// SPDX-License-Identifier: GPL-3.0-or-later
// What pools have to dispatch: jobs in the order in which they came.
#ifndef REHYPE_DAG_QUEUE_H
#define REHYPE_DAG_QUEUE_H

#include "dag/simulate/state.h"

void queues_begin_run(struct simulation *sim);
// Though there may be no room, and nobody is called. Holder: QUEUE_SHARED, or a stealing pool's worker, for its deque.
void queue_put(struct simulation *sim, uint32_t job, uint32_t holder);
uint32_t queue_take(struct simulation *sim, uint32_t job); // that one, which must be there
// The one that comes first. Not of stealing pools, like the next one; something must be there.
uint32_t queue_take_first(struct simulation *sim, struct pool_state *pool);
// Whether a job that is there is one of the first so many. Of pools that go by a key it is not looked at.
bool queue_comes_within(const struct simulation *sim, const struct pool_state *pool, uint32_t job, uint32_t most);
// Like queue_take_first, of those that no worker comes for; DAG_NONE: there are none.
uint32_t queue_take_unclaimed(struct simulation *sim, uint32_t pool);
// Whether a worker is on its way that took this task when recorded.
bool pool_has_reserved(const struct simulation *sim, uint32_t pool, uint32_t job);

#endif
