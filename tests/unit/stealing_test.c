// SPDX-License-Identifier: GPL-3.0-or-later
// Work-stealing pools in the simulation: small programs solved by hand, and laws on random ones.
#include "by_hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAIN = HAND_MAIN, FIRST = HAND_FIRST, SECOND = HAND_SECOND }; // threads: main and workers
enum { TASK_A = 2, TASK_B, TASK_C, TASK_D, TASK_E, PROMISE };
enum { RUN_OF_FIRST = 50, RUN_OF_SECOND = 51, RUN_OF_THIRD = 52 }; // workers' own run()
enum { RANDOM_CASES = 300 };

enum what {
    NOTHING,
    SPAWN,             // `value`: when the bracket ends
    SPAWN_WITH_WORKER, // the same, and the second worker is made in it
    MAKE_SPARE,        // no task, but the second worker; `value`: when the bracket ends
    RUN,               // a whole body; `value`: when it ends
    START,             // `value` of these four: CPU time by then, 0 where untold
    END,
    WAIT,
    AWAITED,
    RESULT, // `value` of the last five: 0
    TAKEN,
    DELAYED, // for a core, so long as `task` says
    IDLE,    // `task`: 0
    BUSY,
};

struct step {
    uint64_t time_ns;
    enum what what;
    uint64_t task, value;
};

// Where, when and how a task runs.
struct expected {
    uint64_t task;
    uint32_t thread;
    int64_t start_ns, end_ns;
    enum dispatch dispatch;
};

static void make_worker(struct by_hand *p, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t run) {
    tb_event(p->tb, thread, begin_ns, EVENT_SPAWN_BEGIN, run, 0, 0);
    tb_event(p->tb, thread, end_ns, EVENT_SPAWN_END, run, SPAWN_ACCEPTED);
}

static void begin_worker(struct by_hand *p, uint32_t worker, uint64_t time_ns, uint64_t run) {
    tb_event(p->tb, worker, time_ns, EVENT_THREAD_START, run, 0);
    tb_event(p->tb, worker, time_ns + 1, EVENT_WORKER_BEGIN, p->pool);
}

// A worker is made in the bracket, and needs 20 ns to begin.
static void spawn_with_worker(struct by_hand *p, uint32_t thread, const struct step *step, uint32_t worker,
                              uint64_t run) {
    tb_event(p->tb, thread, step->time_ns, EVENT_SPAWN_BEGIN, step->task, p->site, p->pool);
    make_worker(p, thread, step->time_ns + 1, step->time_ns + 2, run);
    tb_event(p->tb, thread, step->value, EVENT_SPAWN_END, step->task, SPAWN_ACCEPTED);
    begin_worker(p, worker, step->time_ns + 20, run);
}

static void tell_step(struct by_hand *p, uint32_t thread, const struct step *step) {
    static const enum event_kind kinds[] = {
        [START] = EVENT_TASK_START, [END] = EVENT_TASK_END, [AWAITED] = EVENT_WAIT_END,  [RESULT] = EVENT_RESULT,
        [TAKEN] = EVENT_TAKEN,      [IDLE] = EVENT_IDLE,    [DELAYED] = EVENT_RUN_DELAY, [BUSY] = EVENT_BUSY,
    };
    const uint64_t time_ns = step->time_ns, task = step->task, value = step->value;
    switch (step->what) {
    case SPAWN:
        by_hand_spawn(p, thread, time_ns, value, task);
        break;
    case SPAWN_WITH_WORKER:
        spawn_with_worker(p, thread, step, SECOND, RUN_OF_SECOND);
        break;
    case MAKE_SPARE:
        make_worker(p, thread, time_ns, value, RUN_OF_SECOND);
        begin_worker(p, SECOND, time_ns + 15, RUN_OF_SECOND);
        break;
    case RUN:
        by_hand_task(p, thread, time_ns, value, task);
        break;
    case WAIT:
        tb_event(p->tb, thread, time_ns, EVENT_WAIT_BEGIN, task, value, tb_wait(WAIT_FOR_TASK, p->site));
        break;
    case IDLE:
    case BUSY:
        tb_event(p->tb, thread, time_ns, kinds[step->what], p->pool);
        break;
    default:
        tb_event(p->tb, thread, time_ns, kinds[step->what], task, value);
    }
}

