// SPDX-License-Identifier: Apache-2.0
#include "tracer/calling.h"

#include "tracer/registry.h"
#include "tracer/sites.h"

enum { DEEPEST = 32 };

// 0: there was no room for it.
static uint32_t context_of(JNIEnv *jni, const jvmtiFrameInfo *stack, size_t depth) {
    uint32_t frames[DEEPEST + 1] = {0}; // the one behind the deepest: whatever called it
    return sites_of_stack(jni, stack, depth < DEEPEST ? depth : DEEPEST, frames)
               ? registry_calling_context(frames, depth)
               : 0;
}

void calling_take(struct thread_state *state, enum calling_kind kind, uint64_t task, uint64_t stands_for) {
    jvmtiFrameInfo stack[DEEPEST + 1];
    jint depth = 0;
    JNIEnv *jni;
    struct trace_calling_sample sample = {.task = task, .stands_for = stands_for, .kind = kind};
    probe_timer_drop(&state->native->timer);
    // 0 is the probe.
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK &&
        (*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, 1, DEEPEST + 1, stack, &depth) == JVMTI_ERROR_NONE)
        sample.context = context_of(jni, stack, (size_t)depth);
    if (sample.context)
        registry_calling_sample(&sample);
    else
        registry_calling_left_out();
}
