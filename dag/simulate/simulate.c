// SPDX-License-Identifier: GPL-3.0-or-later
// A run from its beginning to its end, and what stays from run to run.
#include "dag/simulate/simulate.h"

#include "base/pages.h"
#include "dag/edit/chain.h"
#include "dag/simulate/advance.h"
#include "dag/simulate/amortised.h"
#include "dag/simulate/awaits.h"
#include "dag/simulate/cancelled.h"
#include "dag/simulate/carriers.h"
#include "dag/simulate/claims.h"
#include "dag/simulate/clients.h"
#include "dag/simulate/computing.h"
#include "dag/simulate/deferred.h"
#include "dag/simulate/derive.h"
#include "dag/simulate/ending.h"
#include "dag/simulate/event_loops.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/initial_jobs.h"
#include "dag/simulate/jobs.h"
#include "dag/simulate/mailbox.h"
#include "dag/simulate/part_costs.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/pipeline.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/recorded_workers.h"
#include "dag/simulate/regroup.h"
#include "dag/simulate/resources.h"
#include "dag/simulate/service.h"
#include "dag/simulate/snapshot.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/stuck.h"
#include "dag/simulate/traits.h"
#include "dag/simulate/transitions.h"
#include "dag/simulate/unmade.h"

#include <stdlib.h>

