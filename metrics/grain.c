// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/grain.h"

#include "dag/edit/body.h"
#include "dag/edit/edit.h"
#include "dag/simulate/costs.h"
#include "metrics/statistics.h"
#include "metrics/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HARDLY = 20 }; // who computes for less than that part of the time hardly does

static const double sample_ns = 1e8; // what switches are given per

struct span {
    int64_t from_ns, to_ns;
};

struct site_tasks { // of one site, in `by_site`
    uint32_t first, count;
};

struct search {
    const struct dag *dag;
    struct costs *costs;
    struct dag_edit edit; // for its batches
    uint32_t *by_site;    // tasks, site by site
    struct site_tasks *sites;
    double *grain_ns;   // scratch: granularities of a site's tasks
    struct span *spans; // scratch: when its tasks run, rising and disjoint
    uint32_t span_count;
};

static bool counts(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    return task->site != DAG_NONE && !(task->flags & TASK_NESTED) && dag_left_out(dag, index) == LEFT_OUT_NOT;
}

// Tasks site by site, each site's rising.
static void sort_by_site(struct search *search) {
    const struct dag *dag = search->dag;
    uint32_t next = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (counts(dag, t)) search->sites[dag->tasks[t].site].count++;
    }
    for (uint32_t s = 0; s < dag->site_count; s++) {
        search->sites[s].first = next;
        next += search->sites[s].count;
        search->sites[s].count = 0;
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!counts(dag, t)) continue;
        struct site_tasks *site = &search->sites[dag->tasks[t].site];
        search->by_site[site->first + site->count++] = t;
    }
}

static bool begin(struct search *search, const struct dag *dag, struct error *error) {
    const size_t tasks = (size_t)dag->task_count + 1;
    *search = (struct search){.dag = dag};
    search->by_site = malloc(tasks * sizeof *search->by_site);
    search->sites = calloc((size_t)dag->site_count + 1, sizeof *search->sites);
    search->grain_ns = malloc(tasks * sizeof *search->grain_ns);
    search->spans = malloc(tasks * sizeof *search->spans);
    if (!search->by_site || !search->sites || !search->grain_ns || !search->spans) {
        return error_set(error, STATUS_FAILED, "no memory for the grain of %u tasks", dag->task_count);
    }
    sort_by_site(search);
    return dag_edit_init(&search->edit, dag, error) && (search->costs = costs_measure(dag, error));
}

static void end(struct search *search) {
    costs_free(search->costs);
    dag_edit_destroy(&search->edit);
    free(search->by_site);
    free(search->sites);
    free(search->grain_ns);
    free(search->spans);
}

// Batches

struct batches {
    uint32_t largest, in_large; // tasks in large ones
    uint32_t following;         // tasks in those that follow cores or pool
};

static bool is_multiple(uint32_t size, int64_t of) {
    return of > 1 && size % of == 0 && size / of <= 4;
}

static void count_batch(const struct dag *dag, uint32_t pool, uint32_t size, struct batches *batches) {
    const uint32_t cores = dag->trace->header.cores;
    int64_t workers = cores;
    bool follows = is_multiple(size, cores);
    if (pool && pool < dag->pool_count && dag->pools[pool].maximum < INT32_MAX) {
        follows |= is_multiple(size, dag->pools[pool].core) || is_multiple(size, dag->pools[pool].maximum);
        if (dag->pools[pool].maximum > workers) workers = dag->pools[pool].maximum;
    }
    if (size > batches->largest) batches->largest = size;
    if (size >= 8 * workers) batches->in_large += size;
    if (follows) batches->following += size;
}

// Each batch is a group of tasks that could be merged into one.
static struct batches batches_of(struct search *search, const uint32_t *tasks, uint32_t count) {
    const struct dag *dag = search->dag;
    struct dag_edit *edit = &search->edit;
    struct batches batches = {0};
    dag_edit_clear(edit, dag);
    dag_edit_merge(edit, dag, tasks, count, UINT32_MAX);
    for (uint32_t first = 0, size; first < count; first += size) {
        size = dag_edit_group(edit, first);
        count_batch(dag, dag->tasks[edit->order[first]].pool, size, &batches);
    }
    return batches;
}

static bool follow_cores(const struct batches *batches, uint32_t count) {
    return count && batches->following * 10ull >= count * 9ull;
}

