// SPDX-License-Identifier: GPL-3.0-or-later
// For what part of waits their holder waited for a core (dag/build/holders.c), on traces by hand: a worker has a
// monitor for a while, later another waits for it though no thread is known to have it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"

enum { US = 1000, LOCK = 900, HOLDER = 1, WAITER = 2, CORES = 16, WAITED_US = 4000 };

struct run {
    struct by_hand p;
    const struct dag *dag;
};

// The holder has the lock for 1 ms, of which it computes a quarter, and stands ready for so long without a core.
static struct run begin(uint64_t ready_us) {
    struct run run = {.p = by_hand_begin(NULL, 2)};
    struct trace_builder *tb = run.p.tb;
    const uint64_t one = want_operand(1, false, run.p.site);
    tb_cores(tb, CORES);
    tb_resource(tb, LOCK, RESOURCE_MONITOR, 1, 0);
    by_hand_spawn(&run.p, HAND_MAIN, 10 * US, 11 * US, HOLDER);
    by_hand_spawn(&run.p, HAND_MAIN, 12 * US, 13 * US, WAITER);
    tb_event(tb, HAND_FIRST, 99 * US, EVENT_RUN_DELAY, 1); // waits for cores are told
    tb_event(tb, HAND_FIRST, 100 * US, EVENT_TASK_START, HOLDER, 10 * US);
    tb_event(tb, HAND_FIRST, 200 * US, EVENT_ACQUIRE_BEGIN, LOCK, 110 * US, one);
    tb_event(tb, HAND_FIRST, 210 * US, EVENT_ACQUIRED, LOCK, 110 * US);
    tb_event(tb, HAND_FIRST, 1210 * US - 1, EVENT_RUN_DELAY, ready_us * US + 1);
    tb_event(tb, HAND_FIRST, 1210 * US, EVENT_TASK_END, HOLDER, 360 * US);
    tb_event(tb, HAND_SECOND, 5000 * US, EVENT_TASK_START, WAITER, 10 * US);
    tb_event(tb, HAND_SECOND, 5100 * US, EVENT_ACQUIRE_BEGIN, LOCK, 110 * US, one);
    tb_event(tb, HAND_SECOND, (5100 + WAITED_US) * US, EVENT_ACQUIRED, LOCK, 110 * US);
    tb_event(tb, HAND_SECOND, 9200 * US, EVENT_TASK_END, WAITER, 210 * US);
    by_hand_open(&run.p, 9300 * US);
    run.dag = run.p.fixture.dag;
    return run;
}

static const struct dag_ask *waited(const struct run *run) {
    const struct dag_ask *longest = &run->dag->asks[0];
    for (uint32_t i = 1; i < run->dag->ask_count; i++) {
        if (run->dag->asks[i].unknown_ns > longest->unknown_ns) longest = &run->dag->asks[i];
    }
    return longest;
}

static int64_t waits_us(struct run *run, enum model_kind model) {
    const struct dag_ask *ask = waited(run);
    const struct dag *now = by_hand_simulate(&run->p, model);
    return (now->vertices.time_ns[ask->got] - now->vertices.time_ns[ask->asked] + US / 2) / US;
}

// A holder that is not known stood ready for the part for which known ones do. Where cores are shared out anew the wait
// is as much shorter; as long as it was where they are not.
static void test_an_unknown_holder_waits_for_cores_as_known_ones_do(void **state) {
    (void)state;
    struct run run = begin(750);
    assert_int_equal(waited(&run)->unknown_ns, WAITED_US * US);
    const int64_t ready_us = WAITED_US * 750 / 1100; // the waiter itself has it for 0.1 ms more, and a core by then
    assert_in_range(waited(&run)->unknown_ready_ns, ready_us * US, (ready_us + 1) * US);
    assert_int_equal(waits_us(&run, MODEL_POOL), WAITED_US);
    assert_in_range(waits_us(&run, MODEL_CPU), WAITED_US - ready_us - 1, WAITED_US - ready_us + 10);
    simulate_fixture_close(&run.p.fixture);
}

// One that sleeps while it has the lock is not sooner done with other cores.
static void test_a_holder_that_sleeps_stays_as_it_is(void **state) {
    (void)state;
    struct run run = begin(0);
    assert_int_equal(waited(&run)->unknown_ready_ns, 0);
    assert_int_equal(waits_us(&run, MODEL_CPU), WAITED_US);
    simulate_fixture_close(&run.p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_unknown_holder_waits_for_cores_as_known_ones_do),
        cmocka_unit_test(test_a_holder_that_sleeps_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
