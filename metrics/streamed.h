// SPDX-License-Identifier: GPL-3.0-or-later
// What a search needs of most plans, straight from the simulation.
#ifndef REHYPE_METRICS_STREAMED_H
#define REHYPE_METRICS_STREAMED_H

#include "dag/simulate/simulate.h"
#include "metrics/figures.h"

// The figures of metrics_of_run with `all` false, of the last run, which was not stuck, to the last bit, without making
// it a DAG. *known false: only that DAG tells them, ask metrics_of_run. Errors as of metrics_of_run.
bool metrics_of_simulation(const struct simulation *simulation, const struct window *window, const struct metrics *base,
                           struct metrics_work *work, struct metrics *metrics, bool *known, struct error *error);

#endif
