// SPDX-License-Identifier: GPL-3.0-or-later
// A sample says what process and machine did, and when.
#include "tracer/sampler.h"

#include "tracer/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 100000000, PATIENCE_NS = 2000000000, NAPS = 500, SWITCHES_WANTED = 50 };
enum { PROCESS = 0, MACHINE = 1, SWITCHES = 2 };

static int choose_clock(void **state) {
    clock_init(false);
    return 0;
}

// Computes for SPIN_NS, and on until the machine's counter has moved: it counts whole ticks, and leaves out those that
// a host took away from its guest, which the process's clock may count.
static struct event spin_from(const struct event *before) {
    struct event now = sample_now();
    while (now.operand[PROCESS] - before->operand[PROCESS] < SPIN_NS ||
           (now.operand[MACHINE] == before->operand[MACHINE] &&
            now.operand[PROCESS] - before->operand[PROCESS] < PATIENCE_NS))
        now = sample_now();
    return now;
}

static void test_computing_is_the_process_s_and_the_machine_s(void **state) {
    const struct event before = sample_now();
    const struct event after = spin_from(&before);
    assert_int_equal(after.kind, EVENT_SAMPLE);
    assert_true(after.time > before.time);
    assert_true(after.operand[PROCESS] <= clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    if (!before.operand[MACHINE]) skip(); // no /proc/stat
    assert_true(after.operand[MACHINE] > before.operand[MACHINE]);
}

// A nap that was over before the thread had left its core is none: hence more naps than switches are asked for.
static void test_naps_are_switches(void **state) {
    const struct event before = sample_now();
    struct event after = before;
    for (int i = 0; i < NAPS && after.operand[SWITCHES] - before.operand[SWITCHES] < SWITCHES_WANTED; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        after = sample_now();
    }
    assert_true(after.operand[SWITCHES] - before.operand[SWITCHES] >= SWITCHES_WANTED);
    assert_true(after.operand[PROCESS] >= before.operand[PROCESS]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computing_is_the_process_s_and_the_machine_s),
        cmocka_unit_test(test_naps_are_switches),
    };
    return cmocka_run_group_tests_name("sampler", tests, choose_clock, NULL);
}
