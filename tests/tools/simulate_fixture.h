// SPDX-License-Identifier: GPL-3.0-or-later
// A trace with all that its simulation needs. Errors abort the test.
#ifndef REHYPE_TESTS_SIMULATE_FIXTURE_H
#define REHYPE_TESTS_SIMULATE_FIXTURE_H

#include "dag/simulate/simulate.h"
#include "random_pool.h"

struct simulate_fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct costs *costs;
    struct simulation *simulation;
    struct dag_edit edit; // empty
};

void simulate_fixture_open(struct simulate_fixture *fixture, struct trace_builder *tb); // which it owns from now on
void simulate_fixture_close(struct simulate_fixture *fixture);

// Of a random program; `cores` as in random_pool_options.
void simulate_fixture_open_random(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores);

// What the simulation does not know yet, tests ask of the reference alone.
bool simulates(const struct dag_edit *edit, enum model_kind kind);

int64_t run_wall_ns(const struct dag *run);

#endif
