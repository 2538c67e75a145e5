// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

struct tb_thread {
    uint32_t id;
    struct trace_thread thread;
    struct event *events;
    size_t count, capacity;
};

struct trace_builder {
    uint32_t cores;
    const char *cycle_unit, *command, *options;
    struct trace_method *methods;
    struct trace_site *sites, *frames;
    struct trace_calling_context *contexts;
    struct trace_calling_sample *samples;
    uint64_t *moments;
    struct trace_stack_run *runs;
    uint32_t moment_count, run_count;
    struct trace_stack_costs stack_costs;
    struct trace_class *classes;
    struct trace_endpoint *endpoints;
    struct trace_pool *pools;
    struct tb_thread *threads;
    uint32_t method_count, site_count, class_count, endpoint_count, pool_count, thread_count;
    uint32_t frame_count, context_count, sample_count;
    uint64_t running[8];
    uint32_t running_count;
    struct trace_resource *resources;
    uint32_t resource_count;
    struct trace_actor *actors;
    uint32_t actor_count;
    struct arena strings;
};

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "trace_builder: %s\n", what);
    abort();
}

static void must_succeed(bool good, const struct error *error) {
    char text[1024];
    if (!good) must(false, error_text(error, text, sizeof text));
}

// Room for one more entry at the end of an array that grows by one each time: tests are small.
static void *one_more(void *array, uint32_t count, size_t size) {
    void *moved = realloc(array, (count + 1) * size);
    must(moved != NULL, "no memory");
    return moved;
}

static const char *keep(struct trace_builder *tb, const char *text) {
    return text ? arena_string(&tb->strings, text, strlen(text)) : NULL;
}

struct trace_builder *tb_new(void) {
    struct trace_builder *tb = calloc(1, sizeof *tb);
    must(tb != NULL, "no memory");
    tb->cores = 4;
    tb->cycle_unit = "cpu_ns";
    tb->command = "java Test";
    return tb;
}

void tb_free(struct trace_builder *tb) {
    for (uint32_t i = 0; i < tb->thread_count; i++) free(tb->threads[i].events);
    free(tb->methods);
    free(tb->sites);
    free(tb->frames);
    free(tb->contexts);
    free(tb->samples);
    free(tb->moments);
    free(tb->runs);
    free(tb->classes);
    free(tb->endpoints);
    free(tb->pools);
    free(tb->threads);
    free(tb->resources);
    free(tb->actors);
    arena_destroy(&tb->strings);
    free(tb);
}

void tb_actor(struct trace_builder *tb, uint64_t id, const char *name) {
    tb->actors = one_more(tb->actors, tb->actor_count, sizeof *tb->actors);
    tb->actors[tb->actor_count++] = (struct trace_actor){id, keep(tb, name)};
}

void tb_cores(struct trace_builder *tb, uint32_t cores) {
    tb->cores = cores;
}

void tb_cycle_unit(struct trace_builder *tb, const char *unit) {
    tb->cycle_unit = unit;
}

uint32_t tb_method(struct trace_builder *tb, const char *class_name, const char *name) {
    tb->methods = one_more(tb->methods, tb->method_count, sizeof *tb->methods);
    tb->methods[tb->method_count] = (struct trace_method){.class_name = keep(tb, class_name),
                                                          .name = keep(tb, name),
                                                          .descriptor = "()V",
                                                          .file = "Test.java",
                                                          .line = 1};
    return ++tb->method_count;
}

static uint32_t add_place(struct trace_builder *tb, struct trace_site **places, uint32_t *count, const char *class_name,
                          const char *method, uint32_t line) {
    *places = one_more(*places, *count, sizeof **places);
    (*places)[*count] = (struct trace_site){.class_name = keep(tb, class_name),
                                            .method = keep(tb, method),
                                            .descriptor = "()V",
                                            .file = "Test.java",
                                            .line = line,
                                            .bci = (int32_t)line};
    return ++*count;
}

uint32_t tb_site(struct trace_builder *tb, const char *class_name, const char *method, uint32_t line) {
    return add_place(tb, &tb->sites, &tb->site_count, class_name, method, line);
}

void tb_site_of_library(struct trace_builder *tb, uint32_t site) {
    tb->sites[site - 1].of_library = true;
}

void tb_site_through(struct trace_builder *tb, uint32_t site, const char *class_name, const char *method) {
    tb->sites[site - 1].through_class = class_name;
    tb->sites[site - 1].through_method = method;
}

uint32_t tb_frame(struct trace_builder *tb, const char *class_name, const char *method, uint32_t line) {
    return add_place(tb, &tb->frames, &tb->frame_count, class_name, method, line);
}

