// SPDX-License-Identifier: GPL-3.0-or-later
// Improvements of actors (A 7.1): merge-actors, split-actor, inline-message, own-pool. Which actors and messages they
// are of.
#ifndef REHYPE_OPTIMIZE_ACTOR_CHANGE_H
#define REHYPE_OPTIMIZE_ACTOR_CHANGE_H

#include "metrics/actor_log.h"
#include "optimize/improvement.h"

// Works out, for kind and names, the rest: actors, tasks, and why it can't be estimated, if so. Names that the trace
// does not have leave it without tasks. In the arena. false: no memory. Cost: a pass over the log, and over the DAG's
// tasks.
bool actor_change_fill(struct improvement *improvement, const struct actor_log *log, struct arena *arena);

// Whether the trace has what the improvement names. Errors are STATUS_BAD_INPUT, with the nearest names; a name that is
// short is made whole, in the arena.
bool actor_change_find(struct improvement *improvement, const struct actor_log *log, struct arena *arena,
                       struct error *error);

#endif
