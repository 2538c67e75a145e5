// SPDX-License-Identifier: GPL-3.0-or-later
// Replicates of a recording: what they keep, what they vary, and the limits that follow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/interval.h"
#include "metrics/metrics.h"
#include "random_trace.h"

#include <stdlib.h>

enum { MAIN = 100 };

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct metrics_work work;
    struct metrics base;
    struct error error;
    unsigned calls, stuck_every; // of evaluate; 0: never
};

static void open_fixture(struct fixture *f) {
    f->error = (struct error)ERROR_INIT;
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &f->error);
    assert_non_null(f->dag);
    assert_true(metrics_of_run(f->dag, false, NULL, NULL, &f->work, &f->base, &f->error));
}

static void close_fixture(struct fixture *f) {
    metrics_work_destroy(&f->work);
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static uint64_t rising(uint32_t site, uint32_t task) {
    return 1000 + 100 * task + 10000 * site;
}

// main hands `count` tasks of each site to a pool's worker, one after the other, and awaits each. What lies between
// them takes 50 a task. Tasks compute for so much of their time, and sleep then; 0: that is not known.
static void build_computing_chain(struct fixture *f, uint32_t sites, uint32_t count,
                                  uint64_t (*duration)(uint32_t site, uint32_t task), unsigned percent) {
    *f = (struct fixture){.tb = tb_new()};
    uint32_t pool = tb_pool(f->tb, "pool", 1);
    uint64_t now = 0, task = 0, cpu = percent > 0;
    tb_thread(f->tb, 1, "main", 0);
    tb_thread(f->tb, 2, "worker", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    if (percent > 0) tb_event(f->tb, 2, 0, EVENT_RUN_DELAY, 0); // the kernel accounts for it
    tb_event(f->tb, 2, 1, EVENT_THREAD_START, 50);
    tb_event(f->tb, 2, 2, EVENT_WORKER_BEGIN, pool);
    for (uint32_t s = 0; s < sites; s++) {
        uint32_t site = tb_site(f->tb, "Main", "main", s + 1);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t lasts = duration(s, i);
            tb_event(f->tb, 1, now + 10, EVENT_SPAWN_BEGIN, ++task, site, pool);
            tb_event(f->tb, 1, now + 20, EVENT_SPAWN_END, task);
            tb_event(f->tb, 1, now + 25, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, site));
            tb_event(f->tb, 2, now + 40, EVENT_TASK_START, task, cpu);
            cpu += lasts * percent / 100;
            tb_event(f->tb, 2, now + 40 + lasts, EVENT_TASK_END, task, cpu);
            now += 50 + lasts;
            tb_event(f->tb, 1, now, EVENT_WAIT_END, task);
        }
    }
    tb_event(f->tb, 1, now + 1, EVENT_THREAD_END, MAIN);
    open_fixture(f);
}

static void build_chain(struct fixture *f, uint32_t sites, uint32_t count,
                        uint64_t (*duration)(uint32_t site, uint32_t task)) {
    build_computing_chain(f, sites, count, duration, 0);
}

static bool measure(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                    struct error *error) {
    struct fixture *f = context;
    *stuck = f->stuck_every && f->calls % f->stuck_every;
    f->calls++;
    return metrics_of_run(replicate, false, NULL, &f->base, &f->work, metrics, error);
}

// Every replicate is told of, and all are done at the end.
static void count_steps(void *context, uint64_t done, uint64_t left) {
    uint64_t *last = context;
    assert_true(done > *last);
    if (left == 0) assert_true(done == 20);
    *last = done;
}

static struct intervals estimate(struct fixture *f, unsigned replicates, uint64_t seed) {
    struct intervals intervals;
    struct interval_request request = {
        .replicates = replicates, .seed = seed, .evaluate = measure, .hands = 1, .contexts = {f}};
    f->calls = 0;
    assert_true(interval_estimate(f->dag, &f->base, &request, &intervals, &f->error));
    return intervals;
}

