// SPDX-License-Identifier: Apache-2.0
// A thread of the tracer's own in the JVM, which does something at times of its choice until it is told to end.
#ifndef REHYPE_TRACER_OWN_THREAD_H
#define REHYPE_TRACER_OWN_THREAD_H

#include "tracer/tracer.h"

#include <pthread.h>

struct own_thread {
    jobject thread; // global reference; set before it runs
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool prepared, wanted, runs; // under the lock, but while nobody else knows of it
};

#define OWN_THREAD_INIT                                                                                                \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

// Runs `run` in a new thread of that name, which calls own_thread_ends last. false: it could not, or the one before
// runs still.
bool own_thread_start(struct own_thread *own, JNIEnv *jni, const char *name, jvmtiStartFunction run);

// By the thread itself: until that time of CLOCK_MONOTONIC. false: it is to end.
bool own_thread_sleep_until(struct own_thread *own, uint64_t due_ns);
void own_thread_ends(struct own_thread *own);

// Tells it to end and waits until it has, for so many seconds at most.
void own_thread_stop(struct own_thread *own, unsigned seconds);

bool own_thread_is(const struct own_thread *own, JNIEnv *jni, jthread thread);

#endif
