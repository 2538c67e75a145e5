// SPDX-License-Identifier: GPL-3.0-or-later
// The simulation against a plain reference, and the laws of SPEC section 5 that need a program whose times are those of
// the rules (random_pool). An argument multiplies the number of cases: `simulate_reference_test 50`.
#include "dag/edit/body.h"
#include "dag/simulate/derive.h"
#include "dag/simulate/donors.h"
#include "dag/write.h"
#include "metrics/metrics.h"
#include "random_edit.h"
#include "simulate_fixture.h"
#include "simulate_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EDITS_EACH = 4 };

#define CPU_TOLERANCE_NS 50 // the simulation ends each edge at a whole ns

static uint64_t cases = 300;

// For a failure: what was asked for.
static const char *edit_text(const struct simulate_fixture *fixture) {
    static char text[4096];
    size_t length = 0;
    const struct dag_edit *edit = &fixture->edit;
#define SAY(...) length += (size_t)snprintf(text + length, sizeof text - length, __VA_ARGS__)
    SAY("edit:");
    for (uint32_t t = 0; t < fixture->dag->task_count && length < sizeof text - 100; t++) {
        if (edit->inlined[t]) SAY(" inline %u", t);
        if (edit->staged[t]) SAY(" stage %u%s", t, edit->staged[t] == FIRST_STAGE_ON_POOL ? " on its pool" : "");
        if (edit->parts[t]) SAY(" split %u in %u", t, edit->parts[t]);
        if (edit->merged_next[t] != DAG_NONE) SAY(" merge %u > %u", t, edit->merged_next[t]);
    }
    for (uint32_t p = 1; p < fixture->dag->pool_count && length < sizeof text - 100; p++) {
        if (edit->pool_threads[p]) SAY(" pool %u of %d", p, edit->pool_threads[p]);
    }
    for (uint32_t r = 0; r < fixture->dag->resource_count && length < sizeof text - 100; r++) {
        if (edit->unlocked[r]) SAY(" unlock %u", r);
        if (edit->resource_units[r]) SAY(" resource %u of %ld", r, (long)edit->resource_units[r]);
    }
#undef SAY
    return text;
}

// ---- equal to the reference

// What a pool's workers do between tasks is not told by the reference.
static bool is_workers_own(const struct dag *dag, uint32_t thread, unsigned kind) {
    switch (kind) {
    case VERTEX_IDLE:
    case VERTEX_BUSY:
    case VERTEX_RETIRE:
    case VERTEX_BARRIER:
        return true;
    case VERTEX_THREAD_START:
    case VERTEX_THREAD_END:
        return dag->threads[thread].worker;
    default:
        return false;
    }
}

// Where a task's body is part of another in this run, its start and end are no vertices, nor is a result that nobody
// awaits.
static bool is_folded(const struct dag *dag, const struct dag *run, uint32_t v) {
    unsigned kind = dag->vertices.kind[v];
    bool bounds = kind == VERTEX_START || kind == VERTEX_END || kind == VERTEX_RESULT;
    return bounds && dag->vertices.task[v] != DAG_NONE && run->tasks[dag->vertices.task[v]].flags & TASK_NESTED;
}

// The result of a group, which comes when that ends, is told anew.
static bool is_result_of_group(const struct simulate_fixture *fixture, uint32_t v) {
    uint32_t task = fixture->dag->vertices.task[v];
    return fixture->dag->vertices.kind[v] == VERTEX_RESULT && fixture->edit.merged_next[task] == task;
}

// The waits of a coordinator that became stages are none.
static bool is_wait_of_stage(const struct simulate_fixture *fixture, uint32_t v) {
    const struct dag *dag = fixture->dag;
    if (dag->vertices.kind[v] != VERTEX_WAIT_BEGIN && dag->vertices.kind[v] != VERTEX_WAIT_END) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!fixture->edit.staged[t] || v <= task->start || v >= task->end) continue;
        for (uint32_t own = body_next(dag, task->start); own < task->end; own = body_next(dag, own)) {
            if (own == v) return true;
        }
    }
    return false;
}

// Where a coordinator's task ended for its worker with the first stage, its last one ends nothing.
static bool ends_after_first_stage(const struct simulate_fixture *fixture, uint32_t v) {
    uint32_t task = fixture->dag->vertices.task[v];
    return fixture->dag->vertices.kind[v] == VERTEX_END && fixture->edit.staged[task] == FIRST_STAGE_ON_POOL;
}

// The task that ends a group stands for all of it, from the first member's start.
static uint32_t start_of_group(const struct simulate_fixture *fixture, uint32_t v) {
    const struct dag *dag = fixture->dag;
    const uint32_t *next = fixture->edit.merged_next;
    uint32_t task = dag->vertices.task[v];
    if (dag->vertices.kind[v] != VERTEX_START || next[task] != task) return v;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (next[t] != task || t == task) continue;
        task = t;
        t = DAG_NONE; // from the beginning
    }
    return dag->tasks[task].start;
}

// Workers need a few ns to leave, which a pool's end may or may not contain: main goes on a little sooner or later.
static int64_t slack_of(const struct dag *dag, uint32_t thread, uint32_t source) {
    int64_t slack_ns = 0;
    for (uint32_t v = dag->threads[thread].first; v <= source; v++) {
        uint32_t cause = dag->vertices.kind[v] == VERTEX_WAIT_END ? dag->vertices.cause[v] : DAG_NONE;
        if (cause != DAG_NONE && dag->vertices.kind[cause] == VERTEX_BARRIER) slack_ns += 8;
    }
    return slack_ns;
}

