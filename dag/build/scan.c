// SPDX-License-Identifier: GPL-3.0-or-later
// The first decode: which ids are tasks of their own, which are folded into others, which threads are workers. All of
// it can depend on any other thread's events, so it must be known before the first vertex is laid.
#include "base/pages.h"
#include "dag/build/builder.h"
#include "dag/build/reader.h"
#include "dag/order.h"

#include <stdlib.h>
#include <string.h>

static struct sighting *sight_again(struct builder *builder, uint32_t index, uint64_t time_ns) {
    struct sighting *known = &builder->sightings[index];
    if (time_ns < known->first_ns) known->first_ns = time_ns;
    return known;
}

// `known`: what the batch found, which may have come up since. NULL: no memory.
static struct sighting *sight(struct builder *builder, uint64_t id, uint32_t known, uint64_t time_ns) {
    if (known != IDMAP_NONE) return sight_again(builder, known, time_ns);
    uint32_t *index = idpages_at(&builder->sighting_of_id, id);
    if (!index) return NULL;
    if (*index != IDMAP_NONE) return sight_again(builder, *index, time_ns);
    if (!GROW(builder->sightings, builder->sighting_count, builder->sighting_capacity)) return NULL;
    *index = builder->sighting_count++;
    struct sighting *sighting = &builder->sightings[*index];
    *sighting = (struct sighting){.id = id,
                                  .first_ns = time_ns,
                                  .created_on = DAG_NONE,
                                  .started_on = DAG_NONE,
                                  .run_on = DAG_NONE,
                                  .enclosing = DAG_NONE,
                                  .task = DAG_NONE,
                                  .spawn_begin = DAG_NONE};
    return sighting;
}

static bool scan_open(struct builder *builder, enum open_kind kind, struct sighting *sighting) {
    uint32_t index = (uint32_t)(sighting - builder->sightings);
    return open_push(&builder->open, (struct open_entry){.kind = (uint8_t)kind, .id = sighting->id, .sighting = index});
}

static void scan_close(struct builder *builder, enum open_kind kind, uint64_t id) {
    uint32_t depth = open_find(&builder->open, kind, id);
    if (depth) builder->open.depth = depth - 1;
}

static uint32_t innermost_body(const struct builder *builder) {
    for (uint32_t i = builder->open.depth; i--;) {
        if (builder->open.entries[i].kind == OPEN_BODY) return builder->open.entries[i].sighting;
    }
    return DAG_NONE;
}

// `seen`: how it is said.
static bool scan_start(struct builder *builder, uint32_t stream, struct sighting *sighting, uint16_t seen) {
    if (!(sighting->seen & (SEEN_START | SEEN_RUN | SEEN_MAIN | SEEN_OF_ACTOR))) {
        sighting->started_on = stream;
        sighting->enclosing = innermost_body(builder);
        if (!GROW(builder->starts, builder->start_count, builder->start_capacity)) return false;
        builder->starts[builder->start_count++] = (uint32_t)(sighting - builder->sightings);
    }
    sighting->seen |= seen;
    return scan_open(builder, OPEN_BODY, sighting);
}

// A FutureTask that a body makes, runs and asks for its result is that body's own code, wherever it is moved.
static bool takes_its_own(const struct builder *builder, uint32_t stream, const struct sighting *sighting) {
    return sighting->created_on == stream && sighting->started_on == stream && !(sighting->seen & SEEN_SPAWN) &&
           sighting->enclosing == innermost_body(builder);
}

// A thread that is made while a task is being handed over is made for that task, by its pool: its run() is no task.
static bool scan_spawn(struct builder *builder, struct sighting *sighting, uint64_t pool) {
    const struct open_stack *open = &builder->open;
    const struct open_entry *around = open->depth ? &open->entries[open->depth - 1] : NULL;
    if (around && around->kind == OPEN_BRACKET && around->id != sighting->id && pool == 0) {
        sighting->seen |= SEEN_IN_BRACKET;
    }
    sighting->seen |= SEEN_SPAWN;
    return scan_open(builder, OPEN_BRACKET, sighting);
}

