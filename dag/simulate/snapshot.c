// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has come to is a few numbers, arrays that are copied as they are, and three things that are told apart by
// what an edit changes: placements, pools and resources. Indices stand for all that points anywhere, so that a snapshot
// fits every simulation of its DAG.
#include "dag/simulate/snapshot.h"

#include "base/arena.h"
#include "dag/edit/chain.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/recorded_workers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Parts of the run that is kept, by vertices: sixteenths.
static const uint32_t moments[] = {2, 3, 5, 8};
enum { MOMENTS = sizeof moments / sizeof moments[0], MOMENT_PARTS = 16 };
#define MOST_VERTICES 4000000u // of a DAG of which a run is kept: what is kept takes about as much as a simulation does

// ---- arrays that are copied as they are

enum counted { BY_PROCESS, BY_FRAME, BY_HOLD, BY_TASK, BY_MAILBOX, BY_AWAIT, BY_BATCH, BY_CLAIM, BY_KINDS };

struct run_array {
    size_t at; // in struct simulation, of the pointer; that is NULL where a run has none
    size_t size;
    enum counted by;
};

#define RUN_ARRAY(member, by)                                                                                          \
    { offsetof(struct simulation, member), sizeof *((struct simulation *)0)->member, by }
static const struct run_array arrays[] = {
    RUN_ARRAY(processes, BY_PROCESS), RUN_ARRAY(parking.next, BY_PROCESS), RUN_ARRAY(cores.shares, BY_PROCESS),
    RUN_ARRAY(frames, BY_FRAME),      RUN_ARRAY(holds, BY_HOLD),           RUN_ARRAY(dispatch, BY_TASK),
    RUN_ARRAY(due_ns, BY_TASK),       RUN_ARRAY(queue.key, BY_TASK),       RUN_ARRAY(queue.left, BY_TASK),
    RUN_ARRAY(queue.right, BY_TASK),  RUN_ARRAY(queue.holder, BY_TASK),    RUN_ARRAY(next_mail, BY_TASK),
    RUN_ARRAY(mailbox_of, BY_TASK),   RUN_ARRAY(held_first, BY_TASK),      RUN_ARRAY(held_next, BY_TASK),
    RUN_ARRAY(mailboxes, BY_MAILBOX), RUN_ARRAY(await_outcomes, BY_AWAIT), RUN_ARRAY(units_taken, BY_BATCH),
    RUN_ARRAY(claims_left, BY_CLAIM),
};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void *array_of(const struct simulation *sim, const struct run_array *array) {
    void *items;
    memcpy(&items, (const char *)sim + array->at, sizeof items);
    return items;
}

// ---- a snapshot

struct snapshot {
    uint32_t counts[BY_KINDS];
    void *copies[ARRAYS];
    uint8_t *placement; // a task each
    struct pool_state *pools;
    struct resource *resources;
    int64_t *looked_to_ns;        // a pool each: recorded time up to which wake-ups for its tasks were looked at
    struct notice *notices, *due; // in the event list, and of what computes
    uint32_t notice_count, due_count;
    uint32_t *first_parked; // a process each: the first that waits for the vertex that it awaits
    uint8_t *come_to;       // a bit a vertex: it has its time, or was passed
    uint32_t *timed;        // vertices that have their time
    int64_t *times_ns;
    uint32_t timed_count;
    struct passages *log; // a process each
    struct cores cores;   // but for what it points to
    struct carriers carriers;
    struct starvation starvation;
    int64_t clock_ns, slept_ns;
    uint32_t running, passed, unused_frame, unused_hold;
    uint32_t outcomes_changed, outcomes_kept, outcomes_alone;
};

struct snapshots {
    struct arena arena;
    struct model model; // of the run
    unsigned without;   // and corrections that it had not
    uint32_t next;      // moment
    uint32_t count;
    struct snapshot items[MOMENTS];
};

static bool is_same_model(const struct model *a, const struct model *b) {
    return a->kind == b->kind && a->cores == b->cores && a->rate == b->rate && a->rate_site == b->rate_site &&
           a->load.clients == b->load.clients && a->load.per_s == b->load.per_s && a->load.thinks == b->load.thinks &&
           a->load.think_ns == b->load.think_ns;
}

bool snapshots_are_kept(const struct simulation *sim, const struct model *model) {
    return sim->snapshots && is_same_model(&sim->snapshots->model, model) &&
           sim->snapshots->without == sim->costs->without;
}

bool snapshots_begin(struct simulation *sim, const struct model *model) {
    snapshots_free(sim);
    sim->snapshots = calloc(1, sizeof *sim->snapshots);
    if (!sim->snapshots) return false;
    sim->snapshots->model = *model;
    sim->snapshots->without = sim->costs->without;
    return true;
}

