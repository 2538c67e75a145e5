// SPDX-License-Identifier: Apache-2.0
// Sleeps inside tasks for what is no task's result: parks (latches, conditions, queues, semaphores, barriers) and
// Object.wait. Each sleep is a wait with an id of its own as its target. Who wakes the sleeper, if that happens inside
// a task, records the result of that id: at unpark, at the signal of a condition, at a notify of the application's.
// Where nobody does (a timeout, an interrupt, the JDK's own notify, a thread without a task) the wait is for something
// unknown, and tells the class of what the thread slept on.
//
// Sleepers stand in one table by their threads' numbers, each in a slot of its own while it sleeps; who wakes it claims
// the sleep by setting the slot's id to 0, so that one release has one result. No lock. Numbers that meet in the table
// are chained: a chain grows by a slot when more of them sleep at once than ever before, and never shrinks.
//
// A latch that opens is the cause of all who wait for it, though they wake each other in turn.
#ifndef REHYPE_TRACER_SLEEPS_H
#define REHYPE_TRACER_SLEEPS_H

#include "tracer/tracer.h"

// Set in the number of what is shared: a monitor, not a latch.
#define SLEEPS_MONITOR ((uint64_t)1 << 63)

// Once, when the classes can be had.
void sleeps_init(JNIEnv *jni);

// Before another recording: whoever slept through the end of the one before tells no more.
void sleeps_restart(void);

// By a thread that is about to park, or to wait for a monitor to be notified, and that has done so.
// `class`: of what it parks on, or of the monitor; 0: unknown. `shared`: number of what its release would release all
// sleepers of, a monitor or a latch; else 0. Cost of both together: two boundaries, and a look at the stack for the
// site.
void sleeps_begin(JNIEnv *jni, struct thread_state *state, uint32_t class, uint64_t shared);
void sleeps_end(struct thread_state *state);

// The same of another thread that slept when recording began, whose state is no thread's yet; `cpu` is what it had
// computed. Its end is told as the thread's own, or by who forgets the sleep.
void sleeps_found(JNIEnv *jni, jthread thread, struct thread_state *state, uint32_t class, uint64_t shared,
                  uint32_t site, uint64_t cpu);
void sleeps_forget(struct thread_state *state);

// Whether the thread is in a task and awake, as far as is recorded: only then may it begin to sleep.
static inline bool sleeps_may_begin(const struct thread_state *state) {
    return state && state->tasks > 0 && state->wait_depth == 0 && !state->blocked_on && !state->sleep && !state->wants;
}

// What the thread parks on where its park does not tell: what it said itself before; may be NULL.
jobject sleeps_blocker(JNIEnv *jni);

// By whoever wakes another thread: some 20 ns where that isn't asleep in the table.
void sleeps_unpark(JNIEnv *jni, jobject thread);

// By whoever notifies a monitor, by its number: the one who has waited longest, or all.
bool sleeps_any_shared(void);
void sleeps_notify(uint64_t shared, bool all);

#endif
