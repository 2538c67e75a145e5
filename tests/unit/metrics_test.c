// SPDX-License-Identifier: GPL-3.0-or-later
// Hand-solved runs, with the arithmetic beside them, and random ones against a slow reference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "metrics/window.h"
#include "simulate_fixture.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct trace_builder *tb;
    struct simulate_fixture on; // from open_fixture on
    struct metrics_work work;
};

static void open_fixture(struct fixture *f) {
    simulate_fixture_open(&f->on, f->tb);
    assert_int_equal(dag_propagate(f->on.dag, &f->on.edit, &f->on.run), DAG_OK);
}

static void close_fixture(struct fixture *f) {
    metrics_work_destroy(&f->work);
    simulate_fixture_close(&f->on);
}

static struct metrics compute(struct fixture *f, const struct window *window, const struct metrics *base) {
    struct metrics m;
    assert_true(metrics_compute(f->on.dag, &f->on.edit, &f->on.run, window, base, &f->work, &m, &f->on.error));
    return m;
}

static void inline_task(struct fixture *f, uint64_t id) {
    for (uint32_t t = 0; t < f->on.dag->task_count; t++) {
        if (f->on.dag->tasks[t].id == id) dag_edit_inline(&f->on.edit, t);
    }
    assert_int_equal(dag_propagate(f->on.dag, &f->on.edit, &f->on.run), DAG_OK);
}

static void check_near(double actual, double expected, const char *file, int line) {
    if (fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected))) return;
    print_error("%.12g is not %.12g\n", actual, expected);
    _fail(file, line);
}

#define assert_near(actual, expected) check_near((actual), (expected), __FILE__, __LINE__)
#define assert_unknown(actual)        assert_true(isnan(actual))

static void assert_usage(const struct usage *usage, double peak, double max, double mean) {
    assert_near(usage->peak, peak);
    assert_near(usage->max, max);
    assert_near(usage->mean, mean);
}

enum { MAIN = 100, TASK = 7 };

// main:   runs 0-100, submits 100-120, runs -200, waits 200-700, runs -1000
// worker: begins 10, asks 50, has it 150, body 160-680 (its result at 660), ends 900
static void build_request(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new()};
    struct trace_builder *tb = f->tb;
    uint32_t pool = tb_pool(tb, "pool-1", 1), site = tb_site(tb, "Main", "main", 12),
             at = tb_site(tb, "Main", "main", 13);
    tb_cores(tb, 2);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "pool-1-thread-1", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(tb, 1, 100, EVENT_SPAWN_BEGIN, TASK, site, pool);
    tb_event(tb, 1, 120, EVENT_SPAWN_END, TASK);
    tb_event(tb, 1, 200, EVENT_WAIT_BEGIN, TASK, 0, tb_wait(WAIT_FOR_TASK, at));
    tb_event(tb, 1, 700, EVENT_WAIT_END, TASK);
    tb_event(tb, 1, 1000, EVENT_THREAD_END, MAIN);
    tb_event(tb, 2, 10, EVENT_THREAD_START, 50);
    tb_event(tb, 2, 20, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 2, 50, EVENT_IDLE, pool);
    tb_event(tb, 2, 150, EVENT_BUSY, pool);
    tb_event(tb, 2, 160, EVENT_TASK_START, TASK, 1000);
    tb_event(tb, 2, 660, EVENT_RESULT, TASK);
    tb_event(tb, 2, 680, EVENT_TASK_END, TASK, 1450);
    tb_event(tb, 2, 900, EVENT_THREAD_END, 50);
    open_fixture(f);
}

static void test_states(void **state) {
    struct fixture f;
    build_request(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.wall_ns, 1000);
    assert_usage(&m.threads[STATE_OCCUPIED], 2, 2, 1.52); // main 1000, worker 160-680 = 520
    assert_usage(&m.threads[STATE_ACTIVE], 2, 2, 1.02);   // less main's wait of 500; both in 160-200 (40 > 1 %)
    assert_usage(&m.threads[STATE_WAITING], 1, 1, 0.5);
    assert_usage(&m.threads[STATE_UNOCCUPIED], 1, 1, 0.37); // 10-160 and 680-900
    assert_usage(&m.threads[STATE_BLOCKED], 0, 0, 0);
    assert_unknown(m.virtual_threads[STATE_OCCUPIED].mean);
    assert_near(m.thread_time_ns, 1520);
    assert_unknown(m.composite);
    close_fixture(&f);
}

static void test_tasks(void **state) {
    struct fixture f;
    build_request(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.tasks.count, 2);
    assert_near(m.tasks.overhead_share, 80.0 / 1520); // submit 20; start 160 - spawn 100 = 60, the worker being free
    // Of 2 cores one is used in 0-160, 200-680, 700-1000; in 680-700 all wait.
    assert_near(m.tasks.idle_share, (160.0 + 480 + 300) / 2000);
    assert_near(m.tasks.work_ns, 500 + 450); // main is taken to compute but for its wait; CPU time 450 of 520
    // To the spawn, to the result (70 of the body's 520 are not computed: in the longer edge), from the wait's end.
    assert_near(m.tasks.span_ns, 100 + 430 + 300);
    assert_near(m.tasks.queue_wait_ns.max, 60);
    assert_string_equal(m.tasks.granularity_unit, "ns");
    assert_near(m.tasks.granularity.max, 500); // main's is not known: all but its wait; the worker's CPU time 450
    assert_near(m.tasks.granularity.mean, 475);
    close_fixture(&f);
}

// Attached to while both were under way: they are tasks, but nobody knows how long they took.
static void test_tasks_begun_before_have_no_length(void **state) {
    struct fixture f = {.tb = tb_new()};
    uint32_t pool = tb_pool(f.tb, "pool-1", 1);
    tb_thread(f.tb, 1, "main", 0);
    tb_thread(f.tb, 2, "pool-1-thread-1", 0);
    tb_running(f.tb, TASK);
    tb_running(f.tb, MAIN);
    tb_event(f.tb, 1, 0, EVENT_THREAD_START, MAIN);
    tb_event(f.tb, 1, 10, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    tb_event(f.tb, 2, 20, EVENT_THREAD_START, 50);
    tb_event(f.tb, 2, 30, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, 2, 40, EVENT_TASK_START, TASK);
    tb_event(f.tb, 2, 640, EVENT_TASK_END, TASK);
    tb_event(f.tb, 2, 650, EVENT_IDLE, pool);
    tb_event(f.tb, 2, 660, EVENT_BUSY, pool);
    tb_event(f.tb, 2, 670, EVENT_TASK_START, TASK + 1);
    tb_event(f.tb, 2, 770, EVENT_TASK_END, TASK + 1);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.tasks.count, 3);
    assert_near(m.threads[STATE_OCCUPIED].max, 2);
    assert_near(m.tasks.granularity.max, 100);
    assert_near(m.tasks.granularity.mean, 100);
    close_fixture(&f);
}

// The body takes the place of the submit, 100-620; main then runs 80, finds the result, and runs 300.
static void test_inlined(void **state) {
    struct fixture f;
    build_request(&f);
    struct metrics base = compute(&f, NULL, NULL);
    inline_task(&f, TASK);
    struct metrics m = compute(&f, NULL, &base);
    assert_int_equal(m.wall_ns, 100 + 520 + 80 + 300);
    assert_usage(&m.threads[STATE_OCCUPIED], 1, 1, 1);
    assert_usage(&m.threads[STATE_WAITING], 0, 0, 0);
    assert_usage(&m.threads[STATE_UNOCCUPIED], 0, 0, 0);
    assert_near(m.composite, cbrt(1 * (1.0 / 2) * (1000.0 / 1520)));
    double granularity = (1 / 0.5) / ((1 + 80.0 / 1520) / (1 - 0.47));
    assert_near(m.balanced, sqrt(m.composite * granularity));
    assert_int_equal(m.tasks.count, 1);
    assert_near(m.tasks.overhead_share, 0);
    assert_near(m.tasks.work_ns, 100 + 450 + 80 + 300);
    assert_near(m.tasks.span_ns, 930);
    assert_unknown(m.tasks.queue_wait_ns.mean);
    assert_near(metrics_composite(&base, &base), 1);
    assert_near(metrics_balanced(&base, &base), 1);
    close_fixture(&f);
}

