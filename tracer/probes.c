// SPDX-License-Identifier: Apache-2.0
// The natives of java.lang.Rehype: what each hook records. They run inside the program's calls, so none blocks, parks,
// throws, or touches java.util.concurrent; each copes with a thread that isn't traced.
//
// The task stack tells wrappers apart from tasks: beginning the task that is on top already, or a body inside a
// submitted task, only nests. The spawn stack tells a pool's own thread start, or an executor inside an executor, from
// a hand-over of the program's: only the outermost hand-over of one task is recorded.
#include "tracer/bodies.h"
#include "tracer/calling.h"
#include "tracer/container.h"
#include "tracer/due.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/locks.h"
#include "tracer/makers.h"
#include "tracer/pools.h"
#include "tracer/queue_ids.h"
#include "tracer/registry.h"
#include "tracer/requests.h"
#include "tracer/resources.h"
#include "tracer/running.h"
#include "tracer/scala.h"
#include "tracer/sites.h"
#include "tracer/sleeps.h"
#include "tracer/time_limit.h"
#include "tracer/tracer.h"
#include "tracer/virtual.h"

#include <java_lang_Rehype.h>

#include <string.h>

#define PROBE(result, name) JNIEXPORT result JNICALL Java_java_lang_Rehype_##name

// The agent itself ---------------------------------------------------------------------------------------------------

PROBE(jlong, agent)(JNIEnv *jni, jclass helper) {
    return (jlong)(uintptr_t)&tracer;
}

PROBE(jlong, carried)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)kept_get(task) : 0;
}

PROBE(void, carry)(JNIEnv *jni, jclass helper, jobject task, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    if (state) kept_set(task, (uint64_t)carried);
}

PROBE(jint, poolOf)(JNIEnv *jni, jclass helper, jobject executor) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jint)pools_id(jni, executor) : 0;
}

PROBE(void, becomePool)(JNIEnv *jni, jclass helper, jobject executor, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    if (state) pools_set_id(executor, (uint32_t)pool);
}

// Functions ---------------------------------------------------------------------------------------------------------

// A thread's first event, and all where the clock is the system's.
static __attribute__((noinline)) void record_function_called(unsigned kind, jint method) {
    if (thread_ring || thread_state_make()) ring_put1(thread_ring, clock_ticks(), kind, (uint32_t)method);
}

// The hot path of all: the counter, one record, one published cursor. It makes no call but as its last act.
static inline void record_function(unsigned kind, jint method) {
    struct ring *ring = thread_ring;
    if (__builtin_expect(ring && clock_uses_counter, 1))
        ring_put1(ring, clock_ticks(), kind, (uint32_t)method);
    else
        record_function_called(kind, method);
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
    PROBED struct thread_state *state = probe_begin();
    if (state) state->site = (uint32_t)site;
}

// Task objects ------------------------------------------------------------------------------------------------------

PROBE(jlong, created)(JNIEnv *jni, jclass helper, jobject task, jobject payload) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return 0;
    struct payload made_from = identity_payload(jni, state, payload);
    if (made_from.task) return (jlong)made_from.task; // a FutureTask of a FutureTask is one task
    if (payload) identity_wrapped(state, payload);
    uint64_t id = task_id_new(state);
    calling_created(state, id, made_from.class);
    record3(state, EVENT_TASK_CREATED, id, made_from.class, 0);
    return (jlong)id;
}

// A periodic task that will run again is another task by then, handed over at the same site.
PROBE(jlong, renewed)
(JNIEnv *jni, jclass helper, jobject task, jlong carried, jint future_task_state, jobject callable) {
    enum { NEW = 0 };
    PROBED struct thread_state *state = future_task_state == NEW ? probe_begin() : NULL;
    if (!state) return carried;
    uint64_t id = task_id_new(state);
    jobject payload = identity_callable(jni, callable);
    record3(state, EVENT_TASK_CREATED, id, identity_class(jni, state, payload ? payload : task), 0);
    return (jlong)(id | ((uint64_t)carried & ~(CARRIED_ID | CARRIED_BEGUN)));
}

// Whether what the thread makes there is worth an id.
static bool is_followed(struct thread_state *state, jint maker) {
    return makers_follow((uint32_t)maker, &state->native->made);
}

PROBE(void, bodyCreated)(JNIEnv *jni, jclass helper, jobject task, jint maker) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || !is_followed(state, maker) || (*jni)->IsInstanceOf(jni, task, tracer.thread_class)) return;
    uint64_t id = state->native->made_last = task_id_new(state);
    uint32_t class = identity_class(jni, state, task);
    identity_created(task, (uint32_t)maker, id);
    calling_created_alone(state, id, class);
    record3(state, EVENT_TASK_CREATED, id, class, 0);
}

// Hand-over ---------------------------------------------------------------------------------------------------------

// On the spawn stack, of a task: whoever was to take it up has refused.
static const uint64_t TURNED_DOWN = (uint64_t)1 << 63;

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
        if ((state->spawn[i] & ~TURNED_DOWN) == task) return true;
    }
    return false;
}

// A ForkJoinTask gets its id when it is handed over, so that one that is only invoked has none and is folded. What the
// JDK wrapped is known by its payload.
static uint64_t create_forked(JNIEnv *jni, struct thread_state *state, jobject task, uint64_t reserved) {
    struct fork_parts parts = identity_parts(jni, state, task);
    uint64_t carried = !reserved && parts.payload ? identity_carried(jni, parts.payload) : 0;
    if (!reserved && !carried && parts.payload) carried = identity_take_created(state, parts.payload);
    uint64_t id = reserved ? reserved : carried ? carried : task_id_new(state);
    if (!carried) {
        uint32_t class = parts.payload ? identity_class(jni, state, parts.payload) : parts.class;
        record3(state, EVENT_TASK_CREATED, id, class, 0);
    }
    if (parts.dependent) identity_set_future(jni, parts.dependent, id);
    return id;
}

// The id of a ForkJoinTask that is being handed over.
static uint64_t task_of_fork(JNIEnv *jni, struct thread_state *state, jobject task, uint64_t carried) {
    uint64_t id = carried & CARRIED_BEGUN ? 0 : carried & CARRIED_ID;
    bool created = id && !(carried & CARRIED_RESERVED);
    return created ? id : create_forked(jni, state, task, id);
}

static struct object_class class_by_carrier(enum carrier carrier) {
    return (struct object_class){.id = NOT_ASKED_YET, .carrier = carrier};
}

