// SPDX-License-Identifier: GPL-3.0-or-later
// A run as the simulation noted it, read off its log without making a DAG of it (derive.c has both).
#ifndef REHYPE_DAG_STRETCHES_H
#define REHYPE_DAG_STRETCHES_H

#include "dag/dag.h"

struct simulation;

// The same run as the simulation noted it, for figures that need no DAG: process by process, which are that DAG's
// threads, in stretches of vertices. Behind the first of a stretch come those recorded behind `source`, as they did.
struct simulated_run {
    const struct dag *dag;                           // what was recorded
    double cores;                                    // as struct dag's
    uint32_t process_count, job_count, vertex_count; // jobs are that DAG's tasks; vertices at the most
};
struct run_effort { // of the time since the vertex before; where waits for cores were measured
    int64_t compute_ns, queued_ns;
};
struct run_stretch {
    int64_t time_ns; // of the first vertex, with the next four
    uint32_t source; // vertex of what was recorded, or DAG_NONE
    uint32_t task;   // job, or what the vertex names
    uint8_t kind;    // enum vertex_kind
    struct run_effort effort;
    uint32_t count;
    int64_t before_ns;         // what was passed last, and
    struct run_effort carried; // what was computed since the vertex before, for the next call
};
struct simulated_run simulation_as_run(const struct simulation *simulation);
uint32_t simulation_vertex_count(const struct simulation *simulation);                      // that this DAG has
struct dag_thread simulation_thread(const struct simulation *simulation, uint32_t process); // but for its vertices
uint32_t simulation_task(const struct simulation *simulation, uint32_t job); // recorded, that a job is of
uint32_t simulation_stretches(const struct simulation *simulation, uint32_t process);
// In their order. false: it is no part of that DAG.
bool simulation_stretch(const struct simulation *simulation, uint32_t process, uint32_t index,
                        struct run_stretch *stretch);
// What that stretch names, DAG_NONE beyond the last: for callers that fetch ahead.
uint32_t simulation_job_at(const struct simulation *simulation, uint32_t process, uint32_t index);
// Of a vertex behind the first of its stretch.
struct run_effort simulation_effort_behind(const struct simulation *simulation, uint32_t source);

#endif