static void test_cpu(void **state) {
    struct dag_sample samples[] = {{100, 0, 0, 10, 0, 0}, {500, 300, 600, 20, 0, 0}, {900, 500, 1100, 22, 0, 0}};
    struct dag_pause pause = {.begin_ns = 600, .end_ns = 700};
    struct fixture f;
    build_request(&f);
    f.on.dag->samples = samples;
    f.on.dag->sample_count = 3;
    f.on.dag->pauses = &pause;
    f.on.dag->pause_count = 1;
    struct metrics m = compute(&f, NULL, NULL);
    assert_near(m.cpu.utilisation, 500 / (2 * 800.0));
    assert_near(m.cpu.machine, 1100 / (2 * 800.0));
    assert_near(m.cpu.others, 600 / (2 * 800.0));
    assert_near(m.cpu.context_switches, 10 / 400.0 * 1e8); // not of 500-900, when the JVM stood still
    assert_near(m.cpu.context_switches_total, 12);
    const struct window window = {400, 800}; // one sample
    m = compute(&f, &window, NULL);
    assert_unknown(m.cpu.context_switches);
    assert_int_equal(m.wall_ns, 40); // 660-700, of which the worker computes all, and main none
    assert_near(m.cpu.utilisation, 40 / (2 * 40.0));
    inline_task(&f, TASK); // less than was computed is left for the JVM, so nothing
    m = compute(&f, NULL, NULL);
    assert_near(m.cpu.utilisation, 930 / 2000.0);
    assert_unknown(m.cpu.machine);
    f.on.trace->header.origin = "estimated"; // its samples are of what it was made from
    f.on.trace->header.besides_ns = 400;
    m = compute(&f, NULL, NULL);
    assert_near(m.cpu.utilisation, (930 + 400) / 2000.0);
    f.on.dag->samples = NULL;
    f.on.dag->pauses = NULL;
    close_fixture(&f);
}

// 150-200 to 700: the first event within is at 150, the last at 700.
static void test_window(void **state) {
    struct fixture f;
    build_request(&f);
    const struct window window = {130, 800}, nothing = {2000, 3000};
    struct metrics m = compute(&f, &window, NULL);
    assert_int_equal(m.wall_ns, 550);
    assert_near(m.threads[STATE_OCCUPIED].mean, (550 + 520.0) / 550);
    assert_near(m.threads[STATE_WAITING].mean, 500.0 / 550);
    assert_int_equal(m.tasks.count, 1);
    assert_near(m.tasks.work_ns, 50 + 450);
    assert_false(metrics_usage(f.on.dag, &f.on.edit, &f.on.run, &nothing, NULL, &f.work, &m, &f.on.error));
    assert_int_equal(f.on.error.status, STATUS_USAGE);
    close_fixture(&f);
}

// main waits 100-900 for task 1; meanwhile it runs task 2 itself, 300-500 (a helping join).
static void test_helping_is_active(void **state) {
    struct fixture f = {.tb = tb_new()};
    uint32_t pool = tb_pool(f.tb, "pool", 1), site = tb_site(f.tb, "Main", "main", 1);
    tb_thread(f.tb, 1, "main", 0);
    tb_thread(f.tb, 2, "worker", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 10, EVENT_SPAWN_BEGIN, 1, site, pool);
    tb_event(f.tb, 1, 20, EVENT_SPAWN_END, 1);
    tb_event(f.tb, 1, 30, EVENT_SPAWN_BEGIN, 2, site, pool);
    tb_event(f.tb, 1, 40, EVENT_SPAWN_END, 2);
    tb_event(f.tb, 1, 100, EVENT_WAIT_BEGIN, 1, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(f.tb, 1, 300, EVENT_TASK_START, 2);
    tb_event(f.tb, 1, 500, EVENT_TASK_END, 2);
    tb_event(f.tb, 1, 900, EVENT_WAIT_END, 1);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    tb_event(f.tb, 2, 50, EVENT_THREAD_START, 50);
    tb_event(f.tb, 2, 60, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, 2, 70, EVENT_TASK_START, 1);
    tb_event(f.tb, 2, 890, EVENT_TASK_END, 1);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_near(m.threads[STATE_OCCUPIED].mean, 1 + 0.82);
    assert_near(m.threads[STATE_WAITING].mean, 0.6); // 800 less 200
    assert_near(m.tasks.work_ns, 100 + 100 + 200 + 820);
    assert_near(m.tasks.span_ns, 10 + 820 + 100); // by task 1: what main helps with is not on its path
    assert_near(m.tasks.granularity.max, 820);
    assert_near(m.tasks.granularity.p50, 200); // of 200, 200 and 820: main's own and task 2
    close_fixture(&f);
}

static void test_unknown_waits_are_active(void **state) {
    struct fixture f = {.tb = tb_new()};
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 100, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, 0));
    tb_event(f.tb, 1, 900, EVENT_WAIT_END, 0);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_near(m.threads[STATE_ACTIVE].mean, 1);
    assert_near(m.threads[STATE_WAITING].mean, 0);
    assert_near(m.threads[STATE_BLOCKED].mean, 0.8);
    assert_near(m.tasks.work_ns, 200);
    assert_near(m.tasks.idle_share, 3 * 200 / 4000.0); // of 4 cores, while it is not asleep
    close_fixture(&f);
}

static void test_system_and_virtual_threads(void **state) {
    struct fixture f = {.tb = tb_new()};
    tb_thread(f.tb, 1, "main", 0);
    tb_thread(f.tb, 2, "virtual", THREAD_VIRTUAL);
    tb_thread(f.tb, 3, "C2 compiler", THREAD_SYSTEM);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    tb_event(f.tb, 2, 100, EVENT_THREAD_START, 51);
    tb_event(f.tb, 2, 600, EVENT_THREAD_END, 51);
    tb_event(f.tb, 3, 200, EVENT_THREAD_START, 52);
    tb_event(f.tb, 3, 5000, EVENT_THREAD_END, 52);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.wall_ns, 1000);
    assert_near(m.threads[STATE_OCCUPIED].mean, 1);
    assert_near(m.virtual_threads[STATE_OCCUPIED].mean, 0.5);
    close_fixture(&f);
}

// Main hands one task to a thread of its own: the bracket takes 20, and the thread begins 600 after its beginning.
static struct metrics of_own_thread(uint32_t flags, enum event_kind told, uint64_t told_ns) {
    struct fixture f = {.tb = tb_new()};
    tb_thread(f.tb, 1, "main", 0);
    tb_thread(f.tb, 2, "", flags);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 100, EVENT_SPAWN_BEGIN, TASK);
    tb_event(f.tb, 1, 120, EVENT_SPAWN_END, TASK);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    if (told == EVENT_RUN_DELAY) tb_event(f.tb, 2, 699, told, told_ns);
    tb_event(f.tb, 2, 700, EVENT_THREAD_START, TASK, 1);
    if (told == EVENT_READY) tb_event(f.tb, 2, 701, told, told_ns + 1); // what exceeds the time since was before
    tb_event(f.tb, 2, 900, EVENT_THREAD_END, TASK, 201);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    close_fixture(&f);
    return m;
}

// What it waits for a core or a carrier is no hand-over, and its body counts, be it a virtual thread's.
static void test_overhead_of_threads_of_their_own(void **state) {
    assert_near(of_own_thread(0, EVENT_NONE, 0).tasks.overhead_share, (20 + 600) / 1200.0);
    assert_near(of_own_thread(0, EVENT_RUN_DELAY, 500).tasks.overhead_share, (20 + 100) / 1200.0);
    assert_near(of_own_thread(0, EVENT_RUN_DELAY, 5000).tasks.overhead_share, 20 / 1200.0);
    assert_near(of_own_thread(THREAD_VIRTUAL, EVENT_READY, 500).tasks.overhead_share, (20 + 100) / 1200.0);
    assert_near(of_own_thread(THREAD_VIRTUAL, EVENT_NONE, 0).tasks.overhead_share, 20 / 1200.0); // not told
}

