// SPDX-License-Identifier: Apache-2.0
// The natives of java.lang.Rehype: what each hook records. They run inside the program's calls, so none blocks, parks,
// throws, or touches java.util.concurrent; each copes with a thread that isn't traced.
//
// The task stack tells wrappers apart from tasks: beginning the task that is on top already, or a body inside a
// submitted task, only nests. The spawn stack tells a pool's own thread start, or an executor inside an executor, from
// a hand-over of the program's: only the outermost hand-over of one task is recorded.
#include "tracer/identity.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/tracer.h"

#include <java_lang_Rehype.h>

#define PROBE(result, name) JNIEXPORT result JNICALL Java_java_lang_Rehype_##name

// Functions ---------------------------------------------------------------------------------------------------------

static __attribute__((noinline, cold)) void record_first(unsigned kind, jint method) {
    if (thread_state_make()) ring_put1(thread_ring, clock_ticks(), kind, (uint32_t)method);
}

// The hot path of all: the clock, one record, one published cursor.
static inline void record_function(unsigned kind, jint method) {
    struct ring *ring = thread_ring;
    if (__builtin_expect(ring != NULL, 1)) {
        ring_put1(ring, clock_ticks(), kind, (uint32_t)method);
    } else {
        record_first(kind, method);
    }
}

PROBE(void, enter)(JNIEnv *jni, jclass helper, jint method) {
    record_function(EVENT_ENTER, method);
}

PROBE(void, exit)(JNIEnv *jni, jclass helper, jint method) {
    record_function(EVENT_EXIT, method);
}

PROBE(void, exitThrew)(JNIEnv *jni, jclass helper, jint method) {
    record_function(EVENT_EXIT_THROW, method);
}

PROBE(void, site)(JNIEnv *jni, jclass helper, jint site) {
    struct thread_state *state = thread_state_get();
    if (state) state->site = (uint32_t)site;
}

// Task objects ------------------------------------------------------------------------------------------------------

PROBE(jlong, created)(JNIEnv *jni, jclass helper, jobject task, jobject payload) {
    struct thread_state *state = thread_state_get();
    if (!state) return 0;
    uint64_t id = identity_carried(jni, payload); // a FutureTask of a FutureTask is one task
    if (id) return (jlong)id;
    id = task_id_new(state);
    record3(state, EVENT_TASK_CREATED, id, identity_class(jni, payload), 0);
    return (jlong)id;
}

// A periodic task that will run again is another task by then.
PROBE(jlong, renewed)(JNIEnv *jni, jclass helper, jobject task) {
    struct thread_state *state = thread_state_get();
    if (!state) return 0;
    uint64_t id = task_id_new(state);
    record3(state, EVENT_TASK_CREATED, id, identity_class(jni, task), 0);
    return (jlong)id;
}

PROBE(void, bodyCreated)(JNIEnv *jni, jclass helper, jobject task) {
    struct thread_state *state = thread_state_get();
    if (!state || (*jni)->IsInstanceOf(jni, task, tracer.thread_class)) return;
    uint64_t id = task_id_new(state);
    identity_created(task, id);
    record3(state, EVENT_TASK_CREATED, id, identity_class(jni, task), 0);
}

// Hand-over ---------------------------------------------------------------------------------------------------------

static void push_spawn(struct thread_state *state, uint64_t task) {
    if (state->spawns < SPAWN_STACK) state->spawn[state->spawns] = task;
    state->spawns++;
}

static uint64_t pop_spawn(struct thread_state *state) {
    if (state->spawns == 0) return 0;
    state->spawns--;
    return state->spawns < SPAWN_STACK ? state->spawn[state->spawns] : 0;
}

static bool being_spawned(const struct thread_state *state, uint64_t task) {
    for (uint32_t i = 0; i < state->spawns && i < SPAWN_STACK; i++) {
        if (state->spawn[i] == task) return true;
    }
    return false;
}

// An id for whatever is handed over; a raw Runnable that is new gets its creation recorded, too.
static uint64_t task_of(JNIEnv *jni, struct thread_state *state, jobject task) {
    uint64_t id = identity_carried(jni, task);
    if (id) return id;
    bool is_new;
    id = identity_spawn(state, task, &is_new);
    if (is_new) record3(state, EVENT_TASK_CREATED, id, identity_class(jni, task), 0);
    return id;
}

static void record_spawn(JNIEnv *jni, struct thread_state *state, uint64_t task, uint32_t pool) {
    record3(state, EVENT_SPAWN_BEGIN, task, site_of_spawn(jni, state), pool);
}

static void end_spawn(enum spawn_outcome outcome) {
    struct thread_state *state = thread_state_get();
    uint64_t task = state ? pop_spawn(state) : 0;
    if (task) record3(state, EVENT_SPAWN_END, task, outcome, 0);
}

PROBE(void, spawn)(JNIEnv *jni, jclass helper, jobject task, jint pool) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    uint64_t id = identity_carried(jni, task);
    bool inner = !task || (id && being_spawned(state, id));
    if (!inner) {
        if (!id) id = task_of(jni, state, task);
        record_spawn(jni, state, id, (uint32_t)pool);
    }
    push_spawn(state, inner ? 0 : id);
}

