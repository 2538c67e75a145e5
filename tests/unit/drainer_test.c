// SPDX-License-Identifier: GPL-3.0-or-later
// From producers through the drainer into the file and back: every event in order, every loss counted, and a file that
// ends whole even when the disk is full. The drainer lives once in a process, so each case records in a child.
#include "temporary_folder.h"
#include "tracefile/reader.h"
#include "tracer/clock.h"
#include "tracer/drainer.h"
#include "tracer/registry.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// ---- recording, in the child

struct producer {
    uint32_t lives;        // threads of the trace that it is, one after the other
    uint64_t events;       // in each life, beside the function call that each begins with
    uint32_t ring_records; // of half its buffers; 0: no limit
    uint64_t pause_every;  // events; 0: never
    bool never_ends;       // its last channel stays open, as a daemon thread's does
};

// Each life calls a function that was registered a moment before, then numbers its events.
static bool live(const struct producer *producer, bool last) {
    uint32_t thread = registry_thread(&(struct trace_thread){.name = "producer"});
    struct channel *channel = drainer_open(thread, producer->ring_records);
    if (!channel) return false;
    uint32_t method = registry_method(&(struct trace_method){"com.acme.Main", "run", "()V", NULL, 0});
    ring_put1(&channel->ring, clock_ticks(), EVENT_ENTER, method);
    for (uint64_t i = 0; i < producer->events; i++) {
        if (i % 3)
            ring_put1(&channel->ring, clock_ticks(), EVENT_RESULT, i);
        else
            ring_put3(&channel->ring, clock_ticks(), EVENT_TASK_END, i, i * 5, TASK_THREW);
        if (producer->pause_every && i % producer->pause_every == 0) usleep(500);
    }
    if (!last || !producer->never_ends) drainer_close(channel);
    return true;
}

static void *produce(void *argument) {
    const struct producer *producer = argument;
    for (uint32_t life = 1; life <= producer->lives; life++) {
        if (!live(producer, life == producer->lives)) return NULL;
    }
    return argument;
}

static struct trace_writer *open_writer(void) {
    struct clock_source clock = clock_init(false);
    struct trace_header header = {.clock = clock.name, .ticks_per_s = clock.ticks_per_s, .origin = "recorded"};
    struct error error = ERROR_INIT;
    return trace_writer_open(temporary_trace, &header, false, NULL, &error);
}

static bool start(void) {
    struct error error = ERROR_INIT;
    struct trace_writer *writer = open_writer();
    return writer && drainer_start(writer, 1000000000, &error);
}

static bool run_producers(struct producer *producers, size_t count) {
    pthread_t threads[16];
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, produce, &producers[i]) != 0) abort();
    }
    for (size_t i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        good = good && result;
    }
    return good;
}

static bool record_producers(void *producers, size_t count) {
    if (!start() || !run_producers(producers, count)) return false;
    drainer_stop();
    drainer_stop(); // once more does nothing
    return true;
}

// Runs `record` in a child process.
static void in_child(bool (*record)(void *, size_t), void *argument, size_t count) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(record(argument, count) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// ---- reading back

static struct trace *open_whole(void) {
    struct error error = ERROR_INIT;
    char text[1024];
    struct trace *trace = trace_open(temporary_trace, false, &error);
    if (!trace) fail_msg("%s", error_text(&error, text, sizeof text));
    assert_true(trace->whole);
    return trace;
}

static void check_event(const struct event *event, uint64_t number) {
    assert_int_equal(event->operand[0], number);
    assert_int_equal(event->kind, number % 3 ? EVENT_RESULT : EVENT_TASK_END);
    if (event->kind == EVENT_RESULT) return;
    assert_int_equal(event->operand[1], number * 5);
    assert_int_equal(event->operand[2], TASK_THREW);
}

// All of one life: `events` numbered ones after the call, each there or counted as lost just where it is missing.
static uint64_t check_stream(const struct trace *trace, const struct trace_stream *stream, uint64_t events) {
    struct trace_cursor cursor;
    struct error error = ERROR_INIT;
    struct event event;
    uint64_t next = 0, lost = 0;
    trace_cursor_init(&cursor, trace, stream);
    assert_true(trace_cursor_next(&cursor, &event, &error));
    assert_int_equal(event.kind, EVENT_ENTER);
    assert_string_equal(trace->methods[event.operand[0]].name, "run");
    while (trace_cursor_next(&cursor, &event, &error)) {
        if (event.kind == EVENT_LOST) {
            lost += event.operand[0];
            next += event.operand[0];
        } else {
            check_event(&event, next++);
        }
    }
    assert_int_equal(error.status, STATUS_OK);
    assert_int_equal(next, events);
    assert_int_equal(stream->lost_events, lost);
    assert_string_equal(stream->thread.name, "producer");
    return lost;
}

// The JVM's stream: samples from the recording's beginning to its end, of what only grows, and between them as many
// pairs of collections. Returns how many samples there are.
static uint64_t check_jvm_stream(const struct trace *trace, uint64_t collections) {
    struct trace_cursor cursor;
    struct error error = ERROR_INIT;
    struct event event, before = {0};
    uint64_t samples = 0, begun = 0, ended = 0;
    assert_int_equal(trace->streams[0].id, 0);
    trace_cursor_init(&cursor, trace, &trace->streams[0]);
    while (trace_cursor_next(&cursor, &event, &error)) {
        if (event.kind == EVENT_GC_BEGIN) assert_int_equal(begun++, ended);
        if (event.kind == EVENT_GC_END) assert_int_equal(begun, ++ended);
        if (event.kind != EVENT_SAMPLE) continue;
        assert_true(event.operand[0] > 0);
        for (unsigned o = 0; o < EVENT_OPERANDS; o++) assert_true(event.operand[o] >= before.operand[o]);
        before = event;
        samples++;
    }
    assert_int_equal(error.status, STATUS_OK);
    assert_int_equal(ended, collections);
    assert_int_equal(event.kind, EVENT_SAMPLE);
    assert_true(samples >= 2);
    return samples;
}

static uint64_t check_trace(uint32_t streams, uint64_t events) {
    struct trace *trace = open_whole();
    assert_null(trace->end.stopped_because);
    assert_int_equal(trace->stream_count, 1 + streams);
    check_jvm_stream(trace, 0);
    uint64_t lost = 0;
    for (uint32_t i = 1; i <= streams; i++) lost += check_stream(trace, &trace->streams[i], events);
    assert_int_equal(trace->lost_events, lost);
    trace_close(trace);
    return lost;
}

// ---- cases

static void test_every_event_of_every_thread_is_there(void **state) {
    struct producer producers[] = {
        {1, 50000, 0, 0, false}, {1, 50000, 0, 5000, false}, {1, 50000, 0, 0, true}, {1, 50000, 0, 5000, true}};
    in_child(record_producers, producers, 4);
    assert_int_equal(check_trace(4, 50000), 0);
}

// More channels than are kept for later threads are open at once and after one another.
static void test_short_lives_lose_nothing(void **state) {
    struct producer producers[8];
    for (size_t i = 0; i < 8; i++) producers[i] = (struct producer){100, 20, 1024, 0, i % 2};
    in_child(record_producers, producers, 8);
    assert_int_equal(check_trace(800, 20), 0);
}

static void test_losses_are_counted_where_they_happen(void **state) {
    struct producer producers[] = {{1, 100000, RING_LEAST_RECORDS, 100, false},
                                   {1, 100000, RING_LEAST_RECORDS, 0, false},
                                   {1, 100000, RING_LEAST_RECORDS, 333, true}};
    in_child(record_producers, producers, 3);
    assert_true(check_trace(3, 100000) > 0);
}

static void test_a_thread_without_events_leaves_no_stream(void **state) {
    struct producer none = {0};
    in_child(record_producers, &none, 1);
    struct trace *trace = open_whole();
    assert_int_equal(trace->stream_count, 1);
    check_jvm_stream(trace, 0);
    trace_close(trace);
}

enum { SAMPLES = 4, COLLECTIONS = 700, COLLECTION_PAUSE_US = 100 };

static uint64_t samples_in_file(void) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open(temporary_trace, false, &error);
    uint64_t samples = trace ? trace->events_of_kind[EVENT_SAMPLE] : 0;
    trace_close(trace);
    return samples;
}

