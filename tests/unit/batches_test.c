// SPDX-License-Identifier: GPL-3.0-or-later
// Units that whoever is free takes, solved by hand: the arithmetic is in the comments. Times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "tracefile/reader.h"

enum { MAIN = HAND_MAIN, WORKER = HAND_FIRST };
enum { A = 1, B, C, D, FIRST_HELPER, SECOND_HELPER, THIRD_HELPER };

static void run_unit(struct by_hand *p, uint32_t thread, uint64_t start_ns, uint64_t result_ns, uint64_t unit) {
    tb_event(p->tb, thread, start_ns, EVENT_TASK_START, unit);
    tb_event(p->tb, thread, result_ns, EVENT_RESULT, unit);
    tb_event(p->tb, thread, result_ns + 1, EVENT_TASK_END, unit);
}

static void take(struct by_hand *p, uint64_t time_ns, uint64_t unit) {
    tb_event(p->tb, MAIN, time_ns, EVENT_TAKEN, unit);
}

// Main makes four units of 1000 and hands over three helpers. It runs A and C itself, the worker B and D, and comes
// with its third helper when nothing is left. With `late` the second helper is at something else first.
static struct by_hand record(bool late) {
    struct by_hand p = by_hand_begin(NULL, 1);
    const uint32_t class = tb_class(p.tb, "Main$Unit"), helper = tb_class(p.tb, "Main$Helper");
    for (uint64_t unit = A; unit <= D; unit++) tb_event(p.tb, MAIN, 10 + unit, EVENT_TASK_CREATED, unit, class);
    for (uint64_t i = 0; i < 3; i++) {
        tb_event(p.tb, MAIN, 90 + 20 * i, EVENT_TASK_CREATED, FIRST_HELPER + i, helper);
        by_hand_spawn(&p, MAIN, 100 + 20 * i, 105 + 20 * i, FIRST_HELPER + i);
    }
    run_unit(&p, MAIN, 146, 1145, A);
    run_unit(&p, MAIN, 1147, 2145, C);
    take(&p, 2147, A);
    take(&p, 2148, B);
    take(&p, 2149, C);
    tb_event(p.tb, MAIN, 2150, EVENT_WAIT_BEGIN, D, 0, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, MAIN, 2225, EVENT_WAIT_END, D);
    by_hand_start(&p, WORKER, 200, FIRST_HELPER);
    run_unit(&p, WORKER, 201, 1200, B);
    by_hand_end(&p, WORKER, 1210, FIRST_HELPER);
    by_hand_start(&p, WORKER, 1220, SECOND_HELPER);
    if (late) {
        tb_event(p.tb, WORKER, 1222, EVENT_TASK_CREATED, 50, class);
        by_hand_spawn(&p, WORKER, 1223, 1224, 50);
    }
    run_unit(&p, WORKER, 1225, 2220, D);
    by_hand_end(&p, WORKER, 2230, SECOND_HELPER);
    by_hand_task(&p, WORKER, 2240, 2250, THIRD_HELPER);
    if (late) by_hand_task(&p, WORKER, 2260, 2270, 50);
    by_hand_open(&p, 3000);
    return p;
}

static int64_t result_of(const struct dag *run, uint64_t id) {
    return run->vertices.time_ns[run->tasks[by_hand_index(run, id)].result];
}

static void test_a_batch_is_found(void **state) {
    (void)state;
    struct by_hand p = record(false);
    const struct dag *dag = p.fixture.dag;
    assert_int_equal(dag->batch_count, 1);
    assert_int_equal(dag->batches[0].pool, p.pool);
    assert_int_equal(dag->batches[0].unit_count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(dag->units[i].task, by_hand_index(dag, A + i));
    assert_int_equal(dag->claim_count, 4); // main's, and one a helper, the third of which took none
    for (uint32_t i = 0; i < dag->claim_count; i++) {
        const struct dag_claim *claim = &dag->claims[i];
        const bool is_main = claim->most == UINT32_MAX;
        const uint32_t taken = claim->after - claim->vertex;
        if (is_main) assert_int_equal(taken, 2);
        if (!is_main) assert_int_equal(claim->most, 1);
    }
    simulate_fixture_close(&p.fixture);
}

static void test_as_recorded(void **state) {
    (void)state;
    struct by_hand p = record(false);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(run->vertex_count, p.fixture.dag->vertex_count);
    for (uint32_t v = 0; v < run->vertex_count; v++)
        assert_int_equal(run->vertices.time_ns[v], p.fixture.dag->vertices.time_ns[run->source[v]]);
    simulate_fixture_close(&p.fixture);
}

// Workers for the second and third helper are made at their spawns, 120 and 140, and as the first, which was spawned at
// 100, begin 100 later. So main takes A at 145, and the helpers take B at 200, C at 220 and D at 240; each takes 1000.
// Main finds nothing more at 1145 and waits for all, the last of which wakes it 5 later, as D did.
static void test_more_workers_take_more(void **state) {
    (void)state;
    struct by_hand p = record(false);
    p.fixture.edit.pool_threads[p.pool] = 3;
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(result_of(run, A), 1145);
    assert_int_equal(result_of(run, B), 1200);
    assert_int_equal(result_of(run, C), 1220);
    assert_int_equal(result_of(run, D), 1240);
    const uint32_t d = by_hand_index(run, D);
    uint32_t v = 0;
    while (run->vertices.kind[v] != VERTEX_WAIT_END || run->vertices.task[v] != d) v++;
    assert_int_equal(run->vertices.time_ns[v], 1245);
    simulate_fixture_close(&p.fixture);
}

// A unit's result is told where it was taken, and nothing of where it was before: what is written stays as it is.
static void test_what_is_written_is_the_run(void **state) {
    (void)state;
    struct by_hand p = record(false);
    struct error error = ERROR_INIT;
    p.fixture.edit.pool_threads[p.pool] = 3;
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    struct trace *trace = written_run(run);
    assert_int_equal(trace->events_of_kind[EVENT_TASK_START], 3); // the helpers
    struct dag *again = dag_build(trace, &error);
    assert_non_null(again);
    for (uint64_t unit = A; unit <= D; unit++) assert_int_equal(result_of(again, unit), result_of(run, unit));
    assert_int_equal(again->batch_count, 0);
    dag_free(again);
    trace_close(trace);
    simulate_fixture_close(&p.fixture);
}

// What does not take its unit first of all may depend on what it did before.
static void test_who_is_late_is_left_alone(void **state) {
    (void)state;
    struct by_hand p = record(true);
    assert_int_equal(p.fixture.dag->batch_count, 0);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(result_of(run, D), 2220);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_is_found),          cmocka_unit_test(test_as_recorded),
        cmocka_unit_test(test_more_workers_take_more),    cmocka_unit_test(test_what_is_written_is_the_run),
        cmocka_unit_test(test_who_is_late_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
