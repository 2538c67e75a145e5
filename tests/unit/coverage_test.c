// SPDX-License-Identifier: GPL-3.0-or-later
// What sampled stacks of traces by hand have seen of a program of six methods: main calls unit, which calls a, b, c and
// d; the JDK stands below them all.
#include "metrics/coverage_find.h"
#include "trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

enum { MAIN = 1, OTHER = 2 };

struct program {
    struct trace_builder *tb;
    uint32_t main, unit, a, b, c, sort; // contexts
};

static uint32_t context(struct trace_builder *tb, uint32_t caller, const char *class_name, const char *name) {
    return tb_calling_context(tb, caller, tb_frame(tb, class_name, name, 1));
}

static struct program begin(void) {
    struct program p = {.tb = tb_new()};
    tb_thread(p.tb, MAIN, "main", 0);
    tb_thread(p.tb, OTHER, "other", 0);
    tb_thread(p.tb, OTHER + 1, NULL, THREAD_VIRTUAL);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, 9, 0);
    p.main = context(p.tb, context(p.tb, 0, "java.lang.Thread", "run"), "acme.Test", "main");
    p.unit = context(p.tb, p.main, "acme.Test", "unit");
    p.a = context(p.tb, p.unit, "acme.Test", "a");
    p.b = context(p.tb, p.a, "acme.Test", "b");
    p.c = context(p.tb, p.unit, "acme.other.Tool", "c");
    p.sort = context(p.tb, p.c, "java.util.Arrays", "sort");
    return p;
}

static void add(struct coverage *coverage, struct program *p) {
    struct error error = ERROR_INIT;
    struct trace *trace = tb_open(p->tb);
    if (!coverage_add(coverage, trace, NULL, &error)) fail_msg("%s", error.cause[0]);
    trace_close(trace);
    tb_free(p->tb);
}

static void refuse(struct coverage *coverage, struct program *p, bool whole, const char *why) {
    struct error error = ERROR_INIT;
    struct trace *trace = tb_open(p->tb);
    assert_false(whole ? coverage_add_whole(coverage, trace, &error) : coverage_add(coverage, trace, NULL, &error));
    assert_int_equal(error.status, STATUS_BAD_INPUT);
    if (!strstr(error.cause[0], why)) fail_msg("%s", error.cause[0]);
    trace_close(trace);
    tb_free(p->tb);
}

// A trace in which a thread was seen in these contexts, each at a moment of its own.
static void add_run(struct coverage *coverage, const char *seen) {
    struct program p = begin();
    for (size_t i = 0; seen[i]; i++) {
        tb_moment(p.tb, 10 * (i + 1));
        tb_stack(p.tb, MAIN, seen[i] == 'a' ? p.a : seen[i] == 'b' ? p.b : seen[i] == 'c' ? p.sort : p.main, i, 1);
    }
    add(coverage, &p);
}

// main, unit, a, b, c and d run, under main.
static void add_whole(struct coverage *coverage) {
    static const char *const names[] = {"main", "unit", "a", "b", "d"};
    struct error error = ERROR_INIT;
    struct program p = begin();
    uint32_t methods[6];
    for (size_t i = 0; i < 5; i++) methods[i] = tb_method(p.tb, "acme.Test", names[i]);
    methods[5] = tb_method(p.tb, "acme.other.Tool", "c");
    tb_method(p.tb, "acme.Test", "never");
    for (size_t i = 0; i < 6; i++) tb_event(p.tb, MAIN, 10 + i, EVENT_ENTER, methods[i]);
    for (size_t i = 6; i-- > 0;) tb_event(p.tb, MAIN, 30 - i, EVENT_EXIT, methods[i]);
    struct trace *trace = tb_open(p.tb);
    if (!coverage_add_whole(coverage, trace, &error)) fail_msg("%s", error.cause[0]);
    trace_close(trace);
    tb_free(p.tb);
}

static struct coverage *begin_coverage(const struct coverage_rules *rules) {
    struct error error = ERROR_INIT;
    struct coverage *coverage = coverage_new(rules, &error);
    assert_non_null(coverage);
    return coverage;
}

static struct coverage_found find(struct coverage *coverage) {
    struct error error = ERROR_INIT;
    struct coverage_found found;
    if (!coverage_find(coverage, &found, &error)) fail_msg("%s", error.cause[0]);
    return found;
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-9)) fail_msg("%.9g is not %.9g", value, expected);
}

