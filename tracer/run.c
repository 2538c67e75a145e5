// SPDX-License-Identifier: Apache-2.0
#include "tracer/run.h"

#include "tracer/application.h"
#include "tracer/bodies.h"
#include "tracer/bytecodes.h"
#include "tracer/calibration.h"
#include "tracer/collections.h"
#include "tracer/container.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/locks.h"
#include "tracer/lookup.h"
#include "tracer/pool_tags.h"
#include "tracer/registry.h"
#include "tracer/rotation.h"
#include "tracer/sleepers.h"
#include "tracer/stack_sampling.h"
#include "tracer/tracer.h"
#include "tracer/trials.h"
#include "tracer/virtual.h"
#include "tracer/weaving.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tracer tracer;

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

// What calling a method without parameters, or with a string, gives; NULL: that failed.
static jobject ask(JNIEnv *jni, jobject object, const char *method, const char *descriptor, const char *argument) {
    jclass class = object ? (*jni)->GetObjectClass(jni, object) : NULL;
    jmethodID id = class ? (*jni)->GetMethodID(jni, class, method, descriptor) : NULL;
    jstring text = id && argument ? (*jni)->NewStringUTF(jni, argument) : NULL;
    jobject given = id && (text || !argument) ? (*jni)->CallObjectMethod(jni, object, id, text) : NULL;
    if (!(*jni)->ExceptionCheck(jni)) return given;
    (*jni)->ExceptionClear(jni);
    return NULL;
}

static jobject open_jar(JNIEnv *jni, const char *path) {
    jclass class = (*jni)->FindClass(jni, "java/util/jar/JarFile");
    jmethodID make = class ? (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V") : NULL;
    jstring text = make ? (*jni)->NewStringUTF(jni, path) : NULL;
    jobject jar = text ? (*jni)->NewObject(jni, class, make, text) : NULL;
    if (!(*jni)->ExceptionCheck(jni)) return jar;
    (*jni)->ExceptionClear(jni);
    return NULL;
}

static void close_jar(JNIEnv *jni, jobject jar) {
    jmethodID close = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, jar), "close", "()V");
    if (close) (*jni)->CallVoidMethod(jni, jar, close);
    (*jni)->ExceptionClear(jni);
}

static char *copy_string(JNIEnv *jni, jstring string) {
    const char *bytes = string ? (*jni)->GetStringUTFChars(jni, string, NULL) : NULL;
    char *copy = bytes ? arena_string(&tracer.arena, bytes, strlen(bytes)) : NULL;
    if (bytes) (*jni)->ReleaseStringUTFChars(jni, string, bytes);
    return copy;
}

// NULL: the jar does not say.
static char *class_started_by(JNIEnv *jni, const char *path) {
    static const char ATTRIBUTES[] = "()Ljava/util/jar/Attributes;", VALUE[] = "(Ljava/lang/String;)Ljava/lang/String;";
    if ((*jni)->PushLocalFrame(jni, 16) != 0) return NULL;
    jobject jar = open_jar(jni, path), manifest = ask(jni, jar, "getManifest", "()Ljava/util/jar/Manifest;", NULL);
    jobject attributes = ask(jni, manifest, "getMainAttributes", ATTRIBUTES, NULL);
    char *name = copy_string(jni, ask(jni, attributes, "getValue", VALUE, "Start-Class"));
    if (!name) name = copy_string(jni, ask(jni, attributes, "getValue", VALUE, "Main-Class"));
    if (jar) close_jar(jni, jar);
    (*jni)->PopLocalFrame(jni, NULL);
    return name;
}