static void test_peak_ignores_an_instant(void **state) {
    struct fixture f = {.tb = tb_new()};
    tb_thread(f.tb, 1, "main", 0);
    tb_thread(f.tb, 2, "other", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 10000, EVENT_THREAD_END, MAIN);
    tb_event(f.tb, 2, 100, EVENT_THREAD_START, 51);
    tb_event(f.tb, 2, 125, EVENT_THREAD_END, 51);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_usage(&m.threads[STATE_OCCUPIED], 1.25, 2, 1.0025); // of the busiest 100 ns, 25 have two threads
    close_fixture(&f);
}

static void test_profile(void **state) {
    struct fixture f;
    build_request(&f);
    compute(&f, NULL, NULL);
    double profile[4];
    metrics_profile(&f.work.series, STATE_OCCUPIED, profile, 4);
    assert_near(profile[0], 1 + 90.0 / 250); // 160-250
    assert_near(profile[1], 2);
    assert_near(profile[2], 1 + 180.0 / 250);
    assert_near(profile[3], 1);
    assert_near(metrics_profile_distance(&f.work.series, &f.work.series), 0);
    struct state_change change = {.time_ns = 50, .delta = {[STATE_OCCUPIED] = 1}};
    const struct state_series half = {.changes = &change, .count = 1, .from_ns = 0, .to_ns = 100};
    // half is 0 until one half, then 1: off by 1 + the second thread of 0.16-0.5, by that thread of 0.5-0.68 after.
    assert_near(metrics_profile_distance(&half, &f.work.series), (0.5 + 0.34 + 0.18) / 1.52);
    close_fixture(&f);
}

static void test_waits(void **state) {
    struct fixture f;
    build_request(&f);
    struct arena arena = ARENA_INIT;
    struct wait_findings found;
    assert_true(metrics_waits(f.on.dag, NULL, &arena, &found, &f.on.error));
    assert_int_equal(found.site_count, 1);
    assert_int_equal(found.blocker_count, 0);
    const struct wait_site *sites = found.sites;
    assert_string_equal(sites[0].site.class_name, "Main");
    assert_int_equal(sites[0].site.line, 13);
    assert_int_equal(sites[0].spawned.line, 12);
    assert_int_equal(sites[0].waits, 1);
    assert_int_equal(sites[0].total_ns, 500);
    assert_int_equal(sites[0].longest_ns, 500);
    arena_destroy(&arena);
    close_fixture(&f);
}

// Main waits for the task twice: for as long as it would, and until it is done.
static void test_waits_whose_time_was_up(void **state) {
    struct fixture f = {.tb = tb_new()};
    struct arena arena = ARENA_INIT;
    struct wait_findings found;
    uint32_t site = tb_site(f.tb, "Main", "main", 12), at = tb_site(f.tb, "Main", "main", 13);
    uint32_t pool = tb_pool(f.tb, "pool", 1);
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 50, EVENT_SPAWN_BEGIN, TASK, site, pool);
    tb_event(f.tb, 1, 60, EVENT_SPAWN_END, TASK);
    tb_event(f.tb, 1, 99, EVENT_LIMIT, 100);
    tb_event(f.tb, 1, 100, EVENT_WAIT_BEGIN, TASK, 100, tb_wait(WAIT_FOR_TASK, at));
    tb_event(f.tb, 1, 199, EVENT_TIMED_OUT, TASK);
    tb_event(f.tb, 1, 200, EVENT_WAIT_END, TASK, 110);
    tb_event(f.tb, 1, 210, EVENT_SPAWN_BEGIN, TASK + 1, site, pool); // what it tries again at once is one wait
    tb_event(f.tb, 1, 220, EVENT_SPAWN_END, TASK + 1);
    tb_event(f.tb, 1, 300, EVENT_WAIT_BEGIN, TASK, 200, tb_wait(WAIT_FOR_TASK, at));
    tb_event(f.tb, 1, 410, EVENT_WAIT_END, TASK, 210);
    tb_event(f.tb, 1, 500, EVENT_THREAD_END, MAIN, 300);
    tb_thread(f.tb, 2, "worker", 0);
    tb_event(f.tb, 2, 55, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, 2, 70, EVENT_TASK_START, TASK, 0);
    tb_event(f.tb, 2, 400, EVENT_TASK_END, TASK, 330);
    open_fixture(&f);
    assert_true(metrics_waits(f.on.dag, NULL, &arena, &found, &f.on.error));
    assert_int_equal(found.site_count, 1);
    assert_int_equal(found.sites[0].waits, 2);
    assert_int_equal(found.sites[0].timed_out, 1);
    arena_destroy(&arena);
    close_fixture(&f);
}

// Recording ends at 1000, in the middle of everything: main waits from 600 on for a task of worker 2, which has
// computed since 100; worker 3 has been idle since 400, and worker 4 left at 500.
static void test_what_goes_on_when_recording_ends(void **state) {
    struct fixture f = {.tb = tb_new()};
    struct arena arena = ARENA_INIT;
    struct wait_findings found;
    uint32_t site = tb_site(f.tb, "Main", "main", 12), at = tb_site(f.tb, "Main", "main", 13);
    uint32_t pool = tb_pool(f.tb, "pool", 3);
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 50, EVENT_SPAWN_BEGIN, TASK, site, pool);
    tb_event(f.tb, 1, 60, EVENT_SPAWN_END, TASK);
    tb_event(f.tb, 1, 600, EVENT_WAIT_BEGIN, TASK, 0, tb_wait(WAIT_FOR_TASK, at));
    for (uint32_t worker = 2; worker <= 4; worker++) {
        tb_thread(f.tb, worker, "worker", 0);
        tb_event(f.tb, worker, 80, EVENT_THREAD_START, 1000 + worker);
        tb_event(f.tb, worker, 90, EVENT_WORKER_BEGIN, pool);
    }
    tb_event(f.tb, 2, 100, EVENT_TASK_START, TASK);
    tb_event(f.tb, 3, 400, EVENT_IDLE, pool);
    tb_event(f.tb, 4, 500, EVENT_RETIRE, pool);
    tb_thread(f.tb, 5, "other", 0); // seen last
    tb_event(f.tb, 5, 990, EVENT_THREAD_START, 0);
    tb_event(f.tb, 5, 1000, EVENT_THREAD_END, 0);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.wall_ns, 1000);
    assert_usage(&m.threads[STATE_OCCUPIED], 2, 2, 1 + 0.9);
    assert_usage(&m.threads[STATE_ACTIVE], 2, 2, 0.6 + 0.9);
    assert_usage(&m.threads[STATE_WAITING], 1, 1, 0.4);
    assert_usage(&m.threads[STATE_UNOCCUPIED], 3, 3, 0.02 + 0.92 + 0.42);
    const struct window late = {700, 1000};
    m = compute(&f, &late, NULL); // from the first event in it, at 990
    assert_usage(&m.threads[STATE_OCCUPIED], 2, 2, 2);
    assert_true(metrics_waits(f.on.dag, NULL, &arena, &found, &f.on.error));
    assert_int_equal(found.site_count, 1);
    assert_int_equal(found.sites[0].waits, 1);
    assert_int_equal(found.sites[0].total_ns, 400);
    arena_destroy(&arena);
    close_fixture(&f);
}

// Attached to: main and another thread were there and did nothing; only of main it is known that it is in a task.
static void test_who_is_silent_all_the_time(void **state) {
    struct fixture f = {.tb = tb_new()};
    tb_running(f.tb, MAIN);
    tb_running(f.tb, 50);
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_THREAD_START, MAIN);
    tb_event(f.tb, 1, 1, EVENT_MAIN_BEGIN, MAIN);
    tb_thread(f.tb, 2, "exec-1", 0);
    tb_event(f.tb, 2, 0, EVENT_THREAD_START, 50);
    tb_thread(f.tb, 3, "late", 0);
    tb_event(f.tb, 3, 400, EVENT_THREAD_START, 60);
    tb_event(f.tb, 3, 1000, EVENT_THREAD_END, 60);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.wall_ns, 1000);
    assert_usage(&m.threads[STATE_OCCUPIED], 2, 2, 0.999 + 0.6);
    close_fixture(&f);
}

