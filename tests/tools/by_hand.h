// SPDX-License-Identifier: GPL-3.0-or-later
// Programs on one pool whose events are given by hand, for runs that are solved by hand. On trace_builder (whose events
// can be mixed in) and simulate_fixture. Errors abort the test.
//
//     struct by_hand p = by_hand_begin(NULL, 2);
//     by_hand_spawn(&p, HAND_MAIN, 100, 120, 1);
//     by_hand_task(&p, HAND_FIRST, 110, 200, 1);
//     by_hand_open(&p, 1000);
//     const struct dag *run = by_hand_simulate(&p, MODEL_POOL);
//     ...
//     simulate_fixture_close(&p.fixture);
#ifndef REHYPE_TESTS_BY_HAND_H
#define REHYPE_TESTS_BY_HAND_H

#include "simulate_fixture.h"

enum { HAND_MAIN = 1, HAND_FIRST, HAND_SECOND }; // threads: main, and workers, of which there may be more
enum { HAND_M = 100 };                           // main's task

struct by_hand {
    struct trace_builder *tb;
    uint32_t pool, site;             // of what is spawned: pool-1, Main.run:12
    struct simulate_fixture fixture; // to be opened, by by_hand_open or as any
};

// Threads without events. NULL: a fixed pool of so many workers.
struct by_hand by_hand_new(const struct trace_pool *pool, uint32_t workers);
// Main is in main() from 0 on, until by_hand_open says.
struct by_hand by_hand_begin(const struct trace_pool *pool, uint32_t workers);
void by_hand_open(struct by_hand *p, uint64_t main_ends_ns);

void by_hand_spawn(struct by_hand *p, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t task);
void by_hand_start(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task);
void by_hand_end(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task);
void by_hand_task(struct by_hand *p, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint64_t task); // both

// The run under fixture.edit, which must come to its end.
const struct dag *by_hand_simulate(struct by_hand *p, enum model_kind model);

uint32_t by_hand_index(const struct dag *dag, uint64_t id); // of the task; it must be there

#endif
