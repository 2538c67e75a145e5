// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for the end of all that a body handed over, of which no event says so, on traces by hand. Main hands over three
// tasks of 10, 20 and 5 ms to one worker, and then sleeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"

enum { US = 1000, MS = 1000000, TASKS = 3, SIGNAL = 50, QUEUE = 40, BACKGROUND = 90, TRIES = 12 };

static const uint64_t length_ms[TASKS] = {10, 20, 5};

struct test {
    struct by_hand p;
    uint32_t places; // that main waits at
};

static struct test begin(void) {
    struct test t = {.p = by_hand_new(NULL, 1)};
    tb_event(t.p.tb, HAND_MAIN, 0, EVENT_MAIN_BEGIN, HAND_M, 1);
    t.places = tb_site(t.p.tb, "Main", "await", 20);
    tb_event(t.p.tb, HAND_MAIN, 1, EVENT_RUN_DELAY, 1); // so that waits for cores are told
    for (uint64_t i = 0; i < TASKS; i++)
        by_hand_spawn(&t.p, HAND_MAIN, (100 + i * 10) * US, (105 + i * 10) * US, 1 + i);
    return t;
}

// From 1 ms on, one behind the other; the last gives the signal 10 us before its end, where there is one.
static uint64_t work(struct test *t, bool signals) {
    uint64_t now_us = 1000;
    tb_event(t->p.tb, HAND_FIRST, 990 * US, EVENT_WORKER_BEGIN, t->p.pool);
    for (uint64_t i = 0; i < TASKS; i++) {
        tb_event(t->p.tb, HAND_FIRST, now_us * US, EVENT_TASK_START, 1 + i, 1);
        now_us += length_ms[i] * 1000;
        if (signals && i == TASKS - 1) tb_event(t->p.tb, HAND_FIRST, (now_us - 10) * US, EVENT_RESULT, SIGNAL, 1);
        tb_event(t->p.tb, HAND_FIRST, now_us * US, EVENT_TASK_END, 1 + i, 1, TASK_RETURNED);
        now_us += 10;
    }
    return now_us - 10;
}

// `turns`: times that main came onto a core while it slept.
static void finish(struct test *t, uint64_t end_us, uint64_t turns) {
    if (turns) tb_event(t->p.tb, HAND_MAIN, end_us * US - 1, EVENT_TURNS, turns);
    tb_event(t->p.tb, HAND_MAIN, end_us * US, EVENT_THREAD_END, HAND_M, 500 * US);
    simulate_fixture_open(&t->p.fixture, t->p.tb);
}

static uint32_t main_end(const struct dag *dag) {
    return dag->tasks[by_hand_index(dag, HAND_M)].end;
}

static bool awaits_something(const struct test *t) {
    const struct dag *dag = t->p.fixture.dag;
    return dag->vertices.cause[main_end(dag)] != DAG_NONE;
}

static int64_t main_ends_us(struct test *t, uint32_t workers) {
    if (workers) dag_edit_resize(&t->p.fixture.edit, t->p.pool, (int32_t)workers);
    const struct dag *now = by_hand_simulate(&t->p, MODEL_POOL);
    return now->vertices.time_ns[main_end(now)] / US;
}

// It sleeps until 2 ms behind the last end, whenever that is.
static void test_looks_for_the_end_are_over_behind_it(void **state) {
    (void)state;
    for (uint32_t workers = 0; workers <= 3; workers++) {
        struct test t = begin();
        const uint64_t ends_us = work(&t, false);
        finish(&t, ends_us + 2000, 20);
        assert_true(awaits_something(&t));
        assert_true(t.p.fixture.dag->looked_ns > 30 * MS);
        const int64_t last_us = workers == 2 ? 21000 : workers == 3 ? 21000 : (int64_t)ends_us;
        assert_in_range(main_ends_us(&t, workers), last_us + 1900, last_us + 2200);
        simulate_fixture_close(&t.p.fixture);
    }
}

// What comes onto a core but a few times sleeps; what ends many looks later waited for something else.
static void test_other_sleeps_are_sleeps(void **state) {
    (void)state;
    static const struct { uint64_t turns, behind_us; } cases[] = {{0, 2000}, {7, 2000}, {40, 3000}, {20, 10000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct test t = begin();
        finish(&t, work(&t, false) + cases[i].behind_us, cases[i].turns);
        assert_false(awaits_something(&t));
        assert_int_equal(t.p.fixture.dag->looked_ns, 0);
        simulate_fixture_close(&t.p.fixture);
    }
}

// One that looks at what it does itself, as long as the others do.
static void test_what_all_begin_at_once_is_not_known(void **state) {
    (void)state;
    struct test t = begin();
    for (uint64_t i = 0; i < TASKS; i++) {
        const uint32_t thread = HAND_FIRST + (uint32_t)i;
        tb_thread(t.p.tb, thread, "worker", 0);
        tb_event(t.p.tb, thread, 990 * US, EVENT_WORKER_BEGIN, t.p.pool);
        tb_event(t.p.tb, thread, 1000 * US, EVENT_TASK_START, 1 + i, 1);
        tb_event(t.p.tb, thread, (30000 + i) * US, EVENT_TASK_END, 1 + i, 2, TASK_RETURNED);
    }
    finish(&t, 31000, 20);
    assert_false(awaits_something(&t));
    simulate_fixture_close(&t.p.fixture);
}

// A task of the pool goes on, or one of another site on a thread of its own, which main does not await.
static void test_all_of_the_pool_have_ended(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct test t = begin();
        const uint32_t site = other ? tb_site(t.p.tb, "Main", "watch", 30) : t.p.site;
        tb_thread(t.p.tb, HAND_SECOND, "second", 0);
        tb_event(t.p.tb, HAND_MAIN, 200 * US, EVENT_SPAWN_BEGIN, BACKGROUND, site, other ? 0 : t.p.pool);
        tb_event(t.p.tb, HAND_MAIN, 210 * US, EVENT_SPAWN_END, BACKGROUND);
        if (other) tb_event(t.p.tb, HAND_SECOND, 250 * US, EVENT_THREAD_START, BACKGROUND, 1);
        if (!other) tb_event(t.p.tb, HAND_SECOND, 240 * US, EVENT_WORKER_BEGIN, t.p.pool);
        if (!other) tb_event(t.p.tb, HAND_SECOND, 250 * US, EVENT_TASK_START, BACKGROUND, 1);
        tb_event(t.p.tb, HAND_SECOND, 90 * MS, other ? EVENT_THREAD_END : EVENT_TASK_END, BACKGROUND, 2, 0);
        finish(&t, work(&t, false) + 2000, 20);
        assert_int_equal(awaits_something(&t), other);
        simulate_fixture_close(&t.p.fixture);
    }
}

