// SPDX-License-Identifier: GPL-3.0-or-later
// Values in order, and what stands where among them. Without GSL, whose means are sums in the widest type that a
// processor has: those of a page's figures (report/page/core.h) must be the commands' to the last bit.
#ifndef REHYPE_METRICS_QUANTILES_H
#define REHYPE_METRICS_QUANTILES_H

#include "metrics/figures.h"

// Sorts the values. Quantiles between two values are interpolated; of no values all are NAN.
struct quantiles quantiles_of(double *values, size_t count);

// No value is NAN. Cost: 20 ns a value, with as much memory again while there is any.
void statistics_sort(double *values, size_t count);
double statistics_quantile(const double *sorted, size_t count, double share); // of at least one value

// The double that is nearest to the mean of the values, but for values that all but cancel each other out.
double statistics_mean(const double *sorted, size_t count); // of at least one value

#endif
