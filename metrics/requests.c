// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/requests.h"

#include "metrics/service.h"

#include "dag/names.h"
#include "dag/ns.h"
#include "metrics/quantiles.h"
#include "metrics/resources.h"
#include "metrics/work.h"

#include <stdlib.h>

// One thread more or less for a request.
struct occupation {
    int64_t time_ns;
    uint32_t request, pool; // task; trace pool id, 0 none
    int delta;
};

struct counting {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct dag_run *run;
    const struct window *window; // may be NULL
    const uint8_t *action, *thread_class;
    struct dag_chain *chain;
    uint32_t site;

    uint8_t *chosen;  // a task each, for find_topmost
    uint32_t *top;    // a task each: request whose tree it is in, or DAG_NONE
    uint32_t *path;   // of find_topmost
    uint32_t *stack;  // open bodies of a thread, by task
    uint32_t *bodies; // a request each: its bodies that are open on the thread
    double *latency;
    int64_t *staged_ns; // a task each: when the last of what the request put into stages ended, DAG_ABSENT: nothing
    struct occupation *occupations;
    size_t count, latency_count, occupation_count;
    int *level, *peak; // threads of one request by pool: now, at most
    int64_t *held_ns;  // thread-time of all requests by pool, but for waits for resources; [0]: of none
    int64_t computed_ns;
    double *units_ns;   // a resource each: what requests held of it, by time, but for waits for resources
    int64_t *waited_ns; // a resource each: requests' time asleep for it
    uint64_t *waits;    // and how often
    uint32_t *holds;    // asks by which the thread in hand has what it has
    uint32_t hold_count;
    int64_t first_ns, last_ns; // of all requests
};

enum { TOP_UNSOLVED = UINT32_MAX - 1, TOP_ON_PATH = UINT32_MAX - 2 };

struct request_metrics requests_unknown(void) {
    return (struct request_metrics){
        .site = DAG_NONE,
        .count = NAN,
        .latency_ns = {NAN, NAN, NAN, NAN, NAN, NAN, NAN},
        .throughput_per_s = NAN,
        .peak_threads = NAN,
        .concurrent = NAN,
        .sustainable_per_s = NAN,
        .bottleneck = DAG_NONE,
        .bottleneck_resource = DAG_NONE,
    };
}

// For each task the outermost chosen one among itself, its spawner, the spawner's spawner and so on; DAG_NONE without.
// Spawners in a ring, which a damaged recording may hold, have none above them.
static void find_topmost(struct counting *counting, const struct dag *dag) {
    uint32_t *top = counting->top, *path = counting->path;
    for (uint32_t t = 0; t < dag->task_count; t++) top[t] = TOP_UNSOLVED;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        uint32_t depth = 0, above = t;
        for (; above != DAG_NONE && top[above] == TOP_UNSOLVED; above = dag->tasks[above].spawner) {
            top[above] = TOP_ON_PATH;
            path[depth++] = above;
        }
        uint32_t found = above == DAG_NONE || top[above] == TOP_ON_PATH ? DAG_NONE : top[above];
        while (depth > 0) {
            uint32_t task = path[--depth];
            if (found == DAG_NONE && counting->chosen[task]) found = task;
            top[task] = found;
        }
    }
}

static bool is_counted(const struct dag *dag, const struct dag_task *task) {
    return task->start != DAG_NONE && work_classify(dag, &dag->threads[task->thread]) != CLASS_UNCOUNTED;
}

static bool starts_within(const struct counting *counting, const struct dag *dag, const struct dag_task *task) {
    return is_counted(dag, task) && work_is_within(counting->window, work_recorded_ns(dag, task->start));
}

static bool is_of_pool(const struct dag *dag, const struct dag_task *task) {
    return task->pool || (task->thread != DAG_NONE && dag->threads[task->thread].worker);
}

struct site_tally {
    uint32_t tasks;
    int64_t total_ns;
};

