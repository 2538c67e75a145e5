// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever events a trace holds, there is a graph of it, and the analyser's laws hold: with model `dag` an empty plan
// gives back the recorded times, and so does the simulation; the other models and all metrics end.
#ifndef REHYPE_TESTS_REPLAY_H
#define REHYPE_TESTS_REPLAY_H

#include "dag/simulate/simulate.h"
#include "metrics/metrics.h"

#include <stdlib.h>

struct replay {
    struct dag *dag;
    struct dag_edit edit;
    struct dag_run run;
    struct costs *costs;
    struct simulation *simulation;
    struct metrics_work work;
};

static __attribute__((noinline)) void must(bool good) {
    if (!good) abort();
}

static void measure(struct replay *replay, const struct dag *run) {
    struct error error = ERROR_INIT;
    struct metrics metrics;
    must(metrics_of_run(run, true, NULL, NULL, &replay->work, &metrics, &error) || error.status == STATUS_USAGE);
}

static void check_recorded_times(const struct replay *replay) {
    must(dag_propagate(replay->dag, &replay->edit, (struct dag_run *)&replay->run) == DAG_OK);
    for (uint32_t v = 0; v < replay->dag->vertex_count; v++) {
        must(replay->run.time_ns[v] == replay->dag->vertices.time_ns[v]);
    }
}

// What the models make of the edit; where model `dag` has times, both of its ways to them end.
static void simulate_edit(struct replay *replay) {
    const bool ends = dag_propagate(replay->dag, &replay->edit, &replay->run) == DAG_OK;
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        const struct model model = {.kind = kind};
        const enum dag_outcome outcome = simulation_run(replay->simulation, &replay->edit, &model);
        must(outcome != DAG_NO_MEMORY && (kind != MODEL_DAG || !ends || outcome == DAG_OK));
        if (outcome == DAG_OK) measure(replay, simulation_dag(replay->simulation));
    }
}

// false if the trace's blocks, when it comes to them, are not what they should be.
static bool replay_open(struct replay *replay, const struct trace *trace) {
    struct error error = ERROR_INIT;
    replay->dag = dag_build(trace, &error);
    must(replay->dag || error.status == STATUS_BAD_INPUT);
    if (!replay->dag) return false;
    must((replay->costs = costs_measure(replay->dag, &error)) != NULL);
    must((replay->simulation = simulation_new(replay->dag, replay->costs, &error)) != NULL);
    must(dag_edit_init(&replay->edit, replay->dag, &error) && dag_run_init(&replay->run, replay->dag, &error));
    return true;
}

static void replay_close(struct replay *replay) {
    metrics_work_destroy(&replay->work);
    dag_run_destroy(&replay->run);
    dag_edit_destroy(&replay->edit);
    simulation_free(replay->simulation);
    costs_free(replay->costs);
    dag_free(replay->dag);
}

// Of the tasks that can be inlined, those are whose bit, by index modulo 8, is set in `inlined`.
static inline void replay_all(const struct trace *trace, uint8_t inlined) {
    struct replay replay = {0};
    if (!replay_open(&replay, trace)) return;
    measure(&replay, replay.dag);
    check_recorded_times(&replay);
    simulate_edit(&replay);
    for (uint32_t t = 0; t < replay.dag->task_count; t++) {
        if (inlined >> t % 8 & 1 && !dag_inline_refusal(replay.dag, t)) dag_edit_inline(&replay.edit, t);
    }
    if (replay.edit.inlined_count) simulate_edit(&replay);
    replay_close(&replay);
}

#endif
