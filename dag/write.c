// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/rewrite.h"

#include <stdlib.h>

static bool write_tables(const struct trace *trace, struct trace_writer *writer) {
    bool ok =
        (trace->method_count < 2 || trace_write_methods(writer, 1, trace->methods + 1, trace->method_count - 1)) &&
        (trace->site_count < 2 || trace_write_sites(writer, 1, trace->sites + 1, trace->site_count - 1)) &&
        (trace->class_count < 2 || trace_write_classes(writer, 1, trace->classes + 1, trace->class_count - 1));
    for (uint32_t p = 1; ok && p < trace->pool_count; p++) ok = trace_write_pool(writer, p, &trace->pools[p]);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) {
        ok = trace_write_thread(writer, trace->streams[s].id, &trace->streams[s].thread);
    }
    return ok;
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

static bool index_inlined(struct rewrite *rewrite) {
    for (uint32_t t = 0; t < rewrite->dag->task_count; t++) {
        if (rewrite->edit->inlined[t] && !idmap_add(&rewrite->inlined, rewrite->dag->tasks[t].id, t)) return false;
    }
    return true;
}

// Threads that the graph does not have, the JVM's own stream among them, stay as they are.
static bool write_others(const struct dag *dag, const struct stream_events *streams, const bool *in_graph,
                         struct trace_writer *writer) {
    for (uint32_t s = 0; s < dag->trace->stream_count; s++) {
        if (in_graph[s] || streams[s].count == 0) continue;
        if (!trace_write_events(writer, dag->trace->streams[s].id, streams[s].events, streams[s].count)) return false;
    }
    return true;
}

static bool write_threads(struct rewrite *rewrite, bool *in_graph, struct trace_writer *writer, struct error *error) {
    const struct dag *dag = rewrite->dag;
    if (!index_inlined(rewrite)) return error_set(error, STATUS_FAILED, "no memory for the inlined tasks");
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t stream = dag->threads[i].stream;
        if (stream == DAG_NONE) continue;
        in_graph[stream] = true;
        if (!rewrite_thread(rewrite, i)) return error_set(error, STATUS_FAILED, "no memory for a thread's events");
        uint32_t id = dag->trace->streams[stream].id;
        if (rewrite->count && !trace_write_events(writer, id, rewrite->out, rewrite->count)) return true;
    }
    write_others(dag, rewrite->streams, in_graph, writer);
    return true; // the writer keeps its own error, for its close
}

static struct trace_writer *open_writer(const struct trace *trace, const char *path, struct error *error) {
    struct trace_header header = trace->header;
    header.clock = "ns";
    header.ticks_per_s = 1000000000;
    header.origin = "estimated";
    return trace_writer_open(path, &header, false, NULL, error);
}

static bool write_run(struct rewrite *rewrite, const char *path, struct error *error) {
    const struct trace *trace = rewrite->dag->trace;
    bool *in_graph = calloc((size_t)trace->stream_count + 1, sizeof *in_graph);
    if (!in_graph) return error_set(error, STATUS_FAILED, "no memory for %u threads", trace->stream_count);
    struct trace_writer *writer = open_writer(trace, path, error);
    bool ok = writer != NULL;
    if (ok && write_tables(trace, writer)) ok = write_threads(rewrite, in_graph, writer, error);
    struct error closing = ERROR_INIT;
    if (writer && !trace_writer_close(writer, &trace->end, &closing) && ok) {
        *error = closing;
        ok = false;
    }
    free(in_graph);
    return ok;
}

bool dag_write(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run, const char *path,
               struct error *error) {
    error->status = STATUS_OK;
    struct stream_events *streams = decode(dag->trace, error);
    struct rewrite rewrite = {.dag = dag, .edit = edit, .run = run, .streams = streams};
    bool ok = error->status == STATUS_OK && write_run(&rewrite, path, error);
    rewrite_destroy(&rewrite);
    free_decoded(dag->trace, streams);
    return ok || error_wrap(error, "cannot write the estimated run to %s", path);
}
