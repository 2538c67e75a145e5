// SPDX-License-Identifier: GPL-3.0-or-later
// What a task does next where a wait comes out otherwise than recorded: it got what it gave up then, or gives up what
// it got. Its own recording says nothing of that, so another task says it, the donor, that was at the same place and
// had that outcome: everything behind its wait, up to its end, the task does as the donor did.
//
// Candidates agree in the place that asks, in the site of the task, and in what resources it holds; of these the one
// that had computed as much before, of equals the first. A donor that spawns, or waits for another's result, behind its
// wait is none: those would be other tasks. Nor has a task one that does so: what it spawned would be gone, and with it
// what others wait for. But behind a wait for a result it may await, or cancel, tasks that it had made before: they
// stand for those that the task itself made, the first for the first of their site and so on.
#include "dag/simulate/donors.h"

#include "dag/edit/body.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/cancelled.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/passage.h"

#include <stdlib.h>

enum {
    CANDIDATES_MOST = 64, // that are compared for one task
    TRIED_MOST = 1024,    // asks that are looked at for these: most may be no candidates
    REST_MOST = 4096,     // vertices behind a wait
    CHANGES_MOST = 64,    // of one task: what tries again until it gets something may never get it
};

// Where what a task does hangs on how a wait comes out: an ask, by its index, or behind these a wait for a result.
struct point {
    uint32_t site, resource; // the trace's site that waits; DAG_NONE for a result
    uint32_t before, after;  // vertices, where it asks and where the outcome is there
    uint32_t task;           // innermost body that waits, DAG_NONE
    bool given_up;
};

struct donors {
    struct point *points;
    uint32_t *sorted; // points by place and outcome
    uint32_t count;
    uint32_t *known; // a point each: its donor, DAG_NONE, or DONOR_UNKNOWN
};
#define DONOR_UNKNOWN (DAG_NONE - 1)

static struct point point_of_ask(const struct dag_ask *ask) {
    uint32_t before = ask->asked != DAG_NONE ? ask->asked : ask->got;
    return (struct point){ask->site, ask->resource, before, ask->got, DAG_NONE, ask->given_up};
}

static struct point point_of_await(const struct dag_await *await) {
    return (struct point){await->site, DAG_NONE, await->begin, await->end, DAG_NONE, await->given_up};
}

static void find_tasks(const struct dag *dag, struct point *points) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t await = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            bool asks = vertices->kind[v] == VERTEX_ACQUIRE || vertices->kind[v] == VERTEX_HELD;
            if (asks) points[vertices->task[v]].task = body;
            if (await < dag->await_count && dag->awaits[await].end == v) points[dag->ask_count + await++].task = body;
        }
    }
}

static int by_place(const void *a, const void *b, void *context) {
    const struct point *points = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct point *of_x = &points[x], *of_y = &points[y];
    if (of_x->site != of_y->site) return of_x->site < of_y->site ? -1 : 1;
    if (of_x->resource != of_y->resource) return of_x->resource < of_y->resource ? -1 : 1;
    if (of_x->given_up != of_y->given_up) return of_x->given_up - of_y->given_up;
    return (x > y) - (x < y);
}

bool donors_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint32_t all = dag->ask_count + dag->await_count;
    size_t room = (size_t)all + 1;
    struct donors *donors = sim->donors = calloc(1, sizeof *donors);
    if (!donors) return false;
    donors->points = malloc(room * sizeof *donors->points);
    donors->sorted = malloc(room * sizeof *donors->sorted);
    donors->known = malloc(room * sizeof *donors->known);
    if (!donors->points || !donors->sorted || !donors->known) return false;
    for (uint32_t i = 0; i < all; i++) {
        bool asks = i < dag->ask_count;
        donors->points[i] = asks ? point_of_ask(&dag->asks[i]) : point_of_await(&dag->awaits[i - dag->ask_count]);
        donors->known[i] = DONOR_UNKNOWN;
        if (!asks || (dag->asks[i].got != DAG_NONE && dag->asks[i].units)) donors->sorted[donors->count++] = i;
    }
    find_tasks(dag, donors->points);
    if (donors->count) qsort_r(donors->sorted, donors->count, sizeof *donors->sorted, by_place, donors->points);
    return true;
}

void donors_free(struct simulation *sim) {
    struct donors *donors = sim->donors;
    if (!donors) return;
    free(donors->points);
    free(donors->sorted);
    free(donors->known);
    free(donors);
}

