// SPDX-License-Identifier: GPL-3.0-or-later
// The simulation's own state, shared by its parts: simulate.c (the run: what strands do next, and when), frames.c (what
// a strand runs), regroup.c (groups, parts and stages), savings.c (what merging saves beside hand-overs), sunk.c
// (helped bodies that moved), workers.c (pools' rules), queue.c (their queues), shifts.c (when workers slept),
// resources.c, donors.c, starvation.c (what processes hold and wait for), computing.c and service.c (what edges
// compute, and how they fared when recorded), derive.c (the run as a DAG), stuck.c (why it came to a halt).
//
// Strands go ahead of the clock as long as what they do concerns nobody's order: a vertex has its time from the strand
// and its cause alone, whenever that is worked out. Only what pools must see in order of time (a spawn, a worker that
// comes free, a shutdown), who comes for a lock, and results where stages may await them, wait for their turn in the
// agenda.
//
// A job is what a pool dispatches: a task, by its index, or a part of one that is split, by index beyond all tasks.
#ifndef REHYPE_DAG_STRAND_H
#define REHYPE_DAG_STRAND_H

#include "dag/propagate/walk.h"
#include "dag/simulate/agenda.h"
#include "dag/simulate/cores.h"
#include "dag/simulate/simulate.h"

enum fate {        // of a task in this run
    FATE_RECORDED, // is taken up where it was
    FATE_INLINED,
    FATE_STAGED,
    FATE_MERGED,     // runs in a group that another member ends
    FATE_SPLIT,      // its parts are dispatched
    FATE_DISPATCHED, // by its pool
    FATE_LEFT,       // likewise, up to a wait: what follows runs where its inputs come
};

// Of a vertex that comes as long after the one before as recorded, whatever happens elsewhere.
enum trait {
    TRAIT_PLAIN = 1,
    TRAIT_OF_TASK = 2, // plain as long as its task is what it was
    // Of any vertex:
    TRAIT_AWAITED = 4,  // others may wait for its time
    TRAIT_WAITS = 8,    // it ends a wait for a task whose end is known
    TRAIT_HELD_UP = 16, // the edge to it has a holdup (dag/simulate/costs.h)
    TRAIT_LOOKS = 32,   // a waiter that helped came to it before its wait was over
};

enum frame_kind {
    FRAME_THREAD,  // a recorded thread, from its first vertex to its last
    FRAME_INLINED, // a body in its spawn's place
    FRAME_TASK,    // a worker's
    FRAME_CALLED,  // a body in its spawn's bracket, where it was not recorded
    FRAME_HELPED,  // a body in another's wait
    FRAME_SUNK,    // a body that sank to another's wait, pick-up and all: `link` says which
    FRAME_STAGED,  // like FRAME_INLINED, of a coordinator: it leaves the strand where it would wait
    FRAME_MEMBER,  // a body in a group
    FRAME_GROUP,   // on a recorded thread, the body that ends a group
    FRAME_DONOR,   // what another task, `link`, did behind its wait, for `task`
    FRAME_PART,    // of a body: no vertices but START (next is 0) and END (1)
    FRAME_PARTS,   // the spawns of a task's parts; `next` is the part's number
};

// Vertices that a strand runs; frames nest.
struct frame {
    uint32_t outer; // DAG_NONE: the outermost; of unused frames the next unused one
    uint32_t task;  // job; DAG_NONE of threads, and where the strand does not begin the job
    uint32_t next, end;
    uint32_t link;         // of a stage that awaits a result: another that awaits it, DAG_NONE
    int64_t since_ns;      // recorded time of what `next` follows; of FRAME_PARTS the job in the bracket
    int64_t lead_after_ns; // from its end to what comes then on the strand, beside recorded time
    int64_t held_ns;       // if `next` ends a wait: what kept the waiter from a core behind a task that it helped with
                           // when recorded, and that it has not helped with yet
    uint8_t kind;
    bool left;   // of a stage: it has been left once
    bool parked; // of a stage: it awaits a result, of a wait that ends right before `next`
    bool staged; // of a coordinator: it leaves the strand where it would wait
    bool begun;  // of FRAME_PARTS: in a bracket
    bool stolen; // by a waiter, whose `stolen_from` is at its end as it was before; that others must see in time
    uint32_t stolen_from; // what it was
};

