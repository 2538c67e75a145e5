// SPDX-License-Identifier: Apache-2.0
#include "tracer/running.h"

#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/pools.h"
#include "tracer/registry.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 1024, MORE_REFERENCES = 64 };

// States that wait for their threads. A thread has the number of its place as its kept number, with that of the
// recording, since threads keep the numbers of earlier ones.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_state **waiting;
static uint32_t waiting_count;

enum { TAKEN = 1 }; // in a number's place: the thread has a state already

static uint64_t number_of(uint32_t place) {
    return (uint64_t)atomic_load_explicit(&tracer.session, memory_order_relaxed) << 32 | place;
}

static bool is_of_this_session(uint64_t number) {
    return number >> 32 == atomic_load_explicit(&tracer.session, memory_order_relaxed);
}

struct thread_state *running_take(JNIEnv *jni) {
    jthread thread;
    if ((*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &thread) != JVMTI_ERROR_NONE) return NULL;
    struct thread_state *state = NULL;
    pthread_mutex_lock(&lock);
    uint64_t number = kept_get(thread);
    uint32_t place = is_of_this_session(number) ? (uint32_t)number : 0;
    if (place > TAKEN && place - TAKEN <= waiting_count) {
        state = waiting[place - TAKEN - 1];
        waiting[place - TAKEN - 1] = NULL;
    }
    kept_set(thread, number_of(TAKEN));
    pthread_mutex_unlock(&lock);
    (*jni)->DeleteLocalRef(jni, thread);
    return state;
}

// What stands on a stack ----------------------------------------------------------------------------------------------

struct at_work {
    bool loop;  // of a ThreadPoolExecutor's worker
    bool asks;  // for its next task
    bool forks; // a ForkJoinTask's body
    bool main;  // main(String[]) is the outermost frame
};

static struct { jmethodID run_worker, get_task, exec; } known;

static jmethodID method_of(JNIEnv *jni, const char *class_name, const char *name, const char *descriptor) {
    jclass class = (*jni)->FindClass(jni, class_name);
    jmethodID method = class ? (*jni)->GetMethodID(jni, class, name, descriptor) : NULL;
    (*jni)->ExceptionClear(jni);
    if (class) (*jni)->DeleteLocalRef(jni, class);
    return method;
}

static void know_methods(JNIEnv *jni) {
    known.run_worker = method_of(jni, "java/util/concurrent/ThreadPoolExecutor", "runWorker",
                                 "(Ljava/util/concurrent/ThreadPoolExecutor$Worker;)V");
    known.get_task = method_of(jni, "java/util/concurrent/ThreadPoolExecutor", "getTask", "()Ljava/lang/Runnable;");
    known.exec = method_of(jni, "java/util/concurrent/ForkJoinTask", "doExec", "()I");
    if (!known.exec) known.exec = method_of(jni, "java/util/concurrent/ForkJoinTask", "doExec", "()V");
}

static bool is_main(jmethodID method) {
    char *name = NULL;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
    bool main = strcmp(name, "main") == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    return main;
}

static struct at_work look_at(jthread thread, jvmtiFrameInfo *frames) {
    struct at_work work = {0};
    jint count;
    if ((*tracer.jvmti)->GetStackTrace(tracer.jvmti, thread, 0, DEEPEST, frames, &count) != JVMTI_ERROR_NONE)
        return work;
    for (jint i = 0; i < count; i++) {
        jmethodID method = frames[i].method;
        if (method == known.run_worker) work.loop = true;
        if (method == known.get_task) work.asks = true;
        if (method == known.exec) work.forks = true;
    }
    work.main = count > 0 && count < DEEPEST && is_main(frames[count - 1].method);
    return work;
}

// One thread ----------------------------------------------------------------------------------------------------------

// In the thread's place: what it has computed so far, where its own meter will go on from there.
static uint64_t computed_by(jthread thread) {
    jlong ns = 0;
    if (!cpu_meter_counts_ns()) return 0;
    (*tracer.jvmti)->GetThreadCpuTime(tracer.jvmti, thread, &ns);
    return ns < 0 ? 0 : (uint64_t)ns;
}

