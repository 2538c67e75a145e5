// SPDX-License-Identifier: Apache-2.0
#include "tracer/connections.h"

#include "tracer/bytecodes.h"
#include "tracer/executors.h"
#include "tracer/identity.h"
#include "tracer/locks.h"
#include "tracer/resources.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256, LIMITS = 1 << 12 };

static _Atomic(int64_t) limits_ms[LIMITS]; // of the first slots' pools, where they tell; else at most 0

// What a line's method is called on: the pool, or what a field of it holds (FIELD:TYPE.METHOD). A new local reference.
static jobject told_by(JNIEnv *jni, jobject pool, struct utf8 prefix, const char *path, const char **method) {
    char field[NAME_BYTES], type[NAME_BYTES], relocated[2 * NAME_BYTES];
    const char *dot = strrchr(path, '.');
    *method = dot ? dot + 1 : path;
    if (!dot || sscanf(path, "%255[^:]:%255[^.]", field, type) != 2) return dot ? NULL : (*jni)->NewLocalRef(jni, pool);
    jclass class = (*jni)->GetObjectClass(jni, pool);
    jfieldID id = identity_field(jni, class, field, executor_relocated(prefix, type, relocated, sizeof relocated));
    (*jni)->DeleteLocalRef(jni, class);
    return id ? (*jni)->GetObjectField(jni, pool, id) : NULL;
}

static jmethodID method_of(JNIEnv *jni, jobject object, const char *name, const char *descriptor) {
    jclass class = (*jni)->GetObjectClass(jni, object);
    jmethodID method = (*jni)->GetMethodID(jni, class, name, descriptor);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    return method;
}

static void copy_text(JNIEnv *jni, jstring text, char *copy) {
    const char *bytes = text ? (*jni)->GetStringUTFChars(jni, text, NULL) : NULL;
    if (bytes) snprintf(copy, NAME_BYTES, "%s", bytes);
    if (bytes) (*jni)->ReleaseStringUTFChars(jni, text, bytes);
}

// -1 where it can't be told.
static int64_t ask_number(JNIEnv *jni, jobject object, const char *name) {
    jmethodID method = method_of(jni, object, name, "()I");
    jint capacity = method ? (*jni)->CallIntMethod(jni, object, method) : -1;
    bool failed = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    return failed || capacity < 0 ? -1 : capacity;
}

static void ask_name(JNIEnv *jni, jobject object, const char *name, char *text) {
    jmethodID method = method_of(jni, object, name, "()Ljava/lang/String;");
    jstring told = method ? (*jni)->CallObjectMethod(jni, object, method) : NULL;
    bool failed = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    if (!failed) copy_text(jni, told, text);
}

// The pool's class in internal form.
static struct utf8 class_of(JNIEnv *jni, jobject pool, char *text, size_t size) {
    jclass class = (*jni)->GetObjectClass(jni, pool);
    identity_class_name(class, text, size);
    (*jni)->DeleteLocalRef(jni, class);
    for (char *at = text; *at; at++) {
        if (*at == '.') *at = '/';
    }
    return (struct utf8){text, (uint16_t)strlen(text)};
}

struct described {
    int64_t capacity, limit_ms;
    char name[NAME_BYTES];
};

static void describe(JNIEnv *jni, jobject pool, struct described *described) {
    *described = (struct described){.capacity = -1, .limit_ms = -1};
    char name[NAME_BYTES];
    const struct utf8 class = class_of(jni, pool, name, sizeof name);
    struct utf8 prefix;
    for (const struct executor_hook *hook = tracer.options.executors; hook; hook = hook->next) {
        const char *method;
        bool tells = hook->role >= EXECUTOR_RESOURCE_CAPACITY && executor_is_of(hook, class, &prefix);
        jobject teller = tells ? told_by(jni, pool, prefix, hook->method, &method) : NULL;
        if (!teller) continue;
        if (hook->role == EXECUTOR_RESOURCE_CAPACITY && described->capacity < 0)
            described->capacity = ask_number(jni, teller, method);
        if (hook->role == EXECUTOR_RESOURCE_LIMIT && described->limit_ms < 0)
            described->limit_ms = ask_number(jni, teller, method);
        if (hook->role == EXECUTOR_RESOURCE_NAME && !*described->name) ask_name(jni, teller, method, described->name);
        (*jni)->DeleteLocalRef(jni, teller);
    }
}

