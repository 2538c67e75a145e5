// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/served.h"

#include "dag/build/cpu.h"
#include "dag/build/serving.h"
#include "tracefile/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NO_CPU: so far a thread that only looks has computed; 0 would be unknown.
enum { AT_ONCE = 256, PER_EVENT = 6, NAME_BYTES = 128, NO_CPU = 1 };

// A request, as it is handed over.
struct coming {
    uint64_t time_ns, task;
    uint32_t pool, site;
};

struct telling {
    const struct serving *serving;
    struct trace_writer *writer;
    struct error *error;
    struct coming *comings; // a request each; pool 0: it is told as it was

    // of the stream that is told
    uint32_t thread, stream;
    uint32_t pool;    // that serves in turns and that the thread works for, 0 none
    uint32_t next;    // index of its next request
    uint32_t request; // under way, or SERVING_NONE
    uint64_t task;    // ... and the task that it is of, or goes on with; 0 none
    uint64_t before;  // turn that was under way as recording began, and is told up to its first request; 0 none
    uint32_t depth;   // of other tasks under way that are told
    bool works, measured, delayed;
    uint64_t holder;       // task under way that holds the thread as long as the pool serves; 0 none
    uint64_t told_ns, cpu; // of what was told last
    uint64_t delay_ns;     // that the thread had waited for a core, where `delayed`; not told yet
    struct event events[AT_ONCE * PER_EVENT];
    size_t count;
};

static void tell(struct telling *telling, uint64_t time_ns, enum event_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    telling->events[telling->count++] = (struct event){.kind = (uint8_t)kind, .time = time_ns, .operand = {a, b, c}};
}

static bool is_inside(const struct telling *telling) {
    return telling->task || telling->depth > 0;
}

static void copy(struct telling *telling, const struct event *event) {
    telling->events[telling->count++] = *event;
    telling->told_ns = event->time;
    if (event_has_cpu(event->kind)) telling->cpu = event->operand[1];
}

// ---- A thread of such a pool ---------------------------------------------------------------------------------------

static void tell_idle(struct telling *telling, uint64_t time_ns) {
    if (!telling->works) tell(telling, time_ns, EVENT_WORKER_BEGIN, telling->pool, 0, 0);
    telling->works = true;
    tell(telling, time_ns, EVENT_IDLE, telling->pool, 0, 0);
}

