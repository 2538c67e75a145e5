// SPDX-License-Identifier: GPL-3.0-or-later
// What is written comes back; what was damaged is noticed, at the right byte, and never crashes the reader.
#include "temporary_folder.h"
#include "tracefile/format.h"
#include "tracefile/reader.h"
#include "tracefile/unpack.h"
#include "tracefile/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 uint128;

#define TRACES     REHYPE_SOURCE_DIR "/fixtures/traces/"
#define LENGTH(of) (sizeof(of) / sizeof(of)[0])

// ---- helpers

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes load(const char *name) {
    struct stat facts;
    int fd = open(name, O_RDONLY);
    if (fd < 0 || fstat(fd, &facts) != 0) fail_msg("no %s", name);
    struct bytes bytes = {.data = malloc((size_t)facts.st_size + 1), .size = (size_t)facts.st_size};
    assert_int_equal(read(fd, bytes.data, bytes.size), bytes.size);
    bytes.data[bytes.size] = 0;
    close(fd);
    return bytes;
}

static uint64_t random_next(uint64_t *seed) { // xorshift64*
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545f4914f6cdd1d;
}

static uint64_t random_below(uint64_t *seed, uint64_t bound) {
    return random_next(seed) % bound;
}

static const struct trace_header ns_header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "estimated"};
static const struct trace_end plain_end = {.methods_woven = 1};

static struct trace_writer *begin(const struct trace_header *header) {
    struct error error = ERROR_INIT;
    struct trace_writer *writer = trace_writer_open(temporary_trace, header, false, NULL, &error);
    if (writer == NULL) fail_msg("%s", error.cause[0]);
    return writer;
}

static void end(struct trace_writer *writer) {
    struct error error = ERROR_INIT;
    if (!trace_writer_close(writer, &plain_end, &error)) fail_msg("%s", error.cause[0]);
}

static struct trace *open_good(void) {
    struct error error = ERROR_INIT;
    char text[2048];
    struct trace *trace = trace_open(temporary_trace, false, &error);
    if (trace == NULL) fail_msg("%s", error_text(&error, text, sizeof text));
    assert_true(trace->whole);
    return trace;
}

static const struct trace_stream *find_stream(const struct trace *trace, uint32_t id) {
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i].id == id) return &trace->streams[i];
    }
    fail_msg("no stream %u", id);
    return NULL;
}

// Walks all streams and asserts what the reader promises of every event. Returns the events seen; *error is the first.
static uint64_t walk(const struct trace *trace, struct error *error) {
    uint64_t events = 0;
    *error = (struct error)ERROR_INIT;
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct trace_cursor cursor;
        struct event event;
        struct error now = ERROR_INIT;
        uint64_t next = 0;
        trace_cursor_init(&cursor, trace, &trace->streams[i]);
        for (; trace_cursor_next(&cursor, &event, &now); events++) {
            assert_true(event.time >= next);
            next = event.time + 1;
            if (event.kind <= EVENT_EXIT_THROW) assert_true(event.operand[0] < trace->method_count);
        }
        assert_false(trace_cursor_next(&cursor, &event, &now));
        if (error->status == STATUS_OK) *error = now;
    }
    return events;
}

// ---- round trips

#define MODEL_THREADS 4
#define MODEL_EVENTS  64

struct model {
    struct event events[MODEL_THREADS][MODEL_EVENTS]; // as handed to the writer
    size_t count[MODEL_THREADS];
    uint64_t origin;
    struct trace_header header;
    uint64_t ticks[2], ns[2]; // clock pairs
    bool pairs;
};

static const struct trace_method some_methods[] = {{"a.B", "f", "()V", "B.java", 3}, {"a.B", "g", "(I)I", NULL, 0}};
static const struct trace_site some_sites[] = {{"a.B", "f", "()V", "B.java", 4, 17, NULL, NULL, false},
                                               {"a.B", "g", NULL, NULL, 0, -1, NULL, NULL, false}};
static const struct trace_class some_classes[] = {{"a.B.lambda$0"}, {NULL}};
static const struct trace_pool some_pool = {"a.Pool", NULL, "pool-1", 1, 2, -1, 5, "a.Handler", POOL_CORE_TIMES_OUT};

static void write_some_tables(struct trace_writer *writer) {
    trace_write_methods(writer, 1, some_methods, 2);
    trace_write_sites(writer, 1, some_sites, 2);
    trace_write_classes(writer, 1, some_classes, 2);
    trace_write_pool(writer, 1, &some_pool);
}

// Small, large and extreme ones.
static uint64_t random_operand(uint64_t *seed) {
    return random_next(seed) >> random_below(seed, 64);
}

static uint64_t random_message_operand(uint64_t *seed) {
    const uint32_t class = (uint32_t)random_below(seed, 3);
    const enum message_origin origin = (enum message_origin)random_below(seed, MESSAGE_ORIGINS);
    const enum message_way way = (enum message_way)random_below(seed, MESSAGE_WAYS);
    return message_operand(class, origin, way, random_below(seed, 2));
}

static struct event random_event(uint64_t *seed, uint64_t time) {
    struct event event = {.time = time, .kind = (uint8_t)(1 + random_below(seed, EVENT_KINDS - 1))};
    unsigned operands = event_kind_info(event.kind)->operands;
    for (unsigned o = 0; o < operands; o++) event.operand[o] = random_operand(seed);
    bool names_pool = event.kind >= EVENT_WORKER_BEGIN && event.kind <= EVENT_POOL_SHUTDOWN;
    if (event.kind <= EVENT_EXIT_THROW) event.operand[0] = random_below(seed, 3);
    if (event.kind == EVENT_TASK_CREATED) event.operand[1] = random_below(seed, 3);
    if (event.kind == EVENT_SPAWN_BEGIN) event.operand[1] = random_below(seed, 3);
    if (event.kind == EVENT_SPAWN_BEGIN) event.operand[2] = random_below(seed, 2);
    if (event.kind == EVENT_SPAWN_END) event.operand[1] = random_below(seed, 2);
    if (event.kind == EVENT_TASK_END) event.operand[2] = random_below(seed, 3);
    if (event.kind == EVENT_LOST) event.operand[0] = random_below(seed, 1000);
    if (event.kind == EVENT_BLOCK_BEGIN) event.operand[2] = random_below(seed, 3);
    if (names_pool) event.operand[0] = random_below(seed, 2);
    if (event.kind == EVENT_GIVEN_UP) event.operand[2] = random_below(seed, 3);
    if (event.kind == EVENT_ACQUIRE_BEGIN || event.kind == EVENT_HELD || event.kind == EVENT_RELEASED) {
        const uint32_t units = (uint32_t)(random_next(seed) >> 33), site = (uint32_t)random_below(seed, 3);
        event.operand[event.kind == EVENT_ACQUIRE_BEGIN ? 2 : 1] = want_operand(units, random_below(seed, 2), site);
    }
    if (event.kind == EVENT_ACTOR_CREATED) event.operand[2] = random_below(seed, 3);
    if (event.kind == EVENT_MESSAGE_SENT) event.operand[2] = random_message_operand(seed);
    if (event.kind == EVENT_MESSAGE_END) event.operand[2] = random_below(seed, MESSAGE_OUTCOMES);
    if (event.kind == EVENT_REQUEST_BEGIN) event.operand[2] = random_below(seed, (uint64_t)UINT32_MAX + 1);
    if (event.kind == EVENT_REQUEST_NAMED) event.operand[1] = 0;
    if (event.kind == EVENT_REQUEST_END) event.operand[2] = random_below(seed, 2);
    if (event.kind == EVENT_INIT_END) {
        event.operand[2] = init_operand((uint32_t)random_below(seed, 3), (enum init_outcome)random_below(seed, 2));
    }
    if (event.kind == EVENT_WAIT_BEGIN) {
        uint64_t wait_for = random_below(seed, 4);
        uint32_t class = (uint32_t)random_below(seed, 3), site = (uint32_t)random_below(seed, 3);
        event.operand[2] = wait_operand((enum wait_for)wait_for, class, site);
        if (wait_for == WAIT_FOR_POOL) event.operand[0] = random_below(seed, 2);
    }
    return event;
}

static void make_clock(struct model *model, uint64_t *seed) {
    model->header = ns_header;
    if (random_below(seed, 2) == 0) return;
    model->header.clock = "tsc";
    model->header.ticks_per_s = 1 + random_below(seed, 5000000000);
    model->pairs = random_below(seed, 2) == 0;
    model->ticks[0] = random_operand(seed) >> 4;
    model->ns[0] = random_operand(seed) >> 4;
    model->ticks[1] = model->ticks[0] + 1 + (random_next(seed) >> 24);
    model->ns[1] = model->ns[0] + 1 + (random_next(seed) >> 24);
}

