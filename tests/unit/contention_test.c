// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that are fought for, in runs that are solved by hand.
#include "simulate_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAIN = 1, WORKERS = 2, M = 100, LOCK = 900 };

static const struct model by_pools = {.kind = MODEL_POOL};

struct program_by_hand {
    struct trace_builder *tb;
    struct simulate_fixture fixture;
    uint32_t pool, site;
    uint64_t workers;
};

static struct program_by_hand begin(uint32_t workers) {
    struct program_by_hand p = {.tb = tb_new()};
    p.pool = tb_pool(p.tb, "pool-1", (int32_t)workers);
    p.site = tb_site(p.tb, "Main", "run", 12);
    tb_thread(p.tb, MAIN, "main", 0);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    return p;
}

// A worker that is made for it starts the task 10 ns after its spawn begins.
static uint32_t spawn(struct program_by_hand *p, uint64_t begin_ns, uint64_t task) {
    uint32_t worker = (uint32_t)(WORKERS + p->workers++);
    tb_event(p->tb, MAIN, begin_ns, EVENT_SPAWN_BEGIN, task, p->site, p->pool);
    tb_event(p->tb, MAIN, begin_ns + 20, EVENT_SPAWN_END, task);
    tb_thread(p->tb, worker, "pool-1-thread", 0);
    tb_event(p->tb, worker, begin_ns + 5, EVENT_WORKER_BEGIN, p->pool);
    tb_event(p->tb, worker, begin_ns + 10, EVENT_TASK_START, task, 1000);
    return worker;
}

// A task that asks for the lock, gets it, computes and ends. Until it asks it computes, too.
static void spawn_contender(struct program_by_hand *p, uint64_t begin_ns, uint64_t task, uint64_t asks_ns,
                            uint64_t gets_ns, uint64_t ends_ns) {
    uint64_t cpu = 1000 + asks_ns - begin_ns - 10;
    uint32_t worker = spawn(p, begin_ns, task);
    tb_event(p->tb, worker, asks_ns, EVENT_BLOCK_BEGIN, LOCK, cpu);
    tb_event(p->tb, worker, gets_ns, EVENT_BLOCK_END, LOCK, cpu);
    tb_event(p->tb, worker, ends_ns, EVENT_TASK_END, task, cpu + ends_ns - gets_ns);
}

static void end(struct program_by_hand *p) {
    tb_event(p->tb, MAIN, 5000, EVENT_THREAD_END, M);
    simulate_fixture_open(&p->fixture, p->tb);
}

static uint32_t task_with_id(const struct program_by_hand *p, uint64_t id) {
    uint32_t t = 0;
    while (p->fixture.dag->tasks[t].id != id) t++;
    return t;
}

static void inline_only(struct program_by_hand *p, uint64_t id) {
    dag_edit_clear(&p->fixture.edit, p->fixture.dag);
    dag_edit_inline(&p->fixture.edit, task_with_id(p, id));
}

static void simulate(struct program_by_hand *p, const struct model *model) {
    assert_int_equal(simulation_run(p->fixture.simulation, &p->fixture.edit, model), DAG_OK);
}

// Where in the run what was recorded then is.
static uint32_t vertex_of(const struct program_by_hand *p, int64_t recorded_ns) {
    const struct dag *run = simulation_dag(p->fixture.simulation);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->source[v] != DAG_NONE && p->fixture.dag->vertices.time_ns[run->source[v]] == recorded_ns) return v;
    }
    fail_msg("nothing that was recorded at %ld", (long)recorded_ns);
    return DAG_NONE;
}

static int64_t now(const struct program_by_hand *p, int64_t recorded_ns) {
    return simulation_dag(p->fixture.simulation)->vertices.time_ns[vertex_of(p, recorded_ns)];
}

static void assert_recorded(const struct program_by_hand *p) {
    const struct dag *run = simulation_dag(p->fixture.simulation);
    assert_int_equal(run->vertex_count, p->fixture.dag->vertex_count);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        assert_int_equal(run->vertices.time_ns[v], p->fixture.dag->vertices.time_ns[run->source[v]]);
        assert_int_equal(run->vertices.cause[v], p->fixture.dag->vertices.cause[run->source[v]]);
    }
}

// Task 1 gets the lock at 300, after somebody unknown, and keeps it for 300 ns. Task 2 asks for it at 400.
static void test_who_holds_it_keeps_it_as_long(void **state) {
    (void)state;
    struct program_by_hand p = begin(2);
    spawn_contender(&p, 100, 1, 200, 300, 700);
    spawn_contender(&p, 150, 2, 400, 600, 800);
    end(&p);
    simulate(&p, &by_pools);
    assert_recorded(&p);
    inline_only(&p, 2); // begins 10 ns sooner, and waits so much longer
    simulate(&p, &by_pools);
    assert_int_equal(now(&p, 400), 390);
    assert_int_equal(now(&p, 600), 600);
    inline_only(&p, 1); // is over by 690, before task 2 is spawned at 720
    simulate(&p, &by_pools);
    assert_int_equal(now(&p, 300), 290);
    assert_int_equal(now(&p, 400), 720 + 10 + 240);
    assert_int_equal(now(&p, 600), 720 + 10 + 240); // nobody has it
    dag_edit_clear(&p.fixture.edit, p.fixture.dag);
    dag_edit_resize(&p.fixture.edit, p.pool, 1); // likewise
    simulate(&p, &by_pools);
    assert_int_equal(now(&p, 600), now(&p, 400));
    simulate_fixture_close(&p.fixture);
}