static void tell_busy(struct telling *telling, uint64_t time_ns) {
    if (!telling->works) tell_idle(telling, time_ns);
    tell(telling, time_ns, EVENT_BUSY, telling->pool, 0, 0);
    if (telling->delayed) tell(telling, time_ns, EVENT_RUN_DELAY, telling->delay_ns, 0, 0);
    telling->delayed = false;
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

// The task begins so much before its request as the thread has computed since it had done with what was told before.
static uint64_t begin_of(const struct telling *telling, uint64_t before_ns, const struct event *event) {
    return cpu_begin_ns(telling->serving->ns_per_cpu, event, telling->cpu, later(telling->told_ns, before_ns));
}

static void end_before(struct telling *telling, uint64_t time_ns, uint64_t cpu) {
    tell(telling, time_ns, EVENT_TASK_END, telling->before, cpu, TASK_RETURNED);
    telling->before = 0;
    if (--telling->depth == 0) tell_idle(telling, time_ns);
}

static void begin_task(struct telling *telling, const struct event *event) {
    const struct serving *serving = telling->serving;
    const struct serving_request *request = &serving->requests[telling->next];
    const uint64_t begin_ns = begin_of(telling, request->before_ns, event);
    if (telling->before) end_before(telling, begin_ns, telling->cpu);
    telling->task = serving->highest + 1 + telling->next;
    tell_busy(telling, begin_ns);
    tell(telling, begin_ns, EVENT_TASK_START, telling->task, telling->cpu, 0);
    telling->comings[telling->next] =
        (struct coming){.time_ns = request->came_ns < begin_ns ? later(request->came_ns, request->before_ns) : begin_ns,
                        .task = telling->task,
                        .pool = telling->pool,
                        .site = request->turn == SERVING_NONE ? 0 : serving->turns[request->turn].site};
}

static void end_task(struct telling *telling, uint64_t time_ns, uint64_t cpu, enum task_outcome outcome) {
    tell(telling, time_ns, EVENT_TASK_END, telling->task, cpu, outcome);
    telling->request = SERVING_NONE;
    telling->task = 0;
    if (telling->depth == 0) tell_idle(telling, time_ns);
}

// Whether the thread goes on with the connection whose request it has answered.
static bool goes_on(const struct telling *telling) {
    const struct serving *serving = telling->serving;
    const struct serving_request *next = &serving->requests[telling->next];
    return telling->next < serving->request_count && next->stream == telling->stream && next->goes_on;
}

// What ends elsewhere was left, and ends here as far as this thread goes.
static void end_request(struct telling *telling, const struct event *event) {
    const bool ended = event->kind == EVENT_REQUEST_END;
    const bool failed = ended && event->operand[2] == REQUEST_FAILED;
    telling->request = SERVING_NONE;
    if (!goes_on(telling))
        end_task(telling, event->time, ended ? event->operand[1] : telling->cpu, failed ? TASK_THREW : TASK_RETURNED);
}

static bool is_answer(const struct telling *telling, const struct event *event) {
    const bool ends = event->kind == EVENT_REQUEST_END || event->kind == EVENT_REQUEST_LEFT;
    return ends && telling->request != SERVING_NONE &&
           telling->serving->requests[telling->request].id == event->operand[0];
}

static void tell_task(struct telling *telling, const struct event *event) {
    const bool starts = event->kind == EVENT_TASK_START;
    if (starts && !is_inside(telling)) tell_busy(telling, event->time);
    copy(telling, event);
    if (starts && telling->depth == 0) {
        const struct serving_turn *turn = serving_turn(telling->serving, event->operand[0]);
        telling->holder = turn && serving_holds_thread(telling->serving, turn) ? turn->id : 0;
    }
    if (starts)
        telling->depth++;
    else if (telling->depth && --telling->depth == 0 && !telling->task)
        tell_idle(telling, event->time);
    if (!starts && event->operand[0] == telling->holder) telling->holder = 0;
}

static bool begins_request(const struct telling *telling, const struct event *event) {
    const struct serving *serving = telling->serving;
    return event->kind == EVENT_REQUEST_BEGIN && telling->next < serving->request_count &&
           serving->requests[telling->next].stream == telling->stream &&
           serving->requests[telling->next].id == event->operand[0];
}

// Acceptors take turns by a lock, which one of them has while it sleeps in accept, also when the recording ends: which
// of them would have it in another run says nothing.
static bool is_lock_of_acceptor(const struct telling *telling, const struct event *event) {
    if (!telling->holder || event->kind < EVENT_ACQUIRE_BEGIN || event->kind > EVENT_RELEASED) return false;
    const struct trace_resource *of = trace_resource(telling->serving->trace, event->operand[0]);
    return of && of->kind <= RESOURCE_READ_WRITE_LOCK;
}

static void tell_of_worker(struct telling *telling, const struct event *event) {
    if (is_lock_of_acceptor(telling, event)) return;
    switch (event->kind) {
    case EVENT_IDLE:
    case EVENT_BUSY:
        if (event->operand[0] != telling->pool) copy(telling, event);
        return;
    case EVENT_WORKER_BEGIN:
        copy(telling, event);
        if (event->operand[0] == telling->pool && !telling->works) {
            telling->works = true;
            tell_idle(telling, event->time);
        }
        return;
    case EVENT_THREAD_START:
    case EVENT_THREAD_END:
    case EVENT_RETIRE:
        copy(telling, event);
        return;
    case EVENT_TASK_START:
    case EVENT_TASK_END:
        tell_task(telling, event);
        return;
    default:
        break;
    }
    const bool begins = begins_request(telling, event), answers = is_answer(telling, event);
    if (begins && !telling->task) begin_task(telling, event);
    if (begins) telling->request = telling->next++;
    if (is_inside(telling)) {
        copy(telling, event);
    } else if (event->kind == EVENT_RUN_DELAY) {
        telling->delay_ns = event->operand[0];
        telling->delayed = true;
    }
    if (answers) end_request(telling, event);
}

// ---- All threads ---------------------------------------------------------------------------------------------------

// What becomes of a turn that is told no more; roots are still handed over.
static bool is_of_plumbing(const struct telling *telling, const struct event *event) {
    switch (event->kind) {
    case EVENT_TASK_CREATED:
    case EVENT_SPAWN_BEGIN:
    case EVENT_SPAWN_END:
    case EVENT_TASK_START:
    case EVENT_TASK_END:
    case EVENT_RESULT:
        break;
    default:
        return false;
    }
    const struct serving_turn *turn = serving_turn(telling->serving, event->operand[0]);
    if (!turn || !turn->is_plumbing) return false;
    const bool runs = event->kind == EVENT_TASK_START || event->kind == EVENT_TASK_END || event->kind == EVENT_RESULT;
    return runs || !serving_is_root(turn);
}

// A request whose answer is not on record ends with its turn. What was under way as recording began may have been one:
// it had what it gives back.
static void tell_of_plumbing(struct telling *telling, const struct event *event) {
    const bool starts = event->kind == EVENT_TASK_START, ends = event->kind == EVENT_TASK_END;
    if (starts && telling->depth == 0 && trace_was_running(telling->serving->trace, event->operand[0])) {
        tell_task(telling, event);
        telling->before = event->operand[0];
    } else if (ends && event->operand[0] == telling->before) {
        end_before(telling, event->time, event->operand[1]);
    } else if (ends && telling->task && telling->depth == 0) {
        end_task(telling, event->time, event->operand[1], TASK_RETURNED);
    }
}

static void tell_event(struct telling *telling, const struct event *event) {
    if (!telling->measured && event_has_cpu(event->kind)) {
        telling->cpu = event->operand[1];
        telling->told_ns = event->time;
        telling->measured = true;
    }
    if (is_of_plumbing(telling, event)) {
        tell_of_plumbing(telling, event);
        return;
    }
    if (telling->pool)
        tell_of_worker(telling, event);
    else
        copy(telling, event);
}

static bool write_told(struct telling *telling) {
    const bool ok =
        telling->count == 0 || trace_write_events(telling->writer, telling->thread, telling->events, telling->count);
    telling->count = 0;
    return ok;
}

// It ends as the task does that looks for requests, where the recording ends first.
static void end_holder(struct telling *telling) {
    const uint64_t end_ns = later(telling->serving->pools[telling->pool].last_ns, telling->told_ns);
    tell(telling, end_ns, EVENT_TASK_END, telling->holder, telling->cpu, TASK_RETURNED);
}

static bool tell_stream(struct telling *telling, uint32_t stream) {
    const struct serving *serving = telling->serving;
    const struct trace *trace = serving->trace;
    const uint32_t pool = serving->pool_of[stream];
    struct trace_cursor cursor;
    struct event events[AT_ONCE - 1];
    telling->thread = trace->streams[stream].id;
    telling->stream = stream;
    telling->pool = serving->pools[pool].in_turns ? pool : 0;
    telling->request = SERVING_NONE;
    telling->task = telling->before = 0;
    telling->depth = 0;
    telling->works = telling->measured = telling->delayed = false;
    telling->holder = 0;
    telling->told_ns = telling->cpu = 0;
    while (telling->next < serving->request_count && serving->requests[telling->next].stream < stream) telling->next++;
    trace_cursor_init(&cursor, trace, &trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, AT_ONCE - 1, telling->error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) tell_event(telling, &events[i]);
        if (!write_told(telling)) return false;
    }
    if (telling->holder && !trace_was_running(trace, telling->holder)) end_holder(telling);
    return telling->error->status == STATUS_OK && write_told(telling);
}

