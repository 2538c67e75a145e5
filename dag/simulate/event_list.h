// SPDX-License-Identifier: GPL-3.0-or-later
// The event list: what happens next in a simulation, as notices in order of time. A notice has a type and a subject, a
// number of the type's own kind; each subject has one notice at most. At one time they come by the kind of subject, and
// of one kind by subject, so that the order depends on nothing else.
#ifndef REHYPE_DAG_EVENT_LIST_H
#define REHYPE_DAG_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum notice_subject { SUBJECT_JOB, SUBJECT_RESOURCE, SUBJECT_PROCESS, SUBJECT_CARRIER, SUBJECT_KINDS };

enum notice_type {
    NOTICE_DUE,     // a job's delay is over
    NOTICE_RELEASE, // a resource comes back whose releases are not told
    NOTICE_TURN,    // a process comes to its next vertex, or begins to compute up to it
    NOTICE_FREE,    // a worker asks for a job
    NOTICE_ARRIVAL, // a worker that was called is there
    NOTICE_IDLE,    // a worker has been idle for as long as it may be
    NOTICE_LIMIT,   // a process has waited for a resource for as long as it would
    NOTICE_UNPIN,   // a process that sleeps need not keep its carrier any more, by which that is named
    NOTICE_TYPES
};

static inline enum notice_subject notice_subject_of(enum notice_type type) {
    if (type == NOTICE_UNPIN) return SUBJECT_CARRIER;
    return type == NOTICE_DUE ? SUBJECT_JOB : type == NOTICE_RELEASE ? SUBJECT_RESOURCE : SUBJECT_PROCESS;
}

#define NOTICE_NONE UINT32_MAX // no subject

struct notice {
    int64_t time_ns;
    uint32_t subject; // NOTICE_NONE: there is none
    enum notice_type type;
};

// The time in the upper half; below it the kind, the subject and the type: which comes first is one comparison.
__extension__ typedef __int128 event_entry;

static inline event_entry event_entry_of(enum notice_type type, uint32_t subject, int64_t time_ns) {
    uint64_t order = (uint64_t)notice_subject_of(type) << 40 | (uint64_t)subject << 8 | type;
    return (event_entry)time_ns * ((event_entry)1 << 64) + order;
}

enum { EVENTS_NEAR = 64, EVENTS_STEP = 4 };

// Two lists (Blackstone, Hogg, Phillips, A Two-List Synchronization Procedure for Discrete Event Simulation, CACM 24,
// 1981): the few that come first lie in order, so that to take one is to shorten a list, and to put one moves those
// that come before it, 16 bytes each, EVENTS_STEP at a time. Those that come later than all of these, where there are
// any, stand in a tournament: each has a leaf, and each inner node holds the earlier of the two below it, so that to
// change a leaf takes as many comparisons as there are levels, none of which hangs on how another came out.
struct event_list {
    event_entry near[EVENTS_STEP + EVENTS_NEAR]; // EVENTS_STEP that come after all, then near_count in order, the next
                                                 // one last
    uint32_t near_count;                         // 0 only where there are none
    event_entry *far;               // [1] comes first; below node n are 2 n and 2 n + 1; [leaves ..] the leaves
    uint32_t *place[SUBJECT_KINDS]; // a subject each: its leaf, NOTICE_IS_NEAR, or NOTICE_NONE
    uint32_t subjects[SUBJECT_KINDS];
    uint32_t *unused;                     // leaves; from `far_count` on those on which nothing stands
    uint32_t far_count, capacity, leaves; // leaves: a power of two that at one time was no more than twice `far_count`,
                                          // or 0
};
#define NOTICE_IS_NEAR (NOTICE_NONE - 1)

// Zero-initialise, and reserve before anything else. Room for so many subjects of a kind; growing keeps what stands in
// it. false: no memory.
bool events_reserve(struct event_list *events, enum notice_subject kind, uint32_t subjects);
void events_clear(struct event_list *events);
void events_destroy(struct event_list *events);

void event_put(struct event_list *events, enum notice_type type, uint32_t subject,
               int64_t time_ns);                     // it must have none
struct notice event_take(struct event_list *events); // the next
// Nothing where it has none.
void event_remove(struct event_list *events, enum notice_subject kind, uint32_t subject);

static inline uint32_t event_count(const struct event_list *events) {
    return events->near_count + events->far_count;
}

static inline int64_t event_next_ns(const struct event_list *events) { // INT64_MAX: there is none
    return (int64_t)(events->near[EVENTS_STEP - 1 + events->near_count] >> 64);
}

// All that stand in it, event_count of them, in no order.
void events_list(const struct event_list *events, struct notice *notices);

// Whether it would be the next.
static inline bool event_precedes(const struct event_list *events, enum notice_type type, uint32_t subject,
                                  int64_t time_ns) {
    return event_entry_of(type, subject, time_ns) < events->near[EVENTS_STEP - 1 + events->near_count];
}

#endif
