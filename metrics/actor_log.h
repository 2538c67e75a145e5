// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace tells of actors and their messages, read once: who made and who sent what, when, and what it cost. All
// that is said of actors (actors.h, messages.h, latency.h, triggers.h) is said from this. A property of the recorded
// run, or of the written one of an estimate; times are the DAG's.
//
// Costs are in one unit: bytecodes where the trace counts them, else what threads computed (cycles, or ns of CPU time)
// where that was measured at messages, else ns of time; all but bytecodes without what recording took, where that was
// taken out of the DAG's times. Of a thread's costs each part belongs to what the thread is in at that time, the
// innermost first:
//   an initialisation costs what lies in it but in other initialisations, in upkeep and in messages. So nested
//     initialisations are subtracted once from the one around them, each from the innermost (A 5.1;
//     its Figure 2 subtracts one again from the next sibling that comes after it);
//   a message costs what lies in its handling but in other messages: an actor that its handler makes counts in both
//     (A 5.2);
//   `computed_once` is the same without initialisations and upkeep, so that shares count everything once.
#ifndef REHYPE_METRICS_ACTOR_LOG_H
#define REHYPE_METRICS_ACTOR_LOG_H

#include "metrics/figures.h"

#define LOG_NONE  UINT32_MAX // no actor, no message
#define LOG_NEVER INT64_MIN  // a time at which nothing happened

struct logged_actor {
    uint64_t id; // as in the trace
    uint32_t parent;
    uint32_t type;    // trace class id, 0 unknown
    const char *name; // how its parent knows it, of one without a parent its path; NULL unknown
    int64_t created_ns, stopped_ns, restarted_ns; // the first restart
    int64_t init_ns, failed_ns;                   // the first initialisation's begin; the first end of one that failed
    uint32_t restarts, initialisations;
    double initialisation, creation; // all of them; what the library's part of making and stopping it cost
    double computed_once;
    bool of_program; // below the user's guardian, or of a library that has none
    bool router;     // the library's own, which hands on what it gets
};

// A message that an actor put aside and got back has a number each time it is queued: `next` says which it became, and
// all but its handling is as of the first.
struct logged_message {
    uint64_t id;
    uint32_t class;            // trace class id, 0 unknown
    uint32_t sender, receiver; // actors
    uint32_t cause;            // the message that the sender handled when it sent this one
    uint32_t before, next;     // that it was; that it became
    int64_t sent_ns, queued_ns, begin_ns, end_ns;
    double cost;                  // of its handling; NAN unknown
    double cost_once;             // ... without initialisations and upkeep
    uint8_t origin, way, outcome; // enum message_...
    bool asks, dead;
    bool withdrawn;  // it turned out to be the library's own (a router was told to stop all)
    bool of_program; // its receiver is, or of what no actor gets, its sender
};

enum log_unit { LOG_BYTECODES, LOG_CYCLES, LOG_NS };

struct actor_log {
    const struct dag *dag;
    struct logged_actor *actors; // in the order in which threads mention them
    uint32_t actor_count, actor_capacity;
    struct logged_message *messages;
    uint32_t message_count, message_capacity;
    enum log_unit unit;
    struct arena names;
    const char **class_names; // a class of the trace each; NULL: as there
};

// Whether the trace has anything to log.
bool actor_log_is_empty(const struct trace *trace);

// Zero-initialised it is an empty log. Errors: no memory, a damaged trace. Cost: one decode of the trace, and about 200
// ns an event of actors; 80 bytes a message.
bool actor_log_read(const struct dag *dag, struct actor_log *log, struct error *error);
void actor_log_destroy(struct actor_log *log);

extern const char *const log_unit_names[]; // by enum log_unit

// "akka://shop/user/cart"; what is not known is left out or "?". Returns text.
const char *actor_log_path(const struct actor_log *log, uint32_t actor, char *text, size_t size);

// Name of a class of the trace, "?" unknown; of a lambda's, which a typed actor's behaviour may be, the method that
// made it ("Shop.pricer"). Never NULL.
const char *actor_log_class(const struct actor_log *log, uint32_t class);

// Whether an actor began to handle it and did not put it aside again: so what came back counts once.
static inline bool message_is_received(const struct logged_message *message) {
    return message->begin_ns != LOG_NEVER && message->outcome != MESSAGE_PUT_ASIDE && message->next == LOG_NONE;
}

// Whether its handling is known from begin to end.
static inline bool message_is_handled(const struct logged_message *message) {
    return message->begin_ns != LOG_NEVER && message->end_ns != LOG_NEVER;
}

// Whether the start of a program's own actor, not a restart, failed.
static inline bool actor_failed_to_start(const struct logged_actor *actor) {
    const bool restarted = actor->restarted_ns != LOG_NEVER && actor->restarted_ns <= actor->failed_ns;
    return actor->failed_ns != LOG_NEVER && !restarted;
}

// An instant of a window, of which NULL is all.
static inline bool is_in_window(const struct window *window, int64_t time_ns) {
    return time_ns != LOG_NEVER && (!window || (time_ns >= window->from_ns && time_ns <= window->to_ns));
}

#endif
