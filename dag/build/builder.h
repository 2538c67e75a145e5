// SPDX-License-Identifier: GPL-3.0-or-later
// What the steps of dag_build share. In order: scan.c decodes the trace (reader.c) and says what is a task and which
// threads are workers; lay.c decodes it again and lays down vertices (vertices.c), with context.c and path.c for
// contexts, sites and paths, due.c for due times and making.c for what is made in one body and handed over in another;
// cause.c finds each vertex's cause and rule; skew.c makes times agree with them; resources.c says which thread had
// what, and what a wait for it waited for; machine.c reads the JVM's own stream; compute.c shares out what was
// measured; dispatch.c and pools.c say how tasks and pools met, alike.c which pools the same code seems to make;
// carriers.c which virtual threads kept a carrier asleep. Of large traces two threads do what can be done by pieces, or
// side by side (base/hands.h).
#ifndef REHYPE_DAG_BUILDER_H
#define REHYPE_DAG_BUILDER_H

#include "base/hands.h"
#include "dag/dag.h"
#include "dag/idmap.h"

#include <stdatomic.h>
#include <string.h>

// How much later than its effect a result may seem, for skew between cores; a wait whose result is later gave up
// before.
#define SKEW_TOLERANCE_NS 50000

enum sighting_kind {
    SIGHTING_NONE,   // nothing to keep
    SIGHTING_TASK,   // has a dag_task (TASK_NESTED ones too)
    SIGHTING_WORKER, // the run() of a thread that works for others
};

enum {
    SEEN_SPAWN = 1,
    SEEN_START = 2,
    SEEN_RUN = 4,
    SEEN_MAIN = 8,
    SEEN_RESULT = 16,
    SEEN_IN_BRACKET = 32,
    SEEN_PERMIT = 64,
    SEEN_MESSAGE = 128,  // an actor began to handle it
    SEEN_INIT = 256,     // of an actor: its initialisation began
    SEEN_LATCH = 1024,   // a latch was awaited by it
    SEEN_UPKEEP = 512,   // a message by which the library makes, stops, watches or supervises actors
    SEEN_END = 2048,     // its body's end; looked for where events were lost
    SEEN_AT_WORK = 4096, // a thread's run that was in a task of a pool when recording began, as the worker that it
                         // then turned out to be: it stands for that task
    SEEN_TAKEN = 8192,   // the body that made and ran it asked for its result
};

// All that the scan learns of one task id, whatever it turns out to be.
struct sighting {
    uint64_t id;
    uint64_t first_ns;
    uint32_t created_on, started_on, run_on; // streams, DAG_NONE
    uint32_t enclosing;                      // sighting open on its thread when it started, DAG_NONE
    uint32_t task_class, awaited;
    uint32_t queued_in;   // pool in whose queue it lay when recording began, 0 none
    uint32_t task;        // index into dag->tasks, or DAG_NONE
    uint32_t made_in;     // of what was created: index into series_sites
    uint32_t spawn_begin; // of SIGHTING_WORKER: vertex that began the making of its thread
    uint16_t seen;        // SEEN_...
    uint8_t kind;         // enum sighting_kind
    bool own_task : 1;    // a task in its own right, not nested
    bool handed_over : 1;
};

#define SEEN_OF_ACTOR (SEEN_MESSAGE | SEEN_INIT)

// Whether an event says that the body of what it names is over.
static inline bool event_ends_body(unsigned kind) {
    return kind == EVENT_TASK_END || kind == EVENT_MESSAGE_END || kind == EVENT_INIT_END;
}

// The sets of functions that open bodies entered (path.c).
struct path_mark {
    uint32_t begin;   // in `methods`: where the body's set begins
    uint32_t pack_at; // its size at which it is packed
    uint64_t stamp;
};

struct path_stack {
    uint32_t *methods; // of all open bodies, the innermost's last
    uint32_t depth, capacity;
    uint64_t *stamp_of, stamps; // by method: the body that took it up last; how many bodies there were
    struct path_mark open;      // of the innermost
};

// One thread's stack of what is open on it. Losses and exceptions leave things open; what closes below closes them too.
enum open_kind { OPEN_BODY, OPEN_BRACKET, OPEN_WAIT };

