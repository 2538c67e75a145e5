// SPDX-License-Identifier: Apache-2.0
#include "tracer/locks.h"

#include "tracer/bodies.h"
#include "tracer/due.h"
#include "tracer/identity.h"
#include "tracer/permits.h"
#include "tracer/resources.h"
#include "tracer/running.h"
#include "tracer/sleeps.h"
#include "tracer/time_limit.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <string.h>

static jvmtiEnv *env; // NULL: no locks
static jfieldID owner;
static jclass int_array; // of such the JVM makes the locks for initialising classes
static jclass class_loader;
static jmethodID load_class; // ClassLoader.loadClass(String): the JVM asks a loader by it

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of tags: to read one and to set it is one step

static uint64_t known_id(jobject object) {
    jlong tag = 0;
    return (*env)->GetTag(env, object, &tag) == JVMTI_ERROR_NONE ? (uint64_t)tag : 0;
}

static uint64_t id_of(struct thread_state *state, jobject object) {
    pthread_mutex_lock(&lock);
    jlong tag = 0;
    (*env)->GetTag(env, object, &tag);
    if (tag == 0) {
        tag = (jlong)task_id_new(state);
        (*env)->SetTag(env, object, tag);
    }
    pthread_mutex_unlock(&lock);
    return (uint64_t)tag;
}

// What no task waits for as a resource -------------------------------------------------------------------------------

static bool may_begin(const struct thread_state *state) {
    return state && state->wait_depth == 0 && !state->blocked_on && !state->sleep && !state->wants;
}

static void begin_block(struct thread_state *state, jobject object, uint32_t class) {
    state->blocked_on = id_of(state, object);
    record_boundary(state, EVENT_BLOCK_BEGIN, state->blocked_on, class);
}

static void end_block(void) {
    if (!thread_state_here() || !thread_state_here()->blocked_on) return;
    PROBED struct thread_state *state = probe_begin();
    record_boundary(state, EVENT_BLOCK_END, state->blocked_on, 0);
    state->blocked_on = 0;
}

// A thread that slept when recording began, and whose first event this is, wakes as its state is made.
static bool wakes_before(void) {
    return !thread_state_here() && running_any_asleep() && thread_state_get();
}

// Whatever a thread sleeps for while it asks a pool, it sleeps for the pool.
static bool waits_for_asked(JNIEnv *jni, struct thread_state *state) {
    if (!state || !state->asked || !resources_may_wait(state)) return false;
    resources_wait(
        jni, state,
        (struct wanted){.slot = state->asked, .units = 1, .limit_ns = state->asked_limit_ns, .way = WAIT_POOL});
    return true;
}

// Monitors -----------------------------------------------------------------------------------------------------------

// Monitors that a thread had unseen when they were first waited for, by slot: until another has it. The thread that
// gives such a monitor back had it, and tells so each time that it leaves a block of it; the last time counts. The JVM
// could name the holder (GetObjectMonitorUsage), but stops all threads for that, and keeps the one that asks for
// longer.
static _Atomic(bool) had_unseen[RESOURCES_MOST];
static _Atomic(uint32_t) had_unseen_count;

static void note_had_unseen(uint32_t slot) {
    if (!atomic_exchange_explicit(&had_unseen[slot], true, memory_order_relaxed))
        atomic_fetch_add_explicit(&had_unseen_count, 1, memory_order_relaxed);
}

static bool is_any_had_unseen(void) {
    return atomic_load_explicit(&had_unseen_count, memory_order_relaxed) > 0;
}

static void forget_had_unseen(uint32_t slot) {
    if (is_any_had_unseen() && atomic_exchange_explicit(&had_unseen[slot], false, memory_order_relaxed))
        atomic_fetch_sub_explicit(&had_unseen_count, 1, memory_order_relaxed);
}

