// SPDX-License-Identifier: GPL-3.0-or-later
// How much an estimate owes to the accident of one recording: 5 % and 95 % of what it would have been, had tasks taken
// what tasks like them took.
//
// Method. A stratified moving-block bootstrap (strata: Davison, Hinkley: Bootstrap Methods and Their Application, 1997,
// sections 3.2 and 3.3; blocks: Kuensch: The Jackknife and the Bootstrap for General Stationary Observations, Annals of
// Statistics 17(3), 1989; their section 8.2). A second recording is of the same program that is asked for the same
// things: a task that had much to do, or met cold code, has and meets that again. So a task takes what others took only
// within its stratum: site and context (SPEC section 2), or of an actor's message its type and the actor's; whether it
// mostly slept though no event says so (Thread.sleep, I/O); and durations that are less than twice the shortest, of
// tasks that sleep less than 1.1 times. Of the same task
// in two runs of one program the logarithm of its duration deviated by 0.15 to 0.35 where it computes, and by 0.001 to
// 0.05 where it sleeps; durations spread evenly over such a stratum deviate by 0.2 and 0.03. Tasks that are there for
// more than half of the run (acceptors, loops) end when it does, and take as long as recorded.
//
// In order of start, a stratum's durations are a sequence, each the time that a body runs, without its waits and
// without bodies within it. A replicate draws for every such sequence of n a new one in circular blocks of cbrt(n), so
// that what drifts in a run drifts in the replicates too; scales each body's own edges to the duration drawn for it;
// and follows thread and time edges to the times that the recording would have had then (R Eq. 3 and 4, enum
// vertex_rule). What nothing recorded led to (requests from outside) comes as recorded. Caller runs base and plan on
// each replicate: composite is that of the pair, as both have the same accident. Limits are the quantiles of all
// replicates about their median, moved to the estimate itself, since peaks and walls of replicates are biased alike and
// the estimate is what is reported: times and composite by ratios, so that no limit is 0, counts of threads by
// differences. Of fewer than 20 replicates they are where 5 % and 95 % of further ones would be expected if figures (or
// their logarithms) were normally distributed (Student's t).
//
// Not covered: what all tasks of a run share (another machine, clock rate, other processes, heap size, how soon code is
// compiled); tasks without their like, main among them, and the time between tasks, hand-overs and wake-ups, which stay
// as recorded; requests of another mix; that the model may be wrong (null_replay_error speaks of that); that tasks
// might do other work, in other order, when timed differently. So it is the least that a second recording should be
// expected to differ by, not the most.
#ifndef REHYPE_METRICS_INTERVAL_H
#define REHYPE_METRICS_INTERVAL_H

#include "base/hands.h"
#include "metrics/figures.h"

enum interval_figure {
    INTERVAL_WALL,
    INTERVAL_THREAD_TIME,
    INTERVAL_OCCUPIED_PEAK,
    INTERVAL_OCCUPIED_MEAN,
    INTERVAL_WAITING_PEAK,
    INTERVAL_WAITING_MEAN,
    INTERVAL_COMPOSITE,
    INTERVAL_FIGURES
};
extern const char *const interval_names[INTERVAL_FIGURES]; // keys: wall_ns, occupied_peak, ...

struct intervals {
    struct {
        double low,
            high; // of times above 0. NAN: unknown, or fewer than two or than half of the replicates came to an end
    } of[INTERVAL_FIGURES];
    unsigned replicates; // that came to an end
    unsigned asked;      // for
};

// What was not asked for: no figure is known, of no replicates.
struct intervals intervals_unknown(void);

// Runs base and plan on a replicate and fills the plan's figures (metrics_usage's suffice), composite against that
// base. The DAG is the same object each time, of one context, with other times: what was found out about them holds for
// one call. Recorded times stay what windows mean. *stuck: this run can't end; it is left out. false and *error: no
// interval.
typedef bool interval_evaluate(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                               struct error *error);

struct interval_request {
    unsigned replicates; // 5 tell the order of magnitude, 200 the first digit
    uint64_t seed;       // the same seed gives the same intervals, however many threads there are
    interval_evaluate *evaluate;
    uint32_t hands;        // threads (base/hands.h), 1 to HANDS
    void *contexts[HANDS]; // a thread each
    // How many are evaluated, and how many are left; may be NULL. By the calling thread.
    void (*progress)(void *context, uint64_t done, uint64_t left);
    void *progress_context;
};

// dag: as recorded. estimate: the plan's figures on it, with composite. Cost: 30 ns a vertex, then `replicates` times
// 10 ns a vertex and what `evaluate` costs. Errors: no memory; evaluate's.
bool interval_estimate(const struct dag *dag, const struct metrics *estimate, const struct interval_request *request,
                       struct intervals *intervals, struct error *error);

#endif
