// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates: each is tried alone, and told what comes of it, or what keeps it from a plan. Factors and sizes of pools
// that gain are searched on: doubled as long as that gains, and then halved into the interval in which the smallest
// lies that brings WORTH_SHARE of the best one's gain, by the objective and by wall time.
#include "optimize/screen.h"

#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "optimize/warn_estimate.h"
#include "optimize/why.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USABLE_ALL = 12, MOST_PARTS = 1024, MOST_ROUNDS = 48, FINENESS = 16 };
static const double USABLE_WORSE = 0.1;

// Whether a figure, of which less is better, is off the replay's by more than nothing or a little. Not where it is
// unknown.
static bool figure_matters(double now, double replayed, double recorded) {
    const double share = now < replayed ? LEAST_NOISE : SEARCH_LITTLE_LOSS;
    return fabs(now - replayed) > fmax(share * fabs(replayed), fabs(replayed - recorded));
}

static bool figures_matter(const struct metrics *m, const struct metrics *replayed, const struct metrics *recorded) {
    const struct usage *now = &m->threads[STATE_OCCUPIED], *replay = &replayed->threads[STATE_OCCUPIED],
                       *then = &recorded->threads[STATE_OCCUPIED];
    return figure_matters(metrics_wall_ratio(m, recorded), metrics_wall_ratio(replayed, recorded), 1) ||
           figure_matters(now->peak, replay->peak, then->peak) || figure_matters(now->mean, replay->mean, then->mean);
}

// Of what was measured last.
static bool is_negligible(const struct search *search, const struct evaluator *evaluator) {
    bool matters = search_gain(search, evaluator) > search->noise * fabs(search_value(search, evaluator, 0));
    for (size_t t = 0; t < search->trace_count && !matters; t++) {
        matters = figures_matter(&evaluator->estimates[t], &search->replayed[t], &search->recorded[t]);
    }
    return !matters;
}

struct screened {
    struct candidate candidate;
    struct combination alone; // what evaluate would say of it
    double value, wall;       // of the objective; metrics_wall_ratio to the replay, the mean over traces
    const char *name;
    uint32_t family; // index of its first member
    uint32_t found;  // index in the search of parts that it was found by
};

struct screening { // so far
    struct screened *items;
    size_t count;
    uint32_t *order;                 // indices, family by family, and by number in each
    const struct improvement **rows; // of the next round
    struct arena *arena;
};

