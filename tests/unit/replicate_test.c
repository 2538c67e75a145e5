// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals of estimates by models, on random programs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "optimize/estimator.h"
#include "random_trace.h"

#include <string.h>

enum { PROGRAMS = 20, REPLICATES = 200 }; // so many of small ones

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct estimator estimator;
    struct baseline baseline;
    struct metrics estimated;
    struct error error;
};

// false: the program, or the plan, has no end.
static bool open_fixture(struct fixture *f, uint64_t seed, enum model_kind kind, unsigned inlined_in_8) {
    struct random_source source = {seed};
    *f = (struct fixture){.tb = random_trace(seed), .error = ERROR_INIT};
    f->trace = tb_open(f->tb);
    assert_non_null(f->dag = dag_build(f->trace, &f->error));
    assert_true(estimator_init(&f->estimator, f->dag, NULL, &f->error));
    f->estimator.model.kind = kind;
    bool stuck = !estimator_measure_baseline(&f->estimator, false, &f->baseline, &f->error);
    for (uint32_t t = 0; t < f->dag->task_count; t++) {
        if (!dag_inline_refusal(f->dag, t) && random_below(&source, 8) < inlined_in_8)
            dag_edit_inline(&f->estimator.edit, t);
    }
    if (!stuck) assert_true(estimator_run(&f->estimator, &stuck, &f->error));
    if (!stuck) {
        assert_true(estimator_measure(&f->estimator, &f->baseline.replayed, false, &f->estimated, &f->error));
    }
    return !stuck;
}

static void close_fixture(struct fixture *f) {
    estimator_destroy(&f->estimator);
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static struct intervals interval(struct fixture *f) {
    struct intervals intervals;
    assert_true(estimator_intervals(&f->estimator, &f->estimated, &intervals, &f->error));
    return intervals;
}

// A plan that changes nothing is worth nothing in any replicate, however these differ.
static void test_nothing_changed(void **state) {
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        if (open_fixture(&f, seed, MODEL_DAG, 0) && f.estimated.wall_ns > 0) {
            struct intervals intervals = interval(&f);
            if (!isnan(intervals.of[INTERVAL_COMPOSITE].low)) {
                assert_true(fabs(intervals.of[INTERVAL_COMPOSITE].low - 1) < 1e-12);
                assert_true(fabs(intervals.of[INTERVAL_COMPOSITE].high - 1) < 1e-12);
            }
        }
        close_fixture(&f);
    }
}

// The estimate lies within, the same seed gives the same limits, and the estimator's last run is left as it was.
static void test_plans(void **state) {
    unsigned known = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        if (open_fixture(&f, seed, seed % 2 ? MODEL_DAG : MODEL_POOL, 2)) {
            struct intervals intervals = interval(&f), again = interval(&f);
            struct metrics after;
            assert_memory_equal(intervals.of, again.of, sizeof intervals.of);
            if (!isnan(intervals.of[INTERVAL_WALL].low)) {
                assert_true(intervals.of[INTERVAL_WALL].low <= (double)f.estimated.wall_ns);
                assert_true(intervals.of[INTERVAL_WALL].high >= (double)f.estimated.wall_ns);
                known++;
            }
            assert_true(estimator_measure(&f.estimator, NULL, false, &after, &f.error));
            assert_int_equal(after.wall_ns, f.estimated.wall_ns);
        }
        close_fixture(&f);
    }
    assert_true(known > PROGRAMS / 2);
}

static bool evaluate_anew(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                          struct error *error) {
    const struct estimator *asked = &((struct fixture *)context)->estimator;
    struct estimator anew = {
        .dag = replicate, .model = asked->model, .request_site = DAG_NONE, .edit = asked->edit, .costs = asked->costs};
    struct metrics_work base_work = {0};
    struct metrics base;
    if (asked->simulation)
        assert_non_null(anew.simulation = simulation_new_replicate(replicate, asked->simulation, error));
    assert_true(dag_run_init(&anew.run, replicate, error));
    assert_true(estimator_run(&anew, stuck, error));
    if (!*stuck) {
        assert_true(metrics_of_run(replicate, false, NULL, NULL, &base_work, &base, error));
        assert_true(estimator_measure(&anew, &base, false, metrics, error));
    }
    metrics_work_destroy(&base_work);
    metrics_work_destroy(&anew.work);
    simulation_free(anew.simulation);
    dag_run_destroy(&anew.run);
    return true;
}

// No replicate is estimated by what holds of another's times: as if each were estimated by workspaces of its own.
static void test_each_by_its_own_times(void **state) {
    for (uint64_t seed = 1; seed <= 3 * PROGRAMS; seed++) {
        struct fixture f;
        if (open_fixture(&f, seed, (enum model_kind)(seed % 3), 2)) {
            struct intervals intervals = interval(&f), anew;
            struct interval_request request = {
                .replicates = REPLICATES, .seed = 1, .evaluate = evaluate_anew, .hands = 1, .contexts = {&f}};
            assert_true(interval_estimate(f.dag, &f.estimated, &request, &anew, &f.error));
            assert_int_equal(intervals.replicates, anew.replicates);
            assert_memory_equal(intervals.of, anew.of, sizeof anew.of);
        }
        close_fixture(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changed),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_each_by_its_own_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
