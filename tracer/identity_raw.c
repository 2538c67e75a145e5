// SPDX-License-Identifier: Apache-2.0
// Tasks that are any Runnable's: known by their tags.
#include "tracer/identity_tags.h"

#include "tracer/identity.h"
#include "tracer/makers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pending_queue { // ids of one object handed over, or evaluated, several times
    size_t head, count, capacity;
    uint32_t maker; // of those that were evaluated
    uint64_t *ids;  // those that were not handed over yet have ONLY_CREATED, and stand behind all others; above an id
                    // there is the stage that it was put into
};

static const uint64_t ONLY_CREATED = (uint64_t)1 << 63;
enum { STAGE_AT = 40 };         // in a queue's ids; in a tag it is where else a site is
enum { EVALUATED_MOST = 4096 }; // of one object, and not begun

// To tag an object, and to take that away again, costs the JVM several times what a look does. A program that hands
// the same objects over again and again is found by giving one object in so many, when it begins, a queue, which stays
// till the object is collected.
enum { QUEUE_GIVEN_ONE_IN = 16, QUEUES_MOST = 4096 };
static _Atomic(uint32_t) queues; // of all objects

// Guards all tags of raw tasks: reading a tag and setting it must be one step. Held for two JVMTI calls, which is less
// than to fall asleep takes, so who finds it held spins first (the JVM's own lock, inside, would not).
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

static uint64_t id_in(uint64_t tag) {
    return tag >> 2 & CARRIED_ID;
}

// What is handed over may be a class, whose tag says another thing.
static bool is_class(uint64_t tag) {
    return tag != 0 && (tag & TAG_KIND) == TAG_CLASS;
}

static uint64_t stage_in(uint64_t tag) {
    return (tag & TAG_KIND) == TAG_PENDING ? tag >> TAG_SITE_AT : 0;
}

// As it is in a queue.
static uint64_t entry_of(const struct thread_state *state, uint64_t id) {
    return id | (uint64_t)(state->puts_into & CARRIED_SITE_MAX) << STAGE_AT;
}

static uint64_t pending_tag(const struct thread_state *state, uint64_t id) {
    return (uint64_t)(state->puts_into & CARRIED_SITE_MAX) << TAG_SITE_AT | id << 2 | TAG_PENDING;
}

static uint64_t created_tag(uint32_t maker, uint64_t id) {
    return (uint64_t)maker << TAG_SITE_AT | id << 2 | TAG_CREATED;
}

static uint32_t maker_in(uint64_t created) {
    return (uint32_t)(created >> TAG_SITE_AT);
}

void identity_created(jobject object, uint32_t maker, uint64_t id) {
    set_tag(object, created_tag(maker, id));
}

// What is handed over by the thread that made it, and made no other task since, would get its id now as well.
static void hand_over_at_once(const struct thread_state *state, uint32_t maker, uint64_t id) {
    if (id + 1 == state->native->next_task)
        makers_needless(maker);
    else
        makers_needed(maker);
}

static struct pending_queue *queue_in(uint64_t tag) {
    return (struct pending_queue *)(uintptr_t)(tag & ~(uint64_t)TAG_KIND);
}

static size_t queue_end(const struct pending_queue *queue) {
    return queue->head + queue->count;
}

static bool queue_push(struct pending_queue *queue, uint64_t id) {
    if (queue->head > 0 && queue_end(queue) == queue->capacity) {
        memmove(queue->ids, queue->ids + queue->head, queue->count * sizeof *queue->ids);
        queue->head = 0;
    }
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? queue->capacity * 2 : 8;
        uint64_t *grown = realloc(queue->ids, capacity * sizeof *grown);
        if (!grown) return false;
        queue->ids = grown;
        queue->capacity = capacity;
    }
    queue->ids[queue_end(queue)] = id;
    queue->count++;
    return true;
}

static void give_queue(jobject object, struct pending_queue *queue) {
    atomic_fetch_add_explicit(&queues, 1, memory_order_relaxed);
    set_tag(object, (uint64_t)(uintptr_t)queue | TAG_QUEUE);
}

static void free_queue(struct pending_queue *queue) {
    atomic_fetch_sub_explicit(&queues, 1, memory_order_relaxed);
    free(queue->ids);
    free(queue);
}

static bool queues_may_stay(void) {
    return atomic_load_explicit(&queues, memory_order_relaxed) <= QUEUES_MOST;
}

