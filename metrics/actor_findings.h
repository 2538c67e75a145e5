// SPDX-License-Identifier: GPL-3.0-or-later
// All that is told of a trace's actors and messages, for text, JSON and exports.
#ifndef REHYPE_METRICS_ACTOR_FINDINGS_H
#define REHYPE_METRICS_ACTOR_FINDINGS_H

#include "metrics/actors.h"
#include "metrics/latency.h"
#include "metrics/messages.h"
#include "metrics/triggers.h"

// What was asked for, as it was written; NULL and 0: not.
struct actor_questions {
    const char *const *paths; // of latency; none: the heaviest cascades
    size_t path_count;
    double slice_ms;
    const char *trigger, *update; // an update needs a trigger
};

struct actor_findings {
    bool any; // actors or messages; else nothing else is known
    struct actor_log log;
    struct actor_figures actors;
    struct message_figures messages;
    struct latency_figures *latencies;
    size_t latency_count;
    bool latencies_found; // by the tool, none being given
    const char *trigger, *update;
    struct trigger_figures triggers; // where there is a trigger
};

// Of the DAG's trace. Zero-initialised there are none. The arena has all but the log. Errors: no memory, a damaged
// trace; STATUS_USAGE where a question means nothing, or there is nothing to ask of.
bool actor_findings_make(const struct dag *dag, const struct window *window, const struct actor_questions *questions,
                         struct arena *arena, struct actor_findings *findings, struct error *error);
void actor_findings_destroy(struct actor_findings *findings);

#endif
