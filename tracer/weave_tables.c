// SPDX-License-Identifier: Apache-2.0
// The tables of a method that point at its code, patched in place in their copy: none of them changes its length.
#include "tracer/weave_internal.h"

static const char *const MALFORMED_TABLE = "a table of its code is malformed";

// Whether an instruction starts at bci, or the code ends there.
static bool is_boundary(const struct method_weave *weave, uint32_t bci) {
    return bci == weave->code_length || starts_at(weave, bci);
}

// A range that begins where a monitor has been locked covers what is inserted there, so that its handler unlocks it.
static uint16_t moved_start(const struct method_weave *weave, const struct code_map *map, uint16_t start) {
    enum { OP_MONITORENTER = 194 };
    const bool locks = start > 0 && starts_at(weave, start - 1u) && weave->code[start - 1] == OP_MONITORENTER;
    return locks ? (uint16_t)(map->moved[start - 1] + 1) : map->jump[start];
}

const char *exceptions_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *table) {
    uint8_t *entry = table + 2;
    for (unsigned left = get_u2(table); left > 0; left--, entry += 8) {
        uint16_t start = get_u2(entry), end = get_u2(entry + 2), handler = get_u2(entry + 4);
        if (start >= end || !starts_at(weave, start) || !is_boundary(weave, end) || !starts_at(weave, handler)) {
            return MALFORMED_TABLE;
        }
        set_u2(entry, moved_start(weave, map, start));
        set_u2(entry + 2, map->jump[end]);
        set_u2(entry + 4, map->jump[handler]);
    }
    return NULL;
}

// A line or a parameter that starts with the method starts with what is inserted on entry as well.
static uint16_t moved_scope(const struct code_map *map, uint32_t bci) {
    return bci == 0 ? 0 : map->jump[bci];
}

const char *lines_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body, size_t length) {
    for (size_t at = 2; at + 4 <= length; at += 4) {
        uint16_t start = get_u2(body + at);
        if (!starts_at(weave, start)) return MALFORMED_TABLE;
        set_u2(body + at, moved_scope(map, start));
    }
    return NULL;
}

// Moves the pair start_pc, length.
static bool patch_scope(const struct method_weave *weave, const struct code_map *map, uint8_t *scope) {
    uint32_t start = get_u2(scope), end = start + get_u2(scope + 2);
    if (end > weave->code_length || !is_boundary(weave, start) || !is_boundary(weave, end)) return false;
    uint16_t to = moved_scope(map, start);
    set_u2(scope, to);
    set_u2(scope + 2, (uint16_t)(moved_scope(map, end) - to));
    return true;
}

const char *variables_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body,
                            size_t length) {
    if (length < 2 || length - 2 != 10 * (size_t)get_u2(body)) return MALFORMED_TABLE;
    for (size_t at = 2; at < length; at += 10) {
        if (!patch_scope(weave, map, body + at)) return MALFORMED_TABLE;
    }
    return NULL;
}

// Type annotations: only the targets hold offsets, but to find the next annotation the values must be walked. They
// nest; `open` counts what is left on each level.

enum { DEEPEST_VALUE = 64 };

struct value_level {
    unsigned left;
    bool named; // an annotation's pairs have names, an array's elements don't
};

static bool open_value(struct reader *reader, struct value_level *open, unsigned *depth) {
    uint8_t tag = read_u1(reader);
    if (tag != '@' && tag != '[') {
        read_skip(reader, tag == 'e' ? 4 : 2);
        return true;
    }
    if (*depth == DEEPEST_VALUE) return false;
    if (tag == '@') read_u2(reader);
    open[(*depth)++] = (struct value_level){.left = read_u2(reader), .named = tag == '@'};
    return true;
}

bool annotation_skip(struct reader *reader) {
    struct value_level open[DEEPEST_VALUE];
    unsigned depth = 1;
    read_u2(reader);
    open[0] = (struct value_level){.left = read_u2(reader), .named = true};
    while (depth > 0 && !reader->why) {
        struct value_level *level = &open[depth - 1];
        if (level->left == 0) {
            depth--;
            continue;
        }
        level->left--;
        if (level->named) read_u2(reader);
        if (!open_value(reader, open, &depth)) return false;
    }
    return !reader->why;
}

static bool patch_variable_target(const struct method_weave *weave, const struct code_map *map, struct reader *reader,
                                  uint8_t *body) {
    for (unsigned left = read_u2(reader); left > 0; left--) {
        size_t at = reader->at;
        read_skip(reader, 6);
        if (reader->why || !patch_scope(weave, map, body + at)) return false;
    }
    return true;
}

static bool patch_offset_target(const struct method_weave *weave, const struct code_map *map, struct reader *reader,
                                uint8_t *body) {
    size_t at = reader->at;
    uint16_t bci = read_u2(reader);
    if (reader->why || !starts_at(weave, bci)) return false;
    set_u2(body + at, map->moved[bci]);
    return true;
}

static bool patch_target(const struct method_weave *weave, const struct code_map *map, struct reader *reader,
                         uint8_t *body) {
    uint8_t target = read_u1(reader);
    if (target == 0x40 || target == 0x41) return patch_variable_target(weave, map, reader, body);
    if (target == 0x42) { // an exception table entry: the weaver's own come last
        read_u2(reader);
        return true;
    }
    if (target < 0x43 || target > 0x4B || !patch_offset_target(weave, map, reader, body)) return false;
    if (target >= 0x47) read_u1(reader);
    return true;
}

const char *annotations_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body,
                              size_t length) {
    struct reader reader = {.bytes = body, .end = length};
    for (unsigned left = read_u2(&reader); left > 0; left--) {
        if (!patch_target(weave, map, &reader, body)) return MALFORMED_TABLE;
        read_skip(&reader, 2 * (size_t)read_u1(&reader));
        if (!annotation_skip(&reader)) return MALFORMED_TABLE;
    }
    return reader.why || reader.at != length ? MALFORMED_TABLE : NULL;
}
