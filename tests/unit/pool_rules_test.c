// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of pools that random programs do not have, in the simulation: runs by hand. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/simulate/stuck.h"
#include "simulate_fixture.h"

enum { MAIN = 1, FIRST, SECOND }; // threads
enum { M = 100 };                 // main's task

static const struct model by_pools = {.kind = MODEL_POOL};

struct rules {
    struct simulate_fixture fixture;
    struct trace_builder *tb;
    uint32_t pool, site;
};

static struct rules begin(struct trace_pool pool) {
    struct rules r = {.tb = tb_new()};
    pool.kind = "java.util.concurrent.ThreadPoolExecutor";
    r.pool = tb_pool_like(r.tb, pool);
    r.site = tb_site(r.tb, "Main", "run", 12);
    tb_thread(r.tb, MAIN, "main", 0);
    tb_thread(r.tb, FIRST, "pool-1-thread-1", 0);
    tb_thread(r.tb, SECOND, "pool-1-thread-2", 0);
    tb_event(r.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    return r;
}

static void spawn(struct rules *r, uint64_t begin_ns, uint64_t task) {
    tb_event(r->tb, MAIN, begin_ns, EVENT_SPAWN_BEGIN, task, r->site, r->pool);
    tb_event(r->tb, MAIN, begin_ns + 20, EVENT_SPAWN_END, task);
}

static void run(struct rules *r, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint64_t task) {
    tb_event(r->tb, thread, start_ns, EVENT_TASK_START, task);
    tb_event(r->tb, thread, end_ns, EVENT_TASK_END, task);
}

static const struct dag_task *simulated(struct rules *r, uint64_t id) {
    const struct dag *dag = simulation_dag(r->fixture.simulation);
    uint32_t t = 0;
    while (t < dag->task_count && dag->tasks[t].id != id) t++;
    assert_true(t < dag->task_count);
    return &dag->tasks[t];
}

// A queue of one place. With two workers tasks 1 and 2 run at once and 3 queues; with one, 2 queues, and 3 takes its
// place.
static void test_the_oldest_is_discarded(void **state) {
    (void)state;
    struct rules r =
        begin((struct trace_pool){.queue = "java.util.concurrent.ArrayBlockingQueue",
                                  .core = 2,
                                  .maximum = 2,
                                  .capacity = 1,
                                  .keep_alive_ns = 0,
                                  .rejection = "java.util.concurrent.ThreadPoolExecutor$DiscardOldestPolicy"});
    for (uint64_t i = 0; i < 3; i++) spawn(&r, 100 + 50 * i, 1 + i);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 1000, 1);
    run(&r, FIRST, 1010, 1200, 3);
    tb_event(r.tb, SECOND, 155, EVENT_WORKER_BEGIN, r.pool);
    run(&r, SECOND, 160, 1100, 2);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    assert_int_equal(simulated(&r, 2)->dispatch, DISPATCH_NEW);
    dag_edit_resize(&r.fixture.edit, r.pool, 1);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    assert_int_equal(simulated(&r, 1)->dispatch, DISPATCH_NEW);
    assert_int_equal(simulated(&r, 2)->start, DAG_NONE);
    assert_int_equal(simulated(&r, 2)->dispatch, DISPATCH_NONE);
    assert_true(simulated(&r, 2)->flags & TASK_REJECTED);
    assert_int_equal(simulated(&r, 3)->dispatch, DISPATCH_QUEUED);
    assert_true(simulated(&r, 3)->start != DAG_NONE);
    simulate_fixture_close(&r.fixture);
}

// A queue of one place, two workers that sleep, and two tasks that come so closely that the first worker does not tell
// yet that it took the first one. The second had room then, for it was not rejected.
static void test_who_is_on_his_way_may_have_made_room(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.ArrayBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = 1,
                                               .rejection = "java.util.concurrent.ThreadPoolExecutor$AbortPolicy"});
    for (uint64_t i = 0; i < 2; i++) spawn(&r, 100 + 50 * i, 1 + i);
    for (uint64_t i = 0; i < 2; i++) spawn(&r, 1000 + 30 * i, 3 + i);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 1095, EVENT_BUSY, r.pool);
    run(&r, FIRST, 1100, 1500, 3);
    tb_event(r.tb, SECOND, 155, EVENT_WORKER_BEGIN, r.pool);
    run(&r, SECOND, 160, 300, 2);
    tb_event(r.tb, SECOND, 310, EVENT_IDLE, r.pool);
    tb_event(r.tb, SECOND, 1125, EVENT_BUSY, r.pool);
    run(&r, SECOND, 1130, 1500, 4);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    assert_int_equal(simulated(&r, 4)->dispatch, DISPATCH_WOKEN);
    assert_true(simulated(&r, 4)->start != DAG_NONE);
    simulate_fixture_close(&r.fixture);
}

