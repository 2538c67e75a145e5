// SPDX-License-Identifier: Apache-2.0
#include "tracer/locks.h"

#include "tracer/due.h"
#include "tracer/identity.h"
#include "tracer/running.h"
#include "tracer/sleeps.h"
#include "tracer/time_limit.h"
#include "tracer/tracer.h"

#include <pthread.h>

static jvmtiEnv *env; // NULL: no locks
static jfieldID owner;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of tags: to read one and to set it is one step

static uint64_t id_of(struct thread_state *state, jobject object) {
    pthread_mutex_lock(&lock);
    jlong tag = 0;
    (*env)->GetTag(env, object, &tag);
    if (tag == 0) {
        tag = (jlong)task_id_new(state);
        (*env)->SetTag(env, object, tag);
    }
    pthread_mutex_unlock(&lock);
    return (uint64_t)tag;
}

static bool may_begin(const struct thread_state *state) {
    return state && state->wait_depth == 0 && !state->blocked_on && !state->sleep;
}

static void begin_block(struct thread_state *state, jobject object, uint32_t class) {
    state->blocked_on = id_of(state, object);
    record_boundary(state, EVENT_BLOCK_BEGIN, state->blocked_on, class);
}

static void end_block(void) {
    if (!thread_state_here() || !thread_state_here()->blocked_on) return;
    PROBED struct thread_state *state = probe_begin();
    record_boundary(state, EVENT_BLOCK_END, state->blocked_on, 0);
    state->blocked_on = 0;
}

// A thread that slept when recording began, and whose first event this is, wakes as its state is made.
static bool wakes_before(void) {
    return !thread_state_here() && running_any_asleep() && thread_state_get();
}

static void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor) {
    PROBED struct thread_state *state = probe_begin();
    if (may_begin(state)) begin_block(state, monitor, identity_class(jni, state, monitor));
}

static void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor) {
    if (!wakes_before()) end_block();
}

// What is built on AbstractQueuedSynchronizer is a lock if some thread owns it: a latch and a semaphore have no owner.
// Nor have the readers that a writer waits for, nor a lock that has been given up a moment ago.
static bool is_held_lock(JNIEnv *jni, jobject blocker, struct blocker_class class) {
    return class.lock || (class.ownable && owner && (*jni)->GetObjectField(jni, blocker, owner));
}

static void end_sleep(void) {
    if (!thread_state_here() || !thread_state_here()->sleep) return;
    PROBED struct thread_state *state = probe_begin();
    sleeps_end(state);
}

// A worker that looks for tasks parks, too: what it parks on is a lock or of no interest.
void locks_park_begin(JNIEnv *jni, jobject blocker) {
    PROBED struct thread_state *state = env ? probe_begin() : NULL;
    bool may_sleep = sleeps_may_begin(state);
    if (!may_begin(state) || (!may_sleep && !(blocker && identity_is_ownable(jni, blocker)))) return;
    jobject known = blocker ? blocker : sleeps_blocker(jni);
    struct blocker_class class = identity_blocker_class(jni, state, known);
    if (blocker && is_held_lock(jni, blocker, class))
        begin_block(state, blocker, class.id);
    else if (may_sleep)
        sleeps_begin(jni, state, class.id, class.latch ? id_of(state, known) : 0);
}

void locks_park_end(void) {
    end_block();
    end_sleep();
}

void locks_found_asleep(JNIEnv *jni, const struct found_asleep *found) {
    struct thread_state *state = found->state;
    struct blocker_class class = identity_blocker_class(jni, state, found->on);
    if (!env || (!found->parked && !found->on)) return;
    if (found->enters || (found->on && found->parked && is_held_lock(jni, found->on, class))) {
        state->blocked_on = id_of(state, found->on);
        ring_put3(&state->channel->ring, clock_ticks(), EVENT_BLOCK_BEGIN, state->blocked_on, found->cpu, class.id);
        return;
    }
    bool shared = !found->parked || class.latch;
    uint64_t number = shared ? id_of(state, found->on) | (found->parked ? 0 : SLEEPS_MONITOR) : 0;
    sleeps_found(jni, found->thread, state, class.id, number, found->site, found->cpu);
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout) {
    PROBED struct thread_state *state = probe_begin();
    if (!sleeps_may_begin(state)) return;
    time_limit_set(state, due_ns_of_ms(timeout));
    sleeps_begin(jni, state, identity_class(jni, state, monitor), id_of(state, monitor) | SLEEPS_MONITOR);
    state->limit_ns = 0;
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out) {
    if (thread_state_here() && thread_state_here()->sleep) time_limit_tell(thread_state_here(), timed_out);
    if (!wakes_before()) end_sleep();
}

void locks_notify(jobject monitor, bool all) {
    jlong tag = 0;
    if (!env || !sleeps_any_shared() || (*env)->GetTag(env, monitor, &tag) != JVMTI_ERROR_NONE || !tag) return;
    sleeps_notify((uint64_t)tag | SLEEPS_MONITOR, all);
}

void locks_ask(JavaVM *vm) {
    if (env) return;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) env = NULL;
    if (!env) return;
    jvmtiCapabilities wanted = {0};
    wanted.can_tag_objects = 1;
    wanted.can_generate_monitor_events = 1;
    static const jvmtiEventCallbacks callbacks = {.MonitorContendedEnter = on_contended_enter,
                                                  .MonitorContendedEntered = on_contended_entered,
                                                  .MonitorWait = on_wait,
                                                  .MonitorWaited = on_waited};
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE &&
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE) {
        return;
    }
    (*env)->DisposeEnvironment(env);
    env = NULL;
}

void locks_init(JNIEnv *jni) {
    if (!env) return;
    jclass ownable = identity_global_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    sleeps_init(jni);
    owner = identity_field(jni, ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
}

void locks_listen(jvmtiEventMode mode) {
    if (!env) return;
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_WAIT, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_WAITED, NULL);
}
