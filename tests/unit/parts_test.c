// SPDX-License-Identifier: GPL-3.0-or-later
// What parts of a split task take: runs by hand, of one task that main hands over from 100 to 200 and a worker begins
// at 250. Of the 1,200 ns of its body it computes 1,000.
#include "by_hand.h"
#include "dag/simulate/cold_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SPAWNED = 100, BRACKET = 100, STARTED = 250, COMPUTED = 1000, REST = 200, ENDED = STARTED + COMPUTED + REST };

static struct by_hand play(void) {
    struct by_hand p = by_hand_begin(NULL, 2);
    tb_cores(p.tb, 8);
    tb_thread(p.tb, 0, "JVM", THREAD_SYSTEM);
    by_hand_spawn(&p, HAND_MAIN, SPAWNED, SPAWNED + BRACKET, 1);
    tb_event(p.tb, HAND_FIRST, STARTED - 10, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, HAND_FIRST, STARTED, EVENT_TASK_START, 1, 10);
    tb_event(p.tb, HAND_FIRST, ENDED, EVENT_TASK_END, 1, 10 + COMPUTED);
    return p;
}

static const struct dag *split(struct by_hand *p, uint32_t parts) {
    by_hand_open(p, 1000000);
    dag_edit_split(&p->fixture.edit, by_hand_index(p->fixture.dag, 1), parts);
    return by_hand_simulate(p, MODEL_CPU);
}

// What the parts' bodies last in all.
static int64_t bodies_ns(const struct dag *run) {
    int64_t sum_ns = 0;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->id != HAND_M && task->start != DAG_NONE)
            sum_ns += run->vertices.time_ns[task->end] - run->vertices.time_ns[task->start];
    }
    return sum_ns;
}

static void test_each_part_sleeps_as_long(void **state) {
    (void)state;
    struct by_hand p = play();
    assert_in_range(bodies_ns(split(&p, 4)), COMPUTED + 4 * REST, COMPUTED + 4 * REST + 4);
    simulate_fixture_close(&p.fixture);
}

// Of eight tasks one slept: what was luck comes once, whichever part it comes to.
static void test_what_few_of_a_site_slept_comes_once(void **state) {
    (void)state;
    struct by_hand p = play();
    for (uint64_t i = 0; i < 7; i++) {
        const uint64_t spawned_ns = 2000 + 1000 * i;
        by_hand_spawn(&p, HAND_MAIN, spawned_ns, spawned_ns + BRACKET, 2 + i);
        tb_event(p.tb, HAND_FIRST, spawned_ns + 200, EVENT_TASK_START, 2 + i, 10 + COMPUTED + 500 * i);
        tb_event(p.tb, HAND_FIRST, spawned_ns + 700, EVENT_TASK_END, 2 + i, 10 + COMPUTED + 500 * (i + 1));
    }
    const struct dag *run = split(&p, 4);
    assert_in_range(bodies_ns(run), COMPUTED + REST + 7 * 500, COMPUTED + REST + 7 * 500 + 8);
    simulate_fixture_close(&p.fixture);
}

// The stop comes once, and holds up the two parts that compute meanwhile.
static void test_a_stop_of_the_jvm_is_no_sleep(void **state) {
    (void)state;
    struct by_hand p = play();
    tb_event(p.tb, 0, STARTED + 300, EVENT_GC_BEGIN);
    tb_event(p.tb, 0, STARTED + 300 + REST, EVENT_GC_END);
    assert_in_range(bodies_ns(split(&p, 4)), COMPUTED, COMPUTED + 2 * REST + 4);
    simulate_fixture_close(&p.fixture);
}

static int64_t bracket_ns(const struct dag *run, uint32_t task) {
    return run->vertices.time_ns[run->tasks[task].spawn_end] - run->vertices.time_ns[run->tasks[task].spawn_begin];
}

static void tell_of_compilers(struct by_hand *p) {
    for (uint64_t i = 0; i < 4; i++) {
        tb_event(p->tb, 0, i * 1000, EVENT_SAMPLE, 1000 + 500 * i, 1000 + 500 * i, 0);
        tb_event(p->tb, 0, i * 1000 + 1, EVENT_COMPILING, 100 * i, 0);
    }
}

