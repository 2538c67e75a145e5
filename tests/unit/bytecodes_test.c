// SPDX-License-Identifier: GPL-3.0-or-later
// Whose bytecodes are whose, on traces by hand.
#include "metrics/bytecodes.h"
#include "trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAIN = 1, WORKER = 2, M = 100, OUTER = 7, HELPED = 8, LATE = 9 };

struct program {
    struct trace_builder *tb;
    uint32_t pool, site, other_site;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct bytecodes found;
};

static struct program begin(void) {
    struct program p = {.tb = tb_new(), .arena = ARENA_INIT};
    p.pool = tb_pool(p.tb, "pool-1", 1);
    p.site = tb_site(p.tb, "Main", "run", 12);
    p.other_site = tb_site(p.tb, "Main", "step", 34);
    tb_thread(p.tb, MAIN, "main", 0);
    tb_thread(p.tb, WORKER, "pool-1-thread-1", 0);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 10);
    return p;
}

static void spawn(struct program *p, uint32_t thread, uint64_t time_ns, uint64_t task, uint32_t site) {
    tb_event(p->tb, thread, time_ns, EVENT_SPAWN_BEGIN, task, site, p->pool);
    tb_event(p->tb, thread, time_ns + 1, EVENT_SPAWN_END, task);
}

// An event by which, as the one before says, so many bytecodes have been executed.
static void at(struct program *p, uint32_t thread, uint64_t time_ns, uint64_t executed, unsigned kind, uint64_t task) {
    if (executed) tb_event(p->tb, thread, time_ns - 1, EVENT_BYTECODES, executed);
    tb_event(p->tb, thread, time_ns, kind, task, 10 + time_ns);
}

static void find(struct program *p, const struct window *window) {
    struct error error = ERROR_INIT;
    p->trace = tb_open(p->tb);
    p->dag = dag_build(p->trace, &error);
    if (!p->dag) fail_msg("%s", error.cause[0]);
    assert_true(bytecodes_find(p->dag, window, &p->arena, &p->found, &error));
}

static void end(struct program *p) {
    dag_free(p->dag);
    trace_close(p->trace);
    tb_free(p->tb);
    arena_destroy(&p->arena);
}

static int64_t executed_by(const struct program *p, uint64_t id) {
    uint32_t t = 0;
    while (p->dag->tasks[t].id != id) t++;
    return p->dag->bytecodes[t];
}

// The outer task waits for what it spawned, and runs it meanwhile itself.
static void make_helping(struct program *p) {
    spawn(p, MAIN, 10, OUTER, p->site);
    tb_event(p->tb, WORKER, 15, EVENT_WORKER_BEGIN, p->pool);
    at(p, WORKER, 20, 100, EVENT_TASK_START, OUTER);
    spawn(p, WORKER, 30, HELPED, p->other_site);
    tb_event(p->tb, WORKER, 39, EVENT_BYTECODES, 140);
    tb_event(p->tb, WORKER, 40, EVENT_WAIT_BEGIN, HELPED, 50, tb_wait(WAIT_FOR_TASK, p->site));
    at(p, WORKER, 50, 160, EVENT_TASK_START, HELPED);
    at(p, WORKER, 60, 1160, EVENT_TASK_END, HELPED);
    at(p, WORKER, 70, 0, EVENT_WAIT_END, HELPED); // nothing new
    at(p, WORKER, 80, 1165, EVENT_TASK_END, OUTER);
}

static void test_a_helped_task_has_its_own(void **state) {
    struct program p = begin();
    make_helping(&p);
    spawn(&p, MAIN, 90, LATE, p.other_site);
    at(&p, WORKER, 100, 1300, EVENT_TASK_START, LATE); // what came between was nobody's
    at(&p, WORKER, 110, 1500, EVENT_TASK_END, LATE);
    at(&p, MAIN, 200, 5000, EVENT_THREAD_END, M);
    find(&p, NULL);
    assert_int_equal(executed_by(&p, OUTER), 65);
    assert_int_equal(executed_by(&p, HELPED), 1000);
    assert_int_equal(executed_by(&p, LATE), 200);
    assert_int_equal(executed_by(&p, M), 5000);
    assert_true(p.found.counted);
    assert_int_equal(p.found.tasks, 4);
    assert_true(p.found.total == 6265 && p.found.executed.max == 5000 && p.found.executed.p50 == 600);
    assert_int_equal(p.found.site_count, 3); // most first
    assert_int_equal(p.found.sites[0].site, DAG_NONE);
    assert_int_equal(p.dag->sites[p.found.sites[1].site].site.line, 34);
    assert_int_equal(p.found.sites[1].tasks, 2);
    assert_true(p.found.sites[1].total == 1200 && p.found.sites[1].executed.mean == 600);
    assert_int_equal(p.dag->sites[p.found.sites[2].site].site.line, 12);
    end(&p);
}

