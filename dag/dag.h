// SPDX-License-Identifier: GPL-3.0-or-later
// The trace-DAG (Orton, Mycroft, Sec. 4.2): what happened in a run, as a graph whose times follow from its edges.
//
// Shape. Vertices are the events that concurrency touches; runs of other events (functions) are contracted into the
// delay of the thread edge that spans them. A thread's vertices stand side by side in recorded order, so that its
// thread edges need no storage: vertex v follows v - 1. A task's body, too, is a range [start, end] of its thread.
// Beside its thread edge a vertex has at most one cause: the vertex on another thread that it had to await (time edge
// of delay 0). Barriers with many causes (a pool's termination) are a chain of vertices on a thread of the DAG's own,
// one cause each. The graph as recorded has no cycle, and no effect in it precedes its cause (skew.c sees to both), but
// for waits that saw their result a moment before the probe recorded it: those keep that lead (segments.c).
//
// A run that was simulated under an edit (dag/simulate/simulate.h) is a dag too: its times are the estimated ones, and
// `source` says which recorded vertex each of its vertices stands for.
//
// A dag is read-only after dag_build and may be shared by threads. Hot arrays of a propagation: 8 bytes a vertex here,
// 17 in a dag_run.
#ifndef REHYPE_DAG_DAG_H
#define REHYPE_DAG_DAG_H

#include "base/arena.h"
#include "base/error.h"
#include "tracefile/reader.h"

#define DAG_NONE UINT32_MAX

enum vertex_kind {
    VERTEX_SPAWN_BEGIN, // hand-over begins; the cause of the task's pick-up
    VERTEX_SPAWN_END,
    VERTEX_START,  // body's first instant (THREAD_START for a thread's own run(), MAIN_BEGIN for main)
    VERTEX_END,    // body's last (THREAD_END likewise)
    VERTEX_RESULT, // cause of the waits' ends
    VERTEX_WAIT_BEGIN,
    VERTEX_WAIT_END,     // a TAKEN event is a WAIT_BEGIN and a WAIT_END at one time
    VERTEX_IDLE,         // worker has no task
    VERTEX_BUSY,         // worker has one
    VERTEX_RETIRE,       // worker leaves its pool
    VERTEX_SHUTDOWN,     // of a pool: cause of its workers' retiring
    VERTEX_THREAD_START, // of a worker, or of a thread whose run() is no task
    VERTEX_THREAD_END,
    VERTEX_BARRIER,  // on a thread of the DAG's own
    VERTEX_ACQUIRE,  // asks for a resource that is not to be had, and sleeps until it is
    VERTEX_ACQUIRED, // has it; its cause is what made it free, where that is known
    VERTEX_GIVEN_UP, // or goes on without it: its time was up
    VERTEX_HELD,     // asks for a resource and has it at once
    VERTEX_RELEASED, // gives one back
    VERTEX_REQUEST,  // a request begins or ends; or where it was handed over, which stands with its client (below)
};

// How a vertex's time follows from its predecessor p on the thread, its cause c (if any), and recorded times t:
enum vertex_rule {
    RULE_RUN,   // T(p) + t(v) - t(p)                                            R Eq. 3, the thread edge
    RULE_WAKE,  // max(T(p), T(c)) + t(v) - max(t(p), t(c))                      R Eq. 4 with the recorded residual
    RULE_WAIT,  // like WAKE, but a wait that no longer sleeps ends at once, and one that now sleeps costs the mean
                // wake-up
    RULE_BEGIN, // of a thread's start: T(c) + t(v) - t(c), or t(v) without a cause
    RULE_MAX,   // max(T(p), T(c)): barriers
    RULE_GRANT, // as RULE_RUN in model `dag`; in the others settled anew, in order of time, by what the resource has
                // left (dag/simulate/simulate.h, Resources)
    RULE_WOKEN, // as RULE_WAKE: a sleep that no event tells of, and its end by another thread (dag/build/woken.c)
};
// The first vertex of a thread that has another rule counts as its own predecessor at its recorded time.

