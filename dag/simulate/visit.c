// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/visit.h"

#include "dag/ns.h"
#include "dag/simulate/amortised.h"
#include "dag/simulate/awaits.h"
#include "dag/simulate/cancelled.h"
#include "dag/simulate/claims.h"
#include "dag/simulate/donors.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/mailbox.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/pipeline.h"
#include "dag/simulate/pool.h"
#include "dag/simulate/regroup.h"
#include "dag/simulate/resources.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/unmade.h"

// The task is dispatched otherwise than it was: its bracket takes what brackets of that kind do.
static void replace_bracket(struct simulation *sim, uint32_t process, uint32_t index, enum dispatch dispatch) {
    const struct dag_task *task = &sim->dag->tasks[index];
    struct frame *frame = &sim->frames[sim->processes[process].frame];
    int64_t bracket_ns = 0;
    if (bracket_is_own(sim->dag, index)) {
        bracket_leave_out(sim, index);
        bracket_ns = cost_of_bracket(sim, index, dispatch);
        frame->next = task->spawn_end;
        frame->since_ns = sim->dag->vertices.time_ns[task->spawn_end];
    }
    if (dispatch != DISPATCH_CALLER) {
        process_lead(sim, process, bracket_ns, true);
        return;
    }
    struct frame body = frame_of_job(sim, index, FRAME_CALLED);
    body.lead_after_ns = bracket_ns;
    if (frame_push(sim, process, body)) process_lead(sim, process, cost_of_pickup(sim, index, dispatch), true);
}

static inline __attribute__((always_inline)) void fetch_vertex(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    __builtin_prefetch(&vertices->time_ns[v]);
    __builtin_prefetch(&vertices->task[v]);
    __builtin_prefetch(&vertices->cause[v]);
    __builtin_prefetch(&vertices->kind[v]);
    __builtin_prefetch(&vertices->rule[v]);
    __builtin_prefetch(&sim->recorded.traits[v]);
    __builtin_prefetch(&sim->time_ns[v], 1);
    __builtin_prefetch(&sim->parking.first[v]);
}

// Tasks and bodies lie apart, so they are fetched ahead: the body of the task that the thread spawns next, what comes
// behind that spawn, and the task after that. Inlined early, or gcc takes this and fetch_vertex for functions without
// effect and leaves out the calls.
static inline __attribute__((always_inline)) void fetch(const struct simulation *sim, uint32_t task) {
    uint32_t next = sim->recorded.spawned_next[task];
    if (next == DAG_NONE) return;
    uint32_t later = sim->recorded.spawned_next[next], start = sim->dag->tasks[next].start,
             transition = sim->recorded.transition_after[next];
    if (later != DAG_NONE) {
        __builtin_prefetch(&sim->dag->tasks[later]);
        __builtin_prefetch(&sim->dag->tasks[later].tail);
    }
    __builtin_prefetch(&sim->recorded.transitions[transition ? transition - 1 : 0]);
    fetch_vertex(sim, sim->dag->tasks[next].spawn_begin);
    if (start == DAG_NONE) return;
    fetch_vertex(sim, start);
    __builtin_prefetch(&sim->time_ns[sim->dag->tasks[next].end], 1);
    __builtin_prefetch(&sim->dag->vertices.time_ns[sim->dag->tasks[next].end]);
}

static void pass_bracket(struct simulation *sim, uint32_t process, uint32_t index);

// What was cancelled before it began had been queued.
static bool queues_cancelled(const struct simulation *sim, uint32_t task, enum dispatch dispatch) {
    return dispatch == DISPATCH_QUEUED && sim->dag->tasks[task].start == DAG_NONE;
}

// An actor that joins another is not made; what was done and sent for that is gone.
static void drop(struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    sim->dispatch[index] = DISPATCH_NONE;
    for (uint32_t v = task->start; task->start != DAG_NONE && v <= task->end; v++) vertex_vanish(sim, v);
}

