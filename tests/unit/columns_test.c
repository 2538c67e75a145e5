// SPDX-License-Identifier: GPL-3.0-or-later
// The trace as the page carries it: the DAG that comes out of it, times that are rounded, functions that are left out,
// and bytes that are wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/build/perturbation.h"
#include "optimize/estimator.h"
#include "random_trace.h"
#include "report/page/columns.h"
#include "tracefile/format.h"

enum { RANDOM = 300, FLIPS = 4000, MAGIC = 17, SUM = 8 };

static void fail_with(const struct error *error) {
    char text[1024];
    fail_msg("%s", error_text(error, text, sizeof text));
}

struct packed_trace {
    struct trace_memory packed, file;
    struct trace *trace;
};

static void pack(const struct trace *trace, uint64_t quantum_ns, bool functions, struct trace_memory *packed) {
    struct error error = ERROR_INIT;
    if (!columns_pack(trace, &(struct columns_options){quantum_ns, functions}, packed, &error)) fail_with(&error);
}

static struct packed_trace there_and_back(const struct trace *trace, uint64_t quantum_ns, bool functions) {
    struct packed_trace back = {0};
    struct error error = ERROR_INIT;
    pack(trace, quantum_ns, functions, &back.packed);
    if (!columns_unpack(back.packed.bytes, back.packed.size, &back.file, &error)) fail_with(&error);
    back.trace = trace_open_memory("unpacked", back.file.bytes, back.file.size, false, &error);
    if (!back.trace) fail_with(&error);
    return back;
}

static void end(struct packed_trace *back) {
    trace_close(back->trace);
    free(back->packed.bytes);
    free(back->file.bytes);
}

// ---- every trace that is kept, and random ones

typedef void check_trace(const struct trace *trace);

static void for_kept(check_trace *check) {
    static const char *const places[] = {"tests/golden/traces/*.msgpack", "fixtures/traces/*.msgpack",
                                         "fixtures/traces/cases/*.msgpack"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char pattern[512];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", REHYPE_SOURCE_DIR, places[i]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t f = 0; f < found.gl_pathc; f++) {
            struct error error = ERROR_INIT;
            struct trace *trace = trace_open(found.gl_pathv[f], false, &error);
            if (!trace) fail_with(&error);
            check(trace);
            trace_close(trace);
        }
        globfree(&found);
    }
}

static void for_random(check_trace *check) {
    struct trace_builder *(*const kinds[])(uint64_t) = {random_trace, random_actors, random_events,
                                                        random_actor_events};
    for (uint64_t seed = 0; seed < RANDOM; seed++) {
        struct trace_builder *tb = kinds[seed % 4](seed);
        struct trace *trace = tb_open(tb);
        check(trace);
        trace_close(trace);
        tb_free(tb);
    }
}

// ---- tables and events

static void assert_text(const char *a, const char *b) {
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_ptr_equal(a, b);
}

static void assert_same_tables(const struct trace *a, const struct trace *b) {
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->whole, b->whole);
    assert_int_equal(a->header.cores, b->header.cores);
    assert_text(a->header.cycle_unit, b->header.cycle_unit);
    assert_int_equal(a->part.number, b->part.number);
    assert_int_equal(a->site_count, b->site_count);
    assert_int_equal(a->class_count, b->class_count);
    assert_int_equal(a->pool_count, b->pool_count);
    assert_int_equal(a->resource_count, b->resource_count);
    assert_int_equal(a->running_count, b->running_count);
    assert_int_equal(a->queued_count, b->queued_count);
    assert_int_equal(a->actor_count, b->actor_count);
    assert_int_equal(a->stream_count, b->stream_count);
    assert_memory_equal(a->costs, b->costs, sizeof a->costs);
    for (uint32_t i = 0; i < a->class_count; i++) assert_text(a->classes[i].name, b->classes[i].name);
    for (uint32_t i = 0; i < a->pool_count; i++) assert_text(a->pools[i].name, b->pools[i].name);
    for (uint32_t i = 0; i < a->pool_count; i++) assert_int_equal(a->pools[i].keep_alive_ns, b->pools[i].keep_alive_ns);
    for (size_t i = 0; i < a->actor_count; i++) assert_text(a->actors[i].name, b->actors[i].name);
    for (size_t i = 0; i < a->resource_count; i++) assert_text(a->resources[i].name, b->resources[i].name);
    for (uint32_t i = 0; i < a->stream_count; i++) {
        assert_int_equal(a->streams[i].id, b->streams[i].id);
        assert_int_equal(a->streams[i].event_count, b->streams[i].event_count);
        assert_int_equal(a->streams[i].lost_events, b->streams[i].lost_events);
        assert_text(a->streams[i].thread.name, b->streams[i].thread.name);
        assert_int_equal(a->streams[i].thread.flags, b->streams[i].thread.flags);
    }
}

