// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/endpoints.h"

#include "dag/names.h"
#include "metrics/quantiles.h"
#include "metrics/request_log.h"
#include "metrics/work.h"

#include <stdio.h>
#include <stdlib.h>

enum { TASKS_DEEP = 8, FIRST_RESOURCE = CAUSE_ELSEWHERE + 1 };

// Causes of an endpoint stand in one row: those without a subject, resources, pools, sites.
struct counting {
    const struct dag *dag;
    const struct window *window;
    struct request_log log;
    size_t causes;     // how many columns
    double *cause_ns;  // an endpoint each, a row
    double *thread_ns; // ..., a pool each
    double *unit_ns;   // ..., a resource each
    uint32_t *owner;   // a task each: index of the request that it belongs to, or DAG_NONE
    uint32_t *body;    // a vertex each: the innermost task around it, or DAG_NONE
    double *row;       // of the endpoint in hand
};

static uint32_t pools_of(const struct dag *dag) {
    return dag->trace->pool_count ? dag->trace->pool_count : 1;
}

static size_t column_of(const struct dag *dag, enum endpoint_cause_kind kind, uint32_t of) {
    if (kind == CAUSE_RESOURCE) return FIRST_RESOURCE + of;
    if (kind == CAUSE_QUEUE) return FIRST_RESOURCE + dag->resource_count + of;
    if (kind == CAUSE_WAIT) return FIRST_RESOURCE + dag->resource_count + pools_of(dag) + of;
    return kind;
}

static struct endpoint_cause cause_of(const struct dag *dag, size_t column) {
    if (column < FIRST_RESOURCE) return (struct endpoint_cause){.kind = (enum endpoint_cause_kind)column};
    column -= FIRST_RESOURCE;
    if (column < dag->resource_count) return (struct endpoint_cause){CAUSE_RESOURCE, (uint32_t)column, 0};
    column -= dag->resource_count;
    if (column < pools_of(dag)) return (struct endpoint_cause){CAUSE_QUEUE, (uint32_t)column, 0};
    return (struct endpoint_cause){CAUSE_WAIT, (uint32_t)(column - pools_of(dag)), 0};
}

static void charge(struct counting *counting, enum endpoint_cause_kind kind, uint32_t of, double ns) {
    counting->row[column_of(counting->dag, kind, of)] += ns;
}

static bool is_counted(const struct counting *counting, const struct logged_request *request) {
    return work_is_within(counting->window, request->begin_ns);
}

// Causes --------------------------------------------------------------------------------------------------------------

static void follow(struct counting *counting, uint32_t thread, int64_t from_ns, int64_t to_ns, unsigned deep);

// The time of a wait for a task's result is what the task does then.
static void follow_task(struct counting *counting, const struct dag_task *task, int64_t from_ns, int64_t to_ns,
                        unsigned deep) {
    const int64_t *time_ns = counting->dag->vertices.time_ns;
    const int64_t start_ns = time_ns[task->start], end_ns = time_ns[task->end];
    const int64_t queued_to_ns = start_ns < to_ns ? start_ns : to_ns;
    if (queued_to_ns > from_ns) {
        charge(counting, task->pool ? CAUSE_QUEUE : CAUSE_HAND_OVER, task->pool, (double)(queued_to_ns - from_ns));
        from_ns = queued_to_ns;
    }
    const int64_t body_to_ns = end_ns < to_ns ? end_ns : to_ns;
    if (body_to_ns > from_ns) {
        follow(counting, task->thread, from_ns, body_to_ns, deep + 1);
        from_ns = body_to_ns;
    }
    if (to_ns > from_ns) charge(counting, CAUSE_HAND_OVER, 0, (double)(to_ns - from_ns));
}

static void charge_wait(struct counting *counting, uint32_t vertex, int64_t from_ns, int64_t to_ns, unsigned deep) {
    const struct dag *dag = counting->dag;
    const uint32_t t = dag->vertices.task[vertex];
    const struct dag_task *task = t == DAG_NONE || dag->tasks[t].flags & TASK_NESTED ? NULL : &dag->tasks[t];
    const bool begins = dag->vertices.kind[vertex - 1] == VERTEX_WAIT_BEGIN;
    const uint32_t site = begins ? counting->log.wait_site[vertex - 1] : 0;
    if (task && task->start != DAG_NONE && deep < TASKS_DEEP)
        follow_task(counting, task, from_ns, to_ns, deep);
    else
        charge(counting, CAUSE_WAIT, site < dag->trace->site_count ? site : 0, (double)(to_ns - from_ns));
}

