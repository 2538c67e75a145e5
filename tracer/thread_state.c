// SPDX-License-Identifier: Apache-2.0
#include "tracer/registry.h"
#include "tracer/running.h"
#include "tracer/stack_sampling.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__thread struct thread_state *thread_state __attribute__((tls_model("initial-exec")));
__thread struct ring *thread_ring __attribute__((tls_model("initial-exec")));
static __thread bool untraceable __attribute__((tls_model("initial-exec"))); // no second try, no recursion
// The thread's own, which stays when a recording ends and thread_state is cleared.
static __thread struct thread_state *own __attribute__((tls_model("initial-exec")));

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
    state->task[depth] = (struct task_frame){.task = task,
                                             .awaiting = state->awaiting,
                                             .limit = state->limit,
                                             .wait_depth = state->wait_depth,
                                             .site = state->site};
    state->limit = (struct time_limit){0};
    state->wait_depth = 0;
    state->site = 0;
    state->was_idle = false;
    return &state->task[depth];
}

void thread_state_leave(struct thread_state *state) {
    const struct task_frame *frame = &state->task[--state->tasks];
    state->awaiting = frame->awaiting;
    state->limit = frame->limit;
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

static void forget_info(JNIEnv *jni, const jvmtiThreadInfo *info) {
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info->name);
    if (info->thread_group) (*jni)->DeleteLocalRef(jni, info->thread_group);
    if (info->context_class_loader) (*jni)->DeleteLocalRef(jni, info->context_class_loader);
}

bool thread_is_system(JNIEnv *jni, jthread thread) {
    jvmtiThreadInfo info = {0};
    bool is_carrier;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE) return true; // it has ended
    bool system = is_system(jni, &info, &is_carrier) || is_unparker(info.name);
    forget_info(jni, &info);
    return system;
}

// 0: it isn't to be traced.
static uint32_t register_thread(JNIEnv *jni, jthread jvm_thread, bool *is_carrier) {
    jvmtiThreadInfo info = {0};
    struct trace_thread thread = {0};
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, jvm_thread, &info) != JVMTI_ERROR_NONE)
        return registry_thread(&thread);
    thread.name = info.name;
    if (is_system(jni, &info, is_carrier)) thread.flags |= THREAD_SYSTEM;
    if (info.is_daemon) thread.flags |= THREAD_DAEMON;
    uint32_t id = is_unparker(info.name) ? 0 : registry_thread(&thread);
    forget_info(jni, &info);
    return id;
}

void thread_state_name_pool(uint32_t pool) {
    jvmtiThreadInfo info;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, NULL, &info) != JVMTI_ERROR_NONE) return;
    registry_name_pool(pool, info.name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
}

// A thread's life -----------------------------------------------------------------------------------------------------

static __thread struct thread_state *hidden __attribute__((tls_model("initial-exec")));
static __thread uint32_t times_hidden __attribute__((tls_model("initial-exec")));

struct platform_thread {
    struct thread_state state; // first: freed by this
    struct native_thread native;
};

// All threads that have a state, under the lock, so that their pointers to it can be cleared.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct native_thread *all;

static void join_all(struct native_thread *native) {
    pthread_mutex_lock(&lock);
    native->pointer = &thread_state;
    native->ring_pointer = &thread_ring;
    native->next = all;
    if (all) all->link = &native->next;
    native->link = &all;
    all = native;
    pthread_mutex_unlock(&lock);
}

static void leave_all(struct native_thread *native) {
    pthread_mutex_lock(&lock);
    *native->link = native->next;
    if (native->next) native->next->link = native->link;
    pthread_mutex_unlock(&lock);
}

