// SPDX-License-Identifier: Apache-2.0
#include "tracer/sleeps.h"

#include "tracer/identity.h"
#include "tracer/sites.h"

static jfieldID thread_number, park_blocker;

enum { SLOTS = 4096 };

// Its owner writes the other words before it publishes `id`; whoever read them claims by that same id, so what they
// read belonged to it.
struct slot {
    _Atomic(uint64_t) id; // of the sleep; 0: nobody sleeps, or somebody woke him
    _Atomic(uint64_t) thread, shared, since;
};

static struct slot slots[SLOTS];
static _Atomic(uint32_t) slots_used;     // those from here on never had a sleeper
static _Atomic(uint32_t) shared_sleeper; // how many sleep for something shared

void sleeps_init(JNIEnv *jni) {
    thread_number = identity_field(jni, tracer.thread_class, "tid", "J");
    park_blocker = identity_field(jni, tracer.thread_class, "parkBlocker", "Ljava/lang/Object;");
}

jobject sleeps_blocker(JNIEnv *jni, jthread thread, jobject told) {
    return told || !park_blocker ? told : (*jni)->GetObjectField(jni, thread, park_blocker);
}

static void raise_slots_used(uint32_t index) {
    uint32_t used = atomic_load_explicit(&slots_used, memory_order_relaxed);
    while (index >= used && !atomic_compare_exchange_weak_explicit(&slots_used, &used, index + 1, memory_order_relaxed,
                                                                   memory_order_relaxed)) {
    }
}

void sleeps_begin(JNIEnv *jni, struct thread_state *state, jthread thread, jobject object, uint64_t shared) {
    if (!thread_number) return;
    uint64_t number = (uint64_t)(*jni)->GetLongField(jni, thread, thread_number);
    struct slot *slot = &slots[number % SLOTS];
    state->sleep = task_id_new(state);
    state->slot = slot;
    state->sleeps_shared = shared != 0;
    raise_slots_used(number % SLOTS);
    if (shared) atomic_fetch_add_explicit(&shared_sleeper, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->thread, number, memory_order_relaxed);
    atomic_store_explicit(&slot->shared, shared, memory_order_relaxed);
    atomic_store_explicit(&slot->since, clock_ticks(), memory_order_relaxed);
    atomic_store_explicit(&slot->id, state->sleep, memory_order_release); // pairs with the load in find
    uint32_t class = identity_class(jni, state, object), site = site_of_spawn(jni, state);
    record_boundary(state, EVENT_WAIT_BEGIN, state->sleep, wait_operand(WAIT_FOR_RELEASE, class, site));
}

// Takes a sleep off the table; only one can.
static bool claim(struct slot *slot, uint64_t id) {
    return atomic_compare_exchange_strong_explicit(&slot->id, &id, 0, memory_order_relaxed, memory_order_relaxed);
}

void sleeps_end(struct thread_state *state) {
    record_boundary(state, EVENT_WAIT_END, state->sleep, 0);
    claim(state->slot, state->sleep);
    if (state->sleeps_shared) atomic_fetch_sub_explicit(&shared_sleeper, 1, memory_order_relaxed);
    state->sleep = 0;
}

// Whoever wakes somebody must be in a task, to be known as the releaser.
static bool is_known(void) {
    return thread_state_here() && thread_state_here()->tasks > 0;
}

static void release(struct thread_state *state, struct slot *slot, uint64_t id) {
    if (claim(slot, id)) record1(state, EVENT_RESULT, id);
}

void sleeps_notify(uint64_t shared, bool all) {
    PROBED struct thread_state *state = is_known() ? probe_begin() : NULL;
    uint32_t used = state ? atomic_load_explicit(&slots_used, memory_order_relaxed) : 0;
    struct slot *first = NULL;
    uint64_t first_id = 0, first_since = UINT64_MAX;
    for (struct slot *slot = slots; slot < slots + used; slot++) {
        uint64_t id = atomic_load_explicit(&slot->id, memory_order_acquire); // pairs with the store in sleeps_begin
        if (!id || atomic_load_explicit(&slot->shared, memory_order_relaxed) != shared) continue;
        uint64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed);
        if (all) {
            release(state, slot, id);
        } else if (since < first_since) {
            first = slot;
            first_id = id;
            first_since = since;
        }
    }
    if (first) release(state, first, first_id);
}

static void release_one(struct slot *slot, uint64_t id) {
    PROBED struct thread_state *state = probe_begin();
    if (state) release(state, slot, id);
}

void sleeps_unpark(JNIEnv *jni, jobject thread) {
    if (!thread || !thread_number || !is_known()) return;
    uint64_t number = (uint64_t)(*jni)->GetLongField(jni, thread, thread_number);
    struct slot *slot = &slots[number % SLOTS];
    uint64_t id = atomic_load_explicit(&slot->id, memory_order_acquire); // pairs with the store in sleeps_begin
    if (!id || atomic_load_explicit(&slot->thread, memory_order_relaxed) != number) return;
    uint64_t shared = atomic_load_explicit(&slot->shared, memory_order_relaxed);
    if (shared & SLEEPS_MONITOR) return; // unparking does not wake it
    if (shared)
        sleeps_notify(shared, true); // a latch opens
    else
        release_one(slot, id);
}

bool sleeps_any_shared(void) {
    return atomic_load_explicit(&shared_sleeper, memory_order_relaxed) > 0;
}
