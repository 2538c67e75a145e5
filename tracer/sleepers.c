// SPDX-License-Identifier: Apache-2.0
#include "tracer/sleepers.h"

#include "tracer/executors.h"
#include "tracer/own_thread.h"
#include "tracer/seen_frames.h"
#include "tracer/sites.h"
#include "tracer/weaving.h"

#include <stdlib.h>
#include <string.h>

enum {
    PERIOD_NS = 50000000,
    MOMENTS_A_SECOND = 20,
    LOOKS = 60 * MOMENTS_A_SECOND, // at most
    DEEPEST = 512,
    INNERMOST = 3,   // methods of a stack that are noted
    LEAST_TIMES = 3, // that one is seen
    WOVEN = 32,      // at most
    NOTED = 1024,    // methods, at most
    NAME_BYTES = 1024,
    SPARE_REFERENCES = 256, // to threads that begin between two moments
    STOP_SECONDS = 5,
};

// What seen_frames says of a method, whatever its bytecode index.
enum { OTHERS = 1, SERVES, OWN };
static const int64_t ANYWHERE = -1;

struct noted_method {
    jclass class; // global reference
    char *class_name, *name;
    uint32_t times;
};

_Atomic(bool) sleepers_expected;

static struct own_thread finder = OWN_THREAD_INIT;

// Only that thread touches these, but for found, which classes that load are compared with once it is published.
static struct seen_frames known;
static struct noted_method noted[NOTED];
static size_t noted_count;
static jint threads_before;
static struct class_glob found[WOVEN];

// Methods -------------------------------------------------------------------------------------------------------------

static bool serves_requests(struct utf8 internal_class, const char *method) {
    for (const struct executor_hook *hook = tracer.options.executors; hook; hook = hook->next) {
        const bool serves = hook->role == EXECUTOR_REQUEST_SERVE || hook->role == EXECUTOR_REQUEST_PART;
        if (serves && strcmp(hook->method, method) == 0 && executor_is_of(hook, internal_class, NULL)) return true;
    }
    return false;
}

static uint32_t note_own(JNIEnv *jni, jclass class, const char *internal, size_t length, const char *method) {
    char dotted[NAME_BYTES];
    jboolean modifiable = JNI_FALSE;
    if (noted_count == NOTED || !site_is_own(jni, class)) return OTHERS;
    if ((*tracer.jvmti)->IsModifiableClass(tracer.jvmti, class, &modifiable) != JVMTI_ERROR_NONE || !modifiable)
        return OTHERS;
    struct noted_method *of = &noted[noted_count];
    *of = (struct noted_method){.class = (*jni)->NewGlobalRef(jni, class),
                                .class_name = strdup(dotted_name(internal, length, dotted, sizeof dotted)),
                                .name = strdup(method)};
    return OWN + (uint32_t)noted_count++;
}

static uint32_t describe(JNIEnv *jni, jmethodID method) {
    char *signature = NULL, *name = NULL;
    uint32_t id = OTHERS;
    jclass class;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return OTHERS;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
        const size_t length = strlen(signature) - 2; // Lcom/acme/Main;
        const bool serves = serves_requests((struct utf8){signature + 1, (uint16_t)length}, name);
        id = serves ? SERVES : note_own(jni, class, signature + 1, length, name);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    (*jni)->DeleteLocalRef(jni, class);
    return id;
}

static uint32_t kind_of(JNIEnv *jni, jmethodID method) {
    const struct seen_frame *seen = seen_frames_find(&known, method, ANYWHERE);
    if (seen) return seen->id;
    const uint32_t id = describe(jni, method);
    seen_frames_add(&known, &(struct seen_frame){.method = method, .bci = ANYWHERE, .id = id});
    return id;
}

// Looking -------------------------------------------------------------------------------------------------------------

static bool is_asleep(const jvmtiStackInfo *stack) {
    return stack->state & (JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_IN_NATIVE);
}

static bool has(const uint32_t *items, size_t count, uint32_t item) {
    for (size_t i = 0; i < count; i++) {
        if (items[i] == item) return true;
    }
    return false;
}

