// SPDX-License-Identifier: GPL-3.0-or-later
// The run: strands go on as far as they can, and take their turns where order matters.
#include "dag/simulate/simulate.h"

#include "base/pages.h"
#include "dag/edit/chain.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/strand.h"

#include <stdlib.h>

static struct simulation *fail_new(struct simulation *sim, const struct dag *dag, struct error *error) {
    simulation_free(sim);
    error_set(error, STATUS_FAILED, "no memory to simulate %u events", dag->vertex_count);
    return NULL;
}

static bool resize(void *array, size_t count, size_t size) {
    void **pointer = array;
    void *moved = realloc(*pointer, count * size);
    if (moved) *pointer = moved;
    return moved != NULL;
}

static bool log_grow(struct passages *log) {
    uint32_t larger = log->capacity ? 2 * log->capacity : 8;
    struct passage *moved = realloc(log->items, larger * sizeof *moved);
    if (!moved) return false;
    pages_prefer_huge(moved, larger * sizeof *moved);
    log->items = moved;
    log->capacity = larger;
    return true;
}

// Makes room for so many strands.
static bool reserve_strands(struct simulation *sim, uint32_t count) {
    if (count <= sim->strand_capacity) return true;
    uint32_t larger = sim->strand_capacity * 2 > count ? sim->strand_capacity * 2 : count;
    struct strand *strands = realloc(sim->strands, larger * sizeof *strands);
    if (strands) sim->strands = strands;
    uint32_t *next = realloc(sim->parking.next, larger * sizeof *next);
    if (next) sim->parking.next = next;
    struct passages *log = realloc(sim->log, larger * sizeof *log);
    if (log) sim->log = log;
    if (!strands || !next || !log) return false;
    if (!agenda_reserve(&sim->agenda, larger) || !cores_reserve(&sim->cores, larger)) return false;
    for (uint32_t i = sim->strand_capacity; i < larger; i++) log[i] = (struct passages){0};
    uint32_t i = sim->strand_capacity;
    sim->strand_capacity = larger;
    while (i < larger && log_grow(&log[i])) i++;
    return i == larger;
}

static bool reserve_jobs(struct simulation *sim, uint32_t count) {
    if (count <= sim->job_capacity) return true;
    size_t larger = (size_t)count + count / 2 + 1, parts = larger - sim->dag->task_count;
    if (!resize(&sim->dispatch, larger, sizeof *sim->dispatch) ||
        !resize(&sim->queue.key, larger, sizeof *sim->queue.key) ||
        !resize(&sim->queue.left, larger, sizeof *sim->queue.left) ||
        !resize(&sim->queue.right, larger, sizeof *sim->queue.right) ||
        !resize(&sim->queue.holder, larger, sizeof *sim->queue.holder) ||
        !(sim->dag->due_ns == NULL ||
          (resize(&sim->due_ns, larger, sizeof *sim->due_ns) && agenda_reserve(&sim->dues, (uint32_t)larger))) ||
        !resize(&sim->part_of, parts, sizeof *sim->part_of) ||
        !resize(&sim->part_number, parts, sizeof *sim->part_number)) {
        return false;
    }
    sim->job_capacity = (uint32_t)larger;
    return true;
}

// ---- what does not change from run to run

static bool is_plain_kind(enum vertex_kind kind) {
    return 1u << kind & (1u << VERTEX_SPAWN_END | 1u << VERTEX_END | 1u << VERTEX_RESULT | 1u << VERTEX_WAIT_BEGIN |
                         1u << VERTEX_WAIT_END | 1u << VERTEX_THREAD_END);
}

static bool find_traits(struct simulation *sim) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    sim->traits = calloc((size_t)sim->dag->vertex_count + 1, 1);
    if (!sim->traits) return false;
    for (uint32_t v = 0; v < sim->dag->vertex_count; v++) {
        uint32_t cause = vertices->cause[v], kind = vertices->kind[v];
        if (cause != DAG_NONE) sim->traits[cause] |= TRAIT_AWAITED;
        if (cause != DAG_NONE && kind == VERTEX_WAIT_END && vertices->task[v] != DAG_NONE)
            sim->traits[v] |= TRAIT_WAITS;
        if (kind == VERTEX_SPAWN_BEGIN) sim->traits[v] |= TRAIT_AWAITED; // by a thread's start
        if (stealing_looks_before(sim, v)) sim->traits[v] |= TRAIT_LOOKS;
        if (cause != DAG_NONE || vertices->rule[v] != RULE_RUN || !is_plain_kind(kind)) continue;
        if (sim->traits[v] & TRAIT_LOOKS) continue;
        bool of_task = kind <= VERTEX_RESULT && vertices->task[v] != DAG_NONE;
        sim->traits[v] |= of_task ? TRAIT_PLAIN | TRAIT_OF_TASK : TRAIT_PLAIN;
    }
    for (uint32_t i = 0; i < sim->costs->holdup_count && corrects(sim, CORRECTION_FIRST_USE); i++)
        sim->traits[sim->costs->holdups[i].vertex] |= TRAIT_HELD_UP;
    return true;
}

static bool find_spawned_next(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->spawned_next = malloc(((size_t)dag->task_count + 1) * sizeof *sim->spawned_next);
    if (!sim->spawned_next) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) sim->spawned_next[t] = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t next = DAG_NONE, first = dag->threads[i].first;
        for (uint32_t v = first + dag->threads[i].count; v-- > first;) {
            uint32_t task = dag->vertices.task[v];
            if (dag->vertices.kind[v] != VERTEX_SPAWN_BEGIN || task == DAG_NONE) continue;
            sim->spawned_next[task] = next;
            next = task;
        }
    }
    return true;
}

static bool find_what_is_in_all_runs(struct simulation *sim) {
    const struct simulation *other = sim->beside;
    if (!other) return find_traits(sim) && find_spawned_next(sim);
    sim->traits = other->traits;
    sim->spawned_next = other->spawned_next;
    sim->rehearsed = other->rehearsed;
    if (!other->rehearsed) return true;
    sim->luck = other->luck;
    sim->pauses = other->pauses;
    sim->background = other->background;
    return true;
}

static void forget_what_is_in_all_runs(struct simulation *sim) {
    if (!sim->beside) {
        free(sim->traits);
        free(sim->spawned_next);
    }
    if (sim->beside && sim->luck == sim->beside->luck) return;
    free(sim->luck);
    free(sim->pauses);
    free(sim->background);
}

