// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of several files: each event of each thread is in exactly one of them, in order, however threads come and
// go, and virtual ones change carriers; each file begins with what was under way, and tells its neighbours.
#include "temporary_folder.h"
#include "tracefile/ongoing.h"
#include "tracefile/reader.h"
#include "tracer/clock.h"
#include "tracer/drainer.h"
#include "tracer/parting.h"
#include "tracer/registry.h"
#include "tracer/rotation.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int remove_empty_folder(void **state) {
    return rmdir(temporary_folder);
}

// The highest number of a file that there is; 0 if there is none.
static unsigned newest_file(void) {
    unsigned newest = 0, number;
    DIR *folder = opendir(temporary_folder);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (sscanf(entry->d_name, "trace.%u.", &number) == 1 && number > newest) newest = number;
    }
    closedir(folder);
    return newest;
}

// ---- names

static void check_path(const char *name, const struct rotation_rules *rules, const char *expected) {
    char *path = rotation_path(name, rules, 12);
    assert_string_equal(path, expected);
    free(path);
}

static void test_numbers_stand_where_they_are_wanted(void **state) {
    const struct rotation_rules one = {0}, several = {.most_bytes = 1};
    check_path("trace.msgpack", &one, "trace.msgpack");
    check_path("a.b/trace-%n.msgpack", &one, "a.b/trace-12.msgpack");
    check_path("a.b/trace.msgpack", &several, "a.b/trace.12.msgpack");
    check_path("a.b/trace", &several, "a.b/trace.12");
    check_path("a.b/%n-trace", &several, "a.b/12-trace");
}

// ---- what is under way

static struct trace *write_ongoing(const struct ongoing *ongoing, uint64_t *count) {
    struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "recorded"};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = trace_writer_open(temporary_trace, &header, false, NULL, &error);
    assert_non_null(writer);
    assert_true(trace_write_methods(writer, 1, (struct trace_method[3]){0}, 3));
    assert_true(trace_write_pool(writer, 1, &(struct trace_pool){0}));
    *count = ongoing_events(ongoing);
    assert_true(ongoing_write(ongoing, writer, 1000));
    assert_true(trace_writer_close(writer, &(struct trace_end){0}, &error));
    struct trace *trace = trace_open(temporary_trace, false, &error);
    assert_non_null(trace);
    unlink(temporary_trace);
    return trace;
}

#define EVENT(kind_, ...) ((struct event){.kind = EVENT_##kind_, .operand = {__VA_ARGS__}})

#define TAKE(ongoing, thread, ...)                                                                                     \
    assert_true(ongoing_take(ongoing, thread, (struct event[]){__VA_ARGS__},                                           \
                             sizeof((struct event[]){__VA_ARGS__}) / sizeof(struct event)))

// The events of a stream are these, one ns after the other but for operands of cpu, which are `cpu`.
static void check_stream(const struct trace_stream *stream, const struct trace *trace, uint64_t cpu,
                         const struct event *expected, size_t count) {
    struct trace_cursor cursor;
    struct error error = ERROR_INIT;
    struct event event;
    assert_int_equal(stream->event_count, count);
    trace_cursor_init(&cursor, trace, stream);
    for (size_t i = 0; i < count; i++) {
        assert_true(trace_cursor_next(&cursor, &event, &error));
        assert_int_equal(event.kind, expected[i].kind);
        assert_int_equal(event.time, i);
        assert_int_equal(event.operand[0], expected[i].operand[0]);
        if (event_has_cpu(event.kind)) assert_int_equal(event.operand[1], cpu);
    }
}

#define CHECK_STREAM(stream, trace, cpu, ...)                                                                          \
    check_stream(stream, trace, cpu, (struct event[]){__VA_ARGS__},                                                    \
                 sizeof((struct event[]){__VA_ARGS__}) / sizeof(struct event))

