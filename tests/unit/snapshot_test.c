// SPDX-License-Identifier: GPL-3.0-or-later
// A run that begins at a snapshot comes out as one from the beginning, on random programs and random edits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>

#include "random_edit.h"

enum { CASES = 1000, EDITS = 12 };

struct tried {
    unsigned runs, spared;
};

static void assert_same_run(struct simulation *straight, struct simulation *resumed, uint64_t seed) {
    const struct dag *expected = simulation_dag(straight), *run = simulation_dag(resumed);
    const size_t count = expected->vertex_count;
    if (run->vertex_count != count) fail_msg("seed %lu: %u vertices", (unsigned long)seed, run->vertex_count);
    for (uint32_t v = 0; v < count; v++) {
        if (run->vertices.time_ns[v] != expected->vertices.time_ns[v])
            fail_msg("seed %lu: vertex %u at %ld, not %ld", (unsigned long)seed, v, (long)run->vertices.time_ns[v],
                     (long)expected->vertices.time_ns[v]);
    }
    assert_memory_equal(run->source, expected->source, count * sizeof *run->source);
    assert_memory_equal(run->vertices.cause, expected->vertices.cause, count * sizeof *run->vertices.cause);
    assert_memory_equal(run->vertices.task, expected->vertices.task, count * sizeof *run->vertices.task);
    assert_memory_equal(run->vertices.kind, expected->vertices.kind, count * sizeof *run->vertices.kind);
    assert_memory_equal(run->tasks, expected->tasks, run->task_count * sizeof *run->tasks);
    const struct outcomes a = simulation_outcomes(straight), b = simulation_outcomes(resumed);
    assert_true(a.changed == b.changed && a.kept == b.kept && a.alone == b.alone);
}

static void check(struct simulate_fixture *fixture, struct simulation *kept, const struct model *model, uint64_t seed,
                  struct tried *tried) {
    const enum dag_outcome expected = simulation_run(fixture->simulation, &fixture->edit, model);
    const enum dag_outcome outcome = simulation_run(kept, &fixture->edit, model);
    if (outcome != expected) fail_msg("seed %lu: outcome %d, not %d", (unsigned long)seed, outcome, expected);
    tried->runs++;
    tried->spared += simulation_spared(kept) > 0;
    if (outcome == DAG_OK) assert_same_run(fixture->simulation, kept, seed);
}

// One thing that an edit changes, by chance.
static void edit_one(struct simulate_fixture *fixture, struct random_source *source) {
    const struct dag *dag = fixture->dag;
    struct dag_edit *edit = &fixture->edit;
    dag_edit_clear(edit, dag);
    const uint32_t task = (uint32_t)random_below(source, dag->task_count ? dag->task_count : 1);
    const uint32_t pool = 1 + (uint32_t)random_below(source, dag->pool_count),
                   resource = (uint32_t)random_below(source, dag->resource_count + 1);
    switch (random_below(source, 5)) {
    case 0:
        if (dag->task_count && !dag_inline_refusal(dag, task)) dag_edit_inline(edit, task);
        break;
    case 1:
        if (dag->task_count && !dag_split_refusal(dag, task)) dag_edit_split(edit, task, 3);
        break;
    case 2:
        if (pool < dag->pool_count && !dag_resize_refusal(dag, pool))
            dag_edit_resize(edit, pool, 1 + (int32_t)random_below(source, 5));
        break;
    case 3:
        if (resource < dag->resource_count && !dag_unlock_refusal(dag, resource)) dag_edit_unlock(edit, resource);
        break;
    default:
        if (resource < dag->resource_count && !dag_resize_resource_refusal(dag, resource))
            dag_edit_resize_resource(edit, resource, 1 + (int64_t)random_below(source, 4));
    }
}

static void try_model(struct simulate_fixture *fixture, const struct model *model, uint64_t seed, struct tried *tried) {
    struct random_source source = {seed};
    struct simulation *kept = simulation_new(fixture->dag, fixture->costs, &fixture->error), *beside;
    must(kept != NULL, &fixture->error);
    dag_edit_clear(&fixture->edit, fixture->dag);
    const enum dag_outcome outcome = simulation_keep(kept, &fixture->edit, model);
    assert_int_not_equal(outcome, DAG_NO_MEMORY);
    must((beside = simulation_new_beside(kept, &fixture->error)) != NULL, &fixture->error);
    check(fixture, kept, model, seed, tried);
    for (unsigned i = 0; i < EDITS; i++) {
        if (i % 4 == 3)
            random_edit(fixture, &source, EDIT_ALL);
        else
            edit_one(fixture, &source);
        check(fixture, i % 2 ? kept : beside, model, seed, tried);
    }
    simulation_free(beside);
    simulation_free(kept);
}