// What stands for a vertex where a strand's next step has none.
enum {
    STEP_PART_START = DAG_NONE - 4,
    STEP_PART_END,
    STEP_SPAWN,   // of a part
    STEP_SPAWNED, // the bracket's end
};
#define STEP_LEAST STEP_PART_START

// Of what leads up to a strand's next vertex, where strands share the cores: first it computes, then it sleeps.
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

struct deque { // tasks in the order in which they came
    uint32_t oldest, newest, count;
};

struct strand {
    int64_t now_ns;                // T of the vertex passed last, or of what stands for it
    int64_t lead_ns;               // as in struct reach
    int64_t compute_ns, queued_ns; // what the lead holds of it
    struct cores_luck luck;        // the lead's
    uint32_t frame;                // innermost, DAG_NONE
    uint32_t vertex;               // the next, or what stands for it; DAG_NONE as long as it wasn't looked for
    uint32_t awaits;               // vertex whose time it waits for, DAG_NONE
    uint32_t ask, ask_next;        // what it asked for last; the waiter called behind it, DAG_NONE
    int64_t ask_key;               // its place among waiters: the least first
    int64_t called_ns, limit_ns;   // since when it need not wait any more; when it gives up, INT64_MAX: never
    uint32_t holds;                // what it has, the latest first; DAG_NONE
    uint8_t wait;                  // enum ask_state
    bool carried;                  // a virtual thread that has a carrier
    uint32_t carrier_next;         // the one that is ready behind it, DAG_NONE
    uint32_t stages;               // frames that go on here before anything else, by link; DAG_NONE
    bool entered;                  // `vertex` is the start of a body that begins here: no cause
    bool has_edge;                 // as in struct passage
    bool timed;                    // `vertex` has its time, which is that of the turn that it waits for
    uint8_t life;
    uint8_t edge; // enum edge; with when it begins to compute, what, in whose service, when that is done, and what it
                  // sleeps then
    struct cores_luck edge_luck;
    int64_t joins_ns, edge_compute_ns, computed_ns, asleep_ns;
    uint32_t pool;                   // of a worker, else 0
    uint32_t model;                  // recorded thread that it stands for, or that it is like; DAG_NONE
    uint32_t idle_next, idle_before; // others that idle, from the one that has for longest
    uint32_t task;                   // of a worker, its latest
    uint32_t maker;                  // of a worker, the vertex that it was made at
    // Of a stealing pool's workers; `blocked` also of others that wait for such a pool's task:
    struct deque own;
    uint32_t next_of_pool; // the one made before it
    uint32_t stolen_from;  // whose deque its latest stolen task was in, DAG_NONE
    int64_t woken_ns;      // when it was made or woken, of one that comes
    uint8_t comes_as;      // enum dispatch of what it will find
    uint32_t busy_item;    // of its log: 1 + the BUSY of a task that it was woken for, until it has a core to start it
    int64_t awake_ns;      // so long before the start that BUSY is
    int64_t takes_before_ns; // of a stealing pool: so long before the start of what it then finds
    uint32_t comes_for;      // of a pool with a queue: the task that it takes if that is still there, DAG_NONE
    uint32_t blocked;        // it waits for a task of this pool and found nothing to help with; else 0
    uint32_t kept_from; // where cores are shared: the start, as recorded, that it was kept from in its wait by having
                        // no core, and is to be again before it goes on; DAG_NONE
    uint32_t looked;    // TRAIT_LOOKS: the latest such vertex before which it found nothing to help with, DAG_NONE
};

// What a strand passed: a vertex or what stands for one, and recorded vertices right behind it that came after it as
// they did when recorded, with what they computed and waited then.
struct passage {
    int64_t time_ns;
    int64_t compute_ns, queued_ns; // since the passage before on the strand, beside what `has_edge` says
    uint32_t source;               // vertex, or DAG_NONE
    uint32_t count;                // of vertices, from `source`
    uint32_t task;                 // job
    uint8_t kind;                  // enum vertex_kind
    bool has_edge;                 // it computes and waits what the edge to `source` did
    bool dropped;                  // no vertex of this run
};

