// SPDX-License-Identifier: GPL-3.0-or-later
// The meter against the kernel's own account of the thread's CPU time. Where counters exist it counts cycles, whose
// rate is the machine's business: then only that it rises is checked.
#include "tracer/cpu_meter.h"

#include "tracer/clock.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 50000000, SLEEP_NS = 30000000 };

static struct cpu_meter_kind kind;
static struct cpu_meter meter;

static int choose(void **state) {
    kind = cpu_meter_choose(clock_init(false).ticks_per_s);
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

// ---- waiting for a core

enum { CONTENDERS = 3, CONTEST_NS = 200000000 };

struct contender {
    uint64_t wall_ns, cpu_ns, delay_ns, told_again;
};

static void *contend(void *argument) {
    struct contender *contender = argument;
    struct cpu_meter own;
    cpu_meter_open(&own);
    cpu_meter_read(&own, clock_ticks());
    uint64_t delay_before_ns = cpu_meter_new_delay(&own), cpu_before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t from_ns = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - from_ns < CONTEST_NS) cpu_meter_read(&own, clock_ticks());
    contender->wall_ns = clock_ns(CLOCK_MONOTONIC) - from_ns;
    contender->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
    contender->delay_ns = cpu_meter_new_delay(&own) - delay_before_ns;
    contender->told_again = cpu_meter_new_delay(&own);
    cpu_meter_close(&own);
    return NULL;
}

static bool kernel_accounts_for_delays(void) {
    unsigned long long computed, waited, times = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file) return false;
    if (fscanf(file, "%llu %llu %llu", &computed, &waited, &times) != 3) times = 0;
    fclose(file);
    return times > 0;
}

// On one core for all of them, each either computes or waits for it.
static void test_waiting_for_a_core_is_told_once(void **state) {
    if (!kernel_accounts_for_delays()) skip();
    struct contender contenders[CONTENDERS];
    pthread_t threads[CONTENDERS];
    pthread_attr_t attributes;
    cpu_set_t allowed, one;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    for (int i = 0; i < CONTENDERS; i++) {
        assert_int_equal(pthread_create(&threads[i], &attributes, contend, &contenders[i]), 0);
    }
    for (int i = 0; i < CONTENDERS; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    for (int i = 0; i < CONTENDERS; i++) {
        const struct contender *contender = &contenders[i];
        assert_true(contender->delay_ns > 0);
        assert_in_range(contender->cpu_ns + contender->delay_ns, contender->wall_ns / 2, contender->wall_ns * 11 / 10);
        assert_int_equal(contender->told_again, 0);
    }
}

static void test_few_descriptors_are_kept(void **state) {
    enum { METERS = 50, LIMIT = 256, KEPT = 8 };
    struct rlimit before;
    struct cpu_meter meters[METERS];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){LIMIT, before.rlim_max}), 0);
    choose(NULL);
    for (int round = 0; round < 2; round++) { // the second needs the first's back
        int kept = 0;
        for (int i = 0; i < METERS; i++) {
            cpu_meter_open(&meters[i]);
            kept += meters[i].delay_fd >= 0;
        }
        assert_int_equal(kept, kernel_accounts_for_delays() ? KEPT : 0);
        for (int i = 0; i < METERS; i++) cpu_meter_close(&meters[i]);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    choose(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_source_is_one_that_the_header_may_name),
        cmocka_unit_test_setup_teardown(test_it_agrees_with_the_kernel_after_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_sleeping_is_not_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_it_never_runs_backwards, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_a_closed_meter_can_be_opened_again, open_meter, close_meter),
        cmocka_unit_test(test_waiting_for_a_core_is_told_once),
        cmocka_unit_test(test_few_descriptors_are_kept),
    };
    return cmocka_run_group_tests_name("cpu_meter", tests, choose, NULL);
}
