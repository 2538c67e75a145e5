// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that are known by their object and by whom they are for: first in first out, and lost only beyond what
// memory should keep.
#include "tracer/mail.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int clear(void **state) {
    mail_clear();
    return 0;
}

static void test_one_object_sent_twice_comes_in_turn(void **state) {
    assert_true(mail_put(7, 1, 100));
    assert_true(mail_put(7, 1, 101));
    assert_int_equal(mail_take(7, 1), 100);
    assert_int_equal(mail_take(7, 1), 101);
    assert_int_equal(mail_take(7, 1), 0);
}

static void test_one_object_for_many_is_as_many_messages(void **state) {
    for (uint64_t actor = 1; actor <= 5000; actor++) assert_true(mail_put(7, actor, 100 + actor));
    for (uint64_t actor = 5000; actor > 0; actor--) assert_int_equal(mail_take(7, actor), 100 + actor);
}

static void test_an_actor_may_take_what_came_later_first(void **state) {
    for (uint64_t object = 1; object <= 100; object++) assert_true(mail_put(object, 1, 1000 + object));
    for (uint64_t object = 100; object > 0; object--) assert_int_equal(mail_take(object, 1), 1000 + object);
    assert_true(mail_put(1, 1, 9));
    assert_int_equal(mail_take(1, 1), 9);
}

static void test_too_many_are_refused_until_some_are_taken(void **state) {
    enum { MOST = 1 << 20 };
    for (uint64_t i = 1; i <= MOST; i++) assert_true(mail_put(i, 1, i));
    assert_false(mail_put(MOST + 1, 1, 1));
    assert_int_equal(mail_take(5, 1), 5);
    assert_true(mail_put(MOST + 1, 1, 1));
}

static void *send_and_take(void *argument) {
    const uint64_t actor = *(const uint64_t *)argument;
    uintptr_t wrong = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        wrong += !mail_put(i % 10, actor, i);
        if (i > 10) wrong += mail_take((i - 10) % 10, actor) != i - 10;
    }
    return (void *)wrong;
}

static void test_threads_do_not_see_each_other_s(void **state) {
    static const uint64_t actors[] = {1, 2, 3, 4};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_and_take, (void *)&actors[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_one_object_sent_twice_comes_in_turn, clear),
        cmocka_unit_test_teardown(test_one_object_for_many_is_as_many_messages, clear),
        cmocka_unit_test_teardown(test_an_actor_may_take_what_came_later_first, clear),
        cmocka_unit_test_teardown(test_too_many_are_refused_until_some_are_taken, clear),
        cmocka_unit_test_teardown(test_threads_do_not_see_each_other_s, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