struct dag_vertices { // parallel arrays, vertex_count long
    int64_t *time_ns; // recorded (corrected for clock skew), from the trace's first event
    uint32_t *cause;  // vertex or DAG_NONE
    uint32_t *task;   // index into tasks or DAG_NONE; of IDLE and BUSY the task that ends the idling; of BLOCK_BEGIN
                      // and BLOCK_END an index into locks
    uint64_t *event;  // ordinal in its stream of the event it stands for; NULL in a simulated run
    uint8_t *kind, *rule;
    // Of the time from the vertex before on the thread; NULL where the trace measures none. At boundaries (events with
    // cpu) both are measured; between two, edges that sleep (in waits, for locks, for tasks) compute only what the
    // others have no room for, and are the first to have waited for a core. Among edges alike, each computes for its
    // whole length up to one that is the same for all, so that what is not computed lies in the longest. Both together
    // never exceed the edge. Edges that no two boundaries enclose compute unless they sleep. Of the time before a
    // thread's first vertex it is known for how long a virtual one was ready.
    int64_t *compute_ns; // on a core
    int64_t *queued_ns;  // ready to run, without a core or, of a virtual thread, a carrier
};

enum {
    TASK_THREAD_RUN = 1, // a thread's run()
    TASK_MAIN = 2,
    TASK_UNFINISHED = 4,   // neither its end nor its result was recorded, or it never started. A lost
                           // `end` is at the event that shows the body is over, at the latest its thread's last
    TASK_REJECTED = 8,     // by its pool, and it never started
    TASK_HANDED_OVER = 16, // never submitted, but created by another thread (a home-made queue): spawn_begin is the
                           // moment of its creation, spawn_end the same vertex
    TASK_NESTED = 32, // no task of its own and never counted: aggregated into the one it ran in, or a promise that no
                      // body computes, or a sleep that someone ended; here only because someone awaits its
                      // `result`, all other vertices are DAG_NONE
    TASK_PERMIT = 64, // and of a sleep: another thread could have ended it as well (a semaphore). It waits for the one
                      // that did, but is not caused by it, and lasts as long as recorded
    TASK_BEGUN_BEFORE = 128, // under way when recording began: its start is no beginning, its length not its own
    TASK_DELAYED = 256,      // scheduled for a time of its own, once or again and again (dag/build/pools.c)
    TASK_SIGNAL = 512,       // and nested: a sleep that another thread ended, as by a latch, a condition, a notify
    TASK_MESSAGE = 1024, // an actor handles a message; TASK_HANDED_OVER as well, from its being sent, or put back from
                         // a stash. A message that no actor began to handle is none
    TASK_HANDLES = 4096, // an actor handles messages, or begins, in its body: a dispatcher runs a mailbox as a task
    TASK_UPKEEP = 8192,  // and a message by which the library makes, stops, watches or supervises an actor
    TASK_OTHERS = 16384, // and of a signal: another thread might have given it, as by a condition, a notify, an unpark;
                         // not the latch's own
    TASK_CUT = 32768, // and unfinished: at its worker's last event, when it had taken no longer than others of its site
                      // take. It went on beyond the recording, but not for ever
    TASK_INIT = 2048, // an actor's first initialisation; TASK_HANDED_OVER as well, from the actor's creation
};

// What an actor does is a task of the DAG, by whose cause and body times follow, and no task in the sense of figures
// and edits (SPEC section 2): no site, not counted, and of no edit. Its pool is that of its thread, the dispatcher's.
#define TASK_OF_ACTOR (TASK_MESSAGE | TASK_INIT)

// How a task came to run. What it costs to hand over and pick up a task differs by that.
enum dispatch {
    DISPATCH_NONE,   // it never started, or was not dispatched: main, nested ones
    DISPATCH_THREAD, // on a thread of its own
    DISPATCH_NEW,    // first of a worker that was made for it
    DISPATCH_WOKEN,  // by a worker that slept
    DISPATCH_QUEUED, // by a worker that was busy when it was spawned
    DISPATCH_NEXT,   // of an actor's: by the worker that ran what the actor did before, right behind that
    DISPATCH_CALLER, // in its own spawn bracket (caller-runs)
    DISPATCH_HELPED, // in the body of another task that waited meanwhile
    DISPATCH_KINDS
};

