// SPDX-License-Identifier: Apache-2.0
#include "tracer/executor_rules.h"

#include "tracer/bytecodes.h"
#include "tracer/executors.h"
#include "tracer/identity.h"
#include "tracer/pools.h"
#include "tracer/queues.h"

#include <stdio.h>
#include <string.h>

static bool is_class(const struct executor_hook *hook, const char *name) {
    return executor_is_of(hook, (struct utf8){name, (uint16_t)strlen(name)}, NULL);
}

// Whether a class, or one that it extends, is the line's.
static bool concerns(JNIEnv *jni, jclass class, const struct executor_hook *hook) {
    bool is = false;
    jclass at = (*jni)->NewLocalRef(jni, class);
    while (at && !is) {
        char *signature; // Lcom/acme/Pool;
        if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, at, &signature, NULL) == JVMTI_ERROR_NONE) {
            size_t length = strlen(signature);
            is = length > 2 && length < UINT16_MAX &&
                 executor_is_of(hook, (struct utf8){signature + 1, (uint16_t)(length - 2)}, NULL);
            (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
        }
        jclass super = is ? NULL : (*jni)->GetSuperclass(jni, at);
        (*jni)->DeleteLocalRef(jni, at);
        at = super;
    }
    if (at) (*jni)->DeleteLocalRef(jni, at);
    return is;
}

static void clear(JNIEnv *jni) {
    if ((*jni)->ExceptionCheck(jni)) (*jni)->ExceptionClear(jni);
}

static int64_t call_number(JNIEnv *jni, jobject of, jmethodID method, bool is_long) {
    int64_t number = is_long ? (*jni)->CallLongMethod(jni, of, method) : (*jni)->CallIntMethod(jni, of, method);
    return (*jni)->ExceptionCheck(jni) ? -1 : number;
}

// What a method ()I or ()J, or a field I or J, tells; -1: nothing.
static int64_t number_of(JNIEnv *jni, jobject of, jclass class, const struct executor_hook *hook) {
    const char *type = hook->descriptor ? hook->descriptor : "()I";
    const bool is_long = strchr(type, 'J'), is_field = *type != '(';
    int64_t number = -1;
    jfieldID field = is_field ? (*jni)->GetFieldID(jni, class, hook->method, type) : NULL;
    clear(jni);
    jmethodID method = is_field ? NULL : (*jni)->GetMethodID(jni, class, hook->method, type);
    clear(jni);
    if (field) number = is_long ? (*jni)->GetLongField(jni, of, field) : (*jni)->GetIntField(jni, of, field);
    if (method) number = call_number(jni, of, method, is_long);
    clear(jni);
    return number;
}

static jobject object_of(JNIEnv *jni, jobject of, jclass class, const struct executor_hook *hook) {
    jmethodID method = hook->descriptor ? (*jni)->GetMethodID(jni, class, hook->method, hook->descriptor) : NULL;
    clear(jni);
    jobject object = method ? (*jni)->CallObjectMethod(jni, of, method) : NULL;
    clear(jni);
    return object;
}

static int32_t size_of(int64_t told) {
    return told < 0 ? -1 : told > INT32_MAX ? INT32_MAX : (int32_t)told;
}

static int64_t in_ns(int64_t told, int64_t unit_ns) {
    return told < 0 || told > INT64_MAX / unit_ns ? -1 : told * unit_ns;
}

static void take_queue(JNIEnv *jni, jobject queue, struct executor_rules *rules) {
    if (!queue) return;
    jclass class = (*jni)->GetObjectClass(jni, queue);
    identity_class_name(class, rules->queue, sizeof rules->queue);
    rules->pool.queue = rules->queue;
    rules->pool.capacity = pools_queue_capacity(jni, queue);
    rules->pool.flags |= executor_rules_flags(rules->queue);
    queues_exclude(jni, queue);
}

// An executor that tells how much its queue takes is its own queue.
static void take_capacity(int64_t told, struct executor_rules *rules) {
    if (told < 0) return;
    rules->pool.capacity = told == INT32_MAX ? -1 : told;
    rules->pool.queue = rules->kind;
}

