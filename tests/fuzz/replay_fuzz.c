// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a trace whose checksums are right, and what the analyser makes of it. Seeds: as trace_fuzz.
#include "metrics/coverage_find.h"
#include "tests/fuzz/replay.h"
#include "tests/fuzz/seal.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cover(const struct trace *trace, const char *unit) {
    struct error error = ERROR_INIT;
    struct coverage_found found;
    struct coverage *coverage = coverage_new(&(struct coverage_rules){.unit = unit}, &error);
    bool added = coverage && coverage_add(coverage, trace, NULL, &error);
    error = (struct error)ERROR_INIT;
    if (coverage) coverage_add_whole(coverage, trace, &error);
    error = (struct error)ERROR_INIT;
    if (added && coverage_find(coverage, &found, &error)) coverage_forecast(&found, 0.8);
    coverage_free(coverage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = ERROR_INIT;
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    seal_objects(copy, size);
    struct trace *trace = trace_open_memory("fuzz", copy, size, false, &error);
    if (!trace) trace = trace_open_memory("fuzz", copy, size, true, &error);
    if (trace) replay_all(trace, 0x55, 0);
    if (trace) replay_all(trace, 0xe4, 0xff);
    if (trace) cover(trace, NULL);
    if (trace) cover(trace, "Main.run");
    trace_close(trace);
    free(copy);
    return 0;
}
