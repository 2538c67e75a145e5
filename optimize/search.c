// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/search.h"

#include "optimize/candidates.h"
#include "optimize/combine.h"
#include "optimize/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double least_noise = 0.005; // SPEC section 3

// What every estimate needs, made once.
struct estimator {
    const struct dag *dag;
    const struct window *window;
    const struct search_options *options;
    struct search_result *result;
    struct dag_edit edit;
    struct dag_run run;
    struct metrics_work work;
    double noise;
    bool needs_all; // of each plan, more than metrics_usage gives
    bool base_passes;
};

static void count_evaluation(struct estimator *estimator) {
    estimator->result->evaluated++;
    if (estimator->options->progress) {
        estimator->options->progress(estimator->options->progress_context, estimator->result->evaluated);
    }
}

static const char *failed_requirement(const struct estimator *estimator, const struct metrics *m) {
    const struct search_options *options = estimator->options;
    if (options->requirement_count == 0) return filter_failed(m, &estimator->result->base, estimator->noise);
    for (size_t i = 0; i < options->requirement_count; i++) {
        const char *failed = requirement_failed(options->requirements[i], m, &estimator->result->base);
        if (failed) return failed;
    }
    return NULL;
}

static double value_of(const struct estimator *estimator, const struct metrics *m, uint32_t edits) {
    return objective_value(estimator->options->objective, m, &estimator->result->base, edits);
}

// Times of the run under estimator->edit. false only when there is no memory.
static bool propagate(struct estimator *estimator, enum dag_outcome *outcome, struct error *error) {
    *outcome = dag_propagate(estimator->dag, &estimator->edit, &estimator->run);
    return *outcome != DAG_NO_MEMORY || error_set(error, STATUS_FAILED, "no memory for an estimate");
}

static bool measure(struct estimator *estimator, const struct metrics *base, bool all, struct metrics *m,
                    struct error *error) {
    return (all ? metrics_compute : metrics_usage)(estimator->dag, &estimator->edit, &estimator->run, estimator->window,
                                                   base, &estimator->work, m, error);
}

static void apply(struct estimator *estimator, const struct improvement *improvement) {
    for (uint32_t i = 0; i < improvement->task_count; i++) dag_edit_inline(&estimator->edit, improvement->tasks[i]);
}

// Base

static double difference(double a, double b) {
    double larger = fmax(fabs(a), fabs(b));
    return larger > 0 ? fabs(a - b) / larger : 0; // also where both are unknown
}

static double replay_error(const struct metrics *recorded, const struct metrics *replayed) {
    double worst = difference((double)recorded->wall_ns, (double)replayed->wall_ns);
    for (int s = 0; s < STATE_COUNT; s++) {
        worst = fmax(worst, difference(recorded->threads[s].peak, replayed->threads[s].peak));
        worst = fmax(worst, difference(recorded->threads[s].mean, replayed->threads[s].mean));
    }
    return worst;
}

bool search_null_replay(const struct dag *dag, const struct dag_edit *empty, const struct window *window,
                        const struct metrics *replayed, struct metrics_work *work, double *replay,
                        struct error *error) {
    const struct dag_run as_recorded = {.time_ns = dag->vertices.time_ns};
    struct metrics recorded;
    if (!metrics_usage(dag, empty, &as_recorded, window, NULL, work, &recorded, error)) return false;
    *replay = replay_error(&recorded, replayed);
    return true;
}

static bool measure_base(struct estimator *estimator, struct error *error) {
    struct search_result *result = estimator->result;
    enum dag_outcome outcome;
    dag_edit_clear(&estimator->edit, estimator->dag);
    if (!propagate(estimator, &outcome, error)) return false;
    if (outcome == DAG_DEADLOCK) return error_set(error, STATUS_FAILED, "the trace's own events wait for each other");
    if (!measure(estimator, NULL, true, &result->base, error)) return false;
    result->base.composite = metrics_composite(&result->base, &result->base);
    result->base.balanced = metrics_balanced(&result->base, &result->base);
    if (!search_null_replay(estimator->dag, &estimator->edit, estimator->window, &result->base, &estimator->work,
                            &result->null_replay_error, error)) {
        return false;
    }
    estimator->noise = fmax(least_noise, result->null_replay_error);
    estimator->base_passes = !failed_requirement(estimator, &result->base);
    return objective_check(estimator->options->objective, &result->base, error);
}