// Of an edge that no event says to sleep: in proportion, where only a part of it lies within.
static void charge_running(struct counting *counting, uint32_t vertex, int64_t within_ns, int64_t length_ns) {
    const struct dag *dag = counting->dag;
    const double part = (double)within_ns / (double)length_ns;
    const double queued_ns = dag->vertices.queued_ns ? (double)dag->vertices.queued_ns[vertex] * part : 0;
    const double slept_ns = (double)work_slept_ns(dag, vertex) * part;
    const double left_ns = (double)within_ns - queued_ns - slept_ns;
    charge(counting, CAUSE_CORE, 0, queued_ns);
    charge(counting, CAUSE_ASLEEP, 0, slept_ns);
    charge(counting, CAUSE_COMPUTING, 0, left_ns > 0 ? left_ns : 0);
}

static void charge_edge(struct counting *counting, uint32_t vertex, int64_t from_ns, int64_t to_ns, unsigned deep) {
    const struct dag *dag = counting->dag;
    const unsigned kind = dag->vertices.kind[vertex];
    const int64_t length_ns = dag->vertices.time_ns[vertex] - dag->vertices.time_ns[vertex - 1];
    if (kind == VERTEX_ACQUIRED || kind == VERTEX_GIVEN_UP)
        charge(counting, CAUSE_RESOURCE, dag->asks[dag->vertices.task[vertex]].resource, (double)(to_ns - from_ns));
    else if (kind == VERTEX_WAIT_END)
        charge_wait(counting, vertex, from_ns, to_ns, deep);
    else
        charge_running(counting, vertex, to_ns - from_ns, length_ns);
}

// The first vertex of the thread that is later than the instant.
static uint32_t vertex_after(const struct dag *dag, const struct dag_thread *thread, int64_t time_ns) {
    uint32_t low = thread->first, high = thread->first + thread->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (dag->vertices.time_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void follow(struct counting *counting, uint32_t thread, int64_t from_ns, int64_t to_ns, unsigned deep) {
    const struct dag *dag = counting->dag;
    const struct dag_thread *of = &dag->threads[thread];
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t v = vertex_after(dag, of, from_ns);
    for (; v < of->first + of->count && from_ns < to_ns; v++) {
        const int64_t until_ns = time_ns[v] < to_ns ? time_ns[v] : to_ns;
        if (until_ns <= from_ns) continue;
        if (v > of->first) charge_edge(counting, v, from_ns, until_ns, deep);
        from_ns = until_ns;
    }
    if (from_ns < to_ns) charge(counting, CAUSE_COMPUTING, 0, (double)(to_ns - from_ns)); // beyond its last vertex
}

static double *row_of(const struct counting *counting, double *rows, size_t columns,
                      const struct logged_request *request) {
    const uint32_t endpoint = request->endpoint < counting->dag->trace->endpoint_count ? request->endpoint : 0;
    return rows + endpoint * columns;
}

static void charge_spans(struct counting *counting) {
    for (size_t i = 0; i < counting->log.span_count; i++) {
        const struct request_span *span = &counting->log.spans[i];
        const struct logged_request *request = &counting->log.requests[span->request];
        if (!is_counted(counting, request)) continue;
        const double length_ns = (double)(span->to_ns - span->from_ns);
        counting->row = row_of(counting, counting->cause_ns, counting->causes, request);
        counting->row[CAUSE_ELSEWHERE] -= length_ns;
        follow(counting, span->thread, span->from_ns, span->to_ns, 0);
        const uint32_t pool = counting->dag->threads[span->thread].pool;
        row_of(counting, counting->thread_ns, pools_of(counting->dag), request)[pool] += length_ns;
    }
}

// What belongs to requests -------------------------------------------------------------------------------------------

// Of what a thread does at a vertex, within the body of a task.
static uint32_t request_at(const struct counting *counting, uint32_t vertex, uint32_t task) {
    const struct dag *dag = counting->dag;
    const struct request_span *span =
        request_log_at(&counting->log, dag_thread_of(dag, vertex), dag->vertices.time_ns[vertex]);
    if (span) return span->request;
    return task == DAG_NONE ? DAG_NONE : counting->owner[task];
}

// In order of their spawns' times, so that a spawner is known before what it spawns.
struct spawned {
    int64_t time_ns;
    uint32_t task;
};

static int by_time(const void *a, const void *b) {
    const struct spawned *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static bool find_owners(struct counting *counting) {
    const struct dag *dag = counting->dag;
    struct spawned *spawned = malloc(((size_t)dag->task_count + 1) * sizeof *spawned);
    size_t count = 0;
    if (!spawned) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        counting->owner[t] = DAG_NONE;
        const uint32_t begin = dag->tasks[t].spawn_begin;
        if (begin != DAG_NONE) spawned[count++] = (struct spawned){dag->vertices.time_ns[begin], t};
    }
    qsort(spawned, count, sizeof *spawned, by_time);
    for (size_t i = 0; i < count; i++) {
        const struct dag_task *task = &dag->tasks[spawned[i].task];
        counting->owner[spawned[i].task] = request_at(counting, task->spawn_begin, task->spawner);
    }
    free(spawned);
    return true;
}

static const struct logged_request *counted_owner(const struct counting *counting, uint32_t request) {
    const struct logged_request *owner = request == DAG_NONE ? NULL : &counting->log.requests[request];
    return owner && is_counted(counting, owner) ? owner : NULL;
}

// A body within another, or within the request's own span, has no thread of its own.
static void hold_threads(struct counting *counting) {
    const struct dag *dag = counting->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        const struct logged_request *owner = counted_owner(counting, counting->owner[t]);
        if (!owner || task->start == DAG_NONE || task->enclosing != DAG_NONE) continue;
        const int64_t start_ns = dag->vertices.time_ns[task->start];
        if (request_log_at(&counting->log, task->thread, start_ns)) continue;
        row_of(counting, counting->thread_ns, pools_of(dag), owner)[dag->threads[task->thread].pool] +=
            (double)(dag->vertices.time_ns[task->end] - start_ns);
    }
}

// The innermost body around each vertex.
static void find_bodies(const struct dag *dag, uint32_t *body) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        uint32_t task = DAG_NONE;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            const unsigned kind = dag->vertices.kind[v];
            if (kind == VERTEX_START) task = dag->vertices.task[v];
            body[v] = task;
            if (kind == VERTEX_END) task = dag->tasks[dag->vertices.task[v]].enclosing;
        }
    }
}