// One worker, that of the core, idle from 210; the next task comes at 2000.
static enum dispatch dispatch_after_idling(uint32_t flags, int64_t keep_alive_ns) {
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = -1,
                                               .keep_alive_ns = keep_alive_ns,
                                               .flags = flags});
    spawn(&r, 100, 1);
    spawn(&r, 2000, 2);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 2010, EVENT_BUSY, r.pool);
    run(&r, FIRST, 2020, 2100, 2);
    tb_event(r.tb, MAIN, 3000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    enum dispatch dispatch = simulated(&r, 2)->dispatch;
    simulate_fixture_close(&r.fixture);
    return dispatch;
}

// The end of the worker's task was lost. That it was not under way for ever shows its leaving, which main awaits.
static void test_who_lost_an_end_comes_free(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){
        .queue = "java.util.concurrent.LinkedBlockingQueue", .core = 1, .maximum = 1, .capacity = -1});
    spawn(&r, 100, 1);
    tb_event(r.tb, MAIN, 300, EVENT_POOL_SHUTDOWN, r.pool);
    tb_event(r.tb, MAIN, 350, EVENT_WAIT_BEGIN, r.pool, 0, tb_wait(WAIT_FOR_POOL, r.site));
    tb_event(r.tb, MAIN, 1700, EVENT_WAIT_END, r.pool, 0);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    tb_event(r.tb, FIRST, 110, EVENT_TASK_START, 1);
    tb_event(r.tb, FIRST, 1300, EVENT_LOST, 3);
    tb_event(r.tb, FIRST, 1500, EVENT_RETIRE, r.pool);
    tb_event(r.tb, FIRST, 1600, EVENT_THREAD_END, 0);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    assert_true(simulated(&r, 1)->flags & TASK_UNFINISHED);
    simulate_fixture_close(&r.fixture);
}

static void test_core_workers_time_out_where_allowed(void **state) {
    (void)state;
    assert_int_equal(dispatch_after_idling(0, 500), DISPATCH_WOKEN);
    assert_int_equal(dispatch_after_idling(POOL_CORE_TIMES_OUT, 500), DISPATCH_NEW);
    assert_int_equal(dispatch_after_idling(POOL_CORE_TIMES_OUT, 5000), DISPATCH_WOKEN);
}

// Two workers sleep, the second since shortly after `second_ns`. The first one is woken and does three tasks, and the
// second one nothing, though two of them lay in the queue meanwhile; it is woken for the next.
static void check_who_sleeps_on(uint64_t second_ns) {
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = -1,
                                               .keep_alive_ns = 0});
    static const uint64_t spawns[] = {100, 150, 1000, 1030, 1060, 3000};
    static const int64_t starts[] = {110, 160, 1050, 1510, 1910, 3050};
    for (uint64_t i = 0; i < 6; i++) spawn(&r, spawns[i], 1 + i);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 1040, EVENT_BUSY, r.pool);
    for (uint64_t i = 2; i < 5; i++) run(&r, FIRST, (uint64_t)starts[i], (uint64_t)starts[i] + 350, 1 + i);
    tb_event(r.tb, FIRST, 2310, EVENT_IDLE, r.pool);
    tb_event(r.tb, SECOND, 155, EVENT_WORKER_BEGIN, r.pool);
    run(&r, SECOND, 160, second_ns, 2);
    tb_event(r.tb, SECOND, second_ns + 10, EVENT_IDLE, r.pool);
    tb_event(r.tb, SECOND, 3040, EVENT_BUSY, r.pool);
    run(&r, SECOND, 3050, 3100, 6);
    tb_event(r.tb, SECOND, 3110, EVENT_IDLE, r.pool);
    tb_event(r.tb, MAIN, 4000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *dag = simulation_dag(r.fixture.simulation);
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(dag->vertices.time_ns[simulated(&r, 1 + i)->start], starts[i]);
    }
    simulate_fixture_close(&r.fixture);
}

