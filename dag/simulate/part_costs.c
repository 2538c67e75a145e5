// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/part_costs.h"

#include "dag/edge.h"
#include "dag/ns.h"
#include "dag/order.h"
#include "dag/simulate/cold_code.h"
#include "dag/simulate/pacing.h"

#include <stdlib.h>

struct body {
    int64_t total_ns, compute_ns, queued_ns, asleep_ns; // asleep: 0 in a trace that measures no computing
};

static struct body body_of(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    struct body body = {.total_ns = vertices->time_ns[task->end] - vertices->time_ns[task->start]};
    for (uint32_t v = task->start + 1; v <= task->end && vertices->compute_ns; v++) {
        body.compute_ns += vertices->compute_ns[v];
        body.queued_ns += vertices->queued_ns ? vertices->queued_ns[v] : 0;
        body.asleep_ns += edge_asleep_ns(dag, v, vertices->time_ns[v - 1]);
    }
    return body;
}

// ---- found once

static bool is_spawned(const struct dag_task *task) {
    return task->spawn_begin != DAG_NONE && !(task->flags & TASK_NESTED);
}

static bool sort_by_spawn(const struct dag *dag, struct order_key *keys, struct part_costs *costs) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (is_spawned(&dag->tasks[t]))
            keys[count++] = (struct order_key){dag->vertices.time_ns[dag->tasks[t].spawn_begin], t, t};
    }
    if (!order_sort(keys, count)) return false;
    for (uint32_t i = 0; i < count; i++) costs->by_spawn[i] = keys[i].item;
    costs->spawned_count = count;
    return true;
}

struct site_sleep {
    uint32_t count, passed;
    int64_t usual_ns; // a quarter sleep as long or longer
};

static bool can_sleep(const struct dag_task *task) {
    return task->start != DAG_NONE && task->site != DAG_NONE && !(task->flags & (TASK_UNFINISHED | TASK_NESTED));
}

static bool find_usual(const struct dag *dag, struct order_key *keys, struct site_sleep *sites) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!can_sleep(&dag->tasks[t])) continue;
        sites[dag->tasks[t].site].count++;
        keys[count++] = (struct order_key){body_of(dag, &dag->tasks[t]).asleep_ns, t, t};
    }
    if (!order_sort(keys, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        struct site_sleep *site = &sites[dag->tasks[keys[i].item].site];
        if (site->passed++ == (uint64_t)3 * site->count / 4) site->usual_ns = keys[i].time_ns;
    }
    return true;
}

static bool find_sleeps(const struct dag *dag, struct order_key *keys, struct part_costs *costs) {
    struct site_sleep *sites = calloc((size_t)dag->site_count + 1, sizeof *sites);
    const bool ok = sites && find_usual(dag, keys, sites);
    for (uint32_t t = 0; ok && t < dag->task_count; t++)
        costs->site_sleep_ns[t] = can_sleep(&dag->tasks[t]) ? sites[dag->tasks[t].site].usual_ns : INT64_MAX;
    free(sites);
    return ok;
}

static bool is_pace_known(const struct simulation *sim) {
    return sim->recorded.pacing && sim->recorded.pacing->pace.known;
}

static float pace_of(const struct pacing *pacing, const struct dag *dag, const struct dag_task *task) {
    double work_ns = 0, computed_ns = 0;
    if (task->start == DAG_NONE) return (float)pacing->mean;
    for (uint32_t v = task->start + 1; v <= task->end; v++) {
        const double edge_ns = (double)dag->vertices.compute_ns[v];
        work_ns += edge_ns * pacing->edge_pace[v];
        computed_ns += edge_ns;
    }
    return (float)(computed_ns > 0 ? work_ns / computed_ns : pacing->mean);
}

static void find_paces(const struct pacing *pacing, const struct dag *dag, struct part_costs *costs) {
    for (uint32_t t = 0; t < dag->task_count; t++) costs->pace[t] = pace_of(pacing, dag, &dag->tasks[t]);
}