static uint32_t slot_of_monitor(JNIEnv *jni, struct thread_state *state, jobject monitor) {
    uint64_t id = id_of(state, monitor);
    uint32_t slot = resources_find(id);
    if (slot) return slot;
    slot = resources_new_of(
        id,
        (struct trace_resource){.kind = RESOURCE_MONITOR, .class = identity_class(jni, state, monitor), .capacity = 1});
    if (slot) note_had_unseen(slot);
    return slot;
}

// A thread that waited to be notified takes the monitor again, and may have to wait for that.
static void take_back(JNIEnv *jni, struct thread_state *state, uint32_t slot) {
    const struct hold *hold = resources_hold(state, slot);
    if (hold) resources_released(jni, state, (struct wanted){.slot = slot, .units = 1}, hold->site);
}

static void wait_for_monitor(JNIEnv *jni, struct thread_state *state, jobject monitor) {
    uint32_t slot = slot_of_monitor(jni, state, monitor);
    if (!slot) return;
    resources_watch_places(jni);
    take_back(jni, state, slot);
    const uint32_t site = resources_wait(jni, state, (struct wanted){.slot = slot, .units = 1, .at_top = true});
    if (!resources_hold(state, slot)) resources_expect_hold(jni, state, site);
}

// Whether the thread is about to lock what a class loader locks while it loads a class.
static bool loads_class(void) {
    enum { NEAR = 16 };
    jvmtiFrameInfo stack[NEAR];
    jint count = 0;
    if (!load_class || (*env)->GetStackTrace(env, NULL, 0, NEAR, stack, &count) != JVMTI_ERROR_NONE) return false;
    for (jint i = 0; i < count; i++) {
        if (stack[i].method == load_class) return true;
    }
    return false;
}

// What is locked while a class is loaded or initialised is no lock of the program's: once the class is there no thread
// waits for it. The JVM locks a loader itself, unless that can load several classes at a time. Asked once of each: what
// is a resource stays one.
static bool is_of_jvm(JNIEnv *jni, jobject monitor) {
    if (resources_find(known_id(monitor))) return false;
    return (int_array && (*jni)->IsInstanceOf(jni, monitor, int_array)) ||
           (class_loader && (*jni)->IsInstanceOf(jni, monitor, class_loader)) || loads_class();
}

static void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor) {
    PROBED struct thread_state *state = probe_begin();
    if (!may_begin(state) || waits_for_asked(jni, state)) return;
    if (resources_may_wait(state) && !is_of_jvm(jni, monitor))
        wait_for_monitor(jni, state, monitor);
    else
        begin_block(state, monitor, identity_class(jni, state, monitor));
}

static void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor) {
    if (wakes_before()) return;
    end_block();
    if (!resources_waits(WAIT_MONITOR)) return;
    PROBED struct thread_state *state = probe_begin();
    forget_had_unseen(state->wants);
    if (!resources_hold(state, state->wants)) state->entered = state->wants;
    resources_acquired(state);
}

// A hold lasts as long as the block that it began with, whose place calls as long. Blocks of other places within it do
// not count: these may be left alone, or watched anew, before they end.
void locks_monitor_entered(JNIEnv *jni, jobject monitor, uint32_t site, uint32_t place) {
    struct thread_state *here = env ? thread_state_here() : NULL;
    uint32_t slot = here && here->tasks > 0 && !here->wants ? resources_find(known_id(monitor)) : 0;
    if (!slot || (resources_is_calm(slot) && !resources_hold(here, slot))) {
        resources_place_missed(jni, place);
        return;
    }
    PROBED struct thread_state *state = probe_begin();
    struct hold *hold = resources_hold(state, slot);
    if (hold) {
        if (hold->number == place) hold->count++;
        resources_place_hit(jni, place);
        return;
    }
    hold = resources_add_hold(state,
                              (struct hold){.slot = slot, .count = 1, .site = site, .number = place, .monitor = true});
    resources_place_hit(jni, place);
    resources_expect_none(state);
    bool waited = state->entered == slot;
    state->entered = 0;
    if (hold && !waited) resources_held_at(state, (struct wanted){.slot = slot, .units = 1}, site);
    if (!hold && waited) resources_released(jni, state, (struct wanted){.slot = slot, .units = 1}, site);
}

