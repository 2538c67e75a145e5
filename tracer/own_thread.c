// SPDX-License-Identifier: Apache-2.0
#include "tracer/own_thread.h"

#define NS_PER_S UINT64_C(1000000000)

static struct timespec timespec_of(uint64_t ns) {
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

static void prepare(struct own_thread *own) {
    pthread_condattr_t monotonic;
    if (own->prepared) return;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&own->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    own->prepared = true;
}

// A Thread is run once: each recording has one of its own. *reference is the one of the recording before.
static bool make_thread(JNIEnv *jni, const char *name, jobject *reference) {
    jclass class = tracer.thread_class;
    jmethodID make = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
    jstring text = make ? (*jni)->NewStringUTF(jni, name) : NULL;
    jobject thread = text ? (*jni)->NewObject(jni, class, make, text) : NULL;
    bool made = thread && !(*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    if (made && *reference) (*jni)->DeleteGlobalRef(jni, *reference);
    if (made) *reference = (*jni)->NewGlobalRef(jni, thread);
    return made && *reference;
}

bool own_thread_start(struct own_thread *own, JNIEnv *jni, const char *name, jvmtiStartFunction run) {
    if (own->runs || !make_thread(jni, name, &own->thread)) return false;
    prepare(own);
    own->wanted = own->runs = true;
    if ((*tracer.jvmti)->RunAgentThread(tracer.jvmti, own->thread, run, NULL, JVMTI_THREAD_MAX_PRIORITY) ==
        JVMTI_ERROR_NONE)
        return true;
    own->wanted = own->runs = false;
    return false;
}

bool own_thread_sleep_until(struct own_thread *own, uint64_t due_ns) {
    const struct timespec due = timespec_of(due_ns);
    pthread_mutex_lock(&own->lock);
    while (own->wanted && clock_ns(CLOCK_MONOTONIC) < due_ns) pthread_cond_timedwait(&own->changed, &own->lock, &due);
    bool go_on = own->wanted;
    pthread_mutex_unlock(&own->lock);
    return go_on;
}

void own_thread_ends(struct own_thread *own) {
    pthread_mutex_lock(&own->lock);
    own->runs = false;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->lock);
}

void own_thread_stop(struct own_thread *own, unsigned seconds) {
    pthread_mutex_lock(&own->lock);
    bool stops = own->wanted;
    own->wanted = false;
    if (stops) pthread_cond_broadcast(&own->changed);
    const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + seconds * NS_PER_S;
    const struct timespec until = timespec_of(until_ns);
    while (stops && own->runs && clock_ns(CLOCK_MONOTONIC) < until_ns)
        pthread_cond_timedwait(&own->changed, &own->lock, &until);
    pthread_mutex_unlock(&own->lock);
}

bool own_thread_is(const struct own_thread *own, JNIEnv *jni, jthread thread) {
    return own->thread && (*jni)->IsSameObject(jni, own->thread, thread);
}
