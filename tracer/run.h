// SPDX-License-Identifier: Apache-2.0
// One recording, whether it began with the JVM (agent.c) or came to it (attach.c): its file, the drainer, and the
// events that the JVM itself tells.
#ifndef REHYPE_TRACER_RUN_H
#define REHYPE_TRACER_RUN_H

#include "base/error.h"

#include <jvmti.h>
#include <stdbool.h>

// The callbacks that a recording needs; agent.c and attach.c add their own.
void run_listen(jvmtiEventCallbacks *callbacks);

// Capabilities and the environments of other parts. In Agent_OnLoad or Agent_OnAttach, once.
bool run_ask(JavaVM *vm, struct error *error);

// Defines the helper class, if it isn't there, so that woven code can link.
bool run_define_helper(JNIEnv *jni, struct error *error);

// Looks up what the tracer needs of the JDK. Once.
bool run_know_classes(JNIEnv *jni, struct error *error);

// Opens the trace and starts the drainer; from here on probes record. With `why_not` set the trace is made only to say
// so. false and *error otherwise, too.
bool run_start(const struct error *why_not, struct error *error);

// Only that threads begin and end.
void run_hear_threads(void);

// All of it: threads and collections, contended locks, virtual threads; on or off.
void run_hear(jvmtiEventMode mode);

// The calling thread, which has begun: its place in the trace.
void run_begin_thread(JNIEnv *jni, jthread thread);

// Nothing is recorded any more; what was is drained, and the file closed. Idempotent.
void run_stop(void);

// Which classes are the program's own, once its options are known; and again when Java code can run: of a jar its
// manifest says whose classes it starts (Start-Class of Spring Boot's, Main-Class). jni NULL: it can't yet.
void run_know_application(JNIEnv *jni);

#endif
