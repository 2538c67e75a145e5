// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run came to a halt: from a process or a stage that waits to whoever should bring what it waits for, and so on,
// until that is a task that no worker is left for, or one that was met before.
#include "dag/simulate/stuck.h"

#include "dag/names.h"
#include "dag/simulate/awaits.h"
#include "dag/simulate/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

// Who waits: a process, or a coordinator in stages, by its frame. The other is DAG_NONE; both: nobody.
struct waiter {
    uint32_t process, stage;
};

static bool is_nobody(struct waiter waiter) {
    return waiter.process == DAG_NONE && waiter.stage == DAG_NONE;
}

static bool is_same(struct waiter a, struct waiter b) {
    return a.process == b.process && a.stage == b.stage;
}

static bool waits_for_resource(const struct simulation *sim, struct waiter waiter) {
    return waiter.process != DAG_NONE && sim->processes[waiter.process].wait.state == ASK_LISTED;
}

// A virtual thread that is ready.
static bool waits_for_carrier(const struct simulation *sim, struct waiter waiter) {
    return waiter.process != DAG_NONE && sim->processes[waiter.process].edge.state == EDGE_READY;
}

static bool has_some(const struct simulation *sim, const struct process *process, uint32_t resource) {
    for (uint32_t h = process->holds; h != DAG_NONE; h = sim->holds[h].next) {
        if (sim->dag->asks[sim->holds[h].ask].resource == resource) return true;
    }
    return false;
}

// A process that holds what the waiter waits for: the one that took some of it last, or else the first.
static struct waiter holder_for(const struct simulation *sim, struct waiter waiter) {
    uint32_t resource = sim->dag->asks[sim->processes[waiter.process].wait.ask].resource;
    uint32_t holder = sim->resources[resource].holder;
    bool holds = holder != DAG_NONE && has_some(sim, &sim->processes[holder], resource);
    for (uint32_t i = 0; !holds && i < sim->process_count; i++) {
        holds = has_some(sim, &sim->processes[i], resource);
        holder = i;
    }
    return (struct waiter){holds ? holder : DAG_NONE, DAG_NONE};
}

// What a waiter waits for, DAG_NONE if it is at no wait.
static uint32_t awaited_by(const struct simulation *sim, struct waiter waiter) {
    if (waiter.stage != DAG_NONE) return await_cause_of_stage(sim, sim->frames[waiter.stage].next - 1);
    return waiter.process == DAG_NONE ? DAG_NONE : sim->processes[waiter.process].awaits;
}

// The task that waits.
static uint32_t task_of(const struct simulation *sim, struct waiter waiter) {
    if (waiter.stage != DAG_NONE) return sim->frames[waiter.stage].task;
    uint32_t vertex = sim->processes[waiter.process].vertex;
    return vertex == DAG_NONE ? DAG_NONE : task_around(sim->dag, vertex);
}

static bool is_ahead(const struct frame *frame, uint32_t vertex) {
    return frame->next <= vertex && vertex < frame->end;
}

// A stage that waits and has the vertex ahead, or any for DAG_NONE.
static uint32_t stage_ahead_of(const struct simulation *sim, uint32_t vertex) {
    for (uint32_t f = 0; sim->regroup.stages_left && f < sim->frame_count; f++) {
        const struct frame *frame = &sim->frames[f];
        if (frame->parked && (vertex == DAG_NONE || is_ahead(frame, vertex))) return f;
    }
    return DAG_NONE;
}

// In one of whose frames a vertex is still to come; nobody if it is in none yet.
static struct waiter who_is_before(const struct simulation *sim, uint32_t vertex) {
    for (uint32_t i = 0; i < sim->process_count; i++) {
        for (uint32_t f = sim->processes[i].frame; f != DAG_NONE; f = sim->frames[f].outer) {
            bool has_vertices = sim->frames[f].kind < FRAME_DONOR;
            if (has_vertices && is_ahead(&sim->frames[f], vertex)) return (struct waiter){i, DAG_NONE};
        }
    }
    return (struct waiter){DAG_NONE, stage_ahead_of(sim, vertex)};
}

// Who ends the group that a task is merged into; else the task itself.
static uint32_t task_that_runs(const struct simulation *sim, uint32_t task) {
    while (task != DAG_NONE && sim->placement[task] == PLACEMENT_MERGED) task = sim->edit->merged_next[task];
    return task;
}

