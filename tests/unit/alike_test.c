// SPDX-License-Identifier: GPL-3.0-or-later
// Pools that the same code seems to make, on traces by hand: main hands a task to each of four pools.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "optimize/candidates.h"
#include "simulate_fixture.h"

enum { MAIN = 1, POOLS = 4, MAIN_RUN = 100, SPAWNS_NS = 10, BEGINS_NS = 300, LASTS_NS = 1000, OVER_NS = 9000 };

// How the last pool differs from the others.
struct shape {
    bool other_name, other_size, other_site, no_site;
};

struct test {
    struct simulate_fixture sim;
    uint32_t pools[POOLS];
};

static uint32_t add_pool(struct trace_builder *tb, uint32_t number, struct shape shape) {
    static const char *const names[] = {"pool-1", "pool-2", "pool-7", "pool-12"};
    const bool last = number == POOLS - 1;
    const int32_t threads = last && shape.other_size ? 2 : 1;
    const struct trace_pool pool = {.kind = "java.util.concurrent.ThreadPoolExecutor",
                                    .queue = "java.util.concurrent.LinkedBlockingQueue",
                                    .name = last && shape.other_name ? "other-1" : names[number],
                                    .core = threads,
                                    .maximum = threads,
                                    .capacity = -1,
                                    .keep_alive_ns = -1};
    return tb_pool_like(tb, pool);
}

static void work(struct trace_builder *tb, uint32_t thread, uint32_t pool, uint64_t first) {
    tb_event(tb, thread, 40, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, thread, 41, EVENT_IDLE, pool);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t from_ns = BEGINS_NS + i * (LASTS_NS + 10);
        tb_event(tb, thread, from_ns - 1, EVENT_BUSY, pool);
        tb_event(tb, thread, from_ns, EVENT_TASK_START, first + i, from_ns);
        tb_event(tb, thread, from_ns + LASTS_NS, EVENT_TASK_END, first + i, from_ns + LASTS_NS);
        tb_event(tb, thread, from_ns + LASTS_NS + 1, EVENT_IDLE, pool);
    }
    tb_event(tb, thread, OVER_NS + 10, EVENT_RETIRE, pool);
}

// Each pool has two tasks, one behind the other.
static struct test begin(struct shape shape) {
    struct test t = {0};
    struct trace_builder *tb = tb_new();
    const uint32_t site = tb_site(tb, "Main", "main", 7), other = tb_site(tb, "Main", "main", 9);
    tb_thread(tb, MAIN, "main", 0);
    for (uint32_t p = 0; p < POOLS; p++) {
        tb_thread(tb, MAIN + 1 + p, "worker", 0);
        t.pools[p] = add_pool(tb, p, shape);
    }
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    for (uint64_t i = 0; i < 2 * (uint64_t)POOLS; i++) {
        const bool last = i / 2 == POOLS - 1;
        const uint64_t at_ns = 100 + SPAWNS_NS * i;
        if (last && shape.no_site) continue;
        tb_event(tb, MAIN, at_ns, EVENT_SPAWN_BEGIN, 1 + i, last && shape.other_site ? other : site, t.pools[i / 2]);
        tb_event(tb, MAIN, at_ns + 2, EVENT_SPAWN_END, 1 + i, SPAWN_ACCEPTED);
    }
    for (uint32_t p = 0; p < POOLS; p++) tb_event(tb, MAIN, OVER_NS + p, EVENT_POOL_SHUTDOWN, t.pools[p]);
    tb_event(tb, MAIN, OVER_NS + POOLS, EVENT_THREAD_END, MAIN_RUN, 100);
    for (uint32_t p = 0; p < POOLS; p++) work(tb, MAIN + 1 + p, t.pools[p], 1 + 2 * (uint64_t)p);
    simulate_fixture_open(&t.sim, tb);
    return t;
}

static void end(struct test *t) {
    simulate_fixture_close(&t->sim);
}

static void they_are_known_by_sites_rules_and_names(void **state) {
    (void)state;
    static const struct shape shapes[] = {
        {0}, {.other_name = true}, {.other_size = true}, {.other_site = true}, {.no_site = true}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct test t = begin(shapes[i]);
        const struct dag_pool *pools = t.sim.dag->pools;
        for (uint32_t p = 0; p < POOLS; p++) {
            const bool alone = i > 0 && p == POOLS - 1;
            assert_int_equal(pools[t.pools[p]].alike, alone ? t.pools[p] : t.pools[0]);
            assert_int_equal(pools[t.pools[p]].alike_count, alone ? 1 : i > 0 ? POOLS - 1 : POOLS);
        }
        end(&t);
    }
}

static void one_change_is_of_all(void **state) {
    (void)state;
    const struct model model = {.kind = MODEL_POOL};
    struct test t = begin((struct shape){.other_name = true});
    struct arena arena = ARENA_INIT;
    struct improvement *offered;
    size_t count, of_all = 0;
    must(candidates_find(t.sim.dag, KIND_BIT(KIND_RESIZE_POOL), &arena, &offered, &count, &t.sim.error), &t.sim.error);
    for (size_t i = 0; i < count; i++) {
        char text[200];
        const bool alike = offered[i].pool == t.pools[0];
        assert_true(alike || offered[i].pool == t.pools[POOLS - 1]);
        assert_int_equal(offered[i].alike, alike);
        assert_int_equal(offered[i].task_count, alike ? 2 * (POOLS - 1) : 2);
        if (!alike || offered[i].threads != 2) continue;
        of_all++;
        assert_string_equal(improvement_text(&offered[i], text, sizeof text),
                            "resize-pool pool-1 and 2 alike to 2 threads");
        assert_null(improvement_apply(&offered[i], &t.sim.edit));
        for (uint32_t p = 0; p < POOLS; p++)
            assert_int_equal(t.sim.edit.pool_threads[t.pools[p]], p < POOLS - 1 ? 2 : 0);
        assert_int_equal(simulation_run(t.sim.simulation, &t.sim.edit, &model), DAG_OK);
    }
    assert_int_equal(of_all, 1);
    arena_destroy(&arena);
    end(&t);
}

static void changes_of_one_of_them_conflict(void **state) {
    (void)state;
    struct test t = begin((struct shape){.other_name = true});
    struct improvement all = {.kind = KIND_RESIZE_POOL, .dag = t.sim.dag, .site = DAG_NONE, .threads = 2};
    all.pool = t.pools[0];
    all.alike = true;
    struct improvement one = all, other = all;
    one.pool = t.pools[1];
    one.alike = false;
    other.pool = t.pools[POOLS - 1];
    other.alike = false;
    assert_true(improvements_conflict(&all, &one));
    assert_true(improvements_conflict(&one, &all));
    assert_false(improvements_conflict(&all, &other));
    assert_false(improvements_conflict(&one, &other));
    assert_true(improvement_key(&all, 1) != improvement_key(&one, 1));
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_known_by_sites_rules_and_names),
        cmocka_unit_test(one_change_is_of_all),
        cmocka_unit_test(changes_of_one_of_them_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