static void test_a_window_takes_what_began_in_it(void **state) {
    struct program p = begin();
    make_helping(&p);
    at(&p, MAIN, 200, 5000, EVENT_THREAD_END, M);
    find(&p, &(struct window){.from_ns = 45, .to_ns = 70});
    assert_int_equal(p.found.tasks, 1);
    assert_true(p.found.total == 1000);
    end(&p);
}

static void test_after_a_loss_bodies_that_were_open_are_not_known(void **state) {
    struct program p = begin();
    spawn(&p, MAIN, 10, OUTER, p.site);
    spawn(&p, MAIN, 12, HELPED, p.site);
    spawn(&p, MAIN, 14, LATE, p.site);
    tb_event(p.tb, WORKER, 15, EVENT_WORKER_BEGIN, p.pool);
    at(&p, WORKER, 20, 100, EVENT_TASK_START, OUTER);
    tb_event(p.tb, WORKER, 25, EVENT_LOST, 3);
    tb_event(p.tb, WORKER, 30, EVENT_TASK_END, OUTER, 40, TASK_RETURNED);
    tb_event(p.tb, WORKER, 35, EVENT_TASK_START, HELPED, 41); // may have been told of in what was lost
    at(&p, WORKER, 45, 900, EVENT_TASK_END, HELPED);
    at(&p, WORKER, 50, 950, EVENT_TASK_START, LATE);
    at(&p, WORKER, 60, 1000, EVENT_TASK_END, LATE);
    at(&p, MAIN, 200, 0, EVENT_THREAD_END, M);
    find(&p, NULL);
    assert_int_equal(executed_by(&p, OUTER), -1);
    assert_int_equal(executed_by(&p, HELPED), -1);
    assert_int_equal(executed_by(&p, LATE), 50);
    assert_int_equal(executed_by(&p, M), 0);
    end(&p);
}

static void test_a_body_without_an_end_is_not_known(void **state) {
    struct program p = begin();
    spawn(&p, MAIN, 10, OUTER, p.site);
    tb_event(p.tb, WORKER, 15, EVENT_WORKER_BEGIN, p.pool);
    at(&p, WORKER, 20, 100, EVENT_TASK_START, OUTER);
    at(&p, WORKER, 30, 300, EVENT_WAIT_BEGIN, M);
    at(&p, MAIN, 200, 50, EVENT_THREAD_END, M);
    find(&p, NULL);
    assert_int_equal(executed_by(&p, OUTER), -1);
    assert_int_equal(p.found.tasks, 1); // main
    end(&p);
}

static void test_uncounted_is_unknown(void **state) {
    struct program p = begin();
    tb_event(p.tb, MAIN, 200, EVENT_THREAD_END, M, 50);
    find(&p, NULL);
    assert_null(p.dag->bytecodes);
    assert_false(p.found.counted);
    assert_true(isnan(p.found.executed.mean) && p.found.tasks == 0);
    end(&p);
}

// A task executes 100, of which an actor's message 60 and what that makes begin 20 in it; outside of tasks a message
// executes 50, which is no task's.
static void test_actors_execute_for_their_task(void **state) {
    (void)state;
    struct program p = begin();
    spawn(&p, MAIN, 10, OUTER, p.site);
    at(&p, WORKER, 100, 1000, EVENT_TASK_START, OUTER);
    at(&p, WORKER, 110, 1010, EVENT_MESSAGE_BEGIN, 50);
    at(&p, WORKER, 120, 1020, EVENT_INIT_BEGIN, 60);
    at(&p, WORKER, 130, 1040, EVENT_INIT_END, 60);
    at(&p, WORKER, 140, 1070, EVENT_MESSAGE_END, 50);
    at(&p, WORKER, 150, 1100, EVENT_TASK_END, OUTER);
    at(&p, WORKER, 160, 1100, EVENT_MESSAGE_BEGIN, 51);
    at(&p, WORKER, 170, 1150, EVENT_MESSAGE_END, 51);
    at(&p, MAIN, 200, 0, EVENT_THREAD_END, M);
    find(&p, NULL);
    assert_int_equal(p.found.site_count, 2); // main, too
    for (size_t i = 0; i < p.found.site_count; i++) {
        const struct bytecodes_site *of = &p.found.sites[i];
        assert_true(of->total == (of->site == DAG_NONE ? 0 : 100));
        assert_int_equal(of->tasks, 1);
    }
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_helped_task_has_its_own),
        cmocka_unit_test(test_a_window_takes_what_began_in_it),
        cmocka_unit_test(test_after_a_loss_bodies_that_were_open_are_not_known),
        cmocka_unit_test(test_a_body_without_an_end_is_not_known),
        cmocka_unit_test(test_uncounted_is_unknown),
        cmocka_unit_test(test_actors_execute_for_their_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