static int compare_screened(const void *a, const void *b) {
    const struct screened *left = a, *right = b;
    if (left->candidate.probe != right->candidate.probe) return left->candidate.probe ? 1 : -1;
    if (left->candidate.status != right->candidate.status) {
        return left->candidate.status < right->candidate.status ? -1 : 1;
    }
    const double here = combination_rounded(left->value), there = combination_rounded(right->value);
    if (here != there) return here < there ? -1 : 1;
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
static struct why why_in(const struct search *search, const struct evaluator *evaluator,
                         const struct candidate *candidate, size_t trace, const char *failed) {
    return (struct why){.improvement = &candidate->improvements[trace],
                        .costs = evaluator->estimators[trace]->costs,
                        .trace = search_trace_name(search, trace),
                        .base = &search->recorded[trace],
                        .estimate = &evaluator->estimates[trace],
                        .failed = failed};
}

static bool set_failure(const struct search *search, struct candidate *candidate, enum candidate_status status,
                        const char *failed, size_t trace, struct arena *arena, struct error *error) {
    candidate->status = status;
    candidate->fails = name_failure(search, failed, trace, arena);
    const bool told = candidate->why && (candidate->fails || !failed);
    return told || error_set(error, STATUS_FAILED, "no memory for candidates");
}

static bool warn(struct candidate *candidate, struct arena *arena, struct error *error) {
    struct warnings warnings = {.arena = arena};
    if (!warn_of_change(&warnings, candidate->named, error)) return false;
    candidate->warnings = warnings.texts;
    candidate->warning_count = warnings.count;
    return true;
}

static bool refuse(const struct search *search, const struct evaluator *evaluator, struct candidate *candidate,
                   const char *refusal, size_t trace, struct arena *arena, struct error *error) {
    struct why why = why_in(search, evaluator, candidate, trace, NULL);
    why.refusal = refusal;
    metrics_unknown(&candidate->estimate);
    candidate->why = why_text(&why, arena);
    return set_failure(search, candidate, CANDIDATE_REFUSED, "refused", trace, arena, error);
}

static bool get_stuck(const struct search *search, const struct evaluator *evaluator, struct candidate *candidate,
                      size_t trace, struct arena *arena, struct error *error) {
    const struct why why = why_in(search, evaluator, candidate, trace, NULL);
    const struct estimator *estimator = evaluator->estimators[trace];
    const char *fails = estimator_halts(estimator) ? "halt" : estimator_starves(estimator) ? "starvation" : "deadlock";
    candidate->why = why_stuck_text(&why, evaluator->estimators[trace], arena);
    return set_failure(search, candidate, CANDIDATE_STUCK, fails, trace, arena, error);
}

static bool rate(const struct search *search, const struct evaluator *evaluator, struct screened *screened,
                 struct arena *arena, struct error *error) {
    struct candidate *candidate = &screened->candidate;
    size_t trace;
    candidate->estimate = evaluator->estimates[0];
    screened->value = search_value(search, evaluator, 1);
    for (size_t t = 0; t < search->trace_count; t++)
        screened->wall +=
            metrics_wall_ratio(&evaluator->estimates[t], &search->replayed[t]) / (double)search->trace_count;
    candidate->negligible = is_negligible(search, evaluator);
    search_score(search, evaluator, &screened->alone);
    screened->alone.figures = search_figures(search, evaluator, arena);
    if (!screened->alone.figures) return error_set(error, STATUS_FAILED, "no memory for candidates");
    if (isnan(screened->value)) screened->value = INFINITY;
    const char *failed = search_failed(search, evaluator->estimates, &trace);
    if (!failed) trace = (size_t)(candidate->named - candidate->improvements);
    const struct why why = why_in(search, evaluator, candidate, trace, failed);
    candidate->why = why_text(&why, arena);
    return set_failure(search, candidate, failed ? CANDIDATE_FAILING : CANDIDATE_PASSING, failed, trace, arena,
                       error) &&
           warn(candidate, arena, error);
}

static bool name_candidate(struct screened *screened, struct arena *arena, struct error *error) {
    char name[1024];
    improvement_text(screened->candidate.named, name, sizeof name);
    screened->name = arena_string(arena, name, strlen(name));
    return screened->name || error_set(error, STATUS_FAILED, "no memory for candidates");
}

// A row of the next round.
static bool screen(struct search *search, struct evaluator *evaluator, void *context, uint32_t row,
                   struct error *error) {
    const struct screening *screening = context;
    const struct improvement *improvements = screening->rows[row];
    struct screened *screened = &screening->items[screening->count + row];
    struct arena *arena = screening->arena;
    size_t named = 0, trace;
    while (improvements[named].task_count == 0) named++;
    *screened = (struct screened){.candidate = {.improvements = improvements, .named = &improvements[named]},
                                  .alone = {.count = 1, .score = INFINITY}};
    evaluator_clear(evaluator);
    const char *refusal = evaluator_apply(evaluator, improvements, &trace);
    if (!refusal) {
        search_count(search);
        if (!evaluator_estimate(evaluator, search->recorded, search->shows_all, &trace, error)) return false;
    }
    pthread_mutex_lock(&search->lock);
    bool done = name_candidate(screened, arena, error);
    if (done && refusal)
        done = refuse(search, evaluator, &screened->candidate, refusal, trace, arena, error);
    else if (done && trace < search->trace_count)
        done = get_stuck(search, evaluator, &screened->candidate, trace, arena, error);
    else if (done)
        done = rate(search, evaluator, screened, arena, error);
    pthread_mutex_unlock(&search->lock);
    return done;
}

static bool find_candidates(const struct search *search, struct arena *arena, struct improvement **improvements,
                            size_t *count, struct error *error) {
    const size_t row = search_row(search), traces = search->trace_count;
    const struct dag **dags = ARENA_NEW(arena, const struct dag *, row);
    if (!dags) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t t = 0; t < row; t++)
        dags[t] = t < traces ? search->result->traces[t]->dag : search->wholes[t - traces]->dag;
    return candidates_join(dags, row, model_kinds(search->options->model), arena, improvements, count, error);
}

// Where not all candidates can be tried: what they could gain, at most.
struct promise {
    double ns; // that their tasks take, in all traces; of a family's second member half of that, of its third a third
    size_t index; // of the row of improvements
};

