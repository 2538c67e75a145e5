// SPDX-License-Identifier: GPL-3.0-or-later
// Pipelines of the program's own threads: random ones, played by a queue's own rules, replay, can be resized, and never
// halt, though nobody shuts a stage down and main awaits the ends of its threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dag/ns.h"
#include "dag/propagate/propagate.h"
#include "simulate_fixture.h"

enum { STAGES_MOST = 3, THREADS_MOST = 5, ITEMS_MOST = 60, RUNS = 200 };
enum { MAIN = 1, MAIN_TASK = 1, THREAD_TASKS = 100, LATCHES = 200, ITEM_TASKS = 1000 }; // ids

// What hand-overs take.
enum { BRACKET_NS = 40, WAKES_NS = 900, TAKES_NS = 60, STARTS_NS = 20, FALLS_ASLEEP_NS = 30, BEGINS_NS = 700 };

struct item {
    uint64_t put_ns, task;
    bool last;   // tells a thread to leave
    bool unseen; // nothing tells that it was put
};

struct worker {
    uint32_t thread;
    uint64_t free_ns;
    bool gone;
};

struct stage {
    uint32_t pool, threads;
    struct worker workers[THREADS_MOST];
    struct item items[ITEMS_MOST + THREADS_MOST];
    uint32_t item_count;
};

struct pipeline {
    struct trace_builder *tb;
    struct random_source random;
    uint32_t site, stage_count;
    struct stage stages[STAGES_MOST];
    uint64_t now_ns, next_task; // of main
    bool unseen;                // so is what tells threads to leave
};

