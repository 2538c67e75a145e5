// SPDX-License-Identifier: Apache-2.0
#include "tracefile/format.h"
#include "tracefile/trace_file.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

bool events_block_read(struct unpack *unpack, struct events_block *block) {
    size_t kinds_size;
    block->thread = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    block->count = (uint32_t)unpack_unsigned(unpack, BLOCK_EVENTS_MAX);
    block->first_ticks = unpack_unsigned(unpack, UINT64_MAX - 1);
    block->last_ticks = unpack_unsigned(unpack, UINT64_MAX - 1);
    block->lost = unpack_unsigned(unpack, UINT64_MAX);
    block->kinds = unpack_bytes(unpack, TOKEN_BINARY, &kinds_size);
    block->times = unpack_bytes(unpack, TOKEN_BINARY, &block->times_size);
    block->operands = unpack_bytes(unpack, TOKEN_BINARY, &block->operands_size);
    return unpack->state == UNPACK_GOOD && block->count > 0 && kinds_size == block->count &&
           block->first_ticks <= block->last_ticks;
}

void trace_cursor_init(struct trace_cursor *cursor, const struct trace *trace, const struct trace_stream *stream) {
    *cursor = (struct trace_cursor){.trace = trace, .stream = stream};
}

uint64_t trace_cursor_seek(struct trace_cursor *cursor, uint64_t ordinal) {
    uint64_t first = 0;
    trace_cursor_init(cursor, cursor->trace, cursor->stream);
    while (cursor->block < cursor->stream->block_count) {
        const uint32_t count = cursor->stream->blocks[cursor->block].count;
        if (ordinal - first < count) break;
        first += count;
        cursor->block++;
    }
    return first;
}

// Ends the walk for good.
static bool cursor_damaged(struct trace_cursor *cursor, struct error *error, const char *what) {
    uint64_t offset = cursor->stream->blocks[cursor->block - 1].offset;
    *cursor =
        (struct trace_cursor){.trace = cursor->trace, .stream = cursor->stream, .block = cursor->stream->block_count};
    error_set_at(error, offset, "events of thread %u: %s", cursor->stream->id, what);
    return error_wrap(error, "%s", cursor->trace->path);
}

static bool block_is_used_up(const struct trace_cursor *cursor) {
    const struct columns *columns = &cursor->columns;
    return columns->times == columns->times_end && columns->operands == columns->operands_end &&
           (cursor->block == 0 || columns->ticks == columns->last_ticks);
}

// Goes to the first event of the next block. The block was read once when the trace was opened; it is read as
// carefully again, since the file may have been changed under the mapping.
static bool cursor_next_block(struct trace_cursor *cursor, struct error *error) {
    if (!block_is_used_up(cursor)) return cursor_damaged(cursor, error, "the columns differ in their number of events");
    if (cursor->block == cursor->stream->block_count) return false;
    const struct trace_file *file = (const struct trace_file *)cursor->trace;
    uint64_t offset = cursor->stream->blocks[cursor->block++].offset;
    struct unpack unpack = unpack_init(file->bytes + offset, cursor->trace->bytes - offset);
    struct events_block block;
    size_t kind_size;
    unpack_count(&unpack, TOKEN_ARRAY);
    unpack_bytes(&unpack, TOKEN_STRING, &kind_size);
    if (!events_block_read(&unpack, &block)) return cursor_damaged(cursor, error, "the block was changed meanwhile");
    cursor->left = block.count;
    cursor->columns = (struct columns){.kinds = block.kinds,
                                       .times = block.times,
                                       .operands = block.operands,
                                       .times_end = block.times + block.times_size,
                                       .operands_end = block.operands + block.operands_size,
                                       .ticks = block.first_ticks,
                                       .last_ticks = block.last_ticks,
                                       .next_ns = cursor->columns.next_ns,
                                       .at_block_start = true};
    memset(cursor->last, 0, sizeof cursor->last);
    return true;
}

// Within a block the first difference is 0 and the others are not.
static inline bool next_ticks(struct columns *columns) {
    uint64_t difference;
    if (!varint_get(&columns->times, columns->times_end, &difference)) return false;
    bool zero = difference == 0;
    if (zero != columns->at_block_start || difference > columns->last_ticks - columns->ticks) return false;
    columns->at_block_start = false;
    columns->ticks += difference;
    return true;
}

static inline uint64_t scale_ticks(const struct tick_scale *scale, uint64_t ticks) {
    uint64_t ns = ticks * scale->whole + (uint64_t)((uint128)ticks * scale->fraction >> 64);
    return ns + ((uint128)(ns + 1) * scale->denominator <= (uint128)ticks * scale->numerator);
}

