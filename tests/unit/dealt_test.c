// SPDX-License-Identifier: GPL-3.0-or-later
// Executors of one thread each, among which tasks are dealt, on traces by hand: main hands eight tasks to two of them
// in turns, each of which takes a microsecond.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate_fixture.h"

enum { MAIN = 1, FIRST = 2, EXECUTORS = 2, EACH = 4, TASKS = EXECUTORS * EACH, MAIN_RUN = 100 };
enum { SPAWNS_NS = 10, BEGINS_NS = 300, LASTS_NS = 1000, PAUSES_NS = 3, DUE_NS = 2000, SHUT_NS = 20000 };

struct shape {
    bool other_site; // the second's tasks are handed over elsewhere
    bool in_turns;   // the second has its tasks once the first has been shut down
    bool awaited;    // main awaits the first's end before the second is shut down
    bool delays;     // the second's are due later
    bool timers;     // they are java.util.Timers
};

struct test {
    struct simulate_fixture sim;
    uint32_t pools[EXECUTORS], sites[2];
};

static void hand_over(struct test *t, struct trace_builder *tb, struct shape shape, uint64_t task) {
    const uint32_t executor = task % EXECUTORS;
    const uint64_t at_ns = 100 + SPAWNS_NS * task + (shape.in_turns && executor ? 10000 : 0);
    tb_event(tb, MAIN, at_ns, EVENT_SPAWN_BEGIN, 1 + task, t->sites[shape.other_site && executor], t->pools[executor]);
    if (shape.delays) tb_event(tb, MAIN, at_ns + 1, EVENT_DUE, 1 + task, executor ? DUE_NS : 0, 0);
    tb_event(tb, MAIN, at_ns + 2, EVENT_SPAWN_END, 1 + task, SPAWN_ACCEPTED);
}

static void hand_all_over(struct test *t, struct trace_builder *tb, struct shape shape) {
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    for (uint64_t i = 0; i < TASKS; i++) {
        if (shape.in_turns && i == EACH) tb_event(tb, MAIN, 9000, EVENT_POOL_SHUTDOWN, t->pools[0]);
        hand_over(t, tb, shape, shape.in_turns ? i % EACH * EXECUTORS + i / EACH : i);
    }
    for (uint32_t e = 0; e < EXECUTORS; e++) {
        if (e || !shape.in_turns) tb_event(tb, MAIN, SHUT_NS + 100 * e, EVENT_POOL_SHUTDOWN, t->pools[e]);
        if (e || !shape.awaited) continue;
        tb_event(tb, MAIN, SHUT_NS + 10, EVENT_WAIT_BEGIN, t->pools[e], 1, tb_wait(WAIT_FOR_POOL, 0));
        tb_event(tb, MAIN, SHUT_NS + 60, EVENT_WAIT_END, t->pools[e], 1);
    }
    tb_event(tb, MAIN, SHUT_NS + 200, EVENT_THREAD_END, MAIN_RUN, 100);
}

static void work(const struct test *t, struct trace_builder *tb, struct shape shape, uint32_t executor) {
    const uint32_t thread = FIRST + executor, pool = t->pools[executor];
    uint64_t now_ns = BEGINS_NS + (executor && shape.in_turns ? 10000 : 0) + (executor && shape.delays ? DUE_NS : 0);
    tb_event(tb, thread, 40, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, thread, 41, EVENT_IDLE, pool);
    for (uint32_t i = 0; i < EACH; i++) {
        tb_event(tb, thread, now_ns - 1, EVENT_BUSY, pool);
        tb_event(tb, thread, now_ns, EVENT_TASK_START, 1 + executor + EXECUTORS * i, now_ns);
        tb_event(tb, thread, now_ns + LASTS_NS, EVENT_TASK_END, 1 + executor + EXECUTORS * i, now_ns + LASTS_NS);
        tb_event(tb, thread, now_ns + LASTS_NS + 1, EVENT_IDLE, pool);
        now_ns += LASTS_NS + PAUSES_NS;
    }
    tb_event(tb, thread, SHUT_NS + 50 + 100 * executor, EVENT_RETIRE, pool);
}

