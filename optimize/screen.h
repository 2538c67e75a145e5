// SPDX-License-Identifier: GPL-3.0-or-later
// First part of a search: its candidates, each alone.
#ifndef REHYPE_OPTIMIZE_SCREEN_H
#define REHYPE_OPTIMIZE_SCREEN_H

#include "optimize/search_state.h"

// Tries them, and leaves them best first in the result, in that arena. *usable: how many of them, from the first, a
// plan may hold. false and *error: no memory, or as of evaluator_estimate.
bool search_screen(struct search *search, struct arena *arena, uint32_t *usable, struct error *error);

// The same of what a search of parts has listed or has in its plans, those up to SEARCH_CONFIRMED, on the whole traces.
// places: a candidate of that search each: which one it is in the result; those that are not tried stay as they are.
bool search_screen_found(struct search *search, const struct search_result *found, struct arena *arena,
                         uint32_t *places, struct error *error);

#endif