// Of a raw Runnable: the id that it was made with, or a new one. It goes with the object, or, where the pool's queue
// carries ids, is the thread's to put there.
static uint64_t hand_over_raw(JNIEnv *jni, struct thread_state *state, jobject task, uint32_t pool, bool *is_new) {
    if (!queue_ids_carried(jni, pool)) return identity_spawn(state, task, is_new);
    uint64_t id = identity_take_created(state, task);
    *is_new = !id;
    return state->handed = id ? id : task_id_new(state);
}

// An id for whatever is handed over, which may carry one; what is new gets its creation recorded, too, with its class.
// `pool`: a ThreadPoolExecutor's execute(); else 0.
static uint64_t task_of(JNIEnv *jni, struct thread_state *state, jobject task, struct object_class class, uint64_t id,
                        uint32_t pool) {
    bool is_new;
    if (class.carrier == CARRIER_FORK_JOIN_TASK) {
        id = task_of_fork(jni, state, task, identity_get_carried(jni, task));
        identity_set_carried(jni, task, id);
    }
    if (id) return id;
    id = hand_over_raw(jni, state, task, pool, &is_new);
    if (is_new && class.id == NOT_ASKED_YET) class.id = identity_class(jni, state, task);
    if (is_new) record3(state, EVENT_TASK_CREATED, id, class.id, 0);
    return id;
}

static void record_spawn_at(struct thread_state *state, uint64_t task, uint64_t site, uint32_t pool) {
    if (bodies_in_unseen(state)) bodies_begin_unseen(state);
    calling_submitted(state, task, (uint32_t)site);
    record3(state, EVENT_SPAWN_BEGIN, task, site, pool);
}

static void record_spawn(JNIEnv *jni, struct thread_state *state, uint64_t task, uint32_t pool) {
    record_spawn_at(state, task, site_of_spawn(jni, state), pool);
}

// What is refused further in, where it is not recorded, is refused.
static void turn_down(struct thread_state *state) {
    uint32_t i = state->spawns < SPAWN_STACK ? state->spawns : SPAWN_STACK;
    while (i > 0 && state->spawn[i - 1] == 0) i--;
    if (i > 0) state->spawn[i - 1] |= TURNED_DOWN;
}

static void end_spawn(enum spawn_outcome outcome) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t entry = state ? pop_spawn(state) : 0, task = entry & ~TURNED_DOWN;
    if (state) state->handed = 0;
    if (task) {
        record3(state, EVENT_SPAWN_END, task, entry & TURNED_DOWN ? SPAWN_REJECTED : outcome, 0);
    } else if (state && outcome == SPAWN_REJECTED) {
        turn_down(state);
    }
}

static bool is_scheduling(JNIEnv *jni, jobject task, enum carrier carrier) {
    return carrier == CARRIER_FORK_JOIN_TASK && identity_get_carried(jni, task) & CARRIED_SCHEDULING;
}

// Gives the task's id, or 0 if it is being handed over already, or none.
static uint64_t open_spawn_of(JNIEnv *jni, struct thread_state *state, jobject task, struct object_class class,
                              uint32_t pool) {
    if (request_wants_name(state)) request_name_by_code(jni, state);
    uint64_t id = task ? identity_carried_by(jni, task, class.carrier) : 0;
    uint64_t known = id || !task || state->spawns == 0 ? id : identity_last_pending(task);
    bool inner = !task || (known && being_spawned(state, known)) || is_scheduling(jni, task, class.carrier);
    if (!inner) id = task_of(jni, state, task, class, id, pool);
    push_spawn(state, inner ? 0 : id);
    return inner ? 0 : id;
}

static uint64_t open_spawn(JNIEnv *jni, struct thread_state *state, jobject task, uint32_t pool) {
    return open_spawn_of(jni, state, task, class_by_carrier(task ? identity_carrier(jni, task) : CARRIER_OTHER), pool);
}

PROBE(void, spawn)(JNIEnv *jni, jclass helper, jobject task, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t id = state ? open_spawn(jni, state, task, (uint32_t)pool) : 0;
    if (!id) return;
    uint64_t site = site_of_spawn(jni, state);
    if (!site) site = scala_carried(jni, task) >> CARRIED_SITE_AT & CARRIED_SITE_MAX;
    record_spawn_at(state, id, site, (uint32_t)pool);
}

static void record_due(struct thread_state *state, uint64_t task, const struct due *due) {
    record3(state, EVENT_DUE, task, (uint64_t)due->delay_ns, (uint64_t)due->period_ns);
}

// What a ScheduledThreadPoolExecutor hands over once more, it does so on a worker, out of sight of the application: the
// site is that of the first time.
PROBE(void, schedule)(JNIEnv *jni, jclass helper, jobject task, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t id = state ? open_spawn(jni, state, task, 0) : 0;
    if (!id) return;
    uint64_t site = site_of_spawn(jni, state);
    if (!site) site = identity_get_future(jni, task) >> CARRIED_SITE_AT & CARRIED_SITE_MAX;
    record_spawn_at(state, id, site, (uint32_t)pool);
    struct due due;
    if (due_of_scheduled(jni, task, &due)) record_due(state, id, &due);
    if (site <= CARRIED_SITE_MAX) identity_set_future_task(jni, task, id | site << CARRIED_SITE_AT);
}

// What was to go through a queue does not.
static void hand_over_otherwise(struct thread_state *state, jobject task) {
    uint64_t id = state->handed;
    state->handed = 0;
    if (id && task) identity_hand_over(task, id);
}

PROBE(void, turnedDown)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    hand_over_otherwise(state, task);
    turn_down(state);
}

// A new worker will run it before it asks the queue for more.
PROBE(void, firstTask)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (state) hand_over_otherwise(state, task);
}

PROBE(void, nodeEnqueued)(JNIEnv *jni, jclass helper, jobject node) {
    PROBED struct thread_state *state = probe_begin();
    if (state && state->handed) queue_ids_put(jni, node, state->handed);
    if (state) state->handed = 0;
}

// By the pool's worker, which is about to run it, or by whoever else looks into the queue.
PROBE(void, nodeDequeued)(JNIEnv *jni, jclass helper, jobject task, jobject node) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t id = state ? queue_ids_get(jni, node) : 0;
    if (id && state->asks)
        state->taken = id;
    else if (id && task)
        identity_hand_over(task, id);
}

PROBE(void, queueDrains)(JNIEnv *jni, jclass helper, jobject queue) {
    PROBED struct thread_state *state = probe_begin();
    if (state) queue_ids_hand_over(jni, queue);
}

