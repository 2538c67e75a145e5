// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/objective.h"

#include <string.h>

static struct arena arena = ARENA_INIT;

static int free_arena(void **state) {
    arena_destroy(&arena);
    return 0;
}

static struct metrics run(int64_t wall_ns, double peak, double mean) {
    struct metrics m;
    metrics_unknown(&m);
    m.wall_ns = wall_ns;
    m.threads[STATE_OCCUPIED] = (struct usage){peak, ceil(peak), mean};
    m.threads[STATE_WAITING] = (struct usage){0, 0, 0};
    m.thread_time_ns = mean * (double)wall_ns;
    m.tasks.count = 12;
    m.tasks.overhead_share = 0.1;
    m.tasks.idle_share = 0.5;
    return m;
}

static double value(const char *text, const struct metrics *m, const struct metrics *base) {
    struct error error = ERROR_INIT;
    const struct objective *objective;
    assert_true(objective_parse(text, &arena, &objective, &error));
    return objective_value(objective, m, base, 1, 3);
}

static void check_near(double actual, double expected, const char *what, int line) {
    if (fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected))) return;
    print_error("%s is %.12g, not %.12g\n", what, actual, expected);
    _fail(__FILE__, line);
}

#define assert_near(actual, expected) check_near((actual), (expected), #actual, __LINE__)

static void test_requests(void **state) {
    struct metrics base = run(1000, 8, 4), m = run(1000, 8, 4);
    m.requests.latency_ns.p95 = 30;
    m.requests.concurrent = 4;
    m.requests.sustainable_per_s = 250;
    base.requests.sustainable_per_s = 100;
    assert_near(value("requests.latency.p95 / requests.concurrent", &m, &base), 7.5);
    struct error error = ERROR_INIT;
    const struct requirement *requirement;
    assert_true(requirement_parse("requests.sustainable >= 150%", &arena, &requirement, &error));
    assert_true(requirement_needs_all(requirement));
    assert_null(requirement_failed(requirement, &m, &base, &base));
    m.requests.sustainable_per_s = 240;
    assert_non_null(requirement_failed(requirement, &m, &base, &base));
}

// wall 0.8, peak 0.5, mean 0.25 of the base: thread-time 0.2 of it.
static void test_named(void **state) {
    struct metrics base = run(1000, 8, 4), m = run(800, 4, 1);
    m.tasks.overhead_share = 0.045;
    m.tasks.idle_share = 0.25;
    assert_near(value("wall", &m, &base), 0.8);
    assert_near(value("composite", &m, &base), cbrt(0.8 * 0.5 * 0.2));
    assert_near(value("threads", &m, &base), sqrt(0.5 * 0.25));
    assert_near(value("throughput", &m, &base), 0.5);
    assert_near(value("granularity", &m, &base), (1.045 / 0.75) / (1.1 / 0.5));
    assert_near(value("balanced", &m, &base), sqrt(cbrt(0.8 * 0.5 * 0.2) * (1.045 / 0.75) / (1.1 / 0.5)));
    assert_near(value("edits", &m, &base), 3);
    assert_true(isnan(value("utilisation", &m, &base)));
    assert_near(value("balanced", &base, &base), 1);
    base.initialisation_share = 0.5;
    m.initialisation_share = 0.2;
    assert_near(value("utilisation", &m, &base), 0.5 / 0.8);
    assert_near(value("balanced", &m, &base), cbrt(cbrt(0.8 * 0.5 * 0.2) * (1.045 / 0.75) / (1.1 / 0.5) * (0.5 / 0.8)));
    base.initialisation_share = NAN;
    m.tasks.idle_share = NAN; // a family that the trace lacks is left out
    assert_near(value("balanced", &m, &base), cbrt(0.8 * 0.5 * 0.2));
}

static void test_expressions(void **state) {
    struct metrics base = run(1000, 8, 4), m = run(800, 4, 1);
    assert_near(value("1 + 2 * 3", &m, &base), 7);
    assert_near(value("(1+2)*3", &m, &base), 9);
    assert_near(value("2^3^2", &m, &base), 512);
    assert_near(value("-2^2", &m, &base), -4);
    assert_near(value("2^-1", &m, &base), 0.5);
    assert_near(value("10-4-3", &m, &base), 3);
    assert_near(value("8/4/2", &m, &base), 1);
    assert_near(value("sqrt(occupied.peak) + log(1) + min(3, tasks.count) + max(1,2)", &m, &base), 2 + 0 + 3 + 2);
    assert_near(value("wall * occupied.mean / 1e3", &m, &base), 0.8);
    assert_near(value("composite", &m, &base), value("composite + 0", &m, &base));
    assert_true(isnan(value("blocked.mean + 1", &m, &base)));
}

static void check_bad_expression(const char *text, const char *position) {
    struct error error = ERROR_INIT;
    const struct objective *objective;
    char message[2048];
    assert_false(objective_parse(text, &arena, &objective, &error));
    assert_int_equal(error.status, STATUS_USAGE);
    assert_non_null(strstr(error_text(&error, message, sizeof message), position));
}

