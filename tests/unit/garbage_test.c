// SPDX-License-Identifier: GPL-3.0-or-later
// What collections have less to collect where fewer tasks are handed over (dag/simulate/garbage.h), of one thread that
// hands TASKS tasks over, 10 ns apart, and two collections.
#include "dag/simulate/garbage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TASKS = 20, PAUSES = 2, VERTICES = 4 * TASKS, EACH_BYTES = 48 };

struct program {
    struct dag dag;
    struct dag_task tasks[TASKS];
    struct dag_pool pools[2];
    struct dag_pause pauses[PAUSES];
    uint8_t kind[VERTICES], inlined[TASKS];
    int64_t time_ns[VERTICES];
    uint32_t merged_next[TASKS];
    struct dag_edit edit;
    double left[PAUSES];
};

static void put_task(struct program *program, uint32_t t) {
    const uint32_t spawn = 2 * t, start = 2 * TASKS + 2 * t;
    program->tasks[t] = (struct dag_task){
        .spawn_begin = spawn, .spawn_end = spawn + 1, .start = start, .end = start + 1, .result = start + 1, .pool = 1};
    program->kind[start + 1] = VERTEX_END;
    program->time_ns[spawn] = 10 * t;
    program->merged_next[t] = DAG_NONE;
}

// The first collection comes behind the tenth task, the second behind the last.
static int make(void **state) {
    struct program *program = calloc(1, sizeof *program);
    if (!program) return -1;
    for (uint32_t t = 0; t < TASKS; t++) put_task(program, t);
    program->pools[1].discipline = DISCIPLINE_FIFO;
    program->pauses[0] = (struct dag_pause){95, 96, 20 * EACH_BYTES};
    program->pauses[1] = (struct dag_pause){295, 299, 100 * EACH_BYTES};
    program->dag.vertices.kind = program->kind;
    program->dag.vertices.time_ns = program->time_ns;
    program->dag.tasks = program->tasks;
    program->dag.task_count = TASKS;
    program->dag.pools = program->pools;
    program->dag.pool_count = 2;
    program->dag.pauses = program->pauses;
    program->dag.pause_count = PAUSES;
    program->edit.inlined = program->inlined;
    program->edit.merged_next = program->merged_next;
    *state = program;
    return 0;
}

static int unmake(void **state) {
    free(*state);
    return 0;
}

static bool find(struct program *program) {
    return garbage_left(&program->dag, &program->edit, program->left);
}

static void inline_all(struct program *program) {
    for (uint32_t t = 0; t < TASKS; t++) program->inlined[t] = 1;
    program->edit.inlined_count = TASKS;
}

static void without_a_change_all_is_left(void **state) {
    assert_false(find(*state));
}

// Ten tasks had half of what the first collection found, and a tenth of the second's.
static void each_pause_has_the_garbage_of_its_own_time(void **state) {
    struct program *program = *state;
    inline_all(program);
    assert_true(find(program));
    assert_float_equal(program->left[0], 0.5, 1e-9);
    assert_float_equal(program->left[1], 0.9, 1e-9);
}

// Five by five: of each five one is left.
static void of_merged_tasks_one_is_handed_over(void **state) {
    struct program *program = *state;
    for (uint32_t t = 0; t < TASKS; t++) program->merged_next[t] = t % 5 == 4 ? t : t + 1;
    program->edit.merged_count = TASKS;
    assert_true(find(program));
    assert_float_equal(program->left[0], 1 - 0.5 * 8 / 10, 1e-9);
    assert_float_equal(program->left[1], 1 - 0.1 * 8 / 10, 1e-9);
}

static void a_future_is_garbage_too(void **state) {
    struct program *program = *state;
    inline_all(program);
    for (uint32_t t = 0; t < TASKS; t++) program->kind[program->tasks[t].result] = VERTEX_RESULT;
    assert_true(find(program));
    assert_float_equal(program->left[0], 0, 1e-9);
    assert_float_equal(program->left[1], 0.8, 1e-9);
}

static void a_fork_join_task_is_its_own_future(void **state) {
    struct program *program = *state;
    inline_all(program);
    program->pools[1].discipline = DISCIPLINE_STEALING;
    for (uint32_t t = 0; t < TASKS; t++) program->kind[program->tasks[t].result] = VERTEX_RESULT;
    assert_true(find(program));
    assert_float_equal(program->left[0], 0.5, 1e-9);
}

// A program cannot have allocated less than nothing.
static void no_more_goes_than_there_was(void **state) {
    struct program *program = *state;
    inline_all(program);
    program->pauses[0].allocated_bytes = EACH_BYTES;
    assert_true(find(program));
    assert_float_equal(program->left[0], 0, 1e-9);
}

static void what_is_not_known_is_left(void **state) {
    struct program *program = *state;
    inline_all(program);
    program->pauses[0].allocated_bytes = 0;
    assert_true(find(program));
    assert_float_equal(program->left[0], 1, 1e-9);
    program->pauses[1].allocated_bytes = 0;
    assert_false(find(program));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
    const struct CMUnitTest tests[] = {
        TEST(without_a_change_all_is_left),       TEST(each_pause_has_the_garbage_of_its_own_time),
        TEST(of_merged_tasks_one_is_handed_over), TEST(a_future_is_garbage_too),
        TEST(a_fork_join_task_is_its_own_future), TEST(no_more_goes_than_there_was),
        TEST(what_is_not_known_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
