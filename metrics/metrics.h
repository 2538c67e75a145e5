// SPDX-License-Identifier: GPL-3.0-or-later
// Times -> numbers: the metrics of SPEC sections 2 and 6 for a run, recorded or estimated.
#ifndef REHYPE_METRICS_METRICS_H
#define REHYPE_METRICS_METRICS_H

#include "metrics/figures.h"

void metrics_work_destroy(struct metrics_work *work);

// What the search needs for every plan: thread usage, wall, thread-time, overhead and idle share, and with a base
// composite and balanced. The rest is NAN or 0. A NULL window is the whole run. The run must be of this edit.
// Errors: no memory; a window without an event (STATUS_USAGE). Cost: about 40 ns a state change.
bool metrics_usage(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   const struct window *window, const struct metrics *base, struct metrics_work *work,
                   struct metrics *metrics, struct error *error);

// All of them. Cost: about 140 ns a vertex.
bool metrics_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                     const struct window *window, const struct metrics *base, struct metrics_work *work,
                     struct metrics *metrics, struct error *error);

// The same of a run that is a DAG of its own: as recorded, or simulated (dag/simulate/simulate.h). The window's bounds
// are recorded times; what only the simulation made bounds no window. `all`: as metrics_compute. What base and metrics
// name is the recorded DAG's, so they outlive the simulation's next run. Cost: as above, and 15 ns a vertex to take up
// the graph.
bool metrics_of_run(const struct dag *run, bool all, const struct window *window, const struct metrics *base,
                    struct metrics_work *work, struct metrics *metrics, struct error *error);

#endif
