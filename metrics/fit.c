// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

// S Sec. 3.3.
static double r2_of(double residual_squares, const double *y, size_t count) {
    double squares = gsl_stats_tss(y, 1, count);
    return squares > 0 ? 1 - residual_squares / squares : NAN;
}

static bool differ(const double *x, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (x[i] != x[0]) return true;
    }
    return false;
}

bool fit_log(const double *x, const double *y, size_t count, struct log_curve *curve) {
    double *ln_x = count >= 2 && differ(x, count) ? malloc(count * sizeof *ln_x) : NULL, squares;
    if (!ln_x) return false;
    for (size_t i = 0; i < count; i++) ln_x[i] = log(x[i]);
    gsl_fit_linear(ln_x, 1, y, 1, count, &curve->b, &curve->a, &curve->var_b, &curve->covariance, &curve->var_a,
                   &squares);
    free(ln_x);
    if (count == 2) curve->var_a = curve->var_b = curve->covariance = NAN;
    curve->r2 = r2_of(squares, y, count);
    return true;
}

double log_curve_at(const struct log_curve *curve, double x) {
    return curve->a * log(x) + curve->b;
}

double log_curve_reaches(const struct log_curve *curve, double y) {
    return curve->a > 0 ? exp((y - curve->b) / curve->a) : INFINITY;
}

double saturating_curve_at(const struct saturating_curve *curve, double x) {
    return curve->limit / (1 + pow(curve->half / x, curve->slope));
}

double saturating_curve_reaches(const struct saturating_curve *curve, double y) {
    return y < curve->limit ? curve->half * pow(y / (curve->limit - y), 1 / curve->slope) : INFINITY;
}

double fit_half_width(double standard_error, double degrees, double share) {
    if (isnan(standard_error) || !(degrees >= 1)) return NAN;
    return standard_error * gsl_cdf_tdist_Pinv(0.5 + share / 2, degrees);
}

// ---- the saturating curve

enum { LIMIT, HALF, SLOPE, PARAMETERS };

struct points {
    const double *x, *y;
    size_t count;
};

// What is searched for has no bounds: the limit is a logistic function of it, the others are exponentials.
static struct saturating_curve curve_of(const gsl_vector *sought) {
    return (struct saturating_curve){.limit = 1 / (1 + exp(-gsl_vector_get(sought, LIMIT))),
                                     .half = exp(gsl_vector_get(sought, HALF)),
                                     .slope = exp(gsl_vector_get(sought, SLOPE))};
}

static int residuals(const gsl_vector *sought, void *points_, gsl_vector *residual) {
    const struct points *points = points_;
    const struct saturating_curve curve = curve_of(sought);
    for (size_t i = 0; i < points->count; i++)
        gsl_vector_set(residual, i, saturating_curve_at(&curve, points->x[i]) - points->y[i]);
    return GSL_SUCCESS;
}

// Begins a little above the highest share, which is reached half where the points say so.
static void begin(const struct points *points, double *sought) {
    double most = points->y[0];
    for (size_t i = 1; i < points->count; i++) most = fmax(most, points->y[i]);
    double limit = fmin(fmax(most * 1.05, 0.01), 0.99);
    size_t half = 0;
    while (half + 1 < points->count && points->y[half] < limit / 2) half++;
    sought[LIMIT] = log(limit / (1 - limit));
    sought[HALF] = log(points->x[half]);
    sought[SLOPE] = 0;
}

static bool search(gsl_multifit_nlinear_workspace *work, const struct points *points, struct saturating_curve *curve) {
    enum { STEPS = 500 };
    double from[PARAMETERS];
    int why;
    begin(points, from);
    gsl_vector_view start = gsl_vector_view_array(from, PARAMETERS);
    gsl_multifit_nlinear_fdf problem = {.f = residuals, .n = points->count, .p = PARAMETERS, .params = (void *)points};
    if (gsl_multifit_nlinear_init(&start.vector, &problem, work) != GSL_SUCCESS) return false;
    int status = gsl_multifit_nlinear_driver(STEPS, 1e-10, 1e-10, 1e-10, NULL, NULL, &why, work);
    if (status != GSL_SUCCESS && status != GSL_ENOPROG) return false; // no progress: it is there already
    *curve = curve_of(gsl_multifit_nlinear_position(work));
    const gsl_vector *left = gsl_multifit_nlinear_residual(work);
    double squares = 0;
    for (size_t i = 0; i < points->count; i++) squares += gsl_vector_get(left, i) * gsl_vector_get(left, i);
    curve->r2 = r2_of(squares, points->y, points->count);
    return isfinite(curve->limit) && isfinite(curve->half) && isfinite(curve->slope) && curve->slope > 0;
}

bool fit_saturating(const double *x, const double *y, size_t count, struct saturating_curve *curve) {
    enum { LEAST = 4 };
    if (count < LEAST || !differ(x, count) || !differ(y, count)) return false;
    const struct points points = {x, y, count};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); // it would end the process
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, count, PARAMETERS);
    bool found = work && search(work, &points, curve);
    gsl_multifit_nlinear_free(work);
    gsl_set_error_handler(handler);
    return found;
}
