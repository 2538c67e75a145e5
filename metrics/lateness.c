// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/lateness.h"

#include "metrics/statistics.h"

#include <stdlib.h>

struct sample {
    uint32_t site;
    double late_ns;
};

// A due time moves with the vertex behind which it was set.
static double late_ns(const struct dag *dag, const int64_t *time_ns, uint32_t task) {
    const uint32_t set = dag->due_set[task], start = dag->tasks[task].start;
    const bool moves = set != DAG_NONE && time_ns[set] != DAG_ABSENT;
    const double moved_ns = moves ? (double)(time_ns[set] - dag->vertices.time_ns[set]) : 0;
    return (double)time_ns[start] - ((double)dag->due_ns[task] + moved_ns);
}

static size_t take_samples(const struct dag *dag, const int64_t *time_ns, const struct window *window,
                           struct sample *samples) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const uint32_t start = dag->tasks[t].start;
        if (dag->due_ns[t] == INT64_MIN || start == DAG_NONE || time_ns[start] == DAG_ABSENT) continue;
        if (window && (time_ns[start] < window->from_ns || time_ns[start] > window->to_ns)) continue;
        samples[count++] = (struct sample){dag->tasks[t].site, late_ns(dag, time_ns, t)};
    }
    return count;
}

static int by_site(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    return (x->site > y->site) - (x->site < y->site);
}

static int by_mean(const void *a, const void *b) {
    const struct lateness *x = a, *y = b;
    if (x->ns.mean != y->ns.mean) return x->ns.mean < y->ns.mean ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

// `values`: the samples' in their order, by site.
static size_t describe(const struct sample *samples, double *values, size_t count, struct lateness *found) {
    size_t sites = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && samples[end].site == samples[first].site; end++) {
        }
        struct lateness *of = &found[sites++];
        *of = (struct lateness){.site = samples[first].site, .tasks = end - first};
        of->ns = quantiles_of(values + first, end - first);
        of->min_ns = values[first];
        of->std_ns = statistics_deviation(values + first, end - first);
    }
    if (sites) qsort(found, sites, sizeof *found, by_mean);
    return sites;
}

bool metrics_lateness(const struct dag *dag, const int64_t *time_ns, const struct window *window, struct arena *arena,
                      struct lateness **found, size_t *count, struct error *error) {
    *found = NULL;
    *count = 0;
    if (!dag->due_ns) return true;
    struct sample *samples = malloc(((size_t)dag->task_count + 1) * sizeof *samples);
    double *values = malloc(((size_t)dag->task_count + 1) * sizeof *values);
    *found = ARENA_NEW(arena, struct lateness, (size_t)dag->site_count + 2);
    bool ok = samples && values && *found;
    if (ok) {
        const size_t tasks = take_samples(dag, time_ns, window, samples);
        if (tasks) qsort(samples, tasks, sizeof *samples, by_site);
        for (size_t i = 0; i < tasks; i++) values[i] = samples[i].late_ns;
        *count = describe(samples, values, tasks, *found);
    }
    free(samples);
    free(values);
    return ok || error_set(error, STATUS_FAILED, "no memory for how late tasks begin");
}
