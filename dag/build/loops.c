// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/loops.h"

#include "dag/build/builder.h"
#include "dag/build/cpu.h"
#include "dag/build/ids.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_REQUESTS = 8, SHARE_UNENDED = 20, LEAST_KNOWN = 8 };

#define SLEPT_NS UINT64_C(50000) // a select that takes longer was asleep

static bool lacks_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for event loops");
}

// ---- What each thread tells ----------------------------------------------------------------------------------------

// A stream, as it is read.
struct watching {
    struct loops *loops;
    uint32_t stream;
    uint32_t depth;                       // of tasks under way
    uint32_t request;                     // under way, or left just before: index, UINT32_MAX none
    uint64_t outer;                       // the innermost task, before the thread is known to work for a pool
    uint64_t idle_ns, busy_ns, before_ns; // when the latest select began, and when the latest two were over
    struct boundary {
        uint64_t time_ns, cpu, delay_ns;
    } latest;          // event with cpu, and what had been computed and waited for a core until then
    uint64_t delay_ns; // so far
};

// How long the thread slept since the latest boundary.
static uint64_t asleep_ns(const struct watching *watching, const struct event *event) {
    const struct boundary *since = &watching->latest;
    const uint64_t computed_ns =
        event->time - cpu_begin_ns(watching->loops->ns_per_cpu, event, since->cpu, since->time_ns);
    const uint64_t awake_ns = computed_ns + watching->delay_ns - since->delay_ns,
                   took_ns = event->time - since->time_ns;
    return since->time_ns && awake_ns < took_ns ? took_ns - awake_ns : 0;
}

// How long the latest select slept. That a thread takes its time for one may be for want of a core.
static uint64_t slept_ns(const struct watching *watching, const struct event *event) {
    const uint64_t took_ns = watching->busy_ns - watching->idle_ns, slept_ns = asleep_ns(watching, event);
    return slept_ns < took_ns ? slept_ns : took_ns;
}

static bool add_request(struct watching *watching, const struct event *event) {
    struct loops *loops = watching->loops;
    if (!GROW(loops->requests, loops->request_count, loops->request_capacity)) return false;
    watching->request = loops->request_count;
    loops->requests[loops->request_count++] = (struct loop_request){.id = event->operand[0],
                                                                    .connection = event->operand[2],
                                                                    .looked_ns = watching->before_ns,
                                                                    .found_ns = watching->busy_ns,
                                                                    .end_ns = LOOPS_NONE,
                                                                    .stream = watching->stream,
                                                                    .slept_ns = slept_ns(watching, event)};
    return true;
}

// What ran before the thread was known to work for the pool is what the loop runs in.
static void work_for(struct watching *watching, const struct event *event) {
    struct loops *loops = watching->loops;
    if (loops->pool_of[watching->stream] || event->operand[0] >= loops->trace->pool_count) return;
    loops->pool_of[watching->stream] = (uint32_t)event->operand[0];
    if (watching->depth > 0) loops->body_of[watching->stream] = watching->outer;
    watching->depth = 0;
}

static void watch_select(struct watching *watching, const struct event *event) {
    struct loop_pool *pool = &watching->loops->pools[watching->loops->pool_of[watching->stream]];
    if (event->kind == EVENT_IDLE) {
        watching->idle_ns = event->time;
        pool->selects++;
        return;
    }
    watching->before_ns = watching->busy_ns;
    watching->busy_ns = event->time;
}

static bool watch_request(struct watching *watching, const struct event *event) {
    struct loops *loops = watching->loops;
    struct loop_request *request = watching->request == UINT32_MAX ? NULL : &loops->requests[watching->request];
    if (event->kind == EVENT_REQUEST_BEGIN) return watching->depth > 0 || add_request(watching, event);
    if (request && event->kind == EVENT_REQUEST_END && request->id == event->operand[0]) {
        request->end_ns = event->time;
        watching->request = UINT32_MAX;
    }
    return true;
}