static struct simulation *make(const struct dag *dag, const struct costs *costs, const struct simulation *beside,
                               struct error *error) {
    struct simulation *sim = calloc(1, sizeof *sim);
    size_t vertices = (size_t)dag->vertex_count + 1, tasks = (size_t)dag->task_count + 1;
    if (!sim) return fail_new(sim, dag, error);
    sim->dag = dag;
    sim->costs = costs;
    sim->beside = beside;
    sim->time_ns = malloc(vertices * sizeof *sim->time_ns);
    sim->parking.first = malloc(vertices * sizeof *sim->parking.first);
    sim->fate = malloc(tasks);
    sim->arrivals = malloc(((size_t)dag->thread_count + 1) * sizeof *sim->arrivals);
    if (!sim->time_ns || !sim->parking.first || !sim->fate || !sim->arrivals || !agenda_reserve(&sim->dues, 1) ||
        !reserve_jobs(sim, dag->task_count + 1) || !reserve_strands(sim, dag->thread_count + 1) || !pools_new(sim) ||
        !find_what_is_in_all_runs(sim) || !resources_new(sim) || !sunk_new(sim) || !standing_new(sim) ||
        !regroup_new(sim) || !savings_new(sim) || !derive_new(sim)) {
        return fail_new(sim, dag, error);
    }
    pages_prefer_huge(sim->time_ns, vertices * sizeof *sim->time_ns);
    pages_prefer_huge(sim->parking.first, vertices * sizeof *sim->parking.first);
    for (uint32_t v = 0; v < dag->vertex_count; v++) sim->parking.first[v] = DAG_NONE;
    return sim;
}

struct simulation *simulation_new(const struct dag *dag, const struct costs *costs, struct error *error) {
    return make(dag, costs, NULL, error);
}

struct simulation *simulation_new_beside(const struct simulation *other, struct error *error) {
    return make(other->dag, other->costs, other, error);
}

void simulation_free(struct simulation *sim) {
    if (!sim) return;
    pools_free(sim);
    resources_free(sim);
    sunk_free(sim);
    standing_free(sim);
    regroup_free(sim);
    savings_free(sim);
    derive_free(sim);
    agenda_destroy(&sim->agenda);
    cores_destroy(&sim->cores);
    forget_what_is_in_all_runs(sim);
    free(sim->strands);
    free(sim->frames);
    free(sim->parking.first);
    free(sim->parking.next);
    free(sim->time_ns);
    free(sim->fate);
    free(sim->arrivals);
    free(sim->dispatch);
    free(sim->due_ns);
    agenda_destroy(&sim->dues);
    free(sim->queue.key);
    free(sim->queue.left);
    free(sim->queue.right);
    free(sim->queue.holder);
    for (uint32_t i = 0; i < sim->strand_capacity; i++) free(sim->log[i].items);
    free(sim->log);
    free(sim);
}

struct outcomes simulation_outcomes(const struct simulation *sim) {
    return (struct outcomes){sim->outcomes_changed, sim->outcomes_kept};
}

const struct dag *simulation_dag(const struct simulation *sim) {
    return &sim->derived;
}

// Looked for when asked: a search needs no more than a yes or no of most plans.
const struct stuck *simulation_stuck(struct simulation *sim) {
    if (!sim->stuck_known) stuck_find(sim);
    sim->stuck_known = true;
    return &sim->stuck;
}

static int64_t mean_of(const struct simulation *sim, const struct cost *of_dispatch, const struct cost *of_sleep,
                       enum dispatch dispatch) {
    bool by_sleep = dispatch == DISPATCH_WOKEN && corrects(sim, CORRECTION_SLEEP);
    const struct cost *cost = by_sleep ? &of_sleep[costs_sleep_class(sim->slept_ns)] : &of_dispatch[dispatch];
    return (int64_t)(cost->mean_ns + 0.5); // costs are no less than 0
}

static const struct pool_costs *costs_of(const struct simulation *sim, uint32_t job) {
    uint32_t pool = sim->dag->tasks[job_task(sim, job)].pool;
    return &sim->costs->pools[pool < sim->costs->pool_count ? pool : 0];
}

// The first part of a task costs what the task did.
bool is_as_recorded(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    bool first = job < sim->dag->task_count || sim->part_number[job - sim->dag->task_count] == 0;
    return first && sim->dag->tasks[job_task(sim, job)].dispatch == dispatch;
}

// Whether it comes right behind another part, for the spawner and for a worker.
static bool follows_part(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    return corrects(sim, CORRECTION_QUICK_PARTS) && dispatch == DISPATCH_QUEUED && job_is_part(sim, job) &&
           sim->part_number[job - sim->dag->task_count] > 0;
}

int64_t mean_bracket(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    const struct pool_costs *costs = costs_of(sim, job);
    return mean_of(sim, costs->bracket, costs->woken_bracket, dispatch);
}

int64_t cost_of_bracket(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    if (is_as_recorded(sim, job, dispatch)) return sim->costs->bracket_ns[job_task(sim, job)];
    if (follows_part(sim, job, dispatch)) return costs_of(sim, job)->quick_bracket_ns;
    return mean_bracket(sim, job, dispatch);
}

int64_t pool_mean_pickup(const struct simulation *sim, uint32_t pool, enum dispatch dispatch) {
    const struct pool_costs *costs = &sim->costs->pools[pool < sim->costs->pool_count ? pool : 0];
    return mean_of(sim, costs->pickup, costs->woken_pickup, dispatch);
}

int64_t mean_pickup(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    return pool_mean_pickup(sim, sim->dag->tasks[job_task(sim, job)].pool, dispatch);
}

int64_t cost_of_pickup(const struct simulation *sim, uint32_t job, enum dispatch dispatch) {
    if (follows_part(sim, job, dispatch)) return costs_of(sim, job)->quick_pickup_ns;
    if (!is_as_recorded(sim, job, dispatch)) return mean_pickup(sim, job, dispatch);
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t recorded_ns = time_ns[task->start] - dag_pickup_from_ns(sim->dag, task);
    if (sim->model != MODEL_CPU) return recorded_ns;
    return sim->costs->pickup_ns[job_task(sim, job)];
}

uint32_t job_add(struct simulation *sim, uint32_t task, uint32_t part) {
    if (!reserve_jobs(sim, sim->job_count + 1)) {
        sim->no_memory = true;
        return DAG_NONE;
    }
    sim->queue.holder[sim->job_count] = QUEUE_NOWHERE;
    sim->part_of[sim->job_count - sim->dag->task_count] = task;
    sim->part_number[sim->job_count - sim->dag->task_count] = part;
    return sim->job_count++;
}

