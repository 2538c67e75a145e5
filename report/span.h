// SPDX-License-Identifier: GPL-3.0-or-later
// What a thread is in for some time, with a name and details as people read them: what timelines (timeline.h) are made
// of.
#ifndef REHYPE_REPORT_SPAN_H
#define REHYPE_REPORT_SPAN_H

#include "dag/dag.h"

enum span_kind {
    SPAN_TASK,     // a body; also what an actor does, and its initialisation
    SPAN_FUNCTION, // a call
    SPAN_SPAWN,    // handing a task over
    SPAN_WAIT,     // asleep for a result, or a pool's end, that is known
    SPAN_BLOCKED,  // asleep for anything else
    SPAN_SLEEP,    // likewise, though no event says so: in the longest of what lies between events there
    SPAN_PAUSE,    // of the whole JVM
};

struct span {
    enum span_kind kind;
    uint32_t of;    // task, what is waited for among them; of functions a trace method; of resources an ask; DAG_NONE
    uint32_t site;  // trace site of the wait, 0 unknown
    uint32_t pool;  // of a wait: trace pool id of the pool whose end it is for, 0 none
    uint32_t class; // of what is blocked, without a resource: trace class of what it sleeps on, 0 unknown
    uint64_t actor; // of what an actor does: its id in the trace, 0 none
};

#define SPAN_NAME_BYTES 600

// "AgeQuery.serve:60", "wait for AgeQuery.submitQuery:37", "blocked: lock Bank.lock". Names are of what is alike, so
// that they add up in flame graphs; what tells one from another is in the details. Returns text.
const char *span_name(const struct dag *dag, const struct span *span, char *text, size_t size);

// The task that a wait is for, an index; DAG_NONE unknown.
uint32_t span_awaited(const struct dag *dag, const struct span *span);

extern const char *const span_kind_names[]; // by enum span_kind

// Takes details, one by one: by a key such as "task", "place" or "queue_wait_ns" either a text or a number. Texts are
// valid during the call.
struct detail_taker {
    void *context;
    void (*text)(void *context, const char *key, const char *text);
    void (*number)(void *context, const char *key, uint64_t number);
};

void span_details(const struct dag *dag, const struct span *span, const struct detail_taker *taker);

// Where it is in the sources; file NULL and line 0 where that is not known.
struct span_place {
    const char *file;
    uint32_t line;
};
struct span_place span_place(const struct dag *dag, const struct span *span);

#endif