static void test_who_did_not_come_was_asleep(void **state) {
    (void)state;
    check_who_sleeps_on(250);
    check_who_sleeps_on(970); // for less than waking takes
}

// Task 1 sleeps until task 2 ends that. With one worker 2 never runs: what others could have ended is no starvation.
static void check_who_signals(const char *class, bool loose, const char *expected) {
    char text[300];
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = -1,
                                               .keep_alive_ns = -1});
    const uint32_t latch = tb_class(r.tb, class);
    spawn(&r, 100, 1);
    spawn(&r, 200, 2);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    tb_event(r.tb, FIRST, 110, EVENT_TASK_START, 1);
    tb_event(r.tb, FIRST, 150, EVENT_WAIT_BEGIN, 77, 0, wait_operand(WAIT_FOR_RELEASE, latch, r.site));
    tb_event(r.tb, FIRST, 320, EVENT_WAIT_END, 77);
    tb_event(r.tb, FIRST, 330, EVENT_TASK_END, 1);
    tb_event(r.tb, SECOND, 205, EVENT_WORKER_BEGIN, r.pool);
    tb_event(r.tb, SECOND, 210, EVENT_TASK_START, 2);
    tb_event(r.tb, SECOND, 310, EVENT_RESULT, 77);
    tb_event(r.tb, SECOND, 400, EVENT_TASK_END, 2);
    tb_event(r.tb, MAIN, 500, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    dag_edit_resize(&r.fixture.edit, r.pool, 1);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_DEADLOCK);
    const struct stuck *stuck = simulation_stuck(r.fixture.simulation);
    assert_int_equal(stuck_is_loose(stuck), loose);
    assert_int_equal(stuck->pool, r.pool);
    assert_string_equal(stuck_text(r.fixture.dag, stuck, text, sizeof text), expected);
    simulate_fixture_close(&r.fixture);
}

static void test_what_others_could_end_is_told_apart(void **state) {
    (void)state;
    check_who_signals("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", true,
                      "Main.run:12 waits for a signal that came from another task of Main.run:12\n"
                      "    no worker of its pool is left to run Main.run:12");
    check_who_signals("java.util.concurrent.CountDownLatch$Sync", false,
                      "Main.run:12 waits for another task of Main.run:12\n"
                      "    no worker of its pool is left to run Main.run:12");
}

// A later file of a recording: task 1 is under way, 2 lies in the queue.
static void test_what_was_there_is_dispatched_again(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = -1,
                                               .keep_alive_ns = INT64_MAX,
                                               .flags = POOL_CORE_TIMES_OUT});
    tb_running(r.tb, M);
    tb_running(r.tb, 1);
    tb_event(r.tb, FIRST, 0, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 1, 100, 1);
    run(&r, FIRST, 110, 200, 2);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, MAIN, 500, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(r.fixture.dag->pools[r.pool].discipline, DISCIPLINE_FIFO);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *dag = simulation_dag(r.fixture.simulation);
    assert_int_equal(dag->vertices.time_ns[simulated(&r, 1)->start], 1);
    assert_int_equal(dag->vertices.time_ns[simulated(&r, 2)->start], 110);
    assert_int_equal(dag->vertices.time_ns[simulated(&r, 2)->end], 200);
    assert_int_equal(run_wall_ns(dag), 500); // nobody leaves who may idle for ever
    simulate_fixture_close(&r.fixture);
}

// An agent that comes later does not see that a thread is a pool's, such as Tomcat's, and in a task: it hands over 2
// and turns out to be a worker. Its run, 9, stands for that task, and the rules of the pool are known.
static void test_a_worker_that_was_at_work_had_a_task(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = -1,
                                               .keep_alive_ns = INT64_MAX});
    tb_running(r.tb, M);
    tb_running(r.tb, 9);
    tb_event(r.tb, FIRST, 0, EVENT_THREAD_START, 9);
    tb_event(r.tb, FIRST, 50, EVENT_SPAWN_BEGIN, 2, r.site, r.pool);
    tb_event(r.tb, FIRST, 60, EVENT_SPAWN_END, 2);
    tb_event(r.tb, FIRST, 100, EVENT_WORKER_BEGIN, r.pool);
    tb_event(r.tb, FIRST, 101, EVENT_IDLE, r.pool);
    run(&r, FIRST, 120, 200, 2);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, MAIN, 500, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    const struct dag *dag = r.fixture.dag;
    assert_int_equal(dag->pools[r.pool].discipline, DISCIPLINE_FIFO);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    dag = simulation_dag(r.fixture.simulation);
    assert_true(simulated(&r, 9)->flags & TASK_BEGUN_BEFORE);
    assert_int_equal(simulated(&r, 9)->pool, r.pool);
    assert_int_equal(dag->vertices.time_ns[simulated(&r, 9)->start], 0);
    assert_int_equal(dag->vertices.time_ns[simulated(&r, 9)->end], 100);
    const int64_t next_ns = dag->vertices.time_ns[simulated(&r, 2)->start];
    assert_true(next_ns > 100 && next_ns <= 120);
    simulate_fixture_close(&r.fixture);
}

