// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracer cost, taken out: graphs solved by hand, and laws that hold for every trace and all costs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/build/builder.h"
#include "dag/build/perturbation.h"
#include "random_trace.h"
#include "simulate_fixture.h"

enum { MAIN = 1, WORKER = 2, CASES = 1500, WRITTEN_CASES = 200 };
enum { M = 100 }; // main's task

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
};

static void cost(struct fixture *f, enum event_kind kind, uint64_t before_ns, uint64_t after_ns) {
    f->trace->tells_costs = true;
    f->trace->costs[kind] = (struct event_cost){1, before_ns * 1000, after_ns * 1000};
}

static void build(struct fixture *f) {
    struct error error = ERROR_INIT;
    f->dag = dag_build(f->trace, &error);
    must(f->dag != NULL, &error);
}

static void take_out(struct fixture *f) {
    struct error error = ERROR_INIT;
    must(dag_take_out_tracer_cost(f->dag, &error), &error);
}

static void end(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    if (f->tb) tb_free(f->tb);
}

// ---- by hand

// The last vertex that a thread had at a recorded time.
static uint32_t vertex_at(const struct fixture *f, uint32_t thread_id, int64_t recorded_ns) {
    const struct dag *dag = f->dag;
    for (uint32_t v = dag->vertex_count; v-- > 0;) {
        const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, v)];
        if (thread->stream == DAG_NONE || f->trace->streams[thread->stream].id != thread_id) continue;
        if (dag->tracer.recorded_ns[v] == recorded_ns) return v;
    }
    fail_msg("thread %u has no vertex at %ld", thread_id, (long)recorded_ns);
    return 0;
}

// Where that is now.
static int64_t now(const struct fixture *f, uint32_t thread_id, int64_t recorded_ns) {
    return f->dag->vertices.time_ns[vertex_at(f, thread_id, recorded_ns)];
}

// main creates and spawns task 7 for a worker that sleeps, calls a function, and waits for the task.
static struct fixture begin_simple(void) {
    struct fixture f = {.tb = tb_new()};
    uint32_t pool = tb_pool(f.tb, "pool-1", 1), site = tb_site(f.tb, "Main", "run", 12);
    uint32_t method = tb_method(f.tb, "Main", "f"), class = tb_class(f.tb, "Main$1");
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, WORKER, "pool-1-thread-1", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    tb_event(f.tb, MAIN, 100, EVENT_TASK_CREATED, 7, class);
    tb_event(f.tb, MAIN, 200, EVENT_SPAWN_BEGIN, 7, site, pool);
    tb_event(f.tb, MAIN, 260, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 300, EVENT_ENTER, method);
    tb_event(f.tb, MAIN, 340, EVENT_EXIT, method);
    tb_event(f.tb, MAIN, 400, EVENT_WAIT_BEGIN, 7, 401, tb_wait(WAIT_FOR_TASK, site));
    tb_event(f.tb, MAIN, 1500, EVENT_WAIT_END, 7, 420);
    tb_event(f.tb, MAIN, 1600, EVENT_THREAD_END, M, 520);
    tb_event(f.tb, WORKER, 50, EVENT_THREAD_START, 50, 1);
    tb_event(f.tb, WORKER, 60, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, WORKER, 70, EVENT_IDLE, pool);
    tb_event(f.tb, WORKER, 400, EVENT_BUSY, pool);
    tb_event(f.tb, WORKER, 450, EVENT_TASK_START, 7, 50);
    tb_event(f.tb, WORKER, 1400, EVENT_RESULT, 7);
    tb_event(f.tb, WORKER, 1450, EVENT_TASK_END, 7, 1000);
    tb_event(f.tb, WORKER, 1460, EVENT_IDLE, pool);
    f.trace = tb_open(f.tb);
    return f;
}

