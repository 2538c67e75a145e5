// SPDX-License-Identifier: GPL-3.0-or-later
// How processes come to be, pass vertices and go on: the run's log, and who waits for a vertex's time.
#ifndef REHYPE_DAG_PASSAGE_H
#define REHYPE_DAG_PASSAGE_H

#include "dag/simulate/state.h"

// Room for so many processes, and a log each. false: no memory.
bool processes_reserve(struct simulation *sim, uint32_t count);
void processes_free(struct simulation *sim);
uint32_t process_add(struct simulation *sim); // DAG_NONE: no memory
void process_make_ready(struct simulation *sim, uint32_t process);
// A vertex has its time; whoever waits for it can go on.
void process_pass(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns);
void vertex_set(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns); // without a passage
// The process passes a recorded vertex whose time nobody awaits; `dropped`: it is none of this run.
void process_pass_by(struct simulation *sim, uint32_t process, uint32_t vertex, int64_t time_ns, bool dropped);
// The same of a bracket's end that is another job's now.
void process_pass_as(struct simulation *sim, uint32_t process, uint32_t vertex, uint32_t job, int64_t time_ns);
// The same of a vertex that comes as another kind now.
void process_pass_kind(struct simulation *sim, uint32_t process, uint32_t vertex, enum vertex_kind kind,
                       int64_t time_ns);
void process_pass_new(struct simulation *sim, uint32_t process, enum vertex_kind kind, uint32_t job, int64_t time_ns);
// What follows on the process comes so much later, since something takes that long: on a core, if it computes.
void process_lead(struct simulation *sim, uint32_t process, int64_t lead_ns, bool computes);
void vertex_vanish(struct simulation *sim, uint32_t vertex); // it is no part of this run
// Whoever waits for the vertex can go on.
void vertex_release(struct simulation *sim, uint32_t vertex);

// Whether it is the end of the body of a task that its worker ended earlier.
static inline bool passage_ends_stages(const struct simulation *sim, const struct passage *passage) {
    return passage->kind == VERTEX_END && passage->source != DAG_NONE && job_has_left(sim, passage->task);
}

// Inlined bodies are no bodies any more; only what they bring about is left of them, where someone awaits it.
static inline bool passage_is_left(const struct simulation *sim, const struct passage *passage) {
    if (passage->dropped) return false;
    if (!sim->moves || passage->task == DAG_NONE || passage->kind > VERTEX_RESULT) return true;
    if (job_has_left(sim, passage->task))
        return !passage_ends_stages(sim, passage) || passage->source == sim->dag->tasks[passage->task].result;
    if (!job_has_moved(sim, passage->task)) return true;
    const struct dag_task *task = &sim->dag->tasks[passage->task];
    return task->awaited > 0 && (passage->kind == VERTEX_RESULT || passage->source == task->result);
}

#endif
