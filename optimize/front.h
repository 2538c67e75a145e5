// SPDX-License-Identifier: GPL-3.0-or-later
// What can be had for what: of all that a search estimated, changes alone and its best plans, those than which nothing
// is better in wall time, mean of occupied threads and number of changes.
#ifndef REHYPE_OPTIMIZE_FRONT_H
#define REHYPE_OPTIMIZE_FRONT_H

#include "optimize/search_result.h"

// Fills result->front, in the arena, by the figures of the first trace. Differences within its noise count for nothing;
// the run as it is stands for no changes, and is left out, with all that is no better than it in wall time or threads.
// Of a number that is searched on, those are left out that are larger than the one worth it (candidate.beyond). false
// and *error: no memory.
bool front_find(struct search_result *result, struct arena *arena, struct error *error);

// Fewer occupied threads on average than the run by more than noise; and fewer at peak, too, or less thread-time:
// what only lasts longer, with a few of its threads, has fewer on average as well.
bool front_saves_threads(const struct metrics *m, const struct metrics *run, double noise);

#endif
