// SPDX-License-Identifier: GPL-3.0-or-later
// What a search is asked for, and what it finds (optimize/search.h).
#ifndef REHYPE_OPTIMIZE_SEARCH_RESULT_H
#define REHYPE_OPTIMIZE_SEARCH_RESULT_H

#include "metrics/metrics.h"
#include "optimize/estimator.h"
#include "optimize/improvement.h"
#include "optimize/objective.h"
#include "optimize/plan.h"

// In the worst of the traces. One that passes or fails alone has an estimate and may be part of a plan.
enum candidate_status { CANDIDATE_PASSING, CANDIDATE_FAILING, CANDIDATE_STUCK, CANDIDATE_REFUSED };

struct candidate {
    const struct improvement *improvements; // one a trace; those without tasks change nothing
    const struct improvement *named; // the first of them that has tasks: its site and context are the candidate's name
    struct metrics estimate;         // of this candidate alone, in the first trace; see search_options.all_figures
    enum candidate_status status;
    bool negligible; // see SEARCH_LITTLE_LOSS
    bool shown;  // stands for its family (candidates_same_family): the smallest number that brings WORTH_SHARE of the
                 // best one's gain by the objective, or by wall time; the largest under which a
                 // run halts; or else the best that changes anything
    bool beyond; // a larger number than the smallest that is worth it by wall time
    bool probe;  // not listed, but tried on the way to such a number, and part of no plan
    const char *fails;     // what keeps it from a plan of its own: a requirement, "deadlock", "starvation", "halt",
                           // "refused", and "in TRACE" if that isn't the first; NULL: nothing
    const char *why;       // one sentence with numbers of the first trace that has it; why not, where it fails
    const char **warnings; // optimize/warnings.h, of that trace; none where there is no estimate
    size_t warning_count;
};

bool candidate_is_estimated(const struct candidate *candidate);

// A candidate is negligible when, against the replay and in every trace, it betters neither wall nor peak and mean of
// occupied threads by more than LEAST_NOISE (what the model itself is off by in a figure counts for nothing in it), nor
// the objective by more than the noise, and worsens none of the first three by more than this.
#define SEARCH_LITTLE_LOSS 0.05

struct ranked_plan {
    uint32_t *candidates; // indices, rising
    uint32_t count;
    struct metrics estimate; // in the first trace, as a candidate's
    double value;            // of the objective, over all traces; less is better
};

struct front_point {            // see optimize/front.h
    const uint32_t *candidates; // indices, rising
    uint32_t count;
    const struct metrics *estimate; // in the first trace
};

struct search_options {
    enum model_kind model;
    const struct objective *objective;
    const struct requirement *const *requirements; // none: R's filter (filter_failed)
    size_t requirement_count;
    uint32_t top;     // plans to keep
    bool all_figures; // of candidates and plans, as metrics_compute gives them; else metrics_usage's, or what objective
                      // and requirements ask for
    uint64_t seed;
    uint32_t evaluations; // of plans, at most (the candidates alone not counted)
    uint64_t budget_ns;   // for all, by estimator_cost_ns, so that the machine's speed changes no result. A few of each
                          // are tried however large the trace
    // How many plans were evaluated, and how many more may be, at most. May be NULL; by any thread, one at a time.
    void (*progress)(void *context, uint64_t evaluated, uint64_t left);
    void *progress_context;
    // Parts of the traces, one each, in which their load is as it is in all of them; NULL: there are none. What is best
    // is then searched in these, and what was found is estimated on the whole traces.
    struct estimator *const *parts;
};

struct search_result {
    struct estimator *const *traces; // the caller's
    size_t trace_count;
    // Of the first trace (struct baseline).
    struct metrics base, replayed;
    double noise;
    struct replay_error null_replay_error; // of the worst
    struct candidate *candidates;          // best alone first, failing ones after, probes last
    size_t candidate_count;
    size_t untried;            // candidates that the size of the traces left no time for: those of the least time
    uint32_t limit;            // of plans, by options and by the size of the traces
    struct ranked_plan *plans; // best first; none has a member that it does as well without
    size_t plan_count;
    struct front_point *front; // fastest first
    size_t front_count;
    uint64_t evaluated; // on parts and on whole traces
    double seconds;
    const char *method; // "exhaustive" when the space is small enough, else "iterated hill climbing"
};

// The first of its plans, in the arena; the empty plan where it has none. Its trace is that of the first. Errors: no
// memory.
bool search_best_plan(const struct search_result *result, struct arena *arena, struct plan *plan, struct error *error);

// Whether two candidates exclude each other: their improvements conflict in a trace.
bool search_conflict(const struct search_result *result, size_t a, size_t b);

#endif
