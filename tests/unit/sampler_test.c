// SPDX-License-Identifier: GPL-3.0-or-later
// A sample says what process and machine did, and when; not what the thread did that takes it.
#include "tracer/sampler.h"

#include "tracer/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 100000000, PATIENCE_NS = 2000000000, NAPS = 500, SWITCHES_WANTED = 50 };
enum { PROCESS = 0, MACHINE = 1, SWITCHES = 2 };

static int choose_clock(void **state) {
    clock_init(false);
    return 0;
}

static uint64_t spin(uint64_t ns) {
    const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t now_ns = from_ns;
    while (now_ns - from_ns < ns) now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return now_ns - from_ns;
}

static void *spin_on(void *stop) {
    while (!atomic_load((_Atomic(bool) *)stop)) spin(SPIN_NS / 100);
    return NULL;
}

// While another thread computes SPIN_NS and on, until the machine's counter has moved: it counts whole ticks, and
// leaves out those that a host took away from its guest, which the process's clock may count.
static struct event wait_from(struct sampler *sampler, const struct event *before) {
    struct event now = sampler_take(sampler);
    while (now.operand[PROCESS] - before->operand[PROCESS] < SPIN_NS ||
           (now.operand[MACHINE] == before->operand[MACHINE] &&
            now.operand[PROCESS] - before->operand[PROCESS] < PATIENCE_NS))
        now = sampler_take(sampler);
    return now;
}

static void test_computing_is_the_process_s_and_the_machine_s(void **state) {
    struct sampler sampler = {0};
    _Atomic(bool) stop = false;
    pthread_t other;
    const struct event before = sampler_take(&sampler);
    assert_int_equal(pthread_create(&other, NULL, spin_on, &stop), 0);
    const struct event after = wait_from(&sampler, &before);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    assert_int_equal(after.kind, EVENT_SAMPLE);
    assert_true(after.time > before.time);
    assert_true(after.operand[PROCESS] <= clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    if (!before.operand[MACHINE]) skip(); // no /proc/stat
    assert_true(after.operand[MACHINE] > before.operand[MACHINE]);
}

static void test_what_the_tracer_s_own_thread_does_is_left_out(void **state) {
    struct sampler sampler = {0};
    const struct event before = sampler_take(&sampler);
    const uint64_t own_ns = spin(SPIN_NS);
    const struct event after = sampler_take(&sampler);
    assert_true(after.operand[PROCESS] >= before.operand[PROCESS]);
    assert_true(after.operand[PROCESS] - before.operand[PROCESS] < own_ns / 10);
}

static void *nap(void *unused) {
    for (int i = 0; i < NAPS; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return unused;
}

// A nap that was over before the thread had left its core is none: hence more naps than switches are asked for.
static void test_naps_are_switches(void **state) {
    struct sampler sampler = {0};
    pthread_t other;
    const struct event before = sampler_take(&sampler);
    assert_int_equal(pthread_create(&other, NULL, nap, NULL), 0);
    pthread_join(other, NULL);
    const struct event after = sampler_take(&sampler);
    assert_true(after.operand[SWITCHES] - before.operand[SWITCHES] >= SWITCHES_WANTED);
    assert_true(after.operand[PROCESS] >= before.operand[PROCESS]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computing_is_the_process_s_and_the_machine_s),
        cmocka_unit_test(test_what_the_tracer_s_own_thread_does_is_left_out),
        cmocka_unit_test(test_naps_are_switches),
    };
    return cmocka_run_group_tests_name("sampler", tests, choose_clock, NULL);
}
