// SPDX-License-Identifier: GPL-3.0-or-later
// Where a span (spans.h) stands in the rows of resources and actors (laid_lanes.h), and the arrows there: from what
// freed a resource to what waited for it, and from a sender to the handling of its message. Each arrow leads to a span
// that has one back.
#ifndef REHYPE_REPORT_PAGE_LAID_SPANS_H
#define REHYPE_REPORT_PAGE_LAID_SPANS_H

#include "report/page/laid_lanes.h"
#include "report/page/spans.h"

// All lanes of a run: numbered from 0 on those of threads, then rows of resources, then actors.
struct laid_run {
    const struct lanes *lanes;
    struct laid_lanes resources, actors;
};

// The number behind the last lane.
static inline uint32_t laid_run_count(const struct laid_run *run) {
    return run->lanes->count + run->resources.count + run->actors.count;
}

struct laid_place {
    uint32_t lane; // by that number
    int64_t from_ns, to_ns;
};

// false: it has no place there.
bool laid_place_find(const struct laid_run *run, const struct lane_span *span, struct laid_place *place);

// Cost: a pass over the run's tasks, or vertices.
void laid_arrows_find(const struct laid_run *run, const struct lane_span *span, struct arrows *arrows);

#endif
