// SPDX-License-Identifier: Apache-2.0
// Virtual threads (JDK 21 and later). Native thread-local state is the carrier's; so the JVM's events of mounting and
// unmounting put the virtual thread's own state in the carrier's place, and tell its ring whose the events are that
// come next (tracer/parting.h). A virtual thread costs some 400 bytes from its first mount to its end, and no ring.
//
// Before JDK 21, and where the JVM grants no such events, nothing is asked for and nothing costs anything.
#ifndef REHYPE_TRACER_VIRTUAL_H
#define REHYPE_TRACER_VIRTUAL_H

#include "tracer/tracer.h"

// At the agent's start: asks for the events. Whether there may be any.
bool virtual_ask(JavaVM *vm);

// When the JVM's classes can be had.
void virtual_init(JNIEnv *jni);

// Whether events come; off before recording ends.
void virtual_listen(jvmtiEventMode mode);

// Before another recording: forgets the threads of the one before.
void virtual_restart(void);

// By the thread that hands a virtual thread to its scheduler. Some 30 ns; takes no lock.
void virtual_ready(JNIEnv *jni, jobject thread);

// By a virtual thread that is about to sleep for so long at most; and by the thread that ends such a sleep since its
// time is up, around that.
void virtual_wakes_in(JNIEnv *jni, jobject thread, int64_t ns);
void virtual_time_is_up(JNIEnv *jni, jobject thread);
void virtual_time_was_up(void);

// What a virtual thread was made to run; NULL when that is not known, or it is none.
jobject virtual_target(JNIEnv *jni, jobject thread);

#endif
