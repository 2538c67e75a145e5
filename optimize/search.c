// SPDX-License-Identifier: GPL-3.0-or-later
//
// Candidates, and combinations that are wanted at once, are estimated by two threads, each with a panel of its own
// (base/hands.h). What comes out is the same: what is tried hangs on no thread's luck.
#include "optimize/search.h"

#include "base/hands.h"
#include "optimize/candidates.h"
#include "optimize/combine.h"
#include "optimize/panel.h"
#include "optimize/warnings.h"
#include "optimize/why.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double worth_a_member = 0.005; // what each member of a plan must add to it, of the score

// What the candidates may take of the budget is three fifths; combinations have the rest. SEARCH_LEAST of either are
// tried however large the trace.
enum { SEARCH_LEAST = 24, USABLE_ALL = 12, TRIES_A_PLAN = 20 };
static const double USABLE_WORSE = 0.1;
#define WORTH_A_THREAD_NS 500000u // to make and join one takes a tenth of that

struct search {
    struct panel panels[HANDS]; // each thread's
    struct arena scratch;
    struct metrics *recorded, *replayed; // baselines, one a trace, like noise_in
    double *noise_in;
    size_t trace_count;
    const struct search_options *options;
    struct search_result *result;
    uint32_t hands;
    double noise;   // the worst trace's
    bool needs_all; // of each plan, more than metrics_usage gives
    bool base_passes;
    // A candidate each: what it is as a plan of its own, and the objective's value, once all are judged.
    struct combination *alone;
    double *value_alone;
    pthread_mutex_t lock; // for what follows, both arenas and the result
    struct error *error;  // of what failed first
    bool failed;
    uint64_t cost_ns, spent_ns; // of an evaluation, and so far: as the estimators expect, so that limits don't depend
                                // on the machine
};

static void count_evaluation(struct search *search) {
    pthread_mutex_lock(&search->lock);
    search->result->evaluated++;
    search->spent_ns += search->cost_ns;
    if (search->options->progress) {
        search->options->progress(search->options->progress_context, search->result->evaluated);
    }
    pthread_mutex_unlock(&search->lock);
}

// A thread's own. NULL: nothing is left to do, for something failed.
static struct panel *panel_of(struct search *search, uint32_t hand) {
    pthread_mutex_lock(&search->lock);
    bool goes_on = !search->failed;
    pthread_mutex_unlock(&search->lock);
    return goes_on ? &search->panels[hand] : NULL;
}

static void end_item(struct search *search, bool done, const struct error *error) {
    if (done) return;
    pthread_mutex_lock(&search->lock);
    if (!search->failed) *search->error = *error;
    search->failed = true;
    pthread_mutex_unlock(&search->lock);
}

static bool run_all(struct search *search, hands_item *run, void *context, uint32_t count, struct error *error) {
    search->error = error;
    hands_run(run, context, count, search->hands);
    return !search->failed;
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

static double value_of_estimates(const struct search *search, const struct panel *panel, uint32_t edits) {
    return objective_value(search->options->objective, panel->estimates, search->recorded, search->trace_count, edits);
}

static double gain_of_estimates(const struct search *search, const struct panel *panel) {
    return objective_gain(search->options->objective, panel->estimates, search->replayed, search->trace_count);
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
static bool is_negligible(const struct search *search, const struct panel *panel) {
    bool matters = gain_of_estimates(search, panel) > search->noise * fabs(value_of_estimates(search, panel, 0));
    for (size_t t = 0; t < search->trace_count && !matters; t++) {
        matters = figures_matter(&panel->estimates[t], &search->replayed[t], &search->recorded[t]);
    }
    return !matters;
}

// For messages: NULL for the first trace, of which they speak unless they say so.
static const char *trace_name(const struct search *search, size_t trace) {
    return trace > 0 ? search->result->traces[trace]->dag->trace->path : NULL;
}

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->standing <= STANDS_FAILING;
}

// Of what was measured last.
static void score(const struct search *search, const struct panel *panel, struct combination *combination) {
    size_t trace;
    double gain = gain_of_estimates(search, panel);
    double value = value_of_estimates(search, panel, 0); // edits break ties already
    if (isnan(value)) return;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > search->noise * fabs(value) || !search->base_passes) &&
                         !failed_requirement(search, panel->estimates, &trace);
}