static void compare_vertices(const struct simulate_fixture *fixture, const struct dag *run,
                             const struct reference_run *expected, int64_t tolerance_ns, uint64_t seed) {
    const struct dag *dag = fixture->dag;
    bool *seen = calloc(dag->vertex_count + 1, sizeof *seen);
    assert_non_null(seen);
    for (uint32_t i = 0; i < run->thread_count; i++) {
        for (uint32_t v = run->threads[i].first; v < run->threads[i].first + run->threads[i].count; v++) {
            uint32_t source = run->source[v];
            if (source == DAG_NONE || is_workers_own(run, i, run->vertices.kind[v])) continue;
            int64_t time_ns = run->vertices.time_ns[v];
            int64_t expected_ns = expected->time_ns[start_of_group(fixture, source)];
            if (expected_ns == DAG_ABSENT || seen[source]) {
                fail_msg("seed %lu: vertex %u should not be there (again); %s", (unsigned long)seed, source,
                         edit_text(fixture));
            }
            if (llabs(time_ns - expected_ns) > tolerance_ns + slack_of(dag, i, source)) {
                fail_msg("seed %lu: vertex %u at %ld, by the reference at %ld; %s", (unsigned long)seed, source,
                         (long)time_ns, (long)expected_ns, edit_text(fixture));
            }
            seen[source] = true;
        }
    }
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        bool folded = is_folded(dag, run, v) || ends_after_first_stage(fixture, v) || is_wait_of_stage(fixture, v) ||
                      is_result_of_group(fixture, v);
        if (expected->time_ns[v] != DAG_ABSENT && !seen[v] && !folded) {
            fail_msg("seed %lu: vertex %u is missing; %s", (unsigned long)seed, v, edit_text(fixture));
        }
    }
    free(seen);
}

static int by_start(const void *a, const void *b) {
    const struct reference_part *x = a, *y = b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static void compare_parts(const struct dag *dag, const struct dag *run, struct reference_run *expected,
                          int64_t tolerance_ns, uint64_t seed) {
    uint32_t count = 0;
    struct reference_part *parts = calloc(run->task_count - dag->task_count + 1, sizeof *parts);
    assert_non_null(parts);
    for (uint32_t t = dag->task_count; t < run->task_count; t++) {
        const struct dag_task *part = &run->tasks[t];
        if (part->start == DAG_NONE) continue; // rejected
        parts[count].start_ns = run->vertices.time_ns[part->start];
        parts[count++].end_ns = run->vertices.time_ns[part->end];
    }
    if (count != expected->part_count) {
        fail_msg("seed %lu: %u parts, not %u", (unsigned long)seed, count, expected->part_count);
    }
    qsort(parts, count, sizeof *parts, by_start);
    if (count) qsort(expected->parts, count, sizeof *parts, by_start);
    for (uint32_t i = 0; i < count; i++) {
        int64_t start_off_ns = parts[i].start_ns - expected->parts[i].start_ns;
        int64_t end_off_ns = parts[i].end_ns - expected->parts[i].end_ns;
        if (llabs(start_off_ns) > tolerance_ns || llabs(end_off_ns) > tolerance_ns) {
            fail_msg("seed %lu: part %u off by %ld, %ld", (unsigned long)seed, i, (long)start_off_ns, (long)end_off_ns);
        }
    }
    free(parts);
}

struct touch { // of a resource, by a thread
    uint32_t resource, thread;
    int64_t time_ns;
};

static int by_resource_and_time(const void *a, const void *b) {
    const struct touch *x = a, *y = b;
    if (x->resource != y->resource) return x->resource < y->resource ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static uint32_t find_touches(const struct dag *run, struct touch *touches) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        for (uint32_t v = run->threads[i].first; v < run->threads[i].first + run->threads[i].count; v++) {
            unsigned kind = run->vertices.kind[v];
            if (kind != VERTEX_ACQUIRE && kind != VERTEX_HELD && kind != VERTEX_RELEASED) continue;
            uint32_t resource = run->asks[run->vertices.task[v]].resource;
            touches[count++] = (struct touch){resource, i, run->vertices.time_ns[v]};
        }
    }
    qsort(touches, count, sizeof *touches, by_resource_and_time);
    return count;
}

// Whether two threads come to one resource so shortly one after the other that which of them is first is a matter of
// rounding.
static bool is_any_race_close(const struct dag *run, int64_t tolerance_ns) {
    struct touch *touches = calloc(run->vertex_count + 1, sizeof *touches);
    bool close = false;
    assert_non_null(touches);
    uint32_t count = find_touches(run, touches);
    for (uint32_t i = 1; i < count; i++) {
        const struct touch *a = &touches[i - 1], *b = &touches[i];
        close |= a->resource == b->resource && a->thread != b->thread && b->time_ns - a->time_ns <= tolerance_ns;
    }
    free(touches);
    return close;
}

static uint64_t compared; // runs in which no wait came out otherwise than recorded

static uint64_t idled_out; // workers

static bool *find_donors(const struct simulate_fixture *fixture) {
    bool *has_donor = calloc(fixture->dag->ask_count + 1, sizeof *has_donor);
    assert_non_null(has_donor);
    for (uint32_t i = 0; i < fixture->dag->ask_count; i++) has_donor[i] = donor_of(fixture->simulation, i) != DAG_NONE;
    return has_donor;
}

static void compare(struct simulate_fixture *fixture, const struct model *model, int64_t tolerance_ns, uint64_t seed) {
    struct reference_run expected;
    if (!simulates(&fixture->edit, model->kind)) return;
    bool *has_donor = find_donors(fixture);
    reference_simulate(fixture->dag, &fixture->edit, fixture->costs, model, has_donor, &expected);
    free(has_donor);
    enum dag_outcome outcome = simulation_run(fixture->simulation, &fixture->edit, model);
    bool changed = fixture->simulation->outcomes_changed > 0;
    if (changed != expected.changed && tolerance_ns == 0)
        fail_msg("seed %lu: outcomes changed: %d, by the reference: %d; %s", (unsigned long)seed, changed,
                 expected.changed, edit_text(fixture));
    bool close = tolerance_ns > 0 && outcome == DAG_OK;
    close = close && is_any_race_close(simulation_dag(fixture->simulation), tolerance_ns);
    close |= expected.closest_ns <= tolerance_ns && tolerance_ns > 0;
    bool comparable = !changed && !expected.changed && !close;
    compared += comparable;
    idled_out += expected.idled_out;
    if (!comparable) {
        reference_destroy(&expected);
        return;
    }
    if (outcome != (expected.stuck ? DAG_DEADLOCK : DAG_OK)) {
        fail_msg("seed %lu: outcome %d, by the reference %s; %s", (unsigned long)seed, (int)outcome,
                 expected.stuck ? "stuck" : "not stuck", edit_text(fixture));
    }
    if (outcome == DAG_OK) {
        if (seed % 2) assert_true(derive_run_by(fixture->simulation, 2)); // so small a run is derived by one thread
        const struct dag *run = simulation_dag(fixture->simulation);
        compare_vertices(fixture, run, &expected, tolerance_ns, seed);
        if (fixture->edit.parts_count) compare_parts(fixture->dag, run, &expected, tolerance_ns, seed);
    }
    reference_destroy(&expected);
}

