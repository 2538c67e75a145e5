// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/idmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void put(struct idpages *pages, uint64_t id, uint32_t number) {
    uint32_t *at = idpages_at(pages, id);
    assert_non_null(at);
    *at = number;
}

static uint32_t get(const struct idpages *pages, uint64_t id) {
    uint32_t number;
    idpages_get_all(pages, &id, 1, &number);
    return number;
}

static void several_ids_are_found_at_once(void **state) {
    struct idpages pages = {0};
    const uint64_t ids[] = {3, UINT64_MAX, 4, 3, 7 * IDPAGE};
    uint32_t numbers[5];
    put(&pages, 3, 8);
    put(&pages, 7 * IDPAGE, 9);
    idpages_get_all(&pages, ids, 5, numbers);
    const uint32_t expected[] = {8, IDMAP_NONE, IDMAP_NONE, 8, 9};
    assert_memory_equal(numbers, expected, sizeof expected);
    idpages_destroy(&pages);
}

// Ids of a page that isn't there are not found in the one that was asked for last, the first page's least of all.
static void a_page_is_found_by_its_own_ids_only(void **state) {
    struct idpages pages = {0};
    assert_int_equal(get(&pages, 3), IDMAP_NONE);
    put(&pages, 5 * IDPAGE + 3, 7);
    assert_int_equal(get(&pages, 3), IDMAP_NONE);
    assert_int_equal(get(&pages, 5 * IDPAGE + 3), 7);
    assert_int_equal(get(&pages, 6 * IDPAGE + 3), IDMAP_NONE);
    assert_int_equal(get(&pages, 5 * IDPAGE + 4), IDMAP_NONE);
    put(&pages, 3, 8);
    assert_int_equal(get(&pages, 3), 8);
    assert_int_equal(get(&pages, 5 * IDPAGE + 3), 7);
    idpages_destroy(&pages);
}

// As many as let the pages move, in an order in which none follows its neighbour.
static void every_id_keeps_its_number(void **state) {
    enum { IDS = 100000, STEP = 7919 }; // coprime
    struct idpages pages = {0};
    for (uint32_t i = 0; i < IDS; i++) put(&pages, (uint64_t)i * STEP % IDS, i);
    for (uint32_t i = 0; i < IDS; i++) assert_int_equal(get(&pages, (uint64_t)i * STEP % IDS), i);
    assert_int_equal(get(&pages, UINT64_MAX), IDMAP_NONE);
    put(&pages, UINT64_MAX, 9);
    assert_int_equal(get(&pages, UINT64_MAX), 9);
    idpages_destroy(&pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_ids_are_found_at_once),
        cmocka_unit_test(a_page_is_found_by_its_own_ids_only),
        cmocka_unit_test(every_id_keeps_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
