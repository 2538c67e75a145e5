// SPDX-License-Identifier: GPL-3.0-or-later
// The agenda against a list that is searched from end to end, in random order.
#include "dag/simulate/agenda.h"
#include "random_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STRANDS = 6 * AGENDA_NEAR, STEPS = 20000 }; // a quarter of them stand in it at most times, more than are near

struct list {
    int64_t time_ns[STRANDS];
    bool stands[STRANDS];
};

static uint32_t first_of(const struct list *list) {
    uint32_t first = AGENDA_NONE;
    for (uint32_t s = 0; s < STRANDS; s++) {
        if (list->stands[s] && (first == AGENDA_NONE || list->time_ns[s] < list->time_ns[first])) first = s;
    }
    return first;
}

static void check_next(const struct agenda *agenda, const struct list *list, uint32_t strand, int64_t time_ns) {
    uint32_t first = first_of(list);
    assert_int_equal(agenda_next_ns(agenda), first == AGENDA_NONE ? INT64_MAX : list->time_ns[first]);
    bool precedes =
        first == AGENDA_NONE || time_ns < list->time_ns[first] || (time_ns == list->time_ns[first] && strand < first);
    assert_int_equal(agenda_precedes(agenda, strand, time_ns), precedes);
}

static void take(struct agenda *agenda, struct list *list) {
    int64_t time_ns;
    uint32_t first = first_of(list);
    assert_int_equal(agenda_take(agenda, &time_ns), first);
    if (first == AGENDA_NONE) return;
    assert_int_equal(time_ns, list->time_ns[first]);
    list->stands[first] = false;
}

// Times are few, so that many are equal, and some are negative.
static void who_comes_first_is_who_a_search_finds(void **state) {
    struct random_source random = {.state = 7};
    struct agenda agenda = {0};
    struct list list = {0};
    assert_true(agenda_reserve(&agenda, STRANDS / 4));
    assert_true(agenda_reserve(&agenda, STRANDS));
    for (int i = 0; i < STEPS; i++) {
        uint32_t strand = (uint32_t)random_below(&random, STRANDS);
        int64_t time_ns = (int64_t)random_below(&random, 30) - 10;
        check_next(&agenda, &list, strand, time_ns);
        if (random_below(&random, 3) == 0) {
            take(&agenda, &list);
        } else if (list.stands[strand]) {
            agenda_remove(&agenda, strand);
            list.stands[strand] = false;
        } else {
            agenda_put(&agenda, strand, time_ns);
            list.time_ns[strand] = time_ns;
            list.stands[strand] = true;
        }
    }
    agenda_clear(&agenda);
    assert_int_equal(agenda_next_ns(&agenda), INT64_MAX);
    agenda_remove(&agenda, 3);
    agenda_destroy(&agenda);
}

// Whoever stood in it when it was cleared stands nowhere: each can come again, and leave again.
static void a_cleared_agenda_begins_anew(void **state) {
    struct agenda agenda = {0};
    int64_t time_ns;
    assert_true(agenda_reserve(&agenda, STRANDS));
    for (int round = 0; round < 3; round++) {
        for (uint32_t s = 0; s < STRANDS; s++) agenda_put(&agenda, s, STRANDS - s);
        agenda_remove(&agenda, STRANDS - 1);
        assert_int_equal(agenda_take(&agenda, &time_ns), STRANDS - 2);
        agenda_clear(&agenda);
        assert_int_equal(agenda_take(&agenda, &time_ns), AGENDA_NONE);
    }
    agenda_put(&agenda, 5, INT64_MAX); // as late as can be is not as late as nobody
    assert_int_equal(agenda_take(&agenda, &time_ns), 5);
    assert_int_equal(agenda_take(&agenda, &time_ns), AGENDA_NONE);
    agenda_destroy(&agenda);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_comes_first_is_who_a_search_finds),
                                       cmocka_unit_test(a_cleared_agenda_begins_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