// Candidates

enum standing { STANDS_PASSING, STANDS_FAILING, STANDS_DEADLOCKED, STANDS_REFUSED };

struct judged {
    struct candidate candidate;
    enum standing standing;
    double value;
    const char *name;
};

static int compare_judged(const void *a, const void *b) {
    const struct judged *left = a, *right = b;
    if (left->standing != right->standing) return left->standing < right->standing ? -1 : 1;
    if (left->value != right->value) return left->value < right->value ? -1 : 1;
    return strcmp(left->name, right->name);
}

static bool estimate_alone(struct estimator *estimator, struct judged *judged, struct error *error) {
    struct candidate *candidate = &judged->candidate;
    dag_edit_clear(&estimator->edit, estimator->dag);
    apply(estimator, &candidate->improvement);
    if (!propagate(estimator, &candidate->outcome, error)) return false;
    if (candidate->outcome == DAG_DEADLOCK) {
        judged->standing = STANDS_DEADLOCKED;
        candidate->fails = "deadlock";
        why_write_deadlock(estimator->dag, &estimator->run, candidate);
        return true;
    }
    const struct metrics *base = &estimator->result->base;
    if (!measure(estimator, base, true, &candidate->estimate, error)) return false;
    const char *failed = failed_requirement(estimator, &candidate->estimate);
    candidate->fails = failed;
    judged->standing = failed ? STANDS_FAILING : STANDS_PASSING;
    judged->value = value_of(estimator, &candidate->estimate, 1);
    if (isnan(judged->value)) judged->value = INFINITY;
    why_write(estimator->dag, base, failed, candidate);
    return true;
}

static bool judge(struct estimator *estimator, const struct improvement *improvement, struct arena *arena,
                  struct judged *judged, struct error *error) {
    char name[1024];
    improvement_text(estimator->dag, improvement, name, sizeof name);
    *judged =
        (struct judged){.candidate = {.improvement = *improvement}, .name = arena_string(arena, name, strlen(name))};
    if (!judged->name) return error_set(error, STATUS_FAILED, "no memory for candidates");
    if (!improvement->refusal) {
        count_evaluation(estimator);
        return estimate_alone(estimator, judged, error);
    }
    judged->standing = STANDS_REFUSED;
    judged->candidate.fails = "refused";
    metrics_unknown(&judged->candidate.estimate);
    why_write(estimator->dag, &estimator->result->base, NULL, &judged->candidate);
    return true;
}

// Leaves the candidates best first and returns in *usable how many of them, from the first, a plan may hold.
static bool judge_all(struct estimator *estimator, struct arena *arena, uint32_t *usable, struct error *error) {
    struct improvement *improvements;
    size_t count;
    struct search_result *result = estimator->result;
    if (!candidates_find(estimator->dag, arena, &improvements, &count, error)) return false;
    struct judged *judged = malloc((count + 1) * sizeof *judged);
    result->candidates = ARENA_NEW(arena, struct candidate, count + 1);
    bool done = (judged && result->candidates) || error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t i = 0; done && i < count; i++) done = judge(estimator, &improvements[i], arena, &judged[i], error);
    if (done) qsort(judged, count, sizeof *judged, compare_judged);
    for (*usable = 0; done && *usable < count && judged[*usable].standing <= STANDS_FAILING;) ++*usable;
    for (size_t i = 0; done && i < count; i++) result->candidates[i] = judged[i].candidate;
    result->candidate_count = done ? count : 0;
    free(judged);
    return done;
}

// Plans

static void apply_members(struct estimator *estimator, const uint32_t *members, uint32_t count) {
    dag_edit_clear(&estimator->edit, estimator->dag);
    for (uint32_t i = 0; i < count; i++) apply(estimator, &estimator->result->candidates[members[i]].improvement);
}

static bool evaluate(void *context, struct combination *combination, struct error *error) {
    struct estimator *estimator = context;
    enum dag_outcome outcome;
    struct metrics m;
    apply_members(estimator, combination->members, combination->count);
    count_evaluation(estimator);
    combination->score = INFINITY;
    if (!propagate(estimator, &outcome, error)) return false;
    if (outcome == DAG_DEADLOCK) return true;
    if (!measure(estimator, &estimator->result->base, estimator->needs_all, &m, error)) return false;
    double gain = objective_gain(estimator->options->objective, &m, &estimator->result->base);
    double value = value_of(estimator, &m, 0); // edits break ties already
    if (isnan(value)) return true;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > estimator->noise * fabs(value) || !estimator->base_passes) &&
                         !failed_requirement(estimator, &m);
    return true;
}

