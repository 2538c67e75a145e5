// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots: the run without an edit, kept at a few moments, for runs under edits to begin at.
//
// Up to the first thing that an edit changes, a run is what it is without the edit. So a run under one begins at the
// latest snapshot in which nothing had come up that the edit changes, and comes out as from the beginning, to the ns:
//   a task      the process that spawns it had not come to the vertex before that
//   a pool      it had no worker yet, and no task had been offered to it
//   a resource  no process had come to the vertex before one at which it is asked for or given back
// Some edits change the run from its beginning on; under these it begins there: combinators, since results come in
// order of time then; edits of actors, dispatchers of their own, carriers; what takes a recorded thread away; and
// what leaves compilers less to do (cold_code.h).
#ifndef REHYPE_DAG_SNAPSHOT_H
#define REHYPE_DAG_SNAPSHOT_H

#include "dag/simulate/state.h"

// Whether those of a run by that model are there. Then they stay: runs of other threads may be reading them.
bool snapshots_are_kept(const struct simulation *sim, const struct model *model);

// The run that begins is without an edit, and to be kept, in place of another that was. false: no memory.
bool snapshots_begin(struct simulation *sim, const struct model *model);
void snapshots_look(struct simulation *sim); // between two notices of that run: takes one where it is time to

// The run is about to begin, under the simulation's edit: it goes on with a snapshot if it can. Those are used of the
// simulation that this one is beside, too. Cost: a scan of the tasks, and what was passed until then, copied.
void snapshots_resume(struct simulation *sim, const struct model *model);
void snapshots_free(struct simulation *sim);

#endif
