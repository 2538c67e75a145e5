// SPDX-License-Identifier: GPL-3.0-or-later
// Made the files of fixtures/traces/, once: `trace_make FOLDER` writes good-v10.msgpack, calling-contexts.msgpack, and
// out of the good-v1.msgpack that it finds there bad/DEFECT.msgpack. The kept files stay as they are, since old
// versions must keep opening; this is for adding a defect and for the next version.
#include "tracefile/format.h"
#include "tracefile/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX 8192

struct bytes {
    uint8_t data[FILE_BYTES_MAX];
    size_t size;
};

static const char *folder;

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "trace_make: %s\n", what);
    exit(1);
}

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.msgpack", folder, name);
    return path;
}

static struct bytes load(const char *name) {
    struct bytes bytes;
    FILE *file = fopen(path_of(name), "rb");
    must(file != NULL, name);
    bytes.size = fread(bytes.data, 1, FILE_BYTES_MAX, file);
    must(bytes.size < FILE_BYTES_MAX, "a fixture should be small");
    fclose(file);
    return bytes;
}

static void save(const char *name, const struct bytes *bytes) {
    FILE *file = fopen(path_of(name), "wb");
    must(file != NULL && fwrite(bytes->data, 1, bytes->size, file) == bytes->size && fclose(file) == 0, name);
}

static void save_text(const char *name, const char *text, size_t size) {
    struct bytes bytes = {.size = size};
    memcpy(bytes.data, text, size);
    save(name, &bytes);
}

// ---- good

static struct trace_writer *begin(const char *name) {
    static const struct trace_header header = {
        .jvm = "17.0.15+6-Debian OpenJDK 64-Bit Server VM",
        .command = "java -Ddb.password=*** Main",
        .options = "include=com.acme.**",
        .clock = "tsc",
        .ticks_per_s = 2500000000,
        .start_unix_ns = 1700000000000000000,
        .cores = 4,
        .pid = 4711,
        .cycle_unit = "cycles",
        .cycle_source = "rdpmc",
        .clock_skew_ns = 40,
        .origin = "recorded",
    };
    struct error error = ERROR_INIT;
    struct trace_writer *writer = trace_writer_open(path_of(name), &header, false, NULL, &error);
    must(writer != NULL, error.cause[0]);
    return writer;
}

static void end(struct trace_writer *writer) {
    static const struct trace_skip skips[] = {{"com.acme.Big.huge()V", "longer than 64 KiB once woven"}};
    struct trace_end facts = {.methods_woven = 2, .classes_woven = 1, .skips = skips, .skip_count = 1};
    struct error error = ERROR_INIT;
    must(trace_writer_close(writer, &facts, &error), error.cause[0]);
}

static void write_tables(struct trace_writer *writer) {
    static const struct trace_method methods[] = {{"com.acme.AgeQuerier", "queryDatabase", "(I)I", "AgeQuery.java", 12},
                                                  {"com.acme.AgeQuerier$Sum", "lambda$main$0", "()V", NULL, 0}};
    static const struct trace_site sites[] = {
        {"com.acme.AgeQuerier", "main", "([Ljava/lang/String;)V", "AgeQuery.java", 30, 17, NULL, NULL, false}};
    static const struct trace_class classes[] = {{"com.acme.AgeQuerier.lambda$main$0"}};
    static const struct trace_pool small = {"java.util.concurrent.ThreadPoolExecutor",
                                            "java.util.concurrent.LinkedBlockingQueue",
                                            NULL,
                                            2,
                                            2,
                                            -1,
                                            -1,
                                            NULL,
                                            0};
    static const struct trace_pool resized = {"java.util.concurrent.ThreadPoolExecutor",
                                              "java.util.concurrent.LinkedBlockingQueue",
                                              "pool-1",
                                              4,
                                              8,
                                              -1,
                                              -1,
                                              NULL,
                                              0};
    trace_write_clock(writer, 1000000, 500);
    trace_write_methods(writer, 1, methods, 2);
    trace_write_sites(writer, 1, sites, 1);
    trace_write_classes(writer, 1, classes, 1);
    trace_write_pool(writer, 1, &small);
    trace_write_pool(writer, 1, &resized);
}

