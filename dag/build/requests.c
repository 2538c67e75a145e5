// SPDX-License-Identifier: GPL-3.0-or-later
// Requests, and who asks. A connection's events follow one another, so that the client's time between an answer and the
// next request is known. Closed and open loops differ in what that time depends on. In a closed loop the client thinks
// for so long whatever the answer took: of the time from request to request the answer's is another part, and it varies
// more than thinking alone. In an open one requests come when they come: a late answer leaves less time to the next,
// and what is left varies more than the time from request to request (as of the classes of workload in Schroeder,
// Wierman, Harchol-Balter: Open Versus Closed: A Cautionary Tale, NSDI 2006, which says what hangs on it).
#include "dag/build/builder.h"
#include "dag/build/vertices.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b) {
    const struct request_sighting *one = a, *other = b;
    if (one->id != other->id) return one->id < other->id ? -1 : 1;
    if (one->time_ns != other->time_ns) return one->time_ns < other->time_ns ? -1 : 1;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

static void take_sighting(struct dag_request *request, const struct request_sighting *sighting) {
    if (sighting->kind == EVENT_REQUEST_NAMED) {
        request->endpoint = (uint32_t)sighting->operand;
    } else if (sighting->kind == EVENT_REQUEST_BEGIN && request->begin == DAG_NONE) {
        request->begin = sighting->vertex;
        request->task = sighting->task;
        request->connection = sighting->operand;
    } else if (sighting->kind == EVENT_REQUEST_END) {
        request->end = sighting->vertex;
        request->failed = sighting->operand == REQUEST_FAILED;
    }
}

// What no begin nor end tells of is none. Returns how many there are.
static uint32_t join_sightings(const struct builder *builder, struct dag_request *requests) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->request_count;) {
        const uint64_t id = builder->requests[i].id;
        struct dag_request request = {.id = id,
                                      .begin = DAG_NONE,
                                      .end = DAG_NONE,
                                      .task = DAG_NONE,
                                      .arrival = DAG_NONE,
                                      .polled = DAG_NONE,
                                      .before = DAG_NONE};
        for (; i < builder->request_count && builder->requests[i].id == id; i++)
            take_sighting(&request, &builder->requests[i]);
        if (request.begin != DAG_NONE || request.end != DAG_NONE) requests[count++] = request;
    }
    return count;
}

static uint32_t first_vertex(const struct dag_request *request) {
    return request->begin != DAG_NONE ? request->begin : request->end;
}

struct by_time {
    int64_t time_ns;
    uint64_t connection;
    uint32_t request;
};

static int in_time(const void *a, const void *b) {
    const struct by_time *one = a, *other = b;
    if (one->time_ns != other->time_ns) return one->time_ns < other->time_ns ? -1 : 1;
    return (one->request > other->request) - (one->request < other->request);
}

static int by_connection(const void *a, const void *b) {
    const struct by_time *one = a, *other = b;
    if (one->connection != other->connection) return one->connection < other->connection ? -1 : 1;
    return (one->request > other->request) - (one->request < other->request);
}

static void sort_requests(struct dag *dag, struct dag_request *unsorted, struct by_time *keys) {
    for (uint32_t i = 0; i < dag->request_count; i++)
        keys[i] = (struct by_time){dag->vertices.time_ns[first_vertex(&unsorted[i])], 0, i};
    qsort(keys, dag->request_count, sizeof *keys, in_time);
    for (uint32_t i = 0; i < dag->request_count; i++) dag->requests[i] = unsorted[keys[i].request];
}

static void sort_by_connection(const struct dag *dag, struct by_time *keys) {
    for (uint32_t i = 0; i < dag->request_count; i++) keys[i] = (struct by_time){0, dag->requests[i].connection, i};
    qsort(keys, dag->request_count, sizeof *keys, by_connection);
}

static void find_those_before(struct dag *dag, struct by_time *keys) {
    sort_by_connection(dag, keys);
    for (uint32_t i = 1; i < dag->request_count; i++) {
        if (keys[i].connection && keys[i].connection == keys[i - 1].connection)
            dag->requests[keys[i].request].before = keys[i - 1].request;
    }
}

// Whether nothing that handed the task over, directly or not, works on requests itself.
static bool comes_from_outside(const struct dag *dag, const struct dag_task *task, const uint32_t *first_of_task) {
    uint32_t spawner = task->spawner;
    for (uint32_t steps = 0; spawner != DAG_NONE && steps < dag->task_count; steps++) {
        if (first_of_task[spawner] != DAG_NONE) return false;
        spawner = dag->tasks[spawner].spawner;
    }
    return true;
}

