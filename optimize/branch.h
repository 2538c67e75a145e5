// SPDX-License-Identifier: GPL-3.0-or-later
// Where the paths of a site's tasks part (R Sec. 4.1, hoist-branch), and whether a spawner could know which one a task
// will take.
//
// Compared are the first task of the path and the first of the commonest other path of the same site (and context). Of
// the functions that one of them enters and the other doesn't, the first in time is where the paths have parted by
// then; the decision falls in the function that calls it. A spawner can only decide what follows from what it hands
// over. A trace doesn't show data, so this is a guess: the decision is late if the task has awaited a result before, or
// has spent more than a tenth of its time.
#ifndef REHYPE_OPTIMIZE_BRANCH_H
#define REHYPE_OPTIMIZE_BRANCH_H

#include "optimize/improvement.h"

struct branch {
    bool known;        // false: it is open, all tasks take one path, or their events can't be read
    uint32_t decides;  // trace method id of the function in which the paths part; 0: the task's own body
    uint32_t leads_to; // the function that is called from there on one of the paths only
    bool on_this;      // on this path; else on the other
    bool awaited;      // by then the task had awaited a result
    int64_t before_ns; // what the task had spent by then
    bool late;         // so that the spawner may not be able to decide
};

// Of a hoist-branch. Cost: a pass over the DAG's tasks, and a decode of two tasks' events.
struct branch branch_find(const struct improvement *improvement);

#endif