static void leave(struct thread_state *state, struct hold *hold) {
    if (--hold->count > 0) return;
    if (!hold->gave_way) resources_released(NULL, state, (struct wanted){.slot = hold->slot, .units = 1}, hold->site);
    resources_drop_hold(state, hold);
}

void locks_monitor_leaves(JNIEnv *jni, jobject monitor, uint32_t place) {
    struct thread_state *here = env ? thread_state_here() : NULL;
    if (!here || here->tasks == 0 || (here->hold_count == 0 && !is_any_had_unseen())) return;
    uint32_t slot = resources_find(known_id(monitor));
    if (!slot) return;
    PROBED struct thread_state *state = probe_begin();
    struct hold *hold = resources_hold(state, slot);
    if (hold && hold->number != place) return;
    if (hold)
        leave(state, hold);
    else if (atomic_load_explicit(&had_unseen[slot], memory_order_relaxed))
        resources_released(jni, state, (struct wanted){.slot = slot, .units = 1}, place);
}

void locks_monitor_threw(uint32_t place) {
    if (!env || !thread_state_here() || thread_state_here()->hold_count == 0) return;
    PROBED struct thread_state *state = probe_begin();
    struct hold *hold = resources_hold_at(state, place);
    if (hold) leave(state, hold);
}

// Locks --------------------------------------------------------------------------------------------------------------

// What is built on AbstractQueuedSynchronizer is a lock if some thread owns it: a latch and a semaphore have no owner.
// Nor have the readers that a writer waits for, nor a lock that has been given up a moment ago.
static bool is_held_lock(JNIEnv *jni, jobject blocker, struct blocker_class class) {
    return class.lock || (class.ownable && owner && (*jni)->GetObjectField(jni, blocker, owner));
}

static bool is_stamped(const char *class) {
    return strcmp(class, "java.util.concurrent.locks.StampedLock") == 0;
}

static bool is_read_write(const char *class) {
    static const char SYNC[] = "java.util.concurrent.locks.ReentrantReadWriteLock$";
    return strncmp(class, SYNC, sizeof SYNC - 1) == 0 || is_stamped(class);
}

// As StampedLock was written anew (14), its readers first look whether a writer has it, not whether one waits.
static bool readers_pass(JNIEnv *jni, jclass stamped) {
    const bool anew = (*jni)->GetMethodID(jni, stamped, "acquireWrite", "(ZZJ)J") != NULL;
    (*jni)->ExceptionClear(jni);
    return anew;
}

// "java.util.concurrent.locks.ReentrantLock$FairSync" is what a user knows as java.util.concurrent.locks.ReentrantLock.
struct lock_class {
    uint32_t id, flags;
    enum resource_kind kind;
};

static struct lock_class class_of_lock(JNIEnv *jni, jobject sync) {
    static const char FAIR[] = "FairSync";
    char name[512];
    jclass class = (*jni)->GetObjectClass(jni, sync);
    identity_class_name(class, name, sizeof name);
    const bool pass = is_stamped(name) && readers_pass(jni, class);
    (*jni)->DeleteLocalRef(jni, class);
    char *nested = strrchr(name, '$');
    bool fair = nested && strcmp(nested + 1, FAIR) == 0;
    bool read_write = is_read_write(name);
    if (nested && strncmp(name, "java.util.concurrent.", 21) == 0) *nested = '\0';
    return (struct lock_class){identity_class_named(name),
                               fair   ? RESOURCE_FAIR
                               : pass ? RESOURCE_READERS_PASS
                                      : 0,
                               read_write ? RESOURCE_READ_WRITE_LOCK : RESOURCE_LOCK};
}

static void watch_lock(JNIEnv *jni, jobject sync) {
    jint hash;
    if ((*env)->GetObjectHashCode(env, sync, &hash) == JVMTI_ERROR_NONE) resources_watch_lock(jni, hash);
}

