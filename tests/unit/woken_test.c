// SPDX-License-Identifier: GPL-3.0-or-later
// Which thread woke one that slept for something outside until it was stopped, on traces by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "metrics/work.h"

enum { US = 1000, FIRST_LOOP = 3, SECOND_LOOP, TASK = 7, FIRST_RUN = 20, SECOND_RUN };

// Main hands over a task of 10 ms, which a worker takes up after 20 ms, has its result at 30.01 ms, and then awaits
// threads that it started. Each computes 0.1 ms in all.
static struct by_hand begin(void) {
    struct by_hand p = by_hand_new(NULL, 1);
    tb_event(p.tb, HAND_MAIN, 0, EVENT_MAIN_BEGIN, HAND_M, 1);
    return p;
}

static uint32_t loops(struct by_hand *p) {
    return tb_site(p->tb, "Main", "run", 13);
}

static void start_loop(struct by_hand *p, uint32_t thread, uint64_t run, uint64_t at_us, uint32_t site) {
    tb_thread(p->tb, thread, "loop", 0);
    tb_event(p->tb, HAND_MAIN, at_us * US, EVENT_SPAWN_BEGIN, run, site, 0);
    tb_event(p->tb, HAND_MAIN, (at_us + 10) * US, EVENT_SPAWN_END, run);
    tb_event(p->tb, thread, (at_us + 5) * US, EVENT_THREAD_START, run, 1);
}

static void work(struct by_hand *p) {
    tb_event(p->tb, HAND_MAIN, 200 * US, EVENT_SPAWN_BEGIN, TASK, p->site, p->pool);
    tb_event(p->tb, HAND_MAIN, 210 * US, EVENT_SPAWN_END, TASK);
    tb_event(p->tb, HAND_MAIN, 219 * US, EVENT_RUN_DELAY, 1); // so that waits for cores are told
    tb_event(p->tb, HAND_MAIN, 220 * US, EVENT_WAIT_BEGIN, TASK, 220 * US, tb_wait(WAIT_FOR_TASK, p->site));
    tb_event(p->tb, HAND_MAIN, 30010 * US, EVENT_WAIT_END, TASK, 220 * US);
    tb_event(p->tb, HAND_FIRST, 19990 * US, EVENT_WORKER_BEGIN, p->pool);
    tb_event(p->tb, HAND_FIRST, 20000 * US, EVENT_TASK_START, TASK, 0);
    tb_event(p->tb, HAND_FIRST, 30000 * US, EVENT_TASK_END, TASK, 10000 * US);
}

static void await_loop(struct by_hand *p, uint32_t thread, uint64_t run, uint64_t begin_us, uint64_t ends_us) {
    const uint64_t woken_us = ends_us + 10 > begin_us ? ends_us + 10 : begin_us + 1;
    tb_event(p->tb, thread, ends_us * US, EVENT_THREAD_END, run, 100 * US);
    tb_event(p->tb, HAND_MAIN, begin_us * US, EVENT_WAIT_BEGIN, run, 300 * US, tb_wait(WAIT_FOR_TASK, p->site));
    tb_event(p->tb, HAND_MAIN, woken_us * US, EVENT_WAIT_END, run, 300 * US);
}

static void open(struct by_hand *p, uint64_t end_us) {
    tb_event(p->tb, HAND_MAIN, end_us * US, EVENT_THREAD_END, HAND_M, 350 * US);
    simulate_fixture_open(&p->fixture, p->tb);
}

static uint32_t end_of(const struct by_hand *p, uint64_t run) {
    return p->fixture.dag->tasks[by_hand_index(p->fixture.dag, run)].end;
}

// When what is said to have woken it was, in us; -1: none is.
static int64_t woken_by_us(const struct by_hand *p, uint64_t run) {
    const struct dag_vertices *vertices = &p->fixture.dag->vertices;
    const uint32_t end = end_of(p, run), cause = vertices->cause[end];
    if (cause == DAG_NONE) return -1;
    assert_int_equal(vertices->rule[end], RULE_WOKEN);
    return vertices->time_ns[cause] / US;
}

static int64_t now_us(struct by_hand *p, uint64_t run) {
    const struct dag *now = by_hand_simulate(p, MODEL_POOL);
    return now->vertices.time_ns[now->tasks[by_hand_index(now, run)].end] / US;
}

static void inline_task(struct by_hand *p) {
    dag_edit_inline(&p->fixture.edit, by_hand_index(p->fixture.dag, TASK));
}

// It sleeps until main comes to stop it, whenever that is; and what it slept counts as slept.
static void test_who_stops_a_thread_wakes_it(void **state) {
    (void)state;
    struct by_hand p = begin();
    start_loop(&p, FIRST_LOOP, FIRST_RUN, 100, loops(&p));
    work(&p);
    await_loop(&p, FIRST_LOOP, FIRST_RUN, 30050, 30250);
    open(&p, 30300);
    assert_int_equal(woken_by_us(&p, FIRST_RUN), 30050);
    assert_int_equal(work_slept_ns(p.fixture.dag, end_of(&p, FIRST_RUN)), (30250 - 105 - 100) * US + 1);
    assert_int_equal(now_us(&p, FIRST_RUN), 30250);
    inline_task(&p);
    assert_in_range(now_us(&p, FIRST_RUN), 10250, 10600);
    simulate_fixture_close(&p.fixture);
}

