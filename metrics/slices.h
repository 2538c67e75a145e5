// SPDX-License-Identifier: GPL-3.0-or-later
// Time slices of a window: what counts is counted in the slice in which it begins, what lasts is shared out by overlap,
// so that slices add up to the whole (M 3.5, whose Eq. 2 leaves out what straddles a bound).
#ifndef REHYPE_METRICS_SLICES_H
#define REHYPE_METRICS_SLICES_H

#include "metrics/statistics.h"

#define SLICES_MOST 100000

struct slices {
    int64_t from_ns, to_ns; // of the window
    int64_t length_ns;      // of a slice but the last, which ends with the window; 0: there are none
    size_t count;
};

// What is told of one figure in slices. Zero-initialise; in the arena.
struct slice_series {
    double *values; // a slice each
    double *whole;  // while it is summed up: how many more whole slices something lasts through from here on, in ns
};

// Slices of `ms` milliseconds; 0: none. STATUS_USAGE where these are more than SLICES_MOST.
bool slices_of(int64_t from_ns, int64_t to_ns, double ms, struct slices *slices, struct error *error);

// false: no memory. Of no slices an empty series, which takes whatever is added.
bool slice_series_init(struct slice_series *series, const struct slices *slices, struct arena *arena);
void slice_count(struct slice_series *series, const struct slices *slices, int64_t at_ns);
void slice_last(struct slice_series *series, const struct slices *slices, int64_t begin_ns, int64_t end_ns);
void slice_series_settle(struct slice_series *series, const struct slices *slices); // once all that lasts was added

// What of a span of time lies within the window.
int64_t slices_within_ns(const struct slices *slices, int64_t begin_ns, int64_t end_ns);
int64_t slice_length_ns(const struct slices *slices, size_t slice);

#endif
