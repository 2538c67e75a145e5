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

static const double worth_a_member = 0.005; // what each member of a plan must add to it, of the score

// What the candidates may take of the budget is three fifths; combinations have the rest. SEARCH_LEAST of either are
// tried however large the trace.
enum { SEARCH_LEAST = 24, USABLE_ALL = 12, TRIES_A_PLAN = 20 };
static const double USABLE_WORSE = 0.1;

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
    // A candidate each: what it is as a plan of its own, and the objective's value, once all are judged.
    struct combination *alone;
    double *value_alone;
    uint64_t cost_ns, spent_ns; // of an evaluation, and so far: as the estimators expect, so that limits don't depend
                                // on the machine
};

static void count_evaluation(struct search *search) {
    search->result->evaluated++;
    search->spent_ns += search->cost_ns;
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

static double gain_of_estimates(const struct search *search) {
    return objective_gain(search->options->objective, search->estimates, search->replayed, search->trace_count);
}

// Whether a figure, of which less is better, is off the replay's by more than nothing or a little. Not where it is
// unknown.
static bool figure_matters(double now, double replayed, double recorded) {
    const double share = now < replayed ? LEAST_NOISE : SEARCH_LITTLE_LOSS;
    return fabs(now - replayed) > fmax(share * fabs(replayed), fabs(replayed - recorded));
}

static bool figures_matter(const struct metrics *m, const struct metrics *replayed, const struct metrics *recorded) {
    const struct usage *now = &m->threads[STATE_OCCUPIED], *replay = &replayed->threads[STATE_OCCUPIED],
                       *then = &recorded->threads[STATE_OCCUPIED];
    return figure_matters((double)m->wall_ns, (double)replayed->wall_ns, (double)recorded->wall_ns) ||
           figure_matters(now->peak, replay->peak, then->peak) || figure_matters(now->mean, replay->mean, then->mean);
}

// Of what was measured last.
static bool is_negligible(const struct search *search) {
    bool matters = gain_of_estimates(search) > search->noise * fabs(value_of_estimates(search, 0));
    for (size_t t = 0; t < search->trace_count && !matters; t++) {
        matters = figures_matter(&search->estimates[t], &search->replayed[t], &search->recorded[t]);
    }
    return !matters;
}

static void clear_edits(struct search *search) {
    for (size_t t = 0; t < search->trace_count; t++) {
        dag_edit_clear(&search->estimators[t].edit, search->estimators[t].dag);
    }
}

// NULL, or why it can't be, and in which trace. Where a trace has none of its tasks there is nothing to refuse.
static const char *apply(struct search *search, const struct improvement *improvements, size_t *trace) {
    for (*trace = 0; *trace < search->trace_count; ++*trace) {
        const struct improvement *improvement = &improvements[*trace];
        if (improvement->task_count == 0) continue;
        const char *refusal = improvement_apply(improvement, &search->estimators[*trace].edit);
        if (refusal) return refusal;
    }
    return NULL;
}

// For messages: NULL for the first trace, of which they speak unless they say so.
static const char *trace_name(const struct search *search, size_t trace) {
    return trace > 0 ? search->estimators[trace].dag->trace->path : NULL;
}

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->standing <= STANDS_FAILING;
}

// Of what was measured last.
static void score(const struct search *search, struct combination *combination) {
    size_t trace;
    double gain = gain_of_estimates(search);
    double value = value_of_estimates(search, 0); // edits break ties already
    if (isnan(value)) return;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > search->noise * fabs(value) || !search->base_passes) &&
                         !failed_requirement(search, search->estimates, &trace);
}

// Base

static bool measure_base(struct search *search, size_t trace, struct error *error) {
    struct baseline baseline;
    if (!estimator_measure_baseline(&search->estimators[trace], true, &baseline, error)) return false;
    search->recorded[trace] = baseline.recorded;
    search->replayed[trace] = baseline.replayed;
    search->noise_in[trace] = baseline.noise;
    search->noise = fmax(search->noise, baseline.noise);
    if (baseline.replay_error.share >= search->result->null_replay_error.share) {
        search->result->null_replay_error = baseline.replay_error;
    }
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
    search->result->replayed = search->replayed[0];
    search->result->noise = search->noise_in[0];
    search->base_passes = !failed_requirement(search, search->replayed, &failing);
    return true;
}

