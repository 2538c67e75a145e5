// SPDX-License-Identifier: GPL-3.0-or-later
// What is warned of, and what isn't, on runs small enough to see why.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/candidates.h"
#include "optimize/warn_estimate.h"
#include "optimize/warn_pools.h"
#include "optimize/warn_resources.h"
#include "trace_builder.h"

#include <stdio.h>
#include <string.h>

enum { MAIN = 100 };

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct warnings warnings;
    struct error error;
    uint32_t outer, inner, pool; // sites; a pool of two workers
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new(), .error = ERROR_INIT};
    f->warnings.arena = &f->arena;
    f->outer = tb_site(f->tb, "Main", "main", 10);
    f->inner = tb_site(f->tb, "Main", "work", 20);
    f->pool = tb_pool(f->tb, "pool-1", 2);
    tb_thread(f->tb, 1, "main", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, MAIN);
}

static void add_worker(struct fixture *f, uint32_t thread) {
    tb_thread(f->tb, thread, "worker", 0);
    tb_event(f->tb, thread, 1, EVENT_THREAD_START, 1000 + thread);
    tb_event(f->tb, thread, 2, EVENT_WORKER_BEGIN, f->pool);
}

static void spawn(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task, uint32_t site) {
    tb_event(f->tb, thread, time, EVENT_SPAWN_BEGIN, task, site, f->pool);
    tb_event(f->tb, thread, time + 1, EVENT_SPAWN_END, task);
}

static void wait_for(struct fixture *f, uint32_t thread, uint64_t from, uint64_t to, uint64_t task) {
    tb_event(f->tb, thread, from, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, f->outer));
    tb_event(f->tb, thread, to, EVENT_WAIT_END, task);
}

static void end_with(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task, enum task_outcome outcome) {
    tb_event(f->tb, thread, time - 1, EVENT_RESULT, task);
    tb_event(f->tb, thread, time, EVENT_TASK_END, task, 0, outcome);
}

static void end(struct fixture *f, uint32_t thread, uint64_t time, uint64_t task) {
    end_with(f, thread, time, task, TASK_RETURNED);
}

static void open_run(struct fixture *f, uint64_t main_ends) {
    tb_event(f->tb, 1, main_ends, EVENT_THREAD_END, MAIN);
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &f->error);
    assert_non_null(f->dag);
}

static void close_run(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
    arena_destroy(&f->arena);
}

static void expect(struct fixture *f, const char *text) {
    assert_int_equal(f->warnings.count, text != NULL);
    if (text) assert_string_equal(f->warnings.texts[0], text);
    f->warnings = (struct warnings){.arena = &f->arena};
}

// A task of Main.main:10 that hands over one of Main.work:20, and awaits it.
static void nest(struct fixture *f, uint64_t outer, uint32_t runs_on, uint32_t inner_on, uint64_t at) {
    spawn(f, 1, at, outer, f->outer);
    tb_event(f->tb, runs_on, at + 2, EVENT_TASK_START, outer);
    spawn(f, runs_on, at + 4, outer + 1, f->inner);
    tb_event(f->tb, inner_on, at + 6, EVENT_TASK_START, outer + 1);
    wait_for(f, runs_on, at + 8, at + 20, outer + 1);
    end(f, inner_on, at + 19, outer + 1);
    end(f, runs_on, at + 25, outer);
}

static void test_tasks_wait_for_their_own_pool(void **state) {
    struct fixture f;
    begin(&f);
    add_worker(&f, 2);
    add_worker(&f, 3);
    nest(&f, 1, 2, 3, 10);
    nest(&f, 3, 3, 2, 110);
    open_run(&f, 500);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error)); // not said twice
    expect(&f, "tasks of pool-1 wait for tasks that only the same pool can run (Main.main:10 for Main.work:20): at "
               "most 1 of its 2 workers waited so at once; when all do, none is left to run them");
    close_run(&f);
}

