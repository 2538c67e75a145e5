// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever events a trace holds, there is a graph of it, and the analyser's laws hold: with model `dag` an empty plan
// gives back the recorded times, and so does the simulation; the other models and all metrics end.
#ifndef REHYPE_TESTS_REPLAY_H
#define REHYPE_TESTS_REPLAY_H

#include "dag/simulate/simulate.h"
#include "metrics/actor_findings.h"
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

// A run that begins where one without an edit was kept is that run from the beginning.
static void check_kept(struct replay *replay, const struct model *model, enum dag_outcome outcome) {
    struct error error = ERROR_INIT;
    struct dag_edit none;
    struct simulation *kept = simulation_new(replay->dag, replay->costs, &error);
    must(kept && dag_edit_init(&none, replay->dag, &error));
    must(simulation_keep(kept, &none, model) != DAG_NO_MEMORY);
    must(simulation_run(kept, &replay->edit, model) == outcome);
    if (outcome == DAG_OK) {
        const struct dag *expected = simulation_dag(replay->simulation), *run = simulation_dag(kept);
        must(run->vertex_count == expected->vertex_count);
        for (uint32_t v = 0; v < run->vertex_count; v++)
            must(run->vertices.time_ns[v] == expected->vertices.time_ns[v]);
    }
    dag_edit_destroy(&none);
    simulation_free(kept);
}

// What the models make of the edit; where model `dag` has times, both of its ways to them end.
static void simulate_edit(struct replay *replay) {
    const bool ends =
        dag_edit_only_inlines(&replay->edit) && dag_propagate(replay->dag, &replay->edit, &replay->run) == DAG_OK;
    const bool divides = replay->edit.parts_count || replay->edit.resized_count; // of which `dag` knows nothing
    for (enum model_kind kind = divides ? MODEL_POOL : MODEL_DAG; kind <= MODEL_CPU; kind++) {
        const struct model model = {.kind = kind};
        const enum dag_outcome outcome = simulation_run(replay->simulation, &replay->edit, &model);
        must(outcome != DAG_NO_MEMORY && (kind != MODEL_DAG || !ends || outcome == DAG_OK));
        if (outcome == DAG_OK) measure(replay, simulation_dag(replay->simulation));
        if (kind != MODEL_DAG) check_kept(replay, &model, outcome);
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

static void edit_task(struct replay *replay, uint32_t task, unsigned choice) {
    const struct dag *dag = replay->dag;
    if (choice == 1 && !dag_inline_refusal(dag, task)) dag_edit_inline(&replay->edit, task);
    if (choice == 2 && !dag_split_refusal(dag, task)) dag_edit_split(&replay->edit, task, 2);
    enum dag_first_stage first =
        task % 2 && dag_combinator_keeps_pool(dag, task) ? FIRST_STAGE_ON_POOL : FIRST_STAGE_ON_SPAWNER;
    if (choice == 3 && !dag_combinator_refusal(dag, task)) dag_edit_combine(&replay->edit, task, first);
}

static bool is_edited(const struct dag_edit *edit, uint32_t task) {
    return edit->inlined[task] || edit->parts[task] || edit->staged[task];
}

// What is left of a site's tasks.
static void merge_site(struct replay *replay, uint32_t site, uint32_t factor) {
    const struct dag *dag = replay->dag;
    uint32_t *tasks = malloc((dag->task_count + (size_t)1) * sizeof *tasks), count = 0;
    must(tasks != NULL);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].site != site || is_edited(&replay->edit, t) || dag_merge_refusal(dag, t)) continue;
        tasks[count++] = t;
    }
    if (count) dag_edit_merge(&replay->edit, dag, tasks, count, factor);
    free(tasks);
}

static void edit_resources(struct replay *replay, uint8_t others) {
    const int64_t size = others >> 4 & 3;
    for (uint32_t r = 0; r < replay->dag->resource_count; r++) {
        if (size && !dag_resize_resource_refusal(replay->dag, r)) dag_edit_resize_resource(&replay->edit, r, size);
        if (others >> 6 & 1 && !dag_unlock_refusal(replay->dag, r)) dag_edit_unlock(&replay->edit, r);
    }
}

// `tasks` has two bits for a task, by its index modulo 4: as it is, inline, split or combinator. Of `others` the low
// bits say whether and how many of each site's remaining tasks are merged, the next whether and to what size pools are
// resized, the same of resources, and the last but one whether locks are never contended.
static void edit_all(struct replay *replay, uint8_t tasks, uint8_t others) {
    const uint32_t factor = others & 3, size = others >> 2 & 3;
    for (uint32_t t = 0; t < replay->dag->task_count; t++) edit_task(replay, t, tasks >> t % 4 * 2 & 3);
    for (uint32_t s = 0; factor > 1 && s < replay->dag->site_count; s++) merge_site(replay, s, factor);
    for (uint32_t p = 1; size && p < replay->dag->pool_count; p++) {
        if (!dag_resize_refusal(replay->dag, p)) dag_edit_resize(&replay->edit, p, (int32_t)size);
    }
    edit_resources(replay, others);
}

// Whatever becomes of messages, they add up.
static void check_actors(const struct dag *dag) {
    static const char *const paths[] = {"* > *", "* > * > *"};
    const struct actor_questions questions = {.paths = paths, .path_count = 2, .trigger = "*", .update = "*"};
    struct arena arena = ARENA_INIT;
    struct error error = ERROR_INIT;
    struct actor_findings findings = {0};
    const bool ok = actor_findings_make(dag, NULL, &questions, &arena, &findings, &error);
    must(ok || error.status == STATUS_USAGE);
    const struct balances *of = &findings.messages.balances;
    must(of->sent + of->scheduled + of->copies + of->library_made + of->unseen ==
         of->received + of->to_futures + of->dead_letters + of->queued);
    must(of->created == of->stopped + of->living);
    actor_findings_destroy(&findings);
    arena_destroy(&arena);
}

// As recorded, and edited as edit_all says.
static inline void replay_all(const struct trace *trace, uint8_t tasks, uint8_t others) {
    struct replay replay = {0};
    if (!replay_open(&replay, trace)) return;
    measure(&replay, replay.dag);
    check_actors(replay.dag);
    check_recorded_times(&replay);
    simulate_edit(&replay);
    edit_all(&replay, tasks, others);
    simulate_edit(&replay);
    replay_close(&replay);
}

#endif
