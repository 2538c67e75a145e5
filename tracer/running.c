// SPDX-License-Identifier: Apache-2.0
#include "tracer/running.h"

#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/loops.h"
#include "tracer/pools.h"
#include "tracer/queued.h"
#include "tracer/registry.h"
#include "tracer/sleeps.h"
#include "tracer/tracer.h"
#include "tracer/under_way.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 1024, NEAR = 64, MORE_REFERENCES = 64 };

// States that wait for their threads. A thread has the number of its place as its kept number, with that of the
// recording, since threads keep the numbers of earlier ones.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_state **waiting;
static uint32_t waiting_count;
static _Atomic(bool) expecting; // that any thread may be one that ran before: until running_begin has seen all of them

static _Atomic(bool) weaving;    // since threads were looked at first, and until they are once more
static _Atomic(uint32_t) asleep; // of the states that wait: found asleep, and not known to be awake

enum { TAKEN = 1 }; // in a number's place: the thread has a state already

static uint64_t number_of(uint32_t place) {
    return (uint64_t)atomic_load_explicit(&tracer.session, memory_order_relaxed) << 32 | place;
}

static bool is_of_this_session(uint64_t number) {
    return number >> 32 == atomic_load_explicit(&tracer.session, memory_order_relaxed);
}

// Where its thread waits for it; NULL: it has it, or there is none. With the lock.
static struct thread_state **place_of(jthread thread) {
    uint64_t number = kept_get(thread);
    uint32_t place = is_of_this_session(number) ? (uint32_t)number : 0;
    return place > TAKEN && place - TAKEN <= waiting_count ? &waiting[place - TAKEN - 1] : NULL;
}

// What stands on a stack ----------------------------------------------------------------------------------------------

struct at_work {
    jint frames; // of the innermost that were asked for
    bool loop;   // of a worker (loops.h)
    bool runs;   // ... which runs tasks itself
    bool asks;   // for its next task
    bool takes;  // ... from a stage (executors.conf, `take`)
    bool forks;  // a ForkJoinTask's body
    bool main;   // main(String[]) is the outermost frame
};

struct known_method {
    const char *class_name, *name;
    jmethodID method;
};

static struct known_method run = {"java/util/concurrent/FutureTask", "run", NULL},
                           run_and_reset = {"java/util/concurrent/FutureTask", "runAndReset", NULL},
                           exec = {"java/util/concurrent/ForkJoinTask", "doExec", NULL};

static void know_method(JNIEnv *jni, struct known_method *known, const char *descriptor) {
    jclass class = (*jni)->FindClass(jni, known->class_name);
    known->method = class ? (*jni)->GetMethodID(jni, class, known->name, descriptor) : NULL;
    (*jni)->ExceptionClear(jni);
    if (class) (*jni)->DeleteLocalRef(jni, class);
}

static void know_methods(JNIEnv *jni) {
    know_method(jni, &run, "()V");
    know_method(jni, &run_and_reset, "()Z");
    know_method(jni, &exec, "()I");
    if (!exec.method) know_method(jni, &exec, "()V");
}

static bool is_named(jmethodID method, const char *wanted) {
    char *name = NULL;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
    bool same = strcmp(name, wanted) == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    return same;
}

