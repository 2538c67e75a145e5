// SPDX-License-Identifier: GPL-3.0-or-later
// What merging and inlining save beside brackets and pick-ups: what a program does once for each task, around handing
// it over.
//   making  what the spawner computed from a member's bracket to the next one's: allocating it, keeping its future
//   asking  what a waiter computed from the end of its wait for a member to the beginning of that for the next
//   ending  what the worker computed from a member's result to its end: no code of the task's own comes behind that
// The merged program does the first two once for each group, where its last member was spawned and its first waited
// for, and the third where that member ended. One whose tasks are inlined does none of it: what runs where it stands is
// not made, and its result is at hand. Between two tasks of which both are, that goes in CPU; in POOL, inlining takes
// away just what its equations say.
//
// Between two brackets there may be more than making: the program's work on each item, which stays. No trace tells the
// two apart, but making belongs to handing over and is taken to cost no more than that: of what the edges of a group
// computed in all, so much goes as its queued members' brackets and pick-ups did (which take longer before they are
// compiled, as making does), or for each the mean of its pool if that is more, or all of it if it is less; the same of
// asking. Of what is inlined it is so much of what the edges of a site's tasks computed in all. Each edge gives the
// same part of what it computed, and of its wait for a core; sleep stays. So short loops that do nothing but spawn are
// gone with the tasks, and the longer a loop's own work, the less it matters.
#include "dag/simulate/amortised.h"

#include "dag/ns.h"
#include "dag/simulate/hand_over.h"

#include <stdlib.h>
#include <string.h>

bool amortised_new(struct simulation *sim) {
    size_t tasks = (size_t)sim->dag->task_count + 1;
    sim->regroup.making = calloc(tasks, sizeof *sim->regroup.making);
    sim->regroup.asking = calloc(tasks, sizeof *sim->regroup.asking);
    sim->regroup.sites = calloc((size_t)sim->dag->site_count + 1, sizeof *sim->regroup.sites);
    return sim->regroup.making && sim->regroup.asking && sim->regroup.sites;
}

void amortised_free(struct simulation *sim) {
    free(sim->regroup.making);
    free(sim->regroup.asking);
    free(sim->regroup.sites);
}

// What an edge computed, as far as that is known.
static int64_t computed_ns(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    return vertices->compute_ns ? vertices->compute_ns[v] : vertices->time_ns[v] - vertices->time_ns[v - 1];
}

static bool is_inlined(const struct simulation *sim, uint32_t task) {
    return sim->shares && sim->placement[task] == PLACEMENT_INLINED;
}

// Whether an edge leads from what a member names to what the member after it names, or between two that are inlined.
static bool leads_on(const struct simulation *sim, uint32_t v, enum vertex_kind from, enum vertex_kind to) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (vertices->kind[v] != to || v == 0 || vertices->kind[v - 1] != from) return false;
    uint32_t before = vertices->task[v - 1], after = vertices->task[v];
    if (before == DAG_NONE || after == DAG_NONE || before == after) return false;
    return sim->edit->merged_next[before] == after || (is_inlined(sim, before) && is_inlined(sim, after));
}

static bool is_making(const struct simulation *sim, uint32_t v) {
    return leads_on(sim, v, VERTEX_SPAWN_END, VERTEX_SPAWN_BEGIN);
}

static bool is_asking(const struct simulation *sim, uint32_t v) {
    return leads_on(sim, v, VERTEX_WAIT_END, VERTEX_WAIT_BEGIN);
}

static bool is_ending(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t task = vertices->task[v];
    return vertices->kind[v] == VERTEX_END && task != DAG_NONE &&
           (sim->placement[task] == PLACEMENT_MERGED || is_inlined(sim, task)) && sim->dag->tasks[task].end == v &&
           sim->dag->tasks[task].result + 1 == v;
}

static void sum_edges_up(struct simulation *sim) {
    size_t tasks = sim->dag->task_count;
    memset(sim->regroup.making, 0, tasks * sizeof *sim->regroup.making);
    memset(sim->regroup.asking, 0, tasks * sizeof *sim->regroup.asking);
    for (uint32_t v = 1; v < sim->dag->vertex_count; v++) {
        if (is_making(sim, v))
            sim->regroup.making[sim->dag->vertices.task[v]] += (double)computed_ns(sim->dag, v);
        else if (is_asking(sim, v))
            sim->regroup.asking[sim->dag->vertices.task[v]] += (double)computed_ns(sim->dag, v);
    }
}

