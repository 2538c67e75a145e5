// SPDX-License-Identifier: GPL-3.0-or-later
// Segments: stretches of a thread whose vertices, but for the first, have no cause. As long as no edit moves a body in
// or out of one, all its vertices are as much later or sooner than recorded as its first: by the segment's shift
// T(v) - t(v). So a walk need only find shifts, and each of them follows from two others: of the segment before on the
// thread, and of the one that the cause of its first vertex lies in (struct dag_link). Times follow from shifts in one
// pass over all vertices.
//
// A segment begins at the first vertex of each thread, at each that has a cause or RULE_BEGIN, and at each whose number
// is a multiple of 64, so that it is found, and searched, in one word.
#ifndef REHYPE_DAG_SEGMENTS_H
#define REHYPE_DAG_SEGMENTS_H

#include "dag/dag.h"

enum { MARKS = 64 };

// Of 64 vertices, a bit each.
struct dag_marks {
    uint64_t first;   // a segment begins here
    uint64_t move;    // in the present run: a task that is inlined comes in or drops out here, or is left
    uint64_t timed;   // in the present run, in a broken segment: has its time, or is absent
    uint32_t segment; // how many segments begin before these vertices
    uint32_t moves;   // in the present run: how many of dag_run's moves lie before these vertices
    bool uneven;      // in the present run: one of these segments has no shift that holds for all its vertices
};

struct dag_segment {
    uint32_t begin; // its first vertex
    uint32_t cause; // of that: vertex, or DAG_NONE
};

// What R Eq. 3 and 4 (enum vertex_rule) come to in shifts. With s(p) of the segment before and s(c) of the cause's, the
// cause is what its first vertex waits for if T(c) > T(p), that is s(c) - s(p) > t(p) - t(c). Then its own shift is
// s(c) + late, else s(p) + early. Both take up that the later of both was not the later one when recorded, and what a
// wait costs that now sleeps, or saves that no longer does.
struct dag_link {
    uint32_t cause;   // segment
    int32_t slack_ns; // t(p) - t(c)
    int32_t late_ns, early_ns;
};

// The shift of a segment, from those of the one before and of its cause.
static inline int64_t link_shift(struct dag_link link, int64_t before_ns, int64_t cause_ns) {
    return cause_ns - before_ns > link.slack_ns ? cause_ns + link.late_ns : before_ns + link.early_ns;
}

// The same without bounds. Few links need so much: those that do name SEGMENT_FAR as their cause.
struct dag_far_link {
    int64_t slack_ns, late_ns, early_ns;
};

// Shifts that are none. All others lie within SHIFT_LIMIT (73 years).
#define SHIFT_LIMIT   (INT64_C(1) << 61)
#define SHIFT_ABSENT  (-2 * SHIFT_LIMIT)    // the edit removed it, or a barrier has nothing to wait for
#define SHIFT_PENDING (2 * SHIFT_LIMIT - 1) // not known yet
#define SHIFT_AWAITED (2 * SHIFT_LIMIT - 2) // ... and a chain is parked on one of its vertices
#define SHIFT_BROKEN  (2 * SHIFT_LIMIT - 3) // the edit reaches into it: its vertices' times stand in dag_run's time_ns

static inline bool shift_is_special(int64_t shift_ns) {
    return (uint64_t)shift_ns + SHIFT_LIMIT > 2 * (uint64_t)SHIFT_LIMIT;
}

struct dag_segments {
    uint32_t count;
    struct dag_segment *list; // and one more, that begins behind the last vertex
    struct dag_link *links;   // a segment each
    struct dag_marks *marks;
    int64_t *shift_ns; // a segment each, and two more: SEGMENT_STILL, SEGMENT_FAR
};

// Causes of segments whose first vertex has none (if it is a thread's first), or whose link is a far one.
#define SEGMENT_STILL(segments) ((segments)->count)     // shift 0
#define SEGMENT_FAR(segments)   ((segments)->count + 1) // shift SHIFT_PENDING

static inline uint64_t mark_of(uint32_t v) {
    return UINT64_C(1) << v % MARKS;
}

static inline unsigned count_bits(uint64_t word) { // in parallel: twos, fours, bytes, their sum
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return word * 0x0101010101010101 >> 56;
}

static inline bool segment_begins(const struct dag_segments *segments, uint32_t v) {
    return segments->marks[v / MARKS].first & mark_of(v);
}

// The segment that a vertex lies in.
static inline uint32_t segment_of(const struct dag_segments *segments, uint32_t v) {
    const struct dag_marks *marks = &segments->marks[v / MARKS];
    return marks->segment + count_bits(marks->first & ((mark_of(v) << 1) - 1)) - 1;
}

// Of a vertex with a cause, RULE_BEGIN apart; a thread's first counts as its own predecessor.
struct dag_far_link segment_far_link(const struct dag *dag, uint32_t v, bool first);

bool dag_segments_init(struct dag_segments *segments, const struct dag *dag); // false: no memory
void dag_segments_destroy(struct dag_segments *segments);

#endif