void thread_states_drop(void) {
    pthread_mutex_lock(&lock);
    for (struct native_thread *native = all; native; native = native->next) {
        __atomic_store_n(native->pointer, NULL, __ATOMIC_RELAXED);
        __atomic_store_n(native->ring_pointer, NULL, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}

struct thread_state *thread_state_new(JNIEnv *jni, jthread jvm_thread) {
    struct platform_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    struct thread_state *state = &thread->state;
    state->native = &thread->native;
    state->session = atomic_load_explicit(&tracer.session, memory_order_relaxed);
    state->thread = register_thread(jni, jvm_thread, &state->is_carrier);
    state->channel = state->thread ? drainer_open(state->thread, tracer.options.buffer_records) : NULL;
    if (state->channel) {
        stack_sampling_know(jvm_thread, state->thread);
        return state;
    }
    free(state);
    return NULL;
}

void thread_state_free(struct thread_state *state) {
    drainer_close(state->channel);
    free(state->task);
    free(state);
}

// What is at hand are weak references: of a thread that the JVM has let go already they stay, 40 bytes of the JVM's.
static void forget_what_is_at_hand(struct thread_state *state) {
    JNIEnv *jni;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return;
    for (size_t i = 0; i < CLASSES_AT_HAND; i++) {
        jweak class = state->native->classes[i].class;
        if (class) (*jni)->DeleteWeakGlobalRef(jni, class);
    }
    if (state->native->executor.executor) (*jni)->DeleteWeakGlobalRef(jni, state->native->executor.executor);
    if (state->native->thread) (*jni)->DeleteWeakGlobalRef(jni, state->native->thread);
}

static void give_up_own(void) {
    struct thread_state *state = own;
    own = hidden = NULL;
    leave_all(state->native);
    thread_state = NULL;
    thread_ring = NULL;
    forget_what_is_at_hand(state);
    cpu_meter_close(&state->native->meter);
    thread_state_free(state);
}

// Of a thread that ends after the recording has: nobody else tells.
static void on_thread_exit(void *unused) {
    (void)unused;
    if (own) give_up_own();
}

static pthread_key_t exit_key;

static void make_exit_key(void) {
    pthread_key_create(&exit_key, on_thread_exit);
}

static void make_own(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    JNIEnv *jni;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return;
    struct thread_state *state = tracer.attached ? running_take(jni) : NULL;
    if (!state) state = thread_state_new(jni, NULL);
    if (!state) return;
    pthread_once(&once, make_exit_key);
    pthread_setspecific(exit_key, state);
    state->native->meter.closed = tracer.options.without_cycles;
    if (!tracer.options.without_cycles) cpu_meter_open(&state->native->meter);
    probe_timer_init(&state->native->timer, state->thread, &state->native->meter);
    if (tracer.attached) {
        cpu_meter_delays_from_here(&state->native->meter);
        state->worker |= state->is_carrier;
    }
    own = state;
    join_all(state->native);
    thread_ring = &state->channel->ring;
    thread_state = state;
    if (tracer.attached) running_wake(state);
}

struct thread_state *thread_state_make(void) {
    uint32_t session = atomic_load_explicit(&tracer.session, memory_order_acquire);
    if (thread_state || untraceable || times_hidden > 0 || !session || !drainer_running()) return thread_state;
    untraceable = true;
    if (own) give_up_own(); // of an earlier recording
    make_own();
    untraceable = !thread_state;
    return thread_state;
}

void thread_state_refuse(void) {
    untraceable = true;
}

void thread_state_hide(void) {
    if (times_hidden++ > 0 || !thread_state) return;
    hidden = thread_state;
    thread_state = NULL;
    thread_ring = NULL;
}

void thread_state_show(void) {
    if (times_hidden == 0 || --times_hidden > 0 || !hidden) return;
    if (hidden->session == atomic_load_explicit(&tracer.session, memory_order_relaxed)) {
        thread_state = hidden;
        thread_ring = &hidden->channel->ring;
    }
    hidden = NULL;
}

void thread_state_end(void) {
    if (own) give_up_own();
    untraceable = true; // what the dying thread may still call isn't the program's
}
