// SPDX-License-Identifier: Apache-2.0
// Blocks are packed whole into one buffer that is reused, and written with one write(2) when it is full or the caller
// says so (trace_writer_flush): a killed program leaves at most one block cut short. Threads that live for a moment
// have blocks of some 100 bytes each, for which a system call each would cost more than to make them. Only the inline
// packer of msgpack-c is used, so that the agent needs no msgpack library.
#include "tracefile/writer.h"

#include "tracefile/format.h"
#include "tracefile/sink.h"

#include <errno.h>
#include <msgpack/pack.h>
#include <msgpack/sbuffer.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_STARTS  8           // how many of the last blocks may be given up to make room for an end block
#define GATHER_BYTES  (128 << 10) // a buffer with so much in it is full, or with
#define GATHER_BLOCKS 1024        // so many blocks

// The columns of the events block that is being made.
struct columns {
    uint8_t kinds[BLOCK_EVENTS_MAX];
    uint8_t times[BLOCK_EVENTS_MAX * VARINT_BYTES_MAX];
    uint8_t operands[BLOCK_EVENTS_MAX * EVENT_OPERANDS * VARINT_BYTES_MAX];
};

// Earliest tick that the next event of a thread may have: times rise across blocks too.
struct thread_tick {
    uint32_t thread;
    bool used;
    uint64_t next;
};

struct trace_writer {
    struct trace_sink sink;
    uint64_t bytes;                      // of whole blocks in the file: where the next one begins
    uint64_t block_starts[BLOCK_STARTS]; // of the last blocks there, as a ring
    uint64_t blocks;                     // there so far, the header not counted
    struct error error;
    msgpack_packer packer;
    msgpack_sbuffer buffer;           // whole objects that await writing, then the one that is being made
    size_t gathered;                  // bytes of the whole ones
    size_t block_ends[GATHER_BLOCKS]; // where each of them ends
    uint32_t gathered_blocks;
    bool out_of_memory; // the buffer could not grow since object_begin
    struct columns *columns;
    struct thread_tick *ticks; // open addressing; tick_room is a power of two
    uint32_t tick_count, tick_room;
};

// ---- one block

static int buffer_append(void *writer_, const char *bytes, size_t size) {
    struct trace_writer *writer = writer_;
    if (size != 0 && msgpack_sbuffer_write(&writer->buffer, bytes, size) != 0) writer->out_of_memory = true;
    return 0;
}

// msgpack strings are UTF-8, but a JVM's names and a command line need not be: bytes that are not become '?'.
static void pack_text(msgpack_packer *pk, const char *text) {
    if (text == NULL) {
        msgpack_pack_nil(pk);
        return;
    }
    size_t size = strlen(text);
    if (size > STRING_BYTES_MAX) {
        size = STRING_BYTES_MAX;
        while (size > 0 && ((uint8_t)text[size] & 0xc0) == 0x80) size--;
    }
    msgpack_pack_str(pk, size);
    for (size_t at = 0; at < size;) {
        size_t good = format_utf8_prefix(text + at, size - at);
        msgpack_pack_str_body(pk, text + at, good);
        at += good;
        if (at < size) {
            msgpack_pack_str_body(pk, "?", 1);
            at++;
        }
    }
}

// The gathered blocks are in the file as far as its first `written` bytes more go.
static void count_written(struct trace_writer *writer, size_t written) {
    size_t start = 0;
    for (uint32_t i = 0; i < writer->gathered_blocks && writer->block_ends[i] <= written; i++) {
        writer->block_starts[writer->blocks++ % BLOCK_STARTS] = writer->bytes + start;
        start = writer->block_ends[i];
    }
    writer->bytes += start;
}

// After a failure the file may hold a part of a block, beyond writer->bytes; what had been gathered is gone.
static bool flush(struct trace_writer *writer) {
    size_t size = writer->gathered, written = writer->sink.put(&writer->sink, writer->buffer.data, size);
    int why = errno;
    count_written(writer, written);
    writer->gathered = writer->gathered_blocks = 0;
    return written == size || error_set(&writer->error, STATUS_FAILED, "cannot write the trace: %s", strerror(why));
}

