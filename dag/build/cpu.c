// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/cpu.h"

#include <string.h>

double cpu_ns_each(const struct trace_header *header) {
    const bool cycles = header->cycle_unit && strcmp(header->cycle_unit, "cycles") == 0 && header->ticks_per_s;
    return cycles ? 1e9 / (double)header->ticks_per_s : 1;
}

uint64_t cpu_begin_ns(double ns_each, const struct event *event, uint64_t since, uint64_t free_ns) {
    const double computed_ns = event->operand[1] > since ? (double)(event->operand[1] - since) * ns_each : 0;
    return computed_ns < (double)(event->time - free_ns) ? event->time - (uint64_t)computed_ns : free_ns;
}