static uint32_t largest(const struct site_tally *tallies, uint32_t site_count) {
    uint32_t best = DAG_NONE;
    for (uint32_t s = 0; s < site_count; s++) {
        const struct site_tally *tally = &tallies[s], *most = best == DAG_NONE ? NULL : &tallies[best];
        bool more =
            !most ? tally->tasks > 0
                  : tally->tasks > most->tasks || (tally->tasks == most->tasks && tally->total_ns > most->total_ns);
        if (more) best = s;
    }
    return best;
}

static uint32_t find_outermost_site(struct counting *counting, struct site_tally *tallies) {
    const struct dag *dag = work_origin(counting->dag);
    for (uint32_t t = 0; t < dag->task_count; t++) counting->chosen[t] = is_of_pool(dag, &dag->tasks[t]);
    find_topmost(counting, dag);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool outermost = task->spawner == DAG_NONE || counting->top[task->spawner] == DAG_NONE;
        if (!outermost || task->site == DAG_NONE || !starts_within(counting, dag, task)) continue;
        tallies[task->site].tasks++;
        tallies[task->site].total_ns += dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start];
    }
    return largest(tallies, dag->site_count);
}

// A request goes on in the stages of a pipeline, where nobody awaits what was put.
static void follow_through_stages(struct counting *counting) {
    const struct dag *dag = counting->dag;
    const int64_t *time_ns = counting->run->time_ns;
    for (uint32_t t = 0; t < dag->task_count; t++) counting->staged_ns[t] = DAG_ABSENT;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        const uint32_t request = counting->top[t];
        bool of_stage = task->pool < dag->pool_count && dag->pools[task->pool].is_stage;
        if (!of_stage || request == DAG_NONE || task->end == DAG_NONE || time_ns[task->end] == DAG_ABSENT) continue;
        counting->staged_ns[request] = max_ns(counting->staged_ns[request], time_ns[task->end]);
    }
}

static void add_latency(struct counting *counting, uint32_t request) {
    const struct dag_task *task = &counting->dag->tasks[request];
    const int64_t *time_ns = counting->run->time_ns;
    if (task->result == DAG_NONE || task->spawn_begin == DAG_NONE || time_ns[task->result] == DAG_ABSENT ||
        time_ns[task->spawn_begin] == DAG_ABSENT)
        return;
    const int64_t done_ns = max_ns(time_ns[task->result], counting->staged_ns[request]);
    counting->latency[counting->latency_count++] = (double)(done_ns - time_ns[task->spawn_begin]);
}

static void extend_span(struct counting *counting, const struct dag_task *task) {
    const int64_t from_ns = counting->run->time_ns[task->start], to_ns = counting->run->time_ns[task->end];
    if (from_ns < counting->first_ns) counting->first_ns = from_ns;
    if (to_ns > counting->last_ns) counting->last_ns = to_ns;
}

static void find_requests(struct counting *counting) {
    const struct dag *dag = counting->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        counting->chosen[t] =
            dag->tasks[t].site == counting->site && work_task_runs(dag, counting->edit, counting->run, t);
    }
    find_topmost(counting, dag);
    follow_through_stages(counting);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (counting->top[t] != t || !starts_within(counting, dag, &dag->tasks[t])) continue;
        counting->count++;
        add_latency(counting, t);
        extend_span(counting, &dag->tasks[t]);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        uint32_t request = counting->top[t];
        if (request != DAG_NONE && !starts_within(counting, dag, &dag->tasks[request])) counting->top[t] = DAG_NONE;
    }
}

static void occupy(struct counting *counting, uint32_t thread, uint32_t request, int64_t time_ns, int delta) {
    counting->occupations[counting->occupation_count++] = (struct occupation){
        .time_ns = time_ns, .request = request, .pool = counting->dag->threads[thread].pool, .delta = delta};
}

static void close_body(struct counting *counting, uint32_t thread, uint32_t task, int64_t time_ns) {
    uint32_t request = counting->top[task];
    if (request != DAG_NONE && --counting->bodies[request] == 0 && counting->thread_class[thread] == CLASS_PLATFORM)
        occupy(counting, thread, request, time_ns, -1);
}

