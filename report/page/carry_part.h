// SPDX-License-Identifier: GPL-3.0-or-later
// Of a trace that is too large for a page, the part that it carries instead.
#ifndef REHYPE_REPORT_PAGE_CARRY_PART_H
#define REHYPE_REPORT_PAGE_CARRY_PART_H

#include "report/page/carry.h"
#include "tracefile/writer.h"

// As trace_cursor tells times.
struct carry_range {
    uint64_t from_ns, to_ns;
};

struct carried_part {
    struct carry_range range;
    struct trace_memory memory; // of the trace
    struct trace *trace;        // a part as trace_slice makes it; NULL: none was found that fits
    struct carried carried;
};

// From the trace's first event to its last. false and *error: a damaged trace.
bool carry_whole_range(const struct trace *trace, struct carry_range *range, struct error *error);

// Of the times `within`, which are not empty: about as long a part around their middle as fits into `most` bytes, given
// what became of the whole trace. After some tries that did not fit there is none. false and *error: no memory, a
// damaged trace. Cost: each try, of which there is mostly one, that of a pass over the trace and of packing the part.
// carried_part_destroy in any case.
bool carry_part(const struct trace *trace, const struct carry_range *within, const struct carried *whole, size_t most,
                struct carried_part *part, struct error *error);
void carried_part_destroy(struct carried_part *part);

#endif
