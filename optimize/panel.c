// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/panel.h"

bool panel_new(struct panel *panel, struct estimator *const *estimators, size_t count, struct arena *arena,
               struct error *error) {
    *panel =
        (struct panel){.count = count, .estimators = estimators, .estimates = ARENA_NEW(arena, struct metrics, count)};
    return panel->estimates || error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
}

bool panel_new_beside(struct panel *panel, const struct panel *other, struct arena *arena, struct error *error) {
    struct estimator *own = ARENA_NEW(arena, struct estimator, other->count);
    struct estimator **estimators = ARENA_NEW(arena, struct estimator *, other->count);
    if (!own || !estimators) return error_set(error, STATUS_FAILED, "no memory for %zu traces", other->count);
    if (!panel_new(panel, estimators, other->count, arena, error)) return false;
    panel->own = own;
    for (size_t t = 0; t < panel->count; t++) {
        estimators[t] = &own[t];
        if (!estimator_init_beside(&own[t], other->estimators[t], error)) return false;
    }
    return true;
}

void panel_destroy(struct panel *panel) {
    for (size_t t = 0; panel->own && t < panel->count; t++) estimator_destroy(&panel->own[t]);
}

void panel_clear(struct panel *panel) {
    for (size_t t = 0; t < panel->count; t++) {
        dag_edit_clear(&panel->estimators[t]->edit, panel->estimators[t]->dag);
    }
}

const char *panel_apply(struct panel *panel, const struct improvement *improvements, size_t *trace) {
    for (*trace = 0; *trace < panel->count; ++*trace) {
        const struct improvement *improvement = &improvements[*trace];
        if (improvement->task_count == 0) continue;
        const char *refusal = improvement_apply(improvement, &panel->estimators[*trace]->edit);
        if (refusal) return refusal;
    }
    return NULL;
}

bool panel_estimate(struct panel *panel, const struct metrics *recorded, bool all, size_t *stuck, struct error *error) {
    for (*stuck = 0; *stuck < panel->count; ++*stuck) {
        const size_t t = *stuck;
        bool is_stuck;
        if (!estimator_run(panel->estimators[t], &is_stuck, error)) return false;
        if (is_stuck) break;
        if (!estimator_measure(panel->estimators[t], &recorded[t], all, &panel->estimates[t], error)) return false;
    }
    return true;
}