static struct simulation *fail_new(struct simulation *sim, const struct dag *dag, struct error *error) {
    simulation_free(sim);
    error_set(error, STATUS_FAILED, "no memory to simulate %u events", dag->vertex_count);
    return NULL;
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
    sim->placement = malloc(tasks);
    sim->arrivals = malloc(((size_t)dag->thread_count + 1) * sizeof *sim->arrivals);
    if (!sim->time_ns || !sim->parking.first || !sim->placement || !sim->arrivals ||
        !jobs_reserve(sim, dag->task_count + 1) || !processes_reserve(sim, dag->thread_count + 1) ||
        !recorded_workers_new(sim) || !transitions_new(sim) || !stealing_new(sim) || !traits_new(sim) ||
        !resources_new(sim) || !carriers_new(sim) || !awaits_new(sim) || !cancelled_new(sim) || !clients_new(sim) ||
        !claims_new(sim) || !event_loops_new(sim) || !deferred_new(sim) || !mailboxes_new(sim) || !unmade_new(sim) ||
        !initial_jobs_new(sim) || !regroup_new(sim) || !amortised_new(sim) || !derive_new(sim)) {
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

struct simulation *simulation_new_replicate(const struct dag *replicate, const struct simulation *other,
                                            struct error *error) {
    struct simulation *sim = make(replicate, other->costs, NULL, error);
    if (sim) sim->replicated = other;
    return sim;
}

void simulation_free(struct simulation *sim) {
    if (!sim) return;
    snapshots_free(sim);
    recorded_workers_free(sim);
    transitions_free(sim);
    stealing_free(sim);
    resources_free(sim);
    awaits_free(sim);
    cancelled_free(sim);
    clients_free(sim);
    claims_free(sim);
    event_loops_free(sim);
    deferred_free(sim);
    mailboxes_free(sim);
    unmade_free(sim);
    initial_jobs_free(sim);
    regroup_free(sim);
    part_costs_free(sim);
    amortised_free(sim);
    derive_free(sim);
    events_destroy(&sim->events);
    cores_destroy(&sim->cores);
    traits_free(sim);
    free(sim->frames);
    free(sim->parking.first);
    free(sim->time_ns);
    free(sim->placement);
    free(sim->pause_left);
    free(sim->arrivals);
    jobs_free(sim);
    processes_free(sim);
    free(sim);
}

struct outcomes simulation_outcomes(const struct simulation *sim) {
    return (struct outcomes){sim->outcomes_changed, sim->outcomes_kept, sim->outcomes_alone};
}

uint32_t simulation_spared(const struct simulation *sim) {
    return sim->spared;
}

const struct dag *simulation_dag(struct simulation *sim) {
    if (sim->to_derive && !derive_run(sim)) return NULL;
    return &sim->derived;
}

const int64_t *simulation_times(const struct simulation *sim) {
    return sim->time_ns;
}

// Looked for when asked: a search needs no more than a yes or no of most plans.
const struct stuck *simulation_stuck(struct simulation *sim) {
    if (!sim->stuck_known) stuck_find(sim);
    sim->stuck_known = true;
    return &sim->stuck;
}

static bool is_dispatched(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    if (dag_task_stands(task)) return pool_governs(sim, task->pool);
    if (stealing_governs(sim, task->pool)) return stealing_dispatches(sim, index);
    if (cancelled_body_of(sim, index) != DAG_NONE) return true;
    return pool_governs(sim, task->pool) && task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_CALLER;
}

static enum placement placement_of(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    if (sim->edit->inlined[index]) return PLACEMENT_INLINED;
    if (sim->edit->staged[index] == FIRST_STAGE_ON_SPAWNER) return PLACEMENT_STAGED;
    if (chain_moves_out(sim->edit, index)) return PLACEMENT_MERGED;
    if (!is_dispatched(sim, index)) return PLACEMENT_RECORDED;
    bool divisible = task->spawn_begin == task->spawn_end || bracket_is_own(sim->dag, index);
    return sim->edit->parts[index] > 1 && divisible ? PLACEMENT_SPLIT : PLACEMENT_DISPATCHED;
}

static bool is_run_by_pool(const struct simulation *sim, uint32_t thread) {
    const struct dag_thread *of = &sim->dag->threads[thread];
    return (of->worker && pool_governs(sim, of->pool)) || pool_governs(sim, sim->recorded.pool_of_barrier[thread]);
}

static void begin_thread(struct simulation *sim, uint32_t index) {
    const struct dag_thread *thread = &sim->dag->threads[index];
    bool absent = is_run_by_pool(sim, index) || dag_edit_removes_thread(sim->dag, sim->edit, index);
    bool barrier = sim->dag->vertices.rule[thread->first] == RULE_MAX;
    int64_t first_ns = sim->dag->vertices.time_ns[thread->first];
    sim->processes[index] = process_at(barrier ? DAG_ABSENT : first_ns);
    sim->processes[index].life = absent ? LIFE_OVER : LIFE_RUNS;
    if (absent) return;
    struct frame frame = {.task = DAG_NONE,
                          .next = thread->first,
                          .end = thread->first + thread->count,
                          .link = DAG_NONE,
                          .since_ns = first_ns,
                          .kind = FRAME_THREAD};
    frame_push(sim, index, frame);
    sim->running++;
    process_make_ready(sim, index);
}

// Where a pool dispatches, what its worker did behind a body goes with that, though the worker may be gone.
static void bring_back_tail(struct simulation *sim, const struct dag_task *task) {
    if (task->start == DAG_NONE || !pool_governs(sim, task->pool)) return;
    for (uint32_t v = task->end + 1; v <= task->tail; v++) sim->time_ns[v] = DAG_PENDING;
}

static void find_arrivals(struct simulation *sim, const struct model *model) {
    const struct dag *dag = sim->dag;
    sim->rate = model->rate;
    sim->load = model->load;
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
    sim->passed = sim->running = sim->spared = 0;
    sim->clock_ns = INT64_MIN;
    for (uint32_t i = 0; i < sim->process_capacity; i++) {
        sim->log[i].count = sim->log[i].dropped = sim->log[i].followers = 0;
    }
    sim->stuck = (struct stuck){0};
    sim->process_count = dag->thread_count;
    sim->parking.ready = DAG_NONE;
    events_clear(&sim->events);
    computing_begin_run(sim, model);
    find_arrivals(sim, model);
    sim->skims = !sim->shares && sim->rate == 0 && edit->staged_count == 0 && sim->deferred_count == 0;
    frames_clear(sim);
    dag_mark_absent(dag, edit, sim->time_ns);
    resources_begin_run(sim);
    awaits_begin_run(sim);
    carriers_begin_run(sim, model->cores);
    pools_begin_run(sim);
    mailboxes_begin_run(sim);
    unmade_begin_run(sim);
    claims_begin_run(sim);
    sim->moves = edit->staged_count > 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        bring_back_tail(sim, &dag->tasks[t]);
        sim->placement[t] = (uint8_t)placement_of(sim, t);
        sim->moves |= job_has_moved(sim, t);
        sim->dispatch[t] = dag->tasks[t].dispatch;
        if (sim->due_ns) sim->due_ns[t] = INT64_MIN;
    }
    regroup_begin_run(sim);
    amortised_begin_run(sim);
    for (uint32_t i = dag->thread_count; i--;) begin_thread(sim, i);
    initial_jobs_begin_run(sim);
    pipelines_begin_run(sim);
}

static bool is_stuck(const struct simulation *sim) {
    if (sim->running > 0 || sim->regroup.stages_left > 0 || mailboxes_have_mail(sim)) return true;
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (sim->pools[p].queue_length > 0) return true;
    }
    return false;
}

