// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a trace, strictly and leniently, all that its cursors give, and what the analyser makes of
// it. Checksums are put right too, object by object, since no fuzzer guesses them: what is tried is what stands behind
// them. Seeds: fixtures/traces and fixtures/traces/bad.
#include "tests/fuzz/seal.h"
#include "tracefile/reader.h"
#include "tracefile/unpack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Returns how many events there were.
static uint64_t walk_from(struct trace_cursor *cursor) {
    struct event event;
    struct error error = ERROR_INIT;
    uint64_t next = 0, count = 0;
    for (; trace_cursor_next(cursor, &event, &error); count++) {
        if (event.time < next || event_kind_info(event.kind) == NULL) abort();
        next = event.time + 1;
    }
    return error.status == STATUS_OK ? count : UINT64_MAX;
}

static void walk(const struct trace *trace) {
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct trace_cursor cursor;
        trace_cursor_init(&cursor, trace, &trace->streams[i]);
        const uint64_t count = walk_from(&cursor);
        trace_cursor_init(&cursor, trace, &trace->streams[i]);
        const uint64_t from = trace_cursor_seek(&cursor, count / 2), rest = walk_from(&cursor);
        if (count != UINT64_MAX && rest != UINT64_MAX && from + rest != count) abort();
    }
}

// A stack ends, and what it names is there.
static void walk_callings(const struct trace *trace) {
    for (size_t i = 0; i < trace->calling_sample_count; i++) {
        const struct trace_calling_sample *sample = &trace->calling_samples[i];
        uint32_t id = sample->context;
        if (id == 0 || id >= trace->calling_context_count || sample->kind >= CALLING_KINDS) abort();
        for (; id; id = trace->calling_contexts[id].caller) {
            const struct trace_calling_context *context = &trace->calling_contexts[id];
            if (context->caller >= id || context->frame >= trace->frame_count) abort();
        }
    }
}

// What runs name is there.
static void walk_stacks(const struct trace *trace) {
    const struct trace_stacks *stacks = &trace->stacks;
    for (size_t i = 1; i < stacks->moment_count; i++) {
        if (stacks->moments[i] < stacks->moments[i - 1]) abort();
    }
    for (size_t i = 0; i < stacks->run_count; i++) {
        const struct trace_stack_run *run = &stacks->runs[i];
        if (run->context == 0 || run->context >= trace->calling_context_count) abort();
        if (run->count == 0 || run->first + run->count > stacks->moment_count) abort();
    }
}

static bool open_and_walk(const uint8_t *bytes, size_t size, bool lenient) {
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open_memory("fuzz", bytes, size, lenient, &error);
    if (trace != NULL) walk(trace);
    if (trace != NULL) walk_callings(trace);
    if (trace != NULL) walk_stacks(trace);
    trace_close(trace);
    return trace != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    seal_objects(copy, size);
    if (memcmp(copy, data, size) != 0) open_and_walk(data, size, true);
    if (!open_and_walk(copy, size, false)) open_and_walk(copy, size, true);
    free(copy);
    return 0;
}