uint32_t strand_add(struct simulation *sim) {
    if (!reserve_strands(sim, sim->strand_count + 1)) {
        sim->no_memory = true;
        return DAG_NONE;
    }
    return sim->strand_count++;
}

void strand_make_ready(struct simulation *sim, uint32_t strand) {
    parking_make_ready(&sim->parking, strand);
}

static void release(struct simulation *sim, uint32_t vertex) {
    if (sim->parking.first[vertex] != DAG_NONE) parking_release(&sim->parking, vertex);
}

// A log always has room for one more, so that to pass a vertex is all one stretch; the run fails that finds none.
static void make_room(struct simulation *sim, struct passages *log) {
    if (log_grow(log)) return;
    sim->no_memory = true;
    log->count--;
}

// A worker that is woken tells so when it has a core, and not when it is called: what it waited, it waited before that.
static __attribute__((noinline)) void settle_busy(struct simulation *sim, struct strand *strand, struct passages *log,
                                                  int64_t start_ns) {
    struct passage *busy = &log->items[strand->busy_item - 1];
    int64_t later_ns = max_ns(start_ns - strand->awake_ns - busy->time_ns, 0);
    int64_t queued_ns = min_ns(strand->queued_ns, later_ns);
    busy->time_ns += later_ns;
    busy->queued_ns += queued_ns;
    strand->queued_ns -= queued_ns;
    strand->busy_item = 0;
    if (busy->source != DAG_NONE) sim->time_ns[busy->source] = busy->time_ns;
}

static inline void pass(struct simulation *sim, uint32_t index, uint32_t source, uint32_t task, unsigned kind,
                        int64_t time_ns, bool dropped) {
    struct strand *strand = &sim->strands[index];
    struct passages *log = &sim->log[index];
    if (__builtin_expect(strand->busy_item != 0, 0)) settle_busy(sim, strand, log, time_ns);
    log->items[log->count++] = (struct passage){.time_ns = time_ns,
                                                .compute_ns = strand->compute_ns,
                                                .queued_ns = strand->queued_ns,
                                                .source = source,
                                                .count = 1,
                                                .task = task,
                                                .kind = (uint8_t)kind,
                                                .has_edge = strand->has_edge,
                                                .dropped = dropped};
    log->dropped += dropped;
    strand->compute_ns = strand->queued_ns = 0;
    strand->luck.more_ns = 0;
    strand->has_edge = false;
    sim->passed++;
    if (log->count == log->capacity) make_room(sim, log);
}

static inline void pass_recorded(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns,
                                 bool dropped) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    pass(sim, strand, vertex, vertices->task[vertex], vertices->kind[vertex], time_ns, dropped);
}

void strand_pass_by(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns, bool dropped) {
    pass_recorded(sim, strand, vertex, time_ns, dropped);
}

// Stages that awaited the vertex go on where it was brought about. They are kept newest first.
static void take_stages(struct simulation *sim, uint32_t strand, uint32_t vertex) {
    uint32_t last = sim->first_stage[vertex];
    while (sim->frames[last].link != DAG_NONE) last = sim->frames[last].link;
    sim->frames[last].link = sim->strands[strand].stages;
    sim->strands[strand].stages = sim->first_stage[vertex];
    sim->first_stage[vertex] = DAG_NONE;
}

void vertex_set(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns) {
    sim->time_ns[vertex] = time_ns;
    if (!(sim->traits[vertex] & TRAIT_AWAITED)) return;
    release(sim, vertex);
    if (sim->stages_left && sim->first_stage[vertex] != DAG_NONE) take_stages(sim, strand, vertex);
}

void strand_pass_as(struct simulation *sim, uint32_t strand, uint32_t vertex, uint32_t job, int64_t time_ns) {
    pass(sim, strand, vertex, job, sim->dag->vertices.kind[vertex], time_ns, false);
    vertex_set(sim, strand, vertex, time_ns);
}

void strand_pass(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns) {
    if (time_ns != DAG_ABSENT) pass_recorded(sim, strand, vertex, time_ns, false); // barriers may gather nothing
    vertex_set(sim, strand, vertex, time_ns);
}

void strand_pass_kind(struct simulation *sim, uint32_t strand, uint32_t vertex, enum vertex_kind kind,
                      int64_t time_ns) {
    pass(sim, strand, vertex, sim->dag->vertices.task[vertex], kind, time_ns, false);
    vertex_set(sim, strand, vertex, time_ns);
}

void strand_pass_new(struct simulation *sim, uint32_t strand, enum vertex_kind kind, uint32_t job, int64_t time_ns) {
    pass(sim, strand, DAG_NONE, job, kind, time_ns, false);
}

void strand_lead(struct simulation *sim, uint32_t index, int64_t lead_ns, bool computes) {
    struct strand *strand = &sim->strands[index];
    strand->lead_ns += lead_ns;
    if (computes) strand->compute_ns += lead_ns;
}

void vertex_vanish(struct simulation *sim, uint32_t vertex) {
    sim->time_ns[vertex] = DAG_ABSENT;
    release(sim, vertex);
}

// What passes between two arrivals takes as much less as they come more often, but for their hand-over.
static int64_t rated(const struct simulation *sim, uint32_t index, uint32_t v, int64_t edge_ns) {
    if (sim->rate == 0 || sim->frames[sim->strands[index].frame].kind != FRAME_THREAD) return edge_ns;
    const struct arrivals *arrivals = &sim->arrivals[index];
    bool between = arrivals->first != DAG_NONE && arrivals->first < v && v <= arrivals->last;
    if (!between || sim->dag->vertices.kind[v] == VERTEX_SPAWN_END) return edge_ns;
    return (int64_t)((double)edge_ns / sim->rate);
}

