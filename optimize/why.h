// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be said of a candidate, in one sentence with numbers.
#ifndef REHYPE_OPTIMIZE_WHY_H
#define REHYPE_OPTIMIZE_WHY_H

#include "optimize/estimator.h"
#include "optimize/improvement.h"

// What the sentence speaks of.
struct why {
    const struct improvement *improvement; // in one trace
    const struct costs *costs;             // of that trace
    const char *trace;                     // its path, where the sentence has to say it; else NULL
    const struct metrics *base, *estimate; // of that trace, as recorded and as estimated; not read of one that is
                                           // refused or stuck
    const char *refusal;                   // why it can't be estimated, or NULL
    const char *failed;                    // the requirement that it doesn't meet, or NULL
};

// Both in the arena. NULL: no memory.
const char *why_text(const struct why *why, struct arena *arena);
const char *why_stuck_text(const struct why *why, const struct estimator *estimator, struct arena *arena);

#endif
