// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, DIGIT_COUNT = (64 + DIGIT_BITS - 1) / DIGIT_BITS };
enum { LEAST_FOR_DIGITS = 256 }; // values: of fewer the tallies take as long as GSL's heap

// A value's bits, made to rise with it: of negative ones all are turned round, of others the sign.
static unsigned digit_of(double value, int digit) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63;
    return (unsigned)(bits >> (digit * DIGIT_BITS)) & (DIGITS - 1);
}

static void scatter(const double *from, double *to, size_t count, int digit, const size_t *tally) {
    size_t place[DIGITS], sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        place[d] = sum;
        sum += tally[d];
    }
    for (size_t i = 0; i < count; i++) to[place[digit_of(from[i], digit)]++] = from[i];
}

// Radix sort, least digit first; digits in which no two values differ cost nothing. false: no memory.
static bool sort_by_digits(double *values, size_t count) {
    double *spare = malloc(count * sizeof *spare), *from = values, *to = spare;
    size_t tally[DIGIT_COUNT][DIGITS] = {{0}};
    if (!spare) return false;
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGIT_COUNT; d++) tally[d][digit_of(values[i], d)]++;
    }
    for (int d = 0; d < DIGIT_COUNT; d++) {
        if (tally[d][digit_of(values[0], d)] == count) continue;
        scatter(from, to, count, d, tally[d]);
        double *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != values) memcpy(values, from, count * sizeof *values);
    free(spare);
    return true;
}

void statistics_sort(double *values, size_t count) {
    if (count < LEAST_FOR_DIGITS || !sort_by_digits(values, count)) gsl_sort(values, 1, count);
}

double statistics_quantile(const double *sorted, size_t count, double share) {
    return gsl_stats_quantile_from_sorted_data(sorted, 1, count, share);
}

double statistics_expected_distance(const double *values, size_t count, double share) {
    double deviation = gsl_stats_sd(values, 1, count);
    return deviation * sqrt(1 + 1.0 / (double)count) * gsl_cdf_tdist_Pinv(share, (double)count - 1);
}

// To select the few quantiles would do without an order, but for the mean: its last bits are those of a sum in order of
// size.
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
