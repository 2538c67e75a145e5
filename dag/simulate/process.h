// SPDX-License-Identifier: GPL-3.0-or-later
// What the simulation knows of a process, a thread or a worker that runs vertices one after the other: types alone. The
// frames that it runs, what it waits for, how its next edge is computed, and the log of what it passed.
//
// A job is what a pool dispatches: a task, by its index, or a part of one that is split, by index beyond all tasks.
#ifndef REHYPE_DAG_PROCESS_H
#define REHYPE_DAG_PROCESS_H

#include "dag/dag.h"
#include "dag/simulate/cores.h"

enum frame_kind {
    FRAME_THREAD,  // a recorded thread, from its first vertex to its last
    FRAME_INLINED, // a body in its spawn's place
    FRAME_TASK,    // a worker's
    FRAME_CALLED,  // a body in its spawn's bracket, where it was not recorded
    FRAME_HELPED,  // a body in another's wait
    FRAME_UNIT,    // of a batch, taken where it was recorded or elsewhere (claims.h)
    FRAME_SUNK,    // a body that sank to another's wait, pick-up and all: `link` says which
    FRAME_STAGED,  // like FRAME_INLINED, of a coordinator: it leaves the process where it would wait
    FRAME_MEMBER,  // a body in a group
    FRAME_GROUP,   // on a recorded thread, the body that ends a group
    FRAME_DONOR,   // what another task, `link`, did behind its wait, for `task`
    FRAME_PART,    // of a body: no vertices but START (next is 0) and END (1)
    FRAME_PARTS,   // the spawns of a task's parts; `next` is the part's number
};

// Vertices that a process runs; frames nest.
struct frame {
    uint32_t outer; // DAG_NONE: the outermost; of unused frames the next unused one
    uint32_t task;  // job; DAG_NONE of threads, and where the process does not begin the job
    uint32_t next, end;
    uint32_t link;         // of a stage that awaits a result: another that awaits it, DAG_NONE; of a unit its first
    int64_t since_ns;      // recorded time of what `next` follows; of FRAME_PARTS the job in the bracket
    int64_t lead_after_ns; // from its end to what comes then on the process, beside recorded time
    uint8_t kind;
    bool left;       // of a stage: it has been left once
    bool parked;     // of a stage: it awaits a result, of a wait that ends right before `next`
    bool staged;     // of a coordinator: it leaves the process where it would wait
    uint32_t others; // of a coordinator: bodies of other tasks that it runs and that are open
    bool begun;      // of FRAME_PARTS: in a bracket
    bool stolen;     // by a waiter, whose `stolen_from` is at its end as it was before; that others must see in time
    uint32_t stolen_from; // what it was
    uint32_t gave_up;     // the end of a wait that gave up though nothing tells what comes then (awaits.c); 0: none
};

// What stands for a vertex where a process's next step has none.
enum {
    STEP_CLAIM = DAG_NONE - 5, // it looks for the next unit of a batch
    STEP_PART_START,
    STEP_PART_END,
    STEP_SPAWN,   // of a part
    STEP_SPAWNED, // the bracket's end
};
#define STEP_LEAST STEP_CLAIM

// Of what leads up to a process's next vertex, where processes share the cores: first it computes, then it sleeps.
enum edge {
    EDGE_AHEAD,
    EDGE_WAKES, // it sleeps first, until joins_ns, and then computes
    EDGE_READY, // and has no carrier
    EDGE_COMPUTES,
    EDGE_COMPUTED,
};

enum life {
    LIFE_AHEAD, // not begun
    LIFE_RUNS,
    LIFE_FREE, // a worker that is about to ask for a task
    LIFE_IDLE,
    LIFE_COMING, // a stealing pool's worker that was made or woken and is about to look for a task
    LIFE_OVER,
};

// Where a process stands with the resource that it asked for last.
enum ask_state {
    ASK_NOT, // it waits for none
    ASK_LISTED,
    ASK_CALLED,          // it was woken, and looks whether it is still there
    ASK_GRANTED,         // it was handed over to it, and it wakes up
    ASK_GRANTED_AT_ONCE, // it has it without the wait that was recorded
    ASK_UNKNOWN,         // something unknown has it until called_ns
    ASK_GIVEN_UP,        // its time was up at called_ns
    ASK_AS_RECORDED,     // listed, and it gives up, as it did: nothing tells what it would do otherwise
};

enum await_outcome { AWAIT_OPEN, AWAIT_CAME, AWAIT_GAVE_UP };

struct deque { // tasks in the order in which they came
    uint32_t oldest, newest, count;
};

// What it does before its next vertex, beside what was recorded to lie between: it takes so long, and of that it
// computes and waits for a core.
struct process_lead {
    int64_t ns; // as in struct reach
    int64_t compute_ns, queued_ns;
    struct cores_residual residual;
};

// The edge to its next vertex, where processes share the cores: it computes for compute_ns from joins_ns on, is done at
// computed_ns (no sooner than it could be on a core of its own, however lucky it was), and then sleeps.
struct process_edge {
    int64_t joins_ns, compute_ns, computed_ns, asleep_ns;
    struct cores_residual residual;
    uint8_t state; // enum edge
};

