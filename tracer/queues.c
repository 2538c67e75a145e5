// SPDX-License-Identifier: Apache-2.0
#include "tracer/queues.h"

#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/resources.h"

#include <pthread.h>
#include <stdlib.h>

enum { MESSAGES_FROM = 1000, CAPACITIES_MOST = 64, FIRST_RETURNS = 2, STRAYS = 16 };

static const uint64_t EXCLUDED = UINT64_MAX;

struct queue { // by slot
    _Atomic(uint32_t) takes, puts, returns;
    _Atomic(uint32_t) served;     // takes by threads of the program's own, in no task beside their run
    _Atomic(uint32_t) first;      // elements that were there before the first use
    _Atomic(uint32_t) capacities; // that were told
    _Atomic(bool) is_pool, only_waits;
    _Atomic(uint32_t) places; // slot, given when they are first waited for
};

// What the tracer knows of a class of queues.
static struct queue_class {
    const char *name, *bound, *bound_type; // field that tells how many it takes
    jclass class;
    jfieldID carried, capacity, count;
} classes[] = {
    {.name = "java/util/concurrent/ArrayBlockingQueue", .bound = "items", .bound_type = "[Ljava/lang/Object;"},
    {.name = "java/util/concurrent/LinkedBlockingQueue", .bound = "capacity", .bound_type = "I"},
    {.name = "java/util/concurrent/LinkedBlockingDeque", .bound = "capacity", .bound_type = "I"},
};

enum { CLASSES = sizeof classes / sizeof *classes };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the first use
static struct queue *all;
static bool known;

// With the lock held.
static void know(JNIEnv *jni) {
    for (size_t i = 0; i < CLASSES && !known; i++) {
        struct queue_class *of = &classes[i];
        of->class = identity_global_class(jni, of->name);
        of->carried = tracer.attached ? NULL : identity_field(jni, of->class, TASK_FIELD, "J");
        of->count = identity_field(jni, of->class, "count", "I"); // not of a LinkedBlockingQueue
        of->capacity = identity_field(jni, of->class, of->bound, of->bound_type);
    }
    known = true;
}

static const struct queue_class *class_of(JNIEnv *jni, jobject queue) {
    for (size_t i = 0; i < CLASSES; i++) {
        if (classes[i].class && (*jni)->IsInstanceOf(jni, queue, classes[i].class)) return &classes[i];
    }
    return NULL;
}

static uint64_t carried_by(JNIEnv *jni, const struct queue_class *of, jobject queue) {
    if (of->carried) return (uint64_t)(*jni)->GetLongField(jni, queue, of->carried);
    return tracer.attached ? kept_get(queue) : EXCLUDED;
}

static void carry(JNIEnv *jni, const struct queue_class *of, jobject queue, uint64_t carried) {
    if (of->carried)
        (*jni)->SetLongField(jni, queue, of->carried, (jlong)carried);
    else if (tracer.attached)
        kept_set(queue, carried);
}

void queues_exclude(JNIEnv *jni, jobject queue) {
    pthread_mutex_lock(&lock);
    know(jni);
    const struct queue_class *of = class_of(jni, queue);
    if (of) carry(jni, of, queue, EXCLUDED);
    pthread_mutex_unlock(&lock);
}

// Integer.MAX_VALUE stands for no bound.
static int64_t bound_of(JNIEnv *jni, const struct queue_class *of, jobject queue) {
    if (!of->capacity) return -1;
    if (of->bound_type[0] == 'I') {
        jint capacity = (*jni)->GetIntField(jni, queue, of->capacity);
        return capacity == INT32_MAX ? -1 : capacity;
    }
    jobject items = (*jni)->GetObjectField(jni, queue, of->capacity);
    jsize length = items ? (*jni)->GetArrayLength(jni, items) : -1;
    if (items) (*jni)->DeleteLocalRef(jni, items);
    return length;
}

// With the lock held.
static uint32_t make(JNIEnv *jni, struct thread_state *state, const struct queue_class *of, jobject queue) {
    const uint32_t class = identity_class(jni, state, queue);
    if (!all) all = calloc(RESOURCES_MOST, sizeof *all);
    uint32_t slot =
        all ? resources_new(state, (struct trace_resource){.kind = RESOURCE_QUEUE, .class = class, .capacity = -1}) : 0;
    if (slot && of->count) all[slot].first = (uint32_t)(*jni)->GetIntField(jni, queue, of->count);
    if (slot) carry(jni, of, queue, slot);
    return slot;
}

static uint32_t places_of(JNIEnv *jni, struct thread_state *state, jobject queue, uint32_t slot) {
    pthread_mutex_lock(&lock);
    const struct queue_class *of = class_of(jni, queue);
    int64_t bound = of && !all[slot].places ? bound_of(jni, of, queue) : -1;
    if (bound >= 0) {
        const uint32_t class = identity_class(jni, state, queue);
        all[slot].places = resources_new(
            state, (struct trace_resource){
                       .kind = RESOURCE_PLACES, .class = class, .capacity = bound, .name = resources_name(slot)});
    }
    pthread_mutex_unlock(&lock);
    return all[slot].places;
}

static uint32_t first_use(JNIEnv *jni, struct thread_state *state, jobject queue) {
    pthread_mutex_lock(&lock);
    know(jni);
    const struct queue_class *of = class_of(jni, queue);
    uint64_t carried = of ? carried_by(jni, of, queue) : EXCLUDED;
    uint32_t slot = carried == EXCLUDED ? 0 : carried ? (uint32_t)carried : make(jni, state, of, queue);
    pthread_mutex_unlock(&lock);
    return slot;
}

