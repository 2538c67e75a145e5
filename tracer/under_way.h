// SPDX-License-Identifier: Apache-2.0
// What threads were at when the tracer came to a running JVM, beside their pools (running.h): which tasks their bodies
// are, and what they wait for. Tasks and futures get ids here, by which their ends and results are told later, and
// which tasks have that lie in a pool's queue (queued.h).
//
// By the thread that begins the recording only.
#ifndef REHYPE_TRACER_UNDER_WAY_H
#define REHYPE_TRACER_UNDER_WAY_H

#include "tracer/loops.h"
#include "tracer/tracer.h"

// A thread's stack, innermost frame first, all of it.
struct stack {
    jthread thread;
    const jvmtiFrameInfo *frames;
    jint count;
};

// Before a recording begins.
void under_way_restart(JNIEnv *jni);

// A method that was made obsolete by an earlier recording, and may stand on a stack still: it has an id of its own.
void under_way_know_obsolete(JNIEnv *jni, jmethodID method);

// Takes down what stands on all stacks now (locals.h); what follows is of that moment, and of threads that have not
// moved since. Stops the JVM, for some 100 ns for each reference on a stack.
void under_way_look(JNIEnv *jni);
void under_way_forget(JNIEnv *jni);

// The id of the task whose body is the outermost on the stack; 0: not known.
uint64_t under_way_task(JNIEnv *jni, const struct stack *stack);

// The pool whose worker's loop is on the stack (loops.h), or, with LOOP_TAKES for `part`, the stage that it takes from,
// as a local reference; NULL: there is none, or it is not known.
jobject under_way_pool(JNIEnv *jni, const struct stack *stack, enum loop_part part);

// Whether the thread sleeps, and then its wait or block, told in its place: `state` is no thread's yet, and in no wait.
// `cpu`: what it has computed.
bool under_way_sleeps(const struct stack *stack);
void under_way_wait(JNIEnv *jni, const struct stack *stack, struct thread_state *state, uint64_t cpu);

// The state's wait or block is over, told in its thread's place.
void under_way_leave(struct thread_state *state, uint64_t cpu);

// Makes ids and looks classes up where no thread's state is at hand.
struct thread_state *under_way_scratch(void);

// Whether an id was given in this recording.
bool under_way_is_new(uint64_t id);

#endif
