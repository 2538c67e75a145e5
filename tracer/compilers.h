// SPDX-License-Identifier: Apache-2.0
// What the JVM's compilers have computed so far, for EVENT_COMPILING: how far a run is on its way from interpreted to
// compiled code. HotSpot's threads are known by their names ("C1 CompilerThread0", "C2 CompilerThread0", "JVMCI
// CompilerThread0", which the kernel cuts after 15 characters); it makes them, and ends them, as it has work for them.
#ifndef REHYPE_TRACER_COMPILERS_H
#define REHYPE_TRACER_COMPILERS_H

#include "tracefile/event.h"

#include <stdbool.h>
#include <stdint.h>

#define COMPILERS_MOST 64

struct compiler_thread {
    int tid;
    uint64_t computed_ns, waited_ns; // as last seen; of a core
};

// Zero-initialise before the first; one thread only.
struct compilers {
    struct compiler_thread threads[COMPILERS_MOST]; // that live
    uint32_t count;
    uint64_t ended_computed_ns, ended_waited_ns; // of those that lived
    uint64_t process_threads;                    // that there were when looked for compilers last
    int highest_tid;                             // that has been looked at
    uint32_t takes_since;                        // the last look
};

// An EVENT_COMPILING at `time`. false: this JVM has no compiler that is known (interpreted, or not HotSpot). Cost: 4
// system calls for a compiler; whenever the process has another number of threads, and once in ten calls, those to list
// the process's threads, and 3 for each that is new.
bool compilers_take(struct compilers *compilers, uint64_t time, struct event *event);

#endif
