// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that a model can't re-enact to its end, since a result that was there when it was asked for is not there
// in the model. Which of two tasks comes first may be settled by what no event tells of (a count of those that are
// ready, a state that is looked at); where the model has them the other way round, what asks for the result is there
// before what brings it, and they may wait for each other. Such results say nothing of what may wait for what.
#ifndef REHYPE_OPTIMIZE_ORDERING_H
#define REHYPE_OPTIMIZE_ORDERING_H

#include "optimize/estimator.h"

// Runs the empty edit by the estimator's model. Where it comes to a halt, results that were there, and that tasks wait
// for in the model, are there from the beginning for this run and all later ones, the first recorded before the others,
// up to the first run that ends: *forgotten is how many. If none does, all is as it was, and *stuck. The estimator, of
// that DAG, has an empty edit, and nothing is beside it. Cost: a run, and one for each result.
bool ordering_settle(struct dag *dag, struct estimator *estimator, bool *stuck, uint32_t *forgotten,
                     struct error *error);

#endif