static bool is_cpu(const struct event *event, unsigned operand) {
    return operand == 1 && event_has_cpu(event->kind);
}

// The same event, no later and earlier by less than the quantum; of what was computed twice as much may be off, since
// it goes with times that are.
static void assert_near(const struct event *event, const struct event *back, uint64_t quantum_ns) {
    assert_int_equal(event->kind, back->kind);
    const uint64_t from = event->time / quantum_ns * quantum_ns, behind = quantum_ns > 1 ? 64 : 0;
    assert_true(back->time >= from && back->time < from + quantum_ns + behind);
    for (unsigned o = 0; o < EVENT_OPERANDS; o++) {
        const int64_t off = (int64_t)(event->operand[o] - back->operand[o]);
        if (is_cpu(event, o) && quantum_ns > 1)
            assert_true(llabs(off) <= 3 * (int64_t)quantum_ns);
        else
            assert_int_equal(off, 0);
    }
}

static void assert_same_events(const struct trace *a, const struct trace *b, uint64_t quantum_ns) {
    struct error error = ERROR_INIT;
    for (uint32_t s = 0; s < a->stream_count; s++) {
        struct trace_cursor left, right;
        struct event event, back;
        trace_cursor_init(&left, a, &a->streams[s]);
        trace_cursor_init(&right, b, &b->streams[s]);
        while (trace_cursor_next(&left, &event, &error)) {
            assert_true(trace_cursor_next(&right, &back, &error));
            assert_near(&event, &back, quantum_ns);
        }
        assert_false(trace_cursor_next(&right, &back, &error));
    }
    assert_int_equal(error.status, STATUS_OK);
}

static void check_events(const struct trace *trace) {
    static const uint64_t quanta[] = {1, 10, 100, 1000};
    for (size_t q = 0; q < 4; q++) {
        struct packed_trace back = there_and_back(trace, quanta[q], true);
        assert_same_tables(trace, back.trace);
        assert_same_events(trace, back.trace, quanta[q]);
        end(&back);
    }
}

static void test_events_come_back(void **state) {
    for_kept(check_events);
    for_random(check_events);
}

// ---- DAGs

static struct dag *build(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct dag *dag = dag_build(trace, &error);
    if (!dag || !dag_take_out_tracer_cost(dag, &error)) fail_with(&error);
    return dag;
}

static void assert_same_array(const void *a, const void *b, size_t size) {
    assert_int_equal(a == NULL, b == NULL);
    if (a && size) assert_memory_equal(a, b, size);
}

static void assert_same_vertices(const struct dag *a, const struct dag *b) {
    const struct dag_vertices *left = &a->vertices, *right = &b->vertices;
    const size_t count = a->vertex_count;
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_same_array(left->kind, right->kind, count);
    assert_same_array(left->rule, right->rule, count);
    assert_same_array(left->time_ns, right->time_ns, count * sizeof *left->time_ns);
    assert_same_array(left->cause, right->cause, count * sizeof *left->cause);
    assert_same_array(left->task, right->task, count * sizeof *left->task);
    assert_same_array(left->event, right->event, count * sizeof *left->event);
    assert_same_array(left->compute_ns, right->compute_ns, count * sizeof *left->compute_ns);
    assert_same_array(left->queued_ns, right->queued_ns, count * sizeof *left->queued_ns);
    assert_same_array(a->tracer.edge_ns, b->tracer.edge_ns, count * sizeof *a->tracer.edge_ns);
    assert_same_array(a->pinned_ns, b->pinned_ns, count * sizeof *a->pinned_ns);
}

