// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that stand in one file, each as a process of its own: numbers that tell their threads, tracks and flows apart.
#ifndef REHYPE_REPORT_BESIDE_H
#define REHYPE_REPORT_BESIDE_H

#include "report/timeline.h"

struct beside {
    const struct timeline *timeline;
    uint32_t pid;         // the recorded one, unless another run of the file has it
    uint64_t first_track; // its tracks' numbers, from this on
    uint64_t first_flow;  // is added to its flows' numbers
};

#define BESIDE_TRACKS 16 // of a run, before those of its threads

// Numbers the runs, whose timelines are set.
void beside_number(struct beside *runs, size_t count);

// Of a thread (index into the DAG's): as the JVM's are numbered from its process's on.
static inline uint64_t beside_tid(const struct beside *run, uint32_t thread) {
    return (uint64_t)run->pid + 1 + thread;
}

static inline uint64_t beside_track(const struct beside *run, uint32_t thread) {
    return run->first_track + BESIDE_TRACKS + thread;
}

// "java -jar app.jar": what was recorded, without the option that names the tracer. Returns text.
const char *beside_command(const struct trace *trace, char *text, size_t size);

// "recorded: java -jar app.jar". Returns text.
const char *beside_name(const struct beside *run, char *text, size_t size);

#endif