static void make_model(struct model *model, uint64_t *seed) {
    *model = (struct model){.origin = UINT64_MAX};
    make_clock(model, seed);
    for (unsigned t = 0; t < MODEL_THREADS; t++) {
        uint64_t time = random_below(seed, 100000);
        model->count[t] = random_below(seed, MODEL_EVENTS + 1);
        for (size_t i = 0; i < model->count[t]; i++) {
            model->events[t][i] = random_event(seed, time);
            time += random_below(seed, 8) == 0 ? 0 : random_next(seed) >> (34 + random_below(seed, 30));
        }
        if (model->count[t] > 0 && model->events[t][0].time < model->origin) model->origin = model->events[t][0].time;
    }
}

// Thread t has the id t * 3; its events in up to three calls, mixed with the other threads'.
static void write_model(const struct model *model) {
    struct trace_writer *writer = begin(&model->header);
    if (model->pairs) trace_write_clock(writer, model->ticks[0], model->ns[0]);
    write_some_tables(writer);
    for (size_t part = 0; part < 3; part++) {
        for (unsigned t = 0; t < MODEL_THREADS; t++) {
            size_t from = model->count[t] * part / 3, to = model->count[t] * (part + 1) / 3;
            assert_true(trace_write_events(writer, t * 3, &model->events[t][from], to - from));
        }
    }
    if (model->pairs) trace_write_clock(writer, model->ticks[1], model->ns[1]);
    end(writer);
}

static uint64_t expected_ns(const struct model *model, uint64_t ticks) {
    uint128 since = ticks - model->origin;
    if (model->pairs) return (uint64_t)(since * (model->ns[1] - model->ns[0]) / (model->ticks[1] - model->ticks[0]));
    return (uint64_t)(since * 1000000000 / model->header.ticks_per_s);
}

static void check_thread(const struct model *model, const struct trace *trace, unsigned t) {
    struct trace_cursor cursor;
    struct event event;
    struct error error = ERROR_INIT;
    uint64_t next_ticks = 0, next_ns = 0;
    trace_cursor_init(&cursor, trace, find_stream(trace, t * 3));
    for (size_t i = 0; i < model->count[t]; i++) {
        const struct event *written = &model->events[t][i];
        if (!trace_cursor_next(&cursor, &event, &error)) fail_msg("%s", error.cause[0]);
        uint64_t ticks = written->time < next_ticks ? next_ticks : written->time;
        uint64_t ns = expected_ns(model, ticks);
        if (ns < next_ns) ns = next_ns;
        assert_int_equal(event.kind, written->kind);
        assert_memory_equal(event.operand, written->operand, sizeof event.operand);
        assert_int_equal(event.time, ns);
        next_ticks = ticks + 1;
        next_ns = ns + 1;
    }
    assert_false(trace_cursor_next(&cursor, &event, &error));
    assert_int_equal(error.status, STATUS_OK);
}

static void test_random_traces_come_back(void **state) {
    static struct model model;
    uint64_t seed = 20240229;
    for (int round = 0; round < 10000; round++) {
        make_model(&model, &seed);
        write_model(&model);
        struct trace *trace = open_good();
        uint64_t events = 0, of_kind = 0;
        for (unsigned t = 0; t < MODEL_THREADS; t++) {
            if (model.count[t] > 0) check_thread(&model, trace, t);
            events += model.count[t];
        }
        for (unsigned kind = 0; kind < EVENT_KINDS; kind++) of_kind += trace->events_of_kind[kind];
        assert_int_equal(trace->event_count, events);
        assert_int_equal(of_kind, events);
        trace_close(trace);
    }
}

static void test_large_blocks_are_split(void **state) {
    enum { COUNT = 200000 };
    struct event *events = calloc(COUNT, sizeof *events);
    for (size_t i = 0; i < COUNT; i++) {
        events[i] = (struct event){.time = i * 1000, .kind = i % 2 == 0 ? EVENT_ENTER : EVENT_EXIT, .operand = {1}};
    }
    struct trace_writer *writer = begin(&ns_header);
    write_some_tables(writer);
    uint64_t before = trace_writer_bytes(writer);
    assert_true(trace_write_events(writer, 7, events, COUNT));
    assert_true(trace_writer_bytes(writer) - before < COUNT * 5);
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->stream_count, 1);
    assert_int_equal(trace->streams[0].block_count, 4);
    struct error error;
    assert_int_equal(walk(trace, &error), COUNT);
    assert_int_equal(error.status, STATUS_OK);
    trace_close(trace);
    free(events);
}

// The worst event takes 41 bytes; a block of them still is one that the reader takes.
static void test_worst_block_fits(void **state) {
    struct event *events = calloc(BLOCK_EVENTS_MAX, sizeof *events);
    for (size_t i = 0; i < BLOCK_EVENTS_MAX; i++) {
        uint64_t far = i % 2 == 0 ? INT64_MAX : 0;
        events[i] = (struct event){.time = i << 40, .kind = EVENT_TASK_END, .operand = {far, far, i % 3}};
    }
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_events(writer, 1, events, BLOCK_EVENTS_MAX));
    end(writer);
    struct trace *trace = open_good();
    struct error error;
    assert_int_equal(walk(trace, &error), BLOCK_EVENTS_MAX);
    assert_int_equal(error.status, STATUS_OK);
    trace_close(trace);
    free(events);
}

static void test_falling_times_are_raised_across_calls(void **state) {
    const struct event first[] = {{.time = 0, .kind = EVENT_GC_BEGIN}, {.time = 10, .kind = EVENT_GC_END}};
    const struct event second[] = {{.time = 4, .kind = EVENT_GC_BEGIN}, {.time = 4, .kind = EVENT_GC_END}};
    struct trace_writer *writer = begin(&ns_header);
    for (uint32_t thread = 500; thread > 0; thread--) { // enough for the writer's table of threads to grow
        assert_true(trace_write_events(writer, thread, first, 2));
    }
    assert_true(trace_write_events(writer, 250, second, 2));
    end(writer);
    struct trace *trace = open_good();
    const uint64_t expected[] = {0, 10, 11, 12};
    struct trace_cursor cursor;
    struct event event;
    struct error error = ERROR_INIT;
    trace_cursor_init(&cursor, trace, find_stream(trace, 250));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        assert_true(trace_cursor_next(&cursor, &event, &error));
        assert_int_equal(event.time, expected[i]);
    }
    trace_close(trace);
}

static void test_event_without_kind_stops_the_writer(void **state) {
    const struct event good = {.time = 1, .kind = EVENT_GC_BEGIN}, bad = {.time = 2, .kind = EVENT_KINDS};
    struct trace_writer *writer = begin(&ns_header);
    struct error error = ERROR_INIT;
    assert_true(trace_write_events(writer, 0, &good, 1));
    assert_null(trace_writer_error(writer));
    assert_false(trace_write_events(writer, 0, &bad, 1));
    assert_false(trace_write_events(writer, 0, &good, 1));
    assert_int_equal(trace_writer_error(writer)->status, STATUS_FAILED);
    assert_false(trace_writer_close(writer, &plain_end, &error));
    assert_int_equal(error.status, STATUS_FAILED);
    struct trace *trace = open_good();
    assert_int_equal(trace->event_count, 1);
    assert_non_null(strstr(trace->end.stopped_because, "without a kind"));
    trace_close(trace);
}

static void test_texts_become_utf8(void **state) {
    static const struct {
        const char *written, *read;
    } cases[] = {{"", ""},
                 {"plain", "plain"},
                 {"Gr\xc3\xbc\xc3\x9f"
                  "e \xf0\x9f\x90\x88",
                  "Gr\xc3\xbc\xc3\x9f"
                  "e \xf0\x9f\x90\x88"},
                 {"latin \xfc!", "latin ?!"},
                 {"cut \xe2\x82", "cut ??"},
                 {"overlong \xc0\x80", "overlong ??"},
                 {"surrogate \xed\xa0\x80", "surrogate ???"},
                 {"beyond \xf4\x90\x80\x80", "beyond ????"},
                 {NULL, NULL}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct trace_header header = ns_header;
        header.command = cases[i].written;
        end(begin(&header));
        struct trace *trace = open_good();
        if (cases[i].read == NULL) {
            assert_null(trace->header.command);
        } else {
            assert_string_equal(trace->header.command, cases[i].read);
        }
        trace_close(trace);
    }
}

static void test_long_texts_are_cut_between_characters(void **state) {
    size_t size = STRING_BYTES_MAX + 100;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    memcpy(text + STRING_BYTES_MAX - 1, "\xc3\xbc", 2);
    text[size] = 0;
    struct trace_header header = ns_header;
    header.command = header.options = header.jvm = header.origin = header.clock = text;
    header.cycle_unit = header.cycle_source = text;
    end(begin(&header));
    struct trace *trace = open_good();
    assert_int_equal(strlen(trace->header.command), STRING_BYTES_MAX - 1);
    trace_close(trace);
    free(text);
}

