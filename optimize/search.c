// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/search.h"

#include "optimize/candidates.h"
#include "optimize/combine.h"
#include "optimize/estimator.h"
#include "optimize/warnings.h"
#include "optimize/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double least_noise = 0.005; // SPEC section 3

struct search {
    struct estimator *estimators;        // one a trace, like what follows
    struct metrics *recorded, *replayed; // baselines
    double *noise_in;
    struct metrics *estimates; // of the edits that were measured last
    size_t trace_count;
    const struct search_options *options;
    struct search_result *result;
    double noise;   // the worst trace's
    bool needs_all; // of each plan, more than metrics_usage gives
    bool base_passes;
};

static void count_evaluation(struct search *search) {
    search->result->evaluated++;
    if (search->options->progress) {
        search->options->progress(search->options->progress_context, search->result->evaluated);
    }
}

static const char *failed_in(const struct search *search, size_t trace, const struct metrics *m) {
    const struct search_options *options = search->options;
    const struct metrics *recorded = &search->recorded[trace], *replayed = &search->replayed[trace];
    const char *failed = NULL;
    if (options->requirement_count == 0) {
        failed = filter_failed(m, recorded, search->noise_in[trace]);
        return failed ? failed : filter_failed(m, replayed, search->noise_in[trace]);
    }
    for (size_t i = 0; i < options->requirement_count && !failed; i++) {
        failed = requirement_failed(options->requirements[i], m, recorded, replayed);
    }
    return failed;
}

// The first requirement that isn't met, and in which trace. m: one a trace.
static const char *failed_requirement(const struct search *search, const struct metrics *m, size_t *trace) {
    const char *failed = NULL;
    for (*trace = 0; *trace < search->trace_count; ++*trace) {
        if ((failed = failed_in(search, *trace, &m[*trace]))) break;
    }
    return failed;
}

static double value_of_estimates(const struct search *search, uint32_t edits) {
    return objective_value(search->options->objective, search->estimates, search->recorded, search->trace_count, edits);
}

// The estimates of every trace's edit. *stuck: the first trace that has none, and with it those after it; the number of
// traces where all went well.
static bool estimate(struct search *search, bool all, size_t *stuck, struct error *error) {
    for (*stuck = 0; *stuck < search->trace_count; ++*stuck) {
        const size_t t = *stuck;
        bool is_stuck;
        if (!estimator_run(&search->estimators[t], &is_stuck, error)) return false;
        if (is_stuck) break;
        if (!estimator_measure(&search->estimators[t], &search->recorded[t], all, &search->estimates[t], error))
            return false;
    }
    return true;
}

static void clear_edits(struct search *search) {
    for (size_t t = 0; t < search->trace_count; t++) {
        dag_edit_clear(&search->estimators[t].edit, search->estimators[t].dag);
    }
}

static void apply(struct search *search, const struct candidate *candidate) {
    for (size_t t = 0; t < search->trace_count; t++) {
        improvement_apply(&candidate->improvements[t], &search->estimators[t].edit);
    }
}

// For messages: NULL for the first trace, of which they speak unless they say so.
static const char *trace_name(const struct search *search, size_t trace) {
    return trace > 0 ? search->estimators[trace].dag->trace->path : NULL;
}

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->standing <= STANDS_FAILING;
}

// Base

static bool measure_base(struct search *search, size_t trace, struct error *error) {
    struct baseline baseline;
    if (!estimator_measure_baseline(&search->estimators[trace], search->needs_all, &baseline, error)) return false;
    search->recorded[trace] = baseline.recorded;
    search->replayed[trace] = baseline.replayed;
    search->noise_in[trace] = fmax(least_noise, baseline.replay_error);
    search->result->null_replay_error = fmax(search->result->null_replay_error, baseline.replay_error);
    return objective_check(search->options->objective, &baseline.recorded, error);
}

static bool measure_bases(struct search *search, struct error *error) {
    size_t failing;
    for (size_t t = 0; t < search->trace_count; t++) {
        if (!measure_base(search, t, error)) {
            const char *name = trace_name(search, t);
            return name ? error_wrap(error, "%s", name) : false;
        }
    }
    search->result->base = search->recorded[0];
    search->noise = fmax(least_noise, search->result->null_replay_error);
    search->base_passes = !failed_requirement(search, search->replayed, &failing);
    return true;
}

