// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a trace, strictly and leniently, and all that its cursors give. Checksums are put right
// first, object by object, since no fuzzer guesses them: what is tried is what stands behind them. Seeds:
// fixtures/traces and fixtures/traces/bad.
#include "tracefile/format.h"
#include "tracefile/reader.h"
#include "tracefile/unpack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct trace *trace) {
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct trace_cursor cursor;
        struct event event;
        struct error error = ERROR_INIT;
        uint64_t next = 0;
        trace_cursor_init(&cursor, trace, &trace->streams[i]);
        while (trace_cursor_next(&cursor, &event, &error)) {
            if (event.time < next || event_kind_info(event.kind) == NULL) abort();
            next = event.time + 1;
        }
    }
}

static void seal_objects(uint8_t *bytes, size_t size) {
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

static void open_and_walk(const uint8_t *bytes, size_t size) {
    for (int lenient = 0; lenient < 2; lenient++) {
        struct error error = ERROR_INIT;
        struct trace *trace = trace_open_memory("fuzz", bytes, size, lenient, &error);
        if (trace != NULL) walk(trace);
        trace_close(trace);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    open_and_walk(data, size);
    seal_objects(copy, size);
    open_and_walk(copy, size);
    free(copy);
    return 0;
}