static void tell_steps(struct by_hand *p, uint32_t thread, const struct step *steps) {
    for (; steps->what != NOTHING; steps++) tell_step(p, thread, steps);
}

// What a thread does from here on, struct step by struct step.
#define tell(p, thread, ...) tell_steps((p), (thread), (const struct step[]){__VA_ARGS__, {0}})

// Main spawns task A, for which the first worker is made.
static struct by_hand begin_story(int32_t parallelism) {
    const struct trace_pool pool = {.name = "pool",
                                    .kind = "java.util.concurrent.ForkJoinPool",
                                    .queue = "java.util.concurrent.ForkJoinPool$WorkQueue",
                                    .core = parallelism,
                                    .maximum = 32767,
                                    .capacity = -1,
                                    .keep_alive_ns = -1};
    struct by_hand p = by_hand_begin(&pool, 2);
    spawn_with_worker(&p, MAIN, &(struct step){10, SPAWN_WITH_WORKER, TASK_A, 20}, FIRST, RUN_OF_FIRST);
    return p;
}

static const struct dag *check_replay(struct by_hand *p, uint64_t main_ends_ns, const struct expected *expected) {
    by_hand_open(p, main_ends_ns);
    const struct dag *run = by_hand_simulate(p, MODEL_POOL);
    for (; expected->task; expected++) {
        const struct dag_task *task = &run->tasks[by_hand_index(run, expected->task)];
        assert_int_equal(task->thread, expected->thread - 1);
        assert_int_equal(run->vertices.time_ns[task->start], expected->start_ns);
        assert_int_equal(run->vertices.time_ns[task->end], expected->end_ns);
        assert_int_equal(task->dispatch, expected->dispatch);
    }
    return run;
}

// The run, valid until the fixture is closed, with each struct expected in it.
#define check_story(p, main_ends_ns, ...) check_replay((p), (main_ends_ns), (const struct expected[]){__VA_ARGS__, {0}})

// Recorded in the order in which they were spawned.
static void test_a_worker_takes_its_own_newest(void **state) {
    (void)state;
    struct by_hand p = begin_story(1);
    tell(&p, FIRST, {40, START, TASK_A, 0}, {50, SPAWN, TASK_B, 52}, {60, SPAWN, TASK_C, 62}, {100, END, TASK_A, 0},
         {105, RUN, TASK_B, 155}, {165, RUN, TASK_C, 265});
    check_story(&p, 1000, {TASK_A, FIRST, 40, 100, DISPATCH_NEW}, {TASK_C, FIRST, 110, 210, DISPATCH_QUEUED},
                {TASK_B, FIRST, 215, 265, DISPATCH_QUEUED});
    simulate_fixture_close(&p.fixture);
}

// Recorded with the newest stolen.
static void test_a_thief_takes_the_oldest(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {100, SPAWN, TASK_B, 102}, {110, SPAWN, TASK_C, 112},
         {1000, END, TASK_A, 0}, {1005, RUN, TASK_B, 1055});
    tell(&p, SECOND, {60, RUN, TASK_D, 200}, {210, RUN, TASK_C, 310});
    check_story(&p, 2000, {TASK_D, SECOND, 60, 200, DISPATCH_NEW}, {TASK_B, SECOND, 205, 255, DISPATCH_QUEUED},
                {TASK_C, SECOND, 265, 365, DISPATCH_QUEUED});
    simulate_fixture_close(&p.fixture);
}