// Whether the strand's next vertex can have its time; if not, strand->awaits says what it has to await first.
static bool find_time(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    const struct dag *dag = sim->dag;
    struct strand *strand = &sim->strands[index];
    if (strand->vertex >= STEP_LEAST) {
        *time_ns = strand->now_ns + strand->lead_ns;
        return true;
    }
    uint32_t v = strand->vertex, cause = dag_awaited_by(&dag->vertices, v);
    const struct frame *frame = &sim->frames[strand->frame];
    struct reach reach = {strand->now_ns, strand->lead_ns + frame->held_ns, frame->since_ns};
    strand->awaits = DAG_NONE;
    if (dag->vertices.rule[v] == RULE_BEGIN && !strand->entered) {
        bool removed = cause != DAG_NONE && sim->time_ns[cause] == DAG_ABSENT;
        struct dag_constraint start = dag_constraint_of_start(dag, sim->edit, v, index, removed);
        strand->awaits = start.cause;
        if (start.cause != DAG_NONE && sim->time_ns[start.cause] == DAG_PENDING) return false;
        *time_ns = start.cause == DAG_NONE ? dag->vertices.time_ns[v] : sim->time_ns[start.cause] + start.delay_ns;
    } else if (cause != DAG_NONE && !strand->entered) {
        strand->awaits = cause;
        if (sim->time_ns[cause] == DAG_PENDING) return false;
        if (strand_finds_result(sim, strand)) {
            *time_ns = strand->now_ns;
            return true;
        }
        int64_t cause_ns = sim->time_ns[cause];
        int64_t wakeup_ns = strand->blocked ? stealing_wakeup_ns(sim, index, cause_ns) : dag->wakeup_ns;
        *time_ns = rule_apply(dag->vertices.rule[v], dag->vertices.time_ns[v], reach, cause_ns,
                              dag->vertices.time_ns[cause], wakeup_ns);
    } else {
        struct saving saving = saving_of_edge(sim, v);
        reach.lead_ns -= saving.compute_ns + saving.queued_ns;
        *time_ns = reach.before_ns + rated(sim, index, v, reach.lead_ns + dag->vertices.time_ns[v] - reach.since_ns);
    }
    return true;
}

// Whether pools, or stages, must see this vertex in order of time.
static bool needs_turn(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (v >= STEP_LEAST) return true;
    switch (vertices->kind[v]) {
    case VERTEX_SPAWN_BEGIN:
        return vertices->task[v] != DAG_NONE && sim->fate[vertices->task[v]] >= FATE_SPLIT;
    case VERTEX_SHUTDOWN:
        return pool_governs(sim, sim->pool_of_shutdown[v]);
    case VERTEX_RESULT:
    case VERTEX_END:
        return sim->edit->staged_count > 0;
    default:
        return sim->grants && vertex_is_of_resource(vertices->kind[v]);
    }
}

static bool has_turn(const struct simulation *sim, uint32_t strand, int64_t time_ns) {
    return sim->parking.ready == DAG_NONE && time_ns <= sim->cores.next_ns &&
           time_ns <= agenda_next_ns(&sim->releases) && time_ns <= agenda_next_ns(&sim->dues) &&
           agenda_precedes(&sim->agenda, strand, time_ns);
}

bool bracket_is_own(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->spawn_end == task->spawn_begin) return false;
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (v == task->start) {
            v = task->tail;
        } else if (dag_task_of(&dag->vertices, v) != DAG_NONE && dag_task_of(&dag->vertices, v) != index) {
            return false;
        }
    }
    return true;
}

void bracket_leave_out(struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (v == task->start)
            v = task->tail;
        else
            vertex_vanish(sim, v);
    }
}

// The task is dispatched otherwise than it was: its bracket takes what brackets of that kind do.
static void replace_bracket(struct simulation *sim, uint32_t strand, uint32_t index, enum dispatch dispatch) {
    const struct dag_task *task = &sim->dag->tasks[index];
    struct frame *frame = &sim->frames[sim->strands[strand].frame];
    int64_t bracket_ns = 0;
    if (bracket_is_own(sim->dag, index)) {
        bracket_leave_out(sim, index);
        bracket_ns = cost_of_bracket(sim, index, dispatch);
        frame->next = task->spawn_end;
        frame->since_ns = sim->dag->vertices.time_ns[task->spawn_end];
    }
    if (dispatch != DISPATCH_CALLER) {
        strand_lead(sim, strand, bracket_ns, true);
        return;
    }
    struct frame body = frame_of_job(sim, index, FRAME_CALLED);
    body.lead_after_ns = bracket_ns;
    if (frame_push(sim, strand, body)) strand_lead(sim, strand, cost_of_pickup(sim, index, dispatch), true);
}

static inline __attribute__((always_inline)) void fetch_vertex(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    __builtin_prefetch(&vertices->time_ns[v]);
    __builtin_prefetch(&vertices->task[v]);
    __builtin_prefetch(&vertices->cause[v]);
    __builtin_prefetch(&vertices->kind[v]);
    __builtin_prefetch(&vertices->rule[v]);
    __builtin_prefetch(&sim->traits[v]);
    __builtin_prefetch(&sim->time_ns[v], 1);
    __builtin_prefetch(&sim->parking.first[v]);
}

// Tasks and bodies lie apart, so they are fetched ahead: the body of the task that the thread spawns next, what comes
// behind that spawn, and the task after that. Inlined early, or gcc takes this and fetch_vertex for functions without
// effect and leaves out the calls.
static inline __attribute__((always_inline)) void fetch(const struct simulation *sim, uint32_t task) {
    uint32_t next = sim->spawned_next[task];
    if (next == DAG_NONE) return;
    uint32_t later = sim->spawned_next[next], start = sim->dag->tasks[next].start, shift = sim->shift_after[next];
    if (later != DAG_NONE) {
        __builtin_prefetch(&sim->dag->tasks[later]);
        __builtin_prefetch(&sim->dag->tasks[later].tail);
    }
    __builtin_prefetch(&sim->shifts[shift ? shift - 1 : 0]);
    fetch_vertex(sim, sim->dag->tasks[next].spawn_begin);
    if (start == DAG_NONE) return;
    fetch_vertex(sim, start);
    __builtin_prefetch(&sim->time_ns[sim->dag->tasks[next].end], 1);
    __builtin_prefetch(&sim->dag->vertices.time_ns[sim->dag->tasks[next].end]);
}

static void pass_bracket(struct simulation *sim, uint32_t strand, uint32_t index);

static void spawn(struct simulation *sim, uint32_t strand, uint32_t task, int64_t now_ns) {
    fetch(sim, task);
    enum dispatch dispatch = pool_offer(sim, strand, task, now_ns);
    sim->dispatch[task] = (uint8_t)dispatch;                      // who awaits one that is rejected waits for ever
    if (dispatch == DISPATCH_CALLER && sim->edit->staged[task]) { // its first stage is the spawner's after all
        sim->fate[task] = FATE_STAGED;
        pass_bracket(sim, strand, task);
    } else if (dispatch != sim->dag->tasks[task].dispatch)
        replace_bracket(sim, strand, task, dispatch);
    else if (dispatch == DISPATCH_CALLER)
        sim->fate[task] = FATE_RECORDED;
}