// By what main did last before the thread ended: its wait began behind that.
static void test_it_may_end_before_it_is_awaited(void **state) {
    (void)state;
    struct by_hand p = begin();
    start_loop(&p, FIRST_LOOP, FIRST_RUN, 100, loops(&p));
    work(&p);
    await_loop(&p, FIRST_LOOP, FIRST_RUN, 30150, 30100);
    open(&p, 30300);
    assert_int_equal(woken_by_us(&p, FIRST_RUN), 30010);
    inline_task(&p);
    assert_in_range(now_us(&p, FIRST_RUN), 10200, 10500);
    simulate_fixture_close(&p.fixture);
}

static void test_who_waits_for_long_wakes_nobody(void **state) {
    (void)state;
    struct by_hand p = begin();
    start_loop(&p, FIRST_LOOP, FIRST_RUN, 100, loops(&p));
    work(&p);
    await_loop(&p, FIRST_LOOP, FIRST_RUN, 30050, 30600); // more than a hundredth of what it slept
    open(&p, 30700);
    assert_int_equal(woken_by_us(&p, FIRST_RUN), -1);
    simulate_fixture_close(&p.fixture);
}

// Two that sleep for as long, and are awaited in turn. Of another site, the second may be one that main stops then.
static void test_threads_alike_end_one_after_the_other(void **state) {
    (void)state;
    for (int alike = 0; alike < 2; alike++) {
        struct by_hand p = begin();
        const uint32_t other = tb_site(p.tb, "Main", "run", 14);
        start_loop(&p, FIRST_LOOP, FIRST_RUN, 100, loops(&p));
        start_loop(&p, SECOND_LOOP, SECOND_RUN, 150, alike ? loops(&p) : other);
        work(&p);
        await_loop(&p, FIRST_LOOP, FIRST_RUN, 30050, 40100);
        await_loop(&p, SECOND_LOOP, SECOND_RUN, 40115, 40150);
        open(&p, 40200);
        assert_int_equal(woken_by_us(&p, FIRST_RUN), -1);
        assert_int_equal(woken_by_us(&p, SECOND_RUN), alike ? -1 : 40115);
        simulate_fixture_close(&p.fixture);
    }
}

// What a worker does once and is awaited as it ends may be stopped; what is one of many was through.
static void test_a_worker_s_task_is_stopped_if_it_is_the_only_one(void **state) {
    (void)state;
    for (int only = 0; only < 2; only++) {
        struct by_hand p = begin();
        const uint32_t pool = tb_pool(p.tb, "pool-2", 1), site = only ? loops(&p) : p.site;
        tb_thread(p.tb, FIRST_LOOP, "pool-2-thread", 0);
        tb_event(p.tb, HAND_MAIN, 100 * US, EVENT_SPAWN_BEGIN, FIRST_RUN, site, pool);
        tb_event(p.tb, HAND_MAIN, 110 * US, EVENT_SPAWN_END, FIRST_RUN);
        tb_event(p.tb, FIRST_LOOP, 90 * US, EVENT_WORKER_BEGIN, pool);
        tb_event(p.tb, FIRST_LOOP, 120 * US, EVENT_TASK_START, FIRST_RUN, 1);
        tb_event(p.tb, FIRST_LOOP, 30250 * US, EVENT_TASK_END, FIRST_RUN, 100 * US);
        work(&p);
        tb_event(p.tb, HAND_MAIN, 30050 * US, EVENT_WAIT_BEGIN, FIRST_RUN, 300 * US, tb_wait(WAIT_FOR_TASK, p.site));
        tb_event(p.tb, HAND_MAIN, 30260 * US, EVENT_WAIT_END, FIRST_RUN, 300 * US);
        open(&p, 30300);
        assert_int_equal(woken_by_us(&p, FIRST_RUN), only ? 30050 : -1);
        simulate_fixture_close(&p.fixture);
    }
}

// A thread that computed until then was not asleep.
static void test_who_computes_is_not_woken(void **state) {
    (void)state;
    struct by_hand p = begin();
    start_loop(&p, FIRST_LOOP, FIRST_RUN, 100, loops(&p));
    work(&p);
    tb_event(p.tb, FIRST_LOOP, 30250 * US, EVENT_THREAD_END, FIRST_RUN, 25000 * US);
    tb_event(p.tb, HAND_MAIN, 30050 * US, EVENT_WAIT_BEGIN, FIRST_RUN, 300 * US, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, HAND_MAIN, 30260 * US, EVENT_WAIT_END, FIRST_RUN, 300 * US);
    open(&p, 30300);
    assert_int_equal(woken_by_us(&p, FIRST_RUN), -1);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_stops_a_thread_wakes_it),
        cmocka_unit_test(test_it_may_end_before_it_is_awaited),
        cmocka_unit_test(test_who_waits_for_long_wakes_nobody),
        cmocka_unit_test(test_threads_alike_end_one_after_the_other),
        cmocka_unit_test(test_a_worker_s_task_is_stopped_if_it_is_the_only_one),
        cmocka_unit_test(test_who_computes_is_not_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
