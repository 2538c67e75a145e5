// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/advance.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/amortised.h"
#include "dag/simulate/awaits.h"
#include "dag/simulate/carriers.h"
#include "dag/simulate/clients.h"
#include "dag/simulate/computing.h"
#include "dag/simulate/delays.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/initial_jobs.h"
#include "dag/simulate/next_vertex.h"
#include "dag/simulate/pipeline.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/regroup.h"
#include "dag/simulate/resources.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/unmade.h"
#include "dag/simulate/visit.h"
#include "dag/simulate/worker.h"

// What passes between two arrivals takes as much less as they come more often, but for their hand-over.
static int64_t rated(const struct simulation *sim, uint32_t index, uint32_t v, int64_t edge_ns) {
    if (sim->rate == 0 || sim->frames[sim->processes[index].frame].kind != FRAME_THREAD) return edge_ns;
    const struct arrivals *arrivals = &sim->arrivals[index];
    bool between = arrivals->first != DAG_NONE && arrivals->first < v && v <= arrivals->last;
    if (!between || sim->dag->vertices.kind[v] == VERTEX_SPAWN_END) return edge_ns;
    return (int64_t)((double)edge_ns / sim->rate);
}

// Each of these: whether the process's next vertex can have its time; if not, process->awaits says what comes first.

static bool find_arrival(const struct simulation *sim, struct process *process, uint32_t request, int64_t *time_ns) {
    const struct client_turn turn = client_turn(sim, request);
    process->awaits = turn.cause;
    *time_ns = turn.ns;
    if (turn.cause == DAG_NONE) return true;
    const int64_t answered_ns = sim->time_ns[turn.cause];
    if (answered_ns == DAG_PENDING) return false;
    if (answered_ns == DAG_ABSENT)
        *time_ns = sim->dag->vertices.time_ns[process->vertex];
    else
        *time_ns += answered_ns;
    return true;
}

static bool find_beginning(const struct simulation *sim, struct process *process, uint32_t index, uint32_t cause,
                           int64_t *time_ns) {
    const struct dag *dag = sim->dag;
    if (index < dag->thread_count && dag->threads[index].request)
        return find_arrival(sim, process, dag->threads[index].request - 1, time_ns);
    bool removed = cause != DAG_NONE && sim->time_ns[cause] == DAG_ABSENT;
    struct dag_constraint start = dag_constraint_of_start(dag, sim->edit, process->vertex, index, removed);
    process->awaits = start.cause;
    if (start.cause != DAG_NONE && sim->time_ns[start.cause] == DAG_PENDING) return false;
    *time_ns =
        start.cause == DAG_NONE ? dag->vertices.time_ns[process->vertex] : sim->time_ns[start.cause] + start.delay_ns;
    return true;
}

static bool find_end_of_wait(struct simulation *sim, struct process *process, uint32_t index, uint32_t cause,
                             const struct reach *reach, int64_t *time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex;
    int64_t cause_ns = sim->time_ns[cause];
    process->awaits = cause;
    if (cause_ns == DAG_PENDING) return false;
    if (sim->frames[process->frame].kind != FRAME_DONOR && process_finds_result(sim, process)) {
        *time_ns = process->now_ns;
        return true;
    }
    int64_t wakeup_ns = process->steal.blocked ? stealing_wakeup_ns(sim, index, cause_ns) : sim->dag->wakeup_ns;
    *time_ns = rule_apply(vertices->rule[v], vertices->time_ns[v], *reach, cause_ns,
                          vertices->time_ns[vertices->cause[v]], wakeup_ns);
    return true;
}

// Of a wait whose limit races its result: whether that is open, or its end is found; if none, it ends as any other
// does.
enum race { RACE_NONE, RACE_OPEN, RACE_ENDS };