uint32_t donor_task_at(const struct simulation *sim, uint32_t await) {
    return sim->donors->points[sim->dag->ask_count + await].task;
}

// ---- a task's own tasks

static bool spawns_at(const struct dag *dag, uint32_t task, uint32_t v) {
    uint32_t named = dag->vertices.task[v];
    return dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN && named != DAG_NONE && dag->tasks[named].spawner == task;
}

// Of the tasks of its site that the task made, the `number`-th before a vertex of its body; DAG_NONE: there are not as
// many.
static uint32_t child_at(const struct dag *dag, uint32_t task, uint32_t site, uint32_t number, uint32_t before) {
    for (uint32_t v = body_next(dag, dag->tasks[task].start); v < before; v = body_next(dag, v)) {
        if (!spawns_at(dag, task, v) || dag->tasks[dag->vertices.task[v]].site != site) continue;
        if (number-- == 0) return dag->vertices.task[v];
    }
    return DAG_NONE;
}

static uint32_t number_of_child(const struct dag *dag, uint32_t task, uint32_t child) {
    uint32_t number = 0;
    for (uint32_t v = body_next(dag, dag->tasks[task].start); v < dag->tasks[child].spawn_begin; v = body_next(dag, v))
        number += spawns_at(dag, task, v) && dag->tasks[dag->vertices.task[v]].site == dag->tasks[child].site;
    return number;
}

// What `child` is to `from`, one of the task's own is to the task.
static uint32_t child_like(const struct dag *dag, uint32_t task, uint32_t before, uint32_t from, uint32_t child) {
    return child_at(dag, task, dag->tasks[child].site, number_of_child(dag, from, child), before);
}

uint32_t donor_task_named(const struct simulation *sim, const struct frame *frame, uint32_t named) {
    if (named == frame->link) return frame->task;
    if (sim->dag->tasks[named].spawn_begin == DAG_NONE || sim->dag->tasks[named].spawner != frame->link)
        return DAG_NONE;
    return child_like(sim->dag, frame->task, sim->dag->tasks[frame->task].end, frame->link, named);
}

// ---- what makes a donor

// Whether a vertex behind a wait waits for one of the tasks that its own had made before, or cancels it.
static bool is_of_child(const struct dag *dag, uint32_t task, uint32_t before, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    unsigned kind = vertices->kind[v];
    if (kind != VERTEX_WAIT_BEGIN && kind != VERTEX_WAIT_END && kind != VERTEX_RESULT) return false;
    if (vertices->task[v] == DAG_NONE) return false;
    const struct dag_task *child = &dag->tasks[vertices->task[v]];
    return child->spawner == task && child->spawn_begin < before && !(child->flags & TASK_NESTED);
}

// Behind a wait for a result a task may go on with what it made before: another of its site has such tasks, too.
static bool is_repeatable(const struct dag *dag, const struct point *point) {
    const struct dag_task *of = &dag->tasks[point->task];
    if (point->resource != DAG_NONE) return can_be_repeated(dag, point->task, point->after);
    if (of->flags & TASK_UNFINISHED || of->tail - point->after > REST_MOST) return false;
    for (uint32_t v = point->after + 1; v <= of->tail; v++) {
        bool again = is_repeatable_at(dag, point->task, v) || is_of_child(dag, point->task, point->before, v);
        if (!again) return false;
    }
    return true;
}

static bool may_run(const struct simulation *sim, uint32_t task) {
    return sim->dag->tasks[task].start != DAG_NONE || (sim->body_of && sim->body_of[task] != DAG_NONE);
}

