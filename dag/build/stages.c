// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/stages.h"

#include "dag/build/takers.h"
#include "tracefile/copy.h"

#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 256, PER_EVENT = 5, NAME_BYTES = 128 };

struct boundary {
    uint64_t time_ns, cpu;
};

// A stream, as it is told anew.
struct telling {
    const struct takers *takers;
    struct trace_writer *writer;
    struct error *error;
    uint32_t thread, stream;
    uint32_t passage;          // the stream's next
    uint32_t pool;             // that its thread serves, 0 none
    bool works;                // it has begun to serve
    bool idle;                 // ... and has asked
    bool limits;               // the event before said how long the thread would wait
    uint64_t task;             // under way, 0 none
    uint64_t body;             // ... which is that of the body with this id; 0: it has none, or that has ended
    uint64_t outcome;          // ... and how it ended
    struct boundary measured;  // last
    struct trace_cursor ahead; // up to the boundary that comes next
    struct boundary next;      // time 0: there is none any more
    struct event events[AT_ONCE * PER_EVENT];
    size_t count;
};

// ---- The pool ------------------------------------------------------------------------------------------------------

// pricer of pricer-1; nothing of Thread-1.
static size_t prefix_of(const char *name) {
    size_t length = strlen(name);
    while (length && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
    while (length && strchr("-_ #.:", name[length - 1])) length--;
    return length == strlen("Thread") && strncmp(name, "Thread", length) == 0 ? 0 : length;
}

// As all its threads are named without the number, or else as the queue is.
static const char *name_stage(const struct takers *takers, uint32_t queue, char *text) {
    const struct trace *trace = takers->trace;
    const char *first = trace->streams[takers->queues[queue].stream].thread.name;
    const size_t length = first ? prefix_of(first) : 0;
    const struct trace_resource *resource = trace_resource(trace, takers->queues[queue].id);
    bool same = length > 0 && length < NAME_BYTES;
    for (uint32_t s = 0; same && s < trace->stream_count; s++) {
        const char *name = trace->streams[s].thread.name;
        if (takers->serves[s] != queue) continue;
        same = name && prefix_of(name) == length && strncmp(name, first, length) == 0;
    }
    if (!same) return resource ? resource->name : NULL;
    snprintf(text, NAME_BYTES, "%.*s", (int)length, first);
    return text;
}

static bool write_pools(const struct takers *takers, struct trace_writer *writer) {
    const struct trace *trace = takers->trace;
    bool ok = true;
    for (uint32_t q = 0; ok && q < takers->queue_count; q++) {
        const struct taken_queue *queue = &takers->queues[q];
        const struct trace_resource *resource = trace_resource(trace, queue->id);
        char text[NAME_BYTES];
        if (!queue->pool || !resource) continue;
        const struct trace_pool *known = queue->runs_in ? &trace->pools[queue->runs_in] : NULL;
        ok = trace_write_pool(
            writer, queue->pool,
            &(struct trace_pool){.kind = known ? known->kind : trace->classes[resource->class].name,
                                 .queue = trace->classes[resource->class].name,
                                 .name = known && known->name ? known->name : name_stage(takers, q, text),
                                 .core = (int32_t)queue->takers,
                                 .maximum = (int32_t)queue->takers,
                                 .capacity = -1,
                                 .keep_alive_ns = -1,
                                 .flags = POOL_STAGE});
    }
    return ok;
}

// ---- Events --------------------------------------------------------------------------------------------------------

static void tell(struct telling *telling, uint64_t time_ns, enum event_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    telling->events[telling->count++] = (struct event){.kind = (uint8_t)kind, .time = time_ns, .operand = {a, b, c}};
}

// Of the boundary after a time.
static bool look_ahead(struct telling *telling, uint64_t time_ns) {
    struct event event;
    while (telling->next.time_ns <= time_ns && telling->next.time_ns) {
        telling->next = (struct boundary){0, 0};
        while (trace_cursor_next(&telling->ahead, &event, telling->error)) {
            if (!event_has_cpu(event.kind) || event.time <= time_ns) continue;
            telling->next = (struct boundary){event.time, event.operand[1]};
            break;
        }
    }
    return telling->error->status == STATUS_OK;
}

static uint64_t cpu_at(struct telling *telling, uint64_t time_ns) {
    const struct boundary *before = &telling->measured, *after = &telling->next;
    if (!look_ahead(telling, time_ns) || !after->time_ns || after->cpu <= before->cpu) return before->cpu;
    const double share = (double)(time_ns - before->time_ns) / (double)(after->time_ns - before->time_ns);
    return before->cpu + (uint64_t)(share * (double)(after->cpu - before->cpu));
}

static void end_task(struct telling *telling, uint64_t time_ns, uint64_t cpu) {
    if (telling->task) tell(telling, time_ns, EVENT_TASK_END, telling->task, cpu, telling->outcome);
    telling->task = telling->body = 0;
}

// The thread asks for the next element; what it was at is over.
static void ask(struct telling *telling, uint64_t time_ns, uint64_t cpu) {
    if (!telling->works) tell(telling, time_ns, EVENT_WORKER_BEGIN, telling->pool, 0, 0);
    end_task(telling, time_ns, cpu);
    if (!telling->idle) tell(telling, time_ns, EVENT_IDLE, telling->pool, 0, 0);
    telling->works = telling->idle = true;
}

static void take(struct telling *telling, const struct passage *passage, uint64_t cpu) {
    ask(telling, passage->time_ns, cpu);
    tell(telling, passage->time_ns, EVENT_BUSY, telling->pool, 0, 0);
    tell(telling, passage->time_ns, EVENT_TASK_START, passage->task, cpu, 0);
    telling->idle = false;
    telling->task = passage->task;
    telling->body = passage->body;
    telling->outcome = TASK_RETURNED;
}

static void put(struct telling *telling, const struct passage *passage, const struct event *event, uint32_t pool) {
    if (!passage->task) return;
    tell(telling, event->time, EVENT_SPAWN_BEGIN, passage->task, want_site(event->operand[1]), pool);
    tell(telling, event->time, EVENT_SPAWN_END, passage->task, SPAWN_ACCEPTED, 0);
}

// The limit was of a wait that is told no more.
static void drop_limit(struct telling *telling) {
    if (telling->limits && telling->count) telling->count--;
}

static void tell_of_queue(struct telling *telling, uint32_t queue, const struct event *event) {
    const uint32_t pool = telling->takers->queues[queue].pool;
    if (event->kind == EVENT_GIVEN_UP) return;
    const struct passage *passage = &telling->takers->passages[telling->passage++];
    switch (event->kind) {
    case EVENT_ACQUIRE_BEGIN:
        drop_limit(telling);
        ask(telling, event->time, event->operand[1]);
        break;
    case EVENT_ACQUIRED:
        take(telling, passage, event->operand[1]);
        break;
    case EVENT_HELD:
        take(telling, passage, cpu_at(telling, event->time));
        break;
    default:
        put(telling, passage, event, pool);
    }
}

// Whether the event begins or ends the body that the task under way is, from its take to the next.
static bool is_of_body(struct telling *telling, const struct event *event) {
    if (!telling->body || event->operand[0] != telling->body) return false;
    if (event->kind != EVENT_TASK_START && event->kind != EVENT_TASK_END) return false;
    if (event->kind == EVENT_TASK_END) {
        telling->outcome = event->operand[2];
        telling->body = 0;
    }
    return true;
}

// What a worker of a stage's pool does as one, but its loop: it begins, and leaves or waits when that is over.
static bool is_of_worker(struct telling *telling, const struct event *event) {
    switch (event->kind) {
    case EVENT_WORKER_BEGIN:
        telling->works = true;
        return false;
    case EVENT_IDLE:
        if (telling->idle) return true;
        telling->idle = true;
        return false;
    case EVENT_BUSY:
        return true;
    default:
        return false;
    }
}

// The loop that a worker of a stage's pool runs is no task, and the pool is not shut down: it ends with what is put
// last.
static bool is_of_loop(struct telling *telling, const struct event *event) {
    switch (event->kind) {
    case EVENT_TASK_CREATED:
    case EVENT_SPAWN_BEGIN:
    case EVENT_SPAWN_END:
    case EVENT_RESULT:
    case EVENT_TASK_START:
        return takers_is_loop(telling->takers, event->operand[0]);
    case EVENT_TASK_END:
        if (!takers_is_loop(telling->takers, event->operand[0])) return false;
        end_task(telling, event->time, event->operand[1]);
        return true;
    case EVENT_POOL_SHUTDOWN:
        return takers_is_pool(telling->takers, (uint32_t)event->operand[0]);
    default:
        return telling->pool && is_of_worker(telling, event);
    }
}

static void tell_event(struct telling *telling, const struct event *event) {
    const struct takers *takers = telling->takers;
    const uint32_t queue = takers_queue(takers, event);
    const bool told_anew = queue != UINT32_MAX && takers->queues[queue].pool;
    if (queue != UINT32_MAX && !told_anew && event->kind != EVENT_GIVEN_UP) telling->passage++;
    if (event->kind == EVENT_THREAD_END && telling->works) {
        end_task(telling, event->time, event->operand[1]);
        if (!takers->queues[takers->serves[telling->stream]].runs_in)
            tell(telling, event->time, EVENT_RETIRE, telling->pool, 0, 0);
    }
    if (told_anew)
        tell_of_queue(telling, queue, event);
    else if (!is_of_body(telling, event) && !is_of_loop(telling, event))
        telling->events[telling->count++] = *event;
    telling->limits = event->kind == EVENT_LIMIT;
    if (event_has_cpu(event->kind)) telling->measured = (struct boundary){event->time, event->operand[1]};
}

// An event that says how long a thread waits stays with the wait.
static bool write_told(struct telling *telling, bool all) {
    const size_t kept = !all && telling->limits && telling->count ? 1 : 0, count = telling->count - kept;
    const bool ok = count == 0 || trace_write_events(telling->writer, telling->thread, telling->events, count);
    if (kept) telling->events[0] = telling->events[count];
    telling->count = kept;
    return ok;
}

static bool tell_stream(struct telling *telling, const struct trace *trace, uint32_t stream) {
    const uint32_t serves = telling->takers->serves[stream];
    struct trace_cursor cursor;
    struct event events[AT_ONCE - 1];
    telling->thread = trace->streams[stream].id;
    telling->pool = serves == UINT32_MAX ? 0 : telling->takers->queues[serves].pool;
    telling->stream = stream;
    telling->works = telling->idle = telling->limits = false;
    telling->task = telling->body = 0;
    telling->measured = (struct boundary){0, 0};
    telling->next = (struct boundary){1, 0};
    trace_cursor_init(&telling->ahead, trace, &trace->streams[stream]);
    trace_cursor_init(&cursor, trace, &trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, AT_ONCE - 1, telling->error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) tell_event(telling, &events[i]);
        if (!write_told(telling, false)) return false;
    }
    return write_told(telling, true) && telling->error->status == STATUS_OK;
}

