// SPDX-License-Identifier: GPL-3.0-or-later
// What an estimate rests on and may not hold: said where it shows in the trace, with what it is known by. Sentences
// without a full stop, to stand behind "warning: ".
//
//   of the trace   lost events, a file cut short, effects recorded before their causes, a saturated machine,
//                  a program that did nothing more though tasks were under way
//   of its pools   tasks that wait for tasks of their own pool's queue: the recorded run itself may come to starve,
//                  or did, so that nothing can go on
//   of resources   all of one held by threads that wait for more of it; waits whose time was up
//   of an estimate waits that came out otherwise than recorded; resources that starve in it
//   of a model     its null-replay error; pools whose rules it does not know; waits for what something unknown holds;
//   pool sizes and numbers of tasks that may
//                  follow the cores, where those change; arrivals that wait for replies, where they are to come faster
//   of a change    locks and timeouts among the tasks that it changes; state that is kept by thread; work that may
//                  not divide; tasks that it leaves out (dag_left_out)
#ifndef REHYPE_OPTIMIZE_WARNINGS_H
#define REHYPE_OPTIMIZE_WARNINGS_H

#include "dag/simulate/simulate.h"
#include "optimize/estimator.h"
#include "optimize/plan.h"

struct warnings {
    struct arena *arena; // of the texts
    const char *about;   // what stands before each, and ": "; NULL: nothing
    const char **texts;
    size_t count, capacity;
};

// All: false and *error when there is no memory. What is said already is not said again.
bool warnings_add(struct warnings *warnings, const char *text, struct error *error); // copied
bool warn_of_trace(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_pools(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_halted_pools(struct warnings *warnings, const struct dag *dag, struct error *error); // of these alone
bool warn_of_resources(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_unknown_holders(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_estimate(struct warnings *warnings, const struct estimator *estimator,
                      struct error *error); // its last run
bool warn_of_replay(struct warnings *warnings, const struct replay_error *replay_error, struct error *error);
bool warn_of_model(struct warnings *warnings, const struct dag *dag, const struct model *model, struct error *error);
bool warn_of_change(struct warnings *warnings, const struct improvement *improvement, struct error *error);

#endif
