// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16, MEMORY = 8 }; // what zlib adds to the window's bits for a gzip header; its default
enum { LEVEL = 8, SAMPLE_LEVEL = 6, SAMPLED = 128 << 10, SAMPLE_EVERY = 1 << 20 }; // level 9 takes three times as long

static uint8_t *gzip(const void *bytes, size_t size, int level, size_t *packed) {
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    const size_t room = deflateBound(&stream, size);
    uint8_t *out = room <= UINT32_MAX && size <= UINT32_MAX ? malloc(room) : NULL;
    stream.next_in = (Bytef *)(uintptr_t)bytes; // which zlib does not write to
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    const bool whole = out && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    *packed = stream.total_out;
    deflateEnd(&stream);
    if (whole) return out;
    free(out);
    return NULL;
}

static char *base64(const uint8_t *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    for (size_t i = 0; text && i < size; i += 3) {
        const uint32_t more = (i + 1 < size ? bytes[i + 1] : 0u) << 8 | (i + 2 < size ? bytes[i + 2] : 0u);
        const uint32_t three = (uint32_t)bytes[i] << 16 | more;
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < size ? digits[three & 63] : '=';
    }
    if (text) *to = '\0';
    return text;
}

char *packed_text(const void *bytes, size_t size, struct error *error) {
    size_t packed = 0;
    uint8_t *zipped = gzip(bytes, size, LEVEL, &packed);
    char *text = zipped ? base64(zipped, packed) : NULL;
    free(zipped);
    if (!text) error_set(error, STATUS_FAILED, "no memory to pack %zu bytes", size);
    return text;
}

size_t packed_length(const void *bytes, size_t size) {
    size_t seen = 0, sum = 0;
    for (size_t at = 0; at < size; at += SAMPLE_EVERY) {
        const size_t part = size - at < SAMPLED ? size - at : SAMPLED;
        size_t packed = 0;
        uint8_t *zipped = gzip((const uint8_t *)bytes + at, part, SAMPLE_LEVEL, &packed);
        if (!zipped) return 0;
        free(zipped);
        seen += part;
        sum += packed;
    }
    return seen ? (size_t)((double)sum / (double)seen * (double)size / 3 * 4) : 0;
}
