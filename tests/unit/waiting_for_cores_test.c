// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: who was awake when recorded, but got no core, does so again. Runs by hand, on one core: all times are
// ns. What an event says was computed so far is in its last operand; how long its thread waited for a core, in a run
// delay a ns before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "simulate_reference.h"

enum { NEAR = 10 };

// Both as recorded and as by the reference. The recording doesn't tell that workers fall asleep in the end.
static void assert_replayed(struct by_hand *p) {
    const struct dag *recorded = p->fixture.dag, *run = by_hand_simulate(p, MODEL_CPU);
    const struct model model = {.kind = MODEL_CPU};
    struct reference_run reference;
    assert_true(reference_knows(recorded));
    reference_simulate(recorded, &p->fixture.edit, p->fixture.costs, &model, NULL, &reference);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t source = run->source[v];
        if (source == DAG_NONE) continue;
        assert_in_range(run->vertices.time_ns[v] - recorded->vertices.time_ns[source] + NEAR, 0, 2 * NEAR);
        if (reference.time_ns[source] != DAG_ABSENT)
            assert_int_equal(run->vertices.time_ns[v], reference.time_ns[source]);
    }
    reference_destroy(&reference);
}

static void measured_task(struct by_hand *p, uint32_t thread, uint64_t start_ns, uint64_t computed_ns, uint64_t end_ns,
                          uint64_t task) {
    tb_event(p->tb, thread, start_ns, EVENT_TASK_START, task, computed_ns);
    tb_event(p->tb, thread, end_ns, EVENT_TASK_END, task, computed_ns + 10);
}

// Two workers sleep. The first is awake 20 after the spawn of task 3, but has no core for 80. By then the second was
// called, for task 4, and it needs 100 of its own.
static void test_a_worker_without_a_core_has_come(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 2);
    tb_cores(p.tb, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 110, 1);
    by_hand_spawn(&p, HAND_MAIN, 150, 160, 2);
    by_hand_spawn(&p, HAND_MAIN, 1000, 1005, 3);
    by_hand_spawn(&p, HAND_MAIN, 1050, 1055, 4);
    tb_event(p.tb, HAND_FIRST, 120, EVENT_WORKER_BEGIN, p.pool);
    measured_task(&p, HAND_FIRST, 130, 10, 300, 1);
    tb_event(p.tb, HAND_FIRST, 310, EVENT_IDLE, p.pool);
    tb_event(p.tb, HAND_FIRST, 1095, EVENT_BUSY, p.pool);
    tb_event(p.tb, HAND_FIRST, 1099, EVENT_RUN_DELAY, 80);
    measured_task(&p, HAND_FIRST, 1100, 30, 1300, 3);
    tb_event(p.tb, HAND_SECOND, 170, EVENT_WORKER_BEGIN, p.pool);
    measured_task(&p, HAND_SECOND, 180, 10, 320, 2);
    tb_event(p.tb, HAND_SECOND, 330, EVENT_IDLE, p.pool);
    tb_event(p.tb, HAND_SECOND, 1145, EVENT_BUSY, p.pool);
    measured_task(&p, HAND_SECOND, 1150, 30, 1400, 4);
    by_hand_open(&p, 2000);
    assert_replayed(&p);
    simulate_fixture_close(&p.fixture);
}

// Main lacks a core for 700 in all between 500, when it begins to wait, and 2000, when it goes on; but the result that
// it slept for came at 1900.
static void test_a_waiter_was_kept_from_its_result_for_no_longer_than_that_was_there(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 2);
    tb_cores(p.tb, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 110, 1);
    by_hand_spawn(&p, HAND_MAIN, 150, 160, 2);
    tb_event(p.tb, HAND_MAIN, 500, EVENT_WAIT_BEGIN, 1, 400, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, HAND_MAIN, 1999, EVENT_RUN_DELAY, 700);
    tb_event(p.tb, HAND_MAIN, 2000, EVENT_WAIT_END, 1, 410);
    tb_event(p.tb, HAND_FIRST, 120, EVENT_WORKER_BEGIN, p.pool);
    measured_task(&p, HAND_FIRST, 130, 10, 1900, 1);
    tb_event(p.tb, HAND_SECOND, 170, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, HAND_SECOND, 180, EVENT_TASK_START, 2, 10);
    tb_event(p.tb, HAND_SECOND, 3000, EVENT_TASK_END, 2, 2600);
    by_hand_open(&p, 4000);
    assert_replayed(&p);
    simulate_fixture_close(&p.fixture);
}

