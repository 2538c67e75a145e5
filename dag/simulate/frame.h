// SPDX-License-Identifier: GPL-3.0-or-later
// Frames: what a process runs, nested (struct frame).
#ifndef REHYPE_DAG_FRAME_H
#define REHYPE_DAG_FRAME_H

#include "dag/edit/move.h"
#include "dag/simulate/state.h"

// The last vertex that goes where a task's body goes. What a thread that no pool governs did behind it, stays there.
static inline uint32_t frame_last_of_body(const struct simulation *sim, uint32_t task) {
    const struct dag_task *of = &sim->dag->tasks[task];
    return pool_governs(sim, of->pool) || sim->sinks[task] ? of->tail : of->end;
}

static inline void frame_go_on(struct frame *frame, struct edit_move move) {
    frame->next = move.to;
    frame->since_ns = move.to_ns;
}

static inline struct frame frame_of_body(const struct simulation *sim, uint32_t task, enum frame_kind kind) {
    uint32_t start = sim->dag->tasks[task].start;
    return (struct frame){.task = task,
                          .next = start,
                          .end = frame_last_of_body(sim, task) + 1,
                          .link = DAG_NONE,
                          .since_ns = sim->dag->vertices.time_ns[start],
                          .kind = (uint8_t)kind};
}

static inline struct frame frame_of_job(const struct simulation *sim, uint32_t job, enum frame_kind kind) {
    if (!job_is_part(sim, job) && sim->dag->tasks[job].start == DAG_NONE) { // it was cancelled then, and is not now
        struct frame body = frame_of_body(sim, sim->body_of[job], FRAME_DONOR);
        body.task = job;
        body.link = sim->body_of[job];
        return body;
    }
    if (!job_is_part(sim, job)) {
        struct frame body = frame_of_body(sim, job, kind);
        body.staged = sim->edit->staged[job];
        return body;
    }
    return (struct frame){.task = job, .next = 0, .end = 2, .link = DAG_NONE, .kind = FRAME_PART};
}

// Whether the process's next vertex is the last of a body that a waiter stole.
static inline bool frame_ends_theft(const struct simulation *sim, const struct process *process) {
    const struct frame *frame = &sim->frames[process->frame];
    return frame->stolen && process->vertex + 1 == frame->end;
}

// Whether a coordinator in stages is in its own body, not in one that it runs for its pool: then its waits take no
// time.
static inline bool frame_is_in_stage(const struct frame *frame) {
    return frame->staged && frame->others == 0;
}

uint32_t frame_new(struct simulation *sim); // DAG_NONE: no memory
static inline bool frame_push(struct simulation *sim, uint32_t process, struct frame frame) {
    uint32_t index = frame_new(sim);
    if (index == DAG_NONE) return false;
    frame.outer = sim->processes[process].frame;
    sim->frames[index] = frame;
    sim->processes[process].frame = index;
    return true;
}

void frames_clear(struct simulation *sim);

#endif
