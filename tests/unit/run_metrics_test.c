// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of simulated runs, on random programs and edits: those of the recording where nothing is changed, those of
// the overlay where that tells the same run, and laws that hold of every run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/simulate/stretches.h"
#include "metrics/metrics.h"
#include "metrics/requests.h"
#include "metrics/streamed.h"
#include "random_edit.h"
#include "random_pool.h"
#include "random_trace.h"
#include "simulate_fixture.h"

enum { PROGRAMS = 150 };

struct fixture {
    struct simulate_fixture on;
    struct metrics_work recorded, simulated, streamed; // workspaces
};

static void open_fixture(struct fixture *f, struct trace_builder *tb) {
    *f = (struct fixture){0};
    simulate_fixture_open(&f->on, tb);
}

static void close_fixture(struct fixture *f) {
    metrics_work_destroy(&f->recorded);
    metrics_work_destroy(&f->simulated);
    metrics_work_destroy(&f->streamed);
    simulate_fixture_close(&f->on);
}

static unsigned streamed, asked;

// Figures without a DAG are those of the DAG, to the last bit.
static void assert_streamed(struct fixture *f) {
    struct metrics m, of_dag;
    struct simulation *simulation = f->on.simulation;
    const struct window *window = NULL;
    bool known;
    asked++;
    bool done = metrics_of_simulation(simulation, window, NULL, &f->streamed, &m, &known, &f->on.error);
    const uint32_t vertices = simulation_vertex_count(simulation);
    bool derived =
        metrics_of_run(simulation_dag(simulation), false, window, NULL, &f->simulated, &of_dag, &f->on.error);
    assert_int_equal(vertices, simulation_dag(simulation)->vertex_count);
    if (!known) return;
    streamed++;
    assert_int_equal(done, derived);
    if (!done) return;
    assert_int_equal(m.wall_ns, of_dag.wall_ns);
    assert_memory_equal(&m.thread_time_ns, &of_dag.thread_time_ns, sizeof m.thread_time_ns);
    assert_memory_equal(m.threads, of_dag.threads, sizeof m.threads);
    assert_memory_equal(&m.tasks.overhead_share, &of_dag.tasks.overhead_share, sizeof m.tasks.overhead_share);
    assert_memory_equal(&m.tasks.idle_share, &of_dag.tasks.idle_share, sizeof m.tasks.idle_share);
    assert_int_equal(m.lost_events, of_dag.lost_events);
    assert_int_equal(f->streamed.series.from_ns, f->simulated.series.from_ns);
    assert_int_equal(f->streamed.series.to_ns, f->simulated.series.to_ns);
    assert_int_equal(f->streamed.series.count, f->simulated.series.count);
}

// false: the run has no end.
static bool simulate(struct fixture *f, enum model_kind kind, struct metrics *m) {
    const struct model model = {.kind = kind};
    if (simulation_run(f->on.simulation, &f->on.edit, &model) != DAG_OK) return false;
    assert_streamed(f);
    return metrics_of_run(simulation_dag(f->on.simulation), true, NULL, NULL, &f->simulated, m, &f->on.error);
}

#define assert_near(a, b)                                                                                              \
    do {                                                                                                               \
        if (isnan(a) != isnan(b) || fabs((a) - (b)) > 1e-9 * fmax(1, fabs(b)))                                         \
            fail_msg("seed %lu: %.12g is not %.12g", (unsigned long)seed, (double)(a), (double)(b));                   \
    } while (0)

static void assert_same_states(const struct usage *a, const struct usage *b, uint64_t seed) {
    for (int s = 0; s < STATE_COUNT; s++) {
        assert_near(a[s].peak, b[s].peak);
        assert_near(a[s].max, b[s].max);
        assert_near(a[s].mean, b[s].mean);
    }
}

static void assert_same(const struct metrics *a, const struct metrics *b, uint64_t seed) {
    assert_near((double)a->wall_ns, (double)b->wall_ns);
    assert_same_states(a->threads, b->threads, seed);
    assert_same_states(a->virtual_threads, b->virtual_threads, seed);
    assert_near((double)a->tasks.count, (double)b->tasks.count);
    assert_near(a->tasks.idle_share, b->tasks.idle_share);
    assert_near(a->tasks.work_ns, b->tasks.work_ns);
    assert_near(a->tasks.span_ns, b->tasks.span_ns);
    assert_near(a->tasks.granularity.mean, b->tasks.granularity.mean);
    assert_near(a->requests.count, b->requests.count);
    assert_near(a->requests.latency_ns.mean, b->requests.latency_ns.mean);
    assert_near(a->requests.peak_threads, b->requests.peak_threads);
    assert_near(a->requests.sustainable_per_s, b->requests.sustainable_per_s);
}

// Work-span model: no run is shorter than its longest chain, nor than its work shared by all cores.
static void assert_laws(const struct fixture *f, const struct metrics *m, uint64_t seed) {
    const double wall_ns = (double)m->wall_ns, cores = f->on.trace->header.cores;
    if (m->tasks.span_ns > wall_ns) fail_msg("seed %lu: span beyond wall", (unsigned long)seed);
    bool enough_cores = m->threads[STATE_ACTIVE].max <= cores && isnan(m->virtual_threads[STATE_ACTIVE].max);
    if (enough_cores && m->tasks.work_ns > wall_ns * cores * (1 + 1e-9))
        fail_msg("seed %lu: more work than cores could do", (unsigned long)seed);
    if (m->tasks.idle_share < -1e-9 || m->tasks.idle_share > 1) fail_msg("seed %lu: idle share", (unsigned long)seed);
    assert_true(m->threads[STATE_OCCUPIED].peak <= m->threads[STATE_OCCUPIED].max + 1e-9);
    assert_true(m->threads[STATE_BLOCKED].mean <= m->threads[STATE_ACTIVE].mean + 1e-9);
}

