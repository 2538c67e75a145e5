// SPDX-License-Identifier: Apache-2.0
#include "tracefile/format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t format_checksum(const void *bytes, size_t size) {
    return XXH3_64bits(bytes, size);
}

// Bytes of the character that begins at text (RFC 3629: no surrogates, nothing overlong, at most U+10FFFF); 0 if none.
static size_t utf8_character(const uint8_t *text, size_t size) {
    uint8_t first = text[0];
    if (first < 0x80) return first != 0;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > size) return 0;
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

size_t format_utf8_prefix(const char *text, size_t size) {
    size_t at = 0;
    while (at < size) {
        size_t length = utf8_character((const uint8_t *)text + at, size - at);
        if (length == 0) break;
        at += length;
    }
    return at;
}