static void check_thread_as_recorded(const struct dag *dag, const struct dag *run, uint32_t thread, uint64_t seed) {
    for (uint32_t v = run->threads[thread].first; v < run->threads[thread].first + run->threads[thread].count; v++) {
        if (run->source[v] == DAG_NONE || is_workers_own(run, thread, run->vertices.kind[v])) continue;
        if (run->vertices.time_ns[v] == dag->vertices.time_ns[run->source[v]]) continue;
        fail_msg("seed %lu: vertex %u at %ld, recorded at %ld", (unsigned long)seed, run->source[v],
                 (long)run->vertices.time_ns[v], (long)dag->vertices.time_ns[run->source[v]]);
    }
}

static void test_replay_is_exact(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    uint64_t dispatched[DISPATCH_KINDS] = {0};
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_random(&fixture, seed, seed % 3);
        const struct dag *dag = fixture.dag;
        assert_int_equal(dag->skew_fixed, 0);
        assert_true(reference_knows(dag));
        for (uint32_t t = 0; t < dag->task_count; t++) dispatched[dag->tasks[t].dispatch]++;
        compare(&fixture, &model, 0, seed);
        const struct dag *run = simulation_dag(fixture.simulation);
        for (uint32_t i = 0; i < run->thread_count; i++) check_thread_as_recorded(dag, run, i, seed);
        simulate_fixture_close(&fixture);
    }
    dispatched[DISPATCH_NEXT] = cases; // actors' (mailbox_test)
    for (unsigned d = DISPATCH_THREAD; d <= DISPATCH_CALLER; d++) assert_true(dispatched[d] >= cases / 100);
}

// Whether all that kept a task from a resource is known: not where it asked for it in the instant in which it came
// back.
static bool tells_all_holders(const struct dag *dag) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        if (dag->resources[dag->asks[i].resource].tells_holds && dag->asks[i].unknown_ns > 0) return false;
    }
    return true;
}

// Whether one that came had an unfair resource before a waiter that had been called. How long the waiter would have
// taken to come, then, nothing tells.
static bool is_any_overtaken(const struct dag *dag) {
    const int64_t *time_ns = dag->vertices.time_ns;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *comes = &dag->asks[i];
        if (comes->asked != DAG_NONE || comes->got == DAG_NONE || dag->resources[comes->resource].fair) continue;
        for (uint32_t j = 0; j < dag->ask_count; j++) {
            const struct dag_ask *waits = &dag->asks[j];
            if (waits->resource != comes->resource || waits->asked == DAG_NONE) continue;
            if (time_ns[waits->asked] <= time_ns[comes->got] && time_ns[comes->got] < time_ns[waits->got]) return true;
        }
    }
    return false;
}

static void test_replay_of_resources_is_exact(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    uint64_t told = 0, waited = 0, given_up = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_resources(&fixture, seed, seed % 3, seed % 2);
        const struct dag *dag = fixture.dag;
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
        const struct dag *run = simulation_dag(fixture.simulation);
        bool is_told = tells_all_holders(dag) && !is_any_overtaken(dag);
        told += is_told;
        for (uint32_t i = 0; i < run->thread_count && is_told; i++) check_thread_as_recorded(dag, run, i, seed);
        for (uint32_t i = 0; i < dag->ask_count; i++) {
            waited += dag->resources[dag->asks[i].resource].tells_holds && dag->asks[i].asked != DAG_NONE;
            given_up += dag->asks[i].given_up;
        }
        simulate_fixture_close(&fixture);
    }
    if (told < cases * 3 / 4 || waited < 5 * cases || given_up < cases / 2)
        fail_msg("%lu of %lu, %lu waits, %lu given up", told, cases, waited, given_up);
}

static int by_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// How long a resource's waits take to go on, without a tenth at each end. Of fewer than five: as all waits do.
static int64_t granted_ns(const struct dag *dag, uint32_t resource) {
    int64_t *values = calloc((size_t)dag->ask_count + 1, sizeof *values);
    assert_non_null(values);
    size_t count = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        bool waited = ask->resource == resource && ask->asked != DAG_NONE && ask->got != DAG_NONE && !ask->given_up;
        if (!waited || !dag->resources[resource].tells_holds) continue;
        values[count] = ask->waking_ns - (dag->vertices.queued_ns ? dag->vertices.queued_ns[ask->got] : 0);
        if (values[count++] < 0) values[count - 1] = 0;
    }
    qsort(values, count, sizeof *values, by_ns);
    double sum_ns = 0;
    for (size_t i = count / 10; i < count - count / 10; i++) sum_ns += (double)values[i];
    free(values);
    return count < 5 ? dag->wakeup_ns : (int64_t)(sum_ns / (double)(count - 2 * (count / 10)) + 0.5);
}

static void test_costs_of_grants(void **state) {
    (void)state;
    uint64_t known = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_resources(&fixture, seed, seed % 3, seed % 2);
        for (uint32_t r = 0; r < fixture.dag->resource_count; r++) {
            int64_t expected_ns = granted_ns(fixture.dag, r);
            assert_true(llabs(fixture.costs->granted_ns[r] - expected_ns) <= 1); // summed in another order
            known += expected_ns != fixture.dag->wakeup_ns;
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(known > cases / 4);
}

// Under the empty edit, of resources alone, of tasks alone, and of all.
static void compare_resources(uint64_t seed, uint32_t cores, bool limits, const struct model *model) {
    static const unsigned kinds[] = {0, EDIT_RESOURCES, EDIT_INLINE | EDIT_RESIZE, EDIT_RESOURCES, EDIT_ALL};
    struct simulate_fixture fixture;
    struct random_source source = {seed};
    simulate_fixture_open_resources(&fixture, seed, cores, limits);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        random_edit(&fixture, &source, kinds[i]);
        compare(&fixture, model, model->kind == MODEL_CPU ? CPU_TOLERANCE_NS : 0, seed);
    }
    simulate_fixture_close(&fixture);
}

static void test_resources_equal_reference(void **state) {
    (void)state;
    const struct model by_pools = {.kind = MODEL_POOL};
    compared = 0;
    for (uint64_t seed = 0; seed < cases; seed++) compare_resources(seed, 0, seed % 2, &by_pools);
    assert_true(compared > cases * 3);
}

