// SPDX-License-Identifier: GPL-3.0-or-later
// What a search found, estimated on every recording that there is of the program: repetitions of the loads that were
// searched in. Figures are medians over the runs of a load, with their noise (metrics/runs.h).
#ifndef REHYPE_OPTIMIZE_REPEATS_H
#define REHYPE_OPTIMIZE_REPEATS_H

#include "metrics/runs.h"
#include "optimize/search_result.h"

// A run as recorded or replayed, or under a change or plan, over the runs of one load.
struct repeated {
    size_t runs;           // in which it can be estimated; 0: it was not, and the rest is unknown
    struct metrics median; // against each run's own base
    struct noises noises;
    const char *stuck_in; // the first trace that could not end under it; NULL: there is none
};

struct repeats { // of one load
    size_t runs;
    struct repeated recorded, replayed;
    struct repeated *candidates, *plans; // one each, as in the result
};

struct repeats_request {
    struct estimator *const *estimators; // one a run, whose model and edit are lost
    const uint32_t *loads;               // likewise: which load it is of
    size_t run_count;
    uint32_t load_count;
    enum model_kind model;
    bool all_figures; // as of search_options
};

// Fills repeats, one a load, in the arena. Of the result's candidates those are estimated that are shown, in a plan or
// on the front. Where a run has none of a change's tasks the change leaves it as it is; a run that refuses one is left
// out. Cost: an estimator_run and an
// estimator_measure each, by two threads. Errors: no memory; estimator_measure_baseline's.
bool repeats_estimate(const struct search_result *result, const struct repeats_request *request, struct arena *arena,
                      struct repeats **repeats, struct error *error);

// Puts the medians of that load in the place of the figures of the one run that they were searched in.
void repeats_show(const struct repeats *repeats, struct search_result *result);

#endif
