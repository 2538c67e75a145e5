// SPDX-License-Identifier: GPL-3.0-or-later
// How large a run a page can estimate, whatever the file's size: a vertex of its DAG takes some 500 bytes in all, and
// WebAssembly has 4 GB.
#ifndef REHYPE_REPORT_PAGE_ROOM_H
#define REHYPE_REPORT_PAGE_ROOM_H

#include "tracefile/reader.h"

enum { VERTICES_MOST = 6000000 };

// As many vertices as the trace's DAG has, about: functions, and what is only told of an event, lie within edges.
static inline uint64_t vertices_of(const struct trace *trace) {
    static const enum event_kind within[] = {EVENT_ENTER,     EVENT_EXIT,      EVENT_EXIT_THROW, EVENT_TASK_CREATED,
                                             EVENT_RUN_DELAY, EVENT_BYTECODES, EVENT_MOUNT,      EVENT_UNMOUNT,
                                             EVENT_READY,     EVENT_LIMIT,     EVENT_TURNS,      EVENT_ALLOCATED};
    uint64_t count = trace->event_count;
    for (size_t i = 0; i < sizeof within / sizeof within[0]; i++) count -= trace->events_of_kind[within[i]];
    return count;
}

#endif
