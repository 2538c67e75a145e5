// SPDX-License-Identifier: Apache-2.0
// What can happen in a traced run, as tracer and analyser agree on it (SPEC section 8; docs/trace-format.md).
#ifndef REHYPE_TRACEFILE_EVENT_H
#define REHYPE_TRACEFILE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The numbers and the operands are in files: never renumber, only append, and then raise TRACE_VERSION. `a`, `b`, `c`
// are the event's operands. `cpu` is the thread's computing so far, in the header's cycle unit (cycles or ns of CPU
// time); 0 when not measured.
enum event_kind {
    EVENT_NONE = 0,
    EVENT_ENTER = 1,          // function entered            a = method
    EVENT_EXIT = 2,           // ... returned                a = method
    EVENT_EXIT_THROW = 3,     // ... left by an exception    a = method
    EVENT_TASK_CREATED = 4,   // a task object was made      a = task, b = class of the payload
    EVENT_SPAWN_BEGIN = 5,    // handing a task over begins  a = task, b = site, c = pool, or 0 (a thread of its own)
    EVENT_SPAWN_END = 6,      // submit/start returned       a = task, b = enum spawn_outcome
    EVENT_TASK_START = 7,     // its body begins             a = task, b = cpu
    EVENT_TASK_END = 8,       // its body is left            a = task, b = cpu, c = enum task_outcome
    EVENT_RESULT = 9,         // waiters can see its result  a = task
    EVENT_WAIT_BEGIN = 10,    // asleep until a result       a = target, b = cpu, c = wait_operand
    EVENT_WAIT_END = 11,      //                             a = target, b = cpu
    EVENT_TAKEN = 12,         // result was ready: no wait   a = task
    EVENT_WORKER_BEGIN = 13,  // this thread works for       a = pool
    EVENT_IDLE = 14,          // worker asks its queue       a = pool
    EVENT_BUSY = 15,          // ... and has a task          a = pool
    EVENT_RETIRE = 16,        // ... gets none and will end  a = pool
    EVENT_POOL_SHUTDOWN = 17, // shutdown was called         a = pool
    EVENT_THREAD_START = 18,  // first event of a thread     a = task of its run(), b = cpu
    EVENT_THREAD_END = 19,    // last event of a thread      a = task of its run(), b = cpu
    EVENT_MAIN_BEGIN = 20,    // main(String[]) is entered   a = task of main, b = cpu
    EVENT_GC_BEGIN = 21,      // on thread 0, the JVM's own
    EVENT_GC_END = 22,
    EVENT_LOST = 23,      // events dropped just before  a = how many
    EVENT_RUN_DELAY = 24, // since version 2. Before a boundary (an event with cpu), where it has grown since the last:
                          //                             a = ns that this thread has waited for a core so far
    EVENT_BLOCK_BEGIN = 25, // asleep for a contended lock a = lock (an id among the tasks'), b = cpu, c = its class
    EVENT_BLOCK_END = 26,   // it has it                   a = lock, b = cpu
    EVENT_SAMPLE = 27,      // ten a second, on thread 0   a = CPU time of this process so far in ns, b = of the whole
                            //                             machine, all cores, c = the process's context switches so far
    // Since version 3, of a virtual thread:
    EVENT_MOUNT = 28,   // it runs on a carrier from here on  a = thread that is the carrier, b = cpu
    EVENT_UNMOUNT = 29, // ... up to here                     a = ..., b = cpu
    EVENT_BYTECODES =
        30, // since version 4. Before a boundary (but a mount or unmount), where it has grown since the last:
            //                              a = bytecodes that this thread has executed so far
    // Since version 5, of resources (trace_resource). `want` is want_operand:
    EVENT_ACQUIRE_BEGIN = 31, // the thread begins to wait for it      a = resource, b = cpu, c = want
    EVENT_ACQUIRED = 32,      // ... it has what it asked for          a = resource, b = cpu
    EVENT_GIVEN_UP = 33,      // ... the wait ended without            a = resource, b = cpu, c = enum given_up
    EVENT_HELD = 34,          // it got it at once, without a wait     a = resource, b = want
    EVENT_RELEASED = 35,      // this thread gave it back, whoever had it   a = resource, b = want
    EVENT_LIMIT = 36,         // of the acquire_begin or wait_begin that comes next on this thread   a = ns
    EVENT_DUE = 37,           // a delayed or periodic task is due     a = task, b = ns after this event (signed),
                              //     c = period in ns (signed): > 0 fixed rate, < 0 fixed delay, 0 once
    EVENT_TIMED_OUT = 38,     // the time of the wait that ends next on this thread was up   a = target
    EVENT_READY = 39,         // of a virtual thread, before a mount: it was ready to run   a = ns before that mount
    // Since version 6, of actors. Actors and messages are of the series of the tasks; who sends, or makes an actor, is
    // what the thread runs then: a message, an initialisation, or a task.
    EVENT_MESSAGE_SENT = 40,    // a = message, b = actor that it is for, 0 none or not known yet, c = message_operand
    EVENT_MESSAGE_QUEUED = 41,  // only later than sent, or again: it is in a mailbox   a = message, b = the actor's,
                                //     c = the message that it was before (put back from a stash), else a
    EVENT_MESSAGE_BEGIN = 42,   // an actor handles it        a = message, b = cpu, c = actor
    EVENT_MESSAGE_END = 43,     //                            a = message, b = cpu, c = enum message_outcome
    EVENT_DEAD_LETTER = 44,     // nobody will handle it      a = message
    EVENT_ACTOR_CREATED = 45,   // who creates it goes on     a = actor, b = its parent, 0 unknown, c = class
    EVENT_INIT_BEGIN = 46,      // its constructor, or what makes its first behaviour    a = actor, b = cpu
    EVENT_INIT_END = 47,        //                            a = actor, b = cpu, c = init_operand
    EVENT_ACTOR_STOPPED = 48,   //                            a = actor
    EVENT_ACTOR_RESTARTED = 49, // it begins anew            a = actor
    EVENT_UPKEEP_BEGIN = 50,    // the library makes or stops an actor, but for the actor's own code
                                //                              a = actor, 0: it is not made yet, b = cpu
    EVENT_UPKEEP_END = 51,      //                              a = actor, 0: none was made, b = cpu
    // Since version 7, of requests: what somebody outside asked for (an HTTP call). They are of the series of the
    // tasks.
    EVENT_REQUEST_BEGIN = 52,   // this thread begins to work on it   a = request, b = cpu, c = connection it came by, a
                                //     number of its own series, 0 unknown
    EVENT_REQUEST_NAMED = 53,   // what it asks for is known          a = request, b = endpoint; the last one holds
    EVENT_REQUEST_END = 54,     // its answer is written, by whichever thread   a = request, b = cpu,
                                //     c = enum request_outcome
    EVENT_REQUEST_LEFT = 55,    // this thread is not at it any more; it goes on elsewhere, or later   a = request
    EVENT_REQUEST_RESUMED = 56, // this thread is at it again, or takes it up                       a = request
    // Since version 8, on thread 0 behind each sample of a JVM whose compilers are known:
    EVENT_COMPILING = 57, // a = CPU time of its compilers so far in ns, b = ns that they have waited for a core so
                          //     far, c = compiler threads that there are
    // Since version 9, before a boundary:
    EVENT_TURNS =
        58, // a = times that this thread has come onto a core since its boundary before; told if they are many
    // Since version 10, on thread 0 before a gc_end, where the JVM tells:
    EVENT_ALLOCATED = 59, // a = bytes that threads have allocated since the collection before; at each of its pauses
    EVENT_KINDS
};

