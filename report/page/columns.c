// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/columns.h"

#include "report/page/column_events.h"
#include "report/page/column_functions.h"
#include "tracefile/copy.h"
#include "tracefile/format.h"
#include "tracefile/unpack.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "rehype.columns/1\n";

enum {
    MAGIC = sizeof magic - 1,
    SUM = 8, // bytes of the checksum
    FLAG_WHOLE = 1,
    FLAG_LEFT_OUT = 2,
    EVENTS_AT_ONCE = 8192 // that are written as one block
};
#define EVENTS_MOST (UINT64_C(1) << 30) // of which a few bytes may tell, where functions were left out

// What stands before the tables.
struct preamble {
    uint64_t quantum_ns, flags, version, events, table_bytes;
};

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the trace's columns");
}

static bool cpu_is_ns(const struct trace *trace) {
    return trace->header.cycle_unit && strcmp(trace->header.cycle_unit, "cpu_ns") == 0;
}

// ---- tables, by way of a trace without events

// Methods that no event names have no name; where `left_out` one more stands for those that were left out.
static bool write_methods(struct trace_writer *writer, const struct trace *trace, const bool *named, bool left_out,
                          struct error *error) {
    const uint32_t count = trace->method_count + left_out;
    struct trace_method *methods = calloc(count, sizeof *methods);
    if (!methods) return no_memory(error);
    for (uint32_t m = 1; m < trace->method_count; m++)
        if (!named || named[m]) methods[m] = trace->methods[m];
    const bool ok = count < 2 || trace_write_methods(writer, 1, methods + 1, count - 1);
    free(methods);
    return ok;
}

static bool write_tables(struct trace_writer *writer, const struct trace *trace) {
    bool ok = (trace->part.number == 0 || trace_write_part(writer, &trace->part)) && trace_copy_tables(writer, trace);
    for (size_t i = 0; ok && i < trace->queued_count; i++) ok = trace_write_queued(writer, &trace->queued[i], 1);
    return ok && trace_write_running(writer, trace->running, trace->running_count) &&
           trace_write_stops(writer, trace->stops, trace->stop_count);
}

static bool make_tables(const struct trace *trace, const bool *named, bool left_out, struct trace_memory *tables,
                        struct error *error) {
    struct trace_writer *writer = trace_writer_open_memory(tables, &trace->header, trace->version, error);
    if (!writer) return false;
    const bool ok = write_methods(writer, trace, named, left_out, error) && write_tables(writer, trace);
    return trace_copy_end(writer, trace, error) && ok;
}

// Checksums are no more than what gzip can't make smaller.
static bool put_without_checksums(struct trace_memory *packed, const struct trace_memory *file) {
    struct unpack unpack = unpack_init(file->bytes, file->size);
    bool ok = true;
    while (ok && unpack.at < unpack.end) {
        const uint8_t *object = unpack.at;
        unpack_skip(&unpack);
        const size_t size = (size_t)(unpack.at - object) - CHECKSUM_BYTES;
        ok = memory_put_number(packed, size) && memory_put(packed, object, size);
    }
    return ok;
}

static bool put_checksum(struct trace_memory *file, const uint8_t *object, size_t size) {
    const uint64_t sum = format_checksum(object, size);
    uint8_t bytes[CHECKSUM_BYTES] = {0xcf};
    for (int i = 0; i < 8; i++) bytes[1 + i] = (uint8_t)(sum >> (56 - 8 * i));
    return memory_put(file, object, size) && memory_put(file, bytes, sizeof bytes);
}

static bool get_with_checksums(const uint8_t *at, const uint8_t *end, struct trace_memory *file, struct error *error) {
    while (at < end) {
        uint64_t size;
        if (!varint_get(&at, end, &size) || size > (uint64_t)(end - at))
            return error_set(error, STATUS_BAD_INPUT, "a table of the packed trace is cut off");
        if (!put_checksum(file, at, (size_t)size)) return no_memory(error);
        at += size;
    }
    return true;
}

// ---- packing