struct passages { // of one strand, in order; there is always room for one more
    struct passage *items;
    uint32_t count, capacity;
    uint32_t dropped;   // items that are
    uint32_t followers; // vertices behind the items' first ones
};

struct task_queue {         // all pools' queues, since a task is in one at most
    int64_t *key;           // a task each, of a pool that goes by priority: the least comes first
    uint32_t *left, *right; // of such a pool below it in the heap; of others those that came before and after
    uint32_t *holder;       // strand in whose deque it is, QUEUE_SHARED or _NOWHERE
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
    bool all_retire; // every recorded worker did

    bool governs;               // in this run: it dispatches
    enum discipline discipline; // in this run
    int32_t core, maximum;
    int64_t capacity;
    uint32_t made, alive;
    uint32_t idle_first, idle_last; // strands
    uint32_t idle;                  // how many
    uint32_t barriers;              // thread of the DAG's own that gathers its end, DAG_NONE; the same in all runs
    uint32_t queue_length;          // in deques too
    uint32_t heap;                  // of a pool that goes by priority: task that comes first, DAG_NONE
    struct deque shared;            // of others: what queues; of a stealing pool what others than its workers spawned
    uint32_t workers;               // of a stealing pool: strand made last
    uint32_t blocked;               // of a stealing pool's workers
    uint32_t asking;                // workers that wait for a resource
    uint32_t delayed;               // jobs that are not due
    uint32_t coming, coming_first;  // of a pool with a queue: workers that were called and are not there yet
    uint32_t shutdown;              // vertex, DAG_NONE before
    int64_t gone_ns;                // when its last worker retired
};

// A recorded worker comes, goes, falls asleep or wakes up; of pools that do not steal, it sleeps or wakes up.
struct worker_shift {
    int64_t time_ns;
    uint32_t pool;
    int32_t idle, running; // workers from then on
    bool comes;            // it woke up
    uint32_t task;         // of other pools: the one that it then took
};

struct sunk { // a body that sinks (dag/edit/edit.h)
    uint32_t wait, task;
    bool begun;
};

struct resource {      // a resource of the DAG in this run
    int64_t available; // units that are to be had; less than 0 where there are fewer than some hold
    int64_t promised;  // units of waiters that were called and have not come
    uint32_t first;    // waiter that is called next, DAG_NONE
    uint32_t unknown;  // waiters that something unknown keeps from it
    uint32_t holder;   // process that took it last
    uint32_t held;     // where no release is told: by which ask
    bool unlocked;     // it is never contended
};

struct carriers {         // of virtual threads
    uint32_t idle;        // how many
    uint32_t first, last; // processes that are ready and have none, DAG_NONE
};

struct hold { // what a process has
    uint32_t ask, next;
};

// Workers of a pool that all wait for what they hold themselves.
struct starvation {
    uint32_t pool, resource; // 0: none
    uint32_t times, ask;     // how often; by which ask the first time
};

struct arrivals {         // spawns, by a thread in nobody's name or main's, of what comes at another rate
    uint32_t first, last; // vertices; DAG_NONE: there are none
};

struct simulation {
    const struct dag *dag;
    const struct costs *costs;
    const struct dag_edit *edit;
    enum model_kind model;

    struct strand *strands; // recorded threads first
    uint32_t strand_count, strand_capacity;
    struct frame *frames;
    uint32_t frame_count, frame_capacity, unused_frame;
    int64_t slept_ns;          // of the worker that was woken last: how long it had
    double rate;               // of arrivals; 0: as recorded
    struct arrivals *arrivals; // a recorded thread each
    struct agenda agenda;
    struct cores cores;                  // who computes, where strands share the cores
    bool shares;                         // they do
    struct cores_luck *luck;             // a vertex each: of the edge to it
    bool rehearsed, rehearses;           // the recording has been replayed, for their `crowding`; is being replayed
    struct cores_pause *pauses;          // a pause of the DAG each
    struct cores_background *background; // a sample of the DAG each: until then
    const struct simulation *beside;     // whose traits, spawned_next and, if it has rehearsed, luck, pauses and
                                         // background these are; NULL: its own
    struct parking parking;
    int64_t *time_ns;  // a vertex each; DAG_PENDING, DAG_ABSENT
    uint8_t *fate;     // a task each
    uint8_t *dispatch; // a job each, of this run

