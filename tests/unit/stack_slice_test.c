// SPDX-License-Identifier: GPL-3.0-or-later
// Sampled stacks until they are written.
#include "tracer/stack_slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_run(const struct trace_stack_run *run, uint32_t thread, uint32_t context, uint64_t first,
                       uint64_t count) {
    assert_int_equal(run->thread, thread);
    assert_int_equal(run->context, context);
    assert_int_equal(run->first, first);
    assert_int_equal(run->count, count);
}

// What goes on lengthens a run; what changes, or was not there for a moment, begins one.
static void test_runs(void **state) {
    static const uint32_t of_thread_7[] = {1, 1, 2, 1, 0, 1}; // 0: has no stack
    struct stack_slice *slice = stack_slice_new();
    for (uint64_t moment = 0; moment < 6; moment++) {
        stack_slice_moment(slice, 100 + moment);
        if (of_thread_7[moment]) stack_slice_put(slice, 7, of_thread_7[moment]);
        stack_slice_put(slice, 9, 5);
    }
    assert_int_equal(slice->run_count, 5);
    assert_run(&slice->runs[0], 7, 1, 0, 2);
    assert_run(&slice->runs[1], 9, 5, 0, 6);
    assert_run(&slice->runs[2], 7, 2, 2, 1);
    assert_run(&slice->runs[3], 7, 1, 3, 1);
    assert_run(&slice->runs[4], 7, 1, 5, 1);
    stack_slice_free(slice);
}

// Of more threads than are looked up no stack is lost; of more runs than a block holds some are, and counted.
static void test_many_threads(void **state) {
    enum { THREADS = 40000 };
    struct stack_slice *slice = stack_slice_new();
    for (uint64_t moment = 0; moment < 2; moment++) {
        stack_slice_moment(slice, 100 + moment);
        for (uint32_t thread = 1; thread <= THREADS; thread++) stack_slice_put(slice, thread, 3);
    }
    uint64_t stacks = slice->costs.left_out;
    for (size_t i = 0; i < slice->run_count; i++) stacks += slice->runs[i].count;
    assert_int_equal(stacks, 2 * THREADS);
    assert_true(slice->run_count <= SLICE_RUNS && slice->costs.left_out > 0);
    stack_slice_free(slice);
}

static void test_no_more_moments_than_fit(void **state) {
    struct stack_slice *slice = stack_slice_new();
    uint64_t moments = 0;
    for (; !stack_slice_is_full(slice); moments++) stack_slice_moment(slice, moments + 1);
    assert_int_equal(moments, SLICE_MOMENTS);
    stack_slice_free(slice);
}

// Between half of the period and one and a half, of that mean.
static void test_pauses(void **state) {
    enum { PAUSES = 100000, PERIOD = 10000000 };
    uint64_t seed = 1, least = UINT64_MAX, most = 0, sum = 0;
    for (int i = 0; i < PAUSES; i++) {
        uint64_t pause = stack_slice_pause_ns(&seed, PERIOD);
        least = pause < least ? pause : least;
        most = pause > most ? pause : most;
        sum += pause;
    }
    assert_in_range(least, PERIOD / 2, PERIOD / 2 + PERIOD / 100);
    assert_in_range(most, PERIOD * 3 / 2 - PERIOD / 100, PERIOD * 3 / 2);
    assert_in_range(sum / PAUSES, PERIOD * 0.99, PERIOD * 1.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_no_more_moments_than_fit),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