// Granularity

static bool sleeps(unsigned kind) {
    return kind == VERTEX_WAIT_END || kind == VERTEX_ACQUIRED || kind == VERTEX_GIVEN_UP;
}

double grain_of_task(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t sum_ns = 0;
    for (uint32_t v = task->start; v < task->end;) {
        v = body_next(dag, v);
        if (vertices->compute_ns)
            sum_ns += vertices->compute_ns[v];
        else if (!sleeps(vertices->kind[v]))
            sum_ns += vertices->time_ns[v] - vertices->time_ns[v - 1];
    }
    return (double)sum_ns;
}

static bool waits(const struct dag *dag, const struct dag_task *task) {
    bool found = false;
    for (uint32_t v = body_next(dag, task->start); v < task->end && !found; v = body_next(dag, v)) {
        found = dag->vertices.kind[v] == VERTEX_WAIT_BEGIN;
    }
    return found;
}

static bool all_run_whole(const struct dag *dag, const uint32_t *tasks, uint32_t count) {
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        whole = task->start != DAG_NONE && !(task->flags & (TASK_HANDED_OVER | TASK_DELAYED)) && !waits(dag, task);
    }
    return whole;
}

static int compare_doubles(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure_grain(struct search *search, const uint32_t *tasks, struct grain_group *group) {
    const struct dag *dag = search->dag;
    double *grain_ns = search->grain_ns, sum_ns = 0, took_ns = 0, handover_ns = 0;
    for (uint32_t i = 0; i < group->task_count; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        took_ns += (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
        sum_ns += grain_ns[i] = grain_of_task(dag, task);
        handover_ns += (double)(search->costs->bracket_ns[tasks[i]] + search->costs->pickup_ns[tasks[i]]);
    }
    qsort(grain_ns, group->task_count, sizeof *grain_ns, compare_doubles);
    group->mean_ns = sum_ns / group->task_count;
    group->took_ns = took_ns / group->task_count;
    group->handover_ns = handover_ns / group->task_count;
    group->median_ns = grain_ns[group->task_count / 2];
    uint32_t similar = 0;
    for (uint32_t i = 0; i < group->task_count; i++) {
        similar += grain_ns[i] * sqrt(10) >= group->median_ns && grain_ns[i] <= group->median_ns * sqrt(10);
    }
    group->similarity = (double)similar / group->task_count;
}

// When they run

static int compare_spans(const void *a, const void *b) {
    const struct span *left = a, *right = b;
    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

static void find_spans(struct search *search, const uint32_t *tasks, uint32_t count) {
    const struct dag *dag = search->dag;
    struct span *spans = search->spans;
    for (uint32_t i = 0; i < count; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        spans[i] = (struct span){dag->vertices.time_ns[task->start], dag->vertices.time_ns[task->end]};
    }
    qsort(spans, count, sizeof *spans, compare_spans);
    search->span_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct span *last = search->span_count ? &spans[search->span_count - 1] : NULL;
        if (!last || spans[i].from_ns > last->to_ns)
            spans[search->span_count++] = spans[i];
        else if (spans[i].to_ns > last->to_ns)
            last->to_ns = spans[i].to_ns;
    }
}

// The first span that ends after a time.
static uint32_t first_after(const struct span *spans, uint32_t count, int64_t time_ns) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spans[middle].to_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// How much of [from, to] lies in the spans.
static int64_t overlap(const struct span *spans, uint32_t count, int64_t from_ns, int64_t to_ns) {
    int64_t sum_ns = 0;
    for (uint32_t i = first_after(spans, count, from_ns); i < count && spans[i].from_ns < to_ns; i++) {
        int64_t begin_ns = spans[i].from_ns > from_ns ? spans[i].from_ns : from_ns;
        int64_t end_ns = spans[i].to_ns < to_ns ? spans[i].to_ns : to_ns;
        sum_ns += end_ns - begin_ns;
    }
    return sum_ns;
}

struct sampled { // of what lies between samples
    double with_ns, without_ns, switches_with, switches_without, busy_ns;
};

// Between two samples tasks of the group count as running when they do for half of the time.
static void add_sample(const struct search *search, const struct dag_sample *before, const struct dag_sample *sample,
                       struct sampled *sums) {
    double length_ns = (double)(sample->time_ns - before->time_ns);
    double switches = (double)(sample->context_switches - before->context_switches);
    if (length_ns <= 0 || work_meets_pause(search->dag, before->time_ns, sample->time_ns)) return;
    double running_ns = (double)overlap(search->spans, search->span_count, before->time_ns, sample->time_ns);
    if (running_ns * 2 >= length_ns) {
        sums->with_ns += length_ns;
        sums->switches_with += switches;
        sums->busy_ns += (double)(sample->process_cpu_ns - before->process_cpu_ns);
    } else {
        sums->without_ns += length_ns;
        sums->switches_without += switches;
    }
}

static struct sampled sample_group(const struct search *search, struct grain_group *group) {
    const struct dag *dag = search->dag;
    struct sampled sums = {0};
    for (uint32_t i = 1, p = 0; i < dag->sample_count; i++) {
        const struct dag_sample *before = &dag->samples[i - 1], *sample = &dag->samples[i];
        while (p < dag->pause_count && dag->pauses[p].end_ns <= before->time_ns) p++;
        bool paused = p < dag->pause_count && dag->pauses[p].begin_ns < sample->time_ns;
        if (!paused) add_sample(search, before, sample, &sums);
    }
    group->sampled = sums.with_ns > 0;
    group->switches_with = sums.with_ns > 0 ? sums.switches_with * sample_ns / sums.with_ns : NAN;
    group->switches_without = sums.without_ns > 0 ? sums.switches_without * sample_ns / sums.without_ns : NAN;
    return sums;
}

// Without samples: what tasks compute during the spans, each evenly over its time.
static double busy_of_tasks(const struct search *search) {
    const struct dag *dag = search->dag;
    double busy_ns = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->start == DAG_NONE || task->flags & TASK_NESTED) continue;
        int64_t from_ns = dag->vertices.time_ns[task->start], to_ns = dag->vertices.time_ns[task->end];
        if (to_ns <= from_ns) continue;
        double shared_ns = (double)overlap(search->spans, search->span_count, from_ns, to_ns);
        busy_ns += grain_of_task(dag, task) * shared_ns / (double)(to_ns - from_ns);
    }
    return busy_ns;
}

