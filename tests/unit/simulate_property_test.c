// SPDX-License-Identifier: GPL-3.0-or-later
// Laws of the simulation, tried on random programs and random edits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/simulate/derive.h"
#include "dag_reference.h"
#include "random_trace.h"
#include "simulate_fixture.h"

enum { CASES = 3000, EDITS = 4 };

// What bodies lose by being inlined is all that the derived DAG may lack.
static bool is_of_inlined(const struct simulate_fixture *fixture, uint32_t v) {
    uint32_t task = fixture->dag->vertices.task[v];
    return task != DAG_NONE && fixture->dag->vertices.kind[v] <= VERTEX_RESULT && fixture->edit.inlined[task];
}

static void check_same_times(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    uint32_t present = 0, derived = 0;
    for (uint32_t v = 0; v < fixture->dag->vertex_count; v++) {
        present += fixture->run.time_ns[v] != DAG_ABSENT && !is_of_inlined(fixture, v);
    }
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t source = run->source[v];
        assert_int_not_equal(source, DAG_NONE);
        derived += !is_of_inlined(fixture, source);
        if (run->vertices.time_ns[v] != fixture->run.time_ns[source]) {
            fail_msg("seed %lu: vertex %u at %ld, propagated to %ld", (unsigned long)seed, source,
                     (long)run->vertices.time_ns[v], (long)fixture->run.time_ns[source]);
        }
    }
    if (present != derived) fail_msg("seed %lu: %u vertices of %u", (unsigned long)seed, derived, present);
}

// A DAG of its own: threads side by side, tasks' vertices where they say, nothing before its cause.
static void check_derived(const struct dag *run, uint64_t seed) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        assert_int_equal(run->threads[i].first, next);
        next += run->threads[i].count;
        for (uint32_t v = run->threads[i].first + 1; v < next; v++) {
            if (run->vertices.time_ns[v] < run->vertices.time_ns[v - 1])
                fail_msg("seed %lu: vertex %u goes back in time", (unsigned long)seed, v);
        }
    }
    assert_int_equal(next, run->vertex_count);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t cause = run->vertices.cause[v];
        if (cause == DAG_NONE || run->vertices.rule[v] == RULE_WAIT || run->vertices.rule[v] == RULE_GRANT) continue;
        if (run->vertices.time_ns[cause] > run->vertices.time_ns[v])
            fail_msg("seed %lu: vertex %u (kind %u, source %u) at %ld before its cause %u (kind %u) at %ld",
                     (unsigned long)seed, v, run->vertices.kind[v], run->source[v], (long)run->vertices.time_ns[v],
                     cause, run->vertices.kind[cause], (long)run->vertices.time_ns[cause]);
    }
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->start == DAG_NONE) continue;
        assert_int_equal(run->vertices.kind[task->start], VERTEX_START);
        assert_int_equal(run->vertices.task[task->start], t);
        assert_int_equal(run->vertices.task[task->end], t);
        assert_in_range(task->start, task->pickup, task->end);
        assert_in_range(task->tail, task->end, run->threads[task->thread].first + run->threads[task->thread].count);
        if (task->spawn_begin != DAG_NONE) assert_int_equal(run->vertices.task[task->spawn_begin], t);
    }
}

// Where helped bodies have to sink the reference says what that comes to.
static void check_model_dag(struct simulate_fixture *fixture, uint64_t seed, unsigned *deadlocks, unsigned *deferred) {
    const struct model model = {.kind = MODEL_DAG};
    enum dag_outcome propagated = dag_propagate(fixture->dag, &fixture->edit, &fixture->run);
    if (propagated == DAG_DEADLOCK && dag_edit_sinks_any(fixture->dag, &fixture->edit)) {
        bool possible = reference_propagate(fixture->dag, &fixture->edit, true, fixture->run.time_ns);
        propagated = possible ? DAG_OK : DAG_DEADLOCK;
        *deferred += possible;
    }
    enum dag_outcome simulated = simulation_run(fixture->simulation, &fixture->edit, &model);
    if (propagated != simulated) fail_msg("seed %lu: outcome %d, not %d", (unsigned long)seed, simulated, propagated);
    if (simulated == DAG_OK) {
        check_same_times(fixture, seed);
        check_derived(simulation_dag(fixture->simulation), seed);
    } else {
        ++*deadlocks;
    }
}