static void test_resources_equal_reference_on_cores(void **state) {
    (void)state;
    compared = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        const struct model by_cores = {.kind = MODEL_CPU, .cores = (double)(seed / 4 % 5)};
        compare_resources(seed, 1 + seed % 4, seed % 2, &by_cores);
    }
    assert_true(compared > cases * 3);
}

static void test_pool_equals_reference(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, 0);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            random_edit(&fixture, &source, EDIT_ALL);
            compare(&fixture, &model, 0, seed);
        }
        simulate_fixture_close(&fixture);
    }
}

// Whether a task may be made in the body of another, which began before it was handed over; and not before `other`.
static bool may_make(const struct dag *dag, uint32_t maker, uint32_t task, uint32_t other) {
    const int64_t *time_ns = dag->vertices.time_ns;
    const struct dag_task *of = &dag->tasks[maker];
    if (maker == task || of->start == DAG_NONE || dag->tasks[task].spawn_begin == DAG_NONE) return false;
    if (time_ns[of->start] >= time_ns[dag->tasks[task].spawn_begin]) return false;
    return other == DAG_NONE || time_ns[of->start] > time_ns[dag->tasks[other].start];
}

// Each task that can be is made in the body of one of those that began shortly before it was handed over.
static void make_elsewhere(struct simulate_fixture *fixture, struct random_source *source) {
    struct dag *dag = fixture->dag;
    struct error *error = &fixture->error;
    uint32_t *made_in = dag->made_in = ARENA_NEW(&dag->arena, uint32_t, (size_t)dag->task_count + 1);
    assert_non_null(made_in);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        made_in[t] = DAG_NONE;
        for (uint32_t i = 0; i < dag->task_count; i++) {
            const uint32_t maker = (uint32_t)random_below(source, dag->task_count);
            if (may_make(dag, maker, t, made_in[t])) made_in[t] = maker;
        }
    }
    simulation_free(fixture->simulation);
    must((fixture->simulation = simulation_new(dag, fixture->costs, error)) != NULL, error);
}

// Tasks that the last run had handed over before they were made.
static uint64_t count_unmade(const struct simulate_fixture *fixture) {
    const struct dag *dag = fixture->dag;
    const int64_t *time_ns = simulation_times(fixture->simulation);
    uint64_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->made_in[t] == DAG_NONE) continue;
        const int64_t made_ns = time_ns[dag->tasks[dag->made_in[t]].start];
        const int64_t spawned_ns = time_ns[dag->tasks[t].spawn_begin];
        count += spawned_ns != DAG_ABSENT && spawned_ns != DAG_PENDING && made_ns > spawned_ns;
    }
    return count;
}

static void test_making_equals_reference(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    uint64_t unmade = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, 0);
        make_elsewhere(&fixture, &source);
        compare(&fixture, &model, 0, seed);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            random_edit(&fixture, &source, EDIT_INLINE | EDIT_RESIZE);
            compare(&fixture, &model, 0, seed);
            unmade += count_unmade(&fixture);
        }
        simulate_fixture_close(&fixture);
    }
    if (unmade < cases / 2) fail_msg("%lu", (unsigned long)unmade);
}

// Cores are shared in both by steps that end between ns, and each task's times follow from others'.
static void test_cpu_equals_reference(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, 1 + seed % 4);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = MODEL_CPU, .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i % 2 ? EDIT_ALL : EDIT_INLINE | EDIT_RESIZE);
            compare(&fixture, &model, CPU_TOLERANCE_NS, seed);
        }
        simulate_fixture_close(&fixture);
    }
}

static void test_replay_of_idling_is_exact(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_keep_alive(&fixture, seed, seed % 3);
        assert_true(reference_knows(fixture.dag));
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
        const struct dag *run = simulation_dag(fixture.simulation);
        for (uint32_t i = 0; i < run->thread_count; i++) check_thread_as_recorded(fixture.dag, run, i, seed);
        simulate_fixture_close(&fixture);
    }
}

// Workers that retire since they were idle.
static void test_idling_equals_reference(void **state) {
    (void)state;
    compared = idled_out = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_keep_alive(&fixture, seed, seed % 2 ? 0 : 1 + seed / 2 % 4);
        for (unsigned i = 0; i < 2 * EDITS_EACH; i++) {
            const struct model model = {.kind = i % 2 && seed % 2 == 0 ? MODEL_CPU : MODEL_POOL,
                                        .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i < 2 ? 0 : i < EDITS_EACH ? EDIT_INLINE | EDIT_RESIZE : EDIT_ALL);
            compare(&fixture, &model, model.kind == MODEL_CPU ? CPU_TOLERANCE_NS : 0, seed);
        }
        simulate_fixture_close(&fixture);
    }
    if (compared < cases * 6 || idled_out < cases * 4)
        fail_msg("%lu compared, %lu idled out", (unsigned long)compared, (unsigned long)idled_out);
}

static int32_t workers_of(const struct dag *dag, uint32_t pool) {
    int32_t count = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) count += dag->threads[i].worker && dag->threads[i].pool == pool;
    return count;
}

// Pools that make a worker before a task queues, as recorded and under edits.
static void test_growing_equals_reference(void **state) {
    (void)state;
    compared = 0;
    uint64_t beyond_core = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_growth(&fixture, seed, seed % 2 ? 0 : 1 + seed / 2 % 4);
        for (uint32_t p = 1; p < fixture.dag->pool_count; p++)
            beyond_core += fixture.dag->pools[p].grows_first && workers_of(fixture.dag, p) > fixture.dag->pools[p].core;
        for (unsigned i = 0; i < 2 * EDITS_EACH; i++) {
            const struct model model = {.kind = i % 2 && seed % 2 == 0 ? MODEL_CPU : MODEL_POOL,
                                        .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i < 2 ? 0 : i < EDITS_EACH ? EDIT_INLINE | EDIT_RESIZE : EDIT_ALL);
            compare(&fixture, &model, model.kind == MODEL_CPU ? CPU_TOLERANCE_NS : 0, seed);
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(compared > 6 * cases && beyond_core > cases / 8);
}

static void test_replay_of_growing_is_exact(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_growth(&fixture, seed, seed % 3);
        assert_true(reference_knows(fixture.dag));
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
        const struct dag *run = simulation_dag(fixture.simulation);
        for (uint32_t i = 0; i < run->thread_count; i++) check_thread_as_recorded(fixture.dag, run, i, seed);
        simulate_fixture_close(&fixture);
    }
}

