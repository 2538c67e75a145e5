// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of one small program under different loads: Main.main hands tasks over to a pool of one thread, and awaits
// them one after the other. What is awaited at once pays when inlined; what main computes beside does not.
#ifndef REHYPE_TESTS_LOADS_H
#define REHYPE_TESTS_LOADS_H

#include "trace_builder.h"

struct load {
    uint32_t line, tasks; // of Main.main, each of 1000 ns
    bool beside;          // main computes for 1000 ns before it awaits each
    const char *function; // of Main, that main calls for it; NULL: none
};

// Loads of morning and evening: what is awaited at once in one runs beside in the other, but line 6 never does.
enum { LOADS_OF_DAY = 3 };
extern const struct load loads_morning[LOADS_OF_DAY], loads_evening[LOADS_OF_DAY];

struct trace_builder *loads_trace(const struct load *loads, size_t count);

// The same with tasks of task_ns.
struct trace_builder *loads_run(const struct load *loads, size_t count, uint64_t task_ns);

#endif
