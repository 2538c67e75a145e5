// SPDX-License-Identifier: GPL-3.0-or-later
// Traces by hand in which one thing happens after the other, every event STEP_NS after the one before, whichever thread
// it is of. On trace_builder; threads MAIN, WORKER and OTHER are there from the start, and MAIN is in main, task M.
#ifndef REHYPE_TESTS_STEPS_H
#define REHYPE_TESTS_STEPS_H

#include "dag/dag.h"
#include "trace_builder.h"

enum { STEP_MAIN = 1, STEP_WORKER = 2, STEP_OTHER = 3 }; // threads
enum { STEP_M = 100, STEP_NS = 10 };

struct steps {
    struct trace_builder *tb;
    uint64_t now_ns;
    uint32_t pool, site; // of what is spawned; Main.run:12 and pool-1, of two threads
    struct trace *trace; // from steps_build on
    struct dag *dag;
};

void steps_begin(struct steps *steps);
void steps_build(struct steps *steps); // main ends here; asserts that all goes well
void steps_end(struct steps *steps);

#define step(steps, thread, ...) tb_event((steps)->tb, (thread), (steps)->now_ns += STEP_NS, __VA_ARGS__)

void step_spawn(struct steps *steps, uint32_t thread, uint64_t task);
void step_start(struct steps *steps, uint64_t task); // on the worker
void step_finish(struct steps *steps, uint64_t task);
void step_body(struct steps *steps, uint64_t task); // both
void step_await(struct steps *steps, uint32_t thread, uint64_t task);

uint32_t steps_task(const struct steps *steps, uint64_t id); // index in the DAG; it must be there

#endif