    uint32_t *group_first;           // a task each: of one that ends a group, its first member; else DAG_NONE
    bool had_groups;                 // the run before
    double *making, *asking;         // a task each, of a group, not its first: what part of these goes (savings.c)
    uint32_t *parts_left;            // a task each: of one that is split, how many are still to end
    uint32_t *part_of, *part_number; // by job beyond the tasks: the task, and which of its parts
    uint32_t job_count, job_capacity;
    uint32_t *first_stage; // a vertex each: frame of a stage that awaits it, DAG_NONE
    uint32_t stages_left;  // that await something

    struct pool_state *pools; // by trace pool id
    uint32_t pool_count;
    uint32_t *recorded_workers; // what pool_state.recorded points into
    uint32_t *pool_of_barrier;  // a thread each: whose end it is the barrier of, 0: none
    uint32_t *next_barrier;     // a thread each: the pool's next one, DAG_NONE
    uint32_t *pool_of_shutdown; // a vertex each, 0: none
    uint32_t *standing;         // tasks that pools had when recording began, in order of their start
    uint32_t standing_count;
    struct task_queue queue;
    bool *helped;             // a task each: in a wait, by a worker or another thread, as recorded
    int64_t *taken_before_ns; // a task each: who was woken for it in a stealing pool took it so long before its start
    struct worker_shift *shifts; // by pool, then time
    uint32_t shift_count;
    uint32_t *shift_after; // a task each, of those that were spawned to a pool: the first shift later than that
    int64_t *drained_ns;   // a task each, of those that lay in a queue: when that had run empty

    struct resource *resources; // of the DAG
    bool grants;                // this run settles anew which threads have them
    struct carriers carriers;
    struct hold *holds;
    uint32_t hold_count, hold_capacity, unused_hold;
    struct agenda releases; // of resources whose releases are not told
    struct agenda dues;     // jobs that are handed over, and not due; where the trace has some
    int64_t *due_ns;        // a job each, likewise
    struct donors *donors;
    uint32_t outcomes_changed, outcomes_kept; // waits that came out otherwise than recorded, or would have
    struct starvation starvation;

    // Where the run would come to a halt otherwise:
    bool *sinks;       // a flag a task
    struct sunk *sunk; // by wait, then by where they were recorded
    uint32_t sunk_count;

    uint32_t running;   // strands that are neither idle nor over
    uint32_t advancing; // the strand that goes on now

    uint8_t *traits;        // a vertex each: enum trait, in all runs the same
    uint32_t *spawned_next; // a task each: the one that the same thread spawns next, DAG_NONE
    bool moves;             // some jobs have moved (job_has_moved)
    bool steals;            // some pool is a stealing one
    bool skims;             // nobody shares the cores, comes at another rate, is staged or sinks: plain vertices can be
                            // passed without a look at them
    struct passages *log;   // a strand each
    uint32_t passed;        // vertices in it
    bool no_memory;

    struct dag derived;
    struct derive_work *derive;
    struct stuck stuck;
    bool stuck_known;
};

static inline bool corrects(const struct simulation *sim, enum correction correction) {
    return costs_correct(sim->costs, correction);
}

// Whether the run dispatches a pool's tasks.
static inline bool pool_governs(const struct simulation *sim, uint32_t pool) {
    return pool < sim->pool_count && sim->pools[pool].governs;
}

static inline uint32_t job_task(const struct simulation *sim, uint32_t job) {
    return job < sim->dag->task_count ? job : sim->part_of[job - sim->dag->task_count];
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
    return sim->fate[job] != FATE_RECORDED && sim->fate[job] < FATE_DISPATCHED;
}

// Whether it ended for its worker where it would have waited.
static inline bool job_has_left(const struct simulation *sim, uint32_t job) {
    return !job_is_part(sim, job) && sim->fate[job] == FATE_LEFT;
}

// Whether it is the end of the body of a task that its worker ended earlier.
static inline bool passage_ends_stages(const struct simulation *sim, const struct passage *passage) {
    return passage->kind == VERTEX_END && passage->source != DAG_NONE && job_has_left(sim, passage->task);
}

