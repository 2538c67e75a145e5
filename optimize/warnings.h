// SPDX-License-Identifier: GPL-3.0-or-later
// What an estimate rests on and may not hold: said where it shows in the trace, with what it is known by. Sentences
// without a full stop, to stand behind "warning: ".
//
//   of the trace   lost events, a file cut short, effects recorded before their causes, a saturated machine,
//                  a program that did nothing more though tasks were under way
// and elsewhere
//   of its pools   (warn_pools.h) tasks that wait for tasks of their own pool's queue, or of pools whose tasks wait for
//                  theirs: the recorded run itself may come to starve, or did, so that nothing can go on
//   of resources   (warn_resources.h) all of one held by threads that wait for more of it; waits whose time was up
//   of an estimate (warn_resources.h) waits that came out otherwise than recorded; resources that starve in it
//   of a model     (warn_estimate.h) its null-replay error; pools whose rules it does not know; waits for what
//                  something unknown holds; waits that signals end; sleeps that are taken for waits; pool sizes and
//                  numbers of tasks that may follow the cores, where those change; arrivals that wait for replies,
//                  where they are to come faster
//   of a change    (warn_estimate.h) locks and timeouts among the tasks that it changes; state that is kept by thread;
//                  work that may not divide; tasks that it leaves out (dag_left_out); of a pool's size tasks that race,
//                  and tasks that are dealt to its threads
#ifndef REHYPE_OPTIMIZE_WARNINGS_H
#define REHYPE_OPTIMIZE_WARNINGS_H

#include "base/arena.h"
#include "dag/dag.h"

struct warnings {
    struct arena *arena; // of the texts
    const char *about;   // what stands before each, and ": "; NULL: nothing
    const char **texts;
    size_t count, capacity;
};

// All: false and *error when there is no memory. What is said already is not said again.
bool warnings_add(struct warnings *warnings, const char *text, struct error *error); // copied
bool warnings_say(struct warnings *warnings, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool warn_of_trace(struct warnings *warnings, const struct dag *dag, struct error *error);

#endif
