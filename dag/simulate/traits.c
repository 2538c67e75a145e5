// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/traits.h"

#include "dag/simulate/pacing.h"
#include "dag/simulate/stealing.h"

#include <stdlib.h>

static bool is_plain_kind(enum vertex_kind kind) {
    return 1u << kind & (1u << VERTEX_SPAWN_END | 1u << VERTEX_END | 1u << VERTEX_RESULT | 1u << VERTEX_WAIT_BEGIN |
                         1u << VERTEX_WAIT_END | 1u << VERTEX_THREAD_END | 1u << VERTEX_REQUEST);
}

static void see_cancelling(struct simulation *sim, uint32_t v) {
    const struct dag *dag = sim->dag;
    uint8_t *traits = sim->recorded.traits;
    const struct dag_task *task = dag->vertices.task[v] == DAG_NONE ? NULL : &dag->tasks[dag->vertices.task[v]];
    if (!task || task->result != v || !dag_task_is_cancelled(dag, task)) return;
    traits[v] = (uint8_t)((traits[v] & ~TRAIT_PLAIN) | TRAIT_CANCELS);
    if (task->end != DAG_NONE) traits[task->end] = (uint8_t)((traits[task->end] & ~TRAIT_PLAIN) | TRAIT_CANCELS);
}

// What a body cancelled behind a wait in it that gave up. gave_up: a task each.
static void find_cancellings(struct simulation *sim, bool *gave_up) {
    const struct dag *dag = sim->dag;
    uint32_t await = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            bool ends = await < dag->await_count && dag->awaits[await].end == v;
            if (ends && dag->awaits[await++].given_up && body != DAG_NONE) gave_up[body] = true;
            if (dag->vertices.kind[v] == VERTEX_RESULT && body != DAG_NONE && gave_up[body]) see_cancelling(sim, v);
        }
    }
}

// Whatever may come out otherwise is looked at, and its result may be awaited by a body that did not await it.
static bool find_limits(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint8_t *traits = sim->recorded.traits;
    if (dag->await_count == 0) return true;
    bool *gave_up = calloc((size_t)dag->task_count + 1, sizeof *gave_up);
    if (!gave_up) return false;
    for (uint32_t i = 0; i < dag->await_count; i++)
        traits[dag->awaits[i].end] = (uint8_t)((traits[dag->awaits[i].end] & ~TRAIT_PLAIN) | TRAIT_LIMITED);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].result != DAG_NONE) traits[dag->tasks[t].result] |= TRAIT_AWAITED;
    }
    find_cancellings(sim, gave_up);
    free(gave_up);
    return true;
}

// Where a thread has what its taking is not told of, it takes it in order of time.
static void see_what_was_had(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->dag->ask_count; i++) {
        uint32_t had_at = sim->dag->asks[i].had_at;
        if (had_at != DAG_NONE) sim->recorded.traits[had_at] &= (uint8_t)~TRAIT_PLAIN;
    }
}

// Units are taken in order of time.
static void see_claims(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->dag->claim_count; i++)
        sim->recorded.traits[sim->dag->claims[i].vertex] &= (uint8_t)~TRAIT_PLAIN;
}

static bool find_traits(struct simulation *sim) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    sim->recorded.traits = calloc((size_t)sim->dag->vertex_count + 1, 1);
    if (!sim->recorded.traits) return false;
    for (uint32_t v = 0; v < sim->dag->vertex_count; v++) {
        uint32_t cause = vertices->cause[v], kind = vertices->kind[v];
        if (cause != DAG_NONE) sim->recorded.traits[cause] |= TRAIT_AWAITED;
        if (cause != DAG_NONE && kind == VERTEX_WAIT_END && vertices->task[v] != DAG_NONE)
            sim->recorded.traits[v] |= TRAIT_WAITS;
        if (kind == VERTEX_SPAWN_BEGIN) sim->recorded.traits[v] |= TRAIT_AWAITED; // by a thread's start
        if (stealing_looks_before(sim, v)) sim->recorded.traits[v] |= TRAIT_LOOKS;
        if (cause != DAG_NONE || vertices->rule[v] != RULE_RUN || !is_plain_kind(kind)) continue;
        if (sim->recorded.traits[v] & TRAIT_LOOKS) continue;
        bool of_task = kind <= VERTEX_RESULT && vertices->task[v] != DAG_NONE;
        sim->recorded.traits[v] |= of_task ? TRAIT_PLAIN | TRAIT_OF_TASK : TRAIT_PLAIN;
    }
    for (uint32_t i = 0; i < sim->dag->request_count; i++) { // by clients, whichever they are
        const uint32_t end = sim->dag->requests[i].end;
        if (end != DAG_NONE) sim->recorded.traits[end] |= TRAIT_AWAITED;
    }
    see_what_was_had(sim);
    see_claims(sim);
    if (!find_limits(sim)) return false;
    for (uint32_t i = 0; i < sim->costs->first_uses.count && corrects(sim, CORRECTION_FIRST_USE); i++)
        sim->recorded.traits[sim->costs->first_uses.items[i].vertex] |= TRAIT_HELD_UP;
    return true;
}

static bool find_spawned_next(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->recorded.spawned_next = malloc(((size_t)dag->task_count + 1) * sizeof *sim->recorded.spawned_next);
    if (!sim->recorded.spawned_next) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) sim->recorded.spawned_next[t] = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t next = DAG_NONE, first = dag->threads[i].first;
        for (uint32_t v = first + dag->threads[i].count; v-- > first;) {
            uint32_t task = dag->vertices.task[v];
            if (dag->vertices.kind[v] != VERTEX_SPAWN_BEGIN || task == DAG_NONE) continue;
            sim->recorded.spawned_next[task] = next;
            next = task;
        }
    }
    return true;
}

bool traits_new(struct simulation *sim) {
    const struct simulation *other = sim->beside;
    if (!other) return find_traits(sim) && find_spawned_next(sim);
    sim->recorded.traits = other->recorded.traits;
    sim->recorded.spawned_next = other->recorded.spawned_next;
    sim->calibrated = other->calibrated;
    if (!other->calibrated) return true;
    sim->recorded.residuals = other->recorded.residuals;
    sim->recorded.pauses = other->recorded.pauses;
    sim->recorded.background = other->recorded.background;
    sim->recorded.others = other->recorded.others;
    sim->recorded.pacing = other->recorded.pacing;
    return true;
}

void traits_free(struct simulation *sim) {
    if (!sim->beside) {
        free(sim->recorded.traits);
        free(sim->recorded.spawned_next);
    }
    if (sim->beside && sim->recorded.residuals == sim->beside->recorded.residuals) return;
    free(sim->recorded.residuals);
    free(sim->recorded.pauses);
    free(sim->recorded.background);
    free(sim->recorded.others);
    pacing_free(sim->recorded.pacing);
}
