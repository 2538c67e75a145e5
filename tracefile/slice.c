// SPDX-License-Identifier: Apache-2.0
#include "tracefile/slice.h"

#include "tracefile/copy.h"
#include "tracefile/ongoing.h"

#include <string.h>

enum { AT_ONCE = 1024 };

struct slicing {
    const struct trace *trace;
    uint64_t from_ns, to_ns;
    struct trace_writer *writer;
    struct error *error;
};

// Hands over the stream's events that lie in [from, to), some at a time.
typedef bool take_events(void *context, uint32_t thread, struct event *events, size_t count);

static bool walk(const struct slicing *slicing, const struct trace_stream *stream, uint64_t from_ns, uint64_t to_ns,
                 take_events *take, void *context) {
    struct trace_cursor cursor;
    struct event events[AT_ONCE];
    bool ok = true;
    trace_cursor_init(&cursor, slicing->trace, stream);
    for (uint32_t read; ok && (read = trace_cursor_read(&cursor, events, AT_ONCE, slicing->error)) > 0;) {
        uint32_t first = 0, end = read;
        while (first < read && events[first].time < from_ns) first++;
        while (end > first && events[end - 1].time >= to_ns) end--;
        if (end > first) ok = take(context, stream->id, events + first, end - first);
        if (end < read) break;
    }
    return ok && slicing->error->status == STATUS_OK;
}

static bool take_before(void *ongoing, uint32_t thread, struct event *events, size_t count) {
    return ongoing_take(ongoing, thread, events, count);
}

static bool write_within(void *context, uint32_t thread, struct event *events, size_t count) {
    const struct slicing *slicing = context;
    for (size_t i = 0; i < count; i++) events[i].time -= slicing->from_ns;
    return trace_write_events(slicing->writer, thread, events, count);
}

static bool write_part(const struct slicing *slicing, const struct ongoing *ongoing) {
    enum { LATER = 2 };
    const struct trace *trace = slicing->trace;
    const char *slash = strrchr(trace->path, '/');
    const struct trace_part part = {
        .number = LATER, .previous = slash ? slash + 1 : trace->path, .repeated = ongoing_events(ongoing)};
    return trace_write_part(slicing->writer, &part) &&
           (trace->method_count < 2 ||
            trace_write_methods(slicing->writer, 1, trace->methods + 1, trace->method_count - 1)) &&
           trace_copy_tables(slicing->writer, trace) && ongoing_write(ongoing, slicing->writer, 0);
}

static bool write_slice(struct slicing *slicing) {
    const struct trace *trace = slicing->trace;
    struct ongoing ongoing = {0};
    bool ok = true;
    for (uint32_t s = 0; ok && s < trace->stream_count; s++)
        ok = walk(slicing, &trace->streams[s], 0, slicing->from_ns, take_before, &ongoing);
    ok = ok && write_part(slicing, &ongoing);
    ongoing_destroy(&ongoing);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++)
        ok = walk(slicing, &trace->streams[s], slicing->from_ns, slicing->to_ns, write_within, slicing);
    return ok;
}

struct trace *trace_slice(const struct trace *trace, uint64_t from_ns, uint64_t to_ns, struct trace_memory *memory,
                          struct error *error) {
    struct error closing = ERROR_INIT;
    struct slicing slicing = {.trace = trace, .from_ns = from_ns, .to_ns = to_ns, .error = error};
    error->status = STATUS_OK;
    slicing.writer = trace_writer_open_memory(memory, &trace->header, trace->version, error);
    if (!slicing.writer) return NULL;
    const bool written = write_slice(&slicing), closed = trace_copy_end(slicing.writer, trace, &closing);
    if (!closed && error->status == STATUS_OK) *error = closing;
    if (!written && error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for a part of the trace");
    return error->status == STATUS_OK ? trace_open_memory(trace->path, memory->bytes, memory->size, false, error)
                                      : NULL;
}