// CompletableFuture's async stages: the bracket opens before the stage exists, since only here are both its ends seen.
PROBE(void, spawnOpen)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (state) push_spawn(state, 0);
}

PROBE(void, spawnStage)(JNIEnv *jni, jclass helper, jobject executor, jobject task) {
    struct thread_state *state = thread_state_get();
    if (!state || state->spawns == 0 || state->spawns > SPAWN_STACK) return;
    uint64_t id = identity_carried(jni, task);
    if (!id) return;
    state->spawn[state->spawns - 1] = id;
    record_spawn(jni, state, id, identity_executor(jni, executor));
}

PROBE(void, spawned)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_ACCEPTED);
}

PROBE(void, rejected)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_REJECTED);
}

// Execution ---------------------------------------------------------------------------------------------------------

static struct task_frame *top(struct thread_state *state) {
    return state->tasks > 0 && state->tasks <= TASK_STACK ? &state->task[state->tasks - 1] : NULL;
}

static void begin(struct thread_state *state, uint64_t task, unsigned kind) {
    struct task_frame *frame = top(state);
    if (task == 0 || (frame && frame->task == task)) {
        if (frame) frame->nested++;
        return;
    }
    if (state->tasks < TASK_STACK) {
        state->task[state->tasks] = (struct task_frame){.task = task};
        record_boundary(state, kind, task, 0);
    }
    state->tasks++;
}

static void end(struct thread_state *state) {
    if (state->tasks > TASK_STACK) {
        state->tasks--;
        return;
    }
    struct task_frame *frame = top(state);
    if (!frame) return;
    if (frame->nested) {
        frame->nested--;
        return;
    }
    record_boundary(state, EVENT_TASK_END, frame->task, frame->outcome);
    state->tasks--;
}

static enum task_outcome outcome_of(jint future_task_state) {
    enum {
        NORMAL = 2,
        EXCEPTIONAL = 3,
        CANCELLED = 4
    }; // FutureTask.state, JDK 8 to 25; less than 0: an exception flies
    if (future_task_state < 0 || future_task_state == EXCEPTIONAL) return TASK_THREW;
    return future_task_state >= CANCELLED ? TASK_CANCELLED : TASK_RETURNED;
}

PROBE(void, start)(JNIEnv *jni, jclass helper, jlong task) {
    struct thread_state *state = thread_state_get();
    if (state) begin(state, (uint64_t)task, EVENT_TASK_START);
}

PROBE(void, end)(JNIEnv *jni, jclass helper, jint future_task_state) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    struct task_frame *frame = top(state);
    if (frame) frame->outcome = outcome_of(future_task_state);
    end(state);
}

PROBE(void, startObject)(JNIEnv *jni, jclass helper, jobject task) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    uint64_t id = identity_carried(jni, task);
    if (!id) id = identity_begin(task);
    if (!id) id = task_id_new(state); // handed over before the tracer came
    begin(state, id, EVENT_TASK_START);
}

PROBE(void, endObject)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (state) end(state);
}

// A body whose class is a task's by its type. Inside a submitted task it is that task's, or nested in it; only a thread
// of the program's own can be running it for a queue of the program's own.
PROBE(void, bodyBegin)(JNIEnv *jni, jclass helper, jobject task) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    struct task_frame *frame = top(state);
    bool own_thread = !state->worker && (!frame || (frame->task == state->run_task && state->tasks == 1));
    uint64_t id = own_thread && !(*jni)->IsInstanceOf(jni, task, tracer.thread_class) ? identity_begin(task) : 0;
    begin(state, id, EVENT_TASK_START);
}

PROBE(void, bodyEnd)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (state) end(state);
}

PROBE(void, result)(JNIEnv *jni, jclass helper, jlong task) {
    struct thread_state *state = task ? thread_state_get() : NULL;
    if (!state) return;
    // CompletableFuture.waitingGet helps to complete what depends on the result that it has just seen: no result of its
    // own.
    bool seen = state->wait_depth > 0 && state->awaiting == (uint64_t)task;
    if (!seen) record1(state, EVENT_RESULT, (uint64_t)task);
}

// Waits -------------------------------------------------------------------------------------------------------------

static void begin_wait(JNIEnv *jni, uint64_t target, enum wait_for what) {
    struct thread_state *state = thread_state_get();
    if (!state || state->wait_depth++ > 0) return;
    uint64_t site = site_of_wait(jni);
    state->awaiting = target;
    record_boundary(state, EVENT_WAIT_BEGIN, target, (uint64_t)what << 32 | site);
}

PROBE(void, waitBegin)(JNIEnv *jni, jclass helper, jlong task) {
    begin_wait(jni, (uint64_t)task, task ? WAIT_FOR_TASK : WAIT_FOR_UNKNOWN);
}

PROBE(void, terminationBegin)(JNIEnv *jni, jclass helper, jint pool) {
    begin_wait(jni, (uint64_t)pool, pool ? WAIT_FOR_POOL : WAIT_FOR_UNKNOWN);
}