// What was computed to hand a queued task over and take it up, or what that costs its pool on the mean, if that is
// more.
static double hand_over_ns(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    int64_t mean_ns = mean_bracket(sim, index, DISPATCH_QUEUED) + mean_pickup(sim, index, DISPATCH_QUEUED);
    if (task->dispatch != DISPATCH_QUEUED || task->spawn_begin == DAG_NONE) return (double)mean_ns;
    int64_t own_ns = sim->costs->pickup_ns[index];
    for (uint32_t v = task->spawn_begin + 1; v <= task->spawn_end; v++) own_ns += computed_ns(sim->dag, v);
    return (double)max_ns(mean_ns, own_ns);
}

// From what each of a group's edges computed to the part of it that goes, the same for all.
static void share_in_group(const struct simulation *sim, uint32_t first, double *of_task) {
    const uint32_t *next = sim->edit->merged_next;
    double total_ns = 0, most_ns = 0;
    for (uint32_t t = first; next[t] != t; t = next[t]) {
        total_ns += of_task[next[t]];
        most_ns += hand_over_ns(sim, next[t]);
    }
    double part = total_ns > most_ns ? most_ns / total_ns : 1;
    for (uint32_t t = first; next[t] != t; t = next[t]) of_task[next[t]] = part;
}

// From what the edges of a site's inlined tasks computed to the part of it that goes.
static void share_in_sites(const struct simulation *sim, double *of_task) {
    const struct dag *dag = sim->dag;
    struct site_share *sites = sim->regroup.sites;
    memset(sites, 0, ((size_t)dag->site_count + 1) * sizeof *sites);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!is_inlined(sim, t) || of_task[t] <= 0) continue;
        struct site_share *site = &sites[dag->tasks[t].site < dag->site_count ? dag->tasks[t].site : dag->site_count];
        site->total_ns += of_task[t];
        site->most_ns += hand_over_ns(sim, t);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!is_inlined(sim, t)) continue;
        const struct site_share *site =
            &sites[dag->tasks[t].site < dag->site_count ? dag->tasks[t].site : dag->site_count];
        of_task[t] = site->total_ns > site->most_ns ? site->most_ns / site->total_ns : 1;
    }
}

void amortised_begin_run(struct simulation *sim) {
    const bool inlines = sim->edit->inlined_count && sim->shares;
    sim->regroup.amortises = (sim->edit->merged_count || inlines) && corrects(sim, CORRECTION_AMORTISED);
    if (!sim->regroup.amortises) return;
    sum_edges_up(sim);
    if (inlines) {
        share_in_sites(sim, sim->regroup.making);
        share_in_sites(sim, sim->regroup.asking);
    }
    for (uint32_t t = 0; t < sim->dag->task_count; t++) {
        if (!ends_group(sim, t)) continue;
        share_in_group(sim, sim->regroup.group_first[t], sim->regroup.making);
        share_in_group(sim, sim->regroup.group_first[t], sim->regroup.asking);
    }
}

double amortised_part(const struct simulation *sim, uint32_t v) {
    if (!sim->regroup.amortises || v >= STEP_LEAST) return 0;
    switch (sim->dag->vertices.kind[v]) {
    case VERTEX_SPAWN_BEGIN:
        return is_making(sim, v) ? sim->regroup.making[sim->dag->vertices.task[v]] : 0;
    case VERTEX_WAIT_BEGIN:
        return is_asking(sim, v) ? sim->regroup.asking[sim->dag->vertices.task[v]] : 0;
    case VERTEX_END:
        return is_ending(sim, v);
    default:
        return 0;
    }
}

// What is saved computes, as far as the edge does.
static struct amortised saving_of(const struct simulation *sim, uint32_t v) {
    const int64_t *queued_ns = sim->dag->vertices.queued_ns;
    const int64_t saved_ns = v < STEP_LEAST ? sim->saved_ns[v] : 0,
                  computed = min_ns(saved_ns, computed_ns(sim->dag, v));
    return (struct amortised){computed, queued_ns ? min_ns(saved_ns - computed, queued_ns[v]) : 0};
}

struct amortised amortised_saving(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (sim->saves && v < STEP_LEAST && sim->saved_ns[v]) return saving_of(sim, v);
    double part = amortised_part(sim, v);
    if (part == 0) return (struct amortised){0, 0};
    int64_t queued_ns = vertices->queued_ns ? vertices->queued_ns[v] : 0;
    return (struct amortised){(int64_t)(part * (double)computed_ns(sim->dag, v)), (int64_t)(part * (double)queued_ns)};
}
