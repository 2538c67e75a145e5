// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a simulation, shared by its parts: what no run changes, and what the run at hand has come to. Types, and
// what follows from them in a line; each part's functions are in the header of its name.
//
// Processes go ahead of the clock as long as what they do concerns nobody's order: a vertex has its time from the
// process and its cause alone, whenever that is worked out. Only what pools must see in order of time (a spawn, a
// worker that comes free, a shutdown), who comes for a lock, and results where stages may await them, wait for their
// turn in the event list.
#ifndef REHYPE_DAG_STATE_H
#define REHYPE_DAG_STATE_H

#include "dag/propagate/parking.h"
#include "dag/simulate/cores.h"
#include "dag/simulate/costs.h"
#include "dag/simulate/event_list.h"
#include "dag/simulate/model.h"
#include "dag/simulate/process.h"

enum placement {        // of a task in this run
    PLACEMENT_RECORDED, // is taken up where it was
    PLACEMENT_INLINED,
    PLACEMENT_STAGED,
    PLACEMENT_MERGED,     // runs in a group that another member ends
    PLACEMENT_SPLIT,      // its parts are dispatched
    PLACEMENT_DISPATCHED, // by its pool
    PLACEMENT_LEFT,       // likewise, up to a wait: what follows runs where its inputs come
};

// Of a vertex that comes as long after the one before as recorded, whatever happens elsewhere.
enum trait {
    TRAIT_PLAIN = 1,
    TRAIT_OF_TASK = 2, // plain as long as its task is what it was
    // Of any vertex:
    TRAIT_AWAITED = 4,   // others may wait for its time
    TRAIT_WAITS = 8,     // it ends a wait for a task whose end is known
    TRAIT_HELD_UP = 16,  // the edge to it slept for a first use (first_use.h)
    TRAIT_LOOKS = 32,    // a waiter that helped came to it before its wait was over
    TRAIT_LIMITED = 64,  // it ends a wait for a result that has a time limit
    TRAIT_CANCELS = 128, // the cancelling of a task by another, or the end of the body of one that was cancelled
};

struct task_queue {         // all pools' queues, since a task is in one at most
    int64_t *key;           // a task each, of a pool that goes by priority: the least comes first
    uint32_t *left, *right; // of such a pool below it in the heap; of others those that came before and after
    uint32_t *holder;       // process in whose deque it is, QUEUE_SHARED or _NOWHERE
};
#define QUEUE_SHARED  (DAG_NONE - 1)
#define QUEUE_NOWHERE DAG_NONE

// A pool and its rules. The first part is the same in all runs.
struct pool_state {
    bool governed;            // its discipline is known and simulated
    bool tells_idle;          // its workers' IDLE was recorded
    const uint32_t *recorded; // threads of its workers, in order of their beginning
    uint32_t recorded_count;
    uint32_t retirement; // a RETIRE that shows how workers go, DAG_NONE
    // How long the first recorded ones took to leave that were busy at the shutdown [0], and that slept [1]; -1: none.
    int64_t leaves_ns[2];
    bool all_retire;     // every recorded worker did
    uint32_t throughput; // jobs of one actor that a worker runs in a row
    // Of a stage: how many tasks were spawned to it, how many threads of it the program starts, and whether nothing but
    // what is put last tells these to leave.
    uint32_t puts, starts;
    bool ends_with_puts;

    const struct dag_pool *rules; // in this run, but for what is told below
    bool governs;                 // in this run: it dispatches
    enum discipline discipline;   // in this run
    int32_t core, maximum;
    int64_t capacity;
    // What the run has come to, to the end (snapshot.h):
    uint32_t made, alive;
    uint32_t idle_first, idle_last; // processes
    uint32_t idle;                  // how many
    uint32_t barriers;              // thread of the DAG's own that gathers its end, DAG_NONE; the same in all runs
    uint32_t queue_length;          // in deques too
    uint32_t heap;                  // of a pool that goes by priority: task that comes first, DAG_NONE
    struct deque shared;            // of others: what queues; of a stealing pool what others than its workers spawned
    uint32_t workers;               // of a stealing pool: process made last
    uint32_t blocked;               // of a stealing pool's workers
    uint32_t asking;                // workers that wait for a resource
    uint32_t delayed;               // jobs that are not due, and that a shutdown leaves
    uint32_t coming, coming_first;  // of a pool with a queue: workers that were called and are not there yet
    uint32_t puts_left, to_begin;   // of a stage: spawns, and threads that the program starts, that are to come
    uint32_t lasts_left;            // of event loops: last tasks of recorded ones that are to be run
    uint32_t shutdown;              // vertex, DAG_NONE before
    int64_t shutdown_ns;
    int64_t gone_ns; // when its last worker retired
};

