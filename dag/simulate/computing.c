// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: how long the edges of a run take when what is computed shares the cores.
#include "dag/simulate/computing.h"

#include "dag/edge.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/amortised.h"
#include "dag/simulate/awaits.h"
#include "dag/simulate/awake.h"
#include "dag/simulate/garbage.h"
#include "dag/simulate/next_vertex.h"
#include "dag/simulate/pacing.h"
#include "dag/simulate/part_costs.h"

#include <math.h>
#include <stdlib.h>

static void meet_pace(const struct simulation *sim, struct cores_recorded *met) {
    const struct pacing *pacing = sim->recorded.pacing;
    if (!pacing || !pacing->pace.known) return;
    met->pace = &pacing->pace;
    met->compiling = pacing->compiling;
    met->compiling_count = sim->dag->sample_count;
    met->compiled_ns = pacing->compiled_ns;
    met->compiled_before_ns = pacing->compiled_before_ns;
    met->compilers = pacing->compilers;
    met->uncompiled_part =
        cold_code_gone(&pacing->cold, sim->dag, sim->edit, pacing->compiled_ns - pacing->compiled_before_ns);
}

// Found anew for each run.
static void meet_pauses(struct simulation *sim, struct cores_recorded *met) {
    const uint32_t count = sim->dag->pause_count;
    met->pauses = sim->recorded.pauses;
    met->pause_count = count;
    if (!sim->pause_left) sim->pause_left = calloc((size_t)count + 1, sizeof *sim->pause_left);
    if (!sim->pause_left)
        sim->no_memory = true;
    else if (corrects(sim, CORRECTION_GARBAGE) && garbage_left(sim->dag, sim->edit, sim->pause_left))
        met->pause_left = sim->pause_left;
}

// At which what is computed next was when recorded; of what no task did, the recording's mean.
static double recorded_pace(const struct simulation *sim, const struct process *process) {
    const struct pacing *pacing = sim->recorded.pacing;
    if (!pacing || !pacing->pace.known) return 1;
    if (process->vertex < STEP_LEAST) return pacing->edge_pace[process->vertex];
    return process->vertex == STEP_CLAIM ? pacing->mean : part_costs_pace(sim, sim->frames[process->frame].task);
}

struct cores_demand process_demand(const struct simulation *sim, const struct process *process) {
    return (struct cores_demand){process->edge.compute_ns, process->edge.residual, recorded_pace(sim, process)};
}

void computing_begin_run(struct simulation *sim, const struct model *model) {
    const uint32_t recorded = sim->dag->trace->header.cores;
    double cores = model->cores > 0 ? model->cores : recorded;
    sim->shares = model->kind == MODEL_CPU && sim->dag->vertices.compute_ns;
    struct cores_recorded met = {.cores = recorded};
    if (sim->shares) {
        meet_pauses(sim, &met);
        met.background = sim->recorded.background;
        met.background_count = sim->dag->sample_count;
        meet_pace(sim, &met);
    }
    cores_begin(&sim->cores, cores > 0 ? cores : INFINITY, &met);
}

// ---- edges

// When what the vertex waits for comes; DAG_ABSENT where it waits for nothing any more.
static int64_t cause_time(const struct simulation *sim, const struct process *process) {
    uint32_t cause = await_cause(sim, process);
    if (cause == DAG_NONE || process->entered) return DAG_ABSENT;
    if (process->limited.outcome == AWAIT_GAVE_UP) return process->limited.up_ns;
    return sim->time_ns[cause];
}

// It begins to compute then, for so long, and then sleeps for the rest.
static bool begin_edge(struct process *process, int64_t joins_ns, int64_t length_ns, int64_t compute_ns,
                       struct cores_residual residual) {
    process->edge.joins_ns = joins_ns;
    process->edge.compute_ns = min_ns(compute_ns, length_ns);
    process->edge.asleep_ns = length_ns - process->edge.compute_ns;
    process->edge.residual = residual;
    return process->edge.compute_ns > 0 || residual.more_ns > 0;
}

// Whether the process sleeps at its next vertex for what was there when recorded.
static bool sleeps_anew(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex, cause = vertices->cause[v];
    if (vertices->kind[v] != VERTEX_WAIT_END || cause == DAG_NONE || !corrects(sim, CORRECTION_WAKING)) return false;
    return min_ns(vertices->time_ns[cause], vertices->time_ns[v]) <= sim->frames[process->frame].since_ns;
}

static bool is_virtual(const struct simulation *sim, const struct process *process) {
    return process_is_virtual(sim, (uint32_t)(process - sim->processes));
}

// What a process does when it is woken. On a carrier: whatever it then takes or does comes once it has one, though it
// computes nothing that is known.
static bool begin_woken(const struct simulation *sim, struct process *process, int64_t joins_ns, int64_t compute_ns,
                        struct cores_residual residual) {
    return begin_edge(process, joins_ns, compute_ns, compute_ns, residual) || is_virtual(sim, process);
}

