// SPDX-License-Identifier: GPL-3.0-or-later
// When delayed and periodic tasks are due, on traces by hand. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/build/perturbation.h"
#include "metrics/lateness.h"
#include "simulate_fixture.h"

enum { MAIN = 1, WORKER = 2, M = 100, ONCE = 7, FIRST = 8, SECOND = 9, UNSEEN = 10 };

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
};

// main hands over a task at 100 that is due at 1,110 and comes at 1,150, and at 200 a periodic one that is due at 260;
// its second repetition, due 1,000 after that, is told of by the worker at 400.
static struct fixture begin(uint64_t delay_ns) {
    struct fixture f = {.tb = tb_new()};
    uint32_t pool = tb_pool(f.tb, "timer", 1), site = tb_site(f.tb, "Main", "run", 12);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, WORKER, "timer-1", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, ONCE, site, pool);
    tb_event(f.tb, MAIN, 110, EVENT_DUE, ONCE, delay_ns, 0);
    tb_event(f.tb, MAIN, 120, EVENT_SPAWN_END, ONCE);
    tb_event(f.tb, MAIN, 200, EVENT_SPAWN_BEGIN, FIRST, site, pool);
    tb_event(f.tb, MAIN, 210, EVENT_DUE, FIRST, 50, 1000);
    tb_event(f.tb, MAIN, 220, EVENT_SPAWN_END, FIRST);
    tb_event(f.tb, MAIN, 2000, EVENT_THREAD_END, M, 500);
    tb_event(f.tb, WORKER, 250, EVENT_THREAD_START, 50, 1);
    tb_event(f.tb, WORKER, 255, EVENT_WORKER_BEGIN, pool);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, FIRST, 10);
    tb_event(f.tb, WORKER, 390, EVENT_TASK_END, FIRST, 100);
    tb_event(f.tb, WORKER, 400, EVENT_DUE, SECOND, (uint64_t)-40, (uint64_t)-1000);
    tb_event(f.tb, WORKER, 405, EVENT_DUE, UNSEEN, 5, 5);
    tb_event(f.tb, WORKER, 1150, EVENT_TASK_START, ONCE, 110);
    tb_event(f.tb, WORKER, 1160, EVENT_TASK_END, ONCE, 120);
    tb_event(f.tb, WORKER, 1300, EVENT_TASK_START, SECOND, 130);
    tb_event(f.tb, WORKER, 1310, EVENT_TASK_END, SECOND, 140);
    f.trace = tb_open(f.tb);
    return f;
}

static void build(struct fixture *f) {
    struct error error = ERROR_INIT;
    f->dag = dag_build(f->trace, &error);
    if (!f->dag) fail_msg("%s", error.cause[0]);
}

