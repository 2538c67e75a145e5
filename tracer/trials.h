// SPDX-License-Identifier: Apache-2.0
// What the tracer finds out by trial of the machine that it is on: the rate of the clock, what CPU time can be read
// from, and how far apart the cores' clocks are. It takes milliseconds, mostly of sleep: a JVM that starts under the
// tracer goes on meanwhile.
#ifndef REHYPE_TRACER_TRIALS_H
#define REHYPE_TRACER_TRIALS_H

#include "tracer/clock.h"
#include "tracer/cpu_meter.h"

struct trials {
    struct clock_source clock;
    struct cpu_meter_kind meter;
    int64_t skew_ticks; // between the cores' clocks; -1: can't be measured
};

// Begins them on a thread of their own, for the next trials_result. `monotonic`: as for clock_init. By one thread at a
// time, as the following.
void trials_begin(bool monotonic);

// Waits for what trials_begin began, or, where nothing was begun, tries all now. Before that clock and meters are
// not to be used.
struct trials trials_result(bool monotonic);

#endif