static void take(JNIEnv *jni, jobject executor, jclass class, const struct executor_hook *hook,
                 struct executor_rules *rules) {
    struct trace_pool *pool = &rules->pool;
    switch (hook->role) {
    case EXECUTOR_CORE:
        if (pool->core < 0) pool->core = size_of(number_of(jni, executor, class, hook));
        break;
    case EXECUTOR_MAXIMUM:
        if (pool->maximum < 0) pool->maximum = size_of(number_of(jni, executor, class, hook));
        break;
    case EXECUTOR_QUEUE:
        if (!pool->queue) take_queue(jni, object_of(jni, executor, class, hook), rules);
        break;
    case EXECUTOR_CAPACITY:
        if (!pool->queue) take_capacity(number_of(jni, executor, class, hook), rules);
        break;
    case EXECUTOR_KEEP_ALIVE_MS:
        if (pool->keep_alive_ns < 0) pool->keep_alive_ns = in_ns(number_of(jni, executor, class, hook), 1000000);
        break;
    case EXECUTOR_KEEP_ALIVE_NS:
        if (pool->keep_alive_ns < 0) pool->keep_alive_ns = number_of(jni, executor, class, hook);
        break;
    case EXECUTOR_TAKE:
        pool->flags |= POOL_STAGE;
        break;
    case EXECUTOR_GROWS:
        pool->flags |= POOL_GROWS_FIRST;
        break;
    default: // EXECUTOR_WAKES
        pool->flags |= POOL_WAKES_FIRST;
    }
}

static bool is_asked(const struct executor_hook *hook) {
    bool of_rules = hook->role >= EXECUTOR_CORE && hook->role <= EXECUTOR_WAKES && hook->role != EXECUTOR_DELEGATE;
    return of_rules || hook->role == EXECUTOR_TAKE;
}

void executor_rules_ask(JNIEnv *jni, jobject executor, struct executor_rules *rules) {
    rules->pool =
        (struct trace_pool){.kind = rules->kind, .core = -1, .maximum = -1, .capacity = -1, .keep_alive_ns = -1};
    if ((*jni)->PushLocalFrame(jni, 32) != 0) return;
    jclass class = (*jni)->GetObjectClass(jni, executor);
    identity_class_name(class, rules->kind, sizeof rules->kind);
    struct bytecodes_pause pause = bytecodes_pause();
    thread_state_hide(); // the pool's own code runs
    for (const struct executor_hook *hook = tracer.options.executors; hook; hook = hook->next) {
        if (is_asked(hook) && concerns(jni, class, hook)) take(jni, executor, class, hook, rules);
    }
    thread_state_show();
    bytecodes_resume(pause);
    (*jni)->PopLocalFrame(jni, NULL);
}

jobject executor_rules_delegate(JNIEnv *jni, jobject executor) {
    jobject delegate = NULL;
    jclass class = (*jni)->GetObjectClass(jni, executor);
    struct bytecodes_pause pause = bytecodes_pause();
    thread_state_hide();
    for (const struct executor_hook *hook = tracer.options.executors; hook && !delegate; hook = hook->next) {
        if (hook->role == EXECUTOR_DELEGATE && concerns(jni, class, hook))
            delegate = object_of(jni, executor, class, hook);
    }
    thread_state_show();
    bytecodes_resume(pause);
    (*jni)->DeleteLocalRef(jni, class);
    return delegate;
}

uint32_t executor_rules_flags(const char *queue) {
    char internal[512];
    uint32_t flags = 0;
    snprintf(internal, sizeof internal, "%s", queue);
    for (char *at = internal; *at; at++) {
        if (*at == '.') *at = '/';
    }
    for (const struct executor_hook *hook = tracer.options.executors; hook; hook = hook->next) {
        if (hook->role == EXECUTOR_GROWS && is_class(hook, internal)) flags |= POOL_GROWS_FIRST;
        if (hook->role == EXECUTOR_WAKES && is_class(hook, internal)) flags |= POOL_WAKES_FIRST;
    }
    return flags;
}