static void test_what_is_open_begins_again(void **state) {
    struct ongoing ongoing = {0};
    uint64_t count;
    assert_true(ongoing_name(&ongoing, 1, &(struct trace_thread){"busy", THREAD_DAEMON}));
    TAKE(&ongoing, 1, EVENT(THREAD_START, 7, 5), EVENT(ENTER, 1), EVENT(ENTER, 2), EVENT(EXIT, 2),
         EVENT(TASK_START, 8, 20), EVENT(ENTER, 3), EVENT(WAIT_BEGIN, 9, 30), EVENT(WAIT_END, 9, 40),
         EVENT(BYTECODES, 900), EVENT(RUN_DELAY, 77), EVENT(BLOCK_BEGIN, 10, 50, 0));
    TAKE(&ongoing, 2, EVENT(THREAD_START, 11, 1), EVENT(THREAD_END, 11, 2), EVENT(LOST, 3)); // gone
    TAKE(&ongoing, 2, EVENT(LOST, 4));
    struct trace *trace = write_ongoing(&ongoing, &count);
    assert_int_equal(trace->stream_count, 1);
    assert_string_equal(trace->streams[0].thread.name, "busy");
    assert_int_equal(trace->streams[0].thread.flags, THREAD_DAEMON);
    CHECK_STREAM(&trace->streams[0], trace, 50, EVENT(RUN_DELAY, 77), EVENT(BYTECODES, 900), EVENT(THREAD_START, 7),
                 EVENT(ENTER, 1), EVENT(TASK_START, 8), EVENT(ENTER, 3), EVENT(BLOCK_BEGIN, 10));
    assert_int_equal(count, 7);
    assert_int_equal(trace->running_count, 2);
    assert_int_equal(trace->running[0], 7);
    assert_int_equal(trace->running[1], 8);
    trace_close(trace);
    ongoing_destroy(&ongoing);
}

static void test_a_worker_that_asks_has_no_task(void **state) {
    struct ongoing ongoing = {0};
    uint64_t count;
    TAKE(&ongoing, 1, EVENT(THREAD_START, 7, 5), EVENT(WORKER_BEGIN, 1), EVENT(ENTER, 1), EVENT(IDLE, 1),
         EVENT(BUSY, 1), EVENT(TASK_START, 8, 9), EVENT(ENTER, 2), EVENT(LOST, 2), EVENT(IDLE, 1));
    TAKE(&ongoing, 2, EVENT(THREAD_START, 17, 5), EVENT(WORKER_BEGIN, 1), EVENT(IDLE, 1), EVENT(RETIRE, 1));
    struct trace *trace = write_ongoing(&ongoing, &count);
    CHECK_STREAM(&trace->streams[0], trace, 9, EVENT(THREAD_START, 7), EVENT(WORKER_BEGIN, 1), EVENT(ENTER, 1),
                 EVENT(IDLE, 1));
    CHECK_STREAM(&trace->streams[1], trace, 5, EVENT(THREAD_START, 17), EVENT(WORKER_BEGIN, 1));
    assert_int_equal(count, 6);
    trace_close(trace);
    ongoing_destroy(&ongoing);
}

static void test_virtual_threads_are_where_they_were(void **state) {
    struct ongoing ongoing = {0};
    uint64_t count;
    TAKE(&ongoing, 1, EVENT(THREAD_START, 7, 1), EVENT(MOUNT, 5, 2), EVENT(UNMOUNT, 5, 3), EVENT(MOUNT, 6, 3),
         EVENT(WAIT_BEGIN, 9, 4), EVENT(UNMOUNT, 6, 4));
    TAKE(&ongoing, 2, EVENT(THREAD_START, 17, 1), EVENT(MOUNT, 5, 2));
    struct trace *trace = write_ongoing(&ongoing, &count);
    CHECK_STREAM(&trace->streams[0], trace, 4, EVENT(THREAD_START, 7), EVENT(MOUNT, 6), EVENT(WAIT_BEGIN, 9),
                 EVENT(UNMOUNT, 6));
    CHECK_STREAM(&trace->streams[1], trace, 2, EVENT(THREAD_START, 17), EVENT(MOUNT, 5));
    assert_int_equal(count, 6);
    trace_close(trace);
    ongoing_destroy(&ongoing);
}

// ---- through the drainer, which lives once in a process: each case records in a child

enum { LIVES = 20, EVENTS = 9000, PRODUCERS = 3, TURN = 40, LIVES_A_FILE = 5 };

struct recording {
    struct rotation_rules rules;
    bool on_carriers; // half of the events are those of virtual threads
};

