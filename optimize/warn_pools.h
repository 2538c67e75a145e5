// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of pools whose tasks wait for tasks that only the same pools can run (optimize/warnings.h): the recorded run
// may come to starve, or did.
#ifndef REHYPE_OPTIMIZE_WARN_POOLS_H
#define REHYPE_OPTIMIZE_WARN_POOLS_H

#include "optimize/warnings.h"

// Of pools whose sizes have an end, each by itself, and several that wait for each other (orders for stock, stock for
// orders). false and *error: no memory. Cost: a sort of the waits, and of pools that wait for each other a step for
// each two of them that do.
bool warn_of_pools(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_halted_pools(struct warnings *warnings, const struct dag *dag, struct error *error); // of these alone

#endif
