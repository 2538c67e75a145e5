// SPDX-License-Identifier: Apache-2.0
// The agent's life: Agent_OnLoad (options, capabilities) -> VMStart (helper class; from here on classes are woven) ->
// VMInit (clock, trace file, drainer; from here on probes record) -> VMDeath (the rest is drained, the file closed).
//
// Nothing here may harm the program: no failure stops the JVM, nothing is printed. What goes wrong before the trace
// file is open is kept and written into it; if the file can't be made there is nobody to tell but `rehype record`,
// which looks for it.
#include "tracer/hooks.h"
#include "tracer/identity.h"
#include "tracer/locks.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/tracer.h"
#include "tracer/virtual.h"
#include "tracer/weaving.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tracer tracer;

static struct error startup_error = ERROR_INIT; // why there will be no tracing, or STATUS_OK

extern const unsigned char helper_class_bytes[];
extern const size_t helper_class_length;

// Trace file ----------------------------------------------------------------------------------------------------------

static char *system_property(const char *name) {
    char *value = NULL;
    if ((*tracer.jvmti)->GetSystemProperty(tracer.jvmti, name, &value) != JVMTI_ERROR_NONE) return NULL;
    char *copy = arena_string(&tracer.arena, value, strlen(value));
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)value);
    return copy;
}

static const char *jvm_text(void) {
    const char *name = system_property("java.vm.name"), *version = system_property("java.vm.version");
    size_t size = 256;
    char *text = arena_alloc(&tracer.arena, size, 1);
    if (text) snprintf(text, size, "%s %s", version ? version : "?", name ? name : "?");
    return text;
}

// Appends one argument as a shell would take it, so that command_without_secrets sees it as one word.
static size_t append_word(char *text, size_t used, size_t size, const char *word) {
    if (used && used + 1 < size) text[used++] = ' ';
    for (; *word && used + 2 < size; word++) {
        if (strchr(" \t\n\"'\\", *word)) text[used++] = '\\';
        text[used++] = *word;
    }
    return used;
}

// This process's command line without secrets, and without the option that names the tracer itself.
static const char *command_text(void) {
    enum { SIZE = 16 << 10 };
    static const char OPTION[] = "-agentpath:", LIBRARY[] = "librehype-agent";
    char words[SIZE];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, words, SIZE - 1);
    if (fd >= 0) close(fd);
    char *text = length > 0 ? arena_alloc(&tracer.arena, SIZE, 1) : NULL;
    if (!text) return NULL;
    words[length] = '\0';
    size_t used = 0;
    for (const char *word = words; word < words + length; word += strlen(word) + 1) {
        bool ours = strncmp(word, OPTION, sizeof OPTION - 1) == 0 && strstr(word, LIBRARY);
        if (!ours) used = append_word(text, used, SIZE, word);
    }
    command_without_secrets(text);
    return text;
}

static struct trace_writer *open_trace(const struct trace_header *header, struct error *error) {
    bool exists = false;
    const char *path = tracer.options.out;
    struct trace_writer *writer = trace_writer_open(path, header, tracer.options.claim, &exists, error);
    if (!writer && exists && (path = options_out_with_pid(path, &tracer.arena))) {
        writer = trace_writer_open(path, header, false, NULL, error);
    }
    return writer;
}

static struct trace_header describe_run(void) {
    struct clock_source clock = clock_init();
    struct cpu_meter_kind meter = cpu_meter_choose(clock.ticks_per_s);
    int64_t skew = clock_uses_counter ? clock_skew_ticks() : 0;
    return (struct trace_header){
        .jvm = jvm_text(),
        .command = command_text(),
        .options = tracer.options.text,
        .clock = clock.name,
        .ticks_per_s = clock.ticks_per_s,
        .start_unix_ns = clock_ns(CLOCK_REALTIME),
        .cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
        .pid = (uint32_t)getpid(),
        .cycle_unit = meter.unit,
        .cycle_source = meter.source,
        .clock_skew_ns = skew < 0 ? -1 : (int64_t)((double)skew * 1e9 / (double)clock.ticks_per_s),
        .origin = "recorded",
    };
}

