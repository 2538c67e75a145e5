// SPDX-License-Identifier: GPL-3.0-or-later
// Who talks to whom: a graph whose nodes are actor types and whose edges are types of messages between them. What no
// actor sends comes from "outside" (a task, a timer), answers that complete an ask go to "futures", and what nobody
// handles to "dead letters".
#ifndef REHYPE_METRICS_MESSAGE_GRAPH_H
#define REHYPE_METRICS_MESSAGE_GRAPH_H

#include "metrics/actor_log.h"

enum graph_node_kind { NODE_TYPE, NODE_OUTSIDE, NODE_FUTURES, NODE_DEAD_LETTERS };

struct graph_node {
    enum graph_node_kind kind;
    uint32_t type;   // trace class id
    uint64_t actors; // of the type
};

struct graph_edge {
    uint32_t from, to; // nodes
    uint32_t class;    // trace class id of the message
    uint64_t count;
    double processing_ns;
};

struct message_graph {
    const struct actor_log *log;
    struct graph_node *nodes;
    size_t node_count;
    struct graph_edge *edges; // most messages first
    size_t edge_count;
};

// Of the messages that concern the program, each once; of a window (NULL: all) those that were sent in it, and all
// actors. In the arena. Errors: no memory. Cost: 100 ns a message.
bool message_graph_make(const struct actor_log *log, const struct window *window, struct arena *arena,
                        struct message_graph *graph, struct error *error);

// "p.Renderer", "outside"; never NULL.
const char *graph_node_name(const struct message_graph *graph, uint32_t node);

#endif
