// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/dealt.h"

#include "tracefile/copy.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 256 };

struct executor {
    uint32_t threads, tasks;
    uint32_t site, lead; // of more of its tasks than all others, if any is; by how many, as they are counted
    uint64_t first_ns;   // when it was handed a task
    uint64_t shutdown_ns, awaited_ns; // the first time; UINT64_MAX: never
    uint32_t group;                   // executor that stands for those that it is dealt with; 0: none
    uint32_t members;                 // of the group that it stands for
    uint32_t ends;                    // the member that is shut down last, 0: none is
};

struct dealing {
    const struct trace *trace;
    struct error *error;
    struct executor *executors; // by pool
    uint32_t *order;            // those that may be dealt to, like by like
    uint32_t count;
    bool any; // there is a group
    struct trace_writer *writer;
};

static bool lacks_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for executors of one thread");
}

// ---- Alike ---------------------------------------------------------------------------------------------------------

// A Timer is its owner's, however many owners there are.
static bool may_be_dealt_to(const struct trace_pool *pool) {
    const bool told = pool->flags & (POOL_STAGE | POOL_EVENT_LOOPS);
    const bool named = pool->name && pool->kind && pool->queue;
    return named && pool->core == 1 && !told && !strstr(pool->kind, "java.util.Timer");
}

static int compare_looks(const struct trace_pool *a, const struct trace_pool *b) {
    int order = strcmp(a->name, b->name);
    if (order == 0) order = strcmp(a->kind, b->kind);
    return order == 0 ? strcmp(a->queue, b->queue) : order;
}

static int by_looks(const void *a, const void *b, void *context) {
    const struct trace *trace = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = compare_looks(&trace->pools[x], &trace->pools[y]);
    return order == 0 ? (x > y) - (x < y) : order;
}

static bool are_alike(const struct trace *trace, uint32_t one, uint32_t other) {
    return compare_looks(&trace->pools[one], &trace->pools[other]) == 0;
}

// Returns whether any two are.
static bool sort_by_looks(struct dealing *dealing) {
    const struct trace *trace = dealing->trace;
    bool any = false;
    for (uint32_t p = 1; p < trace->pool_count; p++) {
        if (may_be_dealt_to(&trace->pools[p])) dealing->order[dealing->count++] = p;
    }
    qsort_r(dealing->order, dealing->count, sizeof *dealing->order, by_looks, (void *)trace);
    for (uint32_t i = 1; i < dealing->count && !any; i++)
        any = are_alike(trace, dealing->order[i - 1], dealing->order[i]);
    return any;
}

// ---- What the events tell ------------------------------------------------------------------------------------------

static void note_spawn(struct executor *executor, const struct event *event) {
    const uint32_t site = (uint32_t)event->operand[1];
    if (executor->lead == 0) executor->site = site;
    executor->lead += executor->site == site ? 1 : UINT32_MAX;
    if (executor->tasks++ == 0 || event->time < executor->first_ns) executor->first_ns = event->time;
}

static uint64_t earlier(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static bool is_for_pool(const struct event *event) {
    return event->kind == EVENT_WAIT_BEGIN && wait_for_of(event->operand[2]) == WAIT_FOR_POOL;
}

static void note_event(struct dealing *dealing, const struct event *event) {
    const uint64_t pool = event->operand[event->kind == EVENT_SPAWN_BEGIN ? 2 : 0];
    struct executor *executor = pool < dealing->trace->pool_count ? &dealing->executors[pool] : NULL;
    if (!executor) return;
    if (event->kind == EVENT_SPAWN_BEGIN) note_spawn(executor, event);
    if (event->kind == EVENT_WORKER_BEGIN) executor->threads++;
    if (event->kind == EVENT_POOL_SHUTDOWN) executor->shutdown_ns = earlier(executor->shutdown_ns, event->time);
    if (is_for_pool(event)) executor->awaited_ns = earlier(executor->awaited_ns, event->time);
}

static bool note_stream(struct dealing *dealing, uint32_t stream) {
    struct trace_cursor cursor;
    struct event events[AT_ONCE];
    trace_cursor_init(&cursor, dealing->trace, &dealing->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, AT_ONCE, dealing->error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) note_event(dealing, &events[i]);
    }
    return dealing->error->status == STATUS_OK;
}

