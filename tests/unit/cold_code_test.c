// SPDX-License-Identifier: GPL-3.0-or-later
// How much of what compilers compute goes with hand-overs (dag/simulate/cold_code.h), of one thread that hands TASKS
// tasks over and one that runs them, of which the first COLD cost more.
#include "dag/simulate/cold_code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TASKS = 64, COLD = 8, VERTICES = 4 * TASKS + 2 };
enum { WARM_NS = 10, COLD_NS = 1000, BODY_NS = 100 };

struct program {
    struct dag dag;
    struct dag_thread threads[2];
    struct dag_task tasks[TASKS];
    uint8_t kind[VERTICES], inlined[TASKS];
    uint32_t task[VERTICES], merged_next[TASKS];
    int64_t compute_ns[VERTICES];
    struct pace pace;
    struct pace_when when[VERTICES];
    struct dag_edit edit;
    struct cold_code cold;
};

static void put(struct program *program, uint32_t v, uint8_t kind, uint32_t task, int64_t compute_ns) {
    program->kind[v] = kind;
    program->task[v] = task;
    program->compute_ns[v] = compute_ns;
    program->when[v].part[PACE_COLD] = task < COLD ? 0 : 0.5;
}

static void put_task(struct program *program, uint32_t t) {
    const uint32_t spawn = 1 + 2 * t, start = 2 * TASKS + 2 + 2 * t;
    program->tasks[t] =
        (struct dag_task){.spawn_begin = spawn, .spawn_end = spawn + 1, .start = start, .end = start + 1};
    put(program, spawn, VERTEX_SPAWN_BEGIN, t, 0);
    put(program, spawn + 1, VERTEX_SPAWN_END, t, t < COLD ? COLD_NS + WARM_NS : WARM_NS);
    put(program, start, VERTEX_START, t, 0);
    put(program, start + 1, VERTEX_END, t, BODY_NS);
    program->merged_next[t] = DAG_NONE;
}

static int make(void **state) {
    struct program *program = calloc(1, sizeof *program);
    if (!program) return -1;
    program->threads[0] = (struct dag_thread){.first = 0, .count = 2 * TASKS + 1};
    program->threads[1] = (struct dag_thread){.first = 2 * TASKS + 1, .count = 2 * TASKS + 1};
    program->task[0] = program->task[2 * TASKS + 1] = DAG_NONE;
    for (uint32_t t = 0; t < TASKS; t++) put_task(program, t);
    for (int f = 0; f < PACE_FACTORS; f++)
        for (int c = 0; c < PACE_CLASSES; c++) program->pace.factor[f][c] = f == PACE_COLD && c == 0 ? 2 : 1;
    program->dag.vertices.kind = program->kind;
    program->dag.vertices.task = program->task;
    program->dag.vertices.compute_ns = program->compute_ns;
    program->dag.threads = program->threads;
    program->dag.thread_count = 2;
    program->dag.tasks = program->tasks;
    program->dag.task_count = TASKS;
    program->edit.inlined = program->inlined;
    program->edit.merged_next = program->merged_next;
    *state = program;
    return cold_code_measure(&program->cold, &program->dag, &program->pace, program->when) ? 0 : -1;
}

static int unmake(void **state) {
    free(*state);
    return 0;
}

static double gone(struct program *program, double compiled_ns) {
    return cold_code_gone(&program->cold, &program->dag, &program->edit, compiled_ns);
}

// Of bodies that are cold half is what they cost more.
static const double hand_overs_ns = COLD * COLD_NS, bodies_ns = COLD * BODY_NS / 2.0;

static void test_nothing_goes_without_an_edit(void **state) {
    assert_float_equal(gone(*state, 1000), 0, 1e-9);
}

static void test_the_hand_overs_part_goes_with_all_of_them(void **state) {
    struct program *program = *state;
    for (uint32_t t = 0; t < TASKS; t++) program->inlined[t] = 1;
    program->edit.inlined_count = TASKS;
    assert_float_equal(gone(program, 1000), hand_overs_ns / (hand_overs_ns + bodies_ns), 1e-9);
    assert_float_equal(gone(program, 6 * hand_overs_ns), 0.5, 1e-9); // three times what they cost cold, no more
}

// Four are left, which are as cold as the first four were.
static void test_merged_tasks_are_handed_over_less_often(void **state) {
    struct program *program = *state;
    for (uint32_t t = 0; t < TASKS; t++) program->merged_next[t] = t % 16 == 15 ? t : t + 1;
    program->edit.merged_count = TASKS;
    assert_float_equal(gone(program, 1000), hand_overs_ns / 2 / (hand_overs_ns + bodies_ns), 1e-9);
}

// Until the 200th none gets cheaper; from the 20,000th on each costs a hundredth to the power 0.6 of the first.
static void test_added_hand_overs_are_learnt(void **state) {
    (void)state;
    const double learnt = pow(0.01, 0.6);
    assert_float_equal(cold_code_added(10, 10, 190), 1, 1e-9);
    assert_float_equal(cold_code_added(200, 20000, 5), learnt, 1e-6);
    assert_float_equal(cold_code_added(200, 20000, 1000000), learnt, 1e-6);
    assert_float_equal(cold_code_added(200, 19999, 1), learnt, 1e-5); // without a jump
    assert_float_equal(cold_code_added(1e9, 1e9, 10), 1, 1e-3);       // the recorded ones were learnt themselves
    assert_float_equal(cold_code_added(0, 0, 10), 1, 1e-9);
    double sum = 0;
    for (int i = 0; i < 30000; i++) {
        const double next = cold_code_added(50, i, 1);
        assert_true(next <= cold_code_added(50, i > 0 ? i - 1 : 0, 1) + 1e-9);
        sum += next;
    }
    assert_float_equal(sum / 30000, cold_code_added(50, 0, 30000), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_goes_without_an_edit, make, unmake),
        cmocka_unit_test_setup_teardown(test_the_hand_overs_part_goes_with_all_of_them, make, unmake),
        cmocka_unit_test_setup_teardown(test_merged_tasks_are_handed_over_less_often, make, unmake),
        cmocka_unit_test(test_added_hand_overs_are_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