static msgpack_packer *object_begin(struct trace_writer *writer) {
    writer->buffer.size = writer->gathered; // what is behind them was given up
    writer->out_of_memory = false;
    return &writer->packer;
}

// `elements` counts what comes between the kind and the checksum.
static msgpack_packer *block_begin(struct trace_writer *writer, const char *kind, size_t elements) {
    msgpack_packer *pk = object_begin(writer);
    msgpack_pack_array(pk, elements + 2);
    pack_text(pk, kind);
    return pk;
}

// Appends the checksum: the object is whole.
static bool object_end(struct trace_writer *writer) {
    const char *object = writer->buffer.data + writer->gathered;
    msgpack_pack_fix_uint64(&writer->packer, format_checksum(object, writer->buffer.size - writer->gathered));
    if (writer->out_of_memory) return error_set(&writer->error, STATUS_FAILED, "no memory for a block of the trace");
    writer->gathered = writer->buffer.size;
    return true;
}

static bool block_end(struct trace_writer *writer) {
    if (!object_end(writer)) return false;
    writer->block_ends[writer->gathered_blocks++] = writer->gathered;
    return (writer->gathered < GATHER_BYTES && writer->gathered_blocks < GATHER_BLOCKS) || flush(writer);
}

static bool stopped(const struct trace_writer *writer) {
    return writer->error.status != STATUS_OK;
}

// ---- opening

static void pack_header(msgpack_packer *pk, const struct trace_header *header, uint32_t version) {
    msgpack_pack_map(pk, 11);
    pack_text(pk, "schema");
    pack_text(pk, TRACE_SCHEMA);
    pack_text(pk, "version");
    msgpack_pack_uint32(pk, version);
    pack_text(pk, "jvm");
    pack_text(pk, header->jvm);
    pack_text(pk, "command");
    pack_text(pk, header->command);
    pack_text(pk, "options");
    pack_text(pk, header->options);
    pack_text(pk, "origin");
    pack_text(pk, header->origin);
    pack_text(pk, "cores");
    msgpack_pack_uint32(pk, header->cores);
    pack_text(pk, "pid");
    msgpack_pack_uint32(pk, header->pid);
    pack_text(pk, "clock");
    msgpack_pack_map(pk, 4);
    pack_text(pk, "name");
    pack_text(pk, header->clock);
    pack_text(pk, "ticks_per_s");
    msgpack_pack_uint64(pk, header->ticks_per_s);
    pack_text(pk, "start_unix_ns");
    msgpack_pack_uint64(pk, header->start_unix_ns);
    pack_text(pk, "skew_ns");
    msgpack_pack_int64(pk, header->clock_skew_ns);
    pack_text(pk, "cycles");
    msgpack_pack_map(pk, 2 + (header->besides_ns > 0));
    pack_text(pk, "unit");
    pack_text(pk, header->cycle_unit);
    pack_text(pk, "source");
    pack_text(pk, header->cycle_source);
    if (header->besides_ns > 0) {
        pack_text(pk, "besides_ns");
        msgpack_pack_uint64(pk, header->besides_ns);
    }
    pack_text(pk, "checksum");
}

static bool write_header(struct trace_writer *writer, const struct trace_header *header, uint32_t version) {
    pack_header(object_begin(writer), header, version);
    if (!object_end(writer)) return false;
    writer->bytes = writer->gathered;
    return flush(writer);
}

static void writer_free(struct trace_writer *writer) {
    msgpack_sbuffer_destroy(&writer->buffer);
    free(writer->columns);
    free(writer->ticks);
    free(writer);
}

