// SPDX-License-Identifier: Apache-2.0
#include "tracer/stack_slice.h"

#include <stdlib.h>

struct stack_slice *stack_slice_new(void) {
    return calloc(1, sizeof(struct stack_slice));
}

void stack_slice_free(struct stack_slice *slice) {
    if (slice) free(slice->runs);
    free(slice);
}

void stack_slice_moment(struct stack_slice *slice, uint64_t ticks) {
    slice->moments[slice->moment_count++] = ticks;
}

// Where the thread's last run is, or would be; NULL: too many threads.
static uint32_t *slot_of(struct stack_slice *slice, uint32_t thread) {
    uint32_t at = thread * 0x9e3779b1u >> 8 & (SLICE_THREADS - 1);
    while (slice->last_run[at] && slice->runs[slice->last_run[at] - 1].thread != thread)
        at = (at + 1) & (SLICE_THREADS - 1);
    if (slice->last_run[at]) return &slice->last_run[at];
    if (slice->threads * 4 >= SLICE_THREADS * 3) return NULL;
    slice->threads++;
    return &slice->last_run[at];
}

static bool has_room(struct stack_slice *slice) {
    if (slice->run_count < slice->run_room) return true;
    size_t room = slice->run_room ? slice->run_room * 2 : 64;
    struct trace_stack_run *runs = room <= SLICE_RUNS ? realloc(slice->runs, room * sizeof *runs) : NULL;
    if (!runs) return false;
    slice->runs = runs;
    slice->run_room = room;
    return true;
}

void stack_slice_put(struct stack_slice *slice, uint32_t thread, uint32_t context) {
    const uint64_t moment = slice->moment_count - 1;
    uint32_t *slot = slot_of(slice, thread);
    struct trace_stack_run *last = slot && *slot ? &slice->runs[*slot - 1] : NULL;
    if (last && last->context == context && last->first + last->count == moment) {
        last->count++;
        return;
    }
    if (!has_room(slice)) {
        slice->costs.left_out++;
        return;
    }
    slice->runs[slice->run_count++] =
        (struct trace_stack_run){.thread = thread, .context = context, .first = moment, .count = 1};
    if (slot) *slot = (uint32_t)slice->run_count;
}

uint64_t stack_slice_pause_ns(uint64_t *seed, uint64_t period_ns) {
    *seed ^= *seed << 13; // Marsaglia's xorshift
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return period_ns / 2 + *seed % (period_ns + 1);
}