static void test_large_tables_are_split(void **state) {
    enum { COUNT = 100000 };
    struct trace_class *classes = calloc(COUNT, sizeof *classes);
    char(*names)[64] = malloc(COUNT * sizeof *names);
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "com.acme.some.rather.deep.package.Class%zu", i + 1);
        classes[i].name = names[i];
    }
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_classes(writer, 1, classes, COUNT));
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->class_count, COUNT + 1);
    assert_null(trace->classes[0].name);
    for (size_t i = 0; i < COUNT; i++) assert_string_equal(trace->classes[i + 1].name, names[i]);
    trace_close(trace);
    free(names);
    free(classes);
}

static void test_pools_may_come_in_any_order(void **state) {
    struct trace_writer *writer = begin(&ns_header);
    trace_write_pool(writer, 5, &some_pool);
    trace_write_pool(writer, 2, &(struct trace_pool){.kind = "a.Other", .maximum = 9, .keep_alive_ns = -1});
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->pool_count, 6);
    assert_string_equal(trace->pools[5].kind, "a.Pool");
    assert_int_equal(trace->pools[2].maximum, 9);
    assert_int_equal(trace->pools[5].keep_alive_ns, 5);
    assert_string_equal(trace->pools[5].rejection, "a.Handler");
    assert_int_equal(trace->pools[2].keep_alive_ns, -1);
    assert_null(trace->pools[2].rejection);
    assert_int_equal(trace->pools[5].flags, POOL_CORE_TIMES_OUT);
    assert_int_equal(trace->pools[2].flags, 0);
    assert_null(trace->pools[3].kind);
    trace_close(trace);
}

static void test_resources_come_back_by_id(void **state) {
    const uint64_t large = UINT64_MAX - 1;
    struct trace_writer *writer = begin(&ns_header);
    write_some_tables(writer);
    trace_write_resource(writer, &(struct trace_resource){large, "Bank.lock", 1, RESOURCE_LOCK, 2, RESOURCE_FAIR});
    trace_write_resource(writer, &(struct trace_resource){7, NULL, -1, RESOURCE_QUEUE, 0, 0});
    trace_write_resource(writer, &(struct trace_resource){9, "HikariPool-1", 10, RESOURCE_POOL, 1, 0});
    trace_write_resource(writer, &(struct trace_resource){7, "Main.jobs", 6, RESOURCE_POOL, 1, 0});
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->resource_count, 3);
    assert_int_equal(trace->resources[0].id, 7);
    assert_string_equal(trace_resource(trace, 7)->name, "Main.jobs");
    assert_int_equal(trace_resource(trace, 7)->capacity, 6);
    assert_int_equal(trace_resource(trace, 7)->kind, RESOURCE_POOL);
    assert_string_equal(trace_resource(trace, 9)->name, "HikariPool-1");
    assert_int_equal(trace_resource(trace, large)->flags, RESOURCE_FAIR);
    assert_int_equal(trace_resource(trace, large)->class, 2);
    assert_null(trace_resource(trace, 8));
    assert_null(trace_resource(trace, 0));
    assert_null(trace_resource(trace, UINT64_MAX));
    trace_close(trace);
}

static void test_wants_are_packed(void **state) {
    const uint64_t want = want_operand(INT32_MAX, true, UINT32_MAX);
    assert_int_equal(want, UINT64_MAX);
    assert_int_equal(want_units(want), INT32_MAX);
    assert_true(want_shared(want));
    assert_int_equal(want_site(want), UINT32_MAX);
    assert_int_equal(want_operand(3, false, 5), UINT64_C(3) << 33 | 5);
    assert_false(want_shared(want_operand(3, false, 5)));
}

static void test_running_tasks_come_back_in_order(void **state) {
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_running(writer, (const uint64_t[]){7000000000, 3}, 2));
    assert_true(trace_write_running(writer, (const uint64_t[]){5}, 1));
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->running_count, 3);
    assert_int_equal(trace->running[0], 3);
    assert_int_equal(trace->running[1], 5);
    assert_int_equal(trace->running[2], 7000000000);
    trace_close(trace);
}

static void test_queued_tasks_come_back_in_order(void **state) {
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_classes(writer, 1, (const struct trace_class[]){{"p.Query"}}, 1));
    assert_true(trace_write_pool(writer, 1, &(struct trace_pool){.kind = "p.Pool"}));
    assert_true(trace_write_queued(writer, (const struct trace_queued[]){{7000000000, 1, 1}, {3, 0, 1}}, 2));
    assert_true(trace_write_queued(writer, (const struct trace_queued[]){{5, 1, 1}}, 1));
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->queued_count, 3);
    assert_int_equal(trace->queued[0].task, 7000000000);
    assert_int_equal(trace->queued[0].class, 1);
    assert_int_equal(trace->queued[1].task, 3);
    assert_int_equal(trace->queued[1].class, 0);
    assert_int_equal(trace->queued[2].task, 5);
    for (size_t i = 0; i < 3; i++) assert_int_equal(trace->queued[i].pool, 1);
    trace_close(trace);
}

static void test_queued_tasks_of_no_pool_are_refused(void **state) {
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_queued(writer, (const struct trace_queued[]){{1, 0, 4}}, 1));
    end(writer);
    struct error error = ERROR_INIT;
    assert_null(trace_open(temporary_trace, false, &error));
    assert_int_equal(error.status, STATUS_BAD_INPUT);
    assert_non_null(strstr(error.cause[0], "a queued block of pool 4"));
}

static void test_messages_are_packed(void **state) {
    const uint64_t message = message_operand(UINT32_MAX, MESSAGE_OF_LIBRARY, MESSAGE_TO_NOBODY, true);
    assert_int_equal(message_class(message), UINT32_MAX);
    assert_int_equal(message_origin(message), MESSAGE_OF_LIBRARY);
    assert_int_equal(message_way(message), MESSAGE_TO_NOBODY);
    assert_true(message_asks(message));
    assert_int_equal(message_operand(1, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false), 1 << 6);
    assert_false(message_asks(message_operand(1, MESSAGE_OF_LIBRARY, MESSAGE_TO_NOBODY, false)));
    const uint64_t init = init_operand(UINT32_MAX, INIT_FAILED);
    assert_int_equal(init_class(init), UINT32_MAX);
    assert_int_equal(init_outcome(init), INIT_FAILED);
    assert_int_equal(init_outcome(init_operand(7, INIT_DONE)), INIT_DONE);
}

// More than a block holds, and not in order of their ids.
static void test_actors_come_back_by_id(void **state) {
    enum { COUNT = 10000 };
    const struct trace_actor root = {1, "akka://sys/"};
    struct trace_actor *actors = calloc(COUNT, sizeof *actors);
    for (size_t i = 0; i < COUNT; i++) actors[i] = (struct trace_actor){7000000000 - 2 * i, i % 2 ? "odd" : "even"};
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_actors(writer, actors, COUNT));
    assert_true(trace_write_actors(writer, &root, 1));
    end(writer);
    free(actors);
    struct trace *trace = open_good();
    assert_int_equal(trace->actor_count, COUNT + 1);
    assert_int_equal(trace->actors[0].id, 1);
    assert_string_equal(trace_actor_name(trace, 1), "akka://sys/");
    assert_string_equal(trace_actor_name(trace, 7000000000), "even");
    assert_string_equal(trace_actor_name(trace, 7000000000 - 2 * (COUNT - 1)), "odd");
    assert_null(trace_actor_name(trace, 6999999999));
    assert_null(trace_actor_name(trace, 0));
    assert_null(trace_actor_name(trace, UINT64_MAX));
    trace_close(trace);
}

// Opens a trace of this one event, beside the tables, and walks it.
static struct error walk_event(const struct event *event) {
    struct trace_writer *writer = begin(&ns_header);
    struct error error;
    write_some_tables(writer);
    assert_true(trace_write_events(writer, 1, event, 1));
    end(writer);
    struct trace *trace = open_good();
    walk(trace, &error);
    trace_close(trace);
    return error;
}