static bool is_moved(const struct simulation *sim, uint32_t task) {
    return task != DAG_NONE && sim->fate[task] != FATE_RECORDED && sim->fate[task] < FATE_SPLIT;
}

// The bracket of a task that is handed over no more: the task runs here, or with those that it is merged with.
static void pass_bracket(struct simulation *sim, uint32_t strand, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    struct frame *frame = &sim->frames[sim->strands[strand].frame];
    frame->next = task->spawn_end + 1;
    frame->since_ns = sim->dag->vertices.time_ns[task->spawn_end];
    if (sim->fate[index] == FATE_MERGED) {
        strand_pass_by(sim, strand, task->spawn_end, sim->strands[strand].now_ns, true);
        return;
    }
    struct frame body = frame_of_body(sim, index, FRAME_INLINED);
    body.staged = sim->fate[index] == FATE_STAGED;
    if (body.staged) body.kind = FRAME_STAGED;
    frame_push(sim, strand, body);
}

// Results of a group are there when it ends, and a stage's waits are none.
static bool is_dropped(const struct simulation *sim, const struct strand *strand, uint32_t v, uint32_t task) {
    switch (sim->dag->vertices.kind[v]) {
    case VERTEX_START:
    case VERTEX_END:
        return task != DAG_NONE && sim->fate[task] == FATE_MERGED;
    case VERTEX_RESULT:
        return task != DAG_NONE && (sim->fate[task] == FATE_MERGED || ends_group(sim, task));
    case VERTEX_WAIT_BEGIN:
        return sim->frames[strand->frame].staged;
    default:
        return false;
    }
}

static void pass_vertex(struct simulation *sim, uint32_t index, uint32_t v, uint32_t task, int64_t time_ns) {
    bool dropped = is_dropped(sim, &sim->strands[index], v, task);
    if (dropped || (sim->dag->vertices.kind[v] == VERTEX_END && ends_group(sim, task)))
        strand_pass_by(sim, index, v, time_ns, dropped);
    else
        strand_pass(sim, index, v, time_ns);
}

static bool is_plain(const struct simulation *sim, uint32_t v) {
    unsigned traits = sim->traits[v];
    if (!sim->moves || !(traits & TRAIT_PLAIN)) return traits & TRAIT_PLAIN;
    if (!(traits & TRAIT_OF_TASK)) return saving_part(sim, v) == 0;
    uint32_t task = sim->dag->vertices.task[v];
    return !job_has_moved(sim, task) && !ends_group(sim, task);
}

// Passes the plain vertices behind one that the strand has just passed, all with that one's shift.
static void skim(struct simulation *sim, uint32_t index) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    struct strand *strand = &sim->strands[index];
    struct frame *frame = &sim->frames[strand->frame];
    struct passages *log = &sim->log[index];
    struct passage *last = log->count ? &log->items[log->count - 1] : NULL;
    uint32_t first = frame->next, v = first;
    bool behind = last && passage_is_left(sim, last) && last->source + last->count == first;
    if (!behind || strand->lead_ns != 0) return;
    int64_t shift_ns = strand->now_ns - frame->since_ns;
    uint32_t end = frame->end - frame->stolen; // its last has a turn to wait for
    for (; v < end && is_plain(sim, v); v++) {
        sim->time_ns[v] = time_ns[v] + shift_ns;
        if (sim->traits[v] & TRAIT_AWAITED) release(sim, v);
    }
    if (v == first) return;
    last->count += v - first;
    log->followers += v - first;
    sim->passed += v - first;
    frame->next = v;
    frame->since_ns = time_ns[v - 1];
    strand->now_ns = frame->since_ns + shift_ns;
}

static bool does_as_donor(const struct simulation *sim, uint32_t index) {
    return sim->frames[sim->strands[index].frame].kind == FRAME_DONOR;
}

// What is passed in the place of a recorded vertex, or before it, brings along what the edge to that computed.
static void carry_edge(const struct simulation *sim, struct strand *strand, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (!strand->has_edge) return;
    strand->has_edge = false;
    if (vertices->compute_ns) strand->compute_ns += vertices->compute_ns[v];
    if (vertices->queued_ns) strand->queued_ns += vertices->queued_ns[v];
}

// A vertex of a resource, recorded so, comes as `kind` now.
static void pass_ask(struct simulation *sim, uint32_t index, uint32_t v, enum vertex_kind kind, int64_t time_ns) {
    if (does_as_donor(sim, index))
        donor_pass(sim, index, v, kind, time_ns);
    else
        strand_pass_kind(sim, index, v, kind, time_ns);
}

// The end of a wait for a resource: it has it, or goes on without; or waits on, and comes to the same vertex again.
static void visit_end_of_wait(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    struct strand *strand = &sim->strands[index];
    struct frame *frame = &sim->frames[strand->frame];
    uint32_t ask = strand->ask;
    if (!resource_settle(sim, index, time_ns)) {
        frame->next = v;
        return;
    }
    bool given_up = strand->wait == ASK_GIVEN_UP;
    strand->wait = ASK_NOT;
    pass_ask(sim, index, v, given_up ? VERTEX_GIVEN_UP : VERTEX_ACQUIRED, time_ns);
    if (given_up != sim->dag->asks[ask].given_up) donor_go_on(sim, index, ask);
}

static void visit_ask(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct strand *strand = &sim->strands[index];
    uint32_t ask = vertices->task[v];
    if (strand->wait != ASK_NOT) {
        visit_end_of_wait(sim, index, v, time_ns);
    } else if (vertices->kind[v] == VERTEX_RELEASED) {
        pass_ask(sim, index, v, VERTEX_RELEASED, time_ns);
        resource_release(sim, index, ask, time_ns);
    } else if (vertices->kind[v] == VERTEX_ACQUIRE) {
        pass_ask(sim, index, v, VERTEX_ACQUIRE, time_ns);
        resource_ask(sim, index, ask, time_ns);
    } else if (vertices->kind[v] == VERTEX_HELD && resource_ask(sim, index, ask, time_ns)) {
        pass_ask(sim, index, v, VERTEX_HELD, time_ns);
    } else if (vertices->kind[v] == VERTEX_HELD) {
        carry_edge(sim, strand, v);
        strand_pass_new(sim, index, VERTEX_ACQUIRE, ask, time_ns);
        sim->frames[strand->frame].next = v;
    } else {
        pass_ask(sim, index, v, vertices->kind[v], time_ns); // the beginning of its wait was lost
    }
}