struct packing {
    const struct trace *trace;
    struct error *error;
    struct event_coder *coder;
    bool *named; // a method each: an event that stays names it
    const uint8_t *stays;
    uint64_t left_out[FUNCTION_KINDS];
};

static void pack_event(struct packing *packing, struct event *event, uint64_t ordinal) {
    if (packing->coder->leaves_out && !function_stays(packing->stays, ordinal)) {
        packing->left_out[event->kind - EVENT_ENTER]++;
        return;
    }
    if (packing->coder->leaves_out) event_code_left_out(packing->coder, packing->left_out);
    memset(packing->left_out, 0, sizeof packing->left_out);
    if (event->kind <= EVENT_EXIT_THROW) packing->named[event->operand[0]] = true;
    event_code(packing->coder, event);
}

static uint64_t count_staying(const struct packing *packing, const struct trace_stream *stream) {
    uint64_t count = 0;
    for (uint64_t i = 0; packing->stays && i < stream->event_count; i++) count += function_stays(packing->stays, i);
    return packing->stays ? count : stream->event_count;
}

static bool pack_events(struct packing *packing, const struct trace_stream *stream) {
    enum { ROOM = 64 };
    struct trace_cursor cursor;
    struct event events[ROOM];
    uint64_t ordinal = 0;
    trace_cursor_init(&cursor, packing->trace, stream);
    event_coder_begin_thread(packing->coder);
    event_code_number(packing->coder, count_staying(packing, stream));
    for (uint32_t count; (count = trace_cursor_read(&cursor, events, ROOM, packing->error)) > 0;) {
        for (uint32_t i = 0; i < count; i++) pack_event(packing, &events[i], ordinal++);
    }
    if (packing->error->status != STATUS_OK) return false;
    return !packing->coder->store.failed || no_memory(packing->error);
}

static bool pack_stream(struct packing *packing, const struct trace_stream *stream) {
    uint8_t *stays = NULL;
    if (packing->coder->leaves_out && !(stays = functions_that_stay(packing->trace, stream, packing->error)))
        return false;
    packing->stays = stays;
    const bool ok = pack_events(packing, stream);
    free(stays);
    return ok;
}

static bool put_preamble(struct trace_memory *packed, const struct preamble *preamble) {
    return memory_put_number(packed, preamble->quantum_ns) && memory_put_number(packed, preamble->flags) &&
           memory_put_number(packed, preamble->version) && memory_put_number(packed, preamble->events) &&
           memory_put_number(packed, preamble->table_bytes);
}

static bool assemble(const struct packing *packing, const struct trace_memory *tables, struct trace_memory *packed) {
    const struct trace *trace = packing->trace;
    const size_t begin = packed->size;
    uint8_t sum[SUM] = {0};
    const struct preamble preamble = {packing->coder->quantum_ns,
                                      (trace->whole ? FLAG_WHOLE : 0u) |
                                          (packing->coder->leaves_out ? FLAG_LEFT_OUT : 0u),
                                      trace->version, trace->event_count, tables->size};
    if (!memory_put(packed, magic, MAGIC) || !memory_put(packed, sum, SUM) || !put_preamble(packed, &preamble) ||
        !memory_put(packed, tables->bytes, tables->size) || !column_store_put(&packing->coder->store, packed))
        return false;
    uint8_t *whole = packed->bytes + begin;
    const uint64_t checksum = format_checksum(whole + MAGIC + SUM, packed->size - begin - MAGIC - SUM);
    for (int i = 0; i < SUM; i++) whole[MAGIC + i] = (uint8_t)(checksum >> 8 * i);
    return true;
}

static bool pack(struct packing *packing, struct trace_memory *packed) {
    const struct trace *trace = packing->trace;
    struct trace_memory file = {0}, tables = {0};
    bool ok = true;
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = pack_stream(packing, &trace->streams[s]);
    ok = ok && make_tables(trace, packing->named, packing->coder->leaves_out, &file, packing->error);
    if (ok && (!put_without_checksums(&tables, &file) || !assemble(packing, &tables, packed)))
        ok = no_memory(packing->error);
    free(file.bytes);
    free(tables.bytes);
    return ok;
}

