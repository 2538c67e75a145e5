// SPDX-License-Identifier: GPL-3.0-or-later
// Laws that hold for every trace and every edit, tried on random programs (tests/tools/random_trace.h) and random
// edits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "dag/edit/chain.h"
#include "dag/graph.h"
#include "dag/propagate/deadlock.h"
#include "dag_reference.h"
#include "random_trace.h"
#include "simulate_fixture.h"

enum { CASES = 3000, EDITS = 6, WRITTEN_CASES = 400 };

// What was computed and what was waited for a core fit into the time; whoever got a lock followed someone else who had.
static void check_facts(const struct dag *dag, uint64_t seed, unsigned *locked) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            int64_t edge_ns = v > thread->first ? vertices->time_ns[v] - vertices->time_ns[v - 1] : 0;
            int64_t compute_ns = vertices->compute_ns ? vertices->compute_ns[v] : 0;
            int64_t queued_ns = vertices->queued_ns ? vertices->queued_ns[v] : 0;
            if (compute_ns < 0 || queued_ns < 0 || compute_ns + queued_ns > edge_ns)
                fail_msg("seed %lu: %ld + %ld of %ld at %u", (unsigned long)seed, (long)compute_ns, (long)queued_ns,
                         (long)edge_ns, v);
            if (vertices->rule[v] != RULE_GRANT) continue;
            uint32_t cause = vertices->cause[v];
            assert_true(cause < thread->first || cause >= thread->first + thread->count);
            assert_int_equal(vertices->kind[cause], VERTEX_ACQUIRED);
            assert_int_equal(dag->asks[vertices->task[cause]].resource, dag->asks[vertices->task[v]].resource);
            assert_true(vertices->time_ns[cause] <= vertices->time_ns[v]);
            ++*locked;
        }
    }
}

static struct trace_builder *some_trace(uint64_t seed) {
    return seed % 4 == 3 ? random_actors(seed) : random_trace(seed);
}

static struct trace_builder *some_events(uint64_t seed) {
    return seed % 4 == 3 ? random_actor_events(seed) : random_events(seed);
}

static void test_empty_edit_is_exact(void **state) {
    (void)state;
    uint64_t vertices = 0, tasks = 0, paths = 0;
    unsigned locked = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open(&fixture, some_trace(seed));
        assert_int_equal(fixture.dag->skew_fixed, 0); // the simulation keeps causes before effects
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        for (uint32_t v = 0; v < fixture.dag->vertex_count; v++) {
            if (fixture.run.time_ns[v] != fixture.dag->vertices.time_ns[v]) {
                fail_msg("seed %lu: vertex %u at %ld, recorded at %ld", (unsigned long)seed, v,
                         (long)fixture.run.time_ns[v], (long)fixture.dag->vertices.time_ns[v]);
            }
        }
        vertices += fixture.dag->vertex_count;
        tasks += fixture.dag->task_count;
        paths += fixture.dag->path_count;
        check_facts(fixture.dag, seed, &locked);
        simulate_fixture_close(&fixture);
    }
    assert_true(vertices > 50 * CASES && tasks > 5 * CASES); // or the generator has withered
    assert_true(paths > 3 * CASES && locked > CASES / 10);
}