void snapshots_free(struct simulation *sim) {
    if (sim->snapshots) arena_destroy(&sim->snapshots->arena);
    free(sim->snapshots);
    sim->snapshots = NULL;
}

// ---- taking one

// NULL: no memory. Nothing is copied of what there is nothing of.
static void *copy(struct arena *arena, const void *items, size_t count, size_t size) {
    void *copied = arena_alloc(arena, count + 1, size);
    if (copied && count) memcpy(copied, items, count * size);
    return copied;
}

static bool copy_arrays(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    const struct dag *dag = sim->dag;
    const uint32_t counts[BY_KINDS] = {
        [BY_PROCESS] = sim->process_count, [BY_FRAME] = sim->frame_count,     [BY_HOLD] = sim->hold_count,
        [BY_TASK] = dag->task_count,       [BY_MAILBOX] = sim->mailbox_count, [BY_AWAIT] = dag->await_count,
        [BY_BATCH] = dag->batch_count,     [BY_CLAIM] = dag->claim_count};
    bool ok = true;
    memcpy(snapshot->counts, counts, sizeof counts);
    for (int i = 0; i < ARRAYS && ok; i++) {
        const void *items = array_of(sim, &arrays[i]);
        if (!items) continue;
        snapshot->copies[i] = copy(arena, items, counts[arrays[i].by], arrays[i].size);
        ok = snapshot->copies[i];
    }
    return ok;
}

static bool copy_notices(const struct event_list *events, struct arena *arena, struct notice **copied,
                         uint32_t *count) {
    *count = event_count(events);
    *copied = ARENA_NEW(arena, struct notice, (size_t)*count + 1);
    if (*copied) events_list(events, *copied);
    return *copied;
}

static bool copy_parking(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    snapshot->first_parked = ARENA_NEW(arena, uint32_t, (size_t)sim->process_count + 1);
    for (uint32_t p = 0; snapshot->first_parked && p < sim->process_count; p++) {
        const uint32_t awaits = sim->processes[p].awaits;
        if (awaits != DAG_NONE) snapshot->first_parked[p] = sim->parking.first[awaits];
    }
    return snapshot->first_parked;
}

static bool copy_log(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    bool ok = (snapshot->log = copy(arena, sim->log, sim->process_count, sizeof *sim->log)) != NULL;
    for (uint32_t p = 0; p < sim->process_count && ok; p++) {
        snapshot->log[p].items = copy(arena, sim->log[p].items, sim->log[p].count, sizeof *sim->log[p].items);
        ok = snapshot->log[p].items;
    }
    return ok;
}

static void mark(uint8_t *bits, uint32_t v) {
    bits[v / 8] |= (uint8_t)(1u << v % 8);
}

static bool has_come_to(const struct snapshot *snapshot, uint32_t v) {
    return snapshot->come_to[v / 8] >> v % 8 & 1;
}

static void mark_passed(struct snapshot *snapshot) {
    for (uint32_t p = 0; p < snapshot->counts[BY_PROCESS]; p++) {
        for (uint32_t i = 0; i < snapshot->log[p].count; i++) {
            const struct passage *passage = &snapshot->log[p].items[i];
            for (uint32_t v = 0; passage->source != DAG_NONE && v < passage->count; v++)
                mark(snapshot->come_to, passage->source + v);
        }
    }
}

static bool copy_times(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    const uint32_t vertices = sim->dag->vertex_count;
    uint32_t count = 0;
    for (uint32_t v = 0; v < vertices; v++) count += sim->time_ns[v] != DAG_PENDING;
    snapshot->timed_count = count;
    snapshot->timed = ARENA_NEW(arena, uint32_t, (size_t)count + 1);
    snapshot->times_ns = ARENA_NEW(arena, int64_t, (size_t)count + 1);
    snapshot->come_to = ARENA_NEW(arena, uint8_t, (size_t)vertices / 8 + 1);
    if (!snapshot->timed || !snapshot->times_ns || !snapshot->come_to) return false;
    for (uint32_t v = 0, i = 0; v < vertices; v++) {
        if (sim->time_ns[v] == DAG_PENDING) continue;
        snapshot->timed[i] = v;
        snapshot->times_ns[i++] = sim->time_ns[v];
        mark(snapshot->come_to, v);
    }
    return true;
}