// What is sent, or made, of actors is no job of its pool as it was. false: it is.
static bool spawn_of_actor(struct simulation *sim, uint32_t process, uint32_t task) {
    if (sim->edit->actors_count == 0 || sim->dag->actor_of[task] == 0) return false;
    if (mailbox_follows(sim, process, task)) return true;
    if (!task_is_dropped(sim, task)) return false;
    drop(sim, task);
    return true;
}

static void spawn(struct simulation *sim, uint32_t process, uint32_t task, int64_t now_ns) {
    fetch(sim, task);
    if (spawn_of_actor(sim, process, task)) return;
    enum dispatch dispatch = pool_offer(sim, process, task, now_ns);
    sim->dispatch[task] = (uint8_t)dispatch;                      // who awaits one that is rejected waits for ever
    if (dispatch == DISPATCH_CALLER && sim->edit->staged[task]) { // its first stage is the spawner's after all
        sim->placement[task] = PLACEMENT_STAGED;
        pass_bracket(sim, process, task);
    } else if (dispatch != sim->dag->tasks[task].dispatch && !queues_cancelled(sim, task, dispatch))
        replace_bracket(sim, process, task, dispatch);
    else if (dispatch == DISPATCH_CALLER)
        sim->placement[task] = PLACEMENT_RECORDED;
}

static bool is_moved(const struct simulation *sim, uint32_t task) {
    return sim->placement[task] != PLACEMENT_RECORDED && sim->placement[task] < PLACEMENT_SPLIT;
}

// The bracket of a task that is handed over no more: the task runs here, or with those that it is merged with.
static void pass_bracket(struct simulation *sim, uint32_t process, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    struct frame *frame = &sim->frames[sim->processes[process].frame];
    frame_go_on(frame, move_leave(sim->dag, task));
    if (sim->placement[index] == PLACEMENT_MERGED) {
        process_pass_by(sim, process, task->spawn_end, sim->processes[process].now_ns, true);
        return;
    }
    struct frame body = frame_of_body(sim, index, FRAME_INLINED);
    body.staged = sim->placement[index] == PLACEMENT_STAGED;
    if (body.staged) body.kind = FRAME_STAGED;
    frame_push(sim, process, body);
}

// Results of a group are there when it ends, and a stage's waits are none.
static bool is_dropped(const struct simulation *sim, const struct process *process, uint32_t v, uint32_t task) {
    switch (sim->dag->vertices.kind[v]) {
    case VERTEX_START:
    case VERTEX_END:
        return task != DAG_NONE && sim->placement[task] == PLACEMENT_MERGED;
    case VERTEX_RESULT:
        return task != DAG_NONE && (sim->placement[task] == PLACEMENT_MERGED || ends_group(sim, task));
    case VERTEX_WAIT_BEGIN:
        return frame_is_in_stage(&sim->frames[process->frame]);
    default:
        return false;
    }
}

static void pass_vertex(struct simulation *sim, uint32_t index, uint32_t v, uint32_t task, int64_t time_ns) {
    bool dropped = is_dropped(sim, &sim->processes[index], v, task);
    if (dropped || (sim->dag->vertices.kind[v] == VERTEX_END && ends_group(sim, task)))
        process_pass_by(sim, index, v, time_ns, dropped);
    else
        process_pass(sim, index, v, time_ns);
}

static bool is_plain(const struct simulation *sim, uint32_t v) {
    unsigned traits = sim->recorded.traits[v];
    if (sim->saves && sim->saved_ns[v]) return false;
    if (!sim->moves || !(traits & TRAIT_PLAIN)) return traits & TRAIT_PLAIN;
    if (!(traits & TRAIT_OF_TASK)) return amortised_part(sim, v) == 0;
    uint32_t task = sim->dag->vertices.task[v];
    return !job_has_moved(sim, task) && !ends_group(sim, task);
}

