// SPDX-License-Identifier: GPL-3.0-or-later
// Which places' objects get an id: all until enough proved to need none, then few, and all again once one needed it.
#include "tracer/makers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MADE = 64 * MAKER_SAMPLED };

static unsigned followed_of(unsigned objects, uint32_t maker) {
    unsigned followed = 0;
    uint32_t made = 0;
    for (unsigned i = 0; i < objects; i++) followed += makers_follow(maker, &made);
    return followed;
}

static uint32_t needless_maker(void) {
    uint32_t maker = makers_new();
    for (int i = 0; i < MAKER_NEEDLESS_MOST; i++) makers_needless(maker);
    return maker;
}

static void test_a_place_is_followed_until_enough_were_needless(void **state) {
    uint32_t maker = makers_new();
    for (int i = 0; i < MAKER_NEEDLESS_MOST; i++) {
        assert_int_equal(followed_of(1, maker), 1);
        makers_needless(maker);
    }
    assert_int_equal(followed_of(MADE, maker), MADE / MAKER_SAMPLED);
}

static void test_objects_that_nobody_has_seen_the_end_of_say_nothing(void **state) {
    assert_int_equal(followed_of(MADE, makers_new()), MADE);
}

static void test_one_that_needed_its_id_has_all_followed_for_good(void **state) {
    uint32_t maker = needless_maker();
    makers_needed(maker);
    assert_int_equal(followed_of(MADE, maker), MADE);
    for (int i = 0; i < 2 * MAKER_NEEDLESS_MOST; i++) makers_needless(maker);
    assert_int_equal(followed_of(MADE, maker), MADE);
}

static void test_places_do_not_judge_each_other(void **state) {
    uint32_t other = makers_new(), maker = needless_maker();
    assert_int_not_equal(other, maker);
    assert_int_equal(followed_of(MADE, other), MADE);
}

static void test_nobody_s_objects_are_always_followed(void **state) {
    for (int i = 0; i < 2 * MAKER_NEEDLESS_MOST; i++) makers_needless(0);
    assert_int_equal(followed_of(MADE, 0), MADE);
}

static void *count_needless(void *maker) {
    for (int i = 0; i < 2 * MAKER_NEEDLESS_MOST; i++) makers_needless(*(uint32_t *)maker);
    return NULL;
}

static void test_threads_may_tell_at_once(void **state) {
    uint32_t maker = makers_new();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count_needless, &maker), 0);
    count_needless(&maker);
    pthread_join(thread, NULL);
    assert_int_equal(followed_of(MADE, maker), MADE / MAKER_SAMPLED);
}

// The last: it uses up the numbers.
static void test_places_beyond_the_most_are_nobody_s(void **state) {
    uint32_t last = makers_new(), maker = last;
    while ((maker = makers_new())) {
        assert_int_equal(maker, last + 1);
        last = maker;
    }
    assert_int_equal(last, MAKERS_MOST);
    assert_int_equal(makers_new(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_place_is_followed_until_enough_were_needless),
        cmocka_unit_test(test_objects_that_nobody_has_seen_the_end_of_say_nothing),
        cmocka_unit_test(test_one_that_needed_its_id_has_all_followed_for_good),
        cmocka_unit_test(test_places_do_not_judge_each_other),
        cmocka_unit_test(test_nobody_s_objects_are_always_followed),
        cmocka_unit_test(test_threads_may_tell_at_once),
        cmocka_unit_test(test_places_beyond_the_most_are_nobody_s),
    };
    return cmocka_run_group_tests_name("makers", tests, NULL, NULL);
}