// Inlined bodies are no bodies any more; only what they bring about is left of them, where someone awaits it.
static inline bool passage_is_left(const struct simulation *sim, const struct passage *passage) {
    if (passage->dropped) return false;
    if (!sim->moves || passage->task == DAG_NONE || passage->kind > VERTEX_RESULT) return true;
    if (job_has_left(sim, passage->task))
        return !passage_ends_stages(sim, passage) || passage->source == sim->dag->tasks[passage->task].result;
    if (!job_has_moved(sim, passage->task)) return true;
    const struct dag_task *task = &sim->dag->tasks[passage->task];
    return task->awaited > 0 && (passage->kind == VERTEX_RESULT || passage->source == task->result);
}

static inline bool ends_group(const struct simulation *sim, uint32_t task) {
    return task < sim->dag->task_count && sim->group_first[task] != DAG_NONE;
}

// The last vertex that goes where a task's body goes. What a thread that no pool governs did behind it, stays there.
static inline uint32_t frame_last_of_body(const struct simulation *sim, uint32_t task) {
    const struct dag_task *of = &sim->dag->tasks[task];
    return pool_governs(sim, of->pool) || sim->sinks[task] ? of->tail : of->end;
}

static inline struct frame frame_of_body(const struct simulation *sim, uint32_t task, enum frame_kind kind) {
    uint32_t start = sim->dag->tasks[task].start;
    return (struct frame){.task = task,
                          .next = start,
                          .end = frame_last_of_body(sim, task) + 1,
                          .link = DAG_NONE,
                          .since_ns = sim->dag->vertices.time_ns[start],
                          .kind = (uint8_t)kind};
}

static inline struct frame frame_of_job(const struct simulation *sim, uint32_t job, enum frame_kind kind) {
    if (!job_is_part(sim, job)) {
        struct frame body = frame_of_body(sim, job, kind);
        body.staged = sim->edit->staged[job];
        return body;
    }
    return (struct frame){.task = job, .next = 0, .end = 2, .link = DAG_NONE, .kind = FRAME_PART};
}

// Whether the strand's next vertex is the last of a body that a waiter stole.
static inline bool frame_ends_theft(const struct simulation *sim, const struct strand *strand) {
    const struct frame *frame = &sim->frames[strand->frame];
    return frame->stolen && strand->vertex + 1 == frame->end;
}

// frames.c
uint32_t frame_new(struct simulation *sim); // DAG_NONE: no memory
static inline bool frame_push(struct simulation *sim, uint32_t strand, struct frame frame) {
    uint32_t index = frame_new(sim);
    if (index == DAG_NONE) return false;
    frame.outer = sim->strands[strand].frame;
    sim->frames[index] = frame;
    sim->strands[strand].frame = index;
    return true;
}
// The next vertex of a strand, or what stands for it, in frames and out of them; DAG_NONE at the end of the outermost
// one, which is gone then.
uint32_t frame_next_vertex(struct simulation *sim, uint32_t strand);
// Of the end of a wait that had a cause: what kept the waiter from a core whatever it waited for.
int64_t held_up_ns(const struct simulation *sim, uint32_t v);
// Whether the result of a task that the strand waits for at its next vertex is there before it asks: it neither falls
// asleep nor loses its core over that.
bool strand_finds_result(const struct simulation *sim, const struct strand *strand);
void frames_clear(struct simulation *sim);

// sunk.c
bool sunk_new(struct simulation *sim);
void sunk_free(struct simulation *sim);
void sunk_forget(struct simulation *sim);
bool sunk_find(struct simulation *sim); // which bodies sink under the edit; false: none
// One that has sunk to this wait and is still to run, DAG_NONE; from now on it is not any more.
uint32_t sunk_take(struct simulation *sim, uint32_t wait);

