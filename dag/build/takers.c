// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/takers.h"

#include "dag/build/builder.h"
#include "dag/build/ids.h"
#include "dag/dag.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, SERVED_MOST = 8, TAKES_EACH = 3, RETURNS_OF = 10, UNKNOWN_OF = 10, LOOKS_IN = 2 };

// Clocks of two cores may differ by so much: a put may seem later than its take.
static const uint64_t SKEW_NS = 50000;

// ---- Queues --------------------------------------------------------------------------------------------------------

// First in, first out, and recorded under the queue's own lock, so that the order of the events is that of the
// elements.
static bool is_in_order(const struct trace *trace, const struct trace_resource *resource) {
    const char *class = resource->class < trace->class_count ? trace->classes[resource->class].name : NULL;
    return resource->kind == RESOURCE_QUEUE && class &&
           (strcmp(class, "java.util.concurrent.ArrayBlockingQueue") == 0 ||
            strcmp(class, "java.util.concurrent.LinkedBlockingDeque") == 0 ||
            strcmp(class, "java.util.concurrent.LinkedBlockingQueue") == 0);
}

static bool list_queues(struct takers *takers) {
    const struct trace *trace = takers->trace;
    for (size_t i = 0; i < trace->resource_count; i++) takers->queue_count += is_in_order(trace, &trace->resources[i]);
    takers->queues = calloc((size_t)takers->queue_count + 1, sizeof *takers->queues);
    takers->serves = malloc(((size_t)trace->stream_count + 1) * sizeof *takers->serves);
    takers->given = calloc((size_t)trace->pool_count + 1, sizeof *takers->given);
    takers->workers = calloc((size_t)trace->pool_count + 1, sizeof *takers->workers);
    if (!takers->queues || !takers->serves || !takers->given || !takers->workers) return false;
    uint32_t count = 0;
    for (size_t i = 0; i < trace->resource_count; i++) {
        if (is_in_order(trace, &trace->resources[i])) takers->queues[count++].id = trace->resources[i].id;
    }
    for (uint32_t s = 0; s < trace->stream_count; s++) takers->serves[s] = UINT32_MAX;
    return true;
}

bool takers_is_loop(const struct takers *takers, uint64_t task) {
    const uint32_t queue = takers->loops.count ? idmap_get(&takers->loops, task) : IDMAP_NONE;
    return queue != IDMAP_NONE && takers->queues[queue].pool;
}

bool takers_is_pool(const struct takers *takers, uint32_t pool) {
    for (uint32_t q = 0; q < takers->queue_count; q++) {
        if (takers->queues[q].pool == pool) return true;
    }
    return false;
}

uint32_t takers_queue(const struct takers *takers, const struct event *event) {
    if (event->kind < EVENT_ACQUIRE_BEGIN || event->kind > EVENT_RELEASED) return UINT32_MAX;
    uint32_t low = 0, high = takers->queue_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (takers->queues[middle].id < event->operand[0])
            low = middle + 1;
        else
            high = middle;
    }
    return low < takers->queue_count && takers->queues[low].id == event->operand[0] ? low : UINT32_MAX;
}

// ---- What a thread does --------------------------------------------------------------------------------------------

struct served {
    uint32_t queue, asks, takes, puts; // asks: waits and takes
};

// A stream, as it is read.
struct looking {
    struct takers *takers;
    uint32_t stream, bodies, brackets; // open: tasks in the thread's loop, hand-overs
    uint32_t pool;                     // that the thread works for, 0 none
    uint64_t loop;                     // task that it runs for it, 0 none yet
    uint32_t take;                     // its last, index into passages; UINT32_MAX: none since it asked
    bool runs;                         // it is a thread of the program's own
    bool others;                       // ... that works for others, or acts where it is in no task
    bool idle;                         // it took nothing yet, or a take got nothing
    bool took;                         // it took something
    bool began_before;                 // its loop did, before the recording
    struct served served[SERVED_MOST];
    uint32_t served_count;
};

