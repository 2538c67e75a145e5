// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that a model can't re-enact to its end, on a trace by hand: `first` takes the result of `second`, which
// was there, of a pool of one. Main begins to hand `first` over sooner, but was late to put it into the queue.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/ordering.h"
#include "simulate_fixture.h"

enum { MAIN = 1, THREAD = 2, WORKER = 3 };
enum { FIRST = 1, SECOND, MAIN_RUN = 100, THREAD_RUN };
enum { TAKEN = 5000, OVER = 9000 };

struct test {
    struct simulate_fixture sim;
    struct estimator estimator;
};

static void body(struct trace_builder *tb, uint64_t task, uint64_t from_ns, uint64_t to_ns) {
    tb_event(tb, WORKER, from_ns, EVENT_TASK_START, task, from_ns);
    if (task == FIRST) tb_event(tb, WORKER, TAKEN, EVENT_TAKEN, SECOND);
    tb_event(tb, WORKER, to_ns, EVENT_RESULT, task);
    tb_event(tb, WORKER, to_ns + 1, EVENT_TASK_END, task, to_ns + 1);
}

static struct test begin(void) {
    struct test t = {0};
    struct trace_builder *tb = tb_new();
    const struct trace_pool like = {.kind = "java.util.concurrent.ThreadPoolExecutor",
                                    .queue = "java.util.concurrent.LinkedBlockingQueue",
                                    .name = "pool",
                                    .core = 1,
                                    .maximum = 1,
                                    .capacity = -1,
                                    .keep_alive_ns = -1};
    const uint32_t site = tb_site(tb, "Main", "main", 7), other = tb_site(tb, "Main", "other", 9);
    const uint32_t pool = tb_pool_like(tb, like);
    tb_thread(tb, MAIN, "main", 0);
    tb_thread(tb, THREAD, "other", 0);
    tb_thread(tb, WORKER, "pool-1-thread-1", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    tb_event(tb, MAIN, 100, EVENT_SPAWN_BEGIN, FIRST, site, pool);
    tb_event(tb, MAIN, 3500, EVENT_SPAWN_END, FIRST, SPAWN_ACCEPTED);
    tb_event(tb, MAIN, OVER, EVENT_POOL_SHUTDOWN, pool);
    tb_event(tb, MAIN, OVER + 2, EVENT_THREAD_END, MAIN_RUN, 100);
    tb_event(tb, THREAD, 10, EVENT_THREAD_START, THREAD_RUN, 1);
    tb_event(tb, THREAD, 1000, EVENT_SPAWN_BEGIN, SECOND, other, pool);
    tb_event(tb, THREAD, 1100, EVENT_SPAWN_END, SECOND, SPAWN_ACCEPTED);
    tb_event(tb, THREAD, 1200, EVENT_THREAD_END, THREAD_RUN, 100);
    tb_event(tb, WORKER, 40, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, WORKER, 41, EVENT_IDLE, pool);
    tb_event(tb, WORKER, 1150, EVENT_BUSY, pool);
    body(tb, SECOND, 1160, 3000);
    tb_event(tb, WORKER, 3010, EVENT_IDLE, pool);
    tb_event(tb, WORKER, 3490, EVENT_BUSY, pool);
    body(tb, FIRST, 3520, 6000);
    tb_event(tb, WORKER, 6010, EVENT_IDLE, pool);
    tb_event(tb, WORKER, OVER + 10, EVENT_RETIRE, pool);
    simulate_fixture_open(&t.sim, tb);
    must(estimator_init(&t.estimator, t.sim.dag, NULL, &t.sim.error), &t.sim.error);
    t.estimator.model.kind = MODEL_POOL;
    return t;
}

static void end(struct test *t) {
    estimator_destroy(&t->estimator);
    simulate_fixture_close(&t->sim);
}

static uint32_t task_of(const struct test *t, uint64_t id) {
    uint32_t i = 0;
    while (t->sim.dag->tasks[i].id != id) i++;
    return i;
}

static void it_comes_to_a_halt(void **state) {
    (void)state;
    struct test t = begin();
    bool stuck;
    must(estimator_run(&t.estimator, &stuck, &t.sim.error), &t.sim.error);
    assert_true(stuck);
    const uint32_t taken = estimator_stuck_at_taken(&t.estimator);
    assert_int_not_equal(taken, DAG_NONE);
    assert_int_equal(t.sim.dag->vertices.kind[taken], VERTEX_WAIT_END);
    assert_int_equal(t.sim.dag->vertices.task[taken], task_of(&t, SECOND));
    end(&t);
}

static void what_was_there_is_not_waited_for(void **state) {
    (void)state;
    struct test t = begin();
    struct error *error = &t.sim.error;
    bool stuck;
    uint32_t forgotten;
    t.estimator.request_site = t.sim.dag->tasks[task_of(&t, FIRST)].site;
    t.estimator.costs->without = CORRECTION_BIT(CORRECTION_PACE);
    must(ordering_settle(t.sim.dag, &t.estimator, &stuck, &forgotten, error), error);
    assert_false(stuck);
    assert_int_equal(forgotten, 1);
    assert_int_equal(t.estimator.model.kind, MODEL_POOL);
    assert_int_equal(t.estimator.costs->without, CORRECTION_BIT(CORRECTION_PACE));
    assert_int_equal(t.estimator.request_site, t.sim.dag->tasks[task_of(&t, FIRST)].site);
    must(ordering_settle(t.sim.dag, &t.estimator, &stuck, &forgotten, error), error);
    assert_int_equal(forgotten, 0);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_to_a_halt),
        cmocka_unit_test(what_was_there_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