static void assert_same_context(const struct dag *a, const struct dag *b, uint32_t context) {
    const struct dag_context *left = &a->contexts[context], *right = &b->contexts[context];
    assert_int_equal(left->length, right->length);
    for (uint32_t i = 0; i < left->length; i++) {
        assert_int_equal(left->methods[i], right->methods[i]);
        assert_text(a->trace->methods[left->methods[i]].name, b->trace->methods[right->methods[i]].name);
    }
}

static void assert_same_asks(const struct dag *a, const struct dag *b) {
    assert_int_equal(a->resource_count, b->resource_count);
    assert_int_equal(a->ask_count, b->ask_count);
    assert_int_equal(a->await_count, b->await_count);
    for (uint32_t i = 0; i < a->ask_count; i++) {
        assert_int_equal(a->asks[i].resource, b->asks[i].resource);
        assert_int_equal(a->asks[i].got, b->asks[i].got);
        assert_int_equal(a->asks[i].released, b->asks[i].released);
        assert_int_equal(a->asks[i].limit_ns, b->asks[i].limit_ns);
        assert_int_equal(a->asks[i].waking_ns, b->asks[i].waking_ns);
    }
    for (uint32_t i = 0; i < a->await_count; i++) {
        assert_int_equal(a->awaits[i].end, b->awaits[i].end);
        assert_int_equal(a->awaits[i].given_up, b->awaits[i].given_up);
        assert_int_equal(a->awaits[i].limit_ns, b->awaits[i].limit_ns);
    }
}

static void assert_same_tasks(const struct dag *a, const struct dag *b, bool paths) {
    assert_int_equal(a->task_count, b->task_count);
    assert_int_equal(a->context_count, b->context_count);
    assert_int_equal(a->site_count, b->site_count);
    if (paths) assert_int_equal(a->path_count, b->path_count);
    for (uint32_t t = 0; t < a->task_count; t++) {
        struct dag_task left = a->tasks[t], right = b->tasks[t];
        if (!paths) left.path = right.path;
        assert_memory_equal(&left, &right, sizeof left);
    }
    for (uint32_t c = 0; c < a->context_count; c++) assert_same_context(a, b, c);
    assert_same_asks(a, b);
    assert_int_equal(a->first_ns, b->first_ns);
    assert_int_equal(a->last_ns, b->last_ns);
    assert_int_equal(a->actor_count, b->actor_count);
}

static void assert_same_dag(const struct trace *trace, bool functions) {
    struct packed_trace back = there_and_back(trace, 1, functions);
    struct dag *a = build(trace), *b = build(back.trace);
    assert_same_vertices(a, b);
    assert_same_tasks(a, b, functions);
    dag_free(a);
    dag_free(b);
    end(&back);
}

static void check_dag(const struct trace *trace) {
    assert_same_dag(trace, true);
}

static void test_dag_is_the_same(void **state) {
    for_kept(check_dag);
    for_random(check_dag);
}