static void test_costs_shorten_edges(void **state) {
    (void)state;
    struct fixture f = begin_simple();
    cost(&f, EVENT_TASK_CREATED, 20, 5);
    cost(&f, EVENT_SPAWN_BEGIN, 10, 4);
    cost(&f, EVENT_SPAWN_END, 3, 2);
    cost(&f, EVENT_ENTER, 6, 6);
    cost(&f, EVENT_EXIT, 6, 6);
    cost(&f, EVENT_BUSY, 7, 1);
    cost(&f, EVENT_TASK_START, 8, 9);
    cost(&f, EVENT_RESULT, 11, 12);
    cost(&f, EVENT_WAIT_BEGIN, 13, 14);
    cost(&f, EVENT_WAIT_END, 15, 16);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, MAIN, 0), 0);
    assert_int_equal(now(&f, MAIN, 200), 165);          // 200 - created's 25 - 10
    assert_int_equal(now(&f, MAIN, 260), 165 + 53);     // 60 - 4 - 3
    assert_int_equal(now(&f, MAIN, 400), 218 + 101);    // 140 - 2 - the functions' 24 - 13
    assert_int_equal(now(&f, WORKER, 70), 70);          // no costs
    assert_int_equal(now(&f, WORKER, 400), 165 + 189);  // it slept till its cause: 200 - 4 - 7
    assert_int_equal(now(&f, WORKER, 450), 354 + 41);   // 50 - 1 - 8
    assert_int_equal(now(&f, WORKER, 1400), 395 + 930); // 950 - 9 - 11
    assert_int_equal(now(&f, WORKER, 1450), 1325 + 38); // 50 - 12
    assert_int_equal(now(&f, MAIN, 1500), 1325 + 73); // the wait slept: 100 - 12 - 15, and its begin's 14 in its sleep
    assert_int_equal(now(&f, MAIN, 1600), 1398 + 84); // 100 - 16
    assert_int_equal(f.dag->first_ns, 0);
    assert_int_equal(f.dag->last_ns, 1482);
    assert_int_equal(f.dag->tracer.recorded_wall_ns, 1600);
    // main 35 + 7 + 39 + 27 + 16, the worker 11 + 9 + 20 + 12
    assert_int_equal(f.dag->tracer.taken_ns, 124 + 52);
    struct dag_remap remap;
    dag_remap_init(&remap, f.dag, 0);
    assert_int_equal(dag_remap(&remap, 330), 218 + 101 / 2); // in the middle of its edge, 260 to 400
    assert_int_equal(dag_remap(&remap, 1700), 1582);
    end(&f);
}

// Costs beyond what there is take no more than that.
static void test_edges_keep_a_ns(void **state) {
    (void)state;
    struct fixture f = begin_simple();
    for (unsigned kind = 1; kind < EVENT_KINDS; kind++) cost(&f, kind, 100000, 100000);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, MAIN, 200), 1);
    assert_int_equal(now(&f, MAIN, 400), 3);
    assert_int_equal(now(&f, WORKER, 70), 51); // the thread keeps its beginning, since nothing tells what made it
    assert_int_equal(now(&f, WORKER, 400), 52);
    assert_int_equal(now(&f, WORKER, 1400), 54);
    assert_int_equal(now(&f, MAIN, 1500), 54);
    end(&f);
}

