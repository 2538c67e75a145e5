// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates: each is tried alone, and told what comes of it, or what keeps it from a plan.
#include "optimize/candidates.h"
#include "optimize/search_internal.h"
#include "optimize/warnings.h"
#include "optimize/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USABLE_ALL = 12 };
static const double USABLE_WORSE = 0.1;

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->standing <= STANDS_FAILING;
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
    bool matters = search_gain(search, panel) > search->noise * fabs(search_value(search, panel, 0));
    for (size_t t = 0; t < search->trace_count && !matters; t++) {
        matters = figures_matter(&panel->estimates[t], &search->replayed[t], &search->recorded[t]);
    }
    return !matters;
}

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
    const char *name = search_trace_name(search, trace);
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
                        .trace = search_trace_name(search, trace),
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
    judged->value = search_value(search, panel, 1);
    candidate->negligible = is_negligible(search, panel);
    search_score(search, panel, &judged->alone);
    if (isnan(judged->value)) judged->value = INFINITY;
    const char *failed = search_failed(search, panel->estimates, &trace);
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
        search_count(search);
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
    struct panel *panel = search_panel(search, hand);
    if (panel)
        search_item_ended(search, judge(search, panel, row, judging->arena, &judging->judged[item], &error), &error);
}

bool search_judge(struct search *search, struct arena *arena, uint32_t *usable, struct error *error) {
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
        done = search_do_all(search, judge_one, &judging, (uint32_t)count, error);
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
