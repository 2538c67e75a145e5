// SPDX-License-Identifier: GPL-3.0-or-later
// Endpoints of hand-made runs, with the arithmetic beside them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/endpoints.h"
#include "simulate_fixture.h"

#include <string.h>

enum { MAIN = 100, POOL_DB = 900, FIRST = 500 };

struct fixture {
    struct trace_builder *tb;
    struct simulate_fixture on;
    struct arena arena;
    struct endpoints endpoints;
    uint32_t product, order, pool, price;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new()};
    f->product = tb_endpoint(f->tb, "GET /product/{id}");
    f->order = tb_endpoint(f->tb, "POST /order");
    f->price = tb_site(f->tb, "Shop", "price", 10);
    f->pool = tb_pool(f->tb, "pricing", 2);
    tb_resource(f->tb, POOL_DB, RESOURCE_POOL, 1, 0);
    tb_thread(f->tb, 1, "main", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
}

static void open_run(struct fixture *f, const struct window *window) {
    struct error error = ERROR_INIT;
    tb_event(f->tb, 1, 20000, EVENT_THREAD_END, MAIN);
    simulate_fixture_open(&f->on, f->tb);
    assert_true(metrics_endpoints(f->on.dag, window, &f->arena, &f->endpoints, &error));
}

static void close_run(struct fixture *f) {
    arena_destroy(&f->arena);
    simulate_fixture_close(&f->on);
}

static void request_begin(struct fixture *f, uint32_t thread, uint64_t time, uint64_t request, uint64_t connection) {
    tb_event(f->tb, thread, time, EVENT_REQUEST_BEGIN, request, 0, connection);
}

static void request_end(struct fixture *f, uint32_t thread, uint64_t time, uint64_t request, uint64_t outcome) {
    tb_event(f->tb, thread, time, EVENT_REQUEST_END, request, 0, outcome);
}

static void request(struct fixture *f, uint64_t from, uint64_t to, uint64_t id, uint32_t endpoint) {
    request_begin(f, 1, from, id, 1 + id % 2);
    if (endpoint) tb_event(f->tb, 1, from + 1, EVENT_REQUEST_NAMED, id, endpoint);
    request_end(f, 1, to, id, id == FIRST + 2 ? REQUEST_FAILED : REQUEST_ANSWERED);
}

static double cause(const struct endpoint *endpoint, enum endpoint_cause_kind kind) {
    double sum = 0;
    for (size_t i = 0; i < endpoint->cause_count; i++)
        sum += endpoint->causes[i].kind == kind ? endpoint->causes[i].mean_ns : 0;
    return sum;
}

static void test_latencies_are_those_that_occurred(void **state) {
    struct fixture f;
    begin(&f);
    for (uint64_t i = 0; i < 10; i++) // latencies 10, 20 .. 100
        request(&f, 1000 * i + 100, 1000 * i + 110 + 10 * i, FIRST + i, f.product);
    request(&f, 11000, 11700, FIRST + 10, f.order);
    request(&f, 12000, 12300, FIRST + 11, 0);
    open_run(&f, NULL);
    const struct endpoints *all = &f.endpoints;
    assert_int_equal(all->requests, 12);
    assert_int_equal(all->failed, 1);
    assert_int_equal(all->connections, 2);
    assert_int_equal(all->span_ns, 12300 - 100);
    assert_int_equal(all->count, 3);
    assert_string_equal(endpoint_name(f.on.dag, &all->endpoints[0]), "POST /order"); // 700 ns in all
    const struct endpoint *product = &all->endpoints[1];                             // 550
    assert_string_equal(endpoint_name(f.on.dag, product), "GET /product/{id}");
    assert_string_equal(endpoint_name(f.on.dag, &all->endpoints[2]), "requests without a name");
    assert_int_equal(product->count, 10);
    assert_int_equal(product->failed, 1);
    assert_int_equal(product->connections, 2);
    assert_float_equal(product->mean_ns, 55, 0);
    assert_float_equal(product->p50_ns, 50, 0); // half of ten do not exceed the fifth
    assert_float_equal(product->p90_ns, 90, 0);
    assert_float_equal(product->p99_ns, 100, 0);
    assert_float_equal(product->max_ns, 100, 0);
    assert_float_equal(product->per_s, 10 / 12200e-9, 1e-3);
    assert_float_equal(product->threads[0].mean, 550.0 / 12200, 1e-9);
    assert_float_equal(cause(product, CAUSE_COMPUTING), 55, 1e-9);
    close_run(&f);
}

