// SPDX-License-Identifier: GPL-3.0-or-later
// What a page carries of a trace: all that its estimates need, as fine as there is room for.
#ifndef REHYPE_REPORT_PAGE_CARRY_H
#define REHYPE_REPORT_PAGE_CARRY_H

#include "tracefile/reader.h"

// As a text that page.h takes. Where it does not fit, `text` is NULL, and `bytes` is how long it would be, about; 0: it
// was not packed, since a page could not open it.
struct carried {
    char *text; // for free()
    size_t bytes;
    uint64_t quantum_ns; // times are rounded to
    bool functions;      // all that were entered are told
    char why[256];       // it does not fit, or is coarser than the trace; "": it is as the trace is
};

// Packs the trace as fine as it goes into `most` bytes: all of it; without functions; and then with times rounded to
// 10, 100, 1,000 ns. most SIZE_MAX: all of it. false and *error: no memory, or the trace turned out damaged. Cost: some
// 300 to 700 ns an event.
bool carry_trace(const struct trace *trace, size_t most, struct carried *carried, struct error *error);

#endif
