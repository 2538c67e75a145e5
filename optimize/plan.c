// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan.h"

#include "optimize/candidates.h"
#include "optimize/estimator.h"

#include <math.h>

static bool refuse(const struct improvement *improvement, const char *why, struct error *error) {
    char text[240];
    bool of_task = why == improvement->refusal && improvement->task_count && improvement_is_of_site(improvement);
    improvement_text(improvement, text, sizeof text);
    return error_set(error, STATUS_FAILED, "%s: %s%s", text, of_task ? "one of its tasks can't be changed: " : "", why);
}

bool plan_apply(const struct plan *plan, enum model_kind model, struct dag_edit *edit, struct error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct improvement *improvement = &plan->improvements[i];
        const char *refusal = model_refusal(model, improvement);
        if (!refusal) refusal = improvement_apply(improvement, edit);
        if (refusal) return refuse(improvement, refusal, error);
    }
    return true;
}

// Of values that rise with numbers, less being better: the first that brings WORTH_SHARE of the best one's gain over
// `base`; without a gain the best. `count`: none has a value.
static size_t first_worth(const double *values, size_t count, double base) {
    size_t best = count;
    for (size_t v = 0; v < count; v++) {
        if (values[v] < (best < count ? values[best] : INFINITY)) best = v;
    }
    if (best == count || !(values[best] < base)) return best;
    size_t first = 0;
    while (!(base - values[first] >= WORTH_SHARE * (base - values[best]))) first++;
    return first;
}

// A first stage moves to its pool where that is faster by more than noise.
static size_t first_faster(const double *values, size_t count) {
    size_t best = count;
    for (size_t v = 0; v < count; v++) {
        if (values[v] < (best < count ? (1 - LEAST_NOISE) * values[best] : INFINITY)) best = v;
    }
    return best;
}

// Chooses among variants of the last improvement of `trial`.
static bool choose(struct plan *trial, const struct improvement *variants, size_t count, plan_judge *judge,
                   void *context, double *values, size_t *chosen, struct error *error) {
    const bool by_wall = trial->improvements[trial->count - 1].kind == KIND_COMBINATOR;
    double base = INFINITY;
    for (size_t v = 0; v < count; v++) {
        values[v] = INFINITY;
        trial->improvements[trial->count - 1] = variants[v];
        if (!judge(context, trial, by_wall, &values[v], error)) return false;
    }
    trial->count--;
    bool done = by_wall || count == 0 || judge(context, trial, false, &base, error);
    trial->count++;
    *chosen = by_wall ? first_faster(values, count) : first_worth(values, count, base);
    return done;
}

static bool resolve_one(struct plan *plan, size_t index, struct plan *trial, plan_judge *judge, void *context,
                        struct arena *arena, struct error *error) {
    struct improvement *open = &plan->improvements[index], *variants;
    size_t count, chosen;
    if (open->refusal) return refuse(open, open->refusal, error);
    if (!candidates_variants(open, arena, &variants, &count, error)) return false;
    double *values = ARENA_NEW(arena, double, count + 1);
    if (!values) return error_set(error, STATUS_FAILED, "no memory for the plan");
    trial->count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!improvement_is_open(&plan->improvements[i])) trial->improvements[trial->count++] = plan->improvements[i];
    }
    trial->improvements[trial->count++] = *open;
    if (!choose(trial, variants, count, judge, context, values, &chosen, error)) return false;
    if (chosen == count) {
        return refuse(
            open, count ? "nothing that could be chosen for it can be estimated" : "there is nothing to choose from",
            error);
    }
    *open = variants[chosen];
    return true;
}

bool plan_resolve(struct plan *plan, plan_judge *judge, void *context, struct arena *arena, struct error *error) {
    struct plan trial = {.improvements = ARENA_NEW(arena, struct improvement, plan->count + 1),
                         .trace_path = plan->trace_path};
    if (!trial.improvements) return error_set(error, STATUS_FAILED, "no memory for the plan");
    for (size_t i = 0; i < plan->count; i++) {
        if (!improvement_is_open(&plan->improvements[i])) continue;
        if (!resolve_one(plan, i, &trial, judge, context, arena, error)) return false;
    }
    return true;
}
