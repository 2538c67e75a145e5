// SPDX-License-Identifier: GPL-3.0-or-later
// A part of a trace has the events of the whole that lie in it, behind those that tell again what was under way; it can
// be read, and what happened in it be simulated, by itself.
#include "optimize/estimator.h"
#include "random_trace.h"
#include "tracefile/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 300, RAISED_MOST_NS = 64 }; // RAISED: times behind those of what was under way may be that much later

static uint64_t last_ns(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct event event;
    uint64_t last = 0;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        struct trace_cursor cursor;
        trace_cursor_init(&cursor, trace, &trace->streams[s]);
        while (trace_cursor_next(&cursor, &event, &error)) last = event.time > last ? event.time : last;
    }
    return last;
}

static const struct trace_stream *stream_of(const struct trace *trace, uint32_t id) {
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id == id) return &trace->streams[s];
    }
    return NULL;
}

static uint64_t count_within(const struct trace *trace, const struct trace_stream *stream, uint64_t from_ns,
                             uint64_t to_ns) {
    struct error error = ERROR_INIT;
    struct trace_cursor cursor;
    struct event event;
    uint64_t count = 0;
    trace_cursor_init(&cursor, trace, stream);
    while (trace_cursor_next(&cursor, &event, &error)) count += event.time >= from_ns && event.time < to_ns;
    return count;
}

// Returns how many events of the part's stream tell again what was under way.
static uint64_t assert_same_events(const struct trace *whole, const struct trace_stream *stream,
                                   const struct trace *part, uint64_t from_ns, uint64_t to_ns) {
    const struct trace_stream *own = stream_of(part, stream->id);
    const uint64_t within = count_within(whole, stream, from_ns, to_ns);
    struct error error = ERROR_INIT;
    struct trace_cursor cursor, part_cursor;
    struct event event, same;
    assert_non_null(own);
    assert_true(own->event_count >= within);
    trace_cursor_init(&part_cursor, part, own);
    for (uint64_t i = own->event_count - within; i > 0; i--) trace_cursor_next(&part_cursor, &same, &error);
    trace_cursor_init(&cursor, whole, stream);
    while (trace_cursor_next(&cursor, &event, &error)) {
        if (event.time < from_ns || event.time >= to_ns) continue;
        assert_true(trace_cursor_next(&part_cursor, &same, &error));
        assert_int_equal(same.kind, event.kind);
        assert_memory_equal(same.operand, event.operand, sizeof event.operand);
        assert_in_range(same.time - (event.time - from_ns), 0, RAISED_MOST_NS);
    }
    return own->event_count - within;
}

// Of model `dag` the run of the part is what was recorded, to the last ns.
static void assert_replays(const struct trace *part) {
    struct error error = ERROR_INIT;
    struct estimator estimator;
    struct baseline baseline;
    struct dag *dag = part->event_count ? dag_build(part, &error) : NULL;
    if (!dag) return; // nothing of a thread that counts lies in it
    assert_true(estimator_init(&estimator, dag, NULL, &error));
    if (estimator_measure_baseline(&estimator, false, &baseline, &error))
        assert_int_equal(baseline.replayed.wall_ns, baseline.recorded.wall_ns);
    estimator_destroy(&estimator);
    dag_free(dag);
}

static void test_a_part_has_what_lies_in_it(void **state) {
    (void)state;
    uint64_t parts = 0, repeated = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct error error = ERROR_INIT;
        struct trace_memory memory = {0};
        struct random_source random = {seed};
        struct trace_builder *tb = random_trace(seed);
        struct trace *whole = tb_open(tb);
        const uint64_t length_ns = last_ns(whole) + 1, from_ns = random_below(&random, length_ns),
                       to_ns = from_ns + 1 + random_below(&random, length_ns - from_ns);
        struct trace *part = trace_slice(whole, from_ns, to_ns, &memory, &error);
        assert_non_null(part);
        assert_true(part->whole);
        assert_int_equal(part->stream_count, whole->stream_count);
        uint64_t again = 0;
        for (uint32_t s = 0; s < whole->stream_count; s++)
            again += assert_same_events(whole, &whole->streams[s], part, from_ns, to_ns);
        assert_int_equal(part->part.repeated, again);
        assert_replays(part);
        repeated += again;
        parts++;
        trace_close(part);
        free(memory.bytes);
        trace_close(whole);
        tb_free(tb);
    }
    print_message("%llu parts, %llu events told again\n", (unsigned long long)parts, (unsigned long long)repeated);
    assert_true(repeated > parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_part_has_what_lies_in_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