// Who must come to a vertex first: whoever has it ahead; for what moved, whoever has its spawn ahead.
static struct waiter who_brings(const struct simulation *sim, uint32_t vertex) {
    for (uint32_t steps = 0; steps <= sim->dag->task_count; steps++) {
        uint32_t inner = task_around(sim->dag, vertex), task = task_that_runs(sim, inner);
        bool moved = task != DAG_NONE && sim->placement[task] != PLACEMENT_RECORDED;
        uint32_t start = moved ? sim->dag->tasks[task].start : DAG_NONE;
        bool begun = start != DAG_NONE && sim->time_ns[start] != DAG_PENDING;
        if (!moved || begun) return who_is_before(sim, task == inner ? vertex : sim->dag->tasks[task].end);
        vertex = sim->dag->tasks[task].spawn_begin;
        if (vertex == DAG_NONE) break; // it was there from the beginning
    }
    return (struct waiter){DAG_NONE, DAG_NONE};
}

static bool list_task(struct stuck *stuck, uint32_t task, uint32_t ask, bool loose) {
    if (task == DAG_NONE) return true;
    bool again = stuck->length && stuck->tasks[stuck->length - 1] == task;
    if (!again && stuck->length == DAG_DEADLOCK_TASKS) return false;
    if (!again) stuck->tasks[stuck->length++] = task;
    stuck->asks[stuck->length - 1] = ask;
    stuck->loose[stuck->length - 1] = loose;
    return true;
}

// Whether the task is one of those that another had made, and these in turn.
static bool comes_from(const struct dag *dag, uint32_t task, uint32_t other) {
    enum { STEPS = 64 };
    for (unsigned i = 0; i < STEPS && task != DAG_NONE; i++) {
        if (task == other) return true;
        const uint32_t spawn = dag->tasks[task].spawn_begin;
        task = spawn == DAG_NONE ? DAG_NONE : task_around(dag, spawn);
    }
    return false;
}

// The task that brings about what is awaited: what is no task of its own is brought about by the one around it.
static uint32_t task_behind(const struct dag *dag, uint32_t awaited) {
    const uint32_t task = awaited == DAG_NONE ? DAG_NONE : dag_task_of(&dag->vertices, awaited);
    return task != DAG_NONE && dag->tasks[task].flags & TASK_NESTED ? task_around(dag, awaited) : task;
}

// Whether the waiter waits for a signal that others than its recorded giver might give: by no latch, and of nothing
// that the waiter had made.
static bool is_loose(const struct simulation *sim, struct waiter waiter, uint32_t awaited) {
    const struct dag *dag = sim->dag;
    const uint32_t signal = awaited == DAG_NONE ? DAG_NONE : dag_task_of(&dag->vertices, awaited);
    if (signal == DAG_NONE || !(dag->tasks[signal].flags & TASK_OTHERS)) return false;
    return !comes_from(dag, task_behind(dag, awaited), task_of(sim, waiter));
}

// false: there is no room for more.
static bool list_waiter(struct simulation *sim, struct waiter waiter) {
    const bool asks = waits_for_resource(sim, waiter);
    const uint32_t ask = asks ? sim->processes[waiter.process].wait.ask : DAG_NONE;
    return list_task(&sim->stuck, task_of(sim, waiter), ask, !asks && is_loose(sim, waiter, awaited_by(sim, waiter)));
}

// Of a task in parts: one of them is.
static bool is_queued(const struct simulation *sim, uint32_t awaited) {
    uint32_t task = task_that_runs(sim, awaited);
    if (task == DAG_NONE || sim->placement[task] < PLACEMENT_SPLIT) return false;
    const struct dag_task *of = &sim->dag->tasks[task];
    if (job_spawned_ns(sim, task) == DAG_PENDING) return false;
    if (sim->placement[task] == PLACEMENT_SPLIT) return sim->pools[of->pool].queue_length > 0;
    if (of->start == DAG_NONE) return sim->queue.holder[task] != QUEUE_NOWHERE;
    return sim->time_ns[of->start] == DAG_PENDING;
}

static struct waiter first_waiter(const struct simulation *sim) {
    for (uint32_t i = 0; i < sim->process_count; i++) {
        const struct process *process = &sim->processes[i];
        bool waits = process->life == LIFE_RUNS && process->vertex != DAG_NONE && process->awaits != DAG_NONE;
        if (process->wait.state == ASK_LISTED) return (struct waiter){i, DAG_NONE};
        if (waits && sim->dag->vertices.kind[process->vertex] != VERTEX_BARRIER) return (struct waiter){i, DAG_NONE};
    }
    return (struct waiter){DAG_NONE, stage_ahead_of(sim, DAG_NONE)};
}

