// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for results with a time limit, solved by hand: the arithmetic is in the comments. Times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "dag/write.h"
#include "tracefile/reader.h"

enum { MAIN = HAND_MAIN, WORKER = HAND_FIRST, OTHER = HAND_SECOND, WEB = 7 };
enum { A = 1, B, C, FIRST, SECOND };

static void await_for(struct by_hand *p, uint32_t thread, uint64_t begin_ns, uint64_t task, uint64_t limit_ns) {
    if (limit_ns) tb_event(p->tb, thread, begin_ns - 1, EVENT_LIMIT, limit_ns);
    tb_event(p->tb, thread, begin_ns, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, p->site));
}

static void has_result(struct by_hand *p, uint32_t thread, uint64_t end_ns, uint64_t task) {
    tb_event(p->tb, thread, end_ns, EVENT_WAIT_END, task);
}

static void gives_up(struct by_hand *p, uint32_t thread, uint64_t end_ns, uint64_t task) {
    tb_event(p->tb, thread, end_ns - 1, EVENT_TIMED_OUT, task);
    tb_event(p->tb, thread, end_ns, EVENT_WAIT_END, task);
}

static void resize(struct by_hand *p, int32_t threads) {
    p->fixture.edit.pool_threads[p->pool] = threads;
}

static int64_t start_of(const struct dag *run, uint64_t id) {
    const struct dag_task *task = &run->tasks[by_hand_index(run, id)];
    return task->start == DAG_NONE ? -1 : run->vertices.time_ns[task->start];
}

static int64_t end_of(const struct dag *run, uint64_t id) {
    const struct dag_task *task = &run->tasks[by_hand_index(run, id)];
    return task->end == DAG_NONE ? -1 : run->vertices.time_ns[task->end];
}

static void assert_as_recorded(struct by_hand *p) {
    const struct dag *run = by_hand_simulate(p, MODEL_POOL);
    assert_int_equal(run->vertex_count, p->fixture.dag->vertex_count);
    for (uint32_t v = 0; v < run->vertex_count; v++)
        assert_int_equal(run->vertices.time_ns[v], p->fixture.dag->vertices.time_ns[run->source[v]]);
    assert_int_equal(run->await_count, p->fixture.dag->await_count);
    for (uint32_t i = 0; i < run->await_count; i++)
        assert_int_equal(run->awaits[i].given_up, p->fixture.dag->awaits[i].given_up);
}

static uint64_t written_time_outs(const struct dag *run) {
    struct trace *trace = written_run(run);
    uint64_t count = trace->events_of_kind[EVENT_TIMED_OUT];
    trace_close(trace);
    return count;
}

// One worker has A 30..130 (made for it: 20 after its spawn), and B in its queue. main waits for B from 60 on, for 50
// at the most, goes on without at 112, and cancels it. C, spawned before the worker is free, runs for 30; main has its
// result 3 late. B and C are of one site.
static void begin_cancelled(struct by_hand *p) {
    *p = by_hand_begin(NULL, 1);
    uint32_t site = p->site;
    p->site = tb_site(p->tb, "Main", "other", 30);
    by_hand_spawn(p, MAIN, 10, 20, A);
    p->site = site;
    by_hand_task(p, WORKER, 30, 130, A);
    by_hand_spawn(p, MAIN, 40, 50, B);
    await_for(p, MAIN, 60, B, 50);
    gives_up(p, MAIN, 112, B);
    tb_event(p->tb, MAIN, 120, EVENT_RESULT, B);
    by_hand_spawn(p, MAIN, 121, 125, C);
    by_hand_task(p, WORKER, 132, 162, C);
    await_for(p, MAIN, 126, C, 0);
    has_result(p, MAIN, 165, C);
    by_hand_open(p, 200);
}

static void test_given_up_as_recorded(void **state) {
    (void)state;
    struct by_hand p;
    begin_cancelled(&p);
    assert_as_recorded(&p);
    const struct dag *run = simulation_dag(p.fixture.simulation);
    assert_int_equal(start_of(run, B), -1);
    assert_int_equal(run->tasks[by_hand_index(run, B)].outcome, TASK_CANCELLED);
    assert_int_equal(written_time_outs(run), 1);
    simulate_fixture_close(&p.fixture);
}

// With two workers B gets one made for it at 40, starts 20 later, and runs for 30 like C: its result is there at 90, in
// time. main goes on 3 later, as it did but that it has nothing to cancel: 8 after that it would have, and 1 later it
// spawns C.
static void test_result_comes_in_time(void **state) {
    (void)state;
    struct by_hand p;
    begin_cancelled(&p);
    resize(&p, 2);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(start_of(run, B), 60);
    assert_int_equal(end_of(run, B), 90);
    assert_int_equal(run->await_count, 1);
    assert_false(run->awaits[0].given_up);
    assert_int_equal(run->vertices.time_ns[run->awaits[0].end], 93);
    assert_int_equal(run->vertices.cause[run->awaits[0].end], run->tasks[by_hand_index(run, B)].result);
    assert_int_equal(run->vertices.time_ns[run->tasks[by_hand_index(run, C)].spawn_begin], 102);
    assert_int_equal(simulation_outcomes(p.fixture.simulation).alone, 1);
    assert_int_equal(simulation_outcomes(p.fixture.simulation).changed, 0);
    assert_int_equal(written_time_outs(run), 0);
    simulate_fixture_close(&p.fixture);
}

