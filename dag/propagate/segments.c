// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate/segments.h"

#include "base/pages.h"
#include "dag/ns.h"

#include <stdlib.h>

static bool awaits(const struct dag_vertices *vertices, uint32_t v) {
    return vertices->rule[v] == RULE_BEGIN || dag_awaited_by(vertices, v) != DAG_NONE;
}

static void mark_first(struct dag_segments *segments, const struct dag *dag) {
    struct dag_marks *marks = segments->marks;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (v % MARKS == 0 || awaits(&dag->vertices, v)) marks[v / MARKS].first |= mark_of(v);
    }
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        marks[dag->threads[i].first / MARKS].first |= mark_of(dag->threads[i].first);
    }
    marks[dag->vertex_count / MARKS].first |= mark_of(dag->vertex_count); // where the last thread's chain ends
}

static void count_segments(struct dag_segments *segments, const struct dag *dag) {
    uint32_t count = 0;
    for (uint32_t word = 0; word <= dag->vertex_count / MARKS; word++) {
        segments->marks[word].segment = count;
        count += count_bits(segments->marks[word].first);
    }
    segments->count = count - 1;
}

static void list_segments(struct dag_segments *segments, const struct dag *dag) {
    struct dag_segment *segment = segments->list;
    for (uint32_t word = 0; word <= dag->vertex_count / MARKS; word++) {
        for (uint64_t left = segments->marks[word].first; left; left &= left - 1) {
            uint32_t v = word * MARKS + (uint32_t)__builtin_ctzll(left);
            uint32_t cause = v < dag->vertex_count ? dag_awaited_by(&dag->vertices, v) : DAG_NONE;
            *segment++ = (struct dag_segment){v, cause};
        }
    }
}

// A result can be seen before the probe that says so reads the clock. By so much a wait may end before its cause, as it
// did when recorded: as if the cause had come when the wait ended.
struct dag_far_link segment_far_link(const struct dag *dag, uint32_t v, bool first) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t t = vertices->time_ns[v], since_ns = vertices->time_ns[first ? v : v - 1];
    int64_t cause_ns = min_ns(vertices->time_ns[vertices->cause[v]], t);
    int64_t kept_ns = t - max_ns(since_ns, cause_ns);
    struct dag_far_link link = {since_ns - cause_ns, min_ns(0, cause_ns - since_ns), min_ns(0, since_ns - cause_ns)};
    bool slept = cause_ns > since_ns, waits = vertices->rule[v] == RULE_WAIT, gathers = vertices->rule[v] == RULE_MAX;
    if (gathers || (waits && slept)) link.early_ns -= kept_ns;
    if (gathers || (waits && !slept)) link.late_ns -= kept_ns;
    if (waits && !slept) link.late_ns += dag->wakeup_ns;
    return link;
}

static bool fits(int64_t ns) {
    return ns == (int32_t)ns;
}

static struct dag_link near_link(const struct dag_segments *segments, uint32_t cause, struct dag_far_link far) {
    if (!fits(far.slack_ns) || !fits(far.late_ns) || !fits(far.early_ns)) {
        return (struct dag_link){.cause = SEGMENT_FAR(segments)};
    }
    return (struct dag_link){segment_of(segments, cause), (int32_t)far.slack_ns, (int32_t)far.late_ns,
                             (int32_t)far.early_ns};
}

// Of a segment without a cause: it is shifted like the one before.
static struct dag_link still_link(const struct dag_segments *segments, const struct dag *dag, uint32_t segment,
                                  bool first) {
    if (!first) return (struct dag_link){.cause = segment - 1};
    bool gathers = dag->vertices.rule[segments->list[segment].begin] == RULE_MAX;
    return (struct dag_link){.cause = gathers ? SEGMENT_FAR(segments) : SEGMENT_STILL(segments)};
}

static void find_link(struct dag_segments *segments, const struct dag *dag, uint32_t segment, bool first) {
    uint32_t v = segments->list[segment].begin, cause = segments->list[segment].cause;
    struct dag_link *link = &segments->links[segment];
    bool begins = dag->vertices.rule[v] == RULE_BEGIN;
    if (begins && !first)
        *link = (struct dag_link){.cause = SEGMENT_FAR(segments)};
    else if (cause == DAG_NONE)
        *link = still_link(segments, dag, segment, first);
    else if (begins) // what comes before a thread's first vertex is absent: the cause is the later one
        *link = (struct dag_link){.cause = segment_of(segments, cause)};
    else
        *link = near_link(segments, cause, segment_far_link(dag, v, first));
}

static void find_links(struct dag_segments *segments, const struct dag *dag) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t first = segment_of(segments, thread->first);
        uint32_t end = segment_of(segments, thread->first + thread->count);
        for (uint32_t s = first; s < end; s++) find_link(segments, dag, s, s == first);
    }
}

bool dag_segments_init(struct dag_segments *segments, const struct dag *dag) {
    *segments = (struct dag_segments){.marks = calloc(dag->vertex_count / MARKS + 1, sizeof *segments->marks)};
    if (!segments->marks) return false;
    mark_first(segments, dag);
    count_segments(segments, dag);
    size_t count = segments->count;
    segments->list = malloc((count + 1) * sizeof *segments->list);
    segments->links = malloc((count + 1) * sizeof *segments->links);
    segments->shift_ns = malloc((count + 2) * sizeof *segments->shift_ns);
    if (!segments->list || !segments->links || !segments->shift_ns) return false;
    pages_prefer_huge(segments->list, (count + 1) * sizeof *segments->list);
    pages_prefer_huge(segments->links, (count + 1) * sizeof *segments->links);
    pages_prefer_huge(segments->shift_ns, (count + 2) * sizeof *segments->shift_ns);
    list_segments(segments, dag);
    find_links(segments, dag);
    segments->shift_ns[SEGMENT_STILL(segments)] = 0;
    segments->shift_ns[SEGMENT_FAR(segments)] = SHIFT_PENDING;
    return true;
}

void dag_segments_destroy(struct dag_segments *segments) {
    free(segments->list);
    free(segments->links);
    free(segments->marks);
    free(segments->shift_ns);
    *segments = (struct dag_segments){0};
}
