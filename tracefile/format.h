// SPDX-License-Identifier: Apache-2.0
// What writer and reader share about the bytes of a trace (docs/trace-format.md). Internal to tracefile/ and its tests.
#ifndef REHYPE_TRACEFILE_FORMAT_H
#define REHYPE_TRACEFILE_FORMAT_H

#include "tracefile/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Limits, the same in all versions. They bound what a reader must hold or believe before it has seen a checksum.
#define BLOCK_EVENTS_MAX 65536u
#define BLOCK_BYTES_MAX  (4u << 20)
#define STRING_BYTES_MAX (512u << 10) // longer ones are cut by the writer
#define TABLE_BYTES_AIM  (1u << 20)   // the writer begins a new table block above this
#define SPARSE_ID_MAX    (1u << 20)   // highest id of a table whose ids may have gaps (pools)

#define VARINT_BYTES_MAX 10
#define CHECKSUM_BYTES   9 // every object's last: 0xcf and eight bytes, most significant first

_Static_assert(BLOCK_EVENTS_MAX *(1 + VARINT_BYTES_MAX * 4) + 100 <= BLOCK_BYTES_MAX, "the worst events fit a block");
_Static_assert(TRACE_STACKS_MOST *(9 + 1 + 5 + 5 + 9 + 9) + 100 <= BLOCK_BYTES_MAX, "the most stacks fit a block");
_Static_assert(TABLE_BYTES_AIM + 5 * STRING_BYTES_MAX <= BLOCK_BYTES_MAX, "a table's last entry has four texts");
_Static_assert(7 * STRING_BYTES_MAX + 1000 <= BLOCK_BYTES_MAX, "the header has seven texts");

// XXH3, 64 bits, seed 0.
uint64_t format_checksum(const void *bytes, size_t size);

// How many of text's bytes, up to the first that is not UTF-8 or is NUL, are whole characters.
size_t format_utf8_prefix(const char *text, size_t size);

// LEB128: seven bits a byte, least significant first. `at` has room for VARINT_BYTES_MAX; returns what follows.
static inline uint8_t *varint_put(uint8_t *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

// The same, where it is now one byte and now two without any order, as between times: a branch on which of them would
// often be foretold wrongly.
static inline uint8_t *varint_put_either(uint8_t *at, uint64_t value) {
    if (value >= 0x4000) return varint_put(at, value);
    unsigned two = value >= 0x80;
    at[0] = (uint8_t)(value | two << 7);
    at[1] = (uint8_t)(value >> 7);
    return at + 1 + two;
}

// Of any length, byte by byte.
static inline bool varint_get_long(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift == 63 && byte > 1) return false;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return true;
        }
    }
    return false;
}

// false, with *at anywhere up to end, when the bytes stop short or say more than 64 bits. Most are of up to three
// bytes: to branch on how many beats arithmetic on all, since the next number's place then needn't wait for this one's
// bytes.
static inline bool varint_get(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    const uint8_t *bytes = *at;
    if (end - bytes < 3) return varint_get_long(at, end, value);
    if (bytes[0] < 0x80) {
        *value = bytes[0];
        *at = bytes + 1;
        return true;
    }
    if (bytes[1] < 0x80) {
        *value = (bytes[0] & 0x7fu) | (unsigned)bytes[1] << 7;
        *at = bytes + 2;
        return true;
    }
    if (bytes[2] < 0x80) {
        *value = (bytes[0] & 0x7fu) | (bytes[1] & 0x7fu) << 7 | (unsigned)bytes[2] << 14;
        *at = bytes + 3;
        return true;
    }
    return varint_get_long(at, end, value);
}

// Small differences of either sign become small numbers. Differences are modulo 2^64, so any two operands have one.
static inline uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t code) {
    return code >> 1 ^ (0 - (code & 1));
}

#endif
