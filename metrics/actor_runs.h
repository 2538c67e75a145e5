// SPDX-License-Identifier: GPL-3.0-or-later
// Several traces set beside each other: the JVMs of one system, whose messages are summed, or runs of one program, of
// which it is asked whether those with more messages take longer (A 7.2, Table 5 and Fig. 4).
#ifndef REHYPE_METRICS_ACTOR_RUNS_H
#define REHYPE_METRICS_ACTOR_RUNS_H

#include "metrics/actor_findings.h"

struct actor_run {
    const char *trace;
    struct metrics metrics;         // but for what names the trace's graph
    bool any;                       // actors; else what follows is 0 or NAN
    struct actor_findings findings; // but for its log: no name of the trace's is left
};

// What of a trace outlives it. The findings' arena must outlive the run.
void actor_run_take(struct actor_run *run, const char *trace, const struct metrics *metrics,
                    const struct actor_findings *findings);

struct balances actor_runs_sum(const struct actor_run *runs, size_t count);

// Messages that were sent, by whomever.
uint64_t balances_sent(const struct balances *of);

// Pearson's coefficient of messages sent and wall time; NAN of less than three runs, or where either is always the
// same.
double actor_runs_correlation(const struct actor_run *runs, size_t count);

#endif
