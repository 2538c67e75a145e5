// SPDX-License-Identifier: Apache-2.0
// The state of the process and the machine at one time, for EVENT_SAMPLE.
#ifndef REHYPE_TRACER_SAMPLER_H
#define REHYPE_TRACER_SAMPLER_H

#include "tracefile/event.h"

#define SAMPLE_PERIOD_NS 100000000u

// An EVENT_SAMPLE of now, its time in clock ticks. Any thread. Cost: 3 system calls and what the kernel takes to add
// up /proc/stat and the process's threads, some 50 us.
struct event sample_now(void);

#endif
