// SPDX-License-Identifier: GPL-3.0-or-later
// What a hand-over costs in this run: as recorded where the task is dispatched as it was, else its pool's mean
// (costs.h).
#ifndef REHYPE_DAG_HAND_OVER_H
#define REHYPE_DAG_HAND_OVER_H

#include "dag/simulate/state.h"

bool is_as_recorded(const struct simulation *sim, uint32_t job, enum dispatch dispatch);
int64_t cost_of_bracket(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t mean_bracket(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t mean_pickup(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t pool_mean_pickup(const struct simulation *sim, uint32_t pool, enum dispatch dispatch);
int64_t cost_of_pickup(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
// How a job is dispatched to the worker that was woken last. A worker does not fall asleep in an instant: as long as it
// has been idle for less than waking it would take, of its own time and of the spawner's, it finds the next task like
// one that queued. (Whether a spawn or a worker was first by less than that says little, and what the task itself cost
// says more. With less, spawns of tiny tasks would be held up by waking workers, which so would find nothing and fall
// asleep again, for ever.)
enum dispatch hand_over_to_woken(const struct simulation *sim, uint32_t job);
bool bracket_is_own(const struct dag *dag, uint32_t task); // it holds nothing but its own task's: it can be left out
void bracket_leave_out(struct simulation *sim, uint32_t task);

#endif
