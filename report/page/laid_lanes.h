// SPDX-License-Identifier: GPL-3.0-or-later
// Lanes of a run that are no thread's (lanes.h): rows of resources and actors. Their pieces are laid once, in each lane
// one behind the other; times are as lanes have them.
//
// A resource has rows of what holds it, and below these rows of what waits for it: as many as there were at one time,
// up to ROWS_MOST of each. What finds no row free stands in the last one, from when that is free on. Those that were
// waited for longest come first. Carriers of virtual threads have none, and of queues only waits are shown.
//
// An actor has one row: what it handles, and before that the time for which the message lay there and the actor did
// nothing. Those that were busy longest come first.
//
// The span of a wait is the one of its thread's lane, and that of what an actor does likewise. A hold has one of its
// own, named by the vertex at which the thread got the resource and HOLD_SPAN.
#ifndef REHYPE_REPORT_PAGE_LAID_LANES_H
#define REHYPE_REPORT_PAGE_LAID_LANES_H

#include "metrics/actor_log.h"
#include "report/page/lanes.h"

#define HOLD_SPAN 0.25 // and the vertex

enum { ROWS_MOST = 8 };

struct laid_piece {
    int64_t begin_ns, end_ns;
    uint32_t lane;
    uint32_t vertex; // of its span; DAG_NONE: no lane of a thread shows it
    uint8_t state;   // enum lane_state: LANE_RUNNING holds or handles, LANE_BLOCKED and LANE_WAITING wait
    bool holds;
};

struct laid_lane {
    uint32_t of;   // resource or actor, an index of the DAG
    uint8_t state; // of a resource: of all pieces there
};

struct laid_lanes {
    struct laid_piece *pieces; // lane by lane
    uint32_t piece_count, piece_capacity;
    struct laid_lane *lanes;
    uint32_t count, lane_capacity;
    uint32_t *first_piece; // a lane each, and one more
    uint32_t *lane_of;     // first lane of a resource or actor, by index; DAG_NONE: it has none
};

// Errors: no memory. Cost: a pass over the run's vertices, or tasks, and a sort of the pieces. laid_lanes_destroy in
// any case; zero-initialised there is nothing to destroy.
bool resource_lanes_make(struct laid_lanes *laid, const struct lanes *lanes, struct error *error);
bool actor_lanes_make(struct laid_lanes *laid, const struct lanes *lanes, struct error *error);
void laid_lanes_destroy(struct laid_lanes *laid);

// "lock Bank.lock", "waits for lock Bank.lock". Returns text.
const char *resource_lane_name(const struct laid_lanes *laid, const struct dag *run, uint32_t lane, char *text,
                               size_t size);

// The pieces of a lane that lie in [from_ns, to_ns), cut there, as of the lane `number`.
void laid_lanes_visit(const struct laid_lanes *laid, uint32_t lane, uint32_t number, int64_t from_ns, int64_t to_ns,
                      lane_visitor *visit, void *context);

// The span at a time; LANE_NO_SPAN.
double laid_lanes_at(const struct laid_lanes *laid, uint32_t lane, int64_t time_ns);

// The piece of a resource or actor whose span begins at a vertex; NULL: none. Cost: a step for each of its pieces.
const struct laid_piece *laid_lanes_find(const struct laid_lanes *laid, uint32_t of, uint32_t vertex);

// ---- holds

// Whether a thread gets units of a resource at a vertex that it may give back later.
bool hold_begins(const struct dag *run, uint32_t vertex);

// The vertex at which the thread gives back what it got at one, and the other way about; DAG_NONE: it never does, or
// did not get it. What it got last it gives back first.
uint32_t hold_end(const struct dag *run, uint32_t got);
uint32_t hold_begin(const struct dag *run, uint32_t released);

// Until when it is held that was got at a vertex.
int64_t hold_until_ns(const struct lanes *lanes, uint32_t got);

// ---- for the modules that lay lanes

// false: no memory.
bool laid_lanes_add(struct laid_lanes *laid, const struct laid_piece *piece);
bool laid_lanes_add_lane(struct laid_lanes *laid, uint32_t of, uint8_t state);

// Once all pieces have their lanes: brings them into order, by those and by time. false: no memory.
bool laid_lanes_order(struct laid_lanes *laid);

// Ranks of `count` things that pieces name as their lanes: those of most weight first, and of equal weight in their
// order. In `ranks`. false: no memory.
bool laid_lanes_rank(const int64_t *weights, uint32_t count, uint32_t *ranks);

#endif
