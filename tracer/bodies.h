// SPDX-License-Identifier: Apache-2.0
// The bodies that are open on a thread: of tasks, of messages that an actor handles, of actors that are initialised.
// Each is recorded as it begins and as it ends; wrappers, recursion and bodies that are folded only nest.
#ifndef REHYPE_TRACER_BODIES_H
#define REHYPE_TRACER_BODIES_H

#include "tracer/tracer.h"

// The innermost; NULL: none is open, or there was no memory for it.
static inline struct task_frame *bodies_top(struct thread_state *state) {
    return state->tasks > 0 && state->tasks <= state->task_capacity ? &state->task[state->tasks - 1] : NULL;
}

// A task's; `kind` is the event that tells it. 0, and the innermost body's own task, nest.
void bodies_begin(struct thread_state *state, uint64_t task, unsigned kind);

// Of an actor: it handles a message, or, where that is the actor itself, is initialised.
void bodies_begin_of_actor(struct thread_state *state, uint64_t message, uint64_t actor);

// Whether an idle worker took up a task before its classes were woven (running.h), and that task's beginning.
static inline bool bodies_in_unseen(const struct thread_state *state) {
    return __builtin_expect(state->was_idle, 0) && state->tasks == 0;
}
void bodies_begin_unseen(struct thread_state *state);

// What is asked to run, but is done already: nothing begins.
void bodies_begin_nothing(struct thread_state *state);

// The innermost ends, or what is nested in it.
void bodies_end(struct thread_state *state);

// The same by an exception: what was only nested in a task is no outcome of it.
void bodies_end_by_exception(struct thread_state *state);

// All of them, with what is nested; by an exception, where they began in sight.
void bodies_end_all(struct thread_state *state, bool threw);

// By a thread that is about to sleep, while classes are woven (running.h): a worker may sleep for its next task in code
// from before the tracer came. What it was found at has ended then, and it is idle. Takes the stack of one that is
// still at what it was found at.
void bodies_end_what_it_left(struct thread_state *state);

#endif
