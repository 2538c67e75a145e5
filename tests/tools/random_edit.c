// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_edit.h"

#include <stdlib.h>

static bool is_dispatched(const struct dag *dag, uint32_t task) {
    switch (dag->tasks[task].dispatch) {
    case DISPATCH_NEW:
    case DISPATCH_WOKEN:
    case DISPATCH_QUEUED:
    case DISPATCH_CALLER:
        return true;
    default:
        return false;
    }
}

static void merge_some(struct simulate_fixture *fixture, struct random_source *source) {
    uint32_t *tasks = malloc((fixture->dag->task_count + 1) * sizeof *tasks);
    if (!tasks) abort();
    for (uint32_t site = 0; site < fixture->dag->site_count; site++) {
        uint32_t count = 0;
        if (random_below(source, 3) == 0) continue;
        for (uint32_t t = 0; t < fixture->dag->task_count; t++) {
            if (fixture->dag->tasks[t].site != site || !is_dispatched(fixture->dag, t)) continue;
            if (!dag_merge_refusal(fixture->dag, t)) tasks[count++] = t;
        }
        dag_edit_merge(&fixture->edit, fixture->dag, tasks, count, 2 + (uint32_t)random_below(source, 3));
    }
    free(tasks);
}

static enum dag_first_stage random_first_stage(const struct dag *dag, struct random_source *source, uint32_t task) {
    bool on_pool = random_below(source, 2) && dag_combinator_keeps_pool(dag, task);
    return on_pool ? FIRST_STAGE_ON_POOL : FIRST_STAGE_ON_SPAWNER;
}

static void edit_task(struct simulate_fixture *fixture, struct random_source *source, uint32_t t, unsigned kinds) {
    const struct dag *dag = fixture->dag;
    if (fixture->edit.merged_next[t] != DAG_NONE) return;
    switch (1u << random_below(source, 4) & kinds) {
    case EDIT_INLINE:
        if (!dag_inline_refusal(dag, t)) dag_edit_inline(&fixture->edit, t);
        break;
    case EDIT_SPLIT:
        if (is_dispatched(dag, t) && !dag_split_refusal(dag, t)) {
            dag_edit_split(&fixture->edit, t, 2 + (uint32_t)random_below(source, 3));
        }
        break;
    case EDIT_STAGE:
        if (!dag_combinator_refusal(dag, t)) dag_edit_combine(&fixture->edit, t, random_first_stage(dag, source, t));
        break;
    default:
        break;
    }
}

static void edit_resources(struct simulate_fixture *fixture, struct random_source *source) {
    for (uint32_t r = 0; r < fixture->dag->resource_count; r++) {
        if (!fixture->dag->resources[r].tells_holds || random_below(source, 3)) continue;
        if (!dag_unlock_refusal(fixture->dag, r)) dag_edit_unlock(&fixture->edit, r);
        if (!dag_resize_resource_refusal(fixture->dag, r))
            dag_edit_resize_resource(&fixture->edit, r, 1 + (int64_t)random_below(source, 4));
    }
}

void random_edit(struct simulate_fixture *fixture, struct random_source *source, unsigned kinds) {
    dag_edit_clear(&fixture->edit, fixture->dag);
    uint64_t share = 1 + random_below(source, 4);
    if (kinds & EDIT_MERGE && random_below(source, 2)) merge_some(fixture, source);
    for (uint32_t t = 0; t < fixture->dag->task_count; t++) {
        if (random_below(source, 4) < share) edit_task(fixture, source, t, kinds);
    }
    for (uint32_t p = 1; p < fixture->dag->pool_count && kinds & EDIT_RESIZE; p++) {
        if (dag_resize_refusal(fixture->dag, p) || random_below(source, 3)) continue;
        dag_edit_resize(&fixture->edit, p, 1 + (int32_t)random_below(source, 5));
    }
    if (kinds & EDIT_RESOURCES) edit_resources(fixture, source);
}
