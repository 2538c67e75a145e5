// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a trace whose checksums are right, and what the analyser makes of it. Seeds: as trace_fuzz.
#include "tests/fuzz/replay.h"
#include "tests/fuzz/seal.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = ERROR_INIT;
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    seal_objects(copy, size);
    struct trace *trace = trace_open_memory("fuzz", copy, size, false, &error);
    if (!trace) trace = trace_open_memory("fuzz", copy, size, true, &error);
    if (trace) replay_all(trace, 0x55, 0);
    if (trace) replay_all(trace, 0xe4, 0xff);
    trace_close(trace);
    free(copy);
    return 0;
}