// Three traces see {main}, {main, unit, a, b} and {main, unit, c} of six.
static void test_traces_are_repetitions(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){0});
    add_whole(coverage);
    add_run(coverage, "m");
    add_run(coverage, "bm");
    add_run(coverage, "cc");
    struct coverage_found found = find(coverage);
    assert_int_equal(found.repetitions, 3);
    assert_int_equal(found.seen, 5);
    assert_int_equal(found.whole_from, COVERAGE_WOVEN);
    assert_near(found.whole.all, 6);
    assert_near(coverage_share(&found), 5.0 / 6);
    assert_int_equal(found.point_count, 3);
    assert_near(found.points[0].methods, (1 + 4 + 3) / 3.0);
    assert_near(found.points[1].methods, (4 + 3 + 5) / 3.0);
    assert_near(found.points[2].methods, 5);
    assert_near(found.points[2].share, 5.0 / 6);
    assert_int_equal(found.unseen_count, 1);
    assert_string_equal(found.unseen[0].name, "d");
    assert_int_equal(found.besides, 0);
    assert_int_equal(found.stacks.virtual_threads, 3); // one a trace
    assert_int_equal(found.stacks.moments, 5);
    assert_int_equal(found.stacks.stacks, 5);
    assert_true(found.has_log && found.log.a > 0 && !isnan(found.log.var_a));
    assert_near(found.degrees, 2);
    coverage_free(coverage);
}

static void test_forecasts(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){0});
    add_whole(coverage);
    add_run(coverage, "m");
    add_run(coverage, "bm");
    add_run(coverage, "cc");
    struct coverage_found found = find(coverage);
    double low, high;
    struct coverage_forecast forecast = coverage_forecast(&found, 4.0 / 6);
    assert_near(forecast.measured, 2);
    assert_true(forecast.low < forecast.by_log && forecast.by_log < forecast.high);
    forecast = coverage_forecast(&found, 0.95);
    assert_true(isnan(forecast.measured) && forecast.by_log > 3);
    coverage_band(&found, 2, &low, &high);
    assert_true(low < log_curve_at(&found.log, 2) && log_curve_at(&found.log, 2) < high);
    coverage_free(coverage);
}

// Chao2 of three repetitions: unit in two, main in all, a, b and c in one. 5 + 2/3 * 9 / 2.
static void test_without_a_whole(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){0});
    add_run(coverage, "m");
    add_run(coverage, "bm");
    add_run(coverage, "cc");
    struct coverage_found found = find(coverage);
    assert_int_equal(found.whole_from, COVERAGE_CHAO2);
    assert_near(found.whole.all, 8);
    assert_int_equal(found.unseen_count, 0);
    coverage_free(coverage);
}

// Chao1 of four stacks: main in all, unit in three, a in two, b and c in one: 5 + 3/4 * 4 / 2. No curve.
static void test_a_single_trace(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){0});
    add_run(coverage, "abcm");
    struct coverage_found found = find(coverage);
    assert_int_equal(found.whole_from, COVERAGE_CHAO1);
    assert_near(found.whole.all, 6.5);
    assert_false(found.has_log || found.has_saturating);
    struct coverage_forecast forecast = coverage_forecast(&found, 0.8);
    assert_true(isnan(forecast.measured) && isnan(forecast.by_log) && isnan(forecast.by_saturation));
    coverage_free(coverage);
}

static void test_globs(void **state) {
    static const char *const include[] = {"acme.Te*", "acme.other.*::c"}, *const exclude[] = {"*::main"};
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){
        .globs = {.include = include, .include_count = 2, .exclude = exclude, .exclude_count = 1}});
    add_run(coverage, "abcm");
    assert_int_equal(find(coverage).seen, 4);
    coverage_free(coverage);
}

// Those of the recording, but for that of one method, which is there to be woven.
static void test_globs_of_the_recording(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){0});
    struct program p = begin();
    tb_options(p.tb, "out=x,sample=100,include=acme.Te*,include=acme.Test::unit,exclude=*::%62,include=x%2Cy");
    tb_moment(p.tb, 10);
    tb_stack(p.tb, MAIN, p.b, 0, 1);
    add(coverage, &p);
    assert_int_equal(find(coverage).seen, 3); // main, unit, a
    coverage_free(coverage);
}

// Three calls by two threads; of what is above the unit, before and between its calls, nothing counts.
static struct program make_calls(void) {
    struct program p = begin();
    uint32_t unit = tb_method(p.tb, "acme.Test", "unit");
    const uint64_t calls[][3] = {{MAIN, 100, 200}, {MAIN, 300, 400}, {OTHER, 100, 400}};
    for (size_t i = 0; i < 3; i++) {
        tb_event(p.tb, (uint32_t)calls[i][0], calls[i][1], EVENT_ENTER, unit);
        tb_event(p.tb, (uint32_t)calls[i][0], calls[i][2], i == 1 ? EVENT_EXIT_THROW : EVENT_EXIT, unit);
    }
    for (uint64_t t = 50; t <= 450; t += 50) tb_moment(p.tb, t);
    tb_stack(p.tb, MAIN, p.main, 0, 1);
    tb_stack(p.tb, MAIN, p.a, 1, 3); // 100 to 200
    tb_stack(p.tb, MAIN, p.a, 4, 1); // 250: as if the call were still under way
    tb_stack(p.tb, MAIN, p.sort, 6, 1);
    tb_stack(p.tb, OTHER, p.b, 2, 5);
    return p;
}

