// SPDX-License-Identifier: GPL-3.0-or-later
// How late delayed and periodic tasks begin: their start less the time at which they were due. Of any run.
#ifndef REHYPE_METRICS_LATENESS_H
#define REHYPE_METRICS_LATENESS_H

#include "metrics/figures.h"

struct lateness {
    uint32_t site; // index into dag->sites; DAG_NONE: of tasks whose spawn was not seen
    uint64_t tasks;
    struct quantiles ns; // below 0: early, by the coarseness of the clock that told the due time
    double std_ns, min_ns;
};

// Of the tasks with a due time that start within the window, by site, latest on average first. `time_ns`: a vertex of
// the DAG each, DAG_ABSENT for those that are not in the run. The window is in that run's times; NULL: all of it. In
// the arena; *found is NULL where the trace tells no due times. Errors: no memory. Cost: a sort of these tasks.
bool metrics_lateness(const struct dag *dag, const int64_t *time_ns, const struct window *window, struct arena *arena,
                      struct lateness **found, size_t *count, struct error *error);

#endif
