// SPDX-License-Identifier: Apache-2.0
#include "tracer/under_way.h"

#include "tracer/identity.h"
#include "tracer/locals.h"
#include "tracer/locks.h"
#include "tracer/lookup.h"
#include "tracer/loops.h"
#include "tracer/pools.h"
#include "tracer/resources.h"
#include "tracer/sites.h"
#include "tracer/sleeps.h"
#include "tracer/weaving.h"

#include <stdlib.h>
#include <string.h>

#define JUC "java.util.concurrent."

enum role { RUNS, COMPLETES, AWAITS, AWAITS_FUTURE, AWAITS_THREAD, AWAITS_POOL };

// Methods whose local variables tell something, JDK 8 to 25; of any descriptor.
static const struct {
    const char *class_name, *method;
    jint slot;
    enum role role;
} roles[] = {
    {JUC "ThreadPoolExecutor", "runWorker", 3, RUNS}, // slot 3 is `task`
    {JUC "ForkJoinTask", "doExec", 0, RUNS},
    {JUC "CompletableFuture$AsyncSupply", "run", 1, COMPLETES},
    {JUC "CompletableFuture$AsyncRun", "run", 1, COMPLETES},
    {JUC "FutureTask", "awaitDone", 0, AWAITS},
    {JUC "ForkJoinTask", "awaitDone", 0, AWAITS},
    {JUC "ForkJoinTask", "get", 0, AWAITS},
    {JUC "ForkJoinTask", "externalAwaitDone", 0, AWAITS},
    {JUC "ForkJoinTask", "externalInterruptibleAwaitDone", 0, AWAITS},
    {JUC "ForkJoinPool", "awaitJoin", 2, AWAITS},
    {JUC "CompletableFuture", "waitingGet", 0, AWAITS_FUTURE},
    {JUC "CompletableFuture", "timedGet", 0, AWAITS_FUTURE},
    {"java.lang.Thread", "join", 0, AWAITS_THREAD},
    {"java.lang.VirtualThread", "joinNanos", 0, AWAITS_THREAD},
    {JUC "ThreadPoolExecutor", "awaitTermination", 0, AWAITS_POOL},
    {JUC "ForkJoinPool", "awaitTermination", 0, AWAITS_POOL},
};

enum { ROLES = sizeof roles / sizeof *roles, METHODS_MOST = 128 };

static struct {
    struct local_wanted wanted[METHODS_MOST];
    uint8_t role[METHODS_MOST]; // index in roles
    size_t count;
} methods;

static struct locals locals;
static jfieldID thread_number, park_blocker;
static jvmtiEnv *monitors; // NULL: the JVM doesn't tell which threads wait for a monitor
static uint32_t monitors_asked;

static struct native_thread scratch_native;
static struct thread_state scratch = {.native = &scratch_native};
static uint64_t first_id;

struct thread_state *under_way_scratch(void) {
    return &scratch;
}

bool under_way_is_new(uint64_t id) {
    return id >= first_id;
}

// Methods -------------------------------------------------------------------------------------------------------------

static void know(jmethodID method, size_t role) {
    if (methods.count == METHODS_MOST) return;
    methods.wanted[methods.count] = (struct local_wanted){method, roles[role].slot};
    methods.role[methods.count++] = (uint8_t)role;
}

static bool has_name(jmethodID method, const char *wanted) {
    char *name = NULL;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
    bool same = strcmp(name, wanted) == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    return same;
}

// A class that isn't in use yet has no methods to tell, and none of them is on a stack.
static void know_methods(JNIEnv *jni, size_t role) {
    jint count = 0;
    jmethodID *all = NULL;
    jclass class = lookup_class(jni, NULL, roles[role].class_name);
    if (!class) return;
    if ((*tracer.jvmti)->GetClassMethods(tracer.jvmti, class, &count, &all) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < count; i++) {
            if (has_name(all[i], roles[role].method)) know(all[i], role);
        }
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)all);
    }
    (*jni)->DeleteLocalRef(jni, class);
}

void under_way_know_obsolete(JNIEnv *jni, jmethodID method) {
    jclass class;
    char name[256];
    loops_know_obsolete(jni, method);
    for (size_t i = 0; i < methods.count; i++) {
        if (methods.wanted[i].method == method) return;
    }
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return;
    identity_class_name(class, name, sizeof name);
    (*jni)->DeleteLocalRef(jni, class);
    for (size_t role = 0; role < ROLES; role++) {
        if (strcmp(roles[role].class_name, name) == 0 && has_name(method, roles[role].method)) know(method, role);
    }
}

static jvmtiEnv *ask_for_monitors(void) {
    jvmtiEnv *env;
    jvmtiCapabilities wanted = {.can_get_monitor_info = 1};
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) return NULL;
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE) return env;
    (*env)->DisposeEnvironment(env);
    return NULL;
}

