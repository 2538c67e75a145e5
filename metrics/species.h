// SPDX-License-Identifier: GPL-3.0-or-later
// How many kinds of things there are, where only a sample of them was seen, and how many of them a smaller sample
// shows. Here the kinds are methods, and a sample is repetitions (what was seen in each), or stacks.
//
// Sources. What k of m repetitions show on average over all their orders, exactly and without drawing any: Colwell,
// Mao, Chang: Interpolating, Extrapolating, and Comparing Incidence-Based Species Accumulation Curves, Ecology 85(10),
// 2004, Eq. 5. All kinds: Chao, Nonparametric Estimation of the Number of Classes in a Population, Scandinavian Journal
// of Statistics 11(4), 1984 (Chao1, of single finds), and Chao, Estimating the Population Size for Capture-Recapture
// Data with Unequal Catchability, Biometrics 43(4), 1987 (Chao2, of repetitions, and the interval). Both are lower
// bounds: of kinds that are hardly ever seen nothing can be known.
#ifndef REHYPE_METRICS_SPECIES_H
#define REHYPE_METRICS_SPECIES_H

#include <stddef.h>
#include <stdint.h>

// So many kinds were each seen in `times` of the sample's units.
struct species_class {
    uint64_t times; // at least 1
    uint64_t kinds;
};

// Kinds that `k` of `units` show on average over all orders, 0 <= k <= units. Cost: some 100 ns a class.
double species_expected(const struct species_class *classes, size_t count, uint64_t units, uint64_t k);

struct species_estimate {
    double all;       // seen, and not
    double low, high; // 95 % interval
};

// Chao2 where units are repetitions, Chao1 where they are single finds; both with the factor (units - 1) / units.
// Where no kind was seen twice, by their bias-corrected form.
struct species_estimate species_estimate(const struct species_class *classes, size_t count, uint64_t units);

#endif
