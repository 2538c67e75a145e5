// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan.h"

#include "optimize/candidates.h"

#include <math.h>

static bool refuse(const struct improvement *improvement, const char *why, struct error *error) {
    char text[240];
    bool of_task = why == improvement->refusal && improvement->task_count && improvement->kind != KIND_RESIZE_POOL;
    improvement_text(improvement, text, sizeof text);
    return error_set(error, STATUS_FAILED, "%s: %s%s", text, of_task ? "one of its tasks can't be changed: " : "", why);
}

bool plan_apply(const struct plan *plan, enum model_kind model, struct dag_edit *edit, struct error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct improvement *improvement = &plan->improvements[i];
        const char *refusal = model_refusal(model, improvement->kind);
        if (!refusal) refusal = improvement_apply(improvement, edit);
        if (refusal) return refuse(improvement, refusal, error);
    }
    return true;
}

// Chooses among variants of the last improvement of `trial`.
static bool choose(struct plan *trial, const struct improvement *variants, size_t count, plan_judge *judge,
                   void *context, size_t *best, struct error *error) {
    double least = INFINITY;
    *best = count;
    for (size_t v = 0; v < count; v++) {
        double value = INFINITY;
        trial->improvements[trial->count - 1] = variants[v];
        if (!judge(context, trial, &value, error)) return false;
        if (!(value < least)) continue;
        least = value;
        *best = v;
    }
    return true;
}

static bool resolve_one(struct plan *plan, size_t index, struct plan *trial, plan_judge *judge, void *context,
                        struct arena *arena, struct error *error) {
    struct improvement *open = &plan->improvements[index], *variants;
    size_t count, best;
    if (!candidates_variants(open, arena, &variants, &count, error)) return false;
    trial->count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!improvement_is_open(&plan->improvements[i])) trial->improvements[trial->count++] = plan->improvements[i];
    }
    trial->count++;
    if (!choose(trial, variants, count, judge, context, &best, error)) return false;
    if (best == count) {
        return refuse(
            open, count ? "nothing that could be chosen for it can be estimated" : "there is nothing to choose from",
            error);
    }
    *open = variants[best];
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
