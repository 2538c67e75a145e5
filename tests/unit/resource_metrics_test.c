// SPDX-License-Identifier: GPL-3.0-or-later
// What threads hold and wait for, on traces by hand. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/names.h"
#include "dag/simulate/stuck.h"
#include "metrics/metrics.h"
#include "metrics/requests.h"
#include "metrics/resources.h"
#include "simulate_fixture.h"

#include <string.h>

enum { MAIN = 1, FIRST = 2, M = 100, LOCK = 900, PERMITS, POOL };

struct fixture {
    struct trace_builder *tb;
    uint32_t pool, site, takes, asks; // sites: of spawns, and two that acquire
    struct simulate_fixture on;
    struct arena arena;
    struct resource_use *uses;
    size_t count;
};

static struct fixture begin(int32_t workers) {
    struct fixture f = {.tb = tb_new(), .arena = ARENA_INIT};
    f.pool = tb_pool(f.tb, "pool-1", workers);
    f.site = tb_site(f.tb, "Main", "run", 12);
    f.takes = tb_site(f.tb, "Bank", "take", 3);
    f.asks = tb_site(f.tb, "Bank", "ask", 5);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 1);
    for (uint32_t w = 0; w < (uint32_t)workers; w++) {
        tb_thread(f.tb, FIRST + w, "pool-1-thread", 0);
        tb_event(f.tb, MAIN, 10 + 10 * w, EVENT_SPAWN_BEGIN, 1 + w, f.site, f.pool);
        tb_event(f.tb, MAIN, 15 + 10 * w, EVENT_SPAWN_END, 1 + w);
        tb_event(f.tb, FIRST + w, 16 + 10 * w, EVENT_THREAD_START, 50 + w, 1);
        tb_event(f.tb, FIRST + w, 17 + 10 * w, EVENT_WORKER_BEGIN, f.pool);
        tb_event(f.tb, FIRST + w, 100, EVENT_TASK_START, 1 + w, 2);
    }
    return f;
}

static void hold(struct fixture *f, uint32_t worker, uint64_t time_ns, uint64_t resource, uint32_t units) {
    tb_event(f->tb, FIRST + worker, time_ns, EVENT_HELD, resource, want_operand(units, false, f->takes));
}

static void release(struct fixture *f, uint32_t worker, uint64_t time_ns, uint64_t resource, uint32_t units) {
    tb_event(f->tb, FIRST + worker, time_ns, EVENT_RELEASED, resource, want_operand(units, false, f->takes));
}

static void ask(struct fixture *f, uint32_t worker, uint64_t time_ns, uint64_t resource, uint32_t units) {
    tb_event(f->tb, FIRST + worker, time_ns, EVENT_ACQUIRE_BEGIN, resource, 10, want_operand(units, false, f->asks));
}

static void get(struct fixture *f, uint32_t worker, uint64_t time_ns, uint64_t resource) {
    tb_event(f->tb, FIRST + worker, time_ns, EVENT_ACQUIRED, resource, 10);
}

static void end_task(struct fixture *f, uint32_t worker, uint64_t time_ns) {
    tb_event(f->tb, FIRST + worker, time_ns, EVENT_TASK_END, 1 + worker, 20);
}

static void open_until(struct fixture *f, uint64_t end_ns) {
    tb_event(f->tb, MAIN, end_ns, EVENT_THREAD_END, M, 500);
    simulate_fixture_open(&f->on, f->tb);
}

static void find(struct fixture *f, const struct window *window) {
    struct error error = ERROR_INIT;
    const struct dag *dag = f->on.dag;
    assert_true(metrics_resources(dag, dag->vertices.time_ns, window, &f->arena, &f->uses, &f->count, &error));
}

static void end(struct fixture *f) {
    simulate_fixture_close(&f->on);
    arena_destroy(&f->arena);
}

// One has the lock from 200 to 600, another asks at 300 and has it from 600 to 1,000.
static void add_lock(struct fixture *f) {
    tb_resource(f->tb, LOCK, RESOURCE_LOCK, 1, 0);
    tb_resource_is(f->tb, LOCK, "Bank.lock", 0);
    hold(f, 0, 200, LOCK, 1);
    release(f, 0, 600, LOCK, 1);
    end_task(f, 0, 700);
    ask(f, 1, 300, LOCK, 1);
    get(f, 1, 601, LOCK);
    release(f, 1, 1001, LOCK, 1);
    end_task(f, 1, 1100);
}