static bool has_functions(const struct trace *trace) {
    const uint64_t *events = trace->events_of_kind;
    return events[EVENT_ENTER] || events[EVENT_EXIT] || events[EVENT_EXIT_THROW];
}

bool columns_pack(const struct trace *trace, const struct columns_options *options, struct trace_memory *packed,
                  struct error *error) {
    struct packing packing = {.trace = trace,
                              .error = error,
                              .coder = calloc(1, sizeof *packing.coder),
                              .named = calloc(trace->method_count, sizeof *packing.named)};
    bool ok = packing.coder && packing.named && event_coder_init(packing.coder, true);
    if (ok) {
        packing.coder->quantum_ns = options->quantum_ns;
        packing.coder->costs = trace->costs;
        packing.coder->cpu_is_ns = cpu_is_ns(trace);
        packing.coder->leaves_out = !options->functions && has_functions(trace);
        ok = pack(&packing, packed);
        event_coder_destroy(packing.coder);
    } else {
        no_memory(error);
    }
    free(packing.coder);
    free(packing.named);
    return ok || error_wrap(error, "cannot pack the trace");
}

// ---- unpacking

struct unpacking {
    const struct trace *tables; // a trace without events
    struct error *error;
    struct event_coder *coder;
    struct trace_writer *writer;
    uint64_t left; // events that may still come
    uint32_t thread, count;
    struct event events[EVENTS_AT_ONCE];
};

static bool bad_columns(struct unpacking *unpacking) {
    return error_set(unpacking->error, STATUS_BAD_INPUT, "the packed trace's columns are not what they should be");
}

static bool write_events(struct unpacking *unpacking) {
    const uint32_t count = unpacking->count;
    unpacking->count = 0;
    return count == 0 || trace_write_events(unpacking->writer, unpacking->thread, unpacking->events, count);
}

static bool add_event(struct unpacking *unpacking, const struct event *event) {
    if (unpacking->left-- == 0) return bad_columns(unpacking);
    unpacking->events[unpacking->count++] = *event;
    return unpacking->count < EVENTS_AT_ONCE || write_events(unpacking);
}

static bool add_left_out(struct unpacking *unpacking) {
    uint64_t left_out[FUNCTION_KINDS] = {0};
    struct event event = {.time = unpacking->coder->next_ns, .operand = {unpacking->tables->method_count - 1}};
    event_code_left_out(unpacking->coder, left_out);
    for (unsigned kind = 0; kind < FUNCTION_KINDS; kind++) {
        event.kind = (uint8_t)(EVENT_ENTER + kind);
        for (uint64_t i = 0; i < left_out[kind]; i++, event.time++)
            if (!add_event(unpacking, &event)) return false;
    }
    return true;
}

static bool unpack_stream(struct unpacking *unpacking, const struct trace_stream *stream) {
    struct event_coder *coder = unpacking->coder;
    event_coder_begin_thread(coder);
    unpacking->thread = stream->id;
    const uint64_t count = event_code_number(coder, 0);
    for (uint64_t i = 0; i < count; i++) {
        struct event event = {0};
        if (coder->leaves_out && !add_left_out(unpacking)) return false;
        event_code(coder, &event);
        if (coder->store.failed) return bad_columns(unpacking);
        if (!add_event(unpacking, &event)) return false;
    }
    if (coder->store.failed) return bad_columns(unpacking);
    if (!write_events(unpacking)) return false;
    trace_end_thread(unpacking->writer, stream->id);
    return true;
}

static bool unpack_events(struct unpacking *unpacking) {
    bool ok = true;
    for (uint32_t s = 0; ok && s < unpacking->tables->stream_count; s++)
        ok = unpack_stream(unpacking, &unpacking->tables->streams[s]);
    if (!ok) return false;
    return (unpacking->left == 0 && column_store_is_used_up(&unpacking->coder->store)) || bad_columns(unpacking);
}