// Whether it is at a request.
static bool note_stack(JNIEnv *jni, const jvmtiStackInfo *stack) {
    uint32_t own[INNERMOST], kind = OTHERS;
    size_t count = 0;
    for (jint i = 0; i < stack->frame_count && kind != SERVES; i++) {
        kind = kind_of(jni, stack->frame_buffer[i].method);
        if (kind >= OWN && count < INNERMOST && !has(own, count, kind)) own[count++] = kind;
    }
    if (kind != SERVES || count == 0) return false;
    for (size_t i = 0; i < count; i++) noted[own[i] - OWN].times++;
    return true;
}

// Whether a request was seen asleep.
static bool look(JNIEnv *jni) {
    jvmtiStackInfo *stacks;
    jint count = 0;
    bool seen = false;
    if ((*jni)->PushLocalFrame(jni, threads_before + SPARE_REFERENCES) != JNI_OK) {
        (*jni)->ExceptionClear(jni);
        return false;
    }
    if ((*tracer.jvmti)->GetAllStackTraces(tracer.jvmti, DEEPEST, &stacks, &count) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < count; i++) {
            if (is_asleep(&stacks[i]) && note_stack(jni, &stacks[i])) seen = true;
        }
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)stacks);
        threads_before = count;
    }
    (*jni)->PopLocalFrame(jni, NULL);
    return seen;
}

// false: the recording ends.
static bool look_for_sleepers(JNIEnv *jni) {
    const uint64_t wanted = tracer.options.calls_s * MOMENTS_A_SECOND;
    uint64_t due_ns = clock_ns(CLOCK_MONOTONIC), seen = 0, looks = 0;
    while (seen < wanted && looks < LOOKS) {
        if (!own_thread_sleep_until(&finder, due_ns += PERIOD_NS)) return false;
        if (!atomic_load_explicit(&sleepers_expected, memory_order_relaxed)) continue;
        seen += look(jni);
        looks++;
    }
    return true;
}

// Weaving -------------------------------------------------------------------------------------------------------------

static int by_times(const void *a, const void *b) {
    const struct noted_method *x = a, *y = b;
    return (y->times > x->times) - (y->times < x->times);
}

static void weave_most_seen(JNIEnv *jni) {
    jclass classes[WOVEN];
    jint class_count = 0;
    size_t count = 0;
    qsort(noted, noted_count, sizeof *noted, by_times);
    for (; count < WOVEN && count < noted_count && noted[count].times >= LEAST_TIMES; count++) {
        const struct noted_method *of = &noted[count];
        if (!of->class || !of->class_name || !of->name) break; // no memory
        found[count] = (struct class_glob){of->class_name, of->name, count > 0 ? &found[count - 1] : NULL};
        bool is_there = false;
        for (jint i = 0; i < class_count; i++) is_there |= (*jni)->IsSameObject(jni, classes[i], of->class);
        if (!is_there) classes[class_count++] = of->class;
    }
    if (count == 0) return;
    atomic_store_explicit(&tracer.options.found, &found[count - 1], memory_order_release);
    weaving_retransform(jni, classes, class_count);
}

static void let_go_of_classes(JNIEnv *jni) {
    for (size_t i = 0; i < noted_count; i++) {
        if (noted[i].class) (*jni)->DeleteGlobalRef(jni, noted[i].class);
        noted[i].class = NULL;
    }
    seen_frames_clear(&known);
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *unused) {
    if (look_for_sleepers(jni)) weave_most_seen(jni);
    let_go_of_classes(jni);
    own_thread_ends(&finder);
}

// Of the recording before, whose names classes are not compared with any more.
static void forget(void) {
    for (size_t i = 0; i < noted_count; i++) {
        free(noted[i].class_name);
        free(noted[i].name);
    }
    noted_count = 0;
    threads_before = 0;
    atomic_store_explicit(&sleepers_expected, false, memory_order_relaxed);
}

void sleepers_start(JNIEnv *jni) {
    if (!tracer.options.calls_s || finder.runs) return;
    forget();
    own_thread_start(&finder, jni, "rehype finder", run);
}

void sleepers_stop(void) {
    own_thread_stop(&finder, STOP_SECONDS);
}

bool sleepers_is_thread(JNIEnv *jni, jthread thread) {
    return own_thread_is(&finder, jni, thread);
}
