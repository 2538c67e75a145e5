// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/calling_contexts.h"

#include "dag/idmap.h"

#include <stdlib.h>

// A sample, and whose: a site's, or of tasks without one a class's.
struct row {
    uint32_t site, task_class, kind, context;
    uint64_t stands_for, samples;
};

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int order = compare(x->site, y->site);
    if (!order) order = compare(x->task_class, y->task_class);
    if (!order) order = compare(x->kind, y->kind);
    return order ? order : compare(x->context, y->context);
}

static int by_share(const void *a, const void *b) {
    const struct calling_context *x = a, *y = b;
    int order = compare(x->kind, y->kind);
    if (!order && x->share != y->share) order = x->share < y->share ? 1 : -1;
    return order ? order : compare(x->context, y->context);
}

static int by_tasks(const void *a, const void *b) {
    const struct calling_site *x = a, *y = b;
    int order = compare(y->tasks, x->tasks);
    if (!order) order = compare(x->site, y->site);
    return order ? order : compare(x->task_class, y->task_class);
}

// Tasks that have samples, to where they stand in dag->tasks.
static bool index_tasks(const struct dag *dag, struct idmap *tasks) {
    const struct trace *trace = dag->trace;
    struct idmap sampled = {0};
    bool good = true;
    for (size_t i = 0; good && i < trace->calling_sample_count; i++) {
        uint64_t task = trace->calling_samples[i].task;
        good = idmap_get(&sampled, task) != IDMAP_NONE || idmap_add(&sampled, task, 0);
    }
    for (uint32_t t = 0; good && t < dag->task_count; t++) {
        uint64_t id = dag->tasks[t].id;
        bool wanted = idmap_get(&sampled, id) != IDMAP_NONE && idmap_get(tasks, id) == IDMAP_NONE;
        good = !wanted || idmap_add(tasks, id, t);
    }
    idmap_destroy(&sampled);
    return good;
}

static uint32_t class_of(const struct dag *dag, const struct dag_task *task) {
    return task->site == DAG_NONE ? task->task_class : dag->sites[task->site].task_class;
}

static size_t make_rows(const struct dag *dag, const struct idmap *tasks, struct row *rows) {
    const struct trace *trace = dag->trace;
    size_t count = 0;
    for (size_t i = 0; i < trace->calling_sample_count; i++) {
        const struct trace_calling_sample *sample = &trace->calling_samples[i];
        uint32_t index = idmap_get(tasks, sample->task);
        if (index == IDMAP_NONE) continue;
        const struct dag_task *task = &dag->tasks[index];
        rows[count++] = (struct row){.site = task->site,
                                     .task_class = class_of(dag, task),
                                     .kind = sample->kind,
                                     .context = sample->context,
                                     .stands_for = sample->stands_for,
                                     .samples = 1};
    }
    return count;
}

// Rows that differ in nothing else become one.
static size_t fold(struct row *rows, size_t count) {
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_place(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].stands_for += rows[i].stands_for;
            rows[kept - 1].samples++;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void describe(struct calling_site *site, const struct row *rows) {
    double total[CALLING_KINDS] = {0};
    for (size_t i = 0; i < site->context_count; i++) total[rows[i].kind] += (double)rows[i].stands_for;
    for (size_t i = 0; i < site->context_count; i++) {
        site->contexts[i] = (struct calling_context){.kind = (enum calling_kind)rows[i].kind,
                                                     .context = rows[i].context,
                                                     .samples = rows[i].samples,
                                                     .share = (double)rows[i].stands_for / total[rows[i].kind]};
    }
    qsort(site->contexts, site->context_count, sizeof *site->contexts, by_share);
}

// How many tasks a class has that nobody handed over, for the sites that stand for such classes.
static void count_unspawned(const struct dag *dag, struct calling_contexts *found, uint64_t *of_class) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site == DAG_NONE && !(task->flags & (TASK_NESTED | TASK_OF_ACTOR))) of_class[task->task_class]++;
    }
    for (size_t i = 0; i < found->site_count; i++) {
        struct calling_site *site = &found->sites[i];
        if (site->site == DAG_NONE) site->tasks = of_class[site->task_class];
    }
}

static void part_by_site(const struct dag *dag, const struct row *rows, size_t count, struct calling_context *contexts,
                         struct calling_contexts *found) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && rows[end].site == rows[first].site; end++) {
            if (rows[end].task_class != rows[first].task_class) break;
        }
        struct calling_site *site = &found->sites[found->site_count++];
        *site = (struct calling_site){.site = rows[first].site,
                                      .task_class = rows[first].task_class,
                                      .contexts = contexts + first,
                                      .context_count = end - first};
        if (site->site != DAG_NONE) site->tasks = dag->sites[site->site].task_count;
        describe(site, rows + first);
    }
}

bool calling_contexts_find(const struct dag *dag, struct arena *arena, struct calling_contexts *found,
                           struct error *error) {
    size_t samples = dag->trace->calling_sample_count;
    *found = (struct calling_contexts){.left_out = dag->trace->calling_left_out};
    if (samples == 0) return true;
    struct idmap tasks = {0};
    struct row *rows = malloc(samples * sizeof *rows);
    uint64_t *of_class = calloc((size_t)dag->trace->class_count + 1, sizeof *of_class);
    bool good = rows && of_class && index_tasks(dag, &tasks);
    size_t count = good ? fold(rows, make_rows(dag, &tasks, rows)) : 0;
    struct calling_context *contexts = ARENA_NEW(arena, struct calling_context, count + 1);
    found->sites = ARENA_NEW(arena, struct calling_site, count + 1);
    good = good && contexts && found->sites;
    if (good) {
        part_by_site(dag, rows, count, contexts, found);
        count_unspawned(dag, found, of_class);
        qsort(found->sites, found->site_count, sizeof *found->sites, by_tasks);
    }
    idmap_destroy(&tasks);
    free(rows);
    free(of_class);
    return good || error_set(error, STATUS_FAILED, "no memory for the tasks' calling contexts");
}