static void hold_units(struct counting *counting) {
    const struct dag *dag = counting->dag;
    for (uint32_t a = 0; a < dag->ask_count; a++) {
        const struct dag_ask *ask = &dag->asks[a];
        if (ask->got == DAG_NONE || ask->given_up || ask->units <= 0) continue;
        const int64_t got_ns = dag->vertices.time_ns[ask->got];
        const int64_t held_ns =
            ask->released != DAG_NONE ? dag->vertices.time_ns[ask->released] - got_ns : ask->held_ns;
        const struct logged_request *owner =
            counted_owner(counting, request_at(counting, ask->got, counting->body[ask->got]));
        if (owner && held_ns > 0)
            row_of(counting, counting->unit_ns, dag->resource_count, owner)[ask->resource] +=
                (double)held_ns * ask->units;
    }
}

// Figures -------------------------------------------------------------------------------------------------------------

static int by_endpoint(const void *a, const void *b) {
    const struct logged_request *x = *(const struct logged_request *const *)a,
                                *y = *(const struct logged_request *const *)b;
    if (x->endpoint != y->endpoint) return x->endpoint < y->endpoint ? -1 : 1;
    return (x->connection > y->connection) - (x->connection < y->connection);
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_cause(const void *a, const void *b) {
    const struct endpoint_cause *x = a, *y = b;
    if (x->mean_ns != y->mean_ns) return x->mean_ns < y->mean_ns ? 1 : -1;
    return x->kind != y->kind ? (int)x->kind - (int)y->kind : (x->of > y->of) - (x->of < y->of);
}

static int by_held(const void *a, const void *b) {
    const struct endpoint_held *x = a, *y = b;
    if (x->mean != y->mean) return x->mean < y->mean ? 1 : -1;
    return (x->of > y->of) - (x->of < y->of);
}

static int by_total(const void *a, const void *b) {
    const struct endpoint *x = a, *y = b;
    const double left = x->mean_ns * (double)x->count, right = y->mean_ns * (double)y->count;
    if (left != right) return left < right ? 1 : -1;
    return (x->endpoint > y->endpoint) - (x->endpoint < y->endpoint);
}

// The least value that at least the share does not exceed.
static double ranked(const double *sorted, size_t count, double share) {
    const size_t rank = (size_t)ceil(share * (double)count);
    return sorted[rank ? rank - 1 : 0];
}

static void measure_latency(struct endpoint *endpoint, double *latencies, size_t count) {
    statistics_sort(latencies, count);
    endpoint->mean_ns = statistics_mean(latencies, count);
    endpoint->p50_ns = ranked(latencies, count, 0.5);
    endpoint->p90_ns = ranked(latencies, count, 0.9);
    endpoint->p99_ns = ranked(latencies, count, 0.99);
    endpoint->max_ns = latencies[count - 1];
}

static bool list_causes(const struct counting *counting, const double *row, struct arena *arena,
                        struct endpoint *endpoint) {
    struct endpoint_cause *causes = ARENA_NEW(arena, struct endpoint_cause, counting->causes + 1);
    const double least_ns = (double)endpoint->count; // rounding leaves less than a nanosecond a request
    if (!causes) return false;
    for (size_t c = 0; c < counting->causes; c++) {
        if (row[c] < least_ns) continue;
        causes[endpoint->cause_count] = cause_of(counting->dag, c);
        causes[endpoint->cause_count++].mean_ns = row[c] / (double)endpoint->count;
    }
    qsort(causes, endpoint->cause_count, sizeof *causes, by_cause);
    endpoint->causes = causes;
    return true;
}

static const struct endpoint_held *list_held(const double *row, size_t columns, double span_ns, struct arena *arena,
                                             size_t *count) {
    struct endpoint_held *held = ARENA_NEW(arena, struct endpoint_held, columns + 1);
    *count = 0;
    for (size_t c = 0; held && c < columns; c++) {
        if (row[c] > 0 && span_ns > 0) held[(*count)++] = (struct endpoint_held){(uint32_t)c, row[c] / span_ns};
    }
    if (held) qsort(held, *count, sizeof *held, by_held);
    return held;
}

// Of the requests of one endpoint, by connection.
static bool describe(const struct counting *counting, const struct logged_request *const *requests, size_t count,
                     const struct endpoints *all, double *latencies, struct arena *arena, struct endpoint *endpoint) {
    const struct dag *dag = counting->dag;
    const double span_ns = (double)all->span_ns;
    *endpoint = (struct endpoint){.endpoint = requests[0]->endpoint, .count = count};
    for (size_t i = 0; i < count; i++) {
        latencies[i] = (double)(requests[i]->end_ns - requests[i]->begin_ns);
        endpoint->failed += requests[i]->failed;
        const bool same = i > 0 && requests[i]->connection == requests[i - 1]->connection;
        endpoint->connections += requests[i]->connection && !same;
    }
    measure_latency(endpoint, latencies, count);
    endpoint->per_s = span_ns > 0 ? (double)count / span_ns * 1e9 : NAN;
    double *causes = row_of(counting, counting->cause_ns, counting->causes, requests[0]);
    causes[CAUSE_ELSEWHERE] += endpoint->mean_ns * (double)count;
    endpoint->threads = list_held(row_of(counting, counting->thread_ns, pools_of(dag), requests[0]), pools_of(dag),
                                  span_ns, arena, &endpoint->thread_count);
    endpoint->resources = list_held(row_of(counting, counting->unit_ns, dag->resource_count, requests[0]),
                                    dag->resource_count, span_ns, arena, &endpoint->resource_count);
    return endpoint->threads && endpoint->resources && list_causes(counting, causes, arena, endpoint);
}

static void count_connections(struct endpoints *endpoints, const struct logged_request *const *requests, size_t count,
                              uint32_t *numbers) {
    for (size_t i = 0; i < count; i++) numbers[i] = requests[i]->connection;
    if (count) qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++) endpoints->connections += numbers[i] && (i == 0 || numbers[i] != numbers[i - 1]);
}