static bool add_pending(jobject object, uint64_t tag, uint64_t id) {
    struct pending_queue *queue = queue_in(tag);
    if ((tag & TAG_KIND) != TAG_QUEUE) {
        queue = calloc(1, sizeof *queue);
        if (!queue) return false;
        if ((tag & TAG_KIND) == TAG_CREATED) queue->maker = maker_in(tag);
        const uint64_t mark = (tag & TAG_KIND) == TAG_CREATED ? ONLY_CREATED : stage_in(tag) << STAGE_AT;
        if (!queue_push(queue, id_in(tag) | mark)) {
            free(queue);
            return false;
        }
        give_queue(object, queue);
    }
    return queue_push(queue, id);
}

// Whether the object's only id is of its making, as if that were its tag.
static bool has_only_created(const struct pending_queue *queue) {
    return queue->count == 1 && queue->ids[queue->head] & ONLY_CREATED;
}

// Where those begin that were only created; the queue's end: there are none.
static size_t first_created(const struct pending_queue *queue) {
    size_t at = queue->head;
    while (at < queue_end(queue) && !(queue->ids[at] & ONLY_CREATED)) at++;
    return at;
}

void identity_wrapped(const struct thread_state *state, jobject object) {
    if (state->native->made_last + 1 != state->native->next_task) return;
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    const struct pending_queue *queue = (tag & TAG_KIND) == TAG_QUEUE ? queue_in(tag) : NULL;
    if ((tag & TAG_KIND) == TAG_CREATED && id_in(tag) == state->native->made_last) makers_needless(maker_in(tag));
    if (queue && has_only_created(queue) && (queue->ids[queue->head] & ~ONLY_CREATED) == state->native->made_last)
        makers_needless(queue->maker);
    pthread_mutex_unlock(&lock);
}

// An id that was created but not handed over is what is handed over now.
static uint64_t hand_over_created(const struct thread_state *state, struct pending_queue *queue) {
    size_t at = first_created(queue);
    if (at == queue_end(queue)) return 0;
    bool alone = has_only_created(queue);
    const uint64_t id = queue->ids[at] & CARRIED_ID;
    queue->ids[at] = entry_of(state, id);
    if (alone) hand_over_at_once(state, queue->maker, id);
    return id;
}

uint64_t identity_spawn(struct thread_state *state, jobject object, bool *is_new) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = 0;
    if ((tag & TAG_KIND) == TAG_CREATED) {
        set_tag(object, pending_tag(state, id = id_in(tag)));
        hand_over_at_once(state, maker_in(tag), id);
    }
    if ((tag & TAG_KIND) == TAG_QUEUE) id = hand_over_created(state, queue_in(tag));
    *is_new = !id;
    if (*is_new) {
        id = task_id_new(state);
        if (tag == 0)
            set_tag(object, pending_tag(state, id));
        else if (!is_class(tag))
            add_pending(object, tag, entry_of(state, id));
    }
    pthread_mutex_unlock(&lock);
    return id;
}

// Ids that were only created stand behind all others.
static void move_before_created(struct pending_queue *queue) {
    for (size_t at = queue_end(queue) - 1; at > queue->head && queue->ids[at - 1] & ONLY_CREATED; at--) {
        uint64_t created = queue->ids[at - 1];
        queue->ids[at - 1] = queue->ids[at];
        queue->ids[at] = created;
    }
}

void identity_hand_over(jobject object, uint64_t id) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    if (tag == 0)
        set_tag(object, id << 2 | TAG_PENDING);
    else if (add_pending(object, tag, id))
        move_before_created(queue_in(tag_of(object)));
    pthread_mutex_unlock(&lock);
}

uint64_t identity_evaluated(struct thread_state *state, jobject object, uint32_t maker) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = 0;
    bool many = (tag & TAG_KIND) == TAG_QUEUE && queue_in(tag)->count >= EVALUATED_MOST;
    if (many) makers_needless(maker);
    if (!many) id = task_id_new(state);
    if ((tag & TAG_KIND) == TAG_QUEUE && queue_in(tag)->count == 0) queue_in(tag)->maker = maker;
    if (tag == 0)
        set_tag(object, created_tag(maker, id));
    else if (!many && !add_pending(object, tag, id | ONLY_CREATED))
        id = 0;
    pthread_mutex_unlock(&lock);
    return id;
}

static uint64_t take_at(jobject object, struct pending_queue *queue, size_t at) {
    uint64_t id = queue->ids[at] & CARRIED_ID;
    memmove(queue->ids + queue->head + 1, queue->ids + queue->head, (at - queue->head) * sizeof *queue->ids);
    queue->head++;
    if (--queue->count == 0 && !queues_may_stay()) {
        free_queue(queue);
        set_tag(object, 0);
    }
    return id;
}

