// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <string.h>

double statistics_expected_distance(const double *values, size_t count, double share) {
    double deviation = gsl_stats_sd(values, 1, count);
    return deviation * sqrt(1 + 1.0 / (double)count) * gsl_cdf_tdist_Pinv(share, (double)count - 1);
}

static const double SURE = 0.95, TOLD = 0.8; // of an interval; of the differences that are to be told

// How many values at either end lie outside of the interval.
static size_t values_outside(size_t count) {
    size_t outside = 0;
    while (gsl_cdf_binomial_P((unsigned)outside, 0.5, (unsigned)count) <= (1 - SURE) / 2) outside++;
    return outside;
}

double statistics_median_error_by_order(const double *sorted, size_t count) {
    const size_t outside = values_outside(count), first = outside ? outside - 1 : 0;
    return (sorted[count - 1 - first] - sorted[first]) / 2;
}

// A median of normally distributed values has pi / 2 times the mean's variance, for large samples; of small ones less.
double statistics_median_error_normal(const double *values, size_t count) {
    const double times = gsl_cdf_tdist_Pinv((1 + SURE) / 2, (double)count - 1);
    return times * gsl_stats_sd(values, 1, count) * sqrt(M_PI_2 / (double)count);
}

double statistics_runs_to_tell(double deviation, double difference) {
    const double times = gsl_cdf_ugaussian_Pinv((1 + SURE) / 2) + gsl_cdf_ugaussian_Pinv(TOLD);
    return M_PI_2 * pow(times * deviation / difference, 2);
}

struct spread spread_of(double *values, size_t count) {
    const struct quantiles q = quantiles_of(values, count); // which sorts
    return (struct spread){.mean = q.mean,
                           .std = statistics_deviation(values, count),
                           .min = count ? values[0] : NAN,
                           .p20 = q.p20,
                           .p50 = q.p50,
                           .p80 = q.p80,
                           .p95 = q.p95,
                           .max = q.max};
}

struct summary summary_of(const double *values, size_t count, double *spare) {
    if (count) memcpy(spare, values, count * sizeof *spare);
    const struct quantiles q = quantiles_of(spare, count);
    return (struct summary){.min = count ? spare[0] : NAN,
                            .max = q.max,
                            .mean = q.mean,
                            .median = q.p50,
                            .variance = count < 2 ? NAN : gsl_stats_variance(spare, 1, count)};
}

double statistics_correlation(const double *x, const double *y, size_t count) {
    return gsl_stats_correlation(x, 1, y, 1, count);
}

double statistics_deviation(const double *values, size_t count) {
    return count < 2 ? NAN : gsl_stats_sd(values, 1, count);
}

static gsl_rng *gsl_of(struct statistics_random *random) {
    return (gsl_rng *)random;
}

struct statistics_random *statistics_random_new(uint64_t seed) {
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); // it would end the process
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(handler);
    if (random) gsl_rng_set(random, seed);
    return (struct statistics_random *)random;
}

void statistics_random_seed(struct statistics_random *random, uint64_t seed) {
    gsl_rng_set(gsl_of(random), seed);
}

void statistics_random_free(struct statistics_random *random) {
    if (random) gsl_rng_free(gsl_of(random));
}

uint32_t statistics_random_below(struct statistics_random *random, uint32_t limit) {
    return (uint32_t)gsl_rng_uniform_int(gsl_of(random), limit);
}