// ---- The task that looks for requests -------------------------------------------------------------------------------

static int by_pool_and_time(const void *a, const void *b) {
    const struct coming *x = a, *y = b;
    if (x->pool != y->pool) return x->pool < y->pool ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

// A thread that looks for requests, from a time on. false: the writer failed.
static bool begin_looker(struct telling *telling, uint32_t pool, uint64_t task, uint64_t start_ns) {
    const struct trace_pool *of = &telling->serving->trace->pools[pool];
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s (looks for requests)", of->name ? of->name : "pool");
    telling->thread++;
    tell(telling, start_ns, EVENT_WORKER_BEGIN, pool, 0, 0);
    tell(telling, start_ns, EVENT_IDLE, pool, 0, 0);
    tell(telling, start_ns, EVENT_BUSY, pool, 0, 0);
    tell(telling, start_ns, EVENT_TASK_START, task, NO_CPU, 0);
    return trace_write_thread(telling->writer, telling->thread,
                              &(struct trace_thread){.name = name, .flags = THREAD_DAEMON}) &&
           write_told(telling);
}

// It ends with the pool's last turn.
static bool end_looker(struct telling *telling, uint32_t pool, uint64_t task, uint64_t last_ns) {
    const uint64_t end_ns = later(telling->serving->pools[pool].last_ns, last_ns);
    tell(telling, end_ns, EVENT_TASK_END, task, NO_CPU, TASK_RETURNED);
    return write_told(telling);
}

static bool hand_over(struct telling *telling, const struct coming *comings, uint32_t count, uint64_t *last_ns) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (comings[i].time_ns > *last_ns) *last_ns = comings[i].time_ns;
        tell(telling, *last_ns, EVENT_SPAWN_BEGIN, comings[i].task, comings[i].site, comings[i].pool);
        tell(telling, *last_ns, EVENT_SPAWN_END, comings[i].task, SPAWN_ACCEPTED, 0);
        if (telling->count + 2 > AT_ONCE) ok = write_told(telling);
    }
    return ok;
}