// A 30..130 and B 60..90 have a worker each. main waits for B from 60 on, for 50 at the most, and has its result 3
// late; then, 7 later, it waits for A without a limit, and has that 3 late. With one worker B begins when A has ended:
// at 110 main gives up, and goes on 3 later. Nothing tells what it does then but what it did: it waits for A from 120
// on, and has that at 133.
static void test_gives_up(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 2);
    by_hand_spawn(&p, MAIN, 10, 20, A);
    by_hand_task(&p, WORKER, 30, 130, A);
    by_hand_spawn(&p, MAIN, 40, 50, B);
    by_hand_task(&p, OTHER, 60, 90, B);
    await_for(&p, MAIN, 60, B, 50);
    has_result(&p, MAIN, 93, B);
    await_for(&p, MAIN, 100, A, 0);
    has_result(&p, MAIN, 133, A);
    by_hand_open(&p, 200);
    assert_as_recorded(&p);
    resize(&p, 1);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_true(start_of(run, B) >= 130);
    assert_true(run->awaits[0].given_up);
    assert_int_equal(run->vertices.time_ns[run->awaits[0].end], 113);
    assert_int_equal(run->vertices.cause[run->awaits[0].end], DAG_NONE);
    const struct dag_thread *main_thread = &run->threads[0];
    assert_int_equal(run->vertices.time_ns[main_thread->first + main_thread->count - 1], 200);
    assert_int_equal(simulation_outcomes(p.fixture.simulation).alone, 1);
    assert_int_equal(written_time_outs(run), 1);
    simulate_fixture_close(&p.fixture);
}

// Two requests with a thread each. The first awaits A, which has a worker made for it 15 after its spawn and runs for
// 50, has it 3 late, and ends 12 after that. The second's B queues behind C, which is main's and of another site: it
// gives up 60 after 55, goes on 2 late, cancels B, and ends 33 after that.
static void begin_requests(struct by_hand *p) {
    *p = by_hand_begin(NULL, 1);
    uint32_t web = tb_pool(p->tb, "web", 2), request = tb_site(p->tb, "Main", "ask", 20);
    for (uint32_t i = 0; i < 2; i++) {
        tb_thread(p->tb, WEB + i, "web-thread", 0);
        tb_event(p->tb, MAIN, 5 + 4 * i, EVENT_SPAWN_BEGIN, FIRST + i, request, web);
        tb_event(p->tb, MAIN, 7 + 4 * i, EVENT_SPAWN_END, FIRST + i, SPAWN_ACCEPTED);
        by_hand_start(p, WEB + i, 20 + i, FIRST + i);
    }
    by_hand_spawn(p, WEB, 30, 40, A);
    by_hand_task(p, WORKER, 45, 95, A);
    uint32_t site = p->site;
    p->site = tb_site(p->tb, "Main", "other", 30);
    by_hand_spawn(p, MAIN, 32, 34, C);
    p->site = site;
    by_hand_task(p, WORKER, 97, 127, C);
    await_for(p, WEB, 50, A, 60);
    has_result(p, WEB, 98, A);
    by_hand_end(p, WEB, 110, FIRST);
    by_hand_spawn(p, WEB + 1, 41, 51, B);
    await_for(p, WEB + 1, 55, B, 60);
    gives_up(p, WEB + 1, 117, B);
    tb_event(p->tb, WEB + 1, 120, EVENT_RESULT, B);
    by_hand_end(p, WEB + 1, 150, SECOND);
    by_hand_open(p, 200);
}

// With three workers for what they ask, B has one made for it at 41, starts 15 later, runs for 50 like A, and has its
// result at 106. The second request has that 3 late, and does then what the first one did: it ends 12 after that.
static void test_goes_on_as_donor(void **state) {
    (void)state;
    struct by_hand p;
    begin_requests(&p);
    assert_as_recorded(&p);
    resize(&p, 3);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(start_of(run, B), 56);
    assert_int_equal(end_of(run, B), 106);
    assert_int_equal(end_of(run, SECOND), 121);
    assert_int_equal(end_of(run, FIRST), 110);
    assert_int_equal(simulation_outcomes(p.fixture.simulation).changed, 1);
    assert_int_equal(simulation_outcomes(p.fixture.simulation).alone, 0);
    simulate_fixture_close(&p.fixture);
}

// B was under way when it was cancelled at 60: main waited for it from 20 on, for 30 at the most. It runs on up to 90.
// Twice as fast on a worker that A does not hold up, it ends before: its result is there when it ends.
static void test_cancelled_under_way(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 1);
    by_hand_spawn(&p, MAIN, 2, 4, A);
    by_hand_task(&p, WORKER, 6, 36, A);
    by_hand_spawn(&p, MAIN, 8, 10, B);
    by_hand_start(&p, WORKER, 38, B);
    tb_event(p.tb, WORKER, 58, EVENT_TASK_END, B, 0, TASK_CANCELLED);
    await_for(&p, MAIN, 20, B, 30);
    gives_up(&p, MAIN, 51, B);
    tb_event(p.tb, MAIN, 54, EVENT_RESULT, B);
    by_hand_open(&p, 100);
    assert_as_recorded(&p);
    resize(&p, 2);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(start_of(run, B), 12); // a worker is made for it, and takes 4 as A's did
    assert_int_equal(end_of(run, B), 32);
    assert_false(run->awaits[0].given_up);
    assert_int_equal(run->vertices.time_ns[run->tasks[by_hand_index(run, B)].result], 32);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_up_as_recorded),
        cmocka_unit_test(test_result_comes_in_time),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_goes_on_as_donor),
        cmocka_unit_test(test_cancelled_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
