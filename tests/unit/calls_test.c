// SPDX-License-Identifier: GPL-3.0-or-later
// In which functions requests of hand-made runs sleep, and which of their calls follow one another, with the arithmetic
// beside them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/calls.h"
#include "simulate_fixture.h"

enum { MAIN = 100, DB = 900, TASK = 700, FIRST = 500 };

#define MS        UINT64_C(1000000)
#define MS_OF(n)  ((n)*1e6)
#define TOLERANCE 50.0 // events of a thread are a nanosecond apart

struct fixture {
    struct trace_builder *tb;
    struct simulate_fixture on;
    struct arena arena;
    struct calls calls;
    uint32_t offer_endpoint, site, offer, stock, shipping, reviews;
    uint64_t at_ns, cpu; // of the last event
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new(), .cpu = 1};
    f->offer_endpoint = tb_endpoint(f->tb, "GET /offer");
    f->site = tb_site(f->tb, "Offers", "offer", 10);
    f->offer = tb_method(f->tb, "Offers", "offer");
    f->stock = tb_method(f->tb, "Offers", "stock");
    f->shipping = tb_method(f->tb, "Offers", "shipping");
    f->reviews = tb_method(f->tb, "Offers", "reviews");
    tb_resource(f->tb, DB, RESOURCE_POOL, 5, 0);
    tb_thread(f->tb, 1, "main", 0);
    tb_event(f->tb, 1, 0, EVENT_RUN_DELAY, 0);
    tb_event(f->tb, 1, 1, EVENT_MAIN_BEGIN, MAIN, f->cpu);
    f->at_ns = 1;
}

static void open_run(struct fixture *f, const struct window *window) {
    struct error error = ERROR_INIT;
    tb_event(f->tb, 1, f->at_ns + MS, EVENT_THREAD_END, MAIN, f->cpu + MS);
    simulate_fixture_open(&f->on, f->tb);
    assert_true(metrics_calls(f->on.dag, window, &f->arena, &f->calls, &error));
}

static void close_run(struct fixture *f) {
    arena_destroy(&f->arena);
    simulate_fixture_close(&f->on);
}

// The next event of the thread, right behind the one before.
#define next(f, ...) tb_event((f)->tb, 1, ++(f)->at_ns, __VA_ARGS__)

static void pass(struct fixture *f, uint64_t ms) {
    f->at_ns += ms * MS;
}

static void request_begin(struct fixture *f, uint64_t request) {
    pass(f, 1);
    next(f, EVENT_REQUEST_BEGIN, request, f->cpu += MS, 0);
    next(f, EVENT_REQUEST_NAMED, request, f->offer_endpoint);
}

// It has computed for so long.
static void request_end(struct fixture *f, uint64_t request, uint64_t computed_ms) {
    next(f, EVENT_REQUEST_END, request, f->cpu += computed_ms * MS, REQUEST_ANSWERED);
}

static void call(struct fixture *f, uint32_t method, uint64_t ms) {
    next(f, EVENT_ENTER, method);
    pass(f, ms);
    next(f, EVENT_EXIT, method);
}

static void call_with_connection(struct fixture *f, uint32_t method, uint64_t ms) {
    next(f, EVENT_ENTER, method);
    next(f, EVENT_HELD, DB, want_operand(1, false, f->site));
    pass(f, ms);
    next(f, EVENT_RELEASED, DB, want_operand(1, false, f->site));
    next(f, EVENT_EXIT, method);
}

static const struct called_function *function(const struct fixture *f, uint32_t method) {
    const struct endpoint_calls *of = calls_of(&f->calls, f->offer_endpoint);
    assert_non_null(of);
    for (size_t i = 0; i < of->function_count; i++) {
        if (of->functions[i].method == method) return &of->functions[i];
    }
    fail_msg("function %u is not told", method);
    return NULL;
}

static const struct call_sequence *only_sequence(const struct fixture *f) {
    const struct endpoint_calls *of = calls_of(&f->calls, f->offer_endpoint);
    assert_non_null(of);
    assert_int_equal(of->sequence_count, 1);
    return &of->sequences[0];
}

static void assert_no_sequence(const struct fixture *f) {
    assert_int_equal(calls_of(&f->calls, f->offer_endpoint)->sequence_count, 0);
}

