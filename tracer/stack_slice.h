// SPDX-License-Identifier: Apache-2.0
// Sampled stacks of some moments, until the drainer writes them. A thread that is found in the calling context in which
// it was the moment before, as most threads of most programs are since they wait, only lengthens its run: what a slice
// takes grows with what threads do, not with how many there are. No JVM type in it.
#ifndef REHYPE_TRACER_STACK_SLICE_H
#define REHYPE_TRACER_STACK_SLICE_H

#include "tracefile/writer.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SLICE_MOMENTS = 256,
    SLICE_RUNS = TRACE_STACKS_MOST,
    SLICE_THREADS = 1024, // whose last run is looked up; of more each moment begins a run
    SLICE_NS = 100000000, // so much of the run at a time: what a killed JVM loses
};

struct stack_slice {
    struct stack_slice *next; // the registry's
    uint64_t moments[SLICE_MOMENTS];
    size_t moment_count;
    struct trace_stack_run *runs;
    size_t run_count, run_room;
    struct trace_stack_costs costs;
    uint32_t last_run[SLICE_THREADS]; // index + 1 of a thread's; open addressing
    uint32_t threads;
};

struct stack_slice *stack_slice_new(void); // NULL without memory
void stack_slice_free(struct stack_slice *slice);

// Whether there is no room for one more moment.
static inline bool stack_slice_is_full(const struct stack_slice *slice) {
    return slice->moment_count == SLICE_MOMENTS;
}

// One more moment, later than those before, of a slice that is not full.
void stack_slice_moment(struct stack_slice *slice, uint64_t ticks);

// At that moment the thread has that stack. Once a thread and moment. What there is no room or memory for is counted as
// left out.
void stack_slice_put(struct stack_slice *slice, uint32_t thread, uint32_t context);

// The next pause between two moments: evenly between half of the period and one and a half of it, since a fixed period
// may fall in step with what it looks at (S Sec. 4 and its reference 8). `seed` is not 0 and changes.
uint64_t stack_slice_pause_ns(uint64_t *seed, uint64_t period_ns);

#endif
