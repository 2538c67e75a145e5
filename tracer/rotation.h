// SPDX-License-Identifier: Apache-2.0
// The files of a recording that goes on in another one when a file is large or old enough: their names, when one is
// due, and which are deleted. No JVM type in it. But for rotation_path the drainer's alone.
#ifndef REHYPE_TRACER_ROTATION_H
#define REHYPE_TRACER_ROTATION_H

#include "tracefile/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct rotation_rules {
    uint64_t most_bytes, most_ns; // of a file; 0: no limit. Both 0: there is one file
    uint64_t most_files;          // that are kept; 0: all
};

static inline bool rotation_wanted(const struct rotation_rules *rules) {
    return rules->most_bytes || rules->most_ns;
}

// Name of a recording's file of that number, which takes the place of %n, or, where there is none and the recording is
// to have several files, stands before the extension. The caller's to free; NULL without memory.
char *rotation_path(const char *out, const struct rotation_rules *rules, uint32_t number);

// A recording begins whose first file is `path`, a rotation_path, which it takes over; the others have the same header
// but for the time. `out` and what the header names are borrowed until the next recording begins.
void rotation_begin(const struct rotation_rules *rules, const char *out, char *path, const struct trace_header *header);

// Whether the file that is being written is large or old enough. Never before it is twice as large as what it began
// with, or smaller limits than that would never let it come to more.
bool rotation_due(const struct trace_writer *writer);

// Creates the next file and deletes those that are too many; `events` is what the one before holds but for what it
// repeated. A file that is there already, and none of this recording's, is passed over for the next number. NULL and
// *error where none can be made.
struct trace_writer *rotation_open(uint64_t events, struct error *error);

// What the file that is being written is to say of itself, but for what it repeats. Good until the next one.
struct trace_part rotation_part(void);

// Name of the file that is being written, without its folder.
const char *rotation_name(void);

// What the file has by now is what it began with.
void rotation_begun(const struct trace_writer *writer);

void rotation_end(void);

#endif
