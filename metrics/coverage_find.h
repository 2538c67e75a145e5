// SPDX-License-Identifier: GPL-3.0-or-later
// What share of the program's methods was seen, how it grows with repetitions, and how many of them a wanted share
// needs (S, with what fit.h and species.h say).
//
// y is the mean over all orders of the repetitions. S measures each number of iterations by a run of its own
// (Sec. 3.1); points of one set of repetitions lean on one another instead, so that a fit's own errors of a and b would
// be too small, and its R^2 flatters. The interval comes from leaving out parts of the repetitions in turn (grouped
// jackknife, of at most 20 parts). An estimated whole is taken as it is there; its own interval stands beside it.
#ifndef REHYPE_METRICS_COVERAGE_FIND_H
#define REHYPE_METRICS_COVERAGE_FIND_H

#include "metrics/coverage.h"
#include "metrics/fit.h"
#include "metrics/species.h"

enum { COVERAGE_POINTS = 40, COVERAGE_LEAST_REPETITIONS = 3 };

enum coverage_whole { COVERAGE_WOVEN, COVERAGE_CHAO2, COVERAGE_CHAO1 };

struct coverage_point {
    double repetitions;
    double methods; // seen on average over all orders
    double share;
};

struct coverage_found {
    uint64_t repetitions, seen;
    enum coverage_whole whole_from;
    struct species_estimate whole; // a woven one: all three the same
    uint64_t besides;              // methods seen that a woven whole lacks; they count nowhere
    struct coverage_stacks stacks;
    struct coverage_point points[COVERAGE_POINTS];
    size_t point_count;
    bool has_log, has_saturating;
    struct log_curve log; // through points up to FIT_LOG_MOST; its errors are the jackknife's
    double degrees;       // of freedom, of these errors
    struct saturating_curve saturating;
    const struct method_name *unseen; // of a woven whole, by name
    size_t unseen_count;
    const struct species_class *classes; // methods by how many repetitions saw them
    size_t class_count;
};

// Of what was added; what *found points to is the coverage's. Errors: no memory; no method that counts was seen.
bool coverage_find(struct coverage *coverage, struct coverage_found *found, struct error *error);

double coverage_share(const struct coverage_found *found); // of all repetitions together

// How many repetitions a share needs.
struct coverage_forecast {
    double share;
    double measured;      // that many of these repetitions show it on average; NAN: not even all
    double by_log;        // NAN without the curve
    double low, high;     // 95 % interval of by_log; NAN unknown
    double by_saturation; // INFINITY: never; NAN without the curve
};
struct coverage_forecast coverage_forecast(const struct coverage_found *found, double share);

// 95 % interval of the logarithm's share at so many repetitions; both NAN where unknown.
void coverage_band(const struct coverage_found *found, double repetitions, double *low, double *high);

#endif
