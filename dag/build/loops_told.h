// SPDX-License-Identifier: GPL-3.0-or-later
// A trace told anew in which a group of event loops (loops.h) is one pool, whose workers have a queue each
// (POOL_EVENT_LOOPS), and each request that a loop serves is a task of that pool. What a loop hands over between
// requests, as connections that it accepts, is in a task as well. Both come from a thread of their own, which stands
// for the clients. What the loop computed since what was told before, to select and to read, is the next task's; what
// else it did between tasks is left out.
#ifndef REHYPE_DAG_LOOPS_TOLD_H
#define REHYPE_DAG_LOOPS_TOLD_H

#include "base/error.h"
#include "tracefile/reader.h"

// As served_told (served.h).
struct trace *loops_told(const struct trace *trace, struct trace_memory *memory, struct error *error);

#endif