struct dag_task {
    uint64_t id;                     // as in the trace
    uint32_t site, context;          // index into sites, contexts; DAG_NONE without a spawn
    uint32_t task_class;             // trace class id, 0 unknown
    uint32_t pool;                   // trace pool id, 0 none; without a spawn: its pool had it when recording began
    uint32_t spawn_begin, spawn_end; // vertices on the spawner's thread, DAG_NONE without
    uint32_t spawner;                // task that spawned it, DAG_NONE
    uint32_t thread;                 // index into threads: where its body ran, DAG_NONE if it never started
    uint32_t enclosing;              // task in whose body its own lies (helping joins, caller-runs), or of
                                     // TASK_NESTED the one that set its result; DAG_NONE
    uint32_t pickup;                 // first vertex of its pick-up by the worker: IDLE, BUSY, or START itself
    uint32_t start, end;             // body, DAG_NONE if it never started
    uint32_t tail;                   // last vertex of what its worker did for it after the body (its result); else end
    uint32_t result;                 // vertex that sets its result: RESULT, else end; DAG_NONE if it never came
    uint32_t path;                   // index into paths
    uint16_t flags;
    uint8_t outcome;  // enum task_outcome; TASK_CANCELLED also of one that never started, but has a result
    uint8_t dispatch; // enum dispatch, as recorded
    uint32_t awaited; // how many waits (taken included) name it
};

struct dag_thread {
    uint32_t stream;       // index into trace->streams; DAG_NONE for the DAG's own (barriers)
    uint32_t first, count; // vertices, at least one
    uint32_t pool;         // trace pool id it works for; 0 none
    bool worker;           // a pool's (or a carrier made for one task): its own run() is no task
    bool system;           // the JVM's own: never counted
    bool is_virtual;       // it computes on a carrier, and keeps that until it sleeps; where it is pinned, then, too
    int64_t ready_ns;      // of a virtual one: so long it had waited for a carrier when it began
    int64_t delayed_ns;    // of another: so long for a core; 0 unknown
    uint32_t bodies;       // of tasks that lie in no other body here
    bool stands_in;        // told in the place of others of its pool, which seem to be idle meanwhile (build/served.h)
    bool pinned;           // spawns tasks outside of any task, so that no edit may remove it
    uint32_t run_task;     // of its run() or main, DAG_NONE for workers
    uint32_t request;      // of a client's: what it brings, index into requests, and 1; 0: it is none
};

struct dag_site {
    struct trace_site site;
    uint32_t task_count;
    uint32_t task_class; // of most of its tasks
};

struct dag_context {
    const uint32_t *methods; // trace method ids, outermost first, recursion folded
    uint32_t length;
    uint64_t hash;
};

struct dag_path {            // SPEC section 2: the set of traced functions that a task entered
    const uint32_t *methods; // trace method ids, rising
    uint32_t length;
    uint64_t hash; // ID in plans, as 16 hex digits
};

// What threads hold and wait for beside results, workers and cores. A resource is a number of units, of which each
// holder has some: a lock has one, a semaphore its permits, a connection pool its connections, a queue its elements.
struct dag_resource {
    uint64_t id;
    enum resource_kind kind;
    uint32_t resource_class; // trace class id
    const char *name;        // as a user would call it, NULL unknown
    int64_t capacity;        // units in all; -1 unknown
    int64_t initial;         // units free at the beginning of the recording
    bool fair;               // the longest wait is served first; else any ask
    bool readers_pass;       // a reader comes in though a writer waits
    bool tells_holds;        // the trace tells its holders; else only its waits
    bool goes_round;         // what is taken is given back, as a rule by its taker; else it is made anew elsewhere
};