static void open_body(struct counting *counting, uint32_t thread, uint32_t task, int64_t time_ns) {
    uint32_t request = counting->top[task];
    if (request != DAG_NONE && counting->bodies[request]++ == 0 && counting->thread_class[thread] == CLASS_PLATFORM)
        occupy(counting, thread, request, time_ns, 1);
}

// Of a lock for readers and writers a writer has all; what readers have keeps none of them out.
static double units_of(const struct dag *dag, const struct dag_ask *ask) {
    bool rw = dag->resources[ask->resource].kind == RESOURCE_READ_WRITE_LOCK;
    return rw ? !ask->shared && ask->units > 0 : ask->units;
}

static void charge_resources(struct counting *counting, uint32_t vertex, int64_t passed_ns) {
    const struct dag *dag = counting->dag;
    const struct dag_ask *asks = dag->asks;
    const unsigned kind = dag->vertices.kind[vertex];
    if (kind == VERTEX_ACQUIRED || kind == VERTEX_GIVEN_UP) {
        const uint32_t resource = asks[dag->vertices.task[vertex]].resource;
        counting->waited_ns[resource] += passed_ns;
        counting->waits[resource] += passed_ns > 0;
        return;
    }
    for (uint32_t i = 0; i < counting->hold_count; i++) {
        const struct dag_ask *ask = &asks[counting->holds[i]];
        counting->units_ns[ask->resource] += units_of(dag, ask) * (double)passed_ns;
    }
}

// What passed before a vertex is its innermost body's, so that no thread's time counts for two requests.
static void charge(struct counting *counting, uint32_t thread, uint32_t task, uint32_t vertex, int64_t passed_ns) {
    const struct dag *dag = counting->dag;
    const unsigned kind = dag->vertices.kind[vertex];
    if (counting->top[task] == DAG_NONE) return;
    if (counting->thread_class[thread] == CLASS_VIRTUAL && dag->carriers && dag->vertices.queued_ns)
        counting->units_ns[dag->carriers - 1] += (double)metrics_carrier_held_ns(dag, vertex, passed_ns);
    charge_resources(counting, vertex, passed_ns);
    if (kind == VERTEX_ACQUIRED || kind == VERTEX_GIVEN_UP) return;
    if (counting->thread_class[thread] == CLASS_PLATFORM) counting->held_ns[dag->threads[thread].pool] += passed_ns;
    if (!dag->vertices.compute_ns) return;
    int64_t computed_ns = work_compute_ns(dag, counting->edit, vertex); // of a wait that sleeps no more, no longer
    counting->computed_ns += computed_ns < passed_ns ? computed_ns : passed_ns;
}

// What is not seen to be given back by the thread that took it, as a permit, has no length that is known.
static void see_hold(struct counting *counting, uint32_t vertex, bool in_request) {
    const struct dag *dag = counting->dag;
    const unsigned kind = dag->vertices.kind[vertex];
    if (!vertex_is_of_resource(kind)) return;
    const uint32_t index = dag->vertices.task[vertex];
    const struct dag_ask *ask = &dag->asks[index];
    if (kind == VERTEX_ACQUIRED || kind == VERTEX_HELD) {
        bool told = dag->resources[ask->resource].tells_holds;
        if (told && ask->released != DAG_NONE) counting->holds[counting->hold_count++] = index;
        if (!told && in_request) counting->units_ns[ask->resource] += units_of(dag, ask) * (double)ask->held_ns;
    }
    if (kind != VERTEX_RELEASED) return;
    for (uint32_t i = counting->hold_count; i-- > 0;) {
        if (dag->asks[counting->holds[i]].resource != ask->resource) continue;
        for (counting->hold_count--; i < counting->hold_count; i++) counting->holds[i] = counting->holds[i + 1];
        return;
    }
}