static void build_calls(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new()};
    uint32_t method = tb_method(f->tb, "com.acme.Server", "handle");
    tb_thread(f->tb, 1, "main", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    for (uint64_t call = 0; call < 3; call++) {
        tb_event(f->tb, 1, 100 + call * 100, EVENT_ENTER, method);
        tb_event(f->tb, 1, 150 + call * 100, EVENT_EXIT, method);
    }
    tb_event(f->tb, 1, 1000, EVENT_THREAD_END, MAIN);
    open_fixture(f);
}

static void test_window_choose(void **state) {
    static const struct {
        const char *text;
        int64_t from_ns, to_ns;
    } good[] = {
        {NULL, INT64_MIN, INT64_MAX},
        {"..", INT64_MIN, INT64_MAX},
        {"0..", 0, INT64_MAX},
        {"10%..90%", 100, 900},
        {"..0.0000005", INT64_MIN, 500},
        {"Server.handle#2..", 200, INT64_MAX},
        {"com.acme.Server.handle#1..acme.Server.handle#3", 100, 350},
    };
    static const char *const bad[] = {"",
                                      "5",
                                      "x..",
                                      "1..x",
                                      "90%..10%",
                                      "-1..",
                                      "1%%..",
                                      "nan..",
                                      "handle#1..",
                                      "rver.handle#1..",
                                      "Server.handle#4..",
                                      "Server.handle#0..",
                                      "Server.handle#..",
                                      "Server.handle#1x.."};
    struct fixture f;
    struct window window;
    struct window_choice choice;
    build_calls(&f);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(window_choose(good[i].text, f.on.dag, &window, &choice, &f.on.error));
        assert_int_equal(window.from_ns, good[i].from_ns);
        assert_int_equal(window.to_ns, good[i].to_ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f.on.error = (struct error)ERROR_INIT;
        assert_false(window_choose(bad[i], f.on.dag, &window, &choice, &f.on.error));
        assert_int_equal(f.on.error.status, STATUS_USAGE);
    }
    close_fixture(&f);
}

// Random graphs: threads with nested bodies and waits, on a DAG made by hand; many events share a time.

enum { MOST_THREADS = 6, MOST_VERTICES = 400, TICK_NS = 10000, INSTANTS = 60 * TICK_NS };

struct random_run {
    struct trace trace;
    struct trace_stream stream;
    struct dag dag;
    struct dag_thread threads[MOST_THREADS];
    struct dag_task tasks[MOST_VERTICES];
    int64_t time_ns[MOST_VERTICES], compute_ns[MOST_VERTICES], queued_ns[MOST_VERTICES];
    uint32_t cause[MOST_VERTICES], task[MOST_VERTICES];
    uint64_t event[MOST_VERTICES];
    uint8_t kind[MOST_VERTICES], rule[MOST_VERTICES], inlined[MOST_VERTICES];
};

static void put(struct random_run *r, enum vertex_kind kind, uint32_t task, int64_t *now) {
    uint32_t v = r->dag.vertex_count++;
    *now += rand() % 3 ? rand() % 4 * TICK_NS : 0;
    r->time_ns[v] = *now;
    r->kind[v] = (uint8_t)kind;
    r->task[v] = task;
    r->cause[v] = DAG_NONE;
}

static void put_body(struct random_run *r, int64_t *now, int depth);
static void put_block(struct random_run *r, int64_t *now);

static void put_wait(struct random_run *r, int64_t *now, int depth) {
    put(r, VERTEX_WAIT_BEGIN, rand() % 4 ? 0 : DAG_NONE, now);
    if (depth < 4 && rand() % 3 == 0) put_body(r, now, depth + 1);
    if (rand() % 4 == 0) put_block(r, now);
    put(r, VERTEX_WAIT_END, DAG_NONE, now);
}

static void put_block(struct random_run *r, int64_t *now) {
    put(r, VERTEX_ACQUIRE, 0, now);
    put(r, VERTEX_ACQUIRED, 0, now);
}

static void put_body(struct random_run *r, int64_t *now, int depth) {
    uint32_t task = r->dag.task_count++;
    r->tasks[task] = (struct dag_task){.spawn_begin = DAG_NONE, .spawn_end = DAG_NONE, .start = r->dag.vertex_count};
    put(r, VERTEX_START, task, now);
    for (int i = rand() % 4; i > 0; i--) {
        int what = rand() % 4;
        if (what < 2)
            put_wait(r, now, depth);
        else if (what == 2)
            put_block(r, now);
        else if (depth < 4)
            put_body(r, now, depth + 1);
    }
    r->tasks[task].end = r->dag.vertex_count;
    put(r, VERTEX_END, task, now);
}

// Under way when recording ended: what stands for its end comes at its thread's last event.
static void put_cut_body(struct random_run *r, int64_t *now, int depth) {
    uint32_t task = r->dag.task_count++;
    r->tasks[task] = (struct dag_task){.start = r->dag.vertex_count, .flags = TASK_UNFINISHED, .spawn_begin = DAG_NONE};
    put(r, VERTEX_START, task, now);
    if (rand() % 2) put_wait(r, now, depth + 1);
    if (rand() % 2) put(r, VERTEX_WAIT_BEGIN, rand() % 4 ? 0 : DAG_NONE, now);
    if (depth < 3 && rand() % 2) put_cut_body(r, now, depth + 1);
    int64_t same = *now;
    put(r, VERTEX_END, task, &same);
    r->time_ns[r->dag.vertex_count - 1] = *now;
    r->tasks[task].end = r->dag.vertex_count - 1;
}

// As if it had been measured, each edge for itself.
static void measure_at_random(struct dag_vertices *vertices, const struct dag_thread *thread) {
    vertices->compute_ns[thread->first] = vertices->queued_ns[thread->first] = 0;
    for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
        int64_t length_ns = vertices->time_ns[v] - vertices->time_ns[v - 1];
        vertices->compute_ns[v] = rand() % 2 ? rand() % (length_ns + 1) : 0;
        vertices->queued_ns[v] = rand() % 2 ? rand() % (length_ns - vertices->compute_ns[v] + 1) : 0;
    }
}

static void make_random(struct random_run *r) {
    *r = (struct random_run){.trace = {.version = 2,
                                       .header = {.cores = 1 + (uint32_t)rand() % 4, .origin = "recorded"},
                                       .stream_count = 1}};
    r->trace.streams = &r->stream;
    r->dag = (struct dag){.trace = &r->trace, .threads = r->threads, .tasks = r->tasks};
    r->dag.vertices = (struct dag_vertices){
        .time_ns = r->time_ns, .cause = r->cause, .task = r->task, .event = r->event, .kind = r->kind, .rule = r->rule};
    r->dag.thread_count = 1 + (uint32_t)rand() % MOST_THREADS;
    for (uint32_t t = 0; t < r->dag.thread_count; t++) {
        struct dag_thread *thread = &r->threads[t];
        *thread = (struct dag_thread){.first = r->dag.vertex_count, .worker = rand() % 2, .run_task = DAG_NONE};
        int64_t now = rand() % (INSTANTS / 2);
        put(r, VERTEX_THREAD_START, DAG_NONE, &now);
        for (int i = rand() % 3; i > 0 && r->dag.vertex_count < MOST_VERTICES / 2; i--) put_body(r, &now, 0);
        int last = rand() % 4;
        if (last == 0)
            put_cut_body(r, &now, 0);
        else if (last > 1)
            put(r, last == 2 ? VERTEX_THREAD_END : VERTEX_RETIRE, DAG_NONE, &now);
        thread->count = r->dag.vertex_count - thread->first;
    }
    if (rand() % 2) return;
    r->dag.cycles_per_ns = 1;
    r->dag.vertices.compute_ns = r->compute_ns;
    r->dag.vertices.queued_ns = r->queued_ns;
    for (uint32_t t = 0; t < r->dag.thread_count; t++) measure_at_random(&r->dag.vertices, &r->threads[t]);
}

