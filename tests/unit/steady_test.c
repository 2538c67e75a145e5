// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run is steady, and from when on it is warm, of generated series.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/steady.h"
#include "metrics/warm.h"
#include "metrics/window.h"
#include "simulate_fixture.h"

#include <math.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define S  (1000 * MS)

enum { MOST = 20000 };

struct load {
    struct steady_request requests[MOST];
    size_t count;
    struct random_source random;
};

static struct load *load_new(void) {
    struct load *load = calloc(1, sizeof *load);
    assert_non_null(load);
    load->random.state = 7;
    return load;
}

// Within a tenth of what is told, so that the mean of many hardly is.
static double about(struct load *load, double value) {
    return value * (0.9 + (double)random_below(&load->random, 2001) / 10000);
}

// Requests from one time to another, whose rate and latency go evenly from one value to the other.
static void ask(struct load *load, int64_t from_ns, int64_t to_ns, const double per_s[2], const double latency_ms[2]) {
    const double span = (double)(to_ns - from_ns);
    for (double at = 0; at < span;) {
        const double share = at / span;
        assert_true(load->count < MOST);
        load->requests[load->count++] = (struct steady_request){
            from_ns + (int64_t)at, about(load, latency_ms[0] + share * (latency_ms[1] - latency_ms[0])) * (double)MS};
        at += about(load, 1e9 / (per_s[0] + share * (per_s[1] - per_s[0])));
    }
}

static struct steady find(struct load *load) {
    struct steady steady;
    struct error error = ERROR_INIT;
    assert_true(steady_find(load->requests, load->count, &steady, &error));
    assert_int_equal(steady.requests, load->count);
    free(load);
    return steady;
}

static void assert_about(int64_t ns, int64_t expected_ns, int64_t off_ns) {
    assert_true(ns >= expected_ns - off_ns && ns <= expected_ns + off_ns);
}

// Start-up of 8 s with one question whether it is up, code that is cold for 4 s, 20 steady s, 3 s in which clients
// leave.
static void test_ramp(void **state) {
    struct load *load = load_new();
    load->requests[load->count++] = (struct steady_request){2 * S, 300e6};
    ask(load, 8 * S, 12 * S, (double[]){100, 300}, (double[]){150, 50});
    ask(load, 12 * S, 32 * S, (double[]){300, 300}, (double[]){50, 50});
    ask(load, 32 * S, 35 * S, (double[]){300, 20}, (double[]){50, 40});
    const struct steady steady = find(load);
    assert_int_equal(steady.verdict, STEADY_FOUND);
    assert_about(steady.from_ns, 12 * S, S);
    assert_about(steady.to_ns, 32 * S, S);
}

// One that was attached to has no beginning and no end; but what comes last is left to clients that end before others.
static void test_all_steady(void **state) {
    struct load *load = load_new();
    ask(load, 0, 10 * S, (double[]){200, 200}, (double[]){20, 20});
    const struct steady steady = find(load);
    assert_int_equal(steady.verdict, STEADY_FOUND);
    assert_true(steady.from_ns < S);
    assert_true(steady.to_ns > 9 * S - S / 2 && steady.to_ns <= 9 * S + S / 2);
}

// A collection that holds everything up for a second in between cuts nothing off.
static void test_stall(void **state) {
    struct load *load = load_new();
    ask(load, 0, 9 * S, (double[]){200, 200}, (double[]){20, 20});
    ask(load, 9 * S, 9 * S + 50 * MS, (double[]){200, 200}, (double[]){1000, 950});
    ask(load, 10 * S, 20 * S, (double[]){200, 200}, (double[]){20, 20});
    const struct steady steady = find(load);
    assert_int_equal(steady.verdict, STEADY_FOUND);
    assert_true(steady.from_ns < 2 * S && steady.to_ns > 17 * S);
}

// Requests that become slower, or more, as long as they come.
static void test_drift_throughout(void **state) {
    struct load *load = load_new();
    ask(load, 0, 20 * S, (double[]){200, 200}, (double[]){20, 80});
    assert_int_equal(find(load).verdict, STEADY_NONE);
    load = load_new();
    ask(load, 0, 20 * S, (double[]){50, 400}, (double[]){20, 20});
    assert_int_equal(find(load).verdict, STEADY_NONE);
}

// Of three loads of a third of the requests each none is steady for half of them.
static void test_three_loads(void **state) {
    struct load *load = load_new();
    ask(load, 0, 10 * S, (double[]){100, 100}, (double[]){20, 20});
    ask(load, 10 * S, 15 * S, (double[]){200, 200}, (double[]){30, 30});
    ask(load, 15 * S, 18 * S, (double[]){333, 333}, (double[]){60, 60});
    assert_int_equal(find(load).verdict, STEADY_NONE);
}

// Of two loads that with most of the requests is steady.
static void test_two_loads(void **state) {
    struct load *load = load_new();
    ask(load, 0, 5 * S, (double[]){100, 100}, (double[]){20, 20});
    ask(load, 5 * S, 15 * S, (double[]){300, 300}, (double[]){30, 30});
    const struct steady steady = find(load);
    assert_int_equal(steady.verdict, STEADY_FOUND);
    assert_about(steady.from_ns, 5 * S, S / 2);
}