static struct trace_writer *writer_new(void) {
    struct trace_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) return NULL;
    writer->columns = malloc(sizeof *writer->columns);
    if (writer->columns == NULL) {
        free(writer);
        return NULL;
    }
    writer->error = (struct error)ERROR_INIT;
    msgpack_sbuffer_init(&writer->buffer);
    msgpack_packer_init(&writer->packer, writer, buffer_append);
    return writer;
}

struct trace_writer *trace_writer_to(const struct trace_sink *sink, const struct trace_header *header, uint32_t version,
                                     struct error *error) {
    struct trace_writer *writer = writer_new();
    if (writer == NULL) {
        error_set(error, STATUS_FAILED, "no memory to write a trace");
        return NULL;
    }
    writer->sink = *sink;
    if (write_header(writer, header, version)) return writer;
    *error = writer->error;
    writer_free(writer);
    return NULL;
}

// ---- tables

static size_t text_size(const char *text) {
    size_t size = text == NULL ? 0 : strlen(text);
    return size > STRING_BYTES_MAX ? STRING_BYTES_MAX : size;
}

// What a table block needs to know of its entries: a table is an array of these structs.
struct table {
    const char *kind;
    size_t entry_size;
    void (*pack)(msgpack_packer *pk, const void *entry);
    size_t (*size)(const void *entry);
};

static void pack_method(msgpack_packer *pk, const void *entry) {
    const struct trace_method *method = entry;
    msgpack_pack_array(pk, 5);
    pack_text(pk, method->class_name);
    pack_text(pk, method->name);
    pack_text(pk, method->descriptor);
    pack_text(pk, method->file);
    msgpack_pack_uint32(pk, method->line);
}

static size_t method_size(const void *entry) {
    const struct trace_method *method = entry;
    return text_size(method->class_name) + text_size(method->name) + text_size(method->descriptor) +
           text_size(method->file);
}

// What came with version 7 is left out where it says nothing.
static void pack_site(msgpack_packer *pk, const void *entry) {
    const struct trace_site *site = entry;
    const bool whole = site->through_class || site->of_library;
    msgpack_pack_array(pk, whole ? 9 : 6);
    pack_text(pk, site->class_name);
    pack_text(pk, site->method);
    pack_text(pk, site->descriptor);
    pack_text(pk, site->file);
    msgpack_pack_uint32(pk, site->line);
    msgpack_pack_int32(pk, site->bci);
    if (!whole) return;
    pack_text(pk, site->through_class);
    pack_text(pk, site->through_method);
    if (site->of_library)
        msgpack_pack_true(pk);
    else
        msgpack_pack_false(pk);
}

static size_t site_size(const void *entry) {
    const struct trace_site *site = entry;
    return text_size(site->class_name) + text_size(site->method) + text_size(site->descriptor) + text_size(site->file) +
           text_size(site->through_class) + text_size(site->through_method);
}

static void pack_endpoint(msgpack_packer *pk, const void *entry) {
    pack_text(pk, ((const struct trace_endpoint *)entry)->name);
}

static size_t endpoint_size(const void *entry) {
    return text_size(((const struct trace_endpoint *)entry)->name);
}

static void pack_calling_context(msgpack_packer *pk, const void *entry) {
    const struct trace_calling_context *context = entry;
    msgpack_pack_array(pk, 2);
    msgpack_pack_uint32(pk, context->caller);
    msgpack_pack_uint32(pk, context->frame);
}

static size_t no_texts(const void *entry) {
    (void)entry;
    return 0;
}

static void pack_class(msgpack_packer *pk, const void *entry) {
    pack_text(pk, ((const struct trace_class *)entry)->name);
}

static size_t class_size(const void *entry) {
    return text_size(((const struct trace_class *)entry)->name);
}

static void pack_skip(msgpack_packer *pk, const void *entry) {
    const struct trace_skip *skip = entry;
    msgpack_pack_array(pk, 2);
    pack_text(pk, skip->method);
    pack_text(pk, skip->why);
}

static size_t skip_size(const void *entry) {
    const struct trace_skip *skip = entry;
    return text_size(skip->method) + text_size(skip->why);
}

