// SPDX-License-Identifier: GPL-3.0-or-later
// Event loops that answer requests themselves, as Netty's may: a thread selects the connections that can be read,
// serves them one after the other, runs what it was given to run, and selects again. A connection stays with its loop.
// What such a loop does for a request is no task of a pool that the trace knows, and each loop is an executor of its
// own.
//
// Loops of one kind and name are a group. Such a loop has one thread and no queue that the trace tells, says when it
// selects (IDLE, BUSY), and begins requests outside of tasks; nearly all of these end there.
//
// When a request came, a select tells: one that slept was woken by what it found. What a select found that did not
// sleep came since the select before, and since the connection's request before was answered; then it is taken to have
// come as long after that answer as those whose arrival is known. A select that slept for less than half of that time
// may have done so for other reasons: where much is ready, it takes long by itself.
#ifndef REHYPE_DAG_LOOPS_H
#define REHYPE_DAG_LOOPS_H

#include "base/error.h"
#include "tracefile/reader.h"

#define LOOPS_NONE UINT64_MAX

struct loop_request {
    uint64_t id, connection;
    uint64_t looked_ns;   // when the select before the one that found it was over; it may have come since
    uint64_t found_ns;    // when the one that found it was
    uint64_t answered_ns; // when its connection's request before was; 0: it is the first
    uint64_t came_ns;     // once the groups are known
    uint64_t end_ns;      // LOOPS_NONE: it ended elsewhere, or never
    uint32_t stream;
    uint64_t slept_ns; // of the select that found it
};

struct loop_pool {
    uint32_t threads, requests, ended, selects;
    uint32_t group; // pool that stands for its group, 0: it is no such loop
    uint32_t loops; // of that pool: how many there are
};

// Release with loops_destroy, whatever loops_find returned.
struct loops {
    const struct trace *trace;
    struct loop_pool *pools;       // a pool each
    uint32_t *pool_of;             // a stream each: pool that its thread works for, 0 none
    uint64_t *body_of;             // a stream each: task within which its loop runs, LOOPS_NONE: none is on record
    struct loop_request *requests; // of groups alone; stream by stream, in order
    uint32_t request_count, request_capacity;
    double ns_per_cpu; // of what `cpu` operands count
    uint64_t highest;  // of the ids that the trace names
    bool any;          // there is a group
};

// Cost: nothing without requests, else a decode of the trace. false and *error: a damaged trace, no memory.
bool loops_find(const struct trace *trace, struct loops *loops, struct error *error);
void loops_destroy(struct loops *loops);

#endif