// Every vertex is on one chain or absent, and follows its predecessor and its cause.
static void check_order(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *dag = fixture->dag;
    const int64_t *time_ns = fixture->run.time_ns;
    uint32_t *visits = calloc(dag->vertex_count + 1, sizeof *visits);
    struct dag_chain chain;
    assert_non_null(visits);
    dag_chain_init(&chain, dag, &fixture->edit);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        int64_t before_ns = INT64_MIN;
        dag_chain_start(&chain, i);
        for (uint32_t v; (v = dag_chain_next(&chain)) != DAG_NONE;) {
            uint32_t cause = dag_awaited_by(&dag->vertices, v);
            visits[v]++;
            if (time_ns[v] < before_ns)
                fail_msg("seed %lu: vertex %u before its thread's last", (unsigned long)seed, v);
            before_ns = time_ns[v];
            if (cause == DAG_NONE || chain.entered || time_ns[cause] == DAG_ABSENT) continue;
            int64_t lag_ns = dag->vertices.time_ns[cause] - dag->vertices.time_ns[v]; // of a result's event
            if (dag->vertices.rule[v] != RULE_WAIT || lag_ns < 0) lag_ns = 0;
            if (time_ns[v] < time_ns[cause] - lag_ns)
                fail_msg("seed %lu: vertex %u before its cause", (unsigned long)seed, v);
        }
    }
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        bool absent = time_ns[v] == DAG_ABSENT && dag->vertices.kind[v] != VERTEX_BARRIER;
        if (dag->vertices.kind[v] == VERTEX_BARRIER) visits[v] = !absent;
        if (visits[v] != !absent) fail_msg("seed %lu: vertex %u visited %u times", (unsigned long)seed, v, visits[v]);
    }
    free(visits);
}

// What a task computes between two of its events it computes under any edit: only waits and hand-overs change.
static void check_work(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *dag = fixture->dag;
    const int64_t *now = fixture->run.time_ns, *then = dag->vertices.time_ns;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        for (uint32_t v = task->start; task->start != DAG_NONE && v < task->end; v++) {
            bool runs = dag->vertices.rule[v + 1] == RULE_RUN && now[v] != DAG_ABSENT && now[v + 1] != DAG_ABSENT;
            if (!runs) continue;
            if (dag->vertices.kind[v] == VERTEX_END && fixture->edit.inlined[dag->vertices.task[v]]) continue;
            if (now[v + 1] - now[v] != then[v + 1] - then[v]) {
                fail_msg("seed %lu: the work between %u and %u changed", (unsigned long)seed, v, v + 1);
            }
        }
    }
}

static void check_edit(struct simulate_fixture *fixture, uint64_t seed, int64_t *expected, unsigned *deadlocks) {
    struct error error = ERROR_INIT;
    bool possible = reference_propagate(fixture->dag, &fixture->edit, false, expected), acyclic;
    enum dag_outcome outcome = dag_propagate(fixture->dag, &fixture->edit, &fixture->run);
    must(graph_is_acyclic(fixture->dag, &fixture->edit, &acyclic, &error), &error);
    if (possible != (outcome == DAG_OK)) fail_msg("seed %lu: outcome %d, not so", (unsigned long)seed, (int)outcome);
    if (possible != acyclic) fail_msg("seed %lu: igraph finds acyclic = %d", (unsigned long)seed, (int)acyclic);
    if (!possible) {
        if (!deadlocks) return; // in noise a ring may be of threads alone
        char text[256];
        assert_true(fixture->run.deadlock_length > 0);
        assert_true(*dag_deadlock_text(fixture->dag, &fixture->run, text, sizeof text));
        ++*deadlocks;
        return;
    }
    for (uint32_t v = 0; v < fixture->dag->vertex_count; v++) {
        if (fixture->run.time_ns[v] != expected[v]) {
            fail_msg("seed %lu: vertex %u at %ld, by the reference at %ld", (unsigned long)seed, v,
                     (long)fixture->run.time_ns[v], (long)expected[v]);
        }
    }
    check_order(fixture, seed);
    check_work(fixture, seed);
}

static void test_edits_mean_what_the_reference_says(void **state) {
    (void)state;
    unsigned deadlocks = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        struct random_source source = {seed};
        simulate_fixture_open(&fixture, some_trace(seed));
        int64_t *expected = malloc((fixture.dag->vertex_count + 1) * sizeof *expected);
        assert_non_null(expected);
        for (unsigned i = 0; i < EDITS; i++) {
            simulate_fixture_inline_random(&fixture, &source, i < 2 ? 1 : i < 5 ? 4 : 8, 8);
            check_edit(&fixture, seed, expected, &deadlocks);
        }
        free(expected);
        simulate_fixture_close(&fixture);
    }
    assert_in_range(deadlocks, CASES / 50, CASES * EDITS / 2);
}

