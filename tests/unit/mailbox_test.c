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

static void make(struct actors *a, uint64_t at_ns, uint64_t actor) {
    tb_event(a->tb, MAIN, at_ns, EVENT_ACTOR_CREATED, actor, 0, 0);
}

// A worker is made at `from_ns` and handles what is listed, up to 0; an actor's own number is its initialisation. Where
// it is free: when the last is done.
static uint64_t handles(struct actors *a, uint32_t thread, uint64_t from_ns, const uint64_t (*messages)[2]) {
    uint64_t now_ns = from_ns;
    tb_event(a->tb, thread, from_ns, EVENT_WORKER_BEGIN, a->pool);
    for (; (*messages)[0]; messages++) {
        const uint64_t id = (*messages)[0], actor = (*messages)[1];
        const bool begins = id == actor;
        if (begins)
            tb_event(a->tb, thread, now_ns += GAP_NS, EVENT_INIT_BEGIN, actor, 0);
        else
            tb_event(a->tb, thread, now_ns += GAP_NS, EVENT_MESSAGE_BEGIN, id, 0, actor);
        now_ns += HANDLES_NS;
        if (begins)
            tb_event(a->tb, thread, now_ns, EVENT_INIT_END, actor, 0, init_operand(0, INIT_DONE));
        else
            tb_event(a->tb, thread, now_ns, EVENT_MESSAGE_END, id, 0, MESSAGE_HANDLED);
    }
    return now_ns;
}

static void open(struct actors *a) {
    tb_event(a->tb, MAIN, 50000, EVENT_THREAD_END, M);
    simulate_fixture_open(&a->fixture, a->tb);
}

static uint32_t actor(const struct actors *a, uint64_t id) {
    const struct dag *dag = a->fixture.dag;
    uint32_t index = 1;
    while (index <= dag->actor_count && dag->actors[index].id != id) index++;
    assert_true(index <= dag->actor_count);
    return index;
}

