// SPDX-License-Identifier: GPL-3.0-or-later
// Parting: whatever order rings are emptied in, each virtual thread's events come out in its own, each once; and what
// two carriers that hand threads to each other record comes through the drainer so.
#include "tracefile/reader.h"
#include "tracer/clock.h"
#include "tracer/drainer.h"
#include "tracer/parting.h"
#include "tracer/registry.h"
#include "tracer/ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/parting_test.XXXXXX";

static int make_file(void **state) {
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    return unlink(path);
}

static struct trace_writer *open_writer(void) {
    struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "recorded"};
    struct error error = ERROR_INIT;
    return trace_writer_open(path, &header, false, NULL, &error);
}

static struct trace *finish(struct trace_writer *writer) {
    struct error error = ERROR_INIT;
    assert_true(trace_writer_close(writer, &(struct trace_end){0}, &error));
    struct trace *trace = trace_open(path, false, &error);
    assert_non_null(trace);
    return trace;
}

static bool write_to(void *writer, uint32_t thread, struct event *events, size_t count) {
    return trace_write_events(writer, thread, events, count);
}

// ---- by hand

enum { A = 11, B = 12 };

static struct event event(uint64_t time, uint64_t number) {
    return (struct event){.time = time, .kind = EVENT_RESULT, .operand = {number}};
}

static struct event owner(uint32_t thread, uint32_t turn) {
    return (struct event){.kind = RING_SWITCH, .operand = {thread ? parting_owner(thread, turn) : 0}};
}

static size_t take(struct parting *parting, uint64_t *whose, struct event *events, size_t count) {
    assert_true(parting_take(parting, whose, events, &count));
    return count;
}

#define TAKE(parting, whose, ...)                                                                                      \
    take(parting, whose, (struct event[]){__VA_ARGS__}, sizeof((struct event[]){__VA_ARGS__}) / sizeof(struct event))

static void round_done(struct parting *parting, struct trace_writer *writer) {
    parting_round(parting);
    assert_true(parting_write(parting, write_to, writer, false));
}

static const struct trace_stream *stream_of(const struct trace *trace, uint32_t thread) {
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i].id == thread) return &trace->streams[i];
    }
    return NULL;
}

static void check_numbers(const struct trace *trace, uint32_t thread, const uint64_t *numbers, size_t count) {
    const struct trace_stream *stream = stream_of(trace, thread);
    assert_non_null(stream);
    assert_int_equal(stream->event_count, count);
    struct trace_cursor cursor;
    struct event found;
    struct error error = ERROR_INIT;
    trace_cursor_init(&cursor, trace, stream);
    for (size_t i = 0; i < count; i++) {
        assert_true(trace_cursor_next(&cursor, &found, &error));
        assert_int_equal(found.operand[0], numbers[i]);
    }
}

