// SPDX-License-Identifier: GPL-3.0-or-later
// From when on a run's code costs what it costs when warm (SPEC section 2), told by its tasks alone.
//
// A site's tasks stand in the order in which they began, in up to 20 blocks of at least five. Its warm cost is the
// median of its second half. It is warm from the first block on whose median, and that of the block behind, is at most
// 5 % above; at the latest from its second half on. Where the last quarter's median is still more than 5 % below that
// of the third, it has not become warm.
#ifndef REHYPE_METRICS_WARM_H
#define REHYPE_METRICS_WARM_H

#include "dag/dag.h"

enum { WARM_LEAST = 20 }; // tasks of a site; fewer tell nothing of it

enum warm_verdict {
    WARM_FOUND,
    WARM_FEW,   // sites that tell compute less than half of what all compute
    WARM_NEVER, // sites with more than a tenth of the computing do not become warm
};

struct warm {
    enum warm_verdict verdict;
    int64_t from_ns; // where it was found: sites with nine tenths of the computing are warm
};

// Index of the first of a site's tasks that is warm, by what each cost, in the order in which they began; `count`: none
// is. At least WARM_LEAST tasks. `scratch`: room for as many.
size_t warm_first(const double *cost_ns, size_t count, double *scratch);

// false and *error only when there is no memory. Cost: a pass over all bodies, and 200 ns a task.
bool warm_of_run(const struct dag *dag, struct warm *warm, struct error *error);

#endif
