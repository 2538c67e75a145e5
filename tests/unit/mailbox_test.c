// SPDX-License-Identifier: GPL-3.0-or-later
// Actors' mailboxes in the simulation: runs by hand. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate_fixture.h"

enum { MAIN = 1, FIRST, SECOND };        // threads
enum { M = 100 };                        // main's task
enum { A = 30, B };                      // actors
enum { HANDLES_NS = 1000, GAP_NS = 10 }; // of each message; between two on a thread

static const struct model by_pools = {.kind = MODEL_POOL};

struct actors {
    struct simulate_fixture fixture;
    struct trace_builder *tb;
    uint32_t pool;
    uint64_t tell;
};

static struct actors begin(int32_t workers) {
    struct actors a = {.tb = tb_new()};
    a.pool = tb_pool_like(a.tb, (struct trace_pool){.kind = "java.util.concurrent.ThreadPoolExecutor",
                                                    .queue = "java.util.concurrent.LinkedBlockingQueue",
                                                    .core = workers,
                                                    .maximum = workers,
                                                    .capacity = -1});
    a.tell = message_operand(tb_class(a.tb, "p.Text"), MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    tb_thread(a.tb, MAIN, "main", 0);
    tb_thread(a.tb, FIRST, "pool-1-thread-1", 0);
    tb_thread(a.tb, SECOND, "pool-1-thread-2", 0);
    tb_event(a.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    return a;
}

static void tell(struct actors *a, uint64_t at_ns, uint64_t message, uint64_t actor) {
    tb_event(a->tb, MAIN, at_ns, EVENT_MESSAGE_SENT, message, actor, a->tell);
}

// A worker is made at `from_ns` and handles what is listed, up to 0. Where it is free: when the last is done.
static uint64_t handles(struct actors *a, uint32_t thread, uint64_t from_ns, const uint64_t (*messages)[2]) {
    uint64_t now_ns = from_ns;
    tb_event(a->tb, thread, from_ns, EVENT_WORKER_BEGIN, a->pool);
    for (; (*messages)[0]; messages++) {
        tb_event(a->tb, thread, now_ns += GAP_NS, EVENT_MESSAGE_BEGIN, (*messages)[0], 0, (*messages)[1]);
        tb_event(a->tb, thread, now_ns += HANDLES_NS, EVENT_MESSAGE_END, (*messages)[0], 0, MESSAGE_HANDLED);
    }
    return now_ns;
}

static void open(struct actors *a) {
    tb_event(a->tb, MAIN, 50000, EVENT_THREAD_END, M);
    simulate_fixture_open(&a->fixture, a->tb);
}

static void simulate(struct actors *a, int32_t workers) {
    dag_edit_resize(&a->fixture.edit, a->pool, (uint32_t)workers);
    assert_int_equal(simulation_run(a->fixture.simulation, &a->fixture.edit, &by_pools), DAG_OK);
}

static const struct dag_task *simulated(const struct actors *a, uint64_t id) {
    const struct dag *dag = simulation_dag(a->fixture.simulation);
    uint32_t t = 0;
    while (t < dag->task_count && dag->tasks[t].id != id) t++;
    assert_true(t < dag->task_count);
    return &dag->tasks[t];
}

static int64_t time_ns(const struct actors *a, uint32_t vertex) {
    assert_true(vertex != DAG_NONE);
    return simulation_dag(a->fixture.simulation)->vertices.time_ns[vertex];
}

// Each ends before the next starts.
static void assert_order(const struct actors *a, const uint64_t *messages, size_t count) {
    for (size_t i = 0; i + 1 < count; i++)
        assert_true(time_ns(a, simulated(a, messages[i])->end) <= time_ns(a, simulated(a, messages[i + 1])->start));
}

// What came to A and B by turns: a single worker empties a mailbox before it takes the other.
static void test_the_worker_goes_on_with_the_mailbox(void **state) {
    (void)state;
    struct actors a = begin(2);
    tell(&a, 100, 40, A);
    tell(&a, 150, 41, B);
    tell(&a, 200, 42, A);
    tell(&a, 250, 43, B);
    handles(&a, FIRST, 105, (const uint64_t[][2]){{40, A}, {42, A}, {0, 0}});
    handles(&a, SECOND, 155, (const uint64_t[][2]){{41, B}, {43, B}, {0, 0}});
    open(&a);
    simulate(&a, 1);
    assert_order(&a, (const uint64_t[]){40, 42, 41, 43}, 4);
    assert_int_equal(simulated(&a, 42)->dispatch, DISPATCH_NEXT);
    assert_int_equal(simulated(&a, 41)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(simulated(&a, 43)->dispatch, DISPATCH_NEXT);
    simulate_fixture_close(&a.fixture);
}

// More workers run more actors at once, but each actor still does one thing after the other.
static void test_an_actor_does_one_at_a_time(void **state) {
    (void)state;
    struct actors a = begin(1);
    for (uint64_t i = 0; i < 3; i++) tell(&a, 100 + 10 * i, 40 + i, A);
    tell(&a, 150, 43, B);
    handles(&a, FIRST, 105, (const uint64_t[][2]){{40, A}, {41, A}, {42, A}, {43, B}, {0, 0}});
    open(&a);
    simulate(&a, 2);
    assert_order(&a, (const uint64_t[]){40, 41, 42}, 3);
    assert_true(time_ns(&a, simulated(&a, 43)->start) < time_ns(&a, simulated(&a, 40)->end));
    assert_int_equal(simulated(&a, 43)->dispatch, DISPATCH_NEW);
    simulate_fixture_close(&a.fixture);
}

// Five in a row, and four were seen: the sixth of A waits behind B's.
static void test_a_mailbox_gives_way(void **state) {
    (void)state;
    struct actors a = begin(2);
    for (uint64_t i = 0; i < 8; i++) tell(&a, 100 + 2 * i, 40 + i, A);
    tell(&a, 150, 48, B);
    uint64_t done_ns =
        handles(&a, FIRST, 105, (const uint64_t[][2]){{40, A}, {41, A}, {42, A}, {43, A}, {48, B}, {0, 0}});
    handles(&a, SECOND, done_ns, (const uint64_t[][2]){{44, A}, {45, A}, {46, A}, {47, A}, {0, 0}});
    open(&a);
    simulate(&a, 1);
    assert_order(&a, (const uint64_t[]){40, 41, 42, 43, 44, 48, 45, 46, 47}, 9);
    assert_int_equal(simulated(&a, 44)->dispatch, DISPATCH_NEXT);
    assert_int_equal(simulated(&a, 45)->dispatch, DISPATCH_QUEUED);
    assert_int_equal(simulated(&a, 46)->dispatch, DISPATCH_NEXT);
    simulate_fixture_close(&a.fixture);
}

// Recorded with one worker and simulated so: the order is that of the recording, whatever came meanwhile.
static void test_the_recorded_size_keeps_the_order(void **state) {
    (void)state;
    struct actors a = begin(1);
    tell(&a, 100, 40, A);
    tell(&a, 150, 41, B);
    tell(&a, 200, 42, A);
    handles(&a, FIRST, 105, (const uint64_t[][2]){{40, A}, {42, A}, {41, B}, {0, 0}});
    open(&a);
    simulate(&a, 1);
    assert_order(&a, (const uint64_t[]){40, 42, 41}, 3);
    for (uint64_t id = 40; id <= 42; id++) {
        const struct dag_task *now = simulated(&a, id);
        const struct dag *dag = a.fixture.dag;
        const struct dag_task *then = &dag->tasks[now - simulation_dag(a.fixture.simulation)->tasks];
        assert_int_equal(time_ns(&a, now->start), dag->vertices.time_ns[then->start]);
    }
    simulate_fixture_close(&a.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worker_goes_on_with_the_mailbox),
        cmocka_unit_test(test_an_actor_does_one_at_a_time),
        cmocka_unit_test(test_a_mailbox_gives_way),
        cmocka_unit_test(test_the_recorded_size_keeps_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
