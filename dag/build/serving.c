// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/serving.h"

#include "dag/build/builder.h"
#include "dag/build/cpu.h"
#include "dag/build/ids.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_REQUESTS = 8,
    LEAST_THREADS = 2,
    SHARE_BROUGHT = 2,
    SHARE_FOUND = 4,
    SHARE_PASSED_ON = 4,
    SHARE_MOVED = 2,
    SHARE_UNENDED = 20,
    DEPTH = 32
};

#define AT_ONCE_NS UINT64_C(1000000) // of two requests: no thread waits for a connection in between

static bool lacks_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for requests");
}

// ---- Which pools' threads begin requests ---------------------------------------------------------------------------

static uint32_t pool_named(const struct trace *trace, const struct event *event) {
    const bool names = event->kind == EVENT_WORKER_BEGIN || event->kind == EVENT_IDLE || event->kind == EVENT_BUSY;
    return names && event->operand[0] < trace->pool_count ? (uint32_t)event->operand[0] : 0;
}

static bool count_requests(struct serving *serving, uint32_t stream, struct error *error) {
    struct trace_cursor cursor;
    struct event events[64];
    uint32_t requests = 0;
    uint32_t *pool = &serving->pool_of[stream];
    trace_cursor_init(&cursor, serving->trace, &serving->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, 64, error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            serving->highest = ids_highest(&events[i], serving->highest);
            if (!*pool) *pool = pool_named(serving->trace, &events[i]);
            requests += events[i].kind == EVENT_REQUEST_BEGIN;
        }
    }
    serving->pools[*pool].requests += requests;
    serving->pools[*pool].threads++;
    return error->status == STATUS_OK;
}

static bool may_serve_in_turns(const struct serving *serving, uint32_t pool) {
    return pool && serving->pools[pool].requests >= LEAST_REQUESTS && serving->pools[pool].threads >= LEAST_THREADS;
}

// ---- Turns and requests --------------------------------------------------------------------------------------------

// A stream, as it is read.
struct watching {
    struct serving *serving;
    uint32_t stream, pool;
    uint32_t open[DEPTH]; // turns
    uint32_t depth;       // may be more than DEPTH
    uint32_t request;     // under way, or SERVING_NONE
};

static uint32_t innermost(const struct watching *watching) {
    return watching->depth && watching->depth <= DEPTH ? watching->open[watching->depth - 1] : SERVING_NONE;
}

// The turn with an id, made if there is none; NULL: no memory. Valid until the next call.
static struct serving_turn *turn_with(struct serving *serving, uint64_t id) {
    const uint32_t known = idmap_get(&serving->turn_of, id);
    if (known != IDMAP_NONE) return &serving->turns[known];
    if (!GROW(serving->turns, serving->turn_count, serving->turn_capacity)) return NULL;
    if (!idmap_add(&serving->turn_of, id, serving->turn_count)) return NULL;
    serving->turns[serving->turn_count] = (struct serving_turn){
        .id = id, .spawn_ns = UINT64_MAX, .start_ns = UINT64_MAX, .end_ns = UINT64_MAX, .within = SERVING_NONE};
    return &serving->turns[serving->turn_count++];
}

static bool watch_spawn(struct watching *watching, const struct event *event) {
    const uint32_t pool = (uint32_t)event->operand[2];
    if (event->operand[2] >= watching->serving->trace->pool_count || !may_serve_in_turns(watching->serving, pool))
        return true;
    struct serving_turn *turn = turn_with(watching->serving, event->operand[0]);
    if (!turn) return false;
    turn->spawn_ns = event->time;
    turn->site = (uint32_t)event->operand[1];
    turn->pool = pool;
    turn->within = innermost(watching);
    turn->from_worker = watching->pool == pool;
    turn->in_request = watching->request != SERVING_NONE;
    return true;
}

