// SPDX-License-Identifier: GPL-3.0-or-later
// How tasks that an edit regroups run: merged ones one after the other, split ones in parts, coordinators in stages.
#include "dag/simulate/regroup.h"

#include "dag/simulate/awaits.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/jobs.h"
#include "dag/simulate/part_costs.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/pipeline.h"
#include "dag/simulate/pool.h"

#include <stdlib.h>
#include <string.h>

bool regroup_new(struct simulation *sim) {
    size_t tasks = (size_t)sim->dag->task_count + 1;
    sim->regroup.group_first = malloc(tasks * sizeof *sim->regroup.group_first);
    sim->regroup.parts_left = calloc(tasks, sizeof *sim->regroup.parts_left);
    sim->regroup.first_stage = malloc(((size_t)sim->dag->vertex_count + 1) * sizeof *sim->regroup.first_stage);
    if (!sim->regroup.group_first || !sim->regroup.parts_left || !sim->regroup.first_stage) return false;
    for (uint32_t t = 0; t < sim->dag->task_count; t++) sim->regroup.group_first[t] = DAG_NONE;
    for (uint32_t v = 0; v < sim->dag->vertex_count; v++) sim->regroup.first_stage[v] = DAG_NONE;
    return true;
}

void regroup_free(struct simulation *sim) {
    free(sim->regroup.group_first);
    free(sim->regroup.parts_left);
    free(sim->regroup.first_stage);
}

// Each group's first member is the one that follows none.
static void find_groups(struct simulation *sim) {
    const uint32_t *next = sim->edit->merged_next;
    uint32_t count = sim->dag->task_count;
    for (uint32_t t = 0; t < count; t++) sim->regroup.group_first[t] = next[t] == DAG_NONE ? DAG_NONE : t;
    for (uint32_t t = 0; t < count; t++) {
        if (next[t] != DAG_NONE && next[t] != t) sim->regroup.group_first[next[t]] = DAG_NONE;
    }
    for (uint32_t t = 0; t < count; t++) {
        if (sim->regroup.group_first[t] != t || next[t] == t) continue;
        uint32_t last = t;
        while (next[last] != last) last = next[last];
        sim->regroup.group_first[t] = DAG_NONE;
        sim->regroup.group_first[last] = t;
    }
}

void regroup_begin_run(struct simulation *sim) {
    sim->job_count = sim->dag->task_count;
    sim->regroup.stages_left = 0;
    if (sim->edit->merged_count || sim->regroup.had_groups) find_groups(sim);
    sim->regroup.had_groups = sim->edit->merged_count;
    if (sim->edit->parts_count)
        memcpy(sim->regroup.parts_left, sim->edit->parts, sim->dag->task_count * sizeof(uint32_t));
    if (sim->edit->parts_count) part_costs_begin_run(sim);
}

// ---- groups

static void push_member(struct simulation *sim, uint32_t process, uint32_t task) {
    frame_push(sim, process, frame_of_body(sim, task, FRAME_MEMBER));
}

// On a recorded thread the body of the one that ends the group gets a frame of its own, whose end is the group's.
void group_begin(struct simulation *sim, uint32_t process, uint32_t task) {
    struct frame *around = &sim->frames[sim->processes[process].frame];
    if (around->task != task) {
        struct frame body = frame_of_body(sim, task, FRAME_GROUP);
        body.next = around->next;
        around->next = body.end;
        around->since_ns = sim->dag->vertices.time_ns[body.end - 1];
        if (!frame_push(sim, process, body)) return;
    }
    push_member(sim, process, sim->regroup.group_first[task]);
}

void group_go_on(struct simulation *sim, uint32_t process, uint32_t member) {
    uint32_t next = sim->edit->merged_next[member];
    if (sim->edit->merged_next[next] != next) push_member(sim, process, next);
}

static void give_result(struct simulation *sim, uint32_t process, uint32_t task) {
    uint32_t result = sim->dag->tasks[task].result;
    int64_t now_ns = sim->processes[process].now_ns;
    if (result == DAG_NONE) return;
    process_pass_new(sim, process, VERTEX_RESULT, task, now_ns);
    vertex_set(sim, process, result, now_ns);
}

// Stages that await the first member are to go on first: they are taken over newest first. Members end with the group.
static void give_results(struct simulation *sim, uint32_t process, uint32_t member) {
    for (;; member = sim->edit->merged_next[member]) {
        give_result(sim, process, member);
        vertex_set(sim, process, sim->dag->tasks[member].end, sim->processes[process].now_ns);
        if (sim->edit->merged_next[member] == member) return;
    }
}