static size_t choose(const struct counting *counting, const struct logged_request **chosen,
                     struct endpoints *endpoints) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < counting->log.request_count; i++) {
        const struct logged_request *request = &counting->log.requests[i];
        if (!is_counted(counting, request)) continue;
        chosen[endpoints->requests++] = request;
        endpoints->failed += request->failed;
        if (request->begin_ns < first_ns) first_ns = request->begin_ns;
        if (request->end_ns > last_ns) last_ns = request->end_ns;
    }
    if (endpoints->requests) endpoints->span_ns = last_ns - first_ns;
    return endpoints->requests;
}

static bool describe_all(const struct counting *counting, struct arena *arena, struct endpoints *endpoints) {
    const size_t most = counting->log.request_count + 1;
    const struct logged_request **chosen = ARENA_NEW(arena, const struct logged_request *, most);
    double *latencies = ARENA_NEW(arena, double, most);
    uint32_t *numbers = ARENA_NEW(arena, uint32_t, most);
    struct endpoint *found = ARENA_NEW(arena, struct endpoint, (size_t)counting->dag->trace->endpoint_count + 2);
    if (!chosen || !latencies || !numbers || !found) return false;
    const size_t count = choose(counting, chosen, endpoints);
    count_connections(endpoints, chosen, count, numbers);
    if (count) qsort(chosen, count, sizeof *chosen, by_endpoint);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && chosen[next]->endpoint == chosen[first]->endpoint;) next++;
        if (!describe(counting, chosen + first, next - first, endpoints, latencies, arena, &found[endpoints->count++]))
            return false;
    }
    if (endpoints->count) qsort(found, endpoints->count, sizeof *found, by_total);
    endpoints->endpoints = found;
    return true;
}

