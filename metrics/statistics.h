// SPDX-License-Identifier: GPL-3.0-or-later
// The one bridge to GSL of the metrics.
#ifndef REHYPE_METRICS_STATISTICS_H
#define REHYPE_METRICS_STATISTICS_H

#include "metrics/quantiles.h"

double statistics_deviation(const double *values, size_t count); // standard deviation of a sample; NAN of less than two

// QUANTILES of SPEC section 6. Sorts the values; of no values all are NAN, of one the deviation.
struct spread {
    double mean, std, min, p20, p50, p80, p95, max;
};
struct spread spread_of(double *values, size_t count);

// What of time slices is told. NAN of no values; the variance of less than two.
struct summary {
    double min, max, mean, median, variance;
};
struct summary summary_of(const double *values, size_t count, double *spare); // spare: room for as many

// Pearson's coefficient; NAN where either is always the same.
double statistics_correlation(const double *x, const double *y, size_t count);

// How far above the mean of these values (at least two, normally distributed) a share of `share` of further ones is to
// be expected at most: Student's t.
double statistics_expected_distance(const double *values, size_t count, double share);

// How far the median of these values may be off: half of its 95 % interval. By order: that lies between two of the
// values, by the binomial distribution; sorted, and at least six. Normal: by Student's t, as if the values, of which
// there are at least two, were normally distributed.
double statistics_median_error_by_order(const double *sorted, size_t count);
double statistics_median_error_normal(const double *values, size_t count);

// How many values of each of two samples it takes to tell by their medians, in four cases of five and with one false
// alarm in twenty, that they differ by so much. deviation: root of the sum of both variances.
double statistics_runs_to_tell(double deviation, double difference);

// Random numbers that a seed fixes, on every machine.
struct statistics_random;
struct statistics_random *statistics_random_new(uint64_t seed);               // NULL: no memory
void statistics_random_seed(struct statistics_random *random, uint64_t seed); // as if it were new
void statistics_random_free(struct statistics_random *random);
uint32_t statistics_random_below(struct statistics_random *random, uint32_t limit); // evenly, 0 <= x < limit

#endif
