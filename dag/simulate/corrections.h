// SPDX-License-Identifier: GPL-3.0-or-later
// What an estimate takes over from the recording beside what programs compute, sleep and wait for: how long things took
// that depend on luck, on the scheduler, or on when the program ran. Each has a name by which it can be left out
// (--without), so that what it brings can be measured (bench/ablation).
#ifndef REHYPE_DAG_CORRECTIONS_H
#define REHYPE_DAG_CORRECTIONS_H

enum correction {
    CORRECTION_SERVICE,     // what an edge got of its fair share of the cores, when recorded
    CORRECTION_OTHER_LOAD,  // cores that the JVM's own threads and other processes took
    CORRECTION_FIRST_USE,   // sleep while another task did what is done but once (first_use.c)
    CORRECTION_AMORTISED,   // what merging saves beside hand-overs (amortised.c)
    CORRECTION_WAKEUPS,     // when workers slept and woke up (transitions.c)
    CORRECTION_QUEUE_ORDER, // of spawns that overlap, which task was in the queue first (queue.c)
    CORRECTION_WAKING,      // a waiter that has to sleep now computes what that costs
    CORRECTION_FULL_QUEUE,  // a worker may have taken its task from a full queue before it says so
    CORRECTION_PACE,        // code costs less once it is compiled, and more where much is computed at once (pace.h)
    CORRECTION_GARBAGE,     // collections last as long as there is garbage (garbage.h)
    CORRECTION_COUNT
};

extern const char *const correction_names[CORRECTION_COUNT];

#define CORRECTION_BIT(correction) (1u << (correction))

#endif
