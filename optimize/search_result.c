// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/search_result.h"

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->status <= CANDIDATE_FAILING;
}

bool search_best_plan(const struct search_result *result, struct arena *arena, struct plan *plan, struct error *error) {
    *plan = (struct plan){.trace_path = result->traces[0]->dag->trace->path};
    if (result->plan_count == 0) return true;
    const struct ranked_plan *best = &result->plans[0];
    plan->improvements = ARENA_NEW(arena, struct improvement, best->count);
    if (!plan->improvements) return error_set(error, STATUS_FAILED, "no memory for the plan");
    for (; plan->count < best->count; plan->count++)
        plan->improvements[plan->count] = *result->candidates[best->candidates[plan->count]].named;
    return true;
}

bool search_conflict(const struct search_result *result, size_t a, size_t b) {
    const struct improvement *left = result->candidates[a].improvements, *right = result->candidates[b].improvements;
    bool conflict = false;
    for (size_t t = 0; t < result->trace_count && !conflict; t++) {
        conflict = improvements_conflict(&left[t], &right[t]);
    }
    return conflict;
}
