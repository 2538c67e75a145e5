// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/repeats.h"

#include "base/hands.h"
#include "optimize/candidates.h"
#include "optimize/plan.h"

// A change alone, or a plan: which of the result's candidates it has.
struct item {
    const uint32_t *members;
    uint32_t count;
};

enum outcome { OUTCOME_NONE, OUTCOME_ESTIMATED, OUTCOME_STUCK };

// One recording.
struct run {
    struct estimator *estimator;
    struct baseline baseline;
    struct improvement *improvements; // a candidate each; of those that no item has all zero
    struct metrics *estimates;        // an item each, like
    enum outcome *outcomes;
    struct error error;
};

struct work {
    const struct search_result *result;
    const struct repeats_request *request;
    struct arena *arena;
    struct item *items; // candidates, then plans
    size_t item_count;
    uint32_t *numbers; // 0, 1, 2, ...: what a candidate alone has for members
    bool *wanted;      // a candidate each: an item has it
    struct run *runs;
};

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the estimates of several runs");
}

// ---- What is to be estimated

static void want(struct work *work, const uint32_t *members, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) work->wanted[members[i]] = true;
}

static void find_wanted(struct work *work) {
    const struct search_result *result = work->result;
    for (size_t c = 0; c < result->candidate_count; c++) work->wanted[c] = result->candidates[c].shown;
    for (size_t p = 0; p < result->plan_count; p++) want(work, result->plans[p].candidates, result->plans[p].count);
    for (size_t f = 0; f < result->front_count; f++) want(work, result->front[f].candidates, result->front[f].count);
}

static bool list_items(struct work *work, struct error *error) {
    const struct search_result *result = work->result;
    const size_t candidates = result->candidate_count;
    work->item_count = candidates + result->plan_count;
    work->items = ARENA_NEW(work->arena, struct item, work->item_count + 1);
    work->numbers = ARENA_NEW(work->arena, uint32_t, candidates + 1);
    work->wanted = ARENA_NEW(work->arena, bool, candidates + 1);
    if (!work->items || !work->numbers || !work->wanted) return no_memory(error);
    find_wanted(work);
    for (uint32_t c = 0; c < candidates; c++) {
        work->numbers[c] = c;
        if (work->wanted[c]) work->items[c] = (struct item){&work->numbers[c], 1};
    }
    for (size_t p = 0; p < result->plan_count; p++)
        work->items[candidates + p] = (struct item){result->plans[p].candidates, result->plans[p].count};
    return true;
}

static bool translate(const struct work *work, struct run *run, struct error *error) {
    for (size_t c = 0; c < work->result->candidate_count; c++) {
        const struct improvement *named = work->result->candidates[c].named;
        if (work->wanted[c] && !candidates_translate(named, run->estimator->dag, work->arena, &run->improvements[c]))
            return no_memory(error);
    }
    return true;
}

static bool prepare(struct work *work, struct error *error) {
    const struct repeats_request *request = work->request;
    if (!list_items(work, error)) return false;
    if (!(work->runs = ARENA_NEW(work->arena, struct run, request->run_count))) return no_memory(error);
    for (size_t r = 0; r < request->run_count; r++) {
        struct run *run = &work->runs[r];
        *run = (struct run){
            .estimator = request->estimators[r],
            .improvements = ARENA_NEW(work->arena, struct improvement, work->result->candidate_count + 1),
            .estimates = ARENA_NEW(work->arena, struct metrics, work->item_count + 1),
            .outcomes = ARENA_NEW(work->arena, enum outcome, work->item_count + 1),
            .error = ERROR_INIT,
        };
        if (!run->improvements || !run->estimates || !run->outcomes) return no_memory(error);
        if (!translate(work, run, error)) return false;
    }
    return true;
}

// ---- Estimating, by two threads: a run each

static const char *apply(struct run *run, const struct item *item) {
    const char *refusal = NULL;
    dag_edit_clear(&run->estimator->edit, run->estimator->dag);
    for (uint32_t i = 0; i < item->count && !refusal; i++) {
        const struct improvement *improvement = &run->improvements[item->members[i]];
        if (improvement->task_count) refusal = improvement_apply(improvement, &run->estimator->edit);
    }
    return refusal;
}

static bool estimate(const struct work *work, struct run *run, size_t index) {
    bool stuck;
    if (apply(run, &work->items[index])) return true;
    if (!estimator_run(run->estimator, &stuck, &run->error)) return false;
    run->outcomes[index] = stuck ? OUTCOME_STUCK : OUTCOME_ESTIMATED;
    if (stuck) return true;
    return estimator_measure(run->estimator, &run->baseline.recorded, work->request->all_figures,
                             &run->estimates[index], &run->error);
}