void part_costs_free(struct simulation *sim) {
    free(sim->part_costs.pace);
    free(sim->part_costs.hand_over);
    free(sim->part_costs.site_sleep_ns);
    free(sim->part_costs.by_spawn);
    sim->part_costs = (struct part_costs){0};
}

static bool find_once(struct simulation *sim) {
    struct part_costs *costs = &sim->part_costs;
    if (costs->hand_over) return true;
    const size_t tasks = (size_t)sim->dag->task_count + 1;
    struct order_key *keys = malloc(tasks * sizeof *keys);
    costs->pace = malloc(tasks * sizeof *costs->pace);
    costs->hand_over = malloc(tasks * sizeof *costs->hand_over);
    costs->site_sleep_ns = malloc(tasks * sizeof *costs->site_sleep_ns);
    costs->by_spawn = malloc(tasks * sizeof *costs->by_spawn);
    bool ok = keys && costs->pace && costs->hand_over && costs->site_sleep_ns && costs->by_spawn;
    ok = ok && sort_by_spawn(sim->dag, keys, costs) && find_sleeps(sim->dag, keys, costs);
    if (ok && is_pace_known(sim)) find_paces(sim->recorded.pacing, sim->dag, costs);
    free(keys);
    if (!ok) part_costs_free(sim);
    return ok;
}

// ---- of a run

// How hand-overs get cheaper is not known where nothing tells of compilers, or code was compiled before the recording.
static bool is_learning_known(const struct simulation *sim) {
    return sim->shares && sim->recorded.pacing && !dag_ran_before(sim->dag->trace);
}

void part_costs_begin_run(struct simulation *sim) {
    if (!find_once(sim)) {
        sim->no_memory = true;
        return;
    }
    const struct part_costs *costs = &sim->part_costs;
    const bool known = is_learning_known(sim);
    double before = 0;
    for (uint32_t i = 0; i < costs->spawned_count; i++) {
        const uint32_t t = costs->by_spawn[i];
        const double count = sim->edit->parts[t] ? sim->edit->parts[t] : 1;
        costs->hand_over[t] = known ? (float)cold_code_added(costs->spawned_count, before, count) : 1;
        before += count;
    }
}

double part_costs_pace(const struct simulation *sim, uint32_t job) {
    const uint32_t task = job_task(sim, job);
    return sim->edit->parts[task] && sim->part_costs.pace ? sim->part_costs.pace[task] : sim->recorded.pacing->mean;
}

static bool is_part(const struct simulation *sim, uint32_t job) {
    return job >= sim->dag->task_count && sim->edit->parts[job_task(sim, job)] && sim->part_costs.hand_over;
}

double part_costs_hand_over(const struct simulation *sim, uint32_t job) {
    return is_part(sim, job) ? sim->part_costs.hand_over[job_task(sim, job)] : 1;
}

static int64_t share(int64_t total, int64_t part, int64_t parts) {
    return total * (part + 1) / parts - total * part / parts;
}

struct part_body part_costs_body(const struct simulation *sim, uint32_t job) {
    const uint32_t task = job_task(sim, job);
    const struct body body = body_of(sim->dag, &sim->dag->tasks[task]);
    const int64_t moving_ns = sim->shares ? body.compute_ns : body.total_ns - body.asleep_ns;
    const int64_t queued_ns = sim->shares ? 0 : body.queued_ns;
    if (!is_part(sim, job)) return (struct part_body){moving_ns + body.asleep_ns, body.compute_ns, queued_ns};
    const uint32_t part = sim->regroup.part_number[job - sim->dag->task_count], parts = sim->edit->parts[task];
    const int64_t sleep_ns = min_ns(body.asleep_ns, sim->part_costs.site_sleep_ns[task]);
    const int64_t once_ns = body.asleep_ns - sleep_ns;
    return (struct part_body){sleep_ns + share(moving_ns, part, parts) + share(once_ns, part, parts),
                              share(body.compute_ns, part, parts), share(queued_ns, part, parts)};
}
