// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/protobuf.h"

#include "report/escape.h"

#include <stdlib.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };
enum { VARINT_MOST = 10 };

void protobuf_destroy(struct protobuf *message) {
    free(message->bytes);
    *message = (struct protobuf){0};
}

static bool make_room(struct protobuf *message, size_t more) {
    if (message->failed) return false;
    if (message->size + more <= message->capacity) return true;
    const size_t larger = 2 * message->capacity + more + 256;
    uint8_t *moved = realloc(message->bytes, larger);
    message->failed = !moved;
    if (!moved) return false;
    message->bytes = moved;
    message->capacity = larger;
    return true;
}

// Seven bits a byte, the lowest first; all but the last byte have their highest bit set.
static size_t pack_varint(uint8_t bytes[VARINT_MOST], uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    return size;
}

static void add_varint(struct protobuf *message, uint64_t value) {
    if (make_room(message, VARINT_MOST)) message->size += pack_varint(message->bytes + message->size, value);
}

static void add_tag(struct protobuf *message, uint32_t field, enum wire_type type) {
    add_varint(message, (uint64_t)field << 3 | type);
}

void protobuf_number(struct protobuf *message, uint32_t field, uint64_t value) {
    add_tag(message, field, WIRE_VARINT);
    add_varint(message, value);
}

void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value) {
    add_tag(message, field, WIRE_FIXED64);
    if (!make_room(message, sizeof value)) return;
    for (size_t i = 0; i < sizeof value; i++) message->bytes[message->size++] = (uint8_t)(value >> (8 * i));
}

void protobuf_double(struct protobuf *message, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(message, field, bits);
}

void protobuf_text(struct protobuf *message, uint32_t field, const char *text) {
    struct utf8 character;
    const size_t open = protobuf_open(message, field);
    while (text && (text = utf8_next(text, &character))) {
        if (!make_room(message, character.length)) return;
        memcpy(message->bytes + message->size, character.bytes, character.length);
        message->size += character.length;
    }
    protobuf_close(message, open);
}

// Most lengths take one byte, which is left for them.
size_t protobuf_open(struct protobuf *message, uint32_t field) {
    add_tag(message, field, WIRE_LENGTH);
    add_varint(message, 0);
    return message->size;
}

void protobuf_close(struct protobuf *message, size_t open) {
    uint8_t length[VARINT_MOST];
    if (!make_room(message, VARINT_MOST)) return;
    const size_t size = message->size - open, more = pack_varint(length, size) - 1;
    if (more > 0) memmove(message->bytes + open + more, message->bytes + open, size);
    memcpy(message->bytes + open - 1, length, more + 1);
    message->size += more;
}

void protobuf_flush(struct protobuf *message, uint32_t field, FILE *file) {
    uint8_t head[2 * VARINT_MOST];
    size_t size = pack_varint(head, (uint64_t)field << 3 | WIRE_LENGTH);
    size += pack_varint(head + size, message->size);
    if (!message->failed) {
        fwrite(head, 1, size, file);
        fwrite(message->bytes, 1, message->size, file);
    }
    message->size = 0;
}