// main's two tasks have both workers, and wait for what lies in the pool's queue; so it was when recording ended.
static void hang(struct fixture *f, uint64_t samples_until) {
    begin(f);
    tb_thread(f->tb, 0, "JVM", THREAD_SYSTEM);
    for (uint64_t at = 0; at <= samples_until; at += 100000000) tb_event(f->tb, 0, at, EVENT_SAMPLE, 0, 0, 0);
    for (uint32_t worker = 2; worker <= 3; worker++) {
        add_worker(f, worker);
        spawn(f, 1, 10 * worker, worker, f->outer);
        tb_event(f->tb, worker, 100, EVENT_TASK_START, worker);
        spawn(f, worker, 110, 10 + worker, f->inner);
        tb_event(f->tb, worker, 120, EVENT_WAIT_BEGIN, 10 + worker, 0, tb_wait(WAIT_FOR_TASK, f->outer));
    }
    open_run(f, 130);
}

static void test_a_starved_pool(void **state) {
    struct fixture f;
    hang(&f, 0);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    expect(&f, "all 2 workers of pool-1 wait for tasks that only the same pool can run (Main.main:10 for "
               "Main.work:20): 2 in its "
               "queue; nothing can go on");
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f, NULL);
    close_run(&f);
}

// A worker of one pool in a task of Main.main:10 that it has waited in, from `at`, for one of Main.work:20 of another
// pool; until `to`, or (0) for ever.
static void wait_across(struct fixture *f, uint32_t worker, uint32_t of, uint64_t at, uint64_t to) {
    const uint64_t task = worker, awaited = 10 + worker;
    tb_event(f->tb, worker, 50, EVENT_TASK_START, task);
    tb_event(f->tb, worker, at, EVENT_SPAWN_BEGIN, awaited, f->inner, of);
    tb_event(f->tb, worker, at + 1, EVENT_SPAWN_END, awaited);
    tb_event(f->tb, worker, at + 2, EVENT_WAIT_BEGIN, awaited, 0, tb_wait(WAIT_FOR_TASK, f->outer));
    if (to) tb_event(f->tb, worker, to, EVENT_WAIT_END, awaited);
    if (to) tb_event(f->tb, worker, to + 1, EVENT_TASK_END, task);
}

// Workers 2 and 3 are of the first pool, 4 of the second, each with a task that main gave it.
static uint32_t begin_two_pools(struct fixture *f) {
    begin(f);
    const uint32_t first = f->pool, second = tb_pool(f->tb, "pool-2", 1);
    for (uint32_t worker = 2; worker <= 4; worker++) {
        f->pool = worker == 4 ? second : first;
        spawn(f, 1, 10 * worker - 19, worker, f->outer);
        add_worker(f, worker);
    }
    f->pool = first;
    return second;
}

static void test_pools_that_starve_each_other(void **state) {
    struct fixture f;
    const uint32_t second = begin_two_pools(&f);
    wait_across(&f, 2, second, 100, 0);
    wait_across(&f, 3, second, 110, 0);
    wait_across(&f, 4, f.pool, 105, 0);
    open_run(&f, 130);
    assert_true(warn_of_halted_pools(&f.warnings, f.dag, &f.error));
    expect(&f, "all 2 workers of pool-1 wait for tasks that only pool-2 can run (Main.main:10 for Main.work:20), and "
               "all 1 of pool-2 for tasks that only pool-1 can run (Main.main:10 for Main.work:20): 3 in their queues; "
               "nothing can go on");
    close_run(&f);
}

// One of the first pool's two workers never waits.
static void test_pools_that_may_starve_each_other(void **state) {
    struct fixture f;
    const uint32_t second = begin_two_pools(&f);
    wait_across(&f, 2, second, 100, 0);
    tb_event(f.tb, 3, 50, EVENT_TASK_START, 3);
    wait_across(&f, 4, f.pool, 105, 200);
    open_run(&f, 230);
    assert_true(warn_of_halted_pools(&f.warnings, f.dag, &f.error));
    expect(&f, NULL);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    expect(&f, "tasks of pool-1 wait for tasks that only pool-2 can run (Main.main:10 for Main.work:20), and those of "
               "pool-2 for tasks that only pool-1 can run (Main.main:10 for Main.work:20): at most 1 of 2 workers of "
               "pool-1 and 1 of 1 of pool-2 waited so at once; when all do, none is left to run them");
    close_run(&f);
}

