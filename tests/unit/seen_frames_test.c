// SPDX-License-Identifier: GPL-3.0-or-later
// What is in use stays, and of what comes and goes the map does not grow.
#include "tracer/seen_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char methods[100000];

static void add(struct seen_frames *map, unsigned method, int64_t bci, uint32_t id) {
    seen_frames_add(map, &(struct seen_frame){.method = &methods[method], .bci = bci, .id = id, .is_fallback = id % 2});
}

static uint32_t id_of(struct seen_frames *map, unsigned method, int64_t bci) {
    const struct seen_frame *frame = seen_frames_find(map, &methods[method], bci);
    return frame ? frame->id : 0;
}

static void test_by_method_and_bytecode(void **state) {
    struct seen_frames map = {0};
    assert_int_equal(id_of(&map, 1, 7), 0);
    add(&map, 1, 7, 11);
    add(&map, 1, 8, 12);
    add(&map, 2, -1, 13);
    add(&map, 1, 7, 99); // known
    assert_int_equal(id_of(&map, 1, 7), 11);
    assert_int_equal(id_of(&map, 1, 8), 12);
    assert_int_equal(id_of(&map, 2, -1), 13);
    assert_int_equal(id_of(&map, 2, 7), 0);
    assert_true(seen_frames_find(&map, &methods[1], 7)->is_fallback);
    assert_false(seen_frames_find(&map, &methods[1], 8)->is_fallback);
    seen_frames_clear(&map);
    assert_int_equal(id_of(&map, 1, 7), 0);
}

// A hundred that are used all the time, beside a hundred thousand of which each is asked for a few times and never
// again.
static void test_what_is_in_use_stays(void **state) {
    enum { LIVE = 100, DEAD = 99000 };
    struct seen_frames map = {0};
    unsigned lost = 0;
    for (unsigned i = 0; i < LIVE; i++) add(&map, i, 0, 1 + i);
    for (unsigned i = 0; i < DEAD; i++) {
        add(&map, 1000 + i, 3, 7);
        assert_int_equal(id_of(&map, 1000 + i, 3), 7);
        if (i % 10) continue;
        for (unsigned live = 0; live < LIVE; live++) {
            if (id_of(&map, live, 0) == 1 + live) continue;
            lost++;
            add(&map, live, 0, 1 + live);
        }
    }
    assert_true(lost <= LIVE);
    assert_true(map.capacity <= 16 * LIVE);
    seen_frames_clear(&map);
}

// It grows with what is in use, be that as much as it likes.
static void test_grows_with_what_is_in_use(void **state) {
    enum { ALL = 20000 }; // each is asked for when all others have been
    struct seen_frames map = {0};
    for (int round = 0; round < 20; round++) {
        for (unsigned i = 0; i < ALL; i++) {
            if (!id_of(&map, i, 5)) add(&map, i, 5, 1 + i);
        }
    }
    unsigned known = 0;
    for (unsigned i = 0; i < ALL; i++) known += id_of(&map, i, 5) == 1 + i;
    assert_int_equal(known, ALL);
    seen_frames_clear(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_method_and_bytecode),
        cmocka_unit_test(test_what_is_in_use_stays),
        cmocka_unit_test(test_grows_with_what_is_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
