// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that are triggered, as in a simulation loop: how often (M4), how much of their time goes to other messages
// (M10), and whether they work on consistent state (M6), all of M. A process is an actor.
//
// Overhead share: time spent on all messages but triggers over time spent on all (Eq. 13, whose bar over the trigger's
// type says so). Consistency: an update group is what an actor sends another while it handles one message, as far as it
// is meant by the update's pattern; with a the first and z the last of it to be sent, it is consistent if no trigger's
// begin lies between theirs (Eq. 4). Groups of which not all was handled are left out.
#ifndef REHYPE_METRICS_TRIGGERS_H
#define REHYPE_METRICS_TRIGGERS_H

#include "metrics/message_pattern.h"
#include "metrics/messages.h"

#define TRIGGERED_TOLD_MOST 1000

struct triggered {
    uint32_t actor;              // LOG_NONE: all of them together
    uint64_t triggers, messages; // received
    double per_s;                // triggers
    double trigger_ns, all_ns;   // time in them
    double overhead_share;       // NAN without any
    struct sliced by_rate, by_overhead;
};

struct trigger_figures {
    struct triggered all;
    struct triggered *each; // that were triggered, most often first; at most TRIGGERED_TOLD_MOST
    size_t each_count;
    // Of updates; 0 and NAN without a pattern.
    uint64_t groups, consistent, unfinished;
    double consistency;
    struct sliced by_consistency; // groups count where a begins
};

// `update`: NULL for none. All in the arena. Errors: no memory; too many slices. Cost: a sort of what is meant.
bool triggers_find(const struct actor_log *log, const struct message_pattern *trigger,
                   const struct message_pattern *update, const struct window *window, double slice_ms,
                   struct arena *arena, struct trigger_figures *figures, struct error *error);

#endif
