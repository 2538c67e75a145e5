// SPDX-License-Identifier: Apache-2.0
#include "tracer/resources.h"

#include "tracer/identity.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/weaving.h"
#include "tracer/woven_places.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Slots --------------------------------------------------------------------------------------------------------------

enum { INDEX_ROOM = RESOURCES_MOST * 2, NAME_TRIES = 8 };

// Slots are given once and never given back. The index finds a slot by its id: open addressing, never more than half
// full.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct slot_facts {
    struct trace_resource facts;
    uint8_t tries;              // sites that were looked at for a name
    uint32_t nameless;          // the last of these; 0: none
    _Atomic(uint32_t) unwaited; // acquisitions in a row
    _Atomic(int32_t) out;       // acquisitions recorded and not given back
};
static struct slot_facts *slots;
static uint32_t *slot_index, slot_count = 1; // 0: none

static uint32_t *index_place(uint64_t id) {
    uint32_t at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & (INDEX_ROOM - 1);
    while (slot_index[at] && slots[slot_index[at]].facts.id != id) at = (at + 1) & (INDEX_ROOM - 1);
    return &slot_index[at];
}

// With the lock held.
static bool have_room(void) {
    if (!slots) slots = calloc(RESOURCES_MOST, sizeof *slots);
    if (!slot_index) slot_index = calloc(INDEX_ROOM, sizeof *slot_index);
    return slots && slot_index && slot_count < RESOURCES_MOST;
}

uint32_t resources_new_of(uint64_t id, struct trace_resource facts) {
    pthread_mutex_lock(&lock);
    uint32_t *place = have_room() ? index_place(id) : NULL, slot = place ? *place : 0;
    if (place && !slot) {
        slot = *place = slot_count++;
        facts.id = id;
        slots[slot].facts = facts;
        registry_resource(slot, &facts);
    }
    pthread_mutex_unlock(&lock);
    return slot;
}

uint32_t resources_new(struct thread_state *state, struct trace_resource facts) {
    return resources_new_of(task_id_new(state), facts);
}

uint32_t resources_find(uint64_t id) {
    pthread_mutex_lock(&lock);
    uint32_t slot = id && slot_index ? *index_place(id) : 0;
    pthread_mutex_unlock(&lock);
    return slot;
}

void resources_set_kind(uint32_t slot, enum resource_kind kind, int64_t capacity) {
    pthread_mutex_lock(&lock);
    struct trace_resource *facts = &slots[slot].facts;
    if (facts->kind != kind || facts->capacity != capacity) {
        facts->kind = kind;
        facts->capacity = capacity;
        registry_resource(slot, facts);
    }
    pthread_mutex_unlock(&lock);
}

void resources_set_capacity(uint32_t slot, int64_t capacity) {
    resources_set_kind(slot, slots[slot].facts.kind, capacity);
}

const char *resources_name(uint32_t slot) {
    pthread_mutex_lock(&lock);
    const char *name = slots[slot].facts.name;
    pthread_mutex_unlock(&lock);
    return name;
}

// A slot's id does not change, so it is read without the lock.
static uint64_t id_of(uint32_t slot) {
    return slots[slot].facts.id;
}

// With the lock held.
static void set_name(uint32_t slot, const char *name) {
    struct slot_facts *facts = &slots[slot];
    if (!name || facts->facts.name) return;
    facts->facts.name = name;
    registry_resource(slot, &facts->facts);
}

// One that has no name yet takes that of the field at the place. Whether it has one now, or can't get one.
static bool name_by_place(uint32_t slot, uint32_t site) {
    struct slot_facts *facts = &slots[slot];
    if (facts->facts.name || facts->tries >= NAME_TRIES || !site) return true;
    const char *name = woven_place_name(site);
    pthread_mutex_lock(&lock);
    facts->tries++;
    facts->nameless = site;
    set_name(slot, name);
    pthread_mutex_unlock(&lock);
    return name != NULL;
}

// A class that was loaded before the tracer came was not looked at for names.
static void name_here(JNIEnv *jni, struct wanted wanted, uint32_t site) {
    if (name_by_place(wanted.slot, site) || !tracer.attached || slots[wanted.slot].tries > 1) return;
    jclass class = site_class_here(jni, wanted.at_top);
    if (!class) return;
    weaving_wish(jni, class);
    (*jni)->DeleteLocalRef(jni, class);
}

