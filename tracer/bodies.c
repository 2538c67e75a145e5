// SPDX-License-Identifier: Apache-2.0
#include "tracer/bodies.h"

#include "tracer/calling.h"
#include "tracer/registry.h"
#include "tracer/resources.h"
#include "tracer/running.h"

void bodies_begin(struct thread_state *state, uint64_t task, unsigned kind) {
    struct task_frame *frame = bodies_top(state);
    if (task == 0 || (frame && frame->task == task)) {
        if (frame) frame->nested++;
        return;
    }
    if (!thread_state_enter(state, task)) return;
    calling_executed(state, task);
    record_boundary(state, kind, task, 0);
}

void bodies_begin_of_actor(struct thread_state *state, uint64_t message, uint64_t actor) {
    struct task_frame *frame = thread_state_enter(state, message);
    if (!frame) return;
    frame->actor = actor;
    if (message == actor)
        record_boundary(state, EVENT_INIT_BEGIN, actor, 0);
    else
        record_boundary(state, EVENT_MESSAGE_BEGIN, message, actor);
}

void bodies_begin_unseen(struct thread_state *state) {
    if (running_asks(state)) return; // an event of its queue's: it has no task yet
    uint64_t task = task_id_new(state);
    registry_running(task);
    record1(state, EVENT_BUSY, state->idle_pool);
    state->takes = false;
    struct task_frame *frame = thread_state_enter(state, task);
    if (!frame) return;
    frame->begun_before = true;
    record_boundary(state, EVENT_TASK_START, task, 0);
}

void bodies_begin_nothing(struct thread_state *state) {
    thread_state_enter(state, 0);
}

static unsigned end_of(const struct task_frame *frame) {
    if (!frame->actor) return EVENT_TASK_END;
    return frame->actor == frame->task ? EVENT_INIT_END : EVENT_MESSAGE_END;
}

static void close_top(struct thread_state *state, const struct task_frame *frame) {
    if (state->wants || state->hold_count) resources_task_ends(state);
    if (frame->task) record_boundary(state, end_of(frame), frame->task, frame->outcome);
    thread_state_leave(state);
}

void bodies_end(struct thread_state *state) {
    struct task_frame *frame = bodies_top(state);
    if (!frame) {
        if (state->tasks > 0) state->tasks--;
    } else if (frame->nested) {
        frame->nested--;
    } else {
        close_top(state, frame);
    }
}

void bodies_end_by_exception(struct thread_state *state) {
    struct task_frame *frame = bodies_top(state);
    if (frame && frame->nested == 0) frame->outcome = TASK_THREW;
    bodies_end(state);
}

void bodies_end_all(struct thread_state *state, bool threw) {
    while (state->tasks > 0) {
        struct task_frame *frame = bodies_top(state);
        if (frame) {
            frame->nested = 0;
            if (threw && !frame->begun_before) frame->outcome = TASK_THREW;
        }
        bodies_end(state);
    }
}

void bodies_end_what_it_left(struct thread_state *state) {
    const struct task_frame *frame = bodies_top(state);
    if (!frame || !frame->begun_before || !state->worker || !running_asks(state)) return;
    bodies_end_all(state, false);
    state->was_idle = true; // its next task may begin unseen, too
    state->takes = state->stage;
    record1(state, EVENT_IDLE, state->idle_pool);
}
