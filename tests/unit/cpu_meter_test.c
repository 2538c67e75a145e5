// SPDX-License-Identifier: GPL-3.0-or-later
// The meter against the kernel's own account of the thread's CPU time. Where counters exist it counts cycles, whose
// rate is the machine's business: then only that it rises is checked. All of it by each source that there is here.
#include "tracer/cpu_meter.c" // its state

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 50000000, SLEEP_NS = 30000000, TRIES = 100 };

static struct cpu_meter_kind kind;
static struct cpu_meter meter;

static int choose(void **state) {
    kind = cpu_meter_choose(clock_init(false).ticks_per_s);
    return 0;
}

// As if there were no better one.
static int choose_rseq(void **state) {
    choose(NULL);
    counter = NULL;
    kind = (struct cpu_meter_kind){"cpu_ns", "rseq"};
    if (!watched) print_message("no rseq here\n");
    return 0;
}

static int choose_task_clock(void **state) {
    choose_rseq(NULL);
    watched = false;
    page_of_clock = task_clock_opens();
    kind.source = "perf task-clock page";
    if (!page_of_clock) print_message("no task clock here\n");
    return 0;
}

static int choose_clock(void **state) {
    choose_task_clock(NULL);
    page_of_clock = false;
    kind.source = "clock_gettime";
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
    return cpu_meter_read(&meter, clock_ticks(), false);
}

static uint64_t read_waking(void) {
    return cpu_meter_read(&meter, clock_ticks(), true);
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

static long switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

// Where a host takes the core away, the alarm may have rung before the thread is asleep: it is tried again.
static void nap(void) {
    const long before = switches();
    for (int i = 0; i < TRIES && switches() == before; i++) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static bool between(uint64_t from, uint64_t at, uint64_t to) {
    return from <= at && at <= to;
}

// Without counters: after each nap the thread's CPU time is asked for anew, and computing goes on from there.
static void test_each_nap_is_seen(void **state) {
    enum { NAPS = 100, READS = 1000 };
    if (!in_ns() || !turns_are_told(&meter)) skip();
    for (int i = 0; i < NAPS; i++) {
        for (int j = 0; j < READS; j++) read_meter();
        const uint32_t turn = cpu_meter_turn(&meter);
        nap();
        const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), found = read_meter();
        const uint64_t to_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        assert_true(between(from_ns, meter.anchor_ns, to_ns));
        assert_true(found >= from_ns);
        assert_int_not_equal(cpu_meter_turn(&meter), turn);
    }
}

// Who asks for the turn first must not hide it from the read.
static void test_a_turn_asked_for_is_seen_by_the_read(void **state) {
    if (!in_ns() || !turns_are_told(&meter)) skip();
    nap();
    const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint32_t turn = cpu_meter_turn(&meter);
    read_meter();
    assert_true(between(from_ns, meter.anchor_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID)));
    nap();
    assert_int_not_equal(cpu_meter_turn(&meter), turn);
}

// A host that takes time away from the core just then spoils one measurement, and not all.
static void assert_can_be(bool (*measured)(void)) {
    for (int i = 0; i < TRIES; i++) {
        if (measured()) return;
    }
    fail_msg("in vain %d times", TRIES);
}

static bool agrees_with_the_kernel(void) {
    uint64_t kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID), measured = read_meter();
    spin();
    measured = read_meter() - measured;
    kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID) - kernel;
    return in_ns() ? measured > kernel - kernel / 5 && measured < kernel + kernel / 5 : measured > 0;
}

static void test_it_agrees_with_the_kernel_after_computing(void **state) {
    assert_can_be(agrees_with_the_kernel);
}

static bool sleeps_without_computing(void) {
    uint64_t before = read_meter();
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    uint64_t measured = read_meter() - before;
    return !in_ns() || measured < SLEEP_NS / 2;
}

static void test_sleeping_is_not_computing(void **state) {
    assert_can_be(sleeps_without_computing);
}

static bool wakes_with_what_it_computed(void) {
    uint64_t kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID), measured = read_meter();
    spin();
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    measured = read_waking() - measured;
    kernel = clock_ns(CLOCK_THREAD_CPUTIME_ID) - kernel;
    return in_ns() ? measured > kernel - kernel / 20 && measured < kernel + kernel / 20 : measured > 0;
}

static void test_who_wakes_has_computed_what_it_had(void **state) {
    assert_can_be(wakes_with_what_it_computed);
}

