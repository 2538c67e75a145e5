// SPDX-License-Identifier: Apache-2.0
#include "tracer/virtual.h"

#include "tracer/bytecodes.h"
#include "tracer/container.h"
#include "tracer/identity.h"
#include "tracer/parting.h"
#include "tracer/registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct virtual_thread {
    struct thread_state state;
    struct thread_state *carrier; // while mounted
    uint64_t cpu, delay_ns;       // computed, and waited for cores, so far
    uint32_t turns;               // on carriers
    uint64_t tid;
    struct virtual_thread *next; // of its bucket
};

static jvmtiEnv *env; // NULL: none
static jclass virtual_class;
static jfieldID tid_field, name_field;
static jint mount_event = -1, unmount_event = -1;

// Live threads by tid -------------------------------------------------------------------------------------------------

enum { SHARDS = 64, FIRST_ROOM = 16 };

// Tids are given in turn, so they spread evenly.
static struct shard {
    _Alignas(64) pthread_mutex_t lock;
    struct virtual_thread **buckets;
    uint32_t room, count; // room is a power of two
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static struct virtual_thread **bucket_of(const struct shard *shard, uint64_t tid) {
    return &shard->buckets[tid / SHARDS & (shard->room - 1)];
}

static bool shard_grow(struct shard *shard) {
    struct shard grown = {.room = shard->room ? shard->room * 2 : FIRST_ROOM};
    grown.buckets = calloc(grown.room, sizeof *grown.buckets);
    if (!grown.buckets) return false;
    for (uint32_t i = 0; i < shard->room; i++) {
        for (struct virtual_thread *at = shard->buckets[i], *next; at; at = next) {
            struct virtual_thread **bucket = bucket_of(&grown, at->tid);
            next = at->next;
            at->next = *bucket;
            *bucket = at;
        }
    }
    free(shard->buckets);
    shard->buckets = grown.buckets;
    shard->room = grown.room;
    return true;
}

static bool add(struct virtual_thread *thread) {
    struct shard *shard = &shards[thread->tid % SHARDS];
    pthread_mutex_lock(&shard->lock);
    bool room = shard->count < shard->room || shard_grow(shard);
    if (room) {
        struct virtual_thread **bucket = bucket_of(shard, thread->tid);
        thread->next = *bucket;
        *bucket = thread;
        shard->count++;
    }
    pthread_mutex_unlock(&shard->lock);
    return room;
}

// NULL: not seen before. `take`: from now on, too. What is found is its carrier's to use.
static struct virtual_thread *find(uint64_t tid, bool take) {
    struct shard *shard = &shards[tid % SHARDS];
    pthread_mutex_lock(&shard->lock);
    struct virtual_thread *found = NULL;
    struct virtual_thread **link = shard->room ? bucket_of(shard, tid) : NULL;
    while (link && *link && (*link)->tid != tid) link = &(*link)->next;
    if (link) found = *link;
    if (found && take) {
        *link = found->next;
        shard->count--;
    }
    pthread_mutex_unlock(&shard->lock);
    return found;
}

// Ready to run --------------------------------------------------------------------------------------------------------

// Times by threads' tids: tids are given in turn, so that threads don't meet in a table but where more than a million
// live. A word has the time, in units of some 20 ns, above the rest of the tid; 0: not known. What is never reached
// takes no memory.
enum { READY_SLOTS = 1 << 20, TAG_BITS = 20, UNIT_SHIFT = 6 };
static _Atomic(uint64_t) became_ready[READY_SLOTS], wakes[READY_SLOTS];

static uint64_t tag_of(uint64_t tid) {
    return tid / READY_SLOTS & (((uint64_t)1 << TAG_BITS) - 1);
}

static void note_time(_Atomic(uint64_t) *times, uint64_t tid, uint64_t ticks) {
    uint64_t word = ticks >> UNIT_SHIFT << TAG_BITS | tag_of(tid);
    atomic_store_explicit(&times[tid % READY_SLOTS], word, memory_order_relaxed);
}

// Ticks from then till `ticks`; 0: not known, or not yet. Each time is told once.
static uint64_t take_time(_Atomic(uint64_t) *times, uint64_t tid, uint64_t ticks) {
    enum { TIME_BITS = 64 - TAG_BITS };
    _Atomic(uint64_t) *slot = &times[tid % READY_SLOTS];
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    if (!word || (word & (((uint64_t)1 << TAG_BITS) - 1)) != tag_of(tid)) return 0;
    atomic_store_explicit(slot, 0, memory_order_relaxed);
    uint64_t units = ((ticks >> UNIT_SHIFT) - (word >> TAG_BITS)) & (((uint64_t)1 << TIME_BITS) - 1);
    bool is_yet_to_come = units >> (TIME_BITS - 1);
    return is_yet_to_come ? 0 : units << UNIT_SHIFT;
}

static uint64_t tid_of(JNIEnv *jni, jthread thread) {
    return (uint64_t)(*jni)->GetLongField(jni, thread, tid_field);
}

// From JDK 22 on it is a carrier that ends timed sleeps, and one may be late for that as for all else: the thread was
// ready when its time was up. Of the thread whose sleep is being ended here.
static __thread uint64_t late_tid __attribute__((tls_model("initial-exec")));
static __thread uint64_t late_ticks __attribute__((tls_model("initial-exec")));

void virtual_wakes_in(JNIEnv *jni, jobject thread, int64_t ns) {
    const int64_t MOST_NS = (int64_t)1 << 59; // 18 years
    if (!env || !tid_field || ns < 0 || ns > MOST_NS) return;
    uint64_t ticks = (uint64_t)((double)ns * (double)tracer.ticks_per_s / 1e9);
    note_time(wakes, tid_of(jni, thread), clock_ticks() + ticks);
}

void virtual_time_is_up(JNIEnv *jni, jobject thread) {
    if (!env || !tid_field) return;
    late_tid = tid_of(jni, thread);
    late_ticks = take_time(wakes, late_tid, clock_ticks());
}

void virtual_time_was_up(void) {
    late_tid = 0;
}

void virtual_ready(JNIEnv *jni, jobject thread) {
    if (!env || !tid_field) return;
    uint64_t tid = tid_of(jni, thread);
    note_time(became_ready, tid, clock_ticks() - (tid == late_tid ? late_ticks : 0));
}

// A thread's life -----------------------------------------------------------------------------------------------------

static uint32_t register_virtual(JNIEnv *jni, jthread thread) {
    jstring name = (*jni)->GetObjectField(jni, thread, name_field);
    bool named = name && (*jni)->GetStringLength(jni, name) > 0;
    const char *text = named ? (*jni)->GetStringUTFChars(jni, name, NULL) : NULL;
    uint32_t id = registry_thread(&(struct trace_thread){text ? text : "", THREAD_DAEMON | THREAD_VIRTUAL});
    if (text) (*jni)->ReleaseStringUTFChars(jni, name, text);
    if (name) (*jni)->DeleteLocalRef(jni, name);
    return id;
}

static void release(struct virtual_thread *thread) {
    free(thread->state.task);
    free(thread);
}

static struct virtual_thread *make(JNIEnv *jni, struct thread_state *carrier, jthread thread, uint64_t tid) {
    struct virtual_thread *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->tid = tid;
    made->state.is_virtual = true;
    made->state.session = carrier->session;
    made->state.thread = register_virtual(jni, thread);
    made->state.run_task = identity_of_thread(thread);
    if (made->state.run_task) // its start was seen
        made->state.container = container_of_thread(jni, thread);
    else
        identity_set_thread(thread, made->state.run_task = task_id_new(carrier));
    if (made->state.thread && add(made)) return made;
    release(made);
    return NULL;
}

// Gives the ring to the thread's next turn on this carrier.
static void begin_turn(struct virtual_thread *thread, struct thread_state *carrier, uint64_t ticks) {
    struct cpu_meter *meter = &carrier->native->meter;
    uint64_t cpu = cpu_meter_read(meter, ticks, false);
    cpu_meter_new_delay(meter);               // what the carrier waited before is not the thread's
    if (cpu && !thread->cpu) thread->cpu = 1; // 0 would say that nothing is measured
    thread->carrier = carrier;
    thread->state.channel = carrier->channel;
    thread->state.native = carrier->native;
    thread->state.cpu_offset = thread->cpu - cpu;
    thread->state.delay_offset = thread->delay_ns - meter->delay_ns;
    ring_switch(&carrier->channel->ring, ticks, parting_owner(thread->state.thread, thread->turns++));
}

static void record_ready(struct virtual_thread *thread, uint64_t ticks) {
    uint64_t waited = take_time(became_ready, thread->tid, ticks);
    uint64_t ns = (uint64_t)((double)waited * 1e9 / (double)tracer.ticks_per_s);
    if (ns) ring_put1(&thread->state.channel->ring, ticks, EVENT_READY, ns);
}

static void mount(struct virtual_thread *thread, struct thread_state *carrier) {
    struct thread_state *state = &thread->state;
    uint64_t ticks = clock_ticks();
    bool first = thread->turns == 0;
    begin_turn(thread, carrier, ticks);
    if (first) {
        record_boundary_at(state, ticks, EVENT_THREAD_START, state->run_task, 0);
        thread_state_enter(state, state->run_task);
    }
    record_ready(thread, ticks);
    record_boundary_at(state, ticks, EVENT_MOUNT, carrier->thread, 0);
    thread_state = state;
}

static void unmount(struct virtual_thread *thread) {
    struct thread_state *state = &thread->state, *carrier = thread->carrier;
    uint64_t ticks = clock_ticks();
    thread->cpu = record_boundary_at(state, ticks, EVENT_UNMOUNT, carrier->thread, 0);
    thread->delay_ns = state->native->meter.delay_ns + state->delay_offset;
    ring_switch(&carrier->channel->ring, ticks, 0);
    thread_state = carrier;
}

// The carrier's state outlives the probe, whatever becomes of the thread.
static void unmount_whatever_is(void) {
    if (!thread_state || !thread_state->is_virtual) return;
    struct virtual_thread *thread = (struct virtual_thread *)thread_state;
    PROBED struct thread_state *carrier = thread->carrier;
    probe_timer_begin(&carrier->native->timer);
    unmount(thread);
}

static void JNICALL on_mount(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    unmount_whatever_is();
    PROBED struct thread_state *carrier = probe_begin();
    if (!carrier) return;
    uint64_t tid = tid_of(jni, thread);
    struct virtual_thread *known = find(tid, false);
    if (!known) known = make(jni, carrier, thread, tid);
    if (known) mount(known, carrier);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    unmount_whatever_is();
}

// After its last unmount.
static void JNICALL on_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    unmount_whatever_is();
    struct thread_state *carrier = thread_state;
    struct virtual_thread *ended = find(tid_of(jni, thread), true);
    uint64_t awaited = ended ? container_leave(ended->state.container) : 0;
    if (ended && carrier) {
        uint64_t ticks = clock_ticks();
        begin_turn(ended, carrier, ticks);
        if (awaited) ring_put1(&carrier->channel->ring, ticks, EVENT_RESULT, awaited); // the last of them all
        if (tracer.options.bytecodes) record_bytecodes(&ended->state, ticks, bytecodes_of(jni, thread));
        ring_put3(&carrier->channel->ring, ticks, EVENT_THREAD_END, ended->state.run_task, ended->cpu, 0);
        ring_switch(&carrier->channel->ring, ticks, 0);
    }
    if (ended) release(ended);
}