// What had been accepted gives way to another.
PROBE(void, discarded)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = task ? probe_begin() : NULL;
    if (!state) return;
    uint64_t id = identity_carried(jni, task);
    if (!id) id = identity_begin(task);
    if (id) record3(state, EVENT_SPAWN_END, id, SPAWN_REJECTED, 0);
}

// CompletableFuture's async stages: the bracket opens before the stage exists, since only here are both its ends seen.
PROBE(void, spawnOpen)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) push_spawn(state, 0);
}

PROBE(void, spawnStage)(JNIEnv *jni, jclass helper, jobject executor, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->spawns == 0 || state->spawns > SPAWN_STACK) return;
    enum carrier carrier = identity_carrier(jni, task);
    uint64_t carried = identity_carried_by(jni, task, carrier);
    uint64_t id = task_of(jni, state, task, class_by_carrier(carrier), carried, 0);
    state->spawn[state->spawns - 1] = id;
    record_spawn(jni, state, id, identity_executor(jni, state, executor));
}

// A stage that an executor will run when what it depends on is there: its future may be awaited before that.
PROBE(jlong, stage)(JNIEnv *jni, jclass helper, jobject executor, jobject dependent) {
    PROBED struct thread_state *state = executor && dependent ? probe_begin() : NULL;
    if (!state) return 0;
    uint64_t id = task_id_new(state);
    identity_set_future(jni, dependent, id);
    record3(state, EVENT_TASK_CREATED, id, 0, 0); // what it runs is not in its fields yet; its hand-over tells it
    return (jlong)(id | CARRIED_RESERVED);
}

PROBE(void, spawned)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_ACCEPTED);
}

PROBE(void, rejected)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_REJECTED);
}

// What is not accepted does not stay with the object.
PROBE(void, spawnedIf)(JNIEnv *jni, jclass helper, jboolean accepted, jobject task) {
    end_spawn(accepted ? SPAWN_ACCEPTED : SPAWN_REJECTED);
    PROBED struct thread_state *state = accepted || !task ? NULL : probe_begin();
    if (state && state->spawns == 0 && !identity_carried(jni, task)) identity_begin(task);
}

// Executors that are none of the JDK's (executors.h).
static void spawn_to_other(JNIEnv *jni, struct thread_state *state, jobject task, jobject executor) {
    struct object_class class = identity_class_and_carrier(jni, state, task);
    uint64_t id = open_spawn_of(jni, state, task, class, 0);
    if (!id) return;
    uint32_t site = site_of_spawn_to_other(jni, state, class.id);
    record_spawn_at(state, id, site, identity_executor(jni, state, executor));
}

PROBE(void, executorSpawn)(JNIEnv *jni, jclass helper, jobject task, jobject executor) {
    PROBED struct thread_state *state = probe_begin();
    if (state) spawn_to_other(jni, state, task, executor);
}

// One object may lie in several stages, as what tells their threads to end does.
PROBE(void, stagePut)(JNIEnv *jni, jclass helper, jobject element, jobject stage) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    state->puts_into = identity_executor(jni, state, stage);
    spawn_to_other(jni, state, element, stage);
    state->puts_into = 0;
}

// Execution ---------------------------------------------------------------------------------------------------------

static enum task_outcome outcome_of(jint future_task_state) {
    enum {
        NORMAL = 2,
        EXCEPTIONAL = 3,
        CANCELLED = 4
    }; // FutureTask.state, JDK 8 to 25; less than 0: an exception flies
    if (future_task_state < 0 || future_task_state == EXCEPTIONAL) return TASK_THREW;
    return future_task_state >= CANCELLED ? TASK_CANCELLED : TASK_RETURNED;
}

PROBE(void, start)(JNIEnv *jni, jclass helper, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    if (!task && tracer.attached && state->tasks == 0) task = task_id_new(state); // handed over before the tracer came
    bodies_begin(state, task, EVENT_TASK_START);
}

// A FutureTask calls its callable. Gives what it is to carry: whether it began goes with it, since a run() that has
// nothing to call ends nothing. One that was made out of sight may have been seen to be handed over, or is the task
// that its worker has begun.
PROBE(jlong, futureBegins)(JNIEnv *jni, jclass helper, jobject future, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return carried;
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    if (!task) task = identity_begin(future);
    if (!task && state->tasks == 0 && (tracer.attached || state->worker)) task = task_id_new(state);
    bodies_begin(state, task, EVENT_TASK_START);
    return (jlong)((uint64_t)carried | task | CARRIED_BEGUN);
}

static void note_outcome(struct task_frame *frame, enum task_outcome outcome) {
    if (frame && outcome != TASK_RETURNED) frame->outcome = outcome;
}

PROBE(void, end)(JNIEnv *jni, jclass helper, jint future_task_state) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    note_outcome(bodies_top(state), outcome_of(future_task_state));
    bodies_end(state);
}

// Its run() is over; another thread's, or one that it called itself, may have come to nothing before.
PROBE(void, futureEnds)(JNIEnv *jni, jclass helper, jlong carried, jint future_task_state) {
    PROBED struct thread_state *state = (uint64_t)carried & CARRIED_BEGUN ? probe_begin() : NULL;
    struct task_frame *frame = state ? bodies_top(state) : NULL;
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    bool others = frame && (task ? frame->task != task : frame->nested == 0);
    if (!state || others) return;
    note_outcome(frame, outcome_of(future_task_state));
    bodies_end(state);
}

// A stage's future is completed by an exception: within its body, by what that threw.
PROBE(void, threw)(JNIEnv *jni, jclass helper, jlong task) {
    PROBED struct thread_state *state = task ? probe_begin() : NULL;
    struct task_frame *frame = state ? bodies_top(state) : NULL;
    if (frame && frame->task == ((uint64_t)task & CARRIED_ID)) frame->outcome = TASK_THREW;
}

// `taken`: the id that came with it; 0: none. Of no task the call of its run() throws.
static void start_object(JNIEnv *jni, struct thread_state *state, jobject task, uint64_t taken) {
    if (!task) {
        bodies_begin_nothing(state);
        return;
    }
    enum carrier carrier = identity_carrier(jni, task);
    bool scheduling = is_scheduling(jni, task, carrier);
    uint64_t id = scheduling ? 0 : identity_carried_by(jni, task, carrier);
    if (!id && !scheduling) id = taken ? taken : identity_begin(task);
    if (!id && !scheduling) id = task_id_new(state); // handed over before the tracer came
    if (scheduling || identity_is_done(jni, task, carrier))
        bodies_begin_nothing(state);
    else
        bodies_begin(state, id, EVENT_TASK_START);
}

