// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual threads on few carriers, by hand. All times are ns; what an event says was computed so far is in its last
// operand but for waits, where a place comes behind. There are more cores than threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"
#include "dag/simulate/stuck.h"
#include "metrics/resources.h"

#include <string.h>

enum { MS = 1000000, NEAR = 10 };
enum { FIRST = 10, SECOND, CARRIER, THIRD }; // threads
enum { A = 1, B, REMOTE, C };                // tasks: run() of the first, of the second, one on a worker, of the third

static struct by_hand begin(int32_t carriers) {
    struct by_hand p = by_hand_new(NULL, 1);
    tb_pool_like(p.tb, (struct trace_pool){.kind = "java.lang.VirtualThread",
                                           .name = "carriers",
                                           .core = carriers,
                                           .maximum = 256,
                                           .capacity = -1,
                                           .keep_alive_ns = -1});
    tb_cores(p.tb, 4);
    tb_thread(p.tb, FIRST, "", THREAD_VIRTUAL);
    tb_thread(p.tb, SECOND, "", THREAD_VIRTUAL);
    tb_event(p.tb, HAND_MAIN, 0, EVENT_MAIN_BEGIN, HAND_M, 1);
    return p;
}

static void spawn_thread(struct by_hand *p, uint64_t time_ns, uint64_t task) {
    tb_event(p->tb, HAND_MAIN, time_ns, EVENT_SPAWN_BEGIN, task, p->site, 0);
    tb_event(p->tb, HAND_MAIN, time_ns + 10, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
}

// It was ready for so long before.
static void begin_thread(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task, uint64_t ready_ns) {
    tb_event(p->tb, thread, time_ns, EVENT_THREAD_START, task, 1);
    if (ready_ns) tb_event(p->tb, thread, time_ns + 1, EVENT_READY, ready_ns + 1);
    tb_event(p->tb, thread, time_ns + 2, EVENT_MOUNT, CARRIER, 1);
}

static void end_thread(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task, uint64_t computed_ns) {
    tb_event(p->tb, thread, time_ns - 1, EVENT_UNMOUNT, CARRIER, computed_ns);
    tb_event(p->tb, thread, time_ns, EVENT_THREAD_END, task, computed_ns);
}

static void open_until(struct by_hand *p, uint64_t end_ns) {
    tb_event(p->tb, HAND_MAIN, end_ns - 1, EVENT_RUN_DELAY, 0); // the kernel accounts for it
    tb_event(p->tb, HAND_MAIN, end_ns, EVENT_THREAD_END, HAND_M, 1000);
    simulate_fixture_open(&p->fixture, p->tb);
}

static uint32_t start_of(const struct dag *dag, uint64_t task) {
    return dag->tasks[by_hand_index(dag, task)].start;
}

static uint32_t end_of(const struct dag *dag, uint64_t task) {
    return dag->tasks[by_hand_index(dag, task)].end;
}

static void assert_near(int64_t is_ns, int64_t wanted_ns) {
    assert_in_range(is_ns - wanted_ns + NEAR, 0, 2 * NEAR);
}

static void assert_begins(struct by_hand *p, uint64_t task, int64_t wanted_ns) {
    const struct dag *run = by_hand_simulate(p, MODEL_CPU);
    assert_near(run->vertices.time_ns[start_of(run, task)], wanted_ns);
}

static void resize(struct by_hand *p, int64_t carriers) {
    dag_edit_resize_resource(&p->fixture.edit, p->fixture.dag->carriers - 1, carriers);
}

// Each computes for 1 ms, and then sleeps for 39. The first begins at 1.1 and ends at 41.1; the second is ready at 2.1.
// `pinned`: they are mounted all the time; or not while they sleep.
static struct by_hand two_sleepers(bool pinned) {
    struct by_hand p = begin(1);
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    begin_thread(&p, FIRST, 1100000, A, 0);
    begin_thread(&p, SECOND, 41200000, B, 39100000);
    if (!pinned) {
        tb_event(p.tb, FIRST, 2100000, EVENT_UNMOUNT, CARRIER, 1 * MS + 1);
        tb_event(p.tb, FIRST, 41098999, EVENT_READY, 1);
        tb_event(p.tb, FIRST, 41099000, EVENT_MOUNT, CARRIER, 1 * MS + 1);
        tb_event(p.tb, SECOND, 42200000, EVENT_UNMOUNT, CARRIER, 1 * MS + 1);
        tb_event(p.tb, SECOND, 81198999, EVENT_READY, 1);
        tb_event(p.tb, SECOND, 81199000, EVENT_MOUNT, CARRIER, 1 * MS + 1);
    }
    end_thread(&p, FIRST, 41100000, A, 1 * MS + 1);
    end_thread(&p, SECOND, 81200000, B, 1 * MS + 1);
    open_until(&p, 90 * MS);
    return p;
}

static void test_carriers_are_a_resource(void **state) {
    (void)state;
    struct by_hand p = two_sleepers(true);
    const struct dag *dag = p.fixture.dag;
    assert_int_equal(dag->carriers, dag->resource_count);
    assert_string_equal(dag->resources[dag->carriers - 1].name, "carriers");
    assert_int_equal(dag->resources[dag->carriers - 1].capacity, 1);
    assert_true(dag_pinned_ns(dag, end_of(dag, A), 39 * MS) == 39 * MS);
    assert_int_equal(dag->vertices.queued_ns[start_of(dag, A)], 0);
    assert_int_equal(dag->vertices.queued_ns[start_of(dag, B)], 39100000);
    assert_near(dag->vertices.queued_ns[end_of(dag, B)], 0);
    assert_near(p.fixture.costs->pickup_ns[by_hand_index(dag, B)], 100000); // from 2.0 to 2.1
    simulate_fixture_close(&p.fixture);
}

static void test_a_pinned_thread_keeps_its_carrier(void **state) {
    (void)state;
    struct by_hand p = two_sleepers(true);
    assert_begins(&p, A, 1100000);
    assert_begins(&p, B, 41100000); // as the first ends
    resize(&p, 2);
    assert_begins(&p, B, 2100000);
    simulate_fixture_close(&p.fixture);
}

static void test_a_sleeper_gives_it_back(void **state) {
    (void)state;
    struct by_hand p = two_sleepers(false);
    assert_int_equal(dag_pinned_ns(p.fixture.dag, end_of(p.fixture.dag, A), 39 * MS), 0);
    assert_begins(&p, B, 2100000); // as the first falls asleep
    simulate_fixture_close(&p.fixture);
}

// The first waits for a task of a worker, from 2.1 to 41.1, and computes for 1 ms before and after.
static struct by_hand waiter_and_other(void) {
    struct by_hand p = begin(1);
    by_hand_spawn(&p, HAND_MAIN, 500000, 500010, REMOTE);
    tb_event(p.tb, HAND_FIRST, 599990, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, HAND_FIRST, 600000, EVENT_TASK_START, REMOTE, 1);
    tb_event(p.tb, HAND_FIRST, 41 * MS, EVENT_TASK_END, REMOTE, 1000);
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    begin_thread(&p, FIRST, 1100000, A, 0);
    tb_event(p.tb, FIRST, 2100000, EVENT_WAIT_BEGIN, REMOTE, 1 * MS + 1, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, FIRST, 41100000, EVENT_WAIT_END, REMOTE, 1 * MS + 1001);
    end_thread(&p, FIRST, 42100000, A, 2 * MS + 1001);
    begin_thread(&p, SECOND, 42200000, B, 40100000);
    end_thread(&p, SECOND, 43200000, B, 1 * MS + 1);
    open_until(&p, 90 * MS);
    return p;
}

static void test_a_pinned_waiter_keeps_it_until_the_wait_is_over(void **state) {
    (void)state;
    struct by_hand p = waiter_and_other();
    assert_begins(&p, B, 42100000); // as the first ends
    resize(&p, 2);
    assert_begins(&p, B, 2100000);
    simulate_fixture_close(&p.fixture);
}

// Beside computing the first takes 0.1 ms that nothing accounts for, and asks for a lock at 2.1, for which it waits for
// 0.02: it is mounted all the while. So the second begins when it ends, at 12.2.
static void test_a_mounted_thread_keeps_it(void **state) {
    (void)state;
    struct by_hand p = begin(1);
    const uint64_t lock = 900;
    tb_resource(p.tb, lock, RESOURCE_LOCK, 1, 0);
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    tb_event(p.tb, HAND_MAIN, 2 * MS + 20, EVENT_HELD, lock, want_operand(1, false, 0));
    tb_event(p.tb, HAND_MAIN, 2115000, EVENT_RELEASED, lock, want_operand(1, false, 0));
    begin_thread(&p, FIRST, 1100000, A, 0);
    tb_event(p.tb, FIRST, 2100000, EVENT_ACQUIRE_BEGIN, lock, 900001, want_operand(1, false, 0));
    tb_event(p.tb, FIRST, 2120000, EVENT_ACQUIRED, lock, 902001);
    tb_event(p.tb, FIRST, 2200000, EVENT_RELEASED, lock, want_operand(1, false, 0));
    end_thread(&p, FIRST, 12200000, A, 10 * MS + 1);
    begin_thread(&p, SECOND, 12300000, B, 10200000);
    end_thread(&p, SECOND, 13300000, B, 1 * MS + 1);
    open_until(&p, 90 * MS);
    assert_begins(&p, B, 12200000);
    simulate_fixture_close(&p.fixture);
}

// The first is pinned while it waits for the second, which has a carrier as long as there are two.
static void test_pinned_waiters_may_leave_no_carrier(void **state) {
    (void)state;
    struct by_hand p = begin(2);
    const struct model model = {.kind = MODEL_CPU};
    char text[500];
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    begin_thread(&p, FIRST, 1100000, A, 0);
    tb_event(p.tb, FIRST, 2100000, EVENT_WAIT_BEGIN, B, 1 * MS + 1, tb_wait(WAIT_FOR_TASK, p.site));
    tb_event(p.tb, FIRST, 12200000, EVENT_WAIT_END, B, 1 * MS + 1001);
    end_thread(&p, FIRST, 13200000, A, 2 * MS + 1001);
    begin_thread(&p, SECOND, 2100000, B, 0);
    end_thread(&p, SECOND, 12100000, B, 10 * MS - 10);
    open_until(&p, 20 * MS);
    assert_begins(&p, B, 2100000);
    resize(&p, 1);
    assert_int_equal(simulation_run(p.fixture.simulation, &p.fixture.edit, &model), DAG_DEADLOCK);
    stuck_text(p.fixture.dag, simulation_stuck(p.fixture.simulation), text, sizeof text);
    assert_non_null(strstr(text, "\n    no carrier is left to run "));
    simulate_fixture_close(&p.fixture);
}

// The second waits for a permit that the first gives back at 5.2. It is woken, and ready for the only carrier, when the
// first takes the permit again at 5.9, which it gives back at 6.0: the second stays in the carriers' line all the
// while.
static void test_what_is_ready_is_not_called_off(void **state) {
    (void)state;
    struct by_hand p = begin(1);
    const uint64_t permit = 900, one = want_operand(1, false, 0);
    tb_resource(p.tb, permit, RESOURCE_PERMITS, 1, 0);
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    tb_thread(p.tb, THIRD, "", THREAD_VIRTUAL);
    spawn_thread(&p, 5400000, C);
    begin_thread(&p, FIRST, 1100000, A, 0);
    tb_event(p.tb, FIRST, 1200000, EVENT_HELD, permit, one);
    tb_event(p.tb, FIRST, 2100000, EVENT_UNMOUNT, CARRIER, 1 * MS + 1);
    tb_event(p.tb, FIRST, 5098999, EVENT_READY, 1);
    tb_event(p.tb, FIRST, 5099000, EVENT_MOUNT, CARRIER, 1 * MS + 1);
    tb_event(p.tb, FIRST, 5200000, EVENT_RELEASED, permit, one);
    tb_event(p.tb, FIRST, 5900000, EVENT_HELD, permit, one);
    tb_event(p.tb, FIRST, 6000000, EVENT_RELEASED, permit, one);
    end_thread(&p, FIRST, 6100000, A, 2 * MS + 1);
    begin_thread(&p, SECOND, 2200000, B, 0);
    tb_event(p.tb, SECOND, 2300000, EVENT_ACQUIRE_BEGIN, permit, 100001, one);
    tb_event(p.tb, SECOND, 2300010, EVENT_UNMOUNT, CARRIER, 100001);
    tb_event(p.tb, SECOND, 6199000, EVENT_READY, 900000);
    tb_event(p.tb, SECOND, 6199100, EVENT_MOUNT, CARRIER, 100001);
    tb_event(p.tb, SECOND, 6200000, EVENT_ACQUIRED, permit, 100101);
    tb_event(p.tb, SECOND, 6300000, EVENT_RELEASED, permit, one);
    end_thread(&p, SECOND, 7200000, B, 1100101);
    begin_thread(&p, THIRD, 7300000, C, 1800000);
    end_thread(&p, THIRD, 7800000, C, 500001);
    open_until(&p, 20 * MS);
    const struct dag *run = by_hand_simulate(&p, MODEL_CPU);
    assert_near(run->vertices.time_ns[end_of(run, A)], 6100000);
    assert_in_range(run->vertices.time_ns[end_of(run, B)], 7000000, 7300000);
    assert_in_range(run->vertices.time_ns[end_of(run, C)], 7500000, 7900000);
    simulate_fixture_close(&p.fixture);
}

// One carrier, and both are pinned from 2.1 to 40: the JVM has made another.
static void test_where_carriers_are_made_up_for_none_is_kept(void **state) {
    (void)state;
    struct by_hand p = begin(1);
    spawn_thread(&p, 1 * MS, A);
    spawn_thread(&p, 2 * MS, B);
    begin_thread(&p, FIRST, 1100000, A, 0);
    end_thread(&p, FIRST, 41100000, A, 1 * MS + 1);
    begin_thread(&p, SECOND, 2100000, B, 0);
    end_thread(&p, SECOND, 42100000, B, 1 * MS + 1);
    open_until(&p, 90 * MS);
    assert_int_equal(dag_pinned_ns(p.fixture.dag, end_of(p.fixture.dag, A), 39 * MS), 0);
    assert_begins(&p, B, 2100000);
    simulate_fixture_close(&p.fixture);
}

static struct resource_use use_of_carriers(const struct dag *dag, struct arena *arena) {
    struct resource_use *uses;
    size_t count;
    struct error error = ERROR_INIT;
    assert_true(metrics_resources(dag, dag->vertices.time_ns, NULL, arena, &uses, &count, &error));
    assert_int_equal(count, 1);
    assert_string_equal(uses[0].name, "carriers");
    return uses[0];
}

static void test_carriers_are_waited_for_and_held(void **state) {
    (void)state;
    struct by_hand p = two_sleepers(true);
    struct arena arena = ARENA_INIT;
    const struct resource_use use = use_of_carriers(p.fixture.dag, &arena);
    assert_int_equal(use.waits, 1);
    assert_int_equal(use.wait_ns, 39100000);
    assert_near((int64_t)use.held_ns, 80 * MS);
    resize(&p, 2);
    const struct resource_use now = use_of_carriers(by_hand_simulate(&p, MODEL_CPU), &arena);
    assert_int_equal(now.capacity, 2);
    assert_int_equal(now.waits, 0);
    assert_near((int64_t)now.held_ns, 80 * MS);
    arena_destroy(&arena);
    simulate_fixture_close(&p.fixture);
}

static void test_what_was_waited_is_told_once_by_an_estimate(void **state) {
    (void)state;
    struct by_hand p = two_sleepers(true);
    struct simulate_fixture again;
    simulate_fixture_open_trace(&again, written_run(by_hand_simulate(&p, MODEL_CPU)));
    assert_near(again.dag->vertices.queued_ns[start_of(again.dag, B)], 39 * MS); // from 2.1 to 41.1
    assert_near(again.dag->vertices.queued_ns[end_of(again.dag, B)], 0);
    simulate_fixture_close(&again);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carriers_are_a_resource),
        cmocka_unit_test(test_a_pinned_thread_keeps_its_carrier),
        cmocka_unit_test(test_a_sleeper_gives_it_back),
        cmocka_unit_test(test_a_pinned_waiter_keeps_it_until_the_wait_is_over),
        cmocka_unit_test(test_a_mounted_thread_keeps_it),
        cmocka_unit_test(test_pinned_waiters_may_leave_no_carrier),
        cmocka_unit_test(test_what_is_ready_is_not_called_off),
        cmocka_unit_test(test_where_carriers_are_made_up_for_none_is_kept),
        cmocka_unit_test(test_carriers_are_waited_for_and_held),
        cmocka_unit_test(test_what_was_waited_is_told_once_by_an_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