static bool watch_start(struct watching *watching, const struct event *event) {
    if (!may_serve_in_turns(watching->serving, watching->pool)) return true;
    struct serving_turn *turn = turn_with(watching->serving, event->operand[0]);
    if (!turn) return false;
    turn->runs_in = watching->pool;
    turn->nested = watching->depth > 0;
    turn->start_ns = event->time;
    turn->start_cpu = event->operand[1];
    if (watching->depth < DEPTH) watching->open[watching->depth] = (uint32_t)(turn - watching->serving->turns);
    watching->depth++;
    return true;
}

static void watch_end(struct watching *watching, const struct event *event) {
    if (watching->depth == 0) return;
    const uint32_t open = innermost(watching);
    if (open != SERVING_NONE) watching->serving->turns[open].end_ns = event->time;
    if (--watching->depth == 0) watching->request = SERVING_NONE;
}

// ---- of requests

static bool add_request(struct serving *serving, struct serving_request request) {
    if (!GROW(serving->requests, serving->request_count, serving->request_capacity)) return false;
    serving->requests[serving->request_count++] = request;
    return true;
}

static uint64_t slept_since(const struct serving *serving, const struct serving_turn *turn, const struct event *event) {
    return cpu_begin_ns(serving->ns_per_cpu, event, turn->start_cpu, turn->start_ns) - turn->start_ns;
}

// Whether a thread had done with the connection's request before just then, and goes on with that connection.
static bool goes_on(const struct serving *serving, const struct serving_request *request) {
    const struct serving_request *before =
        serving->request_count ? &serving->requests[serving->request_count - 1] : NULL;
    return before && before->stream == request->stream && before->turn == request->turn && request->connection &&
           before->connection == request->connection && before->end_ns < request->begin_ns &&
           request->begin_ns - before->end_ns <= AT_ONCE_NS;
}

static bool watch_request(struct watching *watching, const struct event *event) {
    struct serving *serving = watching->serving;
    if (!may_serve_in_turns(serving, watching->pool) || watching->request != SERVING_NONE) return true;
    struct serving_request request = {.id = event->operand[0],
                                      .connection = event->operand[2],
                                      .begin_ns = event->time,
                                      .end_ns = UINT64_MAX,
                                      .came_ns = UINT64_MAX,
                                      .stream = watching->stream,
                                      .turn = innermost(watching)};
    struct serving_pool *pool = &serving->pools[watching->pool];
    if (!pool->first_ns || event->time < pool->first_ns) pool->first_ns = event->time;
    if (request.turn != SERVING_NONE) {
        struct serving_turn *turn = &serving->turns[request.turn];
        request.is_first = !turn->serves;
        request.slept_ns = slept_since(serving, turn, event);
        turn->serves = true;
        turn->served_ns = event->time;
        request.goes_on = goes_on(serving, &request);
    }
    watching->request = serving->request_count;
    return add_request(serving, request);
}

static void watch_answer(struct watching *watching, const struct event *event) {
    if (watching->request == SERVING_NONE) return;
    struct serving_request *request = &watching->serving->requests[watching->request];
    if (request->id != event->operand[0]) return;
    if (event->kind == EVENT_REQUEST_END) request->end_ns = event->time;
    watching->request = SERVING_NONE;
}

static bool watch_event(struct watching *watching, const struct event *event) {
    switch (event->kind) {
    case EVENT_SPAWN_BEGIN:
        return watch_spawn(watching, event);
    case EVENT_TASK_START:
        return watch_start(watching, event);
    case EVENT_TASK_END:
        watch_end(watching, event);
        return true;
    case EVENT_REQUEST_BEGIN:
        return watch_request(watching, event);
    case EVENT_REQUEST_END:
    case EVENT_REQUEST_LEFT:
        watch_answer(watching, event);
        return true;
    default:
        return true;
    }
}

static bool watch_stream(struct serving *serving, uint32_t stream, struct error *error) {
    struct watching watching = {
        .serving = serving, .stream = stream, .pool = serving->pool_of[stream], .request = SERVING_NONE};
    struct trace_cursor cursor;
    struct event events[64];
    trace_cursor_init(&cursor, serving->trace, &serving->trace->streams[stream]);
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, 64, error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            if (!watch_event(&watching, &events[i])) return lacks_memory(error);
        }
    }
    return error->status == STATUS_OK;
}