// A life begins with a function, that it leaves last, and numbers what is in between.
static bool live(const struct recording *recording) {
    uint32_t thread = registry_thread(&(struct trace_thread){.name = "producer"});
    uint32_t carried = recording->on_carriers ? registry_thread(&(struct trace_thread){.name = "carried"}) : 0;
    uint32_t method = registry_method(&(struct trace_method){"com.acme.Main", "run", "()V", NULL, 0});
    struct channel *channel = drainer_open(thread, 1 << 14);
    if (!channel) return false;
    ring_put1(&channel->ring, clock_ticks(), EVENT_ENTER, method);
    for (uint32_t i = 0; i < EVENTS; i++) {
        bool turn = carried && i / TURN % 2;
        if (carried && i % TURN == 0) {
            ring_switch(&channel->ring, clock_ticks(), turn ? parting_owner(carried, i / TURN) : 0);
        }
        ring_put1(&channel->ring, clock_ticks(), EVENT_RESULT, i);
        if (i % 500 == 0) usleep(500);
    }
    ring_switch(&channel->ring, clock_ticks(), 0);
    ring_put1(&channel->ring, clock_ticks(), EVENT_EXIT, method);
    drainer_close(channel);
    return true;
}

// Where the drainer comes late it is waited for: after so many lives there is another file.
static void *produce(void *recording) {
    for (unsigned life = 1; life <= LIVES; life++) {
        if (!live(recording)) return NULL;
        while (life < LIVES && newest_file() <= life / LIVES_A_FILE) usleep(1000);
    }
    return recording;
}

static bool start(const struct rotation_rules *rules) {
    struct clock_source clock = clock_init(false);
    struct trace_header header = {.clock = clock.name, .ticks_per_s = clock.ticks_per_s, .origin = "recorded"};
    struct error error = ERROR_INIT;
    char *path = rotation_path(temporary_trace, rules, 1);
    struct trace_writer *writer = trace_writer_open(path, &header, false, NULL, &error);
    rotation_begin(rules, temporary_trace, path, &header);
    drainer_set(&(struct drainer_settings){.several_files = true});
    return writer && drainer_start(writer, clock.ticks_per_s, &error);
}

static bool record(struct recording *recording) {
    pthread_t threads[PRODUCERS];
    bool good = start(&recording->rules);
    for (size_t i = 0; i < PRODUCERS; i++) pthread_create(&threads[i], NULL, produce, recording);
    for (size_t i = 0; i < PRODUCERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        good = good && result;
    }
    drainer_stop();
    return good;
}

