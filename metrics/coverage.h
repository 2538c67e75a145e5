// SPDX-License-Identifier: GPL-3.0-or-later
// What sampled stacks have seen of a program, by repetitions: S (Bergel, Pena, Sandoval: The Hidden Face of Execution
// Sampling). coverage_find.h says what follows from it.
//
// A repetition is one trace, or one call of a unit's method: what its own thread was seen in from that method inwards.
// A method is seen if it stands anywhere on a stack. Methods that count match globs, or are none of the JDK's (nor what
// it makes of lambdas). The whole that shares are of comes from a woven recording, as in S Sec. 2.1: the methods that
// were entered there, of a unit within its calls; else it is estimated by Chao2 from repetitions, of a single one by
// Chao1 from its stacks.
#ifndef REHYPE_METRICS_COVERAGE_H
#define REHYPE_METRICS_COVERAGE_H

#include "base/error.h"
#include "metrics/figures.h"
#include "metrics/seen_methods.h"
#include "tracefile/reader.h"

struct coverage_rules {
    struct method_globs globs; // empty: those of the first sampled trace's recording
    const char *unit;          // Class.method, or NULL
};

// Of all traces together.
struct coverage_stacks {
    uint64_t moments;
    uint64_t stacks;          // of a unit, those of threads that called it
    uint64_t outside;         // of these, in no call of the unit
    uint64_t virtual_threads; // of which no stacks are taken
    struct trace_stack_costs costs;
};

// What traces have brought so far.
struct coverage {
    struct method_globs globs;
    char *unit; // with dots
    const char *program;
    const char *program_path; // of the trace that ran it
    bool has_whole, has_stacks;
    struct seen_methods methods;
    uint64_t repetitions;
    uint64_t runs; // of stacks, looked at
    struct coverage_stacks stacks;
    struct arena arena;
};

// NULL and *error without memory. The rules' texts are borrowed.
struct coverage *coverage_new(const struct coverage_rules *rules, struct error *error);
void coverage_free(struct coverage *coverage); // NULL is fine

// A woven recording, whose methods are the whole; of several, those of all. A trace may be closed afterwards. Errors
// (STATUS_BAD_INPUT): it is a sampled one, has no functions, not the unit's, or is another program's than those before.
// Cost: 10 ns an event.
bool coverage_add_whole(struct coverage *coverage, const struct trace *trace, struct error *error);

// A sampled recording, or a window of it (NULL: all): what was seen at moments, and of a unit in calls that begin, in
// it. What sampling cost is of all of it. Errors (STATUS_BAD_INPUT): it has no stacks, there or at all, no calls of the
// unit, or is another program's. Cost: a step a frame of each run of stacks, of a unit's thread each stack.
bool coverage_add(struct coverage *coverage, const struct trace *trace, const struct window *window,
                  struct error *error);

#endif
