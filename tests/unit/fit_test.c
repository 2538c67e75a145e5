// SPDX-License-Identifier: GPL-3.0-or-later
// Curves through points whose parameters are known, and kinds of things counted by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/fit.h"
#include "metrics/species.h"

#include <math.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g", value, expected);
}

// S Sec. 3.2 and 3.3, to the digits that its four points give.
static void test_worked_example_of_the_paper(void **state) {
    static const double x[] = {31, 61, 91, 121}, y[] = {0.61, 0.72, 0.70, 0.78};
    struct log_curve curve;
    assert_true(fit_log(x, y, LENGTH(x), &curve));
    assert_near(curve.a, 0.109685, 5e-7);
    assert_near(curve.b, 0.240409, 5e-7);
    assert_near(curve.r2, 0.8457, 5e-5);
    assert_near(log_curve_reaches(&curve, 0.8), 164.3, 0.05);
    assert_near(log_curve_at(&curve, log_curve_reaches(&curve, 0.8)), 0.8, 1e-12);
}

// Errors of a straight line by the textbook: three points, the middle one off by 0.3.
static void test_errors_of_the_fit(void **state) {
    const double x[] = {1, exp(1), exp(2)}, y[] = {0.1, 0.5, 0.3};
    struct log_curve curve;
    assert_true(fit_log(x, y, LENGTH(x), &curve));
    assert_near(curve.a, 0.1, 1e-12);
    assert_near(curve.b, 0.2, 1e-12);
    assert_near(curve.var_a, 0.06 / 2, 1e-12); // residuals -0.1, 0.2, -0.1; one degree of freedom; SSxx = 2
    assert_near(curve.var_b, 0.06 * (1.0 / 3 + 1.0 / 2), 1e-12);
    assert_near(curve.covariance, -0.06 / 2, 1e-12);
    assert_near(fit_half_width(2, 10, 0.95), 2 * 2.228139, 1e-5);
}

static void test_no_logarithm(void **state) {
    static const double x[] = {5, 5, 5}, y[] = {0.1, 0.2, 0.3};
    struct log_curve curve, falling = {.a = -1, .b = 1};
    assert_false(fit_log(x, y, 1, &curve));
    assert_false(fit_log(x, y, LENGTH(x), &curve));
    assert_true(isinf(log_curve_reaches(&falling, 0.5)));
    assert_true(fit_log((const double[]){1, 2}, (const double[]){0.1, 0.2}, 2, &curve));
    assert_true(isnan(curve.var_a));
}

static void find_again(struct saturating_curve made) {
    enum { POINTS = 12 };
    double x[POINTS], y[POINTS];
    struct saturating_curve curve;
    for (int i = 0; i < POINTS; i++) y[i] = saturating_curve_at(&made, x[i] = pow(2, i));
    assert_true(fit_saturating(x, y, POINTS, &curve));
    assert_near(curve.limit, made.limit, 1e-4);
    assert_near(curve.half / made.half, 1, 1e-3);
    assert_near(curve.slope / made.slope, 1, 1e-3);
    assert_true(curve.r2 > 0.999999);
    assert_near(saturating_curve_at(&made, saturating_curve_reaches(&made, 0.5)), 0.5, 1e-12);
    assert_true(isinf(saturating_curve_reaches(&made, made.limit)));
}

static void test_saturating_curves_are_found_again(void **state) {
    find_again((struct saturating_curve){.limit = 0.9, .half = 10, .slope = 1});
    find_again((struct saturating_curve){.limit = 0.75, .half = 3, .slope = 0.6});
    find_again((struct saturating_curve){.limit = 0.99, .half = 200, .slope = 1.4});
}

// What goes to 1 is told to go there, and not above.
static void test_a_limit_of_one(void **state) {
    enum { POINTS = 10 };
    double x[POINTS], y[POINTS];
    struct saturating_curve curve;
    for (int i = 0; i < POINTS; i++) y[i] = 1 - exp(-(x[i] = i + 1) / 2);
    assert_true(fit_saturating(x, y, POINTS, &curve));
    assert_true(curve.limit > 0.97 && curve.limit <= 1);
    assert_false(fit_saturating(x, y, 3, &curve));
    assert_false(fit_saturating(x, x + POINTS - 1, 1, &curve));
}

// A in repetitions 1, 2 and 3, B in 1, C in 2 and 3: all orders by hand.
static void test_mean_over_all_orders(void **state) {
    static const struct species_class classes[] = {{1, 1}, {2, 1}, {3, 1}};
    assert_near(species_expected(classes, 3, 3, 0), 0, 1e-9);
    assert_near(species_expected(classes, 3, 3, 1), 2, 1e-9);       // (2 + 2 + 2) / 3
    assert_near(species_expected(classes, 3, 3, 2), 8.0 / 3, 1e-9); // {1,2} 3, {1,3} 3, {2,3} 2
    assert_near(species_expected(classes, 3, 3, 3), 3, 1e-9);
    static const struct species_class many[] = {{1, 5}, {500000, 2}, {1000000, 7}};
    assert_near(species_expected(many, 3, 1000000, 500000), 5 * 0.5 + 2 + 7, 1e-6);
}

// Of 4 repetitions, 3 kinds in one, 2 in two, 1 in all: unseen = 3/4 * 9 / 4.
static void test_estimate_of_all_kinds(void **state) {
    static const struct species_class classes[] = {{1, 3}, {2, 2}, {4, 1}};
    struct species_estimate found = species_estimate(classes, 3, 4);
    assert_near(found.all, 7.6875, 1e-9);
    assert_near(found.low, 6.19173, 1e-4);
    assert_near(found.high, 20.8523, 1e-2);
}

// None was seen twice: unseen = 1/2 * 3 * 2 / 2.
static void test_estimate_without_kinds_seen_twice(void **state) {
    static const struct species_class classes[] = {{1, 3}, {3, 2}};
    struct species_estimate found = species_estimate(classes, 2, 2);
    assert_near(found.all, 6.5, 1e-9);
    assert_true(found.low >= 5 && found.low < 6.5 && found.high > 6.5);
    static const struct species_class all_often[] = {{3, 2}, {5, 4}};
    found = species_estimate(all_often, 2, 9);
    assert_near(found.all, 6, 0);
    assert_near(found.low, 6, 0);
    assert_near(found.high, 6, 0);
    assert_near(species_estimate(NULL, 0, 0).all, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example_of_the_paper),
        cmocka_unit_test(test_errors_of_the_fit),
        cmocka_unit_test(test_no_logarithm),
        cmocka_unit_test(test_saturating_curves_are_found_again),
        cmocka_unit_test(test_a_limit_of_one),
        cmocka_unit_test(test_mean_over_all_orders),
        cmocka_unit_test(test_estimate_of_all_kinds),
        cmocka_unit_test(test_estimate_without_kinds_seen_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
