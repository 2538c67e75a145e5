// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of random programs on thread pools whose recorded times are those of the rules themselves
// (dag/simulate/simulate.h), so that a replay without an edit has to give them back. Unlike random_trace, which plays
// any event that can happen, this plays pools by their rules and cores by fair sharing, with what handing over and
// picking up costs given.
#ifndef REHYPE_TESTS_RANDOM_POOL_H
#define REHYPE_TESTS_RANDOM_POOL_H

#include "dag/dag.h"
#include "random_trace.h"

#define RANDOM_POOLS_MAX     3
#define RANDOM_RESOURCES_MAX 3

// What tasks do. Task t's id in the trace is PROGRAM_TASK_ID + t. Task 0 is main, and spawns or has spawned by others
// all the rest, each once.
enum { PROGRAM_TASK_ID = 1000, PROGRAM_TASKS_MAX = 64, PROGRAM_STEPS_MAX = 64 };
enum program_action {
    ACT_NOTHING,
    ACT_SPAWN,
    ACT_WAIT,
    ACT_SHUTDOWN,
    ACT_AWAIT_POOL,
    ACT_ACQUIRE,
    ACT_RELEASE,
    ACT_END
};

enum program_sleep { SLEEPS_NOT, SLEEPS_UNSEEN, SLEEPS_FOR_UNKNOWN }; // the last is recorded, but not for what

struct program_step { // works, then acts
    uint64_t work_ns;
    enum program_sleep sleeps; // instead of computing
    enum program_action action;
    uint32_t what;      // task, or index of a pool or a resource
    bool shared;        // of ACT_ACQUIRE and ACT_RELEASE: as a reader
    uint64_t limit_ns;  // of ACT_ACQUIRE: 0, or the task does not wait for longer
    uint32_t otherwise; // and then goes on with this step
};

enum result_event { RESULT_BEFORE_END, RESULT_AT_END, RESULT_AFTER_END };

struct program_task {
    struct program_step steps[PROGRAM_STEPS_MAX]; // the last is ACT_END
    uint32_t step_count;
    uint32_t pool; // index; pool_count: a thread of its own
    uint32_t priority;
    enum result_event result_event;
};

struct program {
    struct program_task tasks[PROGRAM_TASKS_MAX];
    uint32_t task_count;
};

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
        uint64_t keep_alive_ns; // 0: idle workers stay
        bool core_times_out;
        bool grows_first, wakes_first; // of pools with a queue
    } pools[RANDOM_POOLS_MAX];
    // Tasks take them in rising order and give them back in falling order, so that none waits for ever. A lock that is
    // not fair, and what else is not, is had by whichever task comes: one that is woken needs wakeup_ns to come.
    uint32_t resource_count;
    struct {
        enum resource_kind kind; // RESOURCE_LOCK, RESOURCE_READ_WRITE_LOCK or RESOURCE_PERMITS
        uint32_t capacity;
        bool fair, readers_pass;
    } resources[RANDOM_RESOURCES_MAX];
    bool limits;            // some tasks go on without a resource when their time is up
    uint32_t tasks;         // at most, main included
    uint64_t work_ns;       // of a step, at most; a task has one to four steps
    bool sleeps;            // some steps sleep
    bool threads;           // some tasks have a thread of their own
    bool waits;             // coordinators wait for their tasks
    uint64_t wait_limit_ns; // for no longer than this, which must be longer than any wait; 0: as long as it takes
    bool helps;             // waiters of stealing pools take up others' tasks, and not only what they wait for
    bool dies_out;          // recording goes on until all workers have retired that will
    bool shuts_down;        // all tasks are awaited, then main shuts all pools down and awaits their termination
    bool measured; // boundaries around brackets and where sleeps begin and end, so that what each edge computed can be
                   // told exactly
    uint64_t bracket_ns[DISPATCH_KINDS], pickup_ns[DISPATCH_KINDS], wakeup_ns, jitter_ns;
};

// Options by chance, of which `cores` are given.
struct random_pool random_pool_options(uint64_t seed, uint32_t cores);

// Lets workers retire that idle, by chance. Of pools that do not steal.
void random_pool_add_keep_alive(struct random_pool *options);

// Lets pools with a queue grow before it, and wake workers before they make others, by chance.
void random_pool_add_growth(struct random_pool *options);

// Adds resources, by chance.
void random_pool_add_resources(struct random_pool *options, bool limits);

// The same options give the same program, which never hangs.
void random_pool_program(const struct random_pool *options, struct program *program);

// A run of the program with such pools, cores and costs.
struct trace_builder *program_trace(const struct program *program, const struct random_pool *options);

#endif