// A thread that gets a connection at once, waits for another one and gets it, and for a third one in vain.
static void write_acquisitions(struct trace_writer *writer) {
    enum { CONNECTIONS = 20, LOCK = 21 };
    const uint64_t one = want_operand(1, false, 1), reader = want_operand(1, true, 1);
    const struct event events[] = {
        {.time = 1002000, .kind = EVENT_HELD, .operand = {CONNECTIONS, one}},
        {.time = 1002100, .kind = EVENT_LIMIT, .operand = {5000000000}},
        {.time = 1002101, .kind = EVENT_ACQUIRE_BEGIN, .operand = {CONNECTIONS, 100, one}},
        {.time = 1003000, .kind = EVENT_ACQUIRED, .operand = {CONNECTIONS, 150}},
        {.time = 1003100, .kind = EVENT_ACQUIRE_BEGIN, .operand = {LOCK, 200, reader}},
        {.time = 1003500, .kind = EVENT_ACQUIRED, .operand = {LOCK, 220}},
        {.time = 1003600, .kind = EVENT_RELEASED, .operand = {LOCK, reader}},
        {.time = 1003700, .kind = EVENT_LIMIT, .operand = {200}},
        {.time = 1003701, .kind = EVENT_ACQUIRE_BEGIN, .operand = {CONNECTIONS, 260, one}},
        {.time = 1004300, .kind = EVENT_GIVEN_UP, .operand = {CONNECTIONS, 300, GIVEN_UP_TIME}},
        {.time = 1004400, .kind = EVENT_RELEASED, .operand = {CONNECTIONS, want_operand(2, false, 1)}},
        {.time = 1004500, .kind = EVENT_DUE, .operand = {22, (uint64_t)-30, (uint64_t)-1000}},
        {.time = 1004600, .kind = EVENT_LIMIT, .operand = {80}},
        {.time = 1004601, .kind = EVENT_WAIT_BEGIN, .operand = {2, 340, (uint64_t)WAIT_FOR_TASK << 32 | 1}},
        {.time = 1004900, .kind = EVENT_TIMED_OUT, .operand = {2}},
        {.time = 1004901, .kind = EVENT_WAIT_END, .operand = {2, 350}}};
    trace_write_resource(writer, &(struct trace_resource){LOCK, NULL, 1, RESOURCE_READ_WRITE_LOCK, 2, RESOURCE_FAIR});
    trace_write_resource(writer, &(struct trace_resource){CONNECTIONS, NULL, -1, RESOURCE_QUEUE, 0, 0});
    trace_write_events(writer, 4, events, sizeof events / sizeof events[0]);
    trace_write_resource(writer, &(struct trace_resource){CONNECTIONS, "Db.connections", 2, RESOURCE_POOL, 0, 0});
}

enum { GREETER_CLASS = 3, GREETING_CLASS, COUNTER_CLASS };
enum { SYSTEM = 30, USER, GREETER, COUNTER, ASKED, ANSWER, STASHED, AGAIN, LOST_ONE, TICK };

