// SPDX-License-Identifier: GPL-3.0-or-later
// Made tests/fuzz/trace_corpus/every-block.bin: blocks_make FILE. A small trace that has each kind of block, each kind
// of event, and pools whose rules change.
#include "tracefile/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 2 };

static void write_tables(struct trace_writer *writer) {
    const struct trace_method methods[] = {{"p.Main", "run", "()V", "Main.java", 3}, {"p.Main", "sub", "()V", NULL, 0}};
    const struct trace_site sites[] = {
        {.class_name = "p.Main", .method = "run", .descriptor = "()V", .line = 4, .bci = 7}};
    const struct trace_class classes[] = {{.name = "p.Task"}};
    struct trace_pool pool = {.kind = "java.util.concurrent.ThreadPoolExecutor",
                              .queue = "java.util.concurrent.LinkedBlockingQueue",
                              .name = "pool-1",
                              .core = 1,
                              .maximum = 2,
                              .capacity = 3,
                              .keep_alive_ns = 1000};
    trace_write_methods(writer, 1, methods, 2);
    trace_write_sites(writer, 1, sites, 1);
    trace_write_classes(writer, 1, classes, 1);
    trace_write_pool(writer, 1, &pool);
    pool.maximum = 4;
    trace_write_pool(writer, 1, &pool);
    for (uint32_t t = 0; t < THREADS; t++) {
        trace_write_thread(writer, t, &(struct trace_thread){"thread", t == 0 ? THREAD_SYSTEM : 0});
    }
    trace_write_frames(writer, 1, sites, 1);
    trace_write_calling_contexts(writer, 1, (const struct trace_calling_context[]){{0, 0}, {1, 1}, {2, 1}}, 3);
    trace_write_calling_samples(writer, (const struct trace_calling_sample[]){{1, 1, 2, 0}, {1, 8, 3, 1}, {9, 1, 3, 2}},
                                3, 4);
    trace_write_stacks(writer,
                       &(struct trace_stacks){.moments = (const uint64_t[]){20, 80, 300},
                                              .moment_count = 3,
                                              .runs = (const struct trace_stack_run[]){{1, 3, 0, 2}, {2, 1, 2, 1}},
                                              .run_count = 2,
                                              .costs = {1, 2, 3, 4}});
    trace_write_resource(writer, &(struct trace_resource){1, "p.Main.lock", 1, RESOURCE_LOCK, 1, RESOURCE_FAIR});
    trace_write_resource(writer, &(struct trace_resource){2, NULL, -1, RESOURCE_QUEUE, 0, 0});
    trace_write_resource(writer, &(struct trace_resource){2, "p.Main.free", 3, RESOURCE_POOL, 1, 0});
    trace_write_queued(writer, (const struct trace_queued[]){{7, 1, 1}, {6, 0, 1}}, 2);
    trace_write_running(writer, (const uint64_t[]){9, 8}, 2);
    trace_write_actors(writer, (const struct trace_actor[]){{1, "akka://p/"}, {3, "user"}}, 2);
}

static void write_costs(struct trace_writer *writer) {
    struct event_cost costs[EVENT_KINDS] = {{0}};
    for (unsigned kind = 1; kind < EVENT_KINDS; kind++) costs[kind] = (struct event_cost){kind, 12000, 8000};
    trace_write_event_costs(writer, costs);
}

static void write_thread(struct trace_writer *writer, uint32_t thread) {
    struct event events[ROUNDS * EVENT_KINDS];
    size_t count = 0;
    for (unsigned i = 0; i < ROUNDS * EVENT_KINDS; i++) {
        const unsigned kind = i % EVENT_KINDS;
        if (kind == EVENT_NONE) continue;
        events[count++] = (struct event){.time = i * 10 + thread, .kind = (uint8_t)kind, .operand = {1, 1, 1}};
    }
    trace_write_events(writer, thread, events, count);
}

int main(int argc, char **argv) {
    const struct trace_header header = {.jvm = "JVM",
                                        .command = "java p.Main",
                                        .options = "out=t",
                                        .clock = "tsc",
                                        .ticks_per_s = 2000000000,
                                        .cores = 2,
                                        .cycle_unit = "cycles",
                                        .cycle_source = "rdpmc cycles",
                                        .clock_skew_ns = 3,
                                        .origin = "recorded"};
    const struct trace_skip skip = {"p.Main.huge()V", "too long"};
    const struct trace_end end = {.stopped_because = "told to", .methods_woven = 2, .skips = &skip, .skip_count = 1};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = argc == 2 ? trace_writer_open(argv[1], &header, false, NULL, &error) : NULL;
    if (!writer) return 1;
    trace_write_part(writer, &(struct trace_part){.number = 2, .previous = "t.1", .repeated = 3});
    write_tables(writer);
    trace_write_clock(writer, 0, 0);
    for (uint32_t t = 0; t < THREADS; t++) write_thread(writer, t);
    write_costs(writer);
    trace_write_clock(writer, 100000, 50000);
    trace_write_next(writer, "t.3");
    return trace_writer_close(writer, &end, &error) ? 0 : 1;
}
