// SPDX-License-Identifier: Apache-2.0
// Waits with a time limit: the limit is told before the wait, and that the time was up before its end. By the waiting
// thread.
#ifndef REHYPE_TRACER_TIME_LIMIT_H
#define REHYPE_TRACER_TIME_LIMIT_H

#include "tracer/tracer.h"

// The wait that begins next has this limit; none where it is not above 0.
static inline void time_limit_set(struct thread_state *state, int64_t ns) {
    state->limit_ns = ns > 0 ? (uint64_t)ns : 0;
    state->up_ns = 0;
}

// Of a wait until a time that is `ns` from now: it begins a little later, and is shorter by that.
static inline void time_limit_set_until(struct thread_state *state, int64_t ns) {
    time_limit_set(state, ns);
    if (state->limit_ns) state->up_ns = clock_ns(CLOCK_MONOTONIC) + state->limit_ns;
}

// Just before a wait's begin is recorded.
static inline void time_limit_begin(struct thread_state *state) {
    struct time_limit *limit = &state->limit;
    *limit = (struct time_limit){.ns = state->limit_ns, .up_ns = state->up_ns};
    state->limit_ns = state->up_ns = 0;
    if (!limit->ns) return;
    if (!limit->up_ns) limit->up_ns = clock_ns(CLOCK_MONOTONIC) + limit->ns;
    record1(state, EVENT_LIMIT, limit->ns);
}

// Whether the wait's time was up, as what waited says; where nothing is said the clock does.
static inline void time_limit_tell(struct thread_state *state, bool up) {
    state->limit.outcome = up ? TIME_UP : TIME_NOT_UP;
}

static inline bool time_limit_is_up(const struct time_limit *limit) {
    if (!limit->ns || limit->outcome == TIME_NOT_UP) return false;
    return limit->outcome == TIME_UP || clock_ns(CLOCK_MONOTONIC) >= limit->up_ns;
}

// Just before its end is.
static inline void time_limit_end(struct thread_state *state, uint64_t target) {
    if (time_limit_is_up(&state->limit)) record1(state, EVENT_TIMED_OUT, target);
    state->limit = (struct time_limit){0};
}

#endif
