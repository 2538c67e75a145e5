// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that are too short are left out, whatever batches they come in; what has something in it stays.
#include "tracer/brief.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LEAST = 100, MOST = 256 };

// A letter an event, 10 ticks apart unless '.' lets 100 pass: "a" enters function a, "A" leaves it, "!" leaves the last
// by an exception, "*" is anything else.
static size_t make(const char *text, uint64_t *time, struct event *events) {
    size_t count = 0;
    char last = 'a';
    for (; *text; text++) {
        *time += *text == '.' ? 100 : 10;
        if (*text == '.') continue;
        struct event event = {.time = *time, .kind = EVENT_RESULT};
        if (*text >= 'a' && *text <= 'z')
            event = (struct event){.time = *time, .kind = EVENT_ENTER, .operand = {(uint64_t)(last = *text)}};
        if (*text >= 'A' && *text <= 'Z')
            event = (struct event){.time = *time, .kind = EVENT_EXIT, .operand = {(uint64_t)*text + 32}};
        if (*text == '!') event = (struct event){.time = *time, .kind = EVENT_EXIT_THROW, .operand = {(uint64_t)last}};
        events[count++] = event;
    }
    return count;
}

static void append(char *out, const struct event *events, size_t count) {
    size_t used = strlen(out);
    for (size_t i = 0; i < count; i++) {
        char c = events[i].kind == EVENT_ENTER        ? (char)events[i].operand[0]
                 : events[i].kind == EVENT_EXIT       ? (char)(events[i].operand[0] - 32)
                 : events[i].kind == EVENT_EXIT_THROW ? '!'
                                                      : '*';
        out[used++] = c;
    }
    out[used] = '\0';
}

// Batches are parted by '|'.
static void assert_left(const char *text, const char *expected) {
    struct brief brief = {.count = 0};
    struct event events[MOST + BRIEF_HELD];
    char out[MOST] = "", batches[MOST], *rest;
    uint64_t time = 1000;
    snprintf(batches, sizeof batches, "%s", text);
    for (char *batch = strtok_r(batches, "|", &rest); batch; batch = strtok_r(NULL, "|", &rest)) {
        size_t count = make(batch, &time, events);
        append(out, events, brief_filter(&brief, LEAST, time, events, count));
    }
    append(out, events, brief_filter(&brief, LEAST, UINT64_MAX, events, 0));
    assert_string_equal(out, expected);
    assert_int_equal(brief.count, 0);
}

static void test_short_functions_go_with_those_around_them(void **state) {
    assert_left("aA", "");
    assert_left("a!", "");
    assert_left("a.A", "aA");
    assert_left("abBcCA", "");
    assert_left("abB.cCA", "aA");
    assert_left("abcCBAdD", "");
}

static void test_what_holds_something_stays(void **state) {
    assert_left("a*A", "a*A");
    assert_left("ab*BA", "ab*BA");
    assert_left("*aA*", "**");
    assert_left("aB", "aB"); // whose exit was lost
    assert_left("A", "A");
}

static void test_batches_make_no_difference(void **state) {
    assert_left("a|A", "");
    assert_left("a|b|B|A", "");
    assert_left("ab|..|BA", "abBA");
    assert_left("a|..|bB|A", "aA");
    assert_left("*a|b*|BA", "*ab*BA");
    assert_left("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|*",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*");
}

// However late the batches are taken.
static void test_an_exit_is_waited_for_until_all_before_it_is_there(void **state) {
    const uint64_t later = 1000000;
    struct brief brief = {.count = 0};
    struct event events[2 + BRIEF_HELD];
    uint64_t time = 1000;
    assert_int_equal(brief_filter(&brief, LEAST, 0, events, make("a", &time, events)), 0);
    assert_int_equal(brief_filter(&brief, LEAST, later, events, make("A", &time, events)), 0);
    const uint64_t before = time;
    assert_int_equal(brief_filter(&brief, LEAST, before, events, make("a", &time, events)), 0);
    assert_int_equal(brief_filter(&brief, LEAST, later, events, 0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_functions_go_with_those_around_them),
        cmocka_unit_test(test_what_holds_something_stays),
        cmocka_unit_test(test_batches_make_no_difference),
        cmocka_unit_test(test_an_exit_is_waited_for_until_all_before_it_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
