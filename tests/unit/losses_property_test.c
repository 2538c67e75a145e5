// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever the tracer lost of a random program: pools' rules stay known, plans are not refused, and what is left runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "dag/edit/edit.h"
#include "simulate_fixture.h"

enum { CASES = 2000, CORES = 2 };

static struct simulate_fixture whole, lossy;

static void open_both(uint64_t seed) {
    simulate_fixture_open_random(&whole, seed, CORES);
    simulate_fixture_open_lossy(&lossy, seed, CORES);
}

static void close_both(void) {
    simulate_fixture_close(&whole);
    simulate_fixture_close(&lossy);
}

static const struct dag_task *whole_task(const struct dag_task *task) {
    for (uint32_t t = 0; t < whole.dag->task_count; t++) {
        if (whole.dag->tasks[t].id == task->id) return &whole.dag->tasks[t];
    }
    return NULL;
}

static void test_pools_stay_known(void **state) {
    (void)state;
    unsigned known = 0, unknown = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        open_both(seed);
        for (uint32_t p = 1; p < whole.dag->pool_count; p++) {
            if (dag_resize_refusal(whole.dag, p)) continue;
            known++;
            unknown += dag_resize_refusal(lossy.dag, p) != NULL;
        }
        close_both();
    }
    assert_true(known > CASES / 2);
    assert_int_equal(unknown, 0);
}

static void test_no_plan_is_refused(void **state) {
    (void)state;
    unsigned taken = 0, left_out = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        open_both(seed);
        for (uint32_t t = 0; t < lossy.dag->task_count; t++) {
            const struct dag_task *task = &lossy.dag->tasks[t], *same = whole_task(task);
            if (task->site == DAG_NONE || task->flags & TASK_NESTED || !same) continue;
            if (dag_inline_refusal(whole.dag, (uint32_t)(same - whole.dag->tasks))) continue;
            bool out = dag_left_out(lossy.dag, t) != LEFT_OUT_NOT;
            const char *why = out ? NULL : dag_inline_refusal(lossy.dag, t);
            if (why) fail_msg("seed %lu: task %lu: %s", (unsigned long)seed, (unsigned long)task->id, why);
            left_out += out;
            taken += !out;
        }
        close_both();
    }
    assert_true(taken > 5 * left_out);
}

static unsigned count_missing(const struct dag *run) {
    unsigned missing = 0;
    for (uint32_t t = 0; t < run->task_count; t++)
        missing += lossy.dag->tasks[t].start != DAG_NONE && run->tasks[t].start == DAG_NONE;
    return missing;
}

// What lacks its hand-over comes later than it did, so that a full queue may reject another, seldom.
static void test_what_is_left_runs(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    unsigned missing = 0, tasks = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        simulate_fixture_open_lossy(&lossy, seed, CORES);
        if (simulation_run(lossy.simulation, &lossy.edit, &model) != DAG_OK)
            fail_msg("seed %lu: does not end", (unsigned long)seed);
        missing += count_missing(simulation_dag(lossy.simulation));
        tasks += lossy.dag->task_count;
        simulate_fixture_close(&lossy);
    }
    assert_true(missing * 1000 <= tasks);
}

// What merging each site's tasks, or inlining them, comes to can be told.
static void test_plans_run(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_source source = {seed};
        simulate_fixture_open_lossy(&lossy, seed, CORES);
        simulate_fixture_inline_random(&lossy, &source, 4, 8);
        (void)simulation_run(lossy.simulation, &lossy.edit, &model); // inlined, some would wait for themselves
        assert_int_equal(lossy.error.status, STATUS_OK);
        simulate_fixture_close(&lossy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools_stay_known),
        cmocka_unit_test(test_no_plan_is_refused),
        cmocka_unit_test(test_what_is_left_runs),
        cmocka_unit_test(test_plans_run),
    };
    return cmocka_run_group_tests_name("losses_property", tests, NULL, NULL);
}
