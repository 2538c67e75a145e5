// SPDX-License-Identifier: GPL-3.0-or-later
// What the DAG knows beside its edges: pools' rules, how tasks came to run, what was computed, what hand-overs cost.
// Numbers are worked out by hand in the comments. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "by_hand.h"

enum { MAIN = HAND_MAIN, WORKER = HAND_FIRST, OTHER = HAND_SECOND }; // threads
enum { M = HAND_M, RUN_WORKER = 50, RUN_OTHER };                     // main's task, threads' run()

static uint32_t index_of(const struct by_hand *f, uint64_t id) {
    uint32_t t = 0;
    while (t < f->fixture.dag->task_count && f->fixture.dag->tasks[t].id != id) t++;
    assert_true(t < f->fixture.dag->task_count);
    return t;
}

static const struct dag_task *task(const struct by_hand *f, uint64_t id) {
    return &f->fixture.dag->tasks[index_of(f, id)];
}

static int64_t time_at(const struct by_hand *f, uint32_t vertex) {
    assert_true(vertex < f->fixture.dag->vertex_count);
    return f->fixture.dag->vertices.time_ns[vertex];
}

static void spawn(struct by_hand *f, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t id) {
    tb_event(f->tb, thread, begin_ns, EVENT_SPAWN_BEGIN, id, f->site, f->pool);
    tb_event(f->tb, thread, end_ns, EVENT_SPAWN_END, id);
}

static void run(struct by_hand *f, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint64_t id) {
    tb_event(f->tb, thread, start_ns, EVENT_TASK_START, id);
    tb_event(f->tb, thread, end_ns, EVENT_TASK_END, id);
}

// main: spawn 100..160 of task 1, whose worker is made at 110..130; spawns 200..210 of 2, 220..230 of 3, 240..250 of 4.
static void add_spawns(struct by_hand *f) {
    tb_event(f->tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f->tb, MAIN, 100, EVENT_SPAWN_BEGIN, 1, f->site, f->pool);
    tb_event(f->tb, MAIN, 110, EVENT_SPAWN_BEGIN, RUN_WORKER, 0, 0);
    tb_event(f->tb, MAIN, 130, EVENT_SPAWN_END, RUN_WORKER);
    tb_event(f->tb, MAIN, 160, EVENT_SPAWN_END, 1);
    spawn(f, MAIN, 200, 210, 2);
    spawn(f, MAIN, 220, 230, 3);
    spawn(f, MAIN, 240, 250, 4);
}

static void start_worker(struct by_hand *f, uint64_t time_ns) {
    tb_event(f->tb, WORKER, time_ns, EVENT_THREAD_START, RUN_WORKER);
    tb_event(f->tb, WORKER, time_ns + 1, EVENT_WORKER_BEGIN, f->pool);
}