static void write_and_reopen(const struct simulate_fixture *fixture, struct simulate_fixture *written) {
    simulate_fixture_open_trace(written, written_edit(fixture->dag, &fixture->edit));
}

// Whatever the events, there is a graph, its times are exact, edits mean what they should, and can be written.
static void test_any_events_make_a_sound_graph(void **state) {
    (void)state;
    unsigned inlined = 0, locked = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture, written;
        struct random_source source = {seed};
        simulate_fixture_open(&fixture, some_events(seed));
        int64_t *expected = malloc((fixture.dag->vertex_count + 1) * sizeof *expected);
        assert_non_null(expected);
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        for (uint32_t v = 0; v < fixture.dag->vertex_count; v++) {
            if (fixture.run.time_ns[v] != fixture.dag->vertices.time_ns[v]) fail_msg("seed %lu", (unsigned long)seed);
        }
        check_facts(fixture.dag, seed, &locked);
        simulate_fixture_inline_random(&fixture, &source, 6, 8);
        inlined += fixture.edit.inlined_count;
        check_edit(&fixture, seed, expected, NULL);
        if (seed % 8 == 0 && dag_propagate(fixture.dag, &fixture.edit, &fixture.run) == DAG_OK) {
            write_and_reopen(&fixture, &written);
            simulate_fixture_close(&written);
        }
        free(expected);
        simulate_fixture_close(&fixture);
    }
    assert_true(inlined > CASES / 30);
}

// With every task inlined there is one thread, and it never sleeps.
static void test_inlining_all_is_sequential(void **state) {
    (void)state;
    unsigned checked = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct simulate_fixture fixture;
        simulate_fixture_open(&fixture, some_trace(seed));
        const struct dag *dag = fixture.dag;
        bool all = true;
        for (uint32_t t = 0; t < dag->task_count; t++) {
            if (dag->tasks[t].flags & (TASK_MAIN | TASK_NESTED)) continue;
            if (dag_inline_refusal(dag, t))
                all = false;
            else
                dag_edit_inline(&fixture.edit, t);
        }
        if (all && dag_propagate(dag, &fixture.edit, &fixture.run) == DAG_OK) {
            struct dag_chain chain;
            dag_chain_init(&chain, dag, &fixture.edit);
            int64_t composed_ns = 0, last_ns = 0;
            for (uint32_t i = 0; i < dag->thread_count; i++) {
                bool has_chain = false;
                dag_chain_start(&chain, i);
                for (uint32_t v; (v = dag_chain_next(&chain)) != DAG_NONE; last_ns = fixture.run.time_ns[v]) {
                    has_chain = true;
                    uint32_t cause = dag_awaited_by(&dag->vertices, v);
                    bool slept = cause != DAG_NONE && !chain.entered && dag->vertices.time_ns[cause] > chain.since_ns;
                    if (!slept) composed_ns += dag->vertices.time_ns[v] - chain.since_ns;
                    composed_ns += chain.lead_ns;
                    if (dag->threads[i].stream == DAG_NONE) break;
                }
                if (i > 0 && dag->threads[i].stream != DAG_NONE) assert_false(has_chain);
                if (i == 0) assert_int_equal(last_ns, composed_ns);
            }
            checked++;
        }
        simulate_fixture_close(&fixture);
    }
    assert_true(checked > CASES / 10);
}

