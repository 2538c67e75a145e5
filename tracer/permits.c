// SPDX-License-Identifier: Apache-2.0
#include "tracer/permits.h"

#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/resources.h"

#include <pthread.h>
#include <stdlib.h>

enum { TOLD_ALL = 16 };

static const uint64_t MADE = (uint64_t)1 << 62; // with the permits below

// By slot, in chunks of memory that is touched as far as it is used.
struct permits {
    _Atomic(int64_t) first; // permits of its construction, less those that were reduced; -1 unknown
    _Atomic(int64_t) out;   // taken and not given back; below 0: given that were not taken
    _Atomic(int64_t) most;  // that were given so, ever
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the first use
static struct permits *all;
static jclass sync_class, fair_class;
static _Atomic(jfieldID) field;

uint64_t permits_carried(uint32_t permits) {
    return MADE | permits;
}

static bool is_slot(uint64_t carried) {
    return carried && carried < RESOURCES_MOST;
}

static void know(JNIEnv *jni) {
    if (sync_class) return;
    sync_class = identity_global_class(jni, "java/util/concurrent/Semaphore$Sync");
    fair_class = identity_global_class(jni, "java/util/concurrent/Semaphore$FairSync");
    if (!tracer.attached) field = identity_field(jni, sync_class, TASK_FIELD, "J");
}

static uint64_t carried_by(JNIEnv *jni, jobject sync) {
    jfieldID known = field;
    if (known) return (uint64_t)(*jni)->GetLongField(jni, sync, known);
    return tracer.attached ? kept_get(sync) : 0;
}

static void carry(JNIEnv *jni, jobject sync, uint64_t carried) {
    jfieldID known = field;
    if (known)
        (*jni)->SetLongField(jni, sync, known, (jlong)carried);
    else if (tracer.attached)
        kept_set(sync, carried);
}

// With the lock held.
static uint32_t make(JNIEnv *jni, struct thread_state *state, jobject sync, uint64_t carried) {
    bool fair = fair_class && (*jni)->IsInstanceOf(jni, sync, fair_class);
    int64_t permits = carried & MADE ? (int32_t)(uint32_t)carried : -1;
    uint32_t slot =
        resources_new(state, (struct trace_resource){.kind = RESOURCE_PERMITS,
                                                     .class = identity_class_named("java.util.concurrent.Semaphore"),
                                                     .capacity = permits >= 0 ? permits : (carried & MADE ? 0 : -1),
                                                     .flags = fair ? RESOURCE_FAIR : 0});
    if (!all) all = calloc(RESOURCES_MOST, sizeof *all);
    if (!slot || !all) return 0;
    all[slot].first = carried & MADE ? permits : INT64_MIN;
    carry(jni, sync, slot);
    return slot;
}

uint32_t permits_slot(JNIEnv *jni, struct thread_state *state, jobject sync) {
    pthread_mutex_lock(&lock);
    know(jni);
    bool knowable = field || tracer.attached;
    uint64_t carried = knowable ? carried_by(jni, sync) : 0;
    uint32_t slot = is_slot(carried) ? (uint32_t)carried : knowable ? make(jni, state, sync, carried) : 0;
    pthread_mutex_unlock(&lock);
    return slot;
}

static uint32_t slot_of(JNIEnv *jni, struct thread_state *state, jobject sync, uint64_t carried) {
    return is_slot(carried) && all ? (uint32_t)carried : permits_slot(jni, state, sync);
}

static void tell_capacity(uint32_t slot) {
    int64_t first = atomic_load_explicit(&all[slot].first, memory_order_relaxed);
    int64_t most = atomic_load_explicit(&all[slot].most, memory_order_relaxed);
    if (first != INT64_MIN) resources_set_capacity(slot, first + most > 0 ? first + most : 0);
}

void permits_taken(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t slot = state ? slot_of(jni, state, sync, carried) : 0;
    if (!slot) return;
    atomic_fetch_add_explicit(&all[slot].out, units, memory_order_relaxed);
    if (state->wants == slot && state->way == WAIT_SYNC) {
        resources_acquired(state);
    } else if (state->tasks > 0 && !state->wants && !state->asked && !resources_is_calm(slot)) {
        resources_held(jni, state, (struct wanted){.slot = slot, .units = units});
    }
}

// The first sixteen are told as they come, then each doubling.
static void note_surplus(uint32_t slot, int64_t surplus) {
    struct permits *permits = &all[slot];
    int64_t most = atomic_load_explicit(&permits->most, memory_order_relaxed);
    while (surplus > most && (most < TOLD_ALL || surplus >= 2 * most)) {
        if (!atomic_compare_exchange_weak_explicit(&permits->most, &most, surplus, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        tell_capacity(slot);
        break;
    }
}

void permits_given(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t slot = state ? slot_of(jni, state, sync, carried) : 0;
    if (!slot) return;
    int64_t out = atomic_fetch_sub_explicit(&all[slot].out, units, memory_order_relaxed) - units;
    if (out < 0) note_surplus(slot, -out);
    if (state->tasks > 0 && !state->asked && resources_tells_release(slot))
        resources_released(jni, state, (struct wanted){.slot = slot, .units = units}, 0);
}

void permits_reduced(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units) {
    PROBED struct thread_state *state = probe_begin();
    uint32_t slot = state ? slot_of(jni, state, sync, carried) : 0;
    if (!slot || atomic_load_explicit(&all[slot].first, memory_order_relaxed) == INT64_MIN) return;
    atomic_fetch_sub_explicit(&all[slot].first, units, memory_order_relaxed);
    tell_capacity(slot);
}