static double length_of_spans(const struct search *search) {
    double sum_ns = 0;
    for (uint32_t i = 0; i < search->span_count; i++) {
        sum_ns += (double)(search->spans[i].to_ns - search->spans[i].from_ns);
    }
    return sum_ns;
}

// Verdicts

static bool is_fine(struct search *search, const uint32_t *tasks, const struct batches *batches,
                    struct grain_group *group) {
    if (batches->in_large * 2ull < group->task_count || group->similarity < 0.5) return false;
    if (group->handover_ns * 100 < group->took_ns) return false;
    find_spans(search, tasks, group->task_count);
    struct sampled sums = sample_group(search, group);
    group->grain = GRAIN_FINE;
    group->cores_idle = NAN;
    if (!group->sampled || group->handover_ns * 10 >= group->took_ns) return true;
    if (sums.without_ns > 0) return group->switches_with >= 1.5 * group->switches_without;
    return sums.switches_with * 2 >= group->task_count;
}

// Whether they compute nearly always or hardly ever, and switch seldom.
static bool is_bound_by_nothing(const struct grain_group *group, double cores) {
    bool computes = group->mean_ns >= 0.75 * group->took_ns;
    double most = computes ? 32 * cores : 16 * cores;
    return (computes || group->mean_ns * HARDLY < group->took_ns) && (!group->sampled || group->switches_with <= most);
}

static bool are_few_and_large(double cores, const struct batches *batches, const struct grain_group *group) {
    if (batches->largest > 8 * cores || group->task_count > 16 * cores) return false;
    return group->handover_ns * 100 < group->took_ns;
}

static bool is_coarse(struct search *search, const uint32_t *tasks, const struct batches *batches,
                      struct grain_group *group) {
    const struct dag *dag = search->dag;
    const double cores = dag->trace->header.cores, wall_ns = (double)(dag->last_ns - dag->first_ns);
    if (!are_few_and_large(cores, batches, group)) return false;
    find_spans(search, tasks, group->task_count);
    double length_ns = length_of_spans(search);
    if (length_ns <= 0 || length_ns * 10 < wall_ns) return false;
    struct sampled sums = sample_group(search, group);
    group->grain = GRAIN_COARSE;
    group->cores_idle =
        fmax(0, cores - (group->sampled ? sums.busy_ns / sums.with_ns : busy_of_tasks(search) / length_ns));
    return group->cores_idle >= fmax(1, cores / 4) && is_bound_by_nothing(group, cores);
}