static void spawn(struct fixture *f, uint64_t task, uint32_t site, uint32_t pool, uint64_t begin_ns, uint64_t end_ns) {
    tb_event(f->tb, MAIN, begin_ns, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(f->tb, MAIN, end_ns, EVENT_SPAWN_END, task);
}

static void run(struct fixture *f, uint64_t task, uint64_t start_ns, uint64_t end_ns) {
    tb_event(f->tb, WORKER, start_ns, EVENT_TASK_START, task);
    tb_event(f->tb, WORKER, end_ns, EVENT_TASK_END, task);
}

// main and a worker of a pool, before anything is handed over.
static struct fixture begin_pool(uint32_t *pool, uint32_t *site) {
    struct fixture f = {.tb = tb_new()};
    *pool = tb_pool(f.tb, "pool-1", 1);
    *site = tb_site(f.tb, "Main", "run", 12);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, WORKER, "pool-1-thread-1", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    tb_event(f.tb, WORKER, 50, EVENT_THREAD_START, 50, 1);
    tb_event(f.tb, WORKER, 60, EVENT_WORKER_BEGIN, *pool);
    return f;
}

// main hands over to a worker that keeps up with it. Only what main does costs, so that it would run ahead.
static void test_turns_stay(void **state) {
    (void)state;
    uint32_t pool, site;
    struct fixture f = begin_pool(&pool, &site);
    spawn(&f, 7, site, pool, 100, 150);
    spawn(&f, 8, site, pool, 600, 650);
    spawn(&f, 9, site, pool, 1100, 1150);
    tb_event(f.tb, MAIN, 1600, EVENT_THREAD_END, M, 520);
    run(&f, 7, 200, 500);
    run(&f, 8, 700, 1000);
    run(&f, 9, 1200, 1500);
    f.trace = tb_open(f.tb);
    cost(&f, EVENT_SPAWN_END, 0, 400);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, MAIN, 100), 100);
    assert_int_equal(now(&f, WORKER, 200), 200);
    assert_int_equal(now(&f, WORKER, 500), 500);
    assert_int_equal(now(&f, MAIN, 150), 150);
    assert_int_equal(now(&f, MAIN, 600), 201); // without the 400: 200, but the worker has task 7 by then
    assert_int_equal(now(&f, WORKER, 700), 501);
    assert_int_equal(now(&f, WORKER, 1000), 801);
    assert_int_equal(now(&f, MAIN, 650), 451); // 50 before the worker has task 8, as it was
    assert_int_equal(now(&f, MAIN, 1100), 502);
    assert_int_equal(now(&f, WORKER, 1200), 802);
    assert_int_equal(now(&f, MAIN, 1600), 502 + 50 + 50); // nothing of a pool's
    assert_int_equal(f.dag->tracer.taken_ns, 399 + 399 + 400);
    end(&f);
}

// A second worker wakes up in vain after 9 was handed over, and finds it, which lay there, after 10 was. Only what main
// does costs, so all of it comes earlier, and so do they.
static void test_who_was_woken_follows_the_call(void **state) {
    (void)state;
    uint32_t pool, site, second = WORKER + 1;
    struct fixture f = begin_pool(&pool, &site);
    tb_thread(f.tb, second, "pool-1-thread-2", 0);
    spawn(&f, 7, site, pool, 100, 150);
    spawn(&f, 8, site, pool, 600, 650);
    spawn(&f, 9, site, pool, 660, 670);
    spawn(&f, 10, site, pool, 1300, 1310);
    tb_event(f.tb, MAIN, 1600, EVENT_THREAD_END, M, 520);
    run(&f, 7, 200, 500);
    run(&f, 8, 700, 1000);
    tb_event(f.tb, second, 55, EVENT_THREAD_START, 51, 1);
    tb_event(f.tb, second, 65, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, second, 75, EVENT_IDLE, pool);
    tb_event(f.tb, second, 720, EVENT_BUSY, pool);
    tb_event(f.tb, second, 730, EVENT_IDLE, pool);
    tb_event(f.tb, second, 1400, EVENT_BUSY, pool);
    tb_event(f.tb, second, 1410, EVENT_TASK_START, 9);
    tb_event(f.tb, second, 1500, EVENT_TASK_END, 9);
    f.trace = tb_open(f.tb);
    cost(&f, EVENT_SPAWN_BEGIN, 90, 0);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, MAIN, 600), 10 + 50 + 360);
    assert_int_equal(now(&f, MAIN, 660), 420 + 50 + 1); // an edge keeps a ns
    assert_int_equal(now(&f, second, 720), 471 + 60);
    assert_int_equal(now(&f, second, 730), 541);
    assert_int_equal(now(&f, MAIN, 1300), 471 + 10 + 540);
    assert_int_equal(now(&f, second, 1400), 1021 + 100);
    assert_int_equal(now(&f, second, 1410), 1131);
    end(&f);
}