// The second pool's tasks wait for nothing: they get done.
static void test_a_pool_that_waits_for_another(void **state) {
    struct fixture f;
    const uint32_t second = begin_two_pools(&f);
    wait_across(&f, 2, second, 100, 0);
    wait_across(&f, 3, second, 110, 0);
    tb_event(f.tb, 4, 50, EVENT_TASK_START, 4);
    open_run(&f, 130);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    expect(&f, NULL);
    close_run(&f);
}

static void test_a_program_that_stands_still(void **state) {
    struct fixture f;
    hang(&f, 5000000000);
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f,
           "nothing that the program did was recorded in the last 5.0 s of 5.0 s, though 2 threads were in tasks, 2 "
           "of them asleep: threads count as what they were then");
    close_run(&f);
}

static void test_pools_of_one_name_are_told_apart_as_in_plans(void **state) {
    struct fixture f;
    begin(&f);
    tb_pool(f.tb, "pool-1", 3);
    add_worker(&f, 2);
    add_worker(&f, 3);
    nest(&f, 1, 2, 3, 10);
    open_run(&f, 500);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    expect(&f, "tasks of pool-1@1 wait for tasks that only the same pool can run (Main.main:10 for Main.work:20): at "
               "most 1 of its 2 workers waited so at once; when all do, none is left to run them");
    close_run(&f);
}

static void test_main_may_wait_for_a_pool(void **state) {
    struct fixture f;
    begin(&f);
    add_worker(&f, 2);
    spawn(&f, 1, 10, 1, f.outer);
    wait_for(&f, 1, 12, 40, 1);
    tb_event(f.tb, 2, 12, EVENT_TASK_START, 1);
    end(&f, 2, 39, 1);
    open_run(&f, 100);
    assert_true(warn_of_pools(&f.warnings, f.dag, &f.error));
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f, NULL);
    close_run(&f);
}

static void warn_of_site(struct fixture *f, uint32_t line) {
    struct improvement *improvements;
    size_t count;
    assert_true(candidates_find(f->dag, KINDS_ALL, &f->arena, &improvements, &count, &f->error));
    for (size_t i = 0; i < count; i++) {
        bool is_wanted = improvements[i].kind == KIND_INLINE && improvements[i].context == DAG_NONE &&
                         f->dag->sites[improvements[i].site].site.line == line;
        if (is_wanted) assert_true(warn_of_change(&f->warnings, &improvements[i], &f->error));
    }
}

static void test_tasks_that_recording_ended_before(void **state) {
    struct fixture f;
    begin(&f);
    add_worker(&f, 2);
    for (uint64_t task = 1; task <= 3; task++) spawn(&f, 1, 10 * task, task, f.outer);
    tb_event(f.tb, 2, 40, EVENT_TASK_START, 1);
    end(&f, 2, 50, 1);
    tb_event(f.tb, 2, 52, EVENT_TASK_START, 2);
    open_run(&f, 60);
    warn_of_site(&f, 10);
    expect(&f, "2 of 3 tasks are left as they are: 2 had not ended when recording did");
    close_run(&f);
}

// One task between 12 and 60, with more in it.
static void begin_one(struct fixture *f) {
    begin(f);
    add_worker(f, 2);
    spawn(f, 1, 10, 1, f->outer);
    tb_event(f->tb, 2, 12, EVENT_TASK_START, 1);
}

static void test_locks(void **state) {
    struct fixture f;
    begin_one(&f);
    uint32_t lock_class = tb_class(f.tb, "com.acme.Cache");
    tb_event(f.tb, 2, 20, EVENT_BLOCK_BEGIN, 77, 0, lock_class);
    tb_event(f.tb, 2, 30, EVENT_BLOCK_END, 77);
    end(&f, 2, 60, 1);
    open_run(&f, 100);
    f.warnings.about = "change";
    warn_of_site(&f, 10);
    expect(&f, "change: 1 task waited for monitor of com.acme.Cache: on other threads, or in another order, they share "
               "it differently");
    close_run(&f);
}