// Passes the plain vertices behind one that the process has just passed, all with that one's offset.
static void skim(struct simulation *sim, uint32_t index) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    struct process *process = &sim->processes[index];
    struct frame *frame = &sim->frames[process->frame];
    struct passages *log = &sim->log[index];
    struct passage *last = log->count ? &log->items[log->count - 1] : NULL;
    uint32_t first = frame->next, v = first;
    bool behind = last && passage_is_left(sim, last) && last->source + last->count == first;
    if (!behind || process->lead.ns != 0) return;
    int64_t offset_ns = process->now_ns - frame->since_ns;
    uint32_t end = frame->end - frame->stolen; // its last has a turn to wait for
    for (; v < end && is_plain(sim, v); v++) {
        sim->time_ns[v] = time_ns[v] + offset_ns;
        if (sim->recorded.traits[v] & TRAIT_AWAITED) vertex_release(sim, v);
    }
    if (v == first) return;
    last->count += v - first;
    log->followers += v - first;
    sim->passed += v - first;
    frame->next = v;
    frame->since_ns = time_ns[v - 1];
    process->now_ns = frame->since_ns + offset_ns;
}

static bool does_as_donor(const struct simulation *sim, uint32_t index) {
    return sim->frames[sim->processes[index].frame].kind == FRAME_DONOR;
}

// What is passed in the place of a recorded vertex, or before it, brings along what the edge to that computed.
static void carry_edge(const struct simulation *sim, struct process *process, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (!process->has_edge) return;
    process->has_edge = false;
    if (vertices->compute_ns) process->lead.compute_ns += vertices->compute_ns[v];
    if (vertices->queued_ns) process->lead.queued_ns += vertices->queued_ns[v];
}

// A vertex of a resource, recorded so, comes as `kind` now.
static void pass_ask(struct simulation *sim, uint32_t index, uint32_t v, enum vertex_kind kind, int64_t time_ns) {
    if (does_as_donor(sim, index))
        donor_pass(sim, index, v, kind, time_ns);
    else
        process_pass_kind(sim, index, v, kind, time_ns);
}

// The end of a wait for a resource: it has it, or goes on without; or waits on, and comes to the same vertex again.
static void visit_end_of_wait(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    struct process *process = &sim->processes[index];
    struct frame *frame = &sim->frames[process->frame];
    uint32_t ask = process->wait.ask;
    if (!resource_settle(sim, index, time_ns)) {
        frame->next = v;
        return;
    }
    bool given_up = process->wait.state == ASK_GIVEN_UP;
    process->wait.state = ASK_NOT;
    pass_ask(sim, index, v, given_up ? VERTEX_GIVEN_UP : VERTEX_ACQUIRED, time_ns);
    if (given_up != sim->dag->asks[ask].given_up) donor_go_on(sim, index, ask);
}

static void visit_ask(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct process *process = &sim->processes[index];
    uint32_t ask = vertices->task[v];
    if (process->wait.state != ASK_NOT) {
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
        carry_edge(sim, process, v);
        process_pass_new(sim, index, VERTEX_ACQUIRE, ask, time_ns);
        sim->frames[process->frame].next = v;
    } else {
        pass_ask(sim, index, v, vertices->kind[v], time_ns); // the beginning of its wait was lost
    }
}

// A spawn that is none in this run, or not of one task. false: it is one.
static bool visit_moved_spawn(struct simulation *sim, uint32_t index, uint32_t v, uint32_t task, int64_t time_ns) {
    if (task == DAG_NONE || sim->dag->vertices.kind[v] != VERTEX_SPAWN_BEGIN) return false;
    if (sim->placement[task] == PLACEMENT_SPLIT) {
        parts_begin(sim, index, task, time_ns);
        return true;
    }
    if (!is_moved(sim, task)) return false;
    process_pass_by(sim, index, v, time_ns, true);
    pass_bracket(sim, index, task);
    if (pipeline_has(sim, task)) pipeline_put(sim, task, v, time_ns);
    return true;
}