// ---- Which pools serve in turns ------------------------------------------------------------------------------------

// Whether the thread slept less long in its turn, before the request, than the turn had waited for a thread: then the
// turn was handed over for the request.
static bool is_its_turn(const struct serving_turn *turn, const struct serving_request *request) {
    if (!request->is_first || turn->spawn_ns > turn->start_ns) return false;
    return request->slept_ns <= turn->start_ns - turn->spawn_ns;
}

static int by_connection(const void *a, const void *b) {
    const struct serving_request *x = *(struct serving_request *const *)a, *y = *(struct serving_request *const *)b;
    if (x->connection != y->connection) return x->connection < y->connection ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

// Whether the thread that handed the turn over looked for requests, and then went on to serve one itself.
static bool is_passed_on(const struct serving *serving, const struct serving_turn *turn) {
    if (!turn->from_worker || turn->in_request || turn->within == SERVING_NONE) return false;
    const struct serving_turn *within = &serving->turns[turn->within];
    return within->serves && turn->spawn_ns <= within->served_ns;
}

static void settle_request(struct serving *serving, struct serving_request *request) {
    struct serving_pool *pool = &serving->pools[serving->pool_of[request->stream]];
    const struct serving_turn *turn = request->turn == SERVING_NONE ? NULL : &serving->turns[request->turn];
    if (turn && is_its_turn(turn, request)) request->came_ns = turn->spawn_ns;
    pool->ended += request->end_ns != UINT64_MAX;
    pool->found += request->came_ns == UINT64_MAX;
    pool->passed_on += turn && is_passed_on(serving, turn);
    pool->brought += turn && turn->pool && !turn->from_worker;
}

// Requests of one connection, in order.
static void settle_connection(struct serving *serving, struct serving_request *const *requests, uint32_t count) {
    struct serving_pool *pool = &serving->pools[serving->pool_of[requests[0]->stream]];
    bool moved = false;
    if (count < 2 || !requests[0]->connection) return;
    for (uint32_t i = 1; i < count; i++) {
        moved |= requests[i]->turn != requests[i - 1]->turn;
        if (requests[i - 1]->end_ns < requests[i]->begin_ns) requests[i]->before_ns = requests[i - 1]->end_ns;
    }
    pool->connections++;
    pool->moved += moved;
}

static bool settle_requests(struct serving *serving) {
    struct serving_request **order = malloc(((size_t)serving->request_count + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < serving->request_count; i++) {
        settle_request(serving, &serving->requests[i]);
        order[i] = &serving->requests[i];
    }
    qsort(order, serving->request_count, sizeof *order, by_connection);
    for (uint32_t begin = 0, end; begin < serving->request_count; begin = end) {
        for (end = begin; end < serving->request_count && order[end]->connection == order[begin]->connection;) end++;
        settle_connection(serving, order + begin, end - begin);
    }
    free(order);
    return true;
}

static bool is_in_turns(const struct serving *serving, uint32_t number) {
    const struct serving_pool *pool = &serving->pools[number];
    return may_serve_in_turns(serving, number) && pool->connections &&
           (uint64_t)(pool->requests - pool->ended) * SHARE_UNENDED <= pool->requests &&
           (uint64_t)pool->brought * SHARE_BROUGHT < pool->requests &&
           ((uint64_t)pool->found * SHARE_FOUND >= pool->requests ||
            (uint64_t)pool->passed_on * SHARE_PASSED_ON >= pool->requests) &&
           (uint64_t)pool->moved * SHARE_MOVED >= pool->connections;
}

// ---- Which turns are the pool's own --------------------------------------------------------------------------------

// What was handed over before the recording began comes first: + 1 makes UINT64_MAX 0.
static int by_spawn(const void *a, const void *b) {
    const struct serving_turn *x = *(struct serving_turn *const *)a, *y = *(struct serving_turn *const *)b;
    if (x->spawn_ns != y->spawn_ns) return x->spawn_ns + 1 < y->spawn_ns + 1 ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// What serves requests, and what such a turn hands over to its own pool, but for a request. Known of the turn within
// which it was handed over, which was handed over before. What was handed over before the recording began is, too, but
// for what was under way then and goes on to the end: an acceptor.
static bool is_plumbing(const struct serving *serving, const struct serving_turn *turn) {
    const uint32_t pool = turn->pool ? turn->pool : turn->runs_in;
    if (!serving->pools[pool].in_turns || (turn->runs_in && turn->runs_in != pool)) return false;
    if (turn->serves) return true;
    if (turn->spawn_ns == UINT64_MAX)
        return !turn->nested && (turn->end_ns != UINT64_MAX || !trace_was_running(serving->trace, turn->id));
    if (!turn->from_worker || turn->in_request) return false;
    return turn->within == SERVING_NONE || serving->turns[turn->within].is_plumbing;
}

static bool find_plumbing(struct serving *serving) {
    struct serving_turn **order = malloc(((size_t)serving->turn_count + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < serving->turn_count; i++) order[i] = &serving->turns[i];
    qsort(order, serving->turn_count, sizeof *order, by_spawn);
    for (uint32_t i = 0; i < serving->turn_count; i++) {
        struct serving_turn *turn = order[i];
        turn->is_plumbing = is_plumbing(serving, turn);
        struct serving_pool *pool = &serving->pools[turn->runs_in];
        if (turn->is_plumbing && turn->end_ns != UINT64_MAX && turn->end_ns > pool->last_ns)
            pool->last_ns = turn->end_ns;
    }
    free(order);
    return true;
}

static bool find_pools(struct serving *serving) {
    if (!settle_requests(serving)) return false;
    for (uint32_t p = 0; p < serving->trace->pool_count; p++) {
        serving->pools[p].in_turns = is_in_turns(serving, p);
        serving->any |= serving->pools[p].in_turns;
    }
    return !serving->any || find_plumbing(serving);
}

bool serving_find(const struct trace *trace, struct serving *serving, struct error *error) {
    *serving = (struct serving){
        .trace = trace, .ns_per_cpu = cpu_ns_each(&trace->header), .highest = ids_highest_of_tables(trace)};
    if (trace->endpoint_count < 2) return true;
    serving->pools = calloc((size_t)trace->pool_count + 1, sizeof *serving->pools);
    serving->pool_of = calloc((size_t)trace->stream_count + 1, sizeof *serving->pool_of);
    if (!serving->pools || !serving->pool_of) return lacks_memory(error);
    bool may = false;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (!count_requests(serving, s, error)) return false;
    }
    for (uint32_t p = 0; p < trace->pool_count; p++) may |= may_serve_in_turns(serving, p);
    for (uint32_t s = 0; may && s < trace->stream_count; s++) {
        if (!watch_stream(serving, s, error)) return false;
    }
    return !may || find_pools(serving) || lacks_memory(error);
}

void serving_destroy(struct serving *serving) {
    free(serving->pools);
    free(serving->pool_of);
    free(serving->turns);
    free(serving->requests);
    idmap_destroy(&serving->turn_of);
}

const struct serving_turn *serving_turn(const struct serving *serving, uint64_t id) {
    const uint32_t turn = serving->turn_of.count ? idmap_get(&serving->turn_of, id) : IDMAP_NONE;
    return turn == IDMAP_NONE ? NULL : &serving->turns[turn];
}

bool serving_is_root(const struct serving_turn *turn) {
    return turn->is_plumbing && turn->pool && !turn->from_worker;
}

bool serving_holds_thread(const struct serving *serving, const struct serving_turn *turn) {
    const struct serving_pool *pool = &serving->pools[turn->runs_in];
    return pool->in_turns && !turn->is_plumbing && !turn->from_worker && !turn->nested &&
           turn->start_ns <= pool->first_ns && turn->end_ns >= pool->last_ns;
}