static uint64_t mix(uint64_t x) { // splitmix64, of Steele, Lea and Flood
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// Plans that change the same tasks have the same key, whichever improvements they are made of.
static uint64_t key_of(const struct improvement *improvement) {
    uint64_t key = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) key ^= mix(improvement->tasks[i]);
    return key;
}

static bool describe(const struct estimator *estimator, uint32_t count, struct arena *arena,
                     struct combine_problem *problem) {
    const struct candidate *candidates = estimator->result->candidates;
    uint64_t *keys = ARENA_NEW(arena, uint64_t, (size_t)count + 1);
    bool *excludes = ARENA_NEW(arena, bool, (size_t)count *count + 1);
    if (!keys || !excludes) return false;
    for (uint32_t a = 0; a < count; a++) {
        keys[a] = key_of(&candidates[a].improvement);
        for (uint32_t b = 0; b < a; b++) {
            bool conflict = improvements_conflict(&candidates[a].improvement, &candidates[b].improvement);
            excludes[(size_t)a * count + b] = excludes[(size_t)b * count + a] = conflict;
        }
    }
    problem->candidates = count;
    problem->keys = keys;
    problem->excludes = excludes;
    return true;
}

static bool keep_plan(struct estimator *estimator, const struct combination *combination, struct arena *arena,
                      struct error *error) {
    struct ranked_plan *plan = &estimator->result->plans[estimator->result->plan_count];
    enum dag_outcome outcome;
    apply_members(estimator, combination->members, combination->count);
    if (!propagate(estimator, &outcome, error)) return false;
    if (!measure(estimator, &estimator->result->base, true, &plan->estimate, error)) return false;
    plan->candidates = ARENA_NEW(arena, uint32_t, combination->count);
    if (!plan->candidates) return error_set(error, STATUS_FAILED, "no memory for a plan");
    memcpy(plan->candidates, combination->members, combination->count * sizeof *plan->candidates);
    plan->count = combination->count;
    plan->value = value_of(estimator, &plan->estimate, plan->count);
    estimator->result->plan_count++;
    return true;
}

static bool keep_best(struct estimator *estimator, const struct combine_result *found, struct arena *arena,
                      struct error *error) {
    size_t valid = 0;
    while (valid < found->count && valid < estimator->options->top && found->combinations[valid].valid) valid++;
    estimator->result->plans = ARENA_NEW(arena, struct ranked_plan, valid + 1);
    if (!estimator->result->plans) return error_set(error, STATUS_FAILED, "no memory for plans");
    for (size_t i = 0; i < valid; i++) {
        if (!keep_plan(estimator, &found->combinations[i], arena, error)) return false;
    }
    return true;
}

static bool combine(struct estimator *estimator, uint32_t usable, struct arena *arena, struct error *error) {
    struct arena passing = ARENA_INIT;
    struct combine_problem problem = {.evaluate = evaluate,
                                      .context = estimator,
                                      .evaluations = estimator->options->evaluations,
                                      .seed = estimator->options->seed};
    struct combine_result found;
    bool done = describe(estimator, usable, &passing, &problem) ||
                error_set(error, STATUS_FAILED, "no memory for %u candidates", usable);
    done = done && combine_search(&problem, &passing, &found, error);
    if (done) estimator->result->method = found.method;
    done = done && keep_best(estimator, &found, arena, error);
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

bool search_run(const struct dag *dag, const struct window *window, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error) {
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    *result = (struct search_result){0};
    struct estimator estimator = {
        .dag = dag, .window = window, .options = options, .result = result, .needs_all = needs_all(options)};
    uint32_t usable = 0;
    bool done = dag_edit_init(&estimator.edit, dag, error) && dag_run_init(&estimator.run, dag, error) &&
                measure_base(&estimator, error) && judge_all(&estimator, arena, &usable, error) &&
                combine(&estimator, usable, arena, error);
    metrics_work_destroy(&estimator.work);
    dag_run_destroy(&estimator.run);
    dag_edit_destroy(&estimator.edit);
    result->seconds = seconds_since(&begin);
    return done;
}