// Main waits for what nobody tells, from 500 to 1500, and computes 100 once that has come: meanwhile the worker has the
// core for itself, and both go on when they did.
static void test_a_wait_for_what_is_not_known_computes_in_the_end(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 2);
    tb_cores(p.tb, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 110, 1);
    tb_event(p.tb, HAND_MAIN, 500, EVENT_WAIT_BEGIN, 0, 10, tb_wait(WAIT_FOR_UNKNOWN, p.site));
    tb_event(p.tb, HAND_MAIN, 1500, EVENT_WAIT_END, 0, 110);
    tb_event(p.tb, HAND_FIRST, 120, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, HAND_FIRST, 130, EVENT_TASK_START, 1, 10);
    tb_event(p.tb, HAND_FIRST, 1000, EVENT_TASK_END, 1, 880);
    by_hand_open(&p, 2000);
    const struct dag *run = by_hand_simulate(&p, MODEL_CPU);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        const uint32_t source = run->source[v];
        if (source == DAG_NONE) continue;
        assert_in_range(run->vertices.time_ns[v] - p.fixture.dag->vertices.time_ns[source] + NEAR, 0, 2 * NEAR);
    }
    simulate_fixture_close(&p.fixture);
}

static int64_t main_passes(const struct dag *run, enum vertex_kind kind) {
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->vertices.kind[v] == kind) return run->vertices.time_ns[v];
    }
    fail();
    return 0;
}

// Main asks for task 1 at 500, 10 before it has ended, and goes on at 620, after it had no core for 90. Inlined, the
// task has ended before main asks, which so neither sleeps nor loses its core.
static void test_a_result_that_is_there_before_it_is_asked_for_costs_no_core(void **state) {
    const enum model_kind models[] = {MODEL_POOL, MODEL_CPU};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct by_hand p = by_hand_begin(NULL, 1);
        tb_cores(p.tb, 2);
        by_hand_spawn(&p, HAND_MAIN, 100, 110, 1);
        tb_event(p.tb, HAND_MAIN, 500, EVENT_WAIT_BEGIN, 1, 400, tb_wait(WAIT_FOR_TASK, p.site));
        tb_event(p.tb, HAND_MAIN, 619, EVENT_RUN_DELAY, 90);
        tb_event(p.tb, HAND_MAIN, 620, EVENT_WAIT_END, 1, 410);
        tb_event(p.tb, HAND_FIRST, 120, EVENT_WORKER_BEGIN, p.pool);
        measured_task(&p, HAND_FIRST, 130, 10, 510, 1);
        by_hand_open(&p, 1000);
        assert_int_equal(p.fixture.costs->waking.count, 1);
        assert_int_equal((int64_t)p.fixture.costs->waking.mean_ns, 10); // 410 - 400
        dag_edit_inline(&p.fixture.edit, by_hand_index(p.fixture.dag, 1));
        const struct dag *run = by_hand_simulate(&p, models[i]);
        assert_int_equal(main_passes(run, VERTEX_WAIT_END), main_passes(run, VERTEX_WAIT_BEGIN));
        simulate_fixture_close(&p.fixture);
    }
}