static enum race find_end_of_race(struct simulation *sim, struct process *process, uint32_t index, uint32_t cause,
                                  int64_t *time_ns) {
    if (!await_races(sim, process)) return RACE_NONE;
    enum await_outcome outcome = await_look(sim, index, cause);
    process->awaits = cause;
    if (outcome == AWAIT_OPEN) return RACE_OPEN;
    if (outcome != AWAIT_GAVE_UP && sim->dag->vertices.cause[process->vertex] != DAG_NONE) return RACE_NONE;
    *time_ns = await_ends_ns(sim, process, cause);
    return RACE_ENDS;
}

static bool find_time(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    struct process *process = &sim->processes[index];
    uint32_t v = process->vertex;
    *time_ns = process->now_ns + process->lead.ns;
    if (v >= STEP_LEAST) return true;
    uint32_t cause = await_cause(sim, process);
    const struct frame *frame = &sim->frames[process->frame];
    struct reach reach = {process->now_ns, process->lead.ns, frame->since_ns};
    process->awaits = DAG_NONE;
    enum race race = find_end_of_race(sim, process, index, cause, time_ns);
    if (race != RACE_NONE) return race == RACE_ENDS;
    if (sim->dag->vertices.rule[v] == RULE_BEGIN && !process->entered)
        return find_beginning(sim, process, index, cause, time_ns);
    if (cause != DAG_NONE && !process->entered) return find_end_of_wait(sim, process, index, cause, &reach, time_ns);
    struct amortised amortised = amortised_of_edge(sim, process);
    reach.lead_ns -= amortised.compute_ns + amortised.queued_ns;
    *time_ns = reach.before_ns + rated(sim, index, v, reach.lead_ns + sim->dag->vertices.time_ns[v] - reach.since_ns);
    return true;
}

// Whether it matters what comes first: the end of a task, or its being cancelled.
static bool settles_result(const struct simulation *sim, const struct process *process) {
    unsigned kind = sim->dag->vertices.kind[process->vertex];
    bool as_donor = sim->frames[process->frame].kind == FRAME_DONOR && (kind == VERTEX_END || kind == VERTEX_RESULT);
    return as_donor || sim->recorded.traits[process->vertex] & TRAIT_CANCELS;
}

// Whether pools, or stages, must see this vertex in order of time.
static bool needs_turn(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex;
    if (v >= STEP_LEAST) return true;
    if (sim->races && settles_result(sim, process)) return true;
    switch (vertices->kind[v]) {
    case VERTEX_SPAWN_BEGIN:
        if (vertices->task[v] == DAG_NONE) return pipeline_thread_begun_by(sim, v) != DAG_NONE;
        if (pipeline_has(sim, vertices->task[v])) return true;
        if (sim->edit->actors_count && sim->dag->tasks[vertices->task[v]].flags & TASK_INIT) return true; // of copies
        return sim->placement[vertices->task[v]] >= PLACEMENT_SPLIT;
    case VERTEX_SHUTDOWN:
        return pool_governs(sim, sim->recorded.pool_of_shutdown[v]);
    case VERTEX_RESULT:
    case VERTEX_END:
        return sim->edit->staged_count > 0;
    default:
        return sim->grants && vertex_is_of_resource(vertices->kind[v]);
    }
}

static bool has_turn(const struct simulation *sim, uint32_t process, int64_t time_ns) {
    return sim->parking.ready == DAG_NONE && time_ns <= sim->cores.next_ns &&
           event_precedes(&sim->events, NOTICE_TURN, process, time_ns) && !carrier_is_wanted(sim, process, time_ns);
}

static bool is_wait_of_stage(const struct simulation *sim, const struct process *process) {
    return process->vertex < STEP_LEAST && sim->dag->vertices.kind[process->vertex] == VERTEX_WAIT_END &&
           frame_is_in_stage(&sim->frames[process->frame]);
}

