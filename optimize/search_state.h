// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of a search share: screen.c, which tries candidates alone, and rank.c, which tries their combinations.
// What an evaluator measured is compared here with the runs' own figures, and what it cost is counted.
#ifndef REHYPE_OPTIMIZE_SEARCH_STATE_H
#define REHYPE_OPTIMIZE_SEARCH_STATE_H

#include "base/hands.h"
#include "optimize/combine.h"
#include "optimize/evaluator.h"
#include "optimize/search_result.h"

#include <pthread.h>

// Of a search of parts, how many plans are then tried on the whole traces.
enum { SEARCH_CONFIRMED = 5 };

// What the candidates may take of the budget is three fifths; combinations have the rest. SEARCH_LEAST of either are
// tried however large the trace.
enum { SEARCH_LEAST = 24 };

struct search {
    struct evaluator evaluators[HANDS]; // each thread's
    struct arena scratch;
    struct metrics *recorded, *replayed; // baselines, one a trace, like noise_in
    double *noise_in;
    size_t trace_count;
    struct estimator *const *wholes; // one a trace, of which the traces are parts; NULL: they are none
    const struct search_options *options;
    struct search_result *result;
    uint32_t hands;
    double noise;   // the worst trace's
    bool needs_all; // of each plan, more than metrics_usage gives
    bool shows_all; // likewise, of those that are told
    bool base_all;  // likewise, of the replay; of a long run only where others have it
    bool base_passes;
    // A candidate each: what it is as a plan of its own, and the objective's value, once all are screened.
    struct combination *alone;
    double *value_alone;
    pthread_mutex_t lock; // for what follows, both arenas and the result
    struct error *error;  // of what failed first
    bool failed;
    uint64_t screened;          // evaluations of candidates alone; UINT64_MAX until these are over
    uint64_t cost_ns, spent_ns; // of an evaluation, and so far: as the estimators expect, so that limits don't depend
                                // on the machine
};

// Improvements of a candidate that follow one another: one a trace, and then those of the whole traces.
size_t search_row(const struct search *search);

// Does an item of what is to be done, with the evaluator of the thread that does it. false and *error: it failed.
typedef bool search_item(struct search *search, struct evaluator *evaluator, void *context, uint32_t item,
                         struct error *error);

// Does items 0 to count - 1 by hands_run. false and *error: of the item that failed first; those that had not begun
// then are not done.
bool search_do_all(struct search *search, search_item *run, void *context, uint32_t count, struct error *error);

void search_count(struct search *search); // an evaluation, by any thread

// How many more plans the budget allows for (candidates alone counted), by time and by number.
uint64_t search_left(const struct search *search);

// The first requirement that isn't met, and in which trace. m: one a trace.
const char *search_failed(const struct search *search, const struct metrics *m, size_t *trace);

// Of what the evaluator measured last: the objective's value with so many edits, and what it gains against the replay.
double search_value(const struct search *search, const struct evaluator *evaluator, uint32_t edits);
double search_gain(const struct search *search, const struct evaluator *evaluator);
void search_score(const struct search *search, const struct evaluator *evaluator, struct combination *combination);

// What a plan is worth a change for, of each trace: wall, or throughput, latency, occupied threads, use of actors, of
// what the evaluator measured last. In the arena; NULL: no memory.
const void *search_figures(const struct search *search, const struct evaluator *evaluator, struct arena *arena);

// Whether one of them is worse in `now` than in `then`, by more than LEAST_NOISE.
bool search_figures_worse(const struct search *search, const void *now, const void *then);

// For messages: NULL for the first trace, of which they speak unless they say so.
const char *search_trace_name(const struct search *search, size_t trace);

#endif
