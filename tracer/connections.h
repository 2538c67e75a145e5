// SPDX-License-Identifier: Apache-2.0
// Pools of connections and the like, told by lines of executors.conf (role `resource`): a method that gives an object,
// one that takes it back, and one that says how many there are and what the pool is called. What a thread waits for
// within the first belongs to the pool.
#ifndef REHYPE_TRACER_CONNECTIONS_H
#define REHYPE_TRACER_CONNECTIONS_H

#include "tracer/tracer.h"

// A thread enters the method that gives (0: no limit); it leaves with an object or without, or by an exception. Pairs
// may nest; the outermost counts. Of a gate it leaves with leave to go on, which other threads give back.
void connections_ask(JNIEnv *jni, jobject pool, uint64_t limit_ns);
void connections_ask_leave(JNIEnv *jni, jobject gate);
void connections_given(JNIEnv *jni, bool given);
void connections_refused(void);

void connections_returned(JNIEnv *jni, jobject pool);

#endif