static bool take_event(struct watching *watching, const struct event *event) {
    switch (event->kind) {
    case EVENT_WORKER_BEGIN:
        work_for(watching, event);
        return true;
    case EVENT_IDLE:
    case EVENT_BUSY:
        work_for(watching, event);
        watch_select(watching, event);
        return true;
    case EVENT_TASK_START:
        watching->outer = event->operand[0];
        watching->depth++;
        return true;
    case EVENT_TASK_END:
        watching->depth -= watching->depth > 0;
        return true;
    case EVENT_REQUEST_BEGIN:
    case EVENT_REQUEST_END:
        return watch_request(watching, event);
    default:
        return true;
    }
}

static bool watch_event(struct watching *watching, const struct event *event) {
    if (event->kind == EVENT_RUN_DELAY) watching->delay_ns = event->operand[0];
    if (!take_event(watching, event)) return false;
    if (event_has_cpu(event->kind))
        watching->latest = (struct boundary){event->time, event->operand[1], watching->delay_ns};
    return true;
}

static bool watch_stream(struct loops *loops, uint32_t stream, struct error *error) {
    struct watching watching = {.loops = loops, .stream = stream, .request = UINT32_MAX};
    struct trace_cursor cursor;
    struct event events[64];
    const uint32_t first = loops->request_count;
    loops->body_of[stream] = LOOPS_NONE;
    trace_cursor_init(&cursor, loops->trace, &loops->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, 64, error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            loops->highest = ids_highest(&events[i], loops->highest);
            if (!watch_event(&watching, &events[i])) return lacks_memory(error);
        }
    }
    struct loop_pool *pool = &loops->pools[loops->pool_of[stream]];
    pool->threads++;
    pool->requests += loops->request_count - first;
    for (uint32_t i = first; i < loops->request_count; i++) pool->ended += loops->requests[i].end_ns != LOOPS_NONE;
    return error->status == STATUS_OK;
}

// ---- Groups --------------------------------------------------------------------------------------------------------

static bool may_be_loop(const struct loops *loops, uint32_t pool) {
    const struct trace_pool *of = &loops->trace->pools[pool];
    const struct loop_pool *seen = &loops->pools[pool];
    return pool && of->name && of->kind && !of->queue && of->core < 0 && seen->threads == 1 && seen->selects > 0;
}

static bool are_alike(const struct loops *loops, uint32_t one, uint32_t other) {
    const struct trace_pool *a = &loops->trace->pools[one], *b = &loops->trace->pools[other];
    return may_be_loop(loops, other) && strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0;
}

// Those alike with a pool that are not before it.
static void find_group(struct loops *loops, uint32_t first) {
    struct loop_pool sum = {0};
    for (uint32_t p = first; p < loops->trace->pool_count; p++) {
        if (!are_alike(loops, first, p)) continue;
        sum.requests += loops->pools[p].requests;
        sum.ended += loops->pools[p].ended;
        sum.loops++;
    }
    if (sum.requests < LEAST_REQUESTS) return;
    if ((uint64_t)(sum.requests - sum.ended) * SHARE_UNENDED > sum.requests) return;
    for (uint32_t p = first; p < loops->trace->pool_count; p++) {
        if (are_alike(loops, first, p)) loops->pools[p].group = first;
    }
    loops->pools[first].loops = sum.loops;
    loops->any = true;
}

static uint32_t group_of(const struct loops *loops, const struct loop_request *request) {
    return loops->pools[loops->pool_of[request->stream]].group;
}

static void keep_groups_alone(struct loops *loops) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < loops->request_count; i++) {
        if (group_of(loops, &loops->requests[i])) loops->requests[count++] = loops->requests[i];
    }
    loops->request_count = count;
}

// ---- When requests came --------------------------------------------------------------------------------------------

static int by_connection(const void *a, const void *b) {
    const struct loop_request *x = *(struct loop_request *const *)a, *y = *(struct loop_request *const *)b;
    if (x->connection != y->connection) return x->connection < y->connection ? -1 : 1;
    return (x->found_ns > y->found_ns) - (x->found_ns < y->found_ns);
}

