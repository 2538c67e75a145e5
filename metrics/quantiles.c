// SPDX-License-Identifier: GPL-3.0-or-later
// The mean is Knuth's sum with its errors (TAOCP 2, 4.2.2, theorem B), divided with the remainder.
#include "metrics/quantiles.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, DIGIT_COUNT = (64 + DIGIT_BITS - 1) / DIGIT_BITS };
enum { LEAST_FOR_DIGITS = 256 }; // values: of fewer the tallies take as long

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

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count) {
    if (count < LEAST_FOR_DIGITS || !sort_by_digits(values, count)) qsort(values, count, sizeof *values, compare);
}

double statistics_quantile(const double *sorted, size_t count, double share) {
    const double place = share * (double)(count - 1), above = place - floor(place);
    const size_t below = (size_t)place;
    return below + 1 >= count ? sorted[count - 1] : (1 - above) * sorted[below] + above * sorted[below + 1];
}

#define LARGEST_SUMMED 0x1p900 // larger values might have no finite sum

double statistics_mean(const double *sorted, size_t count) {
    const double n = (double)count, largest = fmax(fabs(sorted[0]), fabs(sorted[count - 1]));
    const double scale = largest > LARGEST_SUMMED ? 0x1p-100 : 1;
    double sum = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = sorted[i] * scale, next = sum + value, taken = next - sum;
        missing += (sum - (next - taken)) + (value - taken);
        sum = next;
    }
    const double whole = sum + missing, rest = missing - (whole - sum), mean = whole / n;
    return (mean + (fma(-mean, n, whole) + rest) / n) / scale;
}

struct quantiles quantiles_of(double *values, size_t count) {
    if (count == 0) return (struct quantiles){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    statistics_sort(values, count);
    return (struct quantiles){
        .mean = statistics_mean(values, count),
        .p20 = statistics_quantile(values, count, 0.20),
        .p50 = statistics_quantile(values, count, 0.50),
        .p80 = statistics_quantile(values, count, 0.80),
        .p95 = statistics_quantile(values, count, 0.95),
        .p99 = statistics_quantile(values, count, 0.99),
        .max = values[count - 1],
    };
}