static void assert_same_events(const struct trace *a, const struct trace *b) {
    assert_int_equal(a->stream_count, b->stream_count);
    for (uint32_t s = 0; s < a->stream_count; s++) {
        struct trace_cursor in_a, in_b;
        struct event x, y;
        struct error error = ERROR_INIT;
        trace_cursor_init(&in_a, a, &a->streams[s]);
        trace_cursor_init(&in_b, b, &b->streams[s]);
        while (trace_cursor_next(&in_a, &x, &error)) {
            assert_true(trace_cursor_next(&in_b, &y, &error));
            assert_int_equal(x.kind, y.kind);
            assert_int_equal(x.time, y.time);
            for (unsigned o = 0; o < EVENT_OPERANDS; o++) assert_int_equal(x.operand[o], y.operand[o]);
        }
        assert_false(trace_cursor_next(&in_b, &y, &error));
        assert_int_equal(error.status, STATUS_OK);
    }
}

static void test_empty_edit_writes_the_same_trace(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < WRITTEN_CASES; seed++) {
        struct simulate_fixture fixture, written;
        simulate_fixture_open(&fixture, some_trace(seed));
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        write_and_reopen(&fixture, &written);
        assert_same_events(fixture.trace, written.trace);
        simulate_fixture_close(&written);
        simulate_fixture_close(&fixture);
    }
}

static uint32_t task_with_id(const struct dag *dag, uint64_t id) {
    uint32_t t = 0;
    while (t < dag->task_count && dag->tasks[t].id != id) t++;
    return t < dag->task_count ? t : DAG_NONE;
}

// An estimated trace, read again, has the tasks that are left, where and when the edit put them. Events that have no
// room are a ns apart, which can add up to as many ns as there are events.
static void check_written(const struct simulate_fixture *fixture, const struct simulate_fixture *written,
                          uint64_t seed) {
    const struct dag *dag = fixture->dag, *again = written->dag;
    int64_t slack_ns = (int64_t)fixture->trace->event_count;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->flags & TASK_NESTED) continue;
        uint32_t found = task_with_id(again, task->id);
        bool counted = found != DAG_NONE && !(again->tasks[found].flags & TASK_NESTED);
        if (counted == fixture->edit.inlined[t])
            fail_msg("seed %lu: task %u is %scounted", (unsigned long)seed, t, counted ? "" : "not ");
        if (!counted) continue;
        const struct dag_task *same = &again->tasks[found];
        assert_int_equal(same->start == DAG_NONE, task->start == DAG_NONE);
        assert_int_equal(same->awaited > 0, task->awaited > 0);
        if (task->start == DAG_NONE) continue;
        int64_t start_off_ns = again->vertices.time_ns[same->start] - fixture->run.time_ns[task->start];
        int64_t end_off_ns = again->vertices.time_ns[same->end] - fixture->run.time_ns[task->end];
        if (llabs(start_off_ns) > slack_ns)
            fail_msg("seed %lu: task %u starts off by %ld", (unsigned long)seed, t, (long)start_off_ns);
        bool recorded_end = !(task->flags & TASK_UNFINISHED);
        if (recorded_end && llabs(end_off_ns) > slack_ns)
            fail_msg("seed %lu: task %u ends off by %ld", (unsigned long)seed, t, (long)end_off_ns);
    }
}

static void test_an_edit_writes_what_it_means(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < WRITTEN_CASES; seed++) {
        struct simulate_fixture fixture, written;
        struct random_source source = {seed};
        simulate_fixture_open(&fixture, some_trace(seed));
        simulate_fixture_inline_random(&fixture, &source, 2 + seed % 7, 8);
        if (dag_propagate(fixture.dag, &fixture.edit, &fixture.run) == DAG_OK) {
            write_and_reopen(&fixture, &written);
            check_written(&fixture, &written, seed);
            simulate_fixture_close(&written);
        }
        simulate_fixture_close(&fixture);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_edit_is_exact),
        cmocka_unit_test(test_edits_mean_what_the_reference_says),
        cmocka_unit_test(test_any_events_make_a_sound_graph),
        cmocka_unit_test(test_inlining_all_is_sequential),
        cmocka_unit_test(test_empty_edit_writes_the_same_trace),
        cmocka_unit_test(test_an_edit_writes_what_it_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