static void test_nothing_changed(void **state) {
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        struct metrics recorded, simulated;
        open_fixture(&f, random_trace(seed));
        assert_true(metrics_of_run(f.on.dag, true, NULL, NULL, &f.recorded, &recorded, &f.on.error));
        assert_laws(&f, &recorded, seed);
        if (simulate(&f, MODEL_DAG, &simulated)) assert_same(&simulated, &recorded, seed);
        close_fixture(&f);
    }
}

// Whether each inlined body moves into another, so that whoever runs it is in a task before and after, and out of no
// other, whose computing around its pick-up an overlay can't tell.
static bool moves_into_bodies(const struct dag *dag, const struct dag_edit *edit) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        bool moves = dag->tasks[t].spawner != DAG_NONE && dag->tasks[t].enclosing == DAG_NONE;
        if (edit->inlined[t] && !moves) return false;
    }
    return true;
}

static void test_inlined(void **state) {
    unsigned compared = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        struct metrics overlay, simulated;
        struct random_source source = {seed};
        open_fixture(&f, random_trace(seed));
        simulate_fixture_inline_random(&f.on, &source, 1, 3);
        if (dag_propagate(f.on.dag, &f.on.edit, &f.on.run) == DAG_OK && moves_into_bodies(f.on.dag, &f.on.edit) &&
            metrics_compute(f.on.dag, &f.on.edit, &f.on.run, NULL, NULL, &f.recorded, &overlay, &f.on.error)) {
            assert_true(simulate(&f, MODEL_DAG, &simulated));
            assert_same(&simulated, &overlay, seed);
            assert_laws(&f, &simulated, seed);
            compared++;
        }
        close_fixture(&f);
    }
    assert_true(compared > PROGRAMS / 4);
}

static void test_pools(void **state) {
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        struct metrics recorded, simulated;
        struct random_source source = {seed};
        open_fixture(&f, random_trace(seed));
        assert_true(metrics_of_run(f.on.dag, true, NULL, NULL, &f.recorded, &recorded, &f.on.error));
        simulate_fixture_inline_random(&f.on, &source, 1, 4);
        if (simulate(&f, MODEL_POOL, &simulated)) {
            assert_laws(&f, &simulated, seed);
            assert_true(simulated.tasks.count <= recorded.tasks.count);
            assert_ptr_equal(simulated.requests.dag, recorded.requests.dag); // of the recording, and its site
            assert_int_equal(simulated.requests.site, recorded.requests.site);
        }
        close_fixture(&f);
    }
}

static void assert_shared(const struct metrics *m, uint32_t cores, const char *run, uint64_t seed) {
    const double wall_ns = (double)m->wall_ns;
    if (m->tasks.span_ns > wall_ns || m->tasks.work_ns > wall_ns * cores * 1.001)
        fail_msg("%s, seed %lu: work %g, span %g in %g on %u", run, (unsigned long)seed, m->tasks.work_ns,
                 m->tasks.span_ns, wall_ns, cores);
    assert_true(m->cpu.utilisation <= 1.001);
}

// Programs whose threads share the cores: there the law holds however many threads there are, in recordings and in
// estimates by the model that shares them too.
static void test_shared_cores(void **state) {
    static struct program program;
    unsigned estimated = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct fixture f;
        struct metrics m;
        struct random_source source = {seed};
        struct random_pool options = random_pool_options(seed, 1 + (uint32_t)(seed % 4));
        options.measured = true;
        random_pool_program(&options, &program);
        open_fixture(&f, program_trace(&program, &options));
        assert_true(metrics_of_run(f.on.dag, true, NULL, NULL, &f.recorded, &m, &f.on.error));
        assert_shared(&m, options.cores, "recorded", seed);
        simulate_fixture_inline_random(&f.on, &source, 1, 4);
        if (simulate(&f, MODEL_CPU, &m)) {
            assert_shared(&m, options.cores, "estimated", seed);
            estimated++;
        }
        close_fixture(&f);
    }
    assert_true(estimated > PROGRAMS / 2);
}

// All kinds of plan, on pools of all kinds, with resources or without.
static void test_streamed(void **state) {
    streamed = asked = 0;
    for (uint64_t seed = 1; seed <= 4 * PROGRAMS; seed++) {
        struct fixture f = {0};
        struct random_source source = {seed};
        if (seed % 2)
            simulate_fixture_open_random(&f.on, seed, 1 + (uint32_t)(seed % 4));
        else
            simulate_fixture_open_resources(&f.on, seed, 1 + (uint32_t)(seed % 4), seed % 4 == 0);
        for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
            struct metrics m;
            for (uint64_t share = 0; share < 3; share++) {
                simulate_fixture_inline_random(&f.on, &source, share, 4);
                simulate(&f, kind, &m);
            }
            for (int i = 0; i < 4 && kind != MODEL_DAG; i++) {
                random_edit(&f.on, &source, EDIT_ALL);
                simulate(&f, kind, &m);
            }
        }
        close_fixture(&f);
    }
    print_message("%u of %u runs streamed\n", streamed, asked);
    assert_true(streamed > asked / 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changed), cmocka_unit_test(test_inlined),  cmocka_unit_test(test_pools),
        cmocka_unit_test(test_shared_cores),    cmocka_unit_test(test_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
