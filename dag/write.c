// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/write.h"

#include "dag/build/ids.h"
#include "dag/build/perturbation.h"
#include "dag/rewrite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 256

// A pool that got another size has it in the table too. One that handed tasks over got a queue with it.
static struct trace_pool pool_of_run(const struct dag *run, uint32_t pool) {
    struct trace_pool written = run->trace->pools[pool];
    const struct dag_pool *now = &run->pools[pool], *then = run->origin ? &run->origin->pools[pool] : now;
    if (now->core != then->core) written.core = now->core;
    if (now->maximum != then->maximum) written.maximum = now->maximum;
    if (pool && pool == run->carriers_pool) written.core = (int32_t)run->resources[run->carriers - 1].capacity;
    if (now->discipline != then->discipline) {
        written.queue = "java.util.concurrent.LinkedBlockingQueue";
        written.capacity = -1;
    }
    return written;
}

// What got another capacity comes once more behind, which replaces what was said before.
static bool write_resources(const struct dag *run, struct trace_writer *writer) {
    const struct trace *trace = run->trace;
    bool ok = true;
    for (size_t i = 0; ok && i < trace->resource_count; i++) ok = trace_write_resource(writer, &trace->resources[i]);
    for (uint32_t r = 0; ok && run->origin && r < run->resource_count; r++) {
        const struct trace_resource *known = trace_resource(trace, run->resources[r].id);
        if (!known || run->resources[r].capacity == run->origin->resources[r].capacity) continue;
        struct trace_resource resource = *known;
        resource.capacity = run->resources[r].capacity;
        ok = trace_write_resource(writer, &resource);
    }
    return ok;
}

static bool write_tables(const struct dag *run, struct trace_writer *writer) {
    const struct trace *trace = run->trace;
    bool ok =
        (trace->method_count < 2 || trace_write_methods(writer, 1, trace->methods + 1, trace->method_count - 1)) &&
        (trace->endpoint_count < 2 ||
         trace_write_endpoints(writer, 1, trace->endpoints + 1, trace->endpoint_count - 1)) &&
        (trace->site_count < 2 || trace_write_sites(writer, 1, trace->sites + 1, trace->site_count - 1)) &&
        (trace->class_count < 2 || trace_write_classes(writer, 1, trace->classes + 1, trace->class_count - 1));
    for (uint32_t p = 1; ok && p < trace->pool_count; p++) {
        struct trace_pool pool = pool_of_run(run, p);
        ok = trace_write_pool(writer, p, &pool);
    }
    ok = ok && write_resources(run, writer);
    const struct dag *recorded = run->origin ? run->origin : run;
    if (ok && trace->tells_costs && !recorded->tracer.recorded_ns) ok = trace_write_event_costs(writer, trace->costs);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) {
        ok = trace_write_thread(writer, trace->streams[s].id, &trace->streams[s].thread);
    }
    ok = ok && trace_write_actors(writer, trace->actors, trace->actor_count);
    for (size_t q = 0; ok && q < trace->queued_count; q++) ok = trace_write_queued(writer, &trace->queued[q], 1);
    return ok && (trace->running_count == 0 || trace_write_running(writer, trace->running, trace->running_count));
}

static bool decode_stream(const struct trace *trace, uint32_t stream, struct stream_events *decoded,
                          struct error *error) {
    struct trace_cursor cursor;
    uint64_t count = trace->streams[stream].event_count;
    decoded->events = malloc((count + 1) * sizeof *decoded->events);
    if (!decoded->events)
        return error_set(error, STATUS_FAILED, "no memory for %llu events", (unsigned long long)count);
    trace_cursor_init(&cursor, trace, &trace->streams[stream]);
    while (decoded->count < count && trace_cursor_next(&cursor, &decoded->events[decoded->count], error)) {
        decoded->count++;
    }
    return error->status == STATUS_OK;
}

static struct stream_events *decode(const struct trace *trace, struct error *error) {
    struct stream_events *streams = calloc((size_t)trace->stream_count + 1, sizeof *streams);
    if (!streams) error_set(error, STATUS_FAILED, "no memory for %u threads", trace->stream_count);
    for (uint32_t s = 0; streams && s < trace->stream_count; s++) {
        if (!decode_stream(trace, s, &streams[s], error)) break;
    }
    return streams;
}

static void free_decoded(const struct trace *trace, struct stream_events *streams) {
    for (uint32_t s = 0; streams && s < trace->stream_count; s++) free(streams[s].events);
    free(streams);
}

