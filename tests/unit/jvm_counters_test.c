// SPDX-License-Identifier: GPL-3.0-or-later
// The JVM's counters, as HotSpot lays them out, whole and damaged.
#include "tracer/jvm_counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { PROLOGUE = 32, ENTRY = 64, NAME_AT = 20, VALUE_AT = 48 };

static _Alignas(8) uint8_t memory[PROLOGUE + 3 * ENTRY];

static void put4(size_t at, int32_t value) {
    memcpy(memory + at, &value, sizeof value);
}

static void put_entry(size_t at, const char *name, char type, int32_t elements, int64_t value) {
    put4(at, ENTRY);
    put4(at + 4, NAME_AT);
    put4(at + 8, elements);
    memory[at + 12] = (uint8_t)type;
    put4(at + 16, VALUE_AT);
    strcpy((char *)memory + at + NAME_AT, name);
    memcpy(memory + at + VALUE_AT, &value, sizeof value);
}

static void make(void) {
    static const uint8_t head[] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
    memset(memory, 0, sizeof memory);
    memcpy(memory, head, sizeof head);
    put4(24, PROLOGUE);
    put4(28, 3);
    put_entry(PROLOGUE, "sun.rt.safepointTime", 'J', 0, 7);
    put_entry(PROLOGUE + ENTRY, "java.property", 'B', 8, 8);
    put_entry(PROLOGUE + 2 * ENTRY, "sun.rt.safepoints", 'J', 0, 9);
}

static const volatile int64_t *find(const char *name) {
    return jvm_counters_find(memory, sizeof memory, name);
}

static void numbers_are_found_by_name(void **state) {
    make();
    assert_int_equal(*find("sun.rt.safepointTime"), 7);
    assert_int_equal(*find("sun.rt.safepoints"), 9);
    assert_null(find("sun.rt.safepoint"));
    assert_null(find("java.property")); // a text
}

static void a_value_that_changes_is_seen(void **state) {
    make();
    const volatile int64_t *value = find("sun.rt.safepoints");
    const int64_t now = 10;
    memcpy(memory + PROLOGUE + 2 * ENTRY + VALUE_AT, &now, sizeof now);
    assert_int_equal(*value, 10);
}

static void what_is_not_as_it_should_be_has_no_counters(void **state) {
    assert_null(jvm_counters_find(NULL, 0, "a"));
    make();
    assert_null(jvm_counters_find(memory, 16, "sun.rt.safepoints"));
    memory[5] = 3; // another version
    assert_null(find("sun.rt.safepoints"));
    make();
    put4(PROLOGUE, 0); // an entry without an end
    assert_null(find("sun.rt.safepoints"));
    make();
    put4(PROLOGUE + 16, ENTRY - 4); // a value that leaves its entry
    assert_null(find("sun.rt.safepointTime"));
    make();
    put4(PROLOGUE + 2 * ENTRY, ENTRY + 1); // an entry that leaves the file
    assert_null(find("sun.rt.safepoints"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found_by_name),
        cmocka_unit_test(a_value_that_changes_is_seen),
        cmocka_unit_test(what_is_not_as_it_should_be_has_no_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