// The value of an object's field; the field is looked up in the first object's class. NULL where there is none.
static jobject follow(JNIEnv *jni, jobject object, _Atomic(jfieldID) *known, const char *name, const char *descriptor) {
    if (!object) return NULL;
    jfieldID field = atomic_load_explicit(known, memory_order_relaxed);
    if (!field) {
        field = identity_field(jni, (*jni)->GetObjectClass(jni, object), name, descriptor);
        atomic_store_explicit(known, field, memory_order_relaxed);
    }
    return field ? (*jni)->GetObjectField(jni, object, field) : NULL;
}

jobject virtual_target(JNIEnv *jni, jobject thread) {
    static _Atomic(jfieldID) continuation, target, task; // of classes that must not be initialised before their time
    if (!virtual_class || !(*jni)->IsInstanceOf(jni, thread, virtual_class)) return NULL;
    jobject body = follow(jni, thread, &continuation, "cont", "Ljdk/internal/vm/Continuation;");
    jobject wrapper = follow(jni, body, &target, "target", "Ljava/lang/Runnable;");
    return follow(jni, wrapper, &task, "val$task", "Ljava/lang/Runnable;");
}

// The JVM's part ------------------------------------------------------------------------------------------------------

// By numbers, since the header of the JDK that the agent is built with may be older than what they name.

