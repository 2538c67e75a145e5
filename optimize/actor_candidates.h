// SPDX-License-Identifier: GPL-3.0-or-later
// Every improvement of actors that a trace offers. What the actors cost, and which talk to which, only orders what is
// tried: whether it pays, the model says.
#ifndef REHYPE_OPTIMIZE_ACTOR_CANDIDATES_H
#define REHYPE_OPTIMIZE_ACTOR_CANDIDATES_H

#include "optimize/improvement.h"
#include "optimize/ownership.h"

typedef bool actor_candidate_list(void *context, const struct improvement *improvement); // false: no memory

// Of the kinds asked for and the program's own types, none of them refused, at most eight families a kind:
//   merge-actors   types with two actors or more, those first that cost most to make for what they do; by 2, 4, 8, ...
//                  up to all in one
//   split-actor    actors that are busy for longest, from a twentieth of the run on; into 2, 4, 8, ... up to four times
//                  the cores
//   own-pool       types whose handlers sleep for most of their time and share a dispatcher with others; of 1, 2, 4,
//   ...
//                  threads up to as many as there are actors
//   inline-message types of one community (communities.h) that talk to each other, or actors of one type among
//                  themselves, those with most messages first: all types of messages between the two
// In the arena. Errors: no memory, a damaged trace. Cost: one decode of the trace (actor_log.h).
bool actor_candidates(const struct dag *dag, const struct ownership *ownership, unsigned kinds, struct arena *arena,
                      actor_candidate_list *list, void *context, struct error *error);

#endif