static void estimate_run(void *context, uint32_t hand, uint32_t index) {
    const struct work *work = context;
    struct run *run = &work->runs[index];
    (void)hand;
    run->estimator->model = (struct model){.kind = work->request->model};
    dag_edit_clear(&run->estimator->edit, run->estimator->dag);
    bool done = estimator_measure_baseline(run->estimator, true, &run->baseline, &run->error);
    for (size_t i = 0; done && i < work->item_count; i++) {
        if (work->items[i].count) done = estimate(work, run, i);
    }
}

static bool estimate_all(struct work *work, struct error *error) {
    const size_t count = work->request->run_count;
    hands_run(estimate_run, work, (uint32_t)count, hands_there());
    for (size_t r = 0; r < count; r++) {
        if (work->runs[r].error.status == STATUS_OK) continue;
        *error = work->runs[r].error;
        return error_wrap(error, "%s", work->runs[r].estimator->dag->trace->path);
    }
    return true;
}

// ---- Medians

enum { AS_RECORDED = -2, AS_REPLAYED = -1 }; // or the item's index

static const struct metrics *figures_of(const struct run *run, ptrdiff_t item) {
    if (item == AS_RECORDED) return &run->baseline.recorded;
    if (item == AS_REPLAYED) return &run->baseline.replayed;
    return run->outcomes[item] == OUTCOME_ESTIMATED ? &run->estimates[item] : NULL;
}

static bool summarise(const struct work *work, uint32_t load, ptrdiff_t item, const struct metrics **spare,
                      struct repeated *repeated, struct error *error) {
    *repeated = (struct repeated){0};
    for (size_t r = 0; r < work->request->run_count; r++) {
        const struct run *run = &work->runs[r];
        if (work->request->loads[r] != load) continue;
        const struct metrics *figures = figures_of(run, item);
        if (figures)
            spare[repeated->runs++] = figures;
        else if (!repeated->stuck_in && run->outcomes[item] == OUTCOME_STUCK)
            repeated->stuck_in = run->estimator->dag->trace->path;
    }
    return repeated->runs == 0 || (runs_median(spare, repeated->runs, &repeated->median, error) &&
                                   noises_of(spare, repeated->runs, &repeated->noises, error));
}

static bool summarise_load(const struct work *work, uint32_t load, const struct metrics **spare,
                           struct repeats *repeats, struct error *error) {
    const size_t candidates = work->result->candidate_count;
    repeats->candidates = ARENA_NEW(work->arena, struct repeated, work->item_count + 1);
    if (!repeats->candidates) return no_memory(error);
    repeats->plans = repeats->candidates + candidates;
    bool ok = summarise(work, load, AS_RECORDED, spare, &repeats->recorded, error) &&
              summarise(work, load, AS_REPLAYED, spare, &repeats->replayed, error);
    repeats->runs = repeats->recorded.runs;
    for (size_t i = 0; ok && i < work->item_count; i++)
        ok = summarise(work, load, (ptrdiff_t)i, spare, &repeats->candidates[i], error);
    return ok;
}

bool repeats_estimate(const struct search_result *result, const struct repeats_request *request, struct arena *arena,
                      struct repeats **repeats, struct error *error) {
    struct work work = {.result = result, .request = request, .arena = arena};
    if (!prepare(&work, error) || !estimate_all(&work, error)) return false;
    const struct metrics **spare = ARENA_NEW(arena, const struct metrics *, request->run_count);
    *repeats = ARENA_NEW(arena, struct repeats, request->load_count);
    bool ok = (spare && *repeats) || no_memory(error);
    for (uint32_t load = 0; ok && load < request->load_count; load++)
        ok = summarise_load(&work, load, spare, &(*repeats)[load], error);
    return ok;
}

void repeats_show(const struct repeats *repeats, struct search_result *result) {
    result->base = repeats->recorded.median;
    result->replayed = repeats->replayed.median;
    for (size_t c = 0; c < result->candidate_count; c++) {
        if (repeats->candidates[c].runs) result->candidates[c].estimate = repeats->candidates[c].median;
    }
    for (size_t p = 0; p < result->plan_count; p++) {
        if (repeats->plans[p].runs) result->plans[p].estimate = repeats->plans[p].median;
    }
}
