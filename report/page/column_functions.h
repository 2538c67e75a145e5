// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a thread's function events are its spawns' contexts: those of functions that are active at a spawn. Without
// the others each spawn has the context that it had (dag/build/context.c), since what is left out begins and ends
// between two that stay. Where the trace lost events and what ends what is in doubt, more stay.
#ifndef REHYPE_REPORT_PAGE_COLUMN_FUNCTIONS_H
#define REHYPE_REPORT_PAGE_COLUMN_FUNCTIONS_H

#include "tracefile/reader.h"

// A bit an event of the stream, set where it stays: all events of other kinds, and the first and the last. For free();
// NULL and *error: no memory, or the trace turned out damaged.
uint8_t *functions_that_stay(const struct trace *trace, const struct trace_stream *stream, struct error *error);

static inline bool function_stays(const uint8_t *stays, uint64_t ordinal) {
    return stays[ordinal / 8] >> ordinal % 8 & 1;
}

#endif
