// SPDX-License-Identifier: GPL-3.0-or-later
// Curves through points (x repetitions, y share of methods seen), by least squares; GSL's work.
//
// S (Bergel, Pena, Sandoval: The Hidden Face of Execution Sampling) finds y = a ln x + b (Sec. 3.1), which is a
// straight line over ln x (Sec. 3.2), and judges it by R^2 (Sec. 3.3). Its formulas for a and b have the two names the
// wrong way round: SSxy / SSxx is the slope, which the model calls a; its worked example is of the right one. That form
// holds below FIT_LOG_MOST alone; for what lies above, where shares level off, S gives none (Sec. 3.1, 6). Ours is a
// logistic curve over ln x, y = limit / (1 + (half / x)^slope): around its middle a logarithm as S's, above it a limit
// that may be less than 1, as a sampler that never sees some methods has.
#ifndef REHYPE_METRICS_FIT_H
#define REHYPE_METRICS_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define FIT_LOG_MOST 0.90 // of y

struct log_curve {
    double a, b;
    double r2;                       // NAN where all y are the same
    double var_a, var_b, covariance; // of a and b, as far as points err each by itself; NAN of two points
};

struct saturating_curve {
    double limit; // 0 .. 1
    double half;  // repetitions to half of the limit
    double slope; // above 0
    double r2;
};

// x above 0, not all the same; at least two points. false: they are not so, or there is no curve.
bool fit_log(const double *x, const double *y, size_t count, struct log_curve *curve);
double log_curve_at(const struct log_curve *curve, double x);
double log_curve_reaches(const struct log_curve *curve, double y); // x; INFINITY where a is not above 0

// At least four points, x above 0. false: they do not suffice, or the search for a curve did not end.
bool fit_saturating(const double *x, const double *y, size_t count, struct saturating_curve *curve);
double saturating_curve_at(const struct saturating_curve *curve, double x);
double saturating_curve_reaches(const struct saturating_curve *curve, double y); // x; INFINITY from the limit on

// Half width of the interval that holds a share of `share` of all: of a figure with that standard error, and so many
// degrees of freedom (Student's t). NAN where either is unknown.
double fit_half_width(double standard_error, double degrees, double share);

#endif