static uint32_t slot_of_lock(JNIEnv *jni, struct thread_state *state, jobject sync) {
    uint64_t id = id_of(state, sync);
    uint32_t slot = resources_find(id);
    if (slot) return slot;
    struct lock_class class = class_of_lock(jni, sync);
    slot = resources_new_of(
        id, (struct trace_resource){.kind = class.kind, .class = class.id, .capacity = 1, .flags = class.flags});
    if (slot) watch_lock(jni, sync);
    return slot;
}

// A queue of the JDK's own locks itself, and that is no resource of the program's.
static bool is_of_jdk(void) {
    static const char LOCKS[] = "Ljava/util/concurrent/locks/", JUC[] = "Ljava/util/concurrent/",
                      LANG[] = "Ljava/lang/";
    enum { NEAR = 10 };
    jvmtiFrameInfo stack[NEAR];
    jint count = 0;
    bool is = false;
    (*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, 0, NEAR, stack, &count);
    for (jint i = 0; i < count; i++) {
        jclass class;
        char *signature = NULL;
        if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, stack[i].method, &class) != JVMTI_ERROR_NONE) break;
        if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) break;
        bool between =
            strncmp(signature, LOCKS, sizeof LOCKS - 1) == 0 || strncmp(signature, LANG, sizeof LANG - 1) == 0;
        is = strncmp(signature, JUC, sizeof JUC - 1) == 0;
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
        if (!between) break;
        is = false;
    }
    return is;
}

// A slot's place for a lock of the JDK's own.
static bool is_resource(JNIEnv *jni, struct thread_state *state, jobject sync, uint32_t *slot) {
    uint64_t id = known_id(sync);
    *slot = resources_find(id);
    if (!*slot && is_of_jdk()) return false;
    if (*slot) watch_lock(jni, sync); // it may have been left alone since
    if (!*slot) *slot = slot_of_lock(jni, state, sync);
    return *slot != 0;
}

void locks_sync_parks(JNIEnv *jni, jobject sync, uint32_t units, bool shared, uint64_t limit_ns) {
    PROBED struct thread_state *state = env ? probe_begin() : NULL;
    if (!resources_may_wait(state) || waits_for_asked(jni, state)) return;
    struct blocker_class class = identity_blocker_class(jni, state, sync);
    uint32_t slot = 0;
    if (class.permits)
        slot = permits_slot(jni, state, sync);
    else if (is_held_lock(jni, sync, class) && !is_resource(jni, state, sync, &slot))
        return;
    if (!slot) return;
    const bool reads = shared && !class.permits;
    resources_wait(
        jni, state,
        (struct wanted){.slot = slot, .units = units, .shared = reads, .limit_ns = limit_ns, .way = WAIT_SYNC});
}

void locks_sync_ends(int outcome) {
    if (!resources_waits(WAIT_SYNC)) return;
    PROBED struct thread_state *state = probe_begin();
    if (outcome > 0)
        resources_acquired(state);
    else
        resources_give_up(state, outcome < 0 ? GIVEN_UP_INTERRUPTED : GIVEN_UP_TIME);
}

// Other locks of the same hash are not watched either until a thread waits for one.
static void leave_alone(JNIEnv *jni, jobject sync) {
    jint hash;
    if ((*env)->GetObjectHashCode(env, sync, &hash) == JVMTI_ERROR_NONE) resources_unwatch_lock(jni, hash);
}

// Of a lock that is left alone a thread is not known to hold anything: it may give that back unseen.
void locks_taken(JNIEnv *jni, jobject sync, bool shared) {
    PROBED struct thread_state *state = env ? probe_begin() : NULL;
    uint32_t slot = state && state->tasks > 0 ? resources_find(known_id(sync)) : 0;
    if (!slot) return;
    const bool waited = state->wants == slot && state->way == WAIT_SYNC;
    struct hold *had = resources_hold(state, slot);
    if (had && !had->shared && !shared) {
        if (!waited) return;             // StampedLock.tryWriteLock(long, TimeUnit) calls tryWriteLock() up to 11
        resources_drop_hold(state, had); // a waiter had nothing: it was given back while the lock was left alone
    }
    if (state->wants != slot && resources_is_calm(slot)) {
        leave_alone(jni, sync);
        return;
    }
    struct wanted wanted = {.slot = slot, .units = 1, .shared = shared};
    struct hold hold = {.slot = slot, .count = 1, .shared = shared, .silent = state->wants && state->wants != slot};
    hold.silent |= state->asked != 0;
    if (waited)
        resources_acquired(state);
    else if (!hold.silent)
        hold.site = resources_held(jni, state, wanted);
    resources_add_hold(state, hold);
}