// What many may give and each of them will do: a permit of a semaphore, a StampedLock.
static bool sleeps_for_permit(const struct trace *trace, const struct event *event) {
    static const char SEMAPHORE[] = "java.util.concurrent.Semaphore$";
    uint32_t class = wait_class_of(event->operand[2]);
    const char *name = class ? trace->classes[class].name : NULL;
    return name && (strncmp(name, SEMAPHORE, sizeof SEMAPHORE - 1) == 0 ||
                    strcmp(name, "java.util.concurrent.locks.StampedLock") == 0);
}

static bool sleeps_on_latch(const struct trace *trace, const struct event *event) {
    const uint32_t class = wait_class_of(event->operand[2]);
    return class && trace->classes[class].name &&
           strncmp(trace->classes[class].name, "java.util.concurrent.CountDownLatch", 35) == 0;
}

// The sender of a message, or the maker of an actor, is known by the thread; the class of what an actor is may be known
// only later.
static bool scan_of_actor(struct builder *builder, uint32_t stream, const struct event *event,
                          struct sighting *sighting) {
    switch (event->kind) {
    case EVENT_MESSAGE_SENT:
        sighting->task_class = message_class(event->operand[2]);
        if (message_origin(event->operand[2]) == MESSAGE_INTERNAL) sighting->seen |= SEEN_UPKEEP;
        break;
    case EVENT_ACTOR_CREATED:
        sighting->task_class = (uint32_t)event->operand[2];
        break;
    case EVENT_MESSAGE_BEGIN:
        return scan_start(builder, stream, sighting, SEEN_MESSAGE);
    case EVENT_INIT_BEGIN:
        return scan_start(builder, stream, sighting, SEEN_INIT);
    case EVENT_INIT_END:
        if (init_class(event->operand[2])) sighting->task_class = init_class(event->operand[2]);
        return true;
    default:
        break;
    }
    sighting->created_on = stream;
    return true;
}

static bool scan_sighting(struct builder *builder, uint32_t stream, const struct event *event,
                          struct sighting *sighting) {
    struct stream_facts *facts = &builder->streams[stream];
    switch (event->kind) {
    case EVENT_TASK_CREATED:
        if (event->operand[1] == 0 && sighting->created_on != DAG_NONE) break; // told more of where it is handed over
        sighting->created_on = stream;
        sighting->task_class = (uint32_t)event->operand[1];
        break;
    case EVENT_SPAWN_BEGIN:
        return scan_spawn(builder, sighting, event->operand[2]);
    case EVENT_TASK_START:
        return scan_start(builder, stream, sighting, SEEN_START);
    case EVENT_THREAD_START:
        sighting->run_on = stream;
        facts->run = (uint32_t)(sighting - builder->sightings);
        return scan_start(builder, stream, sighting, SEEN_RUN);
    case EVENT_MAIN_BEGIN:
        facts->has_main = true;
        return scan_start(builder, stream, sighting, SEEN_MAIN);
    case EVENT_RESULT:
        sighting->seen |= SEEN_RESULT;
        break;
    case EVENT_WAIT_BEGIN:
        if (sleeps_for_permit(builder->trace, event)) sighting->seen |= SEEN_PERMIT;
        if (sleeps_on_latch(builder->trace, event)) sighting->seen |= SEEN_LATCH;
        sighting->awaited++;
        break;
    case EVENT_TAKEN:
        if (takes_its_own(builder, stream, sighting))
            sighting->seen |= SEEN_TAKEN;
        else
            sighting->awaited++;
        break;
    default:
        return event->kind < EVENT_MESSAGE_SENT || scan_of_actor(builder, stream, event, sighting);
    }
    return true;
}

// What a thread makes in a row, and what it hands over behind that.
static bool scan_series(struct builder *builder, const struct event *event, struct sighting *sighting) {
    const bool makes = event->kind == EVENT_TASK_CREATED, hands_over = event->kind == EVENT_SPAWN_BEGIN;
    if (makes && !builder->makes) {
        if (!GROW(builder->series_sites, builder->series_count, builder->series_capacity)) return false;
        builder->series_sites[builder->series_count++] = 0;
    }
    if (makes) sighting->made_in = builder->series_count - 1;
    if (hands_over && builder->may_hand_over && builder->series_sites[builder->series_count - 1] == 0)
        builder->series_sites[builder->series_count - 1] = (uint32_t)event->operand[1];
    builder->may_hand_over = makes || (hands_over && builder->may_hand_over);
    builder->makes = makes;
    return true;
}

