// SPDX-License-Identifier: Apache-2.0
// What the agent's parts share: the JVM's handles, the options, and each thread's state. See agent.c for the life
// cycle.
#ifndef REHYPE_TRACER_TRACER_H
#define REHYPE_TRACER_TRACER_H

#include "tracer/calling_schedule.h"
#include "tracer/clock.h"
#include "tracer/cost_meter.h"
#include "tracer/cpu_meter.h"
#include "tracer/drainer.h"
#include "tracer/options.h"
#include "tracer/places.h"

#include <jvmti.h>

#define HELPER_CLASS    "java/lang/Rehype"
#define TASK_FIELD      "$rehype"    // long, in what carries a task's id: identity.h, queue_ids.h
#define BYTECODES_FIELD "$bytecodes" // long, in Thread: executed so far (bytecodes.h)
#define POOL_FIELD      "$pool"      // int, in ThreadPoolExecutor and ForkJoinPool: the pool's id; queue_ids.h

struct tracer {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    struct options options;
    uint64_t ticks_per_s;                    // of clock_ticks, nominal
    struct arena arena;                      // options and what start-up makes; grows only on the starting thread
    _Atomic(uint32_t) session;               // number of the recording under way; 0: none, probes do nothing
    bool attached;                           // came to a running JVM: fields can't be added (kept.h)
    _Atomic(bool) tracing;                   // recording was started (it may have stopped: drainer_running)
    _Atomic(bool) linkable;                  // the helper class exists, so woven code can link; else none is woven
    _Atomic(bool) stopped;                   // recording did not start, or the JVM ends: nothing more is worth weaving
    jobject platform_loader;                 // global reference; NULL where there is none
    jclass runnable, callable, thread_class; // global references
};

extern struct tracer tracer;

enum { SPAWN_STACK = 16, RUNNER_STACK = 4, CLASSES_AT_HAND = 8 };

// Of the wait under way (time_limit.h).
enum time_outcome { TIME_NOT_TOLD, TIME_UP, TIME_NOT_UP };
struct time_limit {
    uint64_t ns;    // 0: none
    uint64_t up_ns; // CLOCK_MONOTONIC
    enum time_outcome outcome;
};

// A body under way, and what it interrupts: a thread that helps runs one inside a wait.
struct task_frame {
    uint64_t task;           // 0: folded into the one below
    uint64_t actor;          // whose message it is, or, as `task`, that is initialised; 0: it is a task
    uint64_t awaiting;       // the thread's, before it
    struct time_limit limit; // ...
    uint32_t wait_depth;     // ...
    uint32_t site;           // ...
    uint32_t forked_from;    // site of the task's own fork; 0: unknown
    bool begun_before;       // under way when recording began: nobody tells when it ends (running.h)
    uint32_t nested;         // begins of the same task (wrappers, recursion) or of bodies folded into it, not yet ended
    uint32_t outcome;        // enum task_outcome so far; of a message enum message_outcome, else init_operand
};

// How many bodies were open when a method that runs tasks was entered: what it began is above.
struct runner_mark {
    uint32_t tasks, nested; // frames; of the innermost
};

// Which field holds the id of the task that an object is (identity.h).
enum carrier { CARRIER_OTHER, CARRIER_FUTURE_TASK, CARRIER_FORK_JOIN_TASK };

// A class that the thread met lately.
struct class_at_hand {
    jweak class;
    jfieldID payload;       // of a wrapper: what it wraps; else NULL
    jfieldID other_payload; // ... where that is null; NULL: none
    jfieldID dependent;     // of CompletableFuture's stages: the future that they complete; else NULL
    uint32_t id;
    enum carrier carrier; // of its objects
    bool latch;           // who opens it releases all who wait for it
    bool ownable;         // an AbstractOwnableSynchronizer: a lock while it has an owner
    bool lock;            // one that is a lock also while it has none
    bool permits;         // a Semaphore's
};

// Of Scala: what the thread is making (tracer/scala.h).
struct future_in_making {
    uint64_t task;     // of the callback that comes next; 0: not known
    uint32_t function; // class of the program's function
    uint32_t depth;    // of the library's methods
    bool promised;     // the task's promise was made
};