static void write_why_not(struct trace_writer *writer) {
    char why[ERROR_CAUSE_BYTES];
    struct trace_end end = {.stopped_because = error_text(&startup_error, why, sizeof why)};
    struct error ignored = ERROR_INIT;
    trace_writer_close(writer, &end, &ignored);
}

static bool start_recording(void) {
    struct trace_header header = describe_run();
    struct error error = ERROR_INIT;
    struct trace_writer *writer = open_trace(&header, &error);
    if (!writer) return false;
    if (startup_error.status == STATUS_OK && drainer_start(writer, &startup_error)) return true;
    write_why_not(writer);
    return false;
}

// Events --------------------------------------------------------------------------------------------------------------

static bool define_helper(JNIEnv *jni) {
    jclass helper =
        (*jni)->DefineClass(jni, HELPER_CLASS, NULL, (const jbyte *)helper_class_bytes, (jsize)helper_class_length);
    if (helper) {
        (*jni)->DeleteLocalRef(jni, helper);
        return true;
    }
    (*jni)->ExceptionClear(jni);
    return error_set(&startup_error, STATUS_FAILED, "the JVM does not take the tracer's helper class " HELPER_CLASS);
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *jni) {
    if (startup_error.status == STATUS_OK && define_helper(jni)) {
        atomic_store_explicit(&tracer.linkable, true, memory_order_release);
    }
}

static jobject parent_of_system_loader(JNIEnv *jni) {
    jobject platform = NULL;
    jclass loader_class = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    jmethodID system_loader =
        loader_class ? (*jni)->GetStaticMethodID(jni, loader_class, "getSystemClassLoader", "()Ljava/lang/ClassLoader;")
                     : NULL;
    jmethodID parent =
        system_loader ? (*jni)->GetMethodID(jni, loader_class, "getParent", "()Ljava/lang/ClassLoader;") : NULL;
    jobject loader = parent ? (*jni)->CallStaticObjectMethod(jni, loader_class, system_loader) : NULL;
    if (loader && !(*jni)->ExceptionCheck(jni)) platform = (*jni)->CallObjectMethod(jni, loader, parent);
    (*jni)->ExceptionClear(jni);
    return platform ? (*jni)->NewGlobalRef(jni, platform) : NULL;
}

// Looks a class of the JDK up, but does not initialise it as FindClass would. NULL where this JDK hasn't it.
static jclass look_up(JNIEnv *jni, const char *name) {
    char dotted[128];
    jclass class_class = (*jni)->FindClass(jni, "java/lang/Class");
    jmethodID for_name = (*jni)->GetStaticMethodID(jni, class_class, "forName",
                                                   "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    jstring text = (*jni)->NewStringUTF(jni, dotted_name(name, strlen(name), dotted, sizeof dotted));
    jclass class = text ? (*jni)->CallStaticObjectMethod(jni, class_class, for_name, text, JNI_FALSE, NULL) : NULL;
    bool failed = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, text);
    (*jni)->DeleteLocalRef(jni, class_class);
    return failed ? NULL : class;
}

static void retransform_early_classes(JNIEnv *jni) {
    for (const char *const *name = hooks_early_classes; *name; name++) {
        jclass class = look_up(jni, *name);
        if (!class) continue;
        jvmtiError failed = (*tracer.jvmti)->RetransformClasses(tracer.jvmti, 1, &class);
        if (failed != JVMTI_ERROR_NONE) registry_skip(*name, "the JVM refuses to retransform it");
        (*jni)->DeleteLocalRef(jni, class);
    }
}

static void enable(jvmtiEventMode mode, const jvmtiEvent *events, size_t count) {
    for (size_t i = 0; i < count; i++) (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, mode, events[i], NULL);
}

static const jvmtiEvent running_events[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                            JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                            JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
enum { RUNNING_EVENTS = sizeof running_events / sizeof *running_events };

static void begin_thread(JNIEnv *jni, jthread thread) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    state->run_task = identity_of_thread(thread);
    if (!state->run_task) state->run_task = task_id_new(state);
    identity_set_thread(thread, state->run_task);
    record_boundary(state, EVENT_THREAD_START, state->run_task, 0);
}

