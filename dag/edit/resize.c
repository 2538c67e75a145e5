// SPDX-License-Identifier: GPL-3.0-or-later
// Resize. No vertex and no recorded edge of the tasks' own changes. The edges that say which worker takes up which task
// are made anew when tasks are dispatched (dag/simulate/simulate.h), by the pool's own rules with core and maximum both
// of the new size, of a pool that grows before it queues the maximum alone; workers that are missing are made as the
// pool made others, and those too many are not. Sound where those rules are known. A pool that hands off has no queue
// for tasks to wait in: it gets one without bound with its size, as Executors.newFixedThreadPool has.
#include "dag/edit/edit.h"

const char *dag_resize_refusal(const struct dag *dag, uint32_t pool) {
    if (pool == 0 || pool >= dag->trace->pool_count) return "it is no pool";
    const struct dag_pool *rules = pool < dag->pool_count ? &dag->pools[pool] : NULL;
    if (!rules || rules->discipline == DISCIPLINE_UNKNOWN) {
        return "its rules are unknown: it delays tasks, or is the program's own";
    }
    return NULL;
}

int32_t dag_resized_core(const struct dag_pool *rules, int32_t threads) {
    return rules->grows_first && rules->core < threads ? rules->core : threads;
}

void dag_edit_resize(struct dag_edit *edit, uint32_t pool, int32_t threads) {
    edit->resized_count += !edit->pool_threads[pool];
    edit->pool_threads[pool] = threads;
}
