// SPDX-License-Identifier: GPL-3.0-or-later
// Resize. No vertex and no recorded edge of the tasks' own changes. The edges that say which worker takes up which task
// are made anew when tasks are dispatched (dag/simulate/simulate.h), by the pool's own rules with core and maximum both
// of the new size, of a pool that grows before it queues the maximum alone; workers that are missing are made as the
// pool made others, and those too many are not. Sound where those rules are known. A pool that hands off has no queue
// for tasks to wait in: it gets one without bound with its size, as Executors.newFixedThreadPool has.
#include "dag/edit/edit.h"

#include <string.h>

static bool has(const char *text, const char *part) {
    return text && strstr(text, part);
}

static const char *why_unknown(const struct trace_pool *pool) {
    if (has(pool->kind, "EventLoop") || has(pool->kind, "EventExecutor"))
        return "it is an event loop, which has one thread: how many there are its group says";
    if (has(pool->kind, "Scheduled") || has(pool->kind, "java.util.Timer"))
        return "its rules are unknown: it delays tasks, and the trace does not tell until when";
    if (!pool->queue || pool->core < 0 || pool->maximum < 0)
        return "its rules are unknown: the trace does not tell its queue and size (`executor` lines of a config file "
               "can)";
    return "its rules are unknown: its workers had tasks that it was not seen to be given, or gave others some between "
           "tasks";
}

const char *dag_resize_refusal(const struct dag *dag, uint32_t pool) {
    if (pool == 0 || pool >= dag->trace->pool_count) return "it is no pool";
    const struct dag_pool *rules = pool < dag->pool_count ? &dag->pools[pool] : NULL;
    if (rules && rules->discipline != DISCIPLINE_UNKNOWN) return NULL;
    return why_unknown(&dag->trace->pools[pool]);
}

int32_t dag_resized_core(const struct dag_pool *rules, int32_t threads) {
    return rules->grows_first && rules->core < threads ? rules->core : threads;
}

void dag_edit_resize(struct dag_edit *edit, uint32_t pool, int32_t threads) {
    edit->resized_count += !edit->pool_threads[pool];
    edit->pool_threads[pool] = threads;
}