static void check_noise(struct simulate_fixture *fixture, uint64_t seed) {
    const struct model model = {.kind = MODEL_DAG};
    if (dag_propagate(fixture->dag, &fixture->edit, &fixture->run) != DAG_OK) return;
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, &model), DAG_OK);
    check_same_times(fixture, seed);
}

static void test_model_dag_is_dag_propagate(void **state) {
    (void)state;
    unsigned deadlocks = 0, deferred = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open(&fixture, random_trace(seed));
        check_model_dag(&fixture, seed, &deadlocks, &deferred);
        for (unsigned i = 0; i < EDITS; i++) {
            simulate_fixture_inline_random(&fixture, &source, i < 1 ? 1 : i < 3 ? 4 : 8, 8);
            check_model_dag(&fixture, seed, &deadlocks, &deferred);
        }
        simulate_fixture_close(&fixture);
        simulate_fixture_open(&fixture, random_events(seed));
        check_noise(&fixture, seed);
        simulate_fixture_inline_random(&fixture, &source, 6, 8);
        check_noise(&fixture, seed);
        simulate_fixture_close(&fixture);
    }
    assert_in_range(deadlocks, CASES / 50, CASES * EDITS / 2);
    assert_true(deferred > 0);
}

// Pools' rules let every recorded program end that did, and lose no work.
static void test_pools_run_everything(void **state) {
    (void)state;
    unsigned dispatched = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        const struct model model = {.kind = MODEL_POOL};
        simulate_fixture_open(&fixture, random_trace(seed));
        for (unsigned i = 0; i < EDITS; i++) {
            if (i) simulate_fixture_inline_random(&fixture, &source, 2 * i, 8);
            if (simulation_run(fixture.simulation, &fixture.edit, &model) != DAG_OK) continue;
            const struct dag *run = simulation_dag(fixture.simulation);
            check_derived(run, seed);
            for (uint32_t t = 0; t < run->task_count; t++) {
                bool started = fixture.dag->tasks[t].start != DAG_NONE && !fixture.edit.inlined[t];
                if (started != (run->tasks[t].start != DAG_NONE)) fail_msg("seed %lu: task %u", (unsigned long)seed, t);
                dispatched += run->tasks[t].dispatch >= DISPATCH_NEW && run->tasks[t].dispatch <= DISPATCH_CALLER;
            }
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(dispatched > CASES);
}

// Where no pool's rules are known only locks are settled anew, and that as they were.
static void test_locks_replay_as_recorded(void **state) {
    (void)state;
    unsigned settled = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        const struct model model = {.kind = MODEL_POOL};
        simulate_fixture_open(&fixture, random_trace(seed));
        simulation_free(fixture.simulation);
        for (uint32_t p = 0; p < fixture.dag->pool_count; p++) fixture.dag->pools[p].discipline = DISCIPLINE_UNKNOWN;
        must((fixture.simulation = simulation_new(fixture.dag, fixture.costs, &fixture.error)) != NULL, &fixture.error);
        for (uint32_t v = 0; v < fixture.dag->vertex_count; v++) settled += fixture.dag->vertices.rule[v] == RULE_GRANT;
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
        check_same_times(&fixture, seed);
        simulate_fixture_close(&fixture);
    }
    assert_true(settled > CASES / 10);
}

static void test_same_input_same_bytes(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES / 10; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        const struct model model = {.kind = MODEL_POOL};
        simulate_fixture_open(&fixture, random_trace(seed));
        simulate_fixture_inline_random(&fixture, &source, 3, 8);
        if (simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK) {
            const struct dag *run = simulation_dag(fixture.simulation);
            uint32_t count = run->vertex_count;
            int64_t *times_ns = malloc((count + 1) * sizeof *times_ns);
            assert_non_null(times_ns);
            memcpy(times_ns, run->vertices.time_ns, count * sizeof *times_ns);
            assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
            assert_int_equal(run->vertex_count, count);
            assert_memory_equal(times_ns, run->vertices.time_ns, count * sizeof *times_ns);
            free(times_ns);
        }
        simulate_fixture_close(&fixture);
    }
}