static const struct table method_table = {"methods", sizeof(struct trace_method), pack_method, method_size};
static const struct table site_table = {"sites", sizeof(struct trace_site), pack_site, site_size};
static const struct table frame_table = {"frames", sizeof(struct trace_site), pack_site, site_size};
static const struct table calling_table = {"calling_contexts", sizeof(struct trace_calling_context),
                                           pack_calling_context, no_texts};
static const struct table class_table = {"classes", sizeof(struct trace_class), pack_class, class_size};
static const struct table endpoint_table = {"endpoints", sizeof(struct trace_endpoint), pack_endpoint, endpoint_size};
static const struct table skip_table = {"skips", sizeof(struct trace_skip), pack_skip, skip_size};

#define ENTRY_OVERHEAD 32 // at least what an entry takes beside its texts

// How many entries fit one block.
static size_t table_part(const struct table *table, const char *entries, size_t count) {
    size_t bytes = 0, part = 0;
    while (part < count && bytes < TABLE_BYTES_AIM) {
        bytes += table->size(entries + part * table->entry_size) + ENTRY_OVERHEAD;
        part++;
    }
    return part;
}

static bool write_table(struct trace_writer *writer, const struct table *table, uint32_t first, const void *entries_,
                        size_t count) {
    const char *entries = entries_;
    while (count > 0 && !stopped(writer)) {
        size_t part = table_part(table, entries, count);
        msgpack_packer *pk = block_begin(writer, table->kind, 2);
        msgpack_pack_uint32(pk, first);
        msgpack_pack_array(pk, part);
        for (size_t i = 0; i < part; i++) table->pack(pk, entries + i * table->entry_size);
        block_end(writer);
        entries += part * table->entry_size;
        first += (uint32_t)part;
        count -= part;
    }
    return !stopped(writer);
}

bool trace_write_methods(struct trace_writer *writer, uint32_t first, const struct trace_method *methods,
                         size_t count) {
    return write_table(writer, &method_table, first, methods, count);
}

bool trace_write_sites(struct trace_writer *writer, uint32_t first, const struct trace_site *sites, size_t count) {
    return write_table(writer, &site_table, first, sites, count);
}

bool trace_write_classes(struct trace_writer *writer, uint32_t first, const struct trace_class *classes, size_t count) {
    return write_table(writer, &class_table, first, classes, count);
}

bool trace_write_endpoints(struct trace_writer *writer, uint32_t first, const struct trace_endpoint *endpoints,
                           size_t count) {
    return write_table(writer, &endpoint_table, first, endpoints, count);
}

bool trace_write_frames(struct trace_writer *writer, uint32_t first, const struct trace_site *frames, size_t count) {
    return write_table(writer, &frame_table, first, frames, count);
}

bool trace_write_calling_contexts(struct trace_writer *writer, uint32_t first,
                                  const struct trace_calling_context *contexts, size_t count) {
    return write_table(writer, &calling_table, first, contexts, count);
}

static void write_calling_block(struct trace_writer *writer, const struct trace_calling_sample *samples, size_t count,
                                uint64_t left_out) {
    msgpack_packer *pk = block_begin(writer, "calling_samples", 2);
    msgpack_pack_uint64(pk, left_out);
    msgpack_pack_array(pk, count);
    for (size_t i = 0; i < count; i++) {
        msgpack_pack_array(pk, 4);
        msgpack_pack_uint32(pk, samples[i].kind);
        msgpack_pack_uint64(pk, samples[i].task);
        msgpack_pack_uint32(pk, samples[i].context);
        msgpack_pack_uint64(pk, samples[i].stands_for);
    }
    block_end(writer);
}

bool trace_write_calling_samples(struct trace_writer *writer, const struct trace_calling_sample *samples, size_t count,
                                 uint64_t left_out) {
    const size_t MOST = 65536; // a block's
    for (size_t at = 0; !stopped(writer) && (at < count || left_out > 0); at += MOST, left_out = 0)
        write_calling_block(writer, samples + at, count - at < MOST ? count - at : MOST, left_out);
    return !stopped(writer);
}