static bool allocate(struct counting *counting, struct arena *arena) {
    const struct dag *dag = counting->dag;
    const size_t rows = (size_t)dag->trace->endpoint_count + 1;
    counting->causes = FIRST_RESOURCE + (size_t)dag->resource_count + pools_of(dag) + dag->trace->site_count + 1;
    counting->cause_ns = ARENA_NEW(arena, double, rows * counting->causes);
    counting->thread_ns = ARENA_NEW(arena, double, rows *pools_of(dag));
    counting->unit_ns = ARENA_NEW(arena, double, rows * dag->resource_count + 1);
    counting->owner = ARENA_NEW(arena, uint32_t, (size_t)dag->task_count + 1);
    counting->body = ARENA_NEW(arena, uint32_t, (size_t)dag->vertex_count + 1);
    return counting->cause_ns && counting->thread_ns && counting->unit_ns && counting->owner && counting->body;
}

bool metrics_endpoints(const struct dag *dag, const struct window *window, struct arena *arena,
                       struct endpoints *endpoints, struct error *error) {
    struct counting counting = {.dag = dag, .window = window};
    struct arena scratch = ARENA_INIT;
    *endpoints = (struct endpoints){0};
    bool good = request_log_read(&counting.log, dag, error);
    if (good && counting.log.request_count) {
        good = allocate(&counting, &scratch) && find_owners(&counting);
        if (good) {
            find_bodies(dag, counting.body);
            charge_spans(&counting);
            hold_threads(&counting);
            hold_units(&counting);
        }
        good = (good && describe_all(&counting, arena, endpoints)) ||
               error_set(error, STATUS_FAILED, "no memory for endpoints");
    }
    request_log_destroy(&counting.log);
    arena_destroy(&scratch);
    return good;
}

// Names ---------------------------------------------------------------------------------------------------------------

const char *endpoint_cause_text(const struct dag *dag, const struct endpoint_cause *cause, char *text, size_t size) {
    static const char *const plain[] = {[CAUSE_COMPUTING] = "computing",
                                        [CAUSE_CORE] = "waiting for a core",
                                        [CAUSE_ASLEEP] = "sleep or I/O",
                                        [CAUSE_HAND_OVER] = "hand-over between threads",
                                        [CAUSE_ELSEWHERE] = "answered asynchronously, no thread at it"};
    char name[512];
    switch (cause->kind) {
    case CAUSE_RESOURCE:
        dag_resource_text(dag, cause->of, dag_resource_site(dag, cause->of), name, sizeof name);
        snprintf(text, size, "waiting for %s", name);
        break;
    case CAUSE_QUEUE:
        snprintf(text, size, "in the queue of %s", dag_pool_text(dag, cause->of, name, sizeof name));
        break;
    case CAUSE_WAIT:
        snprintf(text, size, "waiting in %s", dag_place_text(dag, cause->of, name, sizeof name));
        break;
    default:
        snprintf(text, size, "%s", plain[cause->kind]);
    }
    return text;
}

const char *endpoint_name(const struct dag *dag, const struct endpoint *endpoint) {
    const bool known = endpoint->endpoint > 0 && endpoint->endpoint < dag->trace->endpoint_count;
    const char *name = known ? dag->trace->endpoints[endpoint->endpoint].name : NULL;
    return name ? name : "requests without a name";
}
