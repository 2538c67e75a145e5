// SPDX-License-Identifier: GPL-3.0-or-later
// Takes what the tracer itself cost out of a recorded run (SPEC section 5), so that what is left is near to the run as
// it would have been without it. How much an event of each kind cost its thread, before its time and after it, the
// tracer measured in that run (docs/trace-format.md, event_costs).
//
// Every edge gets shorter by what the events on it cost: what lies behind the event that it begins with, before the one
// that it ends with, and all of those that were folded into it (functions). Where the later of a vertex's predecessors
// is its cause, what the thread itself did before was in time anyway: then only the cost behind the cause, before it
// had its effect, and the one before the vertex count. An edge keeps a ns, and what was spent on it ready to run but
// without a core, since the tracer was not running on that thread then either. But it ran on others that had the cores:
// of such a wait goes the part that the tracer had of all that the process computed at that time, between two samples,
// but for one that comes behind the cause.
//
// What is left of the edge from the later predecessor is the least that passes between the two (a time edge's delay),
// whichever is later now: T(v) = max(T(p) + what is left of p -> v, T(c)) where the thread came last, max(T(p), T(c) +
// what is left of c -> v) where the cause did. Whether a thread slept, how tasks were dispatched and which came first
// for a lock or a pool's queue stay as recorded: what would have been instead is not known. So what hands a task over
// to a pool with one queue or takes one up is no earlier than what did so before it at that pool: threads whose events
// cost more would run ahead, and tasks lie before a busy worker beside another that fell asleep since there were none,
// which no pool would do, and no replay. Of an edge that would be too short so, less is taken. A worker that slept
// comes as long after the last that did so before it as it did, or, woken in vain, as long after the latest hand-over:
// its sleep, in which the tracer cost it nothing, gets shorter as the run does, or all would wait for a worker that
// takes up late. So times depend on costs in one direction: where more is taken out nothing happens later, no effect
// comes before its cause, and with costs of 0 every time comes back to the ns. A thread without a recorded beginning
// keeps the time of its first vertex.
//
// What the tracer costs beside its events (caches, optimisations that it prevents, its drainer) stays in.
#ifndef REHYPE_DAG_PERTURBATION_H
#define REHYPE_DAG_PERTURBATION_H

#include "dag/dag.h"

// Changes the times of a DAG as built, and with them what its edges compute, its pauses and samples, and its window.
// Once; without effect where the trace tells no costs. dag->tracer says how much it was. false and *error: no memory,
// and the DAG is as it was. Cost: a walk over all vertices, and a sort of those that hand tasks over or take them up.
bool dag_take_out_tracer_cost(struct dag *dag, struct error *error);

// When something recorded on a thread (events that are no vertices, too) happens in the times of a DAG: between two
// vertices in proportion. The instants asked for rise.
struct dag_remap {
    const struct dag *dag;
    uint32_t vertex, last; // the last vertex not after the instant asked for before; of the thread
};

void dag_remap_init(struct dag_remap *remap, const struct dag *dag, uint32_t thread);
int64_t dag_remap(struct dag_remap *remap, int64_t recorded_ns);

#endif
