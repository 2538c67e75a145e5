// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's way through modes, as changes of state: what usage.c and streamed.c write a series by.
#ifndef REHYPE_METRICS_STRETCH_H
#define REHYPE_METRICS_STRETCH_H

#include "metrics/work.h"

enum mode { MODE_NONE, MODE_ACTIVE, MODE_WAITING, MODE_BLOCKED, MODE_UNOCCUPIED, MODE_COUNT };

static const int8_t mode_states[MODE_COUNT][STATE_COUNT] = {
    [MODE_ACTIVE] = {[STATE_OCCUPIED] = 1, [STATE_ACTIVE] = 1},
    [MODE_WAITING] = {[STATE_OCCUPIED] = 1, [STATE_WAITING] = 1},
    [MODE_BLOCKED] = {[STATE_OCCUPIED] = 1, [STATE_ACTIVE] = 1, [STATE_BLOCKED] = 1},
    [MODE_UNOCCUPIED] = {[STATE_UNOCCUPIED] = 1},
};

static inline struct stretch stretch_from(const struct state_series *series, enum mode mode, bool counted) {
    return (struct stretch){.now = (uint8_t)mode,
                            .written = (uint8_t)mode,
                            .outside = (uint8_t)mode,
                            .counted = counted,
                            .since_ns = series->from_ns,
                            .latest_ns = series->from_ns};
}

static inline void stretch_write(struct state_series *series, const struct stretch *stretch) {
    struct state_change *change = &series->changes[series->count++];
    change->time_ns = stretch->since_ns;
    for (int s = 0; s < STATE_COUNT; s++) {
        change->delta[s] = (int8_t)(mode_states[stretch->now][s] - mode_states[stretch->written][s]);
    }
    if (stretch->stands_in) change->delta[STATE_UNOCCUPIED] = (int8_t)-change->delta[STATE_OCCUPIED];
}

// Times within a stretch never fall; the window's ends stand for what lies beyond them.
static inline void stretch_to(struct state_series *series, struct stretch *stretch, enum mode mode, int64_t time_ns) {
    if (time_ns > stretch->latest_ns) stretch->latest_ns = time_ns < series->to_ns ? time_ns : series->to_ns;
    if (mode == stretch->now || !stretch->counted) return;
    if (stretch->latest_ns > stretch->since_ns && stretch->now != stretch->written) {
        stretch_write(series, stretch);
        stretch->written = stretch->now;
    }
    stretch->now = (uint8_t)mode;
    stretch->since_ns = stretch->latest_ns;
}

// What it is in now lasts as long as the run.
static inline void stretch_last(struct state_series *series, const struct stretch *stretch) {
    if (stretch->now != stretch->written) stretch_write(series, stretch);
}

#endif
