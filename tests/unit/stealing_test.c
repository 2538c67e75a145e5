// SPDX-License-Identifier: GPL-3.0-or-later
// Work-stealing pools in the simulation: small programs solved by hand, and laws on random ones.
#include "simulate_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAIN = 1, FIRST = 2, SECOND = 3 };             // threads: main and workers
enum { TASK_A = 2, TASK_B, TASK_C, TASK_D, PROMISE }; // tasks; 1 is main's
enum { RUN_OF_FIRST = 50, RUN_OF_SECOND = 51 };       // workers' own run()
enum { RANDOM_CASES = 300 };

struct story {
    struct trace_builder *tb;
    uint32_t pool, site;
};

static struct story begin_story(int32_t parallelism) {
    struct story story = {.tb = tb_new()};
    story.pool = tb_pool_like(story.tb, (struct trace_pool){.name = "pool",
                                                            .kind = "java.util.concurrent.ForkJoinPool",
                                                            .queue = "java.util.concurrent.ForkJoinPool$WorkQueue",
                                                            .core = parallelism,
                                                            .maximum = 32767,
                                                            .capacity = -1,
                                                            .keep_alive_ns = -1});
    story.site = tb_site(story.tb, "Main", "run", 12);
    tb_thread(story.tb, MAIN, "main", 0);
    tb_thread(story.tb, FIRST, "worker-1", 0);
    tb_thread(story.tb, SECOND, "worker-2", 0);
    tb_event(story.tb, MAIN, 0, EVENT_MAIN_BEGIN, 1);
    return story;
}

static void spawn(const struct story *story, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t task) {
    tb_event(story->tb, thread, begin_ns, EVENT_SPAWN_BEGIN, task, story->site, story->pool);
    tb_event(story->tb, thread, end_ns, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
}

// A worker is made in the bracket, and needs 20 ns to begin.
static void spawn_with_worker(const struct story *story, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                              uint64_t task, uint32_t worker, uint64_t run) {
    tb_event(story->tb, thread, begin_ns, EVENT_SPAWN_BEGIN, task, story->site, story->pool);
    tb_event(story->tb, thread, begin_ns + 1, EVENT_SPAWN_BEGIN, run, 0, 0);
    tb_event(story->tb, thread, begin_ns + 2, EVENT_SPAWN_END, run, SPAWN_ACCEPTED);
    tb_event(story->tb, thread, end_ns, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
    tb_event(story->tb, worker, begin_ns + 20, EVENT_THREAD_START, run, 0);
    tb_event(story->tb, worker, begin_ns + 21, EVENT_WORKER_BEGIN, story->pool);
}

static void start(const struct story *story, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(story->tb, thread, time_ns, EVENT_TASK_START, task, 0);
}

static void end(const struct story *story, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(story->tb, thread, time_ns, EVENT_TASK_END, task, 0, TASK_RETURNED);
}

static void begin_wait(const struct story *story, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(story->tb, thread, time_ns, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, story->site));
}

static void end_wait(const struct story *story, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(story->tb, thread, time_ns, EVENT_WAIT_END, task, 0);
}

static const struct dag *replay(struct simulate_fixture *fixture, const struct story *story) {
    const struct model model = {.kind = MODEL_POOL};
    simulate_fixture_open(fixture, story->tb);
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, &model), DAG_OK);
    return simulation_dag(fixture->simulation);
}

static const struct dag_task *task_with(const struct dag *run, uint64_t id) {
    for (uint32_t t = 0; t < run->task_count; t++) {
        if (run->tasks[t].id == id) return &run->tasks[t];
    }
    fail_msg("no task %lu", (unsigned long)id);
    return NULL;
}

// Where, when and how a task runs.
static void check_task(const struct dag *run, uint64_t id, uint32_t thread, int64_t start_ns, int64_t end_ns,
                       enum dispatch dispatch) {
    const struct dag_task *task = task_with(run, id);
    assert_int_equal(task->thread, thread - 1);
    assert_int_equal(run->vertices.time_ns[task->start], start_ns);
    assert_int_equal(run->vertices.time_ns[task->end], end_ns);
    assert_int_equal(task->dispatch, dispatch);
}