static bool names_task(const struct event *event) {
    switch (event->kind) {
    case EVENT_WAIT_BEGIN:
        return event->operand[0] != 0 &&
               (wait_for_of(event->operand[2]) == WAIT_FOR_TASK || wait_for_of(event->operand[2]) == WAIT_FOR_RELEASE);
    case EVENT_TASK_CREATED:
    case EVENT_SPAWN_BEGIN:
    case EVENT_TASK_START:
    case EVENT_RESULT:
    case EVENT_TAKEN:
    case EVENT_THREAD_START:
    case EVENT_MAIN_BEGIN:
    case EVENT_MESSAGE_SENT:
    case EVENT_MESSAGE_BEGIN:
    case EVENT_ACTOR_CREATED:
    case EVENT_INIT_BEGIN:
    case EVENT_INIT_END:
        break;
    case EVENT_MESSAGE_QUEUED: // once more, under another number; else it tells nothing new
        return event->operand[0] != 0 && event->operand[2] != event->operand[0];
    default:
        return false;
    }
    return event->operand[0] != 0;
}

// What a thread was in when it became a worker has the worker's loop in it, as Tomcat's Worker and what its thread
// factory wraps that in: no task, unless it was handed over.
static void scan_worker(struct builder *builder) {
    for (uint32_t i = 0; i < builder->open.depth; i++) {
        const struct open_entry *entry = &builder->open.entries[i];
        struct sighting *around = entry->kind == OPEN_BODY ? &builder->sightings[entry->sighting] : NULL;
        if (around && !(around->seen & (SEEN_SPAWN | SEEN_RUN | SEEN_MAIN | SEEN_OF_ACTOR)))
            around->kind = SIGHTING_WORKER;
    }
}

// Of a worker that acted before it was known to be one: it was at a task of which the trace tells no beginning, since
// that lay before recording's, and which ends here.
static void scan_at_work(struct builder *builder, const struct stream_facts *facts) {
    struct sighting *run = facts->run == DAG_NONE ? NULL : &builder->sightings[facts->run];
    if (!facts->acted || !run || run->seen & SEEN_MAIN || !trace_was_running(builder->trace, run->id)) return;
    run->seen = (uint16_t)((run->seen & ~SEEN_RUN) | SEEN_START | SEEN_AT_WORK);
    builder->open.depth = 0;
}

static bool acts(unsigned kind) {
    switch (kind) {
    case EVENT_SPAWN_BEGIN:
    case EVENT_RESULT:
    case EVENT_WAIT_BEGIN:
    case EVENT_TAKEN:
    case EVENT_BLOCK_BEGIN:
    case EVENT_ACQUIRE_BEGIN:
    case EVENT_HELD:
    case EVENT_RELEASED:
        return true;
    default:
        return false;
    }
}

// What a stream's last loss leaves in doubt.
struct loss {
    bool open;        // whether a worker was in another body behind it than before it
    uint64_t ordinal; // of its event
};

// What was lost may have ended brackets.
static void scan_lost(struct builder *builder, const struct stream_facts *facts, uint64_t ordinal, struct loss *loss) {
    struct open_stack *open = &builder->open;
    while (open->depth && open->entries[open->depth - 1].kind == OPEN_BRACKET) open->depth--;
    *loss = (struct loss){facts->is_worker, ordinal};
}

// A worker that begins something was in nothing.
static void scan_behind_loss(struct builder *builder, const struct event *event, struct loss *loss) {
    const bool begins = event->kind == EVENT_TASK_START || event->kind == EVENT_IDLE || event->kind == EVENT_RETIRE;
    if (!begins) return;
    loss->open = false;
    builder->open.depth = 0;
}

