// SPDX-License-Identifier: GPL-3.0-or-later
// When a JVM that was attached to has its code compiled again. HotSpot throws all compiled code away as the first class
// is woven (VM_RedefineClasses, where dependences were not recorded from the start), and until its compilers have made
// it anew the program is slower than it was, and they take a core from it.
//
// When the compilers are done metrics/steady.h tells, and tells it of a trace by the same rule.
#ifndef REHYPE_CLI_SETTLING_H
#define REHYPE_CLI_SETTLING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct settling {
    pid_t pid;
    uint64_t since_ms, compiled_ns; // when it was looked last, and what they had computed by then
};

void settling_begin(struct settling *settling, pid_t pid, uint64_t now_ms);

// To be called now and then. A process whose threads can't be looked at has settled. Cost: four system calls for each
// of its threads, every SETTLED_MS.
bool settling_is_over(struct settling *settling, uint64_t now_ms);

#endif