// A recorded worker comes, goes, falls asleep or wakes up; of pools that do not steal, it sleeps or wakes up.
struct transition {
    int64_t time_ns;
    int64_t kept_ns; // of pools with a queue: what it was ready before that, without a core
    uint32_t pool;
    int32_t idle, running; // workers from then on
    bool comes;            // it woke up
    uint32_t task;         // of other pools: the one that it then took
};

struct deferred { // a body that sinks (dag/edit/edit.h)
    uint32_t wait, task;
    bool begun;
};

struct resource {      // a resource of the DAG in this run
    int64_t available; // units that are to be had; less than 0 where there are fewer than some hold
    int64_t promised;  // units of waiters that were called and have not come
    uint32_t first;    // waiter that is called next, DAG_NONE
    int64_t unknown;   // units that something unknown has, until whatever waits for them gets them
    uint32_t holder;   // process that took it last
    uint32_t held;     // where no release is told: by which ask
    bool unlocked;     // it is never contended
};

struct carriers {         // of virtual threads
    int64_t count;        // 0: one for each
    uint32_t idle;        // how many
    uint32_t first, last; // processes that are ready and have none, DAG_NONE
    bool pins;            // some keep theirs while they sleep
};

struct hold { // what a process has
    uint32_t ask, next;
};

struct mailbox {          // of an actor, or of one of its copies
    uint32_t first, last; // jobs that lie in it, DAG_NONE
    uint32_t last_upkeep; // of these the last of the library's, which come first; DAG_NONE
    uint32_t running;   // the job that its actor runs, or that its pool has; where others follow a job behind it, that
                        // one for all mailboxes that its worker holds; DAG_NONE
    uint32_t in_a_row;  // up to that, by one worker
    uint32_t next_held; // by the same worker, DAG_NONE
    uint32_t copies_at; // of an actor with copies: mailbox of the first behind itself,
    uint32_t turn;      // ... and how many messages have come
};

// Workers of a pool that all wait for what they hold themselves.
struct starvation {
    uint32_t pool, resource; // 0: none
    uint32_t times, ask;     // how often; by which ask the first time
};

struct arrivals {         // spawns, by a thread in nobody's name or main's, of what comes at another rate
    uint32_t first, last; // vertices; DAG_NONE: there are none
};

struct clients {       // that bring the requests
    uint32_t *by_rank; // requests that come by one, in the order in which they do; NULL: there are no requests
    uint32_t *rank;    // a request each
    uint32_t count, first_count; // of these, those that are their client's first
    int64_t think_ns;            // mean, where it is known
    double per_s;                // as recorded; 0: there are not two
};

// What is read off the recording once, and no run changes. By task, thread or vertex where nothing else is said.
struct recorded {
    uint8_t *traits;            // of a vertex: enum trait
    uint32_t *spawned_next;     // of a task: the one that the same thread spawns next, DAG_NONE
    uint32_t *workers;          // what pool_state.recorded points into
    uint32_t *pool_of_barrier;  // of a thread: whose end it is the barrier of, 0: none
    uint32_t *next_barrier;     // of a thread: the pool's next one, DAG_NONE
    uint32_t *pool_of_shutdown; // of a vertex, 0: none
    uint32_t *begun_by;         // of a vertex: thread of a stage's that is started there, DAG_NONE; NULL: no stages
    uint8_t *claimed;           // a bit a vertex: before it units are taken; NULL: before none
    uint32_t *lanes;            // of a task: what of a pool of event loops is always the same one's (event_loops.c);
                                // NULL: there is no such pool
    uint32_t *initial_jobs;     // tasks that pools had when recording began, in order of their start
    uint32_t initial_job_count;
    bool *helped;             // of a task: in a wait, by a worker or another thread
    int64_t *taken_before_ns; // of a task: what was woken for it in a stealing pool took it so long before its start
    struct transition *transitions; // by pool, then time
    uint32_t transition_count;
    uint32_t *transition_after; // of a task that was spawned to a pool: the first transition later than that
    int64_t *busy_until_ns;     // of a task that lay in a queue: when that had run empty
    // Where processes share the cores, once it has been replayed:
    struct cores_residual *residuals;    // of a vertex: of the edge to it
    struct cores_pause *pauses;          // a pause of the DAG each
    struct cores_background *background; // a sample of the DAG each: until then
    struct cores_others *others;         // likewise: what whatever is no edge had, compilers too
    struct pacing *pacing;               // how what they compute is work (service.h); NULL: it is
};