// What the worker was at when the tracer came has ended, if its loop runs another task.
static void leave_begun_before(JNIEnv *jni, struct thread_state *state) {
    const struct task_frame *frame = bodies_top(state);
    const bool may = frame && frame->begun_before && state->worker && !state->worker_pool && !state->loop_unseen;
    if (may && running_begins_task(jni)) bodies_end_all(state, false);
}

// The same of one that is no task unless it was handed over in sight.
PROBE(void, startSeen)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    leave_begun_before(jni, state);
    const uint64_t carried = task ? identity_carried(jni, task) : 0;
    const uint64_t pending = task && !carried ? identity_begin(task) : 0;
    if (task && !carried && !pending && !tracer.attached)
        bodies_begin_nothing(state);
    else
        start_object(jni, state, task, pending);
}

PROBE(void, startObject)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    leave_begun_before(jni, state);
    start_object(jni, state, task, 0);
}

// A ThreadPoolExecutor's worker runs what it took from the queue.
PROBE(void, startHanded)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    start_object(jni, state, task, state->taken);
    state->taken = 0;
}

PROBE(void, endObject)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) bodies_end(state);
}

PROBE(void, threwObject)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) bodies_end_by_exception(state);
}

// A body whose class is a task's by its type. Inside a submitted task it is that task's, or nested in it; only a thread
// of the program's own can be running it for a queue of the program's own.
PROBE(void, bodyBegin)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    struct task_frame *frame = bodies_top(state);
    bool own_thread = !state->worker && (!frame || (frame->task == state->run_task && state->tasks == 1));
    uint64_t id = own_thread && !(*jni)->IsInstanceOf(jni, task, tracer.thread_class) ? identity_begin(task) : 0;
    bodies_begin(state, id, EVENT_TASK_START);
}

PROBE(void, bodyEnd)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) bodies_end(state);
}

PROBE(void, bodyThrew)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) bodies_end_by_exception(state);
}

// Lambdas and hidden classes have no class file that could be woven, so whoever runs a body has the call woven as well:
// a body that was begun at its call only nests. By which way the call is left shows in the method that it is in: it
// falls through, comes to a handler, or leaves the method; then all that the method began is over.

PROBE(void, runnerEnter)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    const struct task_frame *frame = bodies_top(state);
    if (state->runners < RUNNER_STACK)
        state->runner[state->runners] = (struct runner_mark){state->tasks, frame ? frame->nested : 0};
    state->runners++;
}

static void end_what_was_run(struct thread_state *state) {
    if (state->runners == 0 || state->runners > RUNNER_STACK) return;
    struct runner_mark mark = state->runner[state->runners - 1];
    struct task_frame *frame;
    while (state->tasks > mark.tasks) {
        if ((frame = bodies_top(state))) {
            frame->nested = 0;
            frame->outcome = TASK_THREW;
        }
        bodies_end(state);
    }
    frame = state->tasks == mark.tasks ? bodies_top(state) : NULL;
    if (frame && frame->nested > mark.nested) frame->nested = mark.nested;
}

PROBE(void, runnerCaught)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) end_what_was_run(state);
}

PROBE(void, runnerThrew)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    end_what_was_run(state);
    if (state->runners > 0) state->runners--;
}

PROBE(void, runnerLeave)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state && state->runners > 0) state->runners--;
}

PROBE(void, lambdaMade)(JNIEnv *jni, jclass helper, jobject task, jint maker) {
    PROBED struct thread_state *state = task ? probe_begin() : NULL;
    uint64_t id = state && is_followed(state, maker) ? identity_evaluated(state, task, (uint32_t)maker) : 0;
    if (!id) return;
    state->native->made_last = id;
    uint32_t class = identity_class(jni, state, task);
    calling_created_alone(state, id, class);
    record3(state, EVENT_TASK_CREATED, id, class, 0);
}

static void record_result(uint64_t task) {
    PROBED struct thread_state *state = task ? probe_begin() : NULL;
    if (!state) return;
    // CompletableFuture.waitingGet helps to complete what depends on the result that it has just seen: no result of its
    // own.
    bool seen = state->wait_depth > 0 && state->awaiting == task;
    if (bodies_in_unseen(state)) bodies_begin_unseen(state);
    if (!seen) record1(state, EVENT_RESULT, task);
}

PROBE(void, result)(JNIEnv *jni, jclass helper, jlong carried) {
    record_result((uint64_t)carried & CARRIED_ID);
}

// A future that was completed as part of another's completion, or null.
PROBE(void, fired)(JNIEnv *jni, jclass helper, jobject future) {
    if (future) record_result(identity_of_future(jni, future));
}

// Waits -------------------------------------------------------------------------------------------------------------

static const uint64_t NO_WAIT = UINT64_MAX; // as what is awaited: the result was there

static void begin_wait(JNIEnv *jni, struct thread_state *state, uint64_t target, enum wait_for what) {
    if (state && bodies_in_unseen(state)) bodies_begin_unseen(state);
    if (!state) return;
    if (state->wait_depth++ > 0) {
        state->limit_ns = 0;
        return;
    }
    uint32_t site = site_of_spawn(jni, state);
    state->awaiting = target;
    time_limit_begin(state);
    record_boundary(state, EVENT_WAIT_BEGIN, target, wait_operand(what, 0, site));
}

PROBE(void, waitBegin)(JNIEnv *jni, jclass helper, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    begin_wait(jni, state, task, task ? WAIT_FOR_TASK : WAIT_FOR_UNKNOWN);
}

// A future that no executor's task completes gets an id when it is first awaited, by which its result is known, too.
PROBE(jlong, futureWaitBegin)(JNIEnv *jni, jclass helper, jlong task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return task;
    if (!task && state->wait_depth == 0) task = (jlong)task_id_new(state);
    begin_wait(jni, state, (uint64_t)task & CARRIED_ID, task ? WAIT_FOR_TASK : WAIT_FOR_UNKNOWN);
    return task;
}

PROBE(void, terminationBegin)(JNIEnv *jni, jclass helper, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    begin_wait(jni, state, (uint64_t)pool, pool ? WAIT_FOR_POOL : WAIT_FOR_UNKNOWN);
}

PROBE(void, joinBegin)(JNIEnv *jni, jclass helper, jobject thread) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t task = identity_of_thread(thread);
    begin_wait(jni, state, task, task ? WAIT_FOR_TASK : WAIT_FOR_UNKNOWN);
}

PROBE(void, waitEnd)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->wait_depth == 0 || --state->wait_depth > 0 || state->awaiting == NO_WAIT) return;
    time_limit_end(state, state->awaiting);
    record_boundary(state, EVENT_WAIT_END, state->awaiting, 0);
    state->waited = state->awaiting;
}

