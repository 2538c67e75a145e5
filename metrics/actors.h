// SPDX-License-Identifier: GPL-3.0-or-later
// What actors cost and do: by actor, by actor type, and by what type of message (A 7.1, whose Table 4 has the columns).
// Counted are the program's actors; routers of the library and starts that failed apart. Utilisation is computation /
// initialisation, of actors whose initialisation is known to have cost something.
//
// The initialisation share is what actors cost to make over all that they cost, each part counted once:
//   (initialisation + creation) / (initialisation + creation + computation but for what of both lies in handlers).
// Under an edit it is actor_shares.h's.
#ifndef REHYPE_METRICS_ACTORS_H
#define REHYPE_METRICS_ACTORS_H

#include "metrics/actor_log.h"
#include "metrics/statistics.h"

#define ACTORS_TOLD_MOST 1000

// In bytecodes an actor is used little below the one, and much from the other on (A 7.1). In other units it means
// nothing.
#define UTILISATION_LITTLE 10
#define UTILISATION_MUCH   100000

// What an actor, or those of a type, had to do with messages of one type.
struct message_use {
    uint32_t class; // trace class id
    uint64_t sent, received;
    double computation; // of handling them
};

struct actor_use {
    uint32_t actor; // index into the log's actors; of a type's LOG_NONE
    uint64_t sent, received;
    double initialisation, creation, computation, utilisation; // NAN unknown
    struct message_use *messages;                              // by computation, most first
    size_t message_count;
};

struct actor_type_use {
    uint32_t type; // trace class id
    uint64_t count, stopped, restarts;
    struct actor_use all; // together; its utilisation is that of the sums
    struct spread utilisation, initialisation, computation;
};

struct actor_figures {
    enum log_unit unit;
    uint64_t count;   // there in the window
    uint64_t created; // in it
    uint64_t stopped, restarts, failed_starts, routers;
    double initialisation_share;
    double initialisation_total, creation_total, computation_total;
    struct spread utilisation, initialisation, computation;
    uint64_t little_used, much_used;
    struct actor_type_use *types; // by computation, most first
    size_t type_count;
    struct actor_use *each; // the same, at most ACTORS_TOLD_MOST
    size_t each_count;
};

// All in the arena. NULL window: all; else of actors that were there in it their initialisation if it began in it, and
// the messages that were sent, or begun, in it. Errors: no memory. Cost: some 100 ns a message and actor.
bool actors_find(const struct actor_log *log, const struct window *window, struct arena *arena,
                 struct actor_figures *figures, struct error *error);

#endif