// Task 1 runs 150..215, and its result is there at 218. Task 2 was spawned at 200: it queued. The worker asks at 280,
// when task 3 was there already; it sleeps from 310, and task 5, spawned at 400, wakes it.
static void test_dispatches_and_tails(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    spawn(&f, MAIN, 400, 410, 5);
    start_worker(&f, 140);
    run(&f, WORKER, 150, 215, 1);
    tb_event(f.tb, WORKER, 218, EVENT_RESULT, 1);
    run(&f, WORKER, 260, 270, 2);
    tb_event(f.tb, WORKER, 272, EVENT_RESULT, 2);
    tb_event(f.tb, WORKER, 275, EVENT_SPAWN_BEGIN, 6, f.site, f.pool); // a stage that task 2 sets off
    tb_event(f.tb, WORKER, 278, EVENT_SPAWN_END, 6);
    tb_event(f.tb, WORKER, 280, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 282, EVENT_BUSY, f.pool);
    run(&f, WORKER, 285, 290, 3);
    run(&f, WORKER, 295, 300, 4);
    tb_event(f.tb, WORKER, 310, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 430, EVENT_BUSY, f.pool);
    run(&f, WORKER, 440, 450, 5);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(task(&f, M)->dispatch, DISPATCH_NONE);
    assert_int_equal(task(&f, 1)->dispatch, DISPATCH_NEW);
    assert_int_equal(task(&f, 2)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(task(&f, 3)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(task(&f, 4)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(task(&f, 5)->dispatch, DISPATCH_WOKEN);
    assert_int_equal(task(&f, 6)->dispatch, DISPATCH_NONE);
    assert_int_equal(time_at(&f, task(&f, 1)->tail), 218);
    assert_int_equal(time_at(&f, task(&f, 2)->tail), 278);
    assert_int_equal(task(&f, 3)->tail, task(&f, 3)->end);
    assert_int_equal(task(&f, 6)->tail, DAG_NONE);
    assert_int_equal(dag_free_ns(f.fixture.dag, task(&f, 1)), INT64_MIN);
    assert_int_equal(dag_free_ns(f.fixture.dag, task(&f, 3)), 278);
    assert_int_equal(dag_free_ns(f.fixture.dag, task(&f, 5)), 300);
    assert_int_equal(f.fixture.dag->pools[f.pool].discipline, DISCIPLINE_FIFO);
    simulate_fixture_close(&f.fixture);
}

// Task 1 runs in the bracket of its spawn; task 2 runs while main waits for it; task 3 has a thread of its own.
static void test_dispatches_without_a_worker(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 1, f.site, f.pool);
    run(&f, MAIN, 20, 30, 1);
    tb_event(f.tb, MAIN, 35, EVENT_RESULT, 1);
    tb_event(f.tb, MAIN, 40, EVENT_SPAWN_END, 1);
    spawn(&f, MAIN, 50, 60, 2);
    tb_event(f.tb, MAIN, 70, EVENT_WAIT_BEGIN, 2, 0, tb_wait(WAIT_FOR_TASK, f.site));
    run(&f, MAIN, 80, 90, 2);
    tb_event(f.tb, MAIN, 100, EVENT_WAIT_END, 2);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_BEGIN, 3, f.site, 0);
    tb_event(f.tb, MAIN, 120, EVENT_SPAWN_END, 3);
    tb_event(f.tb, OTHER, 130, EVENT_THREAD_START, 3);
    tb_event(f.tb, OTHER, 140, EVENT_THREAD_END, 3);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(task(&f, 1)->dispatch, DISPATCH_CALLER);
    assert_int_equal(time_at(&f, task(&f, 1)->tail), 35);
    assert_true(f.fixture.dag->pools[f.pool].caller_runs);
    assert_int_equal(task(&f, 2)->dispatch, DISPATCH_HELPED);
    assert_int_equal(task(&f, 2)->tail, task(&f, 2)->end);
    assert_int_equal(task(&f, 3)->dispatch, DISPATCH_THREAD);
    simulate_fixture_close(&f.fixture);
}

static void test_pools_by_their_queues(void **state) {
    (void)state;
    static const struct {
        struct trace_pool pool;
        struct dag_pool expected;
    } cases[] = {
        {{"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ArrayBlockingQueue", NULL, 2, 4, 10, -1,
          NULL, 0},
         {DISCIPLINE_FIFO, 2, 4, 10, false, false, false, -1, false, false, false, false, false, false, 0, 0}},
        {{"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.SynchronousQueue", NULL, 0, INT32_MAX, 0, -1,
          NULL, 0},
         {DISCIPLINE_HAND_OFF, 0, INT32_MAX, 0, false, false, true, -1, false, false, false, false, false, false, 0,
          0}},
        {{"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.PriorityBlockingQueue", NULL, 1, 1, -1, -1,
          NULL, 0},
         {DISCIPLINE_PRIORITY, 1, 1, INT64_MAX, false, false, false, -1, false, false, false, false, false, false, 0,
          0}},
        {{"com.acme.Pool", "com.acme.LifoQueue", NULL, 1, 1, -1, -1, NULL, 0},
         {DISCIPLINE_LIFO, 1, 1, INT64_MAX, false, false, false, -1, false, false, false, false, false, false, 0, 0}},
        {{"java.util.concurrent.ScheduledThreadPoolExecutor",
          "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", NULL, 1, INT32_MAX, -1, -1, NULL, 0},
         {DISCIPLINE_UNKNOWN, 1, INT32_MAX, INT64_MAX, false, false, false, -1, false, false, false, false, false,
          false, 0, 0}},
        {{"java.util.concurrent.ForkJoinPool", "java.util.concurrent.ForkJoinPool$WorkQueue", NULL, 3, 3, -1, -1, NULL,
          0},
         {DISCIPLINE_STEALING, 3, INT32_MAX, INT64_MAX, false, false, true, -1, false, false, true, false, false, false,
          0, 0}},
        {{"java.util.concurrent.ForkJoinPool", "java.util.concurrent.ForkJoinPool$WorkQueue async", NULL, 3, 3, -1, -1,
          NULL, 0},
         {DISCIPLINE_FIFO, 3, INT32_MAX, INT64_MAX, false, false, true, -1, false, false, true, false, false, false, 0,
          0}},
        {{"com.acme.Executor", NULL, NULL, -1, -1, -1, -1, NULL, 0},
         {DISCIPLINE_UNKNOWN, 0, 0, INT64_MAX, false, false, false, -1, false, false, false, false, false, false, 0,
          0}},
        {{"org.apache.tomcat.util.threads.ThreadPoolExecutor", "org.apache.tomcat.util.threads.TaskQueue", NULL, 2, 8,
          -1, -1, NULL, POOL_GROWS_FIRST},
         {DISCIPLINE_FIFO, 2, 8, INT64_MAX, false, false, false, -1, false, false, false, true, false, false, 0, 0}},
        {{"org.eclipse.jetty.util.thread.QueuedThreadPool", "org.eclipse.jetty.util.BlockingArrayQueue", NULL, 2, 8, -1,
          -1, NULL, POOL_GROWS_FIRST | POOL_WAKES_FIRST},
         {DISCIPLINE_FIFO, 2, 8, INT64_MAX, false, false, false, -1, false, false, true, true, false, false, 0, 0}},
        {{"com.acme.Stage", "java.util.concurrent.ArrayBlockingQueue", NULL, -1, -1, 10, 1000, NULL, POOL_STAGE},
         {DISCIPLINE_FIFO, 0, 0, INT64_MAX, false, false, false, -1, false, false, false, false, true, false, 0, 0}},
        {{"reactor.Executor", "java.util.concurrent.DelayQueue", "calls", 3, 3, -1, -1, NULL,
          POOL_EVENT_LOOPS | POOL_DEALT},
         {DISCIPLINE_LOOPS, 3, 3, INT64_MAX, false, false, false, -1, false, false, false, false, false, true, 0, 0}},
    };
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t pools[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) pools[i] = tb_pool_like(f.tb, cases[i].pool);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    simulate_fixture_open(&f.fixture, f.tb);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dag_pool *pool = &f.fixture.dag->pools[pools[i]], *expected = &cases[i].expected;
        assert_int_equal(pool->discipline, expected->discipline);
        assert_int_equal(pool->core, expected->core);
        assert_int_equal(pool->maximum, expected->maximum);
        assert_int_equal(pool->capacity, expected->capacity);
        assert_int_equal(pool->lifo_wakeups, expected->lifo_wakeups);
        assert_int_equal(pool->keep_alive_ns, expected->keep_alive_ns);
        assert_int_equal(pool->core_times_out, expected->core_times_out);
        assert_int_equal(pool->wakes_first, expected->wakes_first);
        assert_int_equal(pool->grows_first, expected->grows_first);
    }
    simulate_fixture_close(&f.fixture);
}