// Two workers each hold one of two connections, and wait for another: until 900, when the time of one of them is up.
static void starve(struct fixture *f, bool gives_up) {
    begin(f);
    uint32_t takes = tb_site(f->tb, "Dao", "outer", 11), asks = tb_site(f->tb, "Dao", "second", 12);
    tb_resource(f->tb, 77, RESOURCE_POOL, 2, 0);
    tb_resource_is(f->tb, 77, "HikariPool-1", 0);
    for (uint32_t worker = 2; worker <= 3; worker++) {
        add_worker(f, worker);
        spawn(f, 1, 10 * worker, worker, f->outer);
        tb_event(f->tb, worker, 100, EVENT_TASK_START, worker);
        tb_event(f->tb, worker, 110, EVENT_HELD, 77, want_operand(1, false, takes));
        if (gives_up) tb_event(f->tb, worker, 199, EVENT_LIMIT, 400000000);
        tb_event(f->tb, worker, 200, EVENT_ACQUIRE_BEGIN, 77, 0, want_operand(1, false, asks));
        if (!gives_up) continue;
        tb_event(f->tb, worker, 400000200 + worker, EVENT_GIVEN_UP, 77, 0, GIVEN_UP_TIME);
        tb_event(f->tb, worker, 400000300, EVENT_RELEASED, 77, want_operand(1, false, takes));
        end(f, worker, 400000400, worker);
    }
    open_run(f, 400000500);
    assert_true(warn_of_resources(&f->warnings, f->dag, &f->error));
}

static void test_a_starved_resource(void **state) {
    struct fixture f;
    starve(&f, true);
    expect(&f, "all 2 workers of pool-1 wait for HikariPool-1 at Dao.second:12 (2, all held by them, taken at "
               "Dao.outer:11) until their time is up: 2 waits gave up after 400 ms");
    close_run(&f);
    starve(&f, false);
    expect(&f, "all 2 workers of pool-1 wait for HikariPool-1 at Dao.second:12 (2, all held by them, taken at "
               "Dao.outer:11): nothing can go on");
    close_run(&f);
}

// A thread takes leave for each task that it hands over, and the task gives it back: while the thread waits for more it
// holds none that it could give back.
static void test_a_gate_that_others_open(void **state) {
    struct fixture f;
    begin(&f);
    const uint32_t takes = tb_site(f.tb, "Mails", "send", 11), gives = tb_site(f.tb, "Mails", "sent", 12);
    tb_resource(f.tb, 77, RESOURCE_PERMITS, 1, 0);
    add_worker(&f, 2);
    tb_event(f.tb, 1, 20, EVENT_HELD, 77, want_operand(1, false, takes));
    spawn(&f, 1, 30, 1, f.outer);
    tb_event(f.tb, 2, 100, EVENT_TASK_START, 1);
    tb_event(f.tb, 1, 110, EVENT_ACQUIRE_BEGIN, 77, 0, want_operand(1, false, takes));
    tb_event(f.tb, 2, 200, EVENT_RELEASED, 77, want_operand(1, false, gives));
    end(&f, 2, 210, 1);
    tb_event(f.tb, 1, 220, EVENT_ACQUIRED, 77, 0, 0);
    spawn(&f, 1, 230, 2, f.outer);
    tb_event(f.tb, 2, 240, EVENT_TASK_START, 2);
    tb_event(f.tb, 2, 300, EVENT_RELEASED, 77, want_operand(1, false, gives));
    end(&f, 2, 310, 2);
    open_run(&f, 500);
    assert_true(warn_of_resources(&f.warnings, f.dag, &f.error));
    assert_int_equal(f.warnings.count, 0);
    close_run(&f);
}

// One gives up while another has it, which does not wait: its time was up, and that is all.
static void test_time_that_was_up(void **state) {
    struct fixture f;
    begin(&f);
    tb_resource(f.tb, 77, RESOURCE_POOL, 1, 0);
    tb_resource_is(f.tb, 77, "HikariPool-1", 0);
    for (uint32_t worker = 2; worker <= 3; worker++) {
        add_worker(&f, worker);
        spawn(&f, 1, 10 * worker, worker, f.outer);
        tb_event(f.tb, worker, 100, EVENT_TASK_START, worker);
    }
    tb_event(f.tb, 2, 110, EVENT_HELD, 77, want_operand(1, false, 0));
    tb_event(f.tb, 2, 30000000, EVENT_RELEASED, 77, want_operand(1, false, 0));
    end(&f, 2, 30000100, 2);
    tb_event(f.tb, 3, 199, EVENT_LIMIT, 20000000);
    tb_event(f.tb, 3, 200, EVENT_ACQUIRE_BEGIN, 77, 0, want_operand(1, false, 0));
    tb_event(f.tb, 3, 20000250, EVENT_GIVEN_UP, 77, 0, GIVEN_UP_TIME);
    end(&f, 3, 20000400, 3);
    open_run(&f, 40000000);
    assert_true(warn_of_resources(&f.warnings, f.dag, &f.error));
    expect(&f, "1 wait for HikariPool-1 ended because its time was up (20.0 ms)");
    close_run(&f);
}

