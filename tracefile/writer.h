// SPDX-License-Identifier: Apache-2.0
// Writes a trace file (docs/trace-format.md). Used by the tracer's drainer and by `estimate`: one writer, one format.
// One thread at a time. Blocks are gathered, some 100 KiB of them, so that a failure to write one may be told by a
// later call. After the first failure every call does nothing and returns false with the same error: the file then ends
// with its last whole block, and, where the system lets it, an end block that says why (trace_writer_close).
#ifndef REHYPE_TRACEFILE_WRITER_H
#define REHYPE_TRACEFILE_WRITER_H

#include "base/error.h"
#include "tracefile/event.h"
#include "tracefile/tables.h"

#include <stddef.h>

// 2 added the kinds of event from EVENT_RUN_DELAY on, 3 those from EVENT_MOUNT on, 4 EVENT_BYTECODES, 5 those from
// EVENT_ACQUIRE_BEGIN on, 6 those from EVENT_MESSAGE_SENT on, 7 those from EVENT_REQUEST_BEGIN on, 8 EVENT_COMPILING, 9
// EVENT_TURNS, 10 EVENT_ALLOCATED.
#define TRACE_VERSION 10
#define TRACE_SCHEMA  "rehype.trace/1"

struct trace_header {
    const char *jvm;        // "17.0.15+6-Debian OpenJDK 64-Bit Server VM", NULL if none
    const char *command;    // without secrets (command_without_secrets), NULL if unknown
    const char *options;    // the tracer's own options
    const char *clock;      // "tsc", "cntvct", "monotonic"; "ns" in an estimated trace
    uint64_t ticks_per_s;   // nominal; clock blocks refine it. 1000000000 for "ns"
    uint64_t start_unix_ns; // time of day of the first tick, for people
    uint32_t cores;
    uint32_t pid;
    const char *cycle_unit;   // "cycles", "cpu_ns", or NULL: what `cpu` operands count
    const char *cycle_source; // "rdpmc cycles", "rseq", "perf task-clock page" and so on, or NULL
    uint64_t besides_ns;   // of an estimate: CPU time of the process beside its threads' own `cpu`; 0 unknown or none
    int64_t clock_skew_ns; // largest difference between two cores' clocks that the tracer measured; -1 unknown
    const char *origin;    // "recorded", or "estimated" (by `rehype estimate`)
};

struct trace_skip {
    const char *method; // class.name descriptor
    const char *why;
};

// What the end block says.
struct trace_end {
    const char *stopped_because; // NULL: the program ended
    uint64_t methods_woven, classes_woven;
    const struct trace_skip *skips; // methods that could not be woven
    size_t skip_count;
};

// Where a recording goes on from file to file, which one this is (docs/trace-format.md, "Several files").
struct trace_part {
    uint32_t number;         // from 1; 0: the recording is one file
    const char *previous;    // name of the file before, without its folder; NULL in the first
    uint64_t repeated;       // events at the beginning that tell again what was under way
    uint64_t deleted_files;  // earlier ones that were deleted by the time this one began
    uint64_t deleted_events; // ... and what they held
};

struct trace_writer;

// Creates path (0600). With `exclusive` an existing file is an error with errno EEXIST told apart by *exists (may be
// NULL). NULL and *error on failure.
struct trace_writer *trace_writer_open(const char *path, const struct trace_header *header, bool exclusive,
                                       bool *exists, struct error *error);

// The bytes of a trace that is written to memory: zeroed at first, for free() in the end.
struct trace_memory {
    uint8_t *bytes;
    size_t size, room;
};

// Writes to memory, which must outlive the writer, a trace of that version: what it holds must be of no later one.
struct trace_writer *trace_writer_open_memory(struct trace_memory *memory, const struct trace_header *header,
                                              uint32_t version, struct error *error);