// Of a body whose beginning was lost it is known from here on where that was.
static bool scan_end(struct builder *builder, uint32_t stream, const struct event *event, uint32_t known,
                     struct loss *loss) {
    const uint64_t id = event->operand[0];
    const bool begun = open_find(&builder->open, OPEN_BODY, id), worker = loss->open && event->kind == EVENT_TASK_END;
    scan_close(builder, OPEN_BODY, id);
    if (builder->trace->lost_events == 0 || id == 0) return true;
    struct sighting *sighting = sight(builder, id, known, event->time);
    if (!sighting) return no_memory(builder);
    sighting->seen |= SEEN_END;
    loss->open = false;
    if (begun || !worker || sighting->seen & (SEEN_START | SEEN_RUN | SEEN_MAIN)) return true;
    builder->open.depth = 0;
    if (!GROW(builder->lost_starts, builder->lost_start_count, builder->lost_start_capacity)) return no_memory(builder);
    const uint32_t number = (uint32_t)(sighting - builder->sightings);
    builder->lost_starts[builder->lost_start_count++] = (struct lost_start){stream, number, loss->ordinal};
    if (!scan_start(builder, stream, sighting, SEEN_START)) return no_memory(builder);
    builder->open.depth = 0;
    return true;
}

static bool scan_event(struct builder *builder, uint32_t stream, const struct event *event, uint32_t known,
                       struct loss *loss) {
    struct stream_facts *facts = &builder->streams[stream];
    if (loss->open) scan_behind_loss(builder, event, loss);
    if (event->kind == EVENT_WORKER_BEGIN) {
        if (!facts->is_worker) {
            facts->pool = (uint32_t)event->operand[0];
            scan_at_work(builder, facts);
        }
        facts->is_worker = true;
        scan_worker(builder);
    }
    facts->acted |= !facts->is_worker && acts(event->kind);
    if (event_ends_body(event->kind) && !scan_end(builder, stream, event, known, loss)) return false;
    if (event->kind == EVENT_SPAWN_END) scan_close(builder, OPEN_BRACKET, event->operand[0]);
    if (!names_task(event)) return true;
    struct sighting *sighting = sight(builder, event->operand[0], known, event->time);
    if (!sighting || !scan_series(builder, event, sighting) || !scan_sighting(builder, stream, event, sighting))
        return no_memory(builder);
    return true;
}

static bool scan_stream(struct builder *builder, uint32_t stream) {
    struct event_reader reader;
    struct loss loss = {0};
    uint64_t first = 0;
    reader_begin(builder, &reader, stream);
    builder->open.depth = 0;
    builder->makes = builder->may_hand_over = false;
    for (const struct event_batch *batch; (batch = reader_next(builder, &reader)) != NULL; first += batch->count) {
        for (uint32_t i = 0; i < batch->count; i++) {
            const struct event *event = &batch->events[i];
            if (event->kind <= EVENT_EXIT_THROW) continue;
            if (event->kind == EVENT_LOST) scan_lost(builder, &builder->streams[stream], first + i, &loss);
            if (!scan_event(builder, stream, event, batch->sightings[i], &loss)) return false;
        }
    }
    return builder->error->status == STATUS_OK;
}

// A thread works for others if it says so, or if it was made while something else was being handed over.
static void classify_runs(struct builder *builder) {
    for (uint32_t s = 0; s < builder->trace->stream_count; s++) {
        struct stream_facts *facts = &builder->streams[s];
        if (facts->run == DAG_NONE) continue;
        struct sighting *run = &builder->sightings[facts->run];
        if (run->seen & SEEN_AT_WORK) run->own_task = true;
        if (run->seen & (SEEN_MAIN | SEEN_AT_WORK))
            continue; // main's thread starts, by the same id, before main is entered
        if (run->seen & SEEN_IN_BRACKET) facts->is_worker = true;
        bool system = builder->trace->streams[s].thread.flags & THREAD_SYSTEM;
        if (facts->is_worker || system || facts->has_main) {
            run->kind = SIGHTING_WORKER;
        } else {
            run->own_task = true;
        }
    }
}

static const struct sighting *enclosing_task(const struct builder *builder, const struct sighting *sighting) {
    while (sighting->enclosing != DAG_NONE) {
        sighting = &builder->sightings[sighting->enclosing];
        if (sighting->own_task) return sighting;
    }
    return NULL;
}