static void test_bad_expressions(void **state) {
    check_bad_expression("", "character 1:");
    check_bad_expression("wall +", "character 7:");
    check_bad_expression("wall wall", "character 6:");
    check_bad_expression("(wall", "character 6:");
    check_bad_expression("wall * occupied.peek", "character 8: unknown name \"occupied.peek\"");
    check_bad_expression("wall * occupied.peek", "occupied,active,waiting");
    check_bad_expression("balance", "an objective is balanced, composite");
    check_bad_expression("min(1)", "character 6: , is missing");
    check_bad_expression("sqrt 2", "character 6: ( is missing");
    check_bad_expression("1 $ 2", "character 3:");
    check_bad_expression("0x", "character 2:");
    char deep[200], longest[2000] = "1";
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    check_bad_expression(deep, "nested too deeply");
    memset(deep, '-', sizeof deep - 1);
    check_bad_expression(deep, "nested too deeply");
    for (int i = 0; i < 400; i++) strcat(longest, "+1");
    check_bad_expression(longest, "too long");
}

static bool meets(const char *text, const struct metrics *m, const struct metrics *base) {
    struct error error = ERROR_INIT;
    const struct requirement *requirement;
    assert_true(requirement_parse(text, &arena, &requirement, &error));
    const char *failed = requirement_failed(requirement, m, base, base);
    if (failed) assert_string_equal(failed, text);
    return !failed;
}

static void test_requirements(void **state) {
    struct metrics base = run(1000, 8, 4), m = run(900, 8, 4.2);
    assert_true(meets("wall<=0%", &m, &base));
    assert_true(meets("wall <= -10 %", &m, &base));
    assert_false(meets("wall<-10%", &m, &base));
    assert_false(meets("occupied.mean<=0%", &m, &base));
    assert_true(meets("occupied.mean<=5.1%", &m, &base));
    assert_true(meets("occupied.peak<=8", &m, &base));
    assert_false(meets("occupied.peak<8", &m, &base));
    assert_true(meets("tasks.count==12", &m, &base));
    assert_true(meets("tasks.count>=12", &m, &base));
    assert_false(meets("tasks.count>1.2e1", &m, &base));
    assert_true(meets("waiting.mean<=0%", &m, &base));   // 0 of 0 is no change
    assert_false(meets("blocked.mean<=100", &m, &base)); // unknown can't be shown to meet it
    assert_true(meets("composite<1", &m, &base));
}

static void test_bad_requirements(void **state) {
    static const char *const bad[] = {"",        "wall",      "wall<=", "wall=0",    "wall<=x", "wall<=1x",
                                      "peak<=1", "wall<=0%%", "<=0",    "wall<=nan", "wall<=0x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error = ERROR_INIT;
        const struct requirement *requirement;
        assert_false(requirement_parse(bad[i], &arena, &requirement, &error));
        assert_int_equal(error.status, STATUS_USAGE);
    }
}

static void test_filter(void **state) {
    struct metrics base = run(1000, 8, 4), slower = run(1006, 8, 4), fuller = run(1000, 8, 4.03),
                   peaky = run(1000, 8.1, 4);
    assert_null(filter_failed(&base, &base, 0));
    assert_string_equal(filter_failed(&slower, &base, 0.005), "wall<=0%");
    assert_null(filter_failed(&slower, &base, 0.007));
    assert_string_equal(filter_failed(&fuller, &base, 0.005), "occupied.mean<=0%");
    assert_string_equal(filter_failed(&peaky, &base, 0.005), "occupied.peak<=0%");
}

static void test_gain_and_needs(void **state) {
    struct metrics base = run(1000, 8, 4), m = run(800, 4, 1);
    struct error error = ERROR_INIT;
    const struct objective *edits, *all, *actors;
    assert_true(objective_parse("edits", &arena, &edits, &error));
    assert_true(objective_gain(edits, &m, &base, 1) > 0);
    assert_near(objective_gain(edits, &base, &base, 1), 0);
    assert_true(objective_parse("wall * tasks.granularity.p95", &arena, &all, &error));
    assert_true(objective_needs_all(all));
    assert_false(objective_needs_all(edits));
    assert_true(objective_parse("utilisation", &arena, &actors, &error));
    assert_true(objective_check(edits, &base, &error));
    assert_false(objective_check(actors, &base, &error));
    assert_int_equal(error.status, STATUS_USAGE);
}

// Wall a half of the base's in one trace and twice as much in the other: ratios cancel out, sums don't.
static void test_several_traces(void **state) {
    const struct metrics base[] = {run(1000, 8, 4), run(1000, 8, 4)}, m[] = {run(500, 8, 4), run(2000, 8, 4)};
    struct error error = ERROR_INIT;
    const struct objective *ratio, *sum, *edits;
    assert_true(objective_parse("wall", &arena, &ratio, &error));
    assert_true(objective_parse("wall + 0", &arena, &sum, &error));
    assert_true(objective_parse("edits", &arena, &edits, &error));
    assert_near(objective_value(ratio, m, base, 2, 3), 1);
    assert_near(objective_gain(ratio, m, base, 2), 0);
    assert_near(objective_value(sum, m, base, 2, 3), 1250);
    assert_near(objective_gain(sum, m, base, 2), -250);
    assert_true(objective_value(edits, m, base, 2, 3) == 3);
    assert_near(objective_gain(edits, m, base, 2), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),       cmocka_unit_test(test_named),
        cmocka_unit_test(test_expressions),    cmocka_unit_test(test_bad_expressions),
        cmocka_unit_test(test_requirements),   cmocka_unit_test(test_bad_requirements),
        cmocka_unit_test(test_filter),         cmocka_unit_test(test_gain_and_needs),
        cmocka_unit_test(test_several_traces),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
