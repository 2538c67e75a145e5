// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate/deadlock.h"

#include "dag/edit/chain.h"
#include "dag/names.h"
#include "dag/propagate/segments.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t next_vertex(const struct dag_run *run, uint32_t thread) {
    return run->segments->list[run->walks[thread].segment].begin;
}

// The thread on whose chain each vertex still to come lies.
static uint32_t *find_owners(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run) {
    uint32_t *owner = malloc(((size_t)dag->vertex_count + 1) * sizeof *owner);
    for (uint32_t v = 0; owner && v < dag->vertex_count; v++) owner[v] = DAG_NONE;
    for (uint32_t i = 0; owner && i < dag->thread_count; i++) {
        if (run->walks[i].done) continue;
        struct dag_chain chain;
        dag_chain_init(&chain, dag, edit);
        dag_chain_resume(&chain, i, next_vertex(run, i));
        for (uint32_t v = chain.vertex; v != DAG_NONE; v = dag_chain_next(&chain)) owner[v] = i;
    }
    return owner;
}

static uint32_t next_chain(const struct dag_run *run, const uint32_t *owner, uint32_t chain) {
    return owner[run->walks[chain].awaits];
}

// After as many steps as there are threads one is on the ring.
static uint32_t chain_on_ring(const struct dag *dag, const struct dag_run *run, const uint32_t *owner) {
    uint32_t chain = 0;
    while (run->walks[chain].done) chain++;
    for (uint32_t i = 0; i < dag->thread_count; i++) chain = next_chain(run, owner, chain);
    return chain;
}

// The task in whose body a vertex lies, DAG_NONE outside of any. Brackets and helped bodies before it are passed over.
static uint32_t task_around(const struct dag *dag, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = vertex + 1; v-- > 0;) {
        if (vertices->kind[v] == VERTEX_THREAD_START) return DAG_NONE;
        if (vertices->kind[v] != VERTEX_START) continue;
        uint32_t task = vertices->task[v];
        if (v == vertex) return dag->tasks[task].enclosing; // it has not begun
        if (dag->tasks[task].end >= vertex) return task;
    }
    return DAG_NONE;
}

static void list_task(struct dag_run *run, uint32_t task) {
    bool again = run->deadlock_length && run->deadlock[run->deadlock_length - 1] == task;
    if (task == DAG_NONE || again || run->deadlock_length == DAG_DEADLOCK_TASKS) return;
    run->deadlock[run->deadlock_length++] = task;
}

bool dag_find_deadlock(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    uint32_t *owner = find_owners(dag, edit, run);
    if (!owner) return false;
    uint32_t first = chain_on_ring(dag, run, owner), chain = first;
    do {
        list_task(run, task_around(dag, next_vertex(run, chain)));
        list_task(run, dag->vertices.task[run->walks[chain].awaits]);
        chain = next_chain(run, owner, chain);
    } while (chain != first);
    if (run->deadlock_length > 1 && run->deadlock[0] == run->deadlock[run->deadlock_length - 1]) run->deadlock_length--;
    free(owner);
    return true;
}

char *dag_deadlock_text(const struct dag *dag, const struct dag_run *run, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < run->deadlock_length && used < size; i++) {
        char name[512], next[512];
        dag_task_text(dag, run->deadlock[i], name, sizeof name);
        dag_task_text(dag, run->deadlock[(i + 1) % run->deadlock_length], next, sizeof next);
        used += (size_t)snprintf(text + used, size - used, "%s%s waits for %s", i ? "\n    " : "", name, next);
    }
    return text;
}
