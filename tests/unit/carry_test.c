// SPDX-License-Identifier: GPL-3.0-or-later
// How fine a page carries a trace: as fine as there is room for, and it says what it leaves out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/carry_part.h"
#include "trace_builder.h"

static struct trace *with_functions(void) {
    struct trace_builder *tb = tb_new();
    const uint32_t site = tb_site(tb, "Main", "run", 12);
    uint32_t methods[7];
    for (int m = 0; m < 7; m++) methods[m] = tb_method(tb, "Main", m % 2 ? "odd" : "even");
    tb_thread(tb, 1, "main", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 100);
    uint64_t time_ns = 1000, random = 1;
    for (uint64_t task = 200; task < 700; task++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t method = methods[random >> 33 & 3];
        tb_event(tb, 1, time_ns += 20 + (random >> 40 & 1023), EVENT_ENTER, method);
        tb_event(tb, 1, time_ns += 20 + (random >> 50 & 1023), EVENT_EXIT, method);
        tb_event(tb, 1, time_ns += 20 + (random >> 45 & 8191), EVENT_SPAWN_BEGIN, task, site, 0);
        tb_event(tb, 1, time_ns += 20 + (random >> 36 & 255), EVENT_SPAWN_END, task, 0);
    }
    tb_event(tb, 1, time_ns + 30, EVENT_THREAD_END, 100);
    struct trace *trace = tb_open(tb);
    tb_free(tb);
    return trace;
}

static struct carried carry(const struct trace *trace, size_t most) {
    struct error error = ERROR_INIT;
    struct carried carried;
    assert_true(carry_trace(trace, most, &carried, &error));
    assert_true(carried.text == NULL || (strlen(carried.text) == carried.bytes && carried.bytes <= most));
    return carried;
}

static void test_it_gets_coarser_until_it_fits(void **state) {
    struct trace *trace = with_functions();
    struct carried carried = carry(trace, SIZE_MAX);
    assert_true(carried.text && carried.quantum_ns == 1 && carried.functions);
    assert_string_equal(carried.why, "");
    bool left_out = false;
    uint64_t quantum_ns = 1;
    while (carried.text) {
        free(carried.text);
        carried = carry(trace, carried.bytes - 1);
        assert_true(carried.quantum_ns > quantum_ns || !carried.functions);
        assert_true(strlen(carried.why) > 0);
        left_out |= carried.quantum_ns == 1 && !carried.functions;
        quantum_ns = carried.quantum_ns;
    }
    assert_true(left_out);
    assert_int_equal(quantum_ns, 1000);
    assert_non_null(strstr(carried.why, "even with times rounded to 1 us"));
    trace_close(trace);
}

static void test_too_many_events_are_not_carried(void **state) {
    struct trace *trace = with_functions();
    trace->event_count = 6000000 + trace->event_count;
    struct carried carried = carry(trace, SIZE_MAX);
    assert_null(carried.text);
    assert_non_null(strstr(carried.why, "memory for 6000000 events"));
    trace_close(trace);
}

// What does not fit at all is carried as a part around the middle of what was asked for, as fine as that then fits.
static void test_a_part_is_carried(void **state) {
    struct trace *trace = with_functions();
    struct error error = ERROR_INIT;
    struct carry_range all, half;
    struct carried_part part;
    struct carried whole = carry(trace, 1);
    const size_t most = whole.bytes * 2 / 3;
    whole = carry(trace, most);
    assert_null(whole.text);
    assert_true(carry_whole_range(trace, &all, &error) && all.from_ns < all.to_ns);
    assert_true(carry_part(trace, &all, &whole, most, &part, &error));
    assert_non_null(part.trace);
    assert_true(part.carried.text && part.carried.bytes <= most && part.trace->event_count < trace->event_count);
    assert_true(part.range.from_ns > all.from_ns && part.range.to_ns < all.to_ns);
    const uint64_t before_ns = part.range.from_ns - all.from_ns, behind_ns = all.to_ns - part.range.to_ns;
    assert_true(before_ns <= behind_ns + 2 && behind_ns <= before_ns + 2);
    carried_part_destroy(&part);

    half = (struct carry_range){all.from_ns, all.from_ns + (all.to_ns - all.from_ns) / 4};
    assert_true(carry_part(trace, &half, &whole, most, &part, &error));
    assert_true(part.trace && part.range.from_ns == half.from_ns && part.range.to_ns == half.to_ns);
    carried_part_destroy(&part);

    assert_true(carry_part(trace, &all, &whole, 1, &part, &error)); // tables alone are larger
    assert_null(part.trace);
    carried_part_destroy(&part);
    trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_gets_coarser_until_it_fits),
        cmocka_unit_test(test_too_many_events_are_not_carried),
        cmocka_unit_test(test_a_part_is_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