static void put(struct pipeline *p, uint32_t thread, uint64_t at_ns, struct stage *into, bool last) {
    const uint64_t task = p->next_task++;
    const bool unseen = last && p->unseen;
    if (!unseen) tb_event(p->tb, thread, at_ns, EVENT_SPAWN_BEGIN, task, p->site, into->pool);
    if (!unseen) tb_event(p->tb, thread, at_ns + BRACKET_NS, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
    into->items[into->item_count++] = (struct item){at_ns, task, last, unseen};
}

static void begin_threads(struct pipeline *p, uint32_t index) {
    struct stage *stage = &p->stages[index];
    for (uint32_t i = 0; i < stage->threads; i++) {
        struct worker *worker = &stage->workers[i];
        const uint64_t run = THREAD_TASKS + worker->thread;
        tb_event(p->tb, MAIN, p->now_ns, EVENT_SPAWN_BEGIN, run, p->site, 0);
        tb_event(p->tb, MAIN, p->now_ns + BRACKET_NS, EVENT_SPAWN_END, run, SPAWN_ACCEPTED);
        worker->free_ns = p->now_ns + BEGINS_NS;
        tb_event(p->tb, worker->thread, worker->free_ns, EVENT_THREAD_START, run);
        tb_event(p->tb, worker->thread, worker->free_ns + 1, EVENT_WORKER_BEGIN, stage->pool);
        p->now_ns += BRACKET_NS + 10;
    }
}

// Who has slept longest, or else comes free first.
static struct worker *who_takes(struct stage *stage) {
    struct worker *first = NULL;
    for (uint32_t i = 0; i < stage->threads; i++) {
        struct worker *worker = &stage->workers[i];
        if (!worker->gone && (!first || worker->free_ns < first->free_ns)) first = worker;
    }
    return first;
}

static uint64_t take(struct pipeline *p, struct stage *stage, struct worker *worker, const struct item *item) {
    const bool slept = worker->free_ns + FALLS_ASLEEP_NS < item->put_ns;
    const uint64_t start_ns =
        slept ? item->put_ns + WAKES_NS + STARTS_NS : worker->free_ns + FALLS_ASLEEP_NS + TAKES_NS;
    tb_event(p->tb, worker->thread, worker->free_ns + FALLS_ASLEEP_NS, EVENT_IDLE, stage->pool);
    tb_event(p->tb, worker->thread, start_ns - STARTS_NS, EVENT_BUSY, stage->pool);
    tb_event(p->tb, worker->thread, start_ns, EVENT_TASK_START, item->task);
    return start_ns;
}

static void leave(struct pipeline *p, struct stage *stage, struct worker *worker, uint64_t at_ns) {
    worker->gone = true;
    tb_event(p->tb, worker->thread, at_ns, EVENT_RETIRE, stage->pool);
    tb_event(p->tb, worker->thread, at_ns + 100, EVENT_THREAD_END, THREAD_TASKS + worker->thread);
    worker->free_ns = at_ns + 100;
}

static int by_time(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return (x->put_ns > y->put_ns) - (x->put_ns < y->put_ns);
}

static void serve(struct pipeline *p, uint32_t index, uint32_t from) {
    struct stage *stage = &p->stages[index], *next = index + 1 < p->stage_count ? stage + 1 : NULL;
    qsort(stage->items + from, stage->item_count - from, sizeof *stage->items, by_time);
    for (uint32_t i = from; i < stage->item_count; i++) {
        const struct item *item = &stage->items[i];
        struct worker *worker = who_takes(stage);
        uint64_t now_ns = take(p, stage, worker, item);
        now_ns += item->last ? 50 : 2000 + random_below(&p->random, 40000);
        if (item->unseen) tb_event(p->tb, worker->thread, now_ns - 10, EVENT_RESULT, LATCHES + worker->thread);
        if (next && !item->last) {
            put(p, worker->thread, now_ns, next, false);
            now_ns += BRACKET_NS + 10;
        }
        tb_event(p->tb, worker->thread, now_ns, EVENT_TASK_END, item->task, 0, TASK_RETURNED);
        worker->free_ns = now_ns;
        if (item->last) leave(p, stage, worker, now_ns + 60);
    }
}

// Main puts an element for each thread that tells it to leave, and awaits them all.
static void end_stage(struct pipeline *p, uint32_t index) {
    struct stage *stage = &p->stages[index];
    const uint32_t from = stage->item_count;
    for (uint32_t i = 0; i < stage->threads; i++) {
        put(p, MAIN, p->now_ns, stage, true);
        p->now_ns += BRACKET_NS + 10;
    }
    serve(p, index, from);
    for (uint32_t i = 0; i < stage->threads; i++) {
        const uint64_t run = THREAD_TASKS + stage->workers[i].thread;
        const uint64_t ends_ns = stage->workers[i].free_ns + 500;
        const uint64_t awaited = p->unseen ? LATCHES + stage->workers[i].thread : run;
        const enum wait_for what = p->unseen ? WAIT_FOR_RELEASE : WAIT_FOR_TASK;
        tb_event(p->tb, MAIN, p->now_ns, EVENT_WAIT_BEGIN, awaited, 0, tb_wait(what, p->site));
        p->now_ns = ends_ns > p->now_ns ? ends_ns : p->now_ns + 10;
        tb_event(p->tb, MAIN, p->now_ns, EVENT_WAIT_END, awaited, 0);
        p->now_ns += 10;
    }
}

static void make_stages(struct pipeline *p) {
    p->stage_count = 1 + (uint32_t)random_below(&p->random, STAGES_MOST);
    for (uint32_t i = 0, thread = MAIN + 1; i < p->stage_count; i++) {
        struct stage *stage = &p->stages[i];
        stage->pool = tb_pool_like(p->tb, (struct trace_pool){.kind = "com.acme.Stage",
                                                              .name = "stage",
                                                              .core = -1,
                                                              .maximum = -1,
                                                              .capacity = -1,
                                                              .keep_alive_ns = -1,
                                                              .flags = POOL_STAGE});
        stage->threads = 1 + (uint32_t)random_below(&p->random, THREADS_MOST);
        for (uint32_t w = 0; w < stage->threads; w++, thread++) {
            stage->workers[w].thread = thread;
            tb_thread(p->tb, thread, "stage-1", 0);
        }
    }
}

static void open_pipeline(struct pipeline *p, uint64_t seed, struct simulate_fixture *fixture) {
    *p = (struct pipeline){.tb = tb_new(), .random = {seed}, .next_task = ITEM_TASKS};
    p->site = tb_site(p->tb, "Main", "run", 12);
    tb_thread(p->tb, MAIN, "main", 0);
    tb_event(p->tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK);
    make_stages(p);
    p->unseen = random_below(&p->random, 4) == 0;
    p->now_ns = 100;
    const bool late = random_below(&p->random, 4) == 0; // what lies in the queue is there before the threads
    for (uint32_t i = late; i < p->stage_count; i++) begin_threads(p, i);
    for (uint64_t left = 1 + random_below(&p->random, ITEMS_MOST - 1); left > 0; left--) {
        p->now_ns += 500 + random_below(&p->random, 20000);
        put(p, MAIN, p->now_ns, &p->stages[0], false);
        p->now_ns += BRACKET_NS + 10;
    }
    if (late) begin_threads(p, 0);
    for (uint32_t i = 0; i < p->stage_count; i++) {
        if (i == 0) serve(p, 0, 0);
        end_stage(p, i);
        if (i + 1 < p->stage_count) serve(p, i + 1, 0);
    }
    tb_event(p->tb, MAIN, p->now_ns + 100, EVENT_THREAD_END, MAIN_TASK);
    simulate_fixture_open(fixture, p->tb);
}

static const struct dag *simulate(struct simulate_fixture *fixture, enum model_kind kind) {
    const struct model model = {.kind = kind};
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, &model), DAG_OK);
    return simulation_dag(fixture->simulation);
}