// simulate.c
uint32_t strand_add(struct simulation *sim);                            // DAG_NONE: no memory
uint32_t job_add(struct simulation *sim, uint32_t task, uint32_t part); // likewise
void strand_make_ready(struct simulation *sim, uint32_t strand);
// A vertex has its time; whoever waits for it can go on.
void strand_pass(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns);
void vertex_set(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns); // without a passage
// The strand passes a recorded vertex whose time nobody awaits; `dropped`: it is none of this run.
void strand_pass_by(struct simulation *sim, uint32_t strand, uint32_t vertex, int64_t time_ns, bool dropped);
// The same of a bracket's end that is another job's now.
void strand_pass_as(struct simulation *sim, uint32_t strand, uint32_t vertex, uint32_t job, int64_t time_ns);
// The same of a vertex that comes as another kind now.
void strand_pass_kind(struct simulation *sim, uint32_t strand, uint32_t vertex, enum vertex_kind kind, int64_t time_ns);
void strand_pass_new(struct simulation *sim, uint32_t strand, enum vertex_kind kind, uint32_t job, int64_t time_ns);
// What follows on the strand comes so much later, since something takes that long: on a core, if it computes.
void strand_lead(struct simulation *sim, uint32_t strand, int64_t lead_ns, bool computes);
bool bracket_is_own(const struct dag *dag, uint32_t task); // it holds nothing but its own task's: it can be left out
void bracket_leave_out(struct simulation *sim, uint32_t task);
void vertex_vanish(struct simulation *sim, uint32_t vertex); // it is no part of this run

// regroup.c
bool regroup_new(struct simulation *sim);
void regroup_free(struct simulation *sim);
void regroup_begin_run(struct simulation *sim);
void group_begin(struct simulation *sim, uint32_t strand, uint32_t task);   // behind the START of the one that ends it
void group_go_on(struct simulation *sim, uint32_t strand, uint32_t member); // whose body is over
void group_end(struct simulation *sim, uint32_t strand, uint32_t task);
void parts_begin(struct simulation *sim, uint32_t strand, uint32_t task, int64_t time_ns); // at its SPAWN_BEGIN
void part_step(struct simulation *sim, uint32_t strand, uint32_t step, int64_t time_ns);
void stage_wait(struct simulation *sim, uint32_t strand, uint32_t wait_end, int64_t time_ns);
void stages_resume(struct simulation *sim, uint32_t strand);

// savings.c: what an edge takes less because tasks are merged
struct saving {
    int64_t compute_ns, queued_ns; // of a trace that measures no computing, the first is all
};
bool savings_new(struct simulation *sim);
void savings_free(struct simulation *sim);
void savings_begin_run(struct simulation *sim);               // groups and fates are known
double saving_part(const struct simulation *sim, uint32_t v); // of what the edge to a vertex computed and queued
struct saving saving_in_group(const struct simulation *sim, uint32_t v);
static inline struct saving saving_of_edge(const struct simulation *sim, uint32_t v) {
    bool saves = sim->edit->merged_count && corrects(sim, CORRECTION_AMORTISED);
    return saves ? saving_in_group(sim, v) : (struct saving){0, 0};
}

// workers.c
bool pools_new(struct simulation *sim);
void pools_free(struct simulation *sim);
void pools_begin_run(struct simulation *sim);
void pools_end_run(struct simulation *sim); // logs who idles to the end
// A job is spawned now by a strand; says how it is dispatched, DISPATCH_NONE if it is rejected.
enum dispatch pool_offer(struct simulation *sim, uint32_t strand, uint32_t job, int64_t now_ns);
// How long a worker that is made needs to where it looks for a task: one that was recorded, as long as then after what
// made it, and after the job's spawn if it was made in that and is now; any other the pool's mean.
int64_t worker_time_to_begin(const struct simulation *sim, uint32_t worker, uint32_t job);
void pool_take_back(struct simulation *sim, uint32_t worker);              // it is free: next task, idle, or gone
void pool_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns); // it was called
// Whether a worker is on its way that took this task when recorded.
bool pool_is_come_for(const struct simulation *sim, uint32_t pool, uint32_t job);
void pool_idled_out(struct simulation *sim, uint32_t worker); // it was idle for as long as it may be
void pool_shut_down(struct simulation *sim, uint32_t pool, uint32_t vertex);
// Of a pool, made now by what happens at a vertex, alive and without a task; DAG_NONE: no memory.
uint32_t worker_make(struct simulation *sim, uint32_t pool, uint32_t maker, int64_t now_ns);
// Wakes the worker that comes first, DAG_NONE if nobody idles; it is free since its now_ns.
uint32_t worker_wake(struct simulation *sim, uint32_t pool, int64_t now_ns);
void worker_begin_task(struct simulation *sim, uint32_t worker, uint32_t task, enum dispatch dispatch, int64_t from_ns,
                       int64_t start_ns);
