// SPDX-License-Identifier: Apache-2.0
#include "tracefile/reader.h"
#include "tracer/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct trace_method method_of(char *class_name, uint32_t line) {
    return (struct trace_method){class_name, "run", "()V", "Job.java", line};
}

// A class that is loaded again, by whatever loader, names nothing new: each content has one id, whoever owns its text.
static void test_the_same_content_has_one_id(void **state) {
    char first[] = "com.acme.Job", again[] = "com.acme.Job";
    struct trace_method method = method_of(first, 7), same = method_of(again, 7), other = method_of(again, 8);
    struct trace_method nameless = {"com.acme.Job", "run", "()V", NULL, 7},
                        empty = {"com.acme.Job", "run", "()V", "", 7};
    uint32_t id = registry_method(&method);
    assert_int_not_equal(id, 0);
    first[0] = 'x';
    assert_int_equal(registry_method(&same), id);
    assert_int_equal(registry_method(&other), id + 1);
    assert_int_equal(registry_method(&nameless), id + 2);
    assert_int_equal(registry_method(&empty), id + 3);
    assert_int_equal(registry_method(&nameless), id + 2);
    struct trace_site site = {"com.acme.Job", "run", "()V", "Job.java", 7, 12, NULL, NULL, false}, next = site;
    next.bci = 13;
    id = registry_site(&site);
    assert_int_equal(registry_site(&next), id + 1);
    assert_int_equal(registry_site(&site), id);
    id = registry_class(&(struct trace_class){again});
    assert_int_equal(registry_class(&(struct trace_class){"com.acme.Job"}), id);
}

// As often as its class is loaded, by however many loaders.
static void test_a_skipped_method_is_told_once(void **state) {
    struct trace_end end = {0};
    for (int loaders = 0; loaders < 3; loaders++) {
        registry_skip("com.acme.Job.run", "too long");
        registry_skip("com.acme.Job.stop", "too long");
    }
    registry_end(&end);
    assert_int_equal(end.skip_count, 2);
    assert_string_equal(end.skips[1].method, "com.acme.Job.stop");
    registry_restart();
    registry_skip("com.acme.Job.stop", "too long");
    registry_end(&end);
    assert_int_equal(end.skip_count, 1);
    assert_string_equal(end.skips[0].method, "com.acme.Job.stop");
}

static void test_many_have_their_own(void **state) {
    enum { CLASSES = 3000 };
    uint32_t ids[CLASSES];
    char name[32];
    for (unsigned turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < CLASSES; i++) {
            snprintf(name, sizeof name, "com.acme.Many%u", i);
            uint32_t id = registry_class(&(struct trace_class){name});
            if (turn == 0) ids[i] = id;
            assert_int_equal(id, ids[i]);
            assert_true(i == 0 || id == ids[i - 1] + 1);
        }
    }
}

// Two pools of the same rules are two pools, and two threads of one name two threads.
static void test_pools_and_threads_are_told_apart(void **state) {
    struct trace_pool pool = {.kind = "Pool", .core = 1, .maximum = 1};
    struct trace_thread thread = {"worker", 0};
    uint32_t first_pool = registry_pool(&pool), first_thread = registry_thread(&thread);
    assert_int_equal(registry_pool(&pool), first_pool + 1);
    assert_int_equal(registry_thread(&thread), first_thread + 1);
}

static struct trace *write_and_open(const char *path, const struct trace_header *header) {
    struct error error = ERROR_INIT;
    struct trace_writer *writer = trace_writer_open(path, header, false, NULL, &error);
    assert_non_null(writer);
    assert_true(registry_flush(writer, NULL));
    assert_true(trace_writer_close(writer, &(struct trace_end){0}, &error));
    struct trace *trace = trace_open(path, false, &error);
    assert_non_null(trace);
    return trace;
}

// A resource is written when something of it has changed, and into each file of a recording.
static void test_resources_are_written_as_they_change(void **state) {
    static const struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "recorded"};
    char path[] = "/tmp/registry-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    uint32_t class = registry_class(&(struct trace_class){"com.acme.Db"});
    struct trace_resource resource = {.id = 70, .kind = RESOURCE_QUEUE, .class = class, .capacity = -1};
    registry_resource(1, &resource);
    registry_resource(900, &(struct trace_resource){.id = 71, .kind = RESOURCE_LOCK, .capacity = 1});
    struct trace *trace = write_and_open(path, &header);
    assert_int_equal(trace->resource_count, 2);
    assert_int_equal(trace_resource(trace, 70)->class, class);
    assert_null(trace_resource(trace, 70)->name);
    trace_close(trace);
    char name[] = "Db.connections";
    resource = (struct trace_resource){
        .id = 70, .kind = RESOURCE_POOL, .class = class, .capacity = 6, .name = name, .flags = RESOURCE_FAIR};
    registry_resource(1, &resource);
    name[0] = '?'; // it was copied
    registry_repeat();
    trace = write_and_open(path, &header);
    assert_int_equal(trace->resource_count, 2);
    assert_string_equal(trace_resource(trace, 70)->name, "Db.connections");
    assert_int_equal(trace_resource(trace, 70)->kind, RESOURCE_POOL);
    assert_int_equal(trace_resource(trace, 70)->capacity, 6);
    assert_non_null(trace_resource(trace, 71));
    trace_close(trace);
    unlink(path);
}