// The trace has classes 0 to 2.
static void test_operands_of_actors_and_requests_are_checked(void **state) {
    static const struct {
        uint8_t kind;
        uint64_t operand;
        bool good;
    } cases[] = {
        {EVENT_MESSAGE_SENT, 2 << 6 | 1 << 5 | MESSAGE_TO_NOBODY << 3 | MESSAGE_OF_LIBRARY, true},
        {EVENT_MESSAGE_SENT, 3 << 6, false},
        {EVENT_MESSAGE_SENT, UINT64_C(1) << 38, false}, // beyond what a class's number can be
        {EVENT_MESSAGE_SENT, MESSAGE_WAYS << 3, false},
        {EVENT_MESSAGE_SENT, MESSAGE_ORIGINS, false},
        {EVENT_MESSAGE_END, MESSAGE_PUT_ASIDE, true},
        {EVENT_MESSAGE_END, MESSAGE_OUTCOMES, false},
        {EVENT_ACTOR_CREATED, 2, true},
        {EVENT_ACTOR_CREATED, 3, false},
        {EVENT_INIT_END, 2 << 1 | INIT_FAILED, true},
        {EVENT_INIT_END, 3 << 1, false},
        {EVENT_INIT_END, UINT64_C(1) << 33, false},
        {EVENT_REQUEST_BEGIN, UINT32_MAX, true},
        {EVENT_REQUEST_BEGIN, UINT64_C(1) << 32, false},
        {EVENT_REQUEST_NAMED, 0, false}, // its second operand is 6, and there are no endpoints
        {EVENT_REQUEST_END, REQUEST_FAILED, true},
        {EVENT_REQUEST_END, REQUEST_FAILED + 1, false},
        {EVENT_MESSAGE_BEGIN, UINT64_MAX, true}, // an actor, of which nothing need be known
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct event event = {.kind = cases[i].kind, .operand = {5, 6, cases[i].operand}};
        const struct error error = walk_event(&event);
        if ((error.status == STATUS_OK) != cases[i].good) fail_msg("case %zu: %s", i, error.cause[0]);
    }
}

// ---- the kept file

static void print_text(FILE *out, const char *name, const char *text) {
    fprintf(out, " %s=%s", name, text == NULL ? "-" : text);
}

static void print_header(FILE *out, const struct trace *trace) {
    const struct trace_header *header = &trace->header;
    fprintf(out, "version %u, %llu bytes, %s\n", trace->version, (unsigned long long)trace->bytes,
            trace->whole ? "whole" : "not whole");
    fprintf(out, "jvm %s\ncommand %s\noptions %s\norigin %s\n", header->jvm, header->command, header->options,
            header->origin);
    fprintf(out, "clock %s ticks_per_s=%llu start_unix_ns=%llu skew_ns=%lld\n", header->clock,
            (unsigned long long)header->ticks_per_s, (unsigned long long)header->start_unix_ns,
            (long long)header->clock_skew_ns);
    fprintf(out, "cores %u pid %u cycles %s from %s\n", header->cores, header->pid, header->cycle_unit,
            header->cycle_source);
}

static void print_tables(FILE *out, const struct trace *trace) {
    for (uint32_t i = 1; i < trace->method_count; i++) {
        const struct trace_method *method = &trace->methods[i];
        fprintf(out, "method %u", i);
        print_text(out, "class", method->class_name);
        print_text(out, "name", method->name);
        print_text(out, "descriptor", method->descriptor);
        print_text(out, "file", method->file);
        fprintf(out, " line=%u\n", method->line);
    }
    for (uint32_t i = 1; i < trace->site_count; i++) {
        const struct trace_site *site = &trace->sites[i];
        fprintf(out, "site %u", i);
        print_text(out, "class", site->class_name);
        print_text(out, "method", site->method);
        print_text(out, "descriptor", site->descriptor);
        print_text(out, "file", site->file);
        fprintf(out, " line=%u bci=%d", site->line, site->bci);
        if (site->through_class) fprintf(out, " through=%s.%s", site->through_class, site->through_method);
        fprintf(out, "%s\n", site->of_library ? " of a library" : "");
    }
    for (uint32_t i = 1; i < trace->endpoint_count; i++) fprintf(out, "endpoint %u %s\n", i, trace->endpoints[i].name);
    for (uint32_t i = 1; i < trace->class_count; i++) fprintf(out, "class %u %s\n", i, trace->classes[i].name);
    for (uint32_t i = 1; i < trace->pool_count; i++) {
        const struct trace_pool *pool = &trace->pools[i];
        fprintf(out, "pool %u", i);
        print_text(out, "kind", pool->kind);
        print_text(out, "queue", pool->queue);
        print_text(out, "name", pool->name);
        fprintf(out, " core=%d maximum=%d capacity=%lld", pool->core, pool->maximum, (long long)pool->capacity);
        if (pool->keep_alive_ns >= 0) fprintf(out, " keep-alive=%lld", (long long)pool->keep_alive_ns);
        if (pool->rejection) print_text(out, "rejection", pool->rejection);
        if (pool->flags) fprintf(out, " flags=%u", pool->flags);
        putc('\n', out);
    }
    for (size_t i = 0; i < trace->resource_count; i++) {
        const struct trace_resource *resource = &trace->resources[i];
        fprintf(out, "resource %llu kind=%u class=%u capacity=%lld flags=%u", (unsigned long long)resource->id,
                resource->kind, resource->class, (long long)resource->capacity, resource->flags);
        print_text(out, "name", resource->name);
        putc('\n', out);
    }
    for (size_t i = 0; i < trace->actor_count; i++) {
        fprintf(out, "actor %llu", (unsigned long long)trace->actors[i].id);
        print_text(out, "name", trace->actors[i].name);
        putc('\n', out);
    }
}

static void print_stream(FILE *out, const struct trace *trace, const struct trace_stream *stream) {
    struct trace_cursor cursor;
    struct event event;
    struct error error = ERROR_INIT;
    fprintf(out, "stream %u", stream->id);
    print_text(out, "name", stream->thread.name);
    fprintf(out, " flags=%u events=%llu lost=%llu\n", stream->thread.flags, (unsigned long long)stream->event_count,
            (unsigned long long)stream->lost_events);
    trace_cursor_init(&cursor, trace, stream);
    while (trace_cursor_next(&cursor, &event, &error)) {
        fprintf(out, "  %llu %s", (unsigned long long)event.time, event_kind_info(event.kind)->name);
        for (unsigned o = 0; o < event_kind_info(event.kind)->operands; o++) {
            fprintf(out, " %llu", (unsigned long long)event.operand[o]);
        }
        fprintf(out, "\n");
    }
    assert_int_equal(error.status, STATUS_OK);
}

static char *print_trace(const struct trace *trace) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print_header(out, trace);
    print_tables(out, trace);
    for (uint32_t i = 0; i < trace->stream_count; i++) print_stream(out, trace, &trace->streams[i]);
    fprintf(out, "end methods_woven=%llu classes_woven=%llu", (unsigned long long)trace->end.methods_woven,
            (unsigned long long)trace->end.classes_woven);
    print_text(out, "stopped_because", trace->end.stopped_because);
    fprintf(out, "\n");
    for (size_t i = 0; i < trace->end.skip_count; i++) {
        fprintf(out, "skip %s: %s\n", trace->end.skips[i].method, trace->end.skips[i].why);
    }
    fclose(out);
    return text;
}

static void check_kept(const char *trace_path, const char *text_path) {
    struct error error = ERROR_INIT;
    struct bytes expected = load(text_path);
    struct trace *trace = trace_open(trace_path, false, &error);
    if (trace == NULL) fail_msg("%s", error.cause[0]);
    char *text = print_trace(trace);
    assert_string_equal(text, (const char *)expected.data);
    free(text);
    free(expected.data);
    trace_close(trace);
}

static void test_kept_versions_open(void **state) {
    check_kept(TRACES "good-v1.msgpack", TRACES "good-v1.txt");
    check_kept(TRACES "good-v2.msgpack", TRACES "good-v2.txt");
    check_kept(TRACES "good-v3.msgpack", TRACES "good-v3.txt");
    check_kept(TRACES "good-v4.msgpack", TRACES "good-v4.txt");
    check_kept(TRACES "good-v5.msgpack", TRACES "good-v5.txt");
    check_kept(TRACES "good-v6.msgpack", TRACES "good-v6.txt");
    check_kept(TRACES "good-v7.msgpack", TRACES "good-v7.txt");
    check_kept(TRACES "good-v8.msgpack", TRACES "good-v8.txt");
    check_kept(TRACES "good-v9.msgpack", TRACES "good-v9.txt");
    check_kept(TRACES "good-v10.msgpack", TRACES "good-v10.txt");
}

// ---- damage

#define OPENS UINT64_MAX