// Who retires waits for the pool's lock before its thread ends.
static void test_a_worker_may_block_as_it_leaves(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = -1,
                                               .keep_alive_ns = 0});
    spawn(&r, 100, 1);
    tb_event(r.tb, MAIN, 300, EVENT_POOL_SHUTDOWN, r.pool);
    tb_event(r.tb, MAIN, 400, EVENT_THREAD_END, M);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 310, EVENT_RETIRE, r.pool);
    tb_event(r.tb, FIRST, 320, EVENT_BLOCK_BEGIN, 900, 0, 0);
    tb_event(r.tb, FIRST, 380, EVENT_BLOCK_END, 900);
    tb_event(r.tb, FIRST, 500, EVENT_THREAD_END, 0);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *dag = simulation_dag(r.fixture.simulation);
    assert_int_equal(dag->vertex_count, r.fixture.dag->vertex_count);
    assert_int_equal(run_wall_ns(dag), 500);
    simulate_fixture_close(&r.fixture);
}

// Who is woken by the shutdown waits for the pool's lock before it leaves.
static void test_a_worker_may_block_before_it_leaves(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = -1,
                                               .keep_alive_ns = 0});
    spawn(&r, 100, 1);
    tb_event(r.tb, MAIN, 300, EVENT_POOL_SHUTDOWN, r.pool);
    tb_event(r.tb, MAIN, 400, EVENT_THREAD_END, M);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 450, EVENT_BLOCK_BEGIN, 900, 0, 0);
    tb_event(r.tb, FIRST, 480, EVENT_BLOCK_END, 900);
    tb_event(r.tb, FIRST, 490, EVENT_RETIRE, r.pool);
    tb_event(r.tb, FIRST, 500, EVENT_THREAD_END, 0);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *recorded = r.fixture.dag, *dag = simulation_dag(r.fixture.simulation);
    assert_int_equal(dag->vertex_count, recorded->vertex_count);
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        assert_int_equal(dag->vertices.time_ns[v], recorded->vertices.time_ns[dag->source[v]]);
    }
    simulate_fixture_close(&r.fixture);
}

static int64_t retired_ns(const struct dag *dag) {
    uint32_t v = 0;
    while (v < dag->vertex_count && dag->vertices.kind[v] != VERTEX_RETIRE) v++;
    assert_true(v < dag->vertex_count);
    return dag->vertices.time_ns[v];
}

// FIRST slept at the shutdown, which woke it, and so left 90 after that; SECOND was busy, and left 5 after its task.
// Alone, FIRST is busy with both.
static void test_only_who_slept_wakes_up_to_leave(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = -1,
                                               .keep_alive_ns = 0});
    spawn(&r, 100, 1);
    spawn(&r, 150, 2);
    tb_event(r.tb, MAIN, 300, EVENT_POOL_SHUTDOWN, r.pool);
    tb_event(r.tb, MAIN, 400, EVENT_THREAD_END, M);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 200, 1);
    tb_event(r.tb, FIRST, 210, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 390, EVENT_RETIRE, r.pool);
    tb_event(r.tb, SECOND, 155, EVENT_WORKER_BEGIN, r.pool);
    run(&r, SECOND, 160, 1000, 2);
    tb_event(r.tb, SECOND, 1010, EVENT_IDLE, r.pool);
    tb_event(r.tb, SECOND, 1015, EVENT_RETIRE, r.pool);
    simulate_fixture_open(&r.fixture, r.tb);
    dag_edit_resize(&r.fixture.edit, r.pool, 1);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *dag = simulation_dag(r.fixture.simulation);
    int64_t end_ns = dag->vertices.time_ns[simulated(&r, 2)->end];
    assert_true(end_ns > 1000);
    assert_int_equal(retired_ns(dag), end_ns + 10 + 5); // 10 until it falls asleep, as recorded
    simulate_fixture_close(&r.fixture);
}