static void visit(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct frame *frame = &sim->frames[sim->strands[index].frame];
    uint32_t task = dag_task_of(vertices, v);
    frame->next = v + 1;
    frame->since_ns = vertices->time_ns[v];
    frame->held_ns = 0;
    if (frame->kind == FRAME_DONOR) carry_edge(sim, &sim->strands[index], v);
    if (sim->grants && vertex_is_of_resource(vertices->kind[v])) {
        visit_ask(sim, index, v, time_ns);
        return;
    }
    if (frame->kind == FRAME_DONOR) {
        donor_pass(sim, index, v, vertices->kind[v], time_ns);
        return;
    }
    if (vertices->kind[v] == VERTEX_SPAWN_BEGIN && is_moved(sim, task)) {
        strand_pass_by(sim, index, v, time_ns, true);
        pass_bracket(sim, index, task);
        return;
    }
    if (vertices->kind[v] == VERTEX_SPAWN_BEGIN && task != DAG_NONE && sim->fate[task] == FATE_SPLIT) {
        parts_begin(sim, index, task, time_ns);
        return;
    }
    pass_vertex(sim, index, v, task, time_ns);
    if (sim->strands[index].blocked) stealing_unblock(sim, index);
    switch (vertices->kind[v]) {
    case VERTEX_SPAWN_BEGIN:
        if (task != DAG_NONE && sim->fate[task] == FATE_DISPATCHED) spawn(sim, index, task, time_ns);
        break;
    case VERTEX_START:
        if (ends_group(sim, task)) group_begin(sim, index, task);
        break;
    case VERTEX_SHUTDOWN:
        if (pool_governs(sim, sim->pool_of_shutdown[v])) pool_shut_down(sim, sim->pool_of_shutdown[v], v);
        break;
    default:
        break;
    }
    if (sim->skims) skim(sim, index);
}

static void step(struct simulation *sim, uint32_t index, int64_t time_ns) {
    struct strand *strand = &sim->strands[index];
    uint32_t v = strand->vertex;
    if (sim->shares && strand->edge == EDGE_COMPUTED) {
        strand->queued_ns += max_ns(strand->computed_ns - strand->joins_ns - strand->edge_compute_ns, 0);
        strand->compute_ns = strand->edge_compute_ns;
    } else if (!sim->shares && v < STEP_LEAST) {
        struct saving saving = saving_of_edge(sim, v);
        strand->has_edge = sim->dag->vertices.time_ns[v] != sim->frames[strand->frame].since_ns;
        strand->compute_ns -= saving.compute_ns;
        strand->queued_ns -= saving.queued_ns;
    }
    strand->edge = EDGE_AHEAD;
    strand->timed = false;
    strand->now_ns = time_ns;
    strand->lead_ns = 0;
    strand->vertex = DAG_NONE;
    if (v >= STEP_LEAST)
        part_step(sim, index, v, time_ns);
    else
        visit(sim, index, v, time_ns);
}

static bool is_wait_of_stage(const struct simulation *sim, const struct strand *strand) {
    return strand->vertex < STEP_LEAST && sim->frames[strand->frame].staged &&
           sim->dag->vertices.kind[strand->vertex] == VERTEX_WAIT_END;
}

// Whether a task was under way at its worker's last event. One whose end was lost may not have been.
static bool is_under_way_for_ever(const struct dag *dag, const struct dag_task *task) {
    const struct dag_thread *thread = &dag->threads[task->thread];
    return task->flags & TASK_UNFINISHED && task->tail + 1 == thread->first + thread->count;
}

static void finish(struct simulation *sim, uint32_t index) {
    struct strand *strand = &sim->strands[index];
    bool asks = strand->pool && !is_under_way_for_ever(sim->dag, &sim->dag->tasks[job_task(sim, strand->task)]);
    strand->life = asks ? LIFE_FREE : LIFE_OVER;
    if (!asks)
        sim->running--;
    else if (has_turn(sim, index, strand->now_ns))
        pool_take_back(sim, index);
    else
        agenda_put(&sim->agenda, index, strand->now_ns);
}

// In order of time, since it takes from what others get.
static void begin_to_compute(struct simulation *sim, uint32_t index) {
    struct strand *strand = &sim->strands[index];
    strand->edge = EDGE_WAKES;
    if (!has_turn(sim, index, strand->joins_ns)) {
        agenda_put(&sim->agenda, index, strand->joins_ns);
        return;
    }
    strand->edge = EDGE_READY;
    if (!carrier_take(sim, index)) return;
    strand->edge = EDGE_COMPUTES;
    cores_join(&sim->cores, index, strand->joins_ns, strand->edge_compute_ns, strand->edge_luck);
}

// A waiter that was kept from a core before it found a task is so again, before it looks for one.
static void begin_to_be_kept(struct simulation *sim, uint32_t index) {
    struct strand *strand = &sim->strands[index];
    strand->joins_ns = strand->now_ns + strand->lead_ns;
    strand->edge_compute_ns = strand->asleep_ns = 0;
    strand->edge_luck = sim->luck[strand->kept_from];
    begin_to_compute(sim, index);
}

static void end_being_kept(struct strand *strand) {
    int64_t kept_ns = strand->computed_ns - strand->joins_ns;
    strand->lead_ns += kept_ns;
    strand->queued_ns += kept_ns;
    strand->kept_from = DAG_NONE;
    strand->edge = EDGE_AHEAD;
}

static bool waits(const struct simulation *sim, const struct strand *strand) {
    return strand->vertex < STEP_LEAST && sim->traits[strand->vertex] & (TRAIT_WAITS | TRAIT_LOOKS);
}

enum reach_outcome { REACH_KNOWN, REACH_AGAIN, REACH_LATER };

static enum reach_outcome wait_for_turn(struct simulation *sim, uint32_t index, int64_t time_ns) {
    agenda_put(&sim->agenda, index, time_ns);
    return REACH_LATER;
}