uint32_t tb_calling_context(struct trace_builder *tb, uint32_t caller, uint32_t frame) {
    tb->contexts = one_more(tb->contexts, tb->context_count, sizeof *tb->contexts);
    tb->contexts[tb->context_count] = (struct trace_calling_context){caller, frame};
    return ++tb->context_count;
}

void tb_calling_sample(struct trace_builder *tb, enum calling_kind kind, uint64_t task, uint32_t context,
                       uint64_t stands_for) {
    tb->samples = one_more(tb->samples, tb->sample_count, sizeof *tb->samples);
    tb->samples[tb->sample_count++] =
        (struct trace_calling_sample){.task = task, .stands_for = stands_for, .context = context, .kind = kind};
}

uint32_t tb_class(struct trace_builder *tb, const char *name) {
    tb->classes = one_more(tb->classes, tb->class_count, sizeof *tb->classes);
    tb->classes[tb->class_count] = (struct trace_class){.name = keep(tb, name)};
    return ++tb->class_count;
}

uint32_t tb_endpoint(struct trace_builder *tb, const char *name) {
    tb->endpoints = one_more(tb->endpoints, tb->endpoint_count, sizeof *tb->endpoints);
    tb->endpoints[tb->endpoint_count] = (struct trace_endpoint){.name = keep(tb, name)};
    return ++tb->endpoint_count;
}

uint32_t tb_pool_like(struct trace_builder *tb, struct trace_pool pool) {
    pool.kind = keep(tb, pool.kind);
    pool.queue = keep(tb, pool.queue);
    pool.name = keep(tb, pool.name);
    pool.rejection = keep(tb, pool.rejection);
    tb->pools = one_more(tb->pools, tb->pool_count, sizeof *tb->pools);
    tb->pools[tb->pool_count] = pool;
    return ++tb->pool_count;
}

uint32_t tb_pool(struct trace_builder *tb, const char *name, int32_t threads) {
    return tb_pool_like(tb, (struct trace_pool){.kind = "java.util.concurrent.ThreadPoolExecutor",
                                                .queue = "java.util.concurrent.LinkedBlockingQueue",
                                                .name = name,
                                                .core = threads,
                                                .maximum = threads,
                                                .capacity = -1,
                                                .keep_alive_ns = -1});
}

void tb_thread(struct trace_builder *tb, uint32_t thread, const char *name, uint32_t flags) {
    tb->threads = one_more(tb->threads, tb->thread_count, sizeof *tb->threads);
    tb->threads[tb->thread_count++] = (struct tb_thread){.id = thread, .thread = {keep(tb, name), flags}};
}

static struct tb_thread *find_thread(struct trace_builder *tb, uint32_t id) {
    for (uint32_t i = 0; i < tb->thread_count; i++) {
        if (tb->threads[i].id == id) return &tb->threads[i];
    }
    must(false, "an event on a thread that tb_thread did not name");
    return NULL;
}

void tb_add(struct trace_builder *tb, uint32_t thread_id, uint64_t time_ns, const uint64_t kind_and_operands[]) {
    struct tb_thread *thread = find_thread(tb, thread_id);
    must(!thread->count || thread->events[thread->count - 1].time < time_ns, "times of a thread must rise");
    if (thread->count == thread->capacity) {
        thread->capacity = thread->capacity ? thread->capacity * 2 : 16;
        thread->events = realloc(thread->events, thread->capacity * sizeof *thread->events);
        must(thread->events != NULL, "no memory");
    }
    struct event *event = &thread->events[thread->count++];
    *event = (struct event){.time = time_ns, .kind = (uint8_t)kind_and_operands[0]};
    memcpy(event->operand, kind_and_operands + 1, sizeof event->operand);
}