struct site_share { // what edges between a site's tasks computed, and the most of it that can go
    double total_ns, most_ns;
};

// Tasks that the edit regroups (regroup.c).
struct regroup {
    uint32_t *group_first;           // a task each: of one that ends a group, its first member; else DAG_NONE
    bool had_groups;                 // the run before
    bool amortises;                  // something goes that was done once for each task (amortised.c)
    double *making, *asking;         // a task each, of a group, not its first, or inlined: what part of these goes
    struct site_share *sites;        // scratch of those that are inlined
    uint32_t *parts_left;            // a task each: of one that is split, how many are still to end
    uint32_t *part_of, *part_number; // by job beyond the tasks: the task, and which of its parts
    uint32_t *first_stage;           // a vertex each: frame of a stage that awaits it, DAG_NONE
    uint32_t stages_left;            // that await something
};

// Of tasks that the edit splits (part_costs.c); NULL before any was.
struct part_costs {
    float *pace;            // a task each: at which its body computed; not set where no pace is known
    float *hand_over;       // a task each: what it costs to hand over one of its parts, of its pool's mean
    int64_t *site_sleep_ns; // a task each: what a quarter of its site's tasks slept at the least; INT64_MAX: not known
    uint32_t *by_spawn;     // tasks that were spawned, in order of time
    uint32_t spawned_count;
};

struct simulation {
    const struct dag *dag;
    const struct costs *costs;
    const struct simulation *beside; // whose traits, spawned_next and, if it has calibrated, residuals, pauses,
                                     // background, others and pacing these are; NULL: its own
    struct recorded recorded;
    struct clients clients;
    const struct simulation *replicated; // of the recording, of which this DAG is a replicate; NULL
    struct snapshots *snapshots;         // of the run without an edit (snapshot.h); NULL: none are kept
    bool keeps;                          // the run at hand is to be kept
    uint32_t spared;                     // vertices that it had passed in the snapshot that it began at
    bool calibrated, calibrating; // the recording has been replayed, for the residuals' `slowdown`; is being replayed

    // What the run is asked for, and what follows from that.
    const struct dag_edit *edit;
    enum model_kind model;
    double rate; // of arrivals; 0: as recorded
    struct offered_load load;
    struct arrivals *arrivals; // a recorded thread each
    uint8_t *placement;        // a task each
    bool shares;               // processes share the cores
    double *pause_left;        // a pause each: what part of it comes (garbage.h); NULL before a run that shares
    bool grants;               // it settles anew which threads have resources
    bool moves;                // some jobs have moved (job_has_moved)
    bool steals;               // some pool is a stealing one
    bool skims; // nothing shares the cores, comes at another rate, is staged or deferred: plain vertices can be passed
                // without a look at them

    // The clock.
    struct event_list events;
    int64_t clock_ns;   // what happens, happens then
    struct cores cores; // what computes, where processes share the cores
    struct parking parking;
    uint32_t running;   // processes that are neither idle nor over
    uint32_t advancing; // the process that goes on now
    int64_t *time_ns;   // a vertex each; DAG_PENDING, DAG_ABSENT
    bool no_memory;

    // Processes and jobs.
    struct process *processes; // recorded threads first
    uint32_t process_count, process_capacity;
    struct frame *frames;
    uint32_t frame_count, frame_capacity, unused_frame;
    uint8_t *dispatch; // a job each
    int64_t *due_ns;   // a job each, where the trace tells of some
    uint32_t job_count, job_capacity;
    struct regroup regroup;
    struct part_costs part_costs;
    uint8_t *drops; // a flag a task: it goes with an actor that is not made; NULL before a run with edits of actors
    struct order_key *droppable; // tasks that may go so, in the order in which they start
    uint32_t droppable_count;
    bool saves;        // some edges take less
    int64_t *saved_ns; // a vertex each, of the edge to it: so much less, as actors are not made; NULL before
                       // there was any

