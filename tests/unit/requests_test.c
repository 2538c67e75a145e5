// SPDX-License-Identifier: GPL-3.0-or-later
// Requests of hand-solved runs, with the arithmetic beside them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "metrics/requests.h"
#include "random_trace.h"
#include "simulate_fixture.h"

#include <string.h>

enum { MAIN = 100 };

struct fixture {
    struct trace_builder *tb;
    struct simulate_fixture on; // from open_built on
    struct metrics_work work;
    uint32_t handle, query; // sites: of requests, of what they spawn
};

static const char *bottleneck_of(const struct request_metrics *requests) {
    static char text[600];
    return requests_bottleneck(requests, text, sizeof text);
}

static void begin(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new()};
    f->handle = tb_site(f->tb, "Server", "handle", 10);
    f->query = tb_site(f->tb, "Server", "query", 20);
    tb_thread(f->tb, 1, "main", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
}

static void add_worker(struct fixture *f, uint32_t thread, uint32_t pool) {
    tb_thread(f->tb, thread, "worker", 0);
    tb_event(f->tb, thread, 1, EVENT_THREAD_START, 1000 + thread);
    tb_event(f->tb, thread, 2, EVENT_WORKER_BEGIN, pool);
}

// The bracket takes 1 ns.
static void spawn(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task, uint32_t site, uint32_t pool) {
    tb_event(f->tb, thread, time, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(f->tb, thread, time + 1, EVENT_SPAWN_END, task);
}

static void start(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task) {
    tb_event(f->tb, thread, time, EVENT_TASK_START, task);
}

// The result comes 1 ns before the end.
static void end(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task) {
    tb_event(f->tb, thread, time - 1, EVENT_RESULT, task);
    tb_event(f->tb, thread, time, EVENT_TASK_END, task);
}

static void wait_for(struct fixture *f, uint32_t thread, uint64_t from, uint64_t to, uint64_t task) {
    tb_event(f->tb, thread, from, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, f->query));
    tb_event(f->tb, thread, to, EVENT_WAIT_END, task);
}

static void open_built(struct fixture *f) {
    simulate_fixture_open(&f->on, f->tb);
    assert_int_equal(dag_propagate(f->on.dag, &f->on.edit, &f->on.run), DAG_OK);
}

static void open_run(struct fixture *f, uint64_t main_ends) {
    tb_event(f->tb, 1, main_ends, EVENT_THREAD_END, MAIN);
    open_built(f);
}

static void close_run(struct fixture *f) {
    metrics_work_destroy(&f->work);
    simulate_fixture_close(&f->on);
}

static void inline_task(struct fixture *f, uint64_t id) {
    for (uint32_t t = 0; t < f->on.dag->task_count; t++) {
        if (f->on.dag->tasks[t].id != id) continue;
        assert_null(dag_inline_refusal(f->on.dag, t));
        dag_edit_inline(&f->on.edit, t);
    }
    assert_int_equal(dag_propagate(f->on.dag, &f->on.edit, &f->on.run), DAG_OK);
}

static struct request_metrics requests_of(struct fixture *f) {
    struct metrics m;
    assert_true(metrics_compute(f->on.dag, &f->on.edit, &f->on.run, NULL, NULL, &f->work, &m, &f->on.error));
    return m.requests;
}

// Of the site whose line it is.
static struct request_metrics requests_at(struct fixture *f, uint32_t line, const struct window *window) {
    struct request_metrics requests;
    uint32_t site = 0;
    while (f->on.dag->sites[site].site.line != line) assert_in_range(++site, 1, f->on.dag->site_count - 1);
    assert_true(metrics_requests(f->on.dag, &f->on.edit, &f->on.run, window, site, &f->work, &requests, &f->on.error));
    return requests;
}

#define assert_known(actual, expected) assert_int_equal((int64_t)((actual)*1000), (int64_t)((expected)*1000))
#define assert_unknown(actual)         assert_true(isnan(actual))