static void test_timeouts(void **state) {
    struct fixture f;
    begin_one(&f);
    spawn(&f, 2, 14, 2, f.inner);
    wait_for(&f, 2, 16, 30000, 2); // its result comes at 1 ms
    end(&f, 2, 60000, 1);
    add_worker(&f, 3);
    tb_event(f.tb, 3, 17, EVENT_TASK_START, 2);
    end(&f, 3, 1000001, 2);
    open_run(&f, 1100000);
    warn_of_site(&f, 20);
    expect(&f, NULL);
    warn_of_site(&f, 10);
    expect(&f, "1 task gave up a wait before the result came: the timeout is kept as recorded, and may come out "
               "otherwise");
    close_run(&f);
}

static void test_cancelled(void **state) {
    struct fixture f;
    begin_one(&f);
    spawn(&f, 1, 30, 2, f.outer);
    end_with(&f, 2, 60, 1, TASK_CANCELLED);
    tb_event(f.tb, 2, 62, EVENT_TASK_START, 2);
    end(&f, 2, 70, 2);
    open_run(&f, 100);
    warn_of_site(&f, 10);
    expect(&f, "1 of 2 tasks is left as it is: 1 was cancelled");
    close_run(&f);
}

static void resize(struct fixture *f) {
    const struct improvement more = {
        .kind = KIND_RESIZE_POOL, .dag = f->dag, .site = DAG_NONE, .pool = f->pool, .threads = 4};
    assert_true(warn_of_change(&f->warnings, &more, &f->error));
}

// One of three is through; main gives up the one that runs, and the one that has not begun.
static void race(struct fixture *f, bool cancels) {
    begin_one(f);
    spawn(f, 1, 14, 2, f->outer);
    spawn(f, 1, 16, 3, f->outer);
    end(f, 2, 60, 1);
    tb_event(f->tb, 2, 62, EVENT_TASK_START, 2);
    for (uint64_t task = 2; cancels && task <= 3; task++) tb_event(f->tb, 1, 70 + task, EVENT_RESULT, task);
    tb_event(f->tb, 2, 80, EVENT_TASK_END, 2, 0, cancels ? TASK_CANCELLED : TASK_RETURNED);
    open_run(f, 100);
}

static void test_tasks_that_race(void **state) {
    struct fixture f;
    race(&f, true);
    resize(&f);
    expect(&f,
           "2 of 3 tasks of pool-1 were cancelled, 1 before they began: which of them begin depends on its size, and "
           "what those take that did not, or did not come to their end, is not known");
    close_run(&f);
    race(&f, false);
    resize(&f);
    expect(&f, NULL);
    close_run(&f);
}

static void test_state_by_thread(void **state) {
    struct fixture f;
    begin_one(&f);
    uint32_t method = tb_method(f.tb, "com.acme.TransactionScope", "open");
    tb_event(f.tb, 2, 20, EVENT_ENTER, method);
    tb_event(f.tb, 2, 30, EVENT_EXIT, method);
    end(&f, 2, 60, 1);
    open_run(&f, 100);
    warn_of_site(&f, 10);
    expect(&f, "its tasks seem to keep state by thread, known by the name com.acme.TransactionScope.open alone: on "
               "another thread it is another one's");
    close_run(&f);
}

static void test_saturated(void **state) {
    struct fixture f;
    begin_one(&f);
    end(&f, 2, 60, 1);
    tb_cores(f.tb, 2);
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, 0, 10, EVENT_SAMPLE, 0, 0, 0);
    tb_event(f.tb, 0, 110, EVENT_SAMPLE, 120, 196, 3);
    open_run(&f, 100);
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f, "the machine was saturated: 98.0 % of its cores' time was used, 60.0 % by the program; an estimate "
               "takes others to want as much again, and to share the cores with it thread by thread");
    close_run(&f);
}

