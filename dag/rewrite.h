// SPDX-License-Identifier: GPL-3.0-or-later
// One thread's events under an edit, for dag_write.
#ifndef REHYPE_DAG_REWRITE_H
#define REHYPE_DAG_REWRITE_H

#include "dag/idmap.h"
#include "dag/propagate.h"

struct stream_events {
    struct event *events;
    uint64_t count;
};

struct moved_body;

// Zero-initialise, then fill in the first five.
struct rewrite {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct dag_run *run;
    const struct stream_events *streams; // by index into trace->streams
    struct idmap inlined;                // ids of inlined tasks

    struct event *out; // the result. Until they are settled, times are int64_t
    size_t count, capacity;

    size_t settled;         // out[settled..] may yet have to make room for the next vertex
    uint32_t source;        // thread whose recorded events are being read
    int64_t from_ns, to_ns; // what was recorded at from_ns comes at to_ns
    int64_t cpu_shift;      // added to what the source's events say of the thread's computing so far
    uint64_t last_cpu;
    struct moved_body *bodies; // that the chain is in, outermost first
    size_t depth, body_capacity;
    bool no_memory;
};

// Leaves the events of a thread in out[0..count). false when there is no memory.
bool rewrite_thread(struct rewrite *rewrite, uint32_t thread);
void rewrite_destroy(struct rewrite *rewrite); // what it owns: out, bodies, inlined

#endif