static int compare_indices(const void *a, const void *b) {
    const struct promise *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

static int compare_promises(const void *a, const void *b) {
    const struct promise *left = a, *right = b;
    if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
    return compare_indices(a, b);
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

static bool any_has_tasks(const struct improvement *improvements, size_t count) {
    size_t trace = 0;
    while (trace < count && improvements[trace].task_count == 0) trace++;
    return trace < count;
}

// In the traces; and of parts in what they are parts of, where all are estimated once more.
static bool has_tasks(const struct search *search, const struct improvement *improvements) {
    const size_t traces = search->trace_count;
    return any_has_tasks(improvements, traces) && (!search->wholes || any_has_tasks(improvements + traces, traces));
}

// Of those that have tasks; returns how many. Some have them beyond parts only.
static size_t find_promises(const struct search *search, const struct improvement *improvements, size_t count,
                            struct promise *promises) {
    const size_t stride = search_row(search);
    size_t place = 0, found = 0; // in its family
    for (size_t i = 0; i < count; i++) {
        const struct improvement *row = &improvements[i * stride];
        bool same = i > 0 && candidates_same_family(&improvements[(i - 1) * stride], row);
        place = same ? place + 1 : 0;
        if (!has_tasks(search, row)) continue;
        struct promise *promise = &promises[found++];
        *promise = (struct promise){.index = i};
        for (size_t t = 0; t < search->trace_count; t++) promise->ns += time_in_tasks(&row[t]) / (double)(place + 1);
    }
    return found;
}

// Those that are tried, in their order; returns how many.
static size_t choose(const struct search *search, struct promise *promises, size_t count) {
    const uint64_t affordable = search->options->budget_ns * 6 / 10 / search->cost_ns;
    const size_t most = affordable > SEARCH_LEAST ? affordable : SEARCH_LEAST;
    if (count <= most) return count;
    qsort(promises, count, sizeof *promises, compare_promises);
    qsort(promises, most, sizeof *promises, compare_indices);
    return most;
}

// What passes, and what fails but might pass together with others: all where they are few, else what is not far worse
// than the run.
static uint32_t count_usable(const struct search *search, const struct screened *screened, size_t count) {
    const double base =
        objective_value(search->options->objective, search->replayed, search->recorded, search->trace_count, 0);
    uint32_t usable = 0;
    for (; usable < count && candidate_is_estimated(&screened[usable].candidate); usable++) {
        if (screened[usable].candidate.probe) break;
        bool near = screened[usable].value <= base + USABLE_WORSE * fabs(base);
        if (screened[usable].candidate.status == CANDIDATE_FAILING && usable >= USABLE_ALL && !near) break;
    }
    return usable;
}

static void screening_free(struct screening *screening) {
    free(screening->items);
    free(screening->order);
    free(screening->rows);
}

static uint32_t number_of(const struct screened *screened) {
    const struct improvement *named = screened->candidate.named;
    if (named->kind == KIND_RESIZE_RESOURCE) return (uint32_t)named->capacity;
    return named->kind == KIND_RESIZE_POOL || named->kind == KIND_OWN_POOL ? (uint32_t)named->threads : named->factor;
}

static int compare_members(const void *a, const void *b, void *context) {
    const struct screened *items = context;
    const struct screened *left = &items[*(const uint32_t *)a], *right = &items[*(const uint32_t *)b];
    if (left->family != right->family) return left->family < right->family ? -1 : 1;
    const uint32_t x = number_of(left), y = number_of(right);
    if (x != y) return x < y ? -1 : 1;
    return left < right ? -1 : 1;
}

static bool reserve(struct screening *screening, size_t more, struct error *error) {
    const size_t count = screening->count + more + 1;
    struct screened *items = realloc(screening->items, count * sizeof *items);
    if (items) screening->items = items;
    uint32_t *order = realloc(screening->order, count * sizeof *order);
    if (order) screening->order = order;
    const struct improvement **rows = realloc(screening->rows, count * sizeof *rows);
    if (rows) screening->rows = rows;
    return (items && order && rows) || error_set(error, STATUS_FAILED, "no memory for candidates");
}

// The family of one that was screened is looked for among those before it: of each, the first member.
static void find_family(struct screening *screening, uint32_t index) {
    struct screened *screened = &screening->items[index];
    uint32_t family = 0;
    while (family < index &&
           !candidates_same_family(screening->items[family].candidate.named, screened->candidate.named))
        family++;
    screened->family = family;
}

// Screens `count` of screening->rows.
static bool screen_rows(struct search *search, struct screening *screening, size_t count, bool probes,
                        struct error *error) {
    if (!search_do_all(search, screen, screening, (uint32_t)count, error)) return false;
    for (size_t i = 0; i < count; i++) {
        screening->items[screening->count].candidate.probe = probes;
        find_family(screening, (uint32_t)screening->count++);
    }
    for (uint32_t i = 0; i < screening->count; i++) screening->order[i] = i;
    if (screening->count)
        qsort_r(screening->order, screening->count, sizeof *screening->order, compare_members, screening->items);
    return true;
}

// ---- families

struct family {
    const uint32_t *order; // rising by number
    size_t count;
    struct screened *items;
};

enum criterion { BY_VALUE, BY_WALL, CRITERIA };

static struct screened *member(const struct family *family, size_t place) {
    return &family->items[family->order[place]];
}

static struct family family_at(const struct screening *screening, size_t first) {
    struct family family = {&screening->order[first], 0, screening->items};
    while (first + family.count < screening->count &&
           member(&family, family.count)->family == member(&family, 0)->family)
        family.count++;
    return family;
}

static double figure(const struct screened *screened, enum criterion criterion) {
    if (!candidate_is_estimated(&screened->candidate)) return INFINITY;
    return criterion == BY_WALL ? screened->wall : screened->value;
}

static double figure_of_replay(const struct search *search, enum criterion criterion) {
    if (criterion == BY_WALL) return 1;
    return objective_value(search->options->objective, search->replayed, search->recorded, search->trace_count, 0);
}

static bool counts(const struct screened *screened, bool passing) {
    return !screened->candidate.negligible && (!passing || screened->candidate.status == CANDIDATE_PASSING);
}

// The place of the smallest that brings WORTH_SHARE of the best one's gain; the family's count where none gains.
static size_t smallest_worth(const struct search *search, const struct family *family, enum criterion criterion,
                             bool passing) {
    const double base = figure_of_replay(search, criterion);
    double best = base - search->noise * fabs(base);
    bool gains = false;
    for (size_t i = 0; i < family->count; i++) {
        const double here = counts(member(family, i), passing) ? figure(member(family, i), criterion) : INFINITY;
        if (here >= best) continue;
        best = here;
        gains = true;
    }
    for (size_t i = 0; gains && i < family->count; i++) {
        const double here = counts(member(family, i), passing) ? figure(member(family, i), criterion) : INFINITY;
        if (base - here >= WORTH_SHARE * (base - best)) return i;
    }
    return family->count;
}

// ---- numbers that are worth a try

static const struct screened *member_of(const struct family *family, uint32_t number) {
    const struct screened *found = NULL;
    for (size_t i = 0; i < family->count && !found; i++) {
        if (number_of(member(family, i)) == number) found = member(family, i);
    }
    return found;
}

// What a family's doublings begin with: one part, or the size that pool or resource has; 0: there is none.
static uint32_t number_now(const struct improvement *named) {
    if (named->kind == KIND_SPLIT || named->kind == KIND_SPLIT_ACTOR) return 1;
    if (named->kind == KIND_RESIZE_RESOURCE && named->resource < named->dag->resource_count) {
        const int64_t capacity = named->dag->resources[named->resource].capacity;
        return capacity > 0 && capacity <= INT32_MAX ? (uint32_t)capacity : 0;
    }
    return named->kind == KIND_RESIZE_POOL ? improvement_pool_size(named->dag, named->pool) : 0;
}

// The next doubling of what there is, as long as the one before it gained; 0: it didn't, or no larger one can differ.
static uint32_t next_doubling(const struct search *search, const struct family *family, enum criterion criterion) {
    const struct improvement *named = member(family, 0)->candidate.named;
    const bool parts = named->kind == KIND_SPLIT || named->kind == KIND_SPLIT_ACTOR;
    const uint64_t most = parts ? MOST_PARTS : named->task_count, now = number_now(named);
    const double base = figure_of_replay(search, criterion);
    double before = base;
    for (uint64_t last = now; now && last < most; last *= 2) {
        const uint32_t next = (uint32_t)(2 * last < most ? 2 * last : most);
        const struct screened *tried = member_of(family, next);
        if (!tried) return next;
        if (!(before - figure(tried, criterion) > LEAST_NOISE * fabs(base))) break;
        before = figure(tried, criterion);
    }
    return 0;
}

// Between the smallest that is worth it and the next smaller one that was tried; 0: they are near enough.
static uint32_t number_between(const struct search *search, const struct family *family, enum criterion criterion) {
    const struct improvement *named = member(family, 0)->candidate.named;
    const size_t place = smallest_worth(search, family, criterion, false);
    if (place == family->count) return 0;
    const uint32_t high = number_of(member(family, place));
    uint32_t low = place ? number_of(member(family, place - 1)) : named->factor ? 1 : 0;
    const uint32_t now = number_now(named);
    if (low < now && now < high) low = now;
    return high - low > 1 + high / FINENESS ? low + (high - low) / 2 : 0;
}

static uint32_t next_number(const struct search *search, const struct family *family) {
    uint32_t number = 0;
    if (number_of(member(family, 0)) == 0) return 0;
    for (enum criterion c = 0; c < CRITERIA && !number; c++) number = next_doubling(search, family, c);
    for (enum criterion c = 0; c < CRITERIA && !number; c++) number = number_between(search, family, c);
    return number;
}

static const struct improvement *with_number(const struct search *search, const struct screened *like, uint32_t number,
                                             struct arena *arena) {
    const size_t count = search_row(search);
    struct improvement *row = ARENA_NEW(arena, struct improvement, count);
    for (size_t t = 0; row && t < count; t++) {
        row[t] = like->candidate.improvements[t];
        if (row[t].kind == KIND_RESIZE_POOL || row[t].kind == KIND_OWN_POOL)
            row[t].threads = (int32_t)number;
        else if (row[t].kind == KIND_RESIZE_RESOURCE)
            row[t].capacity = (int32_t)number;
        else
            row[t].factor = number;
    }
    return row;
}

static size_t affordable_candidates(const struct search *search) {
    const uint64_t budget_ns = search->options->budget_ns * 6 / 10;
    return search->spent_ns < budget_ns ? (budget_ns - search->spent_ns) / search->cost_ns : 0;
}

// The next round's rows: of each family at most one. Returns how many; SIZE_MAX: no memory.
static size_t propose(const struct search *search, struct screening *screening) {
    const size_t most = affordable_candidates(search);
    size_t count = 0;
    for (size_t first = 0; first < screening->count && count < most;) {
        const struct family family = family_at(screening, first);
        const uint32_t number = next_number(search, &family);
        first += family.count;
        if (number == 0 || member_of(&family, number)) continue;
        screening->rows[count] = with_number(search, member(&family, 0), number, screening->arena);
        if (!screening->rows[count++]) return SIZE_MAX;
    }
    return count;
}

static bool search_numbers(struct search *search, struct screening *screening, struct error *error) {
    bool done = true;
    for (unsigned round = 0; done && round < MOST_ROUNDS; round++) {
        const size_t count = propose(search, screening);
        if (count == 0) break;
        done = (count != SIZE_MAX || error_set(error, STATUS_FAILED, "no memory for candidates")) &&
               reserve(screening, 2 * count, error) && screen_rows(search, screening, count, true, error);
    }
    return done;
}

// ---- what is shown

static void show(struct family *family, size_t place) {
    if (place == family->count) return;
    member(family, place)->candidate.shown = true;
    member(family, place)->candidate.probe = false;
}

// Of two first stages the faster; on the spawner, if that is as fast.
static size_t faster_first_stage(const struct family *family) {
    size_t best = family->count;
    for (size_t i = 0; i < family->count; i++) {
        const double least =
            best < family->count ? (1 - LEAST_NOISE) * figure(member(family, best), BY_WALL) : INFINITY;
        if (!member(family, i)->candidate.negligible && figure(member(family, i), BY_WALL) < least) best = i;
    }
    return best;
}

// The best of those that change something; where none can be estimated one that can't; else none.
static size_t best_member(const struct family *family) {
    size_t best = family->count;
    for (size_t i = 0; i < family->count; i++) {
        const struct screened *here = member(family, i);
        if (here->candidate.negligible) continue;
        if (best == family->count || compare_screened(here, member(family, best)) < 0) best = i;
    }
    return best;
}

// The largest size of a pool under which the run comes to a halt.
static size_t largest_stuck(const struct family *family) {
    size_t place = family->count;
    while (place > 0 && member(family, place - 1)->candidate.status != CANDIDATE_STUCK) place--;
    return place ? place - 1 : family->count;
}

static void choose_shown(const struct search *search, struct screening *screening) {
    for (size_t first = 0; first < screening->count;) {
        struct family family = family_at(screening, first);
        const bool stages = member(&family, 0)->candidate.named->kind == KIND_COMBINATOR;
        first += family.count;
        size_t places[] = {smallest_worth(search, &family, BY_VALUE, true),
                           smallest_worth(search, &family, BY_VALUE, false),
                           smallest_worth(search, &family, BY_WALL, false)};
        if (stages) places[0] = places[1] = places[2] = faster_first_stage(&family);
        for (size_t i = places[2] + 1; i < family.count && !stages; i++) member(&family, i)->candidate.beyond = true;
        bool any = false;
        for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
            show(&family, places[p]);
            any |= places[p] < family.count;
        }
        if (!any) show(&family, best_member(&family));
        if (member(&family, 0)->candidate.named->kind == KIND_RESIZE_POOL) show(&family, largest_stuck(&family));
    }
}

static bool hand_over(struct search *search, struct screening *screening, struct arena *arena, struct error *error) {
    struct search_result *result = search->result;
    const size_t count = screening->count;
    result->candidates = ARENA_NEW(arena, struct candidate, count + 1);
    search->alone = ARENA_NEW(arena, struct combination, count + 1);
    search->value_alone = ARENA_NEW(arena, double, count + 1);
    if (!result->candidates || !search->alone || !search->value_alone)
        return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t i = 0; i < count; i++) {
        result->candidates[i] = screening->items[i].candidate;
        search->alone[i] = screening->items[i].alone;
        search->value_alone[i] = screening->items[i].value;
    }
    result->candidate_count = count;
    return true;
}

