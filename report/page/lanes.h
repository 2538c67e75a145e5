// SPDX-License-Identifier: GPL-3.0-or-later
// A run, recorded or simulated, as a lane a thread: what it was in at each time, by the same rules as the metrics count
// (metrics/pairing.h). Bodies nest (a waiter helps, a caller runs): each has a row of its own, depth 0 outermost, and
// in its row one piece follows the other without a gap, running or in what it does meanwhile. Outside bodies a worker
// is idle, in row 0; other threads have nothing there. Barriers and the JVM's own threads have no lane. Times are ns
// from the run's first vertex on, as wall time is.
//
// A span is what pieces are of, named by the vertex that it begins at: a body by its START, a sleep by its WAIT_BEGIN
// or ACQUIRE, a hand-over by its SPAWN_BEGIN, an idle time by the vertex behind which it is, and a sleep that no event
// tells of, which lies at the end of the edge to a vertex, by half of one less than that.
#ifndef REHYPE_REPORT_PAGE_LANES_H
#define REHYPE_REPORT_PAGE_LANES_H

#include "metrics/work.h"

enum lane_state { LANE_RUNNING, LANE_WAITING, LANE_BLOCKED, LANE_SPAWNING, LANE_IDLE, LANE_STATES };

#define LANE_NO_SPAN (-1.0)

struct lane_piece {
    uint32_t lane;
    enum lane_state state;
    uint32_t depth;
    double span; // LANE_NO_SPAN: of several, or of none
    int64_t begin_ns, end_ns;
};

enum lane_open_kind { LANE_OUTSIDE, LANE_BODY, LANE_SLEEP, LANE_SPAWN };

// What a thread is in, the innermost last. The one that is last in its row shows in it.
struct lane_open {
    int64_t begin_ns; // of the piece that shows it now
    double span;
    uint32_t task;
    uint8_t kind, state; // enum lane_open_kind, enum lane_state
};

// Where a walk may begin: what is open before a vertex.
struct lane_mark {
    uint32_t vertex, first, depth; // entries in `opened`
};

struct lanes {
    const struct dag *run;
    struct metrics_work *work; // bound to the run
    int64_t first_ns, length_ns;
    uint32_t *threads; // a lane each
    uint32_t count;
    uint32_t *lane_of; // a thread each: DAG_NONE for those without
    struct lane_mark *marks;
    uint32_t mark_count, mark_capacity;
    uint32_t *first_mark; // a thread each, and one more
    struct lane_open *opened;
    size_t opened_count, opened_capacity;
};

// The run must outlive it, and the workspace, which is bound to the run here, stay so. Errors: no memory. Cost: some 20
// ns a vertex. lanes_destroy in any case; it leaves the workspace.
bool lanes_init(struct lanes *lanes, const struct dag *run, struct metrics_work *work, struct error *error);
void lanes_destroy(struct lanes *lanes);

// The thread's name; "pool-1, added worker 2" for what only a simulation made. Returns text.
const char *lane_name(const struct lanes *lanes, uint32_t lane, char *text, size_t size);

typedef void lane_visitor(void *context, const struct lane_piece *piece);

// The pieces of a lane that lie in [from_ns, to_ns), cut there; of each row in order of time. false: no memory. Cost: a
// walk over what the thread did meanwhile, some ns a vertex.
bool lanes_visit(const struct lanes *lanes, uint32_t lane, int64_t from_ns, int64_t to_ns, lane_visitor *visit,
                 void *context);

// The innermost span at a time; LANE_NO_SPAN. Cost: some us.
double lanes_at(const struct lanes *lanes, uint32_t lane, int64_t time_ns);

// The innermost body before a vertex, or the idle time there; LANE_NO_SPAN. Likewise.
double lanes_body_before(const struct lanes *lanes, uint32_t vertex);

// ---- step by step

struct lane_walk {
    const struct lanes *lanes;
    const struct dag_thread *thread;
    uint32_t index, vertex; // of the thread; that comes next
    uint32_t bodies;        // open
    struct lane_open *open;
    uint32_t depth, capacity;
    bool no_memory;
    lane_visitor *visit; // NULL: none
    void *context;
    int64_t from_ns, to_ns; // what is visited
};

// Goes to before a vertex of the thread, or the thread's first. lane_walk_destroy in any case.
void lane_walk_begin(struct lane_walk *walk, const struct lanes *lanes, uint32_t thread);
void lane_walk_seek(struct lane_walk *walk, uint32_t vertex);
void lane_walk_step(struct lane_walk *walk); // passes the next vertex
void lane_walk_destroy(struct lane_walk *walk);

// The innermost that is open; NULL: nothing.
static inline const struct lane_open *lane_walk_top(const struct lane_walk *walk) {
    return walk->depth ? &walk->open[walk->depth - 1] : NULL;
}

// A vertex's time as lanes have it.
static inline int64_t lanes_ns(const struct lanes *lanes, uint32_t vertex) {
    return lanes->run->vertices.time_ns[vertex] - lanes->first_ns;
}

// Until when a thread lasts, as lanes have it.
int64_t lanes_thread_end_ns(const struct lanes *lanes, uint32_t thread);

// How long the thread slept on the edge to a vertex, though no event says so.
static inline int64_t lanes_slept_ns(const struct lanes *lanes, uint32_t vertex) {
    return lanes->work->scratch->slept[vertex] ? work_slept_ns(lanes->run, vertex) : 0;
}

// Whether a task is handed over at this vertex, which takes some time.
bool lanes_spawns(const struct dag *run, uint32_t vertex);

#endif