// Tasks 2, 3, 4, 5 queue while 1 runs, and are taken as 5, 4, 3, 2: three pairs, all newest first.
static void test_newest_first_is_seen(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    spawn(&f, MAIN, 260, 270, 5);
    start_worker(&f, 140);
    run(&f, WORKER, 150, 300, 1);
    for (uint64_t i = 0; i < 4; i++) run(&f, WORKER, 310 + 10 * i, 315 + 10 * i, 5 - i);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->pools[f.pool].discipline, DISCIPLINE_LIFO);
    simulate_fixture_close(&f.fixture);
}

// Idle from 300, gone at 900: 600. At the other worker's retirement the pool had been shut down, which says nothing.
static void test_keep_alive_is_seen(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    tb_event(f.tb, MAIN, 1000, EVENT_POOL_SHUTDOWN, f.pool);
    start_worker(&f, 140);
    run(&f, WORKER, 150, 300, 1);
    tb_event(f.tb, WORKER, 310, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 910, EVENT_RETIRE, f.pool);
    tb_event(f.tb, OTHER, 500, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, OTHER, 960, EVENT_IDLE, f.pool);
    tb_event(f.tb, OTHER, 1010, EVENT_RETIRE, f.pool);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->pools[f.pool].keep_alive_ns, 600);
    simulate_fixture_close(&f.fixture);
}

// What the trace says of a pool comes before what was seen: the same retirement after 600.
static void test_rules_of_the_trace(void **state) {
    (void)state;
    static const struct {
        struct trace_pool pool;
        bool caller_runs, discards_oldest;
    } cases[] = {
        {{.rejection = "java.util.concurrent.ThreadPoolExecutor$CallerRunsPolicy", .keep_alive_ns = 500}, true, false},
        {{.rejection = "java.util.concurrent.ThreadPoolExecutor$DiscardOldestPolicy",
          .keep_alive_ns = 0,
          .flags = POOL_CORE_TIMES_OUT},
         false,
         true},
        {{.rejection = "java.util.concurrent.ThreadPoolExecutor$DiscardPolicy", .keep_alive_ns = 700}, false, false},
        {{.rejection = "java.util.concurrent.ThreadPoolExecutor$AbortPolicy", .keep_alive_ns = 60000}, false, false},
        {{.rejection = "com.acme.Handler", .keep_alive_ns = -1}, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct by_hand f = by_hand_new(NULL, 2);
        f.pool = tb_pool_like(f.tb, cases[i].pool);
        add_spawns(&f);
        start_worker(&f, 140);
        run(&f, WORKER, 150, 300, 1);
        tb_event(f.tb, WORKER, 310, EVENT_IDLE, f.pool);
        tb_event(f.tb, WORKER, 910, EVENT_RETIRE, f.pool);
        simulate_fixture_open(&f.fixture, f.tb);
        const struct dag_pool *pool = &f.fixture.dag->pools[f.pool];
        int64_t known_ns = cases[i].pool.keep_alive_ns;
        assert_int_equal(pool->caller_runs, cases[i].caller_runs);
        assert_int_equal(pool->discards_oldest, cases[i].discards_oldest);
        assert_int_equal(pool->core_times_out, cases[i].pool.flags == POOL_CORE_TIMES_OUT);
        assert_int_equal(pool->keep_alive_ns, known_ns >= 0 ? known_ns : 600);
        simulate_fixture_close(&f.fixture);
    }
}

// A worker that hands a task over before it has one of its own does so in nobody's name.
static void test_spawns_for_nobody_make_a_pool_unknown(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    start_worker(&f, 140);
    spawn(&f, WORKER, 145, 146, 9);
    run(&f, WORKER, 150, 300, 1);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->pools[f.pool].discipline, DISCIPLINE_UNKNOWN);
    simulate_fixture_close(&f.fixture);
}

