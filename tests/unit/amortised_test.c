// SPDX-License-Identifier: GPL-3.0-or-later
// What merging saves beside brackets and pick-ups: runs by hand. Main spawns four tasks, with so many ns from bracket
// to bracket, and at 900 takes their results, with so many from one to the next. One worker runs them, each for 100 ns,
// of which the last 5 come behind its result. Handing over a queued task costs 10 ns on either side, unless the last
// one is told to cost its spawner more.
#include "by_hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { TASKS = 4, BODY = 100, ENDING = 5, FIRST_BRACKET = 20, FIRST_PICKUP = 30, COST = 10, TAKES = 900, LAST = 1300 };

static struct by_hand play_with(uint64_t making_ns, uint64_t asking_ns, uint64_t last_bracket_ns) {
    struct by_hand p = by_hand_begin(NULL, 1);
    uint64_t spawn_ns = 100, start_ns = 100 + FIRST_PICKUP;
    for (uint64_t task = 1; task <= TASKS; task++) {
        uint64_t bracket_ns = task == 1 ? FIRST_BRACKET : task == TASKS ? last_bracket_ns : COST;
        by_hand_spawn(&p, HAND_MAIN, spawn_ns, spawn_ns + bracket_ns, task);
        if (task == 1) tb_event(p.tb, HAND_FIRST, spawn_ns + 5, EVENT_WORKER_BEGIN, p.pool);
        by_hand_start(&p, HAND_FIRST, start_ns, task);
        tb_event(p.tb, HAND_FIRST, start_ns + BODY - ENDING, EVENT_RESULT, task);
        by_hand_end(&p, HAND_FIRST, start_ns + BODY, task);
        spawn_ns += bracket_ns + making_ns;
        start_ns += BODY + COST;
    }
    for (uint64_t i = 0; i < TASKS; i++) tb_event(p.tb, HAND_MAIN, TAKES + i * asking_ns, EVENT_TAKEN, i + 1);
    by_hand_open(&p, LAST);
    return p;
}

static struct by_hand play(uint64_t making_ns, uint64_t asking_ns) {
    return play_with(making_ns, asking_ns, COST);
}

static const struct dag *merge(struct by_hand *p, uint32_t factor) {
    uint32_t tasks[TASKS];
    for (uint32_t i = 0; i < TASKS; i++) tasks[i] = by_hand_index(p->fixture.dag, i + 1);
    dag_edit_merge(&p->fixture.edit, p->fixture.dag, tasks, TASKS, factor);
    return by_hand_simulate(p, MODEL_POOL);
}

static int64_t time_of(const struct dag *run, uint32_t vertex) {
    assert_int_not_equal(vertex, DAG_NONE);
    return run->vertices.time_ns[vertex];
}

static int64_t main_ends_ns(const struct dag *run) {
    return time_of(run, run->tasks[by_hand_index(run, HAND_M)].end);
}

// All of a short loop: the group is spawned where its first member was, asked for once, and ends behind its last.
static void test_short_loops_go_with_the_tasks(void **state) {
    (void)state;
    struct by_hand p = play(8, 10);
    const struct dag *run = merge(&p, TASKS);
    const struct dag_task *group = &run->tasks[by_hand_index(run, TASKS)];
    assert_int_equal(time_of(run, group->spawn_begin), 100);
    assert_int_equal(time_of(run, group->start), 130);
    assert_int_equal(time_of(run, group->end), 130 + TASKS * BODY - (TASKS - 1) * ENDING);
    // main: the bracket of one that a worker is made for; from the last bracket to 900; from there to the end
    assert_int_equal(main_ends_ns(run), 120 + (TAKES - 174) + (LAST - TAKES - 30));
    simulate_fixture_close(&p.fixture);
}

// Of 50 ns from bracket to bracket, 20 were making, and of 40 from result to result, 20 asking.
static void test_work_on_each_item_stays(void **state) {
    (void)state;
    struct by_hand p = play(50, 40);
    const struct dag *run = merge(&p, TASKS);
    int64_t last_bracket_ns = 100 + FIRST_BRACKET + 3 * 50 + 3 * COST;
    assert_int_equal(time_of(run, run->tasks[by_hand_index(run, TASKS)].spawn_begin), 100 + 3 * 30);
    assert_int_equal(main_ends_ns(run),
                     100 + 3 * 30 + FIRST_BRACKET + (TAKES - last_bracket_ns) + 3 * 20 + (LAST - TAKES - 3 * 40));
    simulate_fixture_close(&p.fixture);
}

// Queued brackets of 10, 10 and 60 ns, on the mean 27, and pick-ups of 10: so two members cost 37 at most, and the last
// one 70. Of 3 times 60 ns from bracket to bracket these 144 go.
static void test_making_is_as_slow_as_handing_over(void **state) {
    (void)state;
    struct by_hand p = play_with(60, 10, 60);
    const struct dag *run = merge(&p, TASKS);
    assert_int_equal(time_of(run, run->tasks[by_hand_index(run, TASKS)].spawn_begin), 100 + 3 * 60 - 144);
    simulate_fixture_close(&p.fixture);
}

