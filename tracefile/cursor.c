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
    return cursor->times == cursor->times_end && cursor->operands == cursor->operands_end &&
           (cursor->block == 0 || cursor->ticks == cursor->last_ticks);
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
    cursor->kinds = block.kinds;
    cursor->times = block.times;
    cursor->times_end = block.times + block.times_size;
    cursor->operands = block.operands;
    cursor->operands_end = block.operands + block.operands_size;
    cursor->ticks = block.first_ticks;
    cursor->last_ticks = block.last_ticks;
    cursor->at_block_start = true;
    memset(cursor->last, 0, sizeof cursor->last);
    return true;
}

// Within a block the first difference is 0 and the others are not.
static inline bool next_ticks(struct trace_cursor *cursor) {
    uint64_t difference;
    if (!varint_get(&cursor->times, cursor->times_end, &difference)) return false;
    bool zero = difference == 0;
    if (zero != cursor->at_block_start || difference > cursor->last_ticks - cursor->ticks) return false;
    cursor->at_block_start = false;
    cursor->ticks += difference;
    return true;
}

static inline uint64_t scale_ticks(const struct tick_scale *scale, uint64_t ticks) {
    uint64_t ns = ticks * scale->whole + (uint64_t)((uint128)ticks * scale->fraction >> 64);
    return ns + ((uint128)(ns + 1) * scale->denominator <= (uint128)ticks * scale->numerator);
}

// Two ticks may fall on one ns; times rise all the same, across blocks too.
static inline uint64_t next_ns(struct trace_cursor *cursor, const struct trace_file *file) {
    uint64_t ns = scale_ticks(&file->scale, cursor->ticks - file->origin_ticks);
    if (ns < cursor->next_ns) ns = cursor->next_ns;
    cursor->next_ns = ns + 1;
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

static inline bool next_operands(struct trace_cursor *cursor, const struct trace_file *file, struct event *event) {
    const uint64_t *highest = file->highest_operand[event->kind];
    uint64_t *last = cursor->last[event->kind];
    memset(event->operand, 0, sizeof event->operand);
    for (unsigned o = 0; o < file->operands[event->kind]; o++) {
        uint64_t code;
        if (!varint_get(&cursor->operands, cursor->operands_end, &code)) return false;
        event->operand[o] = last[o] += unzigzag(code);
        if (last[o] > highest[o]) return false;
    }
    return event->kind != EVENT_WAIT_BEGIN || wait_is_good(file, event);
}

bool trace_cursor_next(struct trace_cursor *cursor, struct event *event, struct error *error) {
    if (cursor->left == 0 && !cursor_next_block(cursor, error)) return false;
    const struct trace_file *file = (const struct trace_file *)cursor->trace;
    event->kind = *cursor->kinds++;
    cursor->left--;
    if (event->kind == EVENT_NONE || event->kind >= EVENT_KINDS)
        return cursor_damaged(cursor, error, "an event has no known kind");
    if (!next_ticks(cursor))
        return cursor_damaged(cursor, error, "times do not rise from the block's first to its last");
    if (!next_operands(cursor, file, event)) {
        return cursor_damaged(cursor, error, "an operand is missing or names what the trace does not have");
    }
    event->time = next_ns(cursor, file);
    return true;
}