static bool others_see(unsigned kind) {
    switch (kind) {
    case EVENT_SPAWN_BEGIN:
    case EVENT_RESULT:
    case EVENT_WAIT_BEGIN:
    case EVENT_POOL_SHUTDOWN:
    case EVENT_REQUEST_BEGIN:
    case EVENT_REQUEST_END:
        return true;
    default:
        return false;
    }
}

// How many bodies are open in the thread's loop itself.
static uint32_t in_loop(const struct looking *looking) {
    return looking->pool ? 1 : 0;
}

static struct served *served_by(struct looking *looking, uint32_t queue) {
    for (uint32_t i = 0; i < looking->served_count; i++) {
        if (looking->served[i].queue == queue) return &looking->served[i];
    }
    if (looking->served_count == SERVED_MOST) return NULL;
    looking->served[looking->served_count] = (struct served){.queue = queue};
    return &looking->served[looking->served_count++];
}

static bool add_passage(struct takers *takers, struct passage passage) {
    if (!GROW(takers->passages, takers->passage_count, takers->passage_capacity)) return false;
    takers->passages[takers->passage_count++] = passage;
    return true;
}

// Inside a hand-over it is the executor's.
static void count_passage(struct looking *looking, uint32_t queue, enum passage_kind kind) {
    struct taken_queue *of = &looking->takers->queues[queue];
    struct served *served = served_by(looking, queue);
    const bool aside = looking->bodies != in_loop(looking) || looking->brackets;
    if (!served || (kind != PASSAGE_PUT && aside)) {
        of->foreign = true;
        return;
    }
    served->asks += kind != PASSAGE_PUT;
    served->takes += kind == PASSAGE_TAKE;
    served->puts += kind == PASSAGE_PUT;
    of->takes += kind == PASSAGE_TAKE;
    of->puts += kind == PASSAGE_PUT;
}

static bool look_at_queue(struct looking *looking, uint32_t queue, const struct event *event) {
    static const int kind_of[] = {
        [EVENT_ACQUIRE_BEGIN - EVENT_ACQUIRE_BEGIN] = PASSAGE_WAIT,
        [EVENT_ACQUIRED - EVENT_ACQUIRE_BEGIN] = PASSAGE_TAKE,
        [EVENT_GIVEN_UP - EVENT_ACQUIRE_BEGIN] = NOBODY,
        [EVENT_HELD - EVENT_ACQUIRE_BEGIN] = PASSAGE_TAKE,
        [EVENT_RELEASED - EVENT_ACQUIRE_BEGIN] = PASSAGE_PUT,
    };
    const int kind = kind_of[event->kind - EVENT_ACQUIRE_BEGIN];
    if (kind != PASSAGE_PUT) {
        looking->idle = kind != PASSAGE_TAKE;
        looking->took |= !looking->idle;
        looking->take = looking->idle ? UINT32_MAX : looking->takers->passage_count;
    }
    if (kind == NOBODY) return true;
    count_passage(looking, queue, (enum passage_kind)kind);
    return add_passage(
        looking->takers,
        (struct passage){.time_ns = event->time, .stream = looking->stream, .queue = queue, .kind = (uint8_t)kind});
}

// A worker's first task may be a loop that takes; with a second one, it is not its whole life.
static void look_at_body(struct looking *looking, uint64_t id) {
    if (looking->pool && looking->bodies == 0) {
        looking->others |= looking->loop != 0;
        looking->began_before = trace_was_running(looking->takers->trace, id);
        looking->takers->given[looking->pool] += looking->began_before;
        looking->loop = id;
    }
    struct passage *take = looking->take == UINT32_MAX ? NULL : &looking->takers->passages[looking->take];
    if (looking->bodies++ == in_loop(looking) && take && !take->body) take->body = id;
}