// Limits of waits for results that no wait comes near change nothing: the reference does not know them.
static void test_limits_out_of_reach(void **state) {
    (void)state;
    uint64_t limited = 0;
    compared = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_wait_limits(&fixture, seed, seed % 2 ? 0 : 1 + seed / 2 % 4);
        limited += fixture.dag->await_count;
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = i % 2 && seed % 2 == 0 ? MODEL_CPU : MODEL_POOL,
                                        .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i == 0 ? 0 : EDIT_ALL);
            if (!simulates(&fixture.edit, model.kind)) continue;
            simulation_run(fixture.simulation, &fixture.edit, &model);
            if (simulation_outcomes(fixture.simulation).alone > 0) continue; // it would have waited for ever
            compare(&fixture, &model, model.kind == MODEL_CPU ? CPU_TOLERANCE_NS : 0, seed);
        }
        simulate_fixture_close(&fixture);
    }
    if (limited < cases || compared < 2 * cases)
        fail_msg("%lu waits with a limit, %lu compared", (unsigned long)limited, (unsigned long)compared);
}

// Pools that steal, of which a few waiters also helped others when recorded.
static void open_stealing(struct simulate_fixture *fixture, uint64_t seed) {
    struct random_pool options = random_pool_options(seed, 0);
    struct random_source source = {~seed};
    struct program *program = malloc(sizeof *program);
    assert_non_null(program);
    for (uint32_t p = 0; p < options.pool_count; p++) {
        if (p == 0 || random_below(&source, 2)) options.pools[p].rules = POOL_STEALING;
    }
    options.waits = true;
    options.helps = random_below(&source, 2);
    random_pool_program(&options, program);
    simulate_fixture_open(fixture, program_trace(program, &options));
    free(program);
}

static void test_stealing_equals_reference(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    uint64_t helped = 0, inlined = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        open_stealing(&fixture, seed);
        assert_true(reference_knows(fixture.dag));
        for (uint32_t t = 0; t < fixture.dag->task_count; t++)
            helped += fixture.dag->tasks[t].dispatch == DISPATCH_HELPED;
        compare(&fixture, &model, 0, seed);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            random_edit(&fixture, &source, i % 2 ? EDIT_ALL : EDIT_INLINE | EDIT_RESIZE);
            inlined += fixture.edit.inlined_count;
            compare(&fixture, &model, 0, seed);
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(helped > cases && inlined > cases);
}

enum { SAMPLES = 6 };

// As if others had computed meanwhile, up to all that the cores can do.
static void add_background(struct simulate_fixture *fixture, struct random_source *source, uint64_t most_percent,
                           struct dag_sample samples[SAMPLES]) {
    struct dag *dag = fixture->dag;
    struct error error = ERROR_INIT;
    uint64_t step_ns = (uint64_t)(dag->last_ns - dag->first_ns) / SAMPLES + 1;
    int64_t now_ns = dag->first_ns, busy_ns = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        int64_t passed_ns = (int64_t)random_below(source, 2 * step_ns) + 1;
        now_ns += passed_ns;
        busy_ns += passed_ns * dag->trace->header.cores * (int64_t)random_below(source, most_percent + 1) / 100;
        samples[i] = (struct dag_sample){.time_ns = now_ns, .process_cpu_ns = busy_ns / 2, .machine_cpu_ns = busy_ns};
    }
    dag->samples = samples;
    dag->sample_count = SAMPLES;
    simulation_free(fixture->simulation);
    fixture->simulation = simulation_new(dag, fixture->costs, &error);
    assert_non_null(fixture->simulation);
}

static void remove_background(struct simulate_fixture *fixture) {
    fixture->dag->samples = NULL;
    fixture->dag->sample_count = 0;
}

static void test_background_equals_reference(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        struct dag_sample samples[SAMPLES];
        simulate_fixture_open_random(&fixture, seed, 1 + seed % 4);
        add_background(&fixture, &source, 100, samples);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = MODEL_CPU, .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i % 2 ? EDIT_ALL : EDIT_INLINE | EDIT_RESIZE);
            compare(&fixture, &model, CPU_TOLERANCE_NS, seed);
        }
        remove_background(&fixture);
        simulate_fixture_close(&fixture);
    }
}

enum { PAUSES = 4 };

// The JVM stands still now and then, and all that was still to come comes as much later. Of every second
// collection it is known how much had been allocated.
static void add_pauses(struct simulate_fixture *fixture, struct random_source *source,
                       struct dag_pause pauses[PAUSES]) {
    struct dag *dag = fixture->dag;
    struct error error = ERROR_INIT;
    uint64_t step_ns = (uint64_t)(dag->last_ns - dag->first_ns) / PAUSES + 2;
    int64_t now_ns = dag->first_ns;
    for (unsigned i = 0; i < PAUSES; i++) {
        int64_t begin_ns = now_ns + 1 + (int64_t)random_below(source, step_ns);
        int64_t length_ns = 1 + (int64_t)random_below(source, step_ns);
        for (uint32_t v = 0; v < dag->vertex_count; v++) {
            if (dag->vertices.time_ns[v] > begin_ns) dag->vertices.time_ns[v] += length_ns;
        }
        if (dag->last_ns > begin_ns) dag->last_ns += length_ns;
        now_ns = begin_ns + length_ns;
        pauses[i] = (struct dag_pause){begin_ns, now_ns, i % 2 * (uint64_t)begin_ns % 1000};
    }
    dag->pauses = pauses;
    dag->pause_count = PAUSES;
    simulation_free(fixture->simulation);
    costs_free(fixture->costs);
    assert_non_null(fixture->costs = costs_measure(dag, &error));
    assert_non_null(fixture->simulation = simulation_new(dag, fixture->costs, &error));
}

static void test_pauses_equal_reference(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        struct dag_pause pauses[PAUSES];
        simulate_fixture_open_random(&fixture, seed, 1 + seed % 4);
        add_pauses(&fixture, &source, pauses);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = MODEL_CPU, .cores = (double)random_below(&source, 5)};
            random_edit(&fixture, &source, i == 0 ? 0 : i % 2 ? EDIT_ALL : EDIT_INLINE | EDIT_RESIZE);
            compare(&fixture, &model, CPU_TOLERANCE_NS, seed);
        }
        fixture.dag->pauses = NULL;
        fixture.dag->pause_count = 0;
        simulate_fixture_close(&fixture);
    }
}

