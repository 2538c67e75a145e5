// SPDX-License-Identifier: GPL-3.0-or-later
// Who slept for what is done but once: where several tasks of a site begin together, the first of them initialises the
// classes that they all use, and the others sleep until it has. That is no wait that a tracer can see, and so looks
// like sleep of their own, which they would sleep again whenever they ran.
//
// What tells it, of a site's early tasks, which began before any of them had ended:
//   - others came later, so that what these compute and sleep is what all do, early or not;
//   - one of the early ones computed more than any of these: the surplus is what it did for the first time;
//   - all other early ones slept more than any of these: the surplus is what they were held up;
//   - none longer than the one was awake for its surplus, and each of them for most of the time until all went on.
// What a program sleeps anyway fails one of these, or is of the size of what a first execution costs.
#include "dag/simulate/first_use.h"

#include "dag/edge.h"
#include "dag/edit/body.h"
#include "dag/propagate/rules.h"

#include <stdlib.h>

enum { LATER_LEAST = 8, LATER_MOST = 64 }; // so many tell what is usual

struct nature { // of a task, its own edges alone
    int64_t compute_ns, queued_ns, asleep_ns;
    uint32_t sleeper; // where the edge ends that slept most of what computed, too; DAG_NONE
};

struct early {                                 // tasks of a site, and what tells of them
    uint32_t first;                            // to begin, DAG_NONE
    int64_t first_end_ns;                      // of any of them
    uint32_t later;                            // how many began after that
    int64_t later_compute_ns, later_asleep_ns; // the most of any of these
    uint32_t initialiser;                      // the one that computed most, if that is more
    int64_t most_ns, surplus_ns;               // so much, and how long it was awake for what was more
    int64_t until_ns;                          // when the last of those held up went on
    bool refuted;
};

static int64_t time_of(const struct dag *dag, uint32_t vertex) {
    return dag->vertices.time_ns[vertex];
}

static bool is_eligible(const struct dag *dag, const struct dag_task *task) {
    const unsigned odd = TASK_UNFINISHED | TASK_NESTED | TASK_BEGUN_BEFORE | TASK_MAIN;
    return task->site < dag->site_count && task->start != DAG_NONE && !(task->flags & odd);
}

static struct nature nature_of(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    struct nature nature = {.sleeper = DAG_NONE};
    int64_t most_ns = 0;
    for (uint32_t before = task->start, v; before < task->end; before = v) {
        v = body_next(dag, before);
        if (v != before + 1 || vertices->cause[v] != DAG_NONE || vertices->rule[v] != RULE_RUN) continue;
        int64_t asleep_ns = edge_asleep_ns(dag, v, time_of(dag, before));
        nature.compute_ns += vertices->compute_ns[v];
        nature.queued_ns += vertices->queued_ns ? vertices->queued_ns[v] : 0;
        nature.asleep_ns += asleep_ns;
        if (vertices->compute_ns[v] == 0 || asleep_ns <= most_ns) continue;
        most_ns = asleep_ns;
        nature.sleeper = v;
    }
    return nature;
}

static void find_firsts(const struct dag *dag, struct early *sites) {
    for (uint32_t s = 0; s < dag->site_count; s++) {
        sites[s].first = DAG_NONE;
        sites[s].first_end_ns = INT64_MAX;
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!is_eligible(dag, task)) continue;
        struct early *site = &sites[task->site];
        uint32_t *first = &site->first;
        if (*first == DAG_NONE || time_of(dag, task->start) < time_of(dag, dag->tasks[*first].start)) *first = t;
        site->first_end_ns = min_ns(site->first_end_ns, time_of(dag, task->end));
    }
}

static bool came_later(const struct dag *dag, const struct early *site, const struct dag_task *task) {
    return time_of(dag, task->start) >= site->first_end_ns;
}

static void find_usual(const struct dag *dag, struct early *sites) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        struct early *site = is_eligible(dag, task) ? &sites[task->site] : NULL;
        if (!site || site->later == LATER_MOST || !came_later(dag, site, task)) continue;
        struct nature nature = nature_of(dag, task);
        site->later++;
        site->later_compute_ns = max_ns(site->later_compute_ns, nature.compute_ns);
        site->later_asleep_ns = max_ns(site->later_asleep_ns, nature.asleep_ns);
    }
}