PROBE(void, joinBegin)(JNIEnv *jni, jclass helper, jobject thread) {
    uint64_t task = identity_of_thread(thread);
    begin_wait(jni, task, task ? WAIT_FOR_TASK : WAIT_FOR_UNKNOWN);
}

PROBE(void, waitEnd)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (!state || state->wait_depth == 0 || --state->wait_depth > 0) return;
    record_boundary(state, EVENT_WAIT_END, state->awaiting, 0);
    state->waited = state->awaiting;
}

PROBE(void, taken)(JNIEnv *jni, jclass helper, jlong task) {
    struct thread_state *state = task ? thread_state_get() : NULL;
    if (!state) return;
    if (state->waited != (uint64_t)task) record1(state, EVENT_TAKEN, (uint64_t)task);
    state->waited = 0;
}

PROBE(void, takenIfReady)(JNIEnv *jni, jclass helper, jlong task, jobject result) {
    struct thread_state *state = task && result ? thread_state_get() : NULL;
    if (state) record1(state, EVENT_TAKEN, (uint64_t)task);
}

// Pools -------------------------------------------------------------------------------------------------------------

static jlong remaining_capacity(JNIEnv *jni, jobject queue, jclass class) {
    jmethodID method = (*jni)->GetMethodID(jni, class, "remainingCapacity", "()I");
    jint capacity = method ? (*jni)->CallIntMethod(jni, queue, method) : -1;
    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return -1;
    }
    return capacity == INT32_MAX ? -1 : capacity;
}

PROBE(jint, pool)(JNIEnv *jni, jclass helper, jobject executor, jint core, jint maximum, jobject queue) {
    if (!thread_state_get() || !executor || !queue) return 0;
    char kind[512], queue_name[512];
    jclass executor_class = (*jni)->GetObjectClass(jni, executor), queue_class = (*jni)->GetObjectClass(jni, queue);
    struct trace_pool pool = {.kind = identity_class_name(executor_class, kind, sizeof kind),
                              .queue = identity_class_name(queue_class, queue_name, sizeof queue_name),
                              .core = core,
                              .maximum = maximum,
                              .capacity = remaining_capacity(jni, queue, queue_class)};
    return (jint)registry_pool(&pool);
}

static void name_pool(uint32_t pool) {
    jvmtiThreadInfo info;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, NULL, &info) != JVMTI_ERROR_NONE) return;
    registry_name_pool(pool, info.name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)info.name);
}

PROBE(void, worker)(JNIEnv *jni, jclass helper, jint pool) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    state->worker = true;
    state->tasks = 0; // its own run() is no task
    name_pool((uint32_t)pool);
    record1(state, EVENT_WORKER_BEGIN, (uint32_t)pool);
}

// A raw Runnable that threw left no other trace.
static void close_tasks(struct thread_state *state) {
    while (state->tasks > 0) {
        struct task_frame *frame = top(state);
        if (frame) {
            frame->nested = 0;
            frame->outcome = TASK_THREW;
        }
        end(state);
    }
}

PROBE(void, idle)(JNIEnv *jni, jclass helper, jint pool) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    close_tasks(state);
    state->idle_pool = (uint32_t)pool;
    record1(state, EVENT_IDLE, (uint32_t)pool);
}

PROBE(void, busy)(JNIEnv *jni, jclass helper, jobject task) {
    struct thread_state *state = thread_state_get();
    if (state) record1(state, task ? EVENT_BUSY : EVENT_RETIRE, state->idle_pool);
}

PROBE(void, leave)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (state) close_tasks(state);
}

PROBE(void, shutdown)(JNIEnv *jni, jclass helper, jint pool) {
    struct thread_state *state = thread_state_get();
    if (state) record1(state, EVENT_POOL_SHUTDOWN, (uint32_t)pool);
}

// Threads -----------------------------------------------------------------------------------------------------------

// The thread's run() is the task of whatever it was made to run, if that is known as one already.
static uint64_t task_of_thread(JNIEnv *jni, struct thread_state *state, jobject thread) {
    jobject target = identity_thread_target(jni, thread);
    uint64_t task = identity_carried(jni, target);
    if (!task && target) task = identity_take_created(target);
    if (task) return task;
    task = task_id_new(state);
    // A thread that is made while something is handed over serves that: its run() is a pool's loop, and no task.
    if (state->spawns == 0) record3(state, EVENT_TASK_CREATED, task, identity_class(jni, target ? target : thread), 0);
    return task;
}

PROBE(void, threadSpawn)(JNIEnv *jni, jclass helper, jobject thread) {
    struct thread_state *state = thread_state_get();
    if (!state) return;
    uint64_t task = task_of_thread(jni, state, thread);
    bool inner = being_spawned(state, task);
    identity_set_thread(thread, task);
    if (!inner) record_spawn(jni, state, task, 0);
    push_spawn(state, inner ? 0 : task);
}

PROBE(void, threadSpawned)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_ACCEPTED);
}

PROBE(void, mainBegin)(JNIEnv *jni, jclass helper) {
    struct thread_state *state = thread_state_get();
    if (!state || state->tasks > 0) return;
    begin(state, state->run_task, EVENT_MAIN_BEGIN);
}
