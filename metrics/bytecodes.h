// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytecodes tasks executed, of traces that count them: task granularity by the other measure of T 3.7.1, which
// depends neither on the machine nor on its load, but takes all instructions for alike. A property of the recorded run;
// no edit changes it. Actors are no tasks: what they execute in one is that one's.
#ifndef REHYPE_METRICS_BYTECODES_H
#define REHYPE_METRICS_BYTECODES_H

#include "metrics/figures.h"

struct bytecodes_site {
    uint32_t site; // index into dag->sites; DAG_NONE: of tasks that nobody was seen to spawn (main)
    uint64_t tasks;
    double total;
    struct quantiles executed; // by a task
};

struct bytecodes {
    bool counted; // whether the trace says; else all is zero or NAN
    uint64_t tasks;
    double total;
    struct quantiles executed;    // by a task
    struct bytecodes_site *sites; // by what all tasks of one executed, most first; in the arena
    size_t site_count;
};

// Of the tasks that began within the window (NULL: all) and are known to have ended. The JVM's own threads are left
// out. False and *error only when there is no memory. Cost: 200 ns a task.
bool bytecodes_find(const struct dag *dag, const struct window *window, struct arena *arena, struct bytecodes *found,
                    struct error *error);

#endif
