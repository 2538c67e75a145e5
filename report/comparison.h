// SPDX-License-Identifier: GPL-3.0-or-later
// How far an estimate was from what happened (SPEC section 6, rehype.compare/1).
#ifndef REHYPE_REPORT_COMPARISON_H
#define REHYPE_REPORT_COMPARISON_H

#include "metrics/metrics.h"

#include <cjson/cJSON.h>

struct comparison {
    bool parts; // of parts that were found in each run, and are of different lengths: totals say nothing
    double wall, thread_time, occupied_peak, occupied_mean, waiting_peak, waiting_mean; // errors; of parts the first
                                                                                        // two are NAN
    double throughput, latency_p50, latency_p95, latency_p99; // of requests; NAN where either run has none
    double work_of_request, thread_time_of_request;           // of parts; else NAN
    double composite_error;
    double profile_distance;
    double composite_estimated, composite_actual; // against a third run; NAN without one
};

// |estimated - actual| / actual; 0 where both are 0, NAN (null) where only the actual one is.
double comparison_error(double estimated, double actual);

// What a run costs for each of its requests: wall time, thread-time and work over their number. The other figures stay.
struct metrics comparison_per_request(const struct metrics *metrics);

// The two series are those of the runs' metrics. `base` may be NULL. With `parts` composites are of what a request
// costs.
void comparison_compute(const struct metrics *estimated, const struct metrics *actual, const struct metrics *base,
                        bool parts, const struct state_series *estimated_series,
                        const struct state_series *actual_series, struct comparison *comparison);

cJSON *comparison_json(const struct comparison *comparison, const struct metrics *estimated,
                       const struct metrics *actual);

#endif