// `offset` is where a strict opening fails, OPENS if it doesn't. Then `walk` is where walking its events fails, OPENS
// if it doesn't; and `what` is in that error, or in the first damage.
static const struct bad_file {
    const char *name;
    uint64_t offset, walk;
    const char *what;
} bad_files[] = {
    {"after-end", 1187, OPENS, "goes on after its end block"},
    {"blocks-swapped", 953, OPENS, "begin before its block before has ended"},
    {"cut-in-header", 0, OPENS, "ends within its header"},
    {"empty", 0, OPENS, "is empty"},
    {"flipped-events", 783, OPENS, "block's checksum is 9f79fa24c2b84b30, its bytes give"},
    {"flipped-header", 0, OPENS, "the file was changed after it was written"},
    {"huge-array", 313, OPENS, "longer than a block may be"},
    {"huge-binary", 313, OPENS, "longer than a block may be"},
    {"huge-header", 0, OPENS, "not a rehype trace"},
    {"ids-with-gap", 289, OPENS, "ids begin with 3 where 1 was expected"},
    {"longer-array", 313, OPENS, "the file was changed after it was written"},
    {"newer-version", 0, OPENS, "trace format 127 is newer than this program reads (10): use a newer rehype"},
    {"no-schema", 0, OPENS, "not a rehype trace: expected a msgpack map with \"schema\""},
    {"not-a-block", 313, OPENS, "not a block of a trace"},
    {"not-utf8", 516, OPENS, "a classes block is not as the format says"},
    {"text", 0, OPENS, "not a rehype trace: expected a msgpack map with \"schema\""},
    {"unknown-event-kind", 962, OPENS, "one has no known kind"},
    {"wrong-type", 571, OPENS, "a pool block is not as the format says"},
    {"columns-differ", OPENS, 962, "the columns differ"},
    {"endless-varint", OPENS, 962, "times do not rise"},
    {"equal-times", OPENS, 962, "times do not rise"},
    {"lock-class-beyond", OPENS, 783, "names what the trace does not have"},
    {"message-class-beyond", OPENS, 783, "names what the trace does not have"},
    {"message-way-beyond", OPENS, 783, "names what the trace does not have"},
    {"method-beyond", OPENS, 783, "names what the trace does not have"},
    {"pool-beyond", OPENS, 783, "names what the trace does not have"},
    {"resource-kind-beyond", 783, OPENS, "a resource block is not as the format says"},
    {"resource-site-beyond", OPENS, 783, "names what the trace does not have"},
    {"site-beyond", OPENS, 783, "names what the trace does not have"},
    {"wait-for-beyond", OPENS, 783, "names what the trace does not have"}, // of version 1, which has no fourth value
    {"wait-class-beyond", OPENS, 783, "names what the trace does not have"},
    {"wait-site-beyond", OPENS, 783, "names what the trace does not have"},
    {"cut-in-block", OPENS, OPENS, "ends in the middle of a block: its writer was killed"},
    {"no-end", OPENS, OPENS, ""},
};

static void check_bad_file(const struct bad_file *bad) {
    char name[512], text[2048];
    struct error error = ERROR_INIT;
    snprintf(name, sizeof name, TRACES "bad/%s.msgpack", bad->name);
    struct trace *trace = trace_open(name, false, &error);
    if (bad->offset != OPENS) {
        if (trace != NULL) fail_msg("%s opens", bad->name);
    } else {
        if (trace == NULL) fail_msg("%s: %s", bad->name, error_text(&error, text, sizeof text));
        walk(trace, &error);
    }
    uint64_t offset = bad->offset != OPENS ? bad->offset : bad->walk;
    if (error.status == STATUS_OK && trace->damage_count > 0) {
        error_set(&error, STATUS_OK, "%s", trace->damage[0].what);
    } else if (offset != OPENS) {
        assert_int_equal(error.status, STATUS_BAD_INPUT);
    }
    error_text(&error, text, sizeof text);
    if (error.offset != offset) fail_msg("%s at %lld: %s", bad->name, (long long)error.offset, text);
    if (strstr(text, bad->what) == NULL) fail_msg("%s: %s", bad->name, text);
    trace_close(trace);
}

static int has_trace_name(const struct dirent *entry) {
    return strstr(entry->d_name, ".msgpack") != NULL;
}

static void test_bad_files(void **state) {
    struct dirent **entries;
    int files = scandir(TRACES "bad", &entries, has_trace_name, NULL);
    assert_int_equal(files, LENGTH(bad_files));
    while (files > 0) free(entries[--files]);
    free(entries);
    for (size_t i = 0; i < LENGTH(bad_files); i++) check_bad_file(&bad_files[i]);
}

static void test_not_a_file(void **state) {
    struct error error = ERROR_INIT;
    char text[2048];
    assert_null(trace_open("/no/such/trace.msgpack", false, &error));
    assert_int_equal(error.status, STATUS_FAILED);
    assert_string_equal(error_text(&error, text, sizeof text),
                        "/no/such/trace.msgpack: cannot open: No such file or directory");
    assert_null(trace_open("/tmp", false, &error));
    assert_int_equal(error.status, STATUS_FAILED);
    assert_string_equal(error_text(&error, text, sizeof text), "/tmp: cannot read: Is a directory");
    assert_null(trace_open("/dev/null", false, &error));
    assert_int_equal(error.status, STATUS_FAILED);
}

// Where each object of a good trace ends, in order; returns how many there are.
static size_t object_ends(const struct bytes *bytes, size_t *ends, size_t room) {
    struct unpack unpack = unpack_init(bytes->data, bytes->size);
    size_t count = 0;
    for (; unpack.at < unpack.end; count++) {
        unpack_skip(&unpack);
        assert_int_equal(unpack.state, UNPACK_GOOD);
        assert_true(count < room);
        ends[count] = (size_t)(unpack.at - bytes->data);
    }
    return count;
}

static uint64_t events_within(const struct bytes *bytes, size_t size) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("whole blocks", bytes->data, size, false, &error);
    assert_non_null(trace);
    assert_int_equal(trace->damage_count, 0);
    uint64_t events = walk(trace, &error);
    trace_close(trace);
    return events;
}

// A copy whose end is the end of its memory, so that a sanitizer sees any byte read beyond.
static uint8_t *exact_copy(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    memcpy(copy, bytes, size);
    return copy;
}

static void test_cut_at_every_byte(void **state) {
    struct bytes good = load(TRACES "good-v1.msgpack");
    size_t ends[64], count = object_ends(&good, ends, 64), whole = 0;
    for (size_t size = 0; size < good.size; size++) {
        while (whole < count && ends[whole] <= size) whole++;
        uint8_t *copy = exact_copy(good.data, size);
        struct error error = ERROR_INIT;
        struct trace *trace = trace_open_memory("cut", copy, size, false, &error);
        if (whole == 0) {
            assert_null(trace);
            assert_int_equal(error.status, STATUS_BAD_INPUT);
            assert_int_equal(error.offset, 0);
        } else {
            assert_non_null(trace);
            assert_false(trace->whole);
            assert_false(trace->has_end);
            assert_int_equal(trace->damage_count, size > ends[whole - 1]);
            if (trace->damage_count > 0) assert_int_equal(trace->damage[0].offset, ends[whole - 1]);
            assert_int_equal(walk(trace, &error), events_within(&good, ends[whole - 1]));
            trace_close(trace);
        }
        free(copy);
    }
    free(good.data);
}

// Strictly opened, a changed byte is an error, or in the last block, which then may look cut short, damage.
static void check_strict_flip(const struct bytes *changed, size_t at, size_t last_start) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("changed", changed->data, changed->size, false, &error);
    if (trace == NULL) {
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        assert_true(error.offset <= at);
    } else {
        if (trace->whole) fail_msg("a change at byte %zu went unnoticed", at);
        assert_int_equal(trace->damage_count, 1);
        assert_true(at >= last_start);
        trace_close(trace);
    }
}

static void check_lenient_flip(const struct bytes *changed, size_t at, size_t header_end) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("changed", changed->data, changed->size, true, &error);
    if (at < header_end) {
        assert_null(trace);
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        return;
    }
    assert_non_null(trace);
    assert_false(trace->whole);
    assert_true(trace->damage_count >= 1);
    walk(trace, &error);
    trace_close(trace);
}

static void test_every_changed_byte_is_noticed(void **state) {
    struct bytes good = load(TRACES "good-v1.msgpack");
    size_t ends[64], count = object_ends(&good, ends, 64);
    struct bytes changed = {exact_copy(good.data, good.size), good.size};
    for (size_t at = 0; at < good.size; at++) {
        for (unsigned change = 1; change < 256; change = change < 128 ? change * 2 : change + 127) {
            changed.data[at] = good.data[at] ^ (uint8_t)change;
            check_strict_flip(&changed, at, ends[count - 2]);
            check_lenient_flip(&changed, at, ends[0]);
        }
        changed.data[at] = good.data[at];
    }
    free(changed.data);
    free(good.data);
}

static void seal(struct bytes *bytes, size_t start, size_t next) {
    uint64_t checksum = format_checksum(bytes->data + start, next - CHECKSUM_BYTES - start);
    for (size_t i = 1; i < CHECKSUM_BYTES; i++) bytes->data[next - i] = (uint8_t)(checksum >> 8 * (i - 1));
}