// SECOND sleeps since 310. FIRST is busy until 1000, and takes the task that called SECOND at 900 before that is awake,
// which so takes the one that came at 950.
static void test_who_comes_free_first_takes_the_task(void **state) {
    (void)state;
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 2,
                                               .maximum = 2,
                                               .capacity = -1,
                                               .keep_alive_ns = -1});
    spawn(&r, 100, 1);
    spawn(&r, 150, 2);
    spawn(&r, 900, 3);
    spawn(&r, 950, 4);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 110, 1000, 1);
    run(&r, FIRST, 1005, 1205, 3);
    tb_event(r.tb, SECOND, 155, EVENT_WORKER_BEGIN, r.pool);
    run(&r, SECOND, 160, 300, 2);
    tb_event(r.tb, SECOND, 310, EVENT_IDLE, r.pool);
    tb_event(r.tb, SECOND, 1090, EVENT_BUSY, r.pool);
    run(&r, SECOND, 1100, 1300, 4);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    const struct dag *recorded = r.fixture.dag, *dag = simulation_dag(r.fixture.simulation);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    assert_int_equal(simulated(&r, 3)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(simulated(&r, 4)->dispatch, DISPATCH_WOKEN);
    for (uint32_t v = 0; v < dag->vertex_count; v++) { // in the end both fall asleep, which the recording doesn't tell
        if (dag->source[v] != DAG_NONE)
            assert_int_equal(dag->vertices.time_ns[v], recorded->vertices.time_ns[dag->source[v]]);
    }
    simulate_fixture_close(&r.fixture);
}

// One worker, busy until 500. Main's bracket for task 2 lasts from 100 to 400, and what another thread spawns at 200
// comes into the queue before it.
static void test_of_overlapping_spawns_the_start_tells_the_order(void **state) {
    (void)state;
    enum { OTHER = SECOND + 1 };
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = -1,
                                               .keep_alive_ns = -1});
    tb_thread(r.tb, OTHER, "other", 0);
    tb_event(r.tb, OTHER, 150, EVENT_THREAD_START, M + 1);
    tb_event(r.tb, OTHER, 200, EVENT_SPAWN_BEGIN, 3, r.site, r.pool);
    tb_event(r.tb, OTHER, 220, EVENT_SPAWN_END, 3);
    tb_event(r.tb, OTHER, 1900, EVENT_THREAD_END, M + 1);
    spawn(&r, 50, 1);
    tb_event(r.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 2, r.site, r.pool);
    tb_event(r.tb, MAIN, 400, EVENT_SPAWN_END, 2);
    spawn(&r, 450, 4);
    tb_event(r.tb, FIRST, 55, EVENT_WORKER_BEGIN, r.pool);
    run(&r, FIRST, 60, 500, 1);
    run(&r, FIRST, 505, 605, 3);
    run(&r, FIRST, 610, 910, 2);
    run(&r, FIRST, 915, 1000, 4);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *recorded = r.fixture.dag, *dag = simulation_dag(r.fixture.simulation);
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (dag->source[v] != DAG_NONE)
            assert_int_equal(dag->vertices.time_ns[v], recorded->vertices.time_ns[dag->source[v]]);
    }
    simulate_fixture_close(&r.fixture);
}

// Two tasks that an executor without workers hands on to a pool's worker, which is idle when the second comes.
static struct rules hand_on(uint64_t taken_after_ns) {
    struct rules r = begin((struct trace_pool){.queue = "java.util.concurrent.LinkedBlockingQueue",
                                               .core = 1,
                                               .maximum = 1,
                                               .capacity = INT64_MAX,
                                               .keep_alive_ns = 0});
    uint32_t pool = r.pool;
    r.pool = tb_pool_like(r.tb, (struct trace_pool){.kind = "Executors$FinalizableDelegatedExecutorService",
                                                    .core = -1,
                                                    .maximum = -1,
                                                    .capacity = -1,
                                                    .keep_alive_ns = -1});
    spawn(&r, 100, 1);
    spawn(&r, 1300, 2);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, pool);
    run(&r, FIRST, 110, 1000, 1);
    tb_event(r.tb, FIRST, 1100, EVENT_IDLE, pool);
    tb_event(r.tb, FIRST, 1300 + taken_after_ns, EVENT_BUSY, pool);
    run(&r, FIRST, 1310 + taken_after_ns, 2310 + taken_after_ns, 2);
    tb_event(r.tb, MAIN, 5000 + taken_after_ns, EVENT_THREAD_END, M);
    r.pool = pool;
    simulate_fixture_open(&r.fixture, r.tb);
    return r;
}