struct open_entry {
    uint64_t id;            // task, or a wait's target
    uint32_t sighting;      // DAG_NONE for a wait's
    uint32_t task;          // of a body, if it is a task of its own; of a bracket; of a wait: its target; else DAG_NONE
    uint32_t functions;     // height of the function stack when it was opened
    struct path_mark outer; // of a body that is a task of its own: set of the body around it
    int64_t limit_ns;       // of a wait, INT64_MAX: none
    uint32_t begin, site;   // of a wait with a limit: its WAIT_BEGIN, and the trace site of its place
    uint8_t kind;           // enum open_kind
    uint8_t wait_for;       // enum wait_for
    uint32_t tries;         // of a wait: so often it gave up before, and began once more at once
};

struct open_stack {
    struct open_entry *entries;
    uint32_t depth, capacity;
};

bool open_push(struct open_stack *stack, struct open_entry entry); // false: no memory
// Depth of the topmost entry of this kind and id, counted from 1; 0 if there is none.
uint32_t open_find(const struct open_stack *stack, enum open_kind kind, uint64_t id);

// Where events were lost that began a body whose end was not.
struct lost_start {
    uint32_t stream, sighting;
    uint64_t ordinal; // of EVENT_LOST
};

struct stream_facts {
    bool has_main, is_worker;
    bool acted;    // did something that others see before it was known to be a worker
    uint32_t pool; // first that it worked for
    uint32_t run;  // sighting of its run(), DAG_NONE
};

// A wait whose cause is not a task's result.
struct other_wait {
    uint32_t vertex;   // WAIT_END
    uint32_t pool;     // 0: it awaits the thread of
    uint32_t sighting; // ... this worker
};

struct shutdown {
    uint32_t pool, vertex;
};

// Between two boundaries of a thread, the vertices of `to` and the one before it, it came onto a core so often: it did
// not sleep all the time between.
struct turned {
    uint32_t from, to;
    uint64_t turns;
};

struct look {        // a sleep in which the thread looked for the end of what it had handed over
    uint32_t vertex; // where that ended
    uint32_t awaited;
};

struct function_stack {
    uint32_t *methods;
    uint32_t depth, capacity;
};

// Of a virtual thread, as its events are laid: for how long it was mounted, and was not, since its last vertex.
struct mounting {
    bool mounted; // at `since_ns`
    bool left;    // it has been unmounted before
    bool ready;   // it has been since it was unmounted
    bool refused; // since its last vertex it asked to be unmounted, and could not be
    int64_t since_ns, ns, unmounted_ns;
    int64_t delay_ns; // what it had waited for cores at its last vertex
    uint64_t carrier; // the last one
};

struct mounted_edge {
    uint32_t vertex;
    bool refused;
    int64_t
        ns; // so much of the edge to the vertex it was mounted and did not wait for a core; PINNED_WHOLE: for all of it
};

// What a library did to make or stop an actor, on one thread: from the edge to one vertex up to that to another.
struct upkeep_span {
    int64_t begin_ns, end_ns;
    uint32_t from, to;
    uint64_t actor; // as in the trace
};

// Of the stream in hand. Those beyond UPKEEPS_MOST are only counted.
enum { UPKEEPS_MOST = 16 };
struct upkeep_frame {
    int64_t begin_ns;
    uint32_t vertex; // that comes next
};
struct open_upkeeps {
    struct upkeep_frame frames[UPKEEPS_MOST];
    uint32_t depth;
};

// Where a body that is no task of its own was made, or begins.
struct nested_note {
    uint32_t task;   // TASK_NESTED
    uint32_t body;   // of a task in its own right, in which that is
    uint32_t vertex; // that comes next there
};

// An event of a request.
struct request_sighting {
    uint64_t id, operand; // connection, endpoint, outcome
    uint32_t vertex;      // DAG_NONE: of its name
    uint32_t task;        // in whose body it is, DAG_NONE
    int64_t time_ns;
    uint8_t kind;
};

struct builder {
    struct dag *dag;
    const struct trace *trace;
    struct error *error;
    uint32_t hands;                // that do what several can at once (base/hands.h)
    uint32_t first_told, end_told; // ids of threads that the trace has only as it was told anew by served.h

    struct sighting *sightings;
    uint32_t sighting_count, sighting_capacity;
    struct idpages sighting_of_id;
    uint32_t *starts; // sightings in order of start, thread by thread
    uint32_t start_count, start_capacity;
    struct stream_facts *streams;