static void try_models(struct simulate_fixture *fixture, uint64_t seed, uint32_t cores, struct tried *tried) {
    try_model(fixture, &(struct model){.kind = MODEL_POOL}, seed, tried);
    if (cores) try_model(fixture, &(struct model){.kind = MODEL_CPU}, seed, tried);
    if (cores) try_model(fixture, &(struct model){.kind = MODEL_CPU, .cores = cores + 1}, seed, tried);
    simulate_fixture_close(fixture);
}

static void test_pools(void **state) {
    struct tried tried = {0};
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_random(&fixture, seed, seed % 3);
        try_models(&fixture, seed, seed % 3, &tried);
        simulate_fixture_open_keep_alive(&fixture, seed, seed % 3);
        try_models(&fixture, seed, seed % 3, &tried);
        simulate_fixture_open_growth(&fixture, seed, seed % 3);
        try_models(&fixture, seed, seed % 3, &tried);
        simulate_fixture_open_lossy(&fixture, seed, seed % 3);
        try_models(&fixture, seed, seed % 3, &tried);
    }
    assert_in_range(tried.spared, tried.runs / 10, tried.runs * 9 / 10);
}

static void test_resources_and_limits(void **state) {
    struct tried tried = {0};
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_resources(&fixture, seed, seed % 3, seed % 2);
        try_models(&fixture, seed, seed % 3, &tried);
        simulate_fixture_open_wait_limits(&fixture, seed, seed % 3);
        try_models(&fixture, seed, seed % 3, &tried);
    }
    assert_in_range(tried.spared, tried.runs / 10, tried.runs * 9 / 10);
}

// Programs by other rules: helped bodies, threads of their own, shutdowns, actors.
static void test_any_events(void **state) {
    struct tried tried = {0};
    (void)state;
    for (uint64_t seed = 0; seed < 2 * CASES; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open(&fixture, random_trace(seed));
        try_models(&fixture, seed, 0, &tried);
    }
    assert_in_range(tried.spared, tried.runs / 10, tried.runs * 9 / 10);
}

enum { RUNS_BESIDE = 200 };

struct beside {
    struct simulation *simulation;
    const struct dag_edit *edit;
    const struct model *model;
};

static void *run_beside(void *of) {
    const struct beside *beside = of;
    for (unsigned i = 0; i < RUNS_BESIDE; i++) simulation_run(beside->simulation, beside->edit, beside->model);
    return NULL;
}

// A search tries nothing once more while its other hands go on with what was kept: that must stay.
static void test_what_is_kept_stays(void **state) {
    (void)state;
    struct simulate_fixture fixture;
    struct dag_edit none;
    pthread_t thread;
    const struct model model = {.kind = MODEL_POOL};
    simulate_fixture_open_random(&fixture, 7, 0);
    assert_true(dag_edit_init(&none, fixture.dag, &fixture.error));
    dag_edit_clear(&fixture.edit, fixture.dag);
    struct simulation *kept = simulation_new(fixture.dag, fixture.costs, &fixture.error);
    must(kept != NULL, &fixture.error);
    simulation_keep(kept, &none, &model);
    struct simulation *simulation = simulation_new_beside(kept, &fixture.error);
    must(simulation != NULL, &fixture.error);
    struct beside beside = {simulation, &fixture.edit, &model};
    assert_int_equal(pthread_create(&thread, NULL, run_beside, &beside), 0);
    for (unsigned i = 0; i < RUNS_BESIDE; i++) assert_int_equal(simulation_keep(kept, &none, &model), DAG_OK);
    pthread_join(thread, NULL);
    assert_true(simulation_spared(kept) > 0);
    simulation_free(simulation);
    simulation_free(kept);
    dag_edit_destroy(&none);
    simulate_fixture_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_resources_and_limits),
        cmocka_unit_test(test_any_events),
        cmocka_unit_test(test_what_is_kept_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