static void copy_times(const struct dag *run, int64_t *times, uint32_t count) {
    for (uint32_t v = 0; v < count; v++) times[v] = v < run->vertex_count ? run->vertices.time_ns[v] : DAG_ABSENT;
}

// Samples that tell of nobody else change nothing.
static void test_no_background_changes_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        struct dag_sample samples[SAMPLES];
        simulate_fixture_open_random(&fixture, seed, 1 + seed % 4);
        const struct model model = {.kind = MODEL_CPU, .cores = (double)random_below(&source, 5)};
        random_edit(&fixture, &source, EDIT_ALL);
        uint32_t count = 2 * fixture.dag->vertex_count;
        int64_t *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
        assert_true(before && after);
        enum dag_outcome outcome = simulation_run(fixture.simulation, &fixture.edit, &model);
        if (outcome == DAG_OK) copy_times(simulation_dag(fixture.simulation), before, count);
        add_background(&fixture, &source, 0, samples);
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), outcome);
        if (outcome == DAG_OK) copy_times(simulation_dag(fixture.simulation), after, count);
        for (uint32_t v = 0; outcome == DAG_OK && v < count; v++) {
            if (llabs(after[v] - before[v]) > CPU_TOLERANCE_NS) fail_msg("seed %lu: vertex %u", (unsigned long)seed, v);
        }
        free(before);
        free(after);
        remove_background(&fixture);
        simulate_fixture_close(&fixture);
    }
}

// ---- laws

static void assert_near(double value, double recorded, double floor, const char *what, uint64_t seed) {
    if (fabs(value - recorded) > 0.005 * fmax(fabs(recorded), floor)) {
        fail_msg("seed %lu: %s %f, recorded %f", (unsigned long)seed, what, value, recorded);
    }
}

static struct metrics metrics_of(const struct dag *run) {
    struct metrics_work work = {0};
    struct metrics metrics;
    struct error error = ERROR_INIT;
    assert_true(metrics_of_run(run, true, NULL, NULL, &work, &metrics, &error));
    metrics_work_destroy(&work);
    return metrics;
}

// SPEC section 5: with an empty plan wall, peaks and means come back within 0.5 %.
static void check_null_replay(struct simulate_fixture *fixture, enum model_kind kind, uint64_t seed) {
    const struct model model = {.kind = kind};
    if (!simulates(&fixture->edit, kind)) return;
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, &model), DAG_OK);
    struct metrics then = metrics_of(fixture->dag), now = metrics_of(simulation_dag(fixture->simulation));
    assert_near((double)now.wall_ns, (double)then.wall_ns, 0, "wall", seed);
    for (enum thread_state state = STATE_OCCUPIED; state <= STATE_WAITING; state++) {
        assert_near(now.threads[state].mean, then.threads[state].mean, 1, "mean", seed);
        assert_near(now.threads[state].peak, then.threads[state].peak, 1, "peak", seed);
    }
}

static void test_null_replay(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open_random(&fixture, seed, seed % 4);
        check_null_replay(&fixture, MODEL_POOL, seed);
        // In shorter ones the ns between boundaries count, whose computing is shared out by length.
        if (run_wall_ns(fixture.dag) > 500000) check_null_replay(&fixture, MODEL_CPU, seed);
        simulate_fixture_close(&fixture);
    }
}

// In the simulated run.
static double computed_ns(const struct simulate_fixture *fixture) {
    const struct dag *run = simulation_dag(fixture->simulation);
    double sum_ns = 0;
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->source[v] != DAG_NONE) sum_ns += (double)fixture->dag->vertices.compute_ns[run->source[v]];
    }
    return sum_ns;
}

static void test_work_and_span_are_least(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, 1 + seed % 4);
        double cores = 1 + (double)random_below(&source, 4);
        const struct model model = {.kind = MODEL_CPU, .cores = cores};
        random_edit(&fixture, &source, EDIT_ALL);
        bool known = simulates(&fixture.edit, model.kind);
        if (known && simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK) {
            struct metrics metrics = metrics_of(simulation_dag(fixture.simulation));
            double least_ns = fmax(metrics.tasks.span_ns, computed_ns(&fixture) / cores);
            if ((double)metrics.wall_ns < least_ns * 0.999 - 100) {
                fail_msg("seed %lu: wall %ld below %f; %s", (unsigned long)seed, (long)metrics.wall_ns, least_ns,
                         edit_text(&fixture));
            }
        }
        simulate_fixture_close(&fixture);
    }
}

// What tasks do between two of their events takes as long as ever; only waits and hand-overs change.
static void check_work(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *dag = fixture->dag, *run = simulation_dag(fixture->simulation);
    for (uint32_t v = 1; v < run->vertex_count; v++) {
        uint32_t source = run->source[v], before = run->source[v - 1];
        if (source == DAG_NONE || before == DAG_NONE || source != before + 1) continue;
        unsigned kind = dag->vertices.kind[source];
        bool works = dag->vertices.rule[source] == RULE_RUN && kind <= VERTEX_WAIT_BEGIN && kind != VERTEX_START;
        if (!works || dag->vertices.kind[before] == VERTEX_SPAWN_BEGIN) continue;
        if (start_of_group(fixture, before) != before) continue; // other members' work, too
        if (fixture->edit.staged_count && dag->vertices.kind[before] == VERTEX_RESULT) continue; // stages', too
        int64_t now_ns = run->vertices.time_ns[v] - run->vertices.time_ns[v - 1];
        int64_t then_ns = dag->vertices.time_ns[source] - dag->vertices.time_ns[before];
        if (now_ns != then_ns) {
            fail_msg("seed %lu: work before %u changed from %ld to %ld; %s", (unsigned long)seed, source, (long)then_ns,
                     (long)now_ns, edit_text(fixture));
        }
    }
}

static void check_causes(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t cause = run->vertices.cause[v];
        if (cause != DAG_NONE && run->vertices.time_ns[cause] > run->vertices.time_ns[v]) {
            fail_msg("seed %lu: vertex %u before its cause; %s", (unsigned long)seed, v, edit_text(fixture));
        }
    }
}

