// SPDX-License-Identifier: GPL-3.0-or-later
// First part of a search: its candidates, each alone.
#ifndef REHYPE_OPTIMIZE_SCREEN_H
#define REHYPE_OPTIMIZE_SCREEN_H

#include "optimize/search_state.h"

// Tries them, and leaves them best first in the result, in that arena. *usable: how many of them, from the first, a
// plan may hold. false and *error: no memory, or as of evaluator_estimate.
bool search_screen(struct search *search, struct arena *arena, uint32_t *usable, struct error *error);

#endif