static bool is_waiting(const struct simulation *sim, struct waiter waiter) {
    if (waits_for_carrier(sim, waiter)) return false;
    return waits_for_resource(sim, waiter) || awaited_by(sim, waiter) != DAG_NONE;
}

static struct waiter next_of(const struct simulation *sim, struct waiter waiter) {
    return waits_for_resource(sim, waiter) ? holder_for(sim, waiter) : who_brings(sim, awaited_by(sim, waiter));
}

// After as many steps as there are waiters one is on the ring, if there is a ring.
static struct waiter on_ring(const struct simulation *sim, struct waiter first) {
    struct waiter waiter = first;
    for (uint32_t i = 0; i < sim->process_count + sim->regroup.stages_left; i++) {
        struct waiter next = next_of(sim, waiter);
        if (is_nobody(next) || !is_waiting(sim, next)) return first;
        waiter = next;
    }
    return waiter;
}

// Whose workers are under way for ever, so that nobody comes for the rest, and nobody waits for it.
static uint32_t pool_with_a_queue(const struct simulation *sim) {
    uint32_t pool = sim->pool_count;
    while (--pool > 0 && sim->pools[pool].queue_length == 0) {
    }
    return pool_model(sim, pool);
}

// Whether a process waits for what was there already when it was recorded to ask for it.
static bool waits_where_it_did_not(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    const uint32_t v = process->vertex;
    if (process->life != LIFE_RUNS || process->awaits == DAG_NONE || v == 0 || v >= STEP_LEAST) return false;
    return vertices->kind[v] == VERTEX_WAIT_END && vertices->kind[v - 1] == VERTEX_WAIT_BEGIN &&
           vertices->time_ns[v] == vertices->time_ns[v - 1];
}

static uint32_t first_taken(const struct simulation *sim) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    uint32_t first = DAG_NONE;
    for (uint32_t i = 0; i < sim->process_count; i++) {
        if (!waits_where_it_did_not(sim, &sim->processes[i])) continue;
        const uint32_t v = sim->processes[i].vertex;
        if (first == DAG_NONE || time_ns[v] < time_ns[first]) first = v;
    }
    return first;
}

void stuck_find(struct simulation *sim) {
    struct stuck *stuck = &sim->stuck;
    stuck->taken = first_taken(sim);
    struct waiter first = first_waiter(sim);
    if (is_nobody(first))
        stuck->pool = pool_with_a_queue(sim);
    else
        first = on_ring(sim, first);
    for (struct waiter waiter = first; !is_nobody(waiter);) {
        if (waits_for_carrier(sim, waiter)) stuck->pool = sim->dag->carriers_pool;
        if (!is_waiting(sim, waiter)) break;
        if (!list_waiter(sim, waiter)) return;
        uint32_t awaited = waits_for_resource(sim, waiter) ? DAG_NONE : awaited_by(sim, waiter);
        uint32_t task = task_behind(sim->dag, awaited);
        if (!list_task(stuck, task, DAG_NONE, false)) return;
        if (task != DAG_NONE && is_queued(sim, task)) {
            stuck->pool = sim->dag->tasks[task].pool;
            return;
        }
        waiter = next_of(sim, waiter);
        if (is_same(waiter, first)) {
            if (stuck->length > 1 && stuck->tasks[0] == stuck->tasks[stuck->length - 1]) stuck->length--;
            return;
        }
    }
    if (stuck->length == 0 && stuck->pool == 0) stuck->pool = pool_with_a_queue(sim); // what waits is no task
    stuck->open = stuck->pool == 0 && stuck->length > 0;
}

// ---- in words

struct words {
    char *text;
    size_t size, used;
};

static void put(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct words *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (words->used < words->size) {
        int more = vsnprintf(words->text + words->used, words->size - words->used, format, arguments);
        if (more > 0) words->used += (size_t)more;
    }
    va_end(arguments);
}

static void put_task(struct words *words, const struct dag *dag, uint32_t task) {
    char name[512];
    put(words, "%s", dag_task_text(dag, task, name, sizeof name));
}

// By which a task took what it holds of a resource, as recorded: the first in its body, or DAG_NONE.
static uint32_t taken_by(const struct dag *dag, uint32_t index, uint32_t resource) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->start == DAG_NONE) return DAG_NONE;
    for (uint32_t v = task->start; v <= task->end; v++) {
        unsigned kind = dag->vertices.kind[v];
        bool takes = kind == VERTEX_ACQUIRED || kind == VERTEX_HELD;
        if (takes && dag->asks[dag->vertices.task[v]].resource == resource) return dag->vertices.task[v];
    }
    return DAG_NONE;
}

