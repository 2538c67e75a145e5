// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/hands.h"

enum { ITEMS = 20000 };

struct tally {
    uint32_t done[ITEMS], by[HANDS];
};

static void count_item(void *context, uint32_t hand, uint32_t item) {
    struct tally *tally = context;
    tally->done[item]++;
    tally->by[hand]++;
}

// Whoever does them: that the other hand does some is nothing to rely on.
static void test_each_item_is_done_once(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, ITEMS};
    for (uint32_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint32_t hands = 1; hands <= HANDS; hands++) {
            static struct tally tally;
            memset(&tally, 0, sizeof tally);
            hands_run(count_item, &tally, counts[c], hands);
            for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(tally.done[i], i < counts[c]);
            assert_int_equal(tally.by[0] + tally.by[1], counts[c]);
            if (hands == 1) assert_int_equal(tally.by[1], 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_item_is_done_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
