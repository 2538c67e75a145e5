// SPDX-License-Identifier: GPL-3.0-or-later
// Noise of runs against values worked out by hand, from tables of the binomial, the normal and Student's distribution.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/runs.h"

static void assert_near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-4 * fabs(wanted))) fail_msg("%.9g, not %.9g", value, wanted);
}

static struct noise noise_of_copy(const double *values, size_t count) {
    double copy[16];
    for (size_t i = 0; i < count; i++) copy[i] = values[i];
    return noise_of(copy, count);
}

// Of nine values the second and the eighth: 2 (1 + 9) / 512 is 3.9 %. Of six and of eight the ends: 2 / 64, 2 / 256;
// with the second, 2 (1 + 8) / 256, it would be 7 %.
static void test_median_by_order(void **state) {
    (void)state;
    const double nine[] = {9, 1, 14, 3, 4, 2, 20, 6, 5}, six[] = {1, 2, 3, 4, 5, 16},
                 eight[] = {1, 3, 4, 5, 6, 7, 8, 9};
    struct noise noise = noise_of_copy(nine, 9);
    assert_true(noise.runs == 9 && noise.median == 5 && noise.half_width == (14 - 2) / 2.0);
    noise = noise_of_copy(six, 6);
    assert_true(noise.median == 3.5 && noise.half_width == 7.5);
    assert_true(noise_of_copy(eight, 8).half_width == 4);
}

// Standard deviation 2, and the tables' t of 97.5 %: 2.77645 with four degrees of freedom, 12.7062 with one.
static void test_few_runs_by_t(void **state) {
    (void)state;
    const double five[] = {10, 12, 8, 12, 8}, two[] = {1, 3}, one[] = {7};
    struct noise noise = noise_of_copy(five, 5);
    assert_true(noise.median == 10);
    assert_near(noise.deviation, 2);
    assert_near(noise.half_width, 2.77645 * 2 * 1.2533141 / 2.2360680);
    noise = noise_of_copy(two, 2);
    assert_near(noise.half_width, 12.7062 * 1.4142136 * 1.2533141 / 1.4142136);
    noise = noise_of_copy(one, 1);
    assert_true(noise.runs == 1 && noise.median == 7 && isnan(noise.half_width) && isnan(noise.deviation));
    assert_true(isnan(noise_of_copy(one, 0).median));
}

static void test_unknown_values_are_left_out(void **state) {
    (void)state;
    const double values[] = {NAN, 3, NAN, 1, 2};
    const struct noise noise = noise_of_copy(values, 5);
    assert_true(noise.runs == 3 && noise.median == 2);
}

static struct noise noise(size_t runs, double median, double half_width, double deviation) {
    return (struct noise){runs, median, half_width, deviation};
}

// 1.95996 + 0.84162 = 2.80159; of deviations 10 and a difference of 5: pi / 2 * 7.84888 * 200 / 25 = 98.63.
static void test_changes(void **state) {
    (void)state;
    const struct noise before = noise(9, 100, 6, 10), hidden = noise(9, 105, 8, 10), told = noise(9, 111, 8, 10),
                       same = noise(9, 100, 6, 10), hardly = noise(9, 100.001, 6, 10), alone = noise(1, 90, NAN, NAN);
    assert_near(noise_of_change(&before, &hidden), 10);
    assert_true(noise_hides(&before, &hidden) && !noise_hides(&before, &told));
    assert_int_equal(noise_more_runs(&before, &hidden), 99 - 9);
    assert_int_equal(noise_more_runs(&before, &told), 0);
    assert_int_equal(noise_more_runs(&before, &same), 0);
    assert_true(noise_more_runs(&before, &hardly) == UINT64_MAX);
    assert_true(!noise_hides(&before, &alone) && noise_more_runs(&before, &alone) == 0);
}

// A difference just within the noise of many alike runs asks for one more at the least.
static void test_one_more_run(void **state) {
    (void)state;
    const struct noise before = noise(9, 100, 6, 1), after = noise(9, 108, 6, 1);
    assert_true(noise_hides(&before, &after));
    assert_int_equal(noise_more_runs(&before, &after), 1);
}

