// SPDX-License-Identifier: GPL-3.0-or-later
// What handing over and picking up tasks cost in this trace, by pool and by how they were dispatched (SPEC section 5:
// what an edit adds costs the pool's mean).
//
// A bracket is what passes between SPAWN_BEGIN and SPAWN_END, less other tasks' bodies in it. A pick-up is what passes
// between the moment when both the task was spawned and its worker was free, and its start; of it, what the worker
// waited for a core is left out where that was measured. Means are trimmed (a tenth at each end), since a preempted
// thread is no cost of a pool's.
//
// To wake a worker costs the more the longer it has slept: by then its core sleeps as well, and other things lie in the
// caches. So what that costs is also told apart by powers of ten of the sleep. Where a worker waited for a core for
// longer than it took to pick the task up, it did so before it slept as well: such a pick-up is of no mean.
#ifndef REHYPE_DAG_COSTS_H
#define REHYPE_DAG_COSTS_H

#include "dag/dag.h"
#include "dag/simulate/corrections.h"
#include "dag/simulate/first_use.h"

struct cost {
    uint64_t count; // of what it is the mean; 0: none was recorded, and mean_ns is the nearest that is known
    double mean_ns;
};

// A worker's sleep: less than 10 us, 100 us, 1 ms, 10 ms, or longer.
enum { SLEEP_CLASSES = 5 };

struct pool_costs {
    struct cost bracket[DISPATCH_KINDS], pickup[DISPATCH_KINDS]; // by how the task is dispatched
    // Of DISPATCH_WOKEN, by how long the worker had slept. Of fewer than 5 tasks the mean is that of all sleeps.
    struct cost woken_bracket[SLEEP_CLASSES], woken_pickup[SLEEP_CLASSES];
    double awake_ns; // what of those pick-ups comes after BUSY: the mean
    // Of a pool whose workers steal:
    struct cost stolen;  // pick-ups, by waiters that helped, of what other threads had spawned
    struct cost looking; // how long a worker that finds no task looks around before it goes idle
};

struct costs {
    struct pool_costs *pools; // by trace pool id; [0]: threads of their own
    uint32_t pool_count;
    struct cost wakeup;  // from a result to its waiter's going on, of those that slept
    struct cost waking;  // what these computed, from asking to going on
    int64_t *bracket_ns; // a task each, as recorded: its own
    int64_t *pickup_ns;
    // A resource each: from its coming free to a waiter's going on, but for waits for a core. Of one that is never held
    // for long waiters do not fall asleep. Of fewer than 5 waits: the DAG's mean wake-up.
    int64_t *granted_ns;
    struct first_uses first_uses;
    unsigned without; // corrections that are left out, CORRECTION_BIT each; 0 as measured
};

static inline bool costs_correct(const struct costs *costs, enum correction correction) {
    return !(costs->without & CORRECTION_BIT(correction));
}

// NULL and *error when there is no memory. Where a kind was never recorded its mean is that of the nearest kind of the
// same pool that was, or of all pools, or 0. Cost: about 20 ns a task.
struct costs *costs_measure(const struct dag *dag, struct error *error);
void costs_free(struct costs *costs);

// Which class a sleep is of, and the shortest sleep of a class.
unsigned costs_sleep_class(int64_t slept_ns);
int64_t costs_least_sleep_ns(unsigned sleep);

#endif