// A worker that is called for a task that queued comes as one of those did that came before the queue had run empty.
static bool see_looks(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    const struct dag *dag = sim->dag;
    snapshot->looked_to_ns = ARENA_NEW(arena, int64_t, (size_t)dag->pool_count + 1);
    for (uint32_t t = 0; snapshot->looked_to_ns && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->spawn_begin == DAG_NONE || task->pool >= dag->pool_count) continue;
        int64_t *looked_to_ns = &snapshot->looked_to_ns[task->pool];
        if (has_come_to(snapshot, task->spawn_begin) && sim->recorded.busy_until_ns[t] > *looked_to_ns)
            *looked_to_ns = sim->recorded.busy_until_ns[t];
    }
    return snapshot->looked_to_ns;
}

static bool take(struct snapshot *snapshot, const struct simulation *sim, struct arena *arena) {
    *snapshot = (struct snapshot){.cores = sim->cores,
                                  .carriers = sim->carriers,
                                  .starvation = sim->starvation,
                                  .clock_ns = sim->clock_ns,
                                  .slept_ns = sim->slept_ns,
                                  .running = sim->running,
                                  .passed = sim->passed,
                                  .unused_frame = sim->unused_frame,
                                  .unused_hold = sim->unused_hold,
                                  .outcomes_changed = sim->outcomes_changed,
                                  .outcomes_kept = sim->outcomes_kept,
                                  .outcomes_alone = sim->outcomes_alone};
    snapshot->placement = copy(arena, sim->placement, sim->dag->task_count, sizeof *sim->placement);
    snapshot->pools = copy(arena, sim->pools, sim->pool_count, sizeof *sim->pools);
    snapshot->resources = copy(arena, sim->resources, sim->dag->resource_count, sizeof *sim->resources);
    if (!snapshot->placement || !snapshot->pools || !snapshot->resources) return false;
    if (!copy_arrays(snapshot, sim, arena) || !copy_times(snapshot, sim, arena) ||
        !copy_parking(snapshot, sim, arena) || !copy_log(snapshot, sim, arena) ||
        !copy_notices(&sim->events, arena, &snapshot->notices, &snapshot->notice_count) ||
        !copy_notices(&sim->cores.due, arena, &snapshot->due, &snapshot->due_count))
        return false;
    mark_passed(snapshot);
    return see_looks(snapshot, sim, arena);
}

// One that there is no memory for is none: runs begin at the one before.
void snapshots_look(struct simulation *sim) {
    struct snapshots *kept = sim->snapshots;
    const uint64_t vertices = sim->dag->vertex_count;
    if (kept->next == MOMENTS || vertices > MOST_VERTICES) return;
    if ((uint64_t)sim->passed * MOMENT_PARTS < vertices * moments[kept->next]) return;
    while (kept->next < MOMENTS && (uint64_t)sim->passed * MOMENT_PARTS >= vertices * moments[kept->next]) kept->next++;
    kept->count += take(&kept->items[kept->count], sim, &kept->arena);
}

// ---- whether a run can begin at one

static bool changes_task(const struct dag_edit *edit, uint32_t t) {
    return edit->inlined[t] || edit->merged_next[t] != DAG_NONE || edit->parts[t] || edit->staged[t];
}

// Whether all pauses that came before it last as long.
static bool pauses_are_kept(const struct cores_recorded *recorded, const struct cores *then) {
    bool kept = true;
    for (uint32_t p = 0; recorded->pause_left && p < then->next_pause && kept; p++) kept = recorded->pause_left[p] == 1;
    return kept;
}

// Whether the run differs from the one that was kept before anything happens.
static bool differs_at_the_beginning(const struct simulation *sim, const struct snapshots *kept) {
    const struct dag *dag = sim->dag;
    const struct dag_edit *edit = sim->edit;
    if (sim->costs->without != kept->without) return true;
    if (edit->staged_count || edit->actors_count || edit->own_pool_count) return true;
    if (dag->carriers && edit->resource_units[dag->carriers - 1]) return true;
    if (sim->cores.recorded.uncompiled_part != kept->items[0].cores.recorded.uncompiled_part) return true;
    bool removes = false;
    for (uint32_t i = 0; i < dag->thread_count && !removes; i++) removes = dag_edit_removes_thread(dag, edit, i);
    return removes;
}

// Whether a process may have looked at the vertex: it has come to the one before. Each thread comes to its first.
static bool is_seen(const struct simulation *sim, const struct snapshot *snapshot, uint32_t v) {
    return sim->dag->threads[dag_thread_of(sim->dag, v)].first == v || has_come_to(snapshot, v - 1) ||
           has_come_to(snapshot, v);
}

