// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/search_result.h"

bool candidate_is_estimated(const struct candidate *candidate) {
    return candidate->status <= CANDIDATE_FAILING;
}

bool search_conflict(const struct search_result *result, size_t a, size_t b) {
    const struct improvement *left = result->candidates[a].improvements, *right = result->candidates[b].improvements;
    bool conflict = false;
    for (size_t t = 0; t < result->trace_count && !conflict; t++) {
        conflict = improvements_conflict(&left[t], &right[t]);
    }
    return conflict;
}