static void test_stages_are_known(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture;
        open_pipeline(&p, seed, &fixture);
        for (uint32_t i = 0; i < p.stage_count; i++) {
            const struct dag_pool *pool = &fixture.dag->pools[p.stages[i].pool];
            assert_true(pool->is_stage);
            assert_int_equal(pool->discipline, DISCIPLINE_FIFO);
            assert_int_equal(pool->core, p.stages[i].threads);
            assert_null(dag_resize_refusal(fixture.dag, p.stages[i].pool));
        }
        simulate_fixture_close(&fixture);
    }
}

static void test_model_dag_gives_back_every_time(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture;
        open_pipeline(&p, seed, &fixture);
        const struct dag *run = simulate(&fixture, MODEL_DAG);
        assert_int_equal(run->vertex_count, fixture.dag->vertex_count);
        for (uint32_t v = 0; v < run->vertex_count; v++)
            assert_int_equal(run->vertices.time_ns[v], fixture.dag->vertices.time_ns[run->source[v]]);
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        for (uint32_t v = 0; v < run->vertex_count; v++)
            assert_int_equal(fixture.run.time_ns[v], fixture.dag->vertices.time_ns[v]);
        simulate_fixture_close(&fixture);
    }
}

static uint32_t starts_elsewhere(const struct dag *run, const struct dag *recorded) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < recorded->task_count; t++) {
        const uint32_t start = recorded->tasks[t].start, now = run->tasks[t].start;
        if (start != DAG_NONE)
            count += now == DAG_NONE || run->vertices.time_ns[now] != recorded->vertices.time_ns[start];
    }
    return count;
}

// To the nanosecond, but where something is put as a thread falls asleep.
static void test_the_simulation_gives_back_the_run(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture;
        open_pipeline(&p, seed, &fixture);
        for (int kind = MODEL_POOL; kind <= MODEL_CPU; kind++) {
            const struct dag *run = simulate(&fixture, (enum model_kind)kind);
            assert_int_equal(run_wall_ns(run), run_wall_ns(fixture.dag));
            assert_in_range(starts_elsewhere(run, fixture.dag), 0, 1);
        }
        simulate_fixture_close(&fixture);
    }
}

static uint32_t threads_that_ran(const struct dag *run, uint32_t pool) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->thread_count; i++)
        count += run->threads[i].worker && run->threads[i].pool == pool && run->threads[i].count > 0;
    return count;
}