static void test_hand_overs_that_are_many_get_cheaper(void **state) {
    (void)state;
    enum { PARTS = 1000 };
    struct by_hand p = play();
    tell_of_compilers(&p);
    const struct dag *run = split(&p, PARTS);
    const double part = cold_code_added(1, 0, PARTS);
    assert_true(part < 0.7);
    assert_in_range(bracket_ns(run, run->task_count - 1), (int64_t)(part * BRACKET) - 1, (int64_t)(part * BRACKET) + 2);
    simulate_fixture_close(&p.fixture);
}

static void test_without_compilers_they_cost_the_mean(void **state) {
    (void)state;
    struct by_hand p = play();
    const struct dag *run = split(&p, 1000);
    assert_int_equal(bracket_ns(run, run->task_count - 1), BRACKET);
    simulate_fixture_close(&p.fixture);
}

// A hundred tasks while code is compiled, which take three times as long as a hundred behind them.
enum { EACH = 100, COLD_NS = 3000000, WARM_NS = 1000000, COMPILED_NS = EACH * COLD_NS };

static struct by_hand play_cold_then_warm(void) {
    struct by_hand p = by_hand_begin(NULL, 1);
    uint64_t at_ns = 1000000, cpu_ns = 10;
    tb_cores(p.tb, 4);
    tb_thread(p.tb, 0, "JVM", THREAD_SYSTEM);
    for (uint64_t i = 0; i < 2 * EACH; i++) by_hand_spawn(&p, HAND_MAIN, 1000 * i + 100, 1000 * i + 101, 1 + i);
    tb_event(p.tb, HAND_FIRST, at_ns - 10, EVENT_WORKER_BEGIN, p.pool);
    for (uint64_t i = 0; i < 2 * EACH; i++) {
        tb_event(p.tb, HAND_FIRST, at_ns, EVENT_TASK_START, 1 + i, cpu_ns);
        at_ns += i < EACH ? COLD_NS : WARM_NS;
        cpu_ns += i < EACH ? COLD_NS : WARM_NS;
        tb_event(p.tb, HAND_FIRST, at_ns, EVENT_TASK_END, 1 + i, cpu_ns);
        at_ns += 10;
    }
    for (uint64_t t = 0; t <= 420; t += 10) {
        const uint64_t ns = t * 1000000, compiled_ns = ns < COMPILED_NS ? ns : COMPILED_NS;
        tb_event(p.tb, 0, ns, EVENT_SAMPLE, ns + compiled_ns, ns + compiled_ns, 0);
        tb_event(p.tb, 0, ns + 1, EVENT_COMPILING, compiled_ns, 0);
    }
    return p;
}

// Parts of what ran cold take so long in all, and parts of what ran warm.
static void test_parts_do_the_work_of_their_task(void **state) {
    (void)state;
    struct by_hand p = play_cold_then_warm();
    by_hand_open(&p, 450000000);
    for (uint64_t i = 0; i < 2 * EACH; i++) dag_edit_split(&p.fixture.edit, by_hand_index(p.fixture.dag, 1 + i), 2);
    const struct dag *run = by_hand_simulate(&p, MODEL_CPU);
    int64_t ends_ns[2] = {0, 0}; // of the cold ones, and of all
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->id == HAND_M || task->start == DAG_NONE) continue;
        const bool cold = run->vertices.time_ns[task->spawn_begin] < 1000 * EACH + 50;
        const int64_t end_ns = run->vertices.time_ns[task->end];
        for (int i = cold ? 0 : 1; i < 2; i++) ends_ns[i] = end_ns > ends_ns[i] ? end_ns : ends_ns[i];
    }
    assert_in_range(ends_ns[0], 0.95 * COMPILED_NS, 1.05 * COMPILED_NS);
    assert_in_range(ends_ns[1] - ends_ns[0], 0.9 * EACH * WARM_NS, 1.1 * EACH * WARM_NS);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_sleeps_as_long),
        cmocka_unit_test(test_what_few_of_a_site_slept_comes_once),
        cmocka_unit_test(test_a_stop_of_the_jvm_is_no_sleep),
        cmocka_unit_test(test_hand_overs_that_are_many_get_cheaper),
        cmocka_unit_test(test_without_compilers_they_cost_the_mean),
        cmocka_unit_test(test_parts_do_the_work_of_their_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
