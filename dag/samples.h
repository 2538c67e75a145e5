// SPDX-License-Identifier: GPL-3.0-or-later
// What lies between two samples of the machine. Index s is of the time from the sample before until sample s, index
// sample_count of the time behind the last.
#ifndef REHYPE_DAG_SAMPLES_H
#define REHYPE_DAG_SAMPLES_H

#include "dag/dag.h"
#include "dag/ns.h"

#include <string.h>

// Of an estimate's file they are those of what it was made from.
static inline bool samples_are_own(const struct dag *dag) {
    const char *origin = dag->trace->header.origin;
    return origin && strcmp(origin, "recorded") == 0;
}

// Shares out `amount` evenly over the time from one moment to another: adds to `by_sample`. *sample, at most the one
// behind from_ns, is where to begin to look, and is brought up to that.
static inline void samples_share_out(const struct dag *dag, int64_t from_ns, int64_t to_ns, double amount,
                                     uint32_t *sample, double *by_sample) {
    const double length_ns = (double)(to_ns - from_ns);
    while (*sample < dag->sample_count && dag->samples[*sample].time_ns <= from_ns) ++*sample;
    for (uint32_t s = *sample; length_ns > 0; s++) {
        const int64_t begin_ns = s ? max_ns(from_ns, dag->samples[s - 1].time_ns) : from_ns;
        const int64_t end_ns = s < dag->sample_count ? min_ns(to_ns, dag->samples[s].time_ns) : to_ns;
        by_sample[s] += amount * (double)(end_ns - begin_ns) / length_ns;
        if (end_ns == to_ns) break;
    }
}

#endif
