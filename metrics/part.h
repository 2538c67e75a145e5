// SPDX-License-Identifier: GPL-3.0-or-later
// A part of a service's run that tells as much of its load as the whole does, at a fraction of the cost.
#ifndef REHYPE_METRICS_PART_H
#define REHYPE_METRICS_PART_H

#include "metrics/figures.h"

struct part {
    uint64_t from_ns, to_ns; // as trace_cursor tells times
    uint32_t requests;       // that begin in it; 0: there is no such part
};

// In the middle of the requests that begin in the window (NULL: of all): as many as quantiles need, and so long that
// what is under way at its ends is little of it. None where that is more than a third of them. false and *error: a
// damaged trace.
bool part_find(const struct dag *dag, const struct window *window, struct part *part, struct error *error);

#endif