// All tasks lie in the queue. The second worker comes late, and takes the last one 85 after the first took the one
// before. Only the first worker's ends cost, so that comes earlier, and the second worker keeps its place behind it.
static void test_who_comes_late_keeps_its_place(void **state) {
    (void)state;
    uint32_t pool, site, second = WORKER + 1;
    struct fixture f = begin_pool(&pool, &site);
    tb_thread(f.tb, second, "pool-1-thread-2", 0);
    for (uint64_t task = 7; task <= 10; task++) spawn(&f, task, site, pool, 20 * task - 40, 20 * task - 30);
    tb_event(f.tb, MAIN, 1600, EVENT_THREAD_END, M, 520);
    run(&f, 7, 200, 500);
    run(&f, 8, 560, 760);
    run(&f, 9, 820, 1100);
    tb_event(f.tb, second, 55, EVENT_THREAD_START, 51, 1);
    tb_event(f.tb, second, 65, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, second, 75, EVENT_IDLE, pool);
    tb_event(f.tb, second, 905, EVENT_BUSY, pool);
    tb_event(f.tb, second, 910, EVENT_TASK_START, 10);
    tb_event(f.tb, second, 1300, EVENT_TASK_END, 10);
    f.trace = tb_open(f.tb);
    cost(&f, EVENT_TASK_END, 0, 40);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, WORKER, 820), 820 - 2 * 40);
    assert_int_equal(now(&f, second, 905), 740 + 85);
    assert_int_equal(now(&f, second, 910), 830);
    assert_int_equal(now(&f, second, 1300), 1220);
    end(&f);
}

// Pauses and samples go along with main's one edge.
static void test_machine_moves_along(void **state) {
    (void)state;
    struct fixture f = {.tb = tb_new()};
    uint32_t class = tb_class(f.tb, "Main$1");
    tb_thread(f.tb, 0, "", THREAD_SYSTEM);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    for (uint64_t i = 1; i <= 10; i++) tb_event(f.tb, MAIN, i * 100, EVENT_TASK_CREATED, i, class);
    tb_event(f.tb, MAIN, 2000, EVENT_THREAD_END, M, 1501);
    tb_event(f.tb, 0, 400, EVENT_SAMPLE, 300, 400, 1);
    tb_event(f.tb, 0, 1000, EVENT_GC_BEGIN);
    tb_event(f.tb, 0, 1200, EVENT_GC_END);
    tb_event(f.tb, 0, 2000, EVENT_SAMPLE, 1600, 0, 2);
    f.trace = tb_open(f.tb);
    cost(&f, EVENT_TASK_CREATED, 50, 50);
    build(&f);
    take_out(&f);
    assert_int_equal(f.dag->last_ns, 1000);
    assert_int_equal(f.dag->pauses[0].begin_ns, 500); // half of main's edge
    assert_int_equal(f.dag->pauses[0].end_ns, 700);   // lasts as long as it did
    assert_int_equal(f.dag->samples[0].time_ns, 200);
    assert_int_equal(f.dag->samples[1].time_ns, 1000);
    assert_int_equal(f.dag->samples[1].process_cpu_ns, 600);
    assert_int_equal(f.dag->samples[1].machine_cpu_ns, 0); // not known stays so
    assert_int_equal(f.dag->vertices.compute_ns[1], 500);
    end(&f);
}

