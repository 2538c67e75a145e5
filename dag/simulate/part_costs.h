// SPDX-License-Identifier: GPL-3.0-or-later
// What parts of split tasks cost beside what they compute.
//
// Hand-overs: of the pool's mean, less the more of them come before (cold_code.h). Goes with the correction `pace`.
//
// Sleep: to ask for half as much takes a server, or a timer, no less, so each part sleeps as long as its task did; but
// no longer than a quarter of its site's tasks do. What a task slept beyond that came from outside, as stops of the JVM
// and of the machine do, and comes once: its parts share it out.
// Pace: the parts of a task do the work that it did, at its own pace. At the mean pace those of what ran while code was
// cold would do more than that, and those of what ran warm less.
#ifndef REHYPE_DAG_PART_COSTS_H
#define REHYPE_DAG_PART_COSTS_H

#include "dag/simulate/state.h"

// Of a run whose edit splits tasks. Cost: the first time all tasks are sorted twice and their bodies passed; then one
// pass over the tasks. Without memory sim->no_memory is set.
void part_costs_begin_run(struct simulation *sim);
void part_costs_free(struct simulation *sim);

// At which pace the task computed, on the mean, whose parts the job is one of or hands over; of another job, or a task
// that computed nothing, that of the whole recording. Only where the recording's pace is known.
double part_costs_pace(const struct simulation *sim, uint32_t job);

// The part of a pool's mean that it costs to hand over a job to a worker that is busy: 1 unless it is of a split task.
double part_costs_hand_over(const struct simulation *sim, uint32_t job);

// What the body of a job takes that is a part, or an actor's copy: an equal share of what its task computed, and waited
// for cores where these are not shared, and what it sleeps.
struct part_body {
    int64_t ns, compute_ns, queued_ns; // in all, and of that
};
struct part_body part_costs_body(const struct simulation *sim, uint32_t job);

#endif