// Candidates

struct judged {
    struct candidate candidate;
    double value;
    const char *name;
};

static int compare_judged(const void *a, const void *b) {
    const struct judged *left = a, *right = b;
    if (left->candidate.standing != right->candidate.standing) {
        return left->candidate.standing < right->candidate.standing ? -1 : 1;
    }
    if (left->value != right->value) return left->value < right->value ? -1 : 1;
    return strcmp(left->name, right->name);
}

// "FAILED in TRACE"; FAILED itself for the first trace.
static const char *name_failure(const struct search *search, const char *failed, size_t trace, struct arena *arena) {
    const char *name = trace_name(search, trace);
    if (!failed || !name) return failed;
    size_t length = strlen(failed) + strlen(" in ") + strlen(name);
    char *text = ARENA_NEW(arena, char, length + 1);
    if (text) snprintf(text, length + 1, "%s in %s", failed, name);
    return text;
}

// What is to be said of the candidate in one trace, given the estimates there.
static struct why why_in(const struct search *search, const struct candidate *candidate, size_t trace,
                         const char *failed) {
    return (struct why){.improvement = &candidate->improvements[trace],
                        .trace = trace_name(search, trace),
                        .base = &search->recorded[trace],
                        .estimate = &search->estimates[trace],
                        .failed = failed};
}

static bool set_failure(const struct search *search, struct candidate *candidate, enum standing standing,
                        const char *failed, size_t trace, struct arena *arena, struct error *error) {
    candidate->standing = standing;
    candidate->fails = name_failure(search, failed, trace, arena);
    return !failed || candidate->fails || error_set(error, STATUS_FAILED, "no memory for candidates");
}

static bool estimate_alone(struct search *search, struct judged *judged, struct arena *arena, struct error *error) {
    struct candidate *candidate = &judged->candidate;
    size_t trace;
    clear_edits(search);
    apply(search, candidate);
    if (!estimate(search, true, &trace, error)) return false;
    if (trace < search->trace_count) {
        const struct why why = why_in(search, candidate, trace, NULL);
        why_write_stuck(&why, &search->estimators[trace], candidate->why, sizeof candidate->why);
        return set_failure(search, candidate, STANDS_STUCK, estimator_stuck_word(&search->estimators[trace]), trace,
                           arena, error);
    }
    candidate->estimate = search->estimates[0];
    judged->value = value_of_estimates(search, 1);
    if (isnan(judged->value)) judged->value = INFINITY;
    const char *failed = failed_requirement(search, search->estimates, &trace);
    if (!failed) trace = (size_t)(candidate->named - candidate->improvements);
    const struct why why = why_in(search, candidate, trace, failed);
    why_write(&why, candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, failed ? STANDS_FAILING : STANDS_PASSING, failed, trace, arena, error);
}

static bool warn(struct candidate *candidate, struct arena *arena, struct error *error) {
    struct warnings warnings = {.arena = arena};
    if (!warn_of_change(&warnings, candidate->named, error)) return false;
    candidate->warnings = warnings.texts;
    candidate->warning_count = warnings.count;
    return true;
}

static bool judge(struct search *search, const struct improvement *improvements, struct arena *arena,
                  struct judged *judged, struct error *error) {
    char name[1024];
    size_t named = 0, refused = 0;
    while (improvements[named].task_count == 0) named++;
    while (refused < search->trace_count && !improvements[refused].refusal) refused++;
    *judged = (struct judged){.candidate = {.improvements = improvements, .named = &improvements[named]}};
    improvement_text(&improvements[named], name, sizeof name);
    judged->name = arena_string(arena, name, strlen(name));
    if (!judged->name) return error_set(error, STATUS_FAILED, "no memory for candidates");
    if (refused == search->trace_count) {
        count_evaluation(search);
        return estimate_alone(search, judged, arena, error) &&
               (!candidate_is_estimated(&judged->candidate) || warn(&judged->candidate, arena, error));
    }
    struct candidate *candidate = &judged->candidate;
    const struct why why = why_in(search, candidate, refused, NULL);
    metrics_unknown(&candidate->estimate);
    why_write(&why, candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, STANDS_REFUSED, "refused", refused, arena, error);
}

