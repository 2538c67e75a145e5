// SPDX-License-Identifier: GPL-3.0-or-later
// When a JVM that was attached to has its code compiled again. HotSpot throws all compiled code away as the first class
// is woven (VM_RedefineClasses, where dependences were not recorded from the start), and until its compilers have made
// it anew the program is slower than it was, and they take a core from it.
//
// The compilers are done when they have had less than a quarter of a core for half a second; metrics/steady.h tells it
// of a trace by the same rule.
#ifndef REHYPE_CLI_SETTLING_H
#define REHYPE_CLI_SETTLING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct settling {
    pid_t pid;
    uint64_t since_ms, compiled_ns; // of the half second that goes on
};

void settling_begin(struct settling *settling, pid_t pid, uint64_t now_ms);

// To be called now and then. A process whose threads can't be looked at has settled. Cost: a system call for each of
// its threads, every half second.
bool settling_is_over(struct settling *settling, uint64_t now_ms);

#endif