// What no pool dispatches is looked for where it ran, too; and others may bring about a task's result before its spawn.
static bool task_came_up(const struct simulation *sim, const struct snapshot *snapshot, uint32_t t) {
    const struct dag_task *task = &sim->dag->tasks[t];
    if (task->spawn_begin == DAG_NONE || is_seen(sim, snapshot, task->spawn_begin)) return true;
    if (task->result != DAG_NONE && is_seen(sim, snapshot, task->result)) return true;
    return snapshot->placement[t] == PLACEMENT_RECORDED && task->start != DAG_NONE &&
           is_seen(sim, snapshot, task->pickup);
}

// Whether it has workers from the beginning: as many as its size lets be.
static bool begins_with_workers(const struct simulation *sim, uint32_t p) {
    const struct pool_state *pool = &sim->pools[p];
    return pool->recorded_count && is_initial_worker(sim->dag, &sim->dag->threads[pool->recorded[0]]);
}

// Whether a pool that the edit resizes had a worker, or a task was offered to it.
static bool pool_came_up(const struct simulation *sim, const struct snapshot *snapshot) {
    const struct dag *dag = sim->dag;
    const int32_t *resized = sim->edit->pool_threads;
    bool any = false;
    for (uint32_t p = 1; p < dag->pool_count && !any; p++) {
        const struct pool_state *pool = &snapshot->pools[p];
        any = resized[p] && (begins_with_workers(sim, p) || pool->made || pool->queue_length || pool->delayed);
    }
    for (uint32_t t = 0; t < dag->task_count && !any; t++) {
        const uint32_t spawn = dag->tasks[t].spawn_begin, pool = dag->tasks[t].pool;
        any = pool < dag->pool_count && resized[pool] && spawn != DAG_NONE && has_come_to(snapshot, spawn);
    }
    return any;
}

static bool changes_resource(const struct dag_edit *edit, uint32_t r) {
    return edit->resource_units[r] || edit->unlocked[r];
}

// Whether a process may have asked for a resource that the edit changes, or given it back.
static bool resource_came_up(const struct simulation *sim, const struct snapshot *snapshot) {
    const struct dag *dag = sim->dag;
    bool any = false;
    for (uint32_t i = 0; i < dag->ask_count && !any; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        const uint32_t at[] = {ask->asked, ask->got, ask->released, ask->had_at};
        for (int k = 0; changes_resource(sim->edit, ask->resource) && k < 4 && !any; k++)
            any = at[k] != DAG_NONE && is_seen(sim, snapshot, at[k]);
    }
    return any;
}

// Whether a wake-up was looked at that was for a task that the edit changes (transitions.h).
static bool waker_came_up(const struct simulation *sim, const struct snapshot *snapshot) {
    bool any = false;
    for (uint32_t i = 0; i < sim->recorded.transition_count && !any; i++) {
        const struct transition *transition = &sim->recorded.transitions[i];
        any = transition->task != DAG_NONE && changes_task(sim->edit, transition->task) &&
              transition->time_ns <= snapshot->looked_to_ns[transition->pool];
    }
    return any;
}

static bool is_before_the_edit(const struct simulation *sim, const struct snapshot *snapshot) {
    const struct dag_edit *edit = sim->edit;
    if (waker_came_up(sim, snapshot) || !pauses_are_kept(&sim->cores.recorded, &snapshot->cores)) return false;
    if (edit->resized_count && (pool_came_up(sim, snapshot) || resource_came_up(sim, snapshot))) return false;
    bool before = true;
    for (uint32_t t = 0; t < sim->dag->task_count && before; t++)
        before = !changes_task(edit, t) || !task_came_up(sim, snapshot, t);
    return before;
}

// ---- going on with one

static bool grow(void *array, uint32_t *capacity, uint32_t count, size_t size) {
    void **pointer = array;
    if (count <= *capacity) return true;
    void *moved = realloc(*pointer, count * size);
    if (!moved) return false;
    *pointer = moved;
    *capacity = count;
    return true;
}

// A log has room for one more.
static bool make_room(struct simulation *sim, const struct snapshot *snapshot) {
    const uint32_t *counts = snapshot->counts;
    bool ok = processes_reserve(sim, counts[BY_PROCESS]) &&
              grow(&sim->frames, &sim->frame_capacity, counts[BY_FRAME], sizeof *sim->frames) &&
              grow(&sim->holds, &sim->hold_capacity, counts[BY_HOLD], sizeof *sim->holds);
    for (uint32_t p = 0; p < counts[BY_PROCESS] && ok; p++)
        ok = grow(&sim->log[p].items, &sim->log[p].capacity, snapshot->log[p].count + 1, sizeof *sim->log[p].items);
    return ok;
}