static void tell(struct thread_state *state, unsigned kind, uint64_t operand, uint64_t cpu) {
    ring_put3(&state->channel->ring, clock_ticks(), kind, operand, cpu, 0);
}

static void begin_body(struct thread_state *state, uint64_t task) {
    struct task_frame *frame = thread_state_enter(state, task);
    if (frame) frame->begun_before = true;
}

static void begin_task(struct thread_state *state, uint64_t cpu) {
    uint64_t task = task_id_new(state);
    registry_running(task);
    begin_body(state, task);
    tell(state, EVENT_TASK_START, task, cpu);
}

static void name_pool(jthread thread, uint32_t pool) {
    jvmtiThreadInfo info;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE) return;
    registry_name_pool(pool, info.name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
}

// A worker is told of where its pool is known; else its first look into the pool's queue will tell.
static void begin_worker(jthread thread, struct thread_state *state, uint32_t pool, bool has_task, uint64_t cpu) {
    state->worker = true;
    state->idle_pool = pool;
    name_pool(thread, pool);
    ring_put1(&state->channel->ring, clock_ticks(), EVENT_WORKER_BEGIN, pool);
    if (has_task)
        begin_task(state, cpu);
    else
        ring_put1(&state->channel->ring, clock_ticks(), EVENT_IDLE, pool);
}

static void describe(JNIEnv *jni, jthread thread, struct thread_state *state, const struct at_work *work) {
    uint64_t cpu = computed_by(thread);
    state->run_task = task_id_new(state);
    identity_set_thread(thread, state->run_task);
    tell(state, EVENT_THREAD_START, state->run_task, cpu);
    jobject pool = work->loop ? pools_of_worker(jni, identity_thread_target(jni, thread)) : NULL;
    if (identity_is_worker(jni, thread)) {
        state->worker_pool = identity_worker_pool(jni, state, thread);
        begin_worker(thread, state, state->worker_pool, work->forks, cpu);
    } else if (pool) {
        state->loop_unseen = true;
        begin_worker(thread, state, pools_id(jni, pool), !work->asks, cpu);
    } else if (!work->loop) {
        registry_running(state->run_task);
        begin_body(state, state->run_task);
        if (work->main) tell(state, EVENT_MAIN_BEGIN, state->run_task, cpu);
    }
}

static void begin(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames) {
    struct thread_state *state = NULL;
    pthread_mutex_lock(&lock);
    bool is_new = !is_of_this_session(kept_get(thread));
    pthread_mutex_unlock(&lock);
    if (is_new && !thread_is_system(jni, thread)) state = thread_state_new(jni, thread);
    if (!state) return;
    struct at_work work = look_at(thread, frames);
    describe(jni, thread, state, &work);
    pthread_mutex_lock(&lock);
    if (is_of_this_session(kept_get(thread))) { // it told of itself meanwhile
        thread_state_free(state);
    } else {
        waiting[waiting_count++] = state;
        kept_set(thread, number_of(waiting_count + TAKEN));
    }
    pthread_mutex_unlock(&lock);
}

// All of them ---------------------------------------------------------------------------------------------------------

void running_begin(JNIEnv *jni) {
    jint count;
    jthread *threads, self = NULL;
    jvmtiFrameInfo *frames = malloc(DEEPEST * sizeof *frames);
    if (!frames || (*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        free(frames);
        return;
    }
    (*jni)->EnsureLocalCapacity(jni, 2 * count + MORE_REFERENCES); // threads, and groups of those that are looked at
    know_methods(jni);
    (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &self);
    waiting_count = 0;
    waiting = calloc((size_t)count, sizeof(struct thread_state *));
    for (jint i = 0; i < count; i++) {
        bool own = (*jni)->IsSameObject(jni, threads[i], self);
        if (waiting && !own && (*jni)->PushLocalFrame(jni, 16) == 0) {
            begin(jni, threads[i], frames);
            (*jni)->PopLocalFrame(jni, NULL);
        }
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*jni)->DeleteLocalRef(jni, self);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)threads);
    free(frames);
}

void running_end(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < waiting_count; i++) {
        if (waiting[i]) thread_state_free(waiting[i]);
    }
    free(waiting);
    waiting = NULL;
    waiting_count = 0;
    pthread_mutex_unlock(&lock);
}