// Of a vertex that sleeps for its cause: it is awake in the end, as it was, or as who slept was on the mean.
static bool begin_waking(struct simulation *sim, struct process *process, int64_t woken_ns, int64_t *time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex;
    int64_t late_ns = woken_ns == DAG_ABSENT ? 0 : max_ns(*time_ns - woken_ns, 0);
    int64_t queued_ns = vertices->queued_ns ? min_ns(vertices->queued_ns[v], late_ns) : 0;
    *time_ns -= queued_ns;
    if (vertices->rule[v] == RULE_BEGIN) {
        if (!is_virtual(sim, process)) return false;
        begin_edge(process, *time_ns, 0, 0, (struct cores_residual){0});
        return true; // it begins once it has a carrier, having computed nothing
    }
    int64_t own_ns = vertices->compute_ns[v], mean_ns = (int64_t)(sim->costs->waking.mean_ns + 0.5);
    int64_t compute_ns = min_ns(sleeps_anew(sim, process) ? max_ns(own_ns, mean_ns) : own_ns, late_ns - queued_ns);
    struct cores_residual residual = sim->recorded.residuals[v];
    if (queued_ns == 0 && residual.more_ns > 0) residual.more_ns = 0;
    return begin_woken(sim, process, *time_ns - compute_ns, compute_ns, residual);
}

// Whether it is the start of a body in whose pick-up nothing was computed: by one who slept until then.
static bool has_come(const struct simulation *sim, const struct process *process) {
    return process->entered && process->lead.compute_ns == 0 && !stealing_governs(sim, process->worker.pool);
}

// What had no wait when recorded computes what it does to wake up, on the mean.
static bool begin_waking_anew(const struct simulation *sim, struct process *process, const int64_t *time_ns) {
    int64_t late_ns = max_ns(*time_ns - process->wait.called_ns, 0),
            mean_ns = (int64_t)(sim->costs->waking.mean_ns + 0.5);
    int64_t compute_ns = min_ns(mean_ns, late_ns);
    return begin_woken(sim, process, *time_ns - compute_ns, compute_ns, (struct cores_residual){0});
}

// Whether it sleeps for what the recording does not tell, or until a time, and computes once that has come.
static bool wakes_by_itself(const struct simulation *sim, const struct process *process) {
    const uint32_t v = process->vertex;
    const bool anew = process->entered || process->lead.ns > 0 || is_virtual(sim, process);
    return !anew && sim->dag->vertices.cause[v] == DAG_NONE && awake_is_wakeup(sim->dag, v);
}

bool process_computes(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    const struct dag *dag = sim->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    struct process *process = &sim->processes[index];
    uint32_t v = process->vertex;
    struct cores_residual residual = process->lead.residual;
    if (v >= STEP_LEAST)
        return begin_edge(process, process->now_ns, process->lead.ns, process->lead.compute_ns, residual);
    if (process->wait.state == ASK_GRANTED_AT_ONCE) return false;
    if (process->wait.state != ASK_NOT && vertices->kind[v] == VERTEX_HELD)
        return begin_waking_anew(sim, process, time_ns);
    if (process->wait.state != ASK_NOT) return begin_waking(sim, process, process->wait.called_ns, time_ns);
    residual.slowdown = sim->recorded.residuals[v].slowdown;
    if (has_come(sim, process)) return begin_edge(process, *time_ns, 0, 0, residual); // and waits for a core
    int64_t cause_ns = cause_time(sim, process);
    if (cause_ns > process->now_ns + process->lead.ns || (vertices->rule[v] == RULE_BEGIN && !process->entered))
        return begin_waking(sim, process, cause_ns, time_ns);
    int64_t since_ns = sim->frames[process->frame].since_ns, own_ns = vertices->time_ns[v] - since_ns;
    int64_t compute_ns = own_ns ? vertices->compute_ns[v] : 0, edge_ns = *time_ns - process->now_ns;
    struct amortised amortised = amortised_of_edge(sim, process);
    edge_ns += amortised.compute_ns + amortised.queued_ns; // all that queued is to be left out, saved or not
    if (own_ns && edge_ns >= own_ns) {
        edge_ns -= own_ns - edge_own_ns(dag, v, since_ns);
        residual.more_ns +=
            (int64_t)((1 - amortised_part_of(sim, process)) * (double)sim->recorded.residuals[v].more_ns);
    }
    edge_ns = max_ns(edge_ns - amortised.compute_ns, 0);
    compute_ns -= amortised.compute_ns;
    *time_ns = process->now_ns + edge_ns;
    if (own_ns && wakes_by_itself(sim, process))
        return begin_edge(process, *time_ns - min_ns(compute_ns, edge_ns), min_ns(compute_ns, edge_ns), compute_ns,
                          residual);
    return begin_edge(process, process->now_ns, edge_ns, process->lead.compute_ns + compute_ns, residual);
}

// What an edge that was held up by its site's first task sleeps less, now that it sleeps only as long as that takes.
static int64_t spared_ns(const struct simulation *sim, const struct process *process) {
    const struct first_use *first_use = first_use_of(&sim->costs->first_uses, process->vertex);
    int64_t first_ns = sim->time_ns[sim->dag->tasks[first_use->first].start];
    if (first_ns == DAG_PENDING || first_ns == DAG_ABSENT) return 0;
    int64_t held_ns = max_ns(first_ns + first_use->until_ns - process->edge.joins_ns, 0);
    return min_ns(max_ns(first_use->held_ns - held_ns, 0), process->edge.asleep_ns);
}

int64_t process_computed_ns(const struct simulation *sim, const struct process *process) {
    bool held_up = process->vertex < STEP_LEAST && sim->recorded.traits[process->vertex] & TRAIT_HELD_UP;
    return process->edge.computed_ns + process->edge.asleep_ns - (held_up ? spared_ns(sim, process) : 0);
}
