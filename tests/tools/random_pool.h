// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of random programs on thread pools whose recorded times are those of the rules themselves (dag/simulate.h), so
// that a replay without an edit has to give them back. Unlike random_trace, which plays any event that can happen, this
// plays pools by their rules and cores by fair sharing, with what handing over and picking up costs given.
#ifndef REHYPE_TESTS_RANDOM_POOL_H
#define REHYPE_TESTS_RANDOM_POOL_H

#include "dag/dag.h"
#include "random_trace.h"

#define RANDOM_POOLS_MAX 3

enum pool_rules {
    POOL_FIXED,    // FIFO, core = maximum
    POOL_GROWING,  // FIFO with a bounded queue, core < maximum
    POOL_CACHED,   // hand-off, no core, no bound
    POOL_PRIORITY, // fixed, its queue in order of a priority that only the program knows
    POOL_STEALING, // ForkJoinPool
    POOL_RULES
};

// Times in ns. A cost is a base and up to jitter_ns more, by chance. Bases should exceed 20 ns.
struct random_pool {
    uint64_t seed;
    uint32_t cores; // shared fairly by all that compute; 0: each thread has one
    uint32_t pool_count;
    struct {
        enum pool_rules rules;
        uint32_t threads, maximum, capacity; // capacity of the queue: of POOL_GROWING
        bool caller_runs;
    } pools[RANDOM_POOLS_MAX];
    uint32_t tasks;   // at most, main included
    uint64_t work_ns; // of a step, at most; a task has one to four steps
    bool sleeps;      // some steps sleep
    bool threads;     // some tasks have a thread of their own
    bool waits;       // coordinators wait for their tasks
    bool shuts_down;  // all tasks are awaited, then main shuts all pools down and awaits their termination
    bool measured; // boundaries around brackets and where sleeps begin and end, so that what each edge computed can be
                   // told exactly
    uint64_t bracket_ns[DISPATCH_KINDS], pickup_ns[DISPATCH_KINDS], wakeup_ns, jitter_ns;
};

// Options by chance, of which `cores` are given.
struct random_pool random_pool_options(uint64_t seed, uint32_t cores);

// The same options give the same trace. No program hangs.
struct trace_builder *random_pool_trace(const struct random_pool *options);

#endif