// Candidates

struct judged {
    struct candidate candidate;
    struct combination alone; // what evaluate would say of it
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
    count_evaluation(search);
    if (!estimate(search, true, &trace, error)) return false;
    if (trace < search->trace_count) {
        const struct why why = why_in(search, candidate, trace, NULL);
        why_write_stuck(&why, &search->estimators[trace], candidate->why, sizeof candidate->why);
        const char *fails = estimator_starves(&search->estimators[trace]) ? "starvation" : "deadlock";
        return set_failure(search, candidate, STANDS_STUCK, fails, trace, arena, error);
    }
    candidate->estimate = search->estimates[0];
    judged->value = value_of_estimates(search, 1);
    candidate->negligible = is_negligible(search);
    score(search, &judged->alone);
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

static bool refuse(struct search *search, struct candidate *candidate, const char *refusal, size_t trace,
                   struct arena *arena, struct error *error) {
    struct why why = why_in(search, candidate, trace, NULL);
    why.refusal = refusal;
    metrics_unknown(&candidate->estimate);
    why_write(&why, candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, STANDS_REFUSED, "refused", trace, arena, error);
}

static bool judge(struct search *search, const struct improvement *improvements, struct arena *arena,
                  struct judged *judged, struct error *error) {
    char name[1024];
    size_t named = 0, trace;
    while (improvements[named].task_count == 0) named++;
    *judged = (struct judged){.candidate = {.improvements = improvements, .named = &improvements[named]},
                              .alone = {.count = 1, .score = INFINITY}};
    improvement_text(&improvements[named], name, sizeof name);
    judged->name = arena_string(arena, name, strlen(name));
    if (!judged->name) return error_set(error, STATUS_FAILED, "no memory for candidates");
    clear_edits(search);
    const char *refusal = apply(search, improvements, &trace);
    if (refusal) return refuse(search, &judged->candidate, refusal, trace, arena, error);
    return estimate_alone(search, judged, arena, error) &&
           (!candidate_is_estimated(&judged->candidate) || warn(&judged->candidate, arena, error));
}

static bool find_candidates(const struct search *search, struct arena *arena, struct improvement **improvements,
                            size_t *count, struct error *error) {
    const struct dag **dags = ARENA_NEW(arena, const struct dag *, search->trace_count);
    if (!dags) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t t = 0; t < search->trace_count; t++) dags[t] = search->estimators[t].dag;
    return candidates_join(dags, search->trace_count, model_kinds(search->options->model), arena, improvements, count,
                           error);
}

// Where not all candidates can be tried: what they could gain, at most.
struct promise {
    double ns; // that their tasks take, in all traces; of a family's second member half of that, of its third a third
    size_t index; // of the row of improvements
};