// Main computes 1500 ns, of which the tracer has 1000, and the worker 500: so half of all that is computed. Of the 400
// ns that the worker waits for a core it has the other half. Who waits for the worker wakes up as late as it did, and
// so has waited as long for a core.
static void test_no_thread_waits_for_the_tracer(void **state) {
    (void)state;
    struct fixture f = {.tb = tb_new()};
    uint32_t class = tb_class(f.tb, "Main$1"), waiter = WORKER + 1;
    tb_thread(f.tb, 0, "", THREAD_SYSTEM);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, WORKER, "other", 0);
    tb_event(f.tb, 0, 0, EVENT_SAMPLE, 1, 1, 1);
    tb_event(f.tb, 0, 2100, EVENT_SAMPLE, 2001, 2001, 2);
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M, 1);
    for (uint64_t i = 1; i <= 10; i++) tb_event(f.tb, MAIN, 10 + i * 100, EVENT_TASK_CREATED, i, class);
    tb_event(f.tb, MAIN, 2000, EVENT_THREAD_END, M, 1501);
    tb_event(f.tb, WORKER, 10, EVENT_THREAD_START, 51, 1);
    tb_event(f.tb, WORKER, 1009, EVENT_RUN_DELAY, 400);
    tb_event(f.tb, WORKER, 1010, EVENT_THREAD_END, 51, 501);
    tb_thread(f.tb, waiter, "waiter", 0);
    tb_event(f.tb, waiter, 10, EVENT_THREAD_START, 52, 1);
    tb_event(f.tb, waiter, 20, EVENT_WAIT_BEGIN, 51, 2, tb_wait(WAIT_FOR_TASK, 0));
    tb_event(f.tb, waiter, 1079, EVENT_RUN_DELAY, 60);
    tb_event(f.tb, waiter, 1080, EVENT_WAIT_END, 51, 3);
    tb_event(f.tb, waiter, 1090, EVENT_THREAD_END, 52, 13);
    f.trace = tb_open(f.tb);
    cost(&f, EVENT_TASK_CREATED, 50, 50);
    build(&f);
    take_out(&f);
    assert_int_equal(now(&f, WORKER, 1010), 1010 - 200);
    const uint32_t end_of_run = vertex_at(&f, WORKER, 1010);
    assert_int_equal(f.dag->vertices.queued_ns[end_of_run], 200);
    assert_int_equal(f.dag->vertices.compute_ns[end_of_run], 500);
    assert_int_equal(now(&f, waiter, 1080), 810 + 70);
    assert_int_equal(f.dag->vertices.queued_ns[vertex_at(&f, waiter, 1080)], 60);
    end(&f);
}

static void test_without_costs_nothing_happens(void **state) {
    (void)state;
    struct fixture f = begin_simple();
    build(&f);
    take_out(&f);
    assert_null(f.dag->tracer.edge_ns);
    assert_null(f.dag->tracer.recorded_ns);
    assert_int_equal(f.dag->last_ns, 1600);
    end(&f);
}

// ---- laws

static struct trace *open_random(struct fixture *f, uint64_t seed) {
    f->tb = seed % 2 ? random_events(seed) : random_trace(seed);
    return tb_open(f->tb);
}

// Of each kind up to `most_ns` before and after.
static void random_costs(struct fixture *f, uint64_t seed, uint64_t most_ns, uint64_t times) {
    struct random_source source = {seed};
    for (unsigned kind = 1; kind < EVENT_KINDS; kind++) {
        uint64_t before_ns = random_below(&source, most_ns), after_ns = random_below(&source, most_ns);
        cost(f, kind, before_ns * times, after_ns * times);
    }
}

static bool same(const void *a, const void *b, size_t bytes) {
    return (!a && !b) || (a && b && memcmp(a, b, bytes) == 0);
}