uint64_t trace_file_ns(const struct trace_file *file, uint64_t ticks) {
    if (ticks <= file->origin_ticks) return 0;
    uint128 ns = (uint128)(ticks - file->origin_ticks) * file->scale.numerator / file->scale.denominator;
    return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

// Two ticks may fall on one ns; times rise all the same, across blocks too.
static inline uint64_t next_ns(struct columns *columns, const struct trace_file *file) {
    uint64_t ns = scale_ticks(&file->scale, columns->ticks - file->origin_ticks);
    if (ns < columns->next_ns) ns = columns->next_ns;
    columns->next_ns = ns + 1;
    return ns;
}

static bool wait_is_good(const struct trace_file *file, const struct event *event) {
    enum { WITH_CLASSES = 3 };
    uint64_t operand = event->operand[2], site = operand & UINT32_MAX;
    enum wait_for wait_for = wait_for_of(operand);
    if (file->trace.version < WITH_CLASSES && operand >> 32 > WAIT_FOR_UNKNOWN) return false;
    return site < file->trace.site_count && wait_class_of(operand) < file->trace.class_count &&
           (wait_for != WAIT_FOR_POOL || event->operand[0] < file->trace.pool_count);
}

static bool want_is_good(const struct trace_file *file, const struct event *event) {
    const uint64_t want = event->operand[event->kind == EVENT_ACQUIRE_BEGIN ? 2 : 1];
    const bool wants = event->kind == EVENT_ACQUIRE_BEGIN || event->kind == EVENT_HELD || event->kind == EVENT_RELEASED;
    return !wants || want_site(want) < file->trace.site_count;
}

static bool message_is_good(uint64_t operand) {
    return (unsigned)message_origin(operand) < MESSAGE_ORIGINS && (unsigned)message_way(operand) < MESSAGE_WAYS;
}

static bool rest_is_good(const struct trace_file *file, const struct event *event) {
    if (event->kind == EVENT_WAIT_BEGIN) return wait_is_good(file, event);
    if (event->kind == EVENT_MESSAGE_SENT) return message_is_good(event->operand[2]);
    return event->kind < EVENT_ACQUIRE_BEGIN || want_is_good(file, event);
}

static inline bool next_operands(struct columns *columns, uint64_t *last, const struct trace_file *file,
                                 struct event *event) {
    const uint64_t *highest = file->highest_operand[event->kind];
    event->operand[0] = event->operand[1] = event->operand[2] = 0;
    for (unsigned o = 0; o < file->operands[event->kind]; o++) {
        uint64_t code;
        if (!varint_get(&columns->operands, columns->operands_end, &code)) return false;
        event->operand[o] = last[o] += unzigzag(code);
        if (last[o] > highest[o]) return false;
    }
    return (event->kind != EVENT_WAIT_BEGIN && event->kind < EVENT_ACQUIRE_BEGIN) || rest_is_good(file, event);
}

// Walks the rest of a block, or what there is room for: a copy of the cursor, of which nobody else knows, stays in
// registers. What is wrong with the event behind those read, or NULL.
static const char *read_block(struct trace_cursor *cursor, struct event *events, uint32_t room, uint32_t *count) {
    const struct trace_file *file = (const struct trace_file *)cursor->trace;
    struct columns columns = cursor->columns;
    const char *wrong = NULL;
    uint32_t read = 0, most = cursor->left < room ? cursor->left : room;
    for (; read < most && !wrong; read++) {
        struct event *event = &events[read];
        event->kind = *columns.kinds++;
        if (event->kind == EVENT_NONE || event->kind >= EVENT_KINDS)
            wrong = "an event has no known kind";
        else if (!next_ticks(&columns))
            wrong = "times do not rise from the block's first to its last";
        else if (!next_operands(&columns, cursor->last[event->kind], file, event))
            wrong = "an operand is missing or names what the trace does not have";
        else
            event->time = next_ns(&columns, file);
    }
    cursor->columns = columns;
    cursor->left -= read;
    *count += read - (wrong != NULL);
    return wrong;
}

uint32_t trace_cursor_read(struct trace_cursor *cursor, struct event *events, uint32_t room, struct error *error) {
    uint32_t count = 0;
    while (count < room) {
        if (cursor->left == 0 && !cursor_next_block(cursor, error)) break;
        const char *wrong = read_block(cursor, &events[count], room - count, &count);
        if (!wrong) continue;
        cursor_damaged(cursor, error, wrong);
        break;
    }
    return count;
}

bool trace_cursor_next(struct trace_cursor *cursor, struct event *event, struct error *error) {
    return trace_cursor_read(cursor, event, 1, error) == 1;
}