enum spawn_outcome { SPAWN_ACCEPTED = 0, SPAWN_REJECTED = 1 };
enum task_outcome { TASK_RETURNED = 0, TASK_THREW = 1, TASK_CANCELLED = 2 };
// What a wait's target names: a task (its result), a pool (its termination), nothing that is known; since version 3 the
// sleep itself, whose result is told by whoever ends it, if that is known.
enum wait_for { WAIT_FOR_TASK = 0, WAIT_FOR_POOL = 1, WAIT_FOR_UNKNOWN = 2, WAIT_FOR_RELEASE = 3 };

// A wait's third operand: what it is for, its site, and since version 3 the class of what the thread sleeps on.
static inline uint64_t wait_operand(enum wait_for wait_for, uint32_t class, uint32_t site) {
    return (uint64_t) class << 34 | (uint64_t)wait_for << 32 | site;
}

static inline enum wait_for wait_for_of(uint64_t operand) {
    return (enum wait_for)(operand >> 32 & 3);
}

static inline uint32_t wait_class_of(uint64_t operand) {
    return (uint32_t)(operand >> 34);
}

enum given_up { GIVEN_UP_TIME = 0, GIVEN_UP_INTERRUPTED = 1, GIVEN_UP_OTHER = 2 };

// What an acquisition asks for, or a release gives back: so many units (at least 1; at most 2^31 - 1), as a reader that
// others may be beside, and the site of the innermost frame of the application (0 unknown).
static inline uint64_t want_operand(uint32_t units, bool shared, uint32_t site) {
    return (uint64_t)units << 33 | (uint64_t)shared << 32 | site;
}

static inline uint32_t want_units(uint64_t want) {
    return (uint32_t)(want >> 33);
}

static inline bool want_shared(uint64_t want) {
    return want >> 32 & 1;
}

static inline uint32_t want_site(uint64_t want) {
    return (uint32_t)want;
}

