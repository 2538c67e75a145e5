// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/warm.h"

#include "dag/edit/edit.h"
#include "metrics/grain.h"
#include "metrics/quantiles.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 20, BLOCK_LEAST = 5 };

static const double within = 1.05, most_of_computing = 0.9, least_told = 0.5;

static double median(const double *values, size_t count, double *scratch) {
    memcpy(scratch, values, count * sizeof *scratch);
    statistics_sort(scratch, count);
    return statistics_quantile(scratch, count, 0.5);
}

size_t warm_first(const double *cost_ns, size_t count, double *scratch) {
    const size_t half = count / 2, quarter = count / 4;
    const double third = median(&cost_ns[half], quarter, scratch);
    const double last = median(&cost_ns[count - quarter], quarter, scratch);
    if (third > within * last) return count;
    const double most = within * median(&cost_ns[half], count - half, scratch);
    size_t block = count / BLOCKS_MOST;
    if (block < BLOCK_LEAST) block = BLOCK_LEAST;
    for (size_t first = 0; first + 2 * block <= half; first += block) {
        if (median(&cost_ns[first], block, scratch) <= most && median(&cost_ns[first + block], block, scratch) <= most)
            return first;
    }
    return half;
}

// ---- of a run

struct timed_task {
    uint32_t site;
    int64_t start_ns;
    double cost_ns;
};

struct warm_site {
    int64_t from_ns; // INT64_MAX: never
    double computed_ns;
};

struct finding {
    struct timed_task *tasks; // site by site, as they began
    size_t task_count;
    double *cost_ns, *scratch;
    struct warm_site *sites; // those that tell
    size_t site_count;
    double told_ns, all_ns; // computed
};

static bool counts(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    return task->site != DAG_NONE && task->start != DAG_NONE && !(task->flags & (TASK_NESTED | TASK_BEGUN_BEFORE)) &&
           dag_left_out(dag, index) == LEFT_OUT_NOT;
}

static int compare_tasks(const void *a, const void *b) {
    const struct timed_task *left = a, *right = b;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void gather(struct finding *finding, const struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!counts(dag, t)) continue;
        const double cost_ns = grain_of_task(dag, task);
        finding->tasks[finding->task_count++] =
            (struct timed_task){task->site, dag->vertices.time_ns[task->start], cost_ns};
        finding->all_ns += cost_ns;
    }
    qsort(finding->tasks, finding->task_count, sizeof *finding->tasks, compare_tasks);
}

static void judge_site(struct finding *finding, const struct timed_task *tasks, size_t count) {
    if (count < WARM_LEAST) return;
    struct warm_site *site = &finding->sites[finding->site_count++];
    *site = (struct warm_site){.from_ns = INT64_MAX};
    for (size_t i = 0; i < count; i++) site->computed_ns += finding->cost_ns[i] = tasks[i].cost_ns;
    finding->told_ns += site->computed_ns;
    const size_t first = warm_first(finding->cost_ns, count, finding->scratch);
    if (first < count) site->from_ns = tasks[first].start_ns;
}

static void judge_sites(struct finding *finding) {
    for (size_t first = 0, count; first < finding->task_count; first += count) {
        const struct timed_task *tasks = &finding->tasks[first];
        for (count = 1; first + count < finding->task_count && tasks[count].site == tasks->site;) count++;
        judge_site(finding, tasks, count);
    }
}

static int compare_sites(const void *a, const void *b) {
    const struct warm_site *left = a, *right = b;
    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

static struct warm judge_run(struct finding *finding) {
    if (finding->told_ns <= 0 || finding->told_ns < least_told * finding->all_ns) return (struct warm){WARM_FEW, 0};
    qsort(finding->sites, finding->site_count, sizeof *finding->sites, compare_sites);
    double warm_ns = 0;
    for (size_t i = 0; i < finding->site_count && finding->sites[i].from_ns < INT64_MAX; i++) {
        warm_ns += finding->sites[i].computed_ns;
        if (warm_ns >= most_of_computing * finding->told_ns)
            return (struct warm){WARM_FOUND, finding->sites[i].from_ns};
    }
    return (struct warm){WARM_NEVER, 0};
}

bool warm_of_run(const struct dag *dag, struct warm *warm, struct error *error) {
    const size_t tasks = (size_t)dag->task_count + 1, sites = (size_t)dag->site_count + 1;
    struct finding finding = {.tasks = malloc(tasks * sizeof *finding.tasks),
                              .cost_ns = malloc(tasks * sizeof *finding.cost_ns),
                              .scratch = malloc(tasks * sizeof *finding.scratch),
                              .sites = malloc(sites * sizeof *finding.sites)};
    const bool ok = (finding.tasks && finding.cost_ns && finding.scratch && finding.sites) ||
                    error_set(error, STATUS_FAILED, "no memory for the costs of %u tasks", dag->task_count);
    if (ok) {
        gather(&finding, dag);
        judge_sites(&finding);
        *warm = judge_run(&finding);
    }
    free(finding.tasks);
    free(finding.cost_ns);
    free(finding.scratch);
    free(finding.sites);
    return ok;
}
