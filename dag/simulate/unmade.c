// SPDX-License-Identifier: GPL-3.0-or-later
// When exactly a task makes another is not laid down: its start stands for that, before which it can't.
#include "dag/simulate/unmade.h"

#include <stdlib.h>

#define HELD_NOT (DAG_NONE - 1)

bool unmade_new(struct simulation *sim) {
    const size_t tasks = (size_t)sim->dag->task_count + 1;
    if (!sim->dag->made_in) return true;
    sim->held_first = malloc(tasks * sizeof *sim->held_first);
    sim->held_next = malloc(tasks * sizeof *sim->held_next);
    return sim->held_first && sim->held_next;
}

void unmade_free(struct simulation *sim) {
    free(sim->held_first);
    free(sim->held_next);
}

void unmade_begin_run(struct simulation *sim) {
    for (uint32_t t = 0; sim->held_first && t < sim->dag->task_count; t++) {
        sim->held_first[t] = DAG_NONE;
        sim->held_next[t] = HELD_NOT;
    }
}

bool unmade_holds(struct simulation *sim, uint32_t job, int64_t now_ns) {
    if (!sim->held_first || job_is_part(sim, job) || sim->dag->made_in[job] == DAG_NONE) return false;
    if (sim->dag->pools[sim->dag->tasks[job].pool].caller_runs) return false; // no spawner would be there to run it
    const uint32_t maker = sim->dag->made_in[job];
    const int64_t made_ns = sim->time_ns[sim->dag->tasks[maker].start];
    if (made_ns == DAG_ABSENT || (made_ns != DAG_PENDING && made_ns <= now_ns)) return false;
    if (made_ns != DAG_PENDING) {
        sim->held_next[job] = DAG_NONE;
        event_put(&sim->events, NOTICE_DUE, job, made_ns);
    } else {
        sim->held_next[job] = sim->held_first[maker];
        sim->held_first[maker] = job;
    }
    return true;
}

void unmade_begins(struct simulation *sim, uint32_t task, int64_t now_ns) {
    if (!sim->held_first) return;
    for (uint32_t job = sim->held_first[task]; job != DAG_NONE; job = sim->held_next[job])
        event_put(&sim->events, NOTICE_DUE, job, now_ns);
    sim->held_first[task] = DAG_NONE;
}

bool unmade_comes(struct simulation *sim, uint32_t job) {
    if (!sim->held_first || job_is_part(sim, job) || sim->held_next[job] == HELD_NOT) return false;
    sim->held_next[job] = HELD_NOT;
    return true;
}
