// SPDX-License-Identifier: GPL-3.0-or-later
// What of a run is the program's own to change, and what only a framework's: acceptors, housekeeping, what fills pools
// of connections. That is counted like all else, but nothing is advised on it.
//
// A site is a library's own if no frame of the program was on the stack (of_library), or if one was, but what was
// handed over is the library's: of no class of the program's, nobody waits for it, and none of the program's code is
// seen to run in it. Libraries that run what others give them (executors, @Async) are told by name. Of a service (its
// trace tells requests) what is done once, or only before the first request and behind the last, is start-up and
// shutdown, and what has not ended by the last request is a loop of the service's own. A pool is the program's if tasks
// of it are, or run the program's code, or serve requests; one alone tells nothing where others are a library's, and is
// the library's as well.
//
// An actor's type is a library's where classes with such a name are none of the program's: where the program hands
// tasks over, other packages do so.
//
// Where the trace knows nothing of an application all is the program's, but for what a service does as it starts, ends
// and lasts, and for pools that have no other tasks.
#ifndef REHYPE_OPTIMIZE_OWNERSHIP_H
#define REHYPE_OPTIMIZE_OWNERSHIP_H

#include "dag/dag.h"

struct ownership {
    bool knows_application; // of some site it is known that it is the program's own, of some that it is not
    uint64_t requests;      // begins and ends of them; 0: it is no service
    uint8_t *site, *pool;   // by index into dag->sites, by trace pool id: whether it is the program's
    uint8_t *actor_type;    // by trace class id: whether actors of it may be
};

// ownership_destroy in any case. false: no memory. Cost: some ns a vertex and a task.
bool ownership_find(struct ownership *ownership, const struct dag *dag);
void ownership_destroy(struct ownership *ownership);

#endif
