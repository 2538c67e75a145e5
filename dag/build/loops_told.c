// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/loops_told.h"

#include "dag/build/builder.h"
#include "dag/build/cpu.h"
#include "dag/build/loops.h"
#include "tracefile/copy.h"

#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 256, PER_EVENT = 8, NAME_BYTES = 128 };

// A task, as it is handed over to a loop.
struct coming {
    uint64_t time_ns, task;
    uint32_t group;
};

struct telling {
    const struct loops *loops;
    struct trace_writer *writer;
    struct error *error;
    struct coming *comings;
    uint32_t coming_count, coming_capacity;
    bool no_memory;

    // of the stream that is told
    uint32_t thread, stream;
    uint32_t group;        // that the loop is of, 0: the thread is none
    uint32_t next;         // index of its next request
    uint64_t request;      // under way, 0 none
    uint64_t task;         // of a request, or around a hand-over; 0 none
    uint32_t depth;        // of other tasks under way
    uint32_t handing_over; // brackets that are open in `task`, where no request is
    uint64_t left_ns;      // when the request was left, if just now; 0: it is not
    bool works, retired, delayed;
    uint64_t told_ns, cpu; // of what was told last
    uint64_t selected_ns;  // when the latest select was over
    uint64_t delay_ns;     // that the thread had waited for a core, where `delayed`; not told yet
    struct event events[AT_ONCE * PER_EVENT];
    size_t count;
};

static void tell(struct telling *telling, uint64_t time_ns, enum event_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    telling->events[telling->count++] = (struct event){.kind = (uint8_t)kind, .time = time_ns, .operand = {a, b, c}};
}

static uint32_t group_of_pool(const struct loops *loops, uint64_t pool) {
    return pool < loops->trace->pool_count ? loops->pools[pool].group : 0;
}

// What names a loop's pool names its group's.
static struct event named_anew(const struct loops *loops, struct event event) {
    const bool first = event.kind >= EVENT_WORKER_BEGIN && event.kind <= EVENT_POOL_SHUTDOWN;
    const unsigned operand = first ? 0 : 2;
    if (!first && event.kind != EVENT_SPAWN_BEGIN) return event;
    const uint32_t group = group_of_pool(loops, event.operand[operand]);
    if (group) event.operand[operand] = group;
    return event;
}