// What a forger can do, who makes the checksum right again: errors or nonsense, but no crash.
static void test_forged_blocks_do_not_crash(void **state) {
    struct bytes good = load(TRACES "good-v1.msgpack");
    size_t ends[64], count = object_ends(&good, ends, 64);
    uint64_t seed = 7;
    for (int round = 0; round < 50000; round++) {
        struct bytes forged = {exact_copy(good.data, good.size), good.size};
        size_t object = random_below(&seed, count), start = object == 0 ? 0 : ends[object - 1];
        for (uint64_t changes = 1 + random_below(&seed, 3); changes > 0; changes--) {
            size_t at = start + random_below(&seed, ends[object] - CHECKSUM_BYTES - start);
            forged.data[at] = (uint8_t)random_next(&seed);
        }
        seal(&forged, start, ends[object]);
        for (int lenient = 0; lenient < 2; lenient++) {
            struct error error = ERROR_INIT;
            struct trace *trace = trace_open_memory("forged", forged.data, forged.size, lenient, &error);
            if (trace != NULL) walk(trace, &error);
            trace_close(trace);
        }
        free(forged.data);
    }
    free(good.data);
}

static void test_lenient_leaves_out_only_what_is_damaged(void **state) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open(TRACES "bad/flipped-events.msgpack", true, &error);
    assert_non_null(trace);
    assert_int_equal(trace->damage_count, 1);
    assert_int_equal(trace->damage[0].offset, 783);
    assert_true(trace->has_end);
    assert_false(trace->whole);
    assert_int_equal(find_stream(trace, 1)->event_count, 0);
    assert_string_equal(find_stream(trace, 1)->thread.name, "main");
    assert_int_equal(find_stream(trace, 2)->event_count, 9);
    trace_close(trace);
}

// Arrays that begin inside one another, far as a search for the next block goes, must not take quadratic time.
static void test_search_gives_up(void **state) {
    struct bytes good = load(TRACES "good-v1.msgpack");
    size_t ends[64], nested = 16u << 20;
    object_ends(&good, ends, 64);
    struct bytes forged = {malloc(ends[0] + nested), ends[0] + nested};
    memcpy(forged.data, good.data, ends[0]);
    for (size_t i = 0; i < nested; i++) forged.data[ends[0] + i] = (uint8_t) "\x92\xa1z"[i % 3];
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("forged", forged.data, forged.size, true, &error);
    assert_non_null(trace);
    assert_int_equal(trace->damage_count, 1);
    assert_int_equal(trace->damage[0].offset, ends[0]);
    trace_close(trace);
    free(forged.data);
    free(good.data);
}

// good-v1 with a block put in behind its object `after`.
static struct trace *open_with_block(const uint8_t *block, size_t size, size_t after, struct error *error) {
    struct bytes good = load(TRACES "good-v1.msgpack");
    size_t ends[64], count = object_ends(&good, ends, 64);
    assert_true(after < count);
    size_t at = ends[after];
    struct bytes longer = {malloc(good.size + size), good.size + size};
    memcpy(longer.data, good.data, at);
    memcpy(longer.data + at, block, size);
    memcpy(longer.data + at + size, good.data + at, good.size - at);
    seal(&longer, at, at + size);
    struct trace *trace = trace_open_memory("longer", longer.data, longer.size, false, error);
    if (!trace) assert_int_equal(error->offset, at);
    free(longer.data);
    free(good.data);
    return trace;
}

// With rules for a pool.
static struct trace *open_with_pool_rules(uint8_t pool, size_t after, struct error *error) {
    uint8_t block[] = "\x96\xaapool_rules\x01\x07\xa1H\x01\xcf........";
    block[12] = pool;
    return open_with_block(block, sizeof block - 1, after, error);
}

static void test_pool_rules_follow_their_pool(void **state) {
    struct error error = ERROR_INIT;
    struct trace *trace = open_with_pool_rules(1, 6, &error);
    assert_non_null(trace);
    assert_int_equal(trace->pools[1].keep_alive_ns, 7);
    assert_string_equal(trace->pools[1].rejection, "H");
    assert_int_equal(trace->pools[1].flags, POOL_CORE_TIMES_OUT);
    trace_close(trace);
    static const uint8_t strangers[] = {0, 2};
    for (size_t i = 0; i < LENGTH(strangers); i++) {
        assert_null(open_with_pool_rules(strangers[i], 6, &error));
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        assert_non_null(strstr(error.cause[0], "no pool block"));
        error = (struct error)ERROR_INIT;
    }
}

static const struct trace_site some_frames[] = {{"a.B", "main", "()V", "B.java", 9, 2, NULL, NULL, false},
                                                {"java.lang.Thread", "start", "()V", NULL, 0, -1, NULL, NULL, false}};
static const struct trace_calling_context some_contexts[] = {{0, 0}, {1, 1}, {2, 2}};

static void test_calling_contexts_come_back(void **state) {
    enum { SAMPLES = 70000 }; // of more than one block
    struct trace_calling_sample *samples = calloc(SAMPLES, sizeof *samples);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        samples[i] = (struct trace_calling_sample){
            .task = i * UINT64_C(1000000), .stands_for = i + 1, .context = 1 + i % 3, .kind = i % CALLING_KINDS};
    }
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_frames(writer, 1, some_frames, 2));
    assert_true(trace_write_calling_contexts(writer, 1, some_contexts, 2));
    assert_true(trace_write_calling_samples(writer, samples, 1, 0));
    assert_true(trace_write_calling_contexts(writer, 3, some_contexts + 2, 1));
    assert_true(trace_write_calling_samples(writer, samples + 1, SAMPLES - 1, 5));
    assert_true(trace_write_calling_samples(writer, NULL, 0, 2));
    assert_true(trace_write_calling_samples(writer, NULL, 0, 0));
    end(writer);
    struct trace *trace = open_good();
    assert_int_equal(trace->frame_count, 3);
    assert_string_equal(trace->frames[2].class_name, "java.lang.Thread");
    assert_int_equal(trace->frames[1].line, 9);
    assert_int_equal(trace->frames[2].bci, -1);
    assert_int_equal(trace->calling_context_count, 4);
    assert_memory_equal(trace->calling_contexts + 1, some_contexts, sizeof some_contexts);
    assert_int_equal(trace->calling_sample_count, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct trace_calling_sample *sample = &trace->calling_samples[i];
        assert_true(sample->task == samples[i].task && sample->stands_for == samples[i].stands_for);
        assert_true(sample->context == samples[i].context && sample->kind == samples[i].kind);
    }
    assert_int_equal(trace->calling_left_out, 7);
    trace_close(trace);
    free(samples);
}

static void refuse_calling_block(const char *block, size_t size) {
    struct error error = ERROR_INIT;
    assert_null(open_with_block((const uint8_t *)block, size, 2, &error)); // which looks at the offset
    assert_int_equal(error.status, STATUS_BAD_INPUT);
}

#define REFUSE_CALLING(block) refuse_calling_block(block, sizeof(block) - 1)

// In a trace with no frame and no context.
static void test_bad_calling_contexts_are_refused(void **state) {
    REFUSE_CALLING("\x94\xb0"
                   "calling_contexts\x02\x91\x92\x00\x00\xcf........"); // begins with 2
    REFUSE_CALLING("\x94\xb0"
                   "calling_contexts\x01\x91\x92\x00\x01\xcf........"); // a frame that is not there
    REFUSE_CALLING("\x94\xb0"
                   "calling_contexts\x01\x91\x92\x01\x00\xcf........"); // its own caller
    REFUSE_CALLING("\x94\xb0"
                   "calling_contexts\x01\x92\x92\x02\x00\x92\x00\x00\xcf........"); // a later one
    REFUSE_CALLING("\x94\xb0"
                   "calling_contexts\x01\x91\x93\x00\x00\x00\xcf........");
    REFUSE_CALLING("\x94\xaf"
                   "calling_samples\x00\x91\x94\x00\x07\x01\x01\xcf........"); // a context that is not there
    REFUSE_CALLING("\x94\xaf"
                   "calling_samples\x00\x91\x94\x00\x07\x00\x01\xcf........"); // none
    REFUSE_CALLING("\x94\xaf"
                   "calling_samples\x00\xc0\xcf........");
    REFUSE_CALLING("\x94\xa6"
                   "frames\x01\x91\x95\xc0\xc0\xc0\xc0\x00\xcf........");
}

