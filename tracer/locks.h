// SPDX-License-Identifier: Apache-2.0
// Contended locks: monitors, as JVMTI tells, and locks of java.util.concurrent.locks, told by the parking of who waits
// for one. A lock that nobody waits for costs nothing.
//
// Locks are known by tags of an environment of its own: any object may be a monitor, also one that has a tag as a task,
// a thread or a class.
#ifndef REHYPE_TRACER_LOCKS_H
#define REHYPE_TRACER_LOCKS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct thread_state;

// In Agent_OnLoad. Where the JVM refuses, locks are not recorded.
void locks_ask(JavaVM *vm);

// Once, when the classes can be had.
void locks_init(JNIEnv *jni);

// Turns the monitors' events on or off.
void locks_listen(jvmtiEventMode mode);

// By a thread that is about to park, blocked on the object (which may be NULL), and that has parked: for a lock, or
// else for a release (sleeps.h).
void locks_park_begin(JNIEnv *jni, jobject blocker);
void locks_park_end(void);

// A thread that slept when recording began, whose state is no thread's yet: on a lock or a monitor that it asks for, or
// for a release. `on` may be NULL: unknown.
struct found_asleep {
    jthread thread;
    struct thread_state *state;
    jobject on;
    bool parked, enters; // else it waits to be notified
    uint32_t site;
    uint64_t cpu;
};
void locks_found_asleep(JNIEnv *jni, const struct found_asleep *found);

// By a thread that is about to notify those who wait for the monitor.
void locks_notify(jobject monitor, bool all);

#endif
