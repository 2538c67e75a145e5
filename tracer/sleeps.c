// SPDX-License-Identifier: Apache-2.0
#include "tracer/sleeps.h"

#include "tracer/identity.h"
#include "tracer/sites.h"
#include "tracer/time_limit.h"

#include <stdlib.h>

static jfieldID thread_number, park_blocker;

enum { SLOTS = 4096 };

// Who has taken it writes the other words before it publishes `id`; whoever read them claims by that same id, so what
// they read belonged to it.
struct slot {
    _Atomic(uint64_t) id; // of the sleep; 0: nobody sleeps, or somebody woke him
    _Atomic(uint64_t) thread, shared, since;
    _Atomic(bool) taken;
    _Atomic(struct slot *) next; // of its chain; never freed
};

static struct slot slots[SLOTS];
static _Atomic(uint32_t) slots_used;     // those from here on never had a sleeper
static _Atomic(uint32_t) shared_sleeper; // how many sleep for something shared

void sleeps_init(JNIEnv *jni) {
    thread_number = identity_field(jni, tracer.thread_class, "tid", "J");
    park_blocker = identity_field(jni, tracer.thread_class, "parkBlocker", "Ljava/lang/Object;");
}

static jthread current_thread(void) {
    jthread thread = NULL;
    return (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &thread) == JVMTI_ERROR_NONE ? thread : NULL;
}

jobject sleeps_blocker(JNIEnv *jni) {
    jthread thread = park_blocker ? current_thread() : NULL;
    return thread ? (*jni)->GetObjectField(jni, thread, park_blocker) : NULL;
}

// The thread's number (java.lang.Thread.tid); 0: it has none.
static uint64_t number_of(JNIEnv *jni, struct thread_state *state) {
    jthread thread = !state->number && thread_number ? current_thread() : NULL;
    if (!thread) return state->number;
    state->number = (uint64_t)(*jni)->GetLongField(jni, thread, thread_number);
    (*jni)->DeleteLocalRef(jni, thread);
    return state->number;
}

static struct slot *next_slot(const struct slot *slot) {
    return atomic_load_explicit(&slot->next, memory_order_acquire); // pairs with append's exchange
}

void sleeps_restart(void) {
    for (struct slot *chain = slots; chain < slots + SLOTS; chain++) {
        for (struct slot *slot = chain; slot; slot = next_slot(slot)) {
            atomic_store_explicit(&slot->id, 0, memory_order_relaxed);
            atomic_store_explicit(&slot->taken, false, memory_order_release);
        }
    }
    atomic_store_explicit(&shared_sleeper, 0, memory_order_relaxed);
}

static void raise_slots_used(uint32_t index) {
    uint32_t used = atomic_load_explicit(&slots_used, memory_order_relaxed);
    while (index >= used && !atomic_compare_exchange_weak_explicit(&slots_used, &used, index + 1, memory_order_relaxed,
                                                                   memory_order_relaxed)) {
    }
}

// A slot more, taken, at the chain's end. NULL without memory.
static struct slot *append(struct slot *chain) {
    struct slot *slot = calloc(1, sizeof *slot), *none = NULL;
    if (!slot) return NULL;
    atomic_init(&slot->taken, true);
    while (
        !atomic_compare_exchange_weak_explicit(&chain->next, &none, slot, memory_order_release, memory_order_relaxed)) {
        if (none) chain = none;
        none = NULL;
    }
    return slot;
}

static struct slot *take_slot(uint64_t number) {
    struct slot *chain = &slots[number % SLOTS];
    for (struct slot *slot = chain; slot; slot = next_slot(slot)) {
        if (!atomic_exchange_explicit(&slot->taken, true, memory_order_acquire)) return slot; // pairs with give_back
    }
    return append(chain);
}

static void give_back(struct slot *slot) {
    atomic_store_explicit(&slot->taken, false, memory_order_release);
}

// Gives the state a sleep, in the table under the thread's number.
static bool lie_down(struct thread_state *state, uint64_t number, uint64_t shared) {
    struct slot *slot = number ? take_slot(number) : NULL;
    if (!slot) return false;
    state->sleep = task_id_new(state);
    state->slot = slot;
    state->sleeps_shared = shared != 0;
    raise_slots_used(number % SLOTS);
    if (shared) atomic_fetch_add_explicit(&shared_sleeper, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->thread, number, memory_order_relaxed);
    atomic_store_explicit(&slot->shared, shared, memory_order_relaxed);
    atomic_store_explicit(&slot->since, clock_ticks(), memory_order_relaxed);
    atomic_store_explicit(&slot->id, state->sleep, memory_order_release); // pairs with the load in find
    return true;
}