    // Pools and resources.
    struct pool_state *pools; // by trace pool id; then the edit's own
    uint32_t pool_count;      // of both
    struct task_queue queue;
    struct mailbox *mailboxes; // an actor of the DAG each, then its copies; NULL: there are none
    uint32_t mailbox_count, mailbox_capacity;
    uint32_t *next_mail;        // a job each: what lies behind it in its mailbox, DAG_NONE
    uint32_t *waits_for;        // a task each: message of the library behind which it is handled, DAG_NONE
    uint32_t *mailbox_of;       // a job each: mailbox that it came to, 0: it did not yet, or is of no actor
    uint32_t *held_first;       // a task each: the first job that waits for its start to be made; NULL: none ever does
    uint32_t *held_next;        // a task each: the one held behind it, or DAG_NONE (unmade.c)
    int64_t slept_ns;           // of the worker that was woken last: how long it had
    struct resource *resources; // of the DAG
    struct carriers carriers;
    struct hold *holds;
    uint32_t hold_count, hold_capacity, unused_hold;
    uint32_t *had; // asks with a `had_at`, by that; the same in all runs
    uint32_t had_count;
    struct donors *donors;
    uint32_t outcomes_changed, outcomes_kept; // waits that came out otherwise than recorded, or would have
    uint32_t outcomes_alone;                  // that did, but go on as recorded
    bool races;                               // waits for results have limits in this run
    uint8_t *await_outcomes;                  // an await each: enum await_outcome, in its own task's name
    uint32_t
        *body_of; // a task each that was cancelled before it began: whose body it has, DAG_NONE; NULL: there is none
    struct starvation starvation;

    // What any free process takes (claims.h); NULL: there is none.
    uint32_t *units_taken; // a batch of the DAG each
    uint32_t *claims_left; // a claim each: units that it may still take; 0: as recorded, or done

    // Where the run would come to a halt otherwise:
    bool *sinks;               // a flag a task
    struct deferred *deferred; // by wait, then by where they were recorded
    uint32_t deferred_count;

    // What comes out.
    struct passages *log; // a process each
    uint32_t passed;      // vertices in it
    struct dag derived;
    bool to_derive;     // once the last run's is asked for
    double cores_asked; // as struct model's
    struct derive_work *derive;
    struct stuck stuck;
    bool stuck_known;
};

static inline bool corrects(const struct simulation *sim, enum correction correction) {
    return costs_correct(sim->costs, correction);
}

static inline bool process_is_virtual(const struct simulation *sim, uint32_t index) {
    return index < sim->dag->thread_count && sim->dag->threads[index].is_virtual;
}

// Whether the run dispatches a pool's tasks.
static inline bool pool_governs(const struct simulation *sim, uint32_t pool) {
    return pool < sim->pool_count && sim->pools[pool].governs;
}

static inline bool stealing_governs(const struct simulation *sim, uint32_t pool) {
    return pool_governs(sim, pool) && sim->pools[pool].discipline == DISCIPLINE_STEALING;
}

static inline uint32_t job_task(const struct simulation *sim, uint32_t job) {
    return job < sim->dag->task_count ? job : sim->regroup.part_of[job - sim->dag->task_count];
}

// The pool that dispatches a job in this run.
static inline uint32_t job_pool(const struct simulation *sim, uint32_t job) {
    const uint32_t task = job_task(sim, job);
    uint32_t own = 0;
    if (sim->edit->own_pool_count && sim->dag->actor_of) own = sim->edit->actors[sim->dag->actor_of[task]].own_pool;
    return own ? sim->dag->pool_count + own - 1 : sim->dag->tasks[task].pool;
}

// Of a pool that the edit makes the recorded one that it is like; else itself.
static inline uint32_t pool_model(const struct simulation *sim, uint32_t pool) {
    return pool < sim->dag->pool_count ? pool : sim->edit->own_pools[pool - sim->dag->pool_count].like;
}

// Whether a task goes with an actor that is not made: its initialisation, or a message by which it is made or stopped
// and that leads to nothing else.
static inline bool task_is_dropped(const struct simulation *sim, uint32_t task) {
    return sim->edit->actors_count > 0 && sim->drops[task];
}

// When a task was spawned in this run, DAG_ABSENT where it was there from the beginning.
static inline int64_t job_spawned_ns(const struct simulation *sim, uint32_t job) {
    uint32_t spawn = sim->dag->tasks[job_task(sim, job)].spawn_begin;
    return spawn == DAG_NONE ? DAG_ABSENT : sim->time_ns[spawn];
}

static inline bool job_is_part(const struct simulation *sim, uint32_t job) {
    return job >= sim->dag->task_count;
}

// Whether it runs as another's part in this run, or in parts.
static inline bool job_has_moved(const struct simulation *sim, uint32_t job) {
    if (job_is_part(sim, job)) return false;
    return sim->placement[job] != PLACEMENT_RECORDED && sim->placement[job] < PLACEMENT_DISPATCHED;
}

// Whether it ended for its worker where it would have waited.
static inline bool job_has_left(const struct simulation *sim, uint32_t job) {
    return !job_is_part(sim, job) && sim->placement[job] == PLACEMENT_LEFT;
}

static inline bool ends_group(const struct simulation *sim, uint32_t task) {
    return task < sim->dag->task_count && sim->regroup.group_first[task] != DAG_NONE;
}

#endif
