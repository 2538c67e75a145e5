// SPDX-License-Identifier: Apache-2.0
// Pools and their rules: as their constructors tell them, or, of a pool that was there before the tracer, as its fields
// have them. Ids are the registry's; 0 is no pool that counts (the carriers of virtual threads).
#ifndef REHYPE_TRACER_POOLS_H
#define REHYPE_TRACER_POOLS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

// Once, in a running JVM.
void pools_init(JNIEnv *jni);

// A new pool's id. Cold: reads names, and asks the queue for its capacity.
uint32_t pools_thread_pool(JNIEnv *jni, jobject executor, jint core, jint maximum, jobject queue, jlong keep_alive_ns,
                           jobject handler);
uint32_t pools_fork_join_pool(JNIEnv *jni, jobject executor, jobject factory, jint maximum, bool async,
                              jlong keep_alive_ms);
void pools_changed(JNIEnv *jni, uint32_t pool, jint core, jint maximum, jlong keep_alive_ns, jobject handler,
                   bool core_times_out);

// How many a blocking queue takes; -1: it does not say, or without bound. Runs its code.
int64_t pools_queue_capacity(JNIEnv *jni, jobject queue);

// Of pools that have no field for their id (kept.h): whether it is a pool at all; its id, registered at first sight;
// the id as its constructor had it.
bool pools_is_pool(JNIEnv *jni, jobject executor);
uint32_t pools_known_id(jobject executor); // 0 before that; runs nothing of the program's
uint32_t pools_id(JNIEnv *jni, jobject executor);
void pools_set_id(jobject executor, uint32_t id);

// The pool that a ThreadPoolExecutor's worker serves, told by what its thread was made to run; NULL where that is
// something else.
jobject pools_of_worker(JNIEnv *jni, jobject target);

#endif