// Between two groups all stays.
static void test_each_group_is_made_and_asked_for(void **state) {
    (void)state;
    struct by_hand p = play(8, 10);
    const struct dag *run = merge(&p, 2);
    assert_int_equal(time_of(run, run->tasks[by_hand_index(run, 2)].spawn_begin), 100);
    assert_int_equal(time_of(run, run->tasks[by_hand_index(run, 4)].spawn_begin), 120 + 8);
    assert_int_equal(main_ends_ns(run), 120 + 8 + COST + (TAKES - 174) + 10 + (LAST - TAKES - 30));
    simulate_fixture_close(&p.fixture);
}

// The worker sleeps, and needs 100 to come for task 2, while task 3 is spawned 80 behind that. Merged they call it
// where task 3 is spawned, 15 of whose making go, and it needs 100 again, not the 20 that were left by then.
static void test_a_group_wakes_as_its_first_member_did(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 120, 1);
    tb_event(p.tb, HAND_FIRST, 110, EVENT_WORKER_BEGIN, p.pool);
    by_hand_task(&p, HAND_FIRST, 130, 200, 1);
    tb_event(p.tb, HAND_FIRST, 210, EVENT_IDLE, p.pool);
    by_hand_spawn(&p, HAND_MAIN, 1000, 1010, 2);
    by_hand_spawn(&p, HAND_MAIN, 1080, 1090, 3);
    tb_event(p.tb, HAND_FIRST, 1096, EVENT_BUSY, p.pool);
    by_hand_task(&p, HAND_FIRST, 1100, 1200, 2);
    by_hand_task(&p, HAND_FIRST, 1205, 1300, 3);
    by_hand_open(&p, 2000);
    const uint32_t tasks[] = {by_hand_index(p.fixture.dag, 2), by_hand_index(p.fixture.dag, 3)};
    dag_edit_merge(&p.fixture.edit, p.fixture.dag, tasks, 2, 2);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    const struct dag_task *group = &run->tasks[by_hand_index(run, 3)];
    assert_int_equal(time_of(run, group->spawn_begin), 1080 - COST - 15);
    assert_int_equal(time_of(run, group->start), 1080 - COST - 15 + 100);
    assert_int_equal(time_of(run, group->pickup + 1), 1080 - COST - 15 + 96);
    simulate_fixture_close(&p.fixture);
}

// Main waits for task 1, which stays as it is, and at once for it knows not what: neither is a member after the other.
static void test_a_wait_for_nobody_known_asks_for_no_member(void **state) {
    (void)state;
    struct by_hand p = by_hand_begin(NULL, 1);
    by_hand_spawn(&p, HAND_MAIN, 100, 120, 1);
    tb_event(p.tb, HAND_FIRST, 110, EVENT_WORKER_BEGIN, p.pool);
    by_hand_task(&p, HAND_FIRST, 130, 230, 1);
    tb_event(p.tb, HAND_MAIN, 150, EVENT_WAIT_BEGIN, 1, 0, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, HAND_MAIN, 240, EVENT_WAIT_END, 1, 0);
    tb_event(p.tb, HAND_MAIN, 250, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, p.site));
    tb_event(p.tb, HAND_MAIN, 300, EVENT_WAIT_END, 0, 0);
    by_hand_spawn(&p, HAND_MAIN, 310, 320, 2);
    by_hand_spawn(&p, HAND_MAIN, 325, 335, 3);
    by_hand_task(&p, HAND_FIRST, 330, 430, 2);
    by_hand_task(&p, HAND_FIRST, 440, 540, 3);
    tb_event(p.tb, HAND_MAIN, TAKES, EVENT_TAKEN, 2);
    tb_event(p.tb, HAND_MAIN, TAKES + 10, EVENT_TAKEN, 3);
    by_hand_open(&p, LAST);
    const uint32_t tasks[] = {by_hand_index(p.fixture.dag, 2), by_hand_index(p.fixture.dag, 3)};
    dag_edit_merge(&p.fixture.edit, p.fixture.dag, tasks, 2, 2);
    const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
    assert_int_equal(time_of(run, run->tasks[by_hand_index(run, 3)].spawn_begin), 310);
    assert_int_equal(main_ends_ns(run), LAST - COST - 5 - 10);
    simulate_fixture_close(&p.fixture);
}

static void test_without_an_edit_all_stays(void **state) {
    (void)state;
    struct by_hand p = play(8, 10);
    assert_int_equal(main_ends_ns(by_hand_simulate(&p, MODEL_POOL)), LAST);
    dag_edit_clear(&p.fixture.edit, p.fixture.dag);
    merge(&p, TASKS);
    dag_edit_clear(&p.fixture.edit, p.fixture.dag);
    assert_int_equal(main_ends_ns(by_hand_simulate(&p, MODEL_POOL)), LAST);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_loops_go_with_the_tasks),
        cmocka_unit_test(test_work_on_each_item_stays),
        cmocka_unit_test(test_making_is_as_slow_as_handing_over),
        cmocka_unit_test(test_each_group_is_made_and_asked_for),
        cmocka_unit_test(test_a_group_wakes_as_its_first_member_did),
        cmocka_unit_test(test_a_wait_for_nobody_known_asks_for_no_member),
        cmocka_unit_test(test_without_an_edit_all_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
