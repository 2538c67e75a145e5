// SPDX-License-Identifier: Apache-2.0
// Threads that ran before the tracer came. When a recording begins in a running JVM each of them gets its place in the
// trace: a beginning, the pool that it works for, and the task that it is at, by what stands on its stack. The tasks,
// its run() or main included, are listed as begun before (registry_running).
//
// What a thread was at ends unseen, because the frames on its stack run on as they were: a worker's task ends where the
// worker next asks for one. A thread that sleeps begins with what it sleeps for (under_way.h), till its first event:
// when it unparks, for one, it says so. What workers take up and end while classes are woven no event tells: so they
// are looked at once more, and one that goes to sleep for its next task meanwhile has left what it was at (bodies.h).
// What is missed even so is seen where a worker first spawns, waits or sets a result outside of any task, which is then
// listed as begun before, too; or where it first begins a task that its loop runs, and not its task: then that has
// ended by now.
#ifndef REHYPE_TRACER_RUNNING_H
#define REHYPE_TRACER_RUNNING_H

#include <jni.h>
#include <stdbool.h>

struct thread_state;

// Before the recording begins, in which threads that sleep in code woven for an earlier one may tell of something at
// once.
void running_expect(JNIEnv *jni);

// By the starting thread, which must be refused itself (thread_state_refuse), after new threads have begun to tell of
// themselves and before any class is retransformed. Some 40 us a thread.
void running_begin(JNIEnv *jni);

// By the same thread, when all classes are woven; tells as well what lies in the pools' queues (queued.h). Some 40 us a
// thread.
void running_look_again(JNIEnv *jni);

// By a thread at its first event: what running_begin made for it, or, where it has not come to it yet, the same made
// here; NULL for a new one. The thread's own from here on.
struct thread_state *running_take(JNIEnv *jni);

// Whether any thread that was found asleep has not told of anything since: it is to do so as it wakes up.
bool running_any_asleep(void);

// By a thread whose state was just taken: what it slept for is over.
void running_wake(struct thread_state *state);

// Whether classes are being woven: from running_begin until threads have been looked at again.
bool running_weaving(void);

// By a thread of a worker, but a ForkJoinPool's: whether it asks for its next task, in code from before the tracer came
// perhaps. Takes the stack.
bool running_asks(const struct thread_state *state);

// By a thread at the entry of a method that runs a task: whether its worker's loop does that, and not another task.
// Takes the stack.
bool running_begins_task(JNIEnv *jni);

// When the recording has ended: gives back what no thread took.
void running_end(void);

#endif
