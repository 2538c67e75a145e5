// SPDX-License-Identifier: GPL-3.0-or-later
// A part of a trace that is open for analysis, in which searching is cheap (metrics/part.h).
#ifndef REHYPE_CLI_PART_H
#define REHYPE_CLI_PART_H

#include "cli/analysis.h"
#include "metrics/part.h"

struct analysis_part {
    struct part range; // without requests: there is none
    struct trace_memory memory;
    struct trace *trace;
    struct dag *dag;
    struct estimator estimator; // of all of it, without the same corrections as the whole's
};

struct analysis_parts {
    struct analysis_part *parts; // one a trace
    struct estimator **estimators;
    size_t count; // 0: some trace has none, or its search is as cheap without
};

// Looks for one of each trace, in its window. keep_tracer_cost as they were opened. Arrays are the arena's. parts_close
// in any case.
bool parts_open(struct analysis *const *wholes, size_t count, bool keep_tracer_cost, struct arena *arena,
                struct analysis_parts *parts, struct error *error);
void parts_close(struct analysis_parts *parts); // harmless on zeros

#endif