// The file ends before its end block where the trace was not whole.
static bool write_file(struct unpacking *unpacking, bool whole, struct trace_memory *file) {
    const struct trace *trace = unpacking->tables;
    struct error closing = ERROR_INIT;
    unpacking->writer = trace_writer_open_memory(file, &trace->header, trace->version, unpacking->error);
    if (!unpacking->writer) return false;
    const bool ok = write_methods(unpacking->writer, trace, NULL, false, unpacking->error) &&
                    write_tables(unpacking->writer, trace) && unpack_events(unpacking);
    const uint64_t without_end = trace_writer_bytes(unpacking->writer);
    if (!trace_copy_end(unpacking->writer, trace, &closing) && unpacking->error->status == STATUS_OK)
        *unpacking->error = closing;
    if (!whole) file->size = (size_t)without_end;
    return ok && unpacking->error->status == STATUS_OK;
}

static bool get_preamble(const uint8_t **at, const uint8_t *end, struct preamble *preamble) {
    return varint_get(at, end, &preamble->quantum_ns) && varint_get(at, end, &preamble->flags) &&
           varint_get(at, end, &preamble->version) && varint_get(at, end, &preamble->events) &&
           varint_get(at, end, &preamble->table_bytes) && preamble->quantum_ns > 0 &&
           preamble->quantum_ns <= INT64_MAX && preamble->events <= EVENTS_MOST &&
           preamble->table_bytes <= (uint64_t)(end - *at);
}

static bool get_tables(const uint8_t **at, uint64_t size, struct trace_memory *file, struct trace **tables,
                       struct error *error) {
    if (!get_with_checksums(*at, *at + size, file, error)) return false;
    *at += size;
    *tables = trace_open_memory("tables of the packed trace", file->bytes, file->size, false, error);
    if (!*tables) return false;
    return (*tables)->event_count == 0 || error_set(error, STATUS_BAD_INPUT, "the packed trace's tables have events");
}

static bool unpack_columns(struct unpacking *unpacking, const struct preamble *preamble, const uint8_t *at,
                           const uint8_t *end, struct trace_memory *file) {
    struct event_coder *coder = unpacking->coder;
    coder->quantum_ns = preamble->quantum_ns;
    coder->costs = unpacking->tables->costs;
    coder->cpu_is_ns = cpu_is_ns(unpacking->tables);
    coder->leaves_out = preamble->flags & FLAG_LEFT_OUT;
    unpacking->left = preamble->events;
    if (!column_store_get(&coder->store, &at, end)) return bad_columns(unpacking);
    return write_file(unpacking, preamble->flags & FLAG_WHOLE, file);
}

static bool unpack_body(const uint8_t *at, const uint8_t *end, struct trace_memory *file, struct error *error) {
    struct preamble preamble;
    struct trace_memory table_file = {0};
    struct trace *tables = NULL;
    if (!get_preamble(&at, end, &preamble))
        return error_set(error, STATUS_BAD_INPUT, "the packed trace's beginning is not what it should be");
    struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    struct event_coder *coder = calloc(1, sizeof *coder);
    bool ok = (unpacking && coder && event_coder_init(coder, false)) || no_memory(error);
    if (ok && get_tables(&at, preamble.table_bytes, &table_file, &tables, error)) {
        *unpacking = (struct unpacking){.tables = tables, .error = error, .coder = coder};
        unpack_columns(unpacking, &preamble, at, end, file);
    }
    trace_close(tables);
    free(table_file.bytes);
    if (coder) event_coder_destroy(coder);
    free(coder);
    free(unpacking);
    return error->status == STATUS_OK;
}

bool columns_are(const void *bytes, size_t size) {
    return size >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

bool columns_unpack(const void *bytes, size_t size, struct trace_memory *file, struct error *error) {
    const uint8_t *at = bytes, *end = at + size;
    uint64_t said = 0;
    if (size < MAGIC + SUM || !columns_are(bytes, size))
        return error_set_at(error, 0, "these are no columns of a trace, or of another version");
    for (int i = 0; i < SUM; i++) said |= (uint64_t)at[MAGIC + i] << 8 * i;
    if (said != format_checksum(at + MAGIC + SUM, size - MAGIC - SUM))
        return error_set_at(error, MAGIC, "the packed trace was changed or cut off: its checksum is another");
    return unpack_body(at + MAGIC + SUM, end, file, error);
}