    bool has_costs;          // the trace says what its events cost
    bool has_cpu, has_delay; // the trace may measure computing; waiting for cores
    bool measured;           // and does
    uint32_t vertex_capacity, thread_capacity;
    atomic_bool room_is_made;   // all vertices are laid, or their arrays move: they get no memory ahead any more
    uint32_t *thread_of_stream; // index into dag->threads, DAG_NONE for streams without vertices
    struct open_stack open;
    struct function_stack functions;
    uint32_t *seen_method, seen_stamp, *folded; // folding of contexts; seen_method by method id
    struct idmap contexts, sites;               // by hash
    uint32_t context_capacity, *site_of;        // site_of: dag site of a trace site
    struct path_stack paths;
    struct idmap path_of_numbers, resource_of_id, actor_of_id;
    uint32_t path_capacity, resource_capacity, ask_capacity, await_capacity;
    struct dag_actor *actors; // as in the DAG
    uint32_t actor_capacity;
    struct upkeep_span *upkeeps;
    uint32_t upkeep_count, upkeep_capacity;
    uint32_t *holds; // asks by which the thread in hand has what it has, in order
    uint32_t hold_count, hold_capacity;
    struct other_wait *other_waits;
    uint32_t other_wait_count, other_wait_capacity;
    struct look *looks;
    uint32_t look_count, look_capacity;
    struct turned *turned; // by vertex; those with few turns left out
    uint32_t turned_count, turned_capacity;
    struct request_sighting *requests;
    uint32_t request_count, request_capacity;
    uint32_t end_of_load;   // barrier behind the last answers, where something awaits that; else DAG_NONE
    uint32_t *series_sites; // of what a thread made in a row: trace site of what it handed over next, 0 none
    uint32_t series_count, series_capacity;
    bool makes, may_hand_over; // of the stream in hand: its last event of a task made one; what it then did was that,
                               // and to hand others over
    struct nested_note *makings, *beginnings;
    uint32_t making_count, making_capacity, beginning_count, beginning_capacity;
    struct lost_start *lost_starts; // in order of streams and events
    uint32_t lost_start_count, lost_start_capacity;
    uint32_t lost_starts_laid;
    struct shutdown *shutdowns;
    uint32_t shutdown_count, shutdown_capacity;
    struct mounted_edge *mounted; // by vertex; those that are not worth a look left out
    uint32_t mounted_count, mounted_capacity;
    struct unmeasured *unmeasured; // a thread each; NULL where no computing is told
};

// Of a thread, the vertices up to which and from which on no two boundaries enclose what it computed; DAG_NONE: none.
// Most threads that were there before the recording have such a beginning, those that outlast it such an end.
struct unmeasured {
    uint32_t until, from;
};

// Of a function that only fetches memory ahead. Inlined early, or gcc takes it for one without effect and leaves out
// the call.
#define FETCHES_AHEAD static inline __attribute__((always_inline)) void

bool no_memory(struct builder *builder); // sets the error; false

// Makes room for one more: *array may move. false when there is no memory.
bool grow_array(void **array, uint32_t count, uint32_t *capacity, size_t size);
#define GROW(array, count, capacity) grow_array((void **)&(array), (count), &(capacity), sizeof *(array))

bool scan_trace(struct builder *builder);

bool prepare_due(struct builder *builder);
void note_due(struct dag *dag, uint32_t task, const struct event *event, uint32_t vertex); // set behind that vertex
void settle_due(struct dag *dag);                                                          // once times stand

// In the body of which task another was made (DAG_NONE: of none), as it may be told once more where it is handed over.
bool note_made(struct builder *builder, uint32_t task, uint32_t around);
void note_made_at_once(struct dag *dag, uint32_t task); // behind its spawn
void settle_making(struct dag *dag);                    // once times stand

void upkeep_begin(const struct builder *builder, struct open_upkeeps *open, int64_t time_ns);
bool upkeep_end(struct builder *builder, struct open_upkeeps *open, int64_t time_ns, uint64_t actor);
bool find_upkeeps(struct builder *builder); // once all vertices are laid, at the times that they were recorded at

bool find_requests(struct builder *builder);    // once causes are known: their clients
bool find_end_of_load(struct builder *builder); // once no effect precedes its cause: what stops the service awaits it

bool find_completions(struct builder *builder); // likewise: waits for all that a body handed over (completion.c)
void settle_looks(struct builder *builder);     // of these sleeps, once it is known what threads computed

bool find_alike(struct builder *builder); // once pools are described

bool find_shutdown(struct builder *builder); // likewise: what the JVM starts as it ends awaits the program's end