// Of a latch the one is told that opened it. With more workers that is not the last.
static void test_a_latch_opens_behind_the_last(void **state) {
    (void)state;
    for (uint32_t workers = 0; workers <= 3; workers++) {
        struct test t = begin();
        tb_event(t.p.tb, HAND_MAIN, 300 * US, EVENT_WAIT_BEGIN, SIGNAL, 300 * US, tb_wait(WAIT_FOR_RELEASE, t.places));
        const uint64_t ends_us = work(&t, true);
        tb_event(t.p.tb, HAND_MAIN, (ends_us + 20) * US, EVENT_WAIT_END, SIGNAL, 310 * US);
        finish(&t, ends_us + 30, 0);
        const int64_t last_us = workers >= 2 ? 21000 : (int64_t)ends_us;
        assert_in_range(main_ends_us(&t, workers), last_us - 20, last_us + 200);
        simulate_fixture_close(&t.p.fixture);
    }
}

// Tries that gave up are one wait with the one behind them, for the same.
static void test_a_wait_that_is_tried_again_is_one(void **state) {
    (void)state;
    struct test t = begin();
    for (uint64_t i = 0; i < TRIES; i++) {
        const uint64_t begin_us = 300 + i * 3000, id = SIGNAL + 1 + i;
        tb_event(t.p.tb, HAND_MAIN, begin_us * US, EVENT_WAIT_BEGIN, id, 300 * US, tb_wait(WAIT_FOR_RELEASE, t.places));
        tb_event(t.p.tb, HAND_MAIN, (begin_us + 2990) * US, EVENT_TIMED_OUT, id);
        tb_event(t.p.tb, HAND_MAIN, (begin_us + 2991) * US, EVENT_WAIT_END, id, 310 * US);
    }
    const uint64_t ends_us = work(&t, false);
    finish(&t, 300 + TRIES * 3000, 0);
    assert_in_range(ends_us, 35000, 36300);
    const struct dag *dag = t.p.fixture.dag;
    uint32_t waits = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) waits += dag->vertices.kind[v] == VERTEX_WAIT_END;
    assert_int_equal(waits, 1);
    assert_in_range(main_ends_us(&t, 3), 21000, 22500);
    simulate_fixture_close(&t.p.fixture);
}

static void ask(struct test *t, uint64_t begin_us, uint64_t end_us, enum event_kind ends) {
    tb_event(t->p.tb, HAND_MAIN, begin_us * US - 1, EVENT_LIMIT, 1 * MS);
    tb_event(t->p.tb, HAND_MAIN, begin_us * US, EVENT_ACQUIRE_BEGIN, QUEUE, 300 * US,
             want_operand(1, false, t->places));
    tb_event(t->p.tb, HAND_MAIN, end_us * US, ends, QUEUE, 310 * US, GIVEN_UP_TIME);
}

// A queue that is looked into time and again is asked once; of a semaphore each try may come out otherwise.
static void test_a_queue_that_is_asked_again_is_asked_once(void **state) {
    (void)state;
    for (int permits = 0; permits < 2; permits++) {
        struct test t = begin();
        tb_resource(t.p.tb, QUEUE, permits ? RESOURCE_PERMITS : RESOURCE_QUEUE, permits ? 1 : -1, 0);
        ask(&t, 300, 1300, EVENT_GIVEN_UP);
        ask(&t, 1301, 2301, EVENT_GIVEN_UP);
        ask(&t, 2302, 2700, EVENT_ACQUIRED);
        ask(&t, 2800, 3800, EVENT_GIVEN_UP);
        ask(&t, 3801, 4801, EVENT_GIVEN_UP);
        work(&t, false);
        finish(&t, 60000, 0);
        const struct dag *dag = t.p.fixture.dag;
        assert_int_equal(dag->ask_count, permits ? 5 : 2);
        assert_int_equal(dag->asks[0].given_up, permits);
        assert_true(dag->asks[dag->ask_count - 1].given_up);
        if (!permits) assert_true(dag->asks[0].limit_ns == INT64_MAX);
        if (!permits) assert_int_equal(dag->asks[1].limit_ns, 2 * MS);
        simulate_fixture_close(&t.p.fixture);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks_for_the_end_are_over_behind_it),
        cmocka_unit_test(test_other_sleeps_are_sleeps),
        cmocka_unit_test(test_what_all_begin_at_once_is_not_known),
        cmocka_unit_test(test_all_of_the_pool_have_ended),
        cmocka_unit_test(test_a_latch_opens_behind_the_last),
        cmocka_unit_test(test_a_wait_that_is_tried_again_is_one),
        cmocka_unit_test(test_a_queue_that_is_asked_again_is_asked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