// ---- The trace -----------------------------------------------------------------------------------------------------

static bool write_all(struct telling *telling, const struct trace *trace) {
    bool ok = trace_copy_all_but_events(telling->writer, trace) && write_pools(telling->takers, telling->writer);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = tell_stream(telling, trace, s);
    return ok && (!trace->next || trace_write_next(telling->writer, trace->next));
}

static struct trace *tell_anew(const struct takers *takers, struct trace_memory *memory, struct error *error) {
    const struct trace *trace = takers->trace;
    struct error closing = ERROR_INIT;
    struct telling telling = {.takers = takers, .error = error};
    telling.writer = trace_writer_open_memory(memory, &trace->header, trace->version, error);
    if (!telling.writer) return NULL;
    const bool written = write_all(&telling, trace), closed = trace_copy_end(telling.writer, trace, &closing);
    if (!closed && error->status == STATUS_OK) *error = closing;
    if (!written && error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for stages of pipelines");
    return error->status == STATUS_OK ? trace_open_memory(trace->path, memory->bytes, memory->size, false, error)
                                      : NULL;
}

struct trace *stages_told(const struct trace *trace, struct trace_memory *memory, struct error *error) {
    struct takers takers;
    struct trace *told = NULL;
    if (takers_find(trace, &takers, error) && takers.stages) told = tell_anew(&takers, memory, error);
    takers_destroy(&takers);
    return told;
}
