// SPDX-License-Identifier: GPL-3.0-or-later
// The one bridge to GSL of the metrics.
#ifndef REHYPE_METRICS_QUANTILE_H
#define REHYPE_METRICS_QUANTILE_H

#include "metrics/metrics.h"

// Sorts the values. Quantiles between two values are interpolated; of no values all are NAN.
struct quantiles quantiles_of(double *values, size_t count);

#endif