static bool note_all(struct dealing *dealing) {
    const struct trace *trace = dealing->trace;
    for (uint32_t p = 0; p < trace->pool_count; p++)
        dealing->executors[p].shutdown_ns = dealing->executors[p].awaited_ns = UINT64_MAX;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (!note_stream(dealing, s)) return false;
    }
    for (size_t i = 0; i < trace->queued_count; i++) dealing->executors[trace->queued[i].pool].threads = 2; // unfit
    return true;
}

// ---- Groups --------------------------------------------------------------------------------------------------------

// Of some alike, what holds of all that were handed tasks.
struct alike {
    uint32_t first, members, site, ends; // as in struct executor
    uint64_t first_ns, end_ns;           // the latest first task, the earliest shutdown
    uint64_t shutdown_ns, awaited_ns;    // the latest shutdown, 0: none; the earliest wait for an end
    bool fit;
};

static void count_in(struct alike *alike, uint32_t pool, const struct executor *executor) {
    const bool is_first = alike->members++ == 0, shut = executor->shutdown_ns != UINT64_MAX;
    if (is_first) alike->first = pool;
    if (is_first) alike->site = executor->site;
    alike->fit &= executor->threads <= 1 && executor->lead > 0 && executor->site == alike->site;
    if (executor->first_ns > alike->first_ns) alike->first_ns = executor->first_ns;
    alike->end_ns = earlier(alike->end_ns, executor->shutdown_ns);
    alike->awaited_ns = earlier(alike->awaited_ns, executor->awaited_ns);
    if (!shut || executor->shutdown_ns < alike->shutdown_ns) return;
    alike->shutdown_ns = executor->shutdown_ns;
    alike->ends = pool;
}

static void group(struct dealing *dealing, uint32_t from, uint32_t to) {
    struct alike alike = {.end_ns = UINT64_MAX, .awaited_ns = UINT64_MAX, .fit = true};
    for (uint32_t i = from; i < to; i++) {
        const struct executor *executor = &dealing->executors[dealing->order[i]];
        if (executor->tasks) count_in(&alike, dealing->order[i], executor);
    }
    if (!alike.fit || alike.members < 2 || alike.first_ns >= alike.end_ns || alike.awaited_ns < alike.shutdown_ns)
        return;
    for (uint32_t i = from; i < to; i++) {
        struct executor *executor = &dealing->executors[dealing->order[i]];
        if (executor->tasks) executor->group = alike.first;
    }
    dealing->executors[alike.first].members = alike.members;
    dealing->executors[alike.first].ends = alike.ends;
    dealing->any = true;
}

static void find_groups(struct dealing *dealing) {
    for (uint32_t from = 0, to; from < dealing->count; from = to) {
        to = from + 1;
        while (to < dealing->count && are_alike(dealing->trace, dealing->order[from], dealing->order[to])) to++;
        if (to - from > 1) group(dealing, from, to);
    }
}

// ---- Told anew -----------------------------------------------------------------------------------------------------

static uint32_t group_of(const struct dealing *dealing, uint64_t pool) {
    return pool < dealing->trace->pool_count ? dealing->executors[pool].group : 0;
}

// Which operand names a pool; 3: none does. `awaits`: the thread waits for one.
static unsigned pool_operand(const struct event *event, bool awaits) {
    if (event->kind == EVENT_SPAWN_BEGIN) return 2;
    if (event->kind >= EVENT_WORKER_BEGIN && event->kind <= EVENT_POOL_SHUTDOWN) return 0;
    const bool of_wait = event->kind == EVENT_WAIT_END || event->kind == EVENT_TIMED_OUT;
    return is_for_pool(event) || (awaits && of_wait) ? 0 : 3;
}

