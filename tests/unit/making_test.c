// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks that are made in the body of one task and handed over by another, on a trace by hand: main hands `long` and
// `maker` to a pool of two, and `giver` to a pool of one. `maker` makes a continuation, `giver` hands it over.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate_fixture.h"

enum { MAIN = 1, FIRST = 2, SECOND = 3, OTHER = 4 };
enum { LONG = 1, MAKER, GIVER, CONTINUATION, MAIN_RUN = 100 };
enum { LONG_END = 5200, MADE = 500, HANDED_OVER = 2000, CONTINUED = 2110, OVER = 9000 };

struct test {
    struct simulate_fixture sim;
    uint32_t pool, other;
};

// Who makes the continuation, or 0: nobody is told to, and who hands it over does.
struct shape {
    uint64_t maker;
    bool carried; // it is handed over inside of another task, as an executor is that wraps what it is given
};

static void spawn(struct trace_builder *tb, uint64_t at_ns, uint32_t thread, uint64_t task, uint32_t site,
                  uint32_t pool) {
    tb_event(tb, thread, at_ns, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(tb, thread, at_ns + 2, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
}

static void begin_work(struct trace_builder *tb, uint32_t thread, uint32_t pool, uint64_t at_ns) {
    tb_event(tb, thread, 40, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, thread, 41, EVENT_IDLE, pool);
    tb_event(tb, thread, at_ns, EVENT_BUSY, pool);
}

static void end_work(struct trace_builder *tb, uint32_t thread, uint32_t pool, uint64_t at_ns) {
    tb_event(tb, thread, at_ns, EVENT_IDLE, pool);
    tb_event(tb, thread, OVER + 10, EVENT_RETIRE, pool);
}

static void tell_first_pool(struct trace_builder *tb, uint32_t pool, struct shape shape) {
    begin_work(tb, FIRST, pool, 199);
    tb_event(tb, FIRST, 200, EVENT_TASK_START, LONG, 200);
    tb_event(tb, FIRST, LONG_END, EVENT_TASK_END, LONG, LONG_END);
    end_work(tb, FIRST, pool, LONG_END + 1);
    begin_work(tb, SECOND, pool, 209);
    tb_event(tb, SECOND, 210, EVENT_TASK_START, MAKER, 210);
    if (shape.maker == MAKER) tb_event(tb, SECOND, MADE, EVENT_TASK_CREATED, CONTINUATION, 0);
    tb_event(tb, SECOND, 1210, EVENT_TASK_END, MAKER, 1210);
    end_work(tb, SECOND, pool, 1211);
}

static void tell_other_pool(struct trace_builder *tb, uint32_t site, uint32_t pool, struct shape shape) {
    enum { CARRIER = CONTINUATION + 1 };
    const uint64_t first = shape.carried ? CARRIER : CONTINUATION;
    begin_work(tb, OTHER, pool, 219);
    tb_event(tb, OTHER, 220, EVENT_TASK_START, GIVER, 220);
    tb_event(tb, OTHER, HANDED_OVER - 1, EVENT_TASK_CREATED, CONTINUATION, 0);
    if (shape.carried) {
        tb_event(tb, OTHER, HANDED_OVER, EVENT_SPAWN_BEGIN, CONTINUATION, site, 0);
        spawn(tb, HANDED_OVER + 5, OTHER, CARRIER, site, pool);
        tb_event(tb, OTHER, HANDED_OVER + 10, EVENT_SPAWN_END, CONTINUATION, SPAWN_ACCEPTED);
    } else {
        spawn(tb, HANDED_OVER, OTHER, CONTINUATION, site, pool);
    }
    tb_event(tb, OTHER, 2100, EVENT_TASK_END, GIVER, 2100);
    tb_event(tb, OTHER, CONTINUED, EVENT_TASK_START, first, CONTINUED);
    if (shape.carried) {
        tb_event(tb, OTHER, CONTINUED + 1, EVENT_TASK_START, CONTINUATION, CONTINUED + 1);
        tb_event(tb, OTHER, 3109, EVENT_TASK_END, CONTINUATION, 3109);
    }
    tb_event(tb, OTHER, 3110, EVENT_TASK_END, first, 3110);
    end_work(tb, OTHER, pool, 3111);
}

static uint32_t add_pool(struct trace_builder *tb, int64_t threads) {
    const struct trace_pool pool = {.kind = "java.util.concurrent.ThreadPoolExecutor",
                                    .queue = "java.util.concurrent.LinkedBlockingQueue",
                                    .name = "pool",
                                    .core = threads,
                                    .maximum = threads,
                                    .capacity = -1,
                                    .keep_alive_ns = -1};
    return tb_pool_like(tb, pool);
}

static struct test begin(struct shape shape) {
    struct test t = {0};
    struct trace_builder *tb = tb_new();
    const uint32_t site = tb_site(tb, "Main", "main", 7), later = tb_site(tb, "Main", "later", 9);
    tb_thread(tb, MAIN, "main", 0);
    tb_thread(tb, FIRST, "pool-1-thread-1", 0);
    tb_thread(tb, SECOND, "pool-1-thread-2", 0);
    tb_thread(tb, OTHER, "pool-2-thread-1", 0);
    t.pool = add_pool(tb, 2);
    t.other = add_pool(tb, 1);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    spawn(tb, 100, MAIN, LONG, site, t.pool);
    spawn(tb, 110, MAIN, MAKER, site, t.pool);
    spawn(tb, 120, MAIN, GIVER, site, t.other);
    tb_event(tb, MAIN, OVER, EVENT_POOL_SHUTDOWN, t.pool);
    tb_event(tb, MAIN, OVER + 1, EVENT_POOL_SHUTDOWN, t.other);
    tb_event(tb, MAIN, OVER + 2, EVENT_THREAD_END, MAIN_RUN, 100);
    tell_first_pool(tb, t.pool, shape);
    tell_other_pool(tb, later, t.other, shape);
    simulate_fixture_open(&t.sim, tb);
    return t;
}

static void end(struct test *t) {
    simulate_fixture_close(&t->sim);
}

static uint32_t task_of(const struct test *t, uint64_t id) {
    uint32_t i = 0;
    while (t->sim.dag->tasks[i].id != id) i++;
    return i;
}

static int64_t starts_ns(struct test *t, uint64_t id, int32_t threads) {
    const struct model model = {.kind = MODEL_POOL};
    dag_edit_clear(&t->sim.edit, t->sim.dag);
    if (threads) dag_edit_resize(&t->sim.edit, t->pool, threads);
    assert_int_equal(simulation_run(t->sim.simulation, &t->sim.edit, &model), DAG_OK);
    return simulation_times(t->sim.simulation)[t->sim.dag->tasks[task_of(t, id)].start];
}

static void who_made_it_is_known(void **state) {
    (void)state;
    struct test t = begin((struct shape){.maker = MAKER});
    const struct dag *dag = t.sim.dag;
    assert_non_null(dag->made_in);
    for (uint32_t task = 0; task < dag->task_count; task++)
        assert_int_equal(dag->made_in[task], dag->tasks[task].id == CONTINUATION ? task_of(&t, MAKER) : DAG_NONE);
    end(&t);
}

static void who_hands_over_what_it_made_waits_for_nobody(void **state) {
    (void)state;
    struct test t = begin((struct shape){0});
    assert_int_equal(starts_ns(&t, CONTINUATION, 0), CONTINUED);
    assert_int_equal(starts_ns(&t, CONTINUATION, 1), CONTINUED);
    end(&t);
}

static void what_is_handed_over_too_soon_waits(void **state) {
    (void)state;
    struct test t = begin((struct shape){.maker = MAKER});
    assert_int_equal(starts_ns(&t, CONTINUATION, 0), CONTINUED);
    assert_true(starts_ns(&t, CONTINUATION, 1) >= LONG_END);
    assert_true(starts_ns(&t, CONTINUATION, 1) >= starts_ns(&t, MAKER, 1));
    end(&t);
}

static void what_carries_it_waits(void **state) {
    (void)state;
    enum { CARRIER = CONTINUATION + 1 };
    struct test t = begin((struct shape){.maker = MAKER, .carried = true});
    assert_int_equal(t.sim.dag->made_in[task_of(&t, CARRIER)], task_of(&t, MAKER));
    assert_int_equal(t.sim.dag->made_in[task_of(&t, CONTINUATION)], DAG_NONE);
    assert_int_equal(starts_ns(&t, CARRIER, 0), CONTINUED);
    assert_true(starts_ns(&t, CARRIER, 1) >= LONG_END);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_made_it_is_known),
        cmocka_unit_test(who_hands_over_what_it_made_waits_for_nobody),
        cmocka_unit_test(what_is_handed_over_too_soon_waits),
        cmocka_unit_test(what_carries_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
