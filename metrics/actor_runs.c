// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/actor_runs.h"

#include <stdlib.h>

void actor_run_take(struct actor_run *run, const char *trace, const struct metrics *metrics,
                    const struct actor_findings *findings) {
    *run = (struct actor_run){.trace = trace, .metrics = *metrics, .any = findings->any, .findings = *findings};
    run->metrics.requests.dag = NULL;
    run->findings.log = (struct actor_log){0};
    if (run->any) return;
    run->findings.messages.flow.per_s = run->findings.messages.parallelism_mean = NAN;
    run->findings.messages.flow.processing_ns = run->findings.messages.flow.queue_wait_ns = spread_of(NULL, 0);
    run->findings.actors.utilisation = spread_of(NULL, 0);
    run->findings.actors.initialisation_share = NAN;
}

struct balances actor_runs_sum(const struct actor_run *runs, size_t count) {
    struct balances sum = {0};
    uint64_t *sums = (uint64_t *)&sum;
    _Static_assert(sizeof sum % sizeof *sums == 0, "balances are counts, and nothing else");
    for (size_t r = 0; r < count; r++) {
        const uint64_t *counts = (const uint64_t *)&runs[r].findings.messages.balances;
        for (size_t i = 0; i < sizeof sum / sizeof *sums; i++) sums[i] += counts[i];
    }
    return sum;
}

uint64_t balances_sent(const struct balances *of) {
    return of->sent + of->scheduled + of->copies + of->library_made;
}

double actor_runs_correlation(const struct actor_run *runs, size_t count) {
    enum { LEAST = 3 };
    double *sent = malloc((count + 1) * sizeof *sent), *wall = malloc((count + 1) * sizeof *wall);
    double correlation = NAN;
    for (size_t r = 0; sent && wall && r < count; r++) {
        sent[r] = (double)balances_sent(&runs[r].findings.messages.balances);
        wall[r] = (double)runs[r].metrics.wall_ns;
    }
    if (sent && wall && count >= LEAST) correlation = statistics_correlation(sent, wall, count);
    free(sent);
    free(wall);
    return correlation;
}
