// SPDX-License-Identifier: GPL-3.0-or-later
// The event list against a list that is searched from end to end, in random order.
#include "dag/simulate/event_list.h"
#include "random_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// A third of the subjects have a notice at most times, more than are near. Each kind has so many.
enum { SUBJECTS = 2 * EVENTS_NEAR, STEPS = 20000, ALL = SUBJECT_KINDS * SUBJECTS };

struct list { // by kind, and of one kind by subject: the order of notices at one time
    struct notice notices[ALL];
    bool stands[ALL];
};

static const struct notice *first_of(const struct list *list) {
    const struct notice *first = NULL;
    for (uint32_t i = 0; i < ALL; i++) {
        const struct notice *notice = &list->notices[i];
        if (list->stands[i] && (!first || notice->time_ns < first->time_ns)) first = notice;
    }
    return first;
}

static uint32_t place_of(struct notice notice) {
    return notice_subject_of(notice.type) * SUBJECTS + notice.subject;
}

static void check_next(const struct event_list *events, const struct list *list, struct notice notice) {
    const struct notice *first = first_of(list);
    assert_int_equal(event_next_ns(events), first ? first->time_ns : INT64_MAX);
    bool precedes = !first || notice.time_ns < first->time_ns ||
                    (notice.time_ns == first->time_ns && place_of(notice) < place_of(*first));
    if (first && place_of(notice) == place_of(*first)) return; // it stands in it
    assert_int_equal(event_precedes(events, notice.type, notice.subject, notice.time_ns), precedes);
}

static void take(struct event_list *events, struct list *list) {
    const struct notice *first = first_of(list);
    struct notice taken = event_take(events);
    assert_int_equal(taken.subject, first ? first->subject : NOTICE_NONE);
    if (!first) return;
    assert_int_equal(taken.time_ns, first->time_ns);
    assert_int_equal(taken.type, first->type);
    list->stands[place_of(*first)] = false;
}

static void reserve(struct event_list *events, uint32_t subjects) {
    for (int kind = 0; kind < SUBJECT_KINDS; kind++) assert_true(events_reserve(events, kind, subjects));
}

// Times are few, so that many are equal, and some are negative.
static void what_comes_first_is_what_a_search_finds(void **state) {
    struct random_source random = {.state = 7};
    struct event_list events = {0};
    struct list list = {0};
    reserve(&events, SUBJECTS / 4);
    reserve(&events, SUBJECTS);
    for (int i = 0; i < STEPS; i++) {
        struct notice notice = {.time_ns = (int64_t)random_below(&random, 30) - 10,
                                .subject = (uint32_t)random_below(&random, SUBJECTS),
                                .type = (enum notice_type)random_below(&random, NOTICE_TYPES)};
        uint32_t place = place_of(notice);
        check_next(&events, &list, notice);
        if (random_below(&random, 3) == 0) {
            take(&events, &list);
        } else if (list.stands[place]) {
            event_remove(&events, notice_subject_of(notice.type), notice.subject);
            list.stands[place] = false;
        } else {
            event_put(&events, notice.type, notice.subject, notice.time_ns);
            list.notices[place] = notice;
            list.stands[place] = true;
        }
    }
    events_clear(&events);
    assert_int_equal(event_next_ns(&events), INT64_MAX);
    event_remove(&events, SUBJECT_PROCESS, 3);
    events_destroy(&events);
}

// What stood in it when it was cleared stands nowhere: each can come again, and leave again.
static void a_cleared_list_begins_anew(void **state) {
    struct event_list events = {0};
    assert_true(events_reserve(&events, SUBJECT_PROCESS, ALL));
    for (int round = 0; round < 3; round++) {
        for (uint32_t s = 0; s < ALL; s++) event_put(&events, NOTICE_TURN, s, ALL - s);
        event_remove(&events, SUBJECT_PROCESS, ALL - 1);
        assert_int_equal(event_take(&events).subject, ALL - 2);
        events_clear(&events);
        assert_int_equal(event_take(&events).subject, NOTICE_NONE);
    }
    event_put(&events, NOTICE_FREE, 5, INT64_MAX); // as late as can be is not as late as never
    assert_int_equal(event_take(&events).subject, 5);
    assert_int_equal(event_take(&events).subject, NOTICE_NONE);
    events_destroy(&events);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_comes_first_is_what_a_search_finds),
                                       cmocka_unit_test(a_cleared_list_begins_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