// Of the wait that begins next: its limit, if it has one, in ns, ms or a java.util.concurrent.TimeUnit.
static void set_limit(int64_t ns) {
    PROBED struct thread_state *state = probe_begin();
    if (state) time_limit_set(state, ns);
}

static void set_limit_until(int64_t ns) {
    PROBED struct thread_state *state = probe_begin();
    if (state) time_limit_set_until(state, ns);
}

PROBE(void, limit)(JNIEnv *jni, jclass helper, jlong ns) {
    set_limit(ns);
}

PROBE(void, limitIf)(JNIEnv *jni, jclass helper, jboolean timed, jlong ns) {
    set_limit(timed ? ns : 0);
}

PROBE(void, limitMs)(JNIEnv *jni, jclass helper, jlong ms) {
    set_limit(due_ns_of_ms(ms));
}

PROBE(void, limitIn)(JNIEnv *jni, jclass helper, jlong duration, jobject unit) {
    set_limit(due_ns_of(jni, duration, unit));
}

// Of the wait that ends next: whether what it waited for came before its time was up.
static void tell_outcome(bool up) {
    PROBED struct thread_state *state = probe_begin();
    if (state && state->wait_depth == 1) time_limit_tell(state, up);
}

PROBE(void, came)(JNIEnv *jni, jclass helper, jboolean came) {
    tell_outcome(!came);
}

PROBE(void, cameTo)(JNIEnv *jni, jclass helper, jint future_task_state) {
    enum { COMPLETING = 1 };
    tell_outcome(future_task_state <= COMPLETING);
}

PROBE(void, threwAwaiting)(JNIEnv *jni, jclass helper, jobject exception) {
    tell_outcome(identity_is_timeout(jni, exception));
}

PROBE(void, parkBegin)(JNIEnv *jni, jclass helper, jobject blocker) {
    if (!tracer.options.without_locks) locks_park_begin(jni, blocker);
}

// Whose limit is set.
static void park_limited(JNIEnv *jni, jobject blocker) {
    locks_park_begin(jni, blocker);
    if (thread_state_here()) thread_state_here()->limit_ns = 0; // of no other wait
}

PROBE(void, parkBeginFor)(JNIEnv *jni, jclass helper, jobject blocker, jlong ns) {
    if (tracer.options.without_locks) return;
    set_limit(ns);
    park_limited(jni, blocker);
}

// A time in ms since 1970.
PROBE(void, parkBeginUntil)(JNIEnv *jni, jclass helper, jobject blocker, jlong ms) {
    if (tracer.options.without_locks) return;
    set_limit_until(due_of_timer(ms, 0).delay_ns);
    park_limited(jni, blocker);
}

PROBE(void, parkEnd)(JNIEnv *jni, jclass helper) {
    locks_park_end();
}

// What parked before the tracer came runs on in code that tells nothing, but for this.
PROBE(void, blocksOn)(JNIEnv *jni, jclass helper, jobject blocker) {
    if (!blocker && running_any_asleep()) thread_state_get();
}

PROBE(void, unparks)(JNIEnv *jni, jclass helper, jobject thread) {
    sleeps_unpark(jni, thread);
}

PROBE(void, notifies)(JNIEnv *jni, jclass helper, jobject monitor) {
    if (monitor) locks_notify(monitor, false);
}

PROBE(void, notifiesAll)(JNIEnv *jni, jclass helper, jobject monitor) {
    if (monitor) locks_notify(monitor, true);
}

PROBE(void, taken)(JNIEnv *jni, jclass helper, jlong carried) {
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    PROBED struct thread_state *state = task ? probe_begin() : NULL;
    if (!state) return;
    if (state->waited != task) record1(state, EVENT_TAKEN, task);
    state->waited = 0;
}

PROBE(void, takenIfReady)(JNIEnv *jni, jclass helper, jlong task, jobject result) {
    PROBED struct thread_state *state = task && result ? probe_begin() : NULL;
    if (state) record1(state, EVENT_TAKEN, (uint64_t)task);
}

// Fork and join -----------------------------------------------------------------------------------------------------
// `carried` is what the task's field holds (identity.h); where the snippet stores what the probe gives back, it is what
// the field is to hold.

static uint32_t scala_site(JNIEnv *jni, struct thread_state *state, jobject task) {
    jobject payload = identity_parts(jni, state, task).payload;
    return payload ? (uint32_t)(scala_carried(jni, payload) >> CARRIED_SITE_AT & CARRIED_SITE_MAX) : 0;
}

// Forks of the JDK's own tasks (streams, sorts) on a worker have no frame of the application's beneath them: theirs is
// the site that the whole tree of forks began at.
static uint32_t site_of_fork(JNIEnv *jni, struct thread_state *state, jobject task) {
    uint32_t site = site_of_spawn(jni, state);
    const struct task_frame *frame = bodies_top(state);
    if (!site) site = scala_site(jni, state, task);
    return site || !frame ? site : frame->forked_from;
}

static uint64_t open_fork(JNIEnv *jni, struct thread_state *state, jobject task, uint64_t carried, uint32_t pool) {
    uint64_t id = carried & CARRIED_BEGUN ? 0 : carried & CARRIED_ID;
    if (carried & CARRIED_SCHEDULING || (id && being_spawned(state, id))) {
        push_spawn(state, 0);
        return carried;
    }
    id = task_of_fork(jni, state, task, carried);
    uint64_t site = site_of_fork(jni, state, task);
    record_spawn_at(state, id, site, pool);
    push_spawn(state, id);
    return id | (site <= CARRIED_SITE_MAX ? site : 0) << CARRIED_SITE_AT;
}

PROBE(jlong, fork)(JNIEnv *jni, jclass helper, jobject task, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return carried;
    uint32_t pool = state->worker_pool ? state->worker_pool : identity_common_pool(jni);
    return (jlong)open_fork(jni, state, task, (uint64_t)carried, pool);
}

PROBE(jlong, taskForks)(JNIEnv *jni, jclass helper, jobject task, jlong carried, jint pool) {
    PROBED struct thread_state *state = pool && task ? probe_begin() : NULL;
    return state ? (jlong)open_fork(jni, state, task, (uint64_t)carried, (uint32_t)pool) : carried;
}

PROBE(jlong, forkDelayed)(JNIEnv *jni, jclass helper, jobject task, jlong carried) {
    PROBED struct thread_state *state = probe_begin();
    jobject pool = NULL;
    struct due due;
    if (!state) return carried;
    uint32_t id = task && due_of_fork(jni, task, &pool, &due) ? identity_executor(jni, state, pool) : 0;
    if (!id) {
        push_spawn(state, 0);
        return carried;
    }
    uint64_t carries = open_fork(jni, state, task, (uint64_t)carried, id);
    if (carries != (uint64_t)carried) record_due(state, carries & CARRIED_ID, &due);
    return (jlong)carries;
}

