// SPDX-License-Identifier: Apache-2.0
#include "tracer/brief.h"

#include <string.h>

// Whether the event ends a function that was entered just before it, and briefly.
static bool is_brief(const struct event *before, const struct event *event, uint64_t least) {
    return (event->kind == EVENT_EXIT || event->kind == EVENT_EXIT_THROW) && before->kind == EVENT_ENTER &&
           before->operand[0] == event->operand[0] && event->time - before->time < least;
}

static bool may_become_brief(const struct event *event, uint64_t least, uint64_t until) {
    return event->kind == EVENT_ENTER && event->time + least > until;
}

size_t brief_filter(struct brief *brief, uint64_t least, uint64_t until, struct event *events, size_t count) {
    memmove(events + brief->count, events, count * sizeof *events);
    memcpy(events, brief->held, brief->count * sizeof *events);
    count += brief->count;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && is_brief(&events[kept - 1], &events[i], least))
            kept--;
        else
            events[kept++] = events[i];
    }
    size_t from = kept;
    while (from > 0 && kept - from < BRIEF_HELD && may_become_brief(&events[from - 1], least, until)) from--;
    brief->count = kept - from;
    memcpy(brief->held, events + from, brief->count * sizeof *events);
    return from;
}