// 1000 waits for a connection .. 1100 held .. 1300 given back; hands a task over at 1400, which waits in the queue till
// 1500 and runs till 1800; awaited from 1410 to 1850; answered at 1900.
static void test_time_is_told_by_cause(void **state) {
    struct fixture f;
    begin(&f);
    tb_thread(f.tb, 2, "pricing-1", 0);
    tb_event(f.tb, 2, 1, EVENT_THREAD_START, 1002);
    tb_event(f.tb, 2, 2, EVENT_WORKER_BEGIN, f.pool);
    request_begin(&f, 1, 990, FIRST, 7);
    tb_event(f.tb, 1, 991, EVENT_REQUEST_NAMED, FIRST, f.product);
    tb_event(f.tb, 1, 1000, EVENT_ACQUIRE_BEGIN, POOL_DB, 0, want_operand(1, false, f.price));
    tb_event(f.tb, 1, 1100, EVENT_ACQUIRED, POOL_DB);
    tb_event(f.tb, 1, 1300, EVENT_RELEASED, POOL_DB, want_operand(1, false, f.price));
    tb_event(f.tb, 1, 1400, EVENT_SPAWN_BEGIN, 600, f.price, f.pool);
    tb_event(f.tb, 1, 1401, EVENT_SPAWN_END, 600);
    tb_event(f.tb, 1, 1410, EVENT_WAIT_BEGIN, 600, 0, tb_wait(WAIT_FOR_TASK, f.price));
    tb_event(f.tb, 2, 1500, EVENT_TASK_START, 600);
    tb_event(f.tb, 2, 1799, EVENT_RESULT, 600);
    tb_event(f.tb, 2, 1800, EVENT_TASK_END, 600);
    tb_event(f.tb, 1, 1850, EVENT_WAIT_END, 600);
    request_end(&f, 1, 1900, FIRST, REQUEST_ANSWERED);
    open_run(&f, NULL);
    assert_int_equal(f.endpoints.count, 1);
    const struct endpoint *product = &f.endpoints.endpoints[0];
    assert_float_equal(product->mean_ns, 910, 0);
    assert_float_equal(cause(product, CAUSE_RESOURCE), 100, 1e-9);
    assert_float_equal(cause(product, CAUSE_QUEUE), 90, 1e-9);
    assert_float_equal(cause(product, CAUSE_HAND_OVER), 50, 1e-9);
    assert_float_equal(cause(product, CAUSE_COMPUTING), 910 - 100 - 90 - 50, 1e-9); // 300 of it in the pool
    assert_float_equal(cause(product, CAUSE_ELSEWHERE), 0, 1e-9);
    assert_int_equal(product->thread_count, 2);
    assert_float_equal(product->threads[0].mean, 1, 1e-9); // the thread that serves
    assert_int_equal(product->threads[1].of, f.pool);
    assert_float_equal(product->threads[1].mean, 300.0 / 910, 1e-9);
    assert_int_equal(product->resource_count, 1);
    assert_float_equal(product->resources[0].mean, 200.0 / 910, 1e-9);
    close_run(&f);
}