// The first that was put into the stage, or else not told into which.
static size_t first_of_stage(const struct pending_queue *queue, uint32_t stage) {
    size_t untold = queue_end(queue);
    for (size_t at = queue->head; at < queue_end(queue); at++) {
        const uint64_t put_into = queue->ids[at] >> STAGE_AT & CARRIED_SITE_MAX;
        if (put_into == (stage & CARRIED_SITE_MAX)) return at;
        if (put_into == 0 && untold == queue_end(queue)) untold = at;
    }
    return untold;
}

static uint64_t take_pending(jobject object, uint64_t tag, uint32_t stage) {
    struct pending_queue *queue = queue_in(tag);
    const size_t at = stage ? first_of_stage(queue, stage) : queue->head;
    if (at == queue_end(queue)) return 0;
    if (queue->ids[at] & ONLY_CREATED) makers_needed(queue->maker);
    return take_at(object, queue, at);
}

// Of an object that was handed over, and is not any more.
static void forget_pending(jobject object) {
    static uint32_t begun;
    bool gives = begun++ % QUEUE_GIVEN_ONE_IN == 0 && queues_may_stay();
    struct pending_queue *queue = gives ? calloc(1, sizeof *queue) : NULL;
    if (queue)
        give_queue(object, queue);
    else
        set_tag(object, 0);
}

static uint64_t take_up(jobject object, uint32_t stage) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = id_in(tag);
    const uint64_t put_into = stage_in(tag);
    if ((tag & TAG_KIND) == TAG_QUEUE) {
        id = take_pending(object, tag, stage);
    } else if (stage && put_into && put_into != (stage & CARRIED_SITE_MAX)) {
        id = 0;
    } else if ((tag & TAG_KIND) == TAG_CREATED) {
        makers_needed(maker_in(tag));
        set_tag(object, 0);
    } else if (is_class(tag)) {
        id = 0;
    } else if (tag != 0) {
        forget_pending(object);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

uint64_t identity_begin(jobject object) {
    return take_up(object, 0);
}

uint64_t identity_take(jobject object, uint32_t stage) {
    return take_up(object, stage);
}

static uint64_t last_handed_over(const struct pending_queue *queue) {
    size_t created = first_created(queue);
    return created > queue->head ? queue->ids[created - 1] & CARRIED_ID : 0;
}

uint64_t identity_last_pending(jobject object) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = 0;
    if ((tag & TAG_KIND) == TAG_QUEUE)
        id = last_handed_over(queue_in(tag));
    else if ((tag & TAG_KIND) == TAG_PENDING)
        id = id_in(tag);
    pthread_mutex_unlock(&lock);
    return id;
}

uint64_t identity_take_created(const struct thread_state *state, jobject object) {
    if (tag_of(object) == 0) return 0; // as a rule
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    uint64_t id = (tag & TAG_KIND) == TAG_CREATED ? id_in(tag) : 0;
    if (id) {
        hand_over_at_once(state, maker_in(tag), id);
        set_tag(object, 0);
    }
    struct pending_queue *queue = (tag & TAG_KIND) == TAG_QUEUE ? queue_in(tag) : NULL;
    size_t at = queue ? first_created(queue) : 0;
    if (queue && at < queue_end(queue)) {
        if (has_only_created(queue)) hand_over_at_once(state, queue->maker, queue->ids[at] & ~ONLY_CREATED);
        id = take_at(object, queue, at);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

void identity_freed(uint64_t tag) {
    if ((tag & TAG_KIND) == TAG_CREATED) makers_needless(maker_in(tag));
    if ((tag & TAG_KIND) != TAG_QUEUE) return;
    struct pending_queue *queue = queue_in(tag);
    if (has_only_created(queue)) makers_needless(queue->maker);
    free_queue(queue);
}

void identity_set_pending(jobject object, uint64_t id, uint32_t site) {
    uint64_t kept = site <= CARRIED_SITE_MAX ? site : 0;
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    if ((tag & TAG_KIND) == TAG_QUEUE) free_queue(queue_in(tag));
    set_tag(object, kept << TAG_SITE_AT | id << 2 | TAG_PENDING);
    pthread_mutex_unlock(&lock);
}

uint64_t identity_take_pending(jobject object, uint32_t *site) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    bool pending = (tag & TAG_KIND) == TAG_PENDING;
    if (pending) set_tag(object, 0);
    pthread_mutex_unlock(&lock);
    *site = pending ? (uint32_t)(tag >> TAG_SITE_AT) : 0;
    return pending ? id_in(tag) : 0;
}

uint64_t identity_of_thread(jobject thread) {
    uint64_t tag = tag_of(thread);
    return (tag & TAG_KIND) == TAG_PENDING ? id_in(tag) : 0; // handed over as a mere Runnable it may have a queue
}

void identity_set_thread(jobject thread, uint64_t id) {
    identity_set_pending(thread, id, 0);
}
