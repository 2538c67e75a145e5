// SPDX-License-Identifier: GPL-3.0-or-later
// Of which tasks the calling context is recorded.
#include "tracer/calling_schedule.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static void test_the_first_are_all_taken_and_ever_fewer_later(void **state) {
    for (uint64_t n = 0; n < 8; n++) assert_int_equal(calling_stands_for(n, 1), 1);
    for (uint64_t from = 8; from < 1 << 20; from *= 2) {
        unsigned taken = 0;
        for (uint64_t n = from; n < 2 * from; n++) {
            uint64_t stands_for = calling_stands_for(n, 1);
            assert_true(stands_for == 0 || stands_for == from / 8);
            taken += stands_for != 0;
        }
        assert_int_equal(taken, 8);
    }
}

static void test_numbers_taken_together_are_as_those_taken_alone(void **state) {
    for (uint64_t first = 0, count = 1; first < 100000; first += count, count = 1 + first % 9) {
        uint64_t alone = 0;
        for (uint64_t n = first; n < first + count; n++) {
            uint64_t stands_for = calling_stands_for(n, 1);
            if (stands_for) alone = stands_for;
        }
        assert_int_equal(calling_stands_for(first, (uint32_t)count), alone);
    }
    assert_int_equal(calling_stands_for(UINT64_MAX / 2, 0), 0);
}

// Stacks taken of `tasks` tasks of a kind, and how many they stand for.
static unsigned take(struct calling_tallies *tallies, uint32_t key, unsigned tasks, uint64_t *stand_for) {
    unsigned taken = 0;
    for (unsigned i = 0; i < tasks; i++) {
        uint64_t stands_for = calling_turn(tallies, key);
        taken += stands_for != 0;
        *stand_for += stands_for;
    }
    return taken;
}

static void test_what_is_taken_stands_for_all(void **state) {
    struct calling_tallies tallies = {0};
    uint64_t stand_for = 0;
    calling_schedule_restart();
    assert_int_equal(take(&tallies, 5, 8, &stand_for), 8);
    unsigned taken = take(&tallies, 5, 1000000 - 8, &stand_for);
    assert_in_range(taken, 110, 140); // 8 for each of 17 doublings
    assert_in_range(stand_for, 900000, 1100000);
}

// Routes that take turns, whatever the number of routes: each is seen as often as it is taken, about.
static void test_it_does_not_fall_in_with_the_program(void **state) {
    for (unsigned routes = 2; routes <= 4; routes++) {
        struct calling_tallies tallies = {0};
        uint64_t seen[4] = {0}, all = 0;
        calling_schedule_restart();
        for (unsigned round = 0; round < 200; round++) {
            uint32_t key = 100 + round;
            for (unsigned i = 0; i < 3000; i++) {
                uint64_t stands_for = calling_turn(&tallies, key);
                seen[i % routes] += stands_for;
                all += stands_for;
            }
        }
        for (unsigned r = 0; r < routes; r++) assert_in_range(seen[r] * 100, all * 85 / routes, all * 115 / routes);
    }
}

static void test_kinds_that_share_a_place_are_still_looked_at(void **state) {
    struct calling_tallies tallies = {0};
    uint64_t stand_for = 0;
    unsigned taken = 0;
    calling_schedule_restart();
    for (unsigned i = 0; i < 10000; i++) {
        taken += take(&tallies, 3, 1, &stand_for);
        taken += take(&tallies, 3 + CALLING_TALLIES, 1, &stand_for);
    }
    assert_in_range(taken, 2 * 80, 2 * 110);
    assert_in_range(stand_for, 18000, 22000);
}

enum { THREADS = 4, TASKS = 200000 };

static void *many_tasks(void *counted) {
    struct calling_tallies tallies = {0};
    uint64_t *stand_for = counted;
    take(&tallies, 9, TASKS, stand_for);
    return NULL;
}

static void test_threads_share_the_count(void **state) {
    pthread_t threads[THREADS];
    uint64_t stand_for[THREADS] = {0}, all = 0;
    calling_schedule_restart();
    for (unsigned t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, many_tasks, &stand_for[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        all += stand_for[t];
    }
    assert_in_range(all, THREADS * TASKS * 8 / 10, THREADS * TASKS * 12 / 10);
}

// Threads that run one task each take no more numbers than tasks.
static void test_short_lived_threads_take_no_more(void **state) {
    uint64_t stand_for = 0;
    calling_schedule_restart();
    for (unsigned t = 0; t < 10000; t++) take(&(struct calling_tallies){0}, 9, 1, &stand_for);
    assert_in_range(stand_for, 9000, 11000);
}

static void test_a_mark_is_taken_once_and_by_its_task_alone(void **state) {
    calling_schedule_restart();
    assert_int_equal(calling_take_mark(7), 0);
    calling_mark(7, 64);
    calling_mark(8, 1);
    assert_int_equal(calling_take_mark(7 + CALLING_MARKS), 0);
    assert_int_equal(calling_take_mark(7), 64);
    assert_int_equal(calling_take_mark(7), 0);
    assert_int_equal(calling_take_mark(8), 1);
    calling_mark(7, 2);
    calling_mark(7 + CALLING_MARKS, 4); // takes its place
    assert_int_equal(calling_take_mark(7), 0);
    assert_int_equal(calling_take_mark(7 + CALLING_MARKS), 4);
    calling_mark(7, 2);
    calling_schedule_restart();
    assert_int_equal(calling_take_mark(7), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_are_all_taken_and_ever_fewer_later),
        cmocka_unit_test(test_numbers_taken_together_are_as_those_taken_alone),
        cmocka_unit_test(test_what_is_taken_stands_for_all),
        cmocka_unit_test(test_it_does_not_fall_in_with_the_program),
        cmocka_unit_test(test_kinds_that_share_a_place_are_still_looked_at),
        cmocka_unit_test(test_threads_share_the_count),
        cmocka_unit_test(test_short_lived_threads_take_no_more),
        cmocka_unit_test(test_a_mark_is_taken_once_and_by_its_task_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
