// SPDX-License-Identifier: Apache-2.0
#include "tracer/scala.h"

#include "tracer/calling.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/sites.h"

#include <pthread.h>

// Classes of callbacks: one or two a class loader that has a library of its own.
enum { CLASSES_MOST = 16 };

static struct callback_class {
    jweak class;
    jfieldID carried; // NULL: kept elsewhere
} classes[CLASSES_MOST];
static _Atomic(uint32_t) class_count; // grows under the lock; publishes the entries below it
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct callback_class *known(JNIEnv *jni, jobject object) {
    uint32_t count = atomic_load_explicit(&class_count, memory_order_acquire); // pairs with learn's store
    for (uint32_t i = 0; i < count; i++) {
        jclass class = (*jni)->NewLocalRef(jni, classes[i].class); // NULL: its loader is gone
        bool same = class && (*jni)->IsInstanceOf(jni, object, class);
        (*jni)->DeleteLocalRef(jni, class);
        if (same) return &classes[i];
    }
    return NULL;
}

static void learn(JNIEnv *jni, jobject callback) {
    if (known(jni, callback)) return;
    jclass class = (*jni)->GetObjectClass(jni, callback);
    pthread_mutex_lock(&lock);
    uint32_t count = atomic_load_explicit(&class_count, memory_order_relaxed);
    if (count < CLASSES_MOST && !known(jni, callback)) {
        classes[count].class = (*jni)->NewWeakGlobalRef(jni, class);
        classes[count].carried = identity_field(jni, class, TASK_FIELD, "J");
        atomic_store_explicit(&class_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    (*jni)->DeleteLocalRef(jni, class);
}

uint64_t scala_carried(JNIEnv *jni, jobject object) {
    const struct callback_class *class = known(jni, object);
    if (!class) return 0;
    return class->carried ? (uint64_t)(*jni)->GetLongField(jni, object, class->carried) : kept_get(object);
}

void scala_enter(JNIEnv *jni, struct thread_state *state, jobject function) {
    if (state->future.depth++ == 0) state->future.function = identity_class(jni, state, function);
}

void scala_leave(struct thread_state *state) {
    if (state->future.depth > 0 && --state->future.depth > 0) return;
    state->future = (struct future_in_making){0};
}

void scala_reserve(struct thread_state *state) {
    state->future.task = task_id_new(state);
    state->future.promised = false;
}

uint64_t scala_promise(struct thread_state *state) {
    if (state->future.promised) return 0;
    state->future.promised = true;
    return state->future.task;
}

uint64_t scala_callback(JNIEnv *jni, struct thread_state *state, jobject callback, jobject executor, jobject function) {
    learn(jni, callback);
    uint64_t task = state->future.task;
    state->future.task = 0;
    if (!executor || identity_runs_inline(jni, executor)) return 0; // by who completes the future: no task
    if (!task) task = task_id_new(state);
    uint32_t class = state->future.function ? state->future.function : identity_class(jni, state, function);
    calling_created(state, task, class);
    record3(state, EVENT_TASK_CREATED, task, class, 0);
    uint64_t site = site_of_spawn(jni, state);
    return site <= CARRIED_SITE_MAX ? task | site << CARRIED_SITE_AT : task;
}