// The group is shut down when the last of its executors is. false: the event is left out.
static bool name_anew(const struct dealing *dealing, struct event *event, bool *awaits) {
    const unsigned operand = pool_operand(event, *awaits);
    if (event->kind == EVENT_WAIT_BEGIN) *awaits = is_for_pool(event);
    if (event->kind == EVENT_WAIT_END) *awaits = false;
    const uint32_t pool = operand < 3 ? group_of(dealing, event->operand[operand]) : 0;
    if (!pool) return true;
    if (event->kind == EVENT_POOL_SHUTDOWN && event->operand[0] != dealing->executors[pool].ends) return false;
    event->operand[operand] = pool;
    return true;
}

static bool tell_stream(struct dealing *dealing, const struct trace_stream *stream) {
    struct trace_cursor cursor;
    struct event events[AT_ONCE];
    bool awaits = false;
    trace_cursor_init(&cursor, dealing->trace, stream);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, AT_ONCE, dealing->error)) > 0;) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (name_anew(dealing, &events[i], &awaits)) events[kept++] = events[i];
        }
        if (kept && !trace_write_events(dealing->writer, stream->id, events, kept)) return false;
    }
    return dealing->error->status == STATUS_OK;
}

static bool write_groups(const struct dealing *dealing) {
    const struct trace *trace = dealing->trace;
    bool ok = true;
    for (uint32_t p = 1; ok && p < trace->pool_count; p++) {
        const struct executor *executor = &dealing->executors[p];
        struct trace_pool pool = trace->pools[p];
        if (!executor->group) continue;
        if (executor->group == p) {
            pool.core = pool.maximum = (int32_t)executor->members;
            pool.flags |= POOL_EVENT_LOOPS | POOL_DEALT;
        } else {
            pool.name = NULL; // it has nothing to do any more, and shares no name
        }
        ok = trace_write_pool(dealing->writer, p, &pool);
    }
    return ok;
}

static bool write_all(struct dealing *dealing) {
    const struct trace *trace = dealing->trace;
    bool ok = trace_copy_all_but_events(dealing->writer, trace) && write_groups(dealing);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = tell_stream(dealing, &trace->streams[s]);
    return ok && (!trace->next || trace_write_next(dealing->writer, trace->next));
}

static struct trace *tell_anew(struct dealing *dealing, struct trace_memory *memory) {
    const struct trace *trace = dealing->trace;
    struct error *error = dealing->error, closing = ERROR_INIT;
    bool written = false;
    dealing->writer = trace_writer_open_memory(memory, &trace->header, trace->version, error);
    if (dealing->writer) {
        written = write_all(dealing);
        if (!trace_copy_end(dealing->writer, trace, &closing) && error->status == STATUS_OK) *error = closing;
    }
    if (!written && error->status == STATUS_OK) lacks_memory(error);
    return error->status == STATUS_OK ? trace_open_memory(trace->path, memory->bytes, memory->size, false, error)
                                      : NULL;
}

struct trace *dealt_told(const struct trace *trace, struct trace_memory *memory, struct error *error) {
    struct dealing dealing = {.trace = trace, .error = error};
    struct trace *told = NULL;
    dealing.executors = calloc((size_t)trace->pool_count + 1, sizeof *dealing.executors);
    dealing.order = calloc((size_t)trace->pool_count + 1, sizeof *dealing.order);
    if (!dealing.executors || !dealing.order)
        lacks_memory(error);
    else if (sort_by_looks(&dealing) && note_all(&dealing))
        find_groups(&dealing);
    if (dealing.any) told = tell_anew(&dealing, memory);
    free(dealing.executors);
    free(dealing.order);
    return told;
}