// On for as long as it takes the drainer to write `count` samples, with collections before each.
static bool record_collections(void *unused, size_t count) {
    if (!start()) return false;
    struct channel *channel = drainer_open(0, 0);
    for (size_t samples = 1; samples <= count; samples++) {
        for (unsigned i = 0; i < COLLECTIONS; i++) {
            ring_put1(&channel->ring, clock_ticks(), EVENT_GC_BEGIN, 0);
            ring_put1(&channel->ring, clock_ticks(), EVENT_GC_END, 0);
            usleep(COLLECTION_PAUSE_US);
        }
        while (samples_in_file() < samples) usleep(1000);
    }
    drainer_stop();
    return true;
}

static void test_samples_and_collections_share_a_stream(void **state) {
    in_child(record_collections, NULL, SAMPLES);
    struct trace *trace = open_whole();
    assert_int_equal(trace->stream_count, 1);
    assert_int_equal(trace->lost_events, 0);
    assert_true(check_jvm_stream(trace, SAMPLES * COLLECTIONS) > SAMPLES); // and one at the end
    trace_close(trace);
}

// What was open when a recording ended is the drainer's in the next one.
static bool record_thrice(void *unused, size_t count) {
    if (!start()) return false;
    struct channel *channel = drainer_open(0, RING_LEAST_RECORDS);
    drainer_stop();
    drainer_close(channel);
    if (!start()) return false;
    drainer_stop();
    if (!start()) return false;
    bool right = drainer_open(0, 0)->recording == 3;
    drainer_stop();
    return right;
}

static void test_a_ring_of_another_recording_is_for_nobody(void **state) {
    in_child(record_thrice, NULL, 0);
}

enum { DISK_BYTES = 100000 };

static bool record_on_full_disk(void *producers, size_t count) {
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){DISK_BYTES, DISK_BYTES}) != 0 || !start()) return false;
    if (!run_producers(producers, count)) return false;
    while (drainer_running()) usleep(1000); // it stops by itself
    drainer_stop();
    return true;
}

static void test_a_full_disk_ends_the_trace_whole_and_says_why(void **state) {
    struct producer producers[] = {{1, 60000, 0, 2000, false}, {1, 60000, 0, 2000, true}};
    in_child(record_on_full_disk, producers, 2);
    struct trace *trace = open_whole();
    assert_true(trace->bytes <= DISK_BYTES);
    assert_true(trace->event_count > 0);
    assert_non_null(trace->end.stopped_because);
    assert_non_null(strstr(trace->end.stopped_because, "File too large"));
    trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_of_every_thread_is_there),
        cmocka_unit_test(test_short_lives_lose_nothing),
        cmocka_unit_test(test_losses_are_counted_where_they_happen),
        cmocka_unit_test(test_a_thread_without_events_leaves_no_stream),
        cmocka_unit_test(test_samples_and_collections_share_a_stream),
        cmocka_unit_test(test_a_ring_of_another_recording_is_for_nobody),
        cmocka_unit_test(test_a_full_disk_ends_the_trace_whole_and_says_why),
    };
    return cmocka_run_group_tests_name("drainer", tests, temporary_folder_make, temporary_folder_remove);
}
