// SPDX-License-Identifier: GPL-3.0-or-later
// Run-to-run noise (SPEC section 2): what runs of one program differ by, which only several traces of it tell.
//
// Traces are repetitions of one load if they were recorded with equal command lines, by the same JVM, on as many cores.
// Figures of repetitions are medians. How far a median may be off is half of its 95 % interval. From six runs on that
// lies between two of the values, and supposes nothing of how runs are distributed: the binomial distribution says how
// many values lie below the median (Conover: Practical Nonparametric Statistics, 3.2; bench/cases does the same). Of
// fewer no two values would do, and runs are taken to be normally distributed: Student's t times the median's standard
// error, sqrt(pi / 2) of the mean's. That is wide, as it must be: of two runs over eleven standard deviations.
//
// Two medians of n runs each are told apart if they differ by more than both may be off together (root of the sum of
// squares, since the runs of either are independent of the other's). How many runs of either it takes to tell a
// difference d in four cases of five, with one false alarm in twenty: n = pi / 2 (1.96 + 0.84)^2 (s1^2 + s2^2) / d^2,
// the usual size of samples for two means (Lehr: Sixteen S-squared over D-squared, Statistics in Medicine 11, 1992) for
// medians, of runs that are about normally distributed. Estimates of one plan stand for the runs of the changed
// program: each is of one repetition, and differs from the others by what that does. Simulated, with normal and with
// lognormal runs, 2 to 30 of them: 94 to 98 % of the intervals hold the median, at most 4 % of equal programs are told
// apart, and so many runs tell a difference in three cases of four (the intervals are a little too wide for four of
// five).
#ifndef REHYPE_METRICS_RUNS_H
#define REHYPE_METRICS_RUNS_H

#include "metrics/figures.h"

enum run_figure {
    RUN_WALL,
    RUN_THREAD_TIME,
    RUN_OCCUPIED_PEAK,
    RUN_OCCUPIED_MEAN,
    RUN_THROUGHPUT,
    RUN_LATENCY_P50,
    RUN_LATENCY_P99,
    RUN_COMPOSITE, // against the run's own base
    RUN_BALANCED,
    RUN_FIGURES
};
extern const char *const run_figure_names[RUN_FIGURES];                      // keys: wall_ns, occupied_peak, ...
double run_figure_of(const struct metrics *metrics, enum run_figure figure); // NAN: the trace does not tell it

enum { RUNS_MOST = 1000 };    // that anybody makes
enum { RUNS_BY_ORDER = 6 };   // fewer are taken to be normally distributed
enum { RUNS_TELL_NOISE = 9 }; // fewer say little of it (SPEC section 2)

struct noise {
    size_t runs; // that tell the figure
    double median;
    double half_width; // of the median's 95 % interval; NAN of fewer than two runs
    double deviation;  // standard deviation of single runs; NAN likewise
};

// Sorts the values; NANs are left out.
struct noise noise_of(double *values, size_t count);

// Of each figure over some runs, which may be none.
struct noises {
    struct noise of[RUN_FIGURES];
};
bool noises_of(const struct metrics *const *runs, size_t count, struct noises *noises, struct error *error);

// What one run's figures are, of which no noise is known, as something to hold the medians of `runs` runs against.
void noises_fixed(const struct metrics *metrics, size_t runs, struct noises *noises);

// By how much the medians of two sets of runs may differ by chance; NAN where that is unknown of either.
double noise_of_change(const struct noise *before, const struct noise *after);

// Whether what they differ by is within that: indistinguishable. false where it is unknown.
bool noise_hides(const struct noise *before, const struct noise *after);

// How many more runs of either would tell the difference; 0: it is told, or there is none. UINT64_MAX: more than
// RUNS_MOST.
uint64_t noise_more_runs(const struct noise *before, const struct noise *after);

// The median of each figure; what is none (site, bottleneck, unit) is the first run's. Unknown values are left out.
// runs: at least one, and none is `median`. false and *error: no memory.
bool runs_median(const struct metrics *const *runs, size_t count, struct metrics *median, struct error *error);

// Whether two recordings are repetitions of one load. Without a command line nothing is, nor are two traces of one run
// (the same process, begun at the same time), or files of a rotation but those with equal numbers. An option of the
// command line that names the tracer itself counts for nothing.
bool runs_are_alike(const struct trace *a, const struct trace *b);

// The load of each trace, numbered as they come; returns how many there are.
uint32_t runs_find_loads(const struct trace *const *traces, size_t count, uint32_t *loads);

// Of the runs of that load the one of median wall time, of a service of median throughput; of two of them the one that
// came first.
size_t runs_median_run(const struct metrics *const *runs, const uint32_t *loads, size_t count, uint32_t load);

#endif