// Vertices are the same, each earlier by less than the quantum, or, where its cause was moved with it, as much off
// again.
static void check_rounded_dag(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct dag *whole = dag_build(trace, &error);
    for (int64_t quantum_ns = 100; quantum_ns <= 1000; quantum_ns *= 10) {
        struct packed_trace back = there_and_back(trace, (uint64_t)quantum_ns, true);
        struct dag *rounded = dag_build(back.trace, &error);
        if (!whole || !rounded) fail_with(&error);
        assert_int_equal(whole->vertex_count, rounded->vertex_count);
        assert_same_array(whole->vertices.kind, rounded->vertices.kind, whole->vertex_count);
        for (uint32_t v = 0; v < whole->vertex_count; v++)
            assert_true(llabs(whole->vertices.time_ns[v] - rounded->vertices.time_ns[v]) < 2 * quantum_ns);
        for (uint32_t i = 0; i < rounded->thread_count; i++) {
            const struct dag_thread *thread = &rounded->threads[i];
            for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++)
                assert_true(rounded->vertices.time_ns[v] >= rounded->vertices.time_ns[v - 1]);
        }
        dag_free(rounded);
        end(&back);
    }
    dag_free(whole);
}

static void test_rounding_keeps_order(void **state) {
    for_kept(check_rounded_dag);
}

// Contexts, and what recording functions cost, are those of before, whatever ends without a beginning.
static void check_without_functions(const struct trace *trace) {
    struct trace *costly = (struct trace *)(uintptr_t)trace; // opened by this test
    costly->tells_costs = true;
    for (unsigned kind = 1; kind < EVENT_KINDS; kind++) costly->costs[kind] = (struct event_cost){9, kind * 700, 300};
    assert_same_dag(trace, false);
}

static void test_functions_are_left_out(void **state) {
    for_kept(check_without_functions);
    for_random(check_without_functions);
}

static void test_functions_left_out_take_no_room(void **state) {
    struct trace_builder *tb = tb_new();
    const uint32_t site = tb_site(tb, "Main", "run", 12), outer = tb_method(tb, "Main", "outer");
    const uint32_t inner = tb_method(tb, "Main", "inner");
    tb_thread(tb, 1, "main", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 100);
    tb_event(tb, 1, 10, EVENT_ENTER, outer);
    uint64_t time_ns = 20;
    for (int i = 0; i < 1000; i++) {
        tb_event(tb, 1, time_ns, EVENT_ENTER, inner);
        tb_event(tb, 1, time_ns + 3 + (uint64_t)i % 7, EVENT_EXIT, inner);
        time_ns += 100;
    }
    tb_event(tb, 1, time_ns, EVENT_SPAWN_BEGIN, 7, site, 0);
    tb_event(tb, 1, time_ns + 10, EVENT_SPAWN_END, 7, 0);
    tb_event(tb, 1, time_ns + 20, EVENT_EXIT, outer);
    tb_event(tb, 1, time_ns + 30, EVENT_THREAD_END, 100);
    struct trace *trace = tb_open(tb);
    struct trace_memory with = {0};
    pack(trace, 1, true, &with);
    struct packed_trace back = there_and_back(trace, 1, false);
    assert_true(back.packed.size + 4000 < with.size);
    assert_int_equal(back.trace->event_count, trace->event_count);
    assert_int_equal(back.trace->events_of_kind[EVENT_ENTER], 1001);
    assert_string_equal(back.trace->methods[outer].name, "outer");
    assert_null(back.trace->methods[inner].name);
    free(with.bytes);
    end(&back);
    trace_close(trace);
    tb_free(tb);
}

// ---- estimates

static double wall_ns(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct estimator estimator;
    struct metrics metrics;
    struct dag *dag = build(trace);
    bool stuck = false;
    if (!estimator_init(&estimator, dag, NULL, &error)) fail_with(&error);
    estimator.model.kind = MODEL_POOL;
    if (!estimator_run(&estimator, &stuck, &error)) fail_with(&error);
    const bool measured = !stuck && estimator_measure(&estimator, NULL, false, &metrics, &error);
    const double wall = measured ? (double)metrics.wall_ns : NAN;
    estimator_destroy(&estimator);
    dag_free(dag);
    return wall;
}

