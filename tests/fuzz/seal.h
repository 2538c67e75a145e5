// SPDX-License-Identifier: GPL-3.0-or-later
// Puts a trace's checksums right, object by object, since no fuzzer guesses them: what is tried is what stands behind
// them.
#ifndef REHYPE_TESTS_SEAL_H
#define REHYPE_TESTS_SEAL_H

#include "tracefile/format.h"
#include "tracefile/unpack.h"

static inline void seal_objects(uint8_t *bytes, size_t size) {
    struct unpack unpack = unpack_init(bytes, size);
    while (unpack.at < unpack.end) {
        size_t start = (size_t)(unpack.at - bytes);
        unpack_skip(&unpack);
        if (unpack.state != UNPACK_GOOD) return;
        size_t next = (size_t)(unpack.at - bytes);
        if (next - start < CHECKSUM_BYTES || bytes[next - CHECKSUM_BYTES] != 0xcf) continue;
        uint64_t checksum = format_checksum(bytes + start, next - CHECKSUM_BYTES - start);
        for (size_t i = 1; i < CHECKSUM_BYTES; i++) bytes[next - i] = (uint8_t)(checksum >> 8 * (i - 1));
    }
}

#endif
