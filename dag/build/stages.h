// SPDX-License-Identifier: GPL-3.0-or-later
// A trace told anew with the stages of pipelines that its queues are (takers.h), as the tracer tells those that a
// config file names: a pool, a hand-over for each put, and a task from one take of a thread to the next. Puts
// without a take, and takes that got nothing, are left out. What a task computed up to a take that had not to
// wait is not on record: it is shared out by time, between what was measured before and after.
#ifndef REHYPE_DAG_STAGES_H
#define REHYPE_DAG_STAGES_H

#include "base/error.h"
#include "tracefile/reader.h"

// The memory (zeroed) holds what is returned, and must outlive it. NULL: there is no stage; or, with *error, a damaged
// trace or no memory. Cost: that of takers_find; with stages, two passes over the events more.
struct trace *stages_told(const struct trace *trace, struct trace_memory *memory, struct error *error);

#endif