// The first round: what is listed, as far as that can be afforded.
static bool screen_listed(struct search *search, struct screening *screening, struct error *error) {
    struct improvement *improvements;
    size_t found;
    if (!find_candidates(search, screening->arena, &improvements, &found, error)) return false;
    struct promise *promises = malloc((found + 1) * sizeof *promises);
    bool done = (promises || error_set(error, STATUS_FAILED, "no memory for candidates")) &&
                reserve(screening, 2 * found, error);
    const size_t there = done ? find_promises(search, improvements, found, promises) : 0,
                 count = choose(search, promises, there);
    for (size_t i = 0; i < count; i++) screening->rows[i] = &improvements[promises[i].index * search_row(search)];
    done = done && screen_rows(search, screening, count, false, error);
    search->result->untried = there - count;
    free(promises);
    return done;
}

bool search_screen(struct search *search, struct arena *arena, uint32_t *usable, struct error *error) {
    struct screening screening = {.arena = arena};
    bool done = screen_listed(search, &screening, error) && search_numbers(search, &screening, error);
    if (done) {
        choose_shown(search, &screening);
        if (screening.count) qsort(screening.items, screening.count, sizeof *screening.items, compare_screened);
        *usable = count_usable(search, screening.items, screening.count);
        done = hand_over(search, &screening, arena, error);
    }
    screening_free(&screening);
    return done;
}