static void test_what_is_handed_on_is_the_pools(void **state) {
    (void)state;
    struct rules r = hand_on(100);
    const struct dag *dag = r.fixture.dag;
    assert_int_equal(dag->pools[r.pool].discipline, DISCIPLINE_FIFO);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].id <= 2) assert_int_equal(dag->tasks[t].pool, r.pool);
    }
    simulate_fixture_close(&r.fixture);
}

// It may have kept them back, and then the pool's rules don't tell when they run.
static void test_what_comes_late_may_have_been_kept_back(void **state) {
    (void)state;
    struct rules r = hand_on(6000000);
    assert_int_equal(r.fixture.dag->pools[r.pool].discipline, DISCIPLINE_UNKNOWN);
    simulate_fixture_close(&r.fixture);
}

// As the pool's last worker does in terminated(): main waits for that, and the worker that does it has had no task.
static void test_who_has_left_may_bring_a_result(void **state) {
    (void)state;
    enum { GONE = 77 };
    struct rules r = begin((struct trace_pool){
        .queue = "java.util.concurrent.LinkedBlockingQueue", .core = 1, .maximum = 1, .capacity = -1});
    tb_event(r.tb, MAIN, 300, EVENT_POOL_SHUTDOWN, r.pool);
    tb_event(r.tb, MAIN, 350, EVENT_WAIT_BEGIN, GONE, 0, tb_wait(WAIT_FOR_TASK, r.site));
    tb_event(r.tb, MAIN, 1700, EVENT_WAIT_END, GONE, 0);
    tb_event(r.tb, MAIN, 2000, EVENT_THREAD_END, M);
    tb_event(r.tb, FIRST, 105, EVENT_WORKER_BEGIN, r.pool);
    tb_event(r.tb, FIRST, 110, EVENT_IDLE, r.pool);
    tb_event(r.tb, FIRST, 1500, EVENT_RETIRE, r.pool);
    tb_event(r.tb, FIRST, 1550, EVENT_RESULT, GONE);
    tb_event(r.tb, FIRST, 1600, EVENT_THREAD_END, 0);
    simulate_fixture_open(&r.fixture, r.tb);
    assert_int_equal(r.fixture.dag->pools[r.pool].discipline, DISCIPLINE_FIFO);
    assert_int_equal(simulation_run(r.fixture.simulation, &r.fixture.edit, &by_pools), DAG_OK);
    const struct dag *run = simulation_dag(r.fixture.simulation);
    assert_int_equal(run->last_ns, 2000); // a worker that had no task is not made, but main waits as long
    simulate_fixture_close(&r.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_others_could_end_is_told_apart),
        cmocka_unit_test(test_who_has_left_may_bring_a_result),
        cmocka_unit_test(test_what_is_handed_on_is_the_pools),
        cmocka_unit_test(test_what_comes_late_may_have_been_kept_back),
        cmocka_unit_test(test_of_overlapping_spawns_the_start_tells_the_order),
        cmocka_unit_test(test_the_oldest_is_discarded),
        cmocka_unit_test(test_who_is_on_his_way_may_have_made_room),
        cmocka_unit_test(test_who_lost_an_end_comes_free),
        cmocka_unit_test(test_core_workers_time_out_where_allowed),
        cmocka_unit_test(test_who_did_not_come_was_asleep),
        cmocka_unit_test(test_what_was_there_is_dispatched_again),
        cmocka_unit_test(test_a_worker_that_was_at_work_had_a_task),
        cmocka_unit_test(test_a_worker_may_block_as_it_leaves),
        cmocka_unit_test(test_a_worker_may_block_before_it_leaves),
        cmocka_unit_test(test_only_who_slept_wakes_up_to_leave),
        cmocka_unit_test(test_who_comes_free_first_takes_the_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
