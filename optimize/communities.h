// SPDX-License-Identifier: GPL-3.0-or-later
// Which types of actors talk mostly to each other: communities of the message graph, by label propagation (Raghavan,
// Albert, Kumara; igraph's), whose weights are numbers of messages.
#ifndef REHYPE_OPTIMIZE_COMMUNITIES_H
#define REHYPE_OPTIMIZE_COMMUNITIES_H

#include "metrics/message_graph.h"

// The community of each node of the graph, a number from 0 on, in `community`; what is no type is alone. The same graph
// gives the same communities. Errors: no memory. Cost: some microseconds an edge.
bool communities_find(const struct message_graph *graph, uint32_t *community, struct error *error);

#endif
