// SPDX-License-Identifier: Apache-2.0
// The state of the process and the machine at one time, for EVENT_SAMPLE.
#ifndef REHYPE_TRACER_SAMPLER_H
#define REHYPE_TRACER_SAMPLER_H

#include "tracefile/event.h"

#define SAMPLE_PERIOD_NS 100000000u

// What the sample before said, of which none ever falls; zeroed before the first.
struct sampler {
    uint64_t process_ns, machine_ns, switches;
};

// An EVENT_SAMPLE of now, its time in clock ticks, by the tracer's own thread: what that thread itself has computed is
// left out, so that nobody takes it for the program's or for somebody else's. Cost: 5 system calls and what the kernel
// takes to add up /proc/stat and the process's threads, some 50 us.
struct event sampler_take(struct sampler *sampler);

#endif