// Whether a task was under way at its worker's last event. One whose end was lost may not have been.
static bool is_under_way_for_ever(const struct dag *dag, const struct dag_task *task) {
    if (task->start == DAG_NONE || dag->trace->lost_events) return false; // it was cancelled then, or may have ended
    const struct dag_thread *thread = &dag->threads[task->thread];
    return task->flags & TASK_UNFINISHED && !(task->flags & TASK_CUT) &&
           task->tail + 1 == thread->first + thread->count;
}

static void take_back(struct simulation *sim, uint32_t index) {
    const struct process *process = &sim->processes[index];
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, process->worker.task)];
    if (task->flags & TASK_CUT) resource_release_cut(sim, index, process->now_ns);
    pool_take_back(sim, index);
}

// What was cut as recording ended keeps its worker for as long as it did.
static void finish(struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    struct process *process = &sim->processes[index];
    const struct dag_task *task = process->worker.pool ? &dag->tasks[job_task(sim, process->worker.task)] : NULL;
    const bool asks = task && !is_under_way_for_ever(dag, task);
    if (task && task->flags & TASK_CUT) process->now_ns += dag->last_ns - dag->vertices.time_ns[task->tail];
    process->life = asks ? LIFE_FREE : LIFE_OVER;
    if (!asks)
        sim->running--;
    else if (has_turn(sim, index, process->now_ns))
        take_back(sim, index);
    else
        event_put(&sim->events, NOTICE_FREE, index, process->now_ns);
}

// In order of time, since it takes from what others get.
static void begin_to_compute(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    process->edge.state = EDGE_WAKES;
    if (!has_turn(sim, index, process->edge.joins_ns)) {
        event_put(&sim->events, NOTICE_TURN, index, process->edge.joins_ns);
        return;
    }
    process->edge.state = EDGE_READY;
    if (!carrier_take(sim, index)) return;
    process->edge.state = EDGE_COMPUTES;
    cores_join(&sim->cores, index, process->edge.joins_ns, process_demand(sim, process));
}

static bool waits(const struct simulation *sim, const struct process *process) {
    return process->vertex < STEP_LEAST && sim->recorded.traits[process->vertex] & (TRAIT_WAITS | TRAIT_LOOKS) &&
           sim->frames[process->frame].kind != FRAME_DONOR;
}

enum reach_outcome { REACH_KNOWN, REACH_AGAIN, REACH_LATER };

static enum reach_outcome wait_for_turn(struct simulation *sim, uint32_t index, int64_t time_ns) {
    event_put(&sim->events, NOTICE_TURN, index, time_ns);
    return REACH_LATER;
}

// When the process comes to its next vertex, or begins to compute up to it.
static enum reach_outcome reach_next(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    struct process *process = &sim->processes[index];
    *time_ns = process->now_ns + process->lead.ns;
    if (is_wait_of_stage(sim, process)) {
        if (!has_turn(sim, index, *time_ns)) return wait_for_turn(sim, index, *time_ns);
        stage_wait(sim, index, process->vertex, *time_ns);
        return REACH_AGAIN;
    }
    if (process->wait.state != ASK_NOT && !resource_has_wait_of(sim, process, time_ns)) return REACH_LATER;
    bool known = process->wait.state != ASK_NOT || find_time(sim, index, time_ns);
    if (sim->steals && process->wait.state == ASK_NOT && waits(sim, process) && stealing_may_help(sim, index)) {
        int64_t reached_ns = process->now_ns + process->lead.ns;
        if (!has_turn(sim, index, reached_ns)) return wait_for_turn(sim, index, reached_ns);
        stealing_help(sim, index);
        return REACH_AGAIN; // what found nothing wakes up otherwise
    }
    if (!known) {
        parking_wait(&sim->parking, index, process->awaits);
        return REACH_LATER;
    }
    if (!sim->shares || !process_computes(sim, index, time_ns)) return REACH_KNOWN;
    begin_to_compute(sim, index);
    return REACH_LATER;
}

