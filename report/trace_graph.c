// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/trace_graph.h"

#include <inttypes.h>

static const char *const vertex_kind_names[] = {
    [VERTEX_SPAWN_BEGIN] = "spawn_begin",
    [VERTEX_SPAWN_END] = "spawn_end",
    [VERTEX_START] = "start",
    [VERTEX_END] = "end",
    [VERTEX_RESULT] = "result",
    [VERTEX_WAIT_BEGIN] = "wait_begin",
    [VERTEX_WAIT_END] = "wait_end",
    [VERTEX_IDLE] = "idle",
    [VERTEX_BUSY] = "busy",
    [VERTEX_RETIRE] = "retire",
    [VERTEX_SHUTDOWN] = "shutdown",
    [VERTEX_THREAD_START] = "thread_start",
    [VERTEX_THREAD_END] = "thread_end",
    [VERTEX_BARRIER] = "barrier",
    [VERTEX_ACQUIRE] = "acquire",
    [VERTEX_ACQUIRED] = "acquired",
    [VERTEX_GIVEN_UP] = "given_up",
    [VERTEX_HELD] = "held",
    [VERTEX_RELEASED] = "released",
    [VERTEX_REQUEST] = "request",
};

static void write_keys(FILE *file) {
    static const char *const keys[][3] = {{"kind", "node", "string"},      {"time_ns", "node", "long"},
                                          {"thread", "node", "int"},       {"task", "node", "long"},
                                          {"edge_kind", "edge", "string"}, {"delay_ns", "edge", "long"}};
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
          file);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fprintf(file, "<key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", keys[i][0], keys[i][1],
                keys[i][0], keys[i][2]);
    }
    fputs("<graph id=\"trace-dag\" edgedefault=\"directed\">\n", file);
}

static void write_node(const struct dag *dag, uint32_t vertex, uint32_t thread, FILE *file) {
    const uint32_t stream = dag->threads[thread].stream, task = dag_task_of(&dag->vertices, vertex);
    fprintf(file, "<node id=\"v%u\"><data key=\"kind\">%s</data><data key=\"time_ns\">%" PRId64 "</data>", vertex,
            vertex_kind_names[dag->vertices.kind[vertex]], dag->vertices.time_ns[vertex]);
    if (stream != DAG_NONE) fprintf(file, "<data key=\"thread\">%u</data>", dag->trace->streams[stream].id);
    if (task != DAG_NONE) fprintf(file, "<data key=\"task\">%" PRIu64 "</data>", dag->tasks[task].id);
    fputs("</node>\n", file);
}

static void write_edge(FILE *file, uint32_t from, uint32_t to, const char *kind, int64_t delay_ns) {
    fprintf(file,
            "<edge source=\"v%u\" target=\"v%u\"><data key=\"edge_kind\">%s</data>"
            "<data key=\"delay_ns\">%" PRId64 "</data></edge>\n",
            from, to, kind, delay_ns);
}

static bool is_within(const struct dag *dag, const struct window *window, uint32_t vertex) {
    const int64_t time_ns = dag->vertices.time_ns[vertex];
    return time_ns >= window->from_ns && time_ns <= window->to_ns;
}

// Of a time edge the delay is 0, but to a thread's first vertex, which has no other edge.
static void write_edges(const struct dag *dag, const struct window *window, uint32_t vertex, bool first, FILE *file) {
    const int64_t *time_ns = dag->vertices.time_ns;
    const uint32_t cause = dag_awaited_by(&dag->vertices, vertex);
    const bool begins = dag->vertices.rule[vertex] == RULE_BEGIN;
    if (!first && is_within(dag, window, vertex - 1))
        write_edge(file, vertex - 1, vertex, "thread", time_ns[vertex] - time_ns[vertex - 1]);
    if (cause != DAG_NONE && is_within(dag, window, cause))
        write_edge(file, cause, vertex, "cause", begins ? time_ns[vertex] - time_ns[cause] : 0);
}

void trace_graph_write(const struct dag *dag, const struct window *window, FILE *file) {
    write_keys(file);
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (is_within(dag, window, v)) write_node(dag, v, t, file);
        }
    }
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (is_within(dag, window, v)) write_edges(dag, window, v, v == thread->first, file);
        }
    }
    fputs("</graph>\n</graphml>\n", file);
}
