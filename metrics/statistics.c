// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

void statistics_sort(double *values, size_t count) {
    gsl_sort(values, 1, count);
}

double statistics_quantile(const double *sorted, size_t count, double share) {
    return gsl_stats_quantile_from_sorted_data(sorted, 1, count, share);
}

double statistics_expected_distance(const double *values, size_t count, double share) {
    double deviation = gsl_stats_sd(values, 1, count);
    return deviation * sqrt(1 + 1.0 / (double)count) * gsl_cdf_tdist_Pinv(share, (double)count - 1);
}

struct quantiles quantiles_of(double *values, size_t count) {
    if (count == 0) return (struct quantiles){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    statistics_sort(values, count);
    return (struct quantiles){
        .mean = gsl_stats_mean(values, 1, count),
        .p20 = statistics_quantile(values, count, 0.20),
        .p50 = statistics_quantile(values, count, 0.50),
        .p80 = statistics_quantile(values, count, 0.80),
        .p95 = statistics_quantile(values, count, 0.95),
        .p99 = statistics_quantile(values, count, 0.99),
        .max = values[count - 1],
    };
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

void statistics_random_free(struct statistics_random *random) {
    if (random) gsl_rng_free(gsl_of(random));
}

uint32_t statistics_random_below(struct statistics_random *random, uint32_t limit) {
    return (uint32_t)gsl_rng_uniform_int(gsl_of(random), limit);
}
