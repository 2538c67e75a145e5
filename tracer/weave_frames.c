// SPDX-License-Identifier: Apache-2.0
// The StackMapTable: each frame moves with the jump target that it describes, and the last-resort handler gets a frame
// of its own behind them. Types are copied, but for the offset in Uninitialized, which follows its `new`. JVMS 4.7.4.
#include "tracer/weave_internal.h"

enum frame_type {
    FRAME_SAME = 0,
    FRAME_SAME_STACK_1 = 64,
    FRAME_RESERVED = 128,
    FRAME_SAME_STACK_1_EXTENDED = 247,
    FRAME_CHOP_3 = 248,
    FRAME_SAME_EXTENDED = 251,
    FRAME_APPEND_1 = 252,
    FRAME_FULL = 255,
};

enum type_tag { TYPE_UNINITIALIZED_THIS = 6, TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

static const char *const MALFORMED = "its StackMapTable is malformed";

struct frames {
    const struct method_weave *weave;
    const struct code_map *map;
    struct reader *reader;
    struct buffer *out;
    int64_t last, last_moved; // offsets of the frame before; -1: none yet
    // In a constructor: how many locals the frame has and the first of them that is an unfinished `this`.
    unsigned locals, unfinished;
    const char *why;
};

// Returns the tag.
static uint8_t copy_type(struct frames *frames) {
    uint8_t tag = read_u1(frames->reader);
    buffer_u1(frames->out, tag);
    if (tag == TYPE_OBJECT) {
        buffer_u2(frames->out, read_u2(frames->reader));
    } else if (tag == TYPE_UNINITIALIZED) {
        uint16_t bci = read_u2(frames->reader);
        if (starts_at(frames->weave, bci)) {
            buffer_u2(frames->out, frames->map->moved[bci]);
        } else {
            frames->why = MALFORMED;
        }
    } else if (tag > TYPE_UNINITIALIZED) {
        frames->why = MALFORMED;
    }
    return tag;
}

static void copy_locals(struct frames *frames, unsigned count) {
    for (; count > 0 && !frames->reader->why; count--) {
        bool known = frames->unfinished < frames->locals;
        uint8_t tag = copy_type(frames);
        if (!known) frames->unfinished = tag == TYPE_UNINITIALIZED_THIS ? frames->locals : UINT32_MAX;
        frames->locals++;
    }
}

static void copy_full(struct frames *frames) {
    frames->locals = 0;
    frames->unfinished = UINT32_MAX;
    uint16_t locals = read_u2(frames->reader);
    buffer_u2(frames->out, locals);
    copy_locals(frames, locals);
    uint16_t stack = read_u2(frames->reader);
    buffer_u2(frames->out, stack);
    for (unsigned left = stack; left > 0 && !frames->reader->why; left--) copy_type(frames);
}

static uint16_t read_delta(struct frames *frames, uint8_t type) {
    if (type < FRAME_SAME_STACK_1) return type;
    if (type < FRAME_RESERVED) return type - FRAME_SAME_STACK_1;
    return read_u2(frames->reader);
}

static void write_head(struct frames *frames, uint8_t type, uint16_t delta) {
    bool same = type < FRAME_SAME_STACK_1, one = !same && type < FRAME_RESERVED;
    if ((same || one) && delta < FRAME_SAME_STACK_1) {
        buffer_u1(frames->out, (uint8_t)(delta + (one ? FRAME_SAME_STACK_1 : FRAME_SAME)));
        return;
    }
    buffer_u1(frames->out, same ? FRAME_SAME_EXTENDED : one ? FRAME_SAME_STACK_1_EXTENDED : type);
    buffer_u2(frames->out, delta);
}

static void copy_frame(struct frames *frames) {
    uint8_t type = read_u1(frames->reader);
    if (type >= FRAME_RESERVED && type < FRAME_SAME_STACK_1_EXTENDED) frames->why = MALFORMED;
    int64_t bci = frames->last + read_delta(frames, type) + 1;
    if (frames->why || frames->reader->why || !starts_at(frames->weave, (uint32_t)bci)) {
        frames->why = MALFORMED;
        return;
    }
    uint16_t moved = frames->map->jump[bci];
    write_head(frames, type, (uint16_t)(moved - frames->last_moved - 1));
    frames->last = bci;
    frames->last_moved = moved;
    if (type == FRAME_FULL) {
        copy_full(frames);
    } else if (type >= FRAME_APPEND_1) {
        copy_locals(frames, type - FRAME_SAME_EXTENDED);
    } else if (type >= FRAME_CHOP_3 && type < FRAME_SAME_EXTENDED) {
        unsigned chopped = (unsigned)(FRAME_SAME_EXTENDED - type);
        frames->locals -= chopped < frames->locals ? chopped : frames->locals;
    } else if (type == FRAME_SAME_STACK_1_EXTENDED || (type >= FRAME_SAME_STACK_1 && type < FRAME_RESERVED)) {
        copy_type(frames);
    }
}

// The handler's frame has no unfinished `this`, so no instruction that it covers may have one (JVMS 4.10.1.6).
static bool covers_unfinished(const struct frames *frames) {
    return frames->weave->thrown && frames->last >= frames->weave->begin && frames->unfinished < frames->locals;
}

static void write_handler(struct frames *frames, uint16_t throwable) {
    buffer_u1(frames->out, FRAME_FULL);
    buffer_u2(frames->out, (uint16_t)(frames->map->end - frames->last_moved - 1));
    buffer_u2(frames->out, 0);
    buffer_u2(frames->out, 1);
    buffer_u1(frames->out, TYPE_OBJECT);
    buffer_u2(frames->out, throwable);
}

const char *frames_write(const struct method_weave *weave, const struct code_map *map, struct reader *reader,
                         uint16_t throwable, struct buffer *out) {
    struct frames frames = {.weave = weave, .map = map, .reader = reader, .out = out, .last = -1, .last_moved = -1};
    frames.locals = weave->entry_locals;
    frames.unfinished = weave->entry_locals ? 0 : UINT32_MAX;
    unsigned count = reader ? read_u2(reader) : 0;
    if (count + weave->handler_frame > LARGEST_U2) return "it has too many frames";
    buffer_u2(out, (uint16_t)(count + weave->handler_frame));
    for (; count > 0; count--) {
        copy_frame(&frames);
        if (frames.why || reader->why) return MALFORMED;
        if (covers_unfinished(&frames)) return "it has code from before this() or super() behind that call";
    }
    if (reader && reader->at != reader->end) return MALFORMED;
    if (weave->handler_frame) write_handler(&frames, throwable);
    return NULL;
}