static bool judge(struct search *search, uint32_t site, struct grain_group *group) {
    const struct dag *dag = search->dag;
    const uint32_t *tasks = &search->by_site[search->sites[site].first], count = search->sites[site].count;
    if (count == 0 || !all_run_whole(dag, tasks, count)) return false;
    const struct batches batches = batches_of(search, tasks, count);
    *group = (struct grain_group){.site = site,
                                  .task_count = count,
                                  .largest_batch = batches.largest,
                                  .follows_cores = follow_cores(&batches, count)};
    measure_grain(search, tasks, group);
    const bool computes = !dag->vertices.compute_ns || group->mean_ns * HARDLY >= group->took_ns;
    if (is_fine(search, tasks, &batches, group)) return true;
    const bool coarse = is_coarse(search, tasks, &batches, group);
    group->divides = computes && are_few_and_large(dag->trace->header.cores, &batches, group);
    if (!coarse) group->grain = GRAIN_LARGE;
    return coarse || group->divides;
}

bool grain_find(const struct dag *dag, struct arena *arena, struct grain_group **groups, size_t *count,
                struct error *error) {
    size_t surveyed;
    *count = 0;
    if (!grain_survey(dag, arena, groups, &surveyed, error)) return false;
    for (size_t g = 0; g < surveyed; g++) {
        if ((*groups)[g].grain != GRAIN_LARGE) (*groups)[(*count)++] = (*groups)[g];
    }
    return true;
}

bool grain_survey(const struct dag *dag, struct arena *arena, struct grain_group **groups, size_t *count,
                  struct error *error) {
    struct search search;
    *count = 0;
    *groups = ARENA_NEW(arena, struct grain_group, (size_t)dag->site_count + 1);
    bool done = begin(&search, dag, error);
    if (done && !*groups) done = error_set(error, STATUS_FAILED, "no memory for groups of tasks");
    for (uint32_t s = 0; done && s < dag->site_count; s++) *count += judge(&search, s, &(*groups)[*count]);
    end(&search);
    return done;
}

bool grain_follows_cores(const struct dag *dag, bool *follows, struct error *error) {
    struct search search;
    bool done = begin(&search, dag, error);
    for (uint32_t s = 0; done && s < dag->site_count; s++) {
        const uint32_t *tasks = &search.by_site[search.sites[s].first], count = search.sites[s].count;
        struct batches batches = batches_of(&search, tasks, count);
        follows[s] = follow_cores(&batches, count);
    }
    end(&search);
    return done;
}

static bool measure_sizes(struct search *search, uint32_t site, struct task_sizes *sizes) {
    const struct dag *dag = search->dag;
    const uint32_t *tasks = &search->by_site[search->sites[site].first];
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->sites[site].count; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        if (task->start != DAG_NONE && task->end != DAG_NONE) search->grain_ns[count++] = grain_of_task(dag, task);
    }
    *sizes = (struct task_sizes){.site = site, .task_count = count};
    if (count == 0) return false;
    statistics_sort(search->grain_ns, count);
    for (int i = 0; i < SIZE_POINTS; i++)
        sizes->sorted_ns[i] = statistics_quantile(search->grain_ns, count, (double)i / (SIZE_POINTS - 1));
    return true;
}

bool grain_sizes(const struct dag *dag, struct arena *arena, struct task_sizes **sizes, size_t *count,
                 struct error *error) {
    struct search search;
    *count = 0;
    *sizes = ARENA_NEW(arena, struct task_sizes, (size_t)dag->site_count + 1);
    bool done = begin(&search, dag, error);
    if (done && !*sizes) done = error_set(error, STATUS_FAILED, "no memory for the sizes of tasks");
    for (uint32_t s = 0; done && s < dag->site_count; s++) *count += measure_sizes(&search, s, &(*sizes)[*count]);
    end(&search);
    return done;
}
