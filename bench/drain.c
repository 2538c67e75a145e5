// SPDX-License-Identifier: GPL-3.0-or-later
// What the drainer's one core manages: taking events out of a full buffer, packing them into the trace file, and what
// reading them back costs an analyser. Prints one table; medians over rounds.
#include "bench/random.h"
#include "tracefile/reader.h"
#include "tracer/clock.h"
#include "tracer/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ROUNDS = 61,
    WARM_UP = 5,
    BATCH = 16384,
    RECORDS = 1 << 19,
    MEMORY_BYTES = 1 << 26,
    METHODS = 300,
    SITES = 20,
    CLASSES = 50,
    DEPTH = 12
};

static struct event batch[BATCH];
static struct trace_writer *writer;
static char path[] = "/tmp/drain.XXXXXX";

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_drain: %s\n", what);
    exit(1);
}

// ---- what a thread records

static uint64_t now = 1000000;

static uint64_t pass_time(void) {
    return now += 60 + random_next() % 400;
}

// Calls nested in calls, as a program makes them.
static void record_functions(struct ring *ring, uint64_t events) {
    uint64_t stack[DEPTH];
    unsigned depth = 0;
    for (uint64_t i = 0; i < events; i++) {
        bool enter = depth == 0 || (depth < DEPTH && random_next() % 2);
        if (enter) stack[depth++] = 1 + random_next() % METHODS;
        ring_put1(ring, pass_time(), enter ? EVENT_ENTER : EVENT_EXIT, enter ? stack[depth - 1] : stack[--depth]);
    }
}

// A thread that hands tasks over, waits for one in four, and runs others in between.
static void record_tasks(struct ring *ring, uint64_t events) {
    static uint64_t task = 0;
    uint64_t cpu = 0;
    for (uint64_t i = 0; i + 8 <= events; i += 8) {
        uint64_t site = 1 + random_next() % SITES, other = task > 100 ? task - random_next() % 100 : 1;
        task++;
        cpu += 1000 + random_next() % 5000;
        ring_put3(ring, pass_time(), EVENT_TASK_CREATED, task, 0, 0);
        ring_put3(ring, pass_time(), EVENT_SPAWN_BEGIN, task, site, 0);
        ring_put3(ring, pass_time(), EVENT_SPAWN_END, task, SPAWN_ACCEPTED, 0);
        ring_put3(ring, pass_time(), EVENT_WAIT_BEGIN, task, cpu, (uint64_t)WAIT_FOR_TASK << 32 | site);
        ring_put3(ring, pass_time(), EVENT_WAIT_END, task, cpu + 700, 0);
        ring_put3(ring, pass_time(), EVENT_TASK_START, other, cpu + 900, 0);
        ring_put1(ring, pass_time(), EVENT_RESULT, other);
        ring_put3(ring, pass_time(), EVENT_TASK_END, other, cpu + 1900, TASK_RETURNED);
    }
}

// A thread that handles messages of three actors in turn, each of which sends one.
static void record_messages(struct ring *ring, uint64_t events) {
    static uint64_t message = 1;
    enum { ACTORS = 3, FIRST_ACTOR = 10 };
    for (uint64_t i = 0; i + 3 <= events; i += 3) {
        uint64_t actor = FIRST_ACTOR + i / 3 % ACTORS, class = 30 + 7 * (i / 3 % ACTORS);
        ring_put3(ring, pass_time(), EVENT_MESSAGE_BEGIN, message, 0, actor);
        ring_put3(ring, pass_time(), EVENT_MESSAGE_SENT, ++message, FIRST_ACTOR + (i / 3 + 1) % ACTORS, class << 6);
        ring_put3(ring, pass_time(), EVENT_MESSAGE_END, message - 1, 0, MESSAGE_HANDLED);
    }
}

// ---- measuring

struct cost { // ns an event
    double drain, encode, decode, bytes;
};