// The worker of one pool runs a task of another: neither can be dispatched again.
static void test_mixed_workers_make_pools_unknown(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t other = tb_pool(f.tb, "pool-2", 1), third = tb_pool(f.tb, "pool-3", 1);
    add_spawns(&f);
    tb_event(f.tb, MAIN, 300, EVENT_SPAWN_BEGIN, 9, f.site, other);
    tb_event(f.tb, MAIN, 310, EVENT_SPAWN_END, 9);
    start_worker(&f, 140);
    run(&f, WORKER, 150, 290, 1);
    run(&f, WORKER, 320, 330, 9);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->pools[f.pool].discipline, DISCIPLINE_UNKNOWN);
    assert_int_equal(f.fixture.dag->pools[other].discipline, DISCIPLINE_UNKNOWN);
    assert_int_equal(f.fixture.dag->pools[third].discipline, DISCIPLINE_FIFO);
    simulate_fixture_close(&f.fixture);
}

// Computing so far is in the third operand; run_delay comes a ns before its boundary.
//   150 start  15 | 160 170 spawn | 190 waits    45, delay  4: 30 of 40 over 10, 10, 20: 10 each, and the delay in the
//   longest 240 woken  47, delay 24: asleep for 50, 2 computed, 20 without a core 260 end    67: 20 of 20 270 idle, 400
//   busy, 410 start 100, delay 39: 33, of which 10 and 10 while awake, so 13 asleep; the delay, too
// Task 1 computed 10 + 10 + 10 + 20 = (67 - 15) - (47 - 45).
static void test_computing_is_shared_out(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    tb_event(f.tb, WORKER, 140, EVENT_THREAD_START, RUN_WORKER, 10);
    tb_event(f.tb, WORKER, 141, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 150, EVENT_TASK_START, 1, 15);
    spawn(&f, WORKER, 160, 170, 9);
    tb_event(f.tb, WORKER, 189, EVENT_RUN_DELAY, 4);
    tb_event(f.tb, WORKER, 190, EVENT_WAIT_BEGIN, 9, 45, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, WORKER, 239, EVENT_RUN_DELAY, 24);
    tb_event(f.tb, WORKER, 240, EVENT_WAIT_END, 9, 47);
    tb_event(f.tb, WORKER, 260, EVENT_TASK_END, 1, 67);
    tb_event(f.tb, WORKER, 270, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 400, EVENT_BUSY, f.pool);
    tb_event(f.tb, WORKER, 409, EVENT_RUN_DELAY, 39);
    tb_event(f.tb, WORKER, 410, EVENT_TASK_START, 2, 100);
    tb_event(f.tb, WORKER, 420, EVENT_TASK_END, 2); // not measured: taken to compute
    simulate_fixture_open(&f.fixture, f.tb);
    static const int64_t compute_ns[] = {0, 5, 10, 10, 10, 2, 20, 10, 13, 10, 10};
    static const int64_t queued_ns[] = {0, 0, 0, 0, 4, 20, 0, 0, 15, 0, 0};
    uint32_t first = task(&f, 1)->start - 1;
    for (uint32_t i = 0; i < sizeof compute_ns / sizeof *compute_ns; i++) {
        assert_int_equal(f.fixture.dag->vertices.compute_ns[first + i], compute_ns[i]);
        assert_int_equal(f.fixture.dag->vertices.queued_ns[first + i], queued_ns[i]);
    }
    simulate_fixture_close(&f.fixture);
}

// 3 cycles a ns from 1000 to 21000; half of that from 30000 to 50000, where it slept or did not compute alone.
static void test_cycles_become_ns(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_cycle_unit(f.tb, "cycles");
    add_spawns(&f);
    start_worker(&f, 140);
    tb_event(f.tb, WORKER, 1000, EVENT_TASK_START, 1, 3000);
    tb_event(f.tb, WORKER, 21000, EVENT_TASK_END, 1, 63000);
    tb_event(f.tb, WORKER, 30000, EVENT_TASK_START, 2, 70000);
    tb_event(f.tb, WORKER, 50000, EVENT_TASK_END, 2, 100000);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->vertices.compute_ns[task(&f, 1)->end], 20000);
    assert_int_equal(f.fixture.dag->vertices.compute_ns[task(&f, 2)->start], 2333);
    assert_int_equal(f.fixture.dag->vertices.compute_ns[task(&f, 2)->end], 10000);
    assert_null(f.fixture.dag->vertices.queued_ns);
    simulate_fixture_close(&f.fixture);
}

// A task of a worker that is measured up to 200, where it had computed 60 in it; nothing encloses what the task
// computes from there on to 500, where recording ends: so much is left for that.
static void assert_left_for_its_end(struct by_hand *f, int64_t left_ns) {
    tb_event(f->tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 5);
    tb_event(f->tb, MAIN, 10, EVENT_THREAD_END, M, 5);
    tb_event(f->tb, WORKER, 140, EVENT_THREAD_START, RUN_WORKER, 10);
    tb_event(f->tb, WORKER, 141, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, WORKER, 200, EVENT_TASK_START, 1, 70);
    spawn(f, WORKER, 300, 400, 9);
    spawn(f, WORKER, 450, 500, 8);
    simulate_fixture_open(&f->fixture, f->tb);
    const struct dag *dag = f->fixture.dag;
    int64_t total_ns = 0;
    for (uint32_t v = task(f, 1)->start + 1; v <= task(f, 1)->end; v++) total_ns += dag->vertices.compute_ns[v];
    assert_int_equal(total_ns, left_ns);
    assert_int_equal(dag->vertices.compute_ns[task(f, 1)->start], 60);
    simulate_fixture_close(&f->fixture);
}