// A ms passes between calls, 5 in all; of what is slept in each, a ms is awake as well: 8 of 95.
static void three_calls(struct fixture *f, uint64_t request) {
    request_begin(f, request);
    pass(f, 1);
    next(f, EVENT_ENTER, f->offer);
    call(f, f->stock, 20);
    pass(f, 1);
    call(f, f->shipping, 30);
    pass(f, 1);
    call(f, f->reviews, 40);
    pass(f, 1);
    next(f, EVENT_EXIT, f->offer);
    pass(f, 1);
    request_end(f, request, 8);
}

static void test_calls_one_after_the_other(void **state) {
    struct fixture f;
    begin(&f);
    three_calls(&f, FIRST);
    three_calls(&f, FIRST + 1);
    request_begin(&f, FIRST + 2); // has one of them alone
    pass(&f, 1);
    call(&f, f.stock, 20);
    request_end(&f, FIRST + 2, 2);
    open_run(&f, NULL);
    assert_int_equal(f.calls.count, 1);
    assert_float_equal(function(&f, f.stock)->calls, 1, 0);
    assert_float_equal(function(&f, f.stock)->call_ns, MS_OF(20), TOLERANCE);
    assert_float_equal(function(&f, f.stock)->asleep_ns, MS_OF(19), TOLERANCE);
    assert_float_equal(function(&f, f.reviews)->calls, 2.0 / 3, 1e-9);
    assert_float_equal(function(&f, f.reviews)->asleep_ns, MS_OF(39 * 2) / 3, TOLERANCE);
    assert_float_equal(function(&f, f.offer)->asleep_ns, 0, TOLERANCE);
    assert_float_equal(function(&f, f.offer)->together_ns, MS_OF((19 + 29 + 39) * 2) / 3, TOLERANCE);
    const struct call_sequence *sequence = only_sequence(&f);
    assert_int_equal(sequence->caller, f.offer);
    assert_int_equal(sequence->function_count, 3);
    assert_int_equal(sequence->functions[0].method, f.stock);
    assert_int_equal(sequence->functions[1].method, f.shipping);
    assert_float_equal(sequence->functions[1].call_ns, MS_OF(30), TOLERANCE);
    assert_int_equal(sequence->functions[2].method, f.reviews);
    assert_int_equal(sequence->requests, 2);
    assert_float_equal(sequence->per_s, 2 / 0.213, 1e-3); // 95, 1 between, 95, 1, 21
    assert_float_equal(sequence->sum_ns, MS_OF(90), TOLERANCE);
    assert_float_equal(sequence->longest_ns, MS_OF(40), TOLERANCE);
    assert_float_equal(sequence->saved_ns, MS_OF(50 * 2) / 3, TOLERANCE);
    assert_int_equal(sequence->held, DAG_NONE);
    assert_null(calls_of(&f.calls, f.offer_endpoint + 1));
    close_run(&f);
}

// Functions are found while the program runs: what came before says nothing of them.
static void test_requests_before_the_first_function(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    pass(&f, 10);
    request_end(&f, FIRST, 10);
    three_calls(&f, FIRST + 1);
    request_begin(&f, FIRST + 2);
    pass(&f, 10);
    request_end(&f, FIRST + 2, 10);
    open_run(&f, NULL);
    assert_int_equal(calls_of(&f.calls, f.offer_endpoint)->requests, 2);
    assert_float_equal(function(&f, f.offer)->calls, 0.5, 0);
    close_run(&f);
}

static void test_only_requests_of_the_window(void **state) {
    struct fixture f;
    begin(&f);
    three_calls(&f, FIRST);
    const uint64_t between = f.at_ns + 1;
    three_calls(&f, FIRST + 1);
    open_run(&f, &(struct window){(int64_t)between, INT64_MAX});
    assert_int_equal(only_sequence(&f)->requests, 1);
    assert_float_equal(function(&f, f.offer)->calls, 1, 0);
    close_run(&f);
}

// Three times in a loop: one function of the sequence.
static void test_a_loop(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    for (uint64_t i = 1; i <= 3; i++) call(&f, f.stock, 10 * i);
    request_end(&f, FIRST, 3);
    open_run(&f, NULL);
    const struct call_sequence *sequence = only_sequence(&f);
    assert_int_equal(sequence->caller, 0);
    assert_int_equal(sequence->function_count, 1);
    assert_float_equal(sequence->functions[0].calls, 3, 0);
    assert_float_equal(sequence->sum_ns, MS_OF(60), TOLERANCE);
    assert_float_equal(sequence->longest_ns, MS_OF(30), TOLERANCE);
    close_run(&f);
}