// Base

static bool measure_base(struct search *search, size_t trace, struct error *error) {
    struct baseline baseline;
    if (!estimator_measure_baseline(search->panels[0].estimators[trace], true, &baseline, error)) return false;
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
static struct why why_in(const struct search *search, const struct panel *panel, const struct candidate *candidate,
                         size_t trace, const char *failed) {
    return (struct why){.improvement = &candidate->improvements[trace],
                        .costs = panel->estimators[trace]->costs,
                        .trace = trace_name(search, trace),
                        .base = &search->recorded[trace],
                        .estimate = &panel->estimates[trace],
                        .failed = failed};
}

static bool set_failure(const struct search *search, struct candidate *candidate, enum standing standing,
                        const char *failed, size_t trace, struct arena *arena, struct error *error) {
    candidate->standing = standing;
    candidate->fails = name_failure(search, failed, trace, arena);
    return !failed || candidate->fails || error_set(error, STATUS_FAILED, "no memory for candidates");
}

static bool warn(struct candidate *candidate, struct arena *arena, struct error *error) {
    struct warnings warnings = {.arena = arena};
    if (!warn_of_change(&warnings, candidate->named, error)) return false;
    candidate->warnings = warnings.texts;
    candidate->warning_count = warnings.count;
    return true;
}

static bool refuse(const struct search *search, const struct panel *panel, struct candidate *candidate,
                   const char *refusal, size_t trace, struct arena *arena, struct error *error) {
    struct why why = why_in(search, panel, candidate, trace, NULL);
    why.refusal = refusal;
    metrics_unknown(&candidate->estimate);
    why_write(&why, candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, STANDS_REFUSED, "refused", trace, arena, error);
}

static bool get_stuck(const struct search *search, const struct panel *panel, struct candidate *candidate, size_t trace,
                      struct arena *arena, struct error *error) {
    const struct why why = why_in(search, panel, candidate, trace, NULL);
    const char *fails = estimator_starves(panel->estimators[trace]) ? "starvation" : "deadlock";
    why_write_stuck(&why, panel->estimators[trace], candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, STANDS_STUCK, fails, trace, arena, error);
}

static bool rate(const struct search *search, const struct panel *panel, struct judged *judged, struct arena *arena,
                 struct error *error) {
    struct candidate *candidate = &judged->candidate;
    size_t trace;
    candidate->estimate = panel->estimates[0];
    judged->value = value_of_estimates(search, panel, 1);
    candidate->negligible = is_negligible(search, panel);
    score(search, panel, &judged->alone);
    if (isnan(judged->value)) judged->value = INFINITY;
    const char *failed = failed_requirement(search, panel->estimates, &trace);
    if (!failed) trace = (size_t)(candidate->named - candidate->improvements);
    const struct why why = why_in(search, panel, candidate, trace, failed);
    why_write(&why, candidate->why, sizeof candidate->why);
    return set_failure(search, candidate, failed ? STANDS_FAILING : STANDS_PASSING, failed, trace, arena, error) &&
           warn(candidate, arena, error);
}

static bool name_candidate(struct judged *judged, struct arena *arena, struct error *error) {
    char name[1024];
    improvement_text(judged->candidate.named, name, sizeof name);
    judged->name = arena_string(arena, name, strlen(name));
    return judged->name || error_set(error, STATUS_FAILED, "no memory for candidates");
}

static bool judge(struct search *search, struct panel *panel, const struct improvement *improvements,
                  struct arena *arena, struct judged *judged, struct error *error) {
    size_t named = 0, trace;
    while (improvements[named].task_count == 0) named++;
    *judged = (struct judged){.candidate = {.improvements = improvements, .named = &improvements[named]},
                              .alone = {.count = 1, .score = INFINITY}};
    panel_clear(panel);
    const char *refusal = panel_apply(panel, improvements, &trace);
    if (!refusal) {
        count_evaluation(search);
        if (!panel_estimate(panel, search->recorded, true, &trace, error)) return false;
    }
    pthread_mutex_lock(&search->lock);
    bool done = name_candidate(judged, arena, error);
    if (done && refusal)
        done = refuse(search, panel, &judged->candidate, refusal, trace, arena, error);
    else if (done && trace < search->trace_count)
        done = get_stuck(search, panel, &judged->candidate, trace, arena, error);
    else if (done)
        done = rate(search, panel, judged, arena, error);
    pthread_mutex_unlock(&search->lock);
    return done;
}

static bool find_candidates(const struct search *search, struct arena *arena, struct improvement **improvements,
                            size_t *count, struct error *error) {
    const struct dag **dags = ARENA_NEW(arena, const struct dag *, search->trace_count);
    if (!dags) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t t = 0; t < search->trace_count; t++) dags[t] = search->result->traces[t]->dag;
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

struct judging {
    struct search *search;
    const struct improvement *improvements; // a row each, of one a trace
    const struct promise *promises;
    struct judged *judged;
    struct arena *arena;
};

static void judge_one(void *context, uint32_t hand, uint32_t item) {
    const struct judging *judging = context;
    struct search *search = judging->search;
    struct error error = ERROR_INIT;
    const struct improvement *row = &judging->improvements[judging->promises[item].index * search->trace_count];
    struct panel *panel = panel_of(search, hand);
    if (panel) end_item(search, judge(search, panel, row, judging->arena, &judging->judged[item], &error), &error);
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
    if (done) {
        struct judging judging = {search, improvements, promises, judged, arena};
        count = choose(search, improvements, found, promises);
        done = run_all(search, judge_one, &judging, (uint32_t)count, error);
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

static void apply_members(const struct search *search, struct panel *panel, const uint32_t *members, uint32_t count) {
    size_t trace;
    panel_clear(panel);
    for (uint32_t i = 0; i < count; i++)
        panel_apply(panel, search->result->candidates[members[i]].improvements, &trace);
}

static bool evaluate(struct search *search, struct panel *panel, struct combination *combination, struct error *error) {
    size_t trace;
    if (combination->count == 1) {
        const struct combination *alone = &search->alone[combination->members[0]];
        combination->score = alone->score;
        combination->valid = alone->valid;
        return true;
    }
    apply_members(search, panel, combination->members, combination->count);
    count_evaluation(search);
    combination->score = INFINITY;
    if (!panel_estimate(panel, search->recorded, search->needs_all, &trace, error)) return false;
    if (trace == search->trace_count) score(search, panel, combination);
    return true;
}

struct evaluating {
    struct search *search;
    struct combination *combinations;
};

static void evaluate_one(void *context, uint32_t hand, uint32_t item) {
    const struct evaluating *evaluating = context;
    struct error error = ERROR_INIT;
    struct panel *panel = panel_of(evaluating->search, hand);
    if (!panel) return;
    bool done = evaluate(evaluating->search, panel, &evaluating->combinations[item], &error);
    end_item(evaluating->search, done, &error);
}

static bool evaluate_all(void *search, struct combination *combinations, size_t count, struct error *error) {
    struct evaluating evaluating = {search, combinations};
    return run_all(search, evaluate_one, &evaluating, (uint32_t)count, error);
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
static bool estimate_plan(const struct search *search, struct panel *panel, struct ranked_plan *plan,
                          struct error *error) {
    size_t trace;
    if (plan->count == 1) {
        plan->estimate = search->result->candidates[plan->candidates[0]].estimate;
        plan->value = search->value_alone[plan->candidates[0]];
        return true;
    }
    apply_members(search, panel, plan->candidates, plan->count);
    if (!panel_estimate(panel, search->recorded, true, &trace, error)) return false;
    plan->estimate = panel->estimates[0];
    plan->value = value_of_estimates(search, panel, plan->count);
    return true;
}

static void estimate_one(void *context, uint32_t hand, uint32_t item) {
    struct search *search = context;
    struct error error = ERROR_INIT;
    struct panel *panel = panel_of(search, hand);
    if (panel) end_item(search, estimate_plan(search, panel, &search->result->plans[item], &error), &error);
}

static bool keep_plans(struct search *search, const struct combination *kept, size_t count, struct arena *arena,
                       struct error *error) {
    struct search_result *result = search->result;
    for (size_t i = 0; i < count; i++) {
        struct ranked_plan *plan = &result->plans[i];
        plan->count = kept[i].count;
        plan->candidates = ARENA_NEW(arena, uint32_t, plan->count);
        if (!plan->candidates) return error_set(error, STATUS_FAILED, "no memory for a plan");
        memcpy(plan->candidates, kept[i].members, plan->count * sizeof *plan->candidates);
    }
    if (!run_all(search, estimate_one, search, (uint32_t)count, error)) return false;
    result->plan_count = count;
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
    return evaluate_all(search, less, 1, error);
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
    return keep_plans(search, kept, count, arena, error);
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
    struct combine_problem problem = {.evaluate = evaluate_all,
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

static bool begin(struct search *search, struct error *error) {
    const size_t count = search->trace_count;
    struct panel *panel = &search->panels[0];
    search->recorded = ARENA_NEW(&search->scratch, struct metrics, count);
    search->replayed = ARENA_NEW(&search->scratch, struct metrics, count);
    search->noise_in = ARENA_NEW(&search->scratch, double, count);
    if (!search->recorded || !search->replayed || !search->noise_in) {
        return error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
    }
    if (!panel_new(panel, search->result->traces, count, &search->scratch, error)) return false;
    panel_clear(panel);
    for (size_t t = 0; t < count; t++) {
        panel->estimators[t]->model = (struct model){.kind = search->options->model};
        search->cost_ns += estimator_cost_ns(panel->estimators[t]);
    }
    return true;
}

// After the replay, of which the helper's estimators know what they need not find out once more.
static bool get_help(struct search *search, uint32_t hands, struct error *error) {
    search->hands = hands ? hands : search->cost_ns < WORTH_A_THREAD_NS ? 1 : HANDS;
    for (uint32_t hand = 1; hand < search->hands; hand++) {
        if (!panel_new_beside(&search->panels[hand], &search->panels[0], &search->scratch, error)) return false;
    }
    return true;
}

bool search_run_by(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                   uint32_t hands, struct arena *arena, struct search_result *result, struct error *error) {
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    *result = (struct search_result){.traces = traces, .trace_count = trace_count};
    struct search search = {.trace_count = trace_count,
                            .options = options,
                            .result = result,
                            .needs_all = needs_all(options),
                            .scratch = ARENA_INIT,
                            .lock = PTHREAD_MUTEX_INITIALIZER};
    uint32_t usable = 0;
    bool done = begin(&search, error) && measure_bases(&search, error) && get_help(&search, hands, error) &&
                judge_all(&search, arena, &usable, error) && combine(&search, usable, arena, error);
    for (uint32_t hand = 0; hand < HANDS; hand++) panel_destroy(&search.panels[hand]);
    arena_destroy(&search.scratch);
    result->seconds = seconds_since(&begun);
    return done;
}

bool search_run(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error) {
    return search_run_by(traces, trace_count, options, 0, arena, result, error);
}
