// SPDX-License-Identifier: GPL-3.0-or-later
// Several recordings of one program in `estimate`: loads, medians and noise.
#ifndef REHYPE_CLI_ESTIMATE_RUNS_H
#define REHYPE_CLI_ESTIMATE_RUNS_H

#include "base/arena.h"
#include "metrics/runs.h"

#include <cjson/cJSON.h>

struct estimated_run {
    const struct trace *trace;
    const struct metrics *before, *after; // the caller's; `after` need not be filled before estimate_runs_summarise
};

struct load_figures {                                 // of one load
    const struct metrics **before_runs, **after_runs; // a run each
    const struct trace *trace;                        // of the median run
    size_t run_count, chosen;                         // which run that is, of all
    struct metrics before, after;                     // medians
    struct noises before_noises, after_noises;
};

struct estimate_runs {
    const struct estimated_run *runs; // the caller's
    size_t count;
    uint32_t *loads_of_runs; // a run each
    struct load_figures *loads;
    uint32_t load_count;
};

// Tells loads apart and chooses their median runs by what was recorded. Arrays are the arena's.
bool estimate_runs_find(const struct estimated_run *runs, size_t count, struct arena *arena,
                        struct estimate_runs *found, struct error *error);

// Fills medians and noises.
bool estimate_runs_summarise(struct estimate_runs *runs, struct error *error);

// A table a load, with the noise of each figure. Errors: no memory.
bool estimate_runs_write(const struct estimate_runs *runs, struct error *error);

// "runs", "noise" and, of several loads, "loads".
void estimate_runs_add(const struct estimate_runs *runs, cJSON *document);

#endif
