// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/species.h"

#include <math.h>

// The logarithm of how many ways there are to take k of n.
static double log_choices(uint64_t n, uint64_t k) {
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

// In how many of all choices of k units none of `times` ones is: as well k ones of the others, as `times` of those left
// out, whichever are fewer.
static double share_without(uint64_t units, uint64_t times, uint64_t k) {
    enum { FEW = 64 }; // of more, the sum of logarithms is quicker, and as good
    const uint64_t few = times < k ? times : k, many = times < k ? k : times;
    double share = 1;
    if (times + k > units) return 0;
    if (few > FEW) return exp(log_choices(units - times, k) - log_choices(units, k));
    for (uint64_t i = 0; i < few; i++) share *= (double)(units - many - i) / (double)(units - i);
    return share;
}

double species_expected(const struct species_class *classes, size_t count, uint64_t units, uint64_t k) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)classes[i].kinds * (1 - share_without(units, classes[i].times, k));
    return sum;
}

static double kinds_seen(const struct species_class *classes, size_t count, uint64_t times) {
    double kinds = 0;
    for (size_t i = 0; i < count; i++) {
        if (times == 0 || classes[i].times == times) kinds += (double)classes[i].kinds;
    }
    return kinds;
}

// The variance of `unseen` by the same papers; `once`, `twice` are kinds.
static double variance_of(double once, double twice, double factor, double all) {
    if (twice > 0) {
        double r = once / twice;
        return twice * (factor * r * r / 2 + factor * factor * r * r * r + factor * factor * r * r * r * r / 4);
    }
    return factor * once * (once - 1) / 2 + factor * factor * once * (2 * once - 1) * (2 * once - 1) / 4 -
           (all > 0 ? factor * factor * once * once * once * once / (4 * all) : 0);
}

struct species_estimate species_estimate(const struct species_class *classes, size_t count, uint64_t units) {
    const double NORMAL_95 = 1.959964;
    const double seen = kinds_seen(classes, count, 0), once = kinds_seen(classes, count, 1);
    const double twice = kinds_seen(classes, count, 2), factor = units ? ((double)units - 1) / (double)units : 0;
    const double unseen = factor * (twice > 0 ? once * once / (2 * twice) : once * (once - 1) / 2);
    const double variance = variance_of(once, twice, factor, seen + unseen);
    if (unseen <= 0 || variance <= 0) return (struct species_estimate){seen + unseen, seen + unseen, seen + unseen};
    const double spread = exp(NORMAL_95 * sqrt(log(1 + variance / (unseen * unseen)))); // Chao 1987: log-normal
    return (struct species_estimate){seen + unseen, seen + unseen / spread, seen + unseen * spread};
}
