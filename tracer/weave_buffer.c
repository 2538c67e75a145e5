// SPDX-License-Identifier: Apache-2.0
// The weaver's output: a growing run of bytes, and the tail of the constant pool with its hash table.
#include "tracer/weave_internal.h"

#include <string.h>

enum { LEAST_CAPACITY = 256, LARGEST_INDEX = 65534 };

uint8_t *buffer_extend(struct buffer *buffer, size_t count) {
    if (buffer->failed) return NULL;
    if (buffer->capacity - buffer->length < count) {
        size_t capacity = buffer->capacity * 2 + count + LEAST_CAPACITY;
        uint8_t *bytes = ARENA_NEW(buffer->arena, uint8_t, capacity);
        if (!bytes) {
            buffer->failed = true;
            return NULL;
        }
        if (buffer->length) memcpy(bytes, buffer->bytes, buffer->length);
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    buffer->length += count;
    return buffer->bytes + buffer->length - count;
}

void buffer_put(struct buffer *buffer, const void *bytes, size_t count) {
    uint8_t *place = count ? buffer_extend(buffer, count) : NULL;
    if (place) memcpy(place, bytes, count);
}

void buffer_u1(struct buffer *buffer, uint8_t value) {
    buffer_put(buffer, &value, 1);
}

void buffer_u2(struct buffer *buffer, uint16_t value) {
    uint8_t *place = buffer_extend(buffer, 2);
    if (place) set_u2(place, value);
}

void buffer_u4(struct buffer *buffer, uint32_t value) {
    uint8_t *place = buffer_extend(buffer, 4);
    if (place) set_u4(place, value);
}

// FNV-1a
static uint32_t hash_of(const uint8_t *bytes, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static uint16_t tail_fail(struct pool_tail *tail, const char *why) {
    if (!tail->why) tail->why = why;
    return 0;
}

// The slot that holds the constant of `length` bytes, or the free one where it belongs.
static uint16_t *slot_of(struct pool_tail *tail, const uint8_t *constant, size_t length) {
    uint32_t slot = hash_of(constant, length) & (tail->slot_count - 1);
    for (; tail->slots[slot]; slot = (slot + 1) & (tail->slot_count - 1)) {
        const uint32_t *start = &tail->starts[tail->slots[slot] - 1u];
        if (start[1] - start[0] == length && memcmp(tail->bytes.bytes + start[0], constant, length) == 0) break;
    }
    return &tail->slots[slot];
}

static bool tail_grow(struct pool_tail *tail) {
    uint32_t capacity = tail->capacity ? tail->capacity * 2 : 32;
    uint32_t *starts = ARENA_NEW(tail->bytes.arena, uint32_t, capacity + 1);
    uint16_t *slots = ARENA_NEW(tail->bytes.arena, uint16_t, 2 * (size_t)capacity);
    if (!starts || !slots) return false;
    if (tail->count) memcpy(starts, tail->starts, (tail->count + 1) * sizeof *starts);
    tail->starts = starts;
    tail->slots = slots;
    tail->capacity = capacity;
    tail->slot_count = 2 * capacity;
    for (uint32_t number = 0; number < tail->count; number++) {
        uint32_t start = starts[number];
        *slot_of(tail, tail->bytes.bytes + start, starts[number + 1] - start) = (uint16_t)(number + 1);
    }
    return true;
}

static uint16_t tail_add(struct pool_tail *tail, const uint8_t *head, size_t head_length, const char *text,
                         size_t length) {
    if (tail->count == tail->capacity && !tail_grow(tail)) return tail_fail(tail, OUT_OF_MEMORY);
    size_t start = tail->bytes.length;
    buffer_put(&tail->bytes, head, head_length);
    buffer_put(&tail->bytes, text, length);
    if (tail->bytes.failed) return tail_fail(tail, OUT_OF_MEMORY);
    uint16_t *slot = slot_of(tail, tail->bytes.bytes + start, head_length + length);
    if (*slot) {
        tail->bytes.length = start;
        return (uint16_t)(tail->first + *slot - 1);
    }
    if (tail->first + tail->count > LARGEST_INDEX) {
        tail->bytes.length = start;
        return tail_fail(tail, "the constant pool is full");
    }
    *slot = (uint16_t)++tail->count;
    tail->starts[tail->count] = (uint32_t)tail->bytes.length;
    return (uint16_t)(tail->first + tail->count - 1);
}

uint16_t tail_utf8(struct pool_tail *tail, const char *text, size_t length) {
    if (length > LARGEST_U2) return tail_fail(tail, "a name is longer than a constant can be");
    uint8_t head[3] = {CONSTANT_UTF8};
    set_u2(head + 1, (uint16_t)length);
    return tail_add(tail, head, sizeof head, text, length);
}

uint16_t tail_class(struct pool_tail *tail, const char *name, size_t length) {
    uint16_t text = tail_utf8(tail, name, length);
    uint8_t constant[3] = {CONSTANT_CLASS};
    set_u2(constant + 1, text);
    return text ? tail_add(tail, constant, sizeof constant, NULL, 0) : 0;
}

uint16_t tail_integer(struct pool_tail *tail, int32_t value) {
    uint8_t constant[5] = {CONSTANT_INTEGER};
    set_u4(constant + 1, (uint32_t)value);
    return tail_add(tail, constant, sizeof constant, NULL, 0);
}

static uint16_t tail_pair(struct pool_tail *tail, enum constant_tag tag, uint16_t first, uint16_t second) {
    if (!first || !second) return 0;
    uint8_t constant[5] = {(uint8_t)tag};
    set_u2(constant + 1, first);
    set_u2(constant + 3, second);
    return tail_add(tail, constant, sizeof constant, NULL, 0);
}

uint16_t tail_member(struct pool_tail *tail, enum constant_tag tag, uint16_t owner, const char *name,
                     size_t name_length, const char *descriptor, size_t descriptor_length) {
    uint16_t name_index = tail_utf8(tail, name, name_length);
    uint16_t type_index = tail_utf8(tail, descriptor, descriptor_length);
    return tail_pair(tail, tag, owner, tail_pair(tail, CONSTANT_NAME_AND_TYPE, name_index, type_index));
}
