// SPDX-License-Identifier: GPL-3.0-or-later
// The protocol by which a counter is read, on pages made by hand: machines that the tests run on often have no counter
// to be read. And a thread that the kernel refuses one, while others have theirs.
#include "tracer/cpu_meter.c" // its state

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { INDEX = 3, WIDTH = 48 };

static struct perf_event_mmap_page page;
static uint64_t hardware; // what the counter holds
static unsigned reads;

static int make_page(void **state) {
    page = (struct perf_event_mmap_page){.lock = 2, .index = INDEX, .pmc_width = WIDTH};
    hardware = reads = 0;
    return 0;
}

static uint64_t read_hardware(uint32_t number) {
    assert_int_equal(number, INDEX - 1);
    reads++;
    return hardware;
}

// The thread is moved to another core between the loads: the kernel keeps what was counted and starts anew.
static uint64_t read_and_move(uint32_t number) {
    const uint64_t before = read_hardware(number);
    if (reads > 1) return before;
    page.offset += (int64_t)hardware;
    hardware = 5;
    page.lock += 2;
    return before;
}

static void test_offset_and_counter_add_up(void **state) {
    page.offset = 1000;
    hardware = 23;
    assert_int_equal(counter_page_count(&page, read_hardware), 1023);
    assert_int_equal(reads, 1);
}

// The kernel starts counters below zero, so that they overflow when it wants to be told.
static void test_counters_are_as_wide_as_the_page_says(void **state) {
    page.offset = INT64_C(1) << (WIDTH - 1);
    hardware = UINT64_C(1) << (WIDTH - 1);
    assert_int_equal(counter_page_count(&page, read_hardware), 0);
    hardware += 77;
    assert_int_equal(counter_page_count(&page, read_hardware), 77);
    hardware = 78;
    assert_int_equal(counter_page_count(&page, read_hardware), (UINT64_C(1) << (WIDTH - 1)) + 78);
    hardware |= UINT64_C(0xabcd) << WIDTH; // no bits of its
    assert_int_equal(counter_page_count(&page, read_hardware), (UINT64_C(1) << (WIDTH - 1)) + 78);
    page.pmc_width = 64;
    page.offset = -5;
    hardware = UINT64_MAX;
    assert_int_equal(counter_page_count(&page, read_hardware), (uint64_t)-6);
    page.pmc_width = 32;
    hardware = 0xffffffff;
    assert_int_equal(counter_page_count(&page, read_hardware), (uint64_t)-6);
}

static void test_a_read_that_was_interrupted_is_made_again(void **state) {
    page.offset = 100;
    hardware = 40;
    assert_int_equal(counter_page_count(&page, read_and_move), 145);
    assert_int_equal(reads, 2);
}

static void test_without_the_counter_what_was_counted_stands(void **state) {
    page.index = 0;
    page.offset = 4711;
    assert_int_equal(counter_page_count(&page, read_hardware), 4711);
    assert_int_equal(reads, 0);
}

static void test_what_may_be_read(void **state) {
    page.cap_user_rdpmc = 1;
#if defined(__aarch64__)
    assert_false(counter_page_readable(&page));
    page.index = COUNTER_OF_CYCLES + 1;
#endif
#if defined(__aarch64__) || defined(__x86_64__)
    assert_true(counter_page_readable(&page));
#endif
    page.index = 0;
    assert_false(counter_page_readable(&page));
    page.index = INDEX;
    page.cap_user_rdpmc = 0;
    assert_false(counter_page_readable(&page));
}

enum { COMPUTED_NS = 20000000 };

static uint64_t compute_on_ns(void) {
    const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t now_ns = from_ns;
    while (now_ns < from_ns + COMPUTED_NS) now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return now_ns - from_ns;
}

// Counts since the meter was opened, not since the thread began, and then at the rate of the others' counters.
static bool cpu_time_is_told_in_cycles(void) {
    struct cpu_meter meter;
    cpu_meter_open(&meter);
    assert_false(meter.counts);
    const uint64_t from = cpu_meter_read(&meter, clock_ticks(), false), computed_ns = compute_on_ns();
    const uint64_t cycles = cpu_meter_read(&meter, clock_ticks(), false) - from;
    cpu_meter_close(&meter);
    return from < 3 * COMPUTED_NS && cycles > 3 * computed_ns * 4 / 5 && cycles < 3 * computed_ns * 6 / 5;
}

// A host that takes time away just then spoils one measurement, and not all.
static void test_a_thread_that_is_refused_gives_cpu_time_in_cycles(void **state) {
    enum { TRIES = 100 };
    const struct counter refused = {"refused", UINT64_MAX, true};
    cpu_meter_choose(clock_init(false).ticks_per_s);
    compute_on_ns();
    counter = &refused;
    cycles_per_ns = 3;
    assert_false(cpu_meter_counts_ns());
    unsigned tries = 1;
    while (!cpu_time_is_told_in_cycles() && tries < TRIES) tries++;
    assert_true(tries < TRIES);
    cpu_meter_choose(clock_init(false).ticks_per_s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_offset_and_counter_add_up, make_page),
        cmocka_unit_test_setup(test_counters_are_as_wide_as_the_page_says, make_page),
        cmocka_unit_test_setup(test_a_read_that_was_interrupted_is_made_again, make_page),
        cmocka_unit_test_setup(test_without_the_counter_what_was_counted_stands, make_page),
        cmocka_unit_test_setup(test_what_may_be_read, make_page),
        cmocka_unit_test(test_a_thread_that_is_refused_gives_cpu_time_in_cycles),
    };
    return cmocka_run_group_tests_name("counter_page", tests, NULL, NULL);
}
