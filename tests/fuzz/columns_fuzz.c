// SPDX-License-Identifier: GPL-3.0-or-later
// What a page carries of a trace: any bytes. A trace file among them is packed, and must come back; all else is
// unpacked, with its checksum put right, and what that gives is opened and read.
#include "report/page/columns.h"
#include "tracefile/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAGIC = 17, SUM = 8 };

static void read_all(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct event event;
    for (uint32_t s = 0; trace && s < trace->stream_count; s++) {
        struct trace_cursor cursor;
        trace_cursor_init(&cursor, trace, &trace->streams[s]);
        while (trace_cursor_next(&cursor, &event, &error)) {
        }
    }
}

static void unpack(const void *bytes, size_t size, bool must) {
    struct trace_memory file = {0};
    struct error error = ERROR_INIT;
    const bool ok = columns_unpack(bytes, size, &file, &error);
    struct trace *trace = ok ? trace_open_memory("unpacked", file.bytes, file.size, false, &error) : NULL;
    if (must && !trace) abort();
    read_all(trace);
    trace_close(trace);
    free(file.bytes);
}

static void pack(const struct trace *trace, uint64_t quantum_ns, bool functions) {
    struct trace_memory packed = {0};
    struct error error = ERROR_INIT;
    if (columns_pack(trace, &(struct columns_options){quantum_ns, functions}, &packed, &error))
        unpack(packed.bytes, packed.size, true);
    free(packed.bytes);
}

static void unpack_signed(const uint8_t *data, size_t size) {
    static const char magic[] = "rehype.columns/1\n";
    uint8_t *bytes = malloc(MAGIC + SUM + size);
    if (!bytes) return;
    memcpy(bytes, magic, MAGIC);
    if (size) memcpy(bytes + MAGIC + SUM, data, size);
    const uint64_t sum = format_checksum(bytes + MAGIC + SUM, size);
    for (int i = 0; i < SUM; i++) bytes[MAGIC + i] = (uint8_t)(sum >> 8 * i);
    unpack(bytes, MAGIC + SUM + size, false);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("input", data, size, false, &error);
    if (trace) {
        pack(trace, 1, true);
        pack(trace, 100, false);
    } else {
        unpack_signed(data, size);
    }
    trace_close(trace);
    return 0;
}