// The slow reference: every thread's state from scratch, by its chain, in each interval between two times.

struct reference {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct dag_run *run;
    int64_t from_ns, to_ns;
    int64_t *times;
    size_t time_count;
};

static bool is_cut(const struct dag *dag, uint32_t task) {
    return dag->tasks[task].flags & TASK_UNFINISHED;
}

// Whether it is seen to leave; else it is there as long as the run lasts.
static bool leaves(const struct dag *dag, const struct dag_thread *thread) {
    bool left = false;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        const uint8_t kind = dag->vertices.kind[v];
        const uint32_t task = dag->vertices.task[v];
        left |= kind == VERTEX_THREAD_END || kind == VERTEX_RETIRE;
        left |= kind == VERTEX_END && task == thread->run_task && !is_cut(dag, task);
    }
    return left;
}

static bool is_one_of(unsigned kind, unsigned one, unsigned other, unsigned third) {
    return kind == one || kind == other || kind == third;
}

// How long the thread sleeps unseen before a vertex of its chain, just before it, if it is in a task then. A body that
// was moved comes after what its spawn came after.
static int64_t slept_before(const struct reference *r, uint32_t v) {
    const struct dag_vertices *vertices = &r->dag->vertices;
    if (!vertices->queued_ns) return 0;
    if (vertices->kind[v] == VERTEX_START && r->edit->inlined[vertices->task[v]])
        v = r->dag->tasks[vertices->task[v]].spawn_begin;
    for (uint32_t t = 0; t < r->dag->thread_count; t++) {
        if (r->dag->threads[t].first == v) return 0;
    }
    if (is_one_of(vertices->kind[v - 1], VERTEX_IDLE, VERTEX_WAIT_BEGIN, VERTEX_ACQUIRE)) return 0;
    if (is_one_of(vertices->kind[v], VERTEX_BUSY, VERTEX_RETIRE, VERTEX_RETIRE)) return 0;
    int64_t rest_ns = vertices->time_ns[v] - vertices->time_ns[v - 1] - vertices->compute_ns[v];
    rest_ns -= vertices->queued_ns[v];
    return vertices->rule[v] == RULE_RUN && rest_ns >= 20000 ? rest_ns : 0;
}

// -1: none.
static int state_at(const struct reference *r, uint32_t thread, int64_t time) {
    static uint8_t open[4 * MOST_VERTICES];
    int depth = 0, bodies = 0;
    bool begun = false, goes_on = false, sleeps = false;
    struct dag_chain chain;
    dag_chain_init(&chain, r->dag, r->edit);
    dag_chain_start(&chain, thread);
    for (uint32_t v; (v = dag_chain_next(&chain)) != DAG_NONE;) {
        goes_on = r->run->time_ns[v] > time;
        sleeps = goes_on && r->run->time_ns[v] - slept_before(r, v) <= time;
        if (goes_on) break;
        begun = true;
        switch (r->dag->vertices.kind[v]) {
        case VERTEX_START:
            open[depth++] = STATE_ACTIVE, bodies++;
            break;
        case VERTEX_WAIT_BEGIN:
            open[depth++] = r->dag->vertices.task[v] != DAG_NONE ? STATE_WAITING : STATE_BLOCKED;
            break;
        case VERTEX_ACQUIRE: // within a wait that goes on
            open[depth] = depth > 0 && open[depth - 1] != STATE_ACTIVE ? open[depth - 1] : STATE_BLOCKED;
            depth++;
            break;
        case VERTEX_END:
            if (is_cut(r->dag, r->dag->vertices.task[v])) break;
            bodies--;
            depth--;
            break;
        case VERTEX_WAIT_END:
        case VERTEX_ACQUIRED:
            depth--;
            break;
        default:
            break;
        }
    }
    goes_on |= !leaves(r->dag, &r->dag->threads[thread]);
    if (!begun || !goes_on) return -1;
    if (bodies == 0) return r->dag->threads[thread].worker ? STATE_UNOCCUPIED : -1;
    return sleeps && open[depth - 1] == STATE_ACTIVE ? STATE_BLOCKED : open[depth - 1];
}

static int compare_times(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void list_times(struct reference *r) {
    r->times = malloc((2 * r->dag->vertex_count + 2) * sizeof *r->times);
    r->times[r->time_count++] = r->from_ns;
    r->times[r->time_count++] = r->to_ns;
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        int64_t time = r->run->time_ns[v];
        if (time == DAG_ABSENT) continue;
        if (time > r->from_ns && time < r->to_ns) r->times[r->time_count++] = time;
        time -= slept_before(r, v);
        if (time > r->from_ns && time < r->to_ns) r->times[r->time_count++] = time;
    }
    qsort(r->times, r->time_count, sizeof *r->times, compare_times);
}

static bool is_counted(const struct dag *dag, uint32_t thread, uint32_t flags) {
    uint32_t stream = dag->threads[thread].stream;
    if (stream == DAG_NONE || dag->threads[thread].system) return false;
    return (dag->trace->streams[stream].thread.flags & THREAD_VIRTUAL) == flags;
}

static int level_at(const struct reference *r, int64_t time, enum thread_state wanted, uint32_t flags) {
    int level = 0;
    for (uint32_t t = 0; t < r->dag->thread_count; t++) {
        if (!is_counted(r->dag, t, flags)) continue;
        int in = state_at(r, t, time);
        level += in == (int)wanted || (wanted == STATE_OCCUPIED && (in == STATE_ACTIVE || in == STATE_WAITING)) ||
                 (in == STATE_BLOCKED && (wanted == STATE_OCCUPIED || wanted == STATE_ACTIVE));
    }
    return level;
}

static struct usage solve_slowly(const struct reference *r, enum thread_state wanted, uint32_t flags) {
    int64_t at_level[64] = {0}, wall = r->to_ns - r->from_ns;
    struct usage usage = {0};
    for (size_t i = 0; i + 1 < r->time_count; i++) {
        if (r->times[i] == r->times[i + 1]) continue;
        int level = level_at(r, r->times[i], wanted, flags);
        at_level[level] += r->times[i + 1] - r->times[i];
    }
    double left = (double)wall / 100;
    for (int level = 63; level >= 0; level--) {
        double taken = fmin((double)at_level[level], left);
        usage.peak += level * taken / ((double)wall / 100);
        left -= taken;
        usage.mean += level * (double)at_level[level] / (double)wall;
        if (at_level[level] && usage.max < level) usage.max = level;
    }
    return usage;
}

static void check_against_reference(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                                    const struct window *window) {
    struct error error = ERROR_INIT;
    struct metrics_work work = {0};
    struct metrics m;
    if (metrics_usage(dag, edit, run, window, NULL, &work, &m, &error) && m.wall_ns > 0) {
        struct reference r = {
            .dag = dag, .edit = edit, .run = run, .from_ns = work.series.from_ns, .to_ns = work.series.to_ns};
        list_times(&r);
        for (int s = 0; s < STATE_COUNT; s++) {
            struct usage expected = solve_slowly(&r, (enum thread_state)s, 0);
            assert_usage(&m.threads[s], expected.peak, expected.max, expected.mean);
            if (isnan(m.virtual_threads[s].mean)) continue;
            expected = solve_slowly(&r, (enum thread_state)s, THREAD_VIRTUAL);
            assert_usage(&m.virtual_threads[s], expected.peak, expected.max, expected.mean);
        }
        free(r.times);
    }
    metrics_work_destroy(&work);
}

static bool find_bounds(struct random_run *r, int64_t *time_ns, const struct window *window, int64_t *from_ns,
                        int64_t *to_ns) {
    struct error error = ERROR_INIT;
    struct metrics_work work = {0};
    struct metrics m;
    bool any = metrics_usage(&r->dag, &(struct dag_edit){.inlined = r->inlined}, &(struct dag_run){.time_ns = time_ns},
                             window, NULL, &work, &m, &error);
    *from_ns = work.series.from_ns;
    *to_ns = work.series.to_ns;
    metrics_work_destroy(&work);
    return any;
}