static void assert_near(double actual, double expected) {
    if (fabs(actual - expected) > 1e-6 * fmax(1, fabs(expected))) fail_msg("%.12g is not %.12g", actual, expected);
}

// 1000 and 1100 in any draw: 2000, 2100 or 2200 in all, with chances 1/4, 1/2 and 1/4, between what never varies.
static void test_two_alike(void **state) {
    struct fixture f;
    build_chain(&f, 1, 2, rising);
    f.base.composite = 1;
    struct intervals intervals = estimate(&f, 200, 1);
    assert_int_equal(intervals.replicates, 200);
    assert_near(f.base.wall_ns, 2201);
    assert_near(intervals.of[INTERVAL_WALL].low, 2101);
    assert_near(intervals.of[INTERVAL_WALL].high, 2301);
    assert_near(intervals.of[INTERVAL_OCCUPIED_PEAK].low, f.base.threads[STATE_OCCUPIED].peak);
    assert_true(intervals.of[INTERVAL_COMPOSITE].low < 1 && intervals.of[INTERVAL_COMPOSITE].high > 1);
    close_fixture(&f);
}

// Tasks of two sites don't mix, and a site with one task doesn't vary.
static void test_sites_apart(void **state) {
    struct fixture f;
    build_chain(&f, 2, 1, rising);
    struct intervals intervals = estimate(&f, 30, 1);
    for (int i = 0; i < INTERVAL_COMPOSITE; i++) {
        assert_near(intervals.of[i].low, intervals.of[i].high);
    }
    assert_near(intervals.of[INTERVAL_WALL].low, (double)f.base.wall_ns);
    assert_true(isnan(intervals.of[INTERVAL_COMPOSITE].low)); // the estimate has none
    close_fixture(&f);
}

// One that a mailbox's task handles on the worker.
static void add_message(struct trace_builder *tb, uint64_t message, uint64_t actor, uint64_t from, uint64_t to) {
    tb_event(tb, 2, from, EVENT_MESSAGE_BEGIN, message, 0, actor);
    tb_event(tb, 2, to, EVENT_MESSAGE_END, message, 0);
}

// Two of one type to an actor take 1000 and 1100 in any draw. One of another type, and one to another actor's type, are
// alone.
static void build_messages(struct fixture *f) {
    struct trace_builder *tb = tb_new();
    *f = (struct fixture){.tb = tb};
    const uint32_t pool = tb_pool(tb, "pool", 1), site = tb_site(tb, "Main", "main", 1);
    const uint32_t text = tb_class(tb, "Text"), stop = tb_class(tb, "Stop"), type[] = {text, text, stop, text};
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "worker", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(tb, 1, 10, EVENT_ACTOR_CREATED, 30, 0, tb_class(tb, "Reader"));
    tb_event(tb, 1, 12, EVENT_ACTOR_CREATED, 31, 0, tb_class(tb, "Writer"));
    tb_event(tb, 1, 20, EVENT_SPAWN_BEGIN, 7, site, pool);
    tb_event(tb, 1, 21, EVENT_SPAWN_END, 7);
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t told = message_operand(type[i], MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
        tb_event(tb, 1, 22 + i, EVENT_MESSAGE_SENT, 40 + i, i == 3 ? 31 : 30, told);
    }
    tb_event(tb, 1, 30, EVENT_THREAD_END, MAIN);
    tb_event(tb, 2, 2, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 2, 40, EVENT_TASK_START, 7, 0);
    for (uint64_t actor = 30; actor <= 31; actor++) {
        tb_event(tb, 2, 41 + 10 * (actor - 30), EVENT_INIT_BEGIN, actor, 0);
        tb_event(tb, 2, 45 + 10 * (actor - 30), EVENT_INIT_END, actor, 0);
    }
    add_message(tb, 40, 30, 100, 1100);
    add_message(tb, 41, 30, 1150, 2250);
    add_message(tb, 42, 30, 2300, 3900);
    add_message(tb, 43, 31, 4000, 5300);
    tb_event(tb, 2, 5400, EVENT_TASK_END, 7, 0);
    open_fixture(f);
}

