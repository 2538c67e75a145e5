// SPDX-License-Identifier: Apache-2.0
// Threads that are awaited together: those of an executor that makes a thread a task, and those of a scope of
// structured concurrency (JDK 21 and later; both are ThreadContainers). Who waits for all of them waits for a result
// that the last one tells as it ends. The container that holds the rest, the root, is left out.
//
// Containers are known by tags of an environment of its own, since executors have one of another kind. One that has no
// threads, and that nobody awaits, takes no memory.
#ifndef REHYPE_TRACER_CONTAINER_H
#define REHYPE_TRACER_CONTAINER_H

#include "tracer/tracer.h"

void container_ask(JavaVM *vm); // in Agent_OnLoad
void container_init(JNIEnv *jni);
void container_restart(void); // of an earlier recording's nothing is left

// Its number; 0 where it is none of these, or NULL. Some 70 ns.
uint64_t container_number(JNIEnv *jni, jobject container);

// Number of the one that a thread is in.
uint64_t container_of_thread(JNIEnv *jni, jobject thread);

// A thread is about to start in it.
void container_enter(uint64_t number);

// A thread in it has ended, or couldn't start. Gives the id of the end of all, where this is the last and somebody
// waits; else 0.
uint64_t container_leave(uint64_t number);

// Id of the end of all threads that are in it; 0 where there are none.
uint64_t container_await(struct thread_state *state, uint64_t number);

#endif