// However far a run takes events from where they were, what lay in turn does so.
static void check_cut(struct random_run *r, int64_t cut_ns) {
    const struct window before = {1, cut_ns}, after = {cut_ns + 1, INT64_MAX};
    int64_t first_ns, until_ns, from_ns, last_ns, moved_ns[MOST_VERTICES];
    for (uint32_t v = 0; v < r->dag.vertex_count; v++) {
        moved_ns[v] = r->time_ns[v] + (rand() % 8 ? 0 : rand() % (4 * INSTANTS));
    }
    if (!find_bounds(r, moved_ns, &before, &first_ns, &until_ns)) return;
    if (!find_bounds(r, moved_ns, &after, &from_ns, &last_ns)) return;
    assert_true(first_ns <= until_ns && until_ns <= from_ns && from_ns <= last_ns);
}

static void test_random_graphs(void **state) {
    static struct random_run r;
    srand(1);
    for (int i = 0; i < 200; i++) {
        make_random(&r);
        const struct window window = {rand() % INSTANTS, INSTANTS + rand() % INSTANTS};
        const struct dag_edit edit = {.inlined = r.inlined};
        const struct dag_run run = {.time_ns = r.time_ns};
        check_against_reference(&r.dag, &edit, &run, NULL);
        check_against_reference(&r.dag, &edit, &run, &window);
        check_cut(&r, window.from_ns);
    }
}

// Random programs: tasks that spawn and await tasks, on workers some of which are virtual threads or the JVM's own.
// Each is then edited at random.

enum { WORKERS = 12 };

struct made_program {
    struct trace_builder *tb;
    uint32_t pool, site;
    uint64_t free_from[WORKERS + 2], next_task;
    int tasks_left;
};

static uint64_t run_body(struct made_program *p, uint32_t thread, uint64_t now, int depth);

// Runs a task on a free worker; where there is none, nobody does. Returns when its result is there, or 0.
static uint64_t run_task(struct made_program *p, uint64_t task, uint64_t spawned, int depth) {
    uint32_t worker = 2;
    while (worker < WORKERS + 2 && p->free_from[worker] > spawned) worker++;
    if (worker == WORKERS + 2) return 0;
    p->free_from[worker] = UINT64_MAX;
    uint64_t now = spawned + 20 + (uint64_t)rand() % 20;
    tb_event(p->tb, worker, now - 10, EVENT_IDLE, p->pool);
    tb_event(p->tb, worker, now - 5, EVENT_BUSY, p->pool);
    tb_event(p->tb, worker, now, EVENT_TASK_START, task);
    uint64_t result = run_body(p, worker, now, depth) + 1;
    tb_event(p->tb, worker, result, EVENT_RESULT, task);
    tb_event(p->tb, worker, result + 5, EVENT_TASK_END, task);
    p->free_from[worker] = result + 10;
    return result;
}

// Hands a task over and returns when its result will be there, or 0.
static uint64_t spawn_task(struct made_program *p, uint32_t thread, uint64_t *now, int depth) {
    uint64_t task = p->next_task++, spawned = *now + 1 + (uint64_t)rand() % 100;
    p->tasks_left--;
    tb_event(p->tb, thread, spawned, EVENT_SPAWN_BEGIN, task, p->site, p->pool);
    tb_event(p->tb, thread, *now = spawned + 8, EVENT_SPAWN_END, task);
    return run_task(p, task, spawned, depth + 1);
}

static uint64_t run_body(struct made_program *p, uint32_t thread, uint64_t now, int depth) {
    for (int i = rand() % 3; depth < 4 && i > 0 && p->tasks_left > 0; i--) {
        uint64_t task = p->next_task, result = spawn_task(p, thread, &now, depth);
        now += (uint64_t)rand() % 3 * 50;
        if (rand() % 4 == 0 || !result) continue;
        tb_event(p->tb, thread, now += 2, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, p->site));
        if (rand() % 8 == 0) spawn_task(p, thread, &now, depth);
        tb_event(p->tb, thread, now = (result > now ? result : now) + 3, EVENT_WAIT_END, task);
    }
    return now + 1 + (uint64_t)rand() % 100;
}

// A worker that is free hands something over outside any task.
static void spawn_outside(struct made_program *p, uint64_t now) {
    uint32_t worker = 2 + (uint32_t)rand() % WORKERS;
    if (p->free_from[worker] > now) return;
    p->free_from[worker] = UINT64_MAX;
    spawn_task(p, worker, &now, 3);
    p->free_from[worker] = now + 1;
}