// A worker that is woken takes the core of the thread that hands over: the bracket of 1,000 had none for 960. What
// handing over costs on the mean is the rest, or a plan's brackets would wait for cores twice.
static void test_a_hand_over_costs_what_it_does_with_a_core(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 1);
    tb_cores(p.tb, 1);
    by_hand_spawn(&p, HAND_MAIN, 10, 20, 2);
    tb_event(p.tb, HAND_MAIN, 30, EVENT_WAIT_BEGIN, 2, 20, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, HAND_MAIN, 90, EVENT_WAIT_END, 2, 30);
    tb_event(p.tb, HAND_MAIN, 100, EVENT_SPAWN_BEGIN, 1, p.site, p.pool);
    tb_event(p.tb, HAND_MAIN, 1100, EVENT_SPAWN_END, 1, 0);
    tb_event(p.tb, HAND_MAIN, 1109, EVENT_RUN_DELAY, 960);
    tb_event(p.tb, HAND_MAIN, 1110, EVENT_WAIT_BEGIN, 1, 90, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, HAND_MAIN, 1120, EVENT_WAIT_END, 1, 100);
    tb_event(p.tb, HAND_FIRST, 25, EVENT_WORKER_BEGIN, p.pool);
    measured_task(&p, HAND_FIRST, 40, 10, 80, 2);
    tb_event(p.tb, HAND_FIRST, 85, EVENT_IDLE, p.pool);
    tb_event(p.tb, HAND_FIRST, 110, EVENT_BUSY, p.pool);
    measured_task(&p, HAND_FIRST, 130, 30, 1115, 1);
    by_hand_open(&p, 2000);
    const struct costs *costs = p.fixture.costs;
    const struct dag_task *task = &p.fixture.dag->tasks[by_hand_index(p.fixture.dag, 1)];
    assert_int_equal((int64_t)costs->pools[task->pool].bracket[task->dispatch].mean_ns, 40);
    assert_int_equal(costs->bracket_ns[task - p.fixture.dag->tasks], 1000); // its own stays what it was
    simulate_fixture_close(&p.fixture);
}

// The tracer asks the kernel as a task ends, and the thread is kept from its core meanwhile: what it waited so far is
// then more than the task had room for, and was waited before the next one began. Once more than that it is not passed
// on.
static void test_what_was_waited_behind_a_boundary_is_told_before_it(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 1);
    tb_cores(p.tb, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 110, 1);
    by_hand_spawn(&p, HAND_MAIN, 150, 160, 2);
    tb_event(p.tb, HAND_FIRST, 990, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, HAND_FIRST, 1000, EVENT_TASK_START, 1, 10);
    tb_event(p.tb, HAND_FIRST, 1499, EVENT_RUN_DELAY, 600);
    tb_event(p.tb, HAND_FIRST, 1500, EVENT_TASK_END, 1, 310, TASK_RETURNED);
    tb_event(p.tb, HAND_FIRST, 1800, EVENT_IDLE, p.pool);
    tb_event(p.tb, HAND_FIRST, 1900, EVENT_BUSY, p.pool);
    tb_event(p.tb, HAND_FIRST, 1920, EVENT_TASK_START, 2, 320);
    tb_event(p.tb, HAND_FIRST, 2500, EVENT_TASK_END, 2, 400, TASK_RETURNED);
    by_hand_open(&p, 3000);
    const struct dag *dag = p.fixture.dag;
    const struct dag_task *first = &dag->tasks[by_hand_index(dag, 1)], *second = &dag->tasks[by_hand_index(dag, 2)];
    int64_t between_ns = 0;
    for (uint32_t v = first->end + 1; v <= second->start; v++) between_ns += dag->vertices.queued_ns[v];
    assert_int_equal(dag->vertices.queued_ns[first->end], 200);
    assert_in_range(between_ns, 295, 300); // of 300 until it had nothing to do; it computed 10 by its next task
    assert_int_equal(dag->vertices.queued_ns[second->end], 0);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wait_for_what_is_not_known_computes_in_the_end),
        cmocka_unit_test(test_a_hand_over_costs_what_it_does_with_a_core),
        cmocka_unit_test(test_what_was_waited_behind_a_boundary_is_told_before_it),
        cmocka_unit_test(test_a_worker_without_a_core_has_come),
        cmocka_unit_test(test_a_waiter_was_kept_from_its_result_for_no_longer_than_that_was_there),
        cmocka_unit_test(test_a_result_that_is_there_before_it_is_asked_for_costs_no_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
