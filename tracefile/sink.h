// SPDX-License-Identifier: Apache-2.0
// Where a writer's bytes go: a file (writer_file.c) or memory (writer_memory.c). Internal to tracefile/.
#ifndef REHYPE_TRACEFILE_SINK_H
#define REHYPE_TRACEFILE_SINK_H

#include "tracefile/writer.h"

struct trace_sink {
    size_t (*put)(struct trace_sink *, const char *bytes, size_t size); // how much: less after a failure, as errno says
    bool (*cut)(struct trace_sink *, uint64_t size);                    // what lies beyond goes; false: that can't be
    bool (*close)(struct trace_sink *);                                 // false: as errno says
    int fd;
    struct trace_memory *memory;
};

// A writer of a trace of that version, which closes the sink in the end. NULL and *error on failure: then the sink is
// still the caller's.
struct trace_writer *trace_writer_to(const struct trace_sink *sink, const struct trace_header *header, uint32_t version,
                                     struct error *error);

#endif
