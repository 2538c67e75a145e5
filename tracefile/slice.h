// SPDX-License-Identifier: Apache-2.0
// A part of a trace, from one instant to another, as a trace of its own: what a recording that has several files would
// have written into a file that began and ended then (docs/trace-format.md, "Several files"). So it begins with what
// was under way, and hand-overs under way, what lay in queues and what was held then are not told.
#ifndef REHYPE_TRACEFILE_SLICE_H
#define REHYPE_TRACEFILE_SLICE_H

#include "tracefile/reader.h"

// Times as trace_cursor tells them, from_ns < to_ns. The memory (zeroed) holds the part, and must outlive it. Methods
// are those of the whole; sampled stacks and calling contexts stay behind. Cost: two passes over the events before
// to_ns, and a pass over the part. NULL and *error: no memory, a damaged trace.
struct trace *trace_slice(const struct trace *trace, uint64_t from_ns, uint64_t to_ns, struct trace_memory *memory,
                          struct error *error);

#endif