static void assert_line(const struct request_metrics *requests, uint32_t line) {
    assert_non_null(requests->dag);
    assert_int_equal(requests->dag->sites[requests->site].site.line, line);
}

static void assert_none(const struct request_metrics *requests) {
    assert_unknown(requests->count);
    assert_unknown(requests->latency_ns.p50);
    assert_unknown(requests->peak_threads);
    assert_unknown(requests->concurrent);
    assert_unknown(requests->sustainable_per_s);
}

// Task 1 (20-100) spawns 2 (40-90), which spawns 3 (60-80); each waits for its own. Task 4 (120-200) spawns nothing.
static void build_nested(struct fixture *f, int32_t threads) {
    begin(f);
    uint32_t pool = tb_pool(f->tb, "pool", threads);
    for (uint32_t worker = 2; worker <= 4; worker++) add_worker(f, worker, pool);
    spawn(f, 1, 10, 1, f->handle, pool);
    start(f, 2, 20, 1);
    spawn(f, 2, 30, 2, f->query, pool);
    start(f, 3, 40, 2);
    spawn(f, 3, 50, 3, f->query, pool);
    start(f, 4, 60, 3);
    wait_for(f, 3, 55, 82, 3);
    wait_for(f, 2, 35, 92, 2);
    end(f, 4, 80, 3);
    end(f, 3, 90, 2);
    end(f, 2, 100, 1);
    spawn(f, 1, 110, 4, f->handle, pool);
    start(f, 2, 120, 4);
    end(f, 2, 200, 4);
    open_run(f, 300);
}

// Two requests hold a worker for 100 each and compute 50.
static void build_measured(struct fixture *f, int32_t threads, uint32_t cores) {
    begin(f);
    tb_cores(f->tb, cores);
    uint32_t pool = tb_pool(f->tb, "pool-1", threads);
    add_worker(f, 2, pool);
    for (uint64_t task = 1; task <= 2; task++) {
        uint64_t spawned = 150 * task;
        spawn(f, 1, spawned, task, f->handle, pool);
        tb_event(f->tb, 2, spawned + 10, EVENT_TASK_START, task, 1000 * task);
        tb_event(f->tb, 2, spawned + 110, EVENT_TASK_END, task, 1000 * task + 50);
    }
    open_run(f, 500);
}