// When the strand comes to its next vertex, or begins to compute up to it.
static enum reach_outcome reach_next(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    struct strand *strand = &sim->strands[index];
    *time_ns = strand->now_ns + strand->lead_ns;
    if (is_wait_of_stage(sim, strand)) {
        if (!has_turn(sim, index, *time_ns)) return wait_for_turn(sim, index, *time_ns);
        stage_wait(sim, index, strand->vertex, *time_ns);
        return REACH_AGAIN;
    }
    if (strand->wait != ASK_NOT && !resource_has_wait_of(sim, strand, time_ns)) return REACH_LATER;
    bool known = strand->wait != ASK_NOT || find_time(sim, index, time_ns);
    if (sim->steals && strand->wait == ASK_NOT && waits(sim, strand) && stealing_may_help(sim, index)) {
        int64_t reached_ns = strand->now_ns + strand->lead_ns;
        if (!has_turn(sim, index, reached_ns)) return wait_for_turn(sim, index, reached_ns);
        stealing_help(sim, index);
        return REACH_AGAIN; // who found nothing wakes up otherwise
    }
    if (!known) {
        parking_wait(&sim->parking, index, strand->awaits);
        return REACH_LATER;
    }
    if (!sim->shares || !strand_computes(sim, index, time_ns)) return REACH_KNOWN;
    begin_to_compute(sim, index);
    return REACH_LATER;
}

// Takes a strand as far as it goes.
static void advance(struct simulation *sim, uint32_t index) {
    sim->advancing = index;
    while (!sim->no_memory) {
        struct strand *strand = &sim->strands[index];
        int64_t time_ns;
        if (strand->edge == EDGE_WAKES) {
            begin_to_compute(sim, index);
            return;
        }
        if (strand->vertex == DAG_NONE) strand->vertex = frame_next_vertex(sim, index);
        if (strand->vertex == DAG_NONE) {
            finish(sim, index);
            return;
        }
        if (strand->kept_from != DAG_NONE) {
            if (strand->edge != EDGE_COMPUTED) {
                begin_to_be_kept(sim, index);
                return;
            }
            end_being_kept(strand);
        }
        if (strand->edge == EDGE_COMPUTED) {
            time_ns = strand_computed_ns(sim, strand);
        } else {
            enum reach_outcome outcome = reach_next(sim, index, &time_ns);
            if (outcome == REACH_AGAIN) continue;
            if (outcome == REACH_LATER) return;
        }
        strand = &sim->strands[index]; // more may have been made
        bool in_turn = strand->blocked || needs_turn(sim, strand->vertex) || frame_ends_theft(sim, strand);
        if (in_turn && !has_turn(sim, index, time_ns)) {
            strand->timed = true;
            agenda_put(&sim->agenda, index, time_ns);
            return;
        }
        step(sim, index, time_ns);
    }
}

static void take_turn(struct simulation *sim, uint32_t index, int64_t now_ns) {
    switch (sim->strands[index].life) {
    case LIFE_FREE:
        pool_take_back(sim, index);
        break;
    case LIFE_IDLE:
        pool_idled_out(sim, index);
        break;
    case LIFE_COMING:
        (stealing_governs(sim, sim->strands[index].pool) ? stealing_arrive : pool_arrive)(sim, index, now_ns);
        break;
    default:
        sim->advancing = DAG_NONE;
        if (sim->strands[index].wait == ASK_LISTED || sim->strands[index].wait == ASK_AS_RECORDED) {
            resource_limit(sim, index, now_ns);
            return;
        }
        sim->advancing = index;
        if (sim->strands[index].timed) step(sim, index, now_ns);
        advance(sim, index);
    }
}

static bool goes_on_computing(const struct strand *strand, int64_t now_ns) {
    return strand->edge == EDGE_COMPUTES || (strand->edge == EDGE_WAKES && strand->joins_ns <= now_ns);
}

static void end_computing(struct simulation *sim) {
    uint32_t index = cores_take(&sim->cores);
    if (index == AGENDA_NONE) return;
    struct strand *strand = &sim->strands[index];
    strand->edge = EDGE_COMPUTED;
    strand->computed_ns = sim->cores.since_ns;
    uint32_t v = strand->kept_from == DAG_NONE ? strand->vertex : strand->kept_from;
    if (sim->rehearses && v < STEP_LEAST) sim->luck[v].crowding = sim->cores.shares[index].crowding;
    int64_t now_ns = strand->computed_ns;
    advance(sim, index);
    if (sim->strands[index].carried && !goes_on_computing(&sim->strands[index], now_ns))
        carrier_give_back(sim, index, now_ns);
}

// What happens next. false: nothing does.
static bool take_next(struct simulation *sim) {
    int64_t now_ns, released_ns = agenda_next_ns(&sim->releases);
    int64_t due_ns = agenda_next_ns(&sim->dues);
    if (due_ns != INT64_MAX && due_ns <= released_ns && due_ns <= agenda_next_ns(&sim->agenda) &&
        due_ns <= sim->cores.next_ns) {
        sim->advancing = DAG_NONE;
        delays_end(sim);
        return true;
    }
    if (released_ns != INT64_MAX && released_ns <= agenda_next_ns(&sim->agenda) && released_ns <= sim->cores.next_ns) {
        sim->advancing = DAG_NONE;
        resource_times_out(sim);
        return true;
    }
    if (sim->cores.next_ns < agenda_next_ns(&sim->agenda)) {
        end_computing(sim);
        return true;
    }
    uint32_t strand = agenda_take(&sim->agenda, &now_ns);
    if (strand == AGENDA_NONE) return false;
    take_turn(sim, strand, now_ns);
    return true;
}

static bool is_dispatched(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    if (dag_task_stands(task)) return pool_governs(sim, task->pool);
    if (stealing_governs(sim, task->pool)) return stealing_dispatches(sim, index);
    return pool_governs(sim, task->pool) && task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_CALLER;
}

static enum fate fate_of(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    if (sim->edit->inlined[index]) return FATE_INLINED;
    if (sim->edit->staged[index] == FIRST_STAGE_ON_SPAWNER) return FATE_STAGED;
    if (chain_moves_out(sim->edit, index)) return FATE_MERGED;
    if (!is_dispatched(sim, index)) return FATE_RECORDED;
    bool divisible = task->spawn_begin == task->spawn_end || bracket_is_own(sim->dag, index);
    return sim->edit->parts[index] > 1 && divisible ? FATE_SPLIT : FATE_DISPATCHED;
}

static bool is_run_by_pool(const struct simulation *sim, uint32_t thread) {
    const struct dag_thread *of = &sim->dag->threads[thread];
    return (of->worker && pool_governs(sim, of->pool)) || pool_governs(sim, sim->pool_of_barrier[thread]);
}

