// SPDX-License-Identifier: Apache-2.0
// The interned things that events name by number. Ids are given by whoever writes the trace, start at 1, and are
// written before the first event that uses them; 0 always means "none". Strings are UTF-8, owned by the trace (reader)
// or only borrowed during the call (writer); NULL is unknown.
#ifndef REHYPE_TRACEFILE_TABLES_H
#define REHYPE_TRACEFILE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A function, or the place in one where something is spawned or awaited.
struct trace_method {
    const char *class_name; // dotted, java.lang.String; a nested class keeps its $
    const char *name;       // as in the class file (lambda$main$0)
    const char *descriptor; // (I)V
    const char *file;       // AgeQuery.java or NULL
    uint32_t line;          // first line, 0 if unknown
};

struct trace_site {
    const char *class_name, *method, *descriptor, *file;
    uint32_t line; // 0 if unknown
    int32_t bci;   // in the class file as the user has it; -1 if unknown
    // Since version 7, and not of frames. The innermost frame of a library between the site and what it calls: the
    // library's call through which the application spawns, waits or acquires; NULL: none stands between.
    const char *through_class, *through_method;
    bool of_library; // no frame of the application's is on the stack: the place is a library's own
};

// What requests ask for: "GET /product/{id}", method and route, or where that is unknown the application's code.
struct trace_endpoint {
    const char *name; // NULL unknown
};

struct trace_class {
    const char *name; // class of a task's payload; for a lambda the method that holds its body, Main.lambda$main$0
};

enum pool_flag {
    POOL_CORE_TIMES_OUT = 1, // idle core workers end, too
    POOL_GROWS_FIRST = 2,    // where none is free another is made, up to the maximum, before a task queues
    POOL_WAKES_FIRST = 4,    // one that sleeps takes a task before another is made, though there are fewer than core
    POOL_STAGE = 8, // a queue from which threads of the program's own take in a loop: it makes none and ends none
    // Of traces told anew alone:
    POOL_EVENT_LOOPS = 16, // each of its threads has a queue of its own (dag/build/loops_told.h)
    POOL_DEALT = 32,       // and tasks are dealt to them (dag/build/dealt.h)
};

struct trace_pool {
    const char *kind;  // class of the executor, java.util.concurrent.ThreadPoolExecutor
    const char *queue; // class of its queue, or NULL
    const char *name;  // as its threads are named without the number ("pool-1"), or NULL
    int32_t core, maximum;
    int64_t capacity;      // of the queue, -1 if unknown or unbounded
    int64_t keep_alive_ns; // after which idle workers end, -1 if unknown
    const char *rejection; // class of what handles rejected tasks, or NULL
    uint32_t flags;
};

enum resource_kind {
    RESOURCE_MONITOR = 0,
    RESOURCE_LOCK = 1,
    RESOURCE_READ_WRITE_LOCK = 2,
    RESOURCE_PERMITS = 3,
    RESOURCE_PLACES = 4, // of a bounded queue
    RESOURCE_POOL = 5,   // objects that go round: connections
    RESOURCE_QUEUE = 6,  // of which it is not known whether its elements go round
    RESOURCE_RATE = 7,
    RESOURCE_KINDS
};

enum { RESOURCE_FAIR = 1, RESOURCE_READERS_PASS = 2 }; // readers come in though a writer waits

// What threads hold and wait for. Its id is of the series of the tasks'.
struct trace_resource {
    uint64_t id;
    const char *name; // as a user would call it ("HikariPool-1", Class.field), or NULL
    int64_t capacity; // permits, places, connections; 1 of a lock; -1 unknown
    uint32_t kind;    // enum resource_kind
    uint32_t class;   // of the object, 0 unknown
    uint32_t flags;
};

// A task that lay in a pool's queue when recording began.
struct trace_queued {
    uint64_t task;
    uint32_t class; // of its payload, 0 unknown
    uint32_t pool;
};

// What the tracer stopped the whole JVM for.
enum trace_stop_kind { STOP_TO_LOOK = 0, STOP_TO_WEAVE = 1 };

// How long it stood still, by the JVM's own counters.
struct trace_stop {
    uint64_t time; // when it was asked to; ns in a trace that was read, ticks in the tracer
    uint64_t ns;
    uint32_t kind; // enum trace_stop_kind; later writers may know more
};

// An actor's name, by which its parent knows it; of one that has no parent its whole path.
struct trace_actor {
    uint64_t id;
    const char *name;
};

// A calling context: a stack, as its innermost frame and the context that called it. Ids of contexts are their own,
// and a context's callers have lower ones.
struct trace_calling_context {
    uint32_t caller; // context; 0: nothing called it, or no more is known
    uint32_t frame;  // id in the trace's frames; 0: frames that were left out, the stack being deeper than is recorded
};

enum calling_kind { CALLING_CREATED = 0, CALLING_SUBMITTED = 1, CALLING_EXECUTED = 2, CALLING_KINDS };

// Where one task was created, handed over, or begun. Of many tasks alike only some are looked at.
struct trace_calling_sample {
    uint64_t task;
    uint64_t stands_for; // so many tasks, about; at least 1
    uint32_t context;    // never 0
    uint32_t kind;       // enum calling_kind
};

// A sampled stack (record --sample), which a thread had at `count` moments one after the other. Its context's frames
// tell methods alone: their bci is -1, their line the method's first.
struct trace_stack_run {
    uint32_t thread;
    uint32_t context;      // never 0
    uint64_t first, count; // moments: indices into trace_stacks.moments, or, of an open trace, into all of them
};

// What sampling lost, and what it cost.
struct trace_stack_costs {
    uint64_t missed;   // moments that were due while the one before was still under way
    uint64_t left_out; // stacks that the tracer had no room for
    uint64_t take_ns;  // from asking the JVM for stacks until they were there; its threads stand still in part of that
    uint64_t work_ns;  // of the sampling thread, the former included
};

// Moments at which all threads' stacks were taken, and these stacks. Threads without a Java frame have none.
struct trace_stacks {
    const uint64_t *moments; // rising; ticks (writer), or ns since the trace's first event (open trace)
    size_t moment_count;
    const struct trace_stack_run *runs;
    size_t run_count;
    struct trace_stack_costs costs;
};

enum { THREAD_SYSTEM = 1, THREAD_DAEMON = 2, THREAD_VIRTUAL = 4 }; // SYSTEM: the JVM's own, never counted

struct trace_thread {
    const char *name;
    uint32_t flags;
};

#endif
