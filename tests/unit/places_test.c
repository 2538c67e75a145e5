// SPDX-License-Identifier: GPL-3.0-or-later
// When the stack is walked at a place that a thread comes to again and again.
#include "tracer/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char frames[3 * PLACES_AT_HAND]; // stack pointers

// The thread is at the place `times` times, where a walk finds `site`: how often the stack is walked.
static unsigned visit(struct place_at_hand *place, unsigned times, uint32_t site) {
    unsigned walks = 0;
    for (unsigned i = 0; i < times; i++) {
        bool walk = place_needs_walk(place);
        if (walk) assert_int_equal(place_walked(place, site), site);
        walks += walk;
    }
    return walks;
}

static void test_ever_fewer_walks(void **state) {
    static const unsigned walked[] = {1, 2, 3, 4, 6, 9, 13, 19, 28, 42, 63, 94, 141, 202, 263, 324};
    struct place_at_hand place = {0};
    unsigned at = 0;
    for (unsigned time = 1; time <= 324; time++) {
        bool walk = visit(&place, 1, 7);
        assert_int_equal(walk, time == walked[at]);
        at += walk;
        assert_int_equal(place.site, 7);
    }
    assert_int_equal(at, sizeof walked / sizeof *walked);
    assert_int_equal(visit(&place, 61 * 1000, 7), 1000);
}

static void test_places_that_look_alike_are_told_by_walks_from_then_on(void **state) {
    struct place_at_hand place = {0};
    visit(&place, 10, 7);
    unsigned until = 0;
    while (!place_needs_walk(&place)) until++;
    assert_true(until <= 5);
    place_walked(&place, 8);
    assert_int_equal(visit(&place, 100, 7), 100);
    assert_int_equal(visit(&place, 100, 8), 100);
}

// Two places that look alike and take turns in any period up to 60: a walk meets the second within some hundred times.
static void test_turns_are_found(void **state) {
    for (unsigned period = 2; period <= 60; period++) {
        struct place_at_hand place = {0};
        unsigned time = 0;
        while (!place.ambiguous && time < 61 * 61) {
            visit(&place, 1, ++time % period ? 7 : 8);
        }
        assert_true(place.ambiguous);
    }
}

static void test_each_place_has_its_own(void **state) {
    struct places_at_hand places = {0};
    struct place_at_hand *one = places_take(&places, &frames[1], 5), *other = places_take(&places, &frames[2], 5);
    struct place_at_hand *of_class = places_take(&places, &frames[1], 6);
    assert_true(one != other && one != of_class && other != of_class);
    visit(one, 10, 7);
    visit(other, 10, 8);
    assert_ptr_equal(places_take(&places, &frames[1], 5), one);
    assert_int_equal(one->site, 7);
    assert_int_equal(other->site, 8);
    assert_int_equal(of_class->seen, 0);
}

static void test_the_oldest_gives_way(void **state) {
    struct places_at_hand places = {0};
    for (unsigned i = 0; i < PLACES_AT_HAND; i++) visit(places_take(&places, &frames[i], 5), 10, 10 + i);
    visit(places_take(&places, &frames[PLACES_AT_HAND], 5), 1, 99);
    for (unsigned i = 1; i < PLACES_AT_HAND; i++) {
        struct place_at_hand *place = places_take(&places, &frames[i], 5);
        assert_int_equal(place->site, 10 + i);
        assert_int_equal(place->seen, 10);
    }
    assert_int_equal(places_take(&places, &frames[0], 5)->seen, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ever_fewer_walks),
        cmocka_unit_test(test_places_that_look_alike_are_told_by_walks_from_then_on),
        cmocka_unit_test(test_turns_are_found),
        cmocka_unit_test(test_each_place_has_its_own),
        cmocka_unit_test(test_the_oldest_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
