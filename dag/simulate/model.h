// SPDX-License-Identifier: GPL-3.0-or-later
// What a run is asked for beside an edit, and what it says beside its DAG: types alone.
#ifndef REHYPE_DAG_MODEL_H
#define REHYPE_DAG_MODEL_H

#include "dag/propagate/propagate.h"

enum model_kind { MODEL_DAG, MODEL_POOL, MODEL_CPU };

// Who asks otherwise than recorded, of a trace that tells its requests (dag/simulate/clients.h). All 0: as recorded.
struct offered_load {
    uint32_t clients; // a closed loop of so many
    double per_s;     // an open loop: requests a second
    bool thinks;      // in a closed loop each client thinks for so long between an answer and its next request
    int64_t think_ns;
};

struct model {
    enum model_kind kind;
    double cores;       // of MODEL_CPU; 0: as many as recorded
    uint32_t rate_site; // spawns at this site by threads outside of any task, or by main, come `rate` times as often:
    double rate;        // what passes between two of them takes 1 / rate as long. 0: as recorded
    struct offered_load load;
};

// Why a run is stuck: tasks that wait for each other (deadlock), or one that waits for another that no worker is left
// for (starvation), as a chain. Coordinators that became stages wait in it like others.
struct stuck {
    uint32_t tasks[DAG_DEADLOCK_TASKS];
    uint32_t asks[DAG_DEADLOCK_TASKS]; // by which each waits for what the next holds; DAG_NONE: for its result
    bool loose[DAG_DEADLOCK_TASKS]; // it waits for a signal that the next one gave when recorded, but others could give
    bool open;                      // the last one waits for nothing, and never comes to what is awaited: no ring
    uint32_t length;
    uint32_t pool;  // whose workers all wait, trace pool id, or (no chain) run what went on when recording ended; 0: a
                    // deadlock
    uint32_t taken; // where a process waits for a result that was there when recorded, the first of these; DAG_NONE
};

// How many waits with a time limit came out otherwise than recorded in the last run, and how many would have, but that
// no task shows what comes next then. Of waits for results these did, and go on as recorded.
struct outcomes {
    uint32_t changed, kept, alone;
};

#endif