static void end(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static uint32_t task_of(const struct dag *dag, uint64_t id) {
    uint32_t t = 0;
    while (t < dag->task_count && dag->tasks[t].id != id) t++;
    return t;
}

static int64_t due_of(const struct dag *dag, uint64_t id) {
    return dag->due_ns[task_of(dag, id)];
}

static void test_due_times(void **state) {
    (void)state;
    struct fixture f = begin(1000);
    build(&f);
    assert_int_equal(due_of(f.dag, ONCE), 1110);
    assert_int_equal(due_of(f.dag, FIRST), 260);
    assert_int_equal(due_of(f.dag, SECOND), 360);
    assert_int_equal(due_of(f.dag, M), INT64_MIN);
    assert_int_equal(f.dag->period_ns[task_of(f.dag, ONCE)], 0);
    assert_int_equal(f.dag->period_ns[task_of(f.dag, FIRST)], 1000);
    assert_int_equal(f.dag->period_ns[task_of(f.dag, SECOND)], -1000);
    assert_int_equal(task_of(f.dag, UNSEEN), f.dag->task_count); // it is not known what task that is
    end(&f);
}

static void test_due_times_are_bounded(void **state) {
    (void)state;
    const int64_t delays_ns[] = {INT64_MAX, INT64_MIN, INT64_MIN + 5};
    for (int i = 0; i < 3; i++) {
        struct fixture f = begin((uint64_t)delays_ns[i]);
        build(&f);
        if (i == 0) assert_int_equal(due_of(f.dag, ONCE), INT64_MAX);
        if (i > 0) assert_in_range(due_of(f.dag, ONCE) - INT64_MIN, 1, 200); // none is INT64_MIN
        end(&f);
    }
}

static void test_none(void **state) {
    (void)state;
    struct trace_builder *tb = tb_new();
    tb_thread(tb, MAIN, "main", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    struct fixture f = {.tb = tb, .trace = tb_open(tb)};
    build(&f);
    assert_null(f.dag->due_ns);
    assert_null(f.dag->period_ns);
    end(&f);
}

// Its spawn comes 8 + 2 earlier without what the first spawn and its own cost.
static void test_due_times_move_with_what_set_them(void **state) {
    (void)state;
    struct fixture f = begin(1000);
    f.trace->tells_costs = true;
    f.trace->costs[EVENT_SPAWN_END] = (struct event_cost){1, 2000, 6000};
    f.trace->costs[EVENT_SPAWN_BEGIN] = (struct event_cost){1, 1000, 1000};
    build(&f);
    struct error error = ERROR_INIT;
    assert_true(dag_take_out_tracer_cost(f.dag, &error));
    assert_int_equal(due_of(f.dag, ONCE), 1110 - 1);
    assert_int_equal(due_of(f.dag, FIRST), 260 - 11);
    end(&f);
}

// main comes to its second spawn the sooner the rate is higher; what it hands over is due that much earlier.
static void test_due_times_of_a_simulated_run(void **state) {
    (void)state;
    struct fixture f = begin(1000);
    struct simulate_fixture fixture;
    trace_close(f.trace);
    simulate_fixture_open(&fixture, f.tb);
    const uint32_t site = fixture.dag->tasks[task_of(fixture.dag, ONCE)].site;
    const struct model model = {.kind = MODEL_POOL, .rate_site = site, .rate = 2};
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    const struct dag *run = simulation_dag(fixture.simulation);
    int64_t moved_ns = run->vertices.time_ns[run->tasks[task_of(run, FIRST)].spawn_begin] - 200;
    assert_true(moved_ns < 0);
    assert_int_equal(due_of(run, FIRST), 260 + moved_ns);
    assert_int_equal(run->period_ns[task_of(run, FIRST)], 1000);
    assert_int_equal(due_of(run, M), INT64_MIN);
    simulate_fixture_close(&fixture);
}

// Handed over for now, be it to a pool that delays, a task is like any other; a periodic one never is.
static void test_who_counts_as_delayed(void **state) {
    (void)state;
    const uint64_t delays_ns[] = {(uint64_t)-20, 1000, 1000000};
    for (int i = 0; i < 3; i++) {
        struct fixture f = begin(delays_ns[i]);
        build(&f);
        assert_int_equal((f.dag->tasks[task_of(f.dag, ONCE)].flags & TASK_DELAYED) != 0, delays_ns[i] == 1000000);
        assert_true(f.dag->tasks[task_of(f.dag, FIRST)].flags & TASK_DELAYED);
        assert_true(f.dag->tasks[task_of(f.dag, SECOND)].flags & TASK_DELAYED);
        assert_false(f.dag->tasks[task_of(f.dag, M)].flags & TASK_DELAYED);
        end(&f);
    }
}

// All are of one site: 40 (1,150 of 1,110), 40 (300 of 260) and 940 (1,300 of 360) late.
static void test_lateness(void **state) {
    (void)state;
    struct fixture f = begin(1000);
    build(&f);
    struct arena arena = ARENA_INIT;
    struct error error = ERROR_INIT;
    struct lateness *found;
    size_t count;
    const struct window window = {0, 1200};
    assert_true(metrics_lateness(f.dag, f.dag->vertices.time_ns, NULL, &arena, &found, &count, &error));
    assert_int_equal(count, 2); // the second repetition was not seen to be spawned
    assert_int_equal(found[0].site, DAG_NONE);
    assert_float_equal(found[0].ns.mean, 940, 1e-9);
    assert_true(isnan(found[0].std_ns));
    assert_int_equal(found[1].tasks, 2);
    assert_float_equal(found[1].ns.max, 40, 1e-9);
    assert_float_equal(found[1].min_ns, 40, 1e-9);
    assert_float_equal(found[1].std_ns, 0, 1e-9);
    assert_true(metrics_lateness(f.dag, f.dag->vertices.time_ns, &window, &arena, &found, &count, &error));
    assert_int_equal(count, 1);
    arena_destroy(&arena);
    end(&f);
}

enum { EXPORT = 10, POLL, NEXT_POLL, NO_POLL, LATER };

// A java.util.Timer: an export from 1,100 to 3,100 keeps back the poll that is due at 1,301, which was handed over as
// the first poll began; that one hands over another. What is due later goes as main cancels the timer at 4,000.
static uint32_t tell_of_timer(struct trace_builder *tb) {
    uint32_t pool = tb_pool_like(tb, (struct trace_pool){.kind = "java.util.Timer",
                                                         .queue = "java.util.TaskQueue",
                                                         .core = 1,
                                                         .maximum = 1,
                                                         .capacity = -1,
                                                         .keep_alive_ns = -1});
    uint32_t exports = tb_site(tb, "Main", "run", 12), polls = tb_site(tb, "Main", "run", 13);
    const uint64_t handed_over[] = {EXPORT, POLL, LATER}, due_ns[] = {1000, 0, 100000};
    tb_thread(tb, MAIN, "main", 0);
    tb_thread(tb, WORKER, "timer", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    for (uint64_t i = 0; i < 3; i++) {
        tb_event(tb, MAIN, 100 + 50 * i, EVENT_SPAWN_BEGIN, handed_over[i], i == 1 ? polls : exports, pool);
        tb_event(tb, MAIN, 101 + 50 * i, EVENT_DUE, handed_over[i], due_ns[i], i == 1 ? (uint64_t)-1000 : 0);
        tb_event(tb, MAIN, 120 + 50 * i, EVENT_SPAWN_END, handed_over[i]);
    }
    tb_event(tb, MAIN, 4000, EVENT_POOL_SHUTDOWN, pool);
    tb_event(tb, MAIN, 4100, EVENT_THREAD_END, M, 500);
    tb_event(tb, WORKER, 80, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, WORKER, 85, EVENT_IDLE, pool);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t task = POLL + i, at_ns = i ? 3110 : 300;
        tb_event(tb, WORKER, at_ns - 1, EVENT_BUSY, pool);
        tb_event(tb, WORKER, at_ns, EVENT_TASK_START, task, at_ns / 10);
        tb_event(tb, WORKER, at_ns + 1, EVENT_SPAWN_BEGIN, task + 1, polls, pool);
        tb_event(tb, WORKER, at_ns + 2, EVENT_DUE, task + 1, 999, (uint64_t)-1000);
        tb_event(tb, WORKER, at_ns + 3, EVENT_SPAWN_END, task + 1);
        tb_event(tb, WORKER, at_ns + 50, EVENT_TASK_END, task, at_ns / 10 + 20);
        tb_event(tb, WORKER, at_ns + 55, EVENT_IDLE, pool);
        if (i) break;
        tb_event(tb, WORKER, 1099, EVENT_BUSY, pool);
        tb_event(tb, WORKER, 1100, EVENT_TASK_START, EXPORT, 60);
        tb_event(tb, WORKER, 3100, EVENT_TASK_END, EXPORT, 80);
        tb_event(tb, WORKER, 3105, EVENT_IDLE, pool);
    }
    tb_event(tb, WORKER, 4010, EVENT_RETIRE, pool);
    return pool;
}

static int64_t start_ns(const struct dag *dag, uint64_t id) {
    return dag->vertices.time_ns[dag->tasks[task_of(dag, id)].start];
}

static int64_t last_ns(const struct dag *dag) {
    int64_t last = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (dag->vertices.time_ns[v] > last) last = dag->vertices.time_ns[v];
    }
    return last;
}

static void test_a_timer(void **state) {
    (void)state;
    struct trace_builder *tb = tb_new();
    uint32_t pool = tell_of_timer(tb);
    struct simulate_fixture fixture;
    const struct model model = {.kind = MODEL_POOL};
    simulate_fixture_open(&fixture, tb);
    assert_int_equal(fixture.dag->tasks[task_of(fixture.dag, NEXT_POLL)].spawner, DAG_NONE);
    assert_int_equal(fixture.dag->tasks[task_of(fixture.dag, POLL)].spawner, task_of(fixture.dag, M));
    assert_null(dag_resize_refusal(fixture.dag, pool));
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    const struct dag *run = simulation_dag(fixture.simulation);
    assert_int_equal(start_ns(run, NEXT_POLL), 3110);
    assert_int_equal(run->tasks[task_of(run, NEXT_POLL)].spawner, DAG_NONE);
    assert_int_equal(run->tasks[task_of(run, LATER)].start, DAG_NONE);
    assert_int_equal(last_ns(run), 4100);
    dag_edit_resize(&fixture.edit, pool, 2);
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    run = simulation_dag(fixture.simulation);
    assert_in_range(start_ns(run, NEXT_POLL), 1301, 1500);
    assert_in_range(start_ns(run, EXPORT), 1100, 1200);
    assert_int_equal(last_ns(run), 4100);
    simulate_fixture_close(&fixture);
}

enum { HOOK = 3, POOLED = 4, SLOW = 20 };

// main cancels a timer when it has SLOW's result, that a worker takes up late; what the timer does once comes before
// that, at 905. Then the JVM starts a hook.
static void tell_of_hook(struct trace_builder *tb) {
    const uint32_t timer = tb_pool_like(tb, (struct trace_pool){.kind = "java.util.Timer",
                                                                .queue = "java.util.TaskQueue",
                                                                .core = 1,
                                                                .maximum = 1,
                                                                .capacity = -1,
                                                                .keep_alive_ns = -1}),
                   pool = tb_pool(tb, "pool", 1), site = tb_site(tb, "Main", "run", 12);
    tb_thread(tb, MAIN, "main", 0);
    tb_thread(tb, WORKER, "timer", 0);
    tb_thread(tb, HOOK, "Cleaner", 0);
    tb_thread(tb, POOLED, "pool-1", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(tb, MAIN, 100, EVENT_SPAWN_BEGIN, ONCE, site, timer);
    tb_event(tb, MAIN, 101, EVENT_DUE, ONCE, 800, 0);
    tb_event(tb, MAIN, 120, EVENT_SPAWN_END, ONCE);
    tb_event(tb, MAIN, 200, EVENT_SPAWN_BEGIN, SLOW, site, pool);
    tb_event(tb, MAIN, 220, EVENT_SPAWN_END, SLOW);
    tb_event(tb, MAIN, 230, EVENT_WAIT_BEGIN, SLOW, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, MAIN, 1310, EVENT_WAIT_END, SLOW);
    tb_event(tb, MAIN, 1400, EVENT_POOL_SHUTDOWN, timer);
    tb_event(tb, MAIN, 1500, EVENT_THREAD_END, M);
    tb_event(tb, WORKER, 80, EVENT_WORKER_BEGIN, timer);
    tb_event(tb, WORKER, 85, EVENT_IDLE, timer);
    tb_event(tb, WORKER, 904, EVENT_BUSY, timer);
    tb_event(tb, WORKER, 905, EVENT_TASK_START, ONCE);
    tb_event(tb, WORKER, 950, EVENT_TASK_END, ONCE);
    tb_event(tb, WORKER, 960, EVENT_IDLE, timer);
    tb_event(tb, WORKER, 1410, EVENT_RETIRE, timer);
    tb_event(tb, POOLED, 1190, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, POOLED, 1200, EVENT_TASK_START, SLOW);
    tb_event(tb, POOLED, 1300, EVENT_TASK_END, SLOW);
    tb_event(tb, HOOK, 1600, EVENT_THREAD_START, 50);
    tb_event(tb, HOOK, 1650, EVENT_THREAD_END, 50);
}

// Where main cancels the timer earlier, what was due then never comes, and the hook does not wait for it.
static void test_the_end_awaits_no_task_that_a_timer_drops(void **state) {
    (void)state;
    struct trace_builder *tb = tb_new();
    tell_of_hook(tb);
    struct simulate_fixture fixture;
    const struct model model = {.kind = MODEL_POOL};
    simulate_fixture_open(&fixture, tb);
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    assert_int_equal(last_ns(simulation_dag(fixture.simulation)), 1650);
    dag_edit_inline(&fixture.edit, task_of(fixture.dag, SLOW));
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    const struct dag *run = simulation_dag(fixture.simulation);
    assert_int_equal(run->tasks[task_of(run, ONCE)].start, DAG_NONE);
    assert_int_equal(last_ns(run), 650); // as long behind main's end as ever
    simulate_fixture_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due_times),
        cmocka_unit_test(test_due_times_are_bounded),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_who_counts_as_delayed),
        cmocka_unit_test(test_due_times_move_with_what_set_them),
        cmocka_unit_test(test_due_times_of_a_simulated_run),
        cmocka_unit_test(test_lateness),
        cmocka_unit_test(test_a_timer),
        cmocka_unit_test(test_the_end_awaits_no_task_that_a_timer_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
