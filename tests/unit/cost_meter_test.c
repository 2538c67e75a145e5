// SPDX-License-Identifier: Apache-2.0
// What probes measure reaches the drainer's side through a ring, and comes out as means.
#include "tracer/cost_meter.h"

#include "tracer/counter_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RING_RECORDS = 4096, TICKS_PER_S = 1000000000 }; // a tick is a ns
enum { CLOCK_MOST_PS = 100000000 };                     // far more than any machine takes to read its clock

static struct chunks chunks;
static struct ring ring;
static struct event events[3 * RING_RECORDS];

static int make_ring(void **state) {
    enum { MEMORY_BYTES = 1 << 20 };
    if (!chunks_reserve(&chunks, MEMORY_BYTES, CHUNK_MOST_BYTES)) return -1;
    chunks_limit(&chunks, MEMORY_BYTES);
    ring_init(&ring, &chunks, RING_RECORDS, NULL);
    ring_put1(&ring, 0, EVENT_RESULT, 0); // a measurement alone takes no chunk
    return ring_drain(&ring, events, 2) == 1 ? 0 : -1;
}

static int destroy_ring(void **state) {
    ring_reset(&ring);
    chunks_release(&chunks);
    return 0;
}

static const uint64_t ONE = (uint64_t)1 << 40; // that it stands for

// As a timed probe leaves it.
static void put_measured(unsigned kind, uint64_t silent, uint64_t before_ticks, uint64_t after_ticks) {
    ring_put3(&ring, before_ticks, RING_TIMED, kind | silent << 8 | ONE, after_ticks, 0);
}

static void put_gaps(unsigned kind, unsigned times, uint64_t ticks) {
    for (unsigned i = 0; i < times; i++) ring_put3(&ring, 100000, RING_TIMED, kind | ONE, 100000, 1 + ticks);
}

static size_t drain(void) {
    return cost_meter_take(events, ring_drain(&ring, events, sizeof events / sizeof *events));
}

static void test_events_stay_and_measurements_go(void **state) {
    ring_put1(&ring, 10, EVENT_RESULT, 1);
    put_measured(EVENT_RESULT, 0, 5, 6);
    ring_put3(&ring, 20, EVENT_TASK_END, 2, 3, 4);
    put_measured(EVENT_KINDS, 0, 5, 6); // of no kind: not taken
    ring_put1(&ring, 30, EVENT_RESULT, 5);
    assert_int_equal(drain(), 3);
    assert_int_equal(events[0].time, 10);
    assert_int_equal(events[1].operand[2], 4);
    assert_int_equal(events[2].operand[0], 5);
}

// The dearest fiftieth goes; what a call costs lies half on each side, and probes that said nothing lie before. All
// far above what reading the clock takes.
static void test_means(void **state) {
    struct event_cost costs[EVENT_KINDS];
    for (unsigned i = 0; i < 98; i++) put_measured(EVENT_BUSY, 2, 100000, 1000000);
    for (unsigned i = 0; i < 2; i++) put_measured(EVENT_BUSY, 50, 1000000000, 0);
    for (unsigned i = 0; i < 20; i++) put_measured(EVENT_NONE, 0, 1000000, 0);
    put_measured(EVENT_IDLE, 0, 100, 100);
    assert_int_equal(drain(), 0);
    assert_true(cost_meter_costs(TICKS_PER_S, costs));
    assert_int_equal(costs[EVENT_BUSY].measured, 100);
    uint64_t clock_ps = 1000000000 - costs[EVENT_BUSY].after_ps; // a reading is in each timed stretch
    assert_in_range(clock_ps, 1, CLOCK_MOST_PS);
    assert_in_range(costs[EVENT_BUSY].before_ps, 2100000000 - 2 * clock_ps - 10, 2100000000 - 2 * clock_ps + 10);
    assert_int_equal(costs[EVENT_IDLE].measured, 0); // one may be anything
    assert_int_equal(costs[EVENT_ENTER].measured, 0);
    assert_false(cost_meter_costs(TICKS_PER_S, costs)); // nothing new

    struct event_cost with_call[EVENT_KINDS];
    cost_meter_set_call(600000 * 1024, 1000);
    cost_meter_set_function(50 * 1024, 2000);
    assert_true(cost_meter_costs(TICKS_PER_S, with_call));
    assert_in_range(with_call[EVENT_BUSY].after_ps, costs[EVENT_BUSY].after_ps + 300000000 - CLOCK_MOST_PS,
                    costs[EVENT_BUSY].after_ps + 300000000 + CLOCK_MOST_PS);
    assert_int_equal(with_call[EVENT_EXIT_THROW].measured, 2000);
    assert_int_equal(with_call[EVENT_EXIT_THROW].before_ps + with_call[EVENT_EXIT_THROW].after_ps, 50000);
}

