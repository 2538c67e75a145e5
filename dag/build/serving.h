// SPDX-License-Identifier: GPL-3.0-or-later
// Pools whose threads serve requests in turns, as Jetty's do: a thread looks for connections that can be read, wakes
// another that looks on, serves one of them itself, and the next, and looks again. What such a pool is given, a turn,
// stands for no request: which request waits for a thread, and since when, is not to be seen in turns.
//
// It is there to be seen in requests. One that began right after its turn did came when the turn was handed over; any
// other was found by the thread that serves it, when it had done with the one before. A thread goes on with a
// connection for as long as that asks at once: such requests have one turn, though others wait.
//
// No such pool is one whose requests mostly have a turn each, unless threads hand it over that then serve another
// themselves, or one that others hand over (a poller); one of a thread for each connection, in which a connection's
// requests are all of one turn; an event loop, which is a thread alone; and one whose requests end elsewhere.
#ifndef REHYPE_DAG_SERVING_H
#define REHYPE_DAG_SERVING_H

#include "base/error.h"
#include "dag/idmap.h"
#include "tracefile/reader.h"

#define SERVING_NONE UINT32_MAX

// A task that a pool was given, or that one of its threads ran.
struct serving_turn {
    uint64_t id;
    uint64_t spawn_ns, start_ns, end_ns; // UINT64_MAX: not on record
    uint64_t start_cpu;
    uint64_t served_ns;  // when its last request began
    uint32_t pool, site; // 0 unknown
    uint32_t runs_in;    // pool whose thread ran it, 0: none
    uint32_t within;     // turn of the thread that handed it over, or SERVING_NONE
    bool from_worker;    // a thread of that pool handed it over
    bool in_request;     // ... for a request
    bool nested;         // it ran in another
    bool serves;         // requests were served in it
    bool is_plumbing;    // it is the pool's own, and told no more; of pools that serve in turns only
};

struct serving_request {
    uint64_t id, connection;
    uint64_t begin_ns, end_ns; // end UINT64_MAX: it ended elsewhere, or never
    uint64_t came_ns;          // UINT64_MAX: unknown, it was found when its thread was free
    uint64_t before_ns;        // when its connection's request before was answered, and so no later than it came
    uint64_t slept_ns;         // of its thread, in the turn and before it
    uint32_t stream, turn;     // turn SERVING_NONE: none
    bool is_first;             // of its turn
    bool goes_on;              // its thread had just served the same connection, and had found it without a look round
};

struct serving_pool {
    uint32_t requests, ended; // ... on the thread that began them
    uint32_t found;           // of which it is not known when they came
    uint32_t passed_on;       // whose turn a thread handed over that then served another
    uint32_t brought;         // whose turn another thread than the pool's handed over
    uint32_t connections;     // with more than one request
    uint32_t moved;           // of which some were served in another turn than the one before
    uint32_t threads;
    uint64_t first_ns, last_ns; // when its first request began; end of its last turn
    bool in_turns;              // it is such a pool
};

// Release with serving_destroy, whatever serving_find returned.
struct serving {
    const struct trace *trace;
    struct serving_pool *pools; // a pool each
    uint32_t *pool_of;          // a stream each: pool that its thread works for, 0 none
    struct serving_turn *turns;
    uint32_t turn_count, turn_capacity;
    struct idmap turn_of;             // by id
    struct serving_request *requests; // stream by stream, in order
    uint32_t request_count, request_capacity;
    double ns_per_cpu; // of what `cpu` operands count
    uint64_t highest;  // of the ids that the trace names
    bool any;          // a pool is such
};

// Cost: nothing without requests, else a decode of the trace; two where threads of pools serve them. false and *error:
// a damaged trace, no memory.
bool serving_find(const struct trace *trace, struct serving *serving, struct error *error);
void serving_destroy(struct serving *serving);

// NULL: the id is that of no turn.
const struct serving_turn *serving_turn(const struct serving *serving, uint64_t id);

// Whether a turn was given to the pool from outside, to look for requests: it holds a thread as long as the
// pool serves.
bool serving_is_root(const struct serving_turn *turn);

// Whether it is another task that the pool was given from outside and that holds a thread likewise: an acceptor.
bool serving_holds_thread(const struct serving *serving, const struct serving_turn *turn);

#endif
