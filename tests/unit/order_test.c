// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "dag/order.h"

enum { MOST = 5000 };

static uint64_t random_next(void) { // xorshift64*
    static uint64_t seed = 7;
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1d;
}

static int by_time_and_tie(const void *a, const void *b) {
    const struct order_key *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

// Times of up to `bits` bits, either sign; ties are all different.
static void check(uint32_t count, unsigned bits) {
    static struct order_key keys[MOST], expected[MOST];
    for (uint32_t i = 0; i < count; i++) {
        int64_t time_ns = (int64_t)(bits ? random_next() >> (64 - bits) : 0);
        uint64_t tie = random_next() << 13 | i;
        keys[i] = expected[i] = (struct order_key){random_next() % 2 ? time_ns : ~time_ns, tie, i};
    }
    qsort(expected, count, sizeof *expected, by_time_and_tie);
    assert_true(order_sort(keys, count));
    for (uint32_t i = 0; i < count; i++) assert_int_equal(keys[i].item, expected[i].item);
}

static void test_sorts_by_time_then_tie(void **state) {
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) check(1 + (uint32_t)(random_next() % 300), bits);
    check(MOST, 34);
    check(MOST, 10); // many ties
}

static void test_few(void **state) {
    (void)state;
    assert_true(order_sort(NULL, 0));
    check(1, 64);
    check(2, 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorts_by_time_then_tie),
        cmocka_unit_test(test_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
