// SPDX-License-Identifier: GPL-3.0-or-later
// Several recordings of one program in `suggest`: which are repetitions of one load, in which of them is searched, and
// what is told of noise and loads. Of one recording nothing is.
#ifndef REHYPE_CLI_SUGGEST_RUNS_H
#define REHYPE_CLI_SUGGEST_RUNS_H

#include "cli/analysis.h"
#include "optimize/repeats.h"

#include <cjson/cJSON.h>

struct suggest_runs {
    struct analysis *analyses; // one a run, the caller's
    size_t count;
    uint32_t *loads; // a run each: which load it is of
    uint32_t load_count;
    size_t *chosen;          // a load each: its median run
    struct repeats *repeats; // a load each; NULL: of one recording, or not estimated yet
};

// Tells loads apart, and chooses their median runs. Arrays are the arena's.
bool suggest_runs_choose(struct analysis *analyses, size_t count, struct arena *arena, struct suggest_runs *runs,
                         struct error *error);

// Estimates on all runs what the search found, and puts the medians of the first load in the place of its figures.
bool suggest_runs_estimate(struct suggest_runs *runs, enum model_kind model, bool all_figures, struct arena *arena,
                           struct search_result *result, struct error *error);

// Of what is shown, in the first load; NULL: there is none, as of one run.
const struct noises *suggest_runs_base(const struct suggest_runs *runs);
const struct noises *suggest_runs_candidate(const struct suggest_runs *runs, size_t candidate);
const struct noises *suggest_runs_plan(const struct suggest_runs *runs, size_t plan);

// "2 traces", "6 runs of 2 loads".
const char *suggest_runs_text(const struct suggest_runs *runs, char *text, size_t size);

// A change that the answer tells: "the best plan". noises: NULL where there are none.
struct told {
    const char *what;
    const struct noises *noises;
};

// A paragraph on the noise of the figures and what of the answer's changes is within it; nothing of single runs.
// filters: plans must meet R's filter, and where the best one does not by the medians that is said.
void suggest_runs_write_noise(const struct suggest_runs *runs, const struct search_result *result,
                              const struct told *told, size_t count, bool filters);

// Behind CSV's columns those of the noise, where there are several runs.
void suggest_runs_write_csv_names(const struct suggest_runs *runs);
void suggest_runs_write_csv_values(const struct suggest_runs *runs, size_t candidate);

// Loads side by side, as recorded and with the best plan; nothing of one load. Errors: no memory.
bool suggest_runs_write_loads(const struct suggest_runs *runs, const struct search_result *result, struct error *error);

// "runs", "loads", "noise", and "noise" of improvements and plans.
void suggest_runs_add(const struct suggest_runs *runs, const struct search_result *result, cJSON *document);

#endif