bool trace_write_stacks(struct trace_writer *writer, const struct trace_stacks *stacks) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "stacks", 6);
    msgpack_pack_uint64(pk, stacks->costs.missed);
    msgpack_pack_uint64(pk, stacks->costs.left_out);
    msgpack_pack_uint64(pk, stacks->costs.take_ns);
    msgpack_pack_uint64(pk, stacks->costs.work_ns);
    msgpack_pack_array(pk, stacks->moment_count);
    for (size_t i = 0; i < stacks->moment_count; i++)
        msgpack_pack_uint64(pk, stacks->moments[i] - (i > 0 ? stacks->moments[i - 1] : 0));
    msgpack_pack_array(pk, stacks->run_count);
    for (size_t i = 0; i < stacks->run_count; i++) {
        msgpack_pack_array(pk, 4);
        msgpack_pack_uint32(pk, stacks->runs[i].thread);
        msgpack_pack_uint32(pk, stacks->runs[i].context);
        msgpack_pack_uint64(pk, stacks->runs[i].first);
        msgpack_pack_uint64(pk, stacks->runs[i].count);
    }
    return block_end(writer);
}

static bool write_pool_rules(struct trace_writer *writer, uint32_t id, const struct trace_pool *pool) {
    if (pool->keep_alive_ns < 0 && !pool->rejection && !pool->flags) return true;
    msgpack_packer *pk = block_begin(writer, "pool_rules", 4);
    msgpack_pack_uint32(pk, id);
    msgpack_pack_int64(pk, pool->keep_alive_ns);
    pack_text(pk, pool->rejection);
    msgpack_pack_uint32(pk, pool->flags);
    return block_end(writer);
}

bool trace_write_pool(struct trace_writer *writer, uint32_t id, const struct trace_pool *pool) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "pool", 7);
    msgpack_pack_uint32(pk, id);
    pack_text(pk, pool->kind);
    pack_text(pk, pool->queue);
    pack_text(pk, pool->name);
    msgpack_pack_int32(pk, pool->core);
    msgpack_pack_int32(pk, pool->maximum);
    msgpack_pack_int64(pk, pool->capacity);
    return block_end(writer) && write_pool_rules(writer, id, pool);
}

bool trace_write_thread(struct trace_writer *writer, uint32_t id, const struct trace_thread *thread) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "thread", 3);
    msgpack_pack_uint32(pk, id);
    pack_text(pk, thread->name);
    msgpack_pack_uint32(pk, thread->flags);
    return block_end(writer);
}

bool trace_write_resource(struct trace_writer *writer, const struct trace_resource *resource) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "resource", 6);
    msgpack_pack_uint64(pk, resource->id);
    msgpack_pack_uint32(pk, resource->kind);
    msgpack_pack_uint32(pk, resource->class);
    pack_text(pk, resource->name);
    msgpack_pack_int64(pk, resource->capacity);
    msgpack_pack_uint32(pk, resource->flags);
    return block_end(writer);
}

bool trace_write_queued(struct trace_writer *writer, const struct trace_queued *tasks, size_t count) {
    const size_t MOST = 65536; // a block's
    while (count > 0 && !stopped(writer)) {
        size_t part = count < MOST ? count : MOST;
        msgpack_packer *pk = block_begin(writer, "queued", 2);
        msgpack_pack_uint32(pk, tasks->pool);
        msgpack_pack_array(pk, part);
        for (size_t i = 0; i < part; i++) {
            msgpack_pack_array(pk, 2);
            msgpack_pack_uint64(pk, tasks[i].task);
            msgpack_pack_uint32(pk, tasks[i].class);
        }
        block_end(writer);
        tasks += part;
        count -= part;
    }
    return !stopped(writer);
}