// Follows what runs on a thread under the edit; a body counts if no other of its request is open around it.
static void walk_thread(struct counting *counting, uint32_t thread) {
    uint32_t depth = 0;
    int64_t now = 0;
    counting->hold_count = 0;
    dag_chain_start(counting->chain, thread);
    for (uint32_t v; (v = dag_chain_next(counting->chain)) != DAG_NONE;) {
        int64_t time_ns = counting->run->time_ns[v];
        if (time_ns == DAG_ABSENT) continue;
        if (depth > 0) charge(counting, thread, counting->stack[depth - 1], v, time_ns - now);
        now = time_ns;
        see_hold(counting, v, depth > 0 && counting->top[counting->stack[depth - 1]] != DAG_NONE);
        if (counting->action[v] == ACTION_OPEN) {
            counting->stack[depth++] = counting->dag->vertices.task[v];
            open_body(counting, thread, counting->stack[depth - 1], now);
        } else if (counting->action[v] == ACTION_CLOSE) {
            close_body(counting, thread, counting->stack[--depth], now);
        }
    }
    while (depth > 0) close_body(counting, thread, counting->stack[--depth], now);
}

// By request, then by time; of one instant what ends comes first, since only what lasts counts.
static int compare_occupations(const void *a, const void *b) {
    const struct occupation *left = a, *right = b;
    if (left->request != right->request) return left->request < right->request ? -1 : 1;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return left->delta - right->delta;
}

// Fills peak, and returns the most threads that one request has in all.
static int find_peaks(struct counting *counting) {
    int level = 0, peak = 0;
    if (counting->occupation_count)
        qsort(counting->occupations, counting->occupation_count, sizeof *counting->occupations, compare_occupations);
    for (size_t i = 0; i < counting->occupation_count; i++) {
        const struct occupation *occupation = &counting->occupations[i];
        int *in_pool = &counting->level[occupation->pool], *most_in_pool = &counting->peak[occupation->pool];
        level += occupation->delta;
        *in_pool += occupation->delta;
        if (level > peak) peak = level;
        if (*in_pool > *most_in_pool) *most_in_pool = *in_pool;
    }
    return peak;
}

// A pool that the edit resized has the size of the simulated run. A fork-join pool is full at its parallelism: what it
// makes beyond that stands in for workers that wait.
static int32_t pool_maximum(const struct dag *dag, uint32_t index) {
    const struct dag_pool *pool = &dag->pools[index];
    if (pool->discipline == DISCIPLINE_STEALING) return pool->core;
    bool resized = dag->origin && pool->maximum != dag->origin->pools[index].maximum;
    return resized ? pool->maximum : dag->trace->pools[index].maximum;
}

// How many workers a pool has under load: beyond its core ones only for what its queue has no room for.
static int32_t pool_workers(const struct dag *dag, uint32_t index) {
    const struct dag_pool *pool = &dag->pools[index];
    if (pool->maximum < 0 || pool->core < 0) return 0;
    if (pool->discipline == DISCIPLINE_STEALING) return pool->core;
    const int32_t most = dag_pool_most(pool);
    return most > 0 ? most : 1;
}

// The pool that runs full first decides. A pool whose maximum is unknown might be that one.
static double concurrent(const struct dag *dag, const int *peak) {
    double least = NAN;
    for (uint32_t pool = 1; pool < dag->trace->pool_count; pool++) {
        if (peak[pool] == 0) continue;
        int32_t maximum = pool_maximum(dag, pool);
        if (maximum == INT32_MAX) continue;
        if (maximum < 1) return NAN;
        double fit = maximum / peak[pool];
        if (isnan(least) || fit < least) least = fit;
    }
    return least;
}

static void bound_rate(struct request_metrics *requests, uint32_t bottleneck, double servers, double demand_ns) {
    double per_s = servers / demand_ns * 1e9;
    if (per_s >= requests->sustainable_per_s) return;
    requests->sustainable_per_s = per_s;
    requests->bottleneck = bottleneck;
}

static void bound_by_pools(const struct counting *counting, double count, struct request_metrics *requests) {
    const struct dag *dag = counting->dag;
    for (uint32_t pool = 1; pool < dag->pool_count; pool++) {
        if (counting->held_ns[pool] == 0) continue;
        int32_t workers = pool_workers(dag, pool);
        if (workers < 1) requests->sustainable_per_s = NAN;
        if (workers != INT32_MAX) bound_rate(requests, pool, workers, (double)counting->held_ns[pool] / count);
    }
}