static void make_program(struct fixture *f) {
    struct made_program p = {.tb = tb_new(), .next_task = 10, .tasks_left = 40};
    bool mixed = rand() % 2;
    *f = (struct fixture){.tb = p.tb};
    p.pool = tb_pool(p.tb, "pool", WORKERS);
    p.site = tb_site(p.tb, "Main", "main", 1);
    tb_thread(p.tb, 1, "main", 0);
    tb_event(p.tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    for (uint32_t w = 2; w < WORKERS + 2; w++) {
        tb_thread(p.tb, w, "worker", !mixed || rand() % 2 ? 0 : rand() % 2 ? THREAD_VIRTUAL : THREAD_SYSTEM);
        tb_event(p.tb, w, 1, EVENT_THREAD_START, 1000 + w);
        tb_event(p.tb, w, 2, EVENT_WORKER_BEGIN, p.pool);
        p.free_from[w] = 3;
    }
    uint64_t now = 10;
    for (int i = 0; i < 4; i++) {
        now = run_body(&p, 1, now, 0);
        spawn_outside(&p, now);
    }
    tb_event(p.tb, 1, now, EVENT_THREAD_END, 1);
    open_fixture(f);
}

// The same program, a thousand times as slow, and measured.
static void slow_down_and_measure(struct fixture *f) {
    struct dag *dag = f->on.dag;
    dag->vertices.compute_ns = calloc(dag->vertex_count, sizeof *dag->vertices.compute_ns);
    dag->vertices.queued_ns = calloc(dag->vertex_count, sizeof *dag->vertices.queued_ns);
    dag->cycles_per_ns = 1;
    dag->wakeup_ns *= 1000;
    dag->first_ns *= 1000;
    dag->last_ns *= 1000;
    for (uint32_t v = 0; v < dag->vertex_count; v++) dag->vertices.time_ns[v] *= 1000;
    for (uint32_t t = 0; t < dag->thread_count; t++) measure_at_random(&dag->vertices, &dag->threads[t]);
}

static void inline_at_random(struct fixture *f) {
    int share = rand() % 4;
    dag_edit_clear(&f->on.edit, f->on.dag);
    for (uint32_t t = 0; t < f->on.dag->task_count; t++) {
        if (rand() % 4 <= share && !dag_inline_refusal(f->on.dag, t)) dag_edit_inline(&f->on.edit, t);
    }
}

// An edited run as a DAG of its own, as the simulation hands one over: what the edit leaves of each thread's vertices,
// at its time and with its bodies; inlined tasks are nested ones.
struct derived {
    struct dag dag;
    uint32_t *place, *source; // of recorded vertices in the derived DAG, and back
    struct arena arena;
};

static uint32_t placed(const struct derived *d, uint32_t vertex) {
    return vertex == DAG_NONE ? DAG_NONE : d->place[vertex];
}

static void derive_vertex(struct derived *d, const struct fixture *f, uint32_t vertex) {
    const struct dag_vertices *from = &f->on.dag->vertices;
    struct dag_vertices *to = &d->dag.vertices;
    uint32_t at = d->dag.vertex_count++;
    d->place[vertex] = at;
    d->source[at] = vertex;
    to->time_ns[at] = f->on.run.time_ns[vertex];
    to->cause[at] = from->cause[vertex];
    to->task[at] = from->task[vertex];
    to->event[at] = from->event[vertex];
    to->kind[at] = from->kind[vertex];
    bool moved = from->kind[vertex] == VERTEX_START && f->on.edit.inlined[from->task[vertex]];
    uint32_t before = moved ? f->on.dag->tasks[from->task[vertex]].spawn_begin : vertex;
    to->rule[at] = moved ? RULE_RUN : from->rule[vertex];
    if (from->compute_ns) to->compute_ns[at] = from->compute_ns[before];
    if (from->queued_ns) to->queued_ns[at] = from->queued_ns[before];
}

static void derive_threads(struct derived *d, struct fixture *f) {
    struct dag_chain chain;
    dag_chain_init(&chain, f->on.dag, &f->on.edit);
    for (uint32_t v = 0; v < f->on.dag->vertex_count; v++) d->place[v] = DAG_NONE;
    for (uint32_t t = 0; t < f->on.dag->thread_count; t++) {
        d->dag.threads[t] = f->on.dag->threads[t];
        d->dag.threads[t].first = d->dag.vertex_count;
        dag_chain_start(&chain, t);
        for (uint32_t v; (v = dag_chain_next(&chain)) != DAG_NONE;) derive_vertex(d, f, v);
        d->dag.threads[t].count = d->dag.vertex_count - d->dag.threads[t].first;
    }
    for (uint32_t v = 0; v < d->dag.vertex_count; v++) {
        d->dag.vertices.cause[v] = placed(d, d->dag.vertices.cause[v]);
    }
}

static struct dag_task derive_task(const struct derived *d, const struct dag_task *task, bool inlined) {
    struct dag_task derived = *task;
    derived.spawn_begin = placed(d, task->spawn_begin);
    derived.spawn_end = placed(d, task->spawn_end);
    derived.pickup = placed(d, task->pickup);
    derived.start = inlined ? DAG_NONE : placed(d, task->start);
    derived.end = inlined ? DAG_NONE : placed(d, task->end);
    derived.tail = placed(d, task->tail);
    derived.result = placed(d, task->result);
    if (inlined) derived.flags |= TASK_NESTED;
    return derived;
}

static void derive(struct derived *d, struct fixture *f) {
    size_t vertices = f->on.dag->vertex_count;
    *d = (struct derived){.dag = *f->on.dag, .arena = ARENA_INIT};
    d->place = ARENA_NEW(&d->arena, uint32_t, vertices);
    d->dag.source = d->source = ARENA_NEW(&d->arena, uint32_t, vertices);
    d->dag.vertices = (struct dag_vertices){.time_ns = ARENA_NEW(&d->arena, int64_t, vertices),
                                            .cause = ARENA_NEW(&d->arena, uint32_t, vertices),
                                            .task = ARENA_NEW(&d->arena, uint32_t, vertices),
                                            .event = ARENA_NEW(&d->arena, uint64_t, vertices),
                                            .kind = ARENA_NEW(&d->arena, uint8_t, vertices),
                                            .rule = ARENA_NEW(&d->arena, uint8_t, vertices)};
    if (f->on.dag->vertices.compute_ns) d->dag.vertices.compute_ns = ARENA_NEW(&d->arena, int64_t, vertices);
    if (f->on.dag->vertices.queued_ns) d->dag.vertices.queued_ns = ARENA_NEW(&d->arena, int64_t, vertices);
    d->dag.threads = ARENA_NEW(&d->arena, struct dag_thread, f->on.dag->thread_count);
    d->dag.tasks = ARENA_NEW(&d->arena, struct dag_task, f->on.dag->task_count);
    d->dag.origin = f->on.dag;
    d->dag.vertex_count = 0;
    derive_threads(d, f);
    for (uint32_t t = 0; t < f->on.dag->task_count; t++) {
        d->dag.tasks[t] = derive_task(d, &f->on.dag->tasks[t], f->on.edit.inlined[t]);
    }
}

#define assert_same(a, b)                                                                                              \
    do {                                                                                                               \
        if (!isnan(a) || !isnan(b)) assert_near(a, b);                                                                 \
    } while (0)

static void assert_same_states(const struct usage *a, const struct usage *b) {
    for (int s = 0; s < STATE_COUNT; s++) {
        assert_same(a[s].peak, b[s].peak);
        assert_same(a[s].max, b[s].max);
        assert_same(a[s].mean, b[s].mean);
    }
}

static void assert_same_metrics(const struct metrics *a, const struct metrics *b) {
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_same_states(a->threads, b->threads);
    assert_same_states(a->virtual_threads, b->virtual_threads);
    assert_same(a->composite, b->composite);
    assert_same(a->tasks.idle_share, b->tasks.idle_share);
    assert_same(a->tasks.work_ns, b->tasks.work_ns);
    assert_same(a->tasks.span_ns, b->tasks.span_ns);
    assert_same(a->tasks.granularity.mean, b->tasks.granularity.mean);
    assert_same(a->tasks.queue_wait_ns.mean, b->tasks.queue_wait_ns.mean);
    assert_int_equal(a->tasks.count, b->tasks.count);
    assert_ptr_equal(a->requests.dag, b->requests.dag);
    assert_int_equal(a->requests.site, b->requests.site);
    assert_same(a->requests.count, b->requests.count);
    assert_same(a->requests.latency_ns.mean, b->requests.latency_ns.mean);
    assert_same(a->requests.peak_threads, b->requests.peak_threads);
}

// main waits for a lock 100-300, and once more 500-600 while it waits for what nobody knows, 400-900.
static void test_blocked(void **state) {
    struct fixture f = {.tb = tb_new()};
    uint32_t lock_class = tb_class(f.tb, "Account");
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 100, EVENT_BLOCK_BEGIN, 8, 0, lock_class);
    tb_event(f.tb, 1, 300, EVENT_BLOCK_END, 8, 0);
    tb_event(f.tb, 1, 400, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, 0));
    tb_event(f.tb, 1, 500, EVENT_BLOCK_BEGIN, 8, 0, lock_class);
    tb_event(f.tb, 1, 600, EVENT_BLOCK_END, 8, 0);
    tb_event(f.tb, 1, 900, EVENT_WAIT_END, 0);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    open_fixture(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_usage(&m.threads[STATE_BLOCKED], 1, 1, 0.7);
    assert_usage(&m.threads[STATE_ACTIVE], 1, 1, 1);
    assert_usage(&m.threads[STATE_WAITING], 0, 0, 0);
    assert_near(m.tasks.work_ns, 300);
    close_fixture(&f);
}

// main:   runs 0-100, submits 100-120, runs -150, waits 150-820, runs -1000 (us)
// worker: body 200-800, of which it computes 300, waits 100 for a core, and so sleeps 200, in the end: 600-800
static void build_sleeper(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new()};
    struct trace_builder *tb = f->tb;
    uint32_t pool = tb_pool(tb, "pool-1", 1), site = tb_site(tb, "Main", "main", 12),
             at = tb_site(tb, "Main", "main", 13);
    tb_cores(tb, 2);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "pool-1-thread-1", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(tb, 1, 100000, EVENT_SPAWN_BEGIN, TASK, site, pool);
    tb_event(tb, 1, 120000, EVENT_SPAWN_END, TASK);
    tb_event(tb, 1, 150000, EVENT_WAIT_BEGIN, TASK, 0, tb_wait(WAIT_FOR_TASK, at));
    tb_event(tb, 1, 820000, EVENT_WAIT_END, TASK);
    tb_event(tb, 1, 1000000, EVENT_THREAD_END, MAIN);
    tb_event(tb, 2, 10000, EVENT_THREAD_START, 50);
    tb_event(tb, 2, 20000, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 2, 30000, EVENT_IDLE, pool);
    tb_event(tb, 2, 180000, EVENT_BUSY, pool);
    tb_event(tb, 2, 199999, EVENT_RUN_DELAY, 5000);
    tb_event(tb, 2, 200000, EVENT_TASK_START, TASK, 1000);
    tb_event(tb, 2, 799999, EVENT_RUN_DELAY, 105000);
    tb_event(tb, 2, 800000, EVENT_TASK_END, TASK, 301000);
    tb_event(tb, 2, 900000, EVENT_THREAD_END, 50);
    open_fixture(f);
}

