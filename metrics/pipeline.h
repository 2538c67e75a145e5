// SPDX-License-Identifier: GPL-3.0-or-later
// Stages of pipelines: how long what is put into one lies in its queue, and how busy its threads are. Of a recording.
#ifndef REHYPE_METRICS_PIPELINE_H
#define REHYPE_METRICS_PIPELINE_H

#include "metrics/figures.h"

struct pipeline_stage {
    uint32_t pool; // trace pool id
    uint32_t threads;
    uint64_t tasks;           // that started in the window
    struct quantiles wait_ns; // from the put to the start, of those whose put was seen
    double task_ns;           // from start to end, mean; NAN without any
    double busy;              // threads in a task, mean over the window
};

// Those with a task that starts in the window, busiest per thread first. In the arena. Errors: no memory. Cost: a look
// at each task, and a sort of those of stages.
bool metrics_stages(const struct dag *dag, const struct window *window, struct arena *arena,
                    struct pipeline_stage **found, size_t *count, struct error *error);

#endif