// Whether the task has a task of its own for each that the other goes on with.
static bool has_children_of(const struct simulation *sim, const struct point *own, const struct point *other) {
    const struct dag *dag = sim->dag;
    for (uint32_t v = other->after + 1; other->resource == DAG_NONE && v <= dag->tasks[other->task].tail; v++) {
        if (!is_of_child(dag, other->task, other->before, v)) continue;
        uint32_t child = child_like(dag, own->task, own->before, other->task, dag->vertices.task[v]);
        if (child == DAG_NONE || !may_run(sim, child)) return false;
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

static bool hold_the_same(const struct dag *dag, const struct point *own, const struct point *other) {
    uint32_t v = own->before, w = other->before;
    uint32_t at = v, other_at = w, a, b;
    do {
        a = held_before(dag, &dag->tasks[own->task], at, &v);
        b = held_before(dag, &dag->tasks[other->task], other_at, &w);
        if ((a == DAG_NONE) != (b == DAG_NONE)) return false;
        if (a != DAG_NONE && dag->asks[a].resource != dag->asks[b].resource) return false;
    } while (a != DAG_NONE);
    return true;
}

// What the task computed up to where it asks, or how long that took where that is not known.
static int64_t progress_of(const struct dag *dag, const struct point *point) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t start = dag->tasks[point->task].start, until = point->before;
    if (!vertices->compute_ns) return vertices->time_ns[until] - vertices->time_ns[start];
    int64_t sum_ns = 0;
    for (uint32_t v = body_next(dag, start); v <= until; v = body_next(dag, v)) sum_ns += vertices->compute_ns[v];
    return sum_ns;
}

static bool may_donate(const struct simulation *sim, const struct point *own, const struct point *other) {
    const struct dag *dag = sim->dag;
    if (other->task == DAG_NONE || other->task == own->task) return false;
    if (dag->tasks[other->task].site != dag->tasks[own->task].site) return false;
    return is_repeatable(dag, other) && hold_the_same(dag, own, other) && has_children_of(sim, own, other);
}

static bool is_of_place(const struct point *point, const struct point *place) {
    return point->site == place->site && point->resource == place->resource;
}

// The first of those of the place and the other outcome.
static uint32_t first_of_place(const struct donors *donors, const struct point *wanted) {
    uint32_t low = 0, high = donors->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct point *at = &donors->points[donors->sorted[middle]];
        bool before = at->site != wanted->site           ? at->site < wanted->site
                      : at->resource != wanted->resource ? at->resource < wanted->resource
                                                         : at->given_up < !wanted->given_up;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_donor(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    const struct donors *donors = sim->donors;
    const struct point *own = &donors->points[index];
    uint32_t best = DAG_NONE, looked = 0;
    if (own->task == DAG_NONE || !is_repeatable(dag, own)) return DAG_NONE;
    int64_t own_ns = progress_of(dag, own), least_ns = INT64_MAX;
    uint32_t first = first_of_place(donors, own), end = donors->count;
    if (end - first > TRIED_MOST) end = first + TRIED_MOST;
    for (uint32_t i = first; i < end && looked < CANDIDATES_MOST; i++) {
        const struct point *other = &donors->points[donors->sorted[i]];
        if (!is_of_place(other, own) || other->given_up == own->given_up) break;
        if (!may_donate(sim, own, other)) continue;
        looked++;
        int64_t off_ns = progress_of(dag, other) - own_ns;
        if (off_ns < 0) off_ns = -off_ns;
        if (off_ns >= least_ns) continue;
        least_ns = off_ns;
        best = donors->sorted[i];
    }
    return best;
}

uint32_t donor_of(struct simulation *sim, uint32_t point) {
    uint32_t *known = &sim->donors->known[point];
    if (*known == DONOR_UNKNOWN) *known = find_donor(sim, point);
    return *known;
}

// A unit is no body to be gone on with as another: its rest is that of the process that took it.
static bool may_change(const struct simulation *sim, uint32_t index) {
    uint32_t changes = 0;
    if (sim->frames[sim->processes[index].frame].kind == FRAME_UNIT) return false;
    for (uint32_t f = sim->processes[index].frame; f != DAG_NONE && sim->frames[f].kind == FRAME_DONOR;
         f = sim->frames[f].outer)
        changes++;
    return changes < CHANGES_MOST;
}

bool donor_is_there(struct simulation *sim, uint32_t index, uint32_t point) {
    return may_change(sim, index) && donor_of(sim, point) != DAG_NONE;
}

// ---- going on like a donor

// What the process holds it gives back where the donor gave back its own.
static void exchange_holds(struct simulation *sim, uint32_t index, uint32_t own_point, uint32_t donor_point) {
    const struct dag *dag = sim->dag;
    const struct point *own = &sim->donors->points[own_point], *donor = &sim->donors->points[donor_point];
    uint32_t v = own->before, w = donor->before, at = v, donor_at = w;
    for (uint32_t ask; (ask = held_before(dag, &dag->tasks[own->task], at, &v)) != DAG_NONE;) {
        uint32_t theirs = held_before(dag, &dag->tasks[donor->task], donor_at, &w);
        for (uint32_t h = sim->processes[index].holds; h != DAG_NONE; h = sim->holds[h].next) {
            if (sim->holds[h].ask == ask) sim->holds[h].ask = theirs;
        }
    }
    for (uint32_t h = sim->processes[index].holds; h != DAG_NONE && own->resource != DAG_NONE; h = sim->holds[h].next) {
        if (sim->holds[h].ask == own_point) sim->holds[h].ask = donor_point;
    }
}

// The task's own rest is no part of the run, but for its result and its end, which come where the donor's do. What it
// cancelled there has its result from another.
static void drop_rest(struct simulation *sim, uint32_t task, uint32_t v) {
    const struct dag_task *of = &sim->dag->tasks[task];
    for (v++; v <= of->tail; v++) {
        bool cancels = sim->races && sim->recorded.traits[v] & TRAIT_CANCELS;
        if (v != of->result && v != of->end && !cancels) vertex_vanish(sim, v);
    }
}

void donor_go_on(struct simulation *sim, uint32_t index, uint32_t point) {
    const struct dag *dag = sim->dag;
    uint32_t donor = donor_of(sim, point);
    const struct point *then = &sim->donors->points[point], *from = &sim->donors->points[donor];
    uint32_t last = frame_last_of_body(sim, from->task);
    struct frame *around = &sim->frames[sim->processes[index].frame];
    bool again = around->kind == FRAME_DONOR; // then the task that waited was a donor itself
    uint32_t own = again ? around->task : then->task;
    sim->outcomes_changed++;
    exchange_holds(sim, index, point, donor);
    if (!again) drop_rest(sim, then->task, then->after);
    around->next = frame_last_of_body(sim, then->task) + 1;
    around->since_ns = dag->vertices.time_ns[around->next - 1];
    frame_push(sim, index,
               (struct frame){.task = own,
                              .next = from->after + 1,
                              .end = last + 1,
                              .link = from->task,
                              .since_ns = dag->vertices.time_ns[from->after],
                              .kind = FRAME_DONOR});
}

// Whether the result of a task that is cancelled where it is set stands for its own.
static bool is_set_elsewhere(const struct simulation *sim, const struct dag_task *task) {
    return sim->races && sim->recorded.traits[task->result] & TRAIT_CANCELS && task->result != task->end;
}

static void pass_end(struct simulation *sim, uint32_t index, uint32_t own, int64_t time_ns) {
    const struct dag_task *task = &sim->dag->tasks[own];
    if (task->end != DAG_NONE)
        process_pass(sim, index, task->end, time_ns);
    else
        process_pass_new(sim, index, VERTEX_END, own, time_ns);
    if (task->result == DAG_NONE || sim->time_ns[task->result] != DAG_PENDING) return;
    if (is_set_elsewhere(sim, task))
        cancelled_complete(sim, index, own, time_ns);
    else
        vertex_set(sim, index, task->result, time_ns);
}

static void pass_result(struct simulation *sim, uint32_t index, uint32_t own, int64_t time_ns) {
    const struct dag_task *task = &sim->dag->tasks[own];
    if (task->result == DAG_NONE || task->result == task->end || sim->time_ns[task->result] != DAG_PENDING) return;
    if (is_set_elsewhere(sim, task))
        cancelled_complete(sim, index, own, time_ns);
    else
        process_pass(sim, index, task->result, time_ns);
}

// The donor cancels one of its tasks, and so the process one of its own.
static void pass_cancelling(struct simulation *sim, uint32_t index, uint32_t child, int64_t time_ns) {
    if (cancelled_now(sim, child)) cancelled_complete(sim, index, child, time_ns);
}

void donor_pass(struct simulation *sim, uint32_t index, uint32_t v, enum vertex_kind kind, int64_t time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct frame frame = sim->frames[sim->processes[index].frame];
    uint32_t named = dag_task_of(vertices, v), own = named;
    if (named != DAG_NONE) own = donor_task_named(sim, &frame, named);
    if (kind == VERTEX_END)
        pass_end(sim, index, frame.task, time_ns);
    else if (kind == VERTEX_RESULT && named == frame.link)
        pass_result(sim, index, frame.task, time_ns);
    else if (kind == VERTEX_RESULT)
        pass_cancelling(sim, index, own, time_ns);
    else
        process_pass_new(sim, index, kind, vertex_is_of_resource(kind) ? vertices->task[v] : own, time_ns);
}