// Whether its task was handed over from outside, and it is what the task was handed over for.
static bool is_polled(const struct dag *dag, const struct dag_request *request, const uint32_t *first_of_task) {
    if (request->task == DAG_NONE || request->begin == DAG_NONE) return false;
    const struct dag_task *task = &dag->tasks[request->task];
    return task->spawn_begin != DAG_NONE && task->spawn_end > task->spawn_begin && task->pool &&
           &dag->requests[first_of_task[request->task]] == request && comes_from_outside(dag, task, first_of_task);
}

// Of all connections: sums of squares about each one's mean.
struct spread {
    double thinking, between;
    uint32_t count;
};

struct loop {
    double thought, answered, thought2, between2;
    uint32_t count;
};

static void add_loop(struct spread *spread, const struct loop *loop) {
    if (loop->count < 3) return;
    const double mean = loop->thought / loop->count, mean_between = (loop->thought + loop->answered) / loop->count;
    spread->thinking += loop->thought2 - mean * loop->thought;
    spread->between += loop->between2 - mean_between * (loop->thought + loop->answered);
    spread->count += loop->count;
}

static void note_turn(const struct dag *dag, struct loop *loop, const struct dag_request *request) {
    const struct dag_request *before = &dag->requests[request->before];
    const int64_t *time_ns = dag->vertices.time_ns;
    if (before->arrival == DAG_NONE || before->end == DAG_NONE) return;
    const double thought = (double)(time_ns[request->arrival] - time_ns[before->end]);
    const double answered = (double)(time_ns[before->end] - time_ns[before->arrival]);
    loop->thought += thought;
    loop->answered += answered;
    loop->thought2 += thought * thought;
    loop->between2 += (thought + answered) * (thought + answered);
    loop->count++;
}

enum { LEAST_TURNS = 8 }; // of fewer nothing is said

// Of those with a connection and an arrival; `keys` are by connection. What has no request before comes when it came in
// either loop.
static bool is_open(const struct dag *dag, const struct by_time *keys) {
    struct spread spread = {0};
    struct loop loop = {0};
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[keys[i].request];
        if (request->before == DAG_NONE) {
            add_loop(&spread, &loop);
            loop = (struct loop){0};
        } else if (request->arrival != DAG_NONE) {
            note_turn(dag, &loop, request);
        }
    }
    add_loop(&spread, &loop);
    return spread.count >= LEAST_TURNS && spread.thinking > spread.between;
}

static void cause_start_anew(struct dag *dag, const struct dag_task *task, uint32_t polled) {
    for (uint32_t v = task->pickup; v <= task->start; v++) {
        if (dag->vertices.cause[v] == polled) dag->vertices.cause[v] = task->spawn_begin;
    }
}

// The thread that handed it over is left with marks of no effect, at the same times.
static bool move_to_client(struct builder *builder, struct dag_request *request) {
    struct dag *dag = builder->dag;
    struct dag_task *task = &dag->tasks[request->task];
    const uint32_t begin = task->spawn_begin, end = task->spawn_end;
    if (!add_thread(builder, DAG_NONE)) return false;
    struct dag_thread *thread = &dag->threads[dag->thread_count - 1];
    thread->system = thread->pinned = true;
    thread->request = (uint32_t)(request - dag->requests) + 1;
    for (uint32_t v = begin; v <= end; v += end - begin) {
        if (!add_vertex(builder, v == begin ? VERTEX_SPAWN_BEGIN : VERTEX_SPAWN_END, dag->vertices.time_ns[v],
                        dag->vertices.event[v], request->task))
            return false;
        dag->vertices.kind[v] = VERTEX_REQUEST;
        dag->vertices.task[v] = DAG_NONE;
    }
    request->polled = begin;
    request->arrival = task->spawn_begin = dag->vertex_count - 2;
    task->spawn_end = dag->vertex_count - 1;
    task->spawner = DAG_NONE;
    dag->vertices.rule[request->arrival] = RULE_BEGIN;
    cause_start_anew(dag, task, begin);
    return true;
}

static bool find_clients(struct builder *builder, uint32_t *first_of_task, const struct by_time *keys) {
    struct dag *dag = builder->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) first_of_task[t] = DAG_NONE;
    for (uint32_t i = dag->request_count; i--;) {
        if (dag->requests[i].task != DAG_NONE) first_of_task[dag->requests[i].task] = i;
    }
    for (uint32_t i = 0; i < dag->request_count; i++) {
        if (is_polled(dag, &dag->requests[i], first_of_task) && !move_to_client(builder, &dag->requests[i]))
            return false;
    }
    dag->open_loop = is_open(dag, keys);
    for (uint32_t i = 0; i < dag->request_count && !dag->open_loop; i++) {
        const struct dag_request *request = &dag->requests[i];
        if (dag_thought_ns(dag, request) >= 0)
            dag->vertices.cause[request->arrival] = dag->requests[request->before].end;
    }
    return true;
}