// The same, but who waited is spawned first, and comes first once it runs where it is spawned.
static void test_who_comes_first_has_it_first(void **state) {
    (void)state;
    struct program_by_hand p = begin(2);
    spawn_contender(&p, 100, 2, 400, 600, 800);
    spawn_contender(&p, 150, 1, 200, 300, 700);
    end(&p);
    simulate(&p, &by_pools);
    assert_recorded(&p);
    inline_only(&p, 2);
    simulate(&p, &by_pools);
    assert_int_equal(now(&p, 600), 390);
    assert_int_equal(simulation_dag(p.fixture.simulation)->vertices.cause[vertex_of(&p, 600)], DAG_NONE);
    assert_int_equal(now(&p, 200), 590 + 30 + 10 + 40);
    assert_int_equal(now(&p, 300), now(&p, 200) + 100); // for whoever had it before, as recorded
    simulate_fixture_close(&p.fixture);
}

// Task 1 has the lock from 300 to 600. Task 3 asks at 350, but task 4, which asks at 400, gets it first, for 300 ns.
// Task 2, inlined, puts off the spawn of task 4 by what it takes, less its bracket's 20 ns.
static struct program_by_hand overtaken(bool is_known, uint64_t delay_ns) {
    struct program_by_hand p = begin(4);
    if (is_known) spawn_contender(&p, 100, 1, 200, 300, 700);
    spawn_contender(&p, 150, 3, 350, 900, 950);
    uint32_t worker = spawn(&p, 200, 2);
    tb_event(p.tb, worker, 210 + 20 + delay_ns, EVENT_TASK_END, 2, 1020 + delay_ns);
    spawn_contender(&p, 250, 4, 400, 600, 1200);
    end(&p);
    simulate(&p, &by_pools);
    assert_recorded(&p);
    inline_only(&p, 2);
    simulate(&p, &by_pools);
    assert_int_equal(now(&p, 350), 350);
    assert_int_equal(now(&p, 400), 400 + (int64_t)delay_ns);
    return p;
}

static void test_who_overtakes_must_have_come(void **state) {
    (void)state;
    struct program_by_hand p = overtaken(true, 150); // still in time
    assert_int_equal(now(&p, 600), 600);
    assert_int_equal(now(&p, 900), 900);
    simulate_fixture_close(&p.fixture);
    p = overtaken(true, 1900); // task 3 has it when task 1 gives it up
    assert_int_equal(now(&p, 900), 600);
    assert_int_equal(now(&p, 600), 2300);
    simulate_fixture_close(&p.fixture);
}

// Whoever it was that task 4 waited for, task 3 waited for, too.
static void test_who_had_it_before_may_be_unknown(void **state) {
    (void)state;
    struct program_by_hand p = overtaken(false, 150);
    assert_int_equal(now(&p, 600), 750);
    assert_int_equal(now(&p, 900), 1050);
    simulate_fixture_close(&p.fixture);
    p = overtaken(false, 1900);
    assert_int_equal(now(&p, 900), 600);
    assert_int_equal(now(&p, 600), 2500);
    simulate_fixture_close(&p.fixture);
}

static void test_the_blocked_sleep(void **state) {
    (void)state;
    const struct model by_cores = {.kind = MODEL_CPU};
    struct program_by_hand p = begin(2);
    spawn_contender(&p, 100, 1, 200, 300, 700);
    spawn_contender(&p, 150, 2, 400, 600, 800);
    end(&p);
    simulate(&p, &by_cores);
    const struct dag *run = simulation_dag(p.fixture.simulation);
    assert_int_equal(now(&p, 600), 600);
    assert_int_equal(run->vertices.compute_ns[vertex_of(&p, 600)], 0);
    inline_only(&p, 1);
    simulate(&p, &by_cores);
    assert_int_equal(now(&p, 600), now(&p, 400));
    assert_int_equal(run->vertices.compute_ns[vertex_of(&p, 800)], 200);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_holds_it_keeps_it_as_long),
        cmocka_unit_test(test_who_comes_first_has_it_first),
        cmocka_unit_test(test_who_overtakes_must_have_come),
        cmocka_unit_test(test_who_had_it_before_may_be_unknown),
        cmocka_unit_test(test_the_blocked_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
