// SPDX-License-Identifier: GPL-3.0-or-later
// The one bridge to igraph: structure of a trace-DAG and of small graphs, for checks. Never on the path of
// a build or an estimate (380 ns a vertex to create).
#ifndef REHYPE_DAG_GRAPH_H
#define REHYPE_DAG_GRAPH_H

#include "dag/edit/edit.h"

// Whether the edited graph (thread edges and causes) has no cycle: the independent check of dag_propagate's verdict.
bool graph_is_acyclic(const struct dag *dag, const struct dag_edit *edit, bool *acyclic, struct error *error);

// Weakly connected components: parts of the run that never touched each other.
bool graph_components(const struct dag *dag, uint32_t *count, struct error *error);

// Groups of an undirected graph given by pairs (a, b) over `vertices` numbers: component[v] for each. For conflicts.
bool graph_group_pairs(uint32_t vertices, const uint32_t (*pairs)[2], size_t pair_count, uint32_t *component,
                       uint32_t *component_count, struct error *error);

#endif