// What a body neither computes nor waits for a core, and no event tells of, it sleeps; then it takes no core.
static void test_slept_unseen(void **state) {
    struct fixture f;
    build_sleeper(&f);
    struct metrics m = compute(&f, NULL, NULL);
    assert_usage(&m.threads[STATE_BLOCKED], 1, 1, 0.2);
    assert_usage(&m.threads[STATE_ACTIVE], 1, 1, 0.93); // main 0-150, worker 200-800, main 820-1000
    // Of 2 cores one is used in 0-150, 200-600, 820-1000; in 150-200 and 600-820 all are asleep.
    assert_near(m.tasks.idle_share, (150.0 + 400 + 180) / 2000);
    struct wait_findings found;
    assert_true(metrics_waits(f.on.dag, NULL, &f.on.dag->arena, &found, &f.on.error));
    assert_int_equal(found.blocker_count, 1);
    assert_true(found.blockers[0].unseen);
    assert_int_equal(found.blockers[0].times, 1);
    assert_int_equal(found.blockers[0].total_ns, 200000);
    assert_string_equal(found.blockers[0].spawned.method, "main");
    // The body runs 100-700 on main, which then runs 30, finds the result, and runs 180.
    inline_task(&f, TASK);
    m = compute(&f, NULL, NULL);
    assert_int_equal(m.wall_ns, 910000);
    assert_usage(&m.threads[STATE_BLOCKED], 1, 1, 200.0 / 910); // 500-700
    assert_near(m.tasks.idle_share, 710.0 / 1820);
    close_fixture(&f);
}

// Of a pause of 100 that came while the body might as well have slept, 3/4 were in its way: it computed for 300 of the
// 400 that were neither pause nor wait for a core. A simulated run has them behind it.
static void test_pauses_are_no_sleep(void **state) {
    struct dag_pause pause = {.begin_ns = 300000, .end_ns = 400000};
    const struct model model = {.kind = MODEL_DAG};
    struct fixture f;
    build_sleeper(&f);
    f.on.dag->pauses = &pause;
    f.on.dag->pause_count = 1;
    struct metrics m = compute(&f, NULL, NULL);
    assert_usage(&m.threads[STATE_BLOCKED], 1, 1, 0.125);
    assert_int_equal(simulation_run(f.on.simulation, &f.on.edit, &model), DAG_OK);
    assert_true(metrics_of_run(simulation_dag(f.on.simulation), false, NULL, NULL, &f.work, &m, &f.on.error));
    assert_usage(&m.threads[STATE_BLOCKED], 1, 1, 0.125);
    f.on.dag->pauses = NULL;
    close_fixture(&f);
}

// One stop within the window, and one before it.
static void test_collections(void **state) {
    struct fixture f = {.tb = tb_new()};
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 0, 100, EVENT_GC_BEGIN);
    tb_event(f.tb, 0, 150, EVENT_GC_END);
    tb_event(f.tb, 0, 500, EVENT_GC_BEGIN);
    tb_event(f.tb, 0, 530, EVENT_GC_END);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(f.tb, 1, 400, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, 0));
    tb_event(f.tb, 1, 450, EVENT_WAIT_END, 0);
    tb_event(f.tb, 1, 1000, EVENT_THREAD_END, MAIN);
    open_fixture(&f);
    const struct window window = {300, 2000};
    struct metrics m = compute(&f, NULL, NULL);
    assert_int_equal(m.gc_pauses, 2);
    assert_int_equal(m.gc_ns, 80);
    m = compute(&f, &window, NULL);
    assert_int_equal(m.gc_pauses, 1);
    assert_int_equal(m.gc_ns, 30);
    close_fixture(&f);
}

static bool has_system_threads(const struct dag *dag) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (dag->threads[t].system) return true;
    }
    return false;
}

// The overlay's figures and those of the same run as a DAG agree. One workspace for all of the fixture's edits.
static void check_derived(struct fixture *f, struct metrics_work *work) {
    const struct window window = {f->on.dag->last_ns / 4, f->on.dag->last_ns / 2};
    const struct window *windows[] = {NULL, &window};
    struct derived d;
    if (has_system_threads(f->on.dag)) return; // a body that moved to one of those ends an overlay's run, but no DAG's
    derive(&d, f);
    for (int w = 0; w < 2; w++) {
        struct metrics overlay, derived;
        bool any =
            metrics_compute(f->on.dag, &f->on.edit, &f->on.run, windows[w], NULL, &f->work, &overlay, &f->on.error);
        assert_int_equal(metrics_of_run(&d.dag, true, windows[w], any ? &overlay : NULL, work, &derived, &f->on.error),
                         any);
        if (!any) continue;
        overlay.composite = metrics_composite(&overlay, &overlay);
        assert_same_metrics(&overlay, &derived);
    }
    arena_destroy(&d.arena);
}

// The body of build_request inlined, as a DAG: figures of test_inlined; on threads that keep nothing nobody lives.
static void test_derived(void **state) {
    struct fixture f;
    build_request(&f);
    struct metrics base = compute(&f, NULL, NULL), m;
    inline_task(&f, TASK);
    struct derived d;
    derive(&d, &f);
    assert_true(metrics_of_run(&d.dag, true, NULL, &base, &f.work, &m, &f.on.error));
    assert_int_equal(m.wall_ns, 1000);
    assert_usage(&m.threads[STATE_OCCUPIED], 1, 1, 1);
    assert_usage(&m.threads[STATE_UNOCCUPIED], 0, 0, 0);
    assert_near(m.composite, cbrt(1 * (1.0 / 2) * (1000.0 / 1520)));
    assert_int_equal(m.tasks.count, 1);
    assert_near(m.tasks.overhead_share, 0);
    assert_near(m.tasks.span_ns, 930);
    const struct window window = {130, 800}; // 160 to 700, which is now 100 to 700
    assert_true(metrics_of_run(&d.dag, false, &window, NULL, &f.work, &m, &f.on.error));
    assert_int_equal(m.wall_ns, 600);
    d.dag.threads[0].count = 0; // neither main nor worker
    assert_false(metrics_of_run(&d.dag, false, NULL, NULL, &f.work, &m, &f.on.error));
    assert_int_equal(f.on.error.status, STATUS_USAGE);
    arena_destroy(&d.arena);
    close_fixture(&f);
}

static void test_random_edits(void **state) {
    int checked = 0;
    struct metrics_work work = {0};
    srand(5);
    for (int i = 0; i < 60; i++) {
        struct fixture f;
        make_program(&f);
        if (rand() % 2) slow_down_and_measure(&f);
        for (int edits = 0; edits < 3; edits++) {
            inline_at_random(&f);
            if (dag_propagate(f.on.dag, &f.on.edit, &f.on.run) != DAG_OK) continue;
            const struct window window = {f.on.dag->last_ns / 4, f.on.dag->last_ns / 2};
            check_against_reference(f.on.dag, &f.on.edit, &f.on.run, NULL);
            check_against_reference(f.on.dag, &f.on.edit, &f.on.run, &window);
            check_derived(&f, &work);
            struct metrics m = compute(&f, NULL, NULL);
            assert_true(m.tasks.span_ns <= (double)m.wall_ns + 0.5 || m.wall_ns == 0);
            checked++;
        }
        close_fixture(&f);
    }
    metrics_work_destroy(&work);
    assert_true(checked > 120);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_tasks_begun_before_have_no_length),
        cmocka_unit_test(test_inlined),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_helping_is_active),
        cmocka_unit_test(test_unknown_waits_are_active),
        cmocka_unit_test(test_system_and_virtual_threads),
        cmocka_unit_test(test_overhead_of_threads_of_their_own),
        cmocka_unit_test(test_peak_ignores_an_instant),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_waits_whose_time_was_up),
        cmocka_unit_test(test_what_goes_on_when_recording_ends),
        cmocka_unit_test(test_who_is_silent_all_the_time),
        cmocka_unit_test(test_window_choose),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_slept_unseen),
        cmocka_unit_test(test_pauses_are_no_sleep),
        cmocka_unit_test(test_collections),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_random_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
