// SPDX-License-Identifier: GPL-3.0-or-later
// How many messages there were, of which types, how long they waited and were handled, and how many were at once: M3,
// M7, M8, M9 and M11 of M, as totals of the window and in slices of it.
//
// Counted are messages that concern the program (logged_message.of_program). A message counts in a window, or a slice,
// in which it is begun (sent ones: in which it is sent); times by what of them lies in it (slices.h).
#ifndef REHYPE_METRICS_MESSAGES_H
#define REHYPE_METRICS_MESSAGES_H

#include "metrics/actor_log.h"
#include "metrics/slices.h"

// What becomes of messages (SPEC section 6), of the whole recording whatever the window:
//   sent + scheduled + copies + library_made + unseen = received + to_futures + dead_letters + queued
//   created = stopped + living
struct balances {
    uint64_t sent, scheduled, copies, library_made; // by who had them sent
    uint64_t unseen;                                // whose being sent is not in the trace: before it began, or lost
    uint64_t received;                              // an actor began to handle it, and did not put it aside for good
    uint64_t to_futures;                            // answers that completed an ask
    uint64_t dead_letters;
    uint64_t queued;                                            // at the end, in a mailbox or a stash
    uint64_t unhandled;                                         // of those received
    uint64_t asks;                                              // of those sent
    uint64_t created, stopped, living, restarts, failed_starts; // those of actors.h
};

// A figure in slices, and over all of them what is least, most, and so on.
struct sliced {
    const double *values; // a slice each; NULL without slices
    struct summary of;
};

// What is told of messages, all or those of a type, in the window and in slices. A slice in which none was begun has a
// mean processing time of NAN, which the summary leaves out.
struct message_flow {
    uint64_t received;
    double per_s;            // M8
    double processing_total; // ns, of what of it lies in the window
    double waiting_total;
    struct spread processing_ns, queue_wait_ns; // M9, M11: of messages begun in the window: end - begin, begin - sent
    struct sliced by_count, by_rate, by_processing, by_mean_processing, by_waiting;
};

struct message_type_figures {
    uint32_t class; // trace class id
    uint64_t sent, unhandled, dead_letters, asks;
    double computation; // in the log's unit
    struct message_flow flow;
};

struct message_figures {
    struct balances balances;
    uint64_t sent, dead_letters, unhandled, asks; // in the window
    uint64_t queued;                              // at its end
    struct message_flow flow;
    double parallelism_mean, parallelism_max; // M3: messages that are handled at once
    struct sliced by_parallelism;             // mean of each slice
    struct slices slices;
    struct message_type_figures *types; // most time in processing first
    size_t type_count;
};

// slice_ms: 0 for none. All in the arena. NULL window: all. Errors: no memory; STATUS_USAGE for too many slices. Cost:
// two sorts of the messages.
bool messages_find(const struct actor_log *log, const struct window *window, double slice_ms, struct arena *arena,
                   struct message_figures *figures, struct error *error);

struct balances messages_balances(const struct actor_log *log);

// The window of a log in ns, which ends where the recording does.
struct window messages_window(const struct actor_log *log, const struct window *window);

// Sums up a series of slices; the values stay in it. `spare`: room for a value a slice.
struct sliced sliced_of(const struct slice_series *series, const struct slices *slices, double *spare);

#endif
