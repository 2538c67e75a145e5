// SPDX-License-Identifier: GPL-3.0-or-later
// A trace told anew in which each request of a pool that serves in turns (serving.h) is a task of that pool, as a
// poller would have handed it over: looking for requests is a task on a thread of its own, which holds one of the
// pool's as long as the pool serves. What a thread computed since the request before, to find and read the next, is the
// next one's. What else it did outside of requests, for the pool itself, is left out. The thread that looks stands in
// for that one of the recorded which does, and seems to be idle meanwhile: threads that such a trace has beyond the
// recorded ones have ids above theirs.
#ifndef REHYPE_DAG_SERVED_H
#define REHYPE_DAG_SERVED_H

#include "base/error.h"
#include "tracefile/reader.h"

// The memory (zeroed) holds what is returned, and must outlive it. NULL: there is no such pool; or, with *error, a
// damaged trace or no memory. Cost: that of serving_find; with such a pool, a pass over the events more.
struct trace *served_told(const struct trace *trace, struct trace_memory *memory, struct error *error);

#endif