static void test_a_lock(void **state) {
    (void)state;
    struct fixture f = begin(2);
    add_lock(&f);
    open_until(&f, 2000);
    find(&f, NULL);
    assert_int_equal(f.count, 1);
    const struct resource_use *use = &f.uses[0];
    assert_string_equal(use->name, "lock Bank.lock");
    assert_int_equal(use->capacity, 1);
    assert_int_equal(use->waits, 1);
    assert_int_equal(use->timed_out, 0);
    assert_int_equal(use->wait_ns, 301);
    assert_float_equal(use->held_ns, 800, 1e-6);
    assert_float_equal(use->holders_mean, 0.4, 1e-6);
    assert_int_equal(use->waits_at_count, 1);
    assert_int_equal(use->waits_at[0].site.line, 5);
    assert_int_equal(use->held_at_count, 2);
    assert_int_equal(use->held_at[0].site.line, 3);
    assert_int_equal(use->held_at[0].total_ns, 400);
    end(&f);
}

// Of 400 to 800: 200 of the wait, 200 and 199 of the two holds.
static void test_a_window(void **state) {
    (void)state;
    struct fixture f = begin(2);
    add_lock(&f);
    open_until(&f, 2000);
    const struct window window = {400, 800}, after = {1200, 1400};
    find(&f, &window);
    assert_int_equal(f.uses[0].waits, 1);
    assert_int_equal(f.uses[0].wait_ns, 201);
    assert_float_equal(f.uses[0].held_ns, 399, 1e-6);
    find(&f, &after);
    assert_int_equal(f.uses[0].waits, 0);
    assert_float_equal(f.uses[0].held_ns, 0, 1e-6);
    end(&f);
}

// What a thread takes and another gives back, and what is never given back: 2 of 3 permits from 200 to 800, and one
// from 1,000 to the end.
static void test_permits(void **state) {
    (void)state;
    struct fixture f = begin(2);
    tb_resource(f.tb, PERMITS, RESOURCE_PERMITS, 3, 0);
    hold(&f, 0, 200, PERMITS, 2);
    end_task(&f, 0, 700);
    release(&f, 1, 800, PERMITS, 2);
    hold(&f, 1, 1000, PERMITS, 1);
    end_task(&f, 1, 1100);
    open_until(&f, 2000);
    find(&f, NULL);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.uses[0].name, "semaphore taken at Bank.take:3");
    assert_float_equal(f.uses[0].held_ns, 2 * 600 + 1000, 1e-6);
    assert_int_equal(f.uses[0].waits, 0);
    end(&f);
}

// Made before recording began, so that nobody knows how many there are; who had one then gave it back unseen. Held from
// 300 to 600, and again from 700 to 900.
static void test_permits_made_before(void **state) {
    (void)state;
    struct fixture f = begin(1);
    tb_resource(f.tb, PERMITS, RESOURCE_PERMITS, -1, 0);
    ask(&f, 0, 110, PERMITS, 1);
    get(&f, 0, 300, PERMITS);
    release(&f, 0, 600, PERMITS, 1);
    hold(&f, 0, 700, PERMITS, 1);
    release(&f, 0, 900, PERMITS, 1);
    end_task(&f, 0, 1000);
    open_until(&f, 2000);
    find(&f, NULL);
    assert_int_equal(f.uses[0].capacity, -1);
    assert_int_equal(f.uses[0].waits, 1);
    assert_float_equal(f.uses[0].held_ns, 500, 1e-6);
    assert_int_equal(f.on.dag->resources[0].initial, 1);
    end(&f);
}

// A pool is filled before it is used: what main puts into it at 60 nothing held before.
static void test_filling(void **state) {
    (void)state;
    struct fixture f = begin(1);
    tb_resource(f.tb, POOL, RESOURCE_POOL, 2, 0);
    tb_event(f.tb, MAIN, 60, EVENT_RELEASED, POOL, want_operand(1, false, 0));
    tb_event(f.tb, MAIN, 61, EVENT_RELEASED, POOL, want_operand(1, false, 0));
    hold(&f, 0, 200, POOL, 1);
    release(&f, 0, 500, POOL, 1);
    hold(&f, 0, 600, POOL, 1);
    end_task(&f, 0, 700);
    open_until(&f, 2000);
    find(&f, NULL);
    assert_float_equal(f.uses[0].held_ns, 300 + 1400, 1e-6);
    end(&f);
}

