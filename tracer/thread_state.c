// SPDX-License-Identifier: Apache-2.0
#include "tracer/registry.h"
#include "tracer/tracer.h"

#include <stdlib.h>
#include <string.h>

__thread struct thread_state *thread_state __attribute__((tls_model("initial-exec")));
__thread struct ring *thread_ring __attribute__((tls_model("initial-exec")));
static __thread bool untraceable __attribute__((tls_model("initial-exec"))); // no second try, no recursion

enum { IDS_AT_A_TIME = 4096 };

uint64_t task_id_new(struct thread_state *state) {
    static _Atomic(uint64_t) reserved = 1; // id 0 is none
    struct native_thread *native = state->native;
    if (native->next_task == native->task_limit) {
        native->next_task = atomic_fetch_add_explicit(&reserved, IDS_AT_A_TIME, memory_order_relaxed);
        native->task_limit = native->next_task + IDS_AT_A_TIME;
    }
    return native->next_task++;
}

static bool has_room(struct thread_state *state) {
    enum { FIRST_FRAMES = 4 };
    if (state->tasks < state->task_capacity) return true;
    if (state->tasks > state->task_capacity) return false; // those beneath are only counted, so this one is, too
    uint32_t capacity = state->task_capacity ? state->task_capacity * 2 : FIRST_FRAMES;
    struct task_frame *grown = realloc(state->task, capacity * sizeof *grown);
    if (!grown) return false;
    state->task = grown;
    state->task_capacity = capacity;
    return true;
}

struct task_frame *thread_state_enter(struct thread_state *state, uint64_t task) {
    bool kept = has_room(state);
    uint32_t depth = state->tasks++;
    if (!kept) return NULL;
    state->task[depth] = (struct task_frame){
        .task = task, .awaiting = state->awaiting, .wait_depth = state->wait_depth, .site = state->site};
    state->wait_depth = 0;
    state->site = 0;
    return &state->task[depth];
}

void thread_state_leave(struct thread_state *state) {
    const struct task_frame *frame = &state->task[--state->tasks];
    state->awaiting = frame->awaiting;
    state->wait_depth = frame->wait_depth;
    state->site = frame->site;
}

// The JVM's own threads: all in the group "system" (Reference Handler, Signal Dispatcher ...), the cleaners' group,
// carriers of virtual threads, and the one that waits for the end.
static bool is_system(JNIEnv *jni, const jvmtiThreadInfo *info, bool *is_carrier) {
    if (info->name && strcmp(info->name, "DestroyJavaVM") == 0) return true;
    if (!info->thread_group) return false;
    jvmtiThreadGroupInfo group;
    if ((*tracer.jvmti)->GetThreadGroupInfo(tracer.jvmti, info->thread_group, &group) != JVMTI_ERROR_NONE) return false;
    *is_carrier = group.name && strcmp(group.name, "CarrierThreads") == 0;
    bool system = group.name &&
                  (*is_carrier || strcmp(group.name, "system") == 0 || strcmp(group.name, "InnocuousThreadGroup") == 0);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)group.name);
    if (group.parent) (*jni)->DeleteLocalRef(jni, group.parent);
    return system;
}

// The one that wakes virtual threads from timed sleeps (JDK 21). What it runs is none of the program's tasks.
static bool is_unparker(const char *name) {
    static const char NAME[] = "VirtualThread-unparker";
    return name && strncmp(name, NAME, sizeof NAME - 1) == 0;
}

// 0: it isn't to be traced.
static uint32_t register_thread(JNIEnv *jni, bool *is_carrier) {
    jvmtiThreadInfo info = {0};
    struct trace_thread thread = {0};
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, NULL, &info) != JVMTI_ERROR_NONE) return registry_thread(&thread);
    thread.name = info.name;
    if (is_system(jni, &info, is_carrier)) thread.flags |= THREAD_SYSTEM;
    if (info.is_daemon) thread.flags |= THREAD_DAEMON;
    uint32_t id = is_unparker(info.name) ? 0 : registry_thread(&thread);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
    if (info.thread_group) (*jni)->DeleteLocalRef(jni, info.thread_group);
    if (info.context_class_loader) (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return id;
}

void thread_state_name_pool(uint32_t pool) {
    jvmtiThreadInfo info;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, NULL, &info) != JVMTI_ERROR_NONE) return;
    registry_name_pool(pool, info.name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
}

struct platform_thread {
    struct thread_state state; // first: freed by this
    struct native_thread native;
};

static struct thread_state *make(void) {
    JNIEnv *jni;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return NULL;
    struct platform_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    struct thread_state *state = &thread->state;
    state->native = &thread->native;
    state->thread = register_thread(jni, &state->is_carrier);
    state->channel = state->thread ? drainer_open(state->thread, tracer.options.buffer_records) : NULL;
    if (!state->channel) {
        free(state);
        return NULL;
    }
    cpu_meter_open(&state->native->meter);
    return state;
}

struct thread_state *thread_state_make(void) {
    if (thread_state || untraceable || !drainer_running()) return thread_state;
    untraceable = true;
    thread_state = make();
    if (thread_state) thread_ring = &thread_state->channel->ring;
    return thread_state;
}

static void forget_classes(struct thread_state *state) {
    JNIEnv *jni;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return;
    for (size_t i = 0; i < CLASSES_AT_HAND; i++) {
        jweak class = state->native->classes[i].class;
        if (class) (*jni)->DeleteWeakGlobalRef(jni, class);
    }
}

// Nothing makes a state anew meanwhile, since the thread had its try.
static __thread struct thread_state *hidden __attribute__((tls_model("initial-exec")));
static __thread uint32_t times_hidden __attribute__((tls_model("initial-exec")));

void thread_state_hide(void) {
    if (times_hidden++ > 0 || !thread_state) return;
    hidden = thread_state;
    thread_state = NULL;
    thread_ring = NULL;
}

void thread_state_show(void) {
    if (times_hidden == 0 || --times_hidden > 0 || !hidden) return;
    thread_state = hidden;
    thread_ring = &hidden->channel->ring;
    hidden = NULL;
}

void thread_state_end(void) {
    struct thread_state *state = thread_state;
    if (!state) return;
    forget_classes(state);
    thread_state = NULL;
    thread_ring = NULL;
    untraceable = true; // what the dying thread may still call isn't the program's
    cpu_meter_close(&state->native->meter);
    drainer_close(state->channel);
    free(state->task);
    free(state);
}
