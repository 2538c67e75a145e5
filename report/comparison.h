// SPDX-License-Identifier: GPL-3.0-or-later
// How far an estimate was from what happened (SPEC section 6, rehype.compare/1).
#ifndef REHYPE_REPORT_COMPARISON_H
#define REHYPE_REPORT_COMPARISON_H

#include "metrics/metrics.h"

#include <cjson/cJSON.h>

struct comparison {
    double wall, thread_time, occupied_peak, occupied_mean, waiting_peak, waiting_mean; // errors
    double composite_error;
    double profile_distance;
    double composite_estimated, composite_actual; // against a third run; NAN without one
};

// |estimated - actual| / actual; 0 where both are 0, NAN (null) where only the actual one is.
double comparison_error(double estimated, double actual);

// The two series are those of the runs' metrics. `base` may be NULL.
void comparison_compute(const struct metrics *estimated, const struct metrics *actual, const struct metrics *base,
                        const struct state_series *estimated_series, const struct state_series *actual_series,
                        struct comparison *comparison);

cJSON *comparison_json(const struct comparison *comparison, const struct metrics *estimated,
                       const struct metrics *actual);

#endif