static void copy(struct telling *telling, const struct event *event) {
    telling->events[telling->count++] = named_anew(telling->loops, *event);
    telling->told_ns = event->time;
    if (event_has_cpu(event->kind)) telling->cpu = event->operand[1];
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

// ---- A loop's tasks ------------------------------------------------------------------------------------------------

static bool is_inside(const struct telling *telling) {
    return telling->task || telling->depth > 0;
}

static void tell_idle(struct telling *telling, uint64_t time_ns) {
    if (!telling->works) tell(telling, time_ns, EVENT_WORKER_BEGIN, telling->group, 0, 0);
    telling->works = true;
    tell(telling, time_ns, EVENT_IDLE, telling->group, 0, 0);
}

static void tell_busy(struct telling *telling, uint64_t time_ns) {
    if (!telling->works) tell_idle(telling, time_ns);
    tell(telling, time_ns, EVENT_BUSY, telling->group, 0, 0);
    if (telling->delayed) tell(telling, time_ns, EVENT_RUN_DELAY, telling->delay_ns, 0, 0);
    telling->delayed = false;
}

static void begin_task(struct telling *telling, uint64_t begin_ns, uint64_t came_ns) {
    if (!GROW(telling->comings, telling->coming_count, telling->coming_capacity)) {
        telling->no_memory = true;
        return;
    }
    telling->task = telling->loops->highest + 1 + telling->coming_count;
    telling->comings[telling->coming_count++] = (struct coming){
        .time_ns = came_ns < begin_ns ? came_ns : begin_ns, .task = telling->task, .group = telling->group};
    tell_busy(telling, begin_ns);
    tell(telling, begin_ns, EVENT_TASK_START, telling->task, telling->cpu, 0);
}

static void end_task(struct telling *telling, uint64_t time_ns) {
    tell(telling, time_ns, EVENT_TASK_END, telling->task, telling->cpu, TASK_RETURNED);
    telling->told_ns = time_ns;
    telling->task = telling->request = telling->left_ns = 0;
    if (telling->depth == 0) tell_idle(telling, time_ns);
}

static void begin_request(struct telling *telling, const struct event *event) {
    const struct loop_request *request = &telling->loops->requests[telling->next++];
    const uint64_t free_ns = later(telling->told_ns, request->found_ns);
    begin_task(telling, cpu_begin_ns(telling->loops->ns_per_cpu, event, telling->cpu, free_ns), request->came_ns);
    telling->request = request->id;
}

static bool begins_request(const struct telling *telling, const struct event *event) {
    const struct loops *loops = telling->loops;
    return event->kind == EVENT_REQUEST_BEGIN && telling->next < loops->request_count &&
           loops->requests[telling->next].stream == telling->stream &&
           loops->requests[telling->next].id == event->operand[0];
}

// ---- A loop's events -----------------------------------------------------------------------------------------------

static void tell_task(struct telling *telling, const struct event *event) {
    const bool starts = event->kind == EVENT_TASK_START;
    if (starts && !is_inside(telling)) tell_busy(telling, event->time);
    copy(telling, event);
    if (starts)
        telling->depth++;
    else if (telling->depth && --telling->depth == 0 && !telling->task)
        tell_idle(telling, event->time);
}

// Of the request under way: it ends with its answer, or where it is left and not taken up again at once.
static void look_at_end(struct telling *telling, const struct event *event) {
    if (!telling->request || telling->request != event->operand[0]) return;
    if (event->kind == EVENT_REQUEST_END) end_task(telling, event->time);
    if (event->kind == EVENT_REQUEST_LEFT) telling->left_ns = event->time;
}

static void tell_inside(struct telling *telling, const struct event *event) {
    copy(telling, event);
    telling->handing_over += event->kind == EVENT_SPAWN_BEGIN;
    if (event->kind == EVENT_SPAWN_END && telling->handing_over > 0 && --telling->handing_over == 0 && telling->task &&
        !telling->request)
        end_task(telling, event->time);
    else
        look_at_end(telling, event);
}

// Between tasks: what others may wait for is told.
static void tell_between(struct telling *telling, const struct event *event) {
    switch (event->kind) {
    case EVENT_SPAWN_BEGIN:
        begin_task(telling, event->time, telling->selected_ns);
        tell_inside(telling, event);
        return;
    case EVENT_RUN_DELAY:
        telling->delay_ns = event->operand[0];
        telling->delayed = true;
        return;
    case EVENT_TASK_CREATED:
    case EVENT_RESULT:
    case EVENT_REQUEST_NAMED:
    case EVENT_REQUEST_END:
        copy(telling, event);
        return;
    default:
        return;
    }
}

static void tell_of_loop(struct telling *telling, const struct event *event) {
    const bool resumed = event->kind == EVENT_REQUEST_RESUMED && event->operand[0] == telling->request;
    if (telling->left_ns && !resumed) end_task(telling, telling->left_ns);
    telling->left_ns = 0;
    switch (event->kind) {
    case EVENT_BUSY:
        telling->selected_ns = event->time;
        return;
    case EVENT_IDLE:
        return;
    case EVENT_WORKER_BEGIN:
        if (telling->works) return;
        copy(telling, event);
        telling->works = true;
        tell_idle(telling, event->time);
        return;
    case EVENT_RETIRE:
        telling->retired = true;
        copy(telling, event);
        return;
    case EVENT_THREAD_START:
        copy(telling, event);
        return;
    case EVENT_TASK_START:
    case EVENT_TASK_END:
        tell_task(telling, event);
        return;
    default:
        break;
    }
    if (begins_request(telling, event) && !telling->task) begin_request(telling, event);
    if (is_inside(telling))
        tell_inside(telling, event);
    else
        tell_between(telling, event);
}

// ---- All threads ---------------------------------------------------------------------------------------------------

static bool is_of_body(const struct telling *telling, const struct event *event) {
    const bool of_task =
        event->kind == EVENT_TASK_START || event->kind == EVENT_TASK_END || event->kind == EVENT_RESULT;
    return of_task && event->operand[0] == telling->loops->body_of[telling->stream];
}

static void tell_event(struct telling *telling, const struct event *event) {
    if (!telling->group || telling->retired) {
        copy(telling, event);
    } else if (!is_of_body(telling, event)) {
        tell_of_loop(telling, event);
    } else if (event->kind == EVENT_TASK_END && telling->task) {
        end_task(telling, event->time);
    }
}

static bool write_told(struct telling *telling) {
    const bool ok = !telling->no_memory && (telling->count == 0 || trace_write_events(telling->writer, telling->thread,
                                                                                      telling->events, telling->count));
    telling->count = 0;
    return ok;
}

static bool tell_stream(struct telling *telling, uint32_t stream) {
    const struct loops *loops = telling->loops;
    struct trace_cursor cursor;
    struct event events[AT_ONCE - 1];
    telling->thread = loops->trace->streams[stream].id;
    telling->stream = stream;
    telling->group = loops->pools[loops->pool_of[stream]].group;
    telling->request = telling->task = telling->left_ns = telling->selected_ns = 0;
    telling->depth = telling->handing_over = 0;
    telling->works = telling->retired = telling->delayed = false;
    telling->told_ns = telling->cpu = 0;
    while (telling->next < loops->request_count && loops->requests[telling->next].stream < stream) telling->next++;
    trace_cursor_init(&cursor, loops->trace, &loops->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, AT_ONCE - 1, telling->error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) tell_event(telling, &events[i]);
        if (!write_told(telling)) return false;
    }
    return telling->error->status == STATUS_OK;
}