// Of a run of less than a hundred quanta rounding moves more than that: such traces are written by hand.
static void check_estimate(const struct trace *trace) {
    const double wall = wall_ns(trace);
    for (uint64_t quantum_ns = 1; quantum_ns <= 1000; quantum_ns *= 100) {
        struct packed_trace back = there_and_back(trace, quantum_ns, false);
        const double rounded = wall_ns(back.trace);
        if (isnan(wall) || quantum_ns == 1)
            assert_true(rounded == wall || (isnan(wall) && isnan(rounded)));
        else if (wall > 100 * (double)quantum_ns)
            assert_true(fabs(rounded - wall) <= 0.01 * wall);
        end(&back);
    }
}

static void test_estimates_are_as_good(void **state) {
    for_kept(check_estimate);
}

// ---- bytes that are wrong

static void refuse(const void *bytes, size_t size) {
    struct trace_memory file = {0};
    struct error error = ERROR_INIT;
    assert_false(columns_unpack(bytes, size, &file, &error));
    assert_int_equal(error.status, STATUS_BAD_INPUT);
    assert_true(error.causes > 0);
    free(file.bytes);
}

static struct trace_memory packed_example(bool functions) {
    struct trace_builder *tb = random_actors(functions ? 5 : 7);
    struct trace *trace = tb_open(tb);
    struct trace_memory packed = {0};
    pack(trace, 1, functions, &packed);
    trace_close(trace);
    tb_free(tb);
    return packed;
}

static void test_cut_and_changed_bytes_are_refused(void **state) {
    struct trace_memory packed = packed_example(true);
    uint8_t *copy = malloc(packed.size);
    for (size_t size = 0; size < packed.size; size++) {
        memcpy(copy, packed.bytes, size); // at the end of what is allocated, for sanitizers
        refuse(copy, size);
    }
    struct random_source random = {11};
    for (int i = 0; i < FLIPS; i++) {
        memcpy(copy, packed.bytes, packed.size);
        copy[random_below(&random, packed.size)] ^= (uint8_t)(1 + random_below(&random, 255));
        refuse(copy, packed.size);
    }
    free(copy);
    free(packed.bytes);
}

// Wrong bytes that are made on purpose get the right checksum.
static void sign(uint8_t *bytes, size_t size) {
    const uint64_t sum = format_checksum(bytes + MAGIC + SUM, size - MAGIC - SUM);
    for (int i = 0; i < SUM; i++) bytes[MAGIC + i] = (uint8_t)(sum >> 8 * i);
}

static void try_signed(uint8_t *bytes, size_t size) {
    struct trace_memory file = {0};
    struct error error = ERROR_INIT;
    sign(bytes, size);
    if (columns_unpack(bytes, size, &file, &error))
        trace_close(trace_open_memory("changed", file.bytes, file.size, false, &error));
    else
        assert_true(error.causes > 0);
    free(file.bytes);
}

static void try_changes(bool functions) {
    struct trace_memory packed = packed_example(functions);
    struct random_source random = {12};
    for (size_t size = MAGIC + SUM; size < packed.size; size++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, packed.bytes, size);
        try_signed(copy, size);
        free(copy);
    }
    for (int i = 0; i < FLIPS; i++) {
        uint8_t *copy = malloc(packed.size);
        memcpy(copy, packed.bytes, packed.size);
        const size_t at = MAGIC + SUM + random_below(&random, packed.size - MAGIC - SUM);
        copy[at] ^= (uint8_t)(1 + random_below(&random, 255));
        try_signed(copy, packed.size);
        free(copy);
    }
    free(packed.bytes);
}

static void test_bytes_made_on_purpose(void **state) {
    try_changes(true);
    try_changes(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_come_back),
        cmocka_unit_test(test_dag_is_the_same),
        cmocka_unit_test(test_rounding_keeps_order),
        cmocka_unit_test(test_functions_are_left_out),
        cmocka_unit_test(test_functions_left_out_take_no_room),
        cmocka_unit_test(test_estimates_are_as_good),
        cmocka_unit_test(test_cut_and_changed_bytes_are_refused),
        cmocka_unit_test(test_bytes_made_on_purpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