static void test_sustainable(void **state) {
    static const struct {
        int32_t threads;
        uint32_t cores;
        double per_s;
        const char *bottleneck;
    } cases[] = {{4, 4, 4 / 100e-9, "pool-1"}, {4, 1, 1 / 50e-9, "cores"}, {1, 8, 1 / 100e-9, "pool-1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        build_measured(&f, cases[i].threads, cases[i].cores);
        struct request_metrics requests = requests_of(&f);
        assert_known(requests.sustainable_per_s, cases[i].per_s);
        assert_string_equal(bottleneck_of(&requests), cases[i].bottleneck);
        close_run(&f);
    }
}

// What nothing measured is not known, nor is what saturates first.
static void test_unmeasured_rate(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    struct request_metrics requests = requests_of(&f);
    assert_unknown(requests.sustainable_per_s);
    assert_null(bottleneck_of(&requests));
    close_run(&f);
}

static void test_two_levels(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    struct request_metrics requests = requests_of(&f);
    assert_line(&requests, 10);
    assert_known(requests.count, 2);
    assert_known(requests.latency_ns.p50, 89); // of 99 - 10 = 89 and 199 - 110 = 89
    assert_known(requests.peak_threads, 3);    // 60-80: all three bodies of task 1
    assert_known(requests.concurrent, 2);      // 7 / 3
    close_run(&f);
}

// Task 2 runs in task 1 from 30 on, where it was spawned: it spawns 3 at 40, 10 earlier, whose thread starts it 10
// earlier, 50-70. 2 waits 45-72 and is done at 80; the wait from 84 on finds its result. 1 ends 92 - 84 = 8 ns sooner
// after it began to wait than it did after waking up at 92, that is 84 + 8.
static void test_inlined_sub_task(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    inline_task(&f, 2);
    struct request_metrics requests = requests_of(&f);
    assert_known(requests.count, 2);
    assert_known(requests.latency_ns.p50, (81 + 89) / 2.0); // 91 - 10; task 4's is as recorded
    assert_known(requests.peak_threads, 2);                 // 50-70: tasks 1 and 2 share a thread
    assert_known(requests.concurrent, 3);                   // 7 / 2
    inline_task(&f, 3);
    requests = requests_of(&f);
    assert_known(requests.peak_threads, 1);
    assert_known(requests.concurrent, 7);
    close_run(&f);
}

static void test_inlined_request(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    inline_task(&f, 1);
    struct request_metrics requests = requests_of(&f);
    assert_known(requests.count, 1); // task 4
    assert_known(requests.peak_threads, 1);
    inline_task(&f, 4);
    requests = requests_of(&f);
    assert_line(&requests, 10);
    assert_none(&requests);
    close_run(&f);
}

// Task 3 is of the site of task 2, but part of it.
static void test_chosen_site(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    struct request_metrics requests = requests_at(&f, 20, NULL);
    assert_line(&requests, 20);
    assert_known(requests.count, 1);
    assert_known(requests.latency_ns.p99, 89 - 30);
    assert_known(requests.peak_threads, 2);
    close_run(&f);
}

// Task 4 alone starts at 101 or later. A task that starts before the window is no request, nor is what it spawned.
static void test_window(void **state) {
    struct fixture f;
    build_nested(&f, 7);
    const struct window late = {101, 300}, inner = {50, 300};
    struct request_metrics requests = requests_at(&f, 10, &late);
    assert_known(requests.count, 1);
    assert_known(requests.peak_threads, 1);
    requests = requests_at(&f, 20, &inner);
    assert_none(&requests);
    close_run(&f);
}

// A request of the front (20-100) has three queries in the pool of the back, two of them at once: 30-70, 40-70, 70-90.
// The third begins as the others end, which is no instant with three.
static struct request_metrics solve_two_pools(int32_t front_threads, int32_t back_threads) {
    struct fixture f;
    begin(&f);
    uint32_t front = tb_pool(f.tb, "front", front_threads), back = tb_pool(f.tb, "back", back_threads);
    add_worker(&f, 2, front);
    for (uint32_t worker = 3; worker <= 5; worker++) add_worker(&f, worker, back);
    spawn(&f, 1, 10, 1, f.handle, front);
    start(&f, 2, 20, 1);
    for (uint64_t query = 0; query < 3; query++) spawn(&f, 2, 22 + 2 * query, 2 + query, f.query, back);
    static const uint64_t bodies[3][2] = {{30, 70}, {40, 70}, {70, 90}};
    for (uint32_t query = 0; query < 3; query++) {
        start(&f, 3 + query, bodies[query][0], 2 + query);
        end(&f, 3 + query, bodies[query][1], 2 + query);
    }
    end(&f, 2, 100, 1);
    open_run(&f, 300);
    struct request_metrics requests = requests_of(&f);
    close_run(&f);
    return requests;
}

static void test_two_pools(void **state) {
    struct request_metrics requests = solve_two_pools(4, 7);
    assert_known(requests.peak_threads, 3);
    assert_known(requests.concurrent, 3); // of 4 / 1 and 7 / 2
    assert_known(solve_two_pools(2, 7).concurrent, 2);
    assert_known(solve_two_pools(4, INT32_MAX).concurrent, 4); // the back never fills
    assert_unknown(solve_two_pools(INT32_MAX, INT32_MAX).concurrent);
    assert_unknown(solve_two_pools(4, -1).concurrent); // the back might fill first
}

// Task 1 (20-100) runs its query 2 itself while it waits (40-60); its query 3 is run by task 9's thread, in the midst
// of task 9 (30-90), a request as well: 50-80.
static void test_bodies_in_bodies(void **state) {
    struct fixture f;
    begin(&f);
    uint32_t pool = tb_pool(f.tb, "pool", 5);
    add_worker(&f, 2, pool);
    add_worker(&f, 3, pool);
    spawn(&f, 1, 10, 1, f.handle, pool);
    spawn(&f, 1, 12, 9, f.handle, pool);
    start(&f, 2, 20, 1);
    spawn(&f, 2, 22, 2, f.query, pool);
    spawn(&f, 2, 24, 3, f.query, pool);
    start(&f, 2, 40, 2);
    start(&f, 3, 30, 9);
    start(&f, 3, 50, 3);
    end(&f, 2, 60, 2);
    end(&f, 3, 80, 3);
    end(&f, 3, 90, 9);
    end(&f, 2, 100, 1);
    open_run(&f, 300);
    struct request_metrics requests = requests_of(&f);
    assert_known(requests.count, 2);
    assert_known(requests.peak_threads, 2); // task 1's own, and task 9's thread in 50-80; task 9 has 1
    assert_known(requests.concurrent, 2);   // 5 / 2
    close_run(&f);
}

// Two tasks each of two sites: the greater total time decides; spawned by pool's tasks they would not count at all.
static void test_outermost_site(void **state) {
    struct fixture f;
    begin(&f);
    uint32_t pool = tb_pool(f.tb, "pool", 2), longer = tb_site(f.tb, "Server", "handleLonger", 30);
    add_worker(&f, 2, pool);
    for (uint64_t i = 0; i < 4; i++) {
        spawn(&f, 1, 100 * (i + 1), 1 + i, i % 2 ? longer : f.handle, pool);
        start(&f, 2, 100 * (i + 1) + 10, 1 + i);
        for (uint64_t query = 0; query < 3; query++) {
            spawn(&f, 2, 100 * (i + 1) + 20 + 2 * query, 10 + 3 * i + query, f.query, pool);
        }
        end(&f, 2, 100 * (i + 1) + (i % 2 ? 70 : 60), 1 + i);
    }
    for (uint64_t query = 0; query < 12; query++) {
        start(&f, 2, 500 + 10 * query, 10 + query);
        end(&f, 2, 505 + 10 * query, 10 + query);
    }
    open_run(&f, 900);
    struct request_metrics requests = requests_of(&f);
    assert_line(&requests, 30);
    assert_known(requests.count, 2);
    assert_known(requests.peak_threads, 1);
    assert_known(requests.concurrent, 2);
    close_run(&f);
}

static void test_no_request(void **state) {
    struct fixture f;
    begin(&f);
    open_run(&f, 300);
    struct request_metrics requests = requests_of(&f);
    assert_null(requests.dag);
    assert_none(&requests);
    close_run(&f);
}

// A request on a virtual thread has a latency, but takes no thread of a pool.
static void test_virtual_thread(void **state) {
    struct fixture f;
    begin(&f);
    tb_thread(f.tb, 2, "virtual", THREAD_VIRTUAL);
    tb_event(f.tb, 1, 10, EVENT_SPAWN_BEGIN, 1, f.handle, 0);
    tb_event(f.tb, 1, 11, EVENT_SPAWN_END, 1);
    tb_event(f.tb, 2, 20, EVENT_THREAD_START, 1);
    tb_event(f.tb, 2, 50, EVENT_THREAD_END, 1);
    open_run(&f, 300);
    struct request_metrics requests = requests_of(&f);
    assert_known(requests.count, 1);
    assert_known(requests.latency_ns.p50, 40);
    assert_known(requests.peak_threads, 0);
    assert_unknown(requests.concurrent);
    close_run(&f);
}

// Random programs against a slow reference, which knows no edit: then a body is where it was recorded.

// The outermost task of the site above a task and itself, or DAG_NONE.
static uint32_t request_above(const struct dag *dag, uint32_t site, uint32_t task) {
    uint32_t request = DAG_NONE;
    for (; task != DAG_NONE; task = dag->tasks[task].spawner) {
        if (dag->tasks[task].site == site && dag->tasks[task].start != DAG_NONE) request = task;
    }
    return request;
}

static bool runs_at(const struct dag *dag, uint32_t task, int64_t time_ns) {
    const struct dag_task *t = &dag->tasks[task];
    return t->start != DAG_NONE && dag->vertices.time_ns[t->start] <= time_ns &&
           dag->vertices.time_ns[t->end] > time_ns;
}

static bool is_platform(const struct dag *dag, uint32_t thread) {
    return !dag->threads[thread].system && dag->threads[thread].stream != DAG_NONE &&
           !(dag->trace->streams[dag->threads[thread].stream].thread.flags & THREAD_VIRTUAL);
}

// Threads that the tree of a request is on as its task `at` starts.
static int threads_at_start(const struct dag *dag, uint32_t site, uint32_t request, uint32_t at) {
    bool taken[256] = {false};
    int threads = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!runs_at(dag, t, dag->vertices.time_ns[dag->tasks[at].start])) continue;
        uint32_t thread = dag->tasks[t].thread;
        if (taken[thread] || !is_platform(dag, thread) || request_above(dag, site, t) != request) continue;
        taken[thread] = true;
        threads++;
    }
    return threads;
}