// One acquisition of a resource, or what gives a resource back that the thread did not take. All vertices are of one
// thread, or DAG_NONE.
struct dag_ask {
    uint32_t resource;
    uint32_t site;        // trace site of the place that asks, 0 unknown
    uint32_t returned_at; // likewise of the place that gives it back
    uint32_t asked;       // ACQUIRE; DAG_NONE where it did not have to wait
    uint32_t got;         // ACQUIRED, GIVEN_UP or HELD; DAG_NONE: it waits still, or only gives back
    uint32_t released;    // RELEASED; DAG_NONE: never, or the trace does not tell
    uint32_t had_at; // where only its release is told: vertex at which its thread had it already, whichever that is;
                     // DAG_NONE: from the beginning of the recording, if at all
    int32_t units;   // 0: a lock that the thread has already
    bool shared;     // a reader of a read-write lock
    bool given_up;
    bool called_off;                         // there had been enough for it before it got it, until another took that
    int64_t limit_ns;                        // it does not wait for longer; INT64_MAX: it does
    int64_t held_ns;                         // where no release is told: so long it had it at the least; 0 unknown
    int64_t unknown_ns;                      // so long of its wait no known thread had the resource
    int64_t held_ready_ns, unknown_ready_ns; // of these two: its holder stood ready without a core (build/holders.c)
    int64_t waking_ns; // so long before it got it there was enough for it: its wake-up latency; 0 unknown
};

// A wait for a task's result that has a time limit, by what is known of others like it also one that found the result
// ready. One that gave up has no cause.
struct dag_await {
    uint32_t begin, end; // WAIT_BEGIN, WAIT_END
    uint32_t site;       // trace site of the place that waits, 0 unknown
    bool given_up;       // it ended without, since its time was up
    int64_t limit_ns;    // from its begin on
};

struct dag_pause { // of the whole JVM (GC)
    int64_t begin_ns, end_ns;
    uint64_t allocated_bytes; // by all threads since the one before; 0 unknown
};

struct dag_sample { // so far, at that time
    int64_t time_ns, process_cpu_ns, machine_cpu_ns;
    uint64_t context_switches;
    int64_t compiled_ns, compilers_waited_ns; // CPU time of the JVM's compilers, and their waits for a core; 0 unknown
};

// What the tracer itself cost (dag/build/perturbation.h).
struct dag_tracer_cost {
    int64_t *edge_ns;    // a vertex each, of the edge to it; NULL: the trace does not tell
    uint8_t *event_kind; // a vertex each: enum event_kind of its event; EVENT_NONE where that is another vertex's
    // Once it was taken out of the times:
    int64_t *recorded_ns;     // a vertex each: its recorded time; NULL: the DAG's times are the recorded ones
    int64_t taken_ns;         // of counted threads' time, all in all
    int64_t recorded_wall_ns; // from their first event to their last
};

// Of a simulated run: what a thread passed that is no vertex of it. Where bodies run inside others their starts, ends
// and brackets are none.
struct dag_aside {
    int64_t time_ns;
    uint32_t source; // vertex of the recorded DAG, or DAG_NONE for what is new
    uint32_t before; // the thread's next vertex, or where that would be
};

// How a pool takes tasks up.
enum discipline {
    DISCIPLINE_UNKNOWN, // an executor of the program's own, or one that delays and does not tell until when: workers
                        // keep the tasks that they had
    DISCIPLINE_FIFO,
    DISCIPLINE_LIFO,
    DISCIPLINE_PRIORITY, // by an order that the trace doesn't know: as recorded
    DISCIPLINE_DELAY,    // by due time, and none before it is due
    DISCIPLINE_HAND_OFF, // no queue: a worker is there, is made, or the task is rejected
    DISCIPLINE_STEALING, // own tasks last in first out, others' first in first out
    DISCIPLINE_LOOPS,    // each worker has a queue of its own, in order, and all that comes by a connection is in one;
                         // or tasks are dealt to them, and each keeps until they are due those that have a time
};