static void test_messages_by_type(void **state) {
    struct fixture f;
    build_messages(&f);
    struct intervals intervals = estimate(&f, 200, 1);
    assert_near(f.base.wall_ns, 5400);
    assert_true(intervals.of[INTERVAL_WALL].low > 5298 && intervals.of[INTERVAL_WALL].low < 5302);
    assert_true(intervals.of[INTERVAL_WALL].high > 5498 && intervals.of[INTERVAL_WALL].high < 5502);
    close_fixture(&f);
}

static void test_seed(void **state) {
    struct fixture f;
    build_chain(&f, 2, 9, rising);
    struct intervals one = estimate(&f, 30, 7), again = estimate(&f, 30, 7), other = estimate(&f, 30, 8);
    assert_true(one.of[INTERVAL_WALL].low == again.of[INTERVAL_WALL].low);
    assert_true(one.of[INTERVAL_WALL].high == again.of[INTERVAL_WALL].high);
    assert_true(one.of[INTERVAL_WALL].low != other.of[INTERVAL_WALL].low);
    assert_true(one.of[INTERVAL_WALL].low < (double)f.base.wall_ns &&
                one.of[INTERVAL_WALL].high > (double)f.base.wall_ns);
    close_fixture(&f);
}

static struct random_source dice;

static uint64_t by_chance(uint32_t site, uint32_t task) {
    return 10000 + random_below(&dice, 9001);
}

// A sum of n independent durations between a and b deviates by (b - a) sqrt(n / 12), and nine in ten such sums are
// within 1.645 of that on either side.
static void test_sum(void **state) {
    enum { TASKS = 1000 };
    struct fixture f;
    dice = (struct random_source){11};
    build_chain(&f, 1, TASKS, by_chance);
    struct intervals intervals = estimate(&f, 200, 5);
    double width = intervals.of[INTERVAL_WALL].high - intervals.of[INTERVAL_WALL].low;
    double expected = 2 * 1.645 * 9000 * sqrt(TASKS / 12.0);
    assert_true(width > 0.8 * expected && width < 1.2 * expected);
    close_fixture(&f);
}

// Durations that drift within a run: blocks drift with them, so the sum varies by more than if each were by itself.
static uint64_t in_waves(uint32_t site, uint32_t task) {
    return task / 50 % 2 ? 19000 : 11000;
}

static void test_drift(void **state) {
    enum { TASKS = 1000 };
    struct fixture f;
    build_chain(&f, 1, TASKS, in_waves);
    struct intervals intervals = estimate(&f, 200, 5);
    double width = intervals.of[INTERVAL_WALL].high - intervals.of[INTERVAL_WALL].low;
    assert_true(width > 2 * (2 * 1.645 * 4000 * sqrt(TASKS)));
    close_fixture(&f);
}

static double wall_width(const struct intervals *intervals) {
    return intervals->of[INTERVAL_WALL].high - intervals->of[INTERVAL_WALL].low;
}

// Few replicates have no quantiles, but on average their spread says as much as many do.
static void test_few(void **state) {
    enum { TASKS = 200, SEEDS = 100 };
    struct fixture f;
    dice = (struct random_source){11};
    build_chain(&f, 1, TASKS, by_chance);
    double width = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct intervals intervals = estimate(&f, 5, seed);
        assert_int_equal(intervals.replicates, 5);
        assert_near(intervals.of[INTERVAL_WALL].low * intervals.of[INTERVAL_WALL].high,
                    (double)f.base.wall_ns * (double)f.base.wall_ns);
        width += wall_width(&intervals) / SEEDS;
    }
    struct intervals many = estimate(&f, 2000, 1), one = estimate(&f, 1, 1);
    const double t_of_5 = 2.132, normal = 1.645, deviation_of_5 = 0.94;
    double expected = wall_width(&many) / normal * deviation_of_5 * t_of_5 * sqrt(1 + 1 / 5.0);
    assert_true(width > 0.85 * expected && width < 1.15 * expected);
    assert_true(isnan(wall_width(&one)));
    close_fixture(&f);
}