PROBE(void, taskForked)(JNIEnv *jni, jclass helper, jint pool) {
    if (pool) end_spawn(SPAWN_ACCEPTED);
}

// What was under way on a ForkJoinPool's worker when recording began ends unseen, at the latest where the worker begins
// its next task.
static void close_begun_before(struct thread_state *state) {
    struct task_frame *frame = bodies_top(state);
    if (!frame || !frame->begun_before || !state->worker_pool || state->wait_depth > 0) return;
    frame->nested = 0;
    bodies_end(state);
}

PROBE(jlong, taskBegins)(JNIEnv *jni, jclass helper, jlong carried, jint status) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return carried;
    if (status < 0) { // it is done already, and won't be executed
        bodies_begin_nothing(state);
        return carried;
    }
    uint64_t id = carried & (jlong)CARRIED_BEGUN ? 0 : (uint64_t)carried & CARRIED_ID;
    close_begun_before(state);
    if (!carried && tracer.attached && state->worker_pool && state->tasks == 0) {
        id = task_id_new(state); // handed over before the tracer came
        carried = (jlong)id;
    }
    const struct task_frame *around = bodies_top(state);
    uint32_t inherited = around ? around->forked_from : 0;
    struct task_frame *frame = thread_state_enter(state, id);
    if (frame)
        frame->forked_from = id ? (uint32_t)((uint64_t)carried >> CARRIED_SITE_AT & CARRIED_SITE_MAX) : inherited;
    if (frame && id) {
        calling_executed(state, id);
        record_boundary(state, EVENT_TASK_START, id, 0);
    }
    return id ? carried | (jlong)CARRIED_BEGUN : carried;
}

static enum task_outcome outcome_of_fork(JNIEnv *jni, uint32_t status) {
    enum { DONE = 1u << 31, THROWN = 1 << 17, ABNORMAL = 1 << 16, ABNORMAL_11 = 1 << 18 }; // JDK 17 to 25; 11
    enum { NORMAL_8 = 0xf, CANCELLED_8 = 0xc };                                            // the top four bits, JDK 8
    if (!(status & DONE)) return TASK_RETURNED;                                            // its completion comes later
    if ((*jni)->GetVersion(jni) <= JNI_VERSION_1_8) {
        if (status >> 28 == NORMAL_8) return TASK_RETURNED;
        return status >> 28 == CANCELLED_8 ? TASK_CANCELLED : TASK_THREW;
    }
    if (status & THROWN) return TASK_THREW;
    return status & (identity_forks_have_aux() ? ABNORMAL : ABNORMAL_11) ? TASK_CANCELLED : TASK_RETURNED;
}

static void end_fork(JNIEnv *jni, jint status) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    struct task_frame *frame = bodies_top(state);
    if (frame) {
        frame->nested = 0;
        note_outcome(frame, outcome_of_fork(jni, (uint32_t)status));
    }
    bodies_end(state);
}

PROBE(void, taskEnds)(JNIEnv *jni, jclass helper, jint status) {
    end_fork(jni, status);
}

PROBE(void, forkThrew)(JNIEnv *jni, jclass helper) {
    end_fork(jni, -1);
}

PROBE(void, forkResult)(JNIEnv *jni, jclass helper, jlong carried, jint status) {
    uint64_t task = (uint64_t)carried & CARRIED_ID;
    PROBED struct thread_state *state = task && status >= 0 ? probe_begin() : NULL;
    if (!state) return;
    if (bodies_in_unseen(state)) bodies_begin_unseen(state);
    record1(state, EVENT_RESULT, task);
}

// What was only invoked may yet have to be awaited, till the forks beneath it have completed it (a stream's root).
static uint64_t promise(JNIEnv *jni, struct thread_state *state, jobject task) {
    uint64_t id = task_id_new(state);
    identity_set_carried(jni, task, id | CARRIED_BEGUN);
    return id;
}

// A join, closed by waitEnd.
PROBE(void, joinTask)(JNIEnv *jni, jclass helper, jobject task, jlong carried, jint status) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t id = (uint64_t)carried & CARRIED_ID;
    if (!state) return;
    if (status >= 0) {
        if (!id) id = promise(jni, state, task);
        begin_wait(jni, state, id, WAIT_FOR_TASK);
    } else if (state->wait_depth++ == 0) {
        state->awaiting = NO_WAIT;
        state->limit_ns = 0;
        if (id) record1(state, EVENT_TAKEN, id);
    }
}

static void take_if_done(JNIEnv *jni, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    enum carrier carrier = identity_carrier(jni, task);
    uint64_t id = identity_is_done(jni, task, carrier) ? identity_carried_by(jni, task, carrier) : 0;
    if (id && id != state->waited) record1(state, EVENT_TAKEN, id);
}

// invokeAll looks itself whether what it forked is done, and joins the rest.
PROBE(void, joinElement)(JNIEnv *jni, jclass helper, jobject task) {
    if (task) take_if_done(jni, task);
}

PROBE(void, joinedAll)(JNIEnv *jni, jclass helper, jobjectArray tasks) {
    for (jsize i = 0; i < (*jni)->GetArrayLength(jni, tasks); i++) {
        jobject task = (*jni)->GetObjectArrayElement(jni, tasks, i);
        if (task) take_if_done(jni, task);
        (*jni)->DeleteLocalRef(jni, task);
    }
}

// Scala -------------------------------------------------------------------------------------------------------------

PROBE(void, scalaEnter)(JNIEnv *jni, jclass helper, jobject function) {
    PROBED struct thread_state *state = probe_begin();
    if (state) scala_enter(jni, state, function);
}

PROBE(void, scalaLeave)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) scala_leave(state);
}

PROBE(void, scalaReserve)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) scala_reserve(state);
}

PROBE(jlong, scalaPromise)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)scala_promise(state) : 0;
}

PROBE(jlong, scalaCallback)
(JNIEnv *jni, jclass helper, jobject callback, jobject executor, jobject function) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)scala_callback(jni, state, callback, executor, function) : 0;
}

PROBE(void, resultIf)(JNIEnv *jni, jclass helper, jint completed, jlong task) {
    PROBED struct thread_state *state = completed && task ? probe_begin() : NULL;
    if (state) record1(state, EVENT_RESULT, (uint64_t)task & CARRIED_ID);
}

