// SPDX-License-Identifier: GPL-3.0-or-later
// Resources all of which are held by threads that wait for more of the same: until one of them gives up, nothing of it
// comes back. Of any run, by its vertices.
#ifndef REHYPE_METRICS_STARVATION_H
#define REHYPE_METRICS_STARVATION_H

#include "metrics/figures.h"

struct resource_starvation {
    uint32_t resource; // index into dag->resources
    uint64_t times;    // how often it came to that
    uint32_t threads;  // that waited for it then, at most
    uint32_t pool;     // trace pool id whose workers all of them were; 0: not of one pool
    uint32_t workers;  // so many of its workers waited at once, where it is all that it can have; 0: others were left
    uint32_t waits_at, held_at; // trace sites, 0 unknown: of the wait that came last to it, and where its thread took
                                // what it held
    uint64_t gave_up;           // waits for it that ended because their time was up, in all
    int64_t limit_ns;           // shortest time limit of these; INT64_MAX: none
    bool ends;                  // false: one of the waits goes on when recording ends
};

// Most often first. `time_ns`: a vertex of the DAG each, DAG_ABSENT for those that are not in the run. In the arena.
// Errors: no memory. Cost: a sort of the vertices that acquire and release.
bool metrics_starvation(const struct dag *dag, const int64_t *time_ns, struct arena *arena,
                        struct resource_starvation **found, size_t *count, struct error *error);

#endif
