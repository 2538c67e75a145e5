// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of tasks that are too fine or too coarse (T Sec. 5.1): by what they compute, and by how the machine fares
// while they run. A property of the recorded run; no edit changes it.
//
// A group is a site's tasks, but for those that no edit concerns (dag_left_out). It counts only if none waits, or is
// delayed: what waits for others, or for a barrier, is as large as it is for their sake. Granularity is what a body
// computes, where the trace measures that; else how long it runs.
//
// Fine: large batches (tasks that a spawner hands over without waiting for any of them) of similar small tasks, whose
// hand-over costs or during which context switches rise. Large: at least eight times as many as cores and as threads of
// the pool, for at least half of the tasks. Similar: half of them within a factor of ten of each other around the
// median. Small: hand-over and pick-up cost at least 1 % of the time that they take. That they cost 10 % of it is
// enough; else switches have to rise: per 100 ms at least half as many again as while none of them runs; if some always
// run, at least one switch for every two tasks.
//
// Coarse: few large tasks, while cores idle and switches are few. Few: no batch has more than eight times as many as
// there are cores, and all are no more than sixteen times as many. Large: hand-over and pick-up cost less than 1 % of
// their time, and they run during at least a tenth of the run. Idle: while any runs, the program leaves at least a core
// and a quarter of all (what other programs make of them is not its tasks' grain). They compute for at least three
// quarters of their time, with up to 32 switches per core in 100 ms (between those of lusearch and h2 in T Fig. 5.5);
// or for less than a twentieth (they sleep or are served), with half of that. Tasks in between are bound by each other,
// as by a barrier, and would stay so in parts.
//
// Samples taken while the JVM paused (GC) are left out. Without samples, tasks and costs alone decide.
#ifndef REHYPE_METRICS_GRAIN_H
#define REHYPE_METRICS_GRAIN_H

#include "base/arena.h"
#include "dag/dag.h"

enum grain {
    GRAIN_FINE,
    GRAIN_COARSE,
    GRAIN_LARGE, // few and large, and they compute, though nothing says that smaller ones would fare better
};

struct grain_group {
    enum grain grain;
    uint32_t site; // index into dag->sites
    uint32_t task_count;
    uint32_t largest_batch;
    double mean_ns, median_ns;              // granularity
    double took_ns;                         // mean time from start to end
    double similarity;                      // share of the tasks within a factor of ten around the median
    double handover_ns;                     // mean of bracket and pick-up
    double switches_with, switches_without; // context switches in 100 ms while tasks of it run, and while none does;
                                            // NAN where no sample tells
    double cores_idle;                      // mean while tasks of it run; NAN of fine ones
    bool divides;                           // few and large, as coarse ones are, and they compute for at least a
                                            // twentieth of their time, as far as that is measured
    bool sampled;                           // false: no samples, tasks and costs alone have decided
    bool follows_cores; // nine in ten tasks stand in batches of a size that is up to four times that of the cores or of
                        // the pool (T Sec. 5.3.1)
};

// What a task that has start and end computes, without what lies in it of others; where that was not measured, for how
// long it runs.
double grain_of_task(const struct dag *dag, const struct dag_task *task);

// Those that are fine or coarse, by site. In the arena; false and *error only when there is no memory. Cost: a pass
// over all bodies, and 100 ns a task.
bool grain_find(const struct dag *dag, struct arena *arena, struct grain_group **groups, size_t *count,
                struct error *error);

// With GRAIN_LARGE: what is worth trying to split, or to merge.
bool grain_survey(const struct dag *dag, struct arena *arena, struct grain_group **groups, size_t *count,
                  struct error *error);

// How large tasks are, by site: what each computes (where that was not measured: runs), at SIZE_POINTS even shares of
// them from the least to the largest.
enum { SIZE_POINTS = 41 };
struct task_sizes {
    uint32_t site; // index into dag->sites
    uint32_t task_count;
    double sorted_ns[SIZE_POINTS];
};

// Of every site that has a task with start and end. In the arena. Cost and errors: as of grain_find.
bool grain_sizes(const struct dag *dag, struct arena *arena, struct task_sizes **sizes, size_t *count,
                 struct error *error);

// Of every site, be its grain as it may, whether its number of tasks follows the cores. follows: a flag a site.
bool grain_follows_cores(const struct dag *dag, bool *follows, struct error *error);

#endif