// The first of a pool's hands all its requests over: which of several found one is not on record.
static bool tell_looker(struct telling *telling, const struct coming *comings, uint32_t count, uint64_t task,
                        uint64_t start_ns) {
    const uint32_t pool = comings[0].pool;
    uint64_t last_ns = start_ns < comings[0].time_ns ? start_ns : comings[0].time_ns;
    return begin_looker(telling, pool, task, last_ns) && hand_over(telling, comings, count, &last_ns) &&
           end_looker(telling, pool, task, last_ns);
}

static bool tell_roots(struct telling *telling, const struct coming *comings, uint32_t count, uint32_t *roots) {
    const struct serving *serving = telling->serving;
    bool ok = true;
    for (uint32_t i = 0; ok && i < serving->turn_count; i++) {
        const struct serving_turn *turn = &serving->turns[i];
        if (!serving_is_root(turn) || turn->pool != comings[0].pool || turn->start_ns == UINT64_MAX) continue;
        if ((*roots)++ == 0)
            ok = tell_looker(telling, comings, count, turn->id, turn->start_ns);
        else
            ok = begin_looker(telling, turn->pool, turn->id, turn->start_ns) &&
                 end_looker(telling, turn->pool, turn->id, turn->start_ns);
    }
    return ok;
}

// Where recording began later than the pool, one that was there before.
static bool tell_unknown_root(struct telling *telling, const struct coming *comings, uint32_t count) {
    const uint64_t task = telling->serving->highest + 1 + telling->serving->request_count + comings[0].pool;
    return trace_write_running(telling->writer, &task, 1) &&
           tell_looker(telling, comings, count, task, comings[0].time_ns);
}

static bool tell_lookers(struct telling *telling) {
    const struct serving *serving = telling->serving;
    const struct trace *trace = serving->trace;
    bool ok = true;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id > telling->thread) telling->thread = trace->streams[s].id;
    }
    qsort(telling->comings, serving->request_count, sizeof *telling->comings, by_pool_and_time);
    for (uint32_t begin = 0, end; ok && begin < serving->request_count; begin = end) {
        const struct coming *comings = telling->comings + begin;
        uint32_t roots = 0;
        for (end = begin; end < serving->request_count && telling->comings[end].pool == comings->pool;) end++;
        if (!comings->pool) continue;
        ok = tell_roots(telling, comings, end - begin, &roots) &&
             (roots || tell_unknown_root(telling, comings, end - begin));
    }
    return ok;
}

// ---- The trace -----------------------------------------------------------------------------------------------------

static bool write_all(struct telling *telling, const struct trace *trace) {
    bool ok = trace_copy_all_but_events(telling->writer, trace);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = tell_stream(telling, s);
    return ok && tell_lookers(telling) && (!trace->next || trace_write_next(telling->writer, trace->next));
}

static struct trace *tell_anew(const struct serving *serving, struct trace_memory *memory, struct error *error) {
    const struct trace *trace = serving->trace;
    struct error closing = ERROR_INIT;
    struct telling telling = {.serving = serving, .error = error};
    telling.comings = calloc(serving->request_count, sizeof *telling.comings);
    if (telling.comings) telling.writer = trace_writer_open_memory(memory, &trace->header, trace->version, error);
    bool written = false;
    if (telling.writer) {
        written = write_all(&telling, trace);
        if (!trace_copy_end(telling.writer, trace, &closing) && error->status == STATUS_OK) *error = closing;
    }
    free(telling.comings);
    if (!written && error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for requests");
    return error->status == STATUS_OK ? trace_open_memory(trace->path, memory->bytes, memory->size, false, error)
                                      : NULL;
}

struct trace *served_told(const struct trace *trace, struct trace_memory *memory, struct error *error) {
    struct serving serving;
    struct trace *told = NULL;
    if (serving_find(trace, &serving, error) && serving.any) told = tell_anew(&serving, memory, error);
    serving_destroy(&serving);
    return told;
}