static void find_answers_before(struct loop_request *const *order, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const struct loop_request *before = order[i - 1];
        if (!before->connection || before->connection != order[i]->connection) continue;
        order[i]->answered_ns = before->end_ns == LOOPS_NONE ? 0 : before->end_ns;
    }
}

static int by_ns(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t least_came_ns(const struct loop_request *request) {
    return request->answered_ns > request->looked_ns ? request->answered_ns : request->looked_ns;
}

// Whether it came as it was found.
static bool woke(const struct loop_request *request) {
    const uint64_t least_ns = least_came_ns(request);
    return request->slept_ns > SLEPT_NS &&
           (least_ns >= request->found_ns || request->slept_ns >= (request->found_ns - least_ns) / 2);
}

// How long after an answer the next request comes, of those of which it is known; 0: of too few.
static uint64_t known_pause_ns(const struct loops *loops, uint64_t *scratch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < loops->request_count; i++) {
        const struct loop_request *request = &loops->requests[i];
        const bool known = woke(request) && request->answered_ns && request->answered_ns <= request->found_ns;
        if (known) scratch[count++] = request->found_ns - request->answered_ns;
    }
    qsort(scratch, count, sizeof *scratch, by_ns);
    return count < LEAST_KNOWN ? 0 : scratch[count / 2];
}

static uint64_t came_ns(const struct loop_request *request, uint64_t pause_ns) {
    const uint64_t least_ns = least_came_ns(request), likely_ns = request->answered_ns + pause_ns;
    if (woke(request) || least_ns == 0 || least_ns >= request->found_ns) return request->found_ns;
    if (!request->answered_ns) return least_ns;
    if (likely_ns < least_ns) return least_ns;
    return likely_ns < request->found_ns ? likely_ns : request->found_ns;
}

static bool find_arrivals(struct loops *loops) {
    struct loop_request **order = malloc(((size_t)loops->request_count + 1) * sizeof *order);
    uint64_t *scratch = malloc(((size_t)loops->request_count + 1) * sizeof *scratch);
    const bool ok = order && scratch;
    if (ok) {
        for (uint32_t i = 0; i < loops->request_count; i++) order[i] = &loops->requests[i];
        qsort(order, loops->request_count, sizeof *order, by_connection);
        find_answers_before(order, loops->request_count);
        const uint64_t pause_ns = known_pause_ns(loops, scratch);
        for (uint32_t i = 0; i < loops->request_count; i++)
            loops->requests[i].came_ns = came_ns(&loops->requests[i], pause_ns);
    }
    free(order);
    free(scratch);
    return ok;
}

bool loops_find(const struct trace *trace, struct loops *loops, struct error *error) {
    *loops = (struct loops){
        .trace = trace, .highest = ids_highest_of_tables(trace), .ns_per_cpu = cpu_ns_each(&trace->header)};
    if (trace->endpoint_count < 2) return true;
    loops->pools = calloc((size_t)trace->pool_count + 1, sizeof *loops->pools);
    loops->pool_of = calloc((size_t)trace->stream_count + 1, sizeof *loops->pool_of);
    loops->body_of = calloc((size_t)trace->stream_count + 1, sizeof *loops->body_of);
    if (!loops->pools || !loops->pool_of || !loops->body_of) return lacks_memory(error);
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (!watch_stream(loops, s, error)) return false;
    }
    for (uint32_t p = 1; p < trace->pool_count; p++) {
        if (may_be_loop(loops, p) && !loops->pools[p].group) find_group(loops, p);
    }
    keep_groups_alone(loops);
    return !loops->any || find_arrivals(loops) || lacks_memory(error);
}

void loops_destroy(struct loops *loops) {
    free(loops->pools);
    free(loops->pool_of);
    free(loops->body_of);
    free(loops->requests);
}