// Who had a message sent: the program; its timer, at a time that the program gave; the library, as one copy more of a
// message for several, or for what the program had asked it to tell (a future's value piped, an event published).
// INTERNAL ones are how the library makes, stops, watches and supervises actors: they count nowhere, but what an actor
// does as it is started or stopped lies in them.
enum message_origin {
    MESSAGE_OF_PROGRAM = 0,
    MESSAGE_SCHEDULED = 1,
    MESSAGE_COPY = 2,
    MESSAGE_OF_LIBRARY = 3,
    MESSAGE_INTERNAL = 4
};
// Where it goes. A future's is the answer to an ask.
enum message_way { MESSAGE_TO_ACTOR = 0, MESSAGE_TO_FUTURE = 1, MESSAGE_TO_NOBODY = 2 };
// PUT_ASIDE: into a stash; it may come again.
enum message_outcome { MESSAGE_HANDLED = 0, MESSAGE_THREW = 1, MESSAGE_UNHANDLED = 2, MESSAGE_PUT_ASIDE = 3 };
enum init_outcome { INIT_DONE = 0, INIT_FAILED = 1 };

#define MESSAGE_ORIGINS  5
#define MESSAGE_WAYS     3
#define MESSAGE_OUTCOMES 4
#define INIT_OUTCOMES    2

// Of a message: its class, where it comes from and goes, and whether the sender asks, that is awaits an answer.
static inline uint64_t message_operand(uint32_t class, enum message_origin origin, enum message_way way, bool asks) {
    return (uint64_t) class << 6 | (uint64_t)asks << 5 | (uint64_t)way << 3 | (uint64_t)origin;
}

static inline uint32_t message_class(uint64_t operand) {
    return (uint32_t)(operand >> 6);
}

static inline enum message_origin message_origin(uint64_t operand) {
    return (enum message_origin)(operand & 7);
}

static inline enum message_way message_way(uint64_t operand) {
    return (enum message_way)(operand >> 3 & 3);
}

static inline bool message_asks(uint64_t operand) {
    return operand >> 5 & 1;
}

// Of an initialisation: how it ended, and the class of what the actor is then where that is another than at its
// creation (a typed actor's behaviour), else 0.
static inline uint64_t init_operand(uint32_t class, enum init_outcome outcome) {
    return (uint64_t) class << 1 | (uint64_t)outcome;
}

static inline uint32_t init_class(uint64_t operand) {
    return (uint32_t)(operand >> 1);
}

static inline enum init_outcome init_outcome(uint64_t operand) {
    return (enum init_outcome)(operand & 1);
}

// FAILED: an error of the server's (a status from 500 on, or an exception).
enum request_outcome { REQUEST_ANSWERED = 0, REQUEST_FAILED = 1 };

#define EVENT_OPERANDS 3

// Whether operand[1] says what the thread has computed so far: such an event is a boundary.
static inline bool event_has_cpu(unsigned kind) {
    switch (kind) {
    case EVENT_TASK_START:
    case EVENT_TASK_END:
    case EVENT_WAIT_BEGIN:
    case EVENT_WAIT_END:
    case EVENT_THREAD_START:
    case EVENT_THREAD_END:
    case EVENT_MAIN_BEGIN:
    case EVENT_BLOCK_BEGIN:
    case EVENT_BLOCK_END:
    case EVENT_MOUNT:
    case EVENT_UNMOUNT:
    case EVENT_ACQUIRE_BEGIN:
    case EVENT_ACQUIRED:
    case EVENT_GIVEN_UP:
    case EVENT_MESSAGE_BEGIN:
    case EVENT_MESSAGE_END:
    case EVENT_INIT_BEGIN:
    case EVENT_INIT_END:
    case EVENT_UPKEEP_BEGIN:
    case EVENT_UPKEEP_END:
    case EVENT_REQUEST_BEGIN:
    case EVENT_REQUEST_END:
        return true;
    default:
        return false;
    }
}

struct event {
    uint64_t time; // in the buffer and the writer: clock ticks; from the reader: ns since the trace's first event
    uint64_t operand[EVENT_OPERANDS];
    uint8_t kind;
};

// What recording an event of a kind cost the thread that it happened on, as the tracer measured it in the very run.
// What lies before the event's time lengthens what led up to it, what lies after it what follows.
struct event_cost {
    uint64_t measured;            // how many were; 0: what the kind costs is not known
    uint64_t before_ps, after_ps; // means, in 1/1000 ns
};

#define EVENT_COST_MOST_PS UINT64_C(1000000000000) // of either; more is no cost of an event's

// How a kind is stored and shown.
struct event_kind_info {
    const char *name; // as in `info --json`
    uint8_t operands; // how many of operand[] it has
};

extern const struct event_kind_info event_kinds[EVENT_KINDS];

// NULL for a number that no event has.
static inline const struct event_kind_info *event_kind_info(unsigned kind) {
    return kind > EVENT_NONE && kind < EVENT_KINDS ? &event_kinds[kind] : NULL;
}

#endif
