// SPDX-License-Identifier: GPL-3.0-or-later
// Actors' mailboxes. What an actor does, a message that it handles or its initialisation, is a job of its dispatcher's
// pool, but one at a time: what comes meanwhile lies in the mailbox, first in first out. The worker that runs an
// actor's job goes on with the next in the mailbox, up to as many in a row as were seen (the dispatcher's throughput);
// then the next is offered to the pool like any other.
#ifndef REHYPE_DAG_MAILBOX_H
#define REHYPE_DAG_MAILBOX_H

#include "dag/simulate/state.h"

bool mailboxes_new(struct simulation *sim); // false: no memory
void mailboxes_free(struct simulation *sim);
void mailboxes_begin_run(struct simulation *sim);

// A job comes: whether the mailbox keeps it, since its actor has others to run first.
bool mailbox_keeps(struct simulation *sim, uint32_t job);

// A worker is free behind a job. The next of the same mailbox, DAG_NONE where there is none, and whether the worker
// runs it itself; else it is to be offered to the pool.
bool mailbox_next(struct simulation *sim, uint32_t worker, uint32_t *next);

#endif
