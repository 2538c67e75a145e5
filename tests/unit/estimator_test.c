// SPDX-License-Identifier: GPL-3.0-or-later
// From a plan to its numbers: which run is compared with which, what each model makes of one plan, and how a run that
// can't end is told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loads.h"
#include "optimize/estimator.h"
#include "optimize/objective.h"
#include "random_trace.h"

#include <string.h>

enum { MAIN = 100 };

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct estimator estimator;
    struct baseline baseline;
    struct error error;
};

// Returns whether the model can replay it.
static bool measure_built(struct fixture *f, struct trace_builder *tb, enum model_kind kind) {
    *f = (struct fixture){.tb = tb, .error = ERROR_INIT};
    f->trace = tb_open(tb);
    f->dag = dag_build(f->trace, &f->error);
    assert_non_null(f->dag);
    assert_true(estimator_init(&f->estimator, f->dag, NULL, &f->error));
    assert_int_equal(f->estimator.model.kind, MODEL_DAG);
    f->estimator.model.kind = kind;
    return estimator_measure_baseline(&f->estimator, false, &f->baseline, &f->error);
}

static void open_built(struct fixture *f, struct trace_builder *tb, enum model_kind kind) {
    assert_true(measure_built(f, tb, kind));
}

// Ten tasks of Main.main:5 are awaited at once; one of Main.main:8 runs beside main.
static void open_loads(struct fixture *f, enum model_kind kind) {
    const struct load loads[] = {{5, 10, false, NULL}, {8, 1, true, NULL}};
    open_built(f, loads_trace(loads, 2), kind);
}

static void close_fixture(struct fixture *f) {
    estimator_destroy(&f->estimator);
    dag_free(f->dag);
    trace_close(f->trace);
    if (f->tb) tb_free(f->tb); // else it is shared
}

static void inline_line(struct fixture *f, uint32_t line) {
    for (uint32_t t = 0; t < f->dag->task_count; t++) {
        const struct dag_task *task = &f->dag->tasks[t];
        if (task->site != DAG_NONE && f->dag->sites[task->site].site.line == line)
            dag_edit_inline(&f->estimator.edit, t);
    }
}

static struct metrics estimate(struct fixture *f) {
    struct metrics metrics;
    bool stuck;
    assert_true(estimator_run(&f->estimator, &stuck, &f->error));
    assert_false(stuck);
    assert_true(estimator_measure(&f->estimator, &f->baseline.recorded, true, &metrics, &f->error));
    return metrics;
}

static void test_baseline(void **state) {
    for (int kind = MODEL_DAG; kind <= MODEL_POOL; kind++) {
        struct fixture f;
        open_loads(&f, (enum model_kind)kind);
        const struct metrics *recorded = &f.baseline.recorded, *replayed = &f.baseline.replayed;
        assert_true(recorded->composite == 1 && recorded->balanced == 1);
        assert_int_equal(recorded->wall_ns, f.dag->last_ns - f.dag->first_ns);
        assert_true(fabs((double)(replayed->wall_ns - recorded->wall_ns)) <=
                    f.baseline.replay_error.share * (double)recorded->wall_ns + 1);
        if (kind == MODEL_DAG) assert_true(f.baseline.replay_error.share == 0);
        close_fixture(&f);
    }
}

// Every one of the ten saves its hand-over, whatever the model.
static void test_models_agree_on_what_is_awaited_at_once(void **state) {
    for (int kind = MODEL_DAG; kind <= MODEL_POOL; kind++) {
        struct fixture f;
        open_loads(&f, (enum model_kind)kind);
        inline_line(&f, 5);
        struct metrics metrics = estimate(&f);
        assert_int_equal(f.estimator.simulated, kind != MODEL_DAG);
        assert_true(metrics.wall_ns < f.baseline.recorded.wall_ns);
        assert_true(metrics.composite < 1);
        assert_int_equal(metrics.tasks.count, 2); // main's and that of line 8
        dag_edit_clear(&f.estimator.edit, f.dag);
        metrics = estimate(&f);
        assert_int_equal(metrics.wall_ns, f.baseline.replayed.wall_ns);
        close_fixture(&f);
    }
}

// The replay is of what was recorded, not of another load or machine.
static void test_replay_is_without_wishes(void **state) {
    struct fixture f;
    struct baseline again;
    open_loads(&f, MODEL_POOL);
    f.estimator.model.rate = 2;
    f.estimator.model.rate_site = 0;
    assert_true(estimator_measure_baseline(&f.estimator, false, &again, &f.error));
    assert_true(f.estimator.model.rate == 2);
    assert_int_equal(again.replayed.wall_ns, f.baseline.replayed.wall_ns);
    close_fixture(&f);
}

