// SPDX-License-Identifier: Apache-2.0
// Contended locks: monitors, as JVMTI tells, and locks of java.util.concurrent.locks, told by the parking of the
// waiter. In tasks they are resources (resources.h), which are waited for and, from the first contention on, held;
// elsewhere a thread is blocked. A lock that no thread waits for costs a look at a flag.
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
    bool limited;        // its time may be up
    uint32_t site;
    uint64_t cpu;
};
void locks_found_asleep(JNIEnv *jni, const struct found_asleep *found);

// By a thread that has just locked a monitor, or is about to unlock it, at a place of the program's (its site, and the
// number of the place), or that leaves a synchronized method by an exception.
void locks_monitor_entered(JNIEnv *jni, jobject monitor, uint32_t site, uint32_t place);
void locks_monitor_leaves(JNIEnv *jni, jobject monitor, uint32_t place);
void locks_monitor_threw(uint32_t place);

// By a thread that is about to park in the queue of a synchronizer (0: no limit), and as it leaves that queue: above 0
// with what it asked for, 0 without, its time being up, below 0 interrupted.
void locks_sync_parks(JNIEnv *jni, jobject sync, uint32_t units, bool shared, uint64_t limit_ns);
void locks_sync_ends(int outcome);

// By a thread that has taken a lock that is watched, or is about to give it back.
void locks_taken(JNIEnv *jni, jobject sync, bool shared);
void locks_given_back(JNIEnv *jni, jobject sync, bool shared);

// By a thread that had it the other way, or not at all, till now; that no longer has it, whichever way it had it.
void locks_converted(JNIEnv *jni, jobject sync, bool shared);
void locks_dropped(JNIEnv *jni, jobject sync);

// An object's number among locks; 0: it has none. The second gives it one.
uint64_t locks_known_id(jobject object);
uint64_t locks_id(struct thread_state *state, jobject object);

// By a thread that is about to notify those who wait for the monitor.
void locks_notify(jobject monitor, bool all);

#endif