static void test_calls_are_repetitions(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){.unit = "acme.Test::unit"});
    struct program p = make_calls();
    add(coverage, &p);
    struct coverage_found found = find(coverage);
    assert_int_equal(found.repetitions, 3);
    assert_int_equal(found.seen, 4); // unit, a, b, c
    assert_int_equal(found.stacks.stacks, 11);
    assert_int_equal(found.stacks.outside, 2);
    assert_near(found.points[0].methods, (2 + 2 + 3) / 3.0); // {unit, a}, {unit, c}, {unit, a, b}
    coverage_free(coverage);
}

// Within its calls: main, above it, is not of the unit.
static void test_whole_of_a_unit(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){.unit = "Test.unit"});
    struct program p = make_calls();
    add_whole(coverage);
    add(coverage, &p);
    struct coverage_found found = find(coverage);
    assert_near(found.whole.all, 5);
    assert_int_equal(found.seen, 4);
    assert_int_equal(found.unseen_count, 1);
    coverage_free(coverage);
}

static void test_refusals(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){.unit = "acme.Test.unit"});
    struct program p = begin();
    refuse(coverage, &p, false, "has no sampled stacks: record it with --sample HZ");
    p = begin();
    refuse(coverage, &p, true, "has no functions");
    p = begin();
    tb_moment(p.tb, 10);
    tb_stack(p.tb, MAIN, p.a, 0, 1);
    refuse(coverage, &p, false,
           "has no call of acme.Test.unit: record it with --sample HZ --include 'acme.Test::unit'");
    p = make_calls();
    tb_command(p.tb, "java -Xmx1g -cp x:y -jar other.jar Test");
    refuse(coverage, &p, false, "is of another program (other.jar) than");
    p = make_calls();
    tb_command(p.tb, "/usr/bin/java -ea -cp x:y Test 17");
    add(coverage, &p);
    coverage_free(coverage);
}

static void test_two_stacks_at_one_moment(void **state) {
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){.unit = "acme.Test.unit"});
    struct program p = make_calls();
    tb_stack(p.tb, MAIN, p.b, 3, 1);
    refuse(coverage, &p, false, "has two stacks of thread 1 at one moment");
    coverage_free(coverage);
}

static void test_nothing_that_counts(void **state) {
    static const char *const include[] = {"elsewhere.*"};
    struct coverage *coverage =
        begin_coverage(&(struct coverage_rules){.globs = {.include = include, .include_count = 1}});
    struct error error = ERROR_INIT;
    struct coverage_found found;
    add_run(coverage, "abc");
    assert_false(coverage_find(coverage, &found, &error));
    assert_int_equal(error.status, STATUS_BAD_INPUT);
    coverage_free(coverage);
}

// Of 1,000 calls there are 40 points, evenly over the logarithm.
static void test_points_of_many_calls(void **state) {
    enum { CALLS = 1000 };
    struct coverage *coverage = begin_coverage(&(struct coverage_rules){.unit = "acme.Test.unit"});
    struct program p = begin();
    uint32_t unit = tb_method(p.tb, "acme.Test", "unit");
    for (uint64_t i = 0; i < CALLS; i++) {
        tb_event(p.tb, MAIN, 10 * i + 1, EVENT_ENTER, unit);
        tb_event(p.tb, MAIN, 10 * i + 9, EVENT_EXIT, unit);
        tb_moment(p.tb, 10 * i + 5);
        tb_stack(p.tb, MAIN, i % 500 == 0 ? p.b : i % 10 == 0 ? p.a : i % 97 == 0 ? p.c : p.unit, i, 1);
    }
    add(coverage, &p);
    struct coverage_found found = find(coverage);
    assert_int_equal(found.repetitions, CALLS);
    assert_in_range(found.point_count, 30, COVERAGE_POINTS);
    assert_near(found.points[0].repetitions, 1);
    assert_near(found.points[found.point_count - 1].repetitions, CALLS);
    assert_near(found.points[found.point_count - 1].methods, 4);
    for (size_t i = 1; i < found.point_count; i++) assert_true(found.points[i].share >= found.points[i - 1].share);
    assert_true(found.has_saturating);
    assert_near(found.degrees, SEEN_PARTS - 1);
    coverage_free(coverage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traces_are_repetitions),
        cmocka_unit_test(test_forecasts),
        cmocka_unit_test(test_without_a_whole),
        cmocka_unit_test(test_a_single_trace),
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_globs_of_the_recording),
        cmocka_unit_test(test_calls_are_repetitions),
        cmocka_unit_test(test_whole_of_a_unit),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_two_stacks_at_one_moment),
        cmocka_unit_test(test_nothing_that_counts),
        cmocka_unit_test(test_points_of_many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