static uint32_t task_with_id(const struct dag *dag, uint64_t id) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].id == id) return t;
    }
    return DAG_NONE;
}

// Read again, a run has its tasks and threads, at its times: events that have no room come a ns apart, which can add up
// to as many ns as there are events.
static void check_written(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    struct simulate_fixture written;
    simulate_fixture_open_trace(&written, written_run(run));
    const struct dag *again = written.dag;
    uint32_t threads = 0, same_threads = 0;
    int64_t slack_ns = (int64_t)fixture->trace->event_count;
    for (uint32_t i = 0; i < run->thread_count; i++)
        threads += run->threads[i].count && run->threads[i].stream != DAG_NONE;
    for (uint32_t i = 0; i < again->thread_count; i++) same_threads += again->threads[i].stream != DAG_NONE;
    assert_int_equal(threads, same_threads);
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        uint32_t found = task_with_id(again, task->id);
        if (task->flags & TASK_NESTED || task->start == DAG_NONE) continue;
        if (found == DAG_NONE) fail_msg("seed %lu: task %u is lost", (unsigned long)seed, t);
        const struct dag_task *same = &again->tasks[found];
        const int64_t off_ns[] = {again->vertices.time_ns[same->start] - run->vertices.time_ns[task->start],
                                  again->vertices.time_ns[same->end] - run->vertices.time_ns[task->end]};
        bool recorded_end = !(task->flags & TASK_UNFINISHED);
        if (llabs(off_ns[0]) > slack_ns || (recorded_end && llabs(off_ns[1]) > slack_ns))
            fail_msg("seed %lu: task %u is off by %ld and %ld", (unsigned long)seed, t, (long)off_ns[0],
                     (long)off_ns[1]);
        assert_int_equal(same->pool, task->pool);
        assert_int_equal(again->threads[same->thread].pool, run->threads[task->thread].pool);
        assert_int_equal(same->enclosing == DAG_NONE, task->enclosing == DAG_NONE);
    }
    simulate_fixture_close(&written);
}

static void test_a_run_is_written_as_it_was(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES / 8; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        const struct model model = {.kind = MODEL_POOL};
        simulate_fixture_open(&fixture, random_trace(seed));
        simulate_fixture_inline_random(&fixture, &source, seed % 5, 8);
        for (uint32_t p = 1; p < fixture.dag->pool_count; p++) {
            if (!dag_resize_refusal(fixture.dag, p) && random_below(&source, 2))
                dag_edit_resize(&fixture.edit, p, 1 + (int32_t)random_below(&source, 6));
        }
        if (simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK) check_written(&fixture, seed);
        simulate_fixture_close(&fixture);
    }
}

// What a run is derived to, bytes side by side.
struct derived {
    struct dag_vertices vertices;
    uint32_t *source;
    struct dag_task *tasks;
    struct dag_thread *threads;
    struct dag_aside *asides;
    uint32_t *first_aside;
};

static void *copy_of(const void *array, size_t count, size_t size) {
    void *copy = malloc(count * size + 1);
    assert_non_null(copy);
    if (count) memcpy(copy, array, count * size);
    return copy;
}

