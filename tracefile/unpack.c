// SPDX-License-Identifier: Apache-2.0
#include "tracefile/unpack.h"

#include "tracefile/format.h"

#include <string.h>

struct unpack unpack_init(const void *bytes, size_t size) {
    return (struct unpack){.at = bytes, .end = (const uint8_t *)bytes + size, .state = UNPACK_GOOD};
}

static size_t bytes_left(const struct unpack *unpack) {
    return (size_t)(unpack->end - unpack->at);
}

static void fail(struct unpack *unpack, enum unpack_state state) {
    if (unpack->state == UNPACK_GOOD) unpack->state = state;
}

static uint64_t big_endian(struct unpack *unpack, unsigned size) {
    if (unpack->state == UNPACK_GOOD && bytes_left(unpack) < size) fail(unpack, UNPACK_SHORT);
    if (unpack->state != UNPACK_GOOD) return 0;
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value = value << 8 | *unpack->at++;
    return value;
}

static struct token signed_token(int64_t value) {
    return (struct token){.kind = value < 0 ? TOKEN_NEGATIVE : TOKEN_UNSIGNED, .value = (uint64_t)value};
}

// What follows a length or a count takes `least` bytes at least. More than a block may have is wrong wherever it is;
// less than that may only be cut short.
static bool has_room(struct unpack *unpack, uint64_t least) {
    if (least > BLOCK_BYTES_MAX) fail(unpack, UNPACK_WRONG);
    if (bytes_left(unpack) < least) fail(unpack, UNPACK_SHORT);
    return unpack->state == UNPACK_GOOD;
}

static struct token sized_token(struct unpack *unpack, enum token_kind kind, uint64_t size) {
    if (!has_room(unpack, size)) return (struct token){.kind = TOKEN_NIL};
    struct token token = {.kind = kind, .value = size, .bytes = unpack->at};
    unpack->at += size;
    return token;
}

// Every element takes a byte at least, so a count beyond the bytes left can be refused at once.
static struct token counted_token(struct unpack *unpack, enum token_kind kind, uint64_t count) {
    if (!has_room(unpack, kind == TOKEN_MAP ? count * 2 : count)) return (struct token){.kind = TOKEN_NIL};
    return (struct token){.kind = kind, .value = count};
}

// Tokens whose first byte is 0xc0 to 0xdf: each says by itself what follows.
static struct token long_token(struct unpack *unpack, uint8_t first) {
    switch (first) {
    case 0xc0:
        return (struct token){.kind = TOKEN_NIL};
    case 0xc2:
    case 0xc3:
        return (struct token){.kind = TOKEN_BOOL, .value = first & 1};
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return sized_token(unpack, TOKEN_BINARY, big_endian(unpack, 1u << (first - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9:
        return sized_token(unpack, TOKEN_EXTENSION, big_endian(unpack, 1u << (first - 0xc7)) + 1);
    case 0xca:
        return sized_token(unpack, TOKEN_FLOAT, 4);
    case 0xcb:
        return sized_token(unpack, TOKEN_FLOAT, 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return (struct token){.kind = TOKEN_UNSIGNED, .value = big_endian(unpack, 1u << (first - 0xcc))};
    case 0xd0:
        return signed_token((int8_t)big_endian(unpack, 1));
    case 0xd1:
        return signed_token((int16_t)big_endian(unpack, 2));
    case 0xd2:
        return signed_token((int32_t)big_endian(unpack, 4));
    case 0xd3:
        return signed_token((int64_t)big_endian(unpack, 8));
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return sized_token(unpack, TOKEN_EXTENSION, (1u << (first - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return sized_token(unpack, TOKEN_STRING, big_endian(unpack, 1u << (first - 0xd9)));
    case 0xdc:
    case 0xdd:
        return counted_token(unpack, TOKEN_ARRAY, big_endian(unpack, 2u << (first - 0xdc)));
    case 0xde:
    case 0xdf:
        return counted_token(unpack, TOKEN_MAP, big_endian(unpack, 2u << (first - 0xde)));
    default:
        fail(unpack, UNPACK_WRONG);
        return (struct token){.kind = TOKEN_NIL}; // 0xc1 is never used
    }
}

struct token unpack_token(struct unpack *unpack) {
    uint8_t first = (uint8_t)big_endian(unpack, 1);
    if (unpack->state != UNPACK_GOOD) return (struct token){.kind = TOKEN_NIL};
    if (first < 0x80) return (struct token){.kind = TOKEN_UNSIGNED, .value = first};
    if (first < 0x90) return counted_token(unpack, TOKEN_MAP, first & 0x0f);
    if (first < 0xa0) return counted_token(unpack, TOKEN_ARRAY, first & 0x0f);
    if (first < 0xc0) return sized_token(unpack, TOKEN_STRING, first & 0x1f);
    if (first >= 0xe0) return signed_token((int8_t)first);
    return long_token(unpack, first);
}

void unpack_skip(struct unpack *unpack) {
    for (uint64_t left = 1; left > 0 && unpack->state == UNPACK_GOOD; left--) {
        struct token token = unpack_token(unpack);
        if (token.kind == TOKEN_ARRAY) left += token.value;
        if (token.kind == TOKEN_MAP) left += token.value * 2;
        if (left - 1 > bytes_left(unpack)) fail(unpack, UNPACK_SHORT);
    }
}

static struct token token_of(struct unpack *unpack, enum token_kind kind) {
    struct token token = unpack_token(unpack);
    if (token.kind == kind && unpack->state == UNPACK_GOOD) return token;
    fail(unpack, UNPACK_WRONG);
    return (struct token){.kind = kind};
}

uint64_t unpack_unsigned(struct unpack *unpack, uint64_t maximum) {
    uint64_t value = token_of(unpack, TOKEN_UNSIGNED).value;
    if (value <= maximum) return value;
    fail(unpack, UNPACK_WRONG);
    return 0;
}

int64_t unpack_signed(struct unpack *unpack, int64_t minimum, int64_t maximum) {
    struct token token = unpack_token(unpack);
    bool number = token.kind == TOKEN_NEGATIVE || (token.kind == TOKEN_UNSIGNED && token.value <= INT64_MAX);
    int64_t value = (int64_t)token.value;
    if (unpack->state == UNPACK_GOOD && number && value >= minimum && value <= maximum) return value;
    fail(unpack, UNPACK_WRONG);
    return 0;
}

uint64_t unpack_count(struct unpack *unpack, enum token_kind kind) {
    return token_of(unpack, kind).value;
}

const uint8_t *unpack_bytes(struct unpack *unpack, enum token_kind kind, size_t *size) {
    struct token token = token_of(unpack, kind);
    *size = token.value;
    return token.bytes;
}

bool unpack_text_or_nil(struct unpack *unpack, const char **text, size_t *size) {
    *text = NULL;
    struct token token = unpack_token(unpack);
    if (unpack->state != UNPACK_GOOD || token.kind == TOKEN_NIL) return false;
    if (token.kind != TOKEN_STRING) {
        fail(unpack, UNPACK_WRONG);
        return false;
    }
    *text = (const char *)token.bytes;
    *size = token.value;
    return true;
}

bool text_is(const uint8_t *bytes, size_t size, const char *text) {
    return bytes != NULL && size == strlen(text) && memcmp(bytes, text, size) == 0;
}
