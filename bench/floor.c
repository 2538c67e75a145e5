// SPDX-License-Identifier: GPL-3.0-or-later
// The least that recording an event from Java can cost on this machine, as natives of TracerBench: a call out of
// compiled code, the clock, and storing 16 bytes for the thread. No buffer, no limit, no publication.
#include <jni.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct record {
    uint64_t ticks, method;
};

static __thread volatile struct record last __attribute__((tls_model("initial-exec")));

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

JNIEXPORT void JNICALL Java_TracerBench_empty(JNIEnv *jni, jclass bench, jint method) {
}

JNIEXPORT void JNICALL Java_TracerBench_floor(JNIEnv *jni, jclass bench, jint method) {
    last.ticks = ticks();
    last.method = (uint32_t)method;
}

JNIEXPORT void JNICALL Java_TracerBench_readCounter(JNIEnv *jni, jclass bench, jint times) {
    for (jint i = 0; i < times; i++) last.ticks = ticks();
}
