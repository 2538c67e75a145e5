// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/communities.h"

#include <igraph.h>
#include <stdlib.h>

// Between two types, whichever sends.
struct talk {
    uint32_t one, other;
    double messages;
};

static int by_types(const void *a, const void *b) {
    const struct talk *x = a, *y = b;
    if (x->one != y->one) return x->one < y->one ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

// One item a pair; those of one type with itself left out. Returns how many.
static size_t collect(const struct message_graph *graph, struct talk *talks) {
    size_t count = 0, pairs = 0;
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        const bool of_types = graph->nodes[edge->from].kind == NODE_TYPE && graph->nodes[edge->to].kind == NODE_TYPE;
        if (!of_types || edge->from == edge->to) continue;
        const bool rising = edge->from < edge->to;
        talks[count++] =
            (struct talk){rising ? edge->from : edge->to, rising ? edge->to : edge->from, (double)edge->count};
    }
    if (count) qsort(talks, count, sizeof *talks, by_types);
    for (size_t i = 0; i < count; i++) {
        if (pairs && by_types(&talks[pairs - 1], &talks[i]) == 0)
            talks[pairs - 1].messages += talks[i].messages;
        else
            talks[pairs++] = talks[i];
    }
    return pairs;
}

static igraph_error_t detect(const struct talk *talks, size_t count, size_t nodes, igraph_vector_int_t *membership) {
    igraph_t graph;
    igraph_vector_int_t edges;
    igraph_vector_t weights;
    IGRAPH_CHECK(igraph_vector_int_init(&edges, 2 * (igraph_integer_t)count));
    IGRAPH_FINALLY(igraph_vector_int_destroy, &edges);
    IGRAPH_CHECK(igraph_vector_init(&weights, (igraph_integer_t)count));
    IGRAPH_FINALLY(igraph_vector_destroy, &weights);
    for (size_t i = 0; i < count; i++) {
        VECTOR(edges)[2 * i] = talks[i].one;
        VECTOR(edges)[2 * i + 1] = talks[i].other;
        VECTOR(weights)[i] = talks[i].messages;
    }
    IGRAPH_CHECK(igraph_create(&graph, &edges, (igraph_integer_t)nodes, IGRAPH_UNDIRECTED));
    IGRAPH_FINALLY(igraph_destroy, &graph);
    IGRAPH_CHECK(igraph_rng_seed(igraph_rng_default(), 1)); // the same graph gives the same communities
    IGRAPH_CHECK(igraph_community_label_propagation(&graph, membership, IGRAPH_ALL, &weights, NULL, NULL));
    igraph_destroy(&graph);
    igraph_vector_destroy(&weights);
    igraph_vector_int_destroy(&edges);
    IGRAPH_FINALLY_CLEAN(3);
    return IGRAPH_SUCCESS;
}

static bool detect_all(const struct talk *talks, size_t count, size_t nodes, uint32_t *community) {
    igraph_vector_int_t membership;
    igraph_error_handler_t *before = igraph_set_error_handler(igraph_error_handler_ignore);
    bool ok = igraph_vector_int_init(&membership, 0) == IGRAPH_SUCCESS;
    if (ok) {
        ok = detect(talks, count, nodes, &membership) == IGRAPH_SUCCESS;
        for (size_t i = 0; ok && i < nodes; i++) community[i] = (uint32_t)VECTOR(membership)[i];
        igraph_vector_int_destroy(&membership);
    }
    igraph_set_error_handler(before);
    return ok;
}

bool communities_find(const struct message_graph *graph, uint32_t *community, struct error *error) {
    struct talk *talks = malloc((graph->edge_count + 1) * sizeof *talks);
    const size_t count = talks ? collect(graph, talks) : 0;
    bool ok = talks;
    for (size_t i = 0; i < graph->node_count; i++) community[i] = (uint32_t)i;
    if (count) ok = detect_all(talks, count, graph->node_count, community);
    free(talks);
    return ok || error_set(error, STATUS_FAILED, "no memory for communities of actors");
}
