// SPDX-License-Identifier: Apache-2.0
// What lies in a pool's queue when recording begins in a running JVM: tasks that were handed over before. They get ids,
// unless somebody is known to await them and they have one (under_way.h), and are told with their pool (registry.h).
//
// Queues of the JDK's own classes only, by their fields, without a lock and without a call: what others take out
// meanwhile may be missed or told, and is told to begin all the same.
#ifndef REHYPE_TRACER_QUEUED_H
#define REHYPE_TRACER_QUEUED_H

#include <jni.h>
#include <stdint.h>

// Before a recording begins.
void queued_restart(JNIEnv *jni);

// By the thread that begins the recording, when all classes are woven; of one pool once. A microsecond or two a task;
// at most 65,536 tasks are told, of all pools.
void queued_tell(JNIEnv *jni, jobject pool, uint32_t id);

#endif
