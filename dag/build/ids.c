// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/ids.h"

static uint64_t higher(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

uint64_t ids_highest_of_tables(const struct trace *trace) {
    uint64_t highest = 0;
    if (trace->resource_count) highest = trace->resources[trace->resource_count - 1].id;
    if (trace->actor_count) highest = higher(highest, trace->actors[trace->actor_count - 1].id);
    if (trace->running_count) highest = higher(highest, trace->running[trace->running_count - 1]);
    for (size_t i = 0; i < trace->queued_count; i++) highest = higher(highest, trace->queued[i].task);
    return highest;
}

uint64_t ids_highest(const struct event *event, uint64_t highest) {
    switch (event->kind) {
    case EVENT_ENTER:
    case EVENT_EXIT:
    case EVENT_EXIT_THROW:
    case EVENT_GC_BEGIN:
    case EVENT_GC_END:
    case EVENT_LOST:
    case EVENT_RUN_DELAY:
    case EVENT_SAMPLE:
    case EVENT_BYTECODES:
    case EVENT_LIMIT:
    case EVENT_READY:
    case EVENT_COMPILING:
    case EVENT_MOUNT:
    case EVENT_UNMOUNT:
    case EVENT_TURNS:
    case EVENT_ALLOCATED:
        return highest;
    default:
        return higher(highest, event->operand[0]);
    }
}