static void look_at_thread(struct looking *looking, const struct event *event) {
    switch (event->kind) {
    case EVENT_THREAD_START:
        looking->runs = event->operand[0] != 0;
        looking->began_before = trace_was_running(looking->takers->trace, event->operand[0]);
        break;
    case EVENT_TASK_START:
        look_at_body(looking, event->operand[0]);
        break;
    case EVENT_MESSAGE_BEGIN:
    case EVENT_INIT_BEGIN:
        looking->bodies++;
        break;
    case EVENT_TASK_END:
    case EVENT_MESSAGE_END:
    case EVENT_INIT_END:
        if (looking->bodies) looking->bodies--;
        break;
    case EVENT_SPAWN_BEGIN:
        looking->brackets++;
        break;
    case EVENT_SPAWN_END:
        if (looking->brackets) looking->brackets--;
        break;
    case EVENT_WORKER_BEGIN:
        looking->others |= looking->pool != 0 || looking->bodies != 0;
        looking->pool = (uint32_t)event->operand[0];
        looking->takers->workers[looking->pool]++;
        break;
    case EVENT_MAIN_BEGIN:
    case EVENT_MOUNT:
        looking->others = true;
        break;
    default:
        break;
    }
}

static bool remember(struct idmap *ids, uint64_t id) {
    return idmap_get(ids, id) != IDMAP_NONE || idmap_add(ids, id, 0);
}

// What becomes of tasks that executors have.
static bool look_at_task(struct takers *takers, const struct event *event) {
    const uint64_t id = event->operand[0];
    switch (event->kind) {
    case EVENT_SPAWN_BEGIN:
        takers->given[event->operand[2]]++;
        return remember(&takers->submitted, id);
    case EVENT_TAKEN:
        return remember(&takers->asked, id);
    case EVENT_WAIT_BEGIN:
        return wait_for_of(event->operand[2]) != WAIT_FOR_TASK || !id || remember(&takers->asked, id);
    default:
        return true;
    }
}

static bool look_at_event(struct looking *looking, const struct event *event) {
    struct takers *takers = looking->takers;
    takers->highest = ids_highest(event, takers->highest);
    if (!look_at_task(takers, event)) return false;
    look_at_thread(looking, event);
    const uint32_t queue = takers_queue(takers, event);
    if (queue != UINT32_MAX && !look_at_queue(looking, queue, event)) return false;
    const bool puts = queue != UINT32_MAX && event->kind == EVENT_RELEASED;
    const bool ends_loop = event->kind == EVENT_RESULT && looking->loop && event->operand[0] == looking->loop;
    const bool acts = looking->idle && !ends_loop && (puts || others_see(event->kind));
    const bool may_be_at_one = looking->began_before && !looking->took; // that it took before the recording
    if (acts && !may_be_at_one) looking->others = true;
    return true;
}

static bool may_serve(const struct looking *looking) {
    const struct trace *trace = looking->takers->trace;
    const char *kind = looking->pool ? trace->pools[looking->pool].kind : NULL;
    const bool in_pool = kind && strstr(kind, "ThreadPoolExecutor") && !strstr(kind, "Scheduled") && looking->loop;
    const bool counts = !(trace->streams[looking->stream].thread.flags & (THREAD_SYSTEM | THREAD_VIRTUAL));
    return looking->runs && !looking->others && counts && (!looking->pool || in_pool);
}

// The thread serves the queue from which it takes most. false: no memory.
static bool settle(struct looking *looking) {
    const bool serves = may_serve(looking);
    const struct served *most = NULL;
    for (uint32_t i = 0; i < looking->served_count; i++) {
        const struct served *served = &looking->served[i];
        if (served->asks == 0) continue;
        struct taken_queue *queue = &looking->takers->queues[served->queue];
        queue->foreign |= !serves || (queue->takers && queue->runs_in != looking->pool);
        queue->runs_in = looking->pool;
        queue->takers++;
        queue->busy += served->takes > 0;
        queue->stream = looking->stream;
        queue->returns += served->puts;
        if (!most || served->takes > most->takes) most = served;
    }
    for (uint32_t i = 0; i < looking->served_count; i++) {
        if (looking->served[i].asks && &looking->served[i] != most)
            looking->takers->queues[looking->served[i].queue].foreign = true;
    }
    if (!most || !serves) return true;
    looking->takers->serves[looking->stream] = most->queue;
    return !looking->pool || idmap_add(&looking->takers->loops, looking->loop, most->queue);
}

