// SPDX-License-Identifier: GPL-3.0-or-later
// The graph of messages for other programs: Graphviz, Gephi, yEd. Names are escaped.
#ifndef REHYPE_REPORT_MESSAGE_GRAPH_H
#define REHYPE_REPORT_MESSAGE_GRAPH_H

#include "metrics/message_graph.h"

#include <stdio.h>

// Nodes with how many actors they stand for, edges with the message's type and how many there were, wider the more.
void message_graph_write_dot(const struct message_graph *graph, FILE *file);

// The same with `label`, `kind` and `actors` of nodes, `message`, `count` and `processing_ns` of edges.
void message_graph_write_graphml(const struct message_graph *graph, FILE *file);

#endif