// Callers tell stacks apart; and there is an end to them, since a program's recursion may have none.
static void test_calling_contexts_are_kept_once_and_bounded(void **state) {
    enum { MOST = 1 << 16 };
    struct trace_site place = {"com.acme.Job", "run", "()V", "Job.java", 7, 12, NULL, NULL, false};
    uint32_t frame = registry_frame(&place), site = registry_site(&place);
    assert_int_equal(registry_frame(&place), frame);
    assert_int_equal(registry_site(&place), site);
    uint32_t stack[] = {frame, frame, 0}, outer = registry_calling_context(stack + 1, 1);
    uint32_t inner = registry_calling_context(stack, 2);
    assert_int_equal(inner, outer + 1);
    assert_int_equal(registry_calling_context(stack, 2), inner);
    uint32_t cut = registry_calling_context(stack, 3); // of which the outermost frames are not known
    assert_int_equal(cut, inner + 3);
    assert_int_equal(registry_calling_context(stack, 0), 0);
    static uint32_t deep[MOST];
    for (uint32_t i = 0; i < MOST; i++) deep[i] = frame;
    assert_int_equal(registry_calling_context(deep, MOST), 0); // those above are there already
    assert_int_equal(registry_calling_context(stack, 3), cut);
    assert_int_equal(registry_calling_context((const uint32_t[]){frame, frame, frame, 0}, 4), 0);
}

static struct stack_slice *one_stack(uint64_t ticks, uint32_t context) {
    struct stack_slice *slice = stack_slice_new();
    stack_slice_moment(slice, ticks);
    stack_slice_put(slice, 3, context);
    slice->costs = (struct trace_stack_costs){.missed = 1, .take_ns = 10, .work_ns = 20};
    return slice;
}

// Behind the contexts that they name; and those that there is no room for are counted, with what they cost.
static void test_stacks_are_written_or_counted(void **state) {
    enum { SLICES = 100, KEPT = 64 };
    static const struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "recorded"};
    char path[] = "/tmp/registry-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    struct trace_site place = {"com.acme.Job", "sampled", "()V", "Job.java", 7, -1, NULL, NULL, false};
    uint32_t frame = registry_frame(&place), context;
    registry_calling_room(1 << 20);
    assert_true((context = registry_calling_context(&frame, 1)) != 0);
    registry_repeat();
    for (uint64_t i = 0; i < SLICES; i++) registry_stacks(one_stack(100 + i, context));
    struct trace *trace = write_and_open(path, &header);
    assert_int_equal(trace->stacks.moment_count, KEPT);
    assert_string_equal(trace->frames[trace->calling_contexts[trace->stacks.runs[0].context].frame].method, "sampled");
    trace_close(trace);
    registry_repeat();
    registry_stacks(one_stack(1000, context));
    trace = write_and_open(path, &header);
    assert_int_equal(trace->stacks.moment_count, 1);
    assert_int_equal(trace->stacks.costs.left_out, SLICES - KEPT);
    assert_int_equal(trace->stacks.costs.missed, SLICES - KEPT + 1);
    assert_int_equal(trace->stacks.costs.work_ns, 20 * (SLICES - KEPT + 1));
    trace_close(trace);
    registry_stacks(one_stack(2000, context));
    registry_restart();
    trace = write_and_open(path, &header);
    assert_int_equal(trace->stacks.moment_count, 0);
    trace_close(trace);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_content_has_one_id),
        cmocka_unit_test(test_a_skipped_method_is_told_once),
        cmocka_unit_test(test_many_have_their_own),
        cmocka_unit_test(test_pools_and_threads_are_told_apart),
        cmocka_unit_test(test_resources_are_written_as_they_change),
        cmocka_unit_test(test_calling_contexts_are_kept_once_and_bounded),
        cmocka_unit_test(test_stacks_are_written_or_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