// Recorded in the order in which they were spawned.
static void test_a_worker_takes_its_own_newest(void **state) {
    (void)state;
    struct story story = begin_story(1);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    tb_event(story.tb, MAIN, 1000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 50, 52, TASK_B);
    spawn(&story, FIRST, 60, 62, TASK_C);
    end(&story, FIRST, 100, TASK_A);
    start(&story, FIRST, 105, TASK_B);
    end(&story, FIRST, 155, TASK_B);
    start(&story, FIRST, 165, TASK_C);
    end(&story, FIRST, 265, TASK_C);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_A, FIRST, 40, 100, DISPATCH_NEW);
    check_task(run, TASK_C, FIRST, 110, 210, DISPATCH_QUEUED);
    check_task(run, TASK_B, FIRST, 215, 265, DISPATCH_QUEUED);
    simulate_fixture_close(&fixture);
}

// Recorded with the newest stolen.
static void test_a_thief_takes_the_oldest(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn_with_worker(&story, MAIN, 30, 40, TASK_D, SECOND, RUN_OF_SECOND);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 100, 102, TASK_B);
    spawn(&story, FIRST, 110, 112, TASK_C);
    end(&story, FIRST, 1000, TASK_A);
    start(&story, FIRST, 1005, TASK_B);
    end(&story, FIRST, 1055, TASK_B);
    start(&story, SECOND, 60, TASK_D);
    end(&story, SECOND, 200, TASK_D);
    start(&story, SECOND, 210, TASK_C);
    end(&story, SECOND, 310, TASK_C);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_D, SECOND, 60, 200, DISPATCH_NEW);
    check_task(run, TASK_B, SECOND, 205, 255, DISPATCH_QUEUED);
    check_task(run, TASK_C, SECOND, 265, 365, DISPATCH_QUEUED);
    simulate_fixture_close(&fixture);
}

static void test_a_waiter_runs_what_it_waits_for(void **state) {
    (void)state;
    struct story story = begin_story(1);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    tb_event(story.tb, MAIN, 1000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 50, 52, TASK_B);
    spawn(&story, FIRST, 60, 62, TASK_C);
    begin_wait(&story, FIRST, 70, TASK_B); // the older one
    start(&story, FIRST, 77, TASK_B);
    end(&story, FIRST, 100, TASK_B);
    end_wait(&story, FIRST, 103, TASK_B);
    end(&story, FIRST, 200, TASK_A);
    start(&story, FIRST, 205, TASK_C);
    end(&story, FIRST, 255, TASK_C);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, FIRST, 77, 100, DISPATCH_HELPED);
    check_task(run, TASK_A, FIRST, 40, 200, DISPATCH_NEW);
    check_task(run, TASK_C, FIRST, 205, 255, DISPATCH_QUEUED);
    simulate_fixture_close(&fixture);
}

// Recorded asleep for a task that was stolen from it, while the thief did all that came of it.
static void test_a_waiter_helps_the_thief(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn_with_worker(&story, FIRST, 50, 60, TASK_B, SECOND, RUN_OF_SECOND);
    begin_wait(&story, FIRST, 500, TASK_B);
    end_wait(&story, FIRST, 1230, TASK_B);
    end(&story, FIRST, 1300, TASK_A);
    start(&story, SECOND, 100, TASK_B);
    spawn(&story, SECOND, 150, 155, TASK_C);
    begin_wait(&story, SECOND, 900, TASK_C);
    start(&story, SECOND, 905, TASK_C);
    end(&story, SECOND, 1105, TASK_C);
    end_wait(&story, SECOND, 1110, TASK_C);
    end(&story, SECOND, 1200, TASK_B);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_C, FIRST, 505, 705, DISPATCH_HELPED);
    check_task(run, TASK_B, SECOND, 100, 995, DISPATCH_NEW);
    check_task(run, TASK_A, FIRST, 40, 1095, DISPATCH_NEW);
    assert_int_equal(run->tasks[task_with(run, TASK_C)->enclosing].id, TASK_A);
    simulate_fixture_close(&fixture);
}