static bool is_early(const struct dag *dag, const struct early *site, const struct dag_task *task) {
    return site->later >= LATER_LEAST && !came_later(dag, site, task);
}

static void find_initialisers(const struct dag *dag, struct early *sites) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        struct early *site = is_eligible(dag, task) ? &sites[task->site] : NULL;
        if (!site || !is_early(dag, site, task)) continue;
        struct nature nature = nature_of(dag, task);
        int64_t more_ns = nature.compute_ns - site->later_compute_ns, awake_ns = nature.compute_ns + nature.queued_ns;
        if (more_ns <= 0 || nature.compute_ns <= site->most_ns) continue;
        site->most_ns = nature.compute_ns;
        site->initialiser = t;
        site->surplus_ns = (int64_t)((double)more_ns * (double)awake_ns / (double)nature.compute_ns);
    }
}

static bool add(struct first_uses *first_uses, struct first_use first_use) {
    uint32_t count = first_uses->count;
    bool full = (count & (count - 1)) == 0; // grows at powers of two
    struct first_use *moved =
        full ? realloc(first_uses->items, 2 * ((size_t)count + 1) * sizeof *moved) : first_uses->items;
    if (!moved) return false;
    first_uses->items = moved;
    first_uses->items[first_uses->count++] = first_use;
    return true;
}

static bool add_candidates(const struct dag *dag, struct early *sites, struct first_uses *first_uses) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        struct early *site = is_eligible(dag, task) ? &sites[task->site] : NULL;
        if (!site || site->refuted || site->surplus_ns == 0 || site->initialiser == t) continue;
        if (!is_early(dag, site, task)) continue;
        struct nature nature = nature_of(dag, task);
        int64_t held_ns = nature.asleep_ns - site->later_asleep_ns;
        site->refuted = held_ns <= 0 || held_ns > site->surplus_ns || nature.sleeper == DAG_NONE;
        if (site->refuted) continue;
        uint32_t v = nature.sleeper;
        held_ns = min_ns(held_ns, edge_asleep_ns(dag, v, time_of(dag, v - 1)));
        site->until_ns = max_ns(site->until_ns, time_of(dag, v - 1) + held_ns);
        if (!add(first_uses, (struct first_use){.vertex = v, .first = site->first, .held_ns = held_ns})) return false;
    }
    return true;
}

static void refute(const struct dag *dag, struct early *sites, const struct first_uses *first_uses) {
    for (uint32_t i = 0; i < first_uses->count; i++) {
        const struct first_use *first_use = &first_uses->items[i];
        struct early *site = &sites[dag->tasks[first_use->first].site];
        int64_t might_ns = site->until_ns - time_of(dag, first_use->vertex - 1);
        site->refuted |= 2 * first_use->held_ns < might_ns;
    }
}

static int by_vertex(const void *a, const void *b) {
    const struct first_use *x = a, *y = b;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static void keep_what_holds(const struct dag *dag, const struct early *sites, struct first_uses *first_uses) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < first_uses->count; i++) {
        struct first_use *first_use = &first_uses->items[i];
        const struct early *site = &sites[dag->tasks[first_use->first].site];
        if (site->refuted) continue;
        first_use->until_ns = site->until_ns - time_of(dag, dag->tasks[first_use->first].start);
        first_uses->items[kept++] = *first_use;
    }
    first_uses->count = kept;
    if (kept) qsort(first_uses->items, kept, sizeof *first_uses->items, by_vertex);
}

bool first_use_measure(const struct dag *dag, struct first_uses *first_uses) {
    if (!dag->vertices.compute_ns) return true;
    struct early *sites = calloc((size_t)dag->site_count + 1, sizeof *sites);
    if (!sites) return false;
    find_firsts(dag, sites);
    find_usual(dag, sites);
    find_initialisers(dag, sites);
    bool ok = add_candidates(dag, sites, first_uses);
    refute(dag, sites, first_uses);
    keep_what_holds(dag, sites, first_uses);
    free(sites);
    return ok;
}

const struct first_use *first_use_of(const struct first_uses *first_uses, uint32_t vertex) {
    struct first_use key = {.vertex = vertex};
    if (!first_uses->count) return NULL;
    return bsearch(&key, first_uses->items, first_uses->count, sizeof key, by_vertex);
}