// ---- Clients -------------------------------------------------------------------------------------------------------

static int by_group_and_time(const void *a, const void *b) {
    const struct coming *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static bool hand_over(struct telling *telling, const struct coming *comings, uint32_t count) {
    const uint32_t site = telling->loops->trace->site_count;
    const struct trace_thread thread = {.name = "clients of event loops", .flags = THREAD_DAEMON | THREAD_SYSTEM};
    bool ok = trace_write_thread(telling->writer, ++telling->thread, &thread);
    for (uint32_t i = 0; ok && i < count; i++) {
        tell(telling, comings[i].time_ns, EVENT_SPAWN_BEGIN, comings[i].task, site, comings[i].group);
        tell(telling, comings[i].time_ns, EVENT_SPAWN_END, comings[i].task, SPAWN_ACCEPTED, 0);
        if (telling->count + 2 > AT_ONCE) ok = write_told(telling);
    }
    return ok && write_told(telling);
}

static bool tell_clients(struct telling *telling) {
    const struct trace *trace = telling->loops->trace;
    bool ok = true;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id > telling->thread) telling->thread = trace->streams[s].id;
    }
    qsort(telling->comings, telling->coming_count, sizeof *telling->comings, by_group_and_time);
    for (uint32_t begin = 0, end; ok && begin < telling->coming_count; begin = end) {
        const uint32_t group = telling->comings[begin].group;
        for (end = begin; end < telling->coming_count && telling->comings[end].group == group;) end++;
        ok = hand_over(telling, telling->comings + begin, end - begin);
    }
    return ok;
}

// ---- The trace -----------------------------------------------------------------------------------------------------

static bool write_groups(struct telling *telling) {
    const struct loops *loops = telling->loops;
    static const struct trace_site site = {
        .class_name = "(event loop)", .method = "select", .bci = -1, .of_library = true};
    bool ok = trace_write_sites(telling->writer, loops->trace->site_count, &site, 1);
    for (uint32_t p = 1; ok && p < loops->trace->pool_count; p++) {
        struct trace_pool pool = loops->trace->pools[p];
        if (!loops->pools[p].group) continue;
        if (loops->pools[p].group == p) {
            pool.core = pool.maximum = (int32_t)loops->pools[p].loops;
            pool.flags |= POOL_EVENT_LOOPS;
        } else {
            pool.name = NULL; // it has nothing to do any more, and shares no name
        }
        ok = trace_write_pool(telling->writer, p, &pool);
    }
    return ok;
}

static bool write_all(struct telling *telling, const struct trace *trace) {
    bool ok = trace_copy_all_but_events(telling->writer, trace) && write_groups(telling);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = tell_stream(telling, s);
    return ok && tell_clients(telling) && (!trace->next || trace_write_next(telling->writer, trace->next));
}

static struct trace *tell_anew(const struct loops *loops, struct trace_memory *memory, struct error *error) {
    const struct trace *trace = loops->trace;
    struct error closing = ERROR_INIT;
    struct telling telling = {.loops = loops, .error = error};
    telling.writer = trace_writer_open_memory(memory, &trace->header, trace->version, error);
    bool written = false;
    if (telling.writer) {
        written = write_all(&telling, trace);
        if (!trace_copy_end(telling.writer, trace, &closing) && error->status == STATUS_OK) *error = closing;
    }
    free(telling.comings);
    if (!written && error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for event loops");
    return error->status == STATUS_OK ? trace_open_memory(trace->path, memory->bytes, memory->size, false, error)
                                      : NULL;
}

struct trace *loops_told(const struct trace *trace, struct trace_memory *memory, struct error *error) {
    struct loops loops;
    struct trace *told = NULL;
    if (loops_find(trace, &loops, error) && loops.any) told = tell_anew(&loops, memory, error);
    loops_destroy(&loops);
    return told;
}