// What others have to do with the vertex that was passed.
static void act_at(struct simulation *sim, uint32_t index, uint32_t v, uint32_t task, int64_t time_ns) {
    switch (sim->dag->vertices.kind[v]) {
    case VERTEX_SPAWN_BEGIN:
        if (task == DAG_NONE) {
            if (pipeline_thread_begun_by(sim, v) != DAG_NONE) pipeline_begin_thread(sim, v, time_ns);
            break;
        }
        if (sim->placement[task] == PLACEMENT_DISPATCHED) spawn(sim, index, task, time_ns);
        if (sim->edit->actors_count && sim->dag->tasks[task].flags & TASK_INIT) copies_begin(sim, index, task, time_ns);
        if (pipeline_has(sim, task)) pipeline_put(sim, task, v, time_ns);
        break;
    case VERTEX_START:
        if (ends_group(sim, task)) group_begin(sim, index, task);
        unmade_begins(sim, task, time_ns);
        break;
    case VERTEX_SHUTDOWN:
        if (pool_governs(sim, sim->recorded.pool_of_shutdown[v]))
            pool_shut_down(sim, sim->recorded.pool_of_shutdown[v], v, time_ns);
        break;
    default:
        break;
    }
}

static bool await_races_at(const struct simulation *sim, uint32_t index, uint32_t v) {
    return sim->races && sim->recorded.traits[v] & TRAIT_LIMITED && sim->processes[index].limited.outcome != AWAIT_OPEN;
}

static void visit(struct simulation *sim, uint32_t index, uint32_t v, int64_t time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct frame *frame = &sim->frames[sim->processes[index].frame];
    uint32_t task = dag_task_of(vertices, v);
    bool donated = frame->kind == FRAME_DONOR;
    frame->next = v + 1;
    frame->since_ns = vertices->time_ns[v];
    if (frame->staged && task != frame->task)
        frame->others += (vertices->kind[v] == VERTEX_START) - (uint32_t)(vertices->kind[v] == VERTEX_END);
    if (donated) carry_edge(sim, &sim->processes[index], v);
    if (sim->grants && sim->had_count > 0) resource_had(sim, index, v, time_ns);
    if (sim->grants && vertex_is_of_resource(vertices->kind[v])) {
        visit_ask(sim, index, v, time_ns);
        return;
    }
    bool races = await_races_at(sim, index, v);
    if (donated) {
        donor_pass(sim, index, v, vertices->kind[v], time_ns);
        if (races) await_settle(sim, index, v);
        return;
    }
    if (visit_moved_spawn(sim, index, v, task, time_ns)) return;
    bool settles = sim->races && sim->recorded.traits[v] & TRAIT_CANCELS;
    if (settles && vertices->kind[v] == VERTEX_RESULT && !cancelled_now(sim, task)) {
        process_pass_by(sim, index, v, time_ns, true);
        return;
    }
    pass_vertex(sim, index, v, task, time_ns);
    if (settles && vertices->kind[v] == VERTEX_END) cancelled_complete(sim, index, task, time_ns);
    if (races) await_settle(sim, index, v);
    if (sim->processes[index].steal.blocked) stealing_unblock(sim, index);
    act_at(sim, index, v, task, time_ns);
    if (sim->skims) skim(sim, index);
}

void process_step(struct simulation *sim, uint32_t index, int64_t time_ns) {
    struct process *process = &sim->processes[index];
    uint32_t v = process->vertex;
    if (sim->shares && process->edge.state == EDGE_COMPUTED) {
        process->lead.queued_ns +=
            max_ns(process->edge.computed_ns - process->edge.joins_ns - process->edge.compute_ns, 0);
        process->lead.compute_ns = process->edge.compute_ns;
    } else if (!sim->shares && v < STEP_LEAST) {
        struct amortised amortised = amortised_of_edge(sim, process);
        process->has_edge = sim->dag->vertices.time_ns[v] != sim->frames[process->frame].since_ns;
        process->lead.compute_ns -= amortised.compute_ns;
        process->lead.queued_ns -= amortised.queued_ns;
    }
    process->edge.state = EDGE_AHEAD;
    process->timed = false;
    process->now_ns = time_ns;
    process->lead.ns = 0;
    process->vertex = DAG_NONE;
    if (v == STEP_CLAIM)
        claim_step(sim, index);
    else if (v >= STEP_LEAST)
        part_step(sim, index, v, time_ns);
    else
        visit(sim, index, v, time_ns);
}
