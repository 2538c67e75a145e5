// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/advance.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/carriers.h"
#include "dag/simulate/computing.h"
#include "dag/simulate/delays.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/next_vertex.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/regroup.h"
#include "dag/simulate/resources.h"
#include "dag/simulate/savings.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/visit.h"
#include "dag/simulate/worker.h"

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
           event_precedes(&sim->events, NOTICE_TURN, strand, time_ns);
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
        event_put(&sim->events, NOTICE_FREE, index, strand->now_ns);
}

// In order of time, since it takes from what others get.
static void begin_to_compute(struct simulation *sim, uint32_t index) {
    struct strand *strand = &sim->strands[index];
    strand->edge = EDGE_WAKES;
    if (!has_turn(sim, index, strand->joins_ns)) {
        event_put(&sim->events, NOTICE_TURN, index, strand->joins_ns);
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
    event_put(&sim->events, NOTICE_TURN, index, time_ns);
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

void strand_advance(struct simulation *sim, uint32_t index) {
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
            event_put(&sim->events, NOTICE_TURN, index, time_ns);
            return;
        }
        strand_step(sim, index, time_ns);
    }
}

static void take_turn(struct simulation *sim, uint32_t index, int64_t now_ns) {
    sim->advancing = index;
    if (sim->strands[index].timed) strand_step(sim, index, now_ns);
    strand_advance(sim, index);
}

static void fire(struct simulation *sim, struct notice notice) {
    sim->advancing = DAG_NONE;
    switch (notice.type) {
    case NOTICE_DUE:
        delays_end(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_RELEASE:
        resource_times_out(sim, notice.subject, notice.time_ns);
        break;
    case NOTICE_FREE:
        pool_take_back(sim, notice.subject);
        break;
    case NOTICE_ARRIVAL: {
        bool steals = stealing_governs(sim, sim->strands[notice.subject].pool);
        (steals ? stealing_arrive : pool_arrive)(sim, notice.subject, notice.time_ns);
        break;
    }
    case NOTICE_IDLE:
        worker_idled_out(sim, notice.subject);
        break;
    case NOTICE_LIMIT:
        resource_limit(sim, notice.subject, notice.time_ns);
        break;
    default: // NOTICE_TURN
        take_turn(sim, notice.subject, notice.time_ns);
    }
}

static bool goes_on_computing(const struct strand *strand, int64_t now_ns) {
    return strand->edge == EDGE_COMPUTES || (strand->edge == EDGE_WAKES && strand->joins_ns <= now_ns);
}

static void end_computing(struct simulation *sim) {
    uint32_t index = cores_take(&sim->cores);
    if (index == NOTICE_NONE) return;
    struct strand *strand = &sim->strands[index];
    strand->edge = EDGE_COMPUTED;
    strand->computed_ns = sim->cores.since_ns;
    uint32_t v = strand->kept_from == DAG_NONE ? strand->vertex : strand->kept_from;
    if (sim->rehearses && v < STEP_LEAST) sim->luck[v].crowding = sim->cores.shares[index].crowding;
    int64_t now_ns = strand->computed_ns;
    strand_advance(sim, index);
    if (sim->strands[index].carried && !goes_on_computing(&sim->strands[index], now_ns))
        carrier_give_back(sim, index, now_ns);
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