void resources_name_again(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t slot = 1; slot < slot_count; slot++) {
        if (slots[slot].nameless && !slots[slot].facts.name) set_name(slot, woven_place_name(slots[slot].nameless));
    }
    pthread_mutex_unlock(&lock);
}

// What is calm -------------------------------------------------------------------------------------------------------

enum { CALM_FROM = 10000 };

bool resources_is_calm(uint32_t slot) {
    return atomic_load_explicit(&slots[slot].unwaited, memory_order_relaxed) >= CALM_FROM;
}

bool resources_tells_release(uint32_t slot) {
    return !resources_is_calm(slot) || atomic_load_explicit(&slots[slot].out, memory_order_relaxed) > 0;
}

static void count_held(uint32_t slot) {
    atomic_fetch_add_explicit(&slots[slot].unwaited, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&slots[slot].out, 1, memory_order_relaxed);
}

static void count_released(uint32_t slot) {
    if (atomic_load_explicit(&slots[slot].out, memory_order_relaxed) > 0)
        atomic_fetch_sub_explicit(&slots[slot].out, 1, memory_order_relaxed);
}

// What happens -------------------------------------------------------------------------------------------------------

bool resources_may_wait(const struct thread_state *state) {
    return state && state->tasks > 0 && !thread_state_hands_over(state) && state->wait_depth == 0 &&
           !state->blocked_on && !state->sleep && !state->wants;
}

static uint64_t want_of(struct wanted wanted, uint32_t site) {
    const uint32_t units = wanted.units > INT32_MAX ? INT32_MAX : wanted.units;
    return want_operand(units, wanted.shared, site);
}

uint32_t resources_wait(JNIEnv *jni, struct thread_state *state, struct wanted wanted) {
    const uint64_t most = ((uint64_t)1 << RING_OPERAND_BITS) - 1;
    uint32_t site = site_of_acquisition(jni, state, wanted.slot, wanted.at_top);
    name_here(jni, wanted, site);
    if (wanted.limit_ns) record1(state, EVENT_LIMIT, wanted.limit_ns < most ? wanted.limit_ns : most);
    atomic_store_explicit(&slots[wanted.slot].unwaited, 0, memory_order_relaxed);
    state->wants = wanted.slot;
    state->way = wanted.way;
    record_boundary(state, EVENT_ACQUIRE_BEGIN, id_of(wanted.slot), want_of(wanted, site));
    return site;
}

bool resources_waits(enum wait_way way) {
    const struct thread_state *here = thread_state_here();
    return here && here->wants && here->way == way;
}

void resources_acquired(struct thread_state *state) {
    record_boundary(state, EVENT_ACQUIRED, id_of(state->wants), 0);
    atomic_fetch_add_explicit(&slots[state->wants].out, 1, memory_order_relaxed);
    state->wants = 0;
}

void resources_give_up(struct thread_state *state, enum given_up why) {
    record_boundary(state, EVENT_GIVEN_UP, id_of(state->wants), why);
    state->wants = 0;
}

uint32_t resources_held(JNIEnv *jni, struct thread_state *state, struct wanted wanted) {
    uint32_t site = site_of_acquisition(jni, state, wanted.slot, wanted.at_top);
    name_here(jni, wanted, site);
    count_held(wanted.slot);
    record3(state, EVENT_HELD, id_of(wanted.slot), want_of(wanted, site), 0);
    return site;
}

void resources_held_at(struct thread_state *state, struct wanted wanted, uint32_t site) {
    name_by_place(wanted.slot, site);
    count_held(wanted.slot);
    record3(state, EVENT_HELD, id_of(wanted.slot), want_of(wanted, site), 0);
}

void resources_released(JNIEnv *jni, struct thread_state *state, struct wanted wanted, uint32_t site) {
    if (!site) site = site_of_acquisition(jni, state, wanted.slot, wanted.at_top);
    count_released(wanted.slot);
    record3(state, EVENT_RELEASED, id_of(wanted.slot), want_of(wanted, site), 0);
}