// Pools -------------------------------------------------------------------------------------------------------------

PROBE(jint, pool)
(JNIEnv *jni, jclass helper, jobject executor, jint core, jint maximum, jobject queue, jlong keep_alive_ns,
 jobject handler) {
    if (!thread_state_get() || !executor || !queue || !handler) return 0;
    return (jint)pools_thread_pool(jni, executor, core, maximum, queue, keep_alive_ns, handler);
}

// Whoever changes one rule has all of them recorded again.
PROBE(void, poolChanged)
(JNIEnv *jni, jclass helper, jint pool, jint core, jint maximum, jlong keep_alive_ns, jobject handler,
 jboolean core_times_out) {
    if (pool && handler) pools_changed(jni, (uint32_t)pool, core, maximum, keep_alive_ns, handler, core_times_out);
}

static void begin_work(struct thread_state *state, uint32_t pool) {
    state->worker = true;
    state->retired = false;
    state->tasks = 0; // its own run() is no task
    state->idle_pool = pool;
    thread_state_name_pool(pool);
    record1(state, EVENT_WORKER_BEGIN, pool);
}

PROBE(void, worker)(JNIEnv *jni, jclass helper, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    if (state) begin_work(state, (uint32_t)pool);
}

PROBE(jint, forkJoinPool)
(JNIEnv *jni, jclass helper, jobject executor, jobject factory, jint maximum, jint async, jlong keep_alive_ms) {
    if (!thread_state_get()) return 0;
    return (jint)pools_fork_join_pool(jni, executor, factory, maximum, async, keep_alive_ms);
}

// A ForkJoinPool's worker woke: to look for tasks, or, if the bits of `retires` are in the result, to end.
PROBE(void, awake)(JNIEnv *jni, jclass helper, jint result, jint mask, jint retires) {
    PROBED struct thread_state *state = probe_begin();
    if (state && !state->is_carrier)
        record1(state, (result & mask) == retires ? EVENT_RETIRE : EVENT_BUSY, state->idle_pool);
}

static void become_idle(struct thread_state *state, uint32_t pool) {
    bodies_end_all(state, !state->loop_unseen); // a raw Runnable that threw left no other trace
    state->was_idle = false;
    state->taken = 0;
    state->idle_pool = pool;
    record1(state, EVENT_IDLE, pool);
}

PROBE(void, idle)(JNIEnv *jni, jclass helper, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->is_carrier) return;
    if (tracer.attached && pool && !state->worker) {
        begin_work(state, (uint32_t)pool);
        state->loop_unseen = true;
    }
    become_idle(state, (uint32_t)pool);
    state->asks = !state->worker_pool; // a ForkJoinPool has no such queue
}

PROBE(void, executorWorker)(JNIEnv *jni, jclass helper, jobject executor) {
    PROBED struct thread_state *state = probe_begin();
    if (state) begin_work(state, identity_executor(jni, state, executor));
}

static void executor_idles(JNIEnv *jni, jobject executor, bool loop_unseen) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    uint32_t pool = identity_executor(jni, state, executor);
    if (!state->worker) {
        begin_work(state, pool);
        state->loop_unseen = loop_unseen;
    }
    become_idle(state, pool);
}

PROBE(void, executorIdle)(JNIEnv *jni, jclass helper, jobject executor) {
    executor_idles(jni, executor, false);
}

// The same of a pool whose workers' loop runs their tasks: of one that began before the tracer came, a task lies
// between this and the next.
PROBE(void, executorLoopIdle)(JNIEnv *jni, jclass helper, jobject executor) {
    executor_idles(jni, executor, tracer.attached);
}

// The loop is left: the worker ends, unless it told so as it got nothing.
PROBE(void, executorLeaves)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    bodies_end_all(state, true);
    if (!state->retired) record1(state, EVENT_RETIRE, state->idle_pool);
    state->retired = true;
}

PROBE(void, executorShutdown)(JNIEnv *jni, jclass helper, jobject executor) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t pool = state ? identity_executor(jni, state, executor) : 0;
    if (pool) record1(state, EVENT_POOL_SHUTDOWN, pool);
}

// What was run so far, a task of the pool, has ended.
PROBE(void, executorStandsBy)(JNIEnv *jni, jclass helper, jobject executor) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    const uint32_t pool = identity_executor(jni, state, executor);
    bodies_end_all(state, false);
    if (!state->worker) begin_work(state, pool);
    become_idle(state, pool);
}

PROBE(void, busy)(JNIEnv *jni, jclass helper, jobject task) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    record1(state, task ? EVENT_BUSY : EVENT_RETIRE, state->idle_pool);
    state->retired = !task;
    state->asks = false;
    if (task && state->loop_unseen) start_object(jni, state, task, 0);
}

PROBE(void, leave)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    state->asks = false;
    bodies_end_all(state, true);
}

PROBE(void, shutdown)(JNIEnv *jni, jclass helper, jint pool) {
    PROBED struct thread_state *state = probe_begin();
    if (state) record1(state, EVENT_POOL_SHUTDOWN, (uint32_t)pool);
}

// Stages of pipelines ----------------------------------------------------------------------------------------------
// A thread of the program's own that takes elements in a loop works for the stage from its first take on: what it does
// from one take to the next is a task, to which the put was the hand-over. A thread that has something else to do, main
// or a pool's worker, takes for itself: what it does is no task of the stage.

static bool may_serve(struct thread_state *state) {
    const struct task_frame *frame = bodies_top(state);
    bool others = state->worker || state->is_main || state->is_virtual || state->is_carrier || state->spawns > 0;
    return !others && state->tasks == 1 && frame && frame->task == state->run_task && state->wait_depth == 0;
}

PROBE(void, stageTakes)(JNIEnv *jni, jclass helper, jobject stage) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || (!state->stage && !may_serve(state))) return;
    const uint32_t pool = identity_executor(jni, state, stage);
    if (!state->stage) begin_work(state, state->stage = pool);
    if (pool != state->stage) return;
    state->was_idle = false;
    if (state->takes) return;
    bodies_end_all(state, false);
    become_idle(state, pool);
    state->takes = true;
}

PROBE(void, stageTook)(JNIEnv *jni, jclass helper, jobject element, jobject stage) {
    PROBED struct thread_state *state = element ? probe_begin() : NULL;
    if (!state || !state->takes || identity_executor(jni, state, stage) != state->stage) return;
    state->takes = false;
    record1(state, EVENT_BUSY, state->stage);
    start_object(jni, state, element, identity_carried(jni, element) ? 0 : identity_take(element, state->stage));
}