void locks_given_back(JNIEnv *jni, jobject sync, bool shared) {
    PROBED struct thread_state *state = env ? probe_begin() : NULL;
    uint32_t slot = state && state->tasks > 0 ? resources_find(known_id(sync)) : 0;
    if (!slot) return;
    struct hold *hold = resources_hold(state, slot);
    bool silent = hold ? hold->silent : state->asked != 0 || !resources_tells_release(slot);
    if (!silent) {
        struct wanted wanted = {.slot = slot, .units = 1, .shared = shared};
        resources_released(jni, state, wanted, hold ? hold->site : 0);
    }
    if (hold) resources_drop_hold(state, hold);
}

// What the thread is known to hold of it; NULL: nothing.
static struct hold *hold_of(jobject sync) {
    struct thread_state *here = env ? thread_state_here() : NULL;
    const uint32_t slot = here && here->hold_count ? resources_find(known_id(sync)) : 0;
    return slot ? resources_hold(here, slot) : NULL;
}

void locks_converted(JNIEnv *jni, jobject sync, bool shared) {
    const struct hold *had = hold_of(sync);
    if (had && had->shared == shared) return;
    if (had) locks_given_back(jni, sync, had->shared);
    locks_taken(jni, sync, shared);
}

void locks_dropped(JNIEnv *jni, jobject sync) {
    const struct hold *had = hold_of(sync);
    if (had) locks_given_back(jni, sync, had->shared);
}

// Parking and waiting ------------------------------------------------------------------------------------------------

static void end_sleep(void) {
    if (!thread_state_here() || !thread_state_here()->sleep) return;
    PROBED struct thread_state *state = probe_begin();
    sleeps_end(state);
}

// A worker that looks for tasks parks, too: what it parks on is a lock or of no interest.
void locks_park_begin(JNIEnv *jni, jobject blocker) {
    PROBED struct thread_state *state = env ? probe_begin() : NULL;
    if (waits_for_asked(jni, state)) return;
    if (state && running_weaving()) bodies_end_what_it_left(state);
    bool may_sleep = sleeps_may_begin(state);
    if (!may_begin(state) || (!may_sleep && !(blocker && identity_is_ownable(jni, blocker)))) return;
    jobject known = blocker ? blocker : sleeps_blocker(jni);
    struct blocker_class class = identity_blocker_class(jni, state, known);
    if (blocker && is_held_lock(jni, blocker, class))
        begin_block(state, blocker, class.id);
    else if (may_sleep)
        sleeps_begin(jni, state, class.id, class.latch ? id_of(state, known) : 0);
}

void locks_park_end(void) {
    end_block();
    end_sleep();
}

void locks_found_asleep(JNIEnv *jni, const struct found_asleep *found) {
    struct thread_state *state = found->state;
    struct blocker_class class = identity_blocker_class(jni, state, found->on);
    if (!env || (!found->parked && !found->on)) return;
    if (found->enters || (found->on && found->parked && is_held_lock(jni, found->on, class))) {
        state->blocked_on = id_of(state, found->on);
        ring_put3(&state->channel->ring, clock_ticks(), EVENT_BLOCK_BEGIN, state->blocked_on, found->cpu, class.id);
        return;
    }
    // Of one whose time may be up no one tells whether it was.
    uint32_t slot = found->parked && class.permits && !found->limited ? permits_slot(jni, state, found->on) : 0;
    if (slot) {
        resources_found(state, (struct wanted){.slot = slot, .units = 1, .way = WAIT_SYNC}, found->site, found->cpu);
        return;
    }
    bool shared = !found->parked || class.latch;
    uint64_t number = shared ? id_of(state, found->on) | (found->parked ? 0 : SLEEPS_MONITOR) : 0;
    sleeps_found(jni, found->thread, state, class.id, number, found->site, found->cpu);
}