// What was never submitted but runs inside another task is part of it, unless a queue of the program's own brought it
// here from the thread that made it; that can be told only where the enclosing task is a thread's own loop.
static void classify_unsubmitted(struct builder *builder, struct sighting *sighting) {
    if (sighting->seen & SEEN_OF_ACTOR) {
        sighting->own_task = sighting->handed_over = true;
        return;
    }
    const struct sighting *around = enclosing_task(builder, sighting);
    bool from_elsewhere = sighting->created_on != DAG_NONE && sighting->created_on != sighting->started_on;
    bool in_loop = !around || around->seen & (SEEN_RUN | SEEN_MAIN);
    sighting->handed_over = from_elsewhere && in_loop;
    sighting->own_task = !around || sighting->handed_over;
}

static void find_queued(struct builder *builder) {
    const struct trace *trace = builder->trace;
    for (size_t i = 0; i < trace->queued_count; i++) {
        const struct trace_queued *queued = &trace->queued[i];
        uint32_t number;
        idpages_get_all(&builder->sighting_of_id, &queued->task, 1, &number);
        if (number == IDMAP_NONE) continue;
        struct sighting *sighting = &builder->sightings[number];
        sighting->queued_in = queued->pool;
        if (!sighting->task_class) sighting->task_class = queued->class;
    }
}

// The site of what was handed over behind the making of a body that was handed over to no pool; 0: none.
static uint32_t site_behind(const struct builder *builder, const struct sighting *sighting) {
    const bool submitted = sighting->seen & SEEN_SPAWN || sighting->created_on == DAG_NONE;
    return submitted || builder->series_count == 0 ? 0 : builder->series_sites[sighting->made_in];
}

// What a body makes, runs and takes the result of may be awaited elsewhere, where any free thread takes others of its
// kind (batches.c): some that were made before a spawn at the same site ran on other threads.
static bool keep_shared_out(struct builder *builder) {
    bool *shared_out = calloc(builder->trace->site_count + 1, sizeof *shared_out);
    if (!shared_out) return no_memory(builder);
    for (uint32_t i = 0; i < builder->sighting_count; i++) {
        const struct sighting *sighting = &builder->sightings[i];
        const bool ran = sighting->started_on != DAG_NONE && sighting->started_on != sighting->created_on;
        if (ran) shared_out[site_behind(builder, sighting)] = true;
    }
    for (uint32_t i = 0; i < builder->sighting_count; i++) {
        struct sighting *sighting = &builder->sightings[i];
        const uint32_t site = sighting->seen & SEEN_TAKEN ? site_behind(builder, sighting) : 0;
        sighting->awaited += site && shared_out[site];
    }
    free(shared_out);
    return true;
}

static void classify(struct builder *builder) {
    find_queued(builder);
    classify_runs(builder);
    for (uint32_t i = 0; i < builder->sighting_count; i++) {
        struct sighting *sighting = &builder->sightings[i];
        if (sighting->kind == SIGHTING_WORKER) {
            sighting->own_task = false; // where one id names two threads
            continue;
        }
        if (sighting->seen & SEEN_RUN && !(sighting->seen & SEEN_MAIN)) continue;
        bool started = sighting->seen & (SEEN_START | SEEN_MAIN);
        if (sighting->seen & SEEN_IN_BRACKET && !started)
            sighting->kind = SIGHTING_WORKER; // never seen alive
        else if (sighting->seen & (SEEN_SPAWN | SEEN_MAIN))
            sighting->own_task = true;
    }
    for (uint32_t i = 0; i < builder->start_count; i++) { // enclosing ones come before what they enclose
        struct sighting *sighting = &builder->sightings[builder->starts[i]];
        if (!sighting->own_task && sighting->kind != SIGHTING_WORKER) classify_unsubmitted(builder, sighting);
    }
    for (uint32_t i = 0; i < builder->sighting_count; i++) {
        struct sighting *sighting = &builder->sightings[i];
        bool known = sighting->seen & (SEEN_RESULT | SEEN_START) || sighting->queued_in;
        bool wanted = sighting->awaited && known;
        if (sighting->kind == SIGHTING_NONE && (sighting->own_task || wanted)) sighting->kind = SIGHTING_TASK;
    }
}