static void test_medians_of_all_figures(void **state) {
    (void)state;
    struct metrics runs[3], median;
    const struct metrics *pointers[] = {&runs[0], &runs[1], &runs[2]};
    struct error error = ERROR_INIT;
    for (int i = 0; i < 3; i++) {
        metrics_unknown(&runs[i]);
        runs[i].wall_ns = 100 + 10 * (i == 1) - 10 * (i == 2);
        runs[i].threads[STATE_UNOCCUPIED].mean = i;
        runs[i].tasks.count = 7;
        runs[i].tasks.coarse.tasks = i + 1;
        runs[i].requests.latency_ns.p99 = i == 0 ? NAN : i;
        runs[i].requests.sustainable_per_s = 5;
        runs[i].requests.bottleneck = 40 + (uint32_t)i;
        runs[i].cpu.context_switches_total = 3 - i;
        runs[i].warm_from_ns = 2 * i;
    }
    assert_true(runs_median(pointers, 3, &median, &error));
    assert_int_equal(median.wall_ns, 100);
    assert_true(median.threads[STATE_UNOCCUPIED].mean == 1 && median.tasks.count == 7);
    assert_true(median.tasks.coarse.tasks == 2 && median.requests.latency_ns.p99 == 1.5);
    assert_true(median.requests.sustainable_per_s == 5 && median.requests.bottleneck == 40);
    assert_true(median.cpu.context_switches_total == 2 && median.warm_from_ns == 2 && isnan(median.cpu.utilisation));
}

static void test_figures_have_names(void **state) {
    (void)state;
    for (enum run_figure figure = 0; figure < RUN_FIGURES; figure++) assert_non_null(run_figure_names[figure]);
}

static void test_loads(void **state) {
    (void)state;
    struct trace traces[11] = {
        {.header = {.command = "java -cp a Main 1", .jvm = "17", .cores = 2}},
        {.header = {.command = "java -cp a Main 2", .jvm = "17", .cores = 2}},
        {.header = {.command = "java -agentpath:/x/librehype-agent.so=out=b -cp a Main 1", .jvm = "17", .cores = 2}},
        {.header = {.command = "java -cp a Main 1", .jvm = "17", .cores = 4}},
        {.header = {.command = "java -cp a Main", .jvm = "17", .cores = 2}},
        {.header = {.jvm = "17", .cores = 2}},
        {.header = {.jvm = "17", .cores = 2}},
        // One run twice, and two files of one recording with the first of another.
        {.header = {.command = "java Other", .cores = 2, .pid = 9, .start_unix_ns = 5}, .part = {.number = 1}},
        {.header = {.command = "java Other", .cores = 2, .pid = 9, .start_unix_ns = 5}, .part = {.number = 1}},
        {.header = {.command = "java Other", .cores = 2, .pid = 9, .start_unix_ns = 7}, .part = {.number = 2}},
        {.header = {.command = "java Other", .cores = 2, .pid = 8, .start_unix_ns = 5}, .part = {.number = 1}},
    };
    const struct trace *pointers[11];
    uint32_t loads[11];
    const uint32_t wanted[11] = {0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 6};
    for (int i = 0; i < 11; i++) pointers[i] = &traces[i];
    assert_int_equal(runs_find_loads(pointers, 11, loads), 9);
    assert_memory_equal(loads, wanted, sizeof wanted);
}

static void test_median_run(void **state) {
    (void)state;
    const int64_t walls[] = {50, 10, 30, 20, 40, 90, 30};
    const uint32_t loads[] = {0, 1, 0, 0, 0, 0, 2};
    struct metrics runs[7];
    const struct metrics *pointers[7];
    for (int i = 0; i < 7; i++) {
        metrics_unknown(&runs[i]);
        runs[i].wall_ns = walls[i];
        pointers[i] = &runs[i];
    }
    assert_int_equal(runs_median_run(pointers, loads, 7, 0), 4);
    assert_int_equal(runs_median_run(pointers, loads, 7, 1), 1);
    assert_int_equal(runs_median_run(pointers, loads, 7, 2), 6);
    for (int i = 0; i < 7; i++) runs[i].requests.throughput_per_s = (double)walls[i]; // of a service that counts
    runs[0].wall_ns = 1000;
    assert_int_equal(runs_median_run(pointers, loads, 7, 0), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_by_order),
        cmocka_unit_test(test_few_runs_by_t),
        cmocka_unit_test(test_unknown_values_are_left_out),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_one_more_run),
        cmocka_unit_test(test_medians_of_all_figures),
        cmocka_unit_test(test_figures_have_names),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_median_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
