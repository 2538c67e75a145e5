// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads, where threads share the cores: a virtual thread computes on a carrier, and keeps that
// until it sleeps, since virtual threads do not share time (JEP 444). A pinned one keeps its carrier while it sleeps,
// too: for as long as it did when recorded, or, where it waits for another thread, until that wait is over. There are
// as many as the scheduler's parallelism, or on other cores as many as these; whatever is ready when all are taken
// waits in the order in which it became so.
#include "dag/simulate/carriers.h"

#include "dag/ns.h"
#include "dag/simulate/computing.h"

#include <math.h>

bool carriers_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    while (dag->origin) dag = dag->origin;
    sim->carriers.pins = dag->pinned_ns;
    return events_reserve(&sim->events, SUBJECT_CARRIER, sim->carriers.pins ? sim->dag->thread_count + 1 : 1);
}

// As a plan says, or as many as the model's cores, or as recorded.
static int64_t count_of(const struct simulation *sim, double cores) {
    const struct dag *dag = sim->dag;
    const int64_t planned = dag->carriers ? sim->edit->resource_units[dag->carriers - 1] : 0;
    if (planned > 0) return planned;
    if (cores > 0 && cores < UINT32_MAX) return (int64_t)ceil(cores);
    return dag->carriers ? dag->resources[dag->carriers - 1].capacity : 0;
}

void carriers_begin_run(struct simulation *sim, double cores) {
    const int64_t count = count_of(sim, cores);
    sim->carriers.count = count;
    sim->carriers.idle = count > 0 && count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    sim->carriers.first = sim->carriers.last = DAG_NONE;
}

bool carrier_take(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    struct carriers *carriers = &sim->carriers;
    bool wants = process_is_virtual(sim, index) && !process->carried;
    if (!wants) return true;
    process->carried = carriers->idle > 0;
    carriers->idle -= process->carried;
    if (process->carried) return true;
    process->carrier_next = DAG_NONE;
    *(carriers->last != DAG_NONE ? &sim->processes[carriers->last].carrier_next : &carriers->first) = index;
    carriers->last = index;
    return false;
}

// To the next that is ready.
static void give_back(struct simulation *sim, uint32_t index) {
    struct carriers *carriers = &sim->carriers;
    uint32_t next = carriers->first;
    sim->processes[index].carried = false;
    carriers->idle += next == DAG_NONE;
    if (next == DAG_NONE) return;
    struct process *process = &sim->processes[next];
    carriers->first = process->carrier_next;
    if (carriers->first == DAG_NONE) carriers->last = DAG_NONE;
    process->carried = true;
    process->edge.state = EDGE_COMPUTES;
    int64_t now_ns = max_ns(sim->clock_ns, sim->cores.since_ns);
    cores_join(&sim->cores, next, now_ns, process_demand(sim, process));
}

// Of a wait that there was none of when recorded nothing tells that it would be pinned in it.
static bool waits_anew(const struct simulation *sim, const struct process *process) {
    return process->wait.state != ASK_NOT && sim->dag->vertices.kind[process->vertex] == VERTEX_HELD;
}

// For how much of a sleep on the way to its next vertex, of so long a one, it keeps its carrier.
static int64_t pinned_ns(const struct simulation *sim, const struct process *process, int64_t asleep_ns) {
    bool may_be = sim->carriers.pins && process->vertex < STEP_LEAST && !waits_anew(sim, process);
    return may_be ? dag_pinned_ns(sim->dag, process->vertex, asleep_ns) : 0;
}

void carrier_keep(struct simulation *sim, uint32_t index, int64_t time_ns) {
    struct process *process = &sim->processes[index];
    const int64_t asleep_ns = process->edge.state == EDGE_COMPUTED ? process->edge.asleep_ns : 0;
    if (pinned_ns(sim, process, INT64_MAX) == 0) return;
    process->pinned_until_ns = time_ns - max_ns(asleep_ns - pinned_ns(sim, process, asleep_ns), 0);
}

static bool goes_on_computing(const struct simulation *sim, const struct process *process) {
    return process->edge.state == EDGE_COMPUTES ||
           (process->edge.state == EDGE_WAKES && process->edge.joins_ns <= sim->clock_ns);
}

// Whether it is in a wait for another thread. One that is about to compute up to its next vertex, and has yet to come
// to the one before it, is in none.
static bool waits(const struct process *process) {
    const struct process_edge *edge = &process->edge;
    bool wakes = edge->state == EDGE_WAKES && edge->joins_ns > process->now_ns + process->lead.ns;
    return process->life == LIFE_RUNS && ((edge->state == EDGE_AHEAD && !process->timed) || wakes);
}

// INT64_MAX: as long as it waits.
static int64_t pinned_until_ns(const struct simulation *sim, const struct process *process) {
    const int64_t own_ns = waits(process) ? pinned_ns(sim, process, INT64_MAX) : 0;
    if (own_ns == INT64_MAX) return INT64_MAX;
    return own_ns ? max_ns(process->pinned_until_ns, process->now_ns + own_ns) : process->pinned_until_ns;
}

void carrier_unpin(struct simulation *sim, uint32_t index) {
    if (!goes_on_computing(sim, &sim->processes[index])) give_back(sim, index);
}

// One that is pinned until now may have its turn at the same time, which comes first.
void carrier_settle(struct simulation *sim, uint32_t index) {
    const struct process *process = &sim->processes[index];
    if (sim->carriers.pins) event_remove(&sim->events, SUBJECT_CARRIER, index);
    if (goes_on_computing(sim, process)) return;
    const int64_t until_ns = sim->carriers.pins ? pinned_until_ns(sim, process) : INT64_MIN;
    if (until_ns == INT64_MAX) return;
    if (until_ns >= sim->clock_ns && sim->carriers.pins)
        event_put(&sim->events, NOTICE_UNPIN, index, until_ns);
    else
        give_back(sim, index);
}