static uint16_t first_flags(const struct trace *trace, const struct sighting *sighting) {
    if (!sighting->own_task) return TASK_NESTED | (sighting->seen & SEEN_PERMIT ? TASK_PERMIT : 0);
    uint16_t flags = trace_was_running(trace, sighting->id) ? TASK_BEGUN_BEFORE : 0;
    if (sighting->seen & SEEN_MAIN) return flags | TASK_MAIN;
    if (sighting->seen & SEEN_MESSAGE) flags |= TASK_MESSAGE | (sighting->seen & SEEN_UPKEEP ? TASK_UPKEEP : 0);
    if (sighting->seen & SEEN_INIT) flags |= TASK_INIT;
    return flags | (sighting->seen & SEEN_RUN ? TASK_THREAD_RUN : 0) | (sighting->handed_over ? TASK_HANDED_OVER : 0);
}

static void make_task(const struct trace *trace, const struct sighting *sighting, struct dag_task *task) {
    *task = (struct dag_task){.id = sighting->id,
                              .site = DAG_NONE,
                              .context = DAG_NONE,
                              .task_class = sighting->task_class,
                              .pool = sighting->own_task ? 0 : sighting->queued_in,
                              .spawn_begin = DAG_NONE,
                              .spawn_end = DAG_NONE,
                              .spawner = DAG_NONE,
                              .thread = DAG_NONE,
                              .enclosing = DAG_NONE,
                              .pickup = DAG_NONE,
                              .start = DAG_NONE,
                              .end = DAG_NONE,
                              .tail = DAG_NONE,
                              .result = DAG_NONE,
                              .flags = first_flags(trace, sighting),
                              .awaited = sighting->awaited};
}

static uint32_t count_tasks(const struct builder *builder) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->sighting_count; i++) count += builder->sightings[i].kind == SIGHTING_TASK;
    return count;
}

// Keys, and the room that sorting them takes, lie at the end of the tasks' own memory, which as tasks are made from its
// beginning is overwritten where it is no longer needed: fresh memory costs as much as sorting.
static bool make_tasks(struct builder *builder) {
    _Static_assert(2 * sizeof(struct order_key) <= sizeof(struct dag_task), "there is room for both");
    struct dag *dag = builder->dag;
    uint32_t count = dag->task_count = count_tasks(builder), keys = 0;
    dag->tasks = ARENA_NEW(&dag->arena, struct dag_task, (size_t)count + 1);
    if (!dag->tasks) return no_memory(builder);
    struct order_key *order = (struct order_key *)&dag->tasks[count] - count;
    for (uint32_t i = 0; i < builder->sighting_count; i++) {
        const struct sighting *sighting = &builder->sightings[i];
        if (sighting->kind != SIGHTING_TASK) continue;
        order[keys++] = (struct order_key){(int64_t)sighting->first_ns, sighting->id, i};
    }
    order_sort_in(order, order - count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = order[i].item;
        builder->sightings[item].task = i;
        make_task(builder->trace, &builder->sightings[item], &dag->tasks[i]);
    }
    return true;
}

// As many as there are, as a rule: what is handed over, and threads. What is not filled takes no memory.
static bool reserve_sightings(struct builder *builder) {
    const uint64_t *events = builder->trace->events_of_kind;
    uint64_t count = 64 + events[EVENT_SPAWN_BEGIN] + events[EVENT_THREAD_START] + events[EVENT_MAIN_BEGIN] +
                     events[EVENT_MESSAGE_SENT] + events[EVENT_ACTOR_CREATED];
    builder->sightings = malloc(count * sizeof *builder->sightings);
    if (!builder->sightings || count > UINT32_MAX / 2) return no_memory(builder);
    pages_prefer_huge(builder->sightings, count * sizeof *builder->sightings);
    builder->sighting_capacity = (uint32_t)count;
    return true;
}

bool scan_trace(struct builder *builder) {
    const struct trace *trace = builder->trace;
    builder->streams = calloc((size_t)trace->stream_count + 1, sizeof *builder->streams);
    if (!builder->streams) return no_memory(builder);
    if (!reserve_sightings(builder)) return false;
    for (uint32_t s = 0; s < trace->stream_count; s++) builder->streams[s].run = DAG_NONE;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id != 0 && !scan_stream(builder, s)) return false;
    }
    if (!keep_shared_out(builder)) return false;
    classify(builder);
    return make_tasks(builder);
}