// The process computed 100 between its samples, of which 60 are measured.
static void test_what_is_assumed_is_no_more_than_the_process_computed(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, 0, 0, EVENT_SAMPLE, 1000, 1000, 0);
    tb_event(f.tb, 0, 600, EVENT_SAMPLE, 1100, 5000, 0);
    assert_left_for_its_end(&f, 40);
}

// Up to the sample at 300 the compilers had 100 of the process's 200, so that 40 are left for the 100 behind 200;
// behind 300 they had all, and what came behind 550 is too late.
static void test_what_is_assumed_is_what_was_left_between_samples(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, 0, 0, EVENT_SAMPLE, 1000, 1000, 0);
    tb_event(f.tb, 0, 1, EVENT_COMPILING, 5000, 0);
    tb_event(f.tb, 0, 300, EVENT_SAMPLE, 1200, 5000, 0);
    tb_event(f.tb, 0, 301, EVENT_COMPILING, 5100, 0);
    tb_event(f.tb, 0, 550, EVENT_SAMPLE, 1400, 9000, 0);
    tb_event(f.tb, 0, 551, EVENT_COMPILING, 5300, 0);
    tb_event(f.tb, 0, 600, EVENT_SAMPLE, 1900, 9500, 0);
    tb_event(f.tb, 0, 601, EVENT_COMPILING, 5300, 0);
    assert_left_for_its_end(&f, 40);
}

static void test_nothing_measured_is_unknown(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_null(f.fixture.dag->vertices.compute_ns);
    assert_null(f.fixture.dag->vertices.queued_ns);
    simulate_fixture_close(&f.fixture);
}

#define assert_cost(cost, count_expected, mean_expected)                                                               \
    do {                                                                                                               \
        assert_int_equal((cost).count, (count_expected));                                                              \
        assert_true((cost).mean_ns == (mean_expected));                                                                \
    } while (0)

static struct costs *measure(const struct by_hand *f) {
    struct error error = ERROR_INIT;
    struct costs *costs = costs_measure(f->fixture.dag, &error);
    must(costs != NULL, &error);
    return costs;
}

// Brackets: 60 of task 1, for which the worker is made; 10 of the others.
// Pick-ups: 1, new: 100 -> 150. 2, queued: its worker is free at 215, 260: 45. 3: 270 -> 285: 15.
// 5, woken: spawned at 400, start at 440, but 25 of that without a core: 15. Nothing was helped: nearest to queued.
static void test_costs_of_a_pool(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    spawn(&f, MAIN, 400, 410, 5);
    tb_event(f.tb, MAIN, 500, EVENT_SPAWN_BEGIN, 6, f.site, 0);
    tb_event(f.tb, MAIN, 504, EVENT_SPAWN_END, 6);
    start_worker(&f, 140);
    tb_event(f.tb, WORKER, 150, EVENT_TASK_START, 1, 10);
    tb_event(f.tb, WORKER, 215, EVENT_TASK_END, 1, 75);
    run(&f, WORKER, 260, 270, 2);
    tb_event(f.tb, WORKER, 280, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 282, EVENT_BUSY, f.pool);
    tb_event(f.tb, WORKER, 285, EVENT_TASK_START, 3, 140);
    tb_event(f.tb, WORKER, 290, EVENT_TASK_END, 3, 145);
    tb_event(f.tb, WORKER, 300, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 430, EVENT_BUSY, f.pool);
    tb_event(f.tb, WORKER, 439, EVENT_RUN_DELAY, 25);
    tb_event(f.tb, WORKER, 440, EVENT_TASK_START, 5, 165);
    tb_event(f.tb, WORKER, 450, EVENT_TASK_END, 5, 175);
    tb_event(f.tb, OTHER, 521, EVENT_THREAD_START, 6);
    tb_event(f.tb, OTHER, 530, EVENT_THREAD_END, 6);
    simulate_fixture_open(&f.fixture, f.tb);
    struct costs *costs = measure(&f);
    const struct pool_costs *pool = &costs->pools[f.pool], *none = &costs->pools[0];
    assert_int_equal(costs->bracket_ns[index_of(&f, 1)], 60);
    assert_int_equal(costs->pickup_ns[index_of(&f, 3)], 15);
    assert_int_equal(costs->pickup_ns[index_of(&f, 5)], 15);
    assert_cost(pool->bracket[DISPATCH_NEW], 1, 60);
    assert_cost(pool->bracket[DISPATCH_QUEUED], 2, 10);
    assert_cost(pool->bracket[DISPATCH_WOKEN], 1, 10);
    assert_cost(pool->pickup[DISPATCH_NEW], 1, 50);
    assert_cost(pool->pickup[DISPATCH_QUEUED], 2, 30);
    assert_cost(pool->pickup[DISPATCH_WOKEN], 1, 15);
    assert_cost(pool->pickup[DISPATCH_HELPED], 0, 30);
    assert_cost(none->bracket[DISPATCH_THREAD], 1, 4);
    assert_cost(none->pickup[DISPATCH_THREAD], 1, 21);
    assert_cost(none->pickup[DISPATCH_QUEUED], 0, 21);
    costs_free(costs);
    simulate_fixture_close(&f.fixture);
}