// The pool's only worker waits for what nobody is left to run.
static void test_a_spare_is_made_for_a_waiter(void **state) {
    (void)state;
    struct story story = begin_story(1);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn(&story, MAIN, 60, 65, TASK_B);
    tb_event(story.tb, MAIN, 1000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    begin_wait(&story, FIRST, 100, TASK_B);
    tb_event(story.tb, FIRST, 105, EVENT_SPAWN_BEGIN, RUN_OF_SECOND, 0, 0);
    tb_event(story.tb, FIRST, 108, EVENT_SPAWN_END, RUN_OF_SECOND, SPAWN_ACCEPTED);
    end_wait(&story, FIRST, 400, TASK_B);
    end(&story, FIRST, 500, TASK_A);
    tb_event(story.tb, SECOND, 120, EVENT_THREAD_START, RUN_OF_SECOND, 0);
    tb_event(story.tb, SECOND, 121, EVENT_WORKER_BEGIN, story.pool);
    start(&story, SECOND, 150, TASK_B);
    end(&story, SECOND, 350, TASK_B);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, SECOND, 153, 353, DISPATCH_NEW);
    check_task(run, TASK_A, FIRST, 40, 503, DISPATCH_NEW);
    simulate_fixture_close(&fixture);
}

// What is awaited is no task: what its parts bring about together, which the waiter runs, newest first.
static void test_a_waiter_runs_parts(void **state) {
    (void)state;
    struct story story = begin_story(1);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    tb_event(story.tb, MAIN, 1000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 50, 52, TASK_B);
    spawn(&story, FIRST, 60, 62, TASK_C);
    begin_wait(&story, FIRST, 70, PROMISE);
    start(&story, FIRST, 75, TASK_C);
    end(&story, FIRST, 100, TASK_C);
    start(&story, FIRST, 103, TASK_B);
    tb_event(story.tb, FIRST, 120, EVENT_RESULT, PROMISE);
    end(&story, FIRST, 125, TASK_B);
    end_wait(&story, FIRST, 130, PROMISE);
    end(&story, FIRST, 200, TASK_A);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_C, FIRST, 75, 100, DISPATCH_HELPED);
    check_task(run, TASK_B, FIRST, 103, 125, DISPATCH_HELPED);
    check_task(run, TASK_A, FIRST, 40, 200, DISPATCH_NEW);
    simulate_fixture_close(&fixture);
}

// Nobody else ran the task that woke a worker, which came late and found nothing.
static void test_who_is_called_comes_as_late_as_it_did(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn_with_worker(&story, MAIN, 30, 40, TASK_D, SECOND, RUN_OF_SECOND);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    start(&story, SECOND, 60, TASK_D);
    end(&story, SECOND, 62, TASK_D);
    tb_event(story.tb, SECOND, 63, EVENT_IDLE, story.pool);
    tb_event(story.tb, SECOND, 900, EVENT_BUSY, story.pool);
    tb_event(story.tb, SECOND, 905, EVENT_IDLE, story.pool);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 120, 122, TASK_B);
    begin_wait(&story, FIRST, 300, TASK_B);
    start(&story, FIRST, 305, TASK_B);
    end(&story, FIRST, 405, TASK_B);
    end_wait(&story, FIRST, 410, TASK_B);
    end(&story, FIRST, 1000, TASK_A);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, FIRST, 305, 405, DISPATCH_HELPED);
    check_task(run, TASK_A, FIRST, 40, 1000, DISPATCH_NEW);
    simulate_fixture_close(&fixture);
}

