// SPDX-License-Identifier: GPL-3.0-or-later
// Factors and sizes that a search finds, on programs whose best ones are known by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "optimize/search.h"
#include "simulate_fixture.h"

enum { UNIT = 1000000, TASKS = 24, POOL = 1 }; // a pool's id in the trace

struct fixture {
    struct simulate_fixture run;
    struct estimator estimator;
    struct arena arena;
    struct search_result result;
};

static struct random_pool pool_of(uint32_t threads, uint32_t cores) {
    struct random_pool options = {.seed = 1, .cores = cores, .pool_count = 1, .measured = true, .wakeup_ns = 30};
    options.pools[0].threads = options.pools[0].maximum = threads;
    for (unsigned d = 0; d < DISPATCH_KINDS; d++) options.bracket_ns[d] = options.pickup_ns[d] = 30;
    return options;
}

static void add_step(struct program_task *task, struct program_step step) {
    task->steps[task->step_count++] = step;
}

// Main spawns so many tasks of one step, and ends.
static void make_program(struct program *program, uint32_t tasks, struct program_step step) {
    memset(program, 0, sizeof *program);
    program->task_count = tasks + 1;
    for (uint32_t t = 1; t <= tasks; t++) {
        add_step(&program->tasks[0], (struct program_step){.action = ACT_SPAWN, .what = t});
        add_step(&program->tasks[t], step);
    }
    add_step(&program->tasks[0], (struct program_step){.action = ACT_END});
}

static void search(struct fixture *f, const struct program *program, const struct random_pool *options,
                   enum model_kind model) {
    struct error error = ERROR_INIT;
    struct estimator *traces[] = {&f->estimator};
    struct search_options search = {
        .model = model, .top = 3, .seed = 1, .evaluations = SEARCH_EVALUATIONS, .budget_ns = SEARCH_NS};
    memset(f, 0, sizeof *f);
    simulate_fixture_open(&f->run, program_trace(program, options));
    assert_true(estimator_init(&f->estimator, f->run.dag, NULL, &error));
    assert_true(objective_parse("wall", &f->arena, &search.objective, &error));
    assert_true(search_run(traces, 1, &search, &f->arena, &f->result, &error));
}

static void close_fixture(struct fixture *f) {
    estimator_destroy(&f->estimator);
    arena_destroy(&f->arena);
    simulate_fixture_close(&f->run);
}

// The size that was tried, or NULL.
static const struct candidate *size_of(const struct fixture *f, int32_t threads) {
    const struct candidate *found = NULL;
    for (size_t i = 0; i < f->result.candidate_count; i++) {
        const struct improvement *named = f->result.candidates[i].named;
        if (named->kind == KIND_RESIZE_POOL && named->threads == threads) found = &f->result.candidates[i];
    }
    return found;
}

static const struct candidate *shown(const struct fixture *f, enum improvement_kind kind) {
    const struct candidate *found = NULL;
    for (size_t i = 0; i < f->result.candidate_count; i++) {
        const struct candidate *candidate = &f->result.candidates[i];
        if (candidate->named->kind != kind || !candidate->shown) continue;
        assert_null(found);
        found = candidate;
    }
    return found;
}

// 24 tasks that sleep for a unit, on two threads: 12 units. With 24 threads one unit is left; 95 % of that gain leaves
// 1.55, which no less than 24 threads bring: 23 need two units. Down to one thread everything is tried.
static void test_sizes_are_searched_as_far_as_they_gain(void **state) {
    struct program program;
    struct fixture f;
    const struct random_pool two = pool_of(2, 0);
    const struct program_step sleeps = {.work_ns = UNIT, .sleeps = true, .action = ACT_END};
    make_program(&program, TASKS, sleeps);
    search(&f, &program, &two, MODEL_POOL);
    assert_non_null(size_of(&f, 1));
    assert_null(size_of(&f, 2)); // as it is
    assert_non_null(size_of(&f, 4));
    assert_non_null(size_of(&f, 8));
    assert_non_null(size_of(&f, 16));
    const struct candidate *best = shown(&f, KIND_RESIZE_POOL);
    assert_int_equal(best->named->threads, TASKS);
    assert_true(best->estimate.wall_ns < 1.1 * UNIT);
    assert_false(best->probe);
    assert_string_equal(best->fails, "occupied.peak<=0%");
    assert_int_equal(f.result.plan_count, 0);
    close_fixture(&f);
}

// Three tasks of which one takes twelve units and two take six: two threads need twelve, as three do. No size is shown
// that gains nothing.
static void test_a_size_that_gains_nothing_is_not_shown(void **state) {
    struct program program;
    struct fixture f;
    const struct random_pool two = pool_of(2, 0);
    const struct program_step sleeps = {.work_ns = 6 * UNIT, .sleeps = true, .action = ACT_END};
    make_program(&program, 3, sleeps);
    program.tasks[1].steps[0].work_ns *= 2;
    search(&f, &program, &two, MODEL_POOL);
    const struct candidate *larger = size_of(&f, 4);
    assert_non_null(larger);
    assert_false(larger->shown && larger->negligible);
    close_fixture(&f);
}

// One task that computes for 12 units, with four threads and four cores: in four parts it takes three. It is offered
// whatever idles. What only sleeps is not, and would take as long in parts.
static void test_what_computes_is_divided(void **state) {
    struct program program;
    struct fixture f;
    const struct random_pool four = pool_of(4, 4);
    struct program_step step = {.work_ns = 12 * UNIT, .action = ACT_END};
    make_program(&program, 1, step);
    search(&f, &program, &four, MODEL_CPU);
    const struct candidate *best = shown(&f, KIND_SPLIT);
    assert_non_null(best);
    assert_int_equal(best->named->factor, 4);
    assert_true(best->estimate.wall_ns < 3.1 * UNIT);
    close_fixture(&f);
    step.sleeps = true;
    make_program(&program, 1, step);
    search(&f, &program, &four, MODEL_CPU);
    assert_null(shown(&f, KIND_SPLIT));
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_searched_as_far_as_they_gain),
        cmocka_unit_test(test_a_size_that_gains_nothing_is_not_shown),
        cmocka_unit_test(test_what_computes_is_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
