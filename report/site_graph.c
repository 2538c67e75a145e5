// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/site_graph.h"

#include "report/escape.h"
#include "report/interned.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>

enum edge_kind { EDGE_SPAWNS, EDGE_AWAITS, EDGE_KINDS };

struct node { // of a name
    uint64_t tasks;
    int64_t ran_ns; // bodies, with what lies in them
};

struct edge {
    uint32_t from, to; // nodes
    enum edge_kind kind;
    uint64_t count;
    int64_t waited_ns;
};

// What a thread is in: of spans that are no task, and lie in one, that task's node.
struct level {
    uint32_t node; // NODE_NONE: in no task
    uint32_t edge; // that the span is of, or EDGE_NONE
    int64_t since_ns;
};

enum { NODE_NONE = 0, EDGE_NONE = UINT32_MAX }; // nodes are numbers of names

struct site_graph {
    const struct timeline *timeline;
    struct interned names;
    struct idmap edge_of;
    struct node *nodes; // [number of the name]
    struct edge *edges;
    struct level *open;
    uint32_t node_capacity, edge_count, edge_capacity, depth, open_capacity;
    bool no_memory;
};

static bool make_room(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    void **items = array;
    if (count < *capacity) return true;
    const uint32_t larger = 2 * count + 64;
    void *moved = realloc(*items, larger * size);
    if (!moved) return false;
    *items = moved;
    *capacity = larger;
    return true;
}

static uint32_t node_of(struct site_graph *graph, uint32_t task) {
    char text[SPAN_NAME_BYTES];
    const struct span span = {.kind = SPAN_TASK, .of = task};
    const uint32_t known = graph->names.count;
    const uint32_t node = interned_number(&graph->names, span_name(graph->timeline->dag, &span, text, sizeof text));
    graph->no_memory |=
        node == NODE_NONE || !make_room(&graph->nodes, node, &graph->node_capacity, sizeof *graph->nodes);
    if (graph->no_memory) return NODE_NONE;
    if (graph->names.count > known) graph->nodes[node] = (struct node){0};
    return node;
}

static uint32_t edge_at(struct site_graph *graph, uint32_t from, uint32_t to, enum edge_kind kind) {
    const uint64_t key = ((uint64_t)from << 32 | to) * EDGE_KINDS + kind;
    const uint32_t known = idmap_get(&graph->edge_of, key);
    if (from == NODE_NONE || to == NODE_NONE) return EDGE_NONE;
    if (known != IDMAP_NONE) return known;
    if (!make_room(&graph->edges, graph->edge_count, &graph->edge_capacity, sizeof *graph->edges) ||
        !idmap_add(&graph->edge_of, key, graph->edge_count)) {
        graph->no_memory = true;
        return EDGE_NONE;
    }
    graph->edges[graph->edge_count] = (struct edge){from, to, kind, 0, 0};
    return graph->edge_count++;
}

// Counts what the task that the thread is in does to another.
static uint32_t take_edge(struct site_graph *graph, uint32_t from, uint32_t task, enum edge_kind kind) {
    const uint32_t edge = task == DAG_NONE ? EDGE_NONE : edge_at(graph, from, node_of(graph, task), kind);
    if (edge != EDGE_NONE) graph->edges[edge].count++;
    return edge;
}

static void begin_span(struct site_graph *graph, const struct moment *moment) {
    const uint32_t from = graph->depth > 0 ? graph->open[graph->depth - 1].node : NODE_NONE;
    struct level level = {from, EDGE_NONE, moment->time_ns};
    if (moment->span.kind == SPAN_TASK && (level.node = node_of(graph, moment->span.of)) != NODE_NONE)
        graph->nodes[level.node].tasks++;
    if (moment->span.kind == SPAN_SPAWN) take_edge(graph, from, moment->span.of, EDGE_SPAWNS);
    if (moment->span.kind == SPAN_WAIT)
        level.edge = take_edge(graph, from, span_awaited(graph->timeline->dag, &moment->span), EDGE_AWAITS);
    graph->no_memory |= !make_room(&graph->open, graph->depth, &graph->open_capacity, sizeof *graph->open);
    if (!graph->no_memory) graph->open[graph->depth++] = level;
}

static void end_span(struct site_graph *graph, const struct moment *moment) {
    const struct level *level = &graph->open[--graph->depth];
    const int64_t lasted_ns = moment->time_ns - level->since_ns;
    if (level->edge != EDGE_NONE) graph->edges[level->edge].waited_ns += lasted_ns;
    if (moment->span.kind == SPAN_TASK) graph->nodes[level->node].ran_ns += lasted_ns;
}

static void take_moment(void *context, const struct moment *moment) {
    struct site_graph *graph = context;
    if (graph->no_memory) return;
    if (moment->kind == MOMENT_BEGIN) begin_span(graph, moment);
    if (moment->kind == MOMENT_END) end_span(graph, moment);
    if (moment->kind == MOMENT_MARK && moment->mark == MARK_SENT && graph->depth > 0)
        take_edge(graph, graph->open[graph->depth - 1].node, moment->span.of, EDGE_SPAWNS);
}

static void write_node(const struct site_graph *graph, uint32_t node, FILE *file) {
    const struct node *of = &graph->nodes[node];
    fprintf(file, "  n%u [label=", node);
    escape_dot(file, graph->names.texts[node - 1]);
    fprintf(file, ", xlabel=\"%s task%s, %s\"];\n", text_count(of->tasks).s, of->tasks == 1 ? "" : "s",
            text_duration((double)of->ran_ns).s);
}

static void write_edge(const struct edge *edge, FILE *file) {
    fprintf(file, "  n%u -> n%u [penwidth=%.1f, ", edge->from, edge->to, 1 + log10((double)edge->count));
    if (edge->kind == EDGE_SPAWNS)
        fprintf(file, "label=\"spawns %s\"];\n", text_count(edge->count).s);
    else
        fprintf(file, "style=dashed, label=\"awaits %s, %s\"];\n", text_count(edge->count).s,
                text_duration((double)edge->waited_ns).s);
}

bool site_graph_write_dot(const struct timeline *timeline, FILE *file, struct error *error) {
    struct site_graph graph = {.timeline = timeline};
    bool ok = timeline_visit(timeline, take_moment, &graph, error);
    if (ok && graph.no_memory) ok = error_set(error, STATUS_FAILED, "no memory for the graph of sites");
    if (ok) fputs("digraph tasks {\n  node [shape=box];\n", file);
    for (uint32_t n = 1; ok && n <= graph.names.count; n++) write_node(&graph, n, file);
    for (uint32_t e = 0; ok && e < graph.edge_count; e++) write_edge(&graph.edges[e], file);
    if (ok) fputs("}\n", file);
    interned_destroy(&graph.names);
    idmap_destroy(&graph.edge_of);
    free(graph.nodes);
    free(graph.edges);
    free(graph.open);
    return ok;
}
