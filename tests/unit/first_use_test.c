// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks that slept while another of their site did something for the first time: runs by hand. Eight workers on cores
// of their own begin at once. One of them initialises for 3000 ns, which the others sleep for; then each computes for
// 1000 ns, as all do who come later.
#include "by_hand.h"
#include "simulate_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORKERS = 8, TASKS = 24, INITIALISES = 3000, COMPUTES = 1000, PICKUP = 10, LAST = 100000 };

struct variant {
    uint64_t initialiser;        // task, from 1
    uint64_t later_sleep_ns;     // of all that come later
    uint64_t unhindered;         // an early task that slept not at all, 0: none
    uint64_t initialises_cpu_ns; // of what it takes
    uint64_t tasks;
};

static const struct variant usual = {.initialiser = 2, .initialises_cpu_ns = INITIALISES, .tasks = TASKS};

static uint64_t run_task(struct by_hand *p, const struct variant *variant, uint64_t task, uint64_t start_ns) {
    uint32_t worker = HAND_FIRST + (uint32_t)((task - 1) % WORKERS);
    bool early = task <= WORKERS;
    uint64_t length_ns = COMPUTES, cpu_ns = COMPUTES, until_ns = 100 + PICKUP + INITIALISES;
    if (task == variant->initialiser) {
        cpu_ns += variant->initialises_cpu_ns;
        length_ns += INITIALISES;
    } else if (early && task != variant->unhindered) {
        length_ns += until_ns - start_ns;
    } else if (!early) {
        length_ns += variant->later_sleep_ns;
    }
    tb_event(p->tb, worker, start_ns, EVENT_TASK_START, task, 1000 * task);
    tb_event(p->tb, worker, start_ns + length_ns, EVENT_TASK_END, task, 1000 * task + cpu_ns);
    return start_ns + length_ns;
}

static struct by_hand play(const struct variant *variant) {
    struct by_hand p = by_hand_begin(NULL, WORKERS);
    uint64_t free_ns[WORKERS];
    tb_cores(p.tb, 2 * WORKERS);
    for (uint64_t task = 1; task <= variant->tasks; task++) {
        uint64_t begin_ns = 100 + 20 * (task - 1), *free = &free_ns[(task - 1) % WORKERS];
        by_hand_spawn(&p, HAND_MAIN, begin_ns, begin_ns + 10, task);
        if (task <= WORKERS) tb_event(p.tb, HAND_FIRST + (uint32_t)task - 1, begin_ns + 5, EVENT_WORKER_BEGIN, p.pool);
        *free = run_task(&p, variant, task, task <= WORKERS ? begin_ns + PICKUP : *free + PICKUP);
    }
    by_hand_open(&p, LAST);
    return p;
}

static void test_who_was_held_up_is_told(void **state) {
    (void)state;
    struct by_hand p = play(&usual);
    const struct costs *costs = p.fixture.costs;
    assert_int_equal(costs->first_uses.count, WORKERS - 1);
    for (uint32_t i = 0; i < costs->first_uses.count; i++) {
        const struct first_use *first_use = &costs->first_uses.items[i];
        const struct dag_task *task = &p.fixture.dag->tasks[p.fixture.dag->vertices.task[first_use->vertex]];
        int64_t start_ns = p.fixture.dag->vertices.time_ns[task->start];
        assert_int_equal(first_use->first, by_hand_index(p.fixture.dag, 1));
        assert_int_equal(first_use->held_ns, 100 + PICKUP + INITIALISES - start_ns);
        assert_int_equal(first_use->until_ns, INITIALISES);
        assert_ptr_equal(first_use_of(&costs->first_uses, first_use->vertex), first_use);
        assert_true(task->id != usual.initialiser);
    }
    assert_null(first_use_of(&costs->first_uses, 0));
    simulate_fixture_close(&p.fixture);
}

static void assert_none(const struct variant *variant) {
    struct by_hand p = play(variant);
    assert_int_equal(p.fixture.costs->first_uses.count, 0);
    simulate_fixture_close(&p.fixture);
}