static void test_work_is_conserved_and_causes_come_first(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, seed % 4);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = i % 2 ? MODEL_CPU : MODEL_POOL};
            random_edit(&fixture, &source, i < 2 ? EDIT_INLINE | EDIT_RESIZE : EDIT_ALL);
            if (!simulates(&fixture.edit, model.kind)) continue;
            if (simulation_run(fixture.simulation, &fixture.edit, &model) != DAG_OK) continue;
            check_causes(&fixture, seed);
            if (model.kind == MODEL_POOL) check_work(&fixture, seed);
        }
        simulate_fixture_close(&fixture);
    }
}

// ---- laws of resources

struct taking { // or its end
    int64_t time_ns;
    uint32_t ask, thread;
    int units; // less than 0: given back
};

// What is given back in the instant in which it is taken is given back first.
static int by_time(const void *a, const void *b) {
    const struct taking *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->units > 0) - (y->units > 0);
}

static bool is_lock(const struct dag *dag, uint32_t resource) {
    return dag->resources[resource].kind != RESOURCE_PERMITS;
}

static uint32_t find_takings(const struct dag *run, uint32_t resource, struct taking *takings) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->thread_count; i++) {
        for (uint32_t v = run->threads[i].first; v < run->threads[i].first + run->threads[i].count; v++) {
            unsigned kind = run->vertices.kind[v];
            bool gets = kind == VERTEX_ACQUIRED || kind == VERTEX_HELD;
            if (!gets && kind != VERTEX_RELEASED) continue;
            const struct dag_ask *ask = &run->asks[run->vertices.task[v]];
            if (ask->resource != resource) continue;
            int units = gets ? ask->units : -ask->units;
            takings[count++] = (struct taking){run->vertices.time_ns[v], run->vertices.task[v], i, units};
        }
    }
    qsort(takings, count, sizeof *takings, by_time);
    return count;
}

// A lock that its thread has already, since a body moved in, is not had once more.
static void check_capacity(const struct simulate_fixture *fixture, uint32_t resource, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    struct taking *takings = calloc(run->vertex_count + 1, sizeof *takings);
    uint32_t *depth = calloc(run->thread_count + 1, sizeof *depth);
    assert_true(takings && depth);
    const struct dag_resource *of = &fixture->dag->resources[resource];
    int64_t resized = fixture->edit.resource_units[resource], left = resized ? resized : of->initial;
    uint32_t count = find_takings(run, resource, takings);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *of_thread = &depth[takings[i].thread];
        bool counts = takings[i].units > 0 ? (*of_thread)++ == 0 : --*of_thread == 0;
        if (counts || !is_lock(fixture->dag, resource)) left -= takings[i].units;
        if (left < 0)
            fail_msg("seed %lu: resource %u: more than there is at %ld; %s", (unsigned long)seed, resource,
                     (long)takings[i].time_ns, edit_text(fixture));
    }
    free(takings);
    free(depth);
}

// What a task does up to where it asks, or gives back, takes as long as ever.
static void check_work_of_resources(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *dag = fixture->dag, *run = simulation_dag(fixture->simulation);
    for (uint32_t v = 1; v < run->vertex_count; v++) {
        uint32_t source = run->source[v], before = run->source[v - 1];
        unsigned kind = run->vertices.kind[v];
        bool works = kind == VERTEX_ACQUIRE || kind == VERTEX_RELEASED || kind == VERTEX_HELD;
        if (!works || source == DAG_NONE || before == DAG_NONE || source != before + 1) continue;
        int64_t now_ns = run->vertices.time_ns[v] - run->vertices.time_ns[v - 1];
        int64_t then_ns = dag->vertices.time_ns[source] - dag->vertices.time_ns[before];
        if (now_ns != then_ns && dag->vertices.kind[before] != VERTEX_SPAWN_BEGIN)
            fail_msg("seed %lu: work before %u changed from %ld to %ld; %s", (unsigned long)seed, source, (long)then_ns,
                     (long)now_ns, edit_text(fixture));
    }
}

static uint32_t next_of_resource(const struct dag *dag, uint32_t v, uint32_t end) {
    while (v < end && !(vertex_is_of_resource(dag->vertices.kind[v]) &&
                        dag->resources[dag->asks[dag->vertices.task[v]].resource].tells_holds))
        v++;
    return v;
}

// Read again, a task asks for the same at the same times, up to a ns an event, with the same outcomes.
static void check_written_task(const struct dag *run, const struct dag_task *task, const struct dag *again,
                               const struct dag_task *same, uint64_t seed) {
    int64_t slack_ns = (int64_t)run->trace->event_count;
    uint32_t v = next_of_resource(run, task->start, task->end), w = next_of_resource(again, same->start, same->end);
    while (v < task->end && w < same->end) {
        int64_t off_ns = run->vertices.time_ns[v] - again->vertices.time_ns[w];
        uint64_t id = run->resources[run->asks[run->vertices.task[v]].resource].id;
        uint64_t same_id = again->resources[again->asks[again->vertices.task[w]].resource].id;
        if (run->vertices.kind[v] != again->vertices.kind[w] || id != same_id || llabs(off_ns) > slack_ns)
            fail_msg("seed %lu: task %lu: %u at %ld, written %u at %ld", (unsigned long)seed, (unsigned long)task->id,
                     run->vertices.kind[v], (long)run->vertices.time_ns[v], again->vertices.kind[w],
                     (long)again->vertices.time_ns[w]);
        v = next_of_resource(run, v + 1, task->end);
        w = next_of_resource(again, w + 1, same->end);
    }
    if ((v < task->end) != (w < same->end))
        fail_msg("seed %lu: task %lu", (unsigned long)seed, (unsigned long)task->id);
}

static void check_written_resources(const struct dag *run, uint64_t seed) {
    struct trace *trace = written_run(run);
    struct error error = ERROR_INIT;
    struct dag *again = dag_build(trace, &error);
    assert_non_null(again);
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->flags & TASK_NESTED || task->start == DAG_NONE) continue;
        for (uint32_t u = 0; u < again->task_count; u++) {
            if (again->tasks[u].id == task->id && again->tasks[u].start != DAG_NONE)
                check_written_task(run, task, again, &again->tasks[u], seed);
        }
    }
    dag_free(again);
    trace_close(trace);
}