static bool look_at_stream(struct takers *takers, uint32_t stream, struct error *error) {
    struct looking looking = {.takers = takers, .stream = stream, .idle = true, .take = UINT32_MAX};
    struct trace_cursor cursor;
    struct event events[64];
    trace_cursor_init(&cursor, takers->trace, &takers->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, 64, error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            if (!look_at_event(&looking, &events[i])) return error_set(error, STATUS_FAILED, "no memory for queues");
        }
    }
    if (!settle(&looking)) return error_set(error, STATUS_FAILED, "no memory for queues");
    return error->status == STATUS_OK;
}

// ---- Which put brought what ----------------------------------------------------------------------------------------

// By queue, time and, of what seems to be at once, kind: a put comes before its take.
static int by_queue_and_time(const void *a, const void *b) {
    const struct passage *x = *(const struct passage *const *)a, *y = *(const struct passage *const *)b;
    if (x->queue != y->queue) return x->queue < y->queue ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

// Passages of one queue, in order of time.
struct matching {
    struct passage **passages;
    uint32_t count, put;     // `put`: the oldest whose element was not taken yet; count: none
    uint32_t before;         // elements that lay there before the first event, and are not taken yet
    uint32_t waits, emptied; // how often a thread waited; took the last element
    uint32_t unknown;        // takes whose put is not on record
};

static void next_put(struct matching *matching, uint32_t from) {
    matching->put = from;
    while (matching->put < matching->count && matching->passages[matching->put]->kind != PASSAGE_PUT) matching->put++;
}

static bool was_put_by(const struct matching *matching, uint64_t time_ns) {
    return matching->put < matching->count && matching->passages[matching->put]->time_ns <= time_ns;
}

// The id of what was taken. false: no memory.
static bool name_task(struct takers *takers, struct passage *take) {
    const bool its_own = take->body && idmap_get(&takers->submitted, take->body) == IDMAP_NONE;
    if (!its_own) take->body = 0;
    take->task = its_own ? take->body : ++takers->highest;
    return !its_own || remember(&takers->submitted, take->body);
}

// So many more were taken than put by the first wait, at which the queue is empty; without a wait, the most at any
// time.
static uint32_t count_before(const struct matching *matching) {
    int64_t missing = 0, most = 0;
    for (uint32_t i = 0; i < matching->count && matching->passages[i]->kind != PASSAGE_WAIT; i++) {
        missing += matching->passages[i]->kind == PASSAGE_TAKE ? 1 : -1;
        if (missing > most) most = missing;
    }
    return (uint32_t)most;
}

static bool match_take(struct takers *takers, struct matching *matching, struct passage *take) {
    if (!name_task(takers, take)) return false;
    if (matching->before) {
        matching->before--;
        return true;
    }
    if (!was_put_by(matching, take->time_ns + SKEW_NS)) {
        matching->unknown++;
        return true;
    }
    matching->passages[matching->put]->task = take->task;
    next_put(matching, matching->put + 1);
    matching->emptied += !was_put_by(matching, take->time_ns);
    return true;
}

// The queue was empty: what was put by then, and is not taken, was taken unseen.
static void match_wait(struct matching *matching, uint64_t time_ns) {
    matching->waits++;
    while (time_ns > SKEW_NS && was_put_by(matching, time_ns - SKEW_NS)) next_put(matching, matching->put + 1);
}

// false: no memory.
static bool match(struct takers *takers, struct matching *matching) {
    bool ok = true;
    matching->before = takers->began_late ? count_before(matching) : 0;
    next_put(matching, 0);
    for (uint32_t i = 0; ok && i < matching->count; i++) {
        struct passage *passage = matching->passages[i];
        if (passage->kind == PASSAGE_WAIT)
            match_wait(matching, passage->time_ns);
        else if (passage->kind == PASSAGE_TAKE)
            ok = match_take(takers, matching, passage);
    }
    return ok;
}

// Takes that left as little in the queue as any did.
static uint32_t count_lowest(const struct matching *matching) {
    int64_t level = 0, lowest = INT64_MAX;
    uint32_t count = 0;
    for (uint32_t i = 0; i < matching->count; i++) {
        const bool takes = matching->passages[i]->kind == PASSAGE_TAKE;
        level += takes ? -1 : matching->passages[i]->kind == PASSAGE_PUT;
        if (!takes || level > lowest) continue;
        count = level < lowest ? 1 : count + 1;
        lowest = level;
    }
    return count;
}

// Threads that find the queue empty, and never wait for what comes next, have something else to do between two looks.
// Where the recording began late, how much lay in it is not known without a wait: what was left least is none.
static bool only_look_in(const struct takers *takers, const struct matching *matching,
                         const struct taken_queue *queue) {
    if (matching->waits > 0) return false;
    const uint32_t emptied = takers->began_late ? count_lowest(matching) : matching->emptied;
    return emptied > queue->busy + LOOKS_IN || 2 * emptied > queue->takes;
}

// Whether the pool has nothing to do but these loops.
static bool has_loops_alone(const struct takers *takers, const struct taken_queue *queue) {
    const uint32_t pool = queue->runs_in;
    return !pool || (takers->given[pool] == queue->takers && takers->workers[pool] == queue->takers);
}

static bool is_stage(const struct takers *takers, const struct taken_queue *queue) {
    return !queue->foreign && queue->busy && queue->takes >= TAKES_EACH * queue->busy &&
           queue->returns * RETURNS_OF < queue->takes && has_loops_alone(takers, queue);
}

// A queue that much of what is taken was not seen to be put into is left as it is.
static bool match_queue(struct takers *takers, struct passage **passages, uint32_t count) {
    struct taken_queue *queue = &takers->queues[passages[0]->queue];
    struct matching matching = {.passages = passages, .count = count};
    if (!is_stage(takers, queue)) return true;
    if (!match(takers, &matching)) return false;
    if ((uint64_t)matching.unknown * UNKNOWN_OF >= queue->takes || only_look_in(takers, &matching, queue)) return true;
    queue->pool = queue->runs_in ? queue->runs_in : takers->trace->pool_count + takers->added++;
    takers->stages++;
    return true;
}

// A loop whose result is asked for is a task of its own.
static void leave_asked(struct takers *takers) {
    for (size_t i = 0; i < takers->loops.capacity; i++) {
        const struct idmap_slot *loop = &takers->loops.slots[i];
        if (loop->value != IDMAP_NONE && idmap_get(&takers->asked, loop->key) != IDMAP_NONE)
            takers->queues[loop->value].foreign = true;
    }
}

static bool match_all(struct takers *takers) {
    struct passage **order = malloc(((size_t)takers->passage_count + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < takers->passage_count; i++) order[i] = &takers->passages[i];
    qsort(order, takers->passage_count, sizeof *order, by_queue_and_time);
    bool ok = true;
    for (uint32_t begin = 0, end; ok && begin < takers->passage_count; begin = end) {
        for (end = begin; end < takers->passage_count && order[end]->queue == order[begin]->queue;) end++;
        ok = match_queue(takers, order + begin, end - begin);
    }
    free(order);
    return ok;
}

bool takers_find(const struct trace *trace, struct takers *takers, struct error *error) {
    *takers =
        (struct takers){.trace = trace, .began_late = dag_ran_before(trace), .highest = ids_highest_of_tables(trace)};
    if (!list_queues(takers)) return error_set(error, STATUS_FAILED, "no memory for queues");
    if (takers->queue_count == 0) return true;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (!look_at_stream(takers, s, error)) return false;
    }
    leave_asked(takers);
    return match_all(takers) || error_set(error, STATUS_FAILED, "no memory for queues");
}

void takers_destroy(struct takers *takers) {
    free(takers->queues);
    free(takers->passages);
    free(takers->serves);
    free(takers->given);
    free(takers->workers);
    idmap_destroy(&takers->asked);
    idmap_destroy(&takers->loops);
    idmap_destroy(&takers->submitted);
}
