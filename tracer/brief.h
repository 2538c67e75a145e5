// SPDX-License-Identifier: Apache-2.0
// Leaves out functions that took less than a given time: their enter and exit, if nothing lies between. What is
// recorded within a function (a task, a wait, a function that took long enough) keeps it. The drainer does so, so the
// thread pays for such functions as for any other, but the file does not. No JVM type in it.
#ifndef REHYPE_TRACER_BRIEF_H
#define REHYPE_TRACER_BRIEF_H

#include "tracefile/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRIEF_HELD 64u

// One thread's functions that may yet turn out to be brief: entered last, with nothing after.
struct brief {
    struct event held[BRIEF_HELD];
    size_t count;
};

// Filters events in place, with room for BRIEF_HELD more, and gives their new number. What was recorded before `until`
// is among them or came earlier: a function that was entered `least` ticks before it is no longer held back; none is
// with `least` 0.
size_t brief_filter(struct brief *brief, uint64_t least, uint64_t until, struct event *events, size_t count);

#endif