static void record_in_child(struct recording *recording) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(record(recording) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// What was read of each thread in the files so far.
struct progress {
    uint64_t next[2 * PRODUCERS * LIVES + 1]; // number
    uint64_t functions[2 * PRODUCERS * LIVES + 1], results;
};

static void read_stream(const struct trace *trace, const struct trace_stream *stream, struct progress *progress) {
    struct trace_cursor cursor;
    struct error error = ERROR_INIT;
    struct event event;
    uint64_t depth = 0;
    trace_cursor_init(&cursor, trace, stream);
    while (trace_cursor_next(&cursor, &event, &error)) {
        if (event.kind == EVENT_RESULT) {
            assert_true(event.operand[0] >= progress->next[stream->id]);
            progress->next[stream->id] = event.operand[0] + 1;
            progress->results++;
        } else if (event.kind == EVENT_ENTER) {
            assert_int_equal(depth++, 0);
        } else if (event.kind == EVENT_EXIT) {
            assert_int_equal(--depth, 0);
            progress->functions[stream->id]++;
        }
    }
    assert_int_equal(error.status, STATUS_OK);
}

static void check_links(const struct trace *trace, uint32_t number, bool last) {
    char name[64];
    assert_int_equal(trace->part.number, number);
    snprintf(name, sizeof name, "trace.%u.msgpack", number - 1);
    if (number > 1)
        assert_string_equal(trace->part.previous, name);
    else
        assert_null(trace->part.previous);
    snprintf(name, sizeof name, "trace.%u.msgpack", number + 1);
    if (!last)
        assert_string_equal(trace->next, name);
    else
        assert_null(trace->next);
}

// Reads all files that there are, removes them, and returns how many there were. *part: the last one's.
static uint32_t read_all(bool all, struct progress *progress, struct trace_part *part) {
    const struct rotation_rules several = {.most_bytes = 1};
    uint32_t files = 0, number = 1;
    char *path = rotation_path(temporary_trace, &several, number);
    while (!all && access(path, F_OK) != 0) {
        free(path);
        path = rotation_path(temporary_trace, &several, ++number);
    }
    for (; access(path, F_OK) == 0; number++, files++) {
        char *next = rotation_path(temporary_trace, &several, number + 1);
        struct error error = ERROR_INIT;
        struct trace *trace = trace_open(path, false, &error);
        assert_non_null(trace);
        assert_true(trace->whole);
        assert_int_equal(trace->lost_events, 0);
        check_links(trace, number, access(next, F_OK) != 0);
        for (uint32_t i = 0; i < trace->stream_count; i++) {
            if (trace->streams[i].id != 0) read_stream(trace, &trace->streams[i], progress);
        }
        *part = trace->part;
        part->previous = NULL;
        trace_close(trace);
        unlink(path);
        free(path);
        path = next;
    }
    free(path);
    return files;
}

static void test_each_event_is_in_one_file(void **state) {
    struct recording recording = {.rules = {.most_bytes = 200000}, .on_carriers = *(bool *)*state};
    struct progress *progress = calloc(1, sizeof *progress);
    struct trace_part part;
    uint64_t functions = 0;
    record_in_child(&recording);
    assert_true(read_all(true, progress, &part) >= LIVES / LIVES_A_FILE);
    assert_int_equal(progress->results, PRODUCERS * LIVES * EVENTS);
    for (size_t i = 0; i < sizeof progress->functions / sizeof *progress->functions; i++) {
        assert_true(progress->functions[i] <= 1);
        functions += progress->functions[i];
    }
    assert_int_equal(functions, PRODUCERS * LIVES);
    assert_int_equal(part.deleted_files, 0);
    free(progress);
}

static void test_old_files_are_deleted_and_counted(void **state) {
    struct recording recording = {.rules = {.most_ns = 30000000, .most_files = 2}};
    struct progress *progress = calloc(1, sizeof *progress);
    struct trace_part part;
    uint64_t all = PRODUCERS * LIVES * (EVENTS + 2);
    record_in_child(&recording);
    assert_int_equal(read_all(false, progress, &part), 2);
    assert_int_equal(part.deleted_files, part.number - 2);
    assert_true(part.deleted_files > 0);
    uint64_t left = progress->results, functions = 0;
    for (size_t i = 0; i < sizeof progress->functions / sizeof *progress->functions; i++)
        functions += progress->functions[i];
    // Functions that were entered in a file that is gone are in it, too, and a few samples in each.
    assert_true(part.deleted_events + left + 2 * functions >= all);
    assert_true(part.deleted_events + left < all + 10 * part.number);
    free(progress);
}

static void test_what_is_there_is_not_overwritten(void **state) {
    struct recording recording = {.rules = {.most_ns = 30000000}};
    char taken[96];
    snprintf(taken, sizeof taken, "%s/trace.2.msgpack", temporary_folder);
    FILE *file = fopen(taken, "w");
    fputs("mine", file);
    fclose(file);
    record_in_child(&recording);
    char text[8] = "";
    file = fopen(taken, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "mine");
    unlink(taken);
    struct error error = ERROR_INIT;
    snprintf(taken, sizeof taken, "%s/trace.1.msgpack", temporary_folder);
    struct trace *trace = trace_open(taken, false, &error);
    assert_string_equal(trace->next, "trace.3.msgpack");
    trace_close(trace);
    unlink(taken);
    for (unsigned i = 3, last = newest_file(); i <= last; i++) {
        snprintf(taken, sizeof taken, "%s/trace.%u.msgpack", temporary_folder, i);
        unlink(taken);
    }
}

int main(void) {
    static bool alone = false, on_carriers = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_stand_where_they_are_wanted),
        cmocka_unit_test(test_what_is_open_begins_again),
        cmocka_unit_test(test_a_worker_that_asks_has_no_task),
        cmocka_unit_test(test_virtual_threads_are_where_they_were),
        cmocka_unit_test_prestate(test_each_event_is_in_one_file, &alone),
        cmocka_unit_test_prestate(test_each_event_is_in_one_file, &on_carriers),
        cmocka_unit_test(test_old_files_are_deleted_and_counted),
        cmocka_unit_test(test_what_is_there_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, remove_empty_folder);
}