// What hardly any request waits for, or only for a moment of the time that it is held, limits none, however long each
// has it: as a connection's own lock.
static bool may_limit(const struct counting *counting, uint32_t resource) {
    enum { REQUESTS_A_WAIT = 50, HELD_A_WAIT = 50 };
    const bool often = counting->waits[resource] * REQUESTS_A_WAIT >= counting->count;
    const bool long_enough = (double)counting->waited_ns[resource] * HELD_A_WAIT >= counting->units_ns[resource];
    return counting->units_ns[resource] > 0 && counting->waits[resource] > 0 && often && long_enough &&
           counting->dag->resources[resource].capacity >= 1;
}

static void bound_by_resources(const struct counting *counting, double count, struct request_metrics *requests) {
    const struct dag *dag = counting->dag;
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        if (!may_limit(counting, r)) continue;
        const double before = requests->sustainable_per_s;
        bound_rate(requests, requests->bottleneck, (double)dag->resources[r].capacity, counting->units_ns[r] / count);
        if (requests->sustainable_per_s < before) requests->bottleneck_resource = r;
    }
}

// A rate, or permits that others give back, bound by how fast they come, which is not known but for this run.
static void bound_by_waits(const struct counting *counting, double count, struct request_metrics *requests) {
    const struct dag *dag = counting->dag;
    int64_t threads_ns = 0, waited_ns = 0;
    uint32_t most = DAG_NONE;
    for (uint32_t pool = 0; pool <= dag->trace->pool_count; pool++) threads_ns += counting->held_ns[pool];
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        waited_ns += counting->waited_ns[r];
        if (most == DAG_NONE || counting->waited_ns[r] > counting->waited_ns[most]) most = r;
    }
    const double span_ns = (double)(counting->last_ns - counting->first_ns);
    const bool limits = most != DAG_NONE && counting->units_ns[most] == 0 &&
                        counting->waited_ns[most] > (threads_ns + waited_ns) / 2 && span_ns > 0;
    if (!limits || !isfinite(requests->sustainable_per_s) || count / span_ns * 1e9 >= requests->sustainable_per_s)
        return;
    requests->sustainable_per_s = count / span_ns * 1e9;
    requests->bottleneck_resource = most;
}

// What is busiest by the time that one request needs of it saturates first; a pool of unknown size might be that.
static void find_bottleneck(const struct counting *counting, struct request_metrics *requests) {
    const struct dag *dag = counting->dag;
    const double count = (double)counting->count;
    requests->sustainable_per_s = INFINITY;
    bound_by_pools(counting, count, requests);
    double cores = work_cores(dag);
    if (cores == 0 || !dag->vertices.compute_ns) requests->sustainable_per_s = NAN;
    if (counting->computed_ns > 0) bound_rate(requests, 0, cores, (double)counting->computed_ns / count);
    bound_by_resources(counting, count, requests);
    bound_by_waits(counting, count, requests);
    if (isfinite(requests->sustainable_per_s)) return;
    requests->sustainable_per_s = NAN;
    requests->bottleneck = requests->bottleneck_resource = DAG_NONE;
}