void worker_pass_birth(struct simulation *sim, uint32_t worker, uint32_t task, int64_t from_ns, int64_t start_ns);
// The same from then on, after what such pick-ups cost.
void worker_begin_at_once(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch,
                          int64_t from_ns);
void worker_go_idle(struct simulation *sim, uint32_t worker); // or leave, after a shutdown
void pool_retire_idle(struct simulation *sim, uint32_t pool); // all of them, after a shutdown

// delays.c
// Whether a job that is spawned now is to be delayed; then it is due at sim->due_ns[job].
bool delays_job(struct simulation *sim, uint32_t strand, uint32_t job, int64_t now_ns);
enum dispatch delay_job(struct simulation *sim, uint32_t pool, uint32_t job, int64_t now_ns); // until then
void delays_end(struct simulation *sim);                                                      // the next of sim->dues

// A worker is on its way to where it looks for a task.
void worker_send(struct simulation *sim, uint32_t worker, enum dispatch dispatch, int64_t woken_ns, int64_t takes_ns);

// queue.c: what pools have to dispatch
void queues_begin_run(struct simulation *sim);
// Though there may be no room, and nobody is called. Holder: QUEUE_SHARED, or a stealing pool's worker, for its deque.
void queue_put(struct simulation *sim, uint32_t job, uint32_t holder);
uint32_t queue_take(struct simulation *sim, uint32_t job); // that one, which must be there
// The one that comes first. Not of stealing pools, like the next one; something must be there.
uint32_t queue_take_first(struct simulation *sim, struct pool_state *pool);
// Likewise of those that nobody comes for; DAG_NONE: there are none.
uint32_t queue_take_unclaimed(struct simulation *sim, uint32_t pool);

// standing.c: what pools had when recording began
// Whether that worker was there, and so was not made for a task.
bool standing_worker(const struct dag *dag, const struct dag_thread *thread);
bool standing_new(struct simulation *sim);
void standing_free(struct simulation *sim);
void standing_begin_run(struct simulation *sim); // strands are there, and fates are known

// shifts.c: when workers slept, as recorded
bool shifts_new(struct simulation *sim);
void shifts_free(struct simulation *sim);
// Of a stealing pool: how long after a spawn that found a worker asleep the next one woke up; -1 where nobody had to.
int64_t shifts_waking_ns(const struct simulation *sim, uint32_t job);
// Of a pool with a queue: whether more than so many workers slept when it was spawned, and so none of those took it at
// once.
bool shifts_slept(const struct simulation *sim, uint32_t job, uint32_t coming);
// Of a pool with a queue: how long after its spawn, which calls a worker while so many are on their way, that comes;
// and what the worker took that it stands for, DAG_NONE where none came then.
int64_t shifts_coming_ns(const struct simulation *sim, uint32_t job, uint32_t coming, uint32_t *took);

// stealing.c: workers with deques of their own (dag/simulate/simulate.h)
bool stealing_new(struct simulation *sim);
void stealing_free(struct simulation *sim);
// Whether the rules of a stealing pool dispatch this task.
bool stealing_dispatches(const struct simulation *sim, uint32_t task);
static inline bool stealing_governs(const struct simulation *sim, uint32_t pool) {
    return pool_governs(sim, pool) && sim->pools[pool].discipline == DISCIPLINE_STEALING;
}
// How its bracket is dispatched; the task itself is once somebody takes it.
enum dispatch stealing_offer(struct simulation *sim, uint32_t strand, uint32_t task, int64_t now_ns);
uint32_t stealing_take(struct simulation *sim, uint32_t worker); // the task that a free worker takes, DAG_NONE
void stealing_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns);
// Whether it lies in a wait, behind a task that was helped with.
bool stealing_looks_before(const struct simulation *sim, uint32_t vertex);
// Whether a strand whose next vertex ends a wait, or lies in it, looks for tasks to run meanwhile.
bool stealing_may_help(const struct simulation *sim, uint32_t strand);
// What a waiter, before it found a task that ran in its wait first of all, waited for a core: that held it up, not the
// task.
int64_t stealing_held_ns(const struct simulation *sim, const struct dag_task *task);
// How long it takes a waiter that did not sleep when recorded to go on after a result that comes at `result_ns`.
int64_t stealing_wakeup_ns(const struct simulation *sim, uint32_t strand, int64_t result_ns);
// It looks now: it runs a task first, or blocks.
void stealing_help(struct simulation *sim, uint32_t strand);
void stealing_unblock(struct simulation *sim, uint32_t strand);

