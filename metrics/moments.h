// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a trace's sampled stacks (struct trace_stacks) were taken within a window.
#ifndef REHYPE_METRICS_MOMENTS_H
#define REHYPE_METRICS_MOMENTS_H

#include "metrics/figures.h"
#include "tracefile/reader.h"

struct moments { // indices of moments, and one more
    uint64_t first, end;
};

// An instant of recorded times; NULL: any.
static inline bool moment_is_within(const struct window *window, uint64_t time_ns) {
    return !window || ((int64_t)time_ns >= window->from_ns && (int64_t)time_ns <= window->to_ns);
}

// Moments rise.
static inline struct moments moments_within(const struct trace_stacks *stacks, const struct window *window) {
    struct moments within = {0, 0};
    while (within.first < stacks->moment_count && !moment_is_within(window, stacks->moments[within.first]))
        within.first++;
    within.end = within.first;
    while (within.end < stacks->moment_count && moment_is_within(window, stacks->moments[within.end])) within.end++;
    return within;
}

// Those that a run has of these; first == end: none.
static inline struct moments moments_of_run(const struct moments *of, const struct trace_stack_run *run) {
    const uint64_t end = run->first + run->count;
    const struct moments both = {run->first > of->first ? run->first : of->first, end < of->end ? end : of->end};
    return both.first < both.end ? both : (struct moments){0, 0};
}

#endif