static bool find_candidates(const struct search *search, struct arena *arena, struct improvement **improvements,
                            size_t *count, struct error *error) {
    const struct dag **dags = ARENA_NEW(arena, const struct dag *, search->trace_count);
    if (!dags) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t t = 0; t < search->trace_count; t++) dags[t] = search->estimators[t].dag;
    const unsigned kinds = model_kinds(search->options->model);
    return candidates_join(dags, search->trace_count, kinds, arena, improvements, count, error);
}

// Leaves the candidates best first and returns in *usable how many of them, from the first, a plan may hold.
static bool judge_all(struct search *search, struct arena *arena, uint32_t *usable, struct error *error) {
    struct improvement *improvements;
    size_t count;
    struct search_result *result = search->result;
    if (!find_candidates(search, arena, &improvements, &count, error)) return false;
    struct judged *judged = malloc((count + 1) * sizeof *judged);
    result->candidates = ARENA_NEW(arena, struct candidate, count + 1);
    bool done = (judged && result->candidates) || error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t i = 0; done && i < count; i++) {
        done = judge(search, &improvements[i * search->trace_count], arena, &judged[i], error);
    }
    if (done) qsort(judged, count, sizeof *judged, compare_judged);
    for (*usable = 0; done && *usable < count && candidate_is_estimated(&judged[*usable].candidate);) ++*usable;
    for (size_t i = 0; done && i < count; i++) result->candidates[i] = judged[i].candidate;
    result->candidate_count = done ? count : 0;
    free(judged);
    return done;
}

// Plans

static void apply_members(struct search *search, const uint32_t *members, uint32_t count) {
    clear_edits(search);
    for (uint32_t i = 0; i < count; i++) apply(search, &search->result->candidates[members[i]]);
}

static bool evaluate(void *context, struct combination *combination, struct error *error) {
    struct search *search = context;
    size_t trace;
    apply_members(search, combination->members, combination->count);
    count_evaluation(search);
    combination->score = INFINITY;
    if (!estimate(search, search->needs_all, &trace, error)) return false;
    if (trace < search->trace_count) return true;
    double gain = objective_gain(search->options->objective, search->estimates, search->replayed, search->trace_count);
    double value = value_of_estimates(search, 0); // edits break ties already
    if (isnan(value)) return true;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > search->noise * fabs(value) || !search->base_passes) &&
                         !failed_requirement(search, search->estimates, &trace);
    return true;
}

// Plans that change the same tasks alike have the same key, whichever improvements they are made of.
static uint64_t key_of(const struct search_result *result, const struct candidate *candidate) {
    uint64_t key = 0;
    for (size_t t = 0; t < result->trace_count; t++) {
        key ^= improvement_key(&candidate->improvements[t], t);
    }
    return key;
}

bool search_conflict(const struct search_result *result, size_t a, size_t b) {
    const struct improvement *left = result->candidates[a].improvements, *right = result->candidates[b].improvements;
    bool conflict = false;
    for (size_t t = 0; t < result->trace_count && !conflict; t++) {
        conflict = improvements_conflict(&left[t], &right[t]);
    }
    return conflict;
}

static bool describe(const struct search *search, uint32_t count, struct arena *arena,
                     struct combine_problem *problem) {
    const struct search_result *result = search->result;
    uint64_t *keys = ARENA_NEW(arena, uint64_t, (size_t)count + 1);
    bool *excludes = ARENA_NEW(arena, bool, (size_t)count *count + 1);
    if (!keys || !excludes) return false;
    for (uint32_t a = 0; a < count; a++) {
        keys[a] = key_of(result, &result->candidates[a]);
        for (uint32_t b = 0; b < a; b++) {
            bool conflict = search_conflict(result, a, b);
            excludes[(size_t)a * count + b] = excludes[(size_t)b * count + a] = conflict;
        }
    }
    problem->candidates = count;
    problem->keys = keys;
    problem->excludes = excludes;
    return true;
}