// Parked processes and stages stand in arrays that are kept clean between runs.
static void forget_waiting(struct simulation *sim) {
    for (uint32_t i = 0; i < sim->process_count; i++) {
        if (sim->processes[i].awaits != DAG_NONE) sim->parking.first[sim->processes[i].awaits] = DAG_NONE;
    }
    for (uint32_t f = 0; sim->regroup.stages_left && f < sim->frame_count; f++) {
        if (sim->frames[f].parked)
            sim->regroup.first_stage[await_cause_of_stage(sim, sim->frames[f].next - 1)] = DAG_NONE;
    }
}

static bool goes_on(struct simulation *sim) {
    return simulation_take_next(sim) || (is_stuck(sim) && (pipelines_end(sim) || ending_comes(sim)));
}

static enum dag_outcome play(struct simulation *sim, const struct dag_edit *edit, const struct model *model) {
    begin_run(sim, edit, model);
    if (!sim->keeps) snapshots_resume(sim, model);
    do {
        for (uint32_t process; (process = parking_take_ready(&sim->parking)) != DAG_NONE;)
            process_advance(sim, process);
        if (sim->keeps) snapshots_look(sim);
    } while (goes_on(sim) && !sim->no_memory);
    bool stuck = !sim->no_memory && is_stuck(sim);
    sim->stuck_known = !stuck;
    forget_waiting(sim);
    if (sim->no_memory) return DAG_NO_MEMORY;
    return stuck ? DAG_DEADLOCK : DAG_OK;
}

// Nothing edited, for by how much cores are short for each edge then.
static bool rehearse(struct simulation *sim) {
    const struct model model = {.kind = MODEL_CPU};
    struct dag_edit none;
    struct error error = ERROR_INIT;
    if (!dag_edit_init(&none, sim->dag, &error)) return false;
    sim->calibrating = true;
    enum dag_outcome outcome = play(sim, &none, &model);
    sim->calibrating = false;
    dag_edit_destroy(&none);
    return outcome != DAG_NO_MEMORY;
}

static void take_over_slowdowns(struct simulation *sim, const struct cores_residual *others) {
    for (uint32_t v = 0; v < sim->dag->vertex_count; v++) sim->recorded.residuals[v].slowdown = others[v].slowdown;
}

// What the first run in which processes share the cores has to find out: how edges fared when recorded.
static bool calibrate(struct simulation *sim) {
    if (!service_new(sim)) return false;
    if (sim->replicated && sim->replicated->calibrated)
        take_over_slowdowns(sim, sim->replicated->recorded.residuals);
    else if (!rehearse(sim))
        return false;
    sim->calibrated = true;
    return true;
}

// What a run by this model needs to know of the recording.
static bool prepare(struct simulation *sim, const struct model *model) {
    bool measured = model->kind == MODEL_CPU && sim->dag->vertices.compute_ns;
    return !measured || sim->calibrated || calibrate(sim);
}

enum dag_outcome simulation_keep(struct simulation *sim, const struct dag_edit *none, const struct model *model) {
    if (!prepare(sim, model)) return DAG_NO_MEMORY;
    if (snapshots_are_kept(sim, model)) return simulation_run(sim, none, model);
    if (!snapshots_begin(sim, model)) return DAG_NO_MEMORY;
    sim->keeps = model->kind != MODEL_DAG;
    enum dag_outcome outcome = simulation_run(sim, none, model);
    sim->keeps = false;
    return outcome;
}

enum dag_outcome simulation_run(struct simulation *sim, const struct dag_edit *edit, const struct model *model) {
    deferred_forget(sim);
    if (!prepare(sim, model)) return DAG_NO_MEMORY;
    enum dag_outcome outcome = play(sim, edit, model);
    if (outcome == DAG_DEADLOCK && model->kind == MODEL_DAG && deferred_find(sim)) outcome = play(sim, edit, model);
    if (sim->no_memory) return DAG_NO_MEMORY;
    if (outcome != DAG_OK) return outcome;
    pools_end_run(sim);
    sim->cores_asked = model->cores;
    sim->to_derive = true;
    return DAG_OK;
}
