// SPDX-License-Identifier: Apache-2.0
// Calling contexts: the stacks in which tasks are created, handed over and begun, of few of them (calling_schedule.h).
// What a stack costs counts before the task's event; on a thread whose probe is being timed that measurement is
// dropped.
#ifndef REHYPE_TRACER_CALLING_H
#define REHYPE_TRACER_CALLING_H

#include "tracefile/tables.h"
#include "tracer/tracer.h"

// Takes the calling thread's stack from the caller of the probe outwards, 32 frames at most: 2 to 4 us, each frame that
// was never seen before some 3 us more. So all in all a million tasks of one site take 400 stacks, a millisecond: with
// counting, 6 ns a task. What there is no memory for, or the JVM does not tell, is left out and counted.
void calling_take(struct thread_state *state, enum calling_kind kind, uint64_t task, uint64_t stands_for);

// Its keys are told apart by what the ids are of; none is 0.
static inline uint32_t calling_key(enum calling_kind kind, uint32_t id) {
    return (id << 1 | (kind == CALLING_SUBMITTED)) + 2;
}

// A task is created. Returns how many it stands for if its stack was taken, else 0.
static inline uint64_t calling_created(struct thread_state *state, uint64_t task, uint32_t class) {
    if (tracer.options.without_calling_contexts) return 0;
    uint64_t stands_for = calling_turn(&state->native->callings, calling_key(CALLING_CREATED, class));
    if (__builtin_expect(stands_for != 0, 0)) calling_take(state, CALLING_CREATED, task, stands_for);
    return stands_for;
}

// One that nobody may ever hand over.
static inline void calling_created_alone(struct thread_state *state, uint64_t task, uint32_t class) {
    uint64_t stands_for = calling_created(state, task, class);
    if (__builtin_expect(stands_for != 0, 0)) calling_mark(task, stands_for);
}

static inline void calling_submitted(struct thread_state *state, uint64_t task, uint32_t site) {
    if (tracer.options.without_calling_contexts) return;
    uint64_t stands_for = calling_turn(&state->native->callings, calling_key(CALLING_SUBMITTED, site));
    if (__builtin_expect(stands_for == 0, 1)) return;
    calling_take(state, CALLING_SUBMITTED, task, stands_for);
    calling_mark(task, stands_for);
}

static inline void calling_executed(struct thread_state *state, uint64_t task) {
    uint64_t stands_for = calling_take_mark(task);
    if (__builtin_expect(stands_for != 0, 0)) calling_take(state, CALLING_EXECUTED, task, stands_for);
}

#endif
