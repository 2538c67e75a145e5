// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/bytecodes.h"

#include "metrics/statistics.h"

#include <stdlib.h>

struct sample {
    uint32_t site;
    double executed;
};

static bool is_within(const struct dag *dag, const struct window *window, const struct dag_task *task) {
    int64_t time_ns = dag->vertices.time_ns[task->start];
    return !window || (time_ns >= window->from_ns && time_ns <= window->to_ns);
}

static bool is_known(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->start == DAG_NONE || task->flags & (TASK_BEGUN_BEFORE | TASK_OF_ACTOR)) return false;
    return dag->bytecodes[index] >= 0 && !dag->threads[task->thread].system;
}

// What actors executed in a task, as a dispatcher runs a mailbox, is added to the task's; `within`: a task each.
static void sum_up_actors(const struct dag *dag, double *within) {
    for (uint32_t t = 0; t < dag->task_count; t++) within[t] = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        uint32_t around = t;
        while (around != DAG_NONE && dag->tasks[around].flags & TASK_OF_ACTOR) around = dag->tasks[around].enclosing;
        if (around != DAG_NONE && around != t && dag->bytecodes[t] > 0) within[around] += (double)dag->bytecodes[t];
    }
}

static size_t take_samples(const struct dag *dag, const struct window *window, const double *within,
                           struct sample *samples) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!is_known(dag, t) || !is_within(dag, window, &dag->tasks[t])) continue;
        samples[count++] = (struct sample){dag->tasks[t].site, (double)dag->bytecodes[t] + within[t]};
    }
    return count;
}

static int by_site(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    return (x->site > y->site) - (x->site < y->site);
}

static int by_total(const void *a, const void *b) {
    const struct bytecodes_site *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

static double sum(const double *values, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += values[i];
    return total;
}

// `values`: the samples' in their order, by site.
static void describe_sites(const struct sample *samples, double *values, size_t count, struct bytecodes *found) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && samples[end].site == samples[first].site; end++) {
        }
        found->sites[found->site_count++] = (struct bytecodes_site){
            .site = samples[first].site,
            .tasks = end - first,
            .total = sum(values + first, end - first),
            .executed = quantiles_of(values + first, end - first),
        };
    }
    qsort(found->sites, found->site_count, sizeof *found->sites, by_total);
}

static void describe(struct sample *samples, double *values, size_t count, struct bytecodes *found) {
    qsort(samples, count, sizeof *samples, by_site);
    for (size_t i = 0; i < count; i++) values[i] = samples[i].executed;
    describe_sites(samples, values, count, found);
    found->tasks = count;
    found->total = sum(values, count);
    found->executed = quantiles_of(values, count);
}

bool bytecodes_find(const struct dag *dag, const struct window *window, struct arena *arena, struct bytecodes *found,
                    struct error *error) {
    *found = (struct bytecodes){.executed = quantiles_of(NULL, 0)};
    if (!dag->bytecodes) return true;
    struct sample *samples = malloc(((size_t)dag->task_count + 1) * sizeof *samples);
    double *values = malloc(((size_t)dag->task_count + 1) * sizeof *values);
    found->sites = ARENA_NEW(arena, struct bytecodes_site, (size_t)dag->site_count + 1);
    bool ok = samples && values && found->sites;
    if (ok) {
        found->counted = true;
        sum_up_actors(dag, values);
        describe(samples, values, take_samples(dag, window, values, samples), found);
    }
    free(samples);
    free(values);
    return ok || error_set(error, STATUS_FAILED, "no memory for the tasks' bytecodes");
}
