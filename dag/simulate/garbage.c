// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/garbage.h"

#include "dag/simulate/handed_over.h"

#include <math.h>

// The first pause that begins behind a time; pause_count: none does.
static uint32_t pause_behind(const struct dag *dag, int64_t time_ns) {
    uint32_t low = 0, high = dag->pause_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (dag->pauses[middle].begin_ns > time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double bytes_of(const struct dag *dag, const struct dag_task *task) {
    const double handed_over = 48, with_a_result = 48;
    const bool steals = task->pool < dag->pool_count && dag->pools[task->pool].discipline == DISCIPLINE_STEALING;
    const bool told = task->result != DAG_NONE && dag->vertices.kind[task->result] == VERTEX_RESULT;
    return told && !steals ? handed_over + with_a_result : handed_over; // a task of a stealing pool is its own future
}

static bool any_is_told(const struct dag *dag) {
    bool told = false;
    for (uint32_t p = 0; p < dag->pause_count && !told; p++) told = dag->pauses[p].allocated_bytes > 0;
    return told;
}

// The sum of what goes, first.
static void add_up(const struct dag *dag, const struct dag_edit *edit, double *gone_bytes) {
    for (uint32_t p = 0; p < dag->pause_count; p++) gone_bytes[p] = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!hand_over_goes(dag, edit, t)) continue;
        const struct dag_task *task = &dag->tasks[t];
        const uint32_t pause = pause_behind(dag, dag->vertices.time_ns[task->spawn_begin]);
        if (pause < dag->pause_count) gone_bytes[pause] += bytes_of(dag, task);
    }
}

bool garbage_left(const struct dag *dag, const struct dag_edit *edit, double *left) {
    if ((edit->inlined_count == 0 && edit->merged_count == 0) || !any_is_told(dag)) return false;
    add_up(dag, edit, left);
    for (uint32_t p = 0; p < dag->pause_count; p++) {
        const double allocated_bytes = (double)dag->pauses[p].allocated_bytes;
        left[p] = allocated_bytes > 0 ? fmax(1 - left[p] / allocated_bytes, 0) : 1;
    }
    return true;
}