// Waiting to be notified gives the monitor to others.
static void give_way(struct thread_state *state, jobject monitor) {
    uint32_t slot = state && state->hold_count ? resources_find(known_id(monitor)) : 0;
    struct hold *hold = slot ? resources_hold(state, slot) : NULL;
    if (!hold || hold->gave_way) return;
    resources_released(NULL, state, (struct wanted){.slot = slot, .units = 1}, hold->site);
    hold->gave_way = true;
}

// A thread that was notified takes up the monitor as the one that notified leaves it.
static void take_up(struct thread_state *state, jobject monitor) {
    uint32_t slot = state && state->hold_count ? resources_find(known_id(monitor)) : 0;
    struct hold *hold = slot ? resources_hold(state, slot) : NULL;
    if (!hold || !hold->gave_way) return;
    hold->gave_way = false;
    resources_held_at(state, (struct wanted){.slot = slot, .units = 1}, hold->site);
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout) {
    PROBED struct thread_state *state = probe_begin();
    if (waits_for_asked(jni, state)) return;
    if (state && running_weaving()) bodies_end_what_it_left(state);
    give_way(state, monitor);
    if (!sleeps_may_begin(state)) return;
    time_limit_set(state, due_ns_of_ms(timeout));
    sleeps_begin(jni, state, identity_class(jni, state, monitor), id_of(state, monitor) | SLEEPS_MONITOR);
    state->limit_ns = 0;
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out) {
    if (thread_state_here() && thread_state_here()->sleep) time_limit_tell(thread_state_here(), timed_out);
    if (wakes_before()) return;
    end_sleep();
    PROBED struct thread_state *state = probe_begin();
    take_up(state, monitor);
}

void locks_notify(jobject monitor, bool all) {
    jlong tag = 0;
    if (!env || !sleeps_any_shared() || (*env)->GetTag(env, monitor, &tag) != JVMTI_ERROR_NONE || !tag) return;
    sleeps_notify((uint64_t)tag | SLEEPS_MONITOR, all);
}

uint64_t locks_known_id(jobject object) {
    return env ? known_id(object) : 0;
}

uint64_t locks_id(struct thread_state *state, jobject object) {
    return env ? id_of(state, object) : 0;
}

// What is asked of the JVM -------------------------------------------------------------------------------------------

void locks_ask(JavaVM *vm) {
    if (env) return;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) env = NULL;
    if (!env) return;
    jvmtiCapabilities wanted = {0};
    wanted.can_tag_objects = 1;
    wanted.can_generate_monitor_events = 1;
    static const jvmtiEventCallbacks callbacks = {.MonitorContendedEnter = on_contended_enter,
                                                  .MonitorContendedEntered = on_contended_entered,
                                                  .MonitorWait = on_wait,
                                                  .MonitorWaited = on_waited};
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE &&
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE)
        return;
    (*env)->DisposeEnvironment(env);
    env = NULL;
}

void locks_init(JNIEnv *jni) {
    if (!env) return;
    jclass ownable = identity_global_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    sleeps_init(jni);
    owner = identity_field(jni, ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    int_array = identity_global_class(jni, "[I");
    if ((class_loader = identity_global_class(jni, "java/lang/ClassLoader")))
        load_class = (*jni)->GetMethodID(jni, class_loader, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
    (*jni)->ExceptionClear(jni);
    resources_init(jni);
}

void locks_listen(jvmtiEventMode mode) {
    if (!env) return;
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_CONTENDED_ENTER, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_WAIT, NULL);
    (*env)->SetEventNotificationMode(env, mode, JVMTI_EVENT_MONITOR_WAITED, NULL);
}