static void check_laws_of_resources(struct simulate_fixture *fixture, const struct model *model, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    uint32_t count = 2 * fixture->dag->vertex_count + 1000;
    int64_t *times = malloc(count * sizeof *times), *again = malloc(count * sizeof *again);
    assert_true(times && again);
    for (uint32_t r = 0; r < fixture->dag->resource_count; r++) {
        if (fixture->dag->resources[r].tells_holds && !fixture->edit.unlocked[r]) check_capacity(fixture, r, seed);
    }
    if (model->kind == MODEL_POOL) check_work_of_resources(fixture, seed);
    check_written_resources(run, seed);
    copy_times(run, times, count);
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, model), DAG_OK);
    copy_times(run, again, count);
    assert_memory_equal(times, again, count * sizeof *times);
    free(times);
    free(again);
}

static void test_laws_of_resources(void **state) {
    (void)state;
    static const unsigned kinds[] = {0, EDIT_RESOURCES, EDIT_INLINE | EDIT_RESIZE | EDIT_RESOURCES, EDIT_RESOURCES};
    uint64_t changed = 0;
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_resources(&fixture, seed, seed % 4, seed % 3);
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const struct model model = {.kind = i % 2 ? MODEL_POOL : MODEL_CPU};
            random_edit(&fixture, &source, kinds[i]);
            if (simulation_run(fixture.simulation, &fixture.edit, &model) != DAG_OK) continue;
            changed += fixture.simulation->outcomes_changed;
            check_laws_of_resources(&fixture, &model, seed);
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(changed > cases / 10);
}

// ---- written runs

static struct metrics metrics_of_written(const struct dag *run) {
    char path[] = "/tmp/rehype-test-XXXXXX";
    struct error error = ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_true(dag_write_run(run, 0, path, &error));
    struct trace *trace = trace_open(path, false, &error);
    unlink(path);
    assert_non_null(trace);
    struct dag *dag = dag_build(trace, &error);
    assert_non_null(dag);
    struct metrics metrics = metrics_of(dag);
    dag_free(dag);
    trace_close(trace);
    return metrics;
}

// Events at one instant come a ns apart. What was computed between two boundaries is shared out by length when it is
// read, also where the run knew better: that moves the span, and some of what was slept unseen.
static void check_written(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    struct metrics now = metrics_of(run), read = metrics_of_written(run);
    double slack_ns = (double)fixture->trace->event_count, slack = slack_ns / (double)now.wall_ns;
    double blocked = read.threads[STATE_BLOCKED].mean; // unknown where no event tells of a lock
    const struct {
        const char *what;
        double read, now, slack;
    } figures[] = {
        {"wall", (double)read.wall_ns, (double)now.wall_ns, slack_ns},
        {"tasks", (double)read.tasks.count, (double)now.tasks.count, 0},
        {"granularity", read.tasks.granularity.mean, now.tasks.granularity.mean, slack_ns},
        {"work", read.tasks.work_ns, now.tasks.work_ns, slack_ns},
        {"span", read.tasks.span_ns, now.tasks.span_ns, 0.15 * now.tasks.span_ns},
        {"occupied", read.threads[STATE_OCCUPIED].mean, now.threads[STATE_OCCUPIED].mean, slack},
        {"active", read.threads[STATE_ACTIVE].mean, now.threads[STATE_ACTIVE].mean, slack},
        {"waiting", read.threads[STATE_WAITING].mean, now.threads[STATE_WAITING].mean, slack},
        {"blocked", blocked, isnan(blocked) ? NAN : now.threads[STATE_BLOCKED].mean,
         slack + 0.05 * now.threads[STATE_BLOCKED].mean},
        {"unoccupied", read.threads[STATE_UNOCCUPIED].mean, now.threads[STATE_UNOCCUPIED].mean, slack},
        {"peak of occupied", read.threads[STATE_OCCUPIED].peak, now.threads[STATE_OCCUPIED].peak, 0},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (isnan(figures[i].read) && isnan(figures[i].now)) continue;
        if (fabs(figures[i].read - figures[i].now) <= figures[i].slack + 0.001 * fabs(figures[i].now)) continue;
        fail_msg("seed %lu: %s is %f, written %f; %s", (unsigned long)seed, figures[i].what, figures[i].now,
                 figures[i].read, edit_text(fixture));
    }
}

static void test_runs_are_written_as_they_were(void **state) {
    (void)state;
    static const unsigned kinds[EDITS_EACH] = {EDIT_MERGE | EDIT_RESIZE, EDIT_SPLIT, EDIT_STAGE | EDIT_INLINE,
                                               EDIT_ALL};
    for (uint64_t seed = 0; seed < cases; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open_random(&fixture, seed, seed % 4);
        for (unsigned i = 0; i < EDITS_EACH; i++) {
            const struct model model = {.kind = seed % 2 ? MODEL_CPU : MODEL_POOL};
            random_edit(&fixture, &source, kinds[i]);
            if (simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK) check_written(&fixture, seed);
        }
        simulate_fixture_close(&fixture);
    }
}

int main(int argc, char **argv) {
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    if (argc > 1)
        cases = (uint64_t)((double)cases * strtod(argv[1], NULL)); // 10: as many again ten times, 0.2: a fifth
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_is_exact),
        cmocka_unit_test(test_replay_of_resources_is_exact),
        cmocka_unit_test(test_costs_of_grants),
        cmocka_unit_test(test_resources_equal_reference),
        cmocka_unit_test(test_resources_equal_reference_on_cores),
        cmocka_unit_test(test_pool_equals_reference),
        cmocka_unit_test(test_making_equals_reference),
        cmocka_unit_test(test_stealing_equals_reference),
        cmocka_unit_test(test_cpu_equals_reference),
        cmocka_unit_test(test_replay_of_idling_is_exact),
        cmocka_unit_test(test_idling_equals_reference),
        cmocka_unit_test(test_replay_of_growing_is_exact),
        cmocka_unit_test(test_growing_equals_reference),
        cmocka_unit_test(test_limits_out_of_reach),
        cmocka_unit_test(test_background_equals_reference),
        cmocka_unit_test(test_no_background_changes_nothing),
        cmocka_unit_test(test_pauses_equal_reference),
        cmocka_unit_test(test_null_replay),
        cmocka_unit_test(test_work_and_span_are_least),
        cmocka_unit_test(test_work_is_conserved_and_causes_come_first),
        cmocka_unit_test(test_laws_of_resources),
        cmocka_unit_test(test_runs_are_written_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