struct dag_pool { // by trace pool id; [0] is none
    enum discipline discipline;
    int32_t core, maximum; // workers; INT32_MAX: no bound
    int64_t capacity;      // of the queue; INT64_MAX: no bound
    bool caller_runs;      // the caller runs what the pool has no room for; else that never runs,
    bool discards_oldest;  // or what would have run next does not, and leaves its place
    bool lifo_wakeups;     // the worker that slept last is woken first
    int64_t keep_alive_ns; // workers beyond `core` that idle so long retire; -1: they stay, too
    bool core_times_out;   // and so do those of `core`
    bool drops_delayed;    // shutting it down cancels also what is to run once, later
    bool wakes_first;      // one that sleeps is woken before another is made, though there are fewer than core
    bool grows_first;      // where none is free another is made, up to `maximum`, before a task queues
    bool is_stage;         // the program starts its threads, which leave when nothing more comes
    bool is_dealt;         // of loops: each is an executor of its own (dag/build/dealt.h)
    uint32_t alike; // the first of the pools that the same code seems to make (dag/build/alike.c): itself, if it is
                    // the only one
    uint32_t alike_count; // how many these are
};

// How many workers there are under load: beyond `core` only what the queue has no room for, unless the pool grows
// first. Less than 0 unknown, INT32_MAX without bound.
static inline int32_t dag_pool_most(const struct dag_pool *pool) {
    return pool->capacity == INT64_MAX && !pool->grows_first ? pool->core : pool->maximum;
}

// What somebody outside asked for. Who asks is part of the run: where a thread outside of tasks handed the request over
// (a poller), that hand-over stands on a thread of the DAG's own, the client's, of which there is one for each request:
// in a closed loop it begins when the connection's request before was answered, and so much later as the client thought
// then; in an open one when it did. A thread that nothing known starts and that does nothing before the last answer (it
// stops the service) begins behind a barrier of all connections' last answers.
struct dag_request {
    uint64_t id;         // as in the trace
    uint64_t connection; // 0 unknown
    uint32_t endpoint;   // trace endpoint id, 0 unknown
    uint32_t begin, end; // VERTEX_REQUEST; DAG_NONE where recording began, or ended, while it was under way
    uint32_t task;       // in whose body it begins, DAG_NONE
    uint32_t arrival;    // SPAWN_BEGIN of its client; DAG_NONE: what brings it is not told apart
    uint32_t polled;     // VERTEX_REQUEST where the thread that handed it over did
    uint32_t before;     // the connection's request before, index into requests; DAG_NONE
    bool failed;
};

// Of the edge to a vertex: so long the library made or stopped an actor.
struct dag_upkeep {
    uint32_t vertex, actor;
    int64_t ns;
};

// What takes messages one at a time. Only those that began, or handled a message, are known here.
struct dag_actor {
    uint64_t id;   // as in the trace; 0: a copy, in a simulated run
    uint32_t init; // task of its first initialisation, DAG_NONE
    uint32_t pool; // trace pool id of the dispatcher that ran what it did first; 0 unknown
};