static bool is_of_class(JNIEnv *jni, jmethodID method, const char *wanted) {
    jclass class;
    char *signature = NULL;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return false;
    bool known = (*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE;
    (*jni)->DeleteLocalRef(jni, class);
    if (!known) return false;
    size_t length = strlen(wanted);
    bool same = strncmp(signature + 1, wanted, length) == 0 && strcmp(signature + 1 + length, ";") == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    return same;
}

static bool is_obsolete(jmethodID method) {
    jboolean obsolete = JNI_FALSE;
    return (*tracer.jvmti)->IsMethodObsolete(tracer.jvmti, method, &obsolete) == JVMTI_ERROR_NONE && obsolete;
}

// A loop that has run since before an earlier recording is a version that retransforming made obsolete, with an id of
// its own.
static bool is_method(JNIEnv *jni, jmethodID method, const struct known_method *known) {
    if (method == known->method) return method != NULL;
    return is_obsolete(method) && is_named(method, known->name) && is_of_class(jni, method, known->class_name);
}

static struct at_work look_at(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames, jint most) {
    struct at_work work = {0};
    jint count = 0;
    if ((*tracer.jvmti)->GetStackTrace(tracer.jvmti, thread, 0, most, frames, &count) != JVMTI_ERROR_NONE) count = 0;
    work.frames = count;
    for (jint i = 0; i < count; i++) {
        jmethodID method = frames[i].method;
        const unsigned parts = loops_parts(jni, method);
        work.loop |= parts & LOOP_WORKS;
        work.runs |= parts & LOOP_WORKS && parts & LOOP_RUNS;
        work.asks |= parts & LOOP_ASKS;
        work.takes |= parts & LOOP_TAKES;
        work.forks |= is_method(jni, method, &exec);
    }
    work.main = count > 0 && count < most && is_named(frames[count - 1].method, "main");
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

// `task`: its id where that is known; else 0.
static void begin_task(struct thread_state *state, uint64_t task, uint64_t cpu) {
    if (!task) task = task_id_new(state);
    registry_running(task);
    begin_body(state, task);
    tell(state, EVENT_TASK_START, task, cpu);
}

static bool is_numbered(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
}

// Pools are called as their threads are, but for the number; a thread that its task has given another name has none
// behind it, and names its pool only where no other thread does.
static void name_pool(jthread thread, uint32_t pool, bool by_any) {
    jvmtiThreadInfo info;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE) return;
    if (by_any || is_numbered(info.name)) registry_name_pool(pool, info.name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
}

// What a worker is at: a task, whose id is 0 where it is not known, or nothing.
struct at_task {
    bool has_task;
    uint64_t task;
};

// Whether a worker is at a task, by what is on its stack.
static bool has_task(const struct thread_state *state, const struct at_work *work) {
    if (state->worker_pool) return work->forks;
    return state->stage ? !work->takes : !work->asks;
}

// A worker is told of where its pool is known; else its first look into the pool's queue will tell.
static void begin_worker(jthread thread, struct thread_state *state, uint32_t pool, struct at_task at, uint64_t cpu) {
    state->worker = true;
    state->was_idle = !at.has_task;
    state->idle_pool = pool;
    name_pool(thread, pool, false);
    ring_put1(&state->channel->ring, clock_ticks(), EVENT_WORKER_BEGIN, pool);
    if (at.has_task)
        begin_task(state, at.task, cpu);
    else
        ring_put1(&state->channel->ring, clock_ticks(), EVENT_IDLE, pool);
}

// What is known of it by its thread, and not by its stack: its pool, or NULL.
static jobject pool_of_thread(JNIEnv *jni, jthread thread, const struct at_work *work) {
    return work->loop ? pools_of_worker(jni, identity_thread_target(jni, thread)) : NULL;
}

// `pool`: whose worker's loop is on its stack, as far as that is known.
static void describe(JNIEnv *jni, jthread thread, struct thread_state *state, const struct at_work *work, uint64_t task,
                     jobject pool) {
    uint64_t cpu = computed_by(thread);
    state->run_task = task_id_new(state);
    identity_set_thread(thread, state->run_task);
    tell(state, EVENT_THREAD_START, state->run_task, cpu);
    if (identity_is_worker(jni, thread)) {
        state->worker_pool = identity_worker_pool(jni, state, thread);
        begin_worker(thread, state, state->worker_pool, (struct at_task){has_task(state, work), task}, cpu);
    } else if (pool) {
        const uint32_t id = identity_executor(jni, state, pool);
        state->stage = work->loop ? 0 : id;
        state->takes = state->stage;
        state->loop_unseen = work->runs;
        begin_worker(thread, state, id, (struct at_task){has_task(state, work), task}, cpu);
    } else if (!work->loop) {
        registry_running(state->run_task);
        begin_body(state, state->run_task);
        if (work->main) tell(state, EVENT_MAIN_BEGIN, state->run_task, cpu);
    }
}

static struct thread_state *make(JNIEnv *jni, jthread thread) {
    return thread_is_system(jni, thread) ? NULL : thread_state_new(jni, thread);
}

static void begin(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames) {
    pthread_mutex_lock(&lock);
    bool is_new = !is_of_this_session(kept_get(thread));
    pthread_mutex_unlock(&lock);
    struct thread_state *state = is_new ? make(jni, thread) : NULL;
    if (!state) return;
    struct at_work work = look_at(jni, thread, frames, DEEPEST);
    const struct stack stack = {thread, frames, work.frames};
    jobject pool = pool_of_thread(jni, thread, &work);
    if (!pool && work.loop) pool = under_way_pool(jni, &stack, LOOP_WORKS);
    if (!work.loop && work.takes && !work.main) pool = under_way_pool(jni, &stack, LOOP_TAKES);
    describe(jni, thread, state, &work, under_way_task(jni, &stack), pool);
    pthread_mutex_lock(&lock);
    if (is_of_this_session(kept_get(thread))) { // it told of itself meanwhile
        thread_state_free(state);
    } else {
        waiting[waiting_count++] = state;
        kept_set(thread, number_of(waiting_count + TAKEN));
    }
    pthread_mutex_unlock(&lock);
}

static bool is_asleep(const struct thread_state *state) {
    return state->wait_depth > 0 || state->blocked_on || state->sleep || state->wants;
}

static void leave_sleep(struct thread_state *state, uint64_t cpu) {
    if (!is_asleep(state)) return;
    under_way_leave(state, cpu);
    atomic_fetch_sub(&asleep, 1);
}

static void leave_task(struct thread_state *state, uint64_t cpu) {
    leave_sleep(state, cpu);
    tell(state, EVENT_TASK_END, state->task[0].task, cpu);
    thread_state_leave(state);
    ring_put1(&state->channel->ring, clock_ticks(), EVENT_IDLE, state->idle_pool);
}

// A worker whose thread has told of nothing yet may have ended its task, or taken one up, while its classes were woven.
static void correct(struct thread_state *state, struct at_task at, uint64_t cpu) {
    if (!state->worker) return;
    bool same = at.has_task && state->tasks > 0 && (!at.task || at.task == state->task[0].task);
    if (same || (!at.has_task && state->tasks == 0)) return;
    if (state->tasks > 0) leave_task(state, cpu);
    state->was_idle = !at.has_task;
    state->takes = state->stage && !at.has_task;
    if (!at.has_task) return;
    ring_put1(&state->channel->ring, clock_ticks(), EVENT_BUSY, state->idle_pool);
    begin_task(state, at.task, cpu);
}

// A thread that sleeps when the tracer comes begins with what it sleeps for, once all threads' tasks have ids. A worker
// may have ended its task since its first look, and sleep for its next.
static void see_sleep(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames) {
    struct at_work work = look_at(jni, thread, frames, DEEPEST);
    const struct stack stack = {thread, frames, work.frames};
    uint64_t cpu = computed_by(thread);
    pthread_mutex_lock(&lock);
    struct thread_state **state = place_of(thread);
    if (state && *state && !is_asleep(*state)) {
        if (under_way_sleeps(&stack) && !has_task(*state, &work)) correct(*state, (struct at_task){0}, cpu);
        under_way_wait(jni, &stack, *state, cpu);
        if (is_asleep(*state)) atomic_fetch_add(&asleep, 1);
    }
    pthread_mutex_unlock(&lock);
}

// Pools that were seen to have workers, once each.
struct pool_seen {
    jobject pool; // a global reference
    uint32_t id;
};
enum { POOLS_MOST = 1024 };
static struct pool_seen pools_seen[POOLS_MOST];
static size_t pools_seen_count;

static void see_pool(JNIEnv *jni, jobject pool, uint32_t id) {
    for (size_t i = 0; i < pools_seen_count; i++) {
        if (pools_seen[i].id == id) return;
    }
    if (pool && id && pools_seen_count < POOLS_MOST)
        pools_seen[pools_seen_count++] = (struct pool_seen){(*jni)->NewGlobalRef(jni, pool), id};
}

static void see_pool_of(JNIEnv *jni, jthread thread, const struct at_work *work) {
    bool forks = identity_is_worker(jni, thread);
    jobject pool = forks ? identity_pool_of_worker(jni, thread) : pool_of_thread(jni, thread, work);
    if (pool) see_pool(jni, pool, pools_known_id(pool));
}

static void tell_queued(JNIEnv *jni) {
    queued_restart(jni);
    for (size_t i = 0; i < pools_seen_count; i++) {
        queued_tell(jni, pools_seen[i].pool, pools_seen[i].id);
        (*jni)->DeleteGlobalRef(jni, pools_seen[i].pool);
    }
    pools_seen_count = 0;
}

static void look_again(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames) {
    struct at_work work = look_at(jni, thread, frames, DEEPEST);
    const struct stack stack = {thread, frames, work.frames};
    uint64_t cpu = computed_by(thread), task = under_way_task(jni, &stack);
    see_pool_of(jni, thread, &work);
    pthread_mutex_lock(&lock);
    struct thread_state **state = place_of(thread);
    if (state && *state) {
        correct(*state, (struct at_task){has_task(*state, &work), task}, cpu);
        if (!under_way_sleeps(&stack)) leave_sleep(*state, cpu);
        if ((*state)->worker) name_pool(thread, (*state)->idle_pool, true);
    }
    pthread_mutex_unlock(&lock);
}

// Whether a method is a FutureTask's own, or of a kind of FutureTask.
static bool is_of_future(JNIEnv *jni, jmethodID method) {
    jclass class, future_task = (*jni)->FindClass(jni, run.class_name);
    (*jni)->ExceptionClear(jni);
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return false;
    bool is = future_task && (*jni)->IsAssignableFrom(jni, class, future_task);
    (*jni)->DeleteLocalRef(jni, class);
    if (future_task) (*jni)->DeleteLocalRef(jni, future_task);
    return is;
}

// Whether the worker that tells of itself begins a task that its loop runs, and not one that its task does.
static bool is_beginning(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count, jint most) {
    enum { TELLER = 1 }; // above it lies the probe
    if (count <= TELLER) return false;
    jmethodID teller = frames[TELLER].method;
    jint next = TELLER + 1;
    if (is_method(jni, teller, &exec)) {
        while (next < count && !is_method(jni, frames[next].method, &exec)) next++;
        return next == count && count < most;
    }
    if (loops_parts(jni, teller) == LOOP_RUNS) {
        while (next < count && !(loops_parts(jni, frames[next].method) & (LOOP_WORKS | LOOP_RUNS))) next++;
    } else if (is_method(jni, teller, &run) || is_method(jni, teller, &run_and_reset)) {
        while (next < count && is_of_future(jni, frames[next].method)) next++;
    } else {
        return false;
    }
    return next < count && loops_parts(jni, frames[next].method) & LOOP_WORKS;
}

// Its first event may be a sleep in its queue, or the beginning of a task: it left the one that it was at while nobody
// could tell.
static void see_what_it_left(JNIEnv *jni, jthread thread, struct thread_state *state) {
    jvmtiFrameInfo frames[NEAR];
    struct at_work work = look_at(jni, thread, frames, NEAR);
    if (!has_task(state, &work) || is_beginning(jni, frames, work.frames, NEAR))
        correct(state, (struct at_task){0}, computed_by(thread));
}

bool running_asks(const struct thread_state *state) {
    JNIEnv *jni;
    jvmtiFrameInfo frames[NEAR];
    if (state->worker_pool || (*tracer.vm)->GetEnv(tracer.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return false;
    const struct at_work work = look_at(jni, NULL, frames, NEAR);
    return !has_task(state, &work);
}

bool running_weaving(void) {
    return atomic_load_explicit(&weaving, memory_order_relaxed);
}

bool running_begins_task(JNIEnv *jni) {
    jvmtiFrameInfo frames[NEAR];
    jint count = 0;
    return (*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, 0, NEAR, frames, &count) == JVMTI_ERROR_NONE &&
           is_beginning(jni, frames, count, NEAR);
}

static bool is_old_platform_thread(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count) {
    return count > 0 &&
           !is_of_class(jni, frames[count - 1].method, "java/lang/VirtualThread"); // a new one has none yet
}

// Code of an earlier recording that it slept in made it tell of something before it was looked at.
static struct thread_state *begin_own(JNIEnv *jni, jthread thread) {
    struct thread_state *state = NULL;
    jvmtiFrameInfo *frames = malloc(DEEPEST * sizeof *frames);
    if (frames && (*jni)->PushLocalFrame(jni, 16) == 0) {
        struct at_work work = look_at(jni, thread, frames, DEEPEST);
        bool old = is_old_platform_thread(jni, frames, work.frames);
        bool begins = old && is_beginning(jni, frames, work.frames, DEEPEST);
        work.asks |= begins;
        work.forks &= !begins;
        if (old && (state = make(jni, thread)))
            describe(jni, thread, state, &work, 0, pool_of_thread(jni, thread, &work));
        (*jni)->PopLocalFrame(jni, NULL);
    }
    free(frames);
    return state;
}

struct thread_state *running_take(JNIEnv *jni) {
    jthread thread;
    if ((*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &thread) != JVMTI_ERROR_NONE) return NULL;
    struct thread_state *state = NULL;
    pthread_mutex_lock(&lock);
    struct thread_state **place = place_of(thread);
    if (place) {
        state = *place;
        *place = NULL;
    }
    kept_set(thread, number_of(TAKEN));
    pthread_mutex_unlock(&lock);
    if (!place && atomic_load(&expecting))
        state = begin_own(jni, thread);
    else if (state && state->worker && state->tasks > 0)
        see_what_it_left(jni, thread, state);
    (*jni)->DeleteLocalRef(jni, thread);
    return state;
}

// All of them ---------------------------------------------------------------------------------------------------------

typedef void look(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames);

static void look_at_all(JNIEnv *jni, look *look_at_one) {
    jint count;
    jthread *threads, self = NULL;
    jvmtiFrameInfo *frames = malloc(DEEPEST * sizeof *frames);
    if (!frames || (*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        free(frames);
        return;
    }
    (*jni)->EnsureLocalCapacity(jni, 2 * count + MORE_REFERENCES); // threads, and groups of those that are looked at
    (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &self);
    if (look_at_one == begin) waiting = calloc((size_t)count, sizeof(struct thread_state *));
    for (jint i = 0; i < count; i++) {
        bool own = (*jni)->IsSameObject(jni, threads[i], self);
        if ((waiting || look_at_one != begin) && !own && (*jni)->PushLocalFrame(jni, 16) == 0) {
            look_at_one(jni, threads[i], frames);
            (*jni)->PopLocalFrame(jni, NULL);
        }
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*jni)->DeleteLocalRef(jni, self);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)threads);
    free(frames);
}

// What an earlier recording made obsolete may stand on stacks still.
static void know_obsolete(JNIEnv *jni, jthread thread, jvmtiFrameInfo *frames) {
    struct at_work work = look_at(jni, thread, frames, DEEPEST);
    for (jint i = 0; i < work.frames; i++) {
        if (is_obsolete(frames[i].method)) under_way_know_obsolete(jni, frames[i].method);
    }
}

void running_expect(JNIEnv *jni) {
    waiting_count = 0;
    atomic_store(&asleep, 0);
    know_methods(jni);
    under_way_restart(jni);
    atomic_store(&expecting, true);
}

void running_begin(JNIEnv *jni) {
    static bool again;
    if (again) look_at_all(jni, know_obsolete);
    again = true;
    atomic_store(&weaving, true);
    under_way_look(jni);
    look_at_all(jni, begin);
    look_at_all(jni, see_sleep);
    under_way_forget(jni);
    atomic_store(&expecting, false);
}

void running_look_again(JNIEnv *jni) {
    under_way_look(jni);
    look_at_all(jni, look_again);
    look_at_all(jni, see_sleep);
    under_way_forget(jni);
    atomic_store(&weaving, false);
    tell_queued(jni);
}

bool running_any_asleep(void) {
    return atomic_load_explicit(&asleep, memory_order_relaxed) > 0;
}

void running_wake(struct thread_state *state) {
    if (!is_asleep(state)) return;
    atomic_fetch_sub(&asleep, 1);
    if (state->wait_depth > 0) {
        record_boundary(state, EVENT_WAIT_END, state->awaiting, 0);
        state->waited = state->awaiting;
        state->wait_depth = 0;
    }
    if (state->blocked_on) record_boundary(state, EVENT_BLOCK_END, state->blocked_on, 0);
    state->blocked_on = 0;
    if (state->sleep) sleeps_end(state);
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
