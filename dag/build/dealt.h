// SPDX-License-Identifier: GPL-3.0-or-later
// A trace told anew in which executors of one thread each, among which tasks are dealt, are one pool whose workers
// have a queue each (POOL_EVENT_LOOPS, POOL_DEALT). Reactor's and RxJava's schedulers are such, and what a program
// makes of single threads itself: none of these executors can have more threads, but there can be more of them.
//
// Executors are dealt to if they are alike by name, kind and queue, each with one thread, most tasks of each were
// handed over at the same site, and each had its first task before any was shut down. Not those whose end was
// awaited before the last of them was shut down, nor those that had tasks when recording began; and no Timers.
#ifndef REHYPE_DAG_DEALT_H
#define REHYPE_DAG_DEALT_H

#include "base/error.h"
#include "tracefile/reader.h"

// As served_told (served.h). Cost: a sort of the pools; with some alike a pass over the events, with a group two.
struct trace *dealt_told(const struct trace *trace, struct trace_memory *memory, struct error *error);

#endif