// One thread leaves it, another takes it up and answers: in between it is with none.
static void test_a_request_goes_on_elsewhere(void **state) {
    struct fixture f;
    begin(&f);
    tb_thread(f.tb, 2, "async-1", 0);
    tb_event(f.tb, 2, 1, EVENT_THREAD_START, 1002);
    request_begin(&f, 1, 1000, FIRST, 0);
    tb_event(f.tb, 1, 1100, EVENT_REQUEST_LEFT, FIRST);
    tb_event(f.tb, 2, 1500, EVENT_REQUEST_RESUMED, FIRST);
    tb_event(f.tb, 2, 1550, EVENT_REQUEST_NAMED, FIRST, f.order);
    request_end(&f, 2, 1700, FIRST, REQUEST_FAILED);
    tb_event(f.tb, 2, 1900, EVENT_THREAD_END, 1002);
    open_run(&f, NULL);
    const struct endpoint *order = &f.endpoints.endpoints[0];
    assert_int_equal(order->endpoint, f.order);
    assert_int_equal(order->failed, 1);
    assert_int_equal(order->connections, 0);
    assert_float_equal(order->mean_ns, 700, 0);
    assert_float_equal(cause(order, CAUSE_ELSEWHERE), 400, 1e-9);
    assert_float_equal(cause(order, CAUSE_COMPUTING), 300, 1e-9);
    close_run(&f);
}

// Written as an estimate (of an empty edit), and opened again.
static void test_an_estimated_run_tells_the_same(void **state) {
    struct fixture f;
    begin(&f);
    tb_thread(f.tb, 2, "async-1", 0);
    tb_event(f.tb, 2, 1, EVENT_THREAD_START, 1002);
    request_begin(&f, 1, 1000, FIRST, 3);
    tb_event(f.tb, 1, 1100, EVENT_REQUEST_LEFT, FIRST);
    tb_event(f.tb, 2, 1500, EVENT_REQUEST_RESUMED, FIRST);
    tb_event(f.tb, 2, 1550, EVENT_REQUEST_NAMED, FIRST, f.order);
    request_end(&f, 2, 1700, FIRST, REQUEST_FAILED);
    tb_event(f.tb, 2, 1900, EVENT_THREAD_END, 1002);
    open_run(&f, NULL);
    struct error error = ERROR_INIT;
    struct trace *written = written_edit(f.on.dag, &f.on.edit);
    struct dag *again = dag_build(written, &error);
    assert_non_null(again);
    struct endpoints told;
    assert_true(metrics_endpoints(again, NULL, &f.arena, &told, &error));
    assert_int_equal(told.requests, 1);
    const struct endpoint *order = &told.endpoints[0];
    assert_string_equal(endpoint_name(again, order), "POST /order");
    assert_int_equal(order->failed, 1);
    assert_int_equal(order->connections, 1);
    assert_float_equal(order->mean_ns, 700, 0);
    assert_float_equal(cause(order, CAUSE_ELSEWHERE), 400, 1e-9);
    assert_float_equal(cause(order, CAUSE_COMPUTING), 300, 1e-9);
    dag_free(again);
    trace_close(written);
    close_run(&f);
}

static void test_what_is_not_whole_is_left_out(void **state) {
    struct fixture f;
    begin(&f);
    request_end(&f, 1, 500, FIRST, REQUEST_ANSWERED); // begun before the recording
    request(&f, 1000, 1010, FIRST + 1, f.product);    // before the window
    request(&f, 3000, 3030, FIRST + 2, f.product);    //
    request_begin(&f, 1, 4000, FIRST + 3, 0);         // never answered
    open_run(&f, &(struct window){2000, 20000});
    assert_int_equal(f.endpoints.requests, 1);
    assert_float_equal(f.endpoints.endpoints[0].mean_ns, 30, 0);
    close_run(&f);
    begin(&f);
    open_run(&f, NULL);
    assert_int_equal(f.endpoints.requests, 0);
    close_run(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latencies_are_those_that_occurred),
        cmocka_unit_test(test_time_is_told_by_cause),
        cmocka_unit_test(test_a_request_goes_on_elsewhere),
        cmocka_unit_test(test_an_estimated_run_tells_the_same),
        cmocka_unit_test(test_what_is_not_whole_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
