// SPDX-License-Identifier: GPL-3.0-or-later
// The concurrency profile: threads in a state against normalised time (R Fig. 4).
#include "metrics/figures.h"

#include <stdlib.h>

// Adds `level` held over [from, to] (in bins, 0 or later) to each bin's mean.
static void spread(double *profile, size_t bins, double from, double to, int level) {
    for (size_t bin = (size_t)from; bin < bins && (double)bin < to && level != 0; bin++) {
        double begin = from > (double)bin ? from : (double)bin;
        double end = to < (double)(bin + 1) ? to : (double)(bin + 1);
        profile[bin] += level * (end - begin);
    }
}

void metrics_profile_within(const struct state_series *series, enum thread_state state, int64_t from_ns, int64_t to_ns,
                            double *profile, size_t bins) {
    for (size_t bin = 0; bin < bins; bin++) profile[bin] = 0;
    const double scale = (double)bins / (double)(to_ns - from_ns);
    if (!isfinite(scale)) return;
    double since = (double)(series->from_ns - from_ns) * scale;
    const double end = fmin((double)(series->to_ns - from_ns) * scale, (double)bins);
    int level = 0;
    for (size_t i = 0; i < series->count && since < end; i++) {
        const double until = fmin((double)(series->changes[i].time_ns - from_ns) * scale, end);
        spread(profile, bins, fmax(since, 0), until, level);
        level += series->changes[i].delta[state];
        since = until;
    }
    spread(profile, bins, fmax(since, 0), end, level);
}

void metrics_profile(const struct state_series *series, enum thread_state state, double *profile, size_t bins) {
    metrics_profile_within(series, state, series->from_ns, series->to_ns, profile, bins);
}

struct profile_walk {
    const struct state_series *series;
    double length;
    size_t next;
    int level;
};

static double next_time(const struct profile_walk *walk) {
    if (walk->next >= walk->series->count) return 1;
    return (double)(walk->series->changes[walk->next].time_ns - walk->series->from_ns) / walk->length;
}

static void step(struct profile_walk *walk, double until) {
    while (walk->next < walk->series->count && next_time(walk) <= until) {
        walk->level += walk->series->changes[walk->next++].delta[STATE_OCCUPIED];
    }
}

static struct profile_walk profile_walk_of(const struct state_series *series) {
    return (struct profile_walk){.series = series, .length = (double)(series->to_ns - series->from_ns)};
}

double metrics_profile_distance(const struct state_series *estimated, const struct state_series *actual) {
    struct profile_walk left = profile_walk_of(estimated), right = profile_walk_of(actual);
    if (left.length <= 0 || right.length <= 0) return NAN;
    double between = 0, under = 0;
    for (double since = 0; since < 1;) {
        step(&left, since);
        step(&right, since);
        double until = fmin(next_time(&left), next_time(&right));
        between += abs(left.level - right.level) * (until - since);
        under += right.level * (until - since);
        since = until;
    }
    return under > 0 ? between / under : NAN;
}
