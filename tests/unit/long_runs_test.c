// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of days and of a year: times, virtual time and sums are as right as those of a second. Runs by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "by_hand.h"

#define HOUR (INT64_C(3600) * 1000000000)
#define YEAR (365 * 24 * HOUR)

enum { NEAR_NS = 4000, HOURS = 200, FIRST_TASK = 1000 };

// From its start to its end the task computes all the time, on a worker that is made for it.
static void computing_task(struct by_hand *p, uint32_t thread, int64_t start_ns, int64_t end_ns, uint64_t task) {
    tb_event(p->tb, thread, (uint64_t)start_ns - 10, EVENT_WORKER_BEGIN, p->pool);
    tb_event(p->tb, thread, (uint64_t)start_ns, EVENT_TASK_START, task, 10);
    tb_event(p->tb, thread, (uint64_t)end_ns, EVENT_TASK_END, task, 10 + (uint64_t)(end_ns - start_ns));
}

// Main hands over two tasks at the start, each of which computes for 200 hours.
static struct by_hand two_of_200_hours(uint32_t cores) {
    struct by_hand p = by_hand_begin(NULL, 2);
    tb_cores(p.tb, cores);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t spawned_ns = 1000 + 1000 * i;
        by_hand_spawn(&p, HAND_MAIN, spawned_ns, spawned_ns + 100, FIRST_TASK + i);
        int64_t start_ns = (int64_t)spawned_ns + 200;
        computing_task(&p, HAND_FIRST + i, start_ns, start_ns + HOURS * HOUR, FIRST_TASK + i);
    }
    by_hand_open(&p, 1000 * HOUR);
    return p;
}

static void assert_near(int64_t time_ns, int64_t expected_ns) {
    if (llabs(time_ns - expected_ns) > NEAR_NS) fail_msg("%ld, not %ld", (long)time_ns, (long)expected_ns);
}

// What of the recording is in the run is there when it was recorded.
static void assert_replayed(struct by_hand *p, enum model_kind kind) {
    const struct dag *recorded = p->fixture.dag, *run = by_hand_simulate(p, kind);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t source = run->source[v];
        if (source != DAG_NONE) assert_near(run->vertices.time_ns[v], recorded->vertices.time_ns[source]);
    }
}

static int64_t end_of(const struct dag *run, uint64_t task) {
    return run->vertices.time_ns[run->tasks[by_hand_index(run, task)].end];
}

static void test_an_edge_of_200_hours_is_replayed(void **state) {
    (void)state;
    struct by_hand p = two_of_200_hours(4);
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) assert_replayed(&p, kind);
    simulate_fixture_close(&p.fixture);
}

// Main runs the first task itself, and hands the second over 200 hours later.
static void test_an_edge_of_200_hours_is_inlined(void **state) {
    (void)state;
    struct by_hand p = two_of_200_hours(4);
    dag_edit_inline(&p.fixture.edit, by_hand_index(p.fixture.dag, FIRST_TASK));
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        const struct dag *run = by_hand_simulate(&p, kind);
        assert_near(end_of(run, FIRST_TASK + 1), 2 * HOURS * HOUR);
        assert_near(run->last_ns, (1000 + HOURS) * HOUR);
    }
    simulate_fixture_close(&p.fixture);
}

// Two tasks that had a core each share one.
static void test_edges_of_200_hours_share_a_core(void **state) {
    (void)state;
    struct by_hand p = two_of_200_hours(2);
    const struct model one_core = {.kind = MODEL_CPU, .cores = 1};
    assert_int_equal(simulation_run(p.fixture.simulation, &p.fixture.edit, &one_core), DAG_OK);
    const struct dag *run = simulation_dag(p.fixture.simulation);
    assert_near(end_of(run, FIRST_TASK), 2 * HOURS * HOUR);
    assert_near(end_of(run, FIRST_TASK + 1), 2 * HOURS * HOUR);
    simulate_fixture_close(&p.fixture);
}

// A JVM that runs for a year: each hour main hands a task over, which computes for forty minutes. In all it computes
// for 5,840 hours, never more than one at a time.
static struct by_hand a_year(void) {
    struct by_hand p = by_hand_begin(NULL, 1);
    int64_t computed_ns = 0;
    tb_event(p.tb, HAND_FIRST, (uint64_t)HOUR + 100, EVENT_WORKER_BEGIN, p.pool);
    for (uint64_t task = FIRST_TASK; (int64_t)(task - FIRST_TASK) * HOUR < YEAR - HOUR; task++) {
        uint64_t hour_ns = (1 + task - FIRST_TASK) * (uint64_t)HOUR;
        by_hand_spawn(&p, HAND_MAIN, hour_ns, hour_ns + 100, task);
        if (task > FIRST_TASK) tb_event(p.tb, HAND_FIRST, hour_ns + 150, EVENT_BUSY, p.pool);
        tb_event(p.tb, HAND_FIRST, hour_ns + 200, EVENT_TASK_START, task, (uint64_t)computed_ns);
        computed_ns += HOUR * 2 / 3;
        tb_event(p.tb, HAND_FIRST, hour_ns + 200 + HOUR * 2 / 3, EVENT_TASK_END, task, (uint64_t)computed_ns);
        tb_event(p.tb, HAND_FIRST, hour_ns + 300 + HOUR * 2 / 3, EVENT_IDLE, p.pool);
    }
    by_hand_open(&p, YEAR);
    return p;
}

static void test_a_year_is_replayed(void **state) {
    (void)state;
    struct by_hand p = a_year();
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) assert_replayed(&p, kind);
    simulate_fixture_close(&p.fixture);
}

// All that is inlined delays main's next hour by as much, and nothing else.
static void test_a_year_is_inlined(void **state) {
    (void)state;
    struct by_hand p = a_year();
    uint32_t tasks = 0;
    for (uint64_t task = FIRST_TASK; (int64_t)(task - FIRST_TASK) * HOUR < YEAR - HOUR; task++, tasks++) {
        dag_edit_inline(&p.fixture.edit, by_hand_index(p.fixture.dag, task));
    }
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        int64_t expected_ns = YEAR + tasks * (HOUR * 2 / 3 - 100); // an inlined task takes the place of its hand-over
        if (kind == MODEL_CPU) expected_ns -= (tasks - 1) * 300;   // and making another costs nothing, as much at most
        assert_near(by_hand_simulate(&p, kind)->last_ns, expected_ns);
    }
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_edge_of_200_hours_is_replayed),
        cmocka_unit_test(test_an_edge_of_200_hours_is_inlined),
        cmocka_unit_test(test_edges_of_200_hours_share_a_core),
        cmocka_unit_test(test_a_year_is_replayed),
        cmocka_unit_test(test_a_year_is_inlined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