static void test_it_never_runs_backwards(void **state) {
    uint64_t last = read_meter();
    for (unsigned i = 0; i < 200000; i++) {
        bool naps = i % 20000 == 0;
        if (naps) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        uint64_t now = naps && i % 40000 == 0 ? read_waking() : read_meter();
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

enum { CONTENDERS = 3, CONTEST_NS = 200000000, UNSEEN_NS = 100000 };

struct contender {
    uint64_t wall_ns, cpu_ns, told_ns, told_again;
    uint64_t inner_ns, outer_ns; // the kernel's account of its delays, within and around what was told
};

static _Atomic(int) undelayed; // contenders that have not waited for the core yet

// Of this thread; false where the kernel does not account for delays.
static bool ask_for_delay(uint64_t *waited_ns) {
    unsigned long long computed, waited = 0, times = 0;
    *waited_ns = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file) return false;
    if (fscanf(file, "%llu %llu %llu", &computed, &waited, &times) != 3) times = 0;
    fclose(file);
    *waited_ns = waited;
    return times > 0;
}

static bool kernel_accounts_for_delays(void) {
    uint64_t unused;
    return ask_for_delay(&unused);
}

static void take_told(struct contender *contender, struct cpu_meter *own) {
    cpu_meter_read(own, clock_ticks(), false);
    uint64_t told_ns = cpu_meter_new_delay(own);
    if (told_ns && !contender->told_ns) atomic_fetch_sub(&undelayed, 1);
    if (told_ns) contender->told_ns = told_ns;
}

// On until each has waited, however long that takes.
static void *contend(void *argument) {
    struct contender *contender = argument;
    struct cpu_meter own;
    uint64_t outer_ns, inner_ns, now_ns, from_ns = clock_ns(CLOCK_MONOTONIC);
    ask_for_delay(&outer_ns);
    cpu_meter_open(&own);
    cpu_meter_delays_from_here(&own);
    ask_for_delay(&inner_ns);
    uint64_t cpu_before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_MONOTONIC) - from_ns < CONTEST_NS || atomic_load(&undelayed) > 0) take_told(contender, &own);
    ask_for_delay(&now_ns);
    contender->inner_ns = now_ns - inner_ns;
    take_told(contender, &own);
    contender->told_again = cpu_meter_new_delay(&own);
    contender->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
    ask_for_delay(&now_ns);
    contender->outer_ns = now_ns - outer_ns;
    contender->wall_ns = clock_ns(CLOCK_MONOTONIC) - from_ns;
    cpu_meter_close(&own);
    return NULL;
}

// On one core for all of them; nobody computes while it waits. A wait that is too short to be seen is told with the
// next.
static void test_waiting_for_a_core_is_told_once(void **state) {
    if (!kernel_accounts_for_delays() || strcmp(kind.source, "clock_gettime") == 0) skip(); // it may see them late
    struct contender contenders[CONTENDERS] = {0};
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
    atomic_init(&undelayed, CONTENDERS);
    for (int i = 0; i < CONTENDERS; i++) {
        assert_int_equal(pthread_create(&threads[i], &attributes, contend, &contenders[i]), 0);
    }
    for (int i = 0; i < CONTENDERS; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    for (int i = 0; i < CONTENDERS; i++) {
        const struct contender *contender = &contenders[i];
        assert_in_range(contender->told_ns, 1, contender->outer_ns);
        assert_true(contender->told_ns + UNSEEN_NS >= contender->inner_ns);
        assert_true(contender->cpu_ns + contender->told_ns <= contender->wall_ns * 11 / 10);
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
        cmocka_unit_test_setup_teardown(test_each_nap_is_seen, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_a_turn_asked_for_is_seen_by_the_read, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_it_agrees_with_the_kernel_after_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_sleeping_is_not_computing, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_who_wakes_has_computed_what_it_had, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_it_never_runs_backwards, open_meter, close_meter),
        cmocka_unit_test_setup_teardown(test_a_closed_meter_can_be_opened_again, open_meter, close_meter),
        cmocka_unit_test(test_waiting_for_a_core_is_told_once),
    };
    const struct CMUnitTest limits[] = {cmocka_unit_test(test_few_descriptors_are_kept)};
    return cmocka_run_group_tests_name("cpu_meter", tests, choose, NULL) +
           cmocka_run_group_tests_name("cpu_meter by rseq", tests, choose_rseq, NULL) +
           cmocka_run_group_tests_name("cpu_meter by task clock", tests, choose_task_clock, NULL) +
           cmocka_run_group_tests_name("cpu_meter by clock", tests, choose_clock, NULL) +
           cmocka_run_group_tests_name("cpu_meter's limits", limits, NULL, NULL);
}