static void add_cpu(struct story *story, uint32_t thread, uint64_t time_ns, uint64_t kind, uint64_t id,
                    uint64_t cpu_ns) {
    bool wait = kind == EVENT_WAIT_BEGIN;
    tb_event(story->tb, thread, time_ns, kind, id, cpu_ns, wait ? tb_wait(WAIT_FOR_TASK, story->site) : 0);
}

// A thief came by as the waiter lost its core, before it could see that what it waited for was still there.
static void test_who_lost_its_core_does_not_find_its_task(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn_with_worker(&story, MAIN, 30, 40, TASK_D, SECOND, RUN_OF_SECOND);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    add_cpu(&story, SECOND, 60, EVENT_TASK_START, TASK_D, 1000);
    add_cpu(&story, SECOND, 500, EVENT_TASK_END, TASK_D, 1440);
    add_cpu(&story, SECOND, 510, EVENT_TASK_START, TASK_B, 1450);
    add_cpu(&story, SECOND, 610, EVENT_TASK_END, TASK_B, 1550);
    add_cpu(&story, FIRST, 40, EVENT_TASK_START, TASK_A, 1000);
    spawn(&story, FIRST, 100, 102, TASK_B);
    add_cpu(&story, FIRST, 150, EVENT_WAIT_BEGIN, TASK_B, 1110);
    tb_event(story.tb, FIRST, 1149, EVENT_RUN_DELAY, 985);
    add_cpu(&story, FIRST, 1150, EVENT_WAIT_END, TASK_B, 1120);
    add_cpu(&story, FIRST, 1200, EVENT_TASK_END, TASK_A, 1170);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, SECOND, 510, 610, DISPATCH_QUEUED);
    check_task(run, TASK_A, FIRST, 40, 1200, DISPATCH_NEW);
    simulate_fixture_close(&fixture);
}

// The same, but as it got its core back there was something else to help with.
static void test_who_lost_its_core_helps_later(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn_with_worker(&story, MAIN, 30, 40, TASK_D, SECOND, RUN_OF_SECOND);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    add_cpu(&story, SECOND, 60, EVENT_TASK_START, TASK_D, 1000);
    add_cpu(&story, SECOND, 500, EVENT_TASK_END, TASK_D, 1440);
    add_cpu(&story, SECOND, 510, EVENT_TASK_START, TASK_B, 1450);
    spawn(&story, SECOND, 520, 525, TASK_C);
    tb_event(story.tb, SECOND, 1400, EVENT_TAKEN, TASK_C);
    add_cpu(&story, SECOND, 1410, EVENT_TASK_END, TASK_B, 2350);
    add_cpu(&story, FIRST, 40, EVENT_TASK_START, TASK_A, 1000);
    spawn(&story, FIRST, 100, 102, TASK_B);
    add_cpu(&story, FIRST, 150, EVENT_WAIT_BEGIN, TASK_B, 1110);
    tb_event(story.tb, FIRST, 1149, EVENT_RUN_DELAY, 985);
    add_cpu(&story, FIRST, 1150, EVENT_TASK_START, TASK_C, 1120);
    add_cpu(&story, FIRST, 1250, EVENT_TASK_END, TASK_C, 1220);
    add_cpu(&story, FIRST, 1420, EVENT_WAIT_END, TASK_B, 1230);
    add_cpu(&story, FIRST, 1470, EVENT_TASK_END, TASK_A, 1280);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_C, FIRST, 1150, 1250, DISPATCH_HELPED);
    check_task(run, TASK_B, SECOND, 510, 1410, DISPATCH_QUEUED);
    check_task(run, TASK_A, FIRST, 40, 1470, DISPATCH_NEW);
    simulate_fixture_close(&fixture);
}