// One computes for all of its time, one is too short.
static void test_what_hardly_sleeps_is_none(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    call(&f, f.stock, 20);
    request_end(&f, FIRST, 20);
    request_begin(&f, FIRST + 1);
    call(&f, f.shipping, 30);
    next(&f, EVENT_ENTER, f.reviews);
    f.at_ns += MS / 2;
    next(&f, EVENT_EXIT, f.reviews);
    request_end(&f, FIRST + 1, 0);
    open_run(&f, NULL);
    assert_float_equal(function(&f, f.stock)->asleep_ns, 0, TOLERANCE);
    assert_float_equal(function(&f, f.shipping)->asleep_ns, MS_OF(30) / 2, TOLERANCE);
    assert_no_sequence(&f);
    close_run(&f);
}

// Two use a connection each, for all of their time: of them the longer one stays.
static void test_calls_that_need_the_same_are_not_told(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    call_with_connection(&f, f.stock, 20);
    call_with_connection(&f, f.shipping, 30);
    call(&f, f.reviews, 40);
    request_end(&f, FIRST, 1);
    open_run(&f, NULL);
    const struct call_sequence *sequence = only_sequence(&f);
    assert_int_equal(sequence->function_count, 2);
    assert_int_equal(sequence->functions[0].method, f.shipping);
    assert_int_equal(sequence->functions[1].method, f.reviews);
    assert_float_equal(sequence->sum_ns, MS_OF(70), TOLERANCE);
    close_run(&f);
}

// The first keeps a connection, which the others may need.
static void test_what_a_call_keeps(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    next(&f, EVENT_ENTER, f.stock);
    pass(&f, 20);
    next(&f, EVENT_HELD, DB, want_operand(1, false, f.site));
    next(&f, EVENT_EXIT, f.stock);
    call(&f, f.shipping, 30);
    call(&f, f.reviews, 40);
    next(&f, EVENT_RELEASED, DB, want_operand(1, false, f.site));
    request_end(&f, FIRST, 1);
    open_run(&f, NULL);
    const struct call_sequence *sequence = only_sequence(&f);
    assert_int_equal(sequence->function_count, 2);
    assert_int_equal(sequence->functions[0].method, f.shipping);
    assert_int_not_equal(sequence->held, DAG_NONE);
    assert_int_equal(f.on.dag->resources[sequence->held].id, DB);
    close_run(&f);
}

// What the first hands over the second waits for, and is asleep meanwhile.
static void test_a_call_that_awaits_another(void **state) {
    struct fixture f;
    begin(&f);
    const uint32_t pool = tb_pool(f.tb, "pool-1", 1);
    request_begin(&f, FIRST);
    next(&f, EVENT_ENTER, f.stock);
    next(&f, EVENT_SPAWN_BEGIN, TASK, f.site, pool);
    next(&f, EVENT_SPAWN_END, TASK);
    const uint64_t spawned = f.at_ns;
    pass(&f, 20);
    next(&f, EVENT_EXIT, f.stock);
    next(&f, EVENT_ENTER, f.shipping);
    next(&f, EVENT_WAIT_BEGIN, TASK, f.cpu += MS, tb_wait(WAIT_FOR_TASK, f.site));
    pass(&f, 30);
    next(&f, EVENT_WAIT_END, TASK, f.cpu += 1);
    next(&f, EVENT_EXIT, f.shipping);
    tb_thread(f.tb, 2, "pool-1-1", 0);
    tb_event(f.tb, 2, spawned + 10, EVENT_THREAD_START, 1002, 1);
    tb_event(f.tb, 2, spawned + 11, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, 2, spawned + 12, EVENT_TASK_START, TASK, 2);
    tb_event(f.tb, 2, f.at_ns - 20, EVENT_RESULT, TASK);
    tb_event(f.tb, 2, f.at_ns - 10, EVENT_TASK_END, TASK, 3);
    request_end(&f, FIRST, 1);
    open_run(&f, NULL);
    assert_float_equal(function(&f, f.shipping)->asleep_ns, MS_OF(30), TOLERANCE);
    assert_no_sequence(&f);
    close_run(&f);
}

