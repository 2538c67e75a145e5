// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/message_graph.h"

#include "metrics/message_pattern.h"
#include "report/escape.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>

// Kinds of nodes that are no actors are no boxes.
static void write_dot_node(const struct message_graph *graph, uint32_t index, FILE *file) {
    const struct graph_node *node = &graph->nodes[index];
    fprintf(file, "  n%u [label=", index);
    escape_dot(file, class_short(graph_node_name(graph, index)));
    if (node->kind == NODE_TYPE)
        fprintf(file, ", xlabel=\"%s\"", text_count(node->actors).s);
    else
        fputs(", shape=plaintext", file);
    fputs("];\n", file);
}

void message_graph_write_dot(const struct message_graph *graph, FILE *file) {
    fputs("digraph messages {\n  node [shape=box];\n", file);
    for (uint32_t n = 0; n < graph->node_count; n++) write_dot_node(graph, n, file);
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        char label[512];
        snprintf(label, sizeof label, "%s %s", class_short(actor_log_class(graph->log, edge->class)),
                 text_count(edge->count).s);
        fprintf(file, "  n%u -> n%u [label=", edge->from, edge->to);
        escape_dot(file, label);
        fprintf(file, ", penwidth=%.1f];\n", 1 + log10((double)edge->count));
    }
    fputs("}\n", file);
}

static void write_keys(FILE *file) {
    static const char *const keys[][3] = {{"label", "node", "string"}, {"kind", "node", "string"},
                                          {"actors", "node", "long"},  {"message", "edge", "string"},
                                          {"count", "edge", "long"},   {"processing_ns", "edge", "long"}};
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
          file);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fprintf(file, "<key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", keys[i][0], keys[i][1],
                keys[i][0], keys[i][2]);
    fputs("<graph id=\"messages\" edgedefault=\"directed\">\n", file);
}

static void write_xml_node(const struct message_graph *graph, uint32_t index, FILE *file) {
    const struct graph_node *node = &graph->nodes[index];
    fprintf(file, "<node id=\"n%u\"><data key=\"label\">", index);
    escape_xml(file, graph_node_name(graph, index));
    fprintf(file, "</data><data key=\"kind\">%s</data>", node->kind == NODE_TYPE ? "type" : "other");
    fprintf(file, "<data key=\"actors\">%" PRIu64 "</data></node>\n", node->actors);
}

void message_graph_write_graphml(const struct message_graph *graph, FILE *file) {
    write_keys(file);
    for (uint32_t n = 0; n < graph->node_count; n++) write_xml_node(graph, n, file);
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        fprintf(file, "<edge source=\"n%u\" target=\"n%u\"><data key=\"message\">", edge->from, edge->to);
        escape_xml(file, actor_log_class(graph->log, edge->class));
        fprintf(file, "</data><data key=\"count\">%" PRIu64 "</data><data key=\"processing_ns\">%.0f</data></edge>\n",
                edge->count, edge->processing_ns);
    }
    fputs("</graph>\n</graphml>\n", file);
}