void group_end(struct simulation *sim, uint32_t process, uint32_t task) {
    give_results(sim, process, sim->regroup.group_first[task]);
}

// ---- parts

// What the edges to the vertices in (from, to] computed, and waited for cores.
static void sum_edges(const struct simulation *sim, uint32_t from, uint32_t to, int64_t *compute_ns,
                      int64_t *queued_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    *compute_ns = *queued_ns = 0;
    for (uint32_t v = from + 1; v <= to && vertices->compute_ns; v++) {
        *compute_ns += vertices->compute_ns[v];
        if (vertices->queued_ns) *queued_ns += vertices->queued_ns[v];
    }
}

static void lead_through_part(struct simulation *sim, uint32_t process, uint32_t job) {
    const struct part_body body = part_costs_body(sim, job);
    sim->processes[process].lead.ns = body.ns;
    sim->processes[process].lead.compute_ns += body.compute_ns;
    sim->processes[process].lead.queued_ns += body.queued_ns;
}

// When the last part has ended, so has the task; and whatever else was brought about in it is.
static void end_part(struct simulation *sim, uint32_t process, uint32_t task) {
    const struct dag_task *whole = &sim->dag->tasks[task];
    if (!sim->edit->parts[task]) return;
    if (--sim->regroup.parts_left[task] > 0) return;
    for (uint32_t v = whole->start + 1; v <= whole->tail; v++) {
        bool others = sim->dag->vertices.kind[v] == VERTEX_RESULT && sim->dag->vertices.task[v] != task;
        if (others) process_pass(sim, process, v, sim->processes[process].now_ns);
    }
    give_result(sim, process, task);
    vertex_set(sim, process, whole->end, sim->processes[process].now_ns);
}

// The recorded bracket computes what it did; of others it is not known that they sleep.
static void lead_through_bracket(struct simulation *sim, uint32_t process, uint32_t job, enum dispatch dispatch) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    int64_t bracket_ns = cost_of_bracket(sim, job, dispatch), compute_ns, queued_ns;
    bool measured = sim->dag->vertices.compute_ns && is_as_recorded(sim, job, dispatch);
    process_lead(sim, process, bracket_ns, !measured);
    if (!measured) return;
    sum_edges(sim, task->spawn_begin, task->spawn_end, &compute_ns, &queued_ns);
    sim->processes[process].lead.compute_ns += compute_ns;
}

// The first part is spawned where the task was.
static void spawn_part(struct simulation *sim, uint32_t process, int64_t time_ns) {
    struct frame *frame = &sim->frames[sim->processes[process].frame];
    uint32_t task = frame->task, number = frame->next, job = job_add(sim, task, number);
    if (job == DAG_NONE) return;
    frame->begun = true;
    frame->since_ns = job;
    if (number == 0)
        process_pass_as(sim, process, sim->dag->tasks[task].spawn_begin, job, time_ns);
    else
        process_pass_new(sim, process, VERTEX_SPAWN_BEGIN, job, time_ns);
    enum dispatch dispatch = pool_offer(sim, process, job, time_ns);
    sim->dispatch[job] = (uint8_t)dispatch;
    if (dispatch != DISPATCH_CALLER) {
        lead_through_bracket(sim, process, job, dispatch);
        return;
    }
    struct frame body = frame_of_job(sim, job, FRAME_CALLED);
    body.lead_after_ns = cost_of_bracket(sim, job, dispatch);
    if (frame_push(sim, process, body)) process_lead(sim, process, cost_of_pickup(sim, job, dispatch), true);
}

void parts_begin(struct simulation *sim, uint32_t process, uint32_t task, int64_t time_ns) {
    const struct dag_task *whole = &sim->dag->tasks[task];
    struct frame *around = &sim->frames[sim->processes[process].frame];
    bracket_leave_out(sim, task);
    around->next = whole->spawn_end + 1;
    around->since_ns = sim->dag->vertices.time_ns[whole->spawn_end];
    const struct frame parts = {
        .task = task, .next = 0, .end = sim->edit->parts[task], .link = DAG_NONE, .kind = FRAME_PARTS};
    if (frame_push(sim, process, parts)) spawn_part(sim, process, time_ns);
}

