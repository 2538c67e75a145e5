// SPDX-License-Identifier: GPL-3.0-or-later
// What threads slept for around collections (dag/build/stopped.c), on traces by hand: a worker runs tasks one after the
// other, the last of which holds a collection.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "dag/edge.h"

enum { US = 1000, SYSTEM = 0, FIRST_TASK = 200, TASKS = 8 };

struct span { // of a task, us
    uint64_t long_us, computed_us, queued_us;
};

struct run {
    struct by_hand p;
    uint64_t now_us, computed_us, queued_us, next;
};

static struct run begin(void) {
    struct run run = {.p = by_hand_new(NULL, 1), .now_us = 1000, .computed_us = 10, .next = FIRST_TASK};
    tb_thread(run.p.tb, SYSTEM, "JVM", THREAD_SYSTEM);
    tb_event(run.p.tb, HAND_MAIN, 0, EVENT_MAIN_BEGIN, HAND_M, 1);
    for (uint64_t i = 0; i <= TASKS; i++) {
        tb_event(run.p.tb, HAND_MAIN, (10 + i) * US, EVENT_SPAWN_BEGIN, FIRST_TASK + i, run.p.site, run.p.pool);
        tb_event(run.p.tb, HAND_MAIN, (10 + i) * US + 1, EVENT_SPAWN_END, FIRST_TASK + i);
    }
    tb_event(run.p.tb, HAND_FIRST, 900 * US, EVENT_WORKER_BEGIN, run.p.pool);
    tb_event(run.p.tb, HAND_FIRST, 901 * US, EVENT_RUN_DELAY, 1); // waits for cores are told
    return run;
}

static void run_task(struct run *run, struct span span) {
    tb_event(run->p.tb, HAND_FIRST, run->now_us * US, EVENT_TASK_START, run->next, run->computed_us * US);
    run->now_us += span.long_us;
    run->computed_us += span.computed_us;
    run->queued_us += span.queued_us;
    tb_event(run->p.tb, HAND_FIRST, run->now_us * US - 1, EVENT_RUN_DELAY, run->queued_us * US + 1);
    tb_event(run->p.tb, HAND_FIRST, run->now_us * US, EVENT_TASK_END, run->next++, run->computed_us * US);
    run->now_us += 10;
    run->computed_us += 10;
}

// What the last task, of which 2 ms are a collection, stood ready, and slept, in us.
static void end(struct run *run, struct span last, int64_t *ready_us, int64_t *slept_us) {
    tb_event(run->p.tb, SYSTEM, (run->now_us + 1000) * US, EVENT_GC_BEGIN);
    tb_event(run->p.tb, SYSTEM, (run->now_us + 3000) * US, EVENT_GC_END);
    run_task(run, last);
    tb_event(run->p.tb, HAND_MAIN, (run->now_us + 1000) * US, EVENT_THREAD_END, HAND_M, 100);
    simulate_fixture_open(&run->p.fixture, run->p.tb);
    const struct dag *dag = run->p.fixture.dag;
    const uint32_t v = dag->tasks[by_hand_index(dag, run->next - 1)].end;
    *ready_us = (dag->vertices.queued_ns[v] + US / 2) / US;
    *slept_us = (edge_asleep_ns(dag, v, dag->vertices.time_ns[v - 1]) + US / 2) / US;
    simulate_fixture_close(&run->p.fixture);
}

// Tasks of the site compute throughout. So the 4 ms that the one with the collection slept beside it were a wait.
static void test_sleep_around_a_collection_is_a_wait(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    for (int i = 0; i < TASKS; i++) run_task(&run, (struct span){1000, 1000, 0});
    end(&run, (struct span){10000, 1000, 3000}, &ready_us, &slept_us);
    assert_int_equal(ready_us, 3000 + 4000);
    assert_int_equal(slept_us, 0);
}

// Tasks of the site sleep 5 ms each, as behind a request, and this one does, too: only what is more was a wait.
static void test_what_tasks_sleep_anyway_stays_sleep(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    for (int i = 0; i < TASKS; i++) run_task(&run, (struct span){6000, 1000, 0});
    end(&run, (struct span){8000, 1000, 0}, &ready_us, &slept_us);
    assert_int_equal(ready_us, 0);
    assert_true(slept_us > 5000);
}

static void test_only_what_is_more_was_a_wait(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    for (int i = 0; i < TASKS; i++) run_task(&run, (struct span){6000, 1000, 0});
    end(&run, (struct span){9500, 1000, 0}, &ready_us, &slept_us);
    assert_int_equal(ready_us, 1500);
}

// Where few tasks tell, all that the program does tells: so much sleep for what is computed.
static void test_few_tasks_tell_by_what_they_compute(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    run_task(&run, (struct span){3000, 2000, 0});
    end(&run, (struct span){9000, 4000, 0}, &ready_us, &slept_us);
    assert_in_range(ready_us, 950, 1000); // of 3 ms beside the collection 2 are as of others, of which main is one
}

// What lasts so much longer than the collection was no wait for its end: beside it count a few turns of threads.
static void test_a_long_sleep_is_something_else_s(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    for (int i = 0; i < TASKS; i++) run_task(&run, (struct span){1000, 1000, 0});
    end(&run, (struct span){500000, 1000, 0}, &ready_us, &slept_us);
    assert_int_equal(ready_us, 2000 + 10000);
    assert_true(slept_us > 450000);
}

// Where few tasks tell it may have slept for anything: no more than what the collection lasted is taken for a wait.
static void test_a_task_that_few_tell_of_keeps_its_sleep(void **state) {
    (void)state;
    struct run run = begin();
    int64_t ready_us, slept_us;
    for (int i = 0; i < 2; i++) run_task(&run, (struct span){1000, 1000, 0});
    end(&run, (struct span){50000, 1000, 0}, &ready_us, &slept_us);
    assert_int_equal(ready_us, 2000);
    assert_true(slept_us > 45000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleep_around_a_collection_is_a_wait),
        cmocka_unit_test(test_what_tasks_sleep_anyway_stays_sleep),
        cmocka_unit_test(test_only_what_is_more_was_a_wait),
        cmocka_unit_test(test_few_tasks_tell_by_what_they_compute),
        cmocka_unit_test(test_a_long_sleep_is_something_else_s),
        cmocka_unit_test(test_a_task_that_few_tell_of_keeps_its_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
