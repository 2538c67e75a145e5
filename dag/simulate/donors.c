// SPDX-License-Identifier: GPL-3.0-or-later
// What a task does next where a wait comes out otherwise than recorded: it got what it gave up then, or gives up what
// it got. Its own recording says nothing of that, so another task says it, the donor, that was at the same place and
// had that outcome: everything behind its wait, up to its end, the task does as the donor did.
//
// Candidates agree in the place that asks, in the site of the task, and in what resources it holds; of these the one
// that had computed as much before, of equals the first. A donor that spawns, or waits for another's result, behind its
// wait is none: those would be other tasks. Nor has a task one that does so: what it spawned would be gone, and with it
// what others wait for.
#include "dag/simulate/donors.h"

#include "dag/edit/body.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/passage.h"

#include <stdlib.h>

enum {
    CANDIDATES_MOST = 64, // that are compared for one task
    TRIED_MOST = 1024,    // asks that are looked at for these: most may be no candidates
    CHANGES_MOST = 64,    // of one task: what tries again until it gets something may never get it
};

struct donors {
    uint32_t *task_of; // an ask each: innermost body that asks, DAG_NONE
    uint32_t *sorted;  // asks by place and outcome
    uint32_t count;
    uint32_t *known; // an ask each: its donor, DAG_NONE, or DONOR_UNKNOWN
};
#define DONOR_UNKNOWN (DAG_NONE - 1)

static uint32_t vertex_of(const struct dag_ask *ask) {
    return ask->asked != DAG_NONE ? ask->asked : ask->got;
}

static void find_tasks(const struct dag *dag, uint32_t *task_of) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            bool asks = vertices->kind[v] == VERTEX_ACQUIRE || vertices->kind[v] == VERTEX_HELD;
            if (asks) task_of[vertices->task[v]] = body;
        }
    }
}

static int by_place(const void *a, const void *b, void *context) {
    const struct dag *dag = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct dag_ask *of_x = &dag->asks[x], *of_y = &dag->asks[y];
    if (of_x->site != of_y->site) return of_x->site < of_y->site ? -1 : 1;
    if (of_x->resource != of_y->resource) return of_x->resource < of_y->resource ? -1 : 1;
    if (of_x->given_up != of_y->given_up) return of_x->given_up - of_y->given_up;
    return (x > y) - (x < y);
}

bool donors_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    size_t asks = (size_t)dag->ask_count + 1;
    struct donors *donors = sim->donors = calloc(1, sizeof *donors);
    if (!donors) return false;
    donors->task_of = malloc(asks * sizeof *donors->task_of);
    donors->sorted = malloc(asks * sizeof *donors->sorted);
    donors->known = malloc(asks * sizeof *donors->known);
    if (!donors->task_of || !donors->sorted || !donors->known) return false;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        donors->task_of[i] = DAG_NONE;
        donors->known[i] = DONOR_UNKNOWN;
        if (dag->asks[i].got != DAG_NONE && dag->asks[i].units) donors->sorted[donors->count++] = i;
    }
    find_tasks(dag, donors->task_of);
    if (donors->count) qsort_r(donors->sorted, donors->count, sizeof *donors->sorted, by_place, (void *)dag);
    return true;
}

void donors_free(struct simulation *sim) {
    struct donors *donors = sim->donors;
    if (!donors) return;
    free(donors->task_of);
    free(donors->sorted);
    free(donors->known);
    free(donors);
}

// ---- what makes a donor

static bool can_be_done_again(const struct dag *dag, uint32_t task, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    unsigned kind = vertices->kind[v];
    if (vertex_is_of_resource(kind)) return true;
    if (kind == VERTEX_END || kind == VERTEX_RESULT) return vertices->task[v] == task;
    return (kind == VERTEX_WAIT_BEGIN || kind == VERTEX_WAIT_END) && vertices->cause[v] == DAG_NONE;
}

static bool is_repeatable(const struct dag *dag, uint32_t task, uint32_t ask) {
    const struct dag_task *of = &dag->tasks[task];
    if (of->flags & TASK_UNFINISHED) return false;
    for (uint32_t v = dag->asks[ask].got + 1; v <= of->tail; v++) {
        if (!can_be_done_again(dag, task, v)) return false;
    }
    return true;
}