struct dag {
    const struct trace *trace; // as it was given, or told_anew
    struct trace *told_anew;   // with the stages that its queues are (build/stages.h); NULL: it has none
    struct trace_memory told;  // ... in this memory
    struct dag_vertices vertices;
    uint32_t vertex_count;
    struct dag_thread *threads; // those that have vertices; not the JVM's stream 0
    uint32_t thread_count;
    struct dag_task *tasks; // in order of first mention in time, TASK_NESTED among them
    uint32_t task_count;
    uint32_t *actor_of; // a task each: whose it is, index into actors, 0 of those of none. NULL: there are no actors
    struct dag_actor *actors; // [1..actor_count], in the order in which threads mention them; NULL: there are none
    uint32_t actor_count;
    uint32_t *upkeep_of; // a task each, of TASK_UPKEEP: for which actor it is, 0 unknown; NULL: there are no actors
    struct dag_upkeep *upkeeps;
    uint32_t upkeep_count;
    int64_t *bytecodes; // a task each, executed by its body but in other tasks' bodies inside it; -1 unknown. NULL
                        // where the trace does not count them, and of a simulated run
    // Delayed and periodic tasks; arrays of a task each, all NULL where the trace has none. A due time moves with the
    // vertex behind which it was set.
    int64_t *due_ns;    // INT64_MIN: none
    int64_t *period_ns; // > 0 fixed rate, < 0 fixed delay, 0 once
    uint32_t *due_set;  // on the thread that set it; DAG_NONE: before all vertices, or none
    uint32_t *made_in; // a task each: another in whose body it was made, but not handed over, and before whose start it
                       // can't be; DAG_NONE. NULL: there are none, and of a simulated run
    struct dag_site *sites;
    uint32_t site_count;
    struct dag_context *contexts; // [0] is the empty one
    uint32_t context_count;
    struct dag_path *paths; // [0] is the empty one
    uint32_t path_count;
    struct dag_resource *resources;
    uint32_t resource_count;
    uint32_t carriers;      // of virtual threads: index into resources, and 1; 0: there are no such threads
    uint32_t carriers_pool; // trace pool id of their scheduler, 0: the trace has none
    int64_t *pinned_ns;   // a vertex each: for so much of a sleep in the edge to it a virtual thread kept its carrier;
                          // PINNED_WHOLE: for all, or, of a wait, until that is over. NULL: none did, or it is not
                          // known; and of a simulated run, which has it of its origin
    struct dag_ask *asks; // in the order of their first vertices
    uint32_t ask_count;
    struct dag_await *awaits; // by `end`, rising
    uint32_t await_count;
    struct dag_batch *batches;
    uint32_t batch_count; // of a simulated run none
    struct dag_unit *units;
    struct dag_claim *claims; // by vertex, rising
    uint32_t claim_count;
    struct dag_request *requests; // by begin, or else end
    uint32_t request_count;
    bool open_loop;           // arrivals do not depend on answers
    struct dag_pause *pauses; // rising
    uint32_t pause_count;
    struct dag_sample *samples; // rising
    uint32_t sample_count;
    struct dag_pool *pools;
    uint32_t pool_count;      // with [0]
    const struct dag *origin; // of a simulated run: what was recorded; NULL: this is it
    const uint32_t *source;   // of a simulated run, a vertex each: vertex of `origin`, or DAG_NONE for what is new
    bool redispatched;        // of a simulated run: by pools' rules, so that threads' waits for cores are its own
    const uint32_t *part_of;  // of a simulated run, by task beyond those of `origin`: the one that it is a part of
    const struct dag_aside *asides; // of a simulated run: those of all threads, side by side
    const uint32_t *first_aside;    // a thread each, and one more
    double cores;                   // of a simulated run, other than those recorded; 0: as the trace's header says
    double cycles_per_ns;          // what the header's cycle unit counts in a ns of compute_ns; 0: nothing was measured
    struct dag_tracer_cost tracer; // of what was recorded
    int64_t first_ns, last_ns;     // of the counted threads' events
    int64_t still_ns; // so long after the last of them recording ended, with tasks under way; 0 where that is too short
                      // to say that they stood still
    int64_t wakeup_ns;   // mean residual of waits that slept; of pick-ups that slept where no wait did; else 0
    uint64_t skew_fixed; // effects found before their causes and moved
    int64_t skew_worst_ns;
    int64_t looked_ns; // asleep in looks for the end of what was handed over (build/completion.c)
    struct arena arena;
};

// Work that a task parts into units which any free thread takes (dag/build/batches.c): the task itself, or one of the
// helpers that it handed over to a pool for that. Units are bodies that were made one right after the other, and that
// are handed over to no pool; they are TASK_NESTED, in the order in which they were taken.
struct dag_batch {
    uint32_t pool; // trace pool id of the helpers
    uint32_t site; // where they are handed over
    uint32_t first_unit, unit_count;
};
struct dag_unit {
    uint32_t task;
    uint32_t first, last; // vertices: behind its taking, and its result
};
// Where a task, or a helper, takes units: before `vertex`, from where it goes on at `after`, having run those that it
// took when recorded (none: `vertex` itself).
struct dag_claim {
    uint32_t vertex, after, batch;
    uint32_t most; // units that it takes if there are as many
};

// So long after the answer before it the request came; -1: that is not known, or its client did not wait for the
// answer.
static inline int64_t dag_thought_ns(const struct dag *dag, const struct dag_request *request) {
    const uint32_t answer = request->before == DAG_NONE ? DAG_NONE : dag->requests[request->before].end;
    if (answer == DAG_NONE || request->arrival == DAG_NONE) return -1;
    const int64_t ns = dag->vertices.time_ns[request->arrival] - dag->vertices.time_ns[answer];
    return ns < 0 ? -1 : ns;
}

