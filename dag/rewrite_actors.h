// SPDX-License-Identifier: GPL-3.0-or-later
// What events tell of actors in a simulated run, where an edit made actors join others, or copies of them.
#ifndef REHYPE_DAG_REWRITE_ACTORS_H
#define REHYPE_DAG_REWRITE_ACTORS_H

#include "dag/dag.h"
#include "dag/idmap.h"

struct rewritten_actors { // zero-initialised: all are as recorded
    const struct dag *run, *recorded;
    const uint64_t *part_ids;  // of the run's tasks beyond the recorded ones: a copy is known by its initialisation's
    struct idmap gone, joined; // by id in the trace: actors that were not made; whose messages go to which actor
};

// Ids and DAGs must outlive it. false: no memory.
bool rewritten_actors_init(struct rewritten_actors *actors, const struct dag *run, const uint64_t *part_ids);
void rewritten_actors_destroy(struct rewritten_actors *actors);

// The id of an actor of the run, by index; 0: it is a copy that was never initialised.
uint64_t rewritten_actor_id(const struct rewritten_actors *actors, uint32_t actor);

// Puts into a recorded event the actors of this run; `task`: whose vertex the event is, DAG_NONE. false: this run has
// no such event.
bool rewritten_actors_event(const struct rewritten_actors *actors, struct event *event, uint32_t task);

#endif