// ---- what a search of parts found

static bool is_of_plan(const struct search_result *found, size_t index) {
    for (size_t p = 0; p < found->plan_count && p < SEARCH_CONFIRMED; p++) {
        for (uint32_t i = 0; i < found->plans[p].count; i++) {
            if (found->plans[p].candidates[i] == index) return true;
        }
    }
    return false;
}

static size_t take_found(const struct search *search, const struct search_result *found, struct screening *screening) {
    size_t count = 0;
    for (size_t i = 0; i < found->candidate_count; i++) {
        const struct candidate *candidate = &found->candidates[i];
        if (candidate->shown || is_of_plan(found, i))
            screening->rows[count++] = candidate->improvements + search->trace_count;
    }
    return count;
}

static void tell_apart(const struct search_result *found, struct screening *screening) {
    uint32_t row = 0;
    for (uint32_t i = 0; i < found->candidate_count; i++) {
        const struct candidate *candidate = &found->candidates[i];
        if (!candidate->shown && !is_of_plan(found, i)) continue;
        struct screened *screened = &screening->items[row++];
        screened->found = i;
        screened->candidate.shown = candidate->shown;
        screened->candidate.beyond = candidate->beyond;
    }
}

bool search_screen_found(struct search *search, const struct search_result *found, struct arena *arena,
                         uint32_t *places, struct error *error) {
    struct screening screening = {.arena = arena};
    bool done = reserve(&screening, found->candidate_count, error);
    done = done && screen_rows(search, &screening, take_found(search, found, &screening), false, error);
    if (done) {
        tell_apart(found, &screening);
        if (screening.count) qsort(screening.items, screening.count, sizeof *screening.items, compare_screened);
        for (uint32_t i = 0; i < screening.count; i++) places[screening.items[i].found] = i;
        done = hand_over(search, &screening, arena, error);
    }
    screening_free(&screening);
    return done;
}