// A worker that was long asleep when a task was spawned comes when somebody came in the recording, and no sooner.
static void test_who_sleeps_does_not_look_around(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn_with_worker(&story, MAIN, 30, 40, TASK_D, SECOND, RUN_OF_SECOND);
    tb_event(story.tb, MAIN, 5000, EVENT_THREAD_END, 1);
    start(&story, SECOND, 60, TASK_D);
    end(&story, SECOND, 62, TASK_D);
    tb_event(story.tb, SECOND, 72, EVENT_IDLE, story.pool);
    tb_event(story.tb, SECOND, 3020, EVENT_BUSY, story.pool);
    start(&story, SECOND, 3030, TASK_C);
    end(&story, SECOND, 3100, TASK_C);
    start(&story, FIRST, 40, TASK_A);
    spawn(&story, FIRST, 90, 92, TASK_B);
    begin_wait(&story, FIRST, 300, TASK_B);
    start(&story, FIRST, 305, TASK_B);
    end(&story, FIRST, 405, TASK_B);
    end_wait(&story, FIRST, 410, TASK_B);
    spawn(&story, FIRST, 1000, 1800, TASK_C); // waking took long, and waking the worker at 90 would have, too
    begin_wait(&story, FIRST, 1900, TASK_C);
    end_wait(&story, FIRST, 3110, TASK_C);
    end(&story, FIRST, 3200, TASK_A);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, FIRST, 305, 405, DISPATCH_HELPED);
    simulate_fixture_close(&fixture);
}

// One that it spawned itself took a waiter 5 ns to take up, one that it stole 20 ns.
static void test_stealing_takes_longer(void **state) {
    (void)state;
    struct story story = begin_story(2);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    tb_event(story.tb, MAIN, 2000, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    spawn_with_worker(&story, FIRST, 50, 60, TASK_B, SECOND, RUN_OF_SECOND);
    begin_wait(&story, FIRST, 500, TASK_B);
    start(&story, FIRST, 520, TASK_C);
    end(&story, FIRST, 720, TASK_C);
    end_wait(&story, FIRST, 1230, TASK_B);
    end(&story, FIRST, 1300, TASK_A);
    start(&story, SECOND, 100, TASK_B);
    spawn(&story, SECOND, 150, 155, TASK_C);
    spawn(&story, SECOND, 160, 165, TASK_D);
    begin_wait(&story, SECOND, 1005, TASK_D);
    start(&story, SECOND, 1010, TASK_D);
    end(&story, SECOND, 1110, TASK_D);
    end_wait(&story, SECOND, 1115, TASK_D);
    end(&story, SECOND, 1210, TASK_B);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_C, FIRST, 520, 720, DISPATCH_HELPED);
    check_task(run, TASK_D, FIRST, 740, 840, DISPATCH_HELPED);
    simulate_fixture_close(&fixture);
}

static void test_main_runs_what_it_waits_for(void **state) {
    (void)state;
    struct story story = begin_story(1);
    spawn_with_worker(&story, MAIN, 10, 20, TASK_A, FIRST, RUN_OF_FIRST);
    spawn(&story, MAIN, 100, 105, TASK_B);
    begin_wait(&story, MAIN, 200, TASK_B);
    start(&story, MAIN, 210, TASK_B);
    end(&story, MAIN, 260, TASK_B);
    end_wait(&story, MAIN, 265, TASK_B);
    tb_event(story.tb, MAIN, 300, EVENT_THREAD_END, 1);
    start(&story, FIRST, 40, TASK_A);
    end(&story, FIRST, 1000, TASK_A);
    struct simulate_fixture fixture;
    const struct dag *run = replay(&fixture, &story);
    check_task(run, TASK_B, MAIN, 210, 260, DISPATCH_HELPED);
    assert_int_equal(run->vertices.time_ns[task_with(run, 1)->end], 300);
    simulate_fixture_close(&fixture);
}