static void open_writer(const char *to) {
    static const struct trace_header header = {.clock = "ns", .ticks_per_s = 1000000000, .origin = "estimated"};
    struct error error = ERROR_INIT;
    writer = trace_writer_open(to, &header, false, NULL, &error);
    must(writer != NULL, "cannot open a trace to write");
    static struct trace_method methods[METHODS];
    static struct trace_site sites[SITES];
    static struct trace_class classes[CLASSES];
    for (unsigned i = 0; i < METHODS; i++) methods[i] = (struct trace_method){"com.acme.Main", "run", "()V", NULL, i};
    for (unsigned i = 0; i < SITES; i++)
        sites[i] = (struct trace_site){"com.acme.Main", "run", "()V", NULL, i, -1, NULL, NULL, false};
    for (unsigned i = 0; i < CLASSES; i++) classes[i] = (struct trace_class){"com.acme.Message"};
    must(trace_write_methods(writer, 1, methods, METHODS) && trace_write_sites(writer, 1, sites, SITES) &&
             trace_write_classes(writer, 1, classes, CLASSES),
         "tables");
}

static void close_writer(void) {
    struct error error = ERROR_INIT;
    must(trace_writer_close(writer, &(struct trace_end){0}, &error), "cannot finish the trace");
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

// Empties the ring into the writer, and adds up the time that each half of that takes.
static uint64_t drain_once(struct ring *ring, uint64_t *drain_ns, uint64_t *encode_ns) {
    uint64_t events = 0;
    size_t count;
    *drain_ns = *encode_ns = 0;
    do {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        count = ring_drain(ring, batch, BATCH);
        uint64_t drained = clock_ns(CLOCK_MONOTONIC);
        must(trace_write_events(writer, 1, batch, count), "cannot write events");
        *encode_ns += clock_ns(CLOCK_MONOTONIC) - drained;
        *drain_ns += drained - begin;
        events += count;
    } while (count == BATCH);
    return events;
}

static double decode_ns(void) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open(path, false, &error);
    must(trace != NULL, "cannot read the trace");
    double values[ROUNDS / 3];
    for (size_t i = 0; i < ROUNDS / 3; i++) {
        struct trace_cursor cursor;
        struct event event;
        uint64_t begin = clock_ns(CLOCK_MONOTONIC), events = 0;
        trace_cursor_init(&cursor, trace, &trace->streams[0]);
        while (trace_cursor_next(&cursor, &event, &error)) events++;
        values[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / (double)events;
        must(events == trace->event_count, "events are missing");
    }
    trace_close(trace);
    return median(values, ROUNDS / 3);
}

static struct cost measure(void (*record)(struct ring *, uint64_t), uint64_t events) {
    static struct ring ring;
    double drain[ROUNDS], encode[ROUNDS];
    uint64_t drain_ns, encode_ns, bytes = 0, written = 0;
    static struct chunks chunks;
    must(chunks_reserve(&chunks, MEMORY_BYTES, CHUNK_MOST_BYTES), "no memory");
    chunks_limit(&chunks, MEMORY_BYTES);
    ring_init(&ring, &chunks, 0, NULL);
    open_writer(path);
    for (int round = -WARM_UP; round < ROUNDS; round++) {
        record(&ring, events);
        uint64_t before = trace_writer_bytes(writer), count = drain_once(&ring, &drain_ns, &encode_ns);
        must(ring_unreported(&ring) == 0, "the buffer was too small");
        bytes += trace_writer_bytes(writer) - before;
        written += count;
        if (round < 0) continue;
        drain[round] = (double)drain_ns / (double)count;
        encode[round] = (double)encode_ns / (double)count;
    }
    close_writer();
    ring_reset(&ring);
    chunks_release(&chunks);
    return (struct cost){median(drain, ROUNDS), median(encode, ROUNDS), decode_ns(), (double)bytes / (double)written};
}

static void print_row(const char *what, struct cost cost) {
    printf("%-10s %10.1f %10.1f %14.1f %12.2f %10.1f\n", what, cost.drain, cost.encode,
           1e3 / (cost.drain + cost.encode), cost.bytes, cost.decode);
}

int main(void) {
    int fd = mkstemp(path);
    must(fd >= 0, "cannot make a temporary file");
    close(fd);
    printf("%-10s %10s %10s %14s %12s %10s\n", "events", "take, ns", "write, ns", "million a s", "bytes each",
           "read, ns");
    print_row("functions", measure(record_functions, RECORDS));
    print_row("tasks", measure(record_tasks, RECORDS / 2));
    print_row("messages", measure(record_messages, RECORDS / 2));
    unlink(path);
    return 0;
}