static uint64_t by_turns(uint32_t site, uint32_t task) {
    return task % 2 ? 20000 : 10000;
}

// Tasks that had twice as much to do have that again.
static void test_unlike_apart(void **state) {
    struct fixture f;
    build_chain(&f, 1, 100, by_turns);
    struct intervals intervals = estimate(&f, 30, 1);
    assert_near(intervals.of[INTERVAL_WALL].low, (double)f.base.wall_ns);
    assert_near(intervals.of[INTERVAL_WALL].high, (double)f.base.wall_ns);
    close_fixture(&f);
}

static uint64_t ms_by_chance(uint32_t site, uint32_t task) {
    return 1000 * by_chance(site, task);
}

// How long tasks sleep deviates by less than how long they compute. Strata of a tenth are a tenth as wide.
static void test_sleepers(void **state) {
    enum { TASKS = 1000 };
    struct fixture f;
    double widths[2];
    for (unsigned i = 0; i < 2; i++) {
        dice = (struct random_source){11};
        build_computing_chain(&f, 1, TASKS, ms_by_chance, i == 0 ? 90 : 10);
        struct intervals intervals = estimate(&f, 200, 5);
        widths[i] = wall_width(&intervals);
        close_fixture(&f);
    }
    assert_true(widths[1] > 0 && widths[1] < widths[0] / 4);
}

static void spawn_loop(struct fixture *f, uint32_t task, uint32_t site, uint32_t pool, uint64_t ends) {
    tb_thread(f->tb, 1 + task, "loop", 0);
    tb_event(f->tb, 1, 10 * task, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(f->tb, 1, 10 * task + 5, EVENT_SPAWN_END, task);
    tb_event(f->tb, 1 + task, 10 * task + 6, EVENT_WORKER_BEGIN, pool);
    tb_event(f->tb, 1 + task, 10 * task + 8, EVENT_TASK_START, task);
    tb_event(f->tb, 1 + task, ends, EVENT_TASK_END, task);
}

// They are stopped at the end, however long that takes: none is a draw from the others.
static void test_loops_stay(void **state) {
    struct fixture f = {.tb = tb_new()};
    const uint32_t pool = tb_pool(f.tb, "pool", 3), site = tb_site(f.tb, "Main", "main", 1);
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    for (uint32_t task = 1; task <= 3; task++) spawn_loop(&f, task, site, pool, 6000 + 1000 * task);
    tb_event(f.tb, 1, 9500, EVENT_THREAD_END, MAIN);
    open_fixture(&f);
    struct intervals intervals = estimate(&f, 30, 1);
    for (int i = 0; i < INTERVAL_COMPOSITE; i++) assert_near(intervals.of[i].low, intervals.of[i].high);
    close_fixture(&f);
}

// However little replicates say.
static void test_limits_are_times(void **state) {
    struct fixture f;
    build_chain(&f, 1, 2, rising);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct intervals intervals = estimate(&f, 2, seed);
        assert_true(intervals.of[INTERVAL_WALL].low > 0);
        assert_true(intervals.of[INTERVAL_WALL].low <= (double)f.base.wall_ns);
        assert_true(intervals.of[INTERVAL_WALL].high >= (double)f.base.wall_ns);
    }
    close_fixture(&f);
}

static void test_stuck_replicates(void **state) {
    struct fixture f;
    build_chain(&f, 1, 2, rising);
    f.stuck_every = 2;
    struct intervals intervals = estimate(&f, 40, 1);
    assert_int_equal(intervals.replicates, 20);
    assert_false(isnan(intervals.of[INTERVAL_WALL].low));
    f.stuck_every = 4;
    intervals = estimate(&f, 40, 1);
    assert_int_equal(intervals.replicates, 10);
    assert_true(isnan(intervals.of[INTERVAL_WALL].low));
    close_fixture(&f);
}

static bool fail_evaluation(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                            struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory");
}