static void test_few(void **state) {
    for (size_t count = 0; count < STEADY_LEAST; count += 7) {
        struct load *load = load_new();
        for (; load->count < count;)
            load->requests[load->count++] = (struct steady_request){(int64_t)load->count * S, 1e6};
        assert_int_equal(find(load).verdict, STEADY_FEW);
    }
    struct load *load = load_new();
    ask(load, 0, 10 * S, (double[]){6, 6}, (double[]){20, 20});
    assert_int_equal(find(load).verdict, STEADY_FOUND);
}

// All at one time, none answered, in any order, at the ends of time.
static void test_odd_requests(void **state) {
    struct load *load = load_new();
    while (load->count < 100) load->requests[load->count++] = (struct steady_request){S, 1e6};
    assert_int_equal(find(load).verdict, STEADY_NONE);
    load = load_new();
    while (load->count < 200) {
        const int64_t at_ns = (int64_t)((load->count * 77) % 200) * 100 * MS;
        load->requests[load->count++] = (struct steady_request){at_ns, NAN};
    }
    assert_int_equal(find(load).verdict, STEADY_FOUND);
    load = load_new();
    while (load->count < 100) {
        const int64_t at_ns = load->count == 0 ? -4 * (INT64_MAX / 10) : (int64_t)load->count * (INT64_MAX / 250);
        load->requests[load->count++] = (struct steady_request){at_ns, 1e6};
    }
    assert_int_equal(find(load).verdict, STEADY_FOUND);
}

// ---- what was attached to

// A request of 10 ms every 20 ms for 8 s, all alike, of a JVM that ran before, or not; whose compilers take a core
// until `busy` samples have been taken, of which there are ten in a second.
static struct steady find_attached(bool ran_before, int busy) {
    struct trace_builder *tb = tb_new();
    struct steady steady;
    struct error error = ERROR_INIT;
    tb_thread(tb, 0, "JVM", THREAD_SYSTEM);
    tb_thread(tb, 1, "server", 0);
    if (ran_before) tb_running(tb, 4097);
    for (int i = 0; i <= 80; i++) {
        const uint64_t compiled_ns = (uint64_t)(i < busy ? i : busy) * 100 * MS;
        tb_event(tb, 0, (uint64_t)(i * 100 * MS), EVENT_SAMPLE, compiled_ns, compiled_ns, 0);
        tb_event(tb, 0, (uint64_t)(i * 100 * MS + 1), EVENT_COMPILING, compiled_ns, 0);
    }
    tb_event(tb, 1, 1, EVENT_THREAD_START, 4097);
    for (int i = 0; i < 400; i++) {
        tb_event(tb, 1, (uint64_t)(i * 20 * MS + MS), EVENT_REQUEST_BEGIN, (uint64_t)(5000 + i), 7);
        tb_event(tb, 1, (uint64_t)(i * 20 * MS + 11 * MS), EVENT_REQUEST_END, (uint64_t)(5000 + i), 0);
    }
    tb_event(tb, 1, (uint64_t)(8 * S), EVENT_THREAD_END, 4097);
    struct simulate_fixture fixture;
    simulate_fixture_open(&fixture, tb);
    assert_true(steady_of_run(fixture.dag, &steady, &error));
    simulate_fixture_close(&fixture);
    return steady;
}

static void test_begins_when_the_compilers_are_done(void **state) {
    struct steady steady = find_attached(true, 30);
    assert_int_equal(steady.verdict, STEADY_FOUND);
    assert_about(steady.from_ns, 3 * S, S / 5);
    steady = find_attached(true, 0);
    assert_true(steady.from_ns < S / 5);
    steady = find_attached(true, 80); // never
    assert_true(steady.from_ns < S / 5);
    steady = find_attached(false, 30); // a start
    assert_true(steady.from_ns < S / 5);
}

// ---- warm

static size_t warm(double (*cost)(struct load *load, size_t task, size_t count), size_t count) {
    struct load *load = load_new();
    double *cost_ns = malloc(2 * count * sizeof *cost_ns);
    assert_non_null(cost_ns);
    for (size_t i = 0; i < count; i++) cost_ns[i] = about(load, cost(load, i, count));
    const size_t first = warm_first(cost_ns, count, &cost_ns[count]);
    free(cost_ns);
    free(load);
    return first;
}

static double warms_up(struct load *load, size_t task, size_t count) {
    return 1e5 * (task < 300 ? 4 - (double)task / 100 : 1);
}

static double is_warm(struct load *load, size_t task, size_t count) {
    return 1e5;
}

static double cools_down(struct load *load, size_t task, size_t count) {
    return 1e5 * (2 - (double)task / (double)count);
}

// Two kinds of task at one place: nothing that a median would mix up.
static double is_mixed(struct load *load, size_t task, size_t count) {
    return (task < 200 ? 3 : 1) * (random_below(&load->random, 10) < 7 ? 1e5 : 5e5);
}

static void test_warm_first(void **state) {
    assert_in_range(warm(warms_up, 2000), 250, 400);
    assert_int_equal(warm(is_warm, 2000), 0);
    assert_int_equal(warm(is_warm, WARM_LEAST), 0);
    assert_int_equal(warm(cools_down, 2000), 2000);
    assert_in_range(warm(is_mixed, 2000), 200, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramp),        cmocka_unit_test(test_all_steady),
        cmocka_unit_test(test_stall),       cmocka_unit_test(test_drift_throughout),
        cmocka_unit_test(test_three_loads), cmocka_unit_test(test_two_loads),
        cmocka_unit_test(test_few),         cmocka_unit_test(test_odd_requests),
        cmocka_unit_test(test_warm_first),  cmocka_unit_test(test_begins_when_the_compilers_are_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
