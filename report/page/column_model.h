// SPDX-License-Identifier: GPL-3.0-or-later
// What an event's operands will be, guessed from the events before it on its thread, and from what threads before it
// told of messages and actors. What ends names what began last; ids rise; a message goes to the actor that handles it,
// on whichever thread that is; an actor handles its messages in the order in which they came, and a thread turns to the
// actor that has waited longest. A number that was guessed takes next to nothing. What packs and what unpacks keep the
// same model, so they guess the same.
#ifndef REHYPE_REPORT_PAGE_COLUMN_MODEL_H
#define REHYPE_REPORT_PAGE_COLUMN_MODEL_H

#include "tracefile/event.h"

enum { GUESSES = 5, OPEN_DEPTH = 256, FOLLOWERS_BITS = 14 };

// The likeliest first; at least one. What is none of them is told as its difference to the first, or, of an actor, by
// its number.
struct guesses {
    uint64_t value[GUESSES];
    unsigned count;
    bool of_actor;
};

// What begins and ends on a thread, or is named once more. MADE: tasks that were spawned and have not been awaited.
enum open_kind {
    OPEN_NONE,
    OPEN_FUNCTION,
    OPEN_TASK,
    OPEN_SPAWN,
    OPEN_WAIT,
    OPEN_ASK,
    OPEN_HOLD,
    OPEN_MOUNT,
    OPEN_MESSAGE,
    OPEN_INIT,
    OPEN_UPKEEP,
    OPEN_MADE,
    OPEN_KINDS
};

struct open_ids { // as a ring: what lies deeper is forgotten
    uint64_t ids[OPEN_DEPTH];
    uint32_t depth;
};

struct known { // of an id
    // A message: for whom and from whom, actors (0 unknown), as what (its operand, cut off), and which one came to the
    // same actor behind it.
    uint32_t of, from, what, next;
    // An actor: first and last of its messages that are not known to be handled, and its number from 1 on, by the order
    // in which actors were mentioned.
    uint32_t head, tail, number;
};

struct column_model {
    // Of the thread in hand
    uint64_t last[EVENT_KINDS][EVENT_OPERANDS];
    struct open_ids open[OPEN_KINDS];
    uint64_t new_id;  // the highest that it gave
    uint64_t foreign; // the last message that it handled before its sender was known
    uint64_t actor;   // whose message it handled last
    uint64_t oldest;  // message behind the one by which it turned to that actor: the first that may be an actor's next
    uint64_t before;  // first operand of the event before
    // Of all threads
    uint64_t followers[1 << FOLLOWERS_BITS]; // what came behind what, by hash
    struct known *known;                     // by id
    uint32_t known_count;
    uint64_t *actors; // by number, less 1
    uint32_t actor_count, actor_room;
    bool no_memory;
};

void column_model_begin_thread(struct column_model *model);
void column_model_destroy(struct column_model *model); // what it holds; zeros are fine

// Which operand of a kind is told as the first, second, third.
unsigned column_model_operand(unsigned kind, unsigned at);

// Of an operand that tells no computing. The event's operands that are told before it are known.
void column_model_guess(const struct column_model *model, const struct event *event, unsigned operand,
                        struct guesses *guesses);

// 0: it has none.
uint32_t column_model_number(const struct column_model *model, uint64_t actor);

void column_model_note(struct column_model *model, const struct event *event);

#endif