void sleeps_begin(JNIEnv *jni, struct thread_state *state, uint32_t class, uint64_t shared) {
    if (!lie_down(state, number_of(jni, state), shared)) return;
    uint32_t site = site_of_sleep(jni, state, class);
    time_limit_begin(state);
    record_boundary(state, EVENT_WAIT_BEGIN, state->sleep, wait_operand(WAIT_FOR_RELEASE, class, site));
}

void sleeps_found(JNIEnv *jni, jthread thread, struct thread_state *state, uint32_t class, uint64_t shared,
                  uint32_t site, uint64_t cpu) {
    if (!thread_number || !lie_down(state, (uint64_t)(*jni)->GetLongField(jni, thread, thread_number), shared)) return;
    ring_put3(&state->channel->ring, clock_ticks(), EVENT_WAIT_BEGIN, state->sleep, cpu,
              wait_operand(WAIT_FOR_RELEASE, class, site));
}

// Takes a sleep off the table; only one can.
static bool claim(struct slot *slot, uint64_t id) {
    return atomic_compare_exchange_strong_explicit(&slot->id, &id, 0, memory_order_relaxed, memory_order_relaxed);
}

void sleeps_end(struct thread_state *state) {
    bool released = atomic_load_explicit(&state->slot->id, memory_order_relaxed) != state->sleep;
    if (released) time_limit_tell(state, false);
    time_limit_end(state, state->sleep);
    record_boundary(state, EVENT_WAIT_END, state->sleep, 0);
    sleeps_forget(state);
}

void sleeps_forget(struct thread_state *state) {
    claim(state->slot, state->sleep);
    give_back(state->slot);
    if (state->sleeps_shared) atomic_fetch_sub_explicit(&shared_sleeper, 1, memory_order_relaxed);
    state->sleep = 0;
}

// Whoever wakes somebody must be in a task, to be known as the releaser. A thread that was there before the tracer may
// not have told of any event yet.
static bool is_known(void) {
    const struct thread_state *state = tracer.attached ? thread_state_get() : thread_state_here();
    return state && state->tasks > 0;
}

static void release(struct thread_state *state, struct slot *slot, uint64_t id) {
    if (claim(slot, id)) record1(state, EVENT_RESULT, id);
}

// The earliest that is not released yet.
struct earliest {
    struct slot *slot;
    uint64_t id, since;
};

static void notify(struct thread_state *state, struct slot *slot, uint64_t shared, bool all,
                   struct earliest *earliest) {
    uint64_t id = atomic_load_explicit(&slot->id, memory_order_acquire); // pairs with the store in sleeps_begin
    if (!id || atomic_load_explicit(&slot->shared, memory_order_relaxed) != shared) return;
    uint64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed);
    if (all)
        release(state, slot, id);
    else if (since < earliest->since)
        *earliest = (struct earliest){slot, id, since};
}

void sleeps_notify(uint64_t shared, bool all) {
    PROBED struct thread_state *state = is_known() ? probe_begin() : NULL;
    uint32_t used = state ? atomic_load_explicit(&slots_used, memory_order_relaxed) : 0;
    struct earliest earliest = {.since = UINT64_MAX};
    for (struct slot *chain = slots; chain < slots + used; chain++) {
        for (struct slot *slot = chain; slot; slot = next_slot(slot)) notify(state, slot, shared, all, &earliest);
    }
    if (earliest.slot) release(state, earliest.slot, earliest.id);
}

static void release_one(struct slot *slot, uint64_t id) {
    PROBED struct thread_state *state = probe_begin();
    if (state) release(state, slot, id);
}

// The thread's sleep, 0 where it does not sleep, and *slot.
static uint64_t find(uint64_t number, struct slot **slot) {
    for (*slot = &slots[number % SLOTS]; *slot; *slot = next_slot(*slot)) {
        uint64_t id = atomic_load_explicit(&(*slot)->id, memory_order_acquire); // pairs with the store in sleeps_begin
        if (id && atomic_load_explicit(&(*slot)->thread, memory_order_relaxed) == number) return id;
    }
    return 0;
}

void sleeps_unpark(JNIEnv *jni, jobject thread) {
    if (!thread || !thread_number || !is_known()) return;
    struct slot *slot;
    uint64_t id = find((uint64_t)(*jni)->GetLongField(jni, thread, thread_number), &slot);
    if (!id) return;
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