bool trace_write_actors(struct trace_writer *writer, const struct trace_actor *actors, size_t count) {
    const size_t MOST = 4096; // a block's
    while (count > 0 && !stopped(writer)) {
        size_t part = count < MOST ? count : MOST;
        msgpack_packer *pk = block_begin(writer, "actors", 1);
        msgpack_pack_array(pk, part);
        for (size_t i = 0; i < part; i++) {
            msgpack_pack_array(pk, 2);
            msgpack_pack_uint64(pk, actors[i].id);
            pack_text(pk, actors[i].name);
        }
        block_end(writer);
        actors += part;
        count -= part;
    }
    return !stopped(writer);
}

bool trace_write_running(struct trace_writer *writer, const uint64_t *tasks, size_t count) {
    const size_t MOST = 65536; // a block's
    while (count > 0 && !stopped(writer)) {
        size_t part = count < MOST ? count : MOST;
        msgpack_packer *pk = block_begin(writer, "running", 1);
        msgpack_pack_array(pk, part);
        for (size_t i = 0; i < part; i++) msgpack_pack_uint64(pk, tasks[i]);
        block_end(writer);
        tasks += part;
        count -= part;
    }
    return !stopped(writer);
}

bool trace_write_stops(struct trace_writer *writer, const struct trace_stop *stops, size_t count) {
    if (count == 0 || stopped(writer)) return !stopped(writer);
    msgpack_packer *pk = block_begin(writer, "stops", 1);
    msgpack_pack_array(pk, count);
    for (size_t i = 0; i < count; i++) {
        msgpack_pack_array(pk, 3);
        msgpack_pack_uint32(pk, stops[i].kind);
        msgpack_pack_uint64(pk, stops[i].time);
        msgpack_pack_uint64(pk, stops[i].ns);
    }
    return block_end(writer);
}

bool trace_write_part(struct trace_writer *writer, const struct trace_part *part) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "part", 5);
    msgpack_pack_uint32(pk, part->number);
    pack_text(pk, part->previous);
    msgpack_pack_uint64(pk, part->repeated);
    msgpack_pack_uint64(pk, part->deleted_files);
    msgpack_pack_uint64(pk, part->deleted_events);
    return block_end(writer);
}

bool trace_write_next(struct trace_writer *writer, const char *name) {
    if (stopped(writer)) return false;
    pack_text(block_begin(writer, "next", 1), name);
    return block_end(writer);
}

bool trace_write_clock(struct trace_writer *writer, uint64_t ticks, uint64_t ns) {
    if (stopped(writer)) return false;
    msgpack_packer *pk = block_begin(writer, "clock", 2);
    msgpack_pack_uint64(pk, ticks);
    msgpack_pack_uint64(pk, ns);
    return block_end(writer);
}

bool trace_write_event_costs(struct trace_writer *writer, const struct event_cost costs[EVENT_KINDS]) {
    if (stopped(writer)) return false;
    size_t measured = 0;
    for (unsigned kind = 0; kind < EVENT_KINDS; kind++) measured += costs[kind].measured != 0;
    msgpack_packer *pk = block_begin(writer, "event_costs", 1);
    msgpack_pack_array(pk, measured);
    for (unsigned kind = 0; kind < EVENT_KINDS; kind++) {
        if (!costs[kind].measured) continue;
        msgpack_pack_array(pk, 4);
        msgpack_pack_unsigned_int(pk, kind);
        msgpack_pack_uint64(pk, costs[kind].measured);
        msgpack_pack_uint64(pk, costs[kind].before_ps);
        msgpack_pack_uint64(pk, costs[kind].after_ps);
    }
    return block_end(writer);
}

// ---- events

static uint32_t tick_home(uint32_t room, uint32_t thread) {
    return thread * 0x9e3779b1u & (room - 1);
}

// The slot where a thread's tick is, or would go. There is always a free one.
static struct thread_tick *tick_slot(struct thread_tick *ticks, uint32_t room, uint32_t thread) {
    uint32_t at = tick_home(room, thread);
    while (ticks[at].used && ticks[at].thread != thread) at = (at + 1) & (room - 1);
    return &ticks[at];
}

