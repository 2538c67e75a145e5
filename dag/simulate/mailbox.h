// SPDX-License-Identifier: GPL-3.0-or-later
// Actors' mailboxes. What an actor does, a message that it handles or its initialisation, is a job of its dispatcher's
// pool, but one at a time: what comes meanwhile lies in the mailbox, first in first out. The worker that runs an
// actor's job goes on with the next in the mailbox, while others are queued up to as many in a row as were seen (the
// dispatcher's throughput); then the next is offered to the pool like any other.
//
// What the library sends to make, stop or supervise an actor comes before the program's messages. One of these that was
// there, but was handled only behind one of the library's that came later, waits for that again: its actor was not
// made yet, or had failed.
//
// An edit of actors (dag/edit/actors.c) changes which mailbox a job comes to, or lets a message follow: it is handled
// by the worker of the handler that sent it, right behind that, and before what that worker would do next. The worker
// holds the mailboxes of all actors whose jobs follow one another so, up to the last of these. If another worker holds
// the receiver's, the message comes first in that mailbox instead.
#ifndef REHYPE_DAG_MAILBOX_H
#define REHYPE_DAG_MAILBOX_H

#include "dag/simulate/state.h"

bool mailboxes_new(struct simulation *sim); // false: no memory
void mailboxes_free(struct simulation *sim);
void mailboxes_begin_run(struct simulation *sim); // pools are known

// A job comes: whether the mailbox keeps it, since its actor has others to run first.
bool mailbox_keeps(struct simulation *sim, uint32_t job);

// A message is sent: whether it follows the job that the process runs.
bool mailbox_follows(struct simulation *sim, uint32_t process, uint32_t message);

// What comes of the mailboxes that a worker holds when it is free behind a job.
enum mailbox_turn {
    MAILBOX_DONE,    // nothing: it holds none any more
    MAILBOX_FOLLOWS, // `next` follows at once
    MAILBOX_NEXT,    // it goes on with `next`
    MAILBOX_OFFERS,  // `next` is to be offered to its pool; ask again
};
enum mailbox_turn mailbox_next(struct simulation *sim, uint32_t worker, uint32_t *next);

// Whether something lies in a mailbox that is not going to be taken.
bool mailboxes_have_mail(const struct simulation *sim);

#endif
