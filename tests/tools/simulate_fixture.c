// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void must(bool good, const struct error *error) {
    char text[512];
    if (good) return;
    fprintf(stderr, "simulate_fixture: %s\n", error_text(error, text, sizeof text));
    abort();
}

void simulate_fixture_open(struct simulate_fixture *fixture, struct trace_builder *tb) {
    struct error error = ERROR_INIT;
    *fixture = (struct simulate_fixture){.tb = tb, .trace = tb_open(tb)};
    fixture->dag = dag_build(fixture->trace, &error);
    must(fixture->dag != NULL, &error);
    fixture->costs = costs_measure(fixture->dag, &error);
    must(fixture->costs != NULL, &error);
    fixture->simulation = simulation_new(fixture->dag, fixture->costs, &error);
    must(fixture->simulation != NULL, &error);
    must(dag_edit_init(&fixture->edit, fixture->dag, &error), &error);
}

void simulate_fixture_close(struct simulate_fixture *fixture) {
    dag_edit_destroy(&fixture->edit);
    simulation_free(fixture->simulation);
    costs_free(fixture->costs);
    dag_free(fixture->dag);
    trace_close(fixture->trace);
    tb_free(fixture->tb);
}

void simulate_fixture_open_random(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    struct random_pool options = random_pool_options(seed, cores);
    struct program *program = malloc(sizeof *program);
    if (!program) abort();
    random_pool_program(&options, program);
    simulate_fixture_open(fixture, program_trace(program, &options));
    free(program);
}

bool simulates(const struct dag_edit *edit, enum model_kind kind) {
    return kind != MODEL_DAG || !edit->parts_count;
}

int64_t run_wall_ns(const struct dag *run) {
    return run->last_ns - run->first_ns;
}