static int compare_promises(const void *a, const void *b) {
    const struct promise *left = a, *right = b;
    if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static int compare_indices(const void *a, const void *b) {
    const struct promise *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

static double time_in_tasks(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    double ns = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start == DAG_NONE || task->end == DAG_NONE) continue;
        ns += (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
    }
    return ns;
}

static void find_promises(const struct search *search, const struct improvement *improvements, size_t count,
                          struct promise *promises) {
    const size_t traces = search->trace_count;
    size_t place = 0; // in its family
    for (size_t i = 0; i < count; i++) {
        const struct improvement *row = &improvements[i * traces];
        bool same = i > 0 && candidates_same_family(&improvements[(i - 1) * traces], row);
        place = same ? place + 1 : 0;
        promises[i] = (struct promise){.index = i};
        for (size_t t = 0; t < traces; t++) promises[i].ns += time_in_tasks(&row[t]) / (double)(place + 1);
    }
}

// Those that are tried, in their order; returns how many.
static size_t choose(const struct search *search, const struct improvement *improvements, size_t count,
                     struct promise *promises) {
    const uint64_t affordable = search->options->budget_ns * 6 / 10 / search->cost_ns;
    const size_t most = affordable > SEARCH_LEAST ? affordable : SEARCH_LEAST;
    find_promises(search, improvements, count, promises);
    if (count <= most) return count;
    qsort(promises, count, sizeof *promises, compare_promises);
    qsort(promises, most, sizeof *promises, compare_indices);
    return most;
}

// What passes, and what fails but might pass together with others: all where they are few, else what is not far worse
// than the run.
static uint32_t count_usable(const struct search *search, const struct judged *judged, size_t count) {
    const double base =
        objective_value(search->options->objective, search->replayed, search->recorded, search->trace_count, 0);
    uint32_t usable = 0;
    for (; usable < count && candidate_is_estimated(&judged[usable].candidate); usable++) {
        bool near = judged[usable].value <= base + USABLE_WORSE * fabs(base);
        if (judged[usable].candidate.standing == STANDS_FAILING && usable >= USABLE_ALL && !near) break;
    }
    return usable;
}

// Leaves the candidates best first and returns in *usable how many of them, from the first, a plan may hold.
static bool judge_all(struct search *search, struct arena *arena, uint32_t *usable, struct error *error) {
    struct improvement *improvements;
    size_t found, count = 0;
    struct search_result *result = search->result;
    if (!find_candidates(search, arena, &improvements, &found, error)) return false;
    struct judged *judged = malloc((found + 1) * sizeof *judged);
    struct promise *promises = malloc((found + 1) * sizeof *promises);
    result->candidates = ARENA_NEW(arena, struct candidate, found + 1);
    search->alone = ARENA_NEW(arena, struct combination, found + 1);
    search->value_alone = ARENA_NEW(arena, double, found + 1);
    bool done = (judged && promises && result->candidates && search->alone && search->value_alone) ||
                error_set(error, STATUS_FAILED, "no memory for candidates");
    if (done) count = choose(search, improvements, found, promises);
    for (size_t i = 0; done && i < count; i++) {
        done = judge(search, &improvements[promises[i].index * search->trace_count], arena, &judged[i], error);
    }
    if (done) qsort(judged, count, sizeof *judged, compare_judged);
    *usable = done ? count_usable(search, judged, count) : 0;
    for (size_t i = 0; done && i < count; i++) {
        result->candidates[i] = judged[i].candidate;
        search->alone[i] = judged[i].alone;
        search->value_alone[i] = judged[i].value;
    }
    result->candidate_count = done ? count : 0;
    result->untried = found - count;
    free(promises);
    free(judged);
    return done;
}

// Plans

static void apply_members(struct search *search, const uint32_t *members, uint32_t count) {
    clear_edits(search);
    size_t trace;
    for (uint32_t i = 0; i < count; i++) apply(search, search->result->candidates[members[i]].improvements, &trace);
}

static bool evaluate(void *context, struct combination *combination, struct error *error) {
    struct search *search = context;
    size_t trace;
    if (combination->count == 1) {
        const struct combination *alone = &search->alone[combination->members[0]];
        combination->score = alone->score;
        combination->valid = alone->valid;
        return true;
    }
    apply_members(search, combination->members, combination->count);
    count_evaluation(search);
    combination->score = INFINITY;
    if (!estimate(search, search->needs_all, &trace, error)) return false;
    if (trace == search->trace_count) score(search, combination);
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

// All figures of a plan, as of a candidate alone.
static bool estimate_plan(struct search *search, struct ranked_plan *plan, struct error *error) {
    size_t trace;
    if (plan->count == 1) {
        plan->estimate = search->result->candidates[plan->candidates[0]].estimate;
        plan->value = search->value_alone[plan->candidates[0]];
        return true;
    }
    apply_members(search, plan->candidates, plan->count);
    if (!estimate(search, true, &trace, error)) return false;
    plan->estimate = search->estimates[0];
    plan->value = value_of_estimates(search, plan->count);
    return true;
}

static bool keep_plan(struct search *search, const struct combination *combination, struct arena *arena,
                      struct error *error) {
    struct ranked_plan *plan = &search->result->plans[search->result->plan_count];
    plan->candidates = ARENA_NEW(arena, uint32_t, combination->count);
    if (!plan->candidates) return error_set(error, STATUS_FAILED, "no memory for a plan");
    memcpy(plan->candidates, combination->members, combination->count * sizeof *plan->candidates);
    plan->count = combination->count;
    if (!estimate_plan(search, plan, error)) return false;
    search->result->plan_count++;
    return true;
}

// A combination less a member; its evaluation is `known`, or made now.
static bool without(struct search *search, const struct combine_problem *problem, const struct combine_result *found,
                    const struct combination *whole, uint32_t member, struct arena *arena, struct combination *less,
                    struct error *error) {
    const uint64_t key = whole->key ^ problem->keys[whole->members[member]];
    uint32_t *members = ARENA_NEW(arena, uint32_t, whole->count);
    if (!members) return error_set(error, STATUS_FAILED, "no memory for a plan");
    memcpy(members, whole->members, member * sizeof *members);
    memcpy(members + member, whole->members + member + 1, (whole->count - member - 1) * sizeof *members);
    *less = (struct combination){.key = key, .members = members, .count = whole->count - 1};
    for (size_t i = 0; i < found->count; i++) {
        if (found->combinations[i].key != key) continue;
        less->valid = found->combinations[i].valid;
        less->score = found->combinations[i].score;
        return true;
    }
    return evaluate(search, less, error);
}

// Leaves out what a plan does as well without, those that are worst alone first; in all it may become worse by no more
// than the least noise.
static bool shorten(struct search *search, const struct combine_problem *problem, const struct combine_result *found,
                    struct combination *plan, struct arena *arena, struct error *error) {
    const double worst = plan->score + worth_a_member * fabs(plan->score);
    for (uint32_t i = plan->count; i-- > 0 && plan->count > 1;) {
        struct combination less;
        if (!without(search, problem, found, plan, i, arena, &less, error)) return false;
        if (less.valid && less.score <= worst) *plan = less;
    }
    return true;
}

static bool is_kept(const struct combination *kept, size_t count, const struct combination *plan) {
    for (size_t i = 0; i < count; i++) {
        if (kept[i].key == plan->key) return true;
    }
    return false;
}

static bool keep_best(struct search *search, const struct combine_problem *problem, const struct combine_result *found,
                      struct arena *scratch, struct arena *arena, struct error *error) {
    const size_t top = search->options->top, tries = TRIES_A_PLAN * top;
    struct combination *kept = ARENA_NEW(scratch, struct combination, top + 1);
    size_t count = 0;
    search->result->plans = ARENA_NEW(arena, struct ranked_plan, top + 1);
    if (!search->result->plans || !kept) return error_set(error, STATUS_FAILED, "no memory for plans");
    for (size_t i = 0; i < found->count && i < tries && found->combinations[i].valid && count < top; i++) {
        struct combination plan = found->combinations[i];
        if (!shorten(search, problem, found, &plan, scratch, error)) return false;
        if (!is_kept(kept, count, &plan)) kept[count++] = plan;
    }
    if (count) qsort(kept, count, sizeof *kept, combination_compare);
    for (size_t i = 0; i < count; i++) {
        if (!keep_plan(search, &kept[i], arena, error)) return false;
    }
    return true;
}

static uint32_t affordable_plans(const struct search *search) {
    const uint64_t budget_ns = search->options->budget_ns;
    const uint64_t left_ns = search->spent_ns < budget_ns ? budget_ns - search->spent_ns : 0;
    uint64_t plans = left_ns / search->cost_ns;
    if (plans < SEARCH_LEAST) plans = SEARCH_LEAST;
    return plans < search->options->evaluations ? (uint32_t)plans : search->options->evaluations;
}

static bool combine(struct search *search, uint32_t usable, struct arena *arena, struct error *error) {
    struct arena passing = ARENA_INIT;
    struct combine_problem problem = {.evaluate = evaluate,
                                      .context = search,
                                      .evaluations = affordable_plans(search),
                                      .seed = search->options->seed};
    struct combine_result found;
    bool done = describe(search, usable, &passing, &problem) ||
                error_set(error, STATUS_FAILED, "no memory for %u candidates", usable);
    done = done && combine_search(&problem, &passing, &found, error);
    if (done) search->result->method = found.method;
    search->result->limit = problem.evaluations;
    done = done && keep_best(search, &problem, &found, &passing, arena, error);
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
        search->cost_ns += estimator_cost_ns(&search->estimators[t]);
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