static uint64_t random_next(uint64_t *seed) { // SplitMix64
    uint64_t value = *seed += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

// The loss is told at the event after it, or else at the last one lost.
static void lose_of_thread(struct tb_thread *thread, uint64_t *seed, uint32_t rarely, uint32_t most) {
    enum { BEGINNING = 3 };
    size_t kept = 0;
    for (size_t i = 0; i < thread->count; i++) {
        size_t lost = i >= BEGINNING && random_next(seed) % rarely == 0 ? 1 + random_next(seed) % most : 0;
        if (lost > thread->count - i) lost = thread->count - i;
        if (lost == 0) {
            thread->events[kept++] = thread->events[i];
            continue;
        }
        i += lost - 1;
        const uint64_t time_ns = thread->events[i + 1 < thread->count ? i + 1 : i].time;
        thread->events[kept++] = (struct event){.time = time_ns, .kind = EVENT_LOST, .operand = {lost}};
    }
    thread->count = kept;
}

void tb_lose(struct trace_builder *tb, uint64_t seed, uint32_t rarely, uint32_t most) {
    for (uint32_t t = 0; t < tb->thread_count; t++) lose_of_thread(&tb->threads[t], &seed, rarely, most);
}

static void write_tables(const struct trace_builder *tb, struct trace_writer *writer) {
    if (tb->method_count) trace_write_methods(writer, 1, tb->methods, tb->method_count);
    if (tb->site_count) trace_write_sites(writer, 1, tb->sites, tb->site_count);
    if (tb->class_count) trace_write_classes(writer, 1, tb->classes, tb->class_count);
    if (tb->endpoint_count) trace_write_endpoints(writer, 1, tb->endpoints, tb->endpoint_count);
    for (uint32_t p = 0; p < tb->pool_count; p++) trace_write_pool(writer, p + 1, &tb->pools[p]);
    for (uint32_t t = 0; t < tb->thread_count; t++) {
        trace_write_thread(writer, tb->threads[t].id, &tb->threads[t].thread);
    }
    for (uint32_t r = 0; r < tb->resource_count; r++) trace_write_resource(writer, &tb->resources[r]);
    trace_write_actors(writer, tb->actors, tb->actor_count);
    trace_write_running(writer, tb->running, tb->running_count);
    if (tb->frame_count) trace_write_frames(writer, 1, tb->frames, tb->frame_count);
    if (tb->context_count) trace_write_calling_contexts(writer, 1, tb->contexts, tb->context_count);
    trace_write_calling_samples(writer, tb->samples, tb->sample_count, 0);
    if (tb->moment_count)
        trace_write_stacks(writer, &(struct trace_stacks){.moments = tb->moments,
                                                          .moment_count = tb->moment_count,
                                                          .runs = tb->runs,
                                                          .run_count = tb->run_count,
                                                          .costs = tb->stack_costs});
}

void tb_command(struct trace_builder *tb, const char *command) {
    tb->command = command;
}

void tb_options(struct trace_builder *tb, const char *options) {
    tb->options = options;
}

void tb_moment(struct trace_builder *tb, uint64_t time_ns) {
    tb->moments = one_more(tb->moments, tb->moment_count, sizeof *tb->moments);
    tb->moments[tb->moment_count++] = time_ns;
}

void tb_stack(struct trace_builder *tb, uint32_t thread, uint32_t context, uint64_t first, uint64_t count) {
    tb->runs = one_more(tb->runs, tb->run_count, sizeof *tb->runs);
    tb->runs[tb->run_count++] =
        (struct trace_stack_run){.thread = thread, .context = context, .first = first, .count = count};
}

void tb_stack_costs(struct trace_builder *tb, struct trace_stack_costs costs) {
    tb->stack_costs = costs;
}

void tb_running(struct trace_builder *tb, uint64_t task) {
    must(tb->running_count < sizeof tb->running / sizeof *tb->running, "too many tasks that run");
    tb->running[tb->running_count++] = task;
}

void tb_resource(struct trace_builder *tb, uint64_t id, enum resource_kind kind, int64_t capacity, uint32_t flags) {
    tb->resources = one_more(tb->resources, tb->resource_count, sizeof *tb->resources);
    tb->resources[tb->resource_count++] =
        (struct trace_resource){.id = id, .kind = kind, .capacity = capacity, .flags = flags};
}

void tb_resource_is(struct trace_builder *tb, uint64_t id, const char *name, uint32_t class) {
    for (uint32_t r = 0; r < tb->resource_count; r++) {
        if (tb->resources[r].id != id) continue;
        tb->resources[r].name = keep(tb, name);
        tb->resources[r].class = class;
        return;
    }
    must(false, "no such resource");
}

void tb_write(const struct trace_builder *tb, const char *path) {
    const struct trace_header header = {.command = tb->command,
                                        .options = tb->options,
                                        .clock = "ns",
                                        .ticks_per_s = 1000000000,
                                        .cores = tb->cores,
                                        .cycle_unit = tb->cycle_unit,
                                        .cycle_source = "clock_gettime",
                                        .clock_skew_ns = -1,
                                        .origin = "recorded"};
    struct error error = ERROR_INIT;
    struct trace_writer *writer = trace_writer_open(path, &header, false, NULL, &error);
    must_succeed(writer != NULL, &error);
    write_tables(tb, writer);
    for (uint32_t t = 0; t < tb->thread_count; t++) {
        const struct tb_thread *thread = &tb->threads[t];
        if (thread->count) trace_write_events(writer, thread->id, thread->events, thread->count);
    }
    const struct trace_end end = {0};
    must_succeed(trace_writer_close(writer, &end, &error), &error);
}

struct trace *tb_open(const struct trace_builder *tb) {
    char path[] = "/tmp/rehype-test-XXXXXX";
    int fd = mkstemp(path);
    must(fd >= 0, "no temporary file");
    close(fd);
    tb_write(tb, path);
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open(path, false, &error);
    unlink(path);
    must_succeed(trace != NULL, &error);
    return trace;
}
