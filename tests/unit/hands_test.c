// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/hands.h"

#include <unistd.h>

enum { ITEMS = 20000 };

struct tally {
    uint32_t done[ITEMS], by[HANDS];
};

static void count_item(void *context, uint32_t hand, uint32_t item) {
    struct tally *tally = context;
    tally->done[item]++;
    tally->by[hand]++;
}

// That other hands do some is nothing to rely on.
static void test_each_item_is_done_once(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, ITEMS};
    for (uint32_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint32_t hands = 1; hands <= HANDS; hands++) {
            static struct tally tally;
            memset(&tally, 0, sizeof tally);
            hands_run(count_item, &tally, counts[c], hands);
            for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(tally.done[i], i < counts[c]);
            uint32_t done = 0;
            for (uint32_t h = 0; h < hands; h++) done += tally.by[h];
            assert_int_equal(done, counts[c]);
        }
    }
}

static void test_there_is_one_for_each_cpu(void **state) {
    (void)state;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    assert_true(hands_there() >= 1 && hands_there() <= HANDS);
    if (cpus < HANDS) assert_true((long)hands_there() <= cpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_item_is_done_once),
                                       cmocka_unit_test(test_there_is_one_for_each_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
