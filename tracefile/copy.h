// SPDX-License-Identifier: Apache-2.0
// Writes a trace anew from one that was read.
#ifndef REHYPE_TRACEFILE_COPY_H
#define REHYPE_TRACEFILE_COPY_H

#include "tracefile/reader.h"

// What events may name, methods left out, and what recording them cost. A tick is a ns from here on, as trace_cursor
// tells times, whatever the header says of its clock, which may be the processor's: cycles are told by its rate. Not
// what is of the recording's beginning: running and queued tasks, stops. false: the writer failed.
bool trace_copy_tables(struct trace_writer *writer, const struct trace *trace);

// The same, and that and all else but events, the next part's name and the end block: for a trace told anew from its
// beginning on.
bool trace_copy_all_but_events(struct trace_writer *writer, const struct trace *trace);

// Writes the end block of that trace, but for skipped methods, and closes.
bool trace_copy_end(struct trace_writer *writer, const struct trace *trace, struct error *error);

#endif
