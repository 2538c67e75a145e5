// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/message_graph.h"

#include "dag/idmap.h"

#include <stdlib.h>
#include <string.h>

struct making {
    const struct actor_log *log;
    struct graph_node *nodes;
    struct graph_edge *edges;
    uint32_t node_count, node_capacity, edge_count, edge_capacity;
    struct idmap node_of, edge_of;
    bool no_memory;
};

static bool grow(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    void **items = array;
    if (count < *capacity) return true;
    const uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *moved = realloc(*items, larger * size);
    if (!moved) return false;
    *items = moved;
    *capacity = larger;
    return true;
}

static uint32_t node_at(struct making *making, enum graph_node_kind kind, uint32_t type) {
    const uint64_t key = (uint64_t)kind << 32 | type;
    const uint32_t known = idmap_get(&making->node_of, key);
    if (known != IDMAP_NONE) return known;
    if (!grow(&making->nodes, making->node_count, &making->node_capacity, sizeof *making->nodes) ||
        !idmap_add(&making->node_of, key, making->node_count)) {
        making->no_memory = true;
        return 0;
    }
    making->nodes[making->node_count] = (struct graph_node){kind, type, 0};
    return making->node_count++;
}

static uint64_t key_of(const struct graph_edge *edge) {
    uint64_t key = (uint64_t)edge->from << 32 | edge->to;
    key = (key ^ key >> 31) * UINT64_C(0xBF58476D1CE4E5B9) ^ edge->class;
    return (key ^ key >> 29) * UINT64_C(0x94D049BB133111EB);
}

static void add_edge(struct making *making, const struct graph_edge *more) {
    const uint64_t key = key_of(more);
    uint32_t known = idmap_get(&making->edge_of, key);
    if (making->no_memory) return;
    if (known == IDMAP_NONE) {
        if (!grow(&making->edges, making->edge_count, &making->edge_capacity, sizeof *making->edges) ||
            !idmap_add(&making->edge_of, key, making->edge_count)) {
            making->no_memory = true;
            return;
        }
        known = making->edge_count++;
        making->edges[known] = (struct graph_edge){more->from, more->to, more->class, 0, 0};
    }
    making->edges[known].count++;
    making->edges[known].processing_ns += more->processing_ns;
}

static uint32_t node_of_actor(struct making *making, uint32_t actor, enum graph_node_kind otherwise) {
    if (actor == LOG_NONE) return node_at(making, otherwise, 0);
    return node_at(making, NODE_TYPE, making->log->actors[actor].type);
}

static void add_message(struct making *making, const struct logged_message *message) {
    const bool dead = message->begin_ns == LOG_NEVER && (message->dead || message->way == MESSAGE_TO_NOBODY);
    struct graph_edge edge = {.class = message->class};
    edge.from = node_of_actor(making, message->sender, NODE_OUTSIDE);
    if (message->way == MESSAGE_TO_FUTURE)
        edge.to = node_at(making, NODE_FUTURES, 0);
    else if (dead)
        edge.to = node_at(making, NODE_DEAD_LETTERS, 0);
    else
        edge.to = node_of_actor(making, message->receiver, NODE_OUTSIDE);
    if (message_is_handled(message)) edge.processing_ns = (double)(message->end_ns - message->begin_ns);
    add_edge(making, &edge);
}

static int by_count(const void *a, const void *b) {
    const struct graph_edge *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

// Where its sending was not recorded, its beginning counts.
static bool is_of_window(const struct logged_message *message, const struct window *window) {
    const int64_t time_ns = message->sent_ns == LOG_NEVER ? message->begin_ns : message->sent_ns;
    return !window || is_in_window(window, time_ns);
}

static void make(struct making *making, const struct window *window) {
    const struct actor_log *log = making->log;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        if (!log->actors[a].of_program) continue;
        const uint32_t node = node_at(making, NODE_TYPE, log->actors[a].type);
        if (!making->no_memory) making->nodes[node].actors++;
    }
    for (uint32_t m = 0; m < log->message_count && !making->no_memory; m++) {
        const struct logged_message *message = &log->messages[m];
        if (message->of_program && message->next == LOG_NONE && is_of_window(message, window))
            add_message(making, message);
    }
    if (making->edge_count) qsort(making->edges, making->edge_count, sizeof *making->edges, by_count);
}

static void *keep(struct arena *arena, const void *items, size_t count, size_t size) {
    void *kept = arena_alloc(arena, count + 1, size);
    if (kept && count) memcpy(kept, items, count * size);
    return kept;
}

bool message_graph_make(const struct actor_log *log, const struct window *window, struct arena *arena,
                        struct message_graph *graph, struct error *error) {
    struct making making = {.log = log};
    make(&making, window);
    *graph = (struct message_graph){.log = log, .node_count = making.node_count, .edge_count = making.edge_count};
    graph->nodes = keep(arena, making.nodes, making.node_count, sizeof *making.nodes);
    graph->edges = keep(arena, making.edges, making.edge_count, sizeof *making.edges);
    free(making.nodes);
    free(making.edges);
    idmap_destroy(&making.node_of);
    idmap_destroy(&making.edge_of);
    const bool ok = !making.no_memory && graph->nodes && graph->edges;
    return ok || error_set(error, STATUS_FAILED, "no memory for the graph of messages");
}

const char *graph_node_name(const struct message_graph *graph, uint32_t node) {
    static const char *const names[] = {
        [NODE_OUTSIDE] = "outside", [NODE_FUTURES] = "futures", [NODE_DEAD_LETTERS] = "dead letters"};
    const struct graph_node *of = &graph->nodes[node];
    return of->kind == NODE_TYPE ? actor_log_class(graph->log, of->type) : names[of->kind];
}