// It waits for the older one.
static void test_a_waiter_runs_what_it_waits_for(void **state) {
    (void)state;
    struct by_hand p = begin_story(1);
    tell(&p, FIRST, {40, START, TASK_A, 0}, {50, SPAWN, TASK_B, 52}, {60, SPAWN, TASK_C, 62}, {70, WAIT, TASK_B, 0},
         {77, RUN, TASK_B, 100}, {103, AWAITED, TASK_B, 0}, {200, END, TASK_A, 0}, {205, RUN, TASK_C, 255});
    check_story(&p, 1000, {TASK_B, FIRST, 77, 100, DISPATCH_HELPED}, {TASK_A, FIRST, 40, 200, DISPATCH_NEW},
                {TASK_C, FIRST, 205, 255, DISPATCH_QUEUED});
    simulate_fixture_close(&p.fixture);
}

// Recorded asleep for a task that was stolen from it, while the thief did all that came of it.
static void test_a_waiter_helps_the_thief(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, FIRST, {40, START, TASK_A, 0}, {50, SPAWN_WITH_WORKER, TASK_B, 60}, {500, WAIT, TASK_B, 0},
         {1230, AWAITED, TASK_B, 0}, {1300, END, TASK_A, 0});
    tell(&p, SECOND, {100, START, TASK_B, 0}, {150, SPAWN, TASK_C, 155}, {900, WAIT, TASK_C, 0},
         {905, RUN, TASK_C, 1105}, {1110, AWAITED, TASK_C, 0}, {1200, END, TASK_B, 0});
    const struct dag *run =
        check_story(&p, 2000, {TASK_C, FIRST, 505, 705, DISPATCH_HELPED}, {TASK_B, SECOND, 100, 995, DISPATCH_NEW},
                    {TASK_A, FIRST, 40, 1095, DISPATCH_NEW});
    assert_int_equal(run->tasks[run->tasks[by_hand_index(run, TASK_C)].enclosing].id, TASK_A);
    simulate_fixture_close(&p.fixture);
}