// A request that begins within a function and ends within another, and a call whose end is not told.
static void test_calls_that_do_not_nest(void **state) {
    struct fixture f;
    begin(&f);
    pass(&f, 1);
    next(&f, EVENT_ENTER, f.offer); // goes on in the request, but is not its call
    request_begin(&f, FIRST);
    next(&f, EVENT_EXIT, f.offer);
    next(&f, EVENT_EXIT, f.reviews); // never entered
    next(&f, EVENT_ENTER, f.shipping);
    next(&f, EVENT_ENTER, f.stock); // left with shipping
    pass(&f, 20);
    next(&f, EVENT_EXIT, f.shipping);
    next(&f, EVENT_ENTER, f.reviews);
    pass(&f, 40);
    request_end(&f, FIRST, 0);
    pass(&f, 100);
    next(&f, EVENT_EXIT, f.reviews);
    three_calls(&f, FIRST + 1);
    open_run(&f, NULL);
    const struct endpoint_calls *of = calls_of(&f.calls, f.offer_endpoint);
    assert_int_equal(of->sequence_count, 2);
    assert_float_equal(of->sequences[0].saved_ns, MS_OF(50) / 2, TOLERANCE); // three calls
    assert_float_equal(of->sequences[1].saved_ns, MS_OF(20) / 2, TOLERANCE); // shipping and reviews
    assert_int_equal(of->sequences[1].functions[0].method, f.shipping);
    assert_float_equal(function(&f, f.reviews)->call_ns, MS_OF(40), TOLERANCE);
    assert_float_equal(function(&f, f.offer)->calls, 0.5, 0);
    close_run(&f);
}

static void test_recursion_sleeps_once(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    next(&f, EVENT_ENTER, f.stock);
    next(&f, EVENT_ENTER, f.stock);
    pass(&f, 20);
    next(&f, EVENT_EXIT, f.stock);
    next(&f, EVENT_EXIT, f.stock);
    request_end(&f, FIRST, 0);
    open_run(&f, NULL);
    assert_float_equal(function(&f, f.stock)->calls, 2, 0);
    assert_float_equal(function(&f, f.stock)->together_ns, MS_OF(20), TOLERANCE);
    close_run(&f);
}

static void test_nothing_to_tell(void **state) {
    struct fixture f;
    begin(&f);
    request_begin(&f, FIRST);
    request_end(&f, FIRST, 0);
    open_run(&f, NULL);
    assert_int_equal(f.calls.count, 0);
    close_run(&f);
}

// Events without rhyme or reason, as of a trace that lost some.
static void test_any_events(void **state) {
    static const enum event_kind kinds[] = {EVENT_ENTER,       EVENT_EXIT,         EVENT_REQUEST_BEGIN,
                                            EVENT_REQUEST_END, EVENT_REQUEST_LEFT, EVENT_REQUEST_RESUMED,
                                            EVENT_HELD,        EVENT_RELEASED};
    enum { RUNS = 300, EVENTS = 80, KINDS = sizeof kinds / sizeof *kinds, REQUESTS = 3, METHODS = 4 };
    uint32_t seed = 1;
    for (int run = 0; run < RUNS; run++) {
        struct fixture f;
        begin(&f);
        for (int i = 0; i < EVENTS; i++) {
            const uint32_t drawn = (seed = seed * 1664525 + 1013904223) >> 8, kind = kinds[drawn % KINDS];
            const uint32_t which = drawn / KINDS;
            pass(&f, which % 5);
            if (kind == EVENT_ENTER || kind == EVENT_EXIT)
                next(&f, kind, f.offer + which % METHODS);
            else if (kind == EVENT_HELD || kind == EVENT_RELEASED)
                next(&f, kind, DB, want_operand(1, false, f.site));
            else
                next(&f, kind, FIRST + which % REQUESTS, f.cpu += which % 2 * MS, 0);
        }
        open_run(&f, NULL);
        for (size_t e = 0; e < f.calls.count; e++) {
            for (size_t i = 0; i < f.calls.endpoints[e].function_count; i++) {
                const struct called_function *function = &f.calls.endpoints[e].functions[i];
                assert_true(function->asleep_ns >= 0 && function->asleep_ns <= function->together_ns + 1);
            }
        }
        close_run(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_one_after_the_other),
        cmocka_unit_test(test_requests_before_the_first_function),
        cmocka_unit_test(test_only_requests_of_the_window),
        cmocka_unit_test(test_a_loop),
        cmocka_unit_test(test_what_hardly_sleeps_is_none),
        cmocka_unit_test(test_calls_that_need_the_same_are_not_told),
        cmocka_unit_test(test_what_a_call_keeps),
        cmocka_unit_test(test_a_call_that_awaits_another),
        cmocka_unit_test(test_calls_that_do_not_nest),
        cmocka_unit_test(test_recursion_sleeps_once),
        cmocka_unit_test(test_nothing_to_tell),
        cmocka_unit_test(test_any_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