// Whether the program ran when recording began: it was attached to, or this is a later file of a recording.
static inline bool dag_ran_before(const struct trace *trace) {
    return trace->running_count > 0 || trace->part.number > 1;
}

// How long a thread had waited for a core before its first vertex, as far as is known, or a virtual one for a carrier;
// INT64_MAX: the trace does not tell for how long virtual threads are ready, so that all of that time may be it.
static inline int64_t dag_waited_before_ns(const struct dag *dag, uint32_t thread) {
    const struct dag_thread *of = &dag->threads[thread];
    if (!of->is_virtual) return of->delayed_ns;
    const bool told = dag->vertices.queued_ns && dag->trace->events_of_kind[EVENT_READY];
    return told ? dag->vertices.queued_ns[of->first] : INT64_MAX;
}

// The task with which a thread of a stage left at a vertex, where nothing was seen to put what it took: what told it
// to, as a method that takes nothing may have put. DAG_NONE: none.
uint32_t dag_unseen_leaving(const struct dag *dag, uint32_t retirement);

// What an actor does of which nothing tells how it came, as libraries have some for themselves, though recording went
// on since the beginning: right behind another job of its worker it belongs to that, and has no pool; else it comes
// when it did.
static inline bool dag_comes_behind(const struct dag_task *task) {
    return task->flags & TASK_OF_ACTOR && task->spawn_begin == DAG_NONE && task->enclosing == DAG_NONE && !task->pool;
}
static inline bool dag_comes_unsent(const struct trace *trace, const struct dag_task *task) {
    return task->flags & TASK_OF_ACTOR && task->spawn_begin == DAG_NONE && task->enclosing == DAG_NONE && task->pool &&
           !dag_ran_before(trace);
}

// Whether the tracer lost its being handed over, or seems to have: its worker had it, and nothing says from where. It
// comes when it did.
static inline bool dag_lacks_spawn(const struct trace *trace, const struct dag_task *task) {
    const unsigned others = TASK_NESTED | TASK_BEGUN_BEFORE | TASK_MAIN | TASK_THREAD_RUN | TASK_OF_ACTOR;
    return trace->lost_events > 0 && task->spawn_begin == DAG_NONE && task->start != DAG_NONE &&
           task->enclosing == DAG_NONE && !(task->flags & others);
}

// Whether a pool had the task when recording began, queued or under way: of what was recorded, not simulated. What an
// actor does in the body of another job came with that.
static inline bool dag_task_stands(const struct dag_task *task) {
    const bool comes_along = task->flags & TASK_OF_ACTOR && task->enclosing != DAG_NONE;
    return task->pool != 0 && task->spawn_begin == DAG_NONE && !(task->flags & TASK_NESTED) && !comes_along;
}

#define PINNED_LEAST_NS 1000000 // what of an edge is unaccounted for and no longer may be no sleep, but a page fault
#define PINNED_WHOLE    INT64_MAX

// For how much of a sleep of `asleep_ns`, in the edge to a vertex, a virtual thread keeps its carrier. Where hardly
// anything of it is left, all of it.
static inline int64_t dag_pinned_ns(const struct dag *dag, uint32_t vertex, int64_t asleep_ns) {
    for (; dag->origin && vertex != DAG_NONE; dag = dag->origin) vertex = dag->source[vertex];
    const int64_t pinned_ns = vertex != DAG_NONE && dag->pinned_ns ? dag->pinned_ns[vertex] : 0;
    return pinned_ns > 0 && asleep_ns - pinned_ns < PINNED_LEAST_NS ? asleep_ns : pinned_ns;
}

// Whether it names an ask.
static inline bool vertex_is_of_resource(unsigned kind) {
    return kind >= VERTEX_ACQUIRE && kind <= VERTEX_RELEASED;
}

// The task that a vertex names, or DAG_NONE: those that name resources have none.
static inline uint32_t dag_task_of(const struct dag_vertices *vertices, uint32_t vertex) {
    return vertex_is_of_resource(vertices->kind[vertex]) ? DAG_NONE : vertices->task[vertex];
}