#define CHECK_NUMBERS(trace, thread, ...)                                                                              \
    check_numbers(trace, thread, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_what_is_the_carriers_own_stays(void **state) {
    struct parting parting = {0};
    struct trace_writer *writer = open_writer();
    uint64_t whose = 0;
    struct event batch[] = {event(1, 1), owner(A, 0),  event(2, 20), owner(0, 0), event(3, 2),
                            owner(B, 0), event(4, 30), owner(0, 0),  event(5, 3)};
    assert_int_equal(take(&parting, &whose, batch, 9), 3);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(batch[i].operand[0], i + 1);
    assert_int_equal(TAKE(&parting, &whose, event(6, 4), owner(A, 1)), 1);
    assert_int_equal(TAKE(&parting, &whose, event(7, 21), event(8, 22)), 0); // the owner lasts
    round_done(&parting, writer);
    round_done(&parting, writer);
    struct trace *trace = finish(writer);
    assert_int_equal(trace->stream_count, 2);
    assert_int_equal(stream_of(trace, A)->block_count, 1);
    CHECK_NUMBERS(trace, A, 20, 21, 22);
    CHECK_NUMBERS(trace, B, 30);
    trace_close(trace);
    parting_destroy(&parting);
}

static void test_a_later_turn_awaits_the_earlier_one(void **state) {
    struct parting parting = {0};
    struct trace_writer *writer = open_writer();
    uint64_t first = 0, second = 0;
    TAKE(&parting, &first, owner(A, 0), event(10, 1));
    TAKE(&parting, &second, owner(A, 1), event(30, 3)); // the first ring was emptied before its last event
    round_done(&parting, writer);
    TAKE(&parting, &first, event(20, 2), owner(0, 0));
    TAKE(&parting, &second, event(40, 4), owner(0, 0), owner(A, 2), event(50, 5));
    round_done(&parting, writer);
    round_done(&parting, writer);
    struct trace *trace = finish(writer);
    CHECK_NUMBERS(trace, A, 1, 2, 3, 4, 5);
    trace_close(trace);
    parting_destroy(&parting);
}

static void test_nothing_is_written_before_all_rings_were_emptied_again(void **state) {
    struct parting parting = {0};
    struct trace_writer *writer = open_writer();
    uint64_t whose = 0, bytes = trace_writer_bytes(writer);
    TAKE(&parting, &whose, owner(A, 0), event(10, 1));
    assert_true(parting_write(&parting, write_to, writer, false));
    round_done(&parting, writer);
    assert_int_equal(trace_writer_bytes(writer), bytes);
    round_done(&parting, writer);
    assert_true(trace_writer_bytes(writer) > bytes);
    struct trace *trace = finish(writer);
    CHECK_NUMBERS(trace, A, 1);
    trace_close(trace);
    parting_destroy(&parting);
}

static void test_a_lost_turn_holds_nobody_up(void **state) {
    struct parting parting = {0};
    struct trace_writer *writer = open_writer();
    uint64_t whose = 0;
    TAKE(&parting, &whose, owner(A, 0), event(10, 1), owner(A, 7), event(20, 2));
    round_done(&parting, writer);
    round_done(&parting, writer);
    TAKE(&parting, &whose, event(30, 3));
    assert_true(parting_write(&parting, write_to, writer, true)); // at the end all is written
    struct trace *trace = finish(writer);
    CHECK_NUMBERS(trace, A, 1, 2, 3);
    trace_close(trace);
    parting_destroy(&parting);
}

static void test_turns_may_begin_anew(void **state) {
    struct parting parting = {0};
    struct trace_writer *writer = open_writer();
    uint64_t whose = 0;
    TAKE(&parting, &whose, owner(A, 0x1000000), event(30, 3), owner(A, 0xffffff), event(20, 2), owner(A, 0xfffffe),
         event(10, 1), owner(B, 5), event(5, 9));
    assert_true(parting_write(&parting, write_to, writer, true));
    struct trace *trace = finish(writer);
    CHECK_NUMBERS(trace, A, 1, 2, 3);
    CHECK_NUMBERS(trace, B, 9);
    trace_close(trace);
    parting_destroy(&parting);
}

// ---- through the drainer

enum { CARRIERS = 2, THREADS = 50, TURNS = 2000 };

static struct virtual {
    uint32_t id, turns;
    uint64_t number;
}
threads[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the queue, and with it of who is in it
static struct virtual *queue[THREADS];
static size_t head, waiting;

static struct virtual *get(void) {
    pthread_mutex_lock(&lock);
    struct virtual *thread = waiting ? queue[head] : NULL;
    if (thread) {
        head = (head + 1) % THREADS;
        waiting--;
    }
    pthread_mutex_unlock(&lock);
    return thread;
}

static void put(struct virtual *thread) {
    pthread_mutex_lock(&lock);
    queue[(head + waiting++) % THREADS] = thread;
    pthread_mutex_unlock(&lock);
}

static void *carry(void *channel_) {
    struct channel *channel = channel_;
    for (struct virtual *thread; (thread = get());) {
        uint64_t ticks = clock_ticks();
        ring_switch(&channel->ring, ticks, parting_owner(thread->id, thread->turns++));
        for (int i = 0; i < 3; i++) ring_put1(&channel->ring, clock_ticks(), EVENT_RESULT, thread->number++);
        ring_switch(&channel->ring, ticks, 0);
        uint32_t turns = thread->turns; // once it is put, it is another's
        if (turns < TURNS) put(thread);
        if (turns % 64 == 0) sched_yield();
    }
    drainer_close(channel);
    return NULL;
}

static void test_threads_change_carriers(void **state) {
    struct error error = ERROR_INIT;
    assert_true(drainer_start(open_writer(), clock_init(false).ticks_per_s, &error));
    pthread_t carriers[CARRIERS];
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = (struct virtual){.id = registry_thread(&(struct trace_thread){"", THREAD_VIRTUAL})};
        put(&threads[i]);
    }
    for (size_t i = 0; i < CARRIERS; i++) {
        struct channel *channel = drainer_open(registry_thread(&(struct trace_thread){"carrier", THREAD_SYSTEM}), 256);
        assert_int_equal(pthread_create(&carriers[i], NULL, carry, channel), 0);
    }
    for (size_t i = 0; i < CARRIERS; i++) pthread_join(carriers[i], NULL);
    drainer_stop();
    struct trace *trace = trace_open(path, false, &error);
    assert_non_null(trace);
    uint64_t found = 0;
    for (size_t i = 0; i < THREADS; i++) {
        const struct trace_stream *stream = stream_of(trace, threads[i].id);
        struct trace_cursor cursor;
        struct event one;
        uint64_t next = 0;
        if (!stream) continue;
        trace_cursor_init(&cursor, trace, stream);
        for (; trace_cursor_next(&cursor, &one, &error); found++) {
            assert_true(one.operand[0] >= next); // more only where events were dropped
            next = one.operand[0] + 1;
        }
    }
    assert_int_equal(found + trace->lost_events, THREADS * TURNS * 3);
    trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_the_carriers_own_stays),
        cmocka_unit_test(test_a_later_turn_awaits_the_earlier_one),
        cmocka_unit_test(test_nothing_is_written_before_all_rings_were_emptied_again),
        cmocka_unit_test(test_a_lost_turn_holds_nobody_up),
        cmocka_unit_test(test_turns_may_begin_anew),
        cmocka_unit_test(test_threads_change_carriers),
    };
    return cmocka_run_group_tests_name("parting", tests, make_file, remove_file);
}