// One method takes for all, and each gives back itself: two give back at one line (as a `finally` compiled twice), in
// all for 500 + 100, another has it for 300.
static void test_where_it_was_given_back(void **state) {
    (void)state;
    struct fixture f = begin(2);
    const uint32_t outer = tb_site(f.tb, "Bank", "outer", 8), again = tb_site(f.tb, "Bank", "outer", 8);
    const uint32_t second = tb_site(f.tb, "Bank", "second", 12);
    tb_resource(f.tb, POOL, RESOURCE_POOL, 2, 0);
    hold(&f, 0, 200, POOL, 1);
    hold(&f, 0, 300, POOL, 1);
    tb_event(f.tb, FIRST, 600, EVENT_RELEASED, POOL, want_operand(1, false, second));
    tb_event(f.tb, FIRST, 700, EVENT_RELEASED, POOL, want_operand(1, false, outer));
    end_task(&f, 0, 750);
    hold(&f, 1, 400, POOL, 1);
    tb_event(f.tb, FIRST + 1, 500, EVENT_RELEASED, POOL, want_operand(1, false, again));
    end_task(&f, 1, 600);
    open_until(&f, 2000);
    find(&f, NULL);
    const struct resource_use *use = &f.uses[0];
    assert_int_equal(use->held_at_count, 1);
    assert_int_equal(use->held_at[0].total_ns, 900);
    assert_int_equal(use->returned_at_count, 2);
    assert_string_equal(use->returned_at[0].site.method, "outer");
    assert_int_equal(use->returned_at[0].times, 2);
    assert_int_equal(use->returned_at[0].total_ns, 600);
    assert_string_equal(use->returned_at[1].site.method, "second");
    assert_int_equal(use->returned_at[1].total_ns, 300);
    end(&f);
}

static void test_time_that_was_up(void **state) {
    (void)state;
    struct fixture f = begin(2);
    tb_resource(f.tb, POOL, RESOURCE_POOL, 1, 0);
    tb_resource_is(f.tb, POOL, "HikariPool-1", 0);
    hold(&f, 0, 200, POOL, 1);
    release(&f, 0, 900, POOL, 1);
    end_task(&f, 0, 950);
    tb_event(f.tb, FIRST + 1, 299, EVENT_LIMIT, 400);
    ask(&f, 1, 300, POOL, 1);
    tb_event(f.tb, FIRST + 1, 705, EVENT_GIVEN_UP, POOL, 10, GIVEN_UP_TIME);
    ask(&f, 1, 710, POOL, 1); // and waits until 2,000, when recording ends
    open_until(&f, 2000);
    find(&f, NULL);
    assert_string_equal(f.uses[0].name, "HikariPool-1");
    assert_int_equal(f.uses[0].waits, 2);
    assert_int_equal(f.uses[0].timed_out, 1);
    assert_int_equal(f.uses[0].wait_ns, 405 + 1290);
    end(&f);
}

// Of four workers one is at a time in the lock, for 400 of each task's 500 beside its waits: it limits, not the pool.
static void test_what_limits(void **state) {
    (void)state;
    struct fixture f = begin(4);
    tb_resource(f.tb, LOCK, RESOURCE_MONITOR, 1, 0);
    tb_resource_is(f.tb, LOCK, "Cache", 0);
    hold(&f, 0, 150, LOCK, 1);
    release(&f, 0, 550, LOCK, 1);
    end_task(&f, 0, 600);
    for (uint32_t w = 1; w < 4; w++) {
        ask(&f, w, 150, LOCK, 1);
        get(&f, w, 151 + 400 * w, LOCK);
        release(&f, w, 550 + 400 * w, LOCK, 1);
        end_task(&f, w, 600 + 400 * w);
    }
    open_until(&f, 2000);
    struct metrics m;
    struct metrics_work work = {0};
    assert_true(metrics_of_run(f.on.dag, true, NULL, NULL, &work, &m, &f.on.error));
    char name[100];
    assert_string_equal(requests_bottleneck(&m.requests, name, sizeof name), "monitor of Cache");
    assert_float_equal(m.requests.sustainable_per_s, 4 * 1e9 / (400 + 3 * 399), 1);
    metrics_work_destroy(&work);
    end(&f);
}