static struct derived copy_derived(const struct dag *run) {
    const struct dag_vertices *vertices = &run->vertices;
    const size_t count = run->vertex_count, processes = run->thread_count;
    return (struct derived){
        .vertices = {.time_ns = copy_of(vertices->time_ns, count, sizeof *vertices->time_ns),
                     .cause = copy_of(vertices->cause, count, sizeof *vertices->cause),
                     .task = copy_of(vertices->task, count, sizeof *vertices->task),
                     .kind = copy_of(vertices->kind, count, sizeof *vertices->kind),
                     .rule = copy_of(vertices->rule, count, sizeof *vertices->rule)},
        .source = copy_of(run->source, count, sizeof *run->source),
        .tasks = copy_of(run->tasks, run->task_count, sizeof *run->tasks),
        .threads = copy_of(run->threads, processes, sizeof *run->threads),
        .asides = copy_of(run->asides, run->first_aside[processes], sizeof *run->asides),
        .first_aside = copy_of(run->first_aside, processes + 1, sizeof *run->first_aside),
    };
}

// Without what lies between members.
static void assert_same_thread(const struct dag_thread *x, const struct dag_thread *y) {
    assert_int_equal(x->stream, y->stream);
    assert_int_equal(x->first, y->first);
    assert_int_equal(x->count, y->count);
    assert_int_equal(x->pool, y->pool);
    assert_int_equal(x->worker, y->worker);
    assert_int_equal(x->system, y->system);
    assert_int_equal(x->is_virtual, y->is_virtual);
    assert_int_equal(x->ready_ns, y->ready_ns);
    assert_int_equal(x->bodies, y->bodies);
    assert_int_equal(x->pinned, y->pinned);
    assert_int_equal(x->run_task, y->run_task);
}

static void assert_derived(const struct dag *run, const struct derived *expected) {
    const struct dag_vertices *vertices = &run->vertices;
    const size_t count = run->vertex_count, processes = run->thread_count;
    assert_memory_equal(vertices->time_ns, expected->vertices.time_ns, count * sizeof *vertices->time_ns);
    assert_memory_equal(vertices->cause, expected->vertices.cause, count * sizeof *vertices->cause);
    assert_memory_equal(vertices->task, expected->vertices.task, count * sizeof *vertices->task);
    assert_memory_equal(vertices->kind, expected->vertices.kind, count * sizeof *vertices->kind);
    assert_memory_equal(vertices->rule, expected->vertices.rule, count * sizeof *vertices->rule);
    assert_memory_equal(run->source, expected->source, count * sizeof *run->source);
    assert_memory_equal(run->tasks, expected->tasks, run->task_count * sizeof *run->tasks);
    for (uint32_t i = 0; i < processes; i++) assert_same_thread(&run->threads[i], &expected->threads[i]);
    assert_memory_equal(run->first_aside, expected->first_aside, (processes + 1) * sizeof *run->first_aside);
    assert_memory_equal(run->asides, expected->asides, run->first_aside[processes] * sizeof *run->asides);
}

static void derived_free(struct derived *derived) {
    free(derived->vertices.time_ns);
    free(derived->vertices.cause);
    free(derived->vertices.task);
    free(derived->vertices.kind);
    free(derived->vertices.rule);
    free(derived->source);
    free(derived->tasks);
    free(derived->threads);
    free(derived->asides);
    free(derived->first_aside);
}

static void test_two_threads_derive_what_one_does(void **state) {
    (void)state;
    uint32_t asides = 0;
    for (uint64_t seed = 0; seed < CASES / 8; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        const struct model model = {.kind = seed % 3 ? MODEL_POOL : MODEL_DAG};
        simulate_fixture_open(&fixture, random_trace(seed));
        simulate_fixture_inline_random(&fixture, &source, seed % 5, 8);
        if (simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK) {
            const struct dag *run = simulation_dag(fixture.simulation);
            assert_true(derive_run_by(fixture.simulation, 1));
            struct derived by_one = copy_derived(run);
            assert_true(derive_run_by(fixture.simulation, 2));
            assert_derived(run, &by_one);
            asides += run->first_aside[run->thread_count];
            derived_free(&by_one);
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(asides > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_dag_is_dag_propagate), cmocka_unit_test(test_pools_run_everything),
        cmocka_unit_test(test_locks_replay_as_recorded),   cmocka_unit_test(test_same_input_same_bytes),
        cmocka_unit_test(test_a_run_is_written_as_it_was), cmocka_unit_test(test_two_threads_derive_what_one_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
