// SPDX-License-Identifier: Apache-2.0
// Reads a trace file: maps it, checks every block's checksum and bounds, indexes the blocks by thread. The file is
// untrusted. A file that ends in mid-block (its writer was killed) opens up to its last whole block, whole = false. Any
// other damage: trace_open fails with the offset, unless `lenient`, which `info` uses: bad blocks are left out and
// listed.
#ifndef REHYPE_TRACEFILE_READER_H
#define REHYPE_TRACEFILE_READER_H

#include "base/error.h"
#include "tracefile/event.h"
#include "tracefile/tables.h"
#include "tracefile/writer.h"

struct trace_damage {
    uint64_t offset;
    const char *what;
};

struct trace_block { // one flush of one thread
    uint64_t offset;
    uint32_t count;
};

struct trace_stream { // one thread's events
    uint32_t id;      // as in the file; 0 is the JVM's own stream (GC)
    struct trace_thread thread;
    const struct trace_block *blocks; // in order of time
    uint32_t block_count;
    uint64_t event_count;
    uint64_t lost_events;
};

// All that isn't events. Tables are indexed by id; entry 0, and an id that a pool's table leaves out, is all NULL/0.
// Read-only and shared between threads once open.
struct trace {
    const char *path;
    uint64_t bytes;
    uint32_t version;
    struct trace_header header;
    bool whole; // has its end block and no damage
    bool has_end;
    struct trace_end end;
    const struct trace_damage *damage;
    size_t damage_count;
    struct trace_part part; // number 0: not one of several
    const char *next;       // name of the file that goes on, or NULL

    const struct trace_method *methods;
    const struct trace_site *sites;
    const struct trace_class *classes;
    const struct trace_pool *pools;
    uint32_t method_count, site_count, class_count, pool_count; // highest id + 1

    const struct trace_site *frames; // of calling contexts
    const struct trace_calling_context *calling_contexts;
    uint32_t frame_count, calling_context_count; // highest id + 1
    const struct trace_calling_sample *calling_samples;
    size_t calling_sample_count;
    uint64_t calling_left_out; // stacks that were to be recorded, and had no room in the tracer

    struct trace_stacks stacks; // sampled; all zero without

    const uint64_t *running; // tasks that had begun before recording did, in rising order
    size_t running_count;

    const struct trace_stop *stops; // of the JVM by the tracer, as they lie in the file
    size_t stop_count;

    const struct trace_queued *queued; // as they lie in the file
    size_t queued_count;

    const struct trace_resource *resources; // in rising order of id
    size_t resource_count;

    const struct trace_endpoint *endpoints;
    uint32_t endpoint_count; // highest id + 1

    const struct trace_actor *actors; // in rising order of id
    size_t actor_count;

    bool tells_costs; // the tracer said what recording cost; else `costs` is all 0
    struct event_cost costs[EVENT_KINDS];

    const struct trace_stream *streams; // in order of id
    uint32_t stream_count;
    uint64_t event_count, lost_events;
    uint64_t events_of_kind[EVENT_KINDS];
};

// `path` is copied. The file is mapped: whoever shortens it while it is open ends the process with SIGBUS. Cost: one
// pass over the file (checksums, GB/s). NULL and *error (STATUS_BAD_INPUT with the offset; STATUS_FAILED when the file
// can't be opened).
struct trace *trace_open(const char *path, bool lenient, struct error *error);
// NULL is fine.
void trace_close(struct trace *trace);

// The same from memory, which stays the caller's and must outlive the trace. `name` stands for the path in messages.
struct trace *trace_open_memory(const char *name, const void *bytes, size_t size, bool lenient, struct error *error);

// Whether the task had begun before recording did. Cost: some 20 steps of a million.
bool trace_was_running(const struct trace *trace, uint64_t task);

// What the trace says of a resource; NULL if nothing. Cost: some 20 steps of a million resources' array.
const struct trace_resource *trace_resource(const struct trace *trace, uint64_t id);

// An actor's name; NULL if the trace does not tell it. Cost: likewise.
const char *trace_actor_name(const struct trace *trace, uint64_t id);

// Walks one stream in order. Times are ns since the trace's first event, strictly rising; operands that name a method,
// site, class or pool are in range (others were damage), those that name a resource need not. A block that turns out
// malformed ends the walk with *error set.
struct trace_cursor {
    const struct trace *trace;
    const struct trace_stream *stream;
    uint32_t block, left; // next block; events left in this one
    struct columns {
        const uint8_t *kinds, *times, *operands; // next bytes of this block's columns
        const uint8_t *times_end, *operands_end;
        uint64_t ticks, last_ticks; // of the event before; of this block's last
        uint64_t next_ns;           // earliest time the next event may have
        bool at_block_start;
    } columns;
    uint64_t last[EVENT_KINDS][EVENT_OPERANDS];
};

void trace_cursor_init(struct trace_cursor *cursor, const struct trace *trace, const struct trace_stream *stream);

// Goes to the block that holds the stream's event of that ordinal (or, past the last, to the end), and returns the
// ordinal of the event that comes next. Cost: a look at each block before, but none into it.
uint64_t trace_cursor_seek(struct trace_cursor *cursor, uint64_t ordinal);

// As many of the next events as there is room for; fewer at the end, or on damage (then error->status is set). Cost:
// about 10 ns an event.
uint32_t trace_cursor_read(struct trace_cursor *cursor, struct event *events, uint32_t room, struct error *error);

// The next event alone. false at the end, or on damage.
bool trace_cursor_next(struct trace_cursor *cursor, struct event *event, struct error *error);

#endif