// The worker has slept for 1 us before each of the tasks 2 to 6, and needs 100 then, with brackets of 20; for 20 us
// before each of 7 to 11, and needs 1000, with brackets of 40. Before 12 it slept for 30 us, and of the 2000 that it
// needs it had no core for 2500, so for some of that before it slept; before 13 it slept for 200 us.
static void test_costs_by_sleep(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint64_t at_ns = 100;
    spawn(&f, MAIN, at_ns, at_ns + 60, 1);
    start_worker(&f, at_ns + 40);
    run(&f, WORKER, at_ns + 70, at_ns + 80, 1);
    for (uint64_t task = 2; task <= 13; task++) {
        bool longer = task >= 7;
        uint64_t free_ns = at_ns + 90;
        tb_event(f.tb, WORKER, free_ns, EVENT_IDLE, f.pool);
        at_ns = free_ns + (task == 13 ? 200000 : task == 12 ? 30000 : longer ? 20000 : 1000);
        uint64_t start_ns = at_ns + (task >= 12 ? 2000 : longer ? 1000 : 100);
        spawn(&f, MAIN, at_ns, at_ns + (longer ? 40 : 20), task);
        tb_event(f.tb, WORKER, start_ns - 3, EVENT_BUSY, f.pool);
        if (task == 12) tb_event(f.tb, WORKER, start_ns - 1, EVENT_RUN_DELAY, 2500);
        tb_event(f.tb, WORKER, start_ns, EVENT_TASK_START, task, 20 * task);
        tb_event(f.tb, WORKER, start_ns + 10, EVENT_TASK_END, task, 20 * task + 10);
        at_ns = start_ns;
    }
    simulate_fixture_open(&f.fixture, f.tb);
    struct costs *costs = measure(&f);
    const struct pool_costs *pool = &costs->pools[f.pool];
    assert_cost(pool->bracket[DISPATCH_WOKEN], 12, 32); // of five 20, and seven 40, one of each is cut
    assert_cost(pool->woken_bracket[0], 5, 20);
    assert_cost(pool->woken_bracket[1], 6, 40);
    assert_cost(pool->woken_pickup[0], 5, 100);
    assert_cost(pool->woken_pickup[1], 5, 1000);
    assert_int_equal(pool->pickup[DISPATCH_WOKEN].count, 11);
    assert_int_equal(pool->woken_pickup[2].count, 1);
    assert_true(pool->woken_pickup[2].mean_ns == pool->pickup[DISPATCH_WOKEN].mean_ns); // too few tell
    assert_int_equal(pool->awake_ns, 3);
    costs_free(costs);
    simulate_fixture_close(&f.fixture);
}

// Task 1 runs from 20 to 30 in its bracket 10..40: its pick-up is 10, and the bracket 30 - 10 - 10. Task 2 runs in the
// bracket 50..90 of task 3, for 15 of its 40.
static void test_costs_leave_bodies_out(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 1, f.site, f.pool);
    run(&f, MAIN, 20, 30, 1);
    tb_event(f.tb, MAIN, 40, EVENT_SPAWN_END, 1);
    spawn(&f, MAIN, 42, 44, 2);
    tb_event(f.tb, MAIN, 50, EVENT_SPAWN_BEGIN, 3, f.site, f.pool);
    run(&f, MAIN, 60, 75, 2);
    tb_event(f.tb, MAIN, 90, EVENT_SPAWN_END, 3);
    simulate_fixture_open(&f.fixture, f.tb);
    struct costs *costs = measure(&f);
    assert_int_equal(costs->bracket_ns[index_of(&f, 1)], 10);
    assert_int_equal(costs->pickup_ns[index_of(&f, 1)], 10);
    assert_int_equal(costs->bracket_ns[index_of(&f, 2)], 2);
    assert_int_equal(costs->bracket_ns[index_of(&f, 3)], 25);
    costs_free(costs);
    simulate_fixture_close(&f.fixture);
}

// Twenty waits that slept end 1, 2, ... 20 after their results, in any order, and one 50. Of 21 two are cut at each
// end: 1 and 2, 20 and 50. (3 + ... + 19) / 17 = 11.
static void test_means_are_trimmed(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    for (uint64_t i = 1; i <= 20; i++) {
        uint64_t at_ns = i * 1000, late_ns = (i * 7) % 20 + 1;
        tb_event(f.tb, MAIN, at_ns, EVENT_WAIT_BEGIN, i, 0, tb_wait(WAIT_FOR_TASK, f.site));
        tb_event(f.tb, WORKER, at_ns + 500, EVENT_RESULT, i);
        tb_event(f.tb, MAIN, at_ns + 500 + late_ns, EVENT_WAIT_END, i);
    }
    tb_event(f.tb, MAIN, 22000, EVENT_WAIT_BEGIN, 21, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, WORKER, 22100, EVENT_RESULT, 21);
    tb_event(f.tb, MAIN, 22150, EVENT_WAIT_END, 21);
    simulate_fixture_open(&f.fixture, f.tb);
    struct costs *costs = measure(&f);
    assert_cost(costs->wakeup, 21, 11);
    costs_free(costs);
    simulate_fixture_close(&f.fixture);
}

