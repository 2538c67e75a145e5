// SPDX-License-Identifier: Apache-2.0
// What stands behind an open struct trace; shared by reader.c, which fills it, and cursor.c, which walks it.
#ifndef REHYPE_TRACEFILE_TRACE_FILE_H
#define REHYPE_TRACEFILE_TRACE_FILE_H

#include "base/arena.h"
#include "tracefile/reader.h"
#include "tracefile/unpack.h"

// ns = floor(ticks * numerator / denominator), exactly, without a division: whole + fraction / 2^64 is the quotient
// rounded down, so that one product is at most one too low and one comparison puts it right.
struct tick_scale {
    uint64_t numerator, denominator;
    uint64_t whole, fraction;
};

// A growing array of zeroed items.
struct list {
    void *items;
    size_t count, room;
};

struct trace_file {
    struct trace trace; // first: trace_close and the cursor get here from it
    const uint8_t *bytes;
    void (*unmap)(struct trace_file *file); // gives the bytes back; NULL: they are the caller's
    uint64_t origin_ticks;
    struct tick_scale scale;
    uint8_t operands[EVENT_KINDS]; // how many a kind has; here because the cursor asks once an event
    uint64_t highest_operand[EVENT_KINDS][EVENT_OPERANDS];
    struct list damage, methods, sites, classes, pools, skips, running, stops, streams;
    struct list moments, stack_runs;
    struct list frames, calling_contexts, calling_samples, resources, queued, actors, endpoints;
    struct arena arena;
};

// A file without bytes yet. NULL and *error: no memory.
struct trace_file *trace_file_new(const char *path, struct error *error);
// Reads a file that has its bytes, and takes it over, also when that fails.
struct trace *trace_file_open(struct trace_file *file, bool lenient, struct error *error);
// ns since the trace's first event; 0 of what was before it, at most INT64_MAX.
uint64_t trace_file_ns(const struct trace_file *file, uint64_t ticks);

// An events block, its columns still packed. Points into the file.
struct events_block {
    uint32_t thread, count;
    uint64_t first_ticks, last_ticks, lost;
    const uint8_t *kinds, *times, *operands;
    size_t times_size, operands_size;
};

// Reads what follows the kind, up to the checksum. false when it isn't what the format says.
bool events_block_read(struct unpack *unpack, struct events_block *block);

#endif