// The pool's only worker waits for what nobody is left to run.
static void test_a_spare_is_made_for_a_waiter(void **state) {
    (void)state;
    struct by_hand p = begin_story(1);
    tell(&p, MAIN, {60, SPAWN, TASK_B, 65});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {100, WAIT, TASK_B, 0}, {105, MAKE_SPARE, 0, 108},
         {400, AWAITED, TASK_B, 0}, {500, END, TASK_A, 0});
    tell(&p, SECOND, {150, RUN, TASK_B, 350});
    check_story(&p, 1000, {TASK_B, SECOND, 153, 353, DISPATCH_NEW}, {TASK_A, FIRST, 40, 503, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// What is awaited is no task: what its parts bring about together, which the waiter runs, newest first.
static void test_a_waiter_runs_parts(void **state) {
    (void)state;
    struct by_hand p = begin_story(1);
    tell(&p, FIRST, {40, START, TASK_A, 0}, {50, SPAWN, TASK_B, 52}, {60, SPAWN, TASK_C, 62}, {70, WAIT, PROMISE, 0},
         {75, RUN, TASK_C, 100}, {103, START, TASK_B, 0}, {120, RESULT, PROMISE, 0}, {125, END, TASK_B, 0},
         {130, AWAITED, PROMISE, 0}, {200, END, TASK_A, 0});
    check_story(&p, 1000, {TASK_C, FIRST, 75, 100, DISPATCH_HELPED}, {TASK_B, FIRST, 103, 125, DISPATCH_HELPED},
                {TASK_A, FIRST, 40, 200, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// Nobody else ran the task that woke a worker, which came late and found nothing.
static void test_who_is_called_comes_as_late_as_it_did(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, RUN, TASK_D, 62}, {63, IDLE, 0, 0}, {900, BUSY, 0, 0}, {905, IDLE, 0, 0});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {120, SPAWN, TASK_B, 122}, {300, WAIT, TASK_B, 0}, {305, RUN, TASK_B, 405},
         {410, AWAITED, TASK_B, 0}, {1000, END, TASK_A, 0});
    check_story(&p, 2000, {TASK_B, FIRST, 305, 405, DISPATCH_HELPED}, {TASK_A, FIRST, 40, 1000, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// A waiter that lost its core once it had helped looked for help as soon as it waited, and behind that was held up.
static void test_who_helped_loses_its_core_behind_that(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, START, TASK_D, 1000}, {120, END, TASK_D, 1060}, {130, START, TASK_B, 1070},
         {140, SPAWN, TASK_C, 145}, {1400, TAKEN, TASK_C, 0}, {1410, END, TASK_B, 2350});
    tell(&p, FIRST, {40, START, TASK_A, 1000}, {100, SPAWN, TASK_B, 102}, {150, WAIT, TASK_B, 1110},
         {160, START, TASK_C, 1120}, {260, END, TASK_C, 1220}, {1419, DELAYED, 980, 0}, {1420, AWAITED, TASK_B, 1230},
         {1470, END, TASK_A, 1280});
    check_story(&p, 2000, {TASK_C, FIRST, 160, 260, DISPATCH_HELPED}, {TASK_B, SECOND, 130, 1410, DISPATCH_QUEUED},
                {TASK_A, FIRST, 40, 1470, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// Who makes a spare before it falls asleep has helped with all that it found before that.
static void test_who_helped_makes_a_spare_behind_that(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, RUN, TASK_D, 120}, {130, START, TASK_B, 0}, {140, SPAWN, TASK_C, 145},
         {1400, TAKEN, TASK_C, 0}, {1410, END, TASK_B, 0});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {100, SPAWN, TASK_B, 102}, {150, WAIT, TASK_B, 0}, {160, RUN, TASK_C, 260});
    make_worker(&p, FIRST, 270, 900, RUN_OF_THIRD);
    tell(&p, FIRST, {1420, AWAITED, TASK_B, 0}, {1470, END, TASK_A, 0});
    check_story(&p, 2000, {TASK_C, FIRST, 160, 260, DISPATCH_HELPED}, {TASK_B, SECOND, 130, 1410, DISPATCH_QUEUED},
                {TASK_A, FIRST, 40, 1470, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// A worker that was long asleep when a task was spawned comes when somebody came in the recording, and no sooner.
static void test_who_sleeps_does_not_look_around(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, RUN, TASK_D, 62}, {72, IDLE, 0, 0}, {3020, BUSY, 0, 0}, {3030, RUN, TASK_C, 3100});
    // To spawn C took long, since it woke the worker; waking it at 90 would have, too.
    tell(&p, FIRST, {40, START, TASK_A, 0}, {90, SPAWN, TASK_B, 92}, {300, WAIT, TASK_B, 0}, {305, RUN, TASK_B, 405},
         {410, AWAITED, TASK_B, 0}, {1000, SPAWN, TASK_C, 1800}, {1900, WAIT, TASK_C, 0}, {3110, AWAITED, TASK_C, 0},
         {3200, END, TASK_A, 0});
    check_story(&p, 5000, {TASK_B, FIRST, 305, 405, DISPATCH_HELPED});
    simulate_fixture_close(&p.fixture);
}

// B called it, but was gone when it was awake; it took until 230 to find C.
static void test_who_was_called_for_another_takes_as_long(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, RUN, TASK_D, 62}, {72, IDLE, 0, 0}, {200, BUSY, 0, 0}, {230, RUN, TASK_C, 300});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {90, SPAWN, TASK_B, 92}, {95, SPAWN, TASK_C, 97}, {100, WAIT, TASK_B, 0},
         {105, RUN, TASK_B, 155}, {160, AWAITED, TASK_B, 0}, {400, TAKEN, TASK_C, 0}, {410, END, TASK_A, 0});
    check_story(&p, 1000, {TASK_B, FIRST, 105, 155, DISPATCH_HELPED}, {TASK_C, SECOND, 230, 300, DISPATCH_WOKEN},
                {TASK_A, FIRST, 40, 410, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// Whoever had spawned it came to await it at 150 and did not find it: who was woken for it had it by then, though that
// was busy with it only at 180.
static void test_who_was_woken_has_its_task_before_it_runs(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, MAIN, {30, SPAWN_WITH_WORKER, TASK_D, 40});
    tell(&p, SECOND, {60, RUN, TASK_D, 62}, {72, IDLE, 0, 0}, {180, BUSY, 0, 0}, {230, RUN, TASK_B, 400});
    tell(&p, FIRST, {40, START, TASK_A, 0}, {90, SPAWN, TASK_B, 92}, {150, WAIT, TASK_B, 0}, {410, AWAITED, TASK_B, 0},
         {500, END, TASK_A, 0});
    check_story(&p, 1000, {TASK_B, SECOND, 230, 400, DISPATCH_WOKEN}, {TASK_A, FIRST, 40, 500, DISPATCH_NEW});
    simulate_fixture_close(&p.fixture);
}

// One that it spawned itself took a waiter 5 ns to take up, one that it stole 20 ns.
static void test_stealing_takes_longer(void **state) {
    (void)state;
    struct by_hand p = begin_story(2);
    tell(&p, FIRST, {40, START, TASK_A, 0}, {50, SPAWN_WITH_WORKER, TASK_B, 60}, {500, WAIT, TASK_B, 0},
         {520, RUN, TASK_C, 720}, {1230, AWAITED, TASK_B, 0}, {1300, END, TASK_A, 0});
    tell(&p, SECOND, {100, START, TASK_B, 0}, {150, SPAWN, TASK_C, 155}, {160, SPAWN, TASK_D, 165},
         {1005, WAIT, TASK_D, 0}, {1010, RUN, TASK_D, 1110}, {1115, AWAITED, TASK_D, 0}, {1210, END, TASK_B, 0});
    check_story(&p, 2000, {TASK_C, FIRST, 520, 720, DISPATCH_HELPED}, {TASK_D, FIRST, 740, 840, DISPATCH_HELPED});
    simulate_fixture_close(&p.fixture);
}

static void test_main_runs_what_it_waits_for(void **state) {
    (void)state;
    struct by_hand p = begin_story(1);
    tell(&p, MAIN, {100, SPAWN, TASK_B, 105}, {200, WAIT, TASK_B, 0}, {210, RUN, TASK_B, 260},
         {265, AWAITED, TASK_B, 0});
    tell(&p, FIRST, {40, RUN, TASK_A, 1000});
    const struct dag *run = check_story(&p, 300, {TASK_B, MAIN, 210, 260, DISPATCH_HELPED});
    assert_int_equal(run->vertices.time_ns[run->tasks[by_hand_index(run, HAND_M)].end], 300);
    simulate_fixture_close(&p.fixture);
}

static void check_all_ran(const struct simulate_fixture *fixture, uint64_t seed) {
    const struct dag *run = simulation_dag(fixture->simulation);
    for (uint32_t t = 0; t < run->task_count; t++) {
        bool started = fixture->dag->tasks[t].start != DAG_NONE && !fixture->edit.inlined[t];
        if (started != (run->tasks[t].start != DAG_NONE)) fail_msg("seed %lu: task %u", (unsigned long)seed, t);
    }
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        uint32_t cause = run->vertices.cause[v];
        if (cause == DAG_NONE || run->vertices.rule[v] == RULE_WAIT || run->vertices.rule[v] == RULE_GRANT) continue;
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
        cmocka_unit_test(test_who_helped_loses_its_core_behind_that),
        cmocka_unit_test(test_who_helped_makes_a_spare_behind_that),
        cmocka_unit_test(test_who_sleeps_does_not_look_around),
        cmocka_unit_test(test_who_was_called_for_another_takes_as_long),
        cmocka_unit_test(test_who_was_woken_has_its_task_before_it_runs),
        cmocka_unit_test(test_stealing_takes_longer),
        cmocka_unit_test(test_main_runs_what_it_waits_for),
        cmocka_unit_test(test_random_programs_end),
        cmocka_unit_test(test_any_recording_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
