// SPDX-License-Identifier: GPL-3.0-or-later
// A sample says what process and machine did, and when.
#include "tracer/sampler.h"

#include "tracer/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 100000000, NAPS = 50, PROCESS = 0, MACHINE = 1, SWITCHES = 2 };

static int choose_clock(void **state) {
    clock_init(false);
    return 0;
}

static void spin(void) {
    const uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + SPIN_NS;
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until) {
    }
}

static void test_computing_is_the_process_s_and_the_machine_s(void **state) {
    const struct event before = sample_now();
    spin();
    const struct event after = sample_now();
    const uint64_t process_ns = after.operand[PROCESS] - before.operand[PROCESS];
    assert_int_equal(after.kind, EVENT_SAMPLE);
    assert_true(after.time > before.time);
    assert_in_range(process_ns, SPIN_NS, 2 * SPIN_NS);
    if (!before.operand[MACHINE]) skip(); // no /proc/stat
    const uint64_t tick_ns = UINT64_C(10000000);
    assert_true(after.operand[MACHINE] - before.operand[MACHINE] + 4 * tick_ns >= process_ns);
}

static void test_each_nap_is_a_switch(void **state) {
    const struct event before = sample_now();
    for (int i = 0; i < NAPS; i++) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    const struct event after = sample_now();
    assert_true(after.operand[SWITCHES] - before.operand[SWITCHES] >= NAPS);
    assert_true(after.operand[PROCESS] >= before.operand[PROCESS]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computing_is_the_process_s_and_the_machine_s),
        cmocka_unit_test(test_each_nap_is_a_switch),
    };
    return cmocka_run_group_tests_name("sampler", tests, choose_clock, NULL);
}
