// SPDX-License-Identifier: Apache-2.0
#include "tracer/known_pools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t add(struct known_pools *known, const char *name) {
    uint32_t id = known_pools_add(known, &(struct trace_pool){.kind = "Pool", .core = 2, .name = strdup(name)});
    assert_int_not_equal(id, 0);
    return id;
}

static size_t taken(struct known_pools *known) {
    size_t count;
    free(known_pools_take(known, &count));
    return count;
}

static void clear(struct known_pools *known) {
    for (size_t i = 0; i < known->count; i++) free((char *)known->pools[i].rules.name);
    free(known->pools);
}

static void test_each_is_taken_once_and_after_a_change_again(void **state) {
    struct known_pools known = {0};
    uint32_t first = add(&known, "first"), second = add(&known, "second");
    assert_int_equal(taken(&known), 2);
    assert_int_equal(taken(&known), 0);
    known_pools_change(&known, second)->core = 7;
    size_t count;
    struct known_pool *changed = known_pools_take(&known, &count);
    assert_int_equal(count, 1);
    assert_int_equal(changed->id, second);
    assert_int_equal(changed->rules.core, 7);
    free(changed);
    assert_int_equal(known_pools_find(&known, first)->core, 2);
    assert_null(known_pools_find(&known, 0));
    assert_null(known_pools_find(&known, second + 1));
    known_pools_write_again(&known);
    assert_int_equal(taken(&known), 2);
    clear(&known);
}

static void test_a_collected_one_goes_once_it_is_written(void **state) {
    struct known_pools known = {0};
    uint32_t gone = add(&known, "gone"), stays = add(&known, "stays");
    add(&known, "last");
    known_pools_collected(&known, gone);
    known_pools_forget(&known);
    assert_non_null(known_pools_find(&known, gone));
    assert_int_equal(taken(&known), 3);
    known_pools_write_again(&known);
    known_pools_forget(&known);
    assert_int_equal(taken(&known), 3);
    known_pools_forget(&known);
    assert_null(known_pools_find(&known, gone));
    assert_null(known_pools_change(&known, gone));
    known_pools_collected(&known, gone);
    assert_string_equal(known_pools_find(&known, stays)->name, "stays");
    known_pools_write_again(&known);
    assert_int_equal(taken(&known), 2);
    clear(&known);
}

// A file whose events name a pool beyond its last is no trace.
static void test_the_last_one_stays(void **state) {
    struct known_pools known = {0};
    uint32_t first = add(&known, "first");
    known_pools_collected(&known, first);
    taken(&known);
    known_pools_forget(&known);
    assert_non_null(known_pools_find(&known, first));
    add(&known, "second");
    known_pools_forget(&known);
    assert_null(known_pools_find(&known, first));
    clear(&known);
}

static void test_pools_without_end_take_no_memory(void **state) {
    struct known_pools known = {0};
    uint32_t stays = add(&known, "stays");
    for (unsigned i = 0; i < 100000; i++) {
        known_pools_collected(&known, add(&known, "pool"));
        taken(&known);
        known_pools_forget(&known);
    }
    assert_true(known.capacity <= 64);
    assert_string_equal(known_pools_find(&known, stays)->name, "stays");
    clear(&known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_taken_once_and_after_a_change_again),
        cmocka_unit_test(test_a_collected_one_goes_once_it_is_written),
        cmocka_unit_test(test_the_last_one_stays),
        cmocka_unit_test(test_pools_without_end_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