static bool ticks_grow(struct trace_writer *writer) {
    uint32_t room = writer->tick_room == 0 ? 64 : writer->tick_room * 2;
    struct thread_tick *ticks = calloc(room, sizeof *ticks);
    if (ticks == NULL) return error_set(&writer->error, STATUS_FAILED, "no memory for the threads of the trace");
    for (uint32_t i = 0; i < writer->tick_room; i++) {
        if (writer->ticks[i].used) *tick_slot(ticks, room, writer->ticks[i].thread) = writer->ticks[i];
    }
    free(writer->ticks);
    writer->ticks = ticks;
    writer->tick_room = room;
    return true;
}

// The thread's entry, made if it has none yet; NULL without memory.
static struct thread_tick *thread_tick(struct trace_writer *writer, uint32_t thread) {
    if (writer->tick_count * 2 >= writer->tick_room && !ticks_grow(writer)) return NULL;
    struct thread_tick *tick = tick_slot(writer->ticks, writer->tick_room, thread);
    if (!tick->used) {
        *tick = (struct thread_tick){.thread = thread, .used = true};
        writer->tick_count++;
    }
    return tick;
}

// What a filled set of columns amounts to.
struct column_facts {
    uint64_t first_ticks, last_ticks, lost;
    size_t times_size, operands_size;
};

// Times below *next are raised to it. false when an event has no known kind or the clock is at its end.
static bool fill_columns(struct columns *columns, const struct event *events, size_t count, uint64_t *next,
                         struct column_facts *facts) {
    uint64_t last_operand[EVENT_KINDS][EVENT_OPERANDS] = {0};
    uint8_t *times = columns->times, *operands = columns->operands;
    uint64_t least = *next, first = events[0].time < least ? least : events[0].time, last = first, lost = 0;
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        const unsigned kind = event->kind;
        const struct event_kind_info *info = event_kind_info(kind);
        const uint64_t time = event->time < least ? least : event->time;
        if (info == NULL || time == UINT64_MAX) return false;
        if (kind == EVENT_LOST) lost += event->operand[0];
        columns->kinds[i] = (uint8_t)kind;
        times = varint_put_either(times, time - last);
        for (unsigned o = 0, all = info->operands; o < all; o++) {
            uint64_t operand = event->operand[o];
            operands = varint_put(operands, zigzag(operand - last_operand[kind][o]));
            last_operand[kind][o] = operand;
        }
        last = time;
        least = time + 1;
    }
    *next = least;
    *facts = (struct column_facts){first, last, lost, (size_t)(times - columns->times),
                                   (size_t)(operands - columns->operands)};
    return true;
}

static bool write_events_block(struct trace_writer *writer, uint32_t thread, const struct event *events, size_t count,
                               uint64_t *next) {
    struct column_facts facts;
    struct columns *columns = writer->columns;
    if (!fill_columns(columns, events, count, next, &facts)) {
        return error_set(&writer->error, STATUS_FAILED, "thread %u has an event without a kind or past the clock's end",
                         thread);
    }
    msgpack_packer *pk = block_begin(writer, "events", 8);
    msgpack_pack_uint32(pk, thread);
    msgpack_pack_uint64(pk, count);
    msgpack_pack_uint64(pk, facts.first_ticks);
    msgpack_pack_uint64(pk, facts.last_ticks);
    msgpack_pack_uint64(pk, facts.lost);
    msgpack_pack_bin_with_body(pk, columns->kinds, count);
    msgpack_pack_bin_with_body(pk, columns->times, facts.times_size);
    msgpack_pack_bin_with_body(pk, columns->operands, facts.operands_size);
    return block_end(writer);
}

