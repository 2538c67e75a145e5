// SPDX-License-Identifier: GPL-3.0-or-later
// Hand-solved runs, with the arithmetic beside them, and random ones against a slow reference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "trace_builder.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct dag_edit edit;
    struct dag_run run;
    struct metrics_work work;
    struct error error;
};

static void open_fixture(struct fixture *f) {
    f->error = (struct error)ERROR_INIT;
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &f->error);
    assert_non_null(f->dag);
    assert_true(dag_edit_init(&f->edit, f->dag, &f->error));
    assert_true(dag_run_init(&f->run, f->dag, &f->error));
    assert_int_equal(dag_propagate(f->dag, &f->edit, &f->run), DAG_OK);
}

static void close_fixture(struct fixture *f) {
    metrics_work_destroy(&f->work);
    dag_run_destroy(&f->run);
    dag_edit_destroy(&f->edit);
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static struct metrics compute(struct fixture *f, const struct window *window, const struct metrics *base) {
    struct metrics m;
    assert_true(metrics_compute(f->dag, &f->edit, &f->run, window, base, &f->work, &m, &f->error));
    return m;
}

static void inline_task(struct fixture *f, uint64_t id) {
    for (uint32_t t = 0; t < f->dag->task_count; t++) {
        if (f->dag->tasks[t].id == id) dag_edit_inline(&f->edit, t);
    }
    assert_int_equal(dag_propagate(f->dag, &f->edit, &f->run), DAG_OK);
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
    assert_unknown(m.threads[STATE_BLOCKED].mean);
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
    // Of 2 cores: none used in 680-700, one in 0-160, 200-680, 700-1000.
    assert_near(m.tasks.idle_share, (2 * 20.0 + 160 + 480 + 300) / 2000);
    assert_near(m.tasks.work_ns, 500 + 520);
    assert_near(m.tasks.span_ns, 100 + 500 + 300); // to the spawn, to the result, from the wait's end
    assert_near(m.tasks.queue_wait_ns.max, 60);
    assert_string_equal(m.tasks.granularity_unit, "ns");
    assert_near(m.tasks.granularity.max, 450); // CPU time, main's is not known
    assert_near(m.tasks.granularity.mean, 450);
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
    double granularity = (1 / 0.5) / ((1 + 80.0 / 1520) / (1 - 0.49));
    assert_near(m.balanced, sqrt(m.composite * granularity));
    assert_int_equal(m.tasks.count, 1);
    assert_near(m.tasks.overhead_share, 0);
    assert_near(m.tasks.work_ns, 1000);
    assert_near(m.tasks.span_ns, 1000);
    assert_unknown(m.tasks.queue_wait_ns.mean);
    assert_near(metrics_composite(&base, &base), 1);
    assert_near(metrics_balanced(&base, &base), 1);
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
    assert_near(m.tasks.work_ns, 50 + 520);
    assert_false(metrics_usage(f.dag, &f.edit, &f.run, &nothing, NULL, &f.work, &m, &f.error));
    assert_int_equal(f.error.status, STATUS_USAGE);
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
    struct wait_site *sites;
    size_t count;
    assert_true(metrics_waits(f.dag, NULL, &arena, &sites, &count, &f.error));
    assert_int_equal(count, 1);
    assert_string_equal(sites[0].site.class_name, "Main");
    assert_int_equal(sites[0].site.line, 13);
    assert_int_equal(sites[0].spawned.line, 12);
    assert_int_equal(sites[0].waits, 1);
    assert_int_equal(sites[0].total_ns, 500);
    assert_int_equal(sites[0].longest_ns, 500);
    arena_destroy(&arena);
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

static void test_window_parse(void **state) {
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
    build_calls(&f);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(window_parse(good[i].text, f.dag, &window, &f.error));
        assert_int_equal(window.from_ns, good[i].from_ns);
        assert_int_equal(window.to_ns, good[i].to_ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f.error = (struct error)ERROR_INIT;
        assert_false(window_parse(bad[i], f.dag, &window, &f.error));
        assert_int_equal(f.error.status, STATUS_USAGE);
    }
    close_fixture(&f);
}

// Random runs: threads with nested bodies and waits, on a DAG made by hand; many events share a time.

enum { MOST_THREADS = 6, MOST_VERTICES = 400, INSTANTS = 60 };

struct random_run {
    struct trace trace;
    struct trace_stream stream;
    struct dag dag;
    struct dag_thread threads[MOST_THREADS];
    struct dag_task tasks[MOST_VERTICES];
    int64_t time_ns[MOST_VERTICES];
    uint32_t cause[MOST_VERTICES], task[MOST_VERTICES];
    uint64_t event[MOST_VERTICES];
    uint8_t kind[MOST_VERTICES], rule[MOST_VERTICES], inlined[MOST_VERTICES];
};

static void put(struct random_run *r, enum vertex_kind kind, uint32_t task, int64_t *now) {
    uint32_t v = r->dag.vertex_count++;
    *now += rand() % 3 ? rand() % 4 : 0;
    r->time_ns[v] = *now;
    r->kind[v] = (uint8_t)kind;
    r->task[v] = task;
    r->cause[v] = DAG_NONE;
}

static void put_body(struct random_run *r, int64_t *now, int depth);

static void put_wait(struct random_run *r, int64_t *now, int depth) {
    put(r, VERTEX_WAIT_BEGIN, rand() % 4 ? 0 : DAG_NONE, now);
    if (depth < 4 && rand() % 3 == 0) put_body(r, now, depth + 1);
    put(r, VERTEX_WAIT_END, DAG_NONE, now);
}

static void put_body(struct random_run *r, int64_t *now, int depth) {
    uint32_t task = r->dag.task_count++;
    r->tasks[task] = (struct dag_task){.spawn_begin = DAG_NONE, .spawn_end = DAG_NONE, .start = r->dag.vertex_count};
    put(r, VERTEX_START, task, now);
    for (int i = rand() % 3; i > 0; i--) {
        if (rand() % 2)
            put_wait(r, now, depth);
        else if (depth < 4)
            put_body(r, now, depth + 1);
    }
    r->tasks[task].end = r->dag.vertex_count;
    put(r, VERTEX_END, task, now);
}

static void make_random(struct random_run *r) {
    *r = (struct random_run){.trace = {.header = {.cores = 1 + (uint32_t)rand() % 4}, .stream_count = 1}};
    r->trace.streams = &r->stream;
    r->dag = (struct dag){.trace = &r->trace, .threads = r->threads, .tasks = r->tasks};
    r->dag.vertices = (struct dag_vertices){r->time_ns, r->cause, r->task, r->event, r->kind, r->rule};
    r->dag.thread_count = 1 + (uint32_t)rand() % MOST_THREADS;
    for (uint32_t t = 0; t < r->dag.thread_count; t++) {
        struct dag_thread *thread = &r->threads[t];
        *thread = (struct dag_thread){.first = r->dag.vertex_count, .worker = rand() % 2};
        int64_t now = rand() % (INSTANTS / 2);
        put(r, VERTEX_THREAD_START, DAG_NONE, &now);
        for (int i = rand() % 3; i > 0 && r->dag.vertex_count < MOST_VERTICES / 2; i--) put_body(r, &now, 0);
        put(r, VERTEX_THREAD_END, DAG_NONE, &now);
        thread->count = r->dag.vertex_count - thread->first;
    }
}

// The thread's state in [time, time + 1), from scratch. -1: none.
static int state_at(const struct random_run *r, const struct dag_thread *thread, int64_t time) {
    uint8_t open[MOST_VERTICES];
    int depth = 0, bodies = 0;
    if (time < r->time_ns[thread->first] || time >= r->time_ns[thread->first + thread->count - 1]) return -1;
    for (uint32_t v = thread->first; v < thread->first + thread->count && r->time_ns[v] <= time; v++) {
        switch (r->kind[v]) {
        case VERTEX_START:
            open[depth++] = 0, bodies++;
            break;
        case VERTEX_WAIT_BEGIN:
            open[depth++] = r->task[v] != DAG_NONE;
            break;
        case VERTEX_END:
            bodies--;
            depth--;
            break;
        case VERTEX_WAIT_END:
            depth--;
            break;
        default:
            break;
        }
    }
    if (bodies == 0) return thread->worker ? STATE_UNOCCUPIED : -1;
    return open[depth - 1] ? STATE_WAITING : STATE_ACTIVE;
}

static int compare_down(const void *a, const void *b) {
    return *(const int *)b - *(const int *)a;
}

static struct usage reference(const struct random_run *r, int64_t from, int64_t to, enum thread_state wanted) {
    static int levels[4096];
    int count = 0;
    double sum = 0, peak = 0, left = (double)(to - from) / 100;
    for (int64_t time = from; time < to; time++) {
        int level = 0;
        for (uint32_t t = 0; t < r->dag.thread_count; t++) {
            int in = state_at(r, &r->threads[t], time);
            level += in == (int)wanted || (wanted == STATE_OCCUPIED && (in == STATE_ACTIVE || in == STATE_WAITING));
        }
        levels[count++] = level;
        sum += level;
    }
    qsort(levels, (size_t)count, sizeof levels[0], compare_down);
    for (int i = 0; left > 0; i++, left -= 1) peak += levels[i] * fmin(left, 1);
    return (struct usage){peak / ((double)(to - from) / 100), levels[0], sum / (double)(to - from)};
}

static void check_against_reference(const struct random_run *r, const struct window *window,
                                    struct metrics_work *work) {
    struct error error = ERROR_INIT;
    struct metrics m;
    const struct dag_edit edit = {.inlined = (uint8_t *)(uintptr_t)r->inlined};
    const struct dag_run run = {.time_ns = (int64_t *)(uintptr_t)r->time_ns};
    if (!metrics_usage(&r->dag, &edit, &run, window, NULL, work, &m, &error)) return;
    if (m.wall_ns == 0) return;
    for (int s = 0; s < STATE_COUNT; s++) {
        if (s == STATE_BLOCKED) continue;
        struct usage expected = reference(r, work->series.from_ns, work->series.to_ns, (enum thread_state)s);
        assert_usage(&m.threads[s], expected.peak, expected.max, expected.mean);
    }
}

static void test_random_against_reference(void **state) {
    static struct random_run r;
    srand(1);
    for (int i = 0; i < 300; i++) {
        struct metrics_work work = {0};
        const struct window window = {rand() % INSTANTS, INSTANTS + rand() % INSTANTS};
        make_random(&r);
        check_against_reference(&r, NULL, &work);
        check_against_reference(&r, &window, &work);
        metrics_work_destroy(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_inlined),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_helping_is_active),
        cmocka_unit_test(test_unknown_waits_are_active),
        cmocka_unit_test(test_system_and_virtual_threads),
        cmocka_unit_test(test_peak_ignores_an_instant),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_window_parse),
        cmocka_unit_test(test_random_against_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