void run_know_application(JNIEnv *jni) {
    char *command = system_property("sun.java.command");
    const size_t first = command ? strcspn(command, " ") : 0;
    const bool is_jar = first > 4 && memcmp(command + first - 4, ".jar", 4) == 0;
    if (jni && is_jar) {
        char *path = arena_string(&tracer.arena, command, first), *started = path ? class_started_by(jni, path) : NULL;
        if (started) command = started;
    }
    application_begin(&tracer.options, command);
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

// Opens the recording's first file, by its name or that of the recording with the process id.
static struct trace_writer *open_first(const char *out, const struct trace_header *header, bool *exists,
                                       struct error *error) {
    const struct rotation_rules *rotation = &tracer.options.rotation;
    char *path = rotation_path(out, rotation, 1);
    struct trace_writer *writer = path ? trace_writer_open(path, header, exists != NULL, exists, error) : NULL;
    if (writer)
        rotation_begin(rotation, out, path, header);
    else
        free(path);
    return writer;
}

static struct trace_writer *open_trace(const struct trace_header *header, struct error *error) {
    bool exists = false;
    const char *out = tracer.options.out;
    struct trace_writer *writer = open_first(out, header, tracer.options.claim ? &exists : NULL, error);
    if (!writer && exists && (out = options_out_with_pid(out, &tracer.arena))) {
        writer = open_first(out, header, NULL, error);
    }
    return writer;
}

static struct trace_header describe_run(void) {
    const struct trials found = trials_result(tracer.options.monotonic);
    const double ticks_per_s = (double)found.clock.ticks_per_s;
    return (struct trace_header){
        .jvm = jvm_text(),
        .command = command_text(),
        .options = tracer.options.text,
        .clock = found.clock.name,
        .ticks_per_s = found.clock.ticks_per_s,
        .start_unix_ns = clock_ns(CLOCK_REALTIME),
        .cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
        .pid = (uint32_t)getpid(),
        .cycle_unit = tracer.options.without_cycles ? NULL : found.meter.unit,
        .cycle_source = tracer.options.without_cycles ? NULL : found.meter.source,
        .clock_skew_ns = found.skew_ticks < 0 ? -1 : (int64_t)((double)found.skew_ticks * 1e9 / ticks_per_s),
        .origin = "recorded",
    };
}

static void write_why_not(struct trace_writer *writer, const struct error *why_not) {
    char why[ERROR_CAUSE_BYTES];
    struct trace_end end = {.stopped_because = error_text(why_not, why, sizeof why)};
    struct error ignored = ERROR_INIT;
    trace_writer_close(writer, &end, &ignored);
}

static void set_drainer(uint64_t ticks_per_s) {
    drainer_set(&(struct drainer_settings){
        .least_ticks = (uint64_t)((double)tracer.options.least_ns * (double)ticks_per_s / 1e9),
        .memory_bytes = tracer.options.memory_bytes,
        .without_samples = tracer.options.without_samples,
        .several_files = rotation_wanted(&tracer.options.rotation),
    });
}

bool run_start(const struct error *why_not, struct error *error) {
    static uint32_t sessions; // one starts at a time
    struct trace_header header = describe_run();
    struct trace_writer *writer = open_trace(&header, error);
    if (!writer) return false;
    tracer.ticks_per_s = header.ticks_per_s;
    set_drainer(header.ticks_per_s);
    if (why_not->status == STATUS_OK && drainer_start(writer, header.ticks_per_s, error)) {
        thread_states_drop(); // once more: one that was unmounted just then may have found its carrier's again
        collections_tell();
        atomic_store_explicit(&tracer.session, ++sessions, memory_order_release);
        return true;
    }
    write_why_not(writer, why_not->status == STATUS_OK ? error : why_not);
    return false;
}

void run_stop(void) {
    if (atomic_load(&tracer.session) != 0) {
        stack_sampling_stop();
        sleepers_stop();
    }
    if (atomic_exchange(&tracer.session, 0) == 0) return;
    thread_states_drop();
    drainer_stop();
    collections_end();
}

// What is needed of the JVM -------------------------------------------------------------------------------------------

static jclass define_helper(JNIEnv *jni, struct error *error) {
    const uint8_t *bytes = helper_class_bytes;
    size_t length = helper_class_length;
    struct weaver *weaver = NULL;
    if (tracer.options.bytecodes && !(weaver = bytecodes_helper(&bytes, &length, error))) return NULL;
    jclass helper = (*jni)->DefineClass(jni, HELPER_CLASS, NULL, (const jbyte *)bytes, (jsize)length);
    weaver_close(weaver);
    return helper;
}

bool run_define_helper(JNIEnv *jni, struct error *error) {
    jclass helper = (*jni)->FindClass(jni, HELPER_CLASS);
    (*jni)->ExceptionClear(jni);
    if (!helper) helper = define_helper(jni, error);
    if (helper) {
        (*jni)->DeleteLocalRef(jni, helper);
        return true;
    }
    (*jni)->ExceptionClear(jni);
    return error_set(error, STATUS_FAILED, "the JVM does not take the tracer's helper class " HELPER_CLASS);
}

// The result of a static method of ClassLoader's that has no parameters.
static jobject ask_for_loader(JNIEnv *jni, jclass loader_class, const char *name) {
    jmethodID method = (*jni)->GetStaticMethodID(jni, loader_class, name, "()Ljava/lang/ClassLoader;");
    jobject loader = method ? (*jni)->CallStaticObjectMethod(jni, loader_class, method) : NULL;
    (*jni)->ExceptionClear(jni);
    return loader;
}

// JDK 8 has none by that name, but an extension loader, the system loader's parent; unless the program has brought a
// system loader of its own.
static jobject platform_loader(JNIEnv *jni) {
    jclass loader_class = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    jobject platform = ask_for_loader(jni, loader_class, "getPlatformClassLoader");
    jobject system = platform ? NULL : ask_for_loader(jni, loader_class, "getSystemClassLoader");
    jmethodID parent = (*jni)->GetMethodID(jni, loader_class, "getParent", "()Ljava/lang/ClassLoader;");
    if (system) platform = (*jni)->CallObjectMethod(jni, system, parent);
    (*jni)->ExceptionClear(jni);
    return platform ? (*jni)->NewGlobalRef(jni, platform) : NULL;
}

bool run_know_classes(JNIEnv *jni, struct error *error) {
    if (!identity_init(jni)) {
        return error_set(error, STATUS_FAILED, "the JVM's classes are not as the tracer expects them");
    }
    if (tracer.options.bytecodes && !bytecodes_init(jni, error)) return false;
    lookup_init(jni);
    locks_init(jni);
    virtual_init(jni);
    tracer.platform_loader = platform_loader(jni);
    return true;
}

static bool ask_for_capabilities(struct error *error) {
    jvmtiCapabilities wanted = {0};
    if (tracer.options.bytecodes && !bytecodes_ask(&wanted, error)) return false;
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_tag_objects = 1;
    wanted.can_generate_garbage_collection_events = 1;
    wanted.can_get_constant_pool = 1;
    wanted.can_get_line_numbers = 1;
    wanted.can_get_source_file_name = 1;
    wanted.can_generate_object_free_events = 1;
    if ((*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted) == JVMTI_ERROR_NONE) return true;
    return error_set(error, STATUS_FAILED, "the JVM refuses the capabilities that the tracer needs");
}

bool run_ask(JavaVM *vm, struct error *error) {
    tracer.vm = vm;
    if ((*vm)->GetEnv(vm, (void **)&tracer.jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        tracer.jvmti = NULL;
        return error_set(error, STATUS_FAILED, "the JVM has no interface for tools (JVMTI 1.2)");
    }
    if (!ask_for_capabilities(error)) return false;
    kept_init(vm); // without it nothing is told of such libraries' actors
    if (!pool_tags_init(vm))
        return error_set(error, STATUS_FAILED, "the JVM refuses to tell of pools that it collects");
    locks_ask(vm);
    if (virtual_ask(vm)) container_ask(vm);
    return true;
}

// Events --------------------------------------------------------------------------------------------------------------

static void enable(jvmtiEventMode mode, const jvmtiEvent *events, size_t count) {
    for (size_t i = 0; i < count; i++) (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, mode, events[i], NULL);
}

static const jvmtiEvent own_events[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_OBJECT_FREE,
                                        JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
enum { OWN_EVENTS = sizeof own_events / sizeof *own_events, THREAD_EVENTS = 2, BUT_GC_EVENTS = 3 };

// Making the thread's state counts as before its first event.
static struct thread_state *state_timed(void) {
    uint64_t begun_ticks = clock_ticks();
    struct thread_state *state = thread_state_get();
    if (state) probe_timer_begin_at(&state->native->timer, begun_ticks);
    return state;
}

static void begin_thread(JNIEnv *jni, jthread thread, struct thread_state *state) {
    state->run_task = identity_of_thread(thread);
    if (state->run_task)
        state->container = container_of_thread(jni, thread); // its start was seen
    else
        state->run_task = task_id_new(state);
    identity_set_thread(thread, state->run_task);
    record_boundary(state, EVENT_THREAD_START, state->run_task, 0);
}

void run_begin_thread(JNIEnv *jni, jthread thread) {
    PROBED struct thread_state *state = state_timed();
    if (state) begin_thread(jni, thread, state);
}

// What a thread that the JVM has just started runs: a pool's loop, or a task, its run().
static void begin_run(JNIEnv *jni, jthread thread, struct thread_state *state) {
    if (state->is_carrier) {
        state->worker = true;
    } else if (identity_is_worker(jni, thread)) {
        state->worker = true;
        state->worker_pool = identity_worker_pool(jni, state, thread);
        thread_state_name_pool(state->worker_pool);
        record1(state, EVENT_WORKER_BEGIN, state->worker_pool);
    } else {
        thread_state_enter(state, state->run_task);
    }
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    if (calibration_is_thread(jni, thread) || stack_sampling_is_thread(jni, thread) ||
        sleepers_is_thread(jni, thread)) {
        thread_state_refuse();
        return;
    }
    PROBED struct thread_state *state = state_timed();
    if (!state || state->run_task) return; // main: VMInit told of it already; running.h did of others
    begin_thread(jni, thread, state);
    begin_run(jni, thread, state);
}

// What it had taken last is what it ends with.
static void leave_stage(struct thread_state *state) {
    bodies_end_all(state, false);
    record1(state, EVENT_RETIRE, state->stage);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    struct thread_state *state = tracer.attached ? thread_state_get() : thread_state_here();
    uint64_t awaited = state ? container_leave(state->container) : 0;
    if (awaited) record1(state, EVENT_RESULT, awaited); // of all the container's threads: it is the last
    if (state && state->stage) leave_stage(state);
    if (state) record_boundary(state, EVENT_THREAD_END, state->run_task, 0);
    thread_state_end();
}

static void JNICALL on_object_free(jvmtiEnv *jvmti, jlong tag) {
    identity_freed((uint64_t)tag);
}

void run_listen(jvmtiEventCallbacks *callbacks) {
    callbacks->ClassFileLoadHook = weaving_class_loads;
    callbacks->ThreadStart = on_thread_start;
    callbacks->ThreadEnd = on_thread_end;
    callbacks->ObjectFree = on_object_free;
    callbacks->GarbageCollectionStart = collections_begun;
    callbacks->GarbageCollectionFinish = collections_finished;
}

void run_hear_threads(void) {
    enable(JVMTI_ENABLE, own_events, THREAD_EVENTS);
}

void run_hear(jvmtiEventMode mode) {
    enable(mode, own_events, tracer.options.without_gc ? BUT_GC_EVENTS : OWN_EVENTS);
    if (!tracer.options.without_locks) locks_listen(mode);
    virtual_listen(mode);
}