// An id above all that name a task, a thread's run, a lock or a resource.
static uint64_t unused_id(const struct trace *trace, const struct stream_events *streams) {
    uint64_t most = 0;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        for (uint64_t i = 0; i < streams[s].count; i++) most = ids_highest(&streams[s].events[i], most);
    }
    return most + 1;
}

// Where the tracer's cost was taken out, events have their times in that run.
static void move_events(const struct dag *recorded, struct stream_events *streams) {
    for (uint32_t i = 0; i < recorded->thread_count && recorded->tracer.recorded_ns; i++) {
        uint32_t stream = recorded->threads[i].stream;
        if (stream == DAG_NONE) continue;
        struct dag_remap remap;
        dag_remap_init(&remap, recorded, i);
        for (uint64_t e = 0; e < streams[stream].count; e++) {
            struct event *event = &streams[stream].events[e];
            event->time = (uint64_t)dag_remap(&remap, (int64_t)event->time);
        }
    }
}

// Threads that the graph does not have, the JVM's own stream among them, stay as they are.
static bool write_others(const struct dag *run, const struct stream_events *streams, const bool *in_graph,
                         struct trace_writer *writer) {
    for (uint32_t s = 0; s < run->trace->stream_count; s++) {
        if (in_graph[s] || streams[s].count == 0) continue;
        if (!trace_write_events(writer, run->trace->streams[s].id, streams[s].events, streams[s].count)) return false;
    }
    return true;
}

// "pool-1-thread-4" and 7 are "pool-1-thread-7".
static void name_like(const char *model, uint32_t number, char name[NAME_SIZE]) {
    size_t length = model ? strlen(model) : 0;
    while (length > 0 && isdigit((unsigned char)model[length - 1])) length--;
    snprintf(name, NAME_SIZE, "%.*s%u", (int)(length < NAME_SIZE - 16 ? length : NAME_SIZE - 16), model ? model : "",
             number);
}

static uint32_t workers_up_to(const struct dag *run, uint32_t thread) {
    uint32_t count = 0;
    for (uint32_t i = 0; i <= thread; i++)
        count += run->threads[i].worker && run->threads[i].pool == run->threads[thread].pool;
    return count;
}

// Workers that were not recorded get ids of their own, and names like their pool's others.
static bool write_new_thread(const struct dag *run, uint32_t index, uint32_t id, struct trace_writer *writer) {
    struct trace_thread thread = {0};
    char name[NAME_SIZE];
    uint32_t stream = run->threads[index].stream;
    if (stream != DAG_NONE) thread = run->trace->streams[stream].thread;
    name_like(thread.name, workers_up_to(run, index), name);
    thread.name = name;
    return trace_write_thread(writer, id, &thread);
}

static uint32_t unused_thread_id(const struct trace *trace) {
    uint32_t most = 0;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id > most) most = trace->streams[s].id;
    }
    return most + 1;
}

struct hand_over {
    struct event begin, end;
};

static int by_time(const void *a, const void *b) {
    const struct event *one = &((const struct hand_over *)a)->begin, *other = &((const struct hand_over *)b)->begin;
    if (one->time != other->time) return one->time < other->time ? -1 : 1;
    return (one->operand[0] > other->operand[0]) - (one->operand[0] < other->operand[0]);
}

// A client's hand-over is what the thread was recorded to do that handed the request over, at the run's times. On one
// thread none can last into the next.
static size_t list_arrivals(const struct rewrite *rewrite, struct hand_over *by) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    size_t count = 0;
    for (uint32_t i = 0; i < recorded->request_count; i++) {
        const uint32_t arrival = recorded->requests[i].arrival, now = run->requests[i].arrival;
        if (arrival == DAG_NONE || now == DAG_NONE) continue;
        const uint32_t stream = recorded->threads[dag_thread_of(recorded, recorded->requests[i].polled)].stream;
        const struct event *events = rewrite->streams[stream].events;
        by[count].begin = events[recorded->vertices.event[arrival]];
        by[count].end = events[recorded->vertices.event[arrival + 1]];
        by[count].begin.time = (uint64_t)run->vertices.time_ns[now];
        by[count++].end.time = (uint64_t)run->vertices.time_ns[now + 1];
    }
    qsort(by, count, sizeof *by, by_time);
    for (size_t i = 0; i + 1 < count; i++) {
        if (by[i].end.time > by[i + 1].begin.time) by[i].end.time = by[i + 1].begin.time;
    }
    return count;
}

