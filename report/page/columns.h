// SPDX-License-Identifier: GPL-3.0-or-later
// A trace as the page carries it: what a DAG, its costs and an estimate are made from, its events in columns of small
// numbers, which gzip makes a third to a twentieth of the trace file. Not in it: stacks (calling contexts), methods
// that no event names, and what could not be woven. The bytes:
//
//      "rehype.columns/1\n"
//      8 bytes, least significant first: XXH3 of all that follows
//      LEB128: the quantum in ns; flags (1: the trace is whole, 2: function events were left out); the trace's version;
//          its events; bytes of the tables
//      the tables: a trace file without events (docs/trace-format.md), each object as its bytes (LEB128) and then these
//          up to its checksum, which is left out
//      the columns (column_store.h) of column_events.h
//
// It uses base/ and tracefile/ alone, so that the page's core can open it.
#ifndef REHYPE_REPORT_PAGE_COLUMNS_H
#define REHYPE_REPORT_PAGE_COLUMNS_H

#include "tracefile/reader.h"

struct columns_options {
    // 1: all times as they are. Else an event comes back in the quantum in which it was, or, where many were, some ns
    // behind it, and what was computed by then is off by little more. Events of a thread keep their order; of several
    // in a quantum each comes as far behind the one before as recording them took, so that as much can be taken out of
    // a rounded run as out of the run (dag/build/perturbation.h). At 1 us the wall of nine recordings differed by up to
    // 0.2 % as recorded; what a model makes of it may differ by more where that is far off anyway.
    uint64_t quantum_ns;
    // Whether function events are kept. Else those stay whose function was active at a spawn, since they are a spawn's
    // context; the others come back as as many events of one method of no name, where they were among the events
    // that stay, so that what recording them cost is still known. Paths (the sets of functions that tasks entered) are
    // not.
    bool functions;
};

// Appends the packed trace to `packed`, which is zeroed or holds something already. false and *error: no memory, or the
// trace turned out damaged. Cost: some 30 to 70 ns an event. Memory: twice the packed bytes, and where there are
// actors 28 to 56 for each id up to the highest, of at most 16 million.
bool columns_pack(const struct trace *trace, const struct columns_options *options, struct trace_memory *packed,
                  struct error *error);

// Whether these bytes begin as packed ones do.
bool columns_are(const void *bytes, size_t size);

// The bytes of a trace file with the same streams, tables and events, for trace_open_memory; `file` is zeroed before,
// its bytes are for free(), after a failure too. What is packed is untrusted: false and *error (STATUS_BAD_INPUT with
// the offset) where it is not what it should be; what the columns then say is for trace_open_memory to check. Cost:
// some 100 ns an event, and memory for both.
bool columns_unpack(const void *bytes, size_t size, struct trace_memory *file, struct error *error);

#endif