enum { CAN_SUPPORT_VIRTUAL_THREADS = 44, FIRST_EVENT = 50, VIRTUAL_THREAD_END = 88 };

static bool ask_for_capability(void) {
    jvmtiCapabilities possible = {0}, wanted = {0};
    const unsigned byte = CAN_SUPPORT_VIRTUAL_THREADS / 8, bit = 1u << CAN_SUPPORT_VIRTUAL_THREADS % 8;
    if ((*env)->GetPotentialCapabilities(env, &possible) != JVMTI_ERROR_NONE) return false;
    if (!(((unsigned char *)&possible)[byte] & bit)) return false;
    ((unsigned char *)&wanted)[byte] = (unsigned char)bit;
    return (*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE;
}

static void free_event(jvmtiExtensionEventInfo *event) {
    for (jint i = 0; i < event->param_count; i++) (*env)->Deallocate(env, (unsigned char *)event->params[i].name);
    (*env)->Deallocate(env, (unsigned char *)event->params);
    (*env)->Deallocate(env, (unsigned char *)event->short_description);
    (*env)->Deallocate(env, (unsigned char *)event->id);
}

static bool find_events(void) {
    jint count;
    jvmtiExtensionEventInfo *events;
    if ((*env)->GetExtensionEvents(env, &count, &events) != JVMTI_ERROR_NONE) return false;
    for (jint i = 0; i < count; i++) {
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0)
            mount_event = events[i].extension_event_index;
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0)
            unmount_event = events[i].extension_event_index;
        free_event(&events[i]);
    }
    (*env)->Deallocate(env, (unsigned char *)events);
    return mount_event >= 0 && unmount_event >= 0;
}