static void put_notices(struct event_list *events, const struct notice *notices, uint32_t count) {
    events_clear(events);
    for (uint32_t i = 0; i < count; i++) event_put(events, notices[i].type, notices[i].subject, notices[i].time_ns);
}

static void resume_cores(struct cores *cores, const struct snapshot *snapshot) {
    const struct cores own = *cores;
    *cores = snapshot->cores;
    cores->due = own.due;
    cores->shares = own.shares;
    cores->recorded = own.recorded;
    put_notices(&cores->due, snapshot->due, snapshot->due_count);
}

static void resume_log(struct simulation *sim, const struct snapshot *snapshot) {
    for (uint32_t p = 0; p < snapshot->counts[BY_PROCESS]; p++) {
        const struct passages *from = &snapshot->log[p];
        struct passages *to = &sim->log[p];
        memcpy(to->items, from->items, from->count * sizeof *to->items);
        to->count = from->count;
        to->dropped = from->dropped;
        to->followers = from->followers;
    }
}

// Rules are the edit's.
static void resume_pool(struct pool_state *pool, const struct pool_state *from) {
    const size_t run = offsetof(struct pool_state, made);
    memcpy((char *)pool + run, (const char *)from + run, sizeof *pool - run);
}

static void resume_told_apart(struct simulation *sim, const struct snapshot *snapshot) {
    for (uint32_t t = 0; t < sim->dag->task_count; t++) {
        if (!changes_task(sim->edit, t)) sim->placement[t] = snapshot->placement[t];
    }
    for (uint32_t p = 1; p < sim->dag->pool_count; p++) resume_pool(&sim->pools[p], &snapshot->pools[p]);
    for (uint32_t r = 0; r < sim->dag->resource_count; r++) {
        if (!changes_resource(sim->edit, r)) sim->resources[r] = snapshot->resources[r];
    }
}

static void resume_waiting(struct simulation *sim, const struct snapshot *snapshot) {
    for (uint32_t i = 0; i < snapshot->timed_count; i++) sim->time_ns[snapshot->timed[i]] = snapshot->times_ns[i];
    sim->parking.ready = DAG_NONE;
    for (uint32_t p = 0; p < sim->process_count; p++) {
        const uint32_t awaits = sim->processes[p].awaits;
        if (awaits != DAG_NONE) sim->parking.first[awaits] = snapshot->first_parked[p];
    }
    put_notices(&sim->events, snapshot->notices, snapshot->notice_count);
}

static void resume_numbers(struct simulation *sim, const struct snapshot *snapshot) {
    sim->carriers = snapshot->carriers;
    sim->starvation = snapshot->starvation;
    sim->clock_ns = snapshot->clock_ns;
    sim->slept_ns = snapshot->slept_ns;
    sim->running = snapshot->running;
    sim->passed = snapshot->passed;
    sim->process_count = snapshot->counts[BY_PROCESS];
    sim->frame_count = snapshot->counts[BY_FRAME];
    sim->unused_frame = snapshot->unused_frame;
    sim->hold_count = snapshot->counts[BY_HOLD];
    sim->unused_hold = snapshot->unused_hold;
    sim->outcomes_changed = snapshot->outcomes_changed;
    sim->outcomes_kept = snapshot->outcomes_kept;
    sim->outcomes_alone = snapshot->outcomes_alone;
}

static void resume(struct simulation *sim, const struct snapshot *snapshot) {
    if (!make_room(sim, snapshot)) {
        sim->no_memory = true;
        return;
    }
    for (int i = 0; i < ARRAYS; i++) {
        const uint32_t count = snapshot->counts[arrays[i].by];
        if (snapshot->copies[i] && count)
            memcpy(array_of(sim, &arrays[i]), snapshot->copies[i], count * arrays[i].size);
    }
    resume_numbers(sim, snapshot);
    resume_told_apart(sim, snapshot);
    resume_cores(&sim->cores, snapshot);
    resume_waiting(sim, snapshot);
    resume_log(sim, snapshot);
}

void snapshots_resume(struct simulation *sim, const struct model *model) {
    const struct snapshots *kept = sim->snapshots || !sim->beside ? sim->snapshots : sim->beside->snapshots;
    if (!kept || kept->count == 0 || !is_same_model(&kept->model, model) || differs_at_the_beginning(sim, kept)) return;
    for (uint32_t i = kept->count; i-- > 0;) {
        if (!is_before_the_edit(sim, &kept->items[i])) continue;
        resume(sim, &kept->items[i]);
        sim->spared = sim->passed;
        return;
    }
}
