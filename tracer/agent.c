// SPDX-License-Identifier: Apache-2.0
// The agent's life in a JVM that starts with it: Agent_OnLoad (options, capabilities) -> VMStart (helper class; from
// here on classes are woven; in JDK 8 first of all at VMInit) -> VMInit (clock, trace file, drainer; from here on
// probes record) -> VMDeath (the rest is drained, the file closed). In a JVM that it comes to: attach.c.
//
// Nothing here may harm the program: no failure stops the JVM, nothing is printed. What goes wrong before the trace
// file is open is kept and written into it; if the file can't be made there is nobody to tell but `rehype record`,
// which looks for it.
#include "tracer/calibration.h"
#include "tracer/hooks.h"
#include "tracer/lookup.h"
#include "tracer/run.h"
#include "tracer/sites.h"
#include "tracer/sleepers.h"
#include "tracer/stack_sampling.h"
#include "tracer/tracer.h"
#include "tracer/trials.h"
#include "tracer/weaving.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error startup_error = ERROR_INIT; // why there will be no tracing, or STATUS_OK

// Events --------------------------------------------------------------------------------------------------------------

static void begin_weaving(JNIEnv *jni) {
    if (startup_error.status == STATUS_OK && run_define_helper(jni, &startup_error)) {
        atomic_store_explicit(&tracer.linkable, true, memory_order_release);
    }
}

// JDK 8 says VMStart before it has initialised java.lang.String: a class that is woven then, or looked for, ends the
// JVM.
static bool starts_too_early(jvmtiEnv *jvmti) {
    enum { JVMTI_OF_JDK_9 = 9 };
    jint version = 0;
    (*jvmti)->GetVersionNumber(jvmti, &version);
    return (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR < JVMTI_OF_JDK_9;
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *jni) {
    if (!starts_too_early(jvmti)) begin_weaving(jni);
}

// All at once: each time the JVM stops, and goes through all its classes.
static void retransform_early_classes(JNIEnv *jni) {
    jclass classes[HOOKS_EARLY_CLASSES];
    jint count = 0;
    for (size_t i = 0; i < HOOKS_EARLY_CLASSES; i++) {
        const char *name = hooks_early_classes[i];
        char dotted[128];
        jclass class = lookup_class(jni, NULL, dotted_name(name, strlen(name), dotted, sizeof dotted));
        if (class) classes[count++] = class; // this JDK has it
    }
    weaving_retransform(jni, classes, count);
    for (jint i = 0; i < count; i++) (*jni)->DeleteLocalRef(jni, classes[i]);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread main_thread) {
    struct error error = ERROR_INIT;
    if (starts_too_early(jvmti)) begin_weaving(jni);
    if (startup_error.status == STATUS_OK) run_know_classes(jni, &startup_error);
    if (startup_error.status == STATUS_OK) run_know_application(jni);
    if (!run_start(&startup_error, &error)) {
        atomic_store_explicit(&tracer.stopped, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&tracer.tracing, true, memory_order_relaxed);
    retransform_early_classes(jni);
    if (tracer.options.bytecodes) weaving_count_loaded(jni);
    run_begin_thread(jni, main_thread);
    run_hear(JVMTI_ENABLE);
    calibration_start(jni);
    stack_sampling_start(jni);
    sleepers_start(jni);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni) {
    run_hear(JVMTI_DISABLE);
    atomic_store_explicit(&tracer.stopped, true, memory_order_relaxed);
    run_stop();
}

// Loading -------------------------------------------------------------------------------------------------------------

static void listen(void) {
    jvmtiEventCallbacks callbacks = {.VMStart = on_vm_start, .VMInit = on_vm_init, .VMDeath = on_vm_death};
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};
    run_listen(&callbacks);
    (*tracer.jvmti)->SetEventCallbacks(tracer.jvmti, &callbacks, sizeof callbacks);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, JVMTI_ENABLE, events[i], NULL);
}

static const char *agent_path(void) {
    Dl_info info;
    return dladdr((const void *)agent_path, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
}

// JVMs that this one starts find the agent in their environment. The same text would do for them, but that the name of
// the file is taken: they claim one of their own.
static void pass_on_to_children(const char *agent_options) {
    const char *library = agent_path();
    const char *before = getenv("JAVA_TOOL_OPTIONS");
    size_t size = 64 + strlen(agent_options) + (library ? strlen(library) : 0) + (before ? strlen(before) : 0);
    char *value = library ? arena_alloc(&tracer.arena, size, 1) : NULL;
    if (!value) return;
    snprintf(value, size, "%s%s-agentpath:%s=%s,claim=1", before ? before : "", before ? " " : "", library,
             agent_options);
    setenv("JAVA_TOOL_OPTIONS", value, 1);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    if (tracer.vm) return JNI_OK; // named twice, by option and by environment: once is enough
    options_parse(options, &tracer.arena, &tracer.options, &startup_error);
    trials_begin(tracer.options.monotonic);
    struct error refused = ERROR_INIT;
    if (!run_ask(vm, &refused) && startup_error.status == STATUS_OK) startup_error = refused;
    if (!tracer.jvmti) return JNI_OK;
    run_know_application(NULL);
    if (startup_error.status == STATUS_OK && tracer.options.children) pass_on_to_children(options);
    listen();
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm) {
    run_stop(); // a JVM that never came to VMDeath
}