// What a thread that the JVM has just started runs: a pool's loop, or a task, its run().
static void begin_run(JNIEnv *jni, jthread thread) {
    struct thread_state *state = thread_state;
    if (!state) return;
    if (state->is_carrier) {
        state->worker = true;
    } else if (identity_is_worker(jni, thread)) {
        state->worker = true;
        state->worker_pool = identity_worker_pool(jni, thread);
        thread_state_name_pool(state->worker_pool);
        record1(state, EVENT_WORKER_BEGIN, state->worker_pool);
    } else {
        thread_state_enter(state, state->run_task);
    }
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    if (thread_state && thread_state->run_task) return; // main: VMInit told of it already
    begin_thread(jni, thread);
    begin_run(jni, thread);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    if (thread_state) record_boundary(thread_state, EVENT_THREAD_END, thread_state->run_task, 0);
    thread_state_end();
}

// At a safepoint, on whatever thread collects: no JNI here, and no state of the thread's. The JVM's own stream has one
// producer at a time, because collections don't overlap.
static struct channel *gc_channel;

static void JNICALL on_gc_start(jvmtiEnv *jvmti) {
    if (gc_channel) ring_put1(&gc_channel->ring, clock_ticks(), EVENT_GC_BEGIN, 0);
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti) {
    if (gc_channel) ring_put1(&gc_channel->ring, clock_ticks(), EVENT_GC_END, 0);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread main_thread) {
    if (startup_error.status == STATUS_OK && !identity_init(jni)) {
        error_set(&startup_error, STATUS_FAILED, "the JVM's classes are not as the tracer expects them");
    }
    locks_init(jni);
    virtual_init(jni);
    tracer.platform_loader = parent_of_system_loader(jni);
    if (!start_recording()) {
        atomic_store_explicit(&tracer.stopped, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&tracer.tracing, true, memory_order_relaxed);
    retransform_early_classes(jni);
    gc_channel = drainer_open(0, RING_LEAST_RECORDS * 64);
    begin_thread(jni, main_thread);
    enable(JVMTI_ENABLE, running_events, RUNNING_EVENTS);
    locks_listen(JVMTI_ENABLE);
    virtual_listen(JVMTI_ENABLE);
}

static void stop(void) {
    if (!atomic_exchange(&tracer.tracing, false)) return;
    atomic_store_explicit(&tracer.stopped, true, memory_order_relaxed);
    drainer_stop();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni) {
    enable(JVMTI_DISABLE, running_events, RUNNING_EVENTS);
    locks_listen(JVMTI_DISABLE);
    virtual_listen(JVMTI_DISABLE);
    stop();
}

// Loading -------------------------------------------------------------------------------------------------------------

static bool ask_for_capabilities(void) {
    jvmtiCapabilities wanted = {0};
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_tag_objects = 1;
    wanted.can_generate_garbage_collection_events = 1;
    wanted.can_get_constant_pool = 1;
    wanted.can_get_line_numbers = 1;
    wanted.can_get_source_file_name = 1;
    return (*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted) == JVMTI_ERROR_NONE;
}

static void listen(void) {
    static const jvmtiEventCallbacks callbacks = {
        .VMStart = on_vm_start,
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .ClassFileLoadHook = weaving_class_loads,
        .ThreadStart = on_thread_start,
        .ThreadEnd = on_thread_end,
        .GarbageCollectionStart = on_gc_start,
        .GarbageCollectionFinish = on_gc_finish,
    };
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};
    (*tracer.jvmti)->SetEventCallbacks(tracer.jvmti, &callbacks, sizeof callbacks);
    enable(JVMTI_ENABLE, events, sizeof events / sizeof *events);
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
    tracer.vm = vm;
    if ((*vm)->GetEnv(vm, (void **)&tracer.jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_OK;
    options_parse(options, &tracer.arena, &tracer.options, &startup_error);
    if (startup_error.status == STATUS_OK && !ask_for_capabilities()) {
        error_set(&startup_error, STATUS_FAILED, "the JVM refuses the capabilities that the tracer needs");
    }
    locks_ask(vm);
    virtual_ask(vm);
    if (startup_error.status == STATUS_OK && tracer.options.children) pass_on_to_children(options);
    listen();
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm) {
    stop(); // a JVM that never came to VMDeath
}