// `count` new entries, the first of which has id `first`. Ids of a table are written in rising order without a gap,
// except pools, threads and resources, whose later entry for the same id replaces the earlier one.
bool trace_write_methods(struct trace_writer *, uint32_t first, const struct trace_method *, size_t count);
bool trace_write_sites(struct trace_writer *, uint32_t first, const struct trace_site *, size_t count);
bool trace_write_classes(struct trace_writer *, uint32_t first, const struct trace_class *, size_t count);
bool trace_write_endpoints(struct trace_writer *, uint32_t first, const struct trace_endpoint *, size_t count);
bool trace_write_frames(struct trace_writer *, uint32_t first, const struct trace_site *, size_t count);
bool trace_write_calling_contexts(struct trace_writer *, uint32_t first, const struct trace_calling_context *,
                                  size_t count);
bool trace_write_pool(struct trace_writer *, uint32_t id, const struct trace_pool *);
bool trace_write_thread(struct trace_writer *, uint32_t id, const struct trace_thread *);
bool trace_write_resource(struct trace_writer *, const struct trace_resource *);

// More of them; `left_out` more than these had no room in the tracer.
bool trace_write_calling_samples(struct trace_writer *, const struct trace_calling_sample *, size_t count,
                                 uint64_t left_out);

// More moments, later than those before, and the stacks of these; `costs` adds to what was told before. At most
// TRACE_STACKS_MOST of either.
#define TRACE_STACKS_MOST 65536u
bool trace_write_stacks(struct trace_writer *, const struct trace_stacks *);

// Tasks that had begun before recording did: their start in the trace is no start.
bool trace_write_running(struct trace_writer *, const uint64_t *tasks, size_t count);

// How long the tracer stopped the JVM; times are in ticks.
bool trace_write_stops(struct trace_writer *, const struct trace_stop *stops, size_t count);

// Tasks that lay in the pool's queue when recording began, first those that it gives away first, as far as that is
// known. All are the pool's. More of the same pool come behind those before.
bool trace_write_queued(struct trace_writer *, const struct trace_queued *tasks, size_t count);

// Names of actors, each before or after its events.
bool trace_write_actors(struct trace_writer *, const struct trace_actor *actors, size_t count);

// Before all events, and after them: this file is one of several, and the name of the one that goes on.
bool trace_write_part(struct trace_writer *, const struct trace_part *);
bool trace_write_next(struct trace_writer *, const char *name);

// Two clocks read together: the reader interpolates ticks to ns over these. Write one early, one last.
bool trace_write_clock(struct trace_writer *, uint64_t ticks, uint64_t ns);

// What recording cost, by kind; replaces what was written before. Kinds that were not measured are left out.
bool trace_write_event_costs(struct trace_writer *, const struct event_cost costs[EVENT_KINDS]);

// One thread's events, in order, as one block (split by the callee when larger than a block may be). Times must rise;
// equal or falling ones are raised by a tick. Cost: about 10 ns an event.
bool trace_write_events(struct trace_writer *, uint32_t thread, const struct event *, size_t count);

// No events of the thread will come any more: what the writer keeps of it goes. A program may have more threads in its
// life than memory has room for.
void trace_end_thread(struct trace_writer *, uint32_t thread);

// Writes what is gathered: from here on it is in the file even if the process is killed. One write(2).
bool trace_writer_flush(struct trace_writer *);

// Bytes of all blocks so far, gathered ones included; the first failure (NULL if none).
uint64_t trace_writer_bytes(const struct trace_writer *);
const struct error *trace_writer_error(const struct trace_writer *);

// Writes the end block, closes, frees. After a failure: cuts the file back to its last whole block and tries to add an
// end block that names the failure. false and *error if anything of the trace's life failed. NULL is fine.
bool trace_writer_close(struct trace_writer *, const struct trace_end *, struct error *error);

// Replaces what looks like a secret in a command line: values of -D or --options whose name holds password, passwd,
// secret, token, key, credential or auth (name=*** and --name ***), and user:password@ in URLs. In place, never longer.
void command_without_secrets(char *command);

#endif