static void test_losses(void **state) {
    struct fixture f;
    begin_one(&f);
    tb_event(f.tb, 2, 20, EVENT_LOST, 1234);
    end(&f, 2, 60, 1);
    open_run(&f, 100);
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f, "the trace lacks 1,234 events that the tracer lost (99 %)");
    close_run(&f);
}

// Of one task the hand-over is missing, of another the end.
static void test_losses_and_their_effect(void **state) {
    struct fixture f;
    begin(&f);
    spawn(&f, 1, 10, 1, f.outer);
    add_worker(&f, 2);
    tb_event(f.tb, 2, 20, EVENT_TASK_START, 1);
    tb_event(f.tb, 2, 39, EVENT_LOST, 4);
    tb_event(f.tb, 2, 40, EVENT_TASK_START, 2);
    end(&f, 2, 60, 2);
    open_run(&f, 100);
    assert_true(warn_of_trace(&f.warnings, f.dag, &f.error));
    expect(&f, "the trace lacks 4 events that the tracer lost (27 %): an estimate takes 1 task whose hand-over is "
               "missing to come when recorded and 1 task without a recorded start or end to stay as recorded");
    assert_null(dag_resize_refusal(f.dag, f.pool));
    close_run(&f);
}

static void test_replay(void **state) {
    struct fixture f;
    begin(&f);
    open_run(&f, 100);
    assert_true(warn_of_replay(&f.warnings, &(struct replay_error){0.004, "wall"}, &f.error));
    expect(&f, NULL);
    assert_true(warn_of_replay(&f.warnings, &(struct replay_error){0.0123, "mean of waiting threads"}, &f.error));
    expect(&f, "the model is off by 1.2 % in the mean of waiting threads when nothing is changed: smaller differences "
               "there mean nothing");
    close_run(&f);
}

// On two cores two workers, and two tasks that main spawns.
static void test_what_follows_the_cores(void **state) {
    struct fixture f;
    begin(&f);
    tb_cores(f.tb, 2);
    add_worker(&f, 2);
    spawn(&f, 1, 10, 1, f.outer);
    spawn(&f, 1, 20, 2, f.outer);
    tb_event(f.tb, 2, 22, EVENT_TASK_START, 1);
    end(&f, 2, 30, 1);
    tb_event(f.tb, 2, 32, EVENT_TASK_START, 2);
    end(&f, 2, 40, 2);
    open_run(&f, 100);
    const struct model same = {MODEL_CPU, 2, DAG_NONE, 0, {0}}, more = {MODEL_CPU, 8, DAG_NONE, 0, {0}};
    assert_true(warn_of_model(&f.warnings, f.dag, &same, &f.error));
    expect(&f, NULL);
    assert_true(warn_of_model(&f.warnings, f.dag, &more, &f.error));
    assert_int_equal(f.warnings.count, 2);
    assert_string_equal(f.warnings.texts[0], "pool-1 has 2 threads on 2 cores: where its size follows the cores, it "
                                             "does so in the program, not here");
    assert_string_equal(f.warnings.texts[1], "Main.main:10 spawns 2 tasks at a time on 2 cores: where that follows "
                                             "the cores, it does so in the program, not here");
    close_run(&f);
}

// A pool of a class that no model knows, and one worker, thread 10 + `number`, that runs so many tasks of main's.
static void add_unknown_pool(struct fixture *f, uint32_t number, uint32_t tasks) {
    char name[16];
    snprintf(name, sizeof name, "loop-%u", number);
    f->pool = tb_pool_like(
        f->tb, (struct trace_pool){.kind = "Loop", .name = name, .core = -1, .maximum = -1, .capacity = -1});
    const uint32_t worker = 10 + number;
    add_worker(f, worker);
    for (uint32_t i = 0; i < tasks; i++) {
        const uint64_t at = 1000 * number + 20 * i, task = at;
        spawn(f, 1, at, task, f->outer);
        tb_event(f->tb, worker, at + 5, EVENT_TASK_START, task);
        end(f, worker, at + 9, task);
    }
}