static void test_no_cost_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct fixture f = {0}, plain = {0};
        f.trace = plain.trace = open_random(&f, seed);
        build(&plain);
        f.trace->tells_costs = true;
        build(&f);
        take_out(&f);
        size_t bytes = f.dag->vertex_count * sizeof(int64_t);
        bool good = same(f.dag->vertices.time_ns, plain.dag->vertices.time_ns, bytes) &&
                    same(f.dag->vertices.compute_ns, plain.dag->vertices.compute_ns, bytes) &&
                    same(f.dag->vertices.queued_ns, plain.dag->vertices.queued_ns, bytes) &&
                    same(f.dag->pauses, plain.dag->pauses, f.dag->pause_count * sizeof *f.dag->pauses) &&
                    same(f.dag->samples, plain.dag->samples, f.dag->sample_count * sizeof *f.dag->samples) &&
                    f.dag->first_ns == plain.dag->first_ns && f.dag->last_ns == plain.dag->last_ns &&
                    f.dag->wakeup_ns == plain.dag->wakeup_ns && f.dag->tracer.taken_ns == 0;
        if (!good) fail_msg("seed %lu", (unsigned long)seed);
        dag_free(plain.dag);
        end(&f);
    }
}

static uint32_t *turns_of(const struct dag *dag) {
    uint32_t *turn_after = malloc(((size_t)dag->vertex_count + 1) * sizeof *turn_after);
    assert_true(turn_after && find_turns(dag, turn_after));
    return turn_after;
}

static bool sees_ahead(const struct dag *dag) {
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        uint32_t cause = dag->vertices.cause[v];
        if (cause != DAG_NONE && dag->tracer.recorded_ns[cause] > dag->tracer.recorded_ns[v]) return true;
    }
    return false;
}

// Where effects were seen before their causes a turn may be passed over. Returns how many were not.
static uint32_t check_turns(const struct dag *dag, const uint32_t *turn_after, uint64_t seed) {
    uint32_t count = 0;
    if (sees_ahead(dag)) return 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        uint32_t before = turn_after[v];
        if (before == DAG_NONE) continue;
        count++;
        int64_t lead_ns = dag->tracer.recorded_ns[before] - dag->tracer.recorded_ns[v];
        if (dag->vertices.time_ns[v] < dag->vertices.time_ns[before] - (lead_ns > 0 ? lead_ns : 0)) {
            fail_msg("seed %lu: vertex %u comes before its turn", (unsigned long)seed, v);
        }
    }
    return count;
}

static void check_order(const struct dag *dag, uint64_t seed) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        for (uint32_t v = dag->threads[i].first; v < dag->threads[i].first + dag->threads[i].count; v++) {
            uint32_t cause = vertices->cause[v];
            if (cause != DAG_NONE) {
                int64_t lead_ns = dag->tracer.recorded_ns[cause] - dag->tracer.recorded_ns[v];
                if (vertices->time_ns[v] < vertices->time_ns[cause] - (lead_ns > 0 ? lead_ns : 0)) {
                    fail_msg("seed %lu: vertex %u comes before its cause", (unsigned long)seed, v);
                }
            }
            if (v == dag->threads[i].first) continue;
            int64_t edge_ns = vertices->time_ns[v] - vertices->time_ns[v - 1];
            int64_t used_ns = (vertices->compute_ns ? vertices->compute_ns[v] : 0) +
                              (vertices->queued_ns ? vertices->queued_ns[v] : 0);
            if (edge_ns < (vertices->event[v] != vertices->event[v - 1]) || edge_ns < used_ns) {
                fail_msg("seed %lu: %ld ns to vertex %u", (unsigned long)seed, (long)edge_ns, v);
            }
        }
    }
}

// The model dag gives back what is left as it gives back recordings.
static void check_replay(const struct dag *dag, uint64_t seed) {
    struct dag_edit edit;
    struct dag_run run;
    struct error error = ERROR_INIT;
    must(dag_edit_init(&edit, dag, &error) && dag_run_init(&run, dag, &error), &error);
    assert_int_equal(dag_propagate(dag, &edit, &run), DAG_OK);
    if (!same(run.time_ns, dag->vertices.time_ns, dag->vertex_count * sizeof(int64_t))) {
        fail_msg("seed %lu", (unsigned long)seed);
    }
    dag_run_destroy(&run);
    dag_edit_destroy(&edit);
}

