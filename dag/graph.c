// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/graph.h"

#include "dag/edit/chain.h"
#include "dag/propagate/propagate.h"

#include <igraph.h>
#include <stdlib.h>

struct edge {
    uint32_t from, to;
};

// The edited graph, edge by edge.
struct edges {
    struct edge *edges;
    size_t count, capacity;
};

static bool igraph_failed(igraph_error_t code, struct error *error) {
    if (code != IGRAPH_SUCCESS) error_set(error, STATUS_FAILED, "igraph: %s", igraph_strerror(code));
    return code != IGRAPH_SUCCESS;
}

static bool add_edge(struct edges *edges, struct edge edge) {
    if (edges->count == edges->capacity) {
        size_t larger = edges->capacity ? edges->capacity * 2 : 1024;
        struct edge *moved = realloc(edges->edges, larger * sizeof *moved);
        if (!moved) return false;
        edges->edges = moved;
        edges->capacity = larger;
    }
    edges->edges[edges->count++] = edge;
    return true;
}

static bool add_cause(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, uint32_t vertex,
                      const int64_t *marks, struct edges *edges) {
    struct dag_constraint constraint = {.cause = dag_awaited_by(&dag->vertices, vertex)};
    if (constraint.cause == DAG_NONE) return true;
    bool removed = marks[constraint.cause] == DAG_ABSENT;
    if (dag->vertices.rule[vertex] == RULE_BEGIN) {
        constraint = dag_constraint_of_start(dag, edit, vertex, thread, removed);
        removed = constraint.cause == DAG_NONE;
    }
    return removed || add_edge(edges, (struct edge){constraint.cause, vertex});
}

static bool collect_edges(const struct dag *dag, const struct dag_edit *edit, const int64_t *marks,
                          struct edges *edges) {
    struct dag_chain chain;
    dag_chain_init(&chain, dag, edit);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t before = DAG_NONE;
        dag_chain_start(&chain, i);
        for (uint32_t v; (v = dag_chain_next(&chain)) != DAG_NONE; before = v) {
            if (before != DAG_NONE && !add_edge(edges, (struct edge){before, v})) return false;
            if (!chain.entered && !add_cause(dag, edit, i, v, marks, edges)) return false;
        }
    }
    return true;
}

static bool edges_init(struct edges *edges, const struct dag *dag, const struct dag_edit *edit, struct error *error) {
    *edges = (struct edges){0};
    int64_t *marks = malloc(((size_t)dag->vertex_count + 1) * sizeof *marks);
    bool ok = marks;
    if (ok) {
        dag_mark_absent(dag, edit, marks);
        ok = collect_edges(dag, edit, marks, edges);
    }
    free(marks);
    return ok || error_set(error, STATUS_FAILED, "no memory for the edges of %u vertices", dag->vertex_count);
}

static void edges_destroy(struct edges *edges) {
    free(edges->edges);
}

static bool make_graph(igraph_t *graph, const struct edge *edges, size_t count, uint32_t vertices, bool directed,
                       struct error *error) {
    igraph_vector_int_t ends;
    if (igraph_failed(igraph_vector_int_init(&ends, (igraph_integer_t)(2 * count)), error)) return false;
    for (size_t i = 0; i < count; i++) {
        VECTOR(ends)[2 * i] = edges[i].from;
        VECTOR(ends)[2 * i + 1] = edges[i].to;
    }
    bool failed = igraph_failed(igraph_create(graph, &ends, vertices, directed), error);
    igraph_vector_int_destroy(&ends);
    return !failed;
}

bool graph_is_acyclic(const struct dag *dag, const struct dag_edit *edit, bool *acyclic, struct error *error) {
    igraph_set_error_handler(igraph_error_handler_ignore);
    struct edges edges;
    igraph_t graph;
    bool ok = edges_init(&edges, dag, edit, error) &&
              make_graph(&graph, edges.edges, edges.count, dag->vertex_count, IGRAPH_DIRECTED, error);
    edges_destroy(&edges);
    if (!ok) return false;
    igraph_bool_t answer;
    ok = !igraph_failed(igraph_is_dag(&graph, &answer), error);
    *acyclic = ok && answer;
    igraph_destroy(&graph);
    return ok;
}

// Weakly connected components. `component` may be NULL.
static bool find_components(const igraph_t *graph, uint32_t *component, uint32_t *count, struct error *error) {
    igraph_vector_int_t membership;
    igraph_integer_t found;
    if (igraph_failed(igraph_vector_int_init(&membership, 0), error)) return false;
    bool failed = igraph_failed(igraph_connected_components(graph, &membership, NULL, &found, IGRAPH_WEAK), error);
    if (!failed) *count = (uint32_t)found;
    for (igraph_integer_t v = 0; component && !failed && v < igraph_vector_int_size(&membership); v++) {
        component[v] = (uint32_t)VECTOR(membership)[v];
    }
    igraph_vector_int_destroy(&membership);
    return !failed;
}

bool graph_components(const struct dag *dag, uint32_t *count, struct error *error) {
    igraph_set_error_handler(igraph_error_handler_ignore);
    struct dag_edit edit;
    struct edges edges;
    igraph_t graph;
    if (!dag_edit_init(&edit, dag, error)) return false;
    bool ok = edges_init(&edges, dag, &edit, error) &&
              make_graph(&graph, edges.edges, edges.count, dag->vertex_count, IGRAPH_UNDIRECTED, error);
    edges_destroy(&edges);
    dag_edit_destroy(&edit);
    if (!ok) return false;
    ok = find_components(&graph, NULL, count, error);
    igraph_destroy(&graph);
    return ok;
}

bool graph_group_pairs(uint32_t vertices, const uint32_t (*pairs)[2], size_t pair_count, uint32_t *component,
                       uint32_t *component_count, struct error *error) {
    igraph_set_error_handler(igraph_error_handler_ignore);
    igraph_vector_int_t ends;
    igraph_t graph;
    if (igraph_failed(igraph_vector_int_init(&ends, (igraph_integer_t)(2 * pair_count)), error)) return false;
    for (size_t i = 0; i < 2 * pair_count; i++) VECTOR(ends)[i] = pairs[i / 2][i % 2];
    bool ok = !igraph_failed(igraph_create(&graph, &ends, vertices, IGRAPH_UNDIRECTED), error);
    igraph_vector_int_destroy(&ends);
    if (!ok) return false;
    ok = find_components(&graph, component, component_count, error);
    igraph_destroy(&graph);
    return ok;
}
