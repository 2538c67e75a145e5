// SPDX-License-Identifier: GPL-3.0-or-later
// Traces by hand, for tests: name the threads, say what happened when, write the file. Ids of threads are the caller's;
// those of methods, sites, classes and pools are returned. Give each thread's events in order of time; the earliest
// event of all should be at 0, since a reader counts from it. Errors of the builder itself abort the test.
//
//     struct trace_builder *tb = tb_new();
//     uint32_t pool = tb_pool(tb, "pool-1", 2), site = tb_site(tb, "Main", "run", 12);
//     tb_thread(tb, 1, "main", 0);
//     tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 100);
//     tb_event(tb, 1, 10, EVENT_SPAWN_BEGIN, 7, site, pool);
//     struct trace *trace = tb_open(tb);  // writes to a file that is gone once opened
//     ...
//     trace_close(trace);
//     tb_free(tb);
#ifndef REHYPE_TESTS_TRACE_BUILDER_H
#define REHYPE_TESTS_TRACE_BUILDER_H

#include "tracefile/reader.h"
#include "tracefile/writer.h"

struct trace_builder;

struct trace_builder *tb_new(void);
void tb_free(struct trace_builder *tb);
void tb_cores(struct trace_builder *tb, uint32_t cores);        // of the header; 4 unless told
void tb_cycle_unit(struct trace_builder *tb, const char *unit); // of the header; a constant; "cpu_ns" unless told

void tb_command(struct trace_builder *tb, const char *command); // of the header; a constant; "java Test" unless told
void tb_options(struct trace_builder *tb, const char *options); // of the header; a constant

uint32_t tb_method(struct trace_builder *tb, const char *class_name, const char *name);
uint32_t tb_site(struct trace_builder *tb, const char *class_name, const char *method, uint32_t line);
void tb_site_of_library(struct trace_builder *tb, uint32_t site); // no frame of the program's is there
void tb_site_through(struct trace_builder *tb, uint32_t site, const char *class_name, const char *method); // constants
uint32_t tb_frame(struct trace_builder *tb, const char *class_name, const char *method, uint32_t line);
uint32_t tb_calling_context(struct trace_builder *tb, uint32_t caller, uint32_t frame);
void tb_calling_sample(struct trace_builder *tb, enum calling_kind kind, uint64_t task, uint32_t context,
                       uint64_t stands_for);

// Sampled stacks: moments in order of time, and what a thread was in at `count` of them from the `first`, which is 0,
// on.
void tb_moment(struct trace_builder *tb, uint64_t time_ns);
void tb_stack(struct trace_builder *tb, uint32_t thread, uint32_t context, uint64_t first, uint64_t count);
void tb_stack_costs(struct trace_builder *tb, struct trace_stack_costs costs); // all 0 unless told

uint32_t tb_class(struct trace_builder *tb, const char *name);
uint32_t tb_endpoint(struct trace_builder *tb, const char *name);              // "GET /product/{id}"
uint32_t tb_pool(struct trace_builder *tb, const char *name, int32_t threads); // a ThreadPoolExecutor, fixed size
uint32_t tb_pool_like(struct trace_builder *tb, struct trace_pool pool);       // any other
void tb_thread(struct trace_builder *tb, uint32_t thread, const char *name, uint32_t flags);

void tb_running(struct trace_builder *tb, uint64_t task); // had begun before recording did; at most 8

// What threads hold and wait for, without name and class; its id is the caller's. `flags`: RESOURCE_FAIR,
// RESOURCE_READERS_PASS.
void tb_resource(struct trace_builder *tb, uint64_t id, enum resource_kind kind, int64_t capacity, uint32_t flags);
void tb_resource_is(struct trace_builder *tb, uint64_t id, const char *name, uint32_t class); // of one that is there

void tb_actor(struct trace_builder *tb, uint64_t id, const char *name); // how its parent knows it

// tb_event(tb, thread, time_ns, EVENT_X[, a[, b[, c]]])
#define tb_event(tb, thread, time_ns, ...)                                                                             \
    tb_add((tb), (thread), (time_ns), (const uint64_t[1 + EVENT_OPERANDS]){__VA_ARGS__})
void tb_add(struct trace_builder *tb, uint32_t thread, uint64_t time_ns, const uint64_t kind_and_operands[]);

// Loses some of what is there by now, in runs of up to `most` events, each of which begins at one in `rarely`; but for
// how threads begin.
void tb_lose(struct trace_builder *tb, uint64_t seed, uint32_t rarely, uint32_t most);

// The third operand of EVENT_WAIT_BEGIN.
static inline uint64_t tb_wait(enum wait_for wait_for, uint32_t site) {
    return wait_operand(wait_for, 0, site);
}

void tb_write(const struct trace_builder *tb, const char *path);
struct trace *tb_open(const struct trace_builder *tb); // by tb_write to a temporary file

#endif
