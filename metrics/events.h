// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded events behind a DAG's vertices, for what the DAG leaves in the trace: cycles, sites of waits.
#ifndef REHYPE_METRICS_EVENTS_H
#define REHYPE_METRICS_EVENTS_H

#include "dag/dag.h"

typedef void (*events_visitor)(void *context, uint32_t thread, uint32_t vertex, const struct event *event);

// Each vertex with its event, thread by thread in order, and each EVENT_TIMED_OUT, which is no vertex (DAG_NONE),
// before the end of its wait. Cost: one decode of the trace. Errors: a damaged trace.
bool events_visit(const struct dag *dag, events_visitor visit, void *context, struct error *error);

#endif
