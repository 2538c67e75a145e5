// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/candidates.h"

#include <stdlib.h>
#include <string.h>

static bool is_spawned_at(const struct dag_task *task, uint32_t site, uint32_t context) {
    return task->site == site && (context == DAG_NONE || task->context == context) && !(task->flags & TASK_NESTED);
}

static void set_facts(struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    improvement->shares_line = improvement_shares_line(dag, &dag->sites[improvement->site].site, improvement->site);
    improvement->refusal = NULL;
    for (uint32_t i = 0; i < improvement->task_count && !improvement->refusal; i++) {
        improvement->refusal = dag_inline_refusal(dag, improvement->tasks[i]);
    }
}

bool candidates_fill(struct improvement *improvement, struct arena *arena) {
    const struct dag *dag = improvement->dag;
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        count += is_spawned_at(&dag->tasks[t], improvement->site, improvement->context);
    }
    uint32_t *tasks = ARENA_NEW(arena, uint32_t, (size_t)count + 1);
    if (!tasks) return false;
    improvement->tasks = tasks;
    improvement->task_count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (is_spawned_at(&dag->tasks[t], improvement->site, improvement->context)) {
            tasks[improvement->task_count++] = t;
        }
    }
    set_facts(improvement);
    return true;
}

struct spawned {
    uint32_t site, context, task;
};

static int compare_spawned(const void *a, const void *b) {
    const struct spawned *left = a, *right = b;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    if (left->context != right->context) return left->context < right->context ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool add(const struct dag *dag, struct arena *arena, const struct spawned *spawned, size_t count,
                uint32_t context, struct improvement *improvement) {
    uint32_t *tasks = ARENA_NEW(arena, uint32_t, count);
    if (!tasks) return false;
    for (size_t i = 0; i < count; i++) tasks[i] = spawned[i].task;
    qsort(tasks, count, sizeof *tasks, compare_numbers);
    *improvement = (struct improvement){.kind = KIND_INLINE,
                                        .dag = dag,
                                        .site = spawned[0].site,
                                        .context = context,
                                        .tasks = tasks,
                                        .task_count = (uint32_t)count};
    set_facts(improvement);
    return true;
}

// The run of equal sites (or of equal sites and contexts) that begins at `first`.
static size_t run_end(const struct spawned *spawned, size_t first, size_t count, bool contexts) {
    size_t end = first + 1;
    while (end < count && spawned[end].site == spawned[first].site &&
           (!contexts || spawned[end].context == spawned[first].context)) {
        end++;
    }
    return end;
}

static bool add_site(const struct dag *dag, struct arena *arena, const struct spawned *spawned, size_t count,
                     struct improvement *improvements, size_t *found) {
    if (!add(dag, arena, spawned, count, DAG_NONE, &improvements[(*found)++])) return false;
    if (run_end(spawned, 0, count, true) == count) return true;
    for (size_t first = 0, end; first < count; first = end) {
        end = run_end(spawned, first, count, true);
        if (!add(dag, arena, &spawned[first], end - first, spawned[first].context, &improvements[(*found)++]))
            return false;
    }
    return true;
}

static size_t list_spawned(const struct dag *dag, struct spawned *spawned) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site == DAG_NONE || task->flags & TASK_NESTED) continue;
        spawned[count++] = (struct spawned){task->site, task->context, t};
    }
    qsort(spawned, count, sizeof *spawned, compare_spawned);
    return count;
}

bool candidates_find(const struct dag *dag, struct arena *arena, struct improvement **improvements, size_t *count,
                     struct error *error) {
    struct spawned *spawned = malloc(((size_t)dag->task_count + 1) * sizeof *spawned);
    if (!spawned) return error_set(error, STATUS_FAILED, "no memory for candidates");
    size_t spawned_count = list_spawned(dag, spawned);
    *improvements = ARENA_NEW(arena, struct improvement, 2 * spawned_count + 1); // a site and a context each at most
    *count = 0;
    bool done = *improvements;
    for (size_t first = 0, end; done && first < spawned_count; first = end) {
        end = run_end(spawned, first, spawned_count, false);
        done = add_site(dag, arena, &spawned[first], end - first, *improvements, count);
    }
    free(spawned);
    return done || error_set(error, STATUS_FAILED, "no memory for candidates");
}

// Several DAGs

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_site(const struct trace_site *a, const struct trace_site *b) {
    return a->bci == b->bci && (a->bci >= 0 || a->line == b->line) && is_same_text(a->class_name, b->class_name) &&
           is_same_text(a->method, b->method) && is_same_text(a->descriptor, b->descriptor);
}