// The set of a task's functions by bits of their numbers.
static unsigned path_of(const struct by_hand *f, uint64_t id) {
    const struct dag_path *path = &f->fixture.dag->paths[task(f, id)->path];
    unsigned set = 0;
    for (uint32_t i = 0; i < path->length; i++) {
        assert_true(i == 0 || path->methods[i] > path->methods[i - 1]);
        set |= 1u << path->methods[i];
    }
    return set;
}

// main enters a, b, a; while it waits it runs task 1, which enters b, c; then it enters b and d. Task 2 enters c, b.
// What main entered before it began, and what a nested task enters: not a path's, and the outer task's.
static void test_paths(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    enum { A = 1, B, C, D };
    static const char *const names[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(tb_method(f.tb, "Main", names[i]), A + i);
    tb_event(f.tb, MAIN, 0, EVENT_ENTER, C);
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 11, EVENT_ENTER, A);
    tb_event(f.tb, MAIN, 12, EVENT_ENTER, B);
    tb_event(f.tb, MAIN, 13, EVENT_ENTER, A);
    spawn(&f, MAIN, 20, 21, 1);
    spawn(&f, MAIN, 22, 23, 2);
    spawn(&f, MAIN, 24, 25, 4);
    tb_event(f.tb, MAIN, 30, EVENT_WAIT_BEGIN, 1, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 31, EVENT_TASK_START, 1);
    tb_event(f.tb, MAIN, 32, EVENT_ENTER, B);
    tb_event(f.tb, MAIN, 33, EVENT_ENTER, C);
    tb_event(f.tb, MAIN, 34, EVENT_TASK_END, 1);
    tb_event(f.tb, MAIN, 40, EVENT_WAIT_END, 1);
    tb_event(f.tb, MAIN, 41, EVENT_ENTER, B);
    tb_event(f.tb, MAIN, 42, EVENT_ENTER, D);
    tb_event(f.tb, WORKER, 50, EVENT_TASK_START, 2);
    tb_event(f.tb, WORKER, 51, EVENT_ENTER, C);
    tb_event(f.tb, WORKER, 52, EVENT_TASK_CREATED, 3); // never handed over
    tb_event(f.tb, WORKER, 53, EVENT_TASK_START, 3);
    tb_event(f.tb, WORKER, 54, EVENT_ENTER, B);
    tb_event(f.tb, WORKER, 55, EVENT_TASK_END, 3);
    tb_event(f.tb, WORKER, 56, EVENT_TASK_END, 2);
    run(&f, WORKER, 60, 61, 4);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(path_of(&f, M), 1u << A | 1u << B | 1u << D);
    assert_int_equal(path_of(&f, 1), 1u << B | 1u << C);
    assert_int_equal(task(&f, 2)->path, task(&f, 1)->path);
    assert_int_equal(task(&f, 4)->path, 0);
    assert_int_equal(f.fixture.dag->path_count, 3);
    assert_true(f.fixture.dag->paths[task(&f, 1)->path].hash != f.fixture.dag->paths[task(&f, M)->path].hash);
    simulate_fixture_close(&f.fixture);
}

// A body that re-enters the same functions after each of many that it helps: its set stays small.
static void test_paths_stay_small(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t a = tb_method(f.tb, "Main", "a");
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    for (uint64_t i = 0; i < 500; i++) {
        tb_event(f.tb, MAIN, 10 * i + 1, EVENT_ENTER, a);
        tb_event(f.tb, MAIN, 10 * i + 2, EVENT_TASK_START, M + 1 + i);
        tb_event(f.tb, MAIN, 10 * i + 3, EVENT_ENTER, a);
        tb_event(f.tb, MAIN, 10 * i + 4, EVENT_TASK_END, M + 1 + i);
        tb_event(f.tb, WORKER, 10 * i + 1, EVENT_SPAWN_BEGIN, M + 1 + i, f.site, f.pool);
    }
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(path_of(&f, M), 1u << a);
    assert_int_equal(f.fixture.dag->path_count, 2);
    simulate_fixture_close(&f.fixture);
}

static uint32_t vertex_at(const struct by_hand *f, int64_t time_ns, enum vertex_kind kind) {
    uint32_t v = 0;
    while (v < f->fixture.dag->vertex_count &&
           !(f->fixture.dag->vertices.time_ns[v] == time_ns && f->fixture.dag->vertices.kind[v] == kind))
        v++;
    assert_true(v < f->fixture.dag->vertex_count);
    return v;
}

static void block(struct by_hand *f, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t lock) {
    tb_event(f->tb, thread, begin_ns, EVENT_BLOCK_BEGIN, lock, 0, 0);
    tb_event(f->tb, thread, end_ns, EVENT_BLOCK_END, lock);
}

static void assert_had_before(const struct by_hand *f, int64_t end_ns, int64_t before_ns) {
    uint32_t v = vertex_at(f, end_ns, VERTEX_ACQUIRED), cause = f->fixture.dag->vertices.cause[v];
    if (before_ns < 0) {
        assert_int_equal(cause, DAG_NONE);
        assert_int_equal(f->fixture.dag->vertices.rule[v], RULE_RUN);
    } else {
        assert_int_equal(cause, vertex_at(f, before_ns, VERTEX_ACQUIRED));
        assert_int_equal(f->fixture.dag->vertices.rule[v], RULE_GRANT);
    }
}

