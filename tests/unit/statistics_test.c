// SPDX-License-Identifier: GPL-3.0-or-later
// Values are sorted, and quantiles found, to the last bit as GSL does; means to the last but one, since GSL's hang on
// the processor.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/statistics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70000 };

struct fixture {
    double values[MOST], sorted[MOST];
    struct statistics_random *random;
};

// Of kinds that times come in: few different ones, many, negative ones, fractions, of all magnitudes.
static double draw(struct statistics_random *random, unsigned kind) {
    const double value = statistics_random_below(random, UINT32_MAX), other = statistics_random_below(random, 1u << 20);
    switch (kind) {
    case 0:
        return statistics_random_below(random, 7);
    case 1:
        return value * 1e3;
    case 2:
        return value - 2e9;
    case 3:
        return value / (other + 1);
    default:
        return (value - 2e9) * pow(10, statistics_random_below(random, 600) - 300.0);
    }
}

static void fill(struct fixture *f, unsigned kind, size_t count) {
    for (size_t i = 0; i < count; i++) f->values[i] = f->sorted[i] = draw(f->random, kind);
    gsl_sort(f->sorted, 1, count);
}

static void test_sorts(void **state) {
    struct fixture *f = *state;
    static const size_t counts[] = {1, 2, 100, 255, 256, 257, 5000, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (unsigned kind = 0; kind < 5; kind++) {
            fill(f, kind, counts[c]);
            statistics_sort(f->values, counts[c]);
            assert_memory_equal(f->values, f->sorted, counts[c] * sizeof f->values[0]);
        }
    }
}

static void test_sorts_what_is_sorted_or_equal(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < MOST; i++) f->values[i] = (double)(MOST - i);
    statistics_sort(f->values, MOST);
    for (size_t i = 0; i < MOST; i++) assert_true(f->values[i] == (double)i + 1);
    statistics_sort(f->values, MOST);
    for (size_t i = 0; i < MOST; i++) assert_true(f->values[i] == (double)i + 1);
    for (size_t i = 0; i < MOST; i++) f->values[i] = -0.5;
    statistics_sort(f->values, MOST);
    for (size_t i = 0; i < MOST; i++) assert_true(f->values[i] == -0.5);
}

static void test_quantiles_are_gsls(void **state) {
    struct fixture *f = *state;
    for (unsigned kind = 0; kind < 5; kind++) {
        fill(f, kind, MOST);
        const struct quantiles found = quantiles_of(f->values, MOST);
        const double mean = gsl_stats_mean(f->sorted, 1, MOST); // in the widest type that there is
        const double wanted[] = {found.mean,
                                 gsl_stats_quantile_from_sorted_data(f->sorted, 1, MOST, 0.20),
                                 gsl_stats_quantile_from_sorted_data(f->sorted, 1, MOST, 0.50),
                                 gsl_stats_quantile_from_sorted_data(f->sorted, 1, MOST, 0.80),
                                 gsl_stats_quantile_from_sorted_data(f->sorted, 1, MOST, 0.95),
                                 gsl_stats_quantile_from_sorted_data(f->sorted, 1, MOST, 0.99),
                                 f->sorted[MOST - 1]};
        assert_memory_equal(&found, wanted, sizeof wanted);
        assert_true(isnan(mean) ? isnan(found.mean)
                                : fabs(found.mean - mean) <= nextafter(fabs(mean), INFINITY) - fabs(mean));
    }
    assert_true(isnan(quantiles_of(f->values, 0).mean) && isnan(quantiles_of(f->values, 0).max));
}

static int set_up(void **state) {
    struct fixture *f = *state = malloc(sizeof *f);
    if (f) f->random = statistics_random_new(1);
    return f && f->random ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    statistics_random_free(f->random);
    free(f);
    return 0;
}

static void test_mean_is_the_nearest(void **state) {
    const double thirds[] = {1, 1, 2}, whole[] = {0x1p53, 0x1p53, 0x1p53 + 2}, large[] = {0x1p1023, 0x1.8p1023};
    const double small_beside_large[] = {-0x1p60, 1, 1, 0x1p60};
    assert_true(statistics_mean(thirds, 3) == 4.0 / 3);
    assert_true(statistics_mean(whole, 3) == 0x1p53);
    assert_true(statistics_mean(large, 2) == 0x1.4p1023);
    assert_true(statistics_mean(small_beside_large, 4) == 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sorts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sorts_what_is_sorted_or_equal, set_up, tear_down),
        cmocka_unit_test(test_mean_is_the_nearest),
        cmocka_unit_test_setup_teardown(test_quantiles_are_gsls, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