// All clients are one thread of the system's: nobody counts it, and reading tells them apart again.
static bool write_clients(const struct rewrite *rewrite, uint32_t id, struct trace_writer *writer,
                          struct error *error) {
    struct hand_over *by = malloc(((size_t)rewrite->recorded->request_count + 1) * sizeof *by);
    if (!by) return error_set(error, STATUS_FAILED, "no memory for the clients' events");
    const size_t count = list_arrivals(rewrite, by);
    const struct trace_thread clients = {.name = "clients", .flags = THREAD_SYSTEM};
    bool ok = count && trace_write_thread(writer, id, &clients);
    for (size_t i = 0; ok && i < count; i++)
        ok = trace_write_events(writer, id, &by[i].begin, 1) && trace_write_events(writer, id, &by[i].end, 1);
    free(by);
    return true; // the writer keeps its own error, for its close
}

static bool write_threads(struct rewrite *rewrite, bool *in_graph, struct trace_writer *writer, struct error *error) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    uint32_t new_id = unused_thread_id(run->trace);
    for (uint32_t i = 0; i < run->thread_count; i++) {
        bool is_new = i >= recorded->thread_count;
        uint32_t stream = run->threads[i].stream;
        if (!is_new && stream == DAG_NONE) continue;
        if (!is_new) in_graph[stream] = true;
        if (!rewrite_thread(rewrite, i)) return error_set(error, STATUS_FAILED, "no memory for a thread's events");
        uint32_t id = is_new ? new_id++ : run->trace->streams[stream].id;
        if (is_new && !write_new_thread(run, i, id, writer)) return true;
        if (rewrite->count && !trace_write_events(writer, id, rewrite->out, rewrite->count)) return true;
    }
    write_others(run, rewrite->streams, in_graph, writer);
    if (recorded->request_count) return write_clients(rewrite, new_id, writer, error);
    return true; // the writer keeps its own error, for its close
}

static struct trace_writer *open_writer(const struct dag *run, uint64_t besides_ns, const char *path,
                                        struct error *error) {
    struct trace_header header = run->trace->header;
    if (run->redispatched && run->vertices.compute_ns) header.cycle_unit = "ns";
    header.clock = "ns";
    header.ticks_per_s = 1000000000;
    header.origin = "estimated";
    header.besides_ns = besides_ns;
    return trace_writer_open(path, &header, false, NULL, error);
}

// Copies of "worker", which stand side by side, are "worker-2", "worker-3", ...
static bool write_copies(const struct rewrite *rewrite, struct trace_writer *writer) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    uint32_t number = 1, before = 0;
    bool ok = true;
    for (uint32_t a = recorded->actor_count + 1; ok && run->actors && a <= run->actor_count; a++) {
        const uint64_t id = rewritten_actor_id(&rewrite->actors, a);
        if (!id) continue;
        const uint32_t of = recorded->actor_of[run->part_of[run->actors[a].init - recorded->task_count]];
        const char *original = trace_actor_name(run->trace, recorded->actors[of].id);
        number = of == before ? number + 1 : 2;
        before = of;
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.200s-%u", original ? original : "actor", number);
        ok = trace_write_actors(writer, &(struct trace_actor){id, name}, 1);
    }
    return ok;
}

static bool write_run(struct rewrite *rewrite, uint64_t besides_ns, const char *path, struct error *error) {
    const struct trace *trace = rewrite->run->trace;
    bool *in_graph = calloc((size_t)trace->stream_count + 1, sizeof *in_graph);
    if (!in_graph) return error_set(error, STATUS_FAILED, "no memory for %u threads", trace->stream_count);
    struct trace_writer *writer = open_writer(rewrite->run, besides_ns, path, error);
    bool ok = writer != NULL;
    if (ok && write_tables(rewrite->run, writer) && write_copies(rewrite, writer))
        ok = write_threads(rewrite, in_graph, writer, error);
    struct error closing = ERROR_INIT;
    if (writer && !trace_writer_close(writer, &trace->end, &closing) && ok) {
        *error = closing;
        ok = false;
    }
    free(in_graph);
    return ok;
}

bool dag_write_run(const struct dag *run, uint64_t besides_ns, const char *path, struct error *error) {
    error->status = STATUS_OK;
    struct stream_events *streams = decode(run->trace, error);
    struct rewrite rewrite = {0};
    bool ok = error->status == STATUS_OK;
    if (ok) {
        uint64_t next_id = unused_id(run->trace, streams);
        move_events(run->origin ? run->origin : run, streams);
        ok = rewrite_init(&rewrite, run, streams, &next_id, error) && write_run(&rewrite, besides_ns, path, error);
    }
    rewrite_destroy(&rewrite);
    free_decoded(run->trace, streams);
    return ok || error_wrap(error, "cannot write the estimated run to %s", path);
}
