// SPDX-License-Identifier: Apache-2.0
#include "tracer/calling.h"

#include "tracer/registry.h"
#include "tracer/sites.h"

enum { DEEPEST = 32 };

// 0: there was no room for it.
static uint32_t context_of(JNIEnv *jni, const jvmtiFrameInfo *stack, jint depth) {
    struct trace_calling_context context = {0, 0};
    uint32_t id = 0;
    if (depth > DEEPEST && !(id = registry_calling_context(&context))) return 0; // whatever called the outermost
    for (jint i = depth > DEEPEST ? DEEPEST : depth; i > 0; i--) {
        context = (struct trace_calling_context){id, site_of_any_frame(jni, &stack[i - 1])};
        if (!context.frame || !(id = registry_calling_context(&context))) return 0;
    }
    return id;
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
        sample.context = context_of(jni, stack, depth);
    if (sample.context)
        registry_calling_sample(&sample);
    else
        registry_calling_left_out();
}