static void test_order_holds(void **state) {
    (void)state;
    uint32_t turns = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct fixture f = {0};
        f.trace = open_random(&f, seed);
        random_costs(&f, seed, seed % 3 ? 50 : 5000, 1);
        build(&f);
        uint32_t *turn_after = turns_of(f.dag);
        take_out(&f);
        check_order(f.dag, seed);
        check_replay(f.dag, seed);
        turns += check_turns(f.dag, turn_after, seed);
        free(turn_after);
        end(&f);
    }
    assert_true(turns > CASES);
}

// What costs more leaves nothing later.
static void test_more_cost_is_never_later(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct fixture less = {0}, more = {0};
        less.trace = more.trace = open_random(&less, seed);
        random_costs(&less, seed, 60, 1);
        build(&less);
        take_out(&less);
        random_costs(&more, seed, 60, 3);
        build(&more);
        take_out(&more);
        for (uint32_t v = 0; v < less.dag->vertex_count; v++) {
            bool later = less.dag->vertices.time_ns[v] > less.dag->tracer.recorded_ns[v] ||
                         more.dag->vertices.time_ns[v] > less.dag->vertices.time_ns[v];
            if (later) fail_msg("seed %lu: vertex %u", (unsigned long)seed, v);
        }
        assert_true(more.dag->last_ns <= less.dag->last_ns);
        dag_free(more.dag);
        end(&less);
    }
}

// ---- written

static struct trace *write_and_open(const struct dag *dag) {
    struct error error = ERROR_INIT;
    struct dag_edit edit;
    must(dag_edit_init(&edit, dag, &error), &error);
    struct trace *trace = written_edit(dag, &edit);
    dag_edit_destroy(&edit);
    return trace;
}

// A run without the cost is written without; it comes back as it was. One with it can have it taken out later.
static void test_it_is_taken_out_once(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 2 * WRITTEN_CASES; seed += 2) {
        struct fixture f = {0}, kept = {0}, without = {0};
        f.trace = open_random(&f, seed);
        random_costs(&f, seed, 40, 1);
        build(&f);
        kept.trace = write_and_open(f.dag);
        build(&kept);
        assert_true(kept.trace->tells_costs);
        take_out(&f);
        take_out(&kept);
        without.trace = write_and_open(f.dag);
        build(&without);
        assert_false(without.trace->tells_costs);
        int64_t wall_ns = f.dag->last_ns - f.dag->first_ns;
        int64_t differs_ns = without.dag->last_ns - without.dag->first_ns - wall_ns;
        if (differs_ns < 0 || differs_ns > wall_ns / 100 + 20) {
            fail_msg("seed %lu: %ld of %ld ns", (unsigned long)seed, (long)differs_ns, (long)wall_ns);
        }
        assert_in_range(kept.dag->last_ns - kept.dag->first_ns, wall_ns * 95 / 100, wall_ns * 105 / 100);
        end(&f);
        end(&kept);
        end(&without);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_shorten_edges),
        cmocka_unit_test(test_edges_keep_a_ns),
        cmocka_unit_test(test_turns_stay),
        cmocka_unit_test(test_who_was_woken_follows_the_call),
        cmocka_unit_test(test_who_comes_late_keeps_its_place),
        cmocka_unit_test(test_machine_moves_along),
        cmocka_unit_test(test_no_thread_waits_for_the_tracer),
        cmocka_unit_test(test_without_costs_nothing_happens),
        cmocka_unit_test(test_no_cost_is_exact),
        cmocka_unit_test(test_order_holds),
        cmocka_unit_test(test_more_cost_is_never_later),
        cmocka_unit_test(test_it_is_taken_out_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