// What the thread is about to send (tracer/actors.h).
struct sending {
    uint64_t passed_on; // message that a router got: the next that is sent is that; 0: none
    uint64_t dropped;   // comes to a queue that may drop it; 0: none
    uint8_t origin;     // enum message_origin of what is sent now
    uint8_t copying;    // depth of what sends a message to several
    bool first;         // ... the next one is the message itself, all others are copies
    bool asks;          // the next one asks
    uint64_t made;      // actor that was made last
};

// An executor that the thread met lately.
struct executor_at_hand {
    jweak executor;
    uint32_t pool;
};

// What belongs to a thread of the operating system, whichever virtual thread it carries.
struct native_thread {
    struct cpu_meter meter;
    struct probe_timer timer;
    uint64_t next_task, task_limit; // ids reserved for it
    uint64_t made_last;             // id of the latest object of a place that is followed (makers.h)
    uint32_t made;                  // objects of places that are not any more
    struct calling_tallies callings;
    struct class_at_hand classes[CLASSES_AT_HAND];
    uint32_t class_count;
    struct executor_at_hand executor;
    struct places_at_hand sleeps, spawns; // where it lately slept, or handed over to an executor not the JDK's
    struct places_at_hand acquisitions;   // where it lately asked for a resource
    JNIEnv *jni;                          // its own
    jweak thread;                         // its Thread, where bytecodes are counted; NULL: not asked yet
    struct thread_state **pointer;        // its `thread_state` and `thread_ring`
    struct ring **ring_pointer;
    struct native_thread *next, **link; // of all
};

// What tells that a thread's wait for a resource is over.
enum wait_way { WAIT_MONITOR, WAIT_SYNC, WAIT_QUEUE, WAIT_POOL };

// A monitor or lock that a thread holds (resources.h).
struct hold {
    uint32_t slot, count;  // of the resource; how often it has been taken: a monitor at its place
    uint32_t site, number; // where; of a monitor's place, 0: of a lock
    uint32_t tasks;        // how many bodies were open
    bool monitor, shared;
    bool silent;   // taken within another acquisition: not recorded
    bool gave_way; // given back while the thread waits to be notified
};

// How many elements a thread has taken from a queue and not put back into it.
struct taken_lately {
    uint32_t slot, count;
};

// The request that a thread is at (requests.c).
enum serving_name { NAMED_NOT_YET, NAMED_BY_CODE, NAMED_BY_CLASS, NAMED_BY_MAPPING, NAMED_BY_ROUTE };
struct serving {
    uint64_t request; // 0: none
    uint32_t depth;   // of methods that serve, nested
    uint32_t passed;  // around these: of those whose line does not go for what they were called with
    uint32_t came_by; // number of the connection that the thread reads; 0: not told
    enum serving_name name;
    int16_t hook;      // of the method that serves it
    int8_t verb;       // that it began with; -1: not told
    uint8_t looks;     // for the program's code that serves it
    bool asynchronous; // it is not answered when the method that serves it returns
};

enum { HOLDS = 16, TAKEN_LATELY = 4 }; // more at once are not recorded