static void test_what_is_usual_is_no_holdup(void **state) {
    (void)state;
    struct variant variant = usual;
    variant.later_sleep_ns = INITIALISES; // all sleep as long
    assert_none(&variant);
    variant = usual;
    variant.unhindered = 5; // so there was nothing to wait for
    assert_none(&variant);
    variant = usual;
    variant.initialises_cpu_ns = 0; // nobody did anything meanwhile
    assert_none(&variant);
    variant = usual;
    variant.initialises_cpu_ns = INITIALISES / 4; // too little
    assert_none(&variant);
    variant = usual;
    variant.tasks = WORKERS + 3; // too few to tell what is usual
    assert_none(&variant);
}

static int64_t wall_of_tasks(const struct dag *run) {
    int64_t last_ns = 0;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (!(task->flags & TASK_MAIN) && run->vertices.time_ns[task->end] > last_ns)
            last_ns = run->vertices.time_ns[task->end];
    }
    return last_ns;
}

static void assert_as_reference(struct by_hand *p, const struct dag *run) {
    const struct model model = {.kind = MODEL_CPU};
    struct reference_run expected;
    reference_simulate(p->fixture.dag, &p->fixture.edit, p->fixture.costs, &model, NULL, &expected);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->vertices.kind[v] == VERTEX_END && run->source[v] != DAG_NONE)
            assert_int_equal(run->vertices.time_ns[v], expected.time_ns[run->source[v]]);
    }
    reference_destroy(&expected);
}

static void test_replay_is_as_recorded(void **state) {
    (void)state;
    struct by_hand p = play(&usual);
    assert_int_equal(wall_of_tasks(by_hand_simulate(&p, MODEL_CPU)), wall_of_tasks(p.fixture.dag));
    simulate_fixture_close(&p.fixture);
}

// With two workers one initialises, if it is among the first two, and one sleeps. Whoever comes later sleeps no more.
static void test_who_comes_later_is_not_held_up(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= WORKERS; threads++) {
        struct by_hand p = play(&usual);
        dag_edit_resize(&p.fixture.edit, p.pool, threads);
        const struct dag *run = by_hand_simulate(&p, MODEL_CPU);
        int64_t pickups_ns = (TASKS / threads + 1) * 2 * PICKUP, computed_ns = TASKS / threads * COMPUTES;
        if (TASKS % threads == 0 && threads > 1)
            assert_in_range(wall_of_tasks(run), 100 + INITIALISES + computed_ns,
                            100 + INITIALISES + computed_ns + pickups_ns);
        assert_as_reference(&p, run);
        simulate_fixture_close(&p.fixture);
    }
}

// Who runs before the first of its site sleeps as long as it did.
static void test_who_comes_before_the_first_sleeps_as_recorded(void **state) {
    (void)state;
    struct by_hand p = play(&usual);
    uint32_t eighth = by_hand_index(p.fixture.dag, 8);
    const struct dag_task *task = &p.fixture.dag->tasks[eighth];
    int64_t recorded_ns = p.fixture.dag->vertices.time_ns[task->end] - p.fixture.dag->vertices.time_ns[task->start];
    dag_edit_inline(&p.fixture.edit, eighth);
    dag_edit_inline(&p.fixture.edit, by_hand_index(p.fixture.dag, 1)); // main runs it, and then spawns the others
    const struct dag *run = by_hand_simulate(&p, MODEL_CPU);
    const struct dag_task *second = &run->tasks[by_hand_index(run, 2)], *third = &run->tasks[by_hand_index(run, 3)];
    assert_int_equal(run->vertices.time_ns[second->end] - run->vertices.time_ns[second->start], INITIALISES + COMPUTES);
    assert_int_equal(run->vertices.time_ns[third->end] - run->vertices.time_ns[third->start], COMPUTES);
    assert_true(recorded_ns > COMPUTES);
    assert_as_reference(&p, run);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_was_held_up_is_told),
        cmocka_unit_test(test_what_is_usual_is_no_holdup),
        cmocka_unit_test(test_replay_is_as_recorded),
        cmocka_unit_test(test_who_comes_later_is_not_held_up),
        cmocka_unit_test(test_who_comes_before_the_first_sleeps_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