static struct test begin(struct shape shape) {
    struct test t = {0};
    struct trace_builder *tb = tb_new();
    const char *kind = shape.timers ? "java.util.Timer" : shape.delays ? "lib.ScheduledExecutor" : "lib.Executor";
    tb_thread(tb, MAIN, "main", 0);
    for (uint32_t i = 0; i < 2; i++) t.sites[i] = tb_site(tb, "Main", "main", 7 + i);
    for (uint32_t e = 0; e < EXECUTORS; e++) {
        const struct trace_pool pool = {.kind = kind,
                                        .queue = "lib.Queue",
                                        .name = "calls",
                                        .core = 1,
                                        .maximum = 1,
                                        .capacity = -1,
                                        .keep_alive_ns = -1};
        t.pools[e] = tb_pool_like(tb, pool);
        tb_thread(tb, FIRST + e, "calls-1", 0);
    }
    hand_all_over(&t, tb, shape);
    for (uint32_t e = 0; e < EXECUTORS; e++) work(&t, tb, shape, e);
    simulate_fixture_open(&t.sim, tb);
    return t;
}

static void end(struct test *t) {
    simulate_fixture_close(&t->sim);
}

static const struct dag_task *task_of(const struct test *t, uint64_t number) {
    uint32_t i = 0;
    while (t->sim.dag->tasks[i].id != 1 + number) i++;
    return &t->sim.dag->tasks[i];
}

static void they_are_one_pool(void **state) {
    (void)state;
    struct test t = begin((struct shape){0});
    const struct dag_pool *pool = &t.sim.dag->pools[t.pools[0]];
    assert_int_equal(pool->discipline, DISCIPLINE_LOOPS);
    assert_true(pool->is_dealt);
    assert_int_equal(pool->core, EXECUTORS);
    for (uint64_t i = 0; i < TASKS; i++) assert_int_equal(task_of(&t, i)->pool, t.pools[0]);
    assert_null(t.sim.dag->trace->pools[t.pools[1]].name);
    end(&t);
}

static void others_are_pools_of_their_own(void **state) {
    (void)state;
    static const struct shape shapes[] = {
        {.other_site = true}, {.in_turns = true}, {.awaited = true}, {.timers = true}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct test t = begin(shapes[i]);
        assert_null(t.sim.dag->told_anew);
        for (uint64_t task = 0; task < TASKS; task++)
            assert_int_equal(task_of(&t, task)->pool, t.pools[task % EXECUTORS]);
        end(&t);
    }
}

static int64_t last_end_ns(struct test *t, int32_t executors) {
    const struct model model = {.kind = MODEL_POOL};
    int64_t last_ns = 0;
    dag_edit_clear(&t->sim.edit, t->sim.dag);
    if (executors) dag_edit_resize(&t->sim.edit, t->pools[0], executors);
    assert_int_equal(simulation_run(t->sim.simulation, &t->sim.edit, &model), DAG_OK);
    for (uint64_t i = 0; i < TASKS; i++) {
        const int64_t end_ns = simulation_times(t->sim.simulation)[task_of(t, i)->end];
        if (end_ns > last_ns) last_ns = end_ns;
    }
    return last_ns;
}

static void is_about(int64_t ns, int64_t expected_ns) {
    assert_in_range(ns, expected_ns * 95 / 100, expected_ns * 105 / 100);
}

static void another_number_of_them_is_dealt_to(void **state) {
    (void)state;
    struct test t = begin((struct shape){0});
    const int64_t each_ns = LASTS_NS + PAUSES_NS;
    is_about(last_end_ns(&t, 0), BEGINS_NS + EACH * each_ns);
    is_about(last_end_ns(&t, 1), BEGINS_NS + TASKS * each_ns);
    is_about(last_end_ns(&t, 4), BEGINS_NS + 2 * each_ns);
    is_about(last_end_ns(&t, TASKS), BEGINS_NS + each_ns);
    end(&t);
}

// Each keeps what is not due yet, and does meanwhile what is.
static void what_is_due_later_comes_later(void **state) {
    (void)state;
    struct test t = begin((struct shape){.delays = true});
    const int64_t each_ns = LASTS_NS + PAUSES_NS;
    assert_int_equal(t.sim.dag->pools[t.pools[0]].discipline, DISCIPLINE_LOOPS);
    is_about(last_end_ns(&t, 0), BEGINS_NS + DUE_NS + EACH * each_ns);
    is_about(last_end_ns(&t, 1), BEGINS_NS + TASKS * each_ns);
    is_about(last_end_ns(&t, TASKS), BEGINS_NS + DUE_NS + each_ns);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_one_pool),
        cmocka_unit_test(others_are_pools_of_their_own),
        cmocka_unit_test(another_number_of_them_is_dealt_to),
        cmocka_unit_test(what_is_due_later_comes_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