static bool keep_plan(struct search *search, const struct combination *combination, struct arena *arena,
                      struct error *error) {
    struct ranked_plan *plan = &search->result->plans[search->result->plan_count];
    size_t trace;
    apply_members(search, combination->members, combination->count);
    if (!estimate(search, true, &trace, error)) return false;
    plan->candidates = ARENA_NEW(arena, uint32_t, combination->count);
    if (!plan->candidates) return error_set(error, STATUS_FAILED, "no memory for a plan");
    memcpy(plan->candidates, combination->members, combination->count * sizeof *plan->candidates);
    plan->count = combination->count;
    plan->estimate = search->estimates[0];
    plan->value = value_of_estimates(search, plan->count);
    search->result->plan_count++;
    return true;
}

static bool keep_best(struct search *search, const struct combine_result *found, struct arena *arena,
                      struct error *error) {
    size_t valid = 0;
    while (valid < found->count && valid < search->options->top && found->combinations[valid].valid) valid++;
    search->result->plans = ARENA_NEW(arena, struct ranked_plan, valid + 1);
    if (!search->result->plans) return error_set(error, STATUS_FAILED, "no memory for plans");
    for (size_t i = 0; i < valid; i++) {
        if (!keep_plan(search, &found->combinations[i], arena, error)) return false;
    }
    return true;
}

static bool combine(struct search *search, uint32_t usable, struct arena *arena, struct error *error) {
    struct arena passing = ARENA_INIT;
    struct combine_problem problem = {.evaluate = evaluate,
                                      .context = search,
                                      .evaluations = search->options->evaluations,
                                      .seed = search->options->seed};
    struct combine_result found;
    bool done = describe(search, usable, &passing, &problem) ||
                error_set(error, STATUS_FAILED, "no memory for %u candidates", usable);
    done = done && combine_search(&problem, &passing, &found, error);
    if (done) search->result->method = found.method;
    done = done && keep_best(search, &found, arena, error);
    arena_destroy(&passing);
    return done;
}

static bool needs_all(const struct search_options *options) {
    bool all = objective_needs_all(options->objective);
    for (size_t i = 0; i < options->requirement_count; i++) all |= requirement_needs_all(options->requirements[i]);
    return all;
}

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static bool init_estimators(struct search *search, const struct search_trace *traces, struct arena *scratch,
                            struct error *error) {
    const size_t count = search->trace_count;
    search->estimators = ARENA_NEW(scratch, struct estimator, count);
    search->recorded = ARENA_NEW(scratch, struct metrics, count);
    search->replayed = ARENA_NEW(scratch, struct metrics, count);
    search->estimates = ARENA_NEW(scratch, struct metrics, count);
    search->noise_in = ARENA_NEW(scratch, double, count);
    if (!search->estimators || !search->recorded || !search->replayed || !search->estimates || !search->noise_in) {
        return error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
    }
    for (size_t t = 0; t < count; t++) {
        if (!estimator_init(&search->estimators[t], traces[t].dag, traces[t].window, error)) return false;
        search->estimators[t].model.kind = search->options->model;
    }
    return true;
}

static void destroy_estimators(struct search *search) {
    for (size_t t = 0; search->estimators && t < search->trace_count; t++) estimator_destroy(&search->estimators[t]);
}

bool search_run(const struct search_trace *traces, size_t trace_count, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error) {
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    *result = (struct search_result){.traces = traces, .trace_count = trace_count};
    struct search search = {
        .trace_count = trace_count, .options = options, .result = result, .needs_all = needs_all(options)};
    struct arena scratch = ARENA_INIT;
    uint32_t usable = 0;
    bool done = init_estimators(&search, traces, &scratch, error) && measure_bases(&search, error) &&
                judge_all(&search, arena, &usable, error) && combine(&search, usable, arena, error);
    destroy_estimators(&search);
    arena_destroy(&scratch);
    result->seconds = seconds_since(&begin);
    return done;
}