// `change`: what the operation has done to the number of elements just now.
static uint32_t slot_of(JNIEnv *jni, struct thread_state *state, jobject queue, uint64_t carried, int change) {
    if (carried == EXCLUDED) return 0;
    if (carried && all) return (uint32_t)carried;
    uint32_t slot = first_use(jni, state, queue);
    if (slot && class_of(jni, queue)->count && all[slot].puts + all[slot].takes == 0)
        all[slot].first -= (uint32_t)change;
    return slot;
}

static struct wanted one(uint32_t slot) {
    return (struct wanted){.slot = slot, .units = 1};
}

// What goes round ----------------------------------------------------------------------------------------------------

static struct taken_lately *taken_from(struct thread_state *state, uint32_t slot) {
    for (size_t i = 0; i < TAKEN_LATELY; i++) {
        if (state->taken_lately[i].slot == slot) return &state->taken_lately[i];
    }
    return NULL;
}

static void note_taken(struct thread_state *state, uint32_t slot) {
    struct taken_lately *taken = taken_from(state, slot);
    for (size_t i = 0; i < TAKEN_LATELY && !taken; i++) {
        if (state->taken_lately[i].count == 0) taken = &state->taken_lately[i];
    }
    if (!taken) taken = &state->taken_lately[slot % TAKEN_LATELY];
    if (taken->slot != slot) *taken = (struct taken_lately){.slot = slot};
    taken->count++;
}

// Whether the thread puts back what it took.
static bool is_return(struct thread_state *state, uint32_t slot) {
    struct taken_lately *taken = taken_from(state, slot);
    if (!taken || taken->count == 0) return false;
    taken->count--;
    return true;
}

static void tell_pool(struct queue *queue, uint32_t slot) {
    if (atomic_fetch_add_explicit(&queue->capacities, 1, memory_order_relaxed) < CAPACITIES_MOST)
        resources_set_kind(slot, RESOURCE_POOL, (int64_t)queue->first + queue->puts - queue->returns);
}

static void note_put(struct thread_state *state, struct queue *queue, uint32_t slot) {
    bool returns = is_return(state, slot);
    queue->puts++;
    uint32_t returned = returns ? ++queue->returns : queue->returns, takes = queue->takes;
    if (!returns && queue->is_pool) tell_pool(queue, slot);
    if (!returns || queue->is_pool || returned < FIRST_RETURNS || 2 * returned + STRAYS < takes) return;
    queue->is_pool = true;
    queue->only_waits = false;
    tell_pool(queue, slot);
}

static bool may_serve(const struct thread_state *state) {
    const bool others = state->worker || state->is_main || state->is_virtual || state->is_carrier || state->stage;
    return !others && state->tasks == 1 && state->spawns == 0;
}

// Whether it is the queue of a pipeline's stage, as far as can be told: what is put into it is what its threads do.
static bool is_stage(const struct queue *queue) {
    return queue->served > 0 && 2 * queue->served >= queue->takes && !queue->is_pool;
}

static void note_take(struct thread_state *state, struct queue *queue, uint32_t slot) {
    uint32_t takes = ++queue->takes;
    note_taken(state, slot);
    if (may_serve(state)) queue->served++;
    if (takes == MESSAGES_FROM && !queue->is_pool && !is_stage(queue) && queue->returns * 10 < takes)
        queue->only_waits = true;
}

// What happens -------------------------------------------------------------------------------------------------------

static bool is_free(const struct thread_state *state) {
    return !state->wants && !state->asked;
}

void queues_put(JNIEnv *jni, jobject object, uint64_t carried) {
    const struct thread_state *here = thread_state_here();
    if (!here || here->tasks == 0 || thread_state_hands_over(here) || carried == EXCLUDED) return;
    PROBED struct thread_state *state = probe_begin();
    uint32_t slot = slot_of(jni, state, object, carried, 1);
    if (!slot) return;
    struct queue *queue = &all[slot];
    const uint32_t places = queue->places;
    if (places && state->wants == places && state->way == WAIT_QUEUE)
        resources_acquired(state);
    else if (places && is_free(state) && !resources_is_calm(places))
        resources_held(jni, state, one(places));
    note_put(state, queue, slot);
    if (!queue->only_waits && is_free(state) && (resources_tells_release(slot) || is_stage(queue)))
        resources_released(jni, state, one(slot), 0);
}

void queues_took(JNIEnv *jni, jobject object, uint64_t carried) {
    const struct thread_state *here = thread_state_here();
    if (!here || here->tasks == 0 || carried == EXCLUDED) return;
    PROBED struct thread_state *state = probe_begin();
    uint32_t slot = slot_of(jni, state, object, carried, -1);
    if (!slot) return;
    struct queue *queue = &all[slot];
    if (state->wants == slot && state->way == WAIT_QUEUE)
        resources_acquired(state);
    else if (!queue->only_waits && is_free(state) && (!resources_is_calm(slot) || is_stage(queue)))
        resources_held(jni, state, one(slot));
    note_take(state, queue, slot);
    if (queue->places && is_free(state) && resources_tells_release(queue->places))
        resources_released(jni, state, one(queue->places), 0);
}

void queues_wait(JNIEnv *jni, jobject object, uint64_t carried, bool for_room, uint64_t limit_ns) {
    PROBED struct thread_state *state = probe_begin();
    if (!resources_may_wait(state) || state->asked) return;
    uint32_t slot = slot_of(jni, state, object, carried, 0);
    if (slot && for_room) slot = places_of(jni, state, object, slot);
    if (!slot) return;
    struct wanted wanted = one(slot);
    wanted.limit_ns = limit_ns;
    wanted.way = WAIT_QUEUE;
    resources_wait(jni, state, wanted);
}

void queues_give_up(enum given_up why) {
    if (!resources_waits(WAIT_QUEUE)) return;
    PROBED struct thread_state *state = probe_begin();
    resources_give_up(state, why);
}
