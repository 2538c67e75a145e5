// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/evaluator.h"

bool evaluator_new(struct evaluator *evaluator, struct estimator *const *estimators, size_t count, struct arena *arena,
                   struct error *error) {
    *evaluator = (struct evaluator){
        .count = count, .estimators = estimators, .estimates = ARENA_NEW(arena, struct metrics, count)};
    return evaluator->estimates || error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
}

bool evaluator_new_beside(struct evaluator *evaluator, const struct evaluator *other, struct arena *arena,
                          struct error *error) {
    struct estimator *own = ARENA_NEW(arena, struct estimator, other->count);
    struct estimator **estimators = ARENA_NEW(arena, struct estimator *, other->count);
    if (!own || !estimators) return error_set(error, STATUS_FAILED, "no memory for %zu traces", other->count);
    if (!evaluator_new(evaluator, estimators, other->count, arena, error)) return false;
    evaluator->own = own;
    for (size_t t = 0; t < evaluator->count; t++) {
        estimators[t] = &own[t];
        if (!estimator_init_beside(&own[t], other->estimators[t], error)) return false;
    }
    return true;
}

void evaluator_destroy(struct evaluator *evaluator) {
    for (size_t t = 0; evaluator->own && t < evaluator->count; t++) estimator_destroy(&evaluator->own[t]);
}

void evaluator_clear(struct evaluator *evaluator) {
    for (size_t t = 0; t < evaluator->count; t++) {
        dag_edit_clear(&evaluator->estimators[t]->edit, evaluator->estimators[t]->dag);
    }
}

const char *evaluator_apply(struct evaluator *evaluator, const struct improvement *improvements, size_t *trace) {
    for (*trace = 0; *trace < evaluator->count; ++*trace) {
        const struct improvement *improvement = &improvements[*trace];
        if (improvement->task_count == 0) continue;
        const char *refusal = improvement_apply(improvement, &evaluator->estimators[*trace]->edit);
        if (refusal) return refusal;
    }
    return NULL;
}

bool evaluator_estimate(struct evaluator *evaluator, const struct metrics *recorded, bool all, size_t *stuck,
                        struct error *error) {
    for (*stuck = 0; *stuck < evaluator->count; ++*stuck) {
        const size_t t = *stuck;
        bool is_stuck;
        if (!estimator_run(evaluator->estimators[t], &is_stuck, error)) return false;
        if (is_stuck) break;
        if (!estimator_measure(evaluator->estimators[t], &recorded[t], all, &evaluator->estimates[t], error))
            return false;
    }
    return true;
}
