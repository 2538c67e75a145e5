// SPDX-License-Identifier: Apache-2.0
// Resources: what threads hold and wait for beside results (trace_resource). Each has a slot, by which it is known to
// the probes, and an id in the trace. Monitors and locks are known by their tags (locks.h), semaphores and queues by a
// field, connection pools by a tag.
//
// What has been taken 10,000 times in a row without a wait is calm: until one comes, only releases are recorded of what
// was recorded as taken. So a resource that limits nothing costs little.
//
// Recorded is what happens in tasks. A thread waits for one resource at a time: what it parks on, locks or asks for
// inside such a wait belongs to it. What is held is recorded of a monitor or a lock from its first contention on, so
// that one that no thread waits for costs a look at a flag.
#ifndef REHYPE_TRACER_RESOURCES_H
#define REHYPE_TRACER_RESOURCES_H

#include "tracefile/tables.h"
#include "tracer/tracer.h"

enum { RESOURCES_MOST = 1 << 16 }; // slots of a process's life; what comes later is not recorded

// An acquisition or a release. Where the innermost Java frame is the application's own (JVMTI's monitor events)
// `at_top`, else it is the probe's.
struct wanted {
    uint32_t slot, units;
    bool shared, at_top;
    enum wait_way way; // of a wait
    uint64_t limit_ns; // 0: none
};

// A new one; `facts` without its id. 0: there is no room. Any thread.
uint32_t resources_new(struct thread_state *state, struct trace_resource facts);

// The one with that id; 0: none.
uint32_t resources_find(uint64_t id);

// The same for what has the id already (a tag).
uint32_t resources_new_of(uint64_t id, struct trace_resource facts);

// NULL: it has none so far. For the life of the process.
const char *resources_name(uint32_t slot);

// What is known of it has changed.
void resources_set_capacity(uint32_t slot, int64_t capacity);
void resources_set_kind(uint32_t slot, enum resource_kind kind, int64_t capacity);

// Whether it is calm. It may be another thread that is the first to wait.
bool resources_is_calm(uint32_t slot);

// By the thread that gives back what is not known to have been recorded as taken: whether to record it, which it then
// has to. Of what is not calm it always is.
bool resources_tells_release(uint32_t slot);

// Whether the thread is in a task, awake, and does not hand a task over.
bool resources_may_wait(const struct thread_state *state);

// The thread begins to wait; it has what it waited for, or had to do without; it has it without having waited; it gives
// it back. The site of a release is that of the acquisition, where it is known (0: the innermost frame's now).
// `resources_wait` returns the site; `resources_waits`: whether the thread waits in that way.
uint32_t resources_wait(JNIEnv *jni, struct thread_state *state, struct wanted wanted);
bool resources_waits(enum wait_way way);
void resources_acquired(struct thread_state *state);
void resources_give_up(struct thread_state *state, enum given_up why);
// ... of a place that is known.
void resources_held_at(struct thread_state *state, struct wanted wanted, uint32_t site);
uint32_t resources_held(JNIEnv *jni, struct thread_state *state, struct wanted wanted);
void resources_released(JNIEnv *jni, struct thread_state *state, struct wanted wanted, uint32_t site);

// A thread is found asleep for it as recording begins, told in its place: `state` is no thread's yet. Its wait is ended
// by the thread itself, as others are, or in its place.
void resources_found(struct thread_state *state, struct wanted wanted, uint32_t site, uint64_t cpu);
void resources_found_awake(struct thread_state *state, uint64_t cpu);

// Names those that have none by the places where they were asked for, whose classes may have been read since.
void resources_name_again(void);

// A task ends: what it waited for or held in blocks of its own, and whose end was not seen, is over.
void resources_task_ends(struct thread_state *state);

// Monitors and locks that the thread holds, as far as was recorded. `number`: of the place that took it.
struct hold *resources_hold(struct thread_state *state, uint32_t slot);
struct hold *resources_hold_at(struct thread_state *state, uint32_t number);
struct hold *resources_add_hold(struct thread_state *state, struct hold hold);
void resources_drop_hold(struct thread_state *state, struct hold *hold);

// The thread waits for a monitor at the site and will hold it: the place there is watched until it does. No longer.
void resources_expect_hold(JNIEnv *jni, struct thread_state *state, uint32_t site);
void resources_expect_none(struct thread_state *state);

// Once, when the classes can be had.
void resources_init(JNIEnv *jni);

// A recording begins in a JVM that may have had some before, or is over: nothing is watched.
void resources_unwatch(JNIEnv *jni);

// Places that lock monitors (numbers of sites), and locks by their identity hash: from here on they call.
void resources_watch_places(JNIEnv *jni);
void resources_watch_lock(JNIEnv *jni, jint hash);
void resources_unwatch_lock(JNIEnv *jni, jint hash);

// A place that calls has locked a monitor that no thread has waited for: after a thousand of these it is left alone. Or
// one that is a resource, whose hold has been added or is expected.
void resources_place_missed(JNIEnv *jni, uint32_t place);
void resources_place_hit(JNIEnv *jni, uint32_t place);

#endif
