// SPDX-License-Identifier: GPL-3.0-or-later
// In which calling contexts the tasks of a site are created, handed over and begun, as the tracer's samples tell: T 3.4
// asks for them to find the code that a change of grain has to be made in. A property of the recorded run.
#ifndef REHYPE_METRICS_CALLING_CONTEXTS_H
#define REHYPE_METRICS_CALLING_CONTEXTS_H

#include "dag/dag.h"

struct calling_context {
    enum calling_kind kind;
    uint32_t context; // index into trace->calling_contexts
    uint64_t samples; // stacks that were taken and were this one
    double share;     // of the site's tasks of that kind, about, 0..1
};

struct calling_site {
    uint32_t site;       // index into dag->sites; DAG_NONE: tasks that nobody was seen to hand over, or no site did
    uint32_t task_class; // trace class id of those; else of most of the site's tasks
    uint64_t tasks;
    struct calling_context *contexts; // by kind, then by share, largest first
    size_t context_count;
};

struct calling_contexts {
    struct calling_site *sites; // most tasks first; in the arena
    size_t site_count;
    uint64_t left_out; // stacks that the tracer had no room for
};

// Samples of tasks that the trace tells nothing else of are left out. False and *error only when there is no memory.
// Cost: 10 ns a task, 200 ns a sample.
bool calling_contexts_find(const struct dag *dag, struct arena *arena, struct calling_contexts *found,
                           struct error *error);

#endif