// Whoever talks to the actors: it asks one, whose answer completes a future, and sends it another message. A third
// one has no receiver.
static void write_sender(struct trace_writer *writer) {
    const uint64_t ask = message_operand(GREETING_CLASS, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, true);
    const uint64_t tell = message_operand(GREETING_CLASS, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    const uint64_t to_nobody = message_operand(1, MESSAGE_OF_PROGRAM, MESSAGE_TO_NOBODY, false);
    const uint64_t scheduled = message_operand(2, MESSAGE_SCHEDULED, MESSAGE_TO_ACTOR, false);
    const struct event events[] = {
        {.time = 1001000, .kind = EVENT_UPKEEP_BEGIN, .operand = {0, 400}},
        {.time = 1001010, .kind = EVENT_ACTOR_CREATED, .operand = {SYSTEM, 0, 0}},
        {.time = 1001020, .kind = EVENT_ACTOR_CREATED, .operand = {USER, SYSTEM, 0}},
        {.time = 1001030, .kind = EVENT_ACTOR_CREATED, .operand = {GREETER, USER, GREETER_CLASS}},
        {.time = 1001040, .kind = EVENT_UPKEEP_END, .operand = {GREETER, 430}},
        {.time = 1001100, .kind = EVENT_MESSAGE_SENT, .operand = {ASKED, 0, ask}},
        {.time = 1001110, .kind = EVENT_MESSAGE_QUEUED, .operand = {ASKED, GREETER, ASKED}},
        {.time = 1001200, .kind = EVENT_MESSAGE_SENT, .operand = {STASHED, GREETER, tell}},
        {.time = 1001300, .kind = EVENT_MESSAGE_SENT, .operand = {LOST_ONE, 0, to_nobody}},
        {.time = 1001310, .kind = EVENT_DEAD_LETTER, .operand = {LOST_ONE}},
        {.time = 1003200, .kind = EVENT_MESSAGE_SENT, .operand = {TICK, COUNTER, scheduled}}};
    trace_write_events(writer, 5, events, sizeof events / sizeof events[0]);
}

// The actor begins, answers, puts a message aside and has it again, by when it makes another one; that fails.
static void write_actors(struct trace_writer *writer) {
    static const struct trace_actor names[] = {
        {COUNTER, "counter"}, {GREETER, "greeter"}, {SYSTEM, "akka://sys/"}, {USER, "user"}};
    static const struct trace_class classes[] = {
        {"com.acme.Greeter"}, {"com.acme.Greeting"}, {"com.acme.Counter.create"}};
    const uint64_t answer = message_operand(1, MESSAGE_OF_PROGRAM, MESSAGE_TO_FUTURE, false);
    const struct event events[] = {
        {.time = 1001050, .kind = EVENT_INIT_BEGIN, .operand = {GREETER, 10}},
        {.time = 1001150, .kind = EVENT_INIT_END, .operand = {GREETER, 90, init_operand(0, INIT_DONE)}},
        {.time = 1001160, .kind = EVENT_MESSAGE_BEGIN, .operand = {ASKED, 100, GREETER}},
        {.time = 1001170, .kind = EVENT_MESSAGE_SENT, .operand = {ANSWER, 0, answer}},
        {.time = 1001190, .kind = EVENT_MESSAGE_END, .operand = {ASKED, 120, MESSAGE_HANDLED}},
        {.time = 1001220, .kind = EVENT_MESSAGE_BEGIN, .operand = {STASHED, 130, GREETER}},
        {.time = 1001230, .kind = EVENT_MESSAGE_END, .operand = {STASHED, 140, MESSAGE_PUT_ASIDE}},
        {.time = 1001240, .kind = EVENT_MESSAGE_QUEUED, .operand = {AGAIN, GREETER, STASHED}},
        {.time = 1002000, .kind = EVENT_MESSAGE_BEGIN, .operand = {AGAIN, 150, GREETER}},
        {.time = 1002100, .kind = EVENT_ACTOR_CREATED, .operand = {COUNTER, GREETER, 0}},
        {.time = 1002300, .kind = EVENT_MESSAGE_END, .operand = {AGAIN, 390, MESSAGE_THREW}},
        {.time = 1002400, .kind = EVENT_ACTOR_RESTARTED, .operand = {GREETER}},
        {.time = 1003000, .kind = EVENT_INIT_BEGIN, .operand = {COUNTER, 400}},
        {.time = 1003100, .kind = EVENT_INIT_END, .operand = {COUNTER, 480, init_operand(COUNTER_CLASS, INIT_FAILED)}},
        {.time = 1003150, .kind = EVENT_ACTOR_STOPPED, .operand = {COUNTER}},
        {.time = 1003300, .kind = EVENT_DEAD_LETTER, .operand = {TICK}}};
    trace_write_classes(writer, GREETER_CLASS, classes, sizeof classes / sizeof classes[0]);
    trace_write_actors(writer, names, sizeof names / sizeof names[0]);
    write_sender(writer);
    trace_write_events(writer, 6, events, sizeof events / sizeof events[0]);
}

// A request that a library's thread hands to a worker, which knows what it asks for; one that fails, by another thread.
static void write_requests(struct trace_writer *writer) {
    enum { FIRST = 40, SECOND, TASK, CONNECTION = 7 };
    static const struct trace_endpoint endpoints[] = {{"GET /product/{id}"}, {"Shop.order"}};
    static const struct trace_site sites[] = {
        {"com.acme.Shop", "price", "()V", "Shop.java", 8, 3, "org.acme.Async", "submit", false},
        {"org.acme.Poller", "run", "()V", NULL, 0, -1, NULL, NULL, true}};
    static const struct event poller[] = {{.time = 1001000, .kind = EVENT_SPAWN_BEGIN, .operand = {TASK, 3, 1}},
                                          {.time = 1001010, .kind = EVENT_SPAWN_END, .operand = {TASK, SPAWN_ACCEPTED}},
                                          {.time = 1007000, .kind = EVENT_REQUEST_END, .operand = {SECOND, 900, 1}}};
    static const struct event worker[] = {
        {.time = 1002000, .kind = EVENT_TASK_START, .operand = {TASK, 100}},
        {.time = 1002100, .kind = EVENT_REQUEST_BEGIN, .operand = {FIRST, 120, CONNECTION}},
        {.time = 1002200, .kind = EVENT_REQUEST_NAMED, .operand = {FIRST, 1}},
        {.time = 1004000, .kind = EVENT_REQUEST_END, .operand = {FIRST, 500, REQUEST_ANSWERED}},
        {.time = 1004100, .kind = EVENT_REQUEST_BEGIN, .operand = {SECOND, 510, 0}},
        {.time = 1004200, .kind = EVENT_REQUEST_NAMED, .operand = {SECOND, 2}},
        {.time = 1005000, .kind = EVENT_TASK_END, .operand = {TASK, 700, TASK_RETURNED}}};
    trace_write_sites(writer, 2, sites, sizeof sites / sizeof sites[0]);
    trace_write_endpoints(writer, 1, endpoints, sizeof endpoints / sizeof endpoints[0]);
    trace_write_events(writer, 7, poller, sizeof poller / sizeof poller[0]);
    trace_write_events(writer, 8, worker, sizeof worker / sizeof worker[0]);
}

static void write_good(const char *name) {
    static const struct event main_events[] = {
        {.time = 1000100, .kind = EVENT_THREAD_START, .operand = {1, 1000}},
        {.time = 1000200, .kind = EVENT_MAIN_BEGIN, .operand = {1, 1100}},
        {.time = 1000300, .kind = EVENT_ENTER, .operand = {1}},
        {.time = 1000301, .kind = EVENT_TASK_CREATED, .operand = {2, 1}},
        {.time = 1000400, .kind = EVENT_SPAWN_BEGIN, .operand = {2, 1, 1}},
        {.time = 1000900, .kind = EVENT_SPAWN_END, .operand = {2, SPAWN_ACCEPTED}},
        {.time = 1000949, .kind = EVENT_BYTECODES, .operand = {3210}},
        {.time = 1000950, .kind = EVENT_WAIT_BEGIN, .operand = {2, 1800, (uint64_t)WAIT_FOR_TASK << 32 | 1}},
        {.time = 1009000, .kind = EVENT_WAIT_END, .operand = {2, 1900}},
        {.time = 1009010, .kind = EVENT_TAKEN, .operand = {2}},
        {.time = 1009020, .kind = EVENT_EXIT_THROW, .operand = {1}},
        {.time = 1009030, .kind = EVENT_POOL_SHUTDOWN, .operand = {1}},
        {.time = 1009040, .kind = EVENT_LOST, .operand = {5}},
        {.time = 1009900, .kind = EVENT_THREAD_END, .operand = {1, 2500}}};
    static const struct event worker_events[] = {{.time = 1000500, .kind = EVENT_WORKER_BEGIN, .operand = {1}},
                                                 {.time = 1000600, .kind = EVENT_IDLE, .operand = {1}},
                                                 {.time = 1000999, .kind = EVENT_BUSY, .operand = {1}},
                                                 {.time = 1001000, .kind = EVENT_BYTECODES, .operand = {150}},
                                                 {.time = 1001001, .kind = EVENT_TASK_START, .operand = {2, 100}},
                                                 {.time = 1001002, .kind = EVENT_ENTER, .operand = {2}},
                                                 {.time = 1008000, .kind = EVENT_EXIT, .operand = {2}}};
    static const struct event more_worker_events[] = {
        {.time = 1008001, .kind = EVENT_RESULT, .operand = {2}},
        {.time = 1008002, .kind = EVENT_BYTECODES, .operand = {12345678901}},
        {.time = 1008003, .kind = EVENT_TASK_END, .operand = {2, 7000, TASK_RETURNED}},
        {.time = 1008500, .kind = EVENT_RETIRE, .operand = {1}}};
    static const struct event late_worker_events[] = {
        {.time = 1009000, .kind = EVENT_RUN_DELAY, .operand = {40000}},
        {.time = 1009001, .kind = EVENT_BLOCK_BEGIN, .operand = {3, 7100, 2}},
        {.time = 1009499, .kind = EVENT_TURNS, .operand = {12}},
        {.time = 1009500, .kind = EVENT_RUN_DELAY, .operand = {65000}},
        {.time = 1009501, .kind = EVENT_BLOCK_END, .operand = {3, 7200}}};
    static const struct event virtual_events[] = {{.time = 1002000, .kind = EVENT_THREAD_START, .operand = {4, 0}},
                                                  {.time = 1002001, .kind = EVENT_MOUNT, .operand = {2, 0}},
                                                  {.time = 1003000, .kind = EVENT_UNMOUNT, .operand = {2, 900}},
                                                  {.time = 1004000, .kind = EVENT_MOUNT, .operand = {1, 900}},
                                                  {.time = 1004500, .kind = EVENT_UNMOUNT, .operand = {1, 1300}},
                                                  {.time = 1004501, .kind = EVENT_THREAD_END, .operand = {4, 1300}}};
    static const struct event gc_events[] = {{.time = 1000090, .kind = EVENT_SAMPLE, .operand = {5000, 90000, 12}},
                                             {.time = 1000091, .kind = EVENT_COMPILING, .operand = {1200, 300, 2}},
                                             {.time = 1005000, .kind = EVENT_GC_BEGIN},
                                             {.time = 1005999, .kind = EVENT_ALLOCATED, .operand = {20971520}},
                                             {.time = 1006000, .kind = EVENT_GC_END},
                                             {.time = 1009950, .kind = EVENT_SAMPLE, .operand = {8000, 99000, 19}},
                                             {.time = 1009951, .kind = EVENT_COMPILING, .operand = {2100, 900, 3}}};
    struct trace_writer *writer = begin(name);
    write_tables(writer);
    trace_write_events(writer, 1, main_events, sizeof main_events / sizeof main_events[0]);
    trace_write_thread(writer, 1, &(struct trace_thread){"Thread-0", 0});
    trace_write_events(writer, 2, worker_events, sizeof worker_events / sizeof worker_events[0]);
    trace_write_events(writer, 2, more_worker_events, sizeof more_worker_events / sizeof more_worker_events[0]);
    trace_write_classes(writer, 2, &(struct trace_class){"com.acme.Account"}, 1);
    trace_write_events(writer, 2, late_worker_events, sizeof late_worker_events / sizeof late_worker_events[0]);
    trace_write_thread(writer, 3, &(struct trace_thread){"", THREAD_DAEMON | THREAD_VIRTUAL});
    trace_write_events(writer, 3, virtual_events, sizeof virtual_events / sizeof virtual_events[0]);
    write_acquisitions(writer);
    write_actors(writer);
    write_requests(writer);
    trace_write_events(writer, 0, gc_events, sizeof gc_events / sizeof gc_events[0]);
    trace_write_thread(writer, 1, &(struct trace_thread){"main", THREAD_DAEMON});
    trace_write_clock(writer, 1010000, 4500);
    end(writer);
}

// Three tasks of one site that come by two ways, the third's callers unknown.
static void write_calling_contexts(const char *name) {
    enum { TASKS = 3 };
    static const struct trace_site frames[] = {
        {"com.acme.AgeQuerier", "main", "([Ljava/lang/String;)V", "AgeQuery.java", 40, 3, NULL, NULL, false},
        {"com.acme.AgeQuerier", "query", "()V", "AgeQuery.java", 30, 17, NULL, NULL, false},
        {"com.acme.AgeQuerier", "retry", "()V", "AgeQuery.java", 36, 5, NULL, NULL, false},
        {"java.util.concurrent.ThreadPoolExecutor", "execute", "(Ljava/lang/Runnable;)V", "ThreadPoolExecutor.java",
         1300, 0, NULL, NULL, false},
        {"java.util.concurrent.ThreadPoolExecutor$CallerRunsPolicy", "rejectedExecution", NULL, NULL, 0, -1, NULL, NULL,
         false}};
    static const struct trace_calling_context contexts[] = {{0, 1}, {1, 2}, {2, 4}, {1, 3}, {4, 2},
                                                            {5, 4}, {3, 5}, {0, 0}, {8, 2}, {9, 4}};
    static const struct trace_calling_sample samples[] = {{2, 1, 3, CALLING_SUBMITTED},
                                                          {3, 3, 6, CALLING_SUBMITTED},
                                                          {4, 1, 10, CALLING_SUBMITTED},
                                                          {2, 1, 7, CALLING_EXECUTED},
                                                          {2, 1, 2, CALLING_CREATED}};
    struct trace_writer *writer = begin(name);
    write_tables(writer);
    trace_write_frames(writer, 1, frames, sizeof frames / sizeof frames[0]);
    trace_write_calling_contexts(writer, 1, contexts, sizeof contexts / sizeof contexts[0]);
    trace_write_calling_samples(writer, samples, sizeof samples / sizeof samples[0], 2);
    trace_write_thread(writer, 1, &(struct trace_thread){"main", 0});
    trace_write_events(writer, 1, &(struct event){.time = 1000100, .kind = EVENT_MAIN_BEGIN, .operand = {1, 1100}}, 1);
    for (uint64_t i = 0; i < TASKS; i++) {
        const struct event events[] = {
            {.time = 1000200 + 100 * i, .kind = EVENT_TASK_CREATED, .operand = {2 + i, 1}},
            {.time = 1000210 + 100 * i, .kind = EVENT_SPAWN_BEGIN, .operand = {2 + i, 1, 1}},
            {.time = 1000220 + 100 * i, .kind = EVENT_TASK_START, .operand = {2 + i, 1200 + 10 * i}},
            {.time = 1000230 + 100 * i, .kind = EVENT_TASK_END, .operand = {2 + i, 1205 + 10 * i, TASK_RETURNED}},
            {.time = 1000240 + 100 * i, .kind = EVENT_SPAWN_END, .operand = {2 + i, SPAWN_ACCEPTED}}};
        trace_write_events(writer, 1, events, sizeof events / sizeof events[0]);
    }
    trace_write_events(writer, 1, &(struct event){.time = 1009900, .kind = EVENT_THREAD_END, .operand = {1, 2500}}, 1);
    trace_write_clock(writer, 1010000, 4500);
    end(writer);
}

// ---- bad, but with checksums that are right

static void write_operand_beyond(const char *name, uint8_t kind, unsigned operand, uint64_t value) {
    struct event event = {.time = 1000100, .kind = kind};
    event.operand[operand] = value;
    struct trace_writer *writer = begin(name);
    write_tables(writer);
    trace_write_events(writer, 1, &event, 1);
    end(writer);
}

// Its kind is one that there is none of.
static void write_resource_beyond(const char *name) {
    struct trace_writer *writer = begin(name);
    write_tables(writer);
    trace_write_resource(writer, &(struct trace_resource){7, "Main.lock", 1, RESOURCE_KINDS, 0, 0});
    end(writer);
}

static void write_gap(const char *name) {
    struct trace_writer *writer = begin(name);
    trace_write_classes(writer, 3, &(struct trace_class){"com.acme.Late"}, 1);
    end(writer);
}

// ---- bad, made out of the good one

// The offset of the nth block of a kind.
static size_t block_offset(const struct bytes *bytes, const char *kind, unsigned nth) {
    size_t length = strlen(kind);
    for (size_t at = 1; at + length < bytes->size; at++) {
        bool begins = (bytes->data[at - 1] & 0xf0) == 0x90 && bytes->data[at] == (0xa0 | length);
        if (begins && memcmp(bytes->data + at + 1, kind, length) == 0 && nth-- == 0) return at - 1;
    }
    must(false, kind);
    return 0;
}

// Puts right the checksum of the object that begins at `start` and ends before `next`.
static void seal(struct bytes *bytes, size_t start, size_t next) {
    uint64_t checksum = format_checksum(bytes->data + start, next - CHECKSUM_BYTES - start);
    for (size_t i = 1; i < CHECKSUM_BYTES; i++) bytes->data[next - i] = (uint8_t)(checksum >> 8 * (i - 1));
}

static void save_cut(const char *name, const struct bytes *good, size_t size) {
    struct bytes bytes = *good;
    bytes.size = size;
    save(name, &bytes);
}

static void save_changed(const char *name, const struct bytes *good, size_t offset, uint8_t value) {
    struct bytes bytes = *good;
    must(bytes.data[offset] != value, "a change should change something");
    bytes.data[offset] = value;
    save(name, &bytes);
}

static void save_sealed(const char *name, const struct bytes *good, size_t offset, uint8_t value, size_t start,
                        size_t next) {
    struct bytes bytes = *good;
    bytes.data[offset] = value;
    seal(&bytes, start, next);
    save(name, &bytes);
}

static void save_appended(const char *name, const struct bytes *good, size_t at, const char *more, size_t size) {
    struct bytes bytes = *good;
    memcpy(bytes.data + at, more, size);
    bytes.size = at + size;
    save(name, &bytes);
}

// In the worker's second block: kinds, times and operands of three events.
static void save_bad_columns(const struct bytes *good) {
    size_t start = block_offset(good, "events", 2), next = block_offset(good, "events", 3);
    const uint8_t kinds[] = {0xc4, 3, EVENT_RESULT, EVENT_TASK_END, EVENT_RETIRE};
    const uint8_t *found = memmem(good->data + start, next - start, kinds, sizeof kinds);
    must(found != NULL, "the kinds of the block were not found");
    size_t column = (size_t)(found - good->data) + 2, times = column + 3 + 2;
    save_sealed("bad/unknown-event-kind", good, column, 99, start, next);
    save_sealed("bad/columns-differ", good, column + 2, EVENT_GC_END, start, next);
    save_sealed("bad/equal-times", good, times + 1, 0, start, next);
    save_sealed("bad/endless-varint", good, times + 2, 0xff, start, next);
}

static void save_falling_times(const struct bytes *good) {
    size_t second = block_offset(good, "events", 1), third = block_offset(good, "events", 2),
           fourth = block_offset(good, "events", 3);
    struct bytes bytes = *good;
    memcpy(bytes.data + second, good->data + third, fourth - third);
    memcpy(bytes.data + second + (fourth - third), good->data + second, third - second);
    save("bad/blocks-swapped", &bytes);
}

static void make_bad(const struct bytes *good) {
    size_t methods = block_offset(good, "methods", 0), classes = block_offset(good, "classes", 0);
    size_t pool = block_offset(good, "pool", 0), resized = block_offset(good, "pool", 1);
    size_t events = block_offset(good, "events", 0), end_block = block_offset(good, "end", 0);
    save_text("bad/empty", "", 0);
    save_text("bad/text", "#!/bin/sh\necho no trace\n", 24);
    save_text("bad/no-schema", "\x81\xa4name\xa5trace", 12);
    save_text("bad/huge-header", "\xdf\xff\xff\xff\xff\xa6schema", 12);
    save_changed("bad/newer-version", good, 31, 0x7f);
    save_changed("bad/flipped-header", good, 60, 'X');
    save_cut("bad/cut-in-header", good, 100);
    save_cut("bad/cut-in-block", good, events + 40);
    save_cut("bad/no-end", good, end_block);
    save_changed("bad/flipped-events", good, events + 40, good->data[events + 40] ^ 1);
    save_changed("bad/longer-array", good, methods, 0x9f);
    save_changed("bad/not-a-block", good, methods, 0x00);
    save_sealed("bad/wrong-type", good, resized - CHECKSUM_BYTES - 1, 0xc0, pool, resized);
    save_sealed("bad/not-utf8", good, classes + 15, 0xff, classes, pool);
    save_appended("bad/huge-array", good, methods, "\xdd\xff\xff\xff\xff", 5);
    save_appended("bad/huge-binary", good, methods, "\xc6\xff\xff\xff\xff", 5);
    save_appended("bad/after-end", good, good->size, "\xc0", 1);
    save_bad_columns(good);
    save_falling_times(good);
    write_operand_beyond("bad/method-beyond", EVENT_ENTER, 0, 3);
    write_operand_beyond("bad/site-beyond", EVENT_SPAWN_BEGIN, 1, 2);
    write_operand_beyond("bad/pool-beyond", EVENT_IDLE, 0, 2);
    write_operand_beyond("bad/wait-site-beyond", EVENT_WAIT_BEGIN, 2, (uint64_t)WAIT_FOR_TASK << 32 | 2);
    write_operand_beyond("bad/wait-class-beyond", EVENT_WAIT_BEGIN, 2, wait_operand(WAIT_FOR_RELEASE, 2, 0));
    write_operand_beyond("bad/lock-class-beyond", EVENT_BLOCK_BEGIN, 2, 2);
    write_operand_beyond("bad/resource-site-beyond", EVENT_HELD, 1, want_operand(1, false, 2));
    write_operand_beyond("bad/message-class-beyond", EVENT_MESSAGE_SENT, 2, message_operand(2, 0, 0, false));
    write_operand_beyond("bad/message-way-beyond", EVENT_MESSAGE_SENT, 2, MESSAGE_WAYS << 3);
    write_resource_beyond("bad/resource-kind-beyond");
    write_gap("bad/ids-with-gap");
}

int main(int argc, char **argv) {
    must(argc == 2, "usage: trace_make FOLDER");
    folder = argv[1];
    char bad[4096];
    snprintf(bad, sizeof bad, "%s/bad", folder);
    mkdir(folder, 0777);
    mkdir(bad, 0777);
    write_good("good-v10");
    write_calling_contexts("calling-contexts");
    struct bytes good = load("good-v1");
    make_bad(&good);
    return 0;
}