static void check_all_ran(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    for (uint32_t t = 0; t < run->task_count; t++) {
        bool started = fixture->dag->tasks[t].start != DAG_NONE && !fixture->edit.inlined[t];
        if (started != (run->tasks[t].start != DAG_NONE)) fail_msg("seed %lu: task %u", (unsigned long)seed, t);
    }
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t cause = run->vertices.cause[v];
        if (cause == DAG_NONE || run->vertices.rule[v] == RULE_WAIT || run->vertices.rule[v] == RULE_LOCK) continue;
        if (run->vertices.time_ns[cause] > run->vertices.time_ns[v])
            fail_msg("seed %lu: vertex %u before its cause", (unsigned long)seed, v);
    }
}

// Nothing is lost and nobody starves, whatever is inlined: coordinators wait for what they spawned.
static void test_random_programs_end(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_CASES; seed++) {
        struct random_pool options = random_pool_options(seed, (uint32_t)(seed % 3));
        struct program *program = malloc(sizeof *program);
        assert_non_null(program);
        for (uint32_t p = 0; p < options.pool_count; p++) options.pools[p].rules = POOL_STEALING;
        random_pool_program(&options, program);
        struct simulate_fixture fixture;
        simulate_fixture_open(&fixture, program_trace(program, &options));
        struct random_source random = {seed};
        for (uint32_t share = 0; share < 3; share++) {
            for (uint32_t t = 0; share && t < fixture.dag->task_count; t++) {
                if (!dag_inline_refusal(fixture.dag, t) && random_below(&random, 4) < share)
                    dag_edit_inline(&fixture.edit, t);
            }
            const struct model model = {.kind = seed & 1 ? MODEL_CPU : MODEL_POOL};
            assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
            check_all_ran(&fixture, seed);
        }
        simulate_fixture_close(&fixture);
        free(program);
    }
}

// Rules that a recording does not follow may bring it to a halt, and nothing worse.
static void test_any_recording_is_replayed(void **state) {
    (void)state;
    unsigned ended = 0;
    for (uint64_t seed = 0; seed < 4 * RANDOM_CASES; seed++) {
        struct simulate_fixture fixture;
        struct error error = ERROR_INIT;
        const struct model model = {.kind = seed & 1 ? MODEL_CPU : MODEL_POOL};
        simulate_fixture_open(&fixture, seed & 2 ? random_events(seed) : random_trace(seed));
        for (uint32_t p = 1; p < fixture.dag->pool_count; p++) {
            fixture.dag->pools[p].discipline = DISCIPLINE_STEALING;
            fixture.dag->pools[p].core = 1 + (int32_t)(seed % 3);
        }
        simulation_free(fixture.simulation);
        fixture.simulation = simulation_new(fixture.dag, fixture.costs, &error);
        assert_non_null(fixture.simulation);
        for (uint32_t t = 0; t < fixture.dag->task_count && seed & 4; t += 3) {
            if (!dag_inline_refusal(fixture.dag, t)) dag_edit_inline(&fixture.edit, t);
        }
        ended += simulation_run(fixture.simulation, &fixture.edit, &model) == DAG_OK;
        simulate_fixture_close(&fixture);
    }
    assert_true(ended > RANDOM_CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_worker_takes_its_own_newest),
        cmocka_unit_test(test_a_thief_takes_the_oldest),
        cmocka_unit_test(test_a_waiter_runs_what_it_waits_for),
        cmocka_unit_test(test_a_waiter_helps_the_thief),
        cmocka_unit_test(test_a_spare_is_made_for_a_waiter),
        cmocka_unit_test(test_a_waiter_runs_parts),
        cmocka_unit_test(test_who_is_called_comes_as_late_as_it_did),
        cmocka_unit_test(test_who_lost_its_core_does_not_find_its_task),
        cmocka_unit_test(test_who_lost_its_core_helps_later),
        cmocka_unit_test(test_who_sleeps_does_not_look_around),
        cmocka_unit_test(test_stealing_takes_longer),
        cmocka_unit_test(test_main_runs_what_it_waits_for),
        cmocka_unit_test(test_random_programs_end),
        cmocka_unit_test(test_any_recording_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