static void test_stacks_come_back(void **state) {
    static const uint64_t early[] = {110, 120, 133}, late[] = {150};
    static const struct trace_stack_run runs[] = {{1, 1, 0, 3}, {2, 2, 1, 1}}, last[] = {{1, 3, 0, 1}};
    struct trace_writer *writer = begin(&ns_header);
    assert_true(trace_write_frames(writer, 1, some_frames, 2));
    assert_true(trace_write_calling_contexts(writer, 1, some_contexts, 3));
    struct trace_stacks stacks = {early, 3, runs, 2, {.missed = 1, .left_out = 2, .take_ns = 30, .work_ns = 40}};
    assert_true(trace_write_stacks(writer, &stacks));
    stacks = (struct trace_stacks){late, 1, last, 1, {.missed = 5, .take_ns = 1}};
    assert_true(trace_write_stacks(writer, &stacks));
    assert_true(trace_write_events(writer, 1, &(struct event){.time = 112, .kind = EVENT_MAIN_BEGIN}, 1));
    end(writer);
    struct trace *trace = open_good();
    const struct trace_stacks *read = &trace->stacks;
    assert_int_equal(read->moment_count, 4);
    assert_int_equal(read->moments[0], 0); // before the first event
    assert_int_equal(read->moments[1], 8);
    assert_int_equal(read->moments[2], 21);
    assert_int_equal(read->moments[3], 38);
    assert_int_equal(read->run_count, 3);
    assert_memory_equal(read->runs, runs, sizeof runs);
    assert_true(read->runs[2].context == 3 && read->runs[2].first == 3 && read->runs[2].count == 1);
    assert_true(read->costs.missed == 6 && read->costs.left_out == 2);
    assert_true(read->costs.take_ns == 31 && read->costs.work_ns == 40);
    trace_close(trace);
}

// Of a damaged block nothing is taken.
static void test_bad_stacks_are_left_out(void **state) {
    static const uint64_t rising[] = {20, 30}, falling[] = {20, 20}, before[] = {10, 30};
    static const struct trace_stack_run good = {1, 1, 0, 2};
    const struct trace_stacks bad[] = {{rising, 2, &(struct trace_stack_run){1, 0, 0, 1}, 1, {0}},
                                       {rising, 2, &(struct trace_stack_run){1, 2, 0, 1}, 1, {0}},
                                       {rising, 2, &(struct trace_stack_run){1, 1, 0, 0}, 1, {0}},
                                       {rising, 2, &(struct trace_stack_run){1, 1, 1, 2}, 1, {0}},
                                       {rising, 2, &(struct trace_stack_run){1, 1, 2, 1}, 1, {0}},
                                       {falling, 2, &good, 1, {0}},
                                       {before, 2, &good, 1, {0}}};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct error error = ERROR_INIT;
        struct trace_writer *writer = begin(&ns_header);
        trace_write_frames(writer, 1, some_frames, 2);
        trace_write_calling_contexts(writer, 1, some_contexts, 1);
        trace_write_stacks(writer, &(struct trace_stacks){(const uint64_t[]){9, 12}, 2, &good, 1, {.missed = 1}});
        trace_write_stacks(writer, &bad[i]);
        end(writer);
        assert_null(trace_open(temporary_trace, false, &error));
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        struct trace *trace = trace_open(temporary_trace, true, &error);
        assert_non_null(trace);
        assert_int_equal(trace->damage_count, 1);
        assert_int_equal(trace->stacks.moment_count, 2);
        assert_int_equal(trace->stacks.run_count, 1);
        assert_int_equal(trace->stacks.costs.missed, 1);
        trace_close(trace);
    }
}

static void write_bad_sample(const struct trace_calling_sample *sample) {
    struct trace_writer *writer = begin(&ns_header);
    trace_write_calling_contexts(writer, 1, some_contexts, 1);
    trace_write_calling_samples(writer, &(struct trace_calling_sample){7, 1, 1, CALLING_CREATED}, 1, 3);
    trace_write_calling_samples(writer, sample, 1, 4);
    end(writer);
}

// Of a damaged block nothing is taken.
static void test_bad_calling_samples_are_left_out(void **state) {
    static const struct trace_calling_sample bad[] = {
        {7, 1, 2, CALLING_CREATED}, {7, 1, 0, CALLING_CREATED}, {7, 0, 1, CALLING_CREATED}, {7, 1, 1, CALLING_KINDS}};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct error error = ERROR_INIT;
        write_bad_sample(&bad[i]);
        assert_null(trace_open(temporary_trace, false, &error));
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        uint64_t offset = error.offset;
        error = (struct error)ERROR_INIT;
        struct trace *trace = trace_open(temporary_trace, true, &error);
        assert_non_null(trace);
        assert_int_equal(trace->damage_count, 1);
        assert_int_equal(trace->damage[0].offset, offset);
        assert_int_equal(trace->calling_sample_count, 1);
        assert_int_equal(trace->calling_left_out, 3);
        trace_close(trace);
    }
}

// Of spawn_begin, and of a kind that a later writer may know.
static void test_event_costs(void **state) {
    (void)state;
    struct error error = ERROR_INIT;
    uint8_t block[] = "\x93\xab"
                      "event_costs\x92\x94\x05\x07\xcd\x30\x39\x00\x94\xcc\xc8\x01\x02\x03\xcf........";
    struct trace *trace = open_with_block(block, sizeof block - 1, 2, &error);
    assert_non_null(trace);
    assert_true(trace->tells_costs && trace->whole);
    assert_int_equal(trace->costs[EVENT_SPAWN_BEGIN].measured, 7);
    assert_int_equal(trace->costs[EVENT_SPAWN_BEGIN].before_ps, 12345);
    assert_int_equal(trace->costs[EVENT_SPAWN_BEGIN].after_ps, 0);
    assert_int_equal(trace->costs[EVENT_ENTER].measured, 0);
    trace_close(trace);
    static const size_t wrong[] = {13, 14, 15}; // no array; no array of four; no number
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        uint8_t changed[sizeof block];
        memcpy(changed, block, sizeof block);
        changed[wrong[i]] = 0xc0;
        assert_null(open_with_block(changed, sizeof block - 1, 2, &error));
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        error = (struct error)ERROR_INIT;
    }
    uint8_t dear[] = "\x93\xab"
                     "event_costs\x91\x94\x05\x07\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xcf........";
    assert_null(open_with_block(dear, sizeof dear - 1, 2, &error));
    assert_non_null(strstr(error.cause[0], "event_costs"));
}

static void test_written_costs_come_back(void **state) {
    struct error error = ERROR_INIT;
    struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000};
    struct trace_writer *writer = trace_writer_open(temporary_trace, &header, false, NULL, &error);
    struct event_cost costs[EVENT_KINDS] = {[EVENT_RESULT] = {3, 1500, EVENT_COST_MOST_PS}};
    assert_true(trace_write_event_costs(writer, costs));
    costs[EVENT_RESULT].measured = 4; // a later block replaces an earlier one
    assert_true(trace_write_event_costs(writer, costs));
    assert_true(trace_writer_close(writer, &(struct trace_end){0}, &error));
    struct trace *trace = trace_open(temporary_trace, false, &error);
    assert_non_null(trace);
    assert_memory_equal(trace->costs, costs, sizeof costs);
    trace_close(trace);
}

static void test_unknown_blocks_are_passed_over(void **state) {
    (void)state;
    uint8_t block[] = "\x93\xa6"
                      "future"
                      "\x81\xa1x\x91\xcb\0\0\0\0\0\0\0\0\xcf........";
    struct error error = ERROR_INIT;
    struct trace *trace = open_with_block(block, sizeof block - 1, 0, &error);
    assert_non_null(trace);
    assert_true(trace->whole);
    assert_int_equal(trace->event_count, 24);
    trace_close(trace);
}

// ---- files

static mode_t mode_of(const char *name) {
    struct stat facts;
    assert_int_equal(stat(name, &facts), 0);
    return facts.st_mode & 0777;
}

static void test_file_is_private(void **state) {
    unlink(temporary_trace);
    mode_t old = umask(0);
    end(begin(&ns_header));
    assert_int_equal(mode_of(temporary_trace), 0600);
    assert_int_equal(chmod(temporary_trace, 0644), 0);
    end(begin(&ns_header));
    assert_int_equal(mode_of(temporary_trace), 0600);
    umask(old);
}

static void test_exclusive_keeps_what_is_there(void **state) {
    struct error error = ERROR_INIT;
    bool exists = false;
    end(begin(&ns_header));
    assert_null(trace_writer_open(temporary_trace, &ns_header, true, &exists, &error));
    assert_true(exists);
    assert_int_equal(error.status, STATUS_FAILED);
    trace_close(open_good());
    assert_null(trace_writer_open("/no/such/folder/x", &ns_header, true, &exists, &error));
    assert_false(exists);
}

static void test_closing_nothing_is_fine(void **state) {
    struct error error = ERROR_INIT;
    assert_true(trace_writer_close(NULL, &plain_end, &error));
    trace_close(NULL);
}