// Whether a vertex ends what no event tells of, or a wait that nothing known ended, as one whose time was up; and of
// such a vertex, what did end it.
bool ends_for_nothing_known(const struct dag *dag, uint32_t vertex);
void set_waker(struct dag *dag, uint32_t vertex, uint32_t waker);

// The vertex at which a thread's long sleep, for nothing that is known, ended at about that time; DAG_NONE: there
// is none. Before it is known what threads computed, all that lasts is taken for a sleep.
uint32_t woken_at(const struct dag *dag, const struct dag_thread *thread, int64_t time_ns);
bool find_woken(struct builder *builder); // once it is known what threads computed: which thread wakes which to stop it
bool find_answers(struct builder *builder); // likewise
// After find_woken: what of unseen sleep around collections, and then of waits for holders, was a wait for a core.
bool settle_stops(struct builder *builder);
bool settle_holders(struct builder *builder);

bool lay_vertices(struct builder *builder);

// Behind each event of a virtual thread; `vertex` is its first, if it has one, delay_ns what the thread had waited for
// cores by then.
bool note_mounting(struct builder *builder, struct mounting *mounting, const struct event *event, uint32_t vertex,
                   int64_t delay_ns);
bool add_carriers(struct builder *builder); // the last of the resources, once it is known what was computed

bool function_push(struct function_stack *stack, uint32_t method);
void function_pop(struct function_stack *stack, uint32_t method, uint32_t floor); // never below `floor`
bool context_intern(struct builder *builder, uint32_t floor, uint32_t *context);  // of the functions above `floor`
uint64_t numbers_hash(const uint32_t *numbers, uint32_t count);                   // by their order, too
uint64_t methods_hash(const struct trace *trace, const uint32_t *methods, uint32_t count); // whatever their order
bool site_intern(struct builder *builder, uint32_t trace_site, uint32_t *site);
bool sites_take_classes(struct builder *builder);

static inline bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool is_exclusive(const struct dag_resource *resource) {
    return resource->kind == RESOURCE_MONITOR || resource->kind == RESOURCE_LOCK ||
           resource->kind == RESOURCE_READ_WRITE_LOCK;
}

struct dag_ask ask_of_event(const struct event *event); // but for its resource and vertices
// Of an event that names a resource, by its id or, of what came before version 5, with its class.
bool resource_intern(struct builder *builder, const struct event *event, uint32_t *resource);
bool ask_add(struct builder *builder, struct dag_ask ask, uint32_t vertex); // which then names it

bool paths_prepare(struct builder *builder);
void paths_destroy(struct builder *builder);
struct path_mark path_begin(struct builder *builder);    // returns what path_end needs
bool path_add(struct builder *builder, uint32_t method); // to the innermost body's
bool path_end(struct builder *builder, struct path_mark outer, uint32_t *path);

// dag_build, by so many hands whatever the size. What is built is the same.
struct dag *dag_build_by(const struct trace *trace, uint32_t hands, struct error *error);

bool add_shutdown(struct builder *builder, uint32_t pool, uint32_t vertex);

bool find_taken_awaits(struct builder *builder); // that did not sleep
bool find_causes(struct builder *builder);
bool repair_skew(struct builder *builder);
void measure_wakeup(struct dag *dag);            // by its times
bool find_grants(struct builder *builder);       // what resources had left, and what waits for them waited for
bool read_machine(struct builder *builder);      // pauses, samples
void find_standstill(struct dag *dag);           // by them
bool prepare_computing(struct builder *builder); // from what laying left in vertices.compute_ns and queued_ns
void measure_computing(struct builder *builder, uint32_t thread); // after that, of each by itself
bool bound_assumed_computing(struct builder *builder);            // after all of them and read_machine
void find_dispatches(struct dag *dag);                            // and tails
bool find_cut_tasks(struct builder *builder);                     // after these
bool describe_pools(struct builder *builder);                     // from dispatches
bool find_batches(struct builder *builder); // once times are repaired: units that any free thread takes
// For each vertex that hands a task over to a pool with one queue or takes one up, the one of that pool before it in
// time; for the waking of a worker that its task did not cause (it found nothing, or what lay there before it slept),
// the latest that handed one over to its pool while it slept; for any other BUSY that of the start behind it; else
// DAG_NONE.
// A thread that hands over one task after another has its turn for the next at the end of the bracket before, since
// what may have to be awaited there is no time of the loop around. By the DAG's times. false: no memory. Cost:
// order_sort's.
bool find_turns(const struct dag *dag, uint32_t *turn_after);

#endif
