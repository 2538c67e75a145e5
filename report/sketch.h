// SPDX-License-Identifier: GPL-3.0-or-later
// How a change is made: for an improvement a short piece of Java as it is and as it would be, with the names that the
// recording has (class, method, line, pool, resource, actor, numbers), and what to watch for. It is no patch: a trace
// has no source, so that work(input), part1(...) and the like stand for code of the program.
#ifndef REHYPE_REPORT_SKETCH_H
#define REHYPE_REPORT_SKETCH_H

#include "optimize/improvement.h"

enum { SKETCH_WATCH_MOST = 4 };

struct sketch {
    const char *before, *after;           // lines of Java, each with its end; settings stand in comments
    const char *watch[SKETCH_WATCH_MOST]; // sentences, at least one
    size_t watch_count;
};

// Of any kind, also one that can't be estimated, or is open: a number that is still to be chosen is `n`. All in the
// arena. UTF-8 without control characters, whatever the trace holds. false: no memory. Cost: some microseconds; of
// hoist-branch a branch_find.
bool sketch_make(const struct improvement *improvement, struct arena *arena, struct sketch *sketch);

// Where the code stands that the change is of: the spawn site, or where a resource is waited for. NULL: not known, as
// of pools and actors.
const struct trace_site *sketch_site(const struct improvement *improvement);

#endif
