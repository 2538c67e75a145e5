// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/passage.h"

#include "base/pages.h"
#include "dag/propagate/rules.h"

#include <stdlib.h>

static bool log_grow(struct passages *log) {
    uint32_t larger = log->capacity ? 2 * log->capacity : 8;
    struct passage *moved = realloc(log->items, larger * sizeof *moved);
    if (!moved) return false;
    pages_prefer_huge(moved, larger * sizeof *moved);
    log->items = moved;
    log->capacity = larger;
    return true;
}

bool processes_reserve(struct simulation *sim, uint32_t count) {
    if (count <= sim->process_capacity) return true;
    uint32_t larger = sim->process_capacity * 2 > count ? sim->process_capacity * 2 : count;
    struct process *processes = realloc(sim->processes, larger * sizeof *processes);
    if (processes) sim->processes = processes;
    uint32_t *next = realloc(sim->parking.next, larger * sizeof *next);
    if (next) sim->parking.next = next;
    struct passages *log = realloc(sim->log, larger * sizeof *log);
    if (log) sim->log = log;
    if (!processes || !next || !log) return false;
    if (!events_reserve(&sim->events, SUBJECT_PROCESS, larger) || !cores_reserve(&sim->cores, larger)) return false;
    for (uint32_t i = sim->process_capacity; i < larger; i++) log[i] = (struct passages){0};
    uint32_t i = sim->process_capacity;
    sim->process_capacity = larger;
    while (i < larger && log_grow(&log[i])) i++;
    return i == larger;
}

void processes_free(struct simulation *sim) {
    free(sim->processes);
    free(sim->parking.next);
    for (uint32_t i = 0; i < sim->process_capacity; i++) free(sim->log[i].items);
    free(sim->log);
}

uint32_t process_add(struct simulation *sim) {
    if (!processes_reserve(sim, sim->process_count + 1)) {
        sim->no_memory = true;
        return DAG_NONE;
    }
    return sim->process_count++;
}

void process_make_ready(struct simulation *sim, uint32_t process) {
    parking_make_ready(&sim->parking, process);
}

void vertex_release(struct simulation *sim, uint32_t vertex) {
    if (sim->parking.first[vertex] != DAG_NONE) parking_release(&sim->parking, vertex);
}

// A log always has room for one more, so that to pass a vertex is all one stretch; the run fails that finds none.
static void make_room(struct simulation *sim, struct passages *log) {
    if (log_grow(log)) return;
    sim->no_memory = true;
    log->count--;
}

// A worker that is woken tells so when it has a core, and not when it is called: what it waited, it waited before that.
static __attribute__((noinline)) void settle_busy(struct simulation *sim, struct process *process, struct passages *log,
                                                  int64_t start_ns) {
    struct passage *busy = &log->items[process->worker.busy_item - 1];
    int64_t later_ns = max_ns(start_ns - process->worker.awake_ns - busy->time_ns, 0);
    int64_t queued_ns = min_ns(process->lead.queued_ns, later_ns);
    busy->time_ns += later_ns;
    busy->queued_ns += queued_ns;
    process->lead.queued_ns -= queued_ns;
    process->worker.busy_item = 0;
    if (busy->source != DAG_NONE) sim->time_ns[busy->source] = busy->time_ns;
}

static inline void pass(struct simulation *sim, uint32_t index, uint32_t source, uint32_t task, unsigned kind,
                        int64_t time_ns, bool dropped) {
    struct process *process = &sim->processes[index];
    struct passages *log = &sim->log[index];
    if (__builtin_expect(process->worker.busy_item != 0, 0)) settle_busy(sim, process, log, time_ns);
    log->items[log->count++] = (struct passage){.time_ns = time_ns,
                                                .compute_ns = process->lead.compute_ns,
                                                .queued_ns = process->lead.queued_ns,
                                                .source = source,
                                                .count = 1,
                                                .task = task,
                                                .kind = (uint8_t)kind,
                                                .has_edge = process->has_edge,
                                                .dropped = dropped};
    log->dropped += dropped;
    process->lead.compute_ns = process->lead.queued_ns = 0;
    process->lead.residual.more_ns = 0;
    process->has_edge = false;
    sim->passed++;
    if (log->count == log->capacity) make_room(sim, log);
}

static inline void pass_recorded(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns,
                                 bool dropped) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    pass(sim, process, vertex, vertices->task[vertex], vertices->kind[vertex], time_ns, dropped);
}

void process_pass_by(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns, bool dropped) {
    pass_recorded(sim, process, vertex, time_ns, dropped);
}

// Stages that awaited the vertex go on where it was brought about. They are kept newest first.
static void take_stages(struct simulation *sim, uint32_t process, uint32_t vertex) {
    uint32_t last = sim->regroup.first_stage[vertex];
    while (sim->frames[last].link != DAG_NONE) last = sim->frames[last].link;
    sim->frames[last].link = sim->processes[process].stages;
    sim->processes[process].stages = sim->regroup.first_stage[vertex];
    sim->regroup.first_stage[vertex] = DAG_NONE;
}

void vertex_set(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns) {
    sim->time_ns[vertex] = time_ns;
    if (!(sim->recorded.traits[vertex] & TRAIT_AWAITED)) return;
    vertex_release(sim, vertex);
    if (sim->regroup.stages_left && sim->regroup.first_stage[vertex] != DAG_NONE) take_stages(sim, process, vertex);
}

void process_pass_as(struct simulation *sim, uint32_t process, uint32_t vertex, uint32_t job, int64_t time_ns) {
    pass(sim, process, vertex, job, sim->dag->vertices.kind[vertex], time_ns, false);
    vertex_set(sim, process, vertex, time_ns);
}

void process_pass(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns) {
    if (time_ns != DAG_ABSENT) pass_recorded(sim, process, vertex, time_ns, false); // barriers may gather nothing
    vertex_set(sim, process, vertex, time_ns);
}

void process_pass_kind(struct simulation *sim, uint32_t process, uint32_t vertex, enum vertex_kind kind,
                       int64_t time_ns) {
    pass(sim, process, vertex, sim->dag->vertices.task[vertex], kind, time_ns, false);
    vertex_set(sim, process, vertex, time_ns);
}

void process_pass_new(struct simulation *sim, uint32_t process, enum vertex_kind kind, uint32_t job, int64_t time_ns) {
    pass(sim, process, DAG_NONE, job, kind, time_ns, false);
}

void process_lead(struct simulation *sim, uint32_t index, int64_t lead_ns, bool computes) {
    struct process *process = &sim->processes[index];
    process->lead.ns += lead_ns;
    if (computes) process->lead.compute_ns += lead_ns;
}

void vertex_vanish(struct simulation *sim, uint32_t vertex) {
    sim->time_ns[vertex] = DAG_ABSENT;
    vertex_release(sim, vertex);
}
