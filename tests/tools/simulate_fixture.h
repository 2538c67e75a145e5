// SPDX-License-Identifier: GPL-3.0-or-later
// A trace with all that is made of it: DAG, edit, run, simulation. Errors abort the test.
#ifndef REHYPE_TESTS_SIMULATE_FIXTURE_H
#define REHYPE_TESTS_SIMULATE_FIXTURE_H

#include "dag/simulate/simulate.h"
#include "random_pool.h"

struct simulate_fixture {
    struct trace_builder *tb; // NULL: the trace came without
    struct trace *trace;
    struct dag *dag;
    struct dag_edit edit; // empty
    struct dag_run run;   // not propagated
    struct costs *costs;
    struct simulation *simulation;
    struct error error; // for what the test itself calls
};

void simulate_fixture_open(struct simulate_fixture *fixture, struct trace_builder *tb);  // which it owns from now on
void simulate_fixture_open_trace(struct simulate_fixture *fixture, struct trace *trace); // likewise
void simulate_fixture_close(struct simulate_fixture *fixture);

// Of a random program; `cores` as in random_pool_options.
void simulate_fixture_open_random(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);

// And of what it recorded some is lost.
void simulate_fixture_open_lossy(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);

// Of one whose tasks also take and give back locks and permits, some with time limits.
// Workers retire that idle.
void simulate_fixture_open_keep_alive(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);
// Pools make workers before tasks queue (random_pool_add_growth).
void simulate_fixture_open_growth(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);
// Of one in which waits for tasks have a time limit that none of them reaches.
void simulate_fixture_open_wait_limits(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);
void simulate_fixture_open_resources(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores, bool limits);

// The edit is emptied, then inlines each task that can be with a chance of `share` in `of`.
void simulate_fixture_inline_random(struct simulate_fixture *fixture, struct random_source *source, uint64_t share,
                                    uint64_t of);

// The run written as a trace, or the one that an edit makes of the DAG under MODEL_DAG, and opened again. The caller
// closes it.
struct trace *written_run(const struct dag *run);
struct trace *written_edit(const struct dag *dag, const struct dag_edit *edit);

void must(bool good, const struct error *error); // or aborts the test, with the error's text

// What the simulation does not know yet, tests ask of the reference alone.
bool simulates(const struct dag_edit *edit, enum model_kind kind);

int64_t run_wall_ns(const struct dag *run);

#endif