// costs, of a dispatch that differs from the recorded one or not; of one that woke a worker, after sim->slept_ns
bool is_as_recorded(const struct simulation *sim, uint32_t job, enum dispatch dispatch);
int64_t cost_of_bracket(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t mean_bracket(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t mean_pickup(const struct simulation *sim, uint32_t task, enum dispatch dispatch);
int64_t pool_mean_pickup(const struct simulation *sim, uint32_t pool, enum dispatch dispatch);
int64_t cost_of_pickup(const struct simulation *sim, uint32_t task, enum dispatch dispatch);

// service.c: luck, pauses, background, of a trace that measures what edges compute
bool service_new(struct simulation *sim);

// computing.c
void computing_begin_run(struct simulation *sim, const struct model *model);
// Whether the edge to a strand's next vertex, whose time is `time_ns` as recorded, has something to compute first; if
// not, that time is made what it is where cores are shared.
bool strand_computes(struct simulation *sim, uint32_t strand, int64_t *time_ns);
// When such an edge ends, its computing being done.
int64_t strand_computed_ns(const struct simulation *sim, const struct strand *strand);
// Of a pick-up as recorded, all of its edges together.
struct pickup_service {
    int64_t compute_ns;
    struct cores_luck luck;
};
struct pickup_service service_of_pickup(const struct simulation *sim, uint32_t task);

// resources.c
bool resources_new(struct simulation *sim);
void resources_free(struct simulation *sim);
void resources_begin_run(struct simulation *sim);
// In order of time. A process asks: whether it goes on at once. If not, or if strand->wait is set, it has to settle it.
bool resource_ask(struct simulation *sim, uint32_t strand, uint32_t ask, int64_t now_ns);
// Whether it is known when the process looks for what it waits for, gets it, or goes on without it.
bool resource_has_wait_of(const struct simulation *sim, const struct strand *strand, int64_t *time_ns);
// At that time: whether its wait is over. If not, it waits anew.
bool resource_settle(struct simulation *sim, uint32_t strand, int64_t now_ns);
void resource_limit(struct simulation *sim, uint32_t strand, int64_t now_ns); // its time is up
void resource_release(struct simulation *sim, uint32_t strand, uint32_t ask, int64_t now_ns);
void resource_times_out(struct simulation *sim); // the next of sim->releases

// donors.c
bool donors_new(struct simulation *sim);
void donors_free(struct simulation *sim);
uint32_t donor_of(struct simulation *sim, uint32_t ask); // an ask with the other outcome, DAG_NONE
// Whether another task tells what the process would do behind its wait with the other outcome.
bool donor_is_there(struct simulation *sim, uint32_t strand, uint32_t ask);
void donor_go_on(struct simulation *sim, uint32_t strand, uint32_t ask); // it does that
void donor_pass(struct simulation *sim, uint32_t strand, uint32_t vertex, enum vertex_kind kind, int64_t time_ns);

// carriers.c
void carriers_begin_run(struct simulation *sim, double cores); // cores: of the model, 0 as recorded
bool carrier_take(struct simulation *sim, uint32_t strand);    // false: it is ready, and waits for one
void carrier_give_back(struct simulation *sim, uint32_t strand, int64_t now_ns); // to the next that is ready

// starvation.c: a worker begins to wait for a resource
void starvation_look(struct simulation *sim, uint32_t strand);

// derive.c
bool derive_new(struct simulation *sim);
bool derive_run(struct simulation *sim);                      // of large runs by two threads, which changes nothing
bool derive_run_by(struct simulation *sim, uint32_t threads); // 1 or 2
void derive_free(struct simulation *sim);

// stuck.c: of the run, which came to a halt
void stuck_find(struct simulation *sim);

#endif