void resources_found(struct thread_state *state, struct wanted wanted, uint32_t site, uint64_t cpu) {
    name_by_place(wanted.slot, site);
    atomic_store_explicit(&slots[wanted.slot].unwaited, 0, memory_order_relaxed);
    state->wants = wanted.slot;
    state->way = wanted.way;
    ring_put3(&state->channel->ring, clock_ticks(), EVENT_ACQUIRE_BEGIN, id_of(wanted.slot), cpu,
              want_of(wanted, site));
}

void resources_found_awake(struct thread_state *state, uint64_t cpu) {
    ring_put3(&state->channel->ring, clock_ticks(), EVENT_ACQUIRED, id_of(state->wants), cpu, 0);
    atomic_fetch_add_explicit(&slots[state->wants].out, 1, memory_order_relaxed);
    state->wants = 0;
}

// Of what is watched.
enum { WATCHED = 4096, MISSES_MOST = 1000, WATCH_AGAIN_NS = 100000000 };

static jclass helper;
static jbooleanArray watched_locks, watched_places; // global references
static jfieldID locks_watched;
static _Atomic(uint64_t) watched_ns;            // when places were last
static _Atomic(uint32_t) place_misses[WATCHED]; // in a row
static _Atomic(uint32_t) place_holds[WATCHED];  // under way, or expected: their ends are to be told
static _Atomic(bool) place_left[WATCHED];       // alone, or about to be, unless a hold was seen since

// Holds --------------------------------------------------------------------------------------------------------------

struct hold *resources_hold(struct thread_state *state, uint32_t slot) {
    for (uint32_t i = state->hold_count; i-- > 0;) {
        if (state->hold[i].slot == slot) return &state->hold[i];
    }
    return NULL;
}

struct hold *resources_hold_at(struct thread_state *state, uint32_t number) {
    for (uint32_t i = state->hold_count; i-- > 0;) {
        if (state->hold[i].monitor && state->hold[i].number == number) return &state->hold[i];
    }
    return NULL;
}

static void count_hold(uint32_t number) {
    if (number) atomic_fetch_add(&place_holds[number % WATCHED], 1);
}

static void uncount_hold(uint32_t number) {
    if (number) atomic_fetch_sub_explicit(&place_holds[number % WATCHED], 1, memory_order_relaxed);
}

void resources_expect_hold(JNIEnv *jni, struct thread_state *state, uint32_t site) {
    resources_expect_none(state);
    state->expects_at = woven_place_number(site);
    count_hold(state->expects_at);
    if (state->expects_at) resources_place_hit(jni, state->expects_at);
}

void resources_expect_none(struct thread_state *state) {
    uncount_hold(state->expects_at);
    state->expects_at = 0;
}

struct hold *resources_add_hold(struct thread_state *state, struct hold hold) {
    if (state->hold_count == HOLDS) return NULL;
    hold.tasks = state->tasks;
    count_hold(hold.number);
    state->hold[state->hold_count] = hold;
    return &state->hold[state->hold_count++];
}

void resources_drop_hold(struct thread_state *state, struct hold *hold) {
    struct hold *end = &state->hold[--state->hold_count];
    uncount_hold(hold->number);
    memmove(hold, hold + 1, (size_t)((char *)end - (char *)hold));
}

// Of monitors, which belong to blocks of the body, and of the wait alone: a lock may be held beyond.
void resources_task_ends(struct thread_state *state) {
    if (state->wants) resources_give_up(state, GIVEN_UP_OTHER);
    resources_expect_none(state);
    for (uint32_t i = state->hold_count; i-- > 0;) {
        struct hold *hold = &state->hold[i];
        if (!hold->monitor || hold->tasks < state->tasks) continue;
        if (!hold->silent && !hold->gave_way)
            resources_released(NULL, state, (struct wanted){.slot = hold->slot, .units = 1}, hold->site);
        resources_drop_hold(state, hold);
    }
}

// What is watched ----------------------------------------------------------------------------------------------------