// Each copy of an actor is made where the actor was, and initialised as that.
void copies_begin(struct simulation *sim, uint32_t process, uint32_t init, int64_t time_ns) {
    const uint32_t copies = sim->edit->actors[sim->dag->actor_of[init]].copies;
    for (uint32_t copy = 1; copy < copies; copy++) {
        uint32_t job = job_add(sim, init, copy);
        if (job == DAG_NONE) return;
        process_pass_new(sim, process, VERTEX_SPAWN_BEGIN, job, time_ns);
        sim->dispatch[job] = (uint8_t)pool_offer(sim, process, job, time_ns);
    }
}

// The last bracket's end is that of the task's.
static void end_bracket(struct simulation *sim, uint32_t process, struct frame *frame, int64_t time_ns) {
    const struct dag_task *whole = &sim->dag->tasks[frame->task];
    uint32_t job = (uint32_t)frame->since_ns;
    frame->begun = false;
    if (++frame->next == frame->end && whole->spawn_end != whole->spawn_begin)
        process_pass_as(sim, process, whole->spawn_end, job, time_ns);
    else
        process_pass_new(sim, process, VERTEX_SPAWN_END, job, time_ns);
    if (frame->next == frame->end && pipeline_has(sim, frame->task))
        pipeline_put(sim, frame->task, whole->spawn_begin, time_ns);
}

void part_step(struct simulation *sim, uint32_t process, uint32_t step, int64_t time_ns) {
    struct frame *frame = &sim->frames[sim->processes[process].frame];
    uint32_t job = frame->task;
    switch (step) {
    case STEP_PART_START:
        frame->next = 1;
        process_pass_new(sim, process, VERTEX_START, job, time_ns);
        lead_through_part(sim, process, job);
        break;
    case STEP_PART_END:
        frame->next = 2;
        process_pass_new(sim, process, VERTEX_END, job, time_ns);
        end_part(sim, process, job_task(sim, job));
        break;
    case STEP_SPAWN:
        spawn_part(sim, process, time_ns);
        break;
    default: // STEP_SPAWNED
        end_bracket(sim, process, frame, time_ns);
    }
}

// ---- stages

// The coordinator's task ends for its worker, or for the waiter that helped with it.
static void end_first_stage(struct simulation *sim, uint32_t index, struct frame *frame) {
    struct process *process = &sim->processes[index];
    sim->placement[frame->task] = PLACEMENT_LEFT;
    process_pass_new(sim, index, VERTEX_END, frame->task, process->now_ns);
    process_lead(sim, index, frame->lead_after_ns, false);
    if (frame->stolen) process->steal.stolen_from = frame->stolen_from;
    frame->lead_after_ns = 0;
    frame->stolen = false;
    frame->kind = FRAME_STAGED;
}

// The coordinator leaves the process, which goes on with what is around it.
static void leave_stage(struct simulation *sim, uint32_t index, uint32_t awaited) {
    struct process *process = &sim->processes[index];
    uint32_t stage = process->frame;
    struct frame *frame = &sim->frames[stage];
    process->frame = frame->outer;
    if (frame->kind != FRAME_STAGED) {
        end_first_stage(sim, index, frame);
    } else if (!frame->left) {
        process_pass_by(sim, index, sim->dag->tasks[frame->task].spawn_end, process->now_ns, true);
    }
    frame->left = frame->parked = true;
    frame->link = sim->regroup.first_stage[awaited];
    sim->regroup.first_stage[awaited] = stage;
    sim->regroup.stages_left++;
}

void stage_wait(struct simulation *sim, uint32_t index, uint32_t wait_end, int64_t time_ns) {
    struct process *process = &sim->processes[index];
    struct frame *frame = &sim->frames[process->frame];
    uint32_t cause = await_cause_of_stage(sim, wait_end);
    process->now_ns = time_ns;
    process->lead.ns = 0;
    process->vertex = DAG_NONE;
    process->lead.compute_ns = process->lead.queued_ns = 0;
    process->lead.residual.more_ns = 0;
    frame->next = wait_end + 1;
    frame->since_ns = sim->dag->vertices.time_ns[wait_end];
    sim->time_ns[wait_end] = time_ns;
    if (cause != DAG_NONE && sim->time_ns[cause] == DAG_PENDING)
        leave_stage(sim, index, cause);
    else
        process_pass_by(sim, index, wait_end, time_ns, true);
}

void stages_resume(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    for (uint32_t stage = process->stages, next; stage != DAG_NONE; stage = next) {
        next = sim->frames[stage].link;
        sim->frames[stage].link = DAG_NONE;
        sim->frames[stage].parked = false;
        sim->frames[stage].outer = process->frame;
        process->frame = stage;
        sim->regroup.stages_left--;
    }
    process->stages = DAG_NONE;
}
