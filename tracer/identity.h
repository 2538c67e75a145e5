// SPDX-License-Identifier: Apache-2.0
// Task objects -> task ids. One id for one task, whatever wrappers carry it.
//
// FutureTask and CompletableFuture's stages carry their id in a field that the weaver added (a few ns). Any other
// Runnable is known by its JVMTI tag (50 to 90 ns), which also serves where a field could not be added.
#ifndef REHYPE_TRACER_IDENTITY_H
#define REHYPE_TRACER_IDENTITY_H

#include "tracer/tracer.h"

// Once, when the classes can be had.
bool identity_init(JNIEnv *jni);

// Id that a FutureTask or async stage carries; 0 if it is neither or has none.
uint64_t identity_carried(JNIEnv *jni, jobject object);

// A raw Runnable was made (its id is reserved), is handed over (gives its id; the same object may be pending many
// times, first in first out), or begins to run. begin gives 0 when the object was never seen.
void identity_created(jobject object, uint64_t id);
uint64_t identity_spawn(struct thread_state *state, jobject object, bool *is_new);
uint64_t identity_begin(jobject object);

// The id of an object that was made but not handed over, which then becomes the taker's; else 0.
uint64_t identity_take_created(jobject object);

// What a Thread was made to run, or NULL.
jobject identity_thread_target(JNIEnv *jni, jobject thread);

// Id of a Thread's run(), given at its start() or at its first event.
uint64_t identity_of_thread(jobject thread);
void identity_set_thread(jobject thread, uint64_t id);

// Id in the trace of an object's class; for a lambda named after the method that holds its body. 0 for null.
uint32_t identity_class(JNIEnv *jni, jobject object);

// "java.util.concurrent.LinkedBlockingQueue", cut to size; "" when the JVM won't say. Returns text.
char *identity_class_name(jclass class, char *text, size_t size);

// Id of any Executor that isn't a ThreadPoolExecutor, known by its tag.
uint32_t identity_executor(JNIEnv *jni, jobject executor);

// Whether the thread is a ForkJoinPool's worker, and then the id of its pool.
bool identity_is_worker(JNIEnv *jni, jobject thread);
uint32_t identity_worker_pool(JNIEnv *jni, jobject worker);

#endif