// Lock 900:  worker 251..260, nobody before; main 255..280: the worker got it while main was blocked.
//            worker 300..310: main got it before, goes on in its body and did not ask again: it may have had it.
//            worker 330..340: the one before is its own: who had it in between is not known.
//            other 360..370: the worker's body was over at 350, so it was not the worker.
// Lock 901:  main 400..410, then other 425..440; but main asks again at 430, so it did not have it.
//            main 430..450: other got it at 440, while main was blocked.
static void test_locks(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_spawns(&f);
    block(&f, MAIN, 255, 280, 900);
    block(&f, MAIN, 400, 410, 901);
    block(&f, MAIN, 430, 450, 901);
    start_worker(&f, 140);
    tb_event(f.tb, WORKER, 150, EVENT_TASK_START, 1);
    block(&f, WORKER, 251, 260, 900);
    block(&f, WORKER, 300, 310, 900);
    block(&f, WORKER, 330, 340, 900);
    tb_event(f.tb, WORKER, 350, EVENT_TASK_END, 1);
    tb_event(f.tb, OTHER, 141, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, OTHER, 145, EVENT_BLOCK_END, 900); // its begin was lost
    block(&f, OTHER, 360, 370, 900);
    block(&f, OTHER, 425, 440, 901);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->resource_count, 2);
    assert_had_before(&f, 260, -1);
    assert_had_before(&f, 280, 260);
    assert_had_before(&f, 310, 280);
    assert_had_before(&f, 340, -1);
    assert_had_before(&f, 370, -1);
    assert_had_before(&f, 410, -1);
    assert_had_before(&f, 440, -1);
    assert_had_before(&f, 450, 440);
    simulate_fixture_close(&f.fixture);
}

// The lock of the queue lies within the pick-up, 160 to 200; the spawn at 100 still causes BUSY at 190.
static void test_locks_of_a_queue(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    spawn(&f, MAIN, 100, 110, 1);
    tb_event(f.tb, WORKER, 141, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 160, EVENT_IDLE, f.pool);
    block(&f, WORKER, 170, 180, 900);
    tb_event(f.tb, WORKER, 190, EVENT_BUSY, f.pool);
    block(&f, WORKER, 192, 194, 901);
    run(&f, WORKER, 200, 210, 1);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(time_at(&f, task(&f, 1)->pickup), 160);
    assert_int_equal(f.fixture.dag->vertices.cause[vertex_at(&f, 190, VERTEX_BUSY)], task(&f, 1)->spawn_begin);
    assert_int_equal(f.fixture.dag->vertices.task[vertex_at(&f, 180, VERTEX_ACQUIRED)], 0);
    assert_int_equal(task(&f, 1)->dispatch, DISPATCH_NEW);
    simulate_fixture_close(&f.fixture);
}

static void test_pauses_and_samples(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, 0, 5, EVENT_GC_END); // its begin was lost
    tb_event(f.tb, 0, 10, EVENT_SAMPLE, 1000, 5000, 7);
    tb_event(f.tb, 0, 20, EVENT_GC_BEGIN);
    tb_event(f.tb, 0, 30, EVENT_GC_END);
    tb_event(f.tb, 0, 40, EVENT_GC_BEGIN);
    simulate_fixture_open(&f.fixture, f.tb);
    assert_int_equal(f.fixture.dag->pause_count, 1);
    assert_int_equal(f.fixture.dag->pauses[0].begin_ns, 20);
    assert_int_equal(f.fixture.dag->pauses[0].end_ns, 30);
    assert_int_equal(f.fixture.dag->sample_count, 1);
    assert_int_equal(f.fixture.dag->samples[0].time_ns, 10);
    assert_int_equal(f.fixture.dag->samples[0].process_cpu_ns, 1000);
    assert_int_equal(f.fixture.dag->samples[0].machine_cpu_ns, 5000);
    assert_int_equal(f.fixture.dag->samples[0].context_switches, 7);
    simulate_fixture_close(&f.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatches_and_tails),
        cmocka_unit_test(test_dispatches_without_a_worker),
        cmocka_unit_test(test_pools_by_their_queues),
        cmocka_unit_test(test_newest_first_is_seen),
        cmocka_unit_test(test_keep_alive_is_seen),
        cmocka_unit_test(test_rules_of_the_trace),
        cmocka_unit_test(test_spawns_for_nobody_make_a_pool_unknown),
        cmocka_unit_test(test_mixed_workers_make_pools_unknown),
        cmocka_unit_test(test_computing_is_shared_out),
        cmocka_unit_test(test_cycles_become_ns),
        cmocka_unit_test(test_what_is_assumed_is_no_more_than_the_process_computed),
        cmocka_unit_test(test_what_is_assumed_is_what_was_left_between_samples),
        cmocka_unit_test(test_nothing_measured_is_unknown),
        cmocka_unit_test(test_costs_of_a_pool),
        cmocka_unit_test(test_costs_by_sleep),
        cmocka_unit_test(test_costs_leave_bodies_out),
        cmocka_unit_test(test_means_are_trimmed),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_paths_stay_small),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_locks_of_a_queue),
        cmocka_unit_test(test_pauses_and_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
