// SPDX-License-Identifier: GPL-3.0-or-later
// The initialisation share (actors.h) of a trace's actors under an edit: of actors that join others what it cost to
// make them goes, unless they are made all the same; of actors that are copied each copy costs as much. What handling
// messages costs is as recorded wherever it is done.
#ifndef REHYPE_METRICS_ACTOR_SHARES_H
#define REHYPE_METRICS_ACTOR_SHARES_H

#include "dag/edit/edit.h"

struct actor_shares {
    double *making;       // of each actor of the DAG, in the log's unit; NULL: the trace has no actors
    double making_in_all; // with those that are none of the DAG's
    double computing;
};

// Of the whole recording; routers of the library left out. Zero-initialised there are no actors; actor_shares_destroy
// in any case. Errors: no memory, a damaged trace. Cost: actor_log_read's.
bool actor_shares_read(const struct dag *dag, struct actor_shares *shares, struct error *error);
void actor_shares_destroy(struct actor_shares *shares);

// NAN where the trace has no actors, or they cost nothing. An empty edit gives the recorded share. Cost: a walk over
// the actors where the edit is of any.
double actor_shares_under(const struct actor_shares *shares, const struct dag *dag, const struct dag_edit *edit);

#endif
