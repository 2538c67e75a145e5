// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/next_vertex.h"

#include "dag/edit/chain.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/claims.h"
#include "dag/simulate/deferred.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/regroup.h"
#include "dag/simulate/stealing.h"

static void pop(struct simulation *sim, uint32_t process) {
    uint32_t index = sim->processes[process].frame;
    struct frame frame = sim->frames[index];
    sim->processes[process].frame = frame.outer;
    sim->frames[index].outer = sim->unused_frame;
    sim->unused_frame = index;
    process_lead(sim, process, frame.lead_after_ns, true);
    if (frame.stolen) sim->processes[process].steal.stolen_from = frame.stolen_from;
    bool to_bracket = frame.kind == FRAME_INLINED || (frame.kind == FRAME_STAGED && !frame.left);
    if (to_bracket) {
        process_pass_by(sim, process, sim->dag->tasks[frame.task].spawn_end, sim->processes[process].now_ns, true);
    } else if (frame.kind == FRAME_MEMBER) {
        group_go_on(sim, process, frame.task);
    } else if (frame.kind != FRAME_THREAD && frame.kind < FRAME_DONOR && ends_group(sim, frame.task)) {
        group_end(sim, process, frame.task);
    }
}

// Over a body that is somebody else's now, and its pick-up. What looked for it while it waited does so no more.
static void skip(struct simulation *sim, struct process *process, struct frame *frame, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    struct edit_move move = move_skip(sim->dag, task, frame_last_of_body(sim, index), frame->since_ns);
    bool found = sim->recorded.helped[index] && stealing_governs(sim, task->pool);
    if (!found) process->lead.ns += move.from_ns - frame->since_ns;
    frame_go_on(frame, move);
}

// It was not when recorded, though times without the tracer's cost may have it so by less than the wait took.
bool process_finds_result(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    const int64_t *then_ns = vertices->time_ns;
    uint32_t v = process->vertex, cause = dag_awaited_by(vertices, v);
    if (cause == DAG_NONE || vertices->task[v] == DAG_NONE || vertices->kind[v] != VERTEX_WAIT_END) return false;
    if (v == 0 || vertices->kind[v - 1] != VERTEX_WAIT_BEGIN) return false; // which may have been lost
    int64_t cause_ns = sim->time_ns[cause];
    if (cause_ns == DAG_PENDING || cause_ns == DAG_ABSENT || cause_ns > process->now_ns) return false;
    int64_t earlier_ns = process->now_ns - cause_ns - (then_ns[v - 1] - then_ns[cause]);
    return earlier_ns > then_ns[v] - then_ns[v - 1];
}

// A body that was deferred to a wait runs there as it would have where it was recorded: it has to await its spawn.
static bool push_deferred(struct simulation *sim, uint32_t process, const struct frame *frame) {
    bool in_wait = frame->next > 0 && sim->dag->vertices.kind[frame->next - 1] == VERTEX_WAIT_BEGIN;
    uint32_t task = in_wait ? deferred_take(sim, frame->next - 1) : DAG_NONE;
    if (task == DAG_NONE) return false;
    struct frame body = frame_of_body(sim, task, FRAME_SUNK);
    body.task = DAG_NONE;
    body.link = task;
    body.next = sim->dag->tasks[task].pickup;
    body.since_ns = sim->dag->vertices.time_ns[body.next - 1];
    return frame_push(sim, process, body);
}

static uint32_t step_of(const struct frame *frame) {
    if (frame->kind == FRAME_PART) return frame->next ? STEP_PART_END : STEP_PART_START;
    return frame->begun ? STEP_SPAWNED : STEP_SPAWN;
}

uint32_t frame_next_vertex(struct simulation *sim, uint32_t index) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    while (!sim->no_memory) {
        struct process *process = &sim->processes[index];
        if (process->stages != DAG_NONE) stages_resume(sim, index);
        if (process->frame == DAG_NONE) return DAG_NONE;
        struct frame *frame = &sim->frames[process->frame];
        if (frame->next == frame->end) {
            pop(sim, index);
            continue;
        }
        process->entered = false;
        if (frame->kind >= FRAME_PART) return step_of(frame);
        if (sim->deferred_count && push_deferred(sim, index, frame)) continue;
        uint32_t v = frame->next, kind = vertices->kind[v], task = vertices->task[v];
        if (claim_is_due(sim, frame)) return STEP_CLAIM;
        process->entered = frame->kind == FRAME_DONOR && kind == VERTEX_START;
        if (process->entered) return v;
        if (!chain_may_move(kind) || kind == VERTEX_SPAWN_BEGIN || task == DAG_NONE) return v;
        bool sank = sim->deferred_count && sim->sinks[task] && !(frame->kind == FRAME_SUNK && frame->link == task);
        if (sank || (task != frame->task && sim->placement[task] != PLACEMENT_RECORDED)) {
            skip(sim, process, frame, task);
            continue;
        }
        process->entered = task == frame->task && kind == VERTEX_START;
        return v;
    }
    return DAG_NONE;
}