void under_way_restart(JNIEnv *jni) {
    if (!monitors) monitors = ask_for_monitors();
    thread_number = identity_field(jni, tracer.thread_class, "tid", "J");
    park_blocker = identity_field(jni, tracer.thread_class, "parkBlocker", "Ljava/lang/Object;");
    methods.count = 0;
    for (size_t role = 0; role < ROLES; role++) know_methods(jni, role);
    loops_restart(jni);
    scratch_native.next_task = scratch_native.task_limit = 0;
    first_id = task_id_new(&scratch);
}

enum {
    ON_MONITOR = JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_IN_OBJECT_WAIT,
    SLEEPS = JVMTI_THREAD_STATE_PARKED | ON_MONITOR
};

static jint flags_of(jthread thread) {
    jint flags = 0;
    (*tracer.jvmti)->GetThreadState(tracer.jvmti, thread, &flags);
    return flags;
}

static jlong number_of(JNIEnv *jni, jthread thread) {
    return thread_number ? (*jni)->GetLongField(jni, thread, thread_number) : 0;
}

static int compare_numbers(const void *a, const void *b) {
    const jlong *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Which monitor a thread waits for the JVM does not tell in a running JVM; but it lies in one of its frames, and who
// waits for a given monitor it does tell. The numbers of those threads, in rising order; NULL: there are none.
static jlong *threads_on_monitors(JNIEnv *jni, size_t *found) {
    jint count = 0;
    jthread *threads;
    *found = 0;
    if (!monitors || (*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE) return NULL;
    jlong *numbers = malloc((size_t)count * sizeof *numbers + 1);
    for (jint i = 0; i < count; i++) {
        if (numbers && flags_of(threads[i]) & ON_MONITOR) numbers[(*found)++] = number_of(jni, threads[i]);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)threads);
    if (numbers) qsort(numbers, *found, sizeof *numbers, compare_numbers);
    return numbers;
}

void under_way_look(JNIEnv *jni) {
    struct local_wanted of_methods[METHODS_MOST + LOOPS_MOST];
    memcpy(of_methods, methods.wanted, methods.count * sizeof *of_methods);
    struct locals_wanted wanted = {.of_methods = of_methods,
                                   .method_count = methods.count + loops_wanted(of_methods + methods.count)};
    jlong *threads = threads_on_monitors(jni, &wanted.thread_count);
    wanted.threads = threads;
    locals_take(jni, &wanted, &locals);
    free(threads);
    monitors_asked = 0;
}

void under_way_forget(JNIEnv *jni) {
    locals_release(jni, &locals);
}

// The frame's role, and the object that tells it; NULL: none.
static jobject look_at(JNIEnv *jni, const struct stack *stack, jint depth, enum role *role) {
    jmethodID method = stack->frames[depth].method;
    for (size_t i = 0; i < methods.count; i++) {
        if (methods.wanted[i].method != method) continue;
        *role = roles[methods.role[i]].role;
        return locals_find(&locals, number_of(jni, stack->thread), depth, method, methods.wanted[i].slot);
    }
    return NULL;
}

// Ids -----------------------------------------------------------------------------------------------------------------

// The id that the task has, or is given; 0: it carries none. `flags`: what it is to carry beside a new one.
static uint64_t id_of(JNIEnv *jni, jobject task, uint64_t flags) {
    enum carrier carrier = identity_carrier(jni, task);
    if (carrier == CARRIER_OTHER) return 0;
    bool fork = carrier == CARRIER_FORK_JOIN_TASK;
    uint64_t carried = fork ? identity_get_carried(jni, task) : identity_get_future(jni, task),
             id = carried & CARRIED_ID;
    if (id) return id;
    id = task_id_new(&scratch);
    carried |= id | flags;
    if (fork)
        identity_set_carried(jni, task, carried);
    else
        identity_set_future_task(jni, task, carried);
    return id;
}

static uint64_t id_of_future(JNIEnv *jni, jobject future) {
    uint64_t id = identity_of_future(jni, future);
    if (!id) identity_set_future(jni, future, id = task_id_new(&scratch));
    return id;
}

// A future that a task completes has the task's id, unless it is awaited under one of its own.
uint64_t under_way_task(JNIEnv *jni, const struct stack *stack) {
    uint64_t task = 0;
    enum role role;
    for (jint i = stack->count - 1; i >= 0; i--) {
        jobject object = look_at(jni, stack, i, &role);
        if (object && role == RUNS && !task) task = id_of(jni, object, CARRIED_BEGUN);
        if (object && role == COMPLETES && task && !identity_of_future(jni, object))
            identity_set_future(jni, object, task);
    }
    return task;
}

jobject under_way_pool(JNIEnv *jni, const struct stack *stack, enum loop_part part) {
    jobject pool = NULL;
    for (jint i = stack->count - 1; i >= 0 && !pool; i--) {
        const jmethodID method = stack->frames[i].method;
        if (loops_parts(jni, method) & part)
            pool = loops_pool(jni, method, locals_outermost(&locals, number_of(jni, stack->thread), method, 0));
    }
    return pool;
}

// Waits ---------------------------------------------------------------------------------------------------------------

bool under_way_sleeps(const struct stack *stack) {
    return flags_of(stack->thread) & SLEEPS;
}

static void tell(struct thread_state *state, unsigned kind, uint64_t a, uint64_t b, uint64_t c) {
    ring_put3(&state->channel->ring, clock_ticks(), kind, a, b, c);
}

// What the innermost frame that awaits something does; false: none does.
static bool find_target(JNIEnv *jni, const struct stack *stack, enum wait_for *what, uint64_t *target) {
    enum role role = RUNS;
    jobject object = NULL;
    for (jint i = 0; i < stack->count && (!object || role < AWAITS); i++) {
        object = look_at(jni, stack, i, &role);
        if (object && role == RUNS) return false;
    }
    if (!object || role < AWAITS) return false;
    *target = role == AWAITS          ? id_of(jni, object, CARRIED_STANDS)
              : role == AWAITS_FUTURE ? id_of_future(jni, object)
              : role == AWAITS_THREAD ? identity_of_thread(object)
                                      : pools_known_id(object);
    *what = !*target ? WAIT_FOR_UNKNOWN : role == AWAITS_POOL ? WAIT_FOR_POOL : WAIT_FOR_TASK;
    return true;
}

static bool is_among(JNIEnv *jni, jthread thread, jthread *threads, jint count) {
    bool is = false;
    for (jint i = 0; i < count; i++) {
        is |= (*jni)->IsSameObject(jni, thread, threads[i]);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*monitors)->Deallocate(monitors, (unsigned char *)threads);
    return is;
}

static bool waits_for(JNIEnv *jni, jthread thread, jobject monitor) {
    enum { ASKED_MOST = 4096 }; // some 50 us each
    jvmtiMonitorUsage usage;
    if (monitors_asked++ >= ASKED_MOST ||
        (*monitors)->GetObjectMonitorUsage(monitors, monitor, &usage) != JVMTI_ERROR_NONE)
        return false;
    (*jni)->EnsureLocalCapacity(jni, usage.waiter_count + usage.notify_waiter_count + 16); // a checking JVM counts
    bool enters = is_among(jni, thread, usage.waiters, usage.waiter_count);
    bool awaits = is_among(jni, thread, usage.notify_waiters, usage.notify_waiter_count);
    if (usage.owner) (*jni)->DeleteLocalRef(jni, usage.owner);
    return enters || awaits;
}

// NULL: it is not in one of the innermost frames, as a class is that a static method locks.
static jobject monitor_of(JNIEnv *jni, jthread thread) {
    size_t next = 0;
    jobject monitor;
    jlong number = number_of(jni, thread);
    while (monitors && (monitor = locals_next(&locals, number, &next))) {
        if (waits_for(jni, thread, monitor)) return monitor;
    }
    return NULL;
}

static void wish_names(JNIEnv *jni, const struct stack *stack) {
    jclass class = site_class_of_stack(jni, stack->frames, stack->count);
    if (class) weaving_wish(jni, class);
}

void under_way_wait(JNIEnv *jni, const struct stack *stack, struct thread_state *state, uint64_t cpu) {
    jint flags = flags_of(stack->thread);
    enum wait_for what;
    uint64_t target;
    bool idle = state->worker && state->tasks == 0;
    if (!(flags & SLEEPS) || idle || (*jni)->PushLocalFrame(jni, 16) != 0) return;
    uint32_t site = site_of_stack(jni, stack->frames, stack->count);
    bool parked = flags & JVMTI_THREAD_STATE_PARKED, enters = flags & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER;
    if (!enters && find_target(jni, stack, &what, &target)) {
        state->awaiting = target;
        state->wait_depth = 1;
        tell(state, EVENT_WAIT_BEGIN, target, cpu, wait_operand(what, 0, site));
    } else if (state->tasks > 0) {
        jobject on = !parked        ? monitor_of(jni, stack->thread)
                     : park_blocker ? (*jni)->GetObjectField(jni, stack->thread, park_blocker)
                                    : NULL;
        bool limited = !(flags & JVMTI_THREAD_STATE_WAITING_INDEFINITELY);
        locks_found_asleep(jni, &(struct found_asleep){stack->thread, state, on, parked, enters, limited, site, cpu});
        if (state->wants) wish_names(jni, stack);
    }
    (*jni)->PopLocalFrame(jni, NULL);
}

void under_way_leave(struct thread_state *state, uint64_t cpu) {
    if (state->wait_depth > 0) {
        tell(state, EVENT_WAIT_END, state->awaiting, cpu, 0);
        state->wait_depth = 0;
    }
    if (state->blocked_on) {
        tell(state, EVENT_BLOCK_END, state->blocked_on, cpu, 0);
        state->blocked_on = 0;
    }
    if (state->wants) resources_found_awake(state, cpu);
    if (state->sleep) {
        tell(state, EVENT_WAIT_END, state->sleep, cpu, 0);
        sleeps_forget(state);
    }
}