static bool set_callbacks(void) {
    void *callbacks[VIRTUAL_THREAD_END - FIRST_EVENT + 1] = {0};
    callbacks[VIRTUAL_THREAD_END - FIRST_EVENT] = (void *)on_end;
    return (*env)->SetEventCallbacks(env, (const jvmtiEventCallbacks *)callbacks, sizeof callbacks) ==
               JVMTI_ERROR_NONE &&
           (*env)->SetExtensionEventCallback(env, mount_event, (jvmtiExtensionEvent)on_mount) == JVMTI_ERROR_NONE &&
           (*env)->SetExtensionEventCallback(env, unmount_event, (jvmtiExtensionEvent)on_unmount) == JVMTI_ERROR_NONE;
}

bool virtual_ask(JavaVM *vm) {
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) env = NULL;
    if (env && ask_for_capability() && find_events()) return true;
    if (env) (*env)->DisposeEnvironment(env);
    env = NULL;
    return false;
}

void virtual_init(JNIEnv *jni) {
    if (!env) return;
    virtual_class = identity_global_class(jni, "java/lang/BaseVirtualThread");
    tid_field = identity_field(jni, tracer.thread_class, "tid", "J");
    name_field = identity_field(jni, tracer.thread_class, "name", "Ljava/lang/String;");
    container_init(jni);
    if (virtual_class && tid_field && name_field && set_callbacks()) return;
    (*env)->DisposeEnvironment(env);
    env = NULL;
}

void virtual_restart(void) {
    container_restart();
    for (uint32_t s = 0; s < SHARDS; s++) {
        struct shard *shard = &shards[s];
        pthread_mutex_lock(&shard->lock);
        for (uint32_t i = 0; i < shard->room; i++) {
            for (struct virtual_thread *at = shard->buckets[i], *next; at; at = next) {
                next = at->next;
                release(at);
            }
        }
        free(shard->buckets);
        shard->buckets = NULL;
        shard->room = shard->count = 0;
        pthread_mutex_unlock(&shard->lock);
    }
}

void virtual_listen(jvmtiEventMode mode) {
    if (!env) return;
    (*env)->SetEventNotificationMode(env, mode, (jvmtiEvent)VIRTUAL_THREAD_END, NULL);
    (*env)->SetEventNotificationMode(env, mode, (jvmtiEvent)mount_event, NULL);
    (*env)->SetEventNotificationMode(env, mode, (jvmtiEvent)unmount_event, NULL);
}
