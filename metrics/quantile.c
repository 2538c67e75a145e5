// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/quantile.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

struct quantiles quantiles_of(double *values, size_t count) {
    if (count == 0) return (struct quantiles){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    gsl_sort(values, 1, count);
    return (struct quantiles){
        .mean = gsl_stats_mean(values, 1, count),
        .p20 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.20),
        .p50 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.50),
        .p80 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.80),
        .p95 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.95),
        .p99 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.99),
        .max = values[count - 1],
    };
}