// java.util.Timer ---------------------------------------------------------------------------------------------------

enum { TIMER_TASK_SCHEDULED = 1 }; // TimerTask.state, JDK 8 to 25

PROBE(void, timerSpawn)(JNIEnv *jni, jclass helper, jobject task, jobject queue, jlong time_ms, jlong period_ms) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    uint32_t site = site_of_spawn(jni, state), pool = identity_timer(queue);
    uint64_t id = task ? task_of(jni, state, task, class_by_carrier(CARRIER_OTHER), 0, 0) : 0;
    if (id) {
        const struct due due = due_of_timer(time_ms, period_ms);
        identity_set_pending(task, id, site);
        record_spawn_at(state, id, site, pool);
        record_due(state, id, &due);
    }
    push_spawn(state, id);
}

// Cancelled before it began, or between two of its times.
PROBE(void, timerCancelled)(JNIEnv *jni, jclass helper, jobject task, jint timer_task_state) {
    PROBED struct thread_state *state = timer_task_state == TIMER_TASK_SCHEDULED ? probe_begin() : NULL;
    uint32_t site;
    uint64_t id = state ? identity_take_pending(task, &site) : 0;
    if (id) record1(state, EVENT_RESULT, id);
}

PROBE(void, timerBegin)(JNIEnv *jni, jclass helper, jobject queue) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    begin_work(state, identity_timer(queue));
    become_idle(state, state->idle_pool);
}

// The next time is handed over before this one is run, as the first that its task does.
static void hand_over_next(JNIEnv *jni, struct thread_state *state, jobject task, jlong period, uint32_t site) {
    struct due due;
    uint64_t next = task_id_new(state);
    record3(state, EVENT_TASK_CREATED, next, identity_class(jni, state, task), 0);
    record3(state, EVENT_SPAWN_BEGIN, next, site, state->idle_pool);
    if (due_of_timer_task(jni, task, period, &due)) record_due(state, next, &due);
    record3(state, EVENT_SPAWN_END, next, SPAWN_ACCEPTED, 0);
    identity_set_pending(task, next, site);
}

PROBE(void, timerRuns)(JNIEnv *jni, jclass helper, jobject task, jlong period) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    record1(state, EVENT_BUSY, state->idle_pool);
    uint32_t site;
    uint64_t id = identity_take_pending(task, &site);
    bodies_begin(state, id ? id : task_id_new(state), EVENT_TASK_START);
    if (period != 0) hand_over_next(jni, state, task, period, site);
}

PROBE(void, timerRan)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    bodies_end(state);
    become_idle(state, state->idle_pool);
}

PROBE(void, timerShutdown)(JNIEnv *jni, jclass helper, jobject queue) {
    PROBED struct thread_state *state = probe_begin();
    if (state) record1(state, EVENT_POOL_SHUTDOWN, identity_timer(queue));
}

PROBE(void, timerEnd)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    bodies_end_all(state, true);
    record1(state, EVENT_RETIRE, state->idle_pool);
}

// Threads -----------------------------------------------------------------------------------------------------------

// The thread's run() is the task of whatever it was made to run, if that is known as one already.
static uint64_t task_of_thread(JNIEnv *jni, struct thread_state *state, jobject thread) {
    jobject target = identity_thread_target(jni, thread);
    uint64_t task = identity_carried(jni, target);
    if (!task && target) task = identity_take_created(state, target);
    if (task) return task;
    task = task_id_new(state);
    // A thread that is made while something is handed over serves that: its run() is a pool's loop, and no task.
    if (state->spawns > 0 || identity_is_worker(jni, thread)) return task;
    struct fork_parts parts = identity_parts(jni, state, target ? target : thread);
    uint32_t class = parts.payload ? identity_class(jni, state, parts.payload) : parts.class;
    record3(state, EVENT_TASK_CREATED, task, class, 0);
    return task;
}

static void spawn_thread(JNIEnv *jni, struct thread_state *state, jobject thread) {
    uint64_t task = task_of_thread(jni, state, thread);
    bool inner = being_spawned(state, task);
    identity_set_thread(thread, task);
    if (!inner) record_spawn(jni, state, task, 0);
    push_spawn(state, inner ? 0 : task);
}

PROBE(void, threadSpawn)(JNIEnv *jni, jclass helper, jobject thread) {
    PROBED struct thread_state *state = probe_begin();
    if (state) spawn_thread(jni, state, thread);
}

// The same of one that starts in a container; closed by threadSpawned or threadRefused. What a carrier starts is
// another carrier.
PROBE(void, threadSpawnIn)(JNIEnv *jni, jclass helper, jobject thread, jobject container) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->is_carrier) return;
    container_enter(state->started_in = container_number(jni, container));
    spawn_thread(jni, state, thread);
}

PROBE(void, threadRefused)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->is_carrier) return;
    container_leave(state->started_in);
    end_spawn(SPAWN_REJECTED);
}

PROBE(void, containerBegin)(JNIEnv *jni, jclass helper, jobject container) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    uint64_t end_of_all = state->wait_depth == 0 ? container_await(state, container_number(jni, container)) : 0;
    if (end_of_all) {
        begin_wait(jni, state, end_of_all, WAIT_FOR_TASK);
    } else if (state->wait_depth++ == 0) {
        state->awaiting = NO_WAIT;
        state->limit_ns = 0;
    }
}

PROBE(void, threadSpawned)(JNIEnv *jni, jclass helper) {
    end_spawn(SPAWN_ACCEPTED);
}

// Whoever makes it so may be the JVM's own thread.
PROBE(void, ready)(JNIEnv *jni, jclass helper, jobject thread) {
    virtual_ready(jni, thread);
}

PROBE(void, wakesIn)(JNIEnv *jni, jclass helper, jobject thread, jlong duration, jobject unit) {
    virtual_wakes_in(jni, thread, due_ns_of(jni, duration, unit));
}

PROBE(void, timeIsUp)(JNIEnv *jni, jclass helper, jobject thread) {
    virtual_time_is_up(jni, thread);
}

PROBE(void, timeWasUp)(JNIEnv *jni, jclass helper) {
    virtual_time_was_up();
}

// The JVM's own use of what is woven, on a thread of the program's.
PROBE(void, hide)(JNIEnv *jni, jclass helper) {
    thread_state_hide();
}

PROBE(void, show)(JNIEnv *jni, jclass helper) {
    thread_state_show();
}

PROBE(void, mainBegin)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (!state || state->tasks > 0) return;
    state->is_main = true;
    bodies_begin(state, state->run_task, EVENT_MAIN_BEGIN);
}