static int solve_slowly(const struct dag *dag, uint32_t site) {
    int peak = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        uint32_t request = request_above(dag, site, t);
        if (request == DAG_NONE || dag->tasks[t].start == DAG_NONE) continue;
        int threads = threads_at_start(dag, site, request, t);
        if (threads > peak) peak = threads;
    }
    return peak;
}

static void edit_at_random(struct fixture *f, struct random_source *source) {
    for (uint32_t t = 0; t < f->on.dag->task_count; t++) {
        if (random_below(source, 3) == 0 && !dag_inline_refusal(f->on.dag, t)) dag_edit_inline(&f->on.edit, t);
    }
}

static void check_random(struct trace_builder *tb, uint64_t seed, bool sound) {
    struct fixture f = {.tb = tb};
    struct random_source source = {seed};
    struct metrics m;
    open_built(&f);
    assert_in_range(f.on.dag->thread_count, 0, 256);
    struct request_metrics requests = requests_of(&f);
    if (sound && !isnan(requests.count)) {
        assert_known(requests.peak_threads, solve_slowly(f.on.dag, requests.site));
    }
    edit_at_random(&f, &source);
    if (dag_propagate(f.on.dag, &f.on.edit, &f.on.run) == DAG_OK) {
        assert_true(metrics_compute(f.on.dag, &f.on.edit, &f.on.run, NULL, NULL, &f.work, &m, &f.on.error));
        if (sound && !isnan(m.requests.count)) assert_true(m.requests.peak_threads <= m.threads[STATE_OCCUPIED].max);
    }
    close_run(&f);
}

static void test_random_programs(void **state) {
    for (uint64_t seed = 1; seed <= 300; seed++) check_random(random_trace(seed), seed, true);
    for (uint64_t seed = 1; seed <= 300; seed++) check_random(random_events(seed), seed, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sustainable),      cmocka_unit_test(test_unmeasured_rate),
        cmocka_unit_test(test_two_levels),       cmocka_unit_test(test_inlined_sub_task),
        cmocka_unit_test(test_inlined_request),  cmocka_unit_test(test_chosen_site),
        cmocka_unit_test(test_window),           cmocka_unit_test(test_two_pools),
        cmocka_unit_test(test_bodies_in_bodies), cmocka_unit_test(test_outermost_site),
        cmocka_unit_test(test_no_request),       cmocka_unit_test(test_virtual_thread),
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
