// SPDX-License-Identifier: GPL-3.0-or-later
// What a thread computed, by the `cpu` operands of its events, for readers of a trace before its graph is built.
#ifndef REHYPE_DAG_CPU_H
#define REHYPE_DAG_CPU_H

#include "tracefile/reader.h"

// A cycle of the processor's is taken for a tick of its clock, roughly, as their rate changes.
double cpu_ns_each(const struct trace_header *header);

// Of what the thread did up to an event, `since` being what the operand was before: not before `free_ns`.
uint64_t cpu_begin_ns(double ns_each, const struct event *event, uint64_t since, uint64_t free_ns);

#endif