// Its wait for the resource that it asked for last.
struct process_wait {
    uint32_t ask;      // by which it waits
    uint32_t next;     // the waiter called behind it, DAG_NONE
    int64_t key;       // its place among waiters: the least first
    int64_t called_ns; // since when it need not wait any more
    int64_t roused_ns; // since when it is waking up, though called off meanwhile; INT64_MIN: it sleeps
    int64_t limit_ns;  // when it gives up, INT64_MAX: never
    int64_t late_ns;   // when it would, if a donor showed what comes next; INT64_MAX: never
    uint8_t state;     // enum ask_state
};

// Its wait for a result with a time limit.
struct process_limit {
    int64_t up_ns;   // when its time is up
    uint8_t outcome; // enum await_outcome
    bool noted;      // there is a notice of it in the event list
    bool is_up;      // that has come
};

// Of a worker of a pool.
struct process_worker {
    uint32_t pool;            // 0: it is none
    uint32_t model;           // recorded thread that it stands for, or that it is like; DAG_NONE
    uint32_t maker;           // vertex that it was made at
    uint32_t next_of_pool;    // the one made before it
    uint32_t slot;            // of its pool: of event loops which of them it is
    uint32_t next, before;    // others that idle, from the one that has for longest; or are on their way
    uint32_t task;            // its latest
    uint32_t chain;           // of an actor's jobs that follow one another: the first; DAG_NONE
    uint32_t held;            // mailbox that it holds, the latest first; DAG_NONE
    uint32_t sent, sent_last; // what follows the job in hand, in the order of sending; DAG_NONE
    uint32_t follows;         // what comes behind that, DAG_NONE
    uint32_t reserved;        // on its way to a queue: the job that it takes if that is still there, DAG_NONE
    int64_t woken_ns;         // when it was made or woken, of one that is on its way
    int64_t takes_before_ns;  // of a stealing pool: so long before the start of what it then finds
    int64_t awake_ns;         // how long before the start BUSY is
    uint32_t busy_item; // of its log: 1 + the BUSY of a job that it was woken for, until it has a core to start it
    uint8_t comes_as;   // enum dispatch of what it will find
};

// What it has of stealing pools. Others than their workers may wait for such a pool's tasks, too.
struct process_steal {
    struct deque own;
    uint32_t stolen_from; // whose deque its latest stolen task was in, DAG_NONE
    uint32_t blocked;     // pool for a task of which it waits, having found nothing to help with; else 0
    uint32_t looked;      // TRAIT_LOOKS: the latest such vertex before which it found nothing to help with, DAG_NONE
};

struct process {
    int64_t now_ns; // T of the vertex passed last, or of what stands for it
    struct process_lead lead;
    uint32_t frame;          // innermost, DAG_NONE
    uint32_t vertex;         // the next, or what stands for it; DAG_NONE as long as it wasn't looked for
    uint32_t awaits;         // vertex whose time it waits for, DAG_NONE
    uint32_t stages;         // frames that go on here before anything else, by link; DAG_NONE
    uint8_t life;            // enum life
    bool entered;            // `vertex` is the start of a body that begins here: no cause
    bool has_edge;           // as in struct passage
    bool timed;              // `vertex` has its time, which is that of the turn that it waits for
    bool carried;            // a virtual thread that has a carrier
    uint32_t carrier_next;   // the one that is ready behind it, DAG_NONE
    int64_t pinned_until_ns; // of one that has a carrier: it keeps it until then, asleep or not
    uint32_t holds;          // what it has, the latest first; DAG_NONE
    struct process_edge edge;
    struct process_wait wait;
    struct process_limit limited;
    struct process_worker worker;
    struct process_steal steal;
};

static inline struct process_worker worker_of_none(void) {
    return (struct process_worker){
        .chain = DAG_NONE, .held = DAG_NONE, .sent = DAG_NONE, .sent_last = DAG_NONE, .follows = DAG_NONE};
}

// One that has done nothing: no frame, no vertex, nothing that it waits for or has.
static inline struct process process_at(int64_t now_ns) {
    return (struct process){.now_ns = now_ns,
                            .frame = DAG_NONE,
                            .vertex = DAG_NONE,
                            .awaits = DAG_NONE,
                            .stages = DAG_NONE,
                            .holds = DAG_NONE,
                            .worker = worker_of_none(),
                            .steal = {.own = {DAG_NONE, DAG_NONE, 0}, .stolen_from = DAG_NONE, .looked = DAG_NONE}};
}

// What a process passed: a vertex or what stands for one, and recorded vertices right behind it that came after it as
// they did when recorded, with what they computed and waited then.
struct passage {
    int64_t time_ns;
    int64_t compute_ns, queued_ns; // since the passage before on the process, beside what `has_edge` says
    uint32_t source;               // vertex, or DAG_NONE
    uint32_t count;                // of vertices, from `source`
    uint32_t task;                 // job
    uint8_t kind;                  // enum vertex_kind
    bool has_edge;                 // it computes and waits what the edge to `source` did
    bool dropped;                  // no vertex of this run
};

struct passages { // of one process, in order; there is always room for one more
    struct passage *items;
    uint32_t count, capacity;
    uint32_t dropped;   // items that are
    uint32_t followers; // vertices behind the items' first ones
};

#endif