// What the model makes of the run without a change is no worse than noise: else any plan would do.
static void test_the_run_passes_its_own_filter(void **state) {
    uint32_t off = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct fixture f;
        const bool replayed = measure_built(&f, random_trace(seed), seed % 2 ? MODEL_POOL : MODEL_CPU);
        const struct baseline *baseline = &f.baseline;
        off += replayed && baseline->noise > LEAST_NOISE;
        if (replayed) assert_null(filter_failed(&baseline->replayed, &baseline->recorded, baseline->noise));
        close_fixture(&f);
    }
    assert_true(off > 10);
}

// A task on each of two workers hands one over, which the other's runs after it, and awaits it: with one worker for
// both no one is left.
static struct trace_builder *nested_waits(void) {
    struct trace_builder *tb = tb_new();
    uint32_t pool = tb_pool(tb, "pool-1", 2);
    uint32_t outer = tb_site(tb, "Main", "main", 10), inner = tb_site(tb, "Main", "work", 20);
    tb_thread(tb, 1, "main", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    for (uint32_t w = 2; w < 4; w++) {
        tb_thread(tb, w, "worker", 0);
        tb_event(tb, w, w, EVENT_THREAD_START, 1000 + w);
        tb_event(tb, w, w + 2, EVENT_WORKER_BEGIN, pool);
        tb_event(tb, w, w + 4, EVENT_IDLE, pool);
    }
    tb_event(tb, 1, 10, EVENT_SPAWN_BEGIN, 1, outer, pool);
    tb_event(tb, 1, 12, EVENT_SPAWN_END, 1);
    tb_event(tb, 2, 14, EVENT_BUSY, pool);
    tb_event(tb, 2, 15, EVENT_TASK_START, 1);
    tb_event(tb, 2, 20, EVENT_SPAWN_BEGIN, 2, inner, pool);
    tb_event(tb, 2, 22, EVENT_SPAWN_END, 2);
    tb_event(tb, 2, 24, EVENT_WAIT_BEGIN, 2, 0, tb_wait(WAIT_FOR_TASK, inner));
    tb_event(tb, 3, 24, EVENT_BUSY, pool);
    tb_event(tb, 3, 25, EVENT_TASK_START, 2);
    tb_event(tb, 3, 40, EVENT_RESULT, 2);
    tb_event(tb, 3, 41, EVENT_TASK_END, 2);
    tb_event(tb, 3, 42, EVENT_IDLE, pool);
    tb_event(tb, 2, 45, EVENT_WAIT_END, 2);
    tb_event(tb, 2, 50, EVENT_RESULT, 1);
    tb_event(tb, 2, 51, EVENT_TASK_END, 1);
    tb_event(tb, 2, 52, EVENT_IDLE, pool);
    tb_event(tb, 1, 60, EVENT_THREAD_END, MAIN);
    return tb;
}

static void test_starvation(void **state) {
    struct fixture f;
    char text[300];
    bool stuck;
    open_built(&f, nested_waits(), MODEL_POOL);
    dag_edit_resize(&f.estimator.edit, 1, 1);
    assert_true(estimator_run(&f.estimator, &stuck, &f.error));
    assert_true(stuck && estimator_starves(&f.estimator));
    assert_string_equal(estimator_stuck_text(&f.estimator, text, sizeof text),
                        "Main.main:10 waits for Main.work:20\n    no worker of pool-1 is left to run Main.work:20");
    dag_edit_clear(&f.estimator.edit, f.dag);
    estimate(&f);
    close_fixture(&f);
}

// main goes on beside a task that waits for what main spawns later: on main's own thread it never would.
static void test_deadlock(void **state) {
    struct trace_builder *tb = tb_new();
    uint32_t pool = tb_pool(tb, "pool-1", 2);
    uint32_t first = tb_site(tb, "Main", "main", 10), second = tb_site(tb, "Main", "main", 20);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "worker", 0);
    tb_thread(tb, 3, "worker", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    for (uint32_t w = 2; w < 4; w++) {
        tb_event(tb, w, w, EVENT_THREAD_START, 1000 + w);
        tb_event(tb, w, w + 2, EVENT_WORKER_BEGIN, pool);
    }
    tb_event(tb, 1, 10, EVENT_SPAWN_BEGIN, 1, first, pool);
    tb_event(tb, 1, 12, EVENT_SPAWN_END, 1);
    tb_event(tb, 2, 14, EVENT_TASK_START, 1);
    tb_event(tb, 2, 16, EVENT_WAIT_BEGIN, 2, 0, tb_wait(WAIT_FOR_TASK, first));
    tb_event(tb, 1, 20, EVENT_SPAWN_BEGIN, 2, second, pool);
    tb_event(tb, 1, 22, EVENT_SPAWN_END, 2);
    tb_event(tb, 3, 24, EVENT_TASK_START, 2);
    tb_event(tb, 3, 30, EVENT_RESULT, 2);
    tb_event(tb, 3, 31, EVENT_TASK_END, 2);
    tb_event(tb, 2, 35, EVENT_WAIT_END, 2);
    tb_event(tb, 2, 40, EVENT_TASK_END, 1);
    tb_event(tb, 1, 60, EVENT_THREAD_END, MAIN);
    for (int kind = MODEL_DAG; kind <= MODEL_POOL; kind++) {
        struct fixture f;
        char text[300];
        bool stuck;
        open_built(&f, tb, (enum model_kind)kind);
        inline_line(&f, 10);
        assert_true(estimator_run(&f.estimator, &stuck, &f.error));
        assert_true(stuck && !estimator_starves(&f.estimator));
        assert_non_null(
            strstr(estimator_stuck_text(&f.estimator, text, sizeof text), "Main.main:20 waits for Main.main:10"));
        f.tb = NULL;
        close_fixture(&f);
    }
    tb_free(tb);
}

// main helps with what the task that it waits for spawned, and awaits: with that task inlined, main does so sooner.
static void test_help_goes_along(void **state) {
    struct trace_builder *tb = tb_new();
    uint32_t pool = tb_pool(tb, "pool-1", 1);
    uint32_t outer = tb_site(tb, "Main", "main", 10), inner = tb_site(tb, "Main", "main", 20);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "worker", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
    tb_event(tb, 2, 2, EVENT_THREAD_START, 1002);
    tb_event(tb, 2, 4, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 1, 10, EVENT_SPAWN_BEGIN, 1, outer, pool);
    tb_event(tb, 1, 12, EVENT_SPAWN_END, 1);
    tb_event(tb, 1, 13, EVENT_WAIT_BEGIN, 1, 0, tb_wait(WAIT_FOR_TASK, outer));
    tb_event(tb, 2, 14, EVENT_TASK_START, 1);
    tb_event(tb, 2, 20, EVENT_SPAWN_BEGIN, 2, inner, pool);
    tb_event(tb, 2, 22, EVENT_SPAWN_END, 2);
    tb_event(tb, 1, 24, EVENT_TASK_START, 2);
    tb_event(tb, 2, 26, EVENT_WAIT_BEGIN, 2, 0, tb_wait(WAIT_FOR_TASK, inner));
    tb_event(tb, 1, 54, EVENT_TASK_END, 2);
    tb_event(tb, 2, 57, EVENT_WAIT_END, 2);
    tb_event(tb, 2, 60, EVENT_TASK_END, 1);
    tb_event(tb, 1, 64, EVENT_WAIT_END, 1);
    tb_event(tb, 1, 100, EVENT_THREAD_END, MAIN);
    struct fixture f;
    open_built(&f, tb, MODEL_DAG);
    inline_line(&f, 10);
    struct metrics metrics = estimate(&f);
    // 10 to the spawn and 12 from the body's start to its wait; 4 to find help and 30 of it; 3 to the body's end; then
    // 1 to main's wait, the 11 before it helped there, and 36 to the end.
    assert_int_equal(metrics.wall_ns, 107);
    close_fixture(&f);
}

static void test_intervals(void **state) {
    for (int kind = MODEL_DAG; kind <= MODEL_POOL; kind++) {
        struct fixture f;
        struct intervals once, twice;
        open_loads(&f, (enum model_kind)kind);
        inline_line(&f, 5);
        struct metrics metrics = estimate(&f);
        assert_true(estimator_intervals(&f.estimator, &metrics, &once, &f.error));
        assert_true(estimator_intervals(&f.estimator, &metrics, &twice, &f.error));
        assert_memory_equal(&once.of, &twice.of, sizeof once.of);
        assert_int_equal(once.replicates, 200);
        assert_true(once.of[INTERVAL_WALL].low <= (double)metrics.wall_ns);
        assert_true(once.of[INTERVAL_WALL].high >= (double)metrics.wall_ns);
        assert_int_equal(estimate(&f).wall_ns, metrics.wall_ns);
        close_fixture(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_models_agree_on_what_is_awaited_at_once),
        cmocka_unit_test(test_replay_is_without_wishes),
        cmocka_unit_test(test_the_run_passes_its_own_filter),
        cmocka_unit_test(test_starvation),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_help_goes_along),
        cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