// Whether what was got by an ask before a vertex of the same body is still had there. Where no release is told, how
// long it was had is a guess, which makes no task another.
static bool has_until(const struct dag *dag, const struct dag_ask *ask, uint32_t vertex) {
    return dag->resources[ask->resource].tells_holds && ask->released != DAG_NONE && ask->released > vertex;
}

// The asks by which the task has what it has at a vertex; the next one before that, DAG_NONE. Begin with the vertex.
static uint32_t held_before(const struct dag *dag, const struct dag_task *task, uint32_t at, uint32_t *v) {
    while (*v > task->start) {
        --*v;
        unsigned kind = dag->vertices.kind[*v];
        if (kind != VERTEX_ACQUIRED && kind != VERTEX_HELD) continue;
        const struct dag_ask *ask = &dag->asks[dag->vertices.task[*v]];
        if (ask->units && has_until(dag, ask, at)) return dag->vertices.task[*v];
    }
    return DAG_NONE;
}

static bool hold_the_same(const struct dag *dag, uint32_t task, uint32_t ask, uint32_t other_task, uint32_t other) {
    uint32_t v = vertex_of(&dag->asks[ask]), w = vertex_of(&dag->asks[other]);
    uint32_t at = v, other_at = w, a, b;
    do {
        a = held_before(dag, &dag->tasks[task], at, &v);
        b = held_before(dag, &dag->tasks[other_task], other_at, &w);
        if ((a == DAG_NONE) != (b == DAG_NONE)) return false;
        if (a != DAG_NONE && dag->asks[a].resource != dag->asks[b].resource) return false;
    } while (a != DAG_NONE);
    return true;
}

// What the task computed up to where it asks, or how long that took where that is not known.
static int64_t progress_of(const struct dag *dag, uint32_t task, uint32_t ask) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t start = dag->tasks[task].start, until = vertex_of(&dag->asks[ask]);
    if (!vertices->compute_ns) return vertices->time_ns[until] - vertices->time_ns[start];
    int64_t sum_ns = 0;
    for (uint32_t v = body_next(dag, start); v <= until; v = body_next(dag, v)) sum_ns += vertices->compute_ns[v];
    return sum_ns;
}

static bool may_donate(const struct simulation *sim, uint32_t ask, uint32_t other) {
    const struct dag *dag = sim->dag;
    uint32_t task = sim->donors->task_of[ask], from = sim->donors->task_of[other];
    if (from == DAG_NONE || from == task || dag->tasks[from].site != dag->tasks[task].site) return false;
    return is_repeatable(dag, from, other) && hold_the_same(dag, task, ask, from, other);
}

