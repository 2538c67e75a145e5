// SPDX-License-Identifier: GPL-3.0-or-later
// The meter against the kernel's own account of the thread's CPU time. Where counters exist it counts cycles, whose
// rate is the machine's business: then only that it rises is checked.
#include "tracer/cpu_meter.h"

#include "tracer/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 50000000, SLEEP_NS = 30000000 };

static struct cpu_meter_kind kind;
static struct cpu_meter meter;

static int choose(void **state) {
    kind = cpu_meter_choose(clock_init().ticks_per_s);
    return 0;
}

static int open_meter(void **state) {
    cpu_meter_open(&meter);
    return 0;
}

static int close_meter(void **state) {
    cpu_meter_close(&meter);
    return 0;
}

static bool in_ns(void) {
    return strcmp(kind.unit, "cpu_ns") == 0;
}

static uint64_t read_meter(void) {
    return cpu_meter_read(&meter, clock_ticks());
}

static void spin(void) {
    uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until) {
    }
}

static void test_the_source_is_one_that_the_header_may_name(void **state) {
    print_message("measures %s by %s\n", kind.unit, kind.source);
    assert_true(in_ns() || strcmp(kind.unit, "cycles") == 0);
    assert_non_null(kind.source);
}

static void test_it_agrees_with_the_kernel_after_computing(void **state) {
    uint64_t kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID), measured = read_meter();
    spin();
    measured = read_meter() - measured;
    kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID) - kernel;
    assert_true(measured > 0);
    if (in_ns()) assert_in_range(measured, kernel - kernel / 5, kernel + kernel / 5);
}

static void test_sleeping_is_not_computing(void **state) {
    uint64_t before = read_meter();
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    uint64_t measured = read_meter() - before;
    if (in_ns()) assert_true(measured < SLEEP_NS / 2);
}

static void test_it_never_runs_backwards(void **state) {
    uint64_t last = read_meter();
    for (unsigned i = 0; i < 200000; i++) {
        if (i % 20000 == 0) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        uint64_t now = read_meter();
        if (now < last) fail_msg("%llu after %llu", (unsigned long long)now, (unsigned long long)last);
        last = now;
    }
}

static void test_a_closed_meter_can_be_opened_again(void **state) {
    cpu_meter_close(&meter);
    cpu_meter_close(&meter);
    cpu_meter_open(&meter);
    uint64_t before = read_meter();
    spin();
    assert_true(read_meter() > before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_source_is_one_that_the_header_may_name),
        cmocka_unit_test_setup_teardown(test_it_agrees_with_the_kernel_after_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_sleeping_is_not_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_it_never_runs_backwards, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_a_closed_meter_can_be_opened_again, open_meter, close_meter),
    };
    return cmocka_run_group_tests_name("cpu_meter", tests, choose, NULL);
}
