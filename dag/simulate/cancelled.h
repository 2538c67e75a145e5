// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks that others cancelled when recorded.
#ifndef REHYPE_DAG_CANCELLED_H
#define REHYPE_DAG_CANCELLED_H

#include "dag/simulate/state.h"

bool cancelled_new(struct simulation *sim);
void cancelled_free(struct simulation *sim);

// Whether what a task did at a vertex of its own, or all behind a vertex, could be another's: it concerns no other
// task.
bool is_repeatable_at(const struct dag *dag, uint32_t task, uint32_t vertex);
bool can_be_repeated(const struct dag *dag, uint32_t task, uint32_t from);

// A task that was cancelled before it began runs like this one of its site, if it is not cancelled now; DAG_NONE.
uint32_t cancelled_body_of(const struct simulation *sim, uint32_t task);
// The task is cancelled: whether it has no result yet. What lies in a queue then never runs.
bool cancelled_now(struct simulation *sim, uint32_t task);
// The process has come to where the task's result is there, if whoever cancelled it when recorded has not yet.
void cancelled_complete(struct simulation *sim, uint32_t process, uint32_t task, int64_t time_ns);

#endif