// A traced thread's own state. Only its thread touches it, but for the channel, which the drainer shares. A virtual
// thread has its own, and while it is mounted its carrier's channel (tracer/virtual.h).
struct thread_state {
    // What most probes look at: after a sleep, each line of it comes from far away.
    struct channel *channel;
    struct native_thread *native;
    struct task_frame *task;
    uint32_t tasks, spawns; // depth of the stacks; more than fits is counted, not kept
    uint32_t task_capacity;
    uint32_t wait_depth; // waits under way inside each other; only the outermost is recorded
    uint32_t site;       // set by woven call sites; 0: look at the stack
    uint32_t runners;    // methods that run tasks, open; more than fits is counted, not kept
    uint32_t idle_pool;  // whose queue it asks
    bool worker;
    bool is_carrier; // of virtual threads
    bool is_virtual;
    bool is_main;
    bool takes;       // it asks its stage for the next element, or does what else it does while it has none
    bool loop_unseen; // a ThreadPoolExecutor's worker, begun before the tracer came: a task lies between busy and idle
    bool asks;        // a ThreadPoolExecutor for a task
    bool retired;     // it has told that it works for its pool no more
    bool was_idle;    // when it was looked at (running.h), and nothing was seen of it since
    uint64_t blocked_on; // lock that it sleeps for; 0: none
    uint32_t wants;      // resource that it waits for (resources.h); 0: none
    enum wait_way way;   // of that wait
    uint32_t asked;      // connection pool that it is in the middle of asking; 0: none
    uint32_t asked_depth;
    uint64_t asked_limit_ns, asked_since_ns; // how long it lets it wait, 0: no limit; when that began
    uint32_t hold_count;
    uint64_t sleep;    // id of its sleep for a release (sleeps.h); 0: none
    struct slot *slot; // where that is known to others
    uint64_t run_task; // of its run() or main
    // What the meter is to be corrected by to count this thread alone; 0 but of virtual threads.
    uint64_t cpu_offset, delay_offset;
    uint64_t awaiting; // target of the wait under way
    uint64_t limit_ns; // of the wait that begins next; 0: none
    uint64_t up_ns;    // when its time is up, where that is said; 0: a limit from its begin on
    struct time_limit limit;
    uint64_t waited;    // task whose wait just ended: taking its result now is not one more event
    uint64_t number;    // of its Thread (sleeps.h); 0: not asked yet
    uint64_t bytecodes; // as last recorded
    uint64_t handed;    // what it hands over to a queue that carries ids (queue_ids.h), till it is there; 0: nothing
    uint64_t taken;     // what it took from such a queue, till it begins; 0: nothing
    uint64_t spawn[SPAWN_STACK]; // task of each open hand-over; 0 for one that is not recorded
    struct runner_mark runner[RUNNER_STACK];
    uint32_t thread;                // id in the trace
    uint32_t session;               // of tracer.session; it serves no other
    uint32_t worker_pool;           // of a ForkJoinPool's worker; 0: none
    uint32_t puts_into;             // stage that it hands something over to; 0: none
    uint32_t stage;                 // pool that the program's own thread takes from in a loop; 0: none
    bool sleeps_shared;             // of its sleep: there may be more who are released at once
    uint64_t container, started_in; // numbers of the one that it is in, and that it last started a thread in
    struct future_in_making future;
    struct sending sending;
    uint32_t entered;    // monitor that it has just waited for and got; 0: none
    uint32_t expects_at; // number of the place where it waits for a monitor, till it holds that; 0: none
    struct hold hold[HOLDS];
    struct taken_lately taken_lately[TAKEN_LATELY];
    struct serving serving;
};

// NULL until the thread's first event, for good when it can't be traced, and again between two recordings.
extern __thread struct thread_state *thread_state __attribute__((tls_model("initial-exec")));

// Its ring, by itself: functions need no more, and each load on their path is 4 cycles.
extern __thread struct ring *thread_ring __attribute__((tls_model("initial-exec")));

// Makes the calling thread's state at its first event. NULL: not traced. Cold: asks the JVM for the thread's name.
struct thread_state *thread_state_make(void);

// The load is atomic because thread_states_drop clears the pointer from another thread.
static inline struct thread_state *thread_state_here(void) {
    return __atomic_load_n(&thread_state, __ATOMIC_RELAXED);
}

static inline struct thread_state *thread_state_get(void) {
    struct thread_state *state = thread_state_here();
    return __builtin_expect(state != NULL, 1) ? state : thread_state_make();
}

// Whether it is handing a task over. Not inside a method that may do so and has not: a callback of a future that is
// complete already runs in one.
static inline bool thread_state_hands_over(const struct thread_state *state) {
    bool hands = state->spawns > SPAWN_STACK;
    for (uint32_t i = 0; i < state->spawns && i < SPAWN_STACK && !hands; i++) hands = state->spawn[i] != 0;
    return hands;
}

// State with a channel and an id in the trace for a thread that is not the calling one, or (thread NULL) for it. The
// meter is not open yet. NULL without memory.
struct thread_state *thread_state_new(JNIEnv *jni, jthread thread);

// Gives back what thread_state_new made and no thread took up.
void thread_state_free(struct thread_state *state);

// Whether the JVM itself made the thread: it is in the group "system", or in the cleaners'.
bool thread_is_system(JNIEnv *jni, jthread thread);

// The calling thread is the tracer's own: never traced.
void thread_state_refuse(void);