// The same lock, for which one of them waits for 6, and the others come when it is free: it limits nothing.
static void test_what_hardly_anybody_waits_for(void **state) {
    (void)state;
    struct fixture f = begin(4);
    tb_resource(f.tb, LOCK, RESOURCE_MONITOR, 1, 0);
    tb_resource_is(f.tb, LOCK, "Cache", 0);
    ask(&f, 1, 545, LOCK, 1);
    get(&f, 1, 551, LOCK);
    for (uint32_t w = 0; w < 4; w++) {
        if (w != 1) hold(&f, w, 150 + 401 * w, LOCK, 1);
        release(&f, w, 550 + 401 * w, LOCK, 1);
        end_task(&f, w, 600 + 401 * w);
    }
    open_until(&f, 2000);
    struct metrics m;
    struct metrics_work work = {0};
    assert_true(metrics_of_run(f.on.dag, true, NULL, NULL, &work, &m, &f.on.error));
    char name[100];
    const char *bottleneck = requests_bottleneck(&m.requests, name, sizeof name);
    if (bottleneck) assert_string_not_equal(bottleneck, "monitor of Cache");
    metrics_work_destroy(&work);
    end(&f);
}

// The simulated run is told by its own vertices.
static void test_a_simulated_run(void **state) {
    (void)state;
    struct fixture f = begin(2);
    add_lock(&f);
    open_until(&f, 2000);
    f.on.edit.unlocked[0] = true;
    const struct model model = {.kind = MODEL_POOL};
    assert_int_equal(simulation_run(f.on.simulation, &f.on.edit, &model), DAG_OK);
    const struct dag *run = simulation_dag(f.on.simulation);
    struct error error = ERROR_INIT;
    assert_true(metrics_resources(run, run->vertices.time_ns, NULL, &f.arena, &f.uses, &f.count, &error));
    assert_int_equal(f.uses[0].waits, 0);
    assert_int_equal(f.uses[0].wait_ns, 0);
    end(&f);
}

static void check_name(uint32_t kind, const char *name, const char *class_name, bool at_place, const char *expected) {
    struct fixture f = begin(1);
    char text[200];
    tb_resource(f.tb, LOCK, kind, 1, 0);
    tb_resource_is(f.tb, LOCK, name, class_name ? tb_class(f.tb, class_name) : 0);
    hold(&f, 0, 200, LOCK, 1);
    release(&f, 0, 600, LOCK, 1);
    open_until(&f, 2000);
    assert_string_equal(dag_resource_text(f.on.dag, 0, at_place ? f.takes : 0, text, sizeof text), expected);
    assert_int_equal(dag_resource_site(f.on.dag, 0), f.takes);
    end(&f);
}

static void test_names(void **state) {
    (void)state;
    const char *lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    check_name(RESOURCE_MONITOR, "Cache", NULL, true, "monitor of Cache");
    check_name(RESOURCE_MONITOR, NULL, "Cache", true, "monitor of Cache");
    check_name(RESOURCE_MONITOR, NULL, "java.lang.Object", true, "monitor taken at Bank.take:3");
    check_name(RESOURCE_MONITOR, NULL, "Cache$$Lambda$7.0x00007f4c0c000c50", true, "monitor taken at Bank.take:3");
    check_name(RESOURCE_LOCK, "Bank.lock", lock, true, "lock Bank.lock");
    check_name(RESOURCE_LOCK, NULL, lock, true, "lock taken at Bank.take:3");
    check_name(RESOURCE_LOCK, NULL, lock, false, "a ReentrantLock");
    check_name(RESOURCE_LOCK, NULL, "[I", false, "initialisation of a class");
    check_name(RESOURCE_LOCK, NULL, NULL, false, "a lock");
    check_name(RESOURCE_POOL, "HikariPool-1", NULL, true, "HikariPool-1");
    check_name(RESOURCE_PERMITS, "Limits.slots", NULL, true, "semaphore Limits.slots");
}

static uint32_t index_of(const struct dag *dag, uint64_t task) {
    uint32_t t = 0;
    while (dag->tasks[t].id != task) t++;
    return t;
}

