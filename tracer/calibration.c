// SPDX-License-Identifier: Apache-2.0
#include "tracer/calibration.h"

#include <java_lang_Rehype.h>

#include <stdatomic.h>

enum {
    CALLS = 100,        // of a loop
    LOOPS = 20,         // between two pauses
    TURNS = 40,         // of each kind
    SETTLED_TURNS = 10, // the JVM has compiled the loops by then, if it does
    MEMORY_BYTES = 1 << 20,
};

static jobject own_thread; // global reference
static struct chunks chunks;
static struct ring ring; // of that thread: goes nowhere

// Only that thread touches them.
static uint64_t begun_ticks, least_ticks[2];
static unsigned turns[2];

bool calibration_is_thread(JNIEnv *jni, jthread thread) {
    return own_thread && (*jni)->IsSameObject(jni, own_thread, thread);
}

JNIEXPORT void JNICALL Java_java_lang_Rehype_nothing(JNIEnv *jni, jclass helper, jint unused) {
}

JNIEXPORT void JNICALL Java_java_lang_Rehype_turnBegins(JNIEnv *jni, jclass helper) {
    ring_reset(&ring);
    begun_ticks = clock_ticks();
}

static void tell(bool functions) {
    uint64_t ticks_1024 = least_ticks[functions] * 1024 / (CALLS * LOOPS), times = turns[functions] * CALLS * LOOPS;
    if (functions)
        cost_meter_set_function(ticks_1024 / 2, 2 * times);
    else
        cost_meter_set_call(ticks_1024, times);
}

// Returns whether one more is wanted.
JNIEXPORT jboolean JNICALL Java_java_lang_Rehype_turnEnds(JNIEnv *jni, jclass helper, jboolean functions) {
    uint64_t ticks = clock_ticks() - begun_ticks;
    if (turns[functions] == 0 || ticks < least_ticks[functions]) least_ticks[functions] = ticks;
    turns[functions]++;
    if (turns[functions] >= SETTLED_TURNS) tell(functions);
    return turns[functions] < TURNS && atomic_load_explicit(&tracer.session, memory_order_relaxed) != 0;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *unused) {
    jclass helper = (*jni)->FindClass(jni, HELPER_CLASS);
    jmethodID calibrate = helper ? (*jni)->GetStaticMethodID(jni, helper, "calibrate", "(II)V") : NULL;
    if (calibrate && chunks_reserve(&chunks, MEMORY_BYTES, CHUNK_MOST_BYTES)) {
        chunks_limit(&chunks, MEMORY_BYTES);
        ring_init(&ring, &chunks, 0, NULL);
        thread_ring = &ring;
        (*jni)->CallStaticVoidMethod(jni, helper, calibrate, (jint)LOOPS, (jint)CALLS);
        thread_ring = NULL;
        ring_reset(&ring);
        chunks_release(&chunks);
    }
    (*jni)->ExceptionClear(jni);
}

void calibration_start(JNIEnv *jni) {
    if (own_thread) return;
    jclass class = tracer.thread_class;
    jmethodID make = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
    jstring name = make ? (*jni)->NewStringUTF(jni, "rehype") : NULL;
    jobject thread = name ? (*jni)->NewObject(jni, class, make, name) : NULL;
    if (thread && !(*jni)->ExceptionCheck(jni)) own_thread = (*jni)->NewGlobalRef(jni, thread);
    (*jni)->ExceptionClear(jni);
    if (own_thread) (*tracer.jvmti)->RunAgentThread(tracer.jvmti, own_thread, run, NULL, JVMTI_THREAD_NORM_PRIORITY);
}
