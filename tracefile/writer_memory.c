// SPDX-License-Identifier: Apache-2.0
#include "tracefile/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct trace_memory *memory, size_t more) {
    if (memory->room - memory->size >= more) return true;
    const size_t room = memory->size + more > 2 * memory->room ? memory->size + more : 2 * memory->room;
    uint8_t *bytes = realloc(memory->bytes, room);
    if (bytes == NULL) return false;
    memory->bytes = bytes;
    memory->room = room;
    return true;
}

static size_t put_in_memory(struct trace_sink *sink, const char *bytes, size_t size) {
    struct trace_memory *memory = sink->memory;
    errno = ENOMEM;
    if (size == 0 || !make_room(memory, size)) return 0;
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return size;
}

static bool cut_memory(struct trace_sink *sink, uint64_t size) {
    sink->memory->size = size;
    return true;
}

static bool keep_memory(struct trace_sink *sink) {
    (void)sink;
    return true;
}

struct trace_writer *trace_writer_open_memory(struct trace_memory *memory, const struct trace_header *header,
                                              uint32_t version, struct error *error) {
    const struct trace_sink sink = {put_in_memory, cut_memory, keep_memory, -1, memory};
    return trace_writer_to(&sink, header, version, error);
}