// ---- the end of the load

// The last of each connection, those without one being a connection; `keys` are by connection.
static bool is_last(const struct dag *dag, const struct by_time *keys, uint32_t i) {
    return i + 1 == dag->request_count || keys[i + 1].connection != keys[i].connection;
}

// When the last request was answered; INT64_MAX: recording ended before.
static int64_t load_end_ns(const struct dag *dag) {
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const uint32_t end = dag->requests[i].end;
        const int64_t end_ns = end == DAG_NONE ? INT64_MAX : dag->vertices.time_ns[end];
        if (end_ns > last_ns) last_ns = end_ns;
    }
    return last_ns;
}

// A chain of barriers behind the answers that end connections. Returns its last, DAG_NONE: no memory.
static uint32_t await_answers(struct builder *builder, struct by_time *keys) {
    struct dag *dag = builder->dag;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const uint32_t request = keys[i].request;
        if (!is_last(dag, keys, i)) continue;
        keys[count++] = (struct by_time){dag->vertices.time_ns[dag->requests[request].end], 0, request};
    }
    qsort(keys, count, sizeof *keys, in_time);
    if (!add_thread(builder, DAG_NONE)) return DAG_NONE;
    dag->threads[dag->thread_count - 1].system = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!add_vertex(builder, VERTEX_BARRIER, keys[i].time_ns, 0, DAG_NONE)) return DAG_NONE;
        dag->vertices.rule[dag->vertex_count - 1] = RULE_MAX;
        dag->vertices.cause[dag->vertex_count - 1] = dag->requests[keys[i].request].end;
    }
    return dag->vertex_count - 1;
}

// Whether a thread does nothing before that, and then what nothing known made it do.
static bool acts_by_itself(const struct dag *dag, const struct dag_thread *thread, int64_t after_ns) {
    return thread->count && thread->stream != DAG_NONE && !thread->worker &&
           dag->vertices.cause[thread->first] == DAG_NONE && dag->vertices.time_ns[thread->first] > after_ns;
}

// What has no known cause, once the last request was answered, is what stops the service (the JVM's thread for
// signals). It awaits the end of the load in an edited run, too: at its recorded time it would take away what serves
// those who still ask. So does a thread that wakes then (woken.c): an acceptor that is stopped, one that waits for the
// client's end.
static bool hold_up_the_end(struct builder *builder, struct by_time *keys) {
    struct dag *dag = builder->dag;
    const int64_t end_ns = load_end_ns(dag);
    const uint32_t recorded_threads = dag->thread_count;
    for (uint32_t t = 0; t < recorded_threads; t++) {
        const bool acts = acts_by_itself(dag, &dag->threads[t], end_ns);
        if (!acts && woken_at(dag, &dag->threads[t], end_ns) == DAG_NONE) continue;
        if (builder->end_of_load == DAG_NONE) builder->end_of_load = await_answers(builder, keys);
        if (builder->end_of_load == DAG_NONE) return false;
        if (!acts) continue;
        dag->vertices.cause[dag->threads[t].first] = builder->end_of_load;
        dag->vertices.rule[dag->threads[t].first] = RULE_BEGIN;
    }
    return true;
}

bool find_requests(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (builder->request_count == 0) return true;
    qsort(builder->requests, builder->request_count, sizeof *builder->requests, by_id);
    dag->requests = ARENA_NEW(&dag->arena, struct dag_request, builder->request_count);
    struct dag_request *unsorted = malloc(builder->request_count * sizeof *unsorted);
    struct by_time *keys = malloc(builder->request_count * sizeof *keys);
    uint32_t *first_of_task = malloc(((size_t)dag->task_count + 1) * sizeof *first_of_task);
    bool ok = dag->requests && unsorted && keys && first_of_task;
    if (!ok) no_memory(builder);
    if (ok) {
        dag->request_count = join_sightings(builder, unsorted);
        sort_requests(dag, unsorted, keys);
        find_those_before(dag, keys);
        ok = find_clients(builder, first_of_task, keys);
    }
    free(unsorted);
    free(keys);
    free(first_of_task);
    return ok;
}

bool find_end_of_load(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (dag->request_count == 0) return true;
    struct by_time *keys = malloc(dag->request_count * sizeof *keys);
    if (!keys) return no_memory(builder);
    sort_by_connection(dag, keys);
    const bool ok = hold_up_the_end(builder, keys);
    free(keys);
    return ok;
}