static void test_failure(void **state) {
    struct fixture f;
    struct intervals intervals;
    build_chain(&f, 1, 2, rising);
    for (uint32_t hands = 1; hands <= HANDS; hands++) {
        struct interval_request request = {
            .replicates = 5, .seed = 1, .evaluate = fail_evaluation, .hands = hands, .contexts = {NULL}};
        f.error = (struct error)ERROR_INIT;
        assert_false(interval_estimate(f.dag, &f.base, &request, &intervals, &f.error));
        assert_int_equal(f.error.status, STATUS_FAILED);
    }
    close_fixture(&f);
}

// No effect before its cause, but for the leads of waits; no time runs backwards. An edge that is in no task's body
// takes as long as recorded.
static bool check_replicate(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                            struct error *error) {
    const struct dag *dag = context;
    const int64_t *then = dag->vertices.time_ns, *now = replicate->vertices.time_ns;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        for (uint32_t v = dag->threads[t].first; v < dag->threads[t].first + dag->threads[t].count; v++) {
            uint32_t cause = dag->vertices.cause[v];
            if (v > dag->threads[t].first) assert_true(now[v] >= now[v - 1]);
            if (cause != DAG_NONE && then[cause] <= then[v] && dag->vertices.rule[v] != RULE_GRANT &&
                dag->vertices.rule[v] != RULE_RUN) {
                assert_true(now[cause] <= now[v]);
            }
        }
    }
    *stuck = true;
    return true;
}

// Whichever thread evaluates which replicate.
static void test_progress_is_told(void **state) {
    (void)state;
    struct fixture f;
    struct intervals intervals;
    uint64_t last = 0;
    build_chain(&f, 3, 20, rising);
    struct interval_request request = {.replicates = 20,
                                       .seed = 1,
                                       .evaluate = measure,
                                       .hands = 1,
                                       .contexts = {&f},
                                       .progress = count_steps,
                                       .progress_context = &last};
    assert_true(interval_estimate(f.dag, &f.base, &request, &intervals, &f.error));
    assert_true(last == 20);
    close_fixture(&f);
}

static void test_several_threads(void **state) {
    struct fixture f, each[HANDS];
    struct interval_request request = {.replicates = 200, .seed = 3, .evaluate = measure, .hands = HANDS};
    build_chain(&f, 3, 20, rising);
    for (uint32_t h = 0; h < HANDS; h++) {
        each[h] = (struct fixture){.dag = f.dag, .base = f.base, .error = ERROR_INIT};
        request.contexts[h] = &each[h];
    }
    struct intervals alone = estimate(&f, 200, 3), together;
    assert_true(interval_estimate(f.dag, &f.base, &request, &together, &f.error));
    assert_int_equal(together.replicates, 200);
    for (int i = 0; i < INTERVAL_COMPOSITE; i++) {
        assert_true(together.of[i].low == alone.of[i].low && together.of[i].high == alone.of[i].high);
    }
    for (uint32_t h = 0; h < HANDS; h++) metrics_work_destroy(&each[h].work);
    close_fixture(&f);
}

static void test_random_traces(void **state) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct error error = ERROR_INIT;
        struct trace_builder *tb = seed % 4 ? random_trace(seed) : random_events(seed);
        struct trace *trace = tb_open(tb);
        struct dag *dag = dag_build(trace, &error);
        struct metrics estimate;
        struct intervals intervals;
        metrics_unknown(&estimate);
        struct interval_request request = {
            .replicates = 4, .seed = seed, .evaluate = check_replicate, .hands = 1, .contexts = {dag}};
        assert_true(interval_estimate(dag, &estimate, &request, &intervals, &error));
        dag_free(dag);
        trace_close(trace);
        tb_free(tb);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_alike),
        cmocka_unit_test(test_sites_apart),
        cmocka_unit_test(test_messages_by_type),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_stuck_replicates),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_several_threads),
        cmocka_unit_test(test_progress_is_told),
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_unlike_apart),
        cmocka_unit_test(test_sleepers),
        cmocka_unit_test(test_loops_stay),
        cmocka_unit_test(test_limits_are_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
