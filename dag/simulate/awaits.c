// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for results that have a time limit. The limit is a notice in the event list, and races the result: where both
// come at one time, the result counts. Where that comes out otherwise than recorded the task goes on as another of its
// site did that had this outcome (donors.c). Without one it goes on as recorded; where it gave up so, what else it
// awaits of the tasks that it had made by then it does not wait for any more, since an exception took it from there.
#include "dag/simulate/awaits.h"

#include "dag/ns.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/cancelled.h"
#include "dag/simulate/donors.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/passage.h"

#include <stdlib.h>

bool awaits_new(struct simulation *sim) {
    sim->await_outcomes = malloc((size_t)sim->dag->await_count + 1);
    return sim->await_outcomes;
}

void awaits_free(struct simulation *sim) {
    free(sim->await_outcomes);
}

void awaits_begin_run(struct simulation *sim) {
    sim->races = sim->model != MODEL_DAG && sim->dag->await_count > 0;
    sim->outcomes_alone = 0;
    for (uint32_t i = 0; i < sim->dag->await_count; i++) sim->await_outcomes[i] = AWAIT_OPEN;
}

// ---- the race

uint32_t await_cause(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex;
    const struct frame *frame = &sim->frames[process->frame];
    if (!sim->races || vertices->kind[v] != VERTEX_WAIT_END || vertices->task[v] == DAG_NONE)
        return dag_awaited_by(vertices, v);
    if (vertices->cause[v] == DAG_NONE && !await_races(sim, process)) return DAG_NONE;
    uint32_t task = vertices->task[v];
    if (frame->kind == FRAME_DONOR) return sim->dag->tasks[donor_task_named(sim, frame, task)].result;
    return vertices->cause[v] == DAG_NONE ? sim->dag->tasks[task].result : vertices->cause[v];
}

uint32_t await_cause_of_stage(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    bool gave_up = sim->races && sim->recorded.traits[v] & TRAIT_LIMITED && vertices->cause[v] == DAG_NONE;
    if (!gave_up) return vertices->cause[v];
    uint32_t task = vertices->task[v];
    bool comes = sim->dag->tasks[task].start != DAG_NONE || cancelled_body_of(sim, task) != DAG_NONE;
    return comes ? sim->dag->tasks[task].result : DAG_NONE;
}

bool await_races(const struct simulation *sim, const struct process *process) {
    uint32_t v = process->vertex;
    if (!sim->races || v >= STEP_LEAST || !(sim->recorded.traits[v] & TRAIT_LIMITED)) return false;
    const struct dag_task *task = &sim->dag->tasks[sim->dag->vertices.task[v]];
    return task->result != DAG_NONE && !stealing_governs(sim, task->pool) &&
           !frame_is_in_stage(&sim->frames[process->frame]);
}

static const struct dag_await *await_of(const struct simulation *sim, const struct process *process) {
    return &sim->dag->awaits[dag_await_at(sim->dag, process->vertex)];
}

// Whether an exception took the process from where it would wait: it gave up, and nothing tells what comes then.
static bool is_adrift(const struct simulation *sim, const struct process *process) {
    const struct dag *dag = sim->dag;
    uint32_t gave_up = sim->frames[process->frame].gave_up;
    if (gave_up == 0) return false;
    uint32_t spawn = dag->tasks[dag->vertices.task[process->vertex]].spawn_begin;
    uint32_t body = donor_task_at(sim, dag_await_at(dag, gave_up));
    return body != DAG_NONE && dag->tasks[body].start < spawn && spawn < gave_up &&
           process->vertex < dag->tasks[body].end;
}

// The wait began where the process is now, unless it has helped others with something since.
static int64_t begun_ns(const struct simulation *sim, const struct process *process) {
    uint32_t begin = await_of(sim, process)->begin;
    bool own = sim->frames[process->frame].kind != FRAME_DONOR && begin + 1 != process->vertex;
    return own && sim->time_ns[begin] != DAG_ABSENT ? sim->time_ns[begin] : process->now_ns;
}

enum await_outcome await_look(struct simulation *sim, uint32_t index, uint32_t cause) {
    struct process *process = &sim->processes[index];
    struct process_limit *limit = &process->limited;
    if (limit->noted) event_remove(&sim->events, SUBJECT_PROCESS, index);
    limit->noted = false;
    limit->up_ns =
        is_adrift(sim, process) ? process->now_ns : begun_ns(sim, process) + await_of(sim, process)->limit_ns;
    int64_t cause_ns = sim->time_ns[cause];
    if (cause_ns <= limit->up_ns) {
        limit->outcome = AWAIT_CAME;
    } else if (cause_ns != DAG_PENDING || limit->is_up || limit->up_ns <= process->now_ns) {
        limit->outcome = AWAIT_GAVE_UP;
    } else {
        limit->noted = true;
        event_put(&sim->events, NOTICE_LIMIT, index, limit->up_ns);
        return AWAIT_OPEN;
    }
    return limit->outcome;
}

int64_t await_ends_ns(const struct simulation *sim, const struct process *process, uint32_t cause) {
    const struct dag_await *await = await_of(sim, process);
    const int64_t *then_ns = sim->dag->vertices.time_ns;
    int64_t reached_ns = process->now_ns + process->lead.ns, wakeup_ns = sim->dag->wakeup_ns;
    bool came = process->limited.outcome == AWAIT_CAME;
    int64_t woken_ns = came ? sim->time_ns[cause] : process->limited.up_ns;
    if (woken_ns <= process->now_ns) return reached_ns;
    if (await->given_up && !came) wakeup_ns = max_ns(then_ns[await->end] - then_ns[await->begin] - await->limit_ns, 0);
    return max_ns(reached_ns, woken_ns) + wakeup_ns;
}

void await_time_is_up(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    parking_leave(&sim->parking, index, process->awaits);
    process->awaits = DAG_NONE;
    process->limited.noted = false;
    process->limited.is_up = true;
    process_make_ready(sim, index);
}

void await_settle(struct simulation *sim, uint32_t index, uint32_t v) {
    struct process *process = &sim->processes[index];
    uint32_t await = dag_await_at(sim->dag, v), point = sim->dag->ask_count + await;
    bool gave_up = process->limited.outcome == AWAIT_GAVE_UP;
    if (sim->frames[process->frame].kind != FRAME_DONOR) sim->await_outcomes[await] = process->limited.outcome;
    process->limited = (struct process_limit){0};
    if (gave_up == sim->dag->awaits[await].given_up) return;
    if (donor_is_there(sim, index, point)) {
        donor_go_on(sim, index, point);
        return;
    }
    sim->outcomes_alone++;
    struct frame *frame = &sim->frames[process->frame];
    if (gave_up && frame->gave_up == 0) frame->gave_up = v;
}