static void test_no_size_halts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture;
        open_pipeline(&p, seed, &fixture);
        for (uint32_t i = 0; i < p.stage_count; i++) {
            const uint32_t size = 1 + (uint32_t)random_below(&p.random, 2 * THREADS_MOST);
            dag_edit_resize(&fixture.edit, p.stages[i].pool, (int32_t)size);
            for (int kind = MODEL_POOL; kind <= MODEL_CPU; kind++)
                assert_int_equal(threads_that_ran(simulate(&fixture, (enum model_kind)kind), p.stages[i].pool), size);
        }
        simulate_fixture_close(&fixture);
    }
}

// What is estimated can be read again, with its stages.
static void test_a_resized_run_is_written(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS / 10; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture, again;
        open_pipeline(&p, seed, &fixture);
        dag_edit_resize(&fixture.edit, p.stages[0].pool, 2);
        const struct dag *run = simulate(&fixture, MODEL_POOL);
        simulate_fixture_open_trace(&again, written_run(run));
        assert_true(again.dag->pools[p.stages[0].pool].is_stage);
        assert_int_equal(again.dag->pools[p.stages[0].pool].core, 2);
        assert_int_equal(run_wall_ns(again.dag), run_wall_ns(run));
        simulate(&again, MODEL_POOL);
        simulate_fixture_close(&again);
        simulate_fixture_close(&fixture);
    }
}

static void test_no_edit_halts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pipeline p;
        struct simulate_fixture fixture;
        open_pipeline(&p, seed, &fixture);
        for (uint64_t share = 1; share <= 3; share++) {
            simulate_fixture_inline_random(&fixture, &p.random, share, 3);
            for (int kind = MODEL_DAG; kind <= MODEL_CPU; kind++) simulate(&fixture, (enum model_kind)kind);
        }
        simulate_fixture_close(&fixture);
    }
}

// Any pool may be told as a stage, whatever its threads do. What comes to a halt is told, and nothing breaks.
static void simulate_as_stages(struct trace_builder *tb) {
    struct simulate_fixture fixture;
    struct trace *trace = tb_open(tb);
    struct trace_pool *pools = (struct trace_pool *)trace->pools; // which the test may change, before it is looked at
    for (uint32_t p = 1; p < trace->pool_count; p++) pools[p].flags |= POOL_STAGE;
    simulate_fixture_open_trace(&fixture, trace);
    assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
    for (uint32_t v = 0; v < fixture.dag->vertex_count; v++)
        assert_int_equal(fixture.run.time_ns[v], fixture.dag->vertices.time_ns[v]);
    for (int kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        const struct model model = {.kind = (enum model_kind)kind};
        for (int32_t size = 0; size <= 3; size++) {
            for (uint32_t p = 1; size && kind != MODEL_DAG && p < fixture.dag->pool_count; p++)
                dag_edit_resize(&fixture.edit, p, size);
            enum dag_outcome outcome = simulation_run(fixture.simulation, &fixture.edit, &model);
            assert_int_not_equal(outcome, DAG_NO_MEMORY);
            if (outcome == DAG_OK) assert_non_null(simulation_dag(fixture.simulation));
        }
    }
    simulate_fixture_close(&fixture);
    tb_free(tb);
}

static void test_any_pool_may_be_a_stage(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct program *program = malloc(sizeof *program);
        const struct random_pool options = random_pool_options(seed, 0);
        assert_non_null(program);
        random_pool_program(&options, program);
        simulate_as_stages(program_trace(program, &options));
        free(program);
        simulate_as_stages(random_trace(seed));
        simulate_as_stages(random_events(seed));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages_are_known),
        cmocka_unit_test(test_model_dag_gives_back_every_time),
        cmocka_unit_test(test_the_simulation_gives_back_the_run),
        cmocka_unit_test(test_no_size_halts),
        cmocka_unit_test(test_a_resized_run_is_written),
        cmocka_unit_test(test_no_edit_halts),
        cmocka_unit_test(test_any_pool_may_be_a_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