static uint32_t ask_of(const struct dag *dag, uint64_t task) {
    uint32_t v = dag->tasks[index_of(dag, task)].start;
    while (dag->vertices.kind[v] != VERTEX_ACQUIRE) v++;
    return dag->vertices.task[v];
}

// Each of two tasks holds a lock, and waits for the other's.
static void test_words_of_a_deadlock(void **state) {
    (void)state;
    struct fixture f = begin(2);
    char text[1000];
    tb_resource(f.tb, LOCK, RESOURCE_LOCK, 1, 0);
    tb_resource_is(f.tb, LOCK, "Bank.a", 0);
    tb_resource(f.tb, LOCK + 50, RESOURCE_LOCK, 1, 0);
    tb_resource_is(f.tb, LOCK + 50, "Bank.b", 0);
    for (uint32_t w = 0; w < 2; w++) {
        hold(&f, w, 200, LOCK + 50 * w, 1);
        ask(&f, w, 300, LOCK + 50 - 50 * w, 1);
        get(&f, w, 400 + w, LOCK + 50 - 50 * w);
        release(&f, w, 500 + w, LOCK + 50 - 50 * w, 1);
        release(&f, w, 600 + w, LOCK + 50 * w, 1);
        end_task(&f, w, 700);
    }
    open_until(&f, 2000);
    const struct dag *dag = f.on.dag;
    struct stuck ring = {.length = 2};
    for (uint32_t w = 0; w < 2; w++) {
        ring.tasks[w] = index_of(dag, 1 + w);
        ring.asks[w] = ask_of(dag, 1 + w);
    }
    assert_string_equal(
        stuck_text(dag, &ring, text, sizeof text),
        "Main.run:12 holds lock Bank.a (taken at Bank.take:3) and waits for lock Bank.b at Bank.ask:5\n"
        "    Main.run:12 holds lock Bank.b (taken at Bank.take:3) and waits for lock Bank.a at Bank.ask:5");
    struct stuck chain = {.tasks = {index_of(dag, M), ring.tasks[0]}, .length = 2, .pool = 1};
    chain.asks[0] = chain.asks[1] = DAG_NONE;
    assert_string_equal(stuck_text(dag, &chain, text, sizeof text),
                        "main waits for Main.run:12\n    no worker of pool-1 is left to run Main.run:12");
    assert_true(strlen(stuck_text(dag, &ring, text, 20)) < 20);
    end(&f);
}

// Without a spawn a task is called by its class, its thread or its pool.
static void test_words_of_tasks(void **state) {
    (void)state;
    struct fixture f = begin(1);
    char text[100];
    tb_thread(f.tb, 9, "cleaner", 0);
    tb_event(f.tb, 9, 40, EVENT_THREAD_START, 77, 1);
    tb_event(f.tb, MAIN, 50, EVENT_TASK_CREATED, 78, tb_class(f.tb, "com.acme.Sweep"));
    tb_event(f.tb, 9, 60, EVENT_TASK_START, 78, 1);
    tb_event(f.tb, 9, 70, EVENT_TASK_END, 78, 1);
    tb_event(f.tb, 9, 80, EVENT_THREAD_END, 77, 2);
    open_until(&f, 2000);
    assert_string_equal(dag_task_text(f.on.dag, index_of(f.on.dag, M), text, sizeof text), "main");
    assert_string_equal(dag_task_text(f.on.dag, index_of(f.on.dag, 1), text, sizeof text), "Main.run:12");
    assert_string_equal(dag_task_text(f.on.dag, index_of(f.on.dag, 77), text, sizeof text), "thread cleaner");
    assert_string_equal(dag_task_text(f.on.dag, index_of(f.on.dag, 78), text, sizeof text), "a task of com.acme.Sweep");
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lock),
        cmocka_unit_test(test_a_window),
        cmocka_unit_test(test_permits),
        cmocka_unit_test(test_permits_made_before),
        cmocka_unit_test(test_where_it_was_given_back),
        cmocka_unit_test(test_time_that_was_up),
        cmocka_unit_test(test_what_limits),
        cmocka_unit_test(test_what_hardly_anybody_waits_for),
        cmocka_unit_test(test_a_simulated_run),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_words_of_a_deadlock),
        cmocka_unit_test(test_words_of_tasks),
        cmocka_unit_test(test_filling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