bool trace_write_events(struct trace_writer *writer, uint32_t thread, const struct event *events, size_t count) {
    if (stopped(writer)) return false;
    struct thread_tick *tick = thread_tick(writer, thread);
    if (tick == NULL) return false;
    while (count > 0) {
        size_t part = count < BLOCK_EVENTS_MAX ? count : BLOCK_EVENTS_MAX;
        if (!write_events_block(writer, thread, events, part, &tick->next)) return false;
        events += part;
        count -= part;
    }
    return true;
}

// Those behind it that could stand in its slot move up.
static void forget_tick(struct trace_writer *writer, struct thread_tick *tick) {
    struct thread_tick *ticks = writer->ticks;
    uint32_t last = writer->tick_room - 1, hole = (uint32_t)(tick - ticks);
    for (uint32_t at = (hole + 1) & last; ticks[at].used; at = (at + 1) & last) {
        uint32_t home = tick_home(writer->tick_room, ticks[at].thread);
        if (((at - home) & last) < ((at - hole) & last)) continue;
        ticks[hole] = ticks[at];
        hole = at;
    }
    ticks[hole].used = false;
    writer->tick_count--;
}

void trace_end_thread(struct trace_writer *writer, uint32_t thread) {
    if (writer->tick_room == 0) return;
    struct thread_tick *tick = tick_slot(writer->ticks, writer->tick_room, thread);
    if (tick->used) forget_tick(writer, tick);
}

// ---- closing

uint64_t trace_writer_bytes(const struct trace_writer *writer) {
    return writer->bytes + writer->gathered;
}

bool trace_writer_flush(struct trace_writer *writer) {
    return !stopped(writer) && flush(writer);
}

const struct error *trace_writer_error(const struct trace_writer *writer) {
    return stopped(writer) ? &writer->error : NULL;
}

static bool write_end(struct trace_writer *writer, const struct trace_end *end, const char *stopped_because) {
    msgpack_packer *pk = block_begin(writer, "end", 3);
    pack_text(pk, stopped_because);
    msgpack_pack_uint64(pk, end->methods_woven);
    msgpack_pack_uint64(pk, end->classes_woven);
    return block_end(writer) && flush(writer);
}

// Where the file may be cut: after the header and each of the last blocks, newest first. UINT64_MAX when used up.
static uint64_t cut_position(const struct trace_writer *writer, uint64_t given_up) {
    if (given_up == 0) return writer->bytes;
    if (given_up > BLOCK_STARTS || given_up > writer->blocks) return UINT64_MAX;
    return writer->block_starts[(writer->blocks - given_up) % BLOCK_STARTS];
}

// After a failure: cuts off what was written of the failed block and says why in an end block. A full disk may have no
// room even for that: then the last few blocks, newest first, make room. The writer's error stays the first failure.
static void write_end_after_failure(struct trace_writer *writer, const struct trace_end *end) {
    struct error first = writer->error;
    char why[ERROR_CAUSE_BYTES];
    error_text(&first, why, sizeof why);
    uint64_t position, kept = writer->bytes;
    bool written = false;
    flush(writer); // whole blocks that were made before a failure that was not the file's
    for (uint64_t given_up = 0; !written && (position = cut_position(writer, given_up)) != UINT64_MAX; given_up++) {
        if (!writer->sink.cut(&writer->sink, position)) break;
        kept = position;
        writer->error = (struct error)ERROR_INIT;
        written = write_end(writer, end, why);
    }
    if (!written) writer->sink.cut(&writer->sink, kept);
    writer->error = first;
}

bool trace_writer_close(struct trace_writer *writer, const struct trace_end *end, struct error *error) {
    if (writer == NULL) return true;
    if (!stopped(writer) && write_table(writer, &skip_table, 1, end->skips, end->skip_count)) {
        write_end(writer, end, end->stopped_because);
    }
    if (stopped(writer)) write_end_after_failure(writer, end);
    if (!writer->sink.close(&writer->sink) && !stopped(writer)) {
        error_set(&writer->error, STATUS_FAILED, "cannot close the trace: %s", strerror(errno));
    }
    bool good = !stopped(writer);
    if (!good) *error = writer->error;
    writer_free(writer);
    return good;
}