static void test_full_device(void **state) {
    struct error error = ERROR_INIT;
    assert_null(trace_writer_open("/dev/full", &ns_header, false, NULL, &error));
    assert_int_equal(error.status, STATUS_FAILED);
    assert_non_null(strstr(error.cause[0], "No space left on device"));
}

// Writes until the file may not grow; returns the bytes written before.
static void write_until_full(struct trace_writer *writer) {
    struct event event = {.kind = EVENT_ENTER, .operand = {1}};
    write_some_tables(writer);
    for (event.time = 0; event.time < 1000; event.time++) {
        if (!trace_write_events(writer, (uint32_t)event.time % 3, &event, 1)) break;
    }
}

// As on a full disk: at whatever byte the room ends, the file ends with an end block that says so.
static void test_room_ends_at_every_byte(void **state) {
    struct rlimit old, limit;
    struct error error;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    for (limit.rlim_cur = 400; limit.rlim_cur < 2000; limit.rlim_cur++) {
        error = (struct error)ERROR_INIT;
        struct trace_writer *writer = begin(&ns_header);
        setrlimit(RLIMIT_FSIZE, &limit);
        write_until_full(writer);
        bool closed = trace_writer_close(writer, &plain_end, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_false(closed);
        assert_string_equal(error.cause[0], "cannot write the trace: File too large");
        struct trace *trace = open_good();
        assert_string_equal(trace->end.stopped_because, "cannot write the trace: File too large");
        assert_true(trace->bytes <= limit.rlim_cur);
        assert_int_equal(walk(trace, &error), trace->event_count);
        trace_close(trace);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static off_t size_on_disk(void) {
    struct stat facts;
    assert_int_equal(stat(temporary_trace, &facts), 0);
    return facts.st_size;
}

// Small blocks cost no system call each; what was flushed is there though nobody closes the file.
static void test_blocks_are_gathered(void **state) {
    enum { BLOCKS = 5000 };
    struct event event = {.kind = EVENT_ENTER, .operand = {1}};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = begin(&ns_header);
    write_some_tables(writer);
    assert_true(trace_writer_flush(writer));
    assert_int_equal(size_on_disk(), trace_writer_bytes(writer));
    off_t last = size_on_disk();
    unsigned writes = 0;
    for (; event.time < BLOCKS; event.time++) {
        assert_true(trace_write_events(writer, 1, &event, 1));
        writes += size_on_disk() != last;
        last = size_on_disk();
    }
    assert_in_range(writes, 1, BLOCKS / 500);
    assert_true((uint64_t)size_on_disk() < trace_writer_bytes(writer));
    assert_true(trace_writer_flush(writer));
    assert_int_equal(size_on_disk(), trace_writer_bytes(writer));
    struct trace *trace = trace_open(temporary_trace, false, &error);
    assert_non_null(trace);
    assert_false(trace->whole);
    assert_int_equal(trace->event_count, BLOCKS);
    trace_close(trace);
    assert_true(trace_writer_close(writer, &plain_end, &error));
}

// What is kept of threads that have ended goes, and that of the others stays: their times still rise across blocks.
static void test_ended_threads_are_forgotten(void **state) {
    enum { THREADS = 5000, LIVE = 7 };
    struct event event = {.kind = EVENT_ENTER, .operand = {1}};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = begin(&ns_header);
    write_some_tables(writer);
    trace_end_thread(writer, 1); // was never there
    for (uint32_t thread = 1; thread <= THREADS; thread++) {
        event.time = thread % 100;
        assert_true(trace_write_events(writer, thread, &event, 1));
        if (thread % LIVE) trace_end_thread(writer, thread);
    }
    event.time = 0; // before what they had
    for (uint32_t thread = LIVE; thread <= THREADS; thread += LIVE)
        assert_true(trace_write_events(writer, thread, &event, 1));
    assert_true(trace_writer_close(writer, &plain_end, &error));
    struct trace *trace = open_good();
    assert_int_equal(trace->event_count, THREADS + THREADS / LIVE);
    trace_close(trace);
}

// A failure that is no failed write loses no block before it.
static void test_gathered_blocks_outlive_a_failure(void **state) {
    struct event good = {.time = 1, .kind = EVENT_ENTER, .operand = {1}}, bad = {.time = 2, .kind = EVENT_KINDS};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = begin(&ns_header);
    write_some_tables(writer);
    assert_true(trace_write_events(writer, 1, &good, 1));
    assert_false(trace_write_events(writer, 1, &bad, 1));
    assert_false(trace_writer_flush(writer));
    assert_false(trace_writer_close(writer, &plain_end, &error));
    struct trace *trace = open_good();
    assert_int_equal(trace->event_count, 1);
    assert_non_null(strstr(trace->end.stopped_because, "without a kind"));
    trace_close(trace);
}

// ---- secrets

static void test_secrets_go(void **state) {
    static const struct {
        const char *command, *without;
    } cases[] = {
        {"", ""},
        {"java -jar app.jar --verbose", "java -jar app.jar --verbose"},
        {"java -Ddb.password=hunter2 Main", "java -Ddb.password=*** Main"},
        {"java -DDB_PASSWD=x Main", "java -DDB_PASSWD=* Main"},
        {"java -Dsecret= Main", "java -Dsecret= Main"},
        {"app --api-key abcdef --port 80", "app --api-key *** --port 80"},
        {"app --auth --port 80", "app --auth --port 80"},
        {"app --token=\"a b c\" last", "app --token=*** last"},
        {"app --Token 'a b' last", "app --Token *** last"},
        {"app -credential=a=b&c last", "app -credential=*** last"},
        {"app --url=http://me:pw@host/x?y=1", "app --url=http://me:**@host/x?y=1"},
        {"app jdbc:mysql://h:3306/db?user=u&password=pqrst", "app jdbc:mysql://h:3306/db?user=u&password=***"},
        {"app https://host:8080/a@b", "app https://host:8080/a@b"},
        {"app http://a:bcdef@c http://d:efghi@f", "app http://a:***@c http://d:***@f"},
        {"java -javaagent:x.jar=level=2,token=abcd Main", "java -javaagent:x.jar=level=2,token=*** Main"},
        {"SECRET_THING=abcd java Main", "SECRET_THING=*** java Main"},
        {"app --password", "app --password"},
        {"app --password=\"open", "app --password=***"},
        {"app --password a\\ b c", "app --password *** c"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *command = strdup(cases[i].command);
        command_without_secrets(command);
        assert_string_equal(command, cases[i].without);
        free(command);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces_come_back),
        cmocka_unit_test(test_large_blocks_are_split),
        cmocka_unit_test(test_worst_block_fits),
        cmocka_unit_test(test_falling_times_are_raised_across_calls),
        cmocka_unit_test(test_event_without_kind_stops_the_writer),
        cmocka_unit_test(test_texts_become_utf8),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_large_tables_are_split),
        cmocka_unit_test(test_pools_may_come_in_any_order),
        cmocka_unit_test(test_resources_come_back_by_id),
        cmocka_unit_test(test_wants_are_packed),
        cmocka_unit_test(test_messages_are_packed),
        cmocka_unit_test(test_actors_come_back_by_id),
        cmocka_unit_test(test_operands_of_actors_and_requests_are_checked),
        cmocka_unit_test(test_running_tasks_come_back_in_order),
        cmocka_unit_test(test_queued_tasks_come_back_in_order),
        cmocka_unit_test(test_queued_tasks_of_no_pool_are_refused),
        cmocka_unit_test(test_pool_rules_follow_their_pool),
        cmocka_unit_test(test_calling_contexts_come_back),
        cmocka_unit_test(test_bad_calling_contexts_are_refused),
        cmocka_unit_test(test_bad_calling_samples_are_left_out),
        cmocka_unit_test(test_stacks_come_back),
        cmocka_unit_test(test_bad_stacks_are_left_out),
        cmocka_unit_test(test_event_costs),
        cmocka_unit_test(test_written_costs_come_back),
        cmocka_unit_test(test_kept_versions_open),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_not_a_file),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_changed_byte_is_noticed),
        cmocka_unit_test(test_forged_blocks_do_not_crash),
        cmocka_unit_test(test_lenient_leaves_out_only_what_is_damaged),
        cmocka_unit_test(test_search_gives_up),
        cmocka_unit_test(test_unknown_blocks_are_passed_over),
        cmocka_unit_test(test_file_is_private),
        cmocka_unit_test(test_exclusive_keeps_what_is_there),
        cmocka_unit_test(test_closing_nothing_is_fine),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_blocks_are_gathered),
        cmocka_unit_test(test_ended_threads_are_forgotten),
        cmocka_unit_test(test_gathered_blocks_outlive_a_failure),
        cmocka_unit_test(test_room_ends_at_every_byte),
        cmocka_unit_test(test_secrets_go),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