// What a vertex had to await, or DAG_NONE: the next holder of a resource is not settled by the one before.
static inline uint32_t dag_awaited_by(const struct dag_vertices *vertices, uint32_t vertex) {
    return vertices->rule[vertex] == RULE_GRANT ? DAG_NONE : vertices->cause[vertex];
}

// Whether a task's result was set by another task or thread, which cancelled it: queued it never ran, and under way it
// ran on.
static inline bool dag_task_is_cancelled(const struct dag *dag, const struct dag_task *task) {
    if (task->outcome != TASK_CANCELLED || task->result == DAG_NONE || task->flags & TASK_NESTED) return false;
    if (dag->vertices.kind[task->result] != VERTEX_RESULT) return false;
    return task->start == DAG_NONE || task->result < task->start || task->result > task->tail;
}

// The wait with a time limit that ends at a vertex, an index into awaits, or DAG_NONE. Cost: the logarithm of their
// number.
uint32_t dag_await_at(const struct dag *dag, uint32_t vertex);

// The first claim at a vertex or behind it, an index into claims. Cost: the logarithm of their number.
uint32_t dag_claim_from(const struct dag *dag, uint32_t vertex);

// The task in whose body a thread is behind a vertex, the innermost, or DAG_NONE; `body` is that before the vertex.
static inline uint32_t dag_body_after(const struct dag *dag, uint32_t vertex, uint32_t body) {
    unsigned kind = dag->vertices.kind[vertex];
    if (kind == VERTEX_START) return dag->vertices.task[vertex];
    return kind == VERTEX_END ? dag->tasks[dag->vertices.task[vertex]].enclosing : body;
}

// Builds the graph from the trace's streams. The trace must outlive it; the graph's own has stages of pipelines told
// that are queues in the trace. Sound on any readable trace: half brackets,
// lost events and unknown tasks give fewer edges, never an error; errors are a damaged trace or no memory. Cost: two
// decodes of the trace, about 200 ns an event that concurrency touches, 20 ns a function event (bench/analyser). Of
// large traces other threads, which are gone when this returns, take parts of it.
struct dag *dag_build(const struct trace *trace, struct error *error);
void dag_free(struct dag *dag);

// When the thread that took a started task up was free to: the last that it did before, or the making of it;
// INT64_MIN for one that was made for this task.
int64_t dag_free_ns(const struct dag *dag, const struct dag_task *task);

// When the task is due, INT64_MIN for one that is not delayed.
static inline int64_t dag_due_ns(const struct dag *dag, const struct dag_task *task) {
    return dag->due_ns ? dag->due_ns[task - dag->tasks] : INT64_MIN;
}

// When the pick-up of a started task began: its worker was free, and it had been spawned or was there already.
int64_t dag_pickup_from_ns(const struct dag *dag, const struct dag_task *task);

// Index of the thread that a vertex is on. Cost: the logarithm of their number.
uint32_t dag_thread_of(const struct dag *dag, uint32_t vertex);

// Whether a client brings it: what hands it over is no part of the program's tasks.
static inline bool dag_comes_by_client(const struct dag *dag, const struct dag_task *task) {
    return dag->request_count && task->spawn_begin != DAG_NONE &&
           dag->threads[dag_thread_of(dag, task->spawn_begin)].request;
}

// Behind the thread's last vertex, but for those that stand for the ends of tasks that were under way at its last
// event.
uint32_t dag_thread_end(const struct dag *dag, const struct dag_thread *thread);

// Whether a vertex hands over what runs on a thread of its own.
bool dag_starts_thread(const struct dag *dag, uint32_t vertex);

// Whether it was under way when recording ended, or still lay in a queue. Where events were lost that is known of none.
bool dag_task_outlasts(const struct dag *dag, const struct dag_task *task);

// "com.acme.Main.run:12"; "unknown site" for DAG_NONE. Returns text.
const char *dag_site_text(const struct dag *dag, uint32_t site, char *text, size_t size);

#endif