static bool allocate(struct counting *counting, struct arena *arena, struct site_tally **tallies) {
    const struct dag *dag = counting->dag;
    const size_t tasks = (size_t)dag->task_count + 1, pools = (size_t)dag->trace->pool_count + 1;
    counting->chosen = ARENA_NEW(arena, uint8_t, tasks);
    counting->top = ARENA_NEW(arena, uint32_t, tasks);
    counting->path = ARENA_NEW(arena, uint32_t, tasks);
    counting->stack = ARENA_NEW(arena, uint32_t, tasks);
    counting->bodies = ARENA_NEW(arena, uint32_t, tasks);
    counting->latency = ARENA_NEW(arena, double, tasks);
    counting->staged_ns = ARENA_NEW(arena, int64_t, tasks);
    counting->occupations = ARENA_NEW(arena, struct occupation, 2 * tasks);
    counting->level = ARENA_NEW(arena, int, pools);
    counting->peak = ARENA_NEW(arena, int, pools);
    counting->held_ns = ARENA_NEW(arena, int64_t, pools);
    counting->units_ns = ARENA_NEW(arena, double, (size_t)dag->resource_count + 1);
    counting->waited_ns = ARENA_NEW(arena, int64_t, (size_t)dag->resource_count + 1);
    counting->waits = ARENA_NEW(arena, uint64_t, (size_t)dag->resource_count + 1);
    counting->holds = ARENA_NEW(arena, uint32_t, (dag->ask_count ? (size_t)dag->vertex_count : 0) + 1);
    *tallies = ARENA_NEW(arena, struct site_tally, (size_t)dag->site_count + 1);
    return counting->chosen && counting->top && counting->stack && counting->bodies && counting->latency &&
           counting->staged_ns && counting->occupations && counting->path && counting->level && counting->peak &&
           counting->held_ns && counting->units_ns && counting->waited_ns && counting->waits && counting->holds &&
           *tallies;
}

static void count_all(struct counting *counting, struct request_metrics *requests) {
    const struct dag *dag = counting->dag;
    find_requests(counting);
    if (counting->count == 0) return;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (counting->thread_class[t] != CLASS_UNCOUNTED && dag->threads[t].count) walk_thread(counting, t);
    }
    if (dag->carriers) {
        const struct carrier_waits waits = metrics_carrier_waits(dag);
        counting->waited_ns[dag->carriers - 1] = waits.wait_ns;
        counting->waits[dag->carriers - 1] = waits.waits;
    }
    requests->count = (double)counting->count;
    requests->latency_ns = quantiles_of(counting->latency, counting->latency_count);
    requests->peak_threads = find_peaks(counting);
    requests->concurrent = concurrent(dag, counting->peak);
    find_bottleneck(counting, requests);
}

bool metrics_requests(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                      const struct window *window, uint32_t site, struct metrics_work *work,
                      struct request_metrics *requests, struct error *error) {
    *requests = requests_unknown();
    if (!work_bind(work, dag, edit, error)) return false;
    struct counting counting = {.dag = dag,
                                .edit = edit,
                                .run = run,
                                .window = window,
                                .action = work->scratch->action,
                                .thread_class = work->scratch->thread_class,
                                .chain = &work->chain,
                                .first_ns = INT64_MAX,
                                .last_ns = INT64_MIN};
    struct arena arena = ARENA_INIT;
    struct site_tally *tallies;
    bool allocated = allocate(&counting, &arena, &tallies);
    if (allocated) {
        counting.site = site != DAG_NONE ? site : find_outermost_site(&counting, tallies);
        if (counting.site != DAG_NONE) {
            requests->dag = work_origin(dag);
            requests->site = counting.site;
            count_all(&counting, requests);
        }
    }
    arena_destroy(&arena);
    allocated = allocated && service_figures(dag, run->time_ns, window, requests);
    return allocated || error_set(error, STATUS_FAILED, "no memory for requests");
}

bool metrics_requests_of_run(const struct dag *run, const struct window *window, uint32_t site,
                             struct metrics_work *work, struct request_metrics *requests, struct error *error) {
    const struct dag_run times = {.time_ns = run->vertices.time_ns};
    *requests = requests_unknown();
    return work_bind_run(work, run, error) &&
           metrics_requests(run, &work->scratch->empty, &times, window, site, work, requests, error);
}

const char *requests_bottleneck(const struct request_metrics *requests, char *text, size_t size) {
    const struct dag *dag = requests->dag;
    if (!dag) return NULL;
    if (requests->bottleneck_resource != DAG_NONE) {
        const uint32_t site = dag_resource_site(dag, requests->bottleneck_resource);
        return dag_resource_text(dag, requests->bottleneck_resource, site, text, size);
    }
    if (requests->bottleneck == DAG_NONE) return NULL;
    if (requests->bottleneck == 0) return "cores";
    const char *name = dag->trace->pools[requests->bottleneck].name;
    return name ? name : "a pool";
}