static uint32_t make(JNIEnv *jni, struct thread_state *state, jobject pool, uint64_t id, enum resource_kind kind) {
    struct described described;
    if ((*jni)->PushLocalFrame(jni, 16) != 0) return 0;
    struct bytecodes_pause pause = bytecodes_pause();
    thread_state_hide(); // the pool's own code runs
    describe(jni, pool, &described);
    thread_state_show();
    bytecodes_resume(pause);
    uint32_t class = identity_class(jni, state, pool);
    (*jni)->PopLocalFrame(jni, NULL);
    uint32_t slot = resources_new_of(id, (struct trace_resource){.kind = kind,
                                                                 .class = class,
                                                                 .capacity = described.capacity,
                                                                 .name = *described.name ? described.name : NULL});
    if (slot < LIMITS) atomic_store_explicit(&limits_ms[slot], described.limit_ms, memory_order_relaxed);
    return slot;
}

static uint32_t slot_of(JNIEnv *jni, struct thread_state *state, jobject pool, enum resource_kind kind) {
    uint64_t id = locks_id(state, pool);
    uint32_t slot = resources_find(id);
    return slot || !id ? slot : make(jni, state, pool, id, kind);
}

static void ask(JNIEnv *jni, jobject pool, enum resource_kind kind, uint64_t limit_ns) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->asked_depth++ > 0) return;
    state->asked = 0;
    if (!resources_may_wait(state)) return;
    state->asked = slot_of(jni, state, pool, kind);
    int64_t limit_ms = state->asked < LIMITS ? limits_ms[state->asked] : 0;
    state->asked_limit_ns = limit_ns ? limit_ns : limit_ms > 0 ? (uint64_t)limit_ms * 1000000 : 0;
    state->asked_since_ns = clock_ns(CLOCK_MONOTONIC);
}

void connections_ask(JNIEnv *jni, jobject pool, uint64_t limit_ns) {
    ask(jni, pool, RESOURCE_POOL, limit_ns);
}

void connections_ask_leave(JNIEnv *jni, jobject gate) {
    ask(jni, gate, RESOURCE_PERMITS, 0);
}

// The outermost is left. Returns what was asked for.
static uint32_t leave(struct thread_state *state) {
    if (!state || state->asked_depth == 0 || --state->asked_depth > 0) return 0;
    uint32_t asked = state->asked;
    state->asked = 0;
    return asked;
}

static void refuse(struct thread_state *state) {
    enum { NEARLY = 1000000 }; // pools round their limits
    uint64_t waited_ns = clock_ns(CLOCK_MONOTONIC) - state->asked_since_ns;
    bool in_time = waited_ns + NEARLY < state->asked_limit_ns;
    resources_give_up(state, in_time ? GIVEN_UP_OTHER : GIVEN_UP_TIME);
}

void connections_given(JNIEnv *jni, bool given) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t asked = leave(state);
    if (!asked) return;
    if (resources_waits(WAIT_POOL)) {
        if (given)
            resources_acquired(state);
        else
            refuse(state);
    } else if (given && !resources_is_calm(asked)) {
        resources_held(jni, state, (struct wanted){.slot = asked, .units = 1});
    }
}

void connections_refused(void) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t asked = leave(state);
    if (asked && resources_waits(WAIT_POOL)) refuse(state);
}

void connections_returned(JNIEnv *jni, jobject pool) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->tasks == 0 || state->wants || state->asked) return;
    uint32_t slot = slot_of(jni, state, pool, RESOURCE_POOL);
    if (slot && resources_tells_release(slot))
        resources_released(jni, state, (struct wanted){.slot = slot, .units = 1}, 0);
}