static void go_on(struct simulation *sim, uint32_t index) {
    while (!sim->no_memory) {
        struct process *process = &sim->processes[index];
        int64_t time_ns;
        if (process->edge.state == EDGE_WAKES) {
            begin_to_compute(sim, index);
            return;
        }
        if (process->vertex == DAG_NONE) process->vertex = frame_next_vertex(sim, index);
        if (process->vertex == DAG_NONE) {
            finish(sim, index);
            return;
        }
        if (process->edge.state == EDGE_COMPUTED) {
            time_ns = process_computed_ns(sim, process);
        } else {
            enum reach_outcome outcome = reach_next(sim, index, &time_ns);
            if (outcome == REACH_AGAIN) continue;
            if (outcome == REACH_LATER) return;
        }
        process = &sim->processes[index]; // more may have been made
        if (process->carried) carrier_keep(sim, index, time_ns);
        bool in_turn = process->steal.blocked || needs_turn(sim, process) || frame_ends_theft(sim, process);
        if (in_turn && !has_turn(sim, index, time_ns)) {
            process->timed = true;
            event_put(&sim->events, NOTICE_TURN, index, time_ns);
            return;
        }
        process_step(sim, index, time_ns);
    }
}

void process_advance(struct simulation *sim, uint32_t index) {
    sim->advancing = index;
    go_on(sim, index);
    if (sim->processes[index].carried) carrier_settle(sim, index);
}

static void take_turn(struct simulation *sim, uint32_t index, int64_t now_ns) {
    sim->advancing = index;
    if (sim->processes[index].timed) process_step(sim, index, now_ns);
    process_advance(sim, index);
}

static void come_due(struct simulation *sim, uint32_t job, int64_t now_ns) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    if (unmade_comes(sim, job) || task->flags & TASK_OF_ACTOR)
        sim->dispatch[job] = (uint8_t)pool_offer(sim, DAG_NONE, job, now_ns);
    else if (dag_lacks_spawn(sim->dag->trace, task))
        initial_jobs_come(sim, job, now_ns);
    else
        delays_end(sim, job, now_ns);
}

static void fire(struct simulation *sim, struct notice notice) {
    sim->advancing = DAG_NONE;
    sim->clock_ns = notice.time_ns;
    switch (notice.type) {
    case NOTICE_DUE:
        come_due(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_RELEASE:
        resource_times_out(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_FREE:
        take_back(sim, notice.subject);
        break;
    case NOTICE_ARRIVAL:
        pool_arrive(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_IDLE:
        worker_idled_out(sim, notice.subject);
        break;
    case NOTICE_LIMIT:
        if (sim->processes[notice.subject].limited.noted)
            await_time_is_up(sim, notice.subject);
        else
            resource_limit(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_UNPIN:
        carrier_unpin(sim, notice.subject);
        break;
    default: // NOTICE_TURN
        take_turn(sim, notice.subject, notice.time_ns);
    }
}

static void end_computing(struct simulation *sim) {
    uint32_t index = cores_take(&sim->cores);
    if (index == NOTICE_NONE) return;
    struct process *process = &sim->processes[index];
    process->edge.state = EDGE_COMPUTED;
    sim->clock_ns = sim->cores.since_ns;
    process->edge.computed_ns =
        sim->clock_ns + max_ns(cores_least_ns(&sim->cores, index) - cores_moved_ns(&sim->cores, index), 0);
    uint32_t v = process->vertex;
    if (sim->calibrating && v < STEP_LEAST) sim->recorded.residuals[v].slowdown = sim->cores.shares[index].slowdown;
    process_advance(sim, index);
}

bool simulation_take_next(struct simulation *sim) {
    if (sim->cores.next_ns < event_next_ns(&sim->events)) {
        end_computing(sim);
        return true;
    }
    struct notice notice = event_take(&sim->events);
    if (notice.subject != NOTICE_NONE) fire(sim, notice);
    return notice.subject != NOTICE_NONE;
}