// Of two versions of a class that one JVM loaded, the one with the line wanted.
static uint32_t find_site(const struct dag *dag, const struct trace_site *wanted) {
    uint32_t found = DAG_NONE;
    for (uint32_t s = 0; s < dag->site_count; s++) {
        const struct trace_site *site = &dag->sites[s].site;
        if (!is_same_site(site, wanted)) continue;
        if (site->line == wanted->line) return s;
        if (found == DAG_NONE) found = s;
    }
    return found;
}

static bool is_same_context(const struct dag *a, const struct dag_context *here, const struct dag *b,
                            const struct dag_context *there) {
    bool same = here->length == there->length;
    for (uint32_t i = 0; same && i < here->length; i++) {
        const struct trace_method *left = &a->trace->methods[here->methods[i]];
        const struct trace_method *right = &b->trace->methods[there->methods[i]];
        same = is_same_text(left->class_name, right->class_name) && is_same_text(left->name, right->name) &&
               is_same_text(left->descriptor, right->descriptor);
    }
    return same;
}

static uint32_t find_context(const struct dag *dag, const struct dag *other, uint32_t wanted) {
    for (uint32_t c = 0; c < dag->context_count; c++) {
        if (is_same_context(dag, &dag->contexts[c], other, &other->contexts[wanted])) return c;
    }
    return DAG_NONE;
}

// What `offered` is in another DAG.
static bool translate(const struct improvement *offered, const struct dag *dag, struct arena *arena,
                      struct improvement *improvement) {
    const bool all_contexts = offered->context == DAG_NONE;
    uint32_t context = all_contexts ? DAG_NONE : find_context(dag, offered->dag, offered->context);
    *improvement = (struct improvement){.kind = offered->kind, .dag = dag, .site = DAG_NONE, .context = context};
    if (!all_contexts && context == DAG_NONE) return true;
    improvement->site = find_site(dag, &offered->dag->sites[offered->site].site);
    if (improvement->site == DAG_NONE) return true;
    if (!candidates_fill(improvement, arena)) return false;
    if (improvement->task_count == 0) improvement->site = DAG_NONE;
    return true;
}

struct joining {
    const struct dag *const *dags;
    size_t dag_count;
    struct arena *arena;
    struct improvement *improvements;
    size_t count;
};

// A name must tell sites of one line apart even where no single DAG has both.
static void share_lines(const struct joining *joining, struct improvement *row, const struct trace_site *site) {
    bool shared = false;
    for (size_t d = 0; d < joining->dag_count; d++) {
        shared |= improvement_shares_line(joining->dags[d], site, find_site(joining->dags[d], site));
    }
    for (size_t d = 0; d < joining->dag_count; d++) row[d].shares_line = shared;
}

static bool is_known(const struct joining *joining, const struct improvement *offered, size_t dag) {
    for (size_t c = 0; c < joining->count; c++) {
        const struct improvement *known = &joining->improvements[c * joining->dag_count + dag];
        if (known->site == offered->site && known->context == offered->context) return true;
    }
    return false;
}

static bool add_row(struct joining *joining, const struct improvement *offered, size_t dag) {
    struct improvement *row = &joining->improvements[joining->count++ * joining->dag_count];
    for (size_t d = 0; d < joining->dag_count; d++) {
        if (d == dag)
            row[d] = *offered;
        else if (!translate(offered, joining->dags[d], joining->arena, &row[d]))
            return false;
    }
    share_lines(joining, row, &offered->dag->sites[offered->site].site);
    return true;
}

static bool join(struct joining *joining, struct improvement *const *offered, const size_t *counts) {
    for (size_t d = 0; d < joining->dag_count; d++) {
        for (size_t i = 0; i < counts[d]; i++) {
            if (!is_known(joining, &offered[d][i], d) && !add_row(joining, &offered[d][i], d)) return false;
        }
    }
    return true;
}

bool candidates_join(const struct dag *const *dags, size_t dag_count, struct arena *arena,
                     struct improvement **improvements, size_t *count, struct error *error) {
    struct improvement **offered = ARENA_NEW(arena, struct improvement *, dag_count);
    size_t *counts = ARENA_NEW(arena, size_t, dag_count), most = 0;
    if (!offered || !counts) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t d = 0; d < dag_count; d++) {
        if (!candidates_find(dags[d], arena, &offered[d], &counts[d], error)) return false;
        most += counts[d];
    }
    struct joining joining = {.dags = dags, .dag_count = dag_count, .arena = arena};
    joining.improvements = ARENA_NEW(arena, struct improvement, most * dag_count + 1);
    if (!joining.improvements || !join(&joining, offered, counts)) {
        return error_set(error, STATUS_FAILED, "no memory for candidates");
    }
    *improvements = joining.improvements;
    *count = joining.count;
    return true;
}