// When a recording has ended: no thread finds its state any more, and each makes a new one at its first event of the
// next recording. A probe under way may still write into its ring.
void thread_states_drop(void);

// Names a pool after the calling thread, its worker.
void thread_state_name_pool(uint32_t pool);

// What the calling thread does until it is shown again is the JVM's own, and not traced. Pairs may nest.
void thread_state_hide(void);
void thread_state_show(void);

void thread_state_end(void); // at the thread's end: its channel becomes the drainer's

uint64_t task_id_new(struct thread_state *state);

// Opens a frame for the body of `task`, or for one that is folded into the task below (0). NULL: there was no memory,
// and the frame is only counted. thread_state_leave closes the innermost that was kept.
struct task_frame *thread_state_enter(struct thread_state *state, uint64_t task);
void thread_state_leave(struct thread_state *state);

// The state of a thread that one of its probes has to do with, timed (cost_meter.h) as long as the variable is in
// scope:
//     PROBED struct thread_state *state = probe_begin();
#define PROBED __attribute__((cleanup(probe_end)))

static inline struct thread_state *probe_begin(void) {
    struct thread_state *state = thread_state_get();
    if (state) probe_timer_begin(&state->native->timer);
    return state;
}

static inline void probe_end(struct thread_state **state) {
    if (*state) probe_timer_end(&(*state)->native->timer, &(*state)->channel->ring);
}

static inline void record1(struct thread_state *state, unsigned kind, uint64_t a) {
    uint64_t ticks = clock_ticks();
    ring_put1(&state->channel->ring, ticks, kind, a);
    probe_timer_event(&state->native->timer, &state->channel->ring, ticks, kind);
}

static inline void record3(struct thread_state *state, unsigned kind, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t ticks = clock_ticks();
    ring_put3(&state->channel->ring, ticks, kind, a, b, c);
    probe_timer_event(&state->native->timer, &state->channel->ring, ticks, kind);
}

// Whether what a thread may have been away for by such a boundary is a sleep that ends there.
static inline bool is_waking(const struct thread_state *state, unsigned kind) {
    if (kind == EVENT_TASK_START) return state->worker && state->tasks == 1;
    return kind == EVENT_WAIT_END || kind == EVENT_BLOCK_END || kind == EVENT_ACQUIRED || kind == EVENT_GIVEN_UP;
}

// So often a thread comes onto a core between two boundaries that it may have looked for something between sleeps.
#define MANY_TURNS 8

// Of a boundary: with the thread's computing so far as operand b, and before it, where that has grown, the time that
// the thread has waited for a core; and how often it came onto one, where that is often.
// Returns that operand.
static inline uint64_t record_boundary_at(struct thread_state *state, uint64_t ticks, unsigned kind, uint64_t a,
                                          uint64_t c) {
    uint64_t cpu = cpu_meter_read(&state->native->meter, ticks, is_waking(state, kind)) + state->cpu_offset;
    uint64_t delay_ns = cpu_meter_new_delay(&state->native->meter);
    // The writer parts their times.
    if (delay_ns) ring_put1(&state->channel->ring, ticks, EVENT_RUN_DELAY, delay_ns + state->delay_offset);
    const uint64_t came = cpu_meter_came(&state->native->meter);
    if (came >= MANY_TURNS && !state->is_virtual) ring_put1(&state->channel->ring, ticks, EVENT_TURNS, came);
    ring_put3(&state->channel->ring, ticks, kind, a, cpu, c);
    probe_timer_event(&state->native->timer, &state->channel->ring, ticks, kind);
    return cpu;
}

// Records that so many bytecodes have been executed, where that has grown.
static inline void record_bytecodes(struct thread_state *state, uint64_t ticks, uint64_t executed) {
    if (executed == state->bytecodes) return;
    ring_put1(&state->channel->ring, ticks, EVENT_BYTECODES, executed);
    state->bytecodes = executed;
}

// The same of the calling thread.
void record_bytecodes_here(struct thread_state *state, uint64_t ticks);

static inline void record_boundary(struct thread_state *state, unsigned kind, uint64_t a, uint64_t c) {
    uint64_t ticks = clock_ticks();
    if (__builtin_expect(tracer.options.bytecodes, 0)) record_bytecodes_here(state, ticks);
    record_boundary_at(state, ticks, kind, a, c);
}

#endif
