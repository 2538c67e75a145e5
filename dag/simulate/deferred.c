// SPDX-License-Identifier: GPL-3.0-or-later
// Model `dag`: helped bodies that sink (dag/edit/edit.h) run as soon as the wait that they sink to begins.
#include "dag/simulate/deferred.h"

#include <stdlib.h>
#include <string.h>

bool deferred_new(struct simulation *sim) {
    sim->sinks = calloc((size_t)sim->dag->task_count + 1, sizeof *sim->sinks);
    return sim->sinks != NULL;
}

void deferred_free(struct simulation *sim) {
    free(sim->sinks);
    free(sim->deferred);
}

void deferred_forget(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->deferred_count; i++) sim->sinks[sim->deferred[i].task] = false;
    sim->deferred_count = 0;
}

static int by_wait(const void *a, const void *b, void *context) {
    const struct dag *dag = context;
    const struct deferred *x = a, *y = b;
    if (x->wait != y->wait) return x->wait < y->wait ? -1 : 1;
    return dag->tasks[x->task].start < dag->tasks[y->task].start ? -1 : 1;
}

static bool add(struct simulation *sim, uint32_t task, uint32_t wait) {
    bool full = (sim->deferred_count & (sim->deferred_count - 1)) == 0; // grows at powers of two
    struct deferred *moved =
        full ? realloc(sim->deferred, 2 * ((size_t)sim->deferred_count + 1) * sizeof *moved) : sim->deferred;
    sim->no_memory |= moved == NULL;
    if (!moved) return false;
    sim->deferred = moved;
    sim->deferred[sim->deferred_count++] = (struct deferred){.wait = wait, .task = task};
    sim->sinks[task] = true;
    return true;
}

bool deferred_find(struct simulation *sim) {
    for (uint32_t t = 0; t < sim->dag->task_count; t++) {
        uint32_t wait = dag_edit_sinks_to(sim->dag, sim->edit, t);
        if (wait != DAG_NONE && !add(sim, t, wait)) return false;
    }
    if (sim->deferred_count)
        qsort_r(sim->deferred, sim->deferred_count, sizeof *sim->deferred, by_wait, (void *)sim->dag);
    return sim->deferred_count > 0;
}

uint32_t deferred_take(struct simulation *sim, uint32_t wait) {
    uint32_t low = 0, high = sim->deferred_count;
    while (low < high) { // the first of this wait or a later one
        uint32_t middle = low + (high - low) / 2;
        if (sim->deferred[middle].wait < wait)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < sim->deferred_count && sim->deferred[low].wait == wait; low++) {
        if (sim->deferred[low].begun) continue;
        sim->deferred[low].begun = true;
        return sim->deferred[low].task;
    }
    return DAG_NONE;
}