static jbooleanArray global_array(JNIEnv *jni, const char *name) {
    jfieldID field = (*jni)->GetStaticFieldID(jni, helper, name, "[Z");
    jobject array = field ? (*jni)->GetStaticObjectField(jni, helper, field) : NULL;
    (*jni)->ExceptionClear(jni);
    return array ? (*jni)->NewGlobalRef(jni, array) : NULL;
}

void resources_init(JNIEnv *jni) {
    if (!(helper = identity_global_class(jni, HELPER_CLASS))) return;
    watched_locks = global_array(jni, "watchedLocks");
    watched_places = global_array(jni, "watchedPlaces");
    locks_watched = (*jni)->GetStaticFieldID(jni, helper, "locksWatched", "Z");
    (*jni)->ExceptionClear(jni);
}

static void set_all(JNIEnv *jni, jbooleanArray array, bool watched) {
    jboolean all[WATCHED];
    memset(all, watched, sizeof all);
    if (array) (*jni)->SetBooleanArrayRegion(jni, array, 0, WATCHED, all);
}

void resources_unwatch(JNIEnv *jni) {
    set_all(jni, watched_locks, false);
    set_all(jni, watched_places, false);
    if (locks_watched) (*jni)->SetStaticBooleanField(jni, helper, locks_watched, JNI_FALSE);
    atomic_store_explicit(&watched_ns, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < WATCHED; i++) atomic_store_explicit(&place_holds[i], 0, memory_order_relaxed);
}

// A lock that is waited for is one more that any place may lock. Not more often than the places that it is none of can
// be told again.
void resources_watch_places(JNIEnv *jni) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), before_ns = atomic_load_explicit(&watched_ns, memory_order_relaxed);
    if (before_ns && now_ns - before_ns < WATCH_AGAIN_NS) return;
    if (!atomic_compare_exchange_strong(&watched_ns, &before_ns, now_ns)) return;
    for (uint32_t i = 0; i < WATCHED; i++) atomic_store_explicit(&place_misses[i], 0, memory_order_relaxed);
    set_all(jni, watched_places, true);
}

void resources_watch_lock(JNIEnv *jni, jint hash) {
    const jboolean watched = JNI_TRUE;
    if (!watched_locks || !locks_watched) return;
    (*jni)->SetBooleanArrayRegion(jni, watched_locks, hash & (WATCHED - 1), 1, &watched);
    (*jni)->SetStaticBooleanField(jni, helper, locks_watched, JNI_TRUE);
}

void resources_unwatch_lock(JNIEnv *jni, jint hash) {
    const jboolean left_alone = JNI_FALSE;
    if (watched_locks) (*jni)->SetBooleanArrayRegion(jni, watched_locks, hash & (WATCHED - 1), 1, &left_alone);
}

static void watch_place(JNIEnv *jni, uint32_t at, jboolean watched) {
    if (watched_places) (*jni)->SetBooleanArrayRegion(jni, watched_places, (jsize)at, 1, &watched);
}

// A thread that looked at the place while it was watched may count its hold only now, and its release is to be told all
// the same. So a thread that leaves a place alone says so first, then looks for holds, and looks again in the end; a
// thread that has counted a hold looks whether the place is being left alone. One of the two sees the other.
void resources_place_missed(JNIEnv *jni, uint32_t place) {
    const uint32_t at = place % WATCHED;
    const uint32_t misses = atomic_fetch_add_explicit(&place_misses[at], 1, memory_order_relaxed);
    if (misses < MISSES_MOST || atomic_load_explicit(&place_holds[at], memory_order_relaxed)) return;
    atomic_store(&place_left[at], true);
    if (atomic_load(&place_holds[at])) return;
    watch_place(jni, at, JNI_FALSE);
    if (atomic_load(&place_holds[at])) watch_place(jni, at, JNI_TRUE);
}

void resources_place_hit(JNIEnv *jni, uint32_t place) {
    const uint32_t at = place % WATCHED;
    if (atomic_load_explicit(&place_misses[at], memory_order_relaxed))
        atomic_store_explicit(&place_misses[at], 0, memory_order_relaxed);
    if (!atomic_load(&place_left[at])) return;
    atomic_store(&place_left[at], false);
    watch_place(jni, at, JNI_TRUE);
}