static void simulate(struct actors *a, int32_t workers) {
    if (workers) dag_edit_resize(&a->fixture.edit, a->pool, workers);
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

// Nothing else is queued: its worker goes on behind the fifth as before, though another one idles.
static void test_a_mailbox_gives_way_to_none(void **state) {
    (void)state;
    struct actors a = begin(2);
    tell(&a, 90, 39, B);
    for (uint64_t i = 0; i < 8; i++) tell(&a, 100 + 2 * i, 40 + i, A);
    handles(&a, FIRST, 95, (const uint64_t[][2]){{39, B}, {0, 0}});
    handles(&a, SECOND, 105,
            (const uint64_t[][2]){{40, A}, {41, A}, {42, A}, {43, A}, {44, A}, {45, A}, {46, A}, {47, A}, {0, 0}});
    open(&a);
    simulate(&a, 2);
    for (uint64_t id = 41; id <= 47; id++) {
        assert_int_equal(simulated(&a, id)->dispatch, DISPATCH_NEXT);
        assert_int_equal(simulated(&a, id)->thread, simulated(&a, 40)->thread);
    }
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

// What joins another is not made; its messages are handled one after the other with that one's, in the order of
// sending.
static void test_actors_join(void **state) {
    (void)state;
    struct actors a = begin(2);
    make(&a, 50, A);
    make(&a, 60, B);
    tell(&a, 100, 40, A);
    tell(&a, 110, 41, B);
    tell(&a, 120, 42, A);
    handles(&a, FIRST, 55, (const uint64_t[][2]){{A, A}, {40, A}, {42, A}, {0, 0}});
    handles(&a, SECOND, 65, (const uint64_t[][2]){{B, B}, {41, B}, {0, 0}});
    open(&a);
    assert_null(dag_actor_refusal(a.fixture.dag, actor(&a, B)));
    dag_edit_join_actor(&a.fixture.edit, a.fixture.dag, actor(&a, B), actor(&a, A));
    simulate(&a, 0);
    assert_order(&a, (const uint64_t[]){A, 40, 41, 42}, 4);
    assert_int_equal(simulated(&a, B)->start, DAG_NONE);
    // Made at 55, 10 to begin; then one thing after the other, 10 between two.
    assert_int_equal(time_ns(&a, simulated(&a, 42)->end), 55 + 4 * (GAP_NS + HANDLES_NS));
    simulate_fixture_close(&a.fixture);
}

// B is initialised while the library's message by which it begins is handled, and was made before that was sent: both
// go, whatever run came before.
static void test_what_an_actor_begins_in_goes(void **state) {
    (void)state;
    struct actors a = begin(1);
    const uint64_t upkeep = message_operand(0, MESSAGE_INTERNAL, MESSAGE_TO_ACTOR, false);
    make(&a, 50, A);
    make(&a, 60, B);
    tb_event(a.tb, MAIN, 100, EVENT_MESSAGE_SENT, 40, B, upkeep);
    tb_event(a.tb, FIRST, 55, EVENT_WORKER_BEGIN, a.pool);
    tb_event(a.tb, FIRST, 65, EVENT_INIT_BEGIN, A, 0);
    tb_event(a.tb, FIRST, 165, EVENT_INIT_END, A, 0, init_operand(0, INIT_DONE));
    tb_event(a.tb, FIRST, 175, EVENT_MESSAGE_BEGIN, 40, 0, B);
    tb_event(a.tb, FIRST, 185, EVENT_INIT_BEGIN, B, 0);
    tb_event(a.tb, FIRST, 285, EVENT_INIT_END, B, 0, init_operand(0, INIT_DONE));
    tb_event(a.tb, FIRST, 295, EVENT_MESSAGE_END, 40, 0, MESSAGE_HANDLED);
    open(&a);
    dag_edit_copy_actor(&a.fixture.edit, actor(&a, A), 2);
    simulate(&a, 0);
    assert_int_not_equal(simulated(&a, 40)->start, DAG_NONE);
    dag_edit_clear(&a.fixture.edit, a.fixture.dag);
    dag_edit_join_actor(&a.fixture.edit, a.fixture.dag, actor(&a, B), actor(&a, A));
    simulate(&a, 0);
    assert_int_equal(simulated(&a, B)->start, DAG_NONE);
    assert_int_equal(simulated(&a, 40)->start, DAG_NONE);
    simulate_fixture_close(&a.fixture);
}

// An initialisation that sent something stays, as something that the other does.
static void test_what_an_initialisation_sent_stays(void **state) {
    (void)state;
    struct actors a = begin(1);
    make(&a, 50, A);
    make(&a, 60, B);
    tb_event(a.tb, FIRST, 55, EVENT_WORKER_BEGIN, a.pool);
    tb_event(a.tb, FIRST, 65, EVENT_INIT_BEGIN, A, 0);
    tb_event(a.tb, FIRST, 165, EVENT_INIT_END, A, 0, init_operand(0, INIT_DONE));
    tb_event(a.tb, FIRST, 175, EVENT_INIT_BEGIN, B, 0);
    tb_event(a.tb, FIRST, 225, EVENT_MESSAGE_SENT, 40, A, a.tell);
    tb_event(a.tb, FIRST, 275, EVENT_INIT_END, B, 0, init_operand(0, INIT_DONE));
    tb_event(a.tb, FIRST, 285, EVENT_MESSAGE_BEGIN, 40, 0, A);
    tb_event(a.tb, FIRST, 385, EVENT_MESSAGE_END, 40, 0, MESSAGE_HANDLED);
    open(&a);
    dag_edit_join_actor(&a.fixture.edit, a.fixture.dag, actor(&a, B), actor(&a, A));
    simulate(&a, 0);
    assert_order(&a, (const uint64_t[]){A, B, 40}, 3);
    assert_int_equal(time_ns(&a, simulated(&a, B)->end) - time_ns(&a, simulated(&a, B)->start), 100);
    simulate_fixture_close(&a.fixture);
}

// Two copies take what comes by turns, and each is initialised.
static void test_an_actor_gets_copies(void **state) {
    (void)state;
    struct actors a = begin(2);
    make(&a, 50, A);
    for (uint64_t i = 0; i < 4; i++) tell(&a, 100 + 10 * i, 40 + i, A);
    tell(&a, 150, 44, B);
    handles(&a, FIRST, 55, (const uint64_t[][2]){{A, A}, {40, A}, {41, A}, {42, A}, {43, A}, {0, 0}});
    handles(&a, SECOND, 155, (const uint64_t[][2]){{44, B}, {0, 0}});
    open(&a);
    dag_edit_copy_actor(&a.fixture.edit, actor(&a, A), 2);
    simulate(&a, 0);
    const struct dag *run = simulation_dag(a.fixture.simulation);
    assert_order(&a, (const uint64_t[]){A, 40, 42}, 3);
    assert_order(&a, (const uint64_t[]){41, 43}, 2);
    assert_true(time_ns(&a, simulated(&a, 41)->start) < time_ns(&a, simulated(&a, 40)->end));
    const struct dag_task *copy = &run->tasks[run->task_count - 1]; // its initialisation is a job of its own
    assert_int_equal(run->task_count, a.fixture.dag->task_count + 1);
    assert_int_equal(time_ns(&a, copy->end) - time_ns(&a, copy->start), HANDLES_NS);
    assert_true(time_ns(&a, copy->end) <= time_ns(&a, simulated(&a, 41)->start));
    assert_int_equal(simulated(&a, 41)->thread, copy->thread);
    simulate_fixture_close(&a.fixture);
}

// A's handler sends to B in its middle: 41 begins the moment when 40 ends, by the same worker, and what came for B
// meanwhile comes behind.
static void test_a_message_follows(void **state) {
    (void)state;
    struct actors a = begin(2);
    tell(&a, 100, 40, A);
    tb_event(a.tb, FIRST, 105, EVENT_WORKER_BEGIN, a.pool);
    tb_event(a.tb, FIRST, 115, EVENT_MESSAGE_BEGIN, 40, 0, A);
    tb_event(a.tb, FIRST, 615, EVENT_MESSAGE_SENT, 41, B, a.tell);
    tb_event(a.tb, FIRST, 1115, EVENT_MESSAGE_END, 40, 0, MESSAGE_HANDLED);
    tell(&a, 1300, 42, B);
    handles(&a, SECOND, 620, (const uint64_t[][2]){{41, B}, {42, B}, {0, 0}});
    open(&a);
    const struct dag_task *recorded = a.fixture.dag->tasks;
    while (recorded->id != 41) recorded++;
    assert_null(dag_follow_refusal(a.fixture.dag, (uint32_t)(recorded - a.fixture.dag->tasks)));
    dag_edit_follow(&a.fixture.edit, (uint32_t)(recorded - a.fixture.dag->tasks));
    simulate(&a, 0);
    assert_int_equal(time_ns(&a, simulated(&a, 41)->start), 1115);
    assert_int_equal(simulated(&a, 41)->thread, simulated(&a, 40)->thread);
    assert_int_equal(simulated(&a, 41)->dispatch, DISPATCH_NONE);
    assert_order(&a, (const uint64_t[]){40, 41, 42}, 3);
    simulate_fixture_close(&a.fixture);
}

// B is busy with 42 when A's handler ends: 41 comes first in its mailbox, before 43, which was there.
static void test_a_message_that_can_not_follow_comes_first(void **state) {
    (void)state;
    struct actors a = begin(2);
    tell(&a, 90, 42, B);
    tell(&a, 100, 40, A);
    tell(&a, 110, 43, B);
    tb_event(a.tb, FIRST, 105, EVENT_WORKER_BEGIN, a.pool);
    tb_event(a.tb, FIRST, 115, EVENT_MESSAGE_BEGIN, 40, 0, A);
    tb_event(a.tb, FIRST, 215, EVENT_MESSAGE_SENT, 41, B, a.tell);
    tb_event(a.tb, FIRST, 315, EVENT_MESSAGE_END, 40, 0, MESSAGE_HANDLED);
    handles(&a, SECOND, 95, (const uint64_t[][2]){{42, B}, {43, B}, {41, B}, {0, 0}});
    open(&a);
    const struct dag_task *recorded = a.fixture.dag->tasks;
    while (recorded->id != 41) recorded++;
    dag_edit_follow(&a.fixture.edit, (uint32_t)(recorded - a.fixture.dag->tasks));
    simulate(&a, 0);
    assert_order(&a, (const uint64_t[]){42, 41, 43}, 3);
    simulate_fixture_close(&a.fixture);
}

// A's handlers keep the only worker from B's, until A has a dispatcher of its own.
static void test_an_actor_gets_its_own_dispatcher(void **state) {
    (void)state;
    struct actors a = begin(1);
    for (uint64_t i = 0; i < 3; i++) tell(&a, 100 + 10 * i, 40 + i, A);
    tell(&a, 150, 43, B);
    handles(&a, FIRST, 105, (const uint64_t[][2]){{40, A}, {41, A}, {42, A}, {43, B}, {0, 0}});
    open(&a);
    const uint32_t own = dag_edit_own_pool(&a.fixture.edit, a.pool, 1);
    assert_int_equal(own, 1);
    dag_edit_move_actor(&a.fixture.edit, actor(&a, A), own);
    simulate(&a, 0);
    assert_order(&a, (const uint64_t[]){40, 41, 42}, 3);
    assert_true(time_ns(&a, simulated(&a, 43)->start) < time_ns(&a, simulated(&a, 40)->end));
    assert_int_not_equal(simulated(&a, 43)->thread, simulated(&a, 40)->thread);
    assert_int_equal(simulation_dag(a.fixture.simulation)->threads[simulated(&a, 40)->thread].pool, a.pool);
    simulate_fixture_close(&a.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worker_goes_on_with_the_mailbox),
        cmocka_unit_test(test_an_actor_does_one_at_a_time),
        cmocka_unit_test(test_a_mailbox_gives_way),
        cmocka_unit_test(test_a_mailbox_gives_way_to_none),
        cmocka_unit_test(test_the_recorded_size_keeps_the_order),
        cmocka_unit_test(test_actors_join),
        cmocka_unit_test(test_what_an_actor_begins_in_goes),
        cmocka_unit_test(test_what_an_initialisation_sent_stays),
        cmocka_unit_test(test_an_actor_gets_copies),
        cmocka_unit_test(test_a_message_follows),
        cmocka_unit_test(test_a_message_that_can_not_follow_comes_first),
        cmocka_unit_test(test_an_actor_gets_its_own_dispatcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