static void begin_thread(struct simulation *sim, uint32_t index) {
    const struct dag_thread *thread = &sim->dag->threads[index];
    bool absent = is_run_by_pool(sim, index) || dag_edit_removes_thread(sim->dag, sim->edit, index);
    bool barrier = sim->dag->vertices.rule[thread->first] == RULE_MAX;
    int64_t first_ns = sim->dag->vertices.time_ns[thread->first];
    sim->strands[index] = (struct strand){.now_ns = barrier ? DAG_ABSENT : first_ns,
                                          .frame = DAG_NONE,
                                          .vertex = DAG_NONE,
                                          .awaits = DAG_NONE,
                                          .stages = DAG_NONE,
                                          .looked = DAG_NONE,
                                          .kept_from = DAG_NONE,
                                          .holds = DAG_NONE,
                                          .life = absent ? LIFE_OVER : LIFE_RUNS};
    if (absent) return;
    struct frame frame = {.task = DAG_NONE,
                          .next = thread->first,
                          .end = thread->first + thread->count,
                          .link = DAG_NONE,
                          .since_ns = first_ns,
                          .kind = FRAME_THREAD};
    frame_push(sim, index, frame);
    sim->running++;
    strand_make_ready(sim, index);
}

// Where a pool dispatches, what its worker did behind a body goes with that, though the worker may be gone.
static void bring_back_tail(struct simulation *sim, const struct dag_task *task) {
    if (task->start == DAG_NONE || !pool_governs(sim, task->pool)) return;
    for (uint32_t v = task->end + 1; v <= task->tail; v++) sim->time_ns[v] = DAG_PENDING;
}

static void find_arrivals(struct simulation *sim, const struct model *model) {
    const struct dag *dag = sim->dag;
    sim->rate = model->rate;
    if (sim->rate == 0) return;
    for (uint32_t i = 0; i < dag->thread_count; i++) sim->arrivals[i] = (struct arrivals){DAG_NONE, DAG_NONE};
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool outside = task->spawner == DAG_NONE || dag->tasks[task->spawner].flags & TASK_MAIN;
        if (task->site != model->rate_site || task->spawn_begin == DAG_NONE || !outside) continue;
        struct arrivals *arrivals = &sim->arrivals[dag_thread_of(dag, task->spawn_begin)];
        if (arrivals->first == DAG_NONE || task->spawn_begin < arrivals->first) arrivals->first = task->spawn_begin;
        if (arrivals->last == DAG_NONE || task->spawn_begin > arrivals->last) arrivals->last = task->spawn_begin;
    }
}

static void begin_run(struct simulation *sim, const struct dag_edit *edit, const struct model *model) {
    const struct dag *dag = sim->dag;
    sim->edit = edit;
    sim->model = model->kind;
    sim->no_memory = false;
    sim->passed = sim->running = 0;
    for (uint32_t i = 0; i < sim->strand_capacity; i++) {
        sim->log[i].count = sim->log[i].dropped = sim->log[i].followers = 0;
    }
    sim->stuck = (struct stuck){0};
    sim->strand_count = dag->thread_count;
    sim->parking.ready = DAG_NONE;
    agenda_clear(&sim->agenda);
    agenda_clear(&sim->dues);
    computing_begin_run(sim, model);
    find_arrivals(sim, model);
    sim->skims = !sim->shares && sim->rate == 0 && edit->staged_count == 0 && sim->sunk_count == 0;
    frames_clear(sim);
    dag_mark_absent(dag, edit, sim->time_ns);
    resources_begin_run(sim);
    carriers_begin_run(sim, model->cores);
    pools_begin_run(sim);
    sim->moves = edit->staged_count > 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        bring_back_tail(sim, &dag->tasks[t]);
        sim->fate[t] = (uint8_t)fate_of(sim, t);
        sim->moves |= job_has_moved(sim, t);
        sim->dispatch[t] = dag->tasks[t].dispatch;
        if (sim->due_ns) sim->due_ns[t] = INT64_MIN;
    }
    regroup_begin_run(sim);
    savings_begin_run(sim);
    for (uint32_t i = dag->thread_count; i--;) begin_thread(sim, i);
    standing_begin_run(sim);
}

static bool is_stuck(const struct simulation *sim) {
    if (sim->running > 0 || sim->stages_left > 0) return true;
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (sim->pools[p].queue_length > 0) return true;
    }
    return false;
}

// Parked strands and stages stand in arrays that are kept clean between runs.
static void forget_waiting(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        if (sim->strands[i].awaits != DAG_NONE) sim->parking.first[sim->strands[i].awaits] = DAG_NONE;
    }
    for (uint32_t f = 0; sim->stages_left && f < sim->frame_count; f++) {
        if (sim->frames[f].parked) sim->first_stage[sim->dag->vertices.cause[sim->frames[f].next - 1]] = DAG_NONE;
    }
}

static enum dag_outcome play(struct simulation *sim, const struct dag_edit *edit, const struct model *model) {
    begin_run(sim, edit, model);
    do {
        for (uint32_t strand; (strand = parking_take_ready(&sim->parking)) != DAG_NONE;) advance(sim, strand);
    } while (take_next(sim) && !sim->no_memory);
    bool stuck = !sim->no_memory && is_stuck(sim);
    sim->stuck_known = !stuck;
    forget_waiting(sim);
    if (sim->no_memory) return DAG_NO_MEMORY;
    return stuck ? DAG_DEADLOCK : DAG_OK;
}

// What the first run in which strands share the cores has to find out: how edges fared when recorded, and how crowded
// the cores are for each when nothing is edited.
static bool rehearse(struct simulation *sim) {
    const struct model model = {.kind = MODEL_CPU};
    struct dag_edit none;
    struct error error = ERROR_INIT;
    if (!service_new(sim) || !dag_edit_init(&none, sim->dag, &error)) return false;
    sim->rehearses = true;
    enum dag_outcome outcome = play(sim, &none, &model);
    sim->rehearses = false;
    sim->rehearsed = true;
    dag_edit_destroy(&none);
    return outcome != DAG_NO_MEMORY;
}

enum dag_outcome simulation_run(struct simulation *sim, const struct dag_edit *edit, const struct model *model) {
    sunk_forget(sim);
    bool measured = model->kind == MODEL_CPU && sim->dag->vertices.compute_ns;
    if (measured && !sim->rehearsed && !rehearse(sim)) return DAG_NO_MEMORY;
    enum dag_outcome outcome = play(sim, edit, model);
    if (outcome == DAG_DEADLOCK && model->kind == MODEL_DAG && sunk_find(sim)) outcome = play(sim, edit, model);
    if (sim->no_memory) return DAG_NO_MEMORY;
    if (outcome != DAG_OK) return outcome;
    pools_end_run(sim);
    if (!derive_run(sim)) return DAG_NO_MEMORY;
    sim->derived.cores = model->cores;
    return DAG_OK;
}
