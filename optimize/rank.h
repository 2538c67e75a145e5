// SPDX-License-Identifier: GPL-3.0-or-later
// Second part of a search: combinations of its candidates.
#ifndef REHYPE_OPTIMIZE_RANK_H
#define REHYPE_OPTIMIZE_RANK_H

#include "optimize/search_state.h"

// Searches those of the first `usable` candidates, and keeps the best as plans, in that arena. Errors as of
// search_screen.
bool search_rank(struct search *search, uint32_t usable, struct arena *arena, struct error *error);

// Estimates the plans of a search of parts, up to SEARCH_CONFIRMED, and candidates alone. `places` as of
// search_screen_found.
bool search_rank_found(struct search *search, const struct search_result *found, const uint32_t *places,
                       struct arena *arena, struct error *error);

#endif
