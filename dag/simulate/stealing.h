// SPDX-License-Identifier: GPL-3.0-or-later
// Pools whose workers have deques of their own (simulate.h).
#ifndef REHYPE_DAG_STEALING_H
#define REHYPE_DAG_STEALING_H

#include "dag/simulate/state.h"

bool stealing_new(struct simulation *sim);
void stealing_free(struct simulation *sim);
// Whether the rules of a stealing pool dispatch this task.
bool stealing_dispatches(const struct simulation *sim, uint32_t task);
// How its bracket is dispatched; the task itself is once somebody takes it.
enum dispatch stealing_offer(struct simulation *sim, uint32_t process, uint32_t task, int64_t now_ns);
uint32_t stealing_take(struct simulation *sim, uint32_t worker); // the task that a free worker takes, DAG_NONE
void stealing_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns);
// Whether it lies in a wait, behind a task that was helped with.
bool stealing_looks_before(const struct simulation *sim, uint32_t vertex);
// Whether a process whose next vertex ends a wait, or lies in it, looks for tasks to run meanwhile.
bool stealing_may_help(const struct simulation *sim, uint32_t process);
// How long it takes a waiter that did not sleep when recorded to go on after a result that comes at `result_ns`.
int64_t stealing_wakeup_ns(const struct simulation *sim, uint32_t process, int64_t result_ns);
// It looks now: it runs a task first, or blocks.
void stealing_help(struct simulation *sim, uint32_t process);
void stealing_unblock(struct simulation *sim, uint32_t process);

#endif
