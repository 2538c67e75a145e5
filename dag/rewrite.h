// SPDX-License-Identifier: GPL-3.0-or-later
// One thread's events in a run, recorded or simulated, for dag_write_run.
#ifndef REHYPE_DAG_REWRITE_H
#define REHYPE_DAG_REWRITE_H

#include "dag/dag.h"
#include "dag/rewrite_actors.h"

struct stream_events {
    struct event *events;
    uint64_t count;
};

// Where the reading of a recorded thread stands.
struct reading {
    uint64_t cpu; // last that one of its events said of what the thread had computed
};

// Zero-initialise, then call rewrite_init.
struct rewrite {
    const struct dag *run, *recorded;    // recorded: what the run was simulated from, or the run itself
    const struct stream_events *streams; // by index into trace->streams
    struct idmap folded;                 // ids of tasks that run inside others in this run only
    struct idmap redealt;                // ids of requests that come by other connections: index into run->requests
    struct idmap delayed;                // ids of tasks that are due at some time
    struct idmap shared_out;             // of redispatched runs, ids of units that others may have taken
    uint64_t *run_ids;                   // a thread of the run each: task id of its run(), for new ones

    struct rewritten_actors actors;
    uint64_t *part_ids; // of parts of tasks, in the order of the run's tasks
    bool *unmade; // of redispatched runs, a recorded vertex each: of the making of a worker that was made otherwise

    struct event *out; // the result. Until they are settled, times are int64_t
    size_t count, capacity;

    size_t settled;           // out[settled..] may yet have to make room for the next vertex
    struct reading *readings; // a recorded thread each
    uint32_t thread;          // of the run
    uint32_t source, at;      // recorded thread and vertex whose events were read last, DAG_NONE
    int64_t from_ns, to_ns;   // what was recorded at from_ns comes at to_ns
    int64_t stretch_ns;       // ... and what was recorded at from_ns + span_ns comes this much after it
    int64_t span_ns;          // 0: distances are kept
    int64_t cpu_shift;        // added to what the source's events say of the thread's computing so far
    uint64_t last_cpu;
    // Of redispatched runs, whose threads' computing is not that of recorded ones. In ns:
    uint64_t computed_ns;     // by the thread so far, and 1
    int64_t queued_ns;        // that it has waited for cores so far; a virtual one, since it was told
    bool tells_queued;        // it has grown since then
    struct anchor {           // the last vertex of the thread whose event told of computing
        uint32_t source;      // recorded thread, DAG_NONE
        uint64_t cpu;         // that it told
        uint64_t computed_ns; // of this run's thread there
        double ns_per_cpu;    // up to the next such vertex: what the run computes over what was told; 0 unknown
    } anchor;
    uint64_t between_ns; // by then it has computed so much, of the event in hand, which is no vertex; 0: of one
    uint64_t told_ns;    // by the thread's last event that told of computing
    bool tells_limits;   // whether the wait that ends next gives up is told of this run
    bool no_memory;
};

// `next_id` is an id that no task of the recording has, nor have those after it; it is raised by as many as are used.
bool rewrite_init(struct rewrite *rewrite, const struct dag *run, const struct stream_events *streams,
                  uint64_t *next_id, struct error *error);
// Leaves the events of a thread in out[0..count). false when there is no memory.
bool rewrite_thread(struct rewrite *rewrite, uint32_t thread);
void rewrite_destroy(struct rewrite *rewrite);

#endif