// The first of those of the place and the other outcome.
static uint32_t first_of_place(const struct simulation *sim, uint32_t ask) {
    const struct donors *donors = sim->donors;
    struct dag_ask wanted = sim->dag->asks[ask];
    uint32_t low = 0, high = donors->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct dag_ask *at = &sim->dag->asks[donors->sorted[middle]];
        bool before = at->site != wanted.site           ? at->site < wanted.site
                      : at->resource != wanted.resource ? at->resource < wanted.resource
                                                        : at->given_up < !wanted.given_up;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_donor(const struct simulation *sim, uint32_t ask) {
    const struct dag *dag = sim->dag;
    const struct donors *donors = sim->donors;
    const struct dag_ask *of = &dag->asks[ask];
    uint32_t task = donors->task_of[ask], best = DAG_NONE, looked = 0;
    if (task == DAG_NONE || !is_repeatable(dag, task, ask)) return DAG_NONE;
    int64_t own_ns = progress_of(dag, task, ask), least_ns = INT64_MAX;
    uint32_t first = first_of_place(sim, ask), end = donors->count;
    if (end - first > TRIED_MOST) end = first + TRIED_MOST;
    for (uint32_t i = first; i < end && looked < CANDIDATES_MOST; i++) {
        uint32_t other = donors->sorted[i];
        const struct dag_ask *at = &dag->asks[other];
        if (at->site != of->site || at->resource != of->resource || at->given_up == of->given_up) break;
        if (!may_donate(sim, ask, other)) continue;
        looked++;
        int64_t off_ns = progress_of(dag, donors->task_of[other], other) - own_ns;
        if (off_ns < 0) off_ns = -off_ns;
        if (off_ns >= least_ns) continue;
        least_ns = off_ns;
        best = other;
    }
    return best;
}

uint32_t donor_of(struct simulation *sim, uint32_t ask) {
    uint32_t *known = &sim->donors->known[ask];
    if (*known == DONOR_UNKNOWN) *known = find_donor(sim, ask);
    return *known;
}

static bool may_change(const struct simulation *sim, uint32_t index) {
    uint32_t changes = 0;
    for (uint32_t f = sim->processes[index].frame; f != DAG_NONE && sim->frames[f].kind == FRAME_DONOR;
         f = sim->frames[f].outer)
        changes++;
    return changes < CHANGES_MOST;
}

bool donor_is_there(struct simulation *sim, uint32_t index, uint32_t ask) {
    return may_change(sim, index) && donor_of(sim, ask) != DAG_NONE;
}

// ---- going on like a donor

// What the process holds it gives back where the donor gave back its own.
static void exchange_holds(struct simulation *sim, uint32_t index, uint32_t task, uint32_t ask, uint32_t donor) {
    const struct dag *dag = sim->dag;
    uint32_t from = sim->donors->task_of[donor];
    uint32_t v = vertex_of(&dag->asks[ask]), w = vertex_of(&dag->asks[donor]), at = v, donor_at = w;
    for (uint32_t own; (own = held_before(dag, &dag->tasks[task], at, &v)) != DAG_NONE;) {
        uint32_t theirs = held_before(dag, &dag->tasks[from], donor_at, &w);
        for (uint32_t h = sim->processes[index].holds; h != DAG_NONE; h = sim->holds[h].next) {
            if (sim->holds[h].ask == own) sim->holds[h].ask = theirs;
        }
    }
    for (uint32_t h = sim->processes[index].holds; h != DAG_NONE; h = sim->holds[h].next) {
        if (sim->holds[h].ask == ask) sim->holds[h].ask = donor;
    }
}

// The task's own rest is no part of the run, but for its result and its end, which come where the donor's do.
static void drop_rest(struct simulation *sim, uint32_t task, uint32_t v) {
    const struct dag_task *of = &sim->dag->tasks[task];
    for (v++; v <= of->tail; v++) {
        if (v != of->result && v != of->end) vertex_vanish(sim, v);
    }
}

void donor_go_on(struct simulation *sim, uint32_t index, uint32_t ask) {
    const struct dag *dag = sim->dag;
    uint32_t donor = donor_of(sim, ask), task = sim->donors->task_of[ask], from = sim->donors->task_of[donor];
    uint32_t got = dag->asks[donor].got, last = frame_last_of_body(sim, from);
    struct frame *around = &sim->frames[sim->processes[index].frame];
    bool again = around->kind == FRAME_DONOR; // then `task` was a donor itself
    uint32_t own = again ? around->task : task;
    sim->outcomes_changed++;
    exchange_holds(sim, index, task, ask, donor);
    if (!again) drop_rest(sim, task, dag->asks[ask].got);
    around->next = frame_last_of_body(sim, task) + 1;
    around->since_ns = dag->vertices.time_ns[around->next - 1];
    frame_push(sim, index,
               (struct frame){.task = own,
                              .next = got + 1,
                              .end = last + 1,
                              .link = from,
                              .since_ns = dag->vertices.time_ns[got],
                              .kind = FRAME_DONOR});
}

void donor_pass(struct simulation *sim, uint32_t index, uint32_t v, enum vertex_kind kind, int64_t time_ns) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[sim->frames[sim->processes[index].frame].task];
    bool of_resource = vertex_is_of_resource(kind);
    if (kind == VERTEX_END) {
        process_pass(sim, index, task->end, time_ns);
        if (task->result != DAG_NONE && sim->time_ns[task->result] == DAG_PENDING)
            vertex_set(sim, index, task->result, time_ns);
    } else if (kind == VERTEX_RESULT && task->result != DAG_NONE && task->result != task->end) {
        if (sim->time_ns[task->result] == DAG_PENDING) process_pass(sim, index, task->result, time_ns);
    } else if (kind != VERTEX_RESULT) {
        process_pass_new(sim, index, kind, of_resource ? dag->vertices.task[v] : DAG_NONE, time_ns);
    }
}