// Few that are always timed, as platform threads' starts, beside many of which one in so many is, as virtual threads';
// and the dearest fiftieth goes by what it stands for.
static void test_each_counts_for_what_it_stands_for(void **state) {
    enum { DEAR = 100000000, CHEAP = 1000000, ALWAYS = 8, CHOSEN = 50, INTERVAL = 32 };
    struct event_cost costs[EVENT_KINDS];
    cost_meter_restart();
    cost_meter_set_call(0, 0);
    for (unsigned i = 0; i < ALWAYS; i++) put_measured(EVENT_THREAD_START, 0, DEAR, 0);
    for (unsigned i = 0; i < CHOSEN; i++)
        ring_put3(&ring, CHEAP, RING_TIMED, EVENT_THREAD_START | INTERVAL * ONE, 0, 0);
    assert_int_equal(drain(), 0);
    assert_true(cost_meter_costs(TICKS_PER_S, costs));
    assert_int_equal(costs[EVENT_THREAD_START].measured, ALWAYS + CHOSEN);
    assert_in_range(costs[EVENT_THREAD_START].before_ps, CHEAP * UINT64_C(1000), CHEAP * UINT64_C(1000) + 10);
}

static uint64_t busy_ps(void) {
    struct event_cost costs[EVENT_KINDS];
    drain();
    assert_true(cost_meter_costs(TICKS_PER_S, costs));
    return costs[EVENT_BUSY].before_ps + costs[EVENT_BUSY].after_ps;
}

// A call costs what lies between two probes that follow one another closely, if that can be a call and was seen often
// enough; else what it costs in a loop.
static void test_calls_between_probes(void **state) {
    enum { LEAST = 400000, OFTEN = 200 };
    cost_meter_restart();
    cost_meter_set_call(LEAST * 1024, 1000);
    put_gaps(EVENT_BUSY, OFTEN, 10 * LEAST); // the program did something meanwhile
    put_gaps(EVENT_IDLE, OFTEN, LEAST / 2);  // no call was between them
    put_gaps(EVENT_TAKEN, 10, 2 * LEAST);    // seldom
    uint64_t in_loop_ps = busy_ps();
    put_gaps(EVENT_RESULT, OFTEN, 3 * LEAST);
    assert_in_range(busy_ps(), in_loop_ps + 2000 * (uint64_t)LEAST - 2 * CLOCK_MOST_PS,
                    in_loop_ps + 2000 * (uint64_t)LEAST);
    put_gaps(EVENT_TASK_END, OFTEN, 2 * LEAST); // nearer to one another
    assert_in_range(busy_ps(), in_loop_ps + 1000 * (uint64_t)LEAST - 2 * CLOCK_MOST_PS,
                    in_loop_ps + 1000 * (uint64_t)LEAST);
    cost_meter_set_call(0, 0);
}

