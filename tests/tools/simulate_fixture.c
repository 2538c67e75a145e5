// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate_fixture.h"

#include "dag/write.h"
#include "random_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void must(bool good, const struct error *error) {
    char text[512];
    if (good) return;
    fprintf(stderr, "simulate_fixture: %s\n", error_text(error, text, sizeof text));
    abort();
}

void simulate_fixture_open_trace(struct simulate_fixture *fixture, struct trace *trace) {
    *fixture = (struct simulate_fixture){.trace = trace, .error = ERROR_INIT};
    struct error *error = &fixture->error;
    must((fixture->dag = dag_build(trace, error)) != NULL, error);
    must(dag_edit_init(&fixture->edit, fixture->dag, error), error);
    must(dag_run_init(&fixture->run, fixture->dag, error), error);
    must((fixture->costs = costs_measure(fixture->dag, error)) != NULL, error);
    must((fixture->simulation = simulation_new(fixture->dag, fixture->costs, error)) != NULL, error);
}

void simulate_fixture_open(struct simulate_fixture *fixture, struct trace_builder *tb) {
    simulate_fixture_open_trace(fixture, tb_open(tb));
    fixture->tb = tb;
}

void simulate_fixture_close(struct simulate_fixture *fixture) {
    simulation_free(fixture->simulation);
    costs_free(fixture->costs);
    dag_run_destroy(&fixture->run);
    dag_edit_destroy(&fixture->edit);
    dag_free(fixture->dag);
    trace_close(fixture->trace);
    if (fixture->tb) tb_free(fixture->tb);
}

static void open_program(struct simulate_fixture *fixture, const struct random_pool *options) {
    struct program *program = malloc(sizeof *program);
    if (!program) abort();
    random_pool_program(options, program);
    simulate_fixture_open(fixture, program_trace(program, options));
    free(program);
}

void simulate_fixture_open_random(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    struct random_pool options = random_pool_options(seed, cores);
    open_program(fixture, &options);
}

void simulate_fixture_open_lossy(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    enum { RARELY = 30, MOST = 8 };
    struct random_pool options = random_pool_options(seed, cores);
    struct program *program = malloc(sizeof *program);
    if (!program) abort();
    random_pool_program(&options, program);
    struct trace_builder *tb = program_trace(program, &options);
    tb_lose(tb, seed, RARELY, MOST);
    simulate_fixture_open(fixture, tb);
    free(program);
}

void simulate_fixture_open_keep_alive(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    struct random_pool options = random_pool_options(seed, cores);
    random_pool_add_keep_alive(&options);
    open_program(fixture, &options);
}

void simulate_fixture_open_growth(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    struct random_pool options = random_pool_options(seed, cores);
    random_pool_add_growth(&options);
    if (seed % 3 == 0) random_pool_add_keep_alive(&options);
    open_program(fixture, &options);
}

void simulate_fixture_open_wait_limits(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores) {
    struct random_pool options = random_pool_options(seed, cores);
    options.wait_limit_ns = UINT64_C(1) << 40;
    open_program(fixture, &options);
}

void simulate_fixture_open_resources(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores, bool limits) {
    struct random_pool options = random_pool_options(seed, cores);
    random_pool_add_resources(&options, limits);
    open_program(fixture, &options);
}

void simulate_fixture_inline_random(struct simulate_fixture *fixture, struct random_source *source, uint64_t share,
                                    uint64_t of) {
    dag_edit_clear(&fixture->edit, fixture->dag);
    for (uint32_t t = 0; t < fixture->dag->task_count; t++) {
        if (!dag_inline_refusal(fixture->dag, t) && random_below(source, of) < share)
            dag_edit_inline(&fixture->edit, t);
    }
}

struct trace *written_run(const struct dag *run) {
    char path[] = "/tmp/rehype-test-XXXXXX";
    struct error error = ERROR_INIT;
    int fd = mkstemp(path);
    if (fd < 0) abort();
    close(fd);
    must(dag_write_run(run, 0, path, &error), &error);
    struct trace *trace = trace_open(path, false, &error);
    unlink(path);
    must(trace != NULL, &error);
    return trace;
}

struct trace *written_edit(const struct dag *dag, const struct dag_edit *edit) {
    struct error error = ERROR_INIT;
    struct costs *costs = costs_measure(dag, &error);
    must(costs != NULL, &error);
    struct simulation *simulation = simulation_new(dag, costs, &error);
    must(simulation != NULL, &error);
    if (simulation_run(simulation, edit, &(struct model){.kind = MODEL_DAG}) != DAG_OK) abort();
    struct trace *trace = written_run(simulation_dag(simulation));
    simulation_free(simulation);
    costs_free(costs);
    return trace;
}

bool simulates(const struct dag_edit *edit, enum model_kind kind) {
    return kind != MODEL_DAG || !edit->parts_count;
}

int64_t run_wall_ns(const struct dag *run) {
    return run->last_ns - run->first_ns;
}
