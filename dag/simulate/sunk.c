// SPDX-License-Identifier: GPL-3.0-or-later
// Model `dag`: helped bodies that sink (dag/edit/edit.h) run as soon as the wait that they sink to begins.
#include "dag/simulate/sunk.h"

#include <stdlib.h>
#include <string.h>

bool sunk_new(struct simulation *sim) {
    sim->sinks = calloc((size_t)sim->dag->task_count + 1, sizeof *sim->sinks);
    return sim->sinks != NULL;
}

void sunk_free(struct simulation *sim) {
    free(sim->sinks);
    free(sim->sunk);
}

void sunk_forget(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->sunk_count; i++) sim->sinks[sim->sunk[i].task] = false;
    sim->sunk_count = 0;
}

static int by_wait(const void *a, const void *b, void *context) {
    const struct dag *dag = context;
    const struct sunk *x = a, *y = b;
    if (x->wait != y->wait) return x->wait < y->wait ? -1 : 1;
    return dag->tasks[x->task].start < dag->tasks[y->task].start ? -1 : 1;
}

static bool add(struct simulation *sim, uint32_t task, uint32_t wait) {
    bool full = (sim->sunk_count & (sim->sunk_count - 1)) == 0; // grows at powers of two
    struct sunk *moved = full ? realloc(sim->sunk, 2 * ((size_t)sim->sunk_count + 1) * sizeof *moved) : sim->sunk;
    sim->no_memory |= moved == NULL;
    if (!moved) return false;
    sim->sunk = moved;
    sim->sunk[sim->sunk_count++] = (struct sunk){.wait = wait, .task = task};
    sim->sinks[task] = true;
    return true;
}

bool sunk_find(struct simulation *sim) {
    for (uint32_t t = 0; t < sim->dag->task_count; t++) {
        uint32_t wait = dag_edit_sinks_to(sim->dag, sim->edit, t);
        if (wait != DAG_NONE && !add(sim, t, wait)) return false;
    }
    if (sim->sunk_count) qsort_r(sim->sunk, sim->sunk_count, sizeof *sim->sunk, by_wait, (void *)sim->dag);
    return sim->sunk_count > 0;
}

uint32_t sunk_take(struct simulation *sim, uint32_t wait) {
    uint32_t low = 0, high = sim->sunk_count;
    while (low < high) { // the first of this wait or a later one
        uint32_t middle = low + (high - low) / 2;
        if (sim->sunk[middle].wait < wait)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < sim->sunk_count && sim->sunk[low].wait == wait; low++) {
        if (sim->sunk[low].begun) continue;
        sim->sunk[low].begun = true;
        return sim->sunk[low].task;
    }
    return DAG_NONE;
}