// Every probe that is timed says where its event's time lies in it; about every 32nd is.
static void test_probes_time_themselves(void **state) {
    enum { PROBES = 32000 };
    struct probe_timer timer = {0};
    unsigned measured = 0, after_silent = 0, with_gap = 0;
    uint64_t stand_for = 0;
    clock_init(false);
    struct cpu_meter meter = {0};
    probe_timer_init(&timer, 7, &meter);
    for (unsigned i = 0; i < PROBES; i++) {
        probe_timer_begin(&timer);
        uint64_t ticks = clock_ticks();
        if (i % 2) { // the other half says nothing
            ring_put1(&ring, ticks, EVENT_RESULT, i);
            probe_timer_event(&timer, &ring, ticks, EVENT_RESULT);
        }
        probe_timer_end(&timer, &ring);
        size_t count = ring_drain(&ring, events, sizeof events / sizeof *events);
        for (size_t e = 0; e < count; e++) {
            if (events[e].kind != RING_TIMED) continue;
            measured++;
            with_gap += events[e].operand[2] > 0;
            bool told = (events[e].operand[0] & 0xff) == EVENT_RESULT;
            assert_true(told == i % 2);
            if (told) assert_int_equal(events[e].operand[0] >> 8 & UINT32_MAX, 1);
            after_silent += told;
            stand_for += events[e].operand[0] >> 40;
        }
    }
    assert_in_range(measured, PROBES / 36, PROBES / 23);
    assert_in_range(stand_for, PROBES * 8 / 10, PROBES * 14 / 10); // one in eight is timed beside those chosen
    assert_in_range(with_gap, measured / 12, measured / 6);
    assert_in_range(after_silent, measured / 3, measured * 2 / 3);
}

// Of a probe with two events each has its part.
static void test_two_events_of_one_probe(void **state) {
    struct probe_timer timer = {0};
    struct cpu_meter meter = {0};
    probe_timer_init(&timer, 7, &meter);
    probe_timer_begin_at(&timer, 1000);
    probe_timer_event(&timer, &ring, 1100, EVENT_THREAD_START);
    probe_timer_event(&timer, &ring, 1130, EVENT_WORKER_BEGIN);
    probe_timer_end(&timer, &ring);
    assert_int_equal(ring_drain(&ring, events, 8), 2);
    assert_int_equal(events[0].operand[0], EVENT_THREAD_START | ONE);
    assert_int_equal(events[0].time, 100);
    assert_int_equal(events[0].operand[1], 0);
    assert_int_equal(events[1].operand[0], EVENT_WORKER_BEGIN | ONE);
    assert_int_equal(events[1].time, 30);
}

// A thread that lost its core meanwhile measured nothing, and a full half is left to events.
static void test_what_is_not_measured(void **state) {
    struct probe_timer timer = {0};
    struct perf_event_mmap_page page = {.lock = 2};
    struct cpu_meter meter = {.page = &page};
    probe_timer_init(&timer, 7, &meter);
    probe_timer_begin_at(&timer, 1000);
    probe_timer_event(&timer, &ring, 1100, EVENT_RESULT);
    page.lock += 2;
    probe_timer_end(&timer, &ring);
    assert_int_equal(ring_drain(&ring, events, 8), 0);
    timer.ended_ticks = 1200; // before it is back on a core
    page.lock += 2;
    probe_timer_begin_at(&timer, 1300);
    assert_int_equal(timer.gap, 0);
    const unsigned all = ring.most_chunks * ring.chunk_records - 1;
    for (unsigned i = 0; i < all - 1; i++) ring_put1(&ring, i, EVENT_RESULT, i);
    probe_timer_begin_at(&timer, 1000);
    probe_timer_event(&timer, &ring, 1100, EVENT_RESULT);
    probe_timer_end(&timer, &ring);
    assert_int_equal(drain(), all - 1);
    assert_int_equal(ring_unreported(&ring), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_events_stay_and_measurements_go, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_means, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_each_counts_for_what_it_stands_for, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_calls_between_probes, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_probes_time_themselves, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_two_events_of_one_probe, make_ring, destroy_ring),
        cmocka_unit_test_setup_teardown(test_what_is_not_measured, make_ring, destroy_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