static void put_held(struct words *words, const struct dag *dag, uint32_t task, uint32_t resource) {
    char name[512], place[512];
    uint32_t taken = taken_by(dag, task, resource), site = taken == DAG_NONE ? 0 : dag->asks[taken].site;
    put(words, " holds %s", dag_resource_text(dag, resource, site, name, sizeof name));
    if (site) put(words, " (taken at %s)", dag_place_text(dag, site, place, sizeof place));
    put(words, " and");
}

static void put_wanted(struct words *words, const struct dag *dag, uint32_t index) {
    char name[512], place[512];
    const struct dag_ask *ask = &dag->asks[index];
    put(words, " waits for %s", dag_resource_text(dag, ask->resource, ask->site, name, sizeof name));
    if (ask->site) put(words, " at %s", dag_place_text(dag, ask->site, place, sizeof place));
}

// What a task waits for, which may be called like itself: "Main.run:12", or, where no site is known, "a task of
// pool-1".
static void put_next(struct words *words, const struct dag *dag, uint32_t task, uint32_t next) {
    const char *of_none = "a task of ";
    char name[512], other[512];
    dag_task_text(dag, task, name, sizeof name);
    dag_task_text(dag, next, other, sizeof other);
    const bool alike = task != next && strcmp(name, other) == 0;
    const size_t known = strncmp(other, of_none, strlen(of_none)) == 0 ? strlen(of_none) : 0;
    put(words, "%s%s", alike ? "another task of " : "", alike ? other + known : other);
}

// Each step has what its task holds that the one before it waits for. The last task of a chain only is what no worker
// is left for.
static void put_step(struct words *words, const struct dag *dag, const struct stuck *stuck, uint32_t step) {
    const bool ring = stuck->pool == 0 && !stuck->open;
    const uint32_t before = step > 0 ? step - 1 : ring ? stuck->length - 1 : DAG_NONE;
    put_task(words, dag, stuck->tasks[step]);
    if (before != DAG_NONE && stuck->asks[before] != DAG_NONE)
        put_held(words, dag, stuck->tasks[step], dag->asks[stuck->asks[before]].resource);
    if (stuck->asks[step] != DAG_NONE) {
        put_wanted(words, dag, stuck->asks[step]);
    } else {
        put(words, stuck->loose[step] ? " waits for a signal that came from " : " waits for ");
        put_next(words, dag, stuck->tasks[step], stuck->tasks[(step + 1) % stuck->length]);
    }
}

static const char *pool_name(const struct dag *dag, uint32_t pool, char *text, size_t size) {
    bool named = pool < dag->trace->pool_count && dag->trace->pools[pool].name;
    return named ? dag_pool_text(dag, pool, text, size) : "its pool";
}

// Of a chain: whether its last task waits for nothing itself, since no worker runs it.
static bool ends_unrun(const struct stuck *stuck) {
    const bool ends = stuck->pool != 0 || stuck->open;
    return ends && stuck->length > 0 && stuck->asks[stuck->length - 1] == DAG_NONE;
}

static void put_end(struct words *words, const struct dag *dag, const struct stuck *stuck) {
    char pool[300];
    const char *name = pool_name(dag, stuck->pool, pool, sizeof pool);
    const bool carriers = stuck->pool == dag->carriers_pool;
    if (stuck->length == 0) {
        put(words, "no worker of %s is left for its queue, since what they run goes on when recording ends", name);
        return;
    }
    put(words, "%sno ", stuck->length > ends_unrun(stuck) ? "\n    " : "");
    if (carriers)
        put(words, "carrier");
    else
        put(words, "worker of %s", name);
    put(words, " is left to run ");
    put_task(words, dag, stuck->tasks[stuck->length - 1]);
}

char *stuck_text(const struct dag *dag, const struct stuck *stuck, char *text, size_t size) {
    struct words words = {text, size, 0};
    text[0] = '\0';
    for (uint32_t i = 0; i + ends_unrun(stuck) < stuck->length; i++) {
        if (i) put(&words, "\n    ");
        put_step(&words, dag, stuck, i);
    }
    if (stuck->pool != 0) put_end(&words, dag, stuck);
    if (stuck->open && ends_unrun(stuck)) {
        put(&words, "%s", stuck->length > 1 ? "\n    " : "");
        put_task(&words, dag, stuck->tasks[stuck->length - 1]);
        put(&words, " never comes to what is awaited of it");
    }
    return text;
}

bool stuck_is_loose(const struct stuck *stuck) {
    if (stuck->open) return true;
    for (uint32_t i = 0; i < stuck->length; i++) {
        if (stuck->loose[i]) return true;
    }
    return false;
}
