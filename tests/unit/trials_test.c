// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracer finds out about its machine is the same whether it was begun beforehand or not.
#include "tracer/trials.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void assert_plausible(struct trials found) {
    assert_non_null(found.clock.name);
    assert_true(found.clock.ticks_per_s >= 1000000);
    assert_non_null(found.meter.unit);
    assert_non_null(found.meter.source);
    assert_true(found.skew_ticks >= -1);
    assert_int_equal(strcmp(found.clock.name, "monotonic") != 0, clock_uses_counter);
    if (!clock_uses_counter) assert_int_equal(found.skew_ticks, 0);
}

static void test_unbegun_ones_are_made_at_once(void **state) {
    assert_plausible(trials_result(false));
}

static void test_begun_ones_find_the_same(void **state) {
    const struct trials at_once = trials_result(false);
    trials_begin(false);
    const struct trials begun = trials_result(false);
    assert_plausible(begun);
    assert_string_equal(begun.clock.name, at_once.clock.name);
    assert_string_equal(begun.meter.unit, at_once.meter.unit);
}

// Of a JVM that is attached to several times, each recording has its own clock.
static void test_a_result_is_taken_once(void **state) {
    trials_begin(true);
    assert_string_equal(trials_result(true).clock.name, "monotonic");
    const struct trials next = trials_result(false);
    assert_plausible(next);
    trials_begin(true);
    assert_string_equal(trials_result(true).clock.name, "monotonic");
    assert_false(clock_uses_counter);
}

// A signal to the process goes to who waits for it, and not to the thread that tries things out.
static void test_signals_are_the_program_s(void **state) {
    sigset_t mask, after;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    trials_begin(false);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGTERM), sigismember(&mask, SIGTERM));
    assert_plausible(trials_result(false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbegun_ones_are_made_at_once),
        cmocka_unit_test(test_begun_ones_find_the_same),
        cmocka_unit_test(test_a_result_is_taken_once),
        cmocka_unit_test(test_signals_are_the_program_s),
    };
    return cmocka_run_group_tests_name("trials", tests, NULL, NULL);
}
