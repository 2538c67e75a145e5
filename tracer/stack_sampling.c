// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack_sampling.h"

#include "tracer/own_thread.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/stack_slice.h"

#include <stdlib.h>

enum {
    DEEPEST = 1024,
    CONTEXTS = 1 << 20,     // calling contexts, some 16 MiB
    SEEN = 1 << 13,         // stacks whose context is at hand
    SPARE_REFERENCES = 256, // to threads that begin between two moments
    STOP_SECONDS = 1,
};

static const jlocation ANYWHERE = -1; // in its method

static struct own_thread sampler = OWN_THREAD_INIT;

// Only that thread touches these.
static struct stack_slice *slice;
static uint64_t slice_begun_ns, seed;
static jint threads_before;
static struct seen_stack {
    uint64_t hash; // of its methods and depth
    uint32_t context;
} seen[SEEN];

void stack_sampling_know(jthread thread, uint32_t id) {
    if (!tracer.options.sample_hz) return;
    uint64_t known = (uint64_t)atomic_load_explicit(&tracer.session, memory_order_relaxed) << 32 | id;
    (*tracer.jvmti)->SetThreadLocalStorage(tracer.jvmti, thread, (void *)(uintptr_t)known);
}

// 0: the recording does not know it.
static uint32_t id_of(jthread thread) {
    void *known = NULL;
    if ((*tracer.jvmti)->GetThreadLocalStorage(tracer.jvmti, thread, &known) != JVMTI_ERROR_NONE) return 0;
    uint64_t session = atomic_load_explicit(&tracer.session, memory_order_relaxed);
    return (uint64_t)(uintptr_t)known >> 32 == session ? (uint32_t)(uintptr_t)known : 0;
}

static uint64_t hash_of(const jvmtiFrameInfo *frames, size_t depth) {
    uint64_t hash = 0xcbf29ce484222325u ^ depth;
    for (size_t i = 0; i < depth; i++) {
        hash = (hash ^ (uintptr_t)frames[i].method) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash ? hash : 1;
}

// 0: there was no room for it. The methods' own places are asked for, so that one method is one frame.
static uint32_t context_of(JNIEnv *jni, jvmtiFrameInfo *frames, size_t depth) {
    uint32_t places[DEEPEST + 1] = {0}; // the one behind the deepest: whatever called it
    const uint64_t hash = hash_of(frames, depth);
    struct seen_stack *known = &seen[hash % SEEN];
    if (known->hash == hash) return known->context;
    for (size_t i = 0; i < depth; i++) frames[i].location = ANYWHERE;
    if (!sites_of_stack(jni, frames, depth < DEEPEST ? depth : DEEPEST, places)) return 0;
    uint32_t context = registry_calling_context(places, depth);
    if (context) *known = (struct seen_stack){hash, context};
    return context;
}

static void put_stacks(JNIEnv *jni, jvmtiStackInfo *stacks, jint count) {
    for (jint i = 0; i < count; i++) {
        uint32_t thread = stacks[i].frame_count > 0 ? id_of(stacks[i].thread) : 0;
        if (!thread) continue;
        uint32_t context = context_of(jni, stacks[i].frame_buffer, (size_t)stacks[i].frame_count);
        if (context)
            stack_slice_put(slice, thread, context);
        else
            slice->costs.left_out++;
    }
}

static void take_stacks(JNIEnv *jni) {
    jvmtiStackInfo *stacks;
    jint count = 0;
    if ((*jni)->PushLocalFrame(jni, threads_before + SPARE_REFERENCES) != JNI_OK) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), begun_ticks = clock_ticks();
    if ((*tracer.jvmti)->GetAllStackTraces(tracer.jvmti, DEEPEST + 1, &stacks, &count) == JVMTI_ERROR_NONE) {
        uint64_t ticks = clock_ticks();
        slice->costs.take_ns += clock_ns(CLOCK_MONOTONIC) - begun_ns;
        stack_slice_moment(slice, begun_ticks + (ticks - begun_ticks) / 2);
        put_stacks(jni, stacks, count);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)stacks);
        threads_before = count;
    }
    (*jni)->PopLocalFrame(jni, NULL);
    slice->costs.work_ns += clock_ns(CLOCK_MONOTONIC) - begun_ns;
}

static void hand_over(void) {
    if (slice) registry_stacks(slice);
    slice = NULL;
}

static void sample(JNIEnv *jni, uint64_t missed) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (slice && (stack_slice_is_full(slice) || now_ns - slice_begun_ns >= SLICE_NS)) hand_over();
    if (!slice && (slice = stack_slice_new())) slice_begun_ns = now_ns;
    if (!slice) return;
    slice->costs.missed += missed;
    take_stacks(jni);
}

// How many pauses were over, beside the one that is to come, by now; moves *due_ns behind now.
static uint64_t next_due(uint64_t *due_ns) {
    const uint64_t period_ns = 1000000000 / tracer.options.sample_hz, now_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t missed = 0;
    *due_ns += stack_slice_pause_ns(&seed, period_ns);
    for (; *due_ns < now_ns; missed++) *due_ns += stack_slice_pause_ns(&seed, period_ns);
    return missed;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *unused) {
    uint64_t due_ns = clock_ns(CLOCK_MONOTONIC), missed = next_due(&due_ns);
    while (own_thread_sleep_until(&sampler, due_ns)) {
        sample(jni, missed);
        missed = next_due(&due_ns);
    }
    hand_over();
    own_thread_ends(&sampler);
}

bool stack_sampling_is_thread(JNIEnv *jni, jthread thread) {
    return own_thread_is(&sampler, jni, thread);
}

static void prepare(void) {
    seed = clock_ticks() | 1;
    threads_before = 0;
    for (size_t i = 0; i < SEEN; i++) seen[i] = (struct seen_stack){0};
    registry_calling_room(CONTEXTS);
}

void stack_sampling_start(JNIEnv *jni) {
    if (!tracer.options.sample_hz || sampler.runs) return;
    prepare();
    own_thread_start(&sampler, jni, "rehype sampler", run);
}

void stack_sampling_stop(void) {
    own_thread_stop(&sampler, STOP_SECONDS);
}
