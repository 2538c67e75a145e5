// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run came to a halt: from a strand that waits to whoever should bring what it waits for, and so on, until that
// is a task that no worker is left for, or one that was met before.
#include "dag/strand.h"

#include <stdio.h>

// The task in whose body a recorded vertex lies, DAG_NONE outside of any.
static uint32_t task_around(const struct dag *dag, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = vertex + 1; v-- > 0;) {
        if (vertices->kind[v] == VERTEX_THREAD_START) return DAG_NONE;
        if (vertices->kind[v] != VERTEX_START) continue;
        uint32_t task = vertices->task[v];
        if (v == vertex) return task;
        if (dag->tasks[task].tail >= vertex) return task;
    }
    return DAG_NONE;
}

// The task that a strand was last in, by the frames it is in or by where it stands.
static uint32_t task_of_strand(const struct simulation *sim, uint32_t strand) {
    uint32_t vertex = sim->strands[strand].vertex;
    return vertex == DAG_NONE ? DAG_NONE : task_around(sim->dag, vertex);
}

// The strand in one of whose frames a vertex is still to come, DAG_NONE if it is nobody's yet.
static uint32_t strand_ahead_of(const struct simulation *sim, uint32_t vertex) {
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        for (uint32_t f = sim->strands[i].frame; f != DAG_NONE; f = sim->frames[f].outer) {
            if (sim->frames[f].next <= vertex && vertex < sim->frames[f].end) return i;
        }
    }
    return DAG_NONE;
}

// Who must come to a vertex first: the strand that has it ahead; for what moved, whoever has its spawn ahead.
static uint32_t strand_for(const struct simulation *sim, uint32_t vertex) {
    for (uint32_t steps = 0; steps <= sim->dag->task_count; steps++) {
        uint32_t task = task_around(sim->dag, vertex);
        bool moved = task != DAG_NONE && sim->fate[task] != FATE_RECORDED;
        bool begun = moved && sim->time_ns[sim->dag->tasks[task].start] != DAG_PENDING;
        if (!moved || begun) return strand_ahead_of(sim, vertex);
        vertex = sim->dag->tasks[task].spawn_begin;
    }
    return DAG_NONE;
}

static bool list_task(struct stuck *stuck, uint32_t task) {
    if (task == DAG_NONE) return true;
    if (stuck->length && stuck->tasks[stuck->length - 1] == task) return true;
    if (stuck->length == DAG_DEADLOCK_TASKS) return false;
    stuck->tasks[stuck->length++] = task;
    return true;
}

static bool is_queued(const struct simulation *sim, uint32_t task) {
    if (task == DAG_NONE || sim->fate[task] != FATE_DISPATCHED) return false;
    const struct dag_task *of = &sim->dag->tasks[task];
    return sim->time_ns[of->spawn_begin] != DAG_PENDING && sim->time_ns[of->start] == DAG_PENDING;
}

static uint32_t first_stuck(const struct simulation *sim) {
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        const struct strand *strand = &sim->strands[i];
        bool waits = strand->life == LIFE_RUNS && strand->vertex != DAG_NONE && strand->awaits != DAG_NONE;
        if (waits && sim->dag->vertices.kind[strand->vertex] != VERTEX_BARRIER) return i;
    }
    return DAG_NONE;
}

// After as many steps as there are strands one is on the ring, if there is a ring.
static uint32_t on_ring(const struct simulation *sim, uint32_t strand) {
    uint32_t first = strand;
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        uint32_t next = strand_for(sim, sim->strands[strand].awaits);
        if (next == DAG_NONE || sim->strands[next].awaits == DAG_NONE) return first;
        strand = next;
    }
    return strand;
}

void stuck_find(struct simulation *sim) {
    struct stuck *stuck = &sim->stuck;
    uint32_t strand = first_stuck(sim);
    if (strand != DAG_NONE) strand = on_ring(sim, strand);
    for (uint32_t first = strand; strand != DAG_NONE;) {
        uint32_t awaited = sim->strands[strand].awaits;
        if (awaited == DAG_NONE || !list_task(stuck, task_of_strand(sim, strand))) return;
        uint32_t task = dag_task_of(&sim->dag->vertices, awaited);
        if (!list_task(stuck, task)) return;
        if (is_queued(sim, task)) {
            stuck->pool = sim->dag->tasks[task].pool;
            return;
        }
        strand = strand_for(sim, awaited);
        if (strand == first) {
            if (stuck->length > 1 && stuck->tasks[0] == stuck->tasks[stuck->length - 1]) stuck->length--;
            return;
        }
    }
}

static size_t put_task(const struct dag *dag, uint32_t index, char *text, size_t size) {
    const struct dag_task *task = &dag->tasks[index];
    char site[512];
    dag_site_text(dag, task->site, site, sizeof site);
    return (size_t)snprintf(text, size, "%s", task->flags & TASK_MAIN ? "main" : site);
}

char *stuck_text(const struct dag *dag, const struct stuck *stuck, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    uint32_t shown = stuck->length + (stuck->pool == 0 && stuck->length > 0); // a ring closes
    for (uint32_t i = 0; i < shown && used < size; i++) {
        if (i) used += (size_t)snprintf(text + used, size - used, " waits for ");
        if (used < size) used += put_task(dag, stuck->tasks[i % stuck->length], text + used, size - used);
    }
    if (stuck->pool && used < size) {
        const char *name = stuck->pool < dag->trace->pool_count ? dag->trace->pools[stuck->pool].name : NULL;
        snprintf(text + used, size - used, ", which no worker of %s is left to run", name ? name : "its pool");
    }
    return text;
}
