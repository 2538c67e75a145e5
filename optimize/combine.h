// SPDX-License-Identifier: GPL-3.0-or-later
// Search over combinations: subsets of numbered candidates, some of which exclude each other (R Sec. 4.3). Knows
// nothing of DAGs, so that tests can give it any function to minimise.
#ifndef REHYPE_OPTIMIZE_COMBINE_H
#define REHYPE_OPTIMIZE_COMBINE_H

#include "base/arena.h"
#include "base/error.h"

// A combination that was evaluated.
struct combination {
    uint64_t key;            // XOR of its members' keys: equal keys, equal effect
    const uint32_t *members; // rising
    uint32_t count;
    bool valid;   // may be listed
    double score; // less is better; INFINITY for what can't be
    // What the caller's evaluate keeps of it; NULL.
    const void *figures;
    void *told;
};

struct combine_problem {
    uint32_t candidates;
    const uint64_t *keys; // a candidate each
    const bool *excludes; // [a * candidates + b], symmetric
    // Fills valid and score of each, in any order or side by side. false stops the search with *error set.
    bool (*evaluate)(void *context, struct combination *combinations, size_t count, struct error *error);
    void *context;
    uint32_t evaluations; // at most
    uint64_t seed;
};

struct combine_result {
    struct combination *combinations; // all that were evaluated, the empty one included, best first
    size_t count;
    const char *method;
};

// Scores are the same, and rank by what else there is, if they are so rounded: what differs in the tenth digit.
double combination_rounded(double score);

// Less than 0 when a is the better: valid before invalid, then score (equal within 1e-9), then fewer members, then
// order.
int combination_compare(const void *a, const void *b);

// Exhaustive when no more than COMBINE_EXHAUSTIVE combinations are compatible (and may be evaluated), else iterated
// hill climbing: flips, the better of two each time, while they better the combination, then three random flips of the
// best and again, now and then from a random combination. Results in the arena; the same input and seed give the same
// result.
enum { COMBINE_EXHAUSTIVE = 4096 };
bool combine_search(const struct combine_problem *problem, struct arena *arena, struct combine_result *result,
                    struct error *error);

#endif