static void test_pools_of_unknown_rules(void **state) {
    const struct model pool = {MODEL_POOL, 0, 0, 0, {0}};
    for (uint32_t pools = 1; pools <= 3; pools += 2) {
        struct fixture f;
        begin(&f);
        for (uint32_t number = 1; number <= pools; number++) add_unknown_pool(&f, number, number);
        open_run(&f, 10000);
        assert_true(warn_of_model(&f.warnings, f.dag, &pool, &f.error));
        expect(&f, pools == 1 ? "by which rules loop-1 takes tasks up is not known: its 1 task stays with the workers "
                                "that had them"
                              : "by which rules 3 pools take tasks up is not known (loop-3 has most, 3): their 6 tasks "
                                "stay with the workers that had them");
        close_run(&f);
    }
}

// Of two requests main awaits the first.
static void test_arrivals_that_wait(void **state) {
    struct fixture f;
    begin(&f);
    add_worker(&f, 2);
    spawn(&f, 1, 10, 1, f.outer);
    wait_for(&f, 1, 14, 30, 1);
    spawn(&f, 1, 40, 2, f.outer);
    tb_event(f.tb, 2, 12, EVENT_TASK_START, 1);
    end(&f, 2, 29, 1);
    tb_event(f.tb, 2, 42, EVENT_TASK_START, 2);
    end(&f, 2, 50, 2);
    open_run(&f, 100);
    const struct model twice = {MODEL_POOL, 0, 0, 2, {0}};
    assert_true(warn_of_model(&f.warnings, f.dag, &twice, &f.error));
    expect(&f, "after 1 of 2 requests of Main.main:10 the thread that brings them waits: whether more would come while "
               "it does is not known");
    close_run(&f);
}

// A task of Main.main:10 sleeps until one of Main.work:20 wakes it: as long as the run, or for an instant of it.
static void test_tasks_that_wait_for_signals(void **state) {
    const struct model pool = {MODEL_POOL, 0, 0, 0, {0}}, dag = {MODEL_DAG, 0, 0, 0, {0}};
    for (uint64_t run = 100; run <= 10000; run *= 100) {
        struct fixture f;
        begin(&f);
        add_worker(&f, 2);
        add_worker(&f, 3);
        spawn(&f, 1, 10, 1, f.outer);
        spawn(&f, 1, 20, 2, f.inner);
        tb_event(f.tb, 2, 12, EVENT_TASK_START, 1);
        tb_event(f.tb, 2, 14, EVENT_WAIT_BEGIN, 9, 0, tb_wait(WAIT_FOR_RELEASE, f.outer));
        tb_event(f.tb, 2, 44, EVENT_WAIT_END, 9);
        end(&f, 2, 50, 1);
        tb_event(f.tb, 3, 22, EVENT_TASK_START, 2);
        tb_event(f.tb, 3, 40, EVENT_RESULT, 9);
        end(&f, 3, 60, 2);
        open_run(&f, run);
        assert_true(warn_of_model(&f.warnings, f.dag, &dag, &f.error)); // all stays as recorded
        expect(&f, NULL);
        assert_true(warn_of_model(&f.warnings, f.dag, &pool, &f.error));
        expect(&f, run == 100 ? "1 wait of tasks, 30.0 ns in all, ended by a signal of another task (most of "
                                "Main.main:10): who signals whom is kept as recorded, though with other threads it may "
                                "be otherwise"
                              : NULL);
        close_run(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_that_wait_for_signals),
        cmocka_unit_test(test_tasks_wait_for_their_own_pool),
        cmocka_unit_test(test_a_starved_pool),
        cmocka_unit_test(test_pools_that_starve_each_other),
        cmocka_unit_test(test_pools_that_may_starve_each_other),
        cmocka_unit_test(test_a_pool_that_waits_for_another),
        cmocka_unit_test(test_a_program_that_stands_still),
        cmocka_unit_test(test_pools_of_one_name_are_told_apart_as_in_plans),
        cmocka_unit_test(test_main_may_wait_for_a_pool),
        cmocka_unit_test(test_tasks_that_recording_ended_before),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_a_starved_resource),
        cmocka_unit_test(test_a_gate_that_others_open),
        cmocka_unit_test(test_time_that_was_up),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_tasks_that_race),
        cmocka_unit_test(test_state_by_thread),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_losses_and_their_effect),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_what_follows_the_cores),
        cmocka_unit_test(test_pools_of_unknown_rules),
        cmocka_unit_test(test_arrivals_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
