// SPDX-License-Identifier: GPL-3.0-or-later
// Queues of the JDK that are stages of a pipeline, on traces by hand. All times are ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dag/build/stages.h"
#include "dag/dag.h"
#include "trace_builder.h"

enum { MAIN = 1, TAKER = 2, RUN = 200, LOOP = 250, QUEUE = 500, SECOND_QUEUE = 501, ELEMENTS = 6 };

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    uint32_t site;
};

static uint64_t one(const struct fixture *f) {
    return want_operand(1, false, f->site);
}

// Main puts ELEMENTS elements, at 1,000, 1,100 and so on; they are Runnables with ids from 300 on where `runnables` is
// their class.
static struct fixture begin_of(const char *class, const char *runnables) {
    struct fixture f = {.tb = tb_new()};
    f.site = tb_site(f.tb, "Main", "run", 12);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, TAKER, "pricer-1", 0);
    tb_resource(f.tb, QUEUE, RESOURCE_QUEUE, -1, 0);
    tb_resource_is(f.tb, QUEUE, "Main.orders", tb_class(f.tb, class));
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, 100, 1);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, RUN, f.site, 0);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_END, RUN);
    const uint32_t made = runnables ? tb_class(f.tb, runnables) : 0;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        if (made) tb_event(f.tb, MAIN, 990 + 100 * i, EVENT_TASK_CREATED, 300 + i, made);
        tb_event(f.tb, MAIN, 1000 + 100 * i, EVENT_RELEASED, QUEUE, one(&f));
    }
    tb_event(f.tb, TAKER, 200, EVENT_THREAD_START, RUN, 10);
    return f;
}

static struct fixture begin(void) {
    return begin_of("java.util.concurrent.LinkedBlockingQueue", NULL);
}

// The taker waits from 300 on for the first, and has the others without a wait, every 300.
static void take_all(struct fixture *f) {
    tb_event(f->tb, TAKER, 300, EVENT_ACQUIRE_BEGIN, QUEUE, 20, one(f));
    tb_event(f->tb, TAKER, 1010, EVENT_ACQUIRED, QUEUE, 30);
    for (uint64_t i = 1; i < ELEMENTS; i++) tb_event(f->tb, TAKER, 1010 + 300 * i, EVENT_HELD, QUEUE, one(f));
}

static void build(struct fixture *f) {
    struct error error = ERROR_INIT;
    tb_event(f->tb, MAIN, 10000, EVENT_THREAD_END, 100, 900);
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &error);
    if (!f->dag) fail_msg("%s", error.cause[0]);
}

static void end(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static void ends_at(struct fixture *f, uint64_t time_ns, uint64_t cpu) {
    tb_event(f->tb, TAKER, time_ns, EVENT_THREAD_END, RUN, cpu);
}

static uint32_t tasks_of(const struct dag *dag, uint32_t pool) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++)
        count += dag->tasks[t].pool == pool && dag->tasks[t].start != DAG_NONE;
    return count;
}

static bool has_stage(const struct fixture *f) {
    return f->dag->trace->pool_count > f->trace->pool_count;
}

static void a_queue_is_the_stage_of_the_thread_that_takes(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    assert_int_equal(f.dag->trace->pool_count, 2);
    assert_string_equal(f.dag->trace->pools[1].name, "pricer");
    assert_true(f.dag->pools[1].is_stage);
    assert_int_equal(f.dag->pools[1].discipline, DISCIPLINE_FIFO);
    assert_int_equal(f.dag->pools[1].core, 1);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    end(&f);
}

// The k-th that is taken is the k-th that was put, and what a thread does up to its next take is that task.
static void takes_get_what_was_put_in_that_order(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    const int64_t *time_ns = f.dag->vertices.time_ns;
    uint32_t seen = 0;
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        const struct dag_task *task = &f.dag->tasks[t];
        if (task->pool != 1) continue;
        const int64_t took_ns = 1010 + 300 * (int64_t)seen;
        assert_int_equal(time_ns[task->spawn_begin], 1000 + 100 * (int64_t)seen);
        assert_in_range(time_ns[task->start], took_ns, took_ns + 4);
        assert_in_range(time_ns[task->end], seen + 1 < ELEMENTS ? took_ns + 300 : 3010, 3010);
        seen++;
    }
    assert_int_equal(seen, ELEMENTS);
    end(&f);
}

// From 1,010, at 30, to 3,010, at 630: 0.3 a ns. Nothing else tells what was computed up to a take that did not wait.
static void what_is_not_measured_is_shared_out_by_time(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        const struct dag_task *task = &f.dag->tasks[t];
        if (task->pool != 1) continue;
        const int64_t length_ns = f.dag->vertices.time_ns[task->end] - f.dag->vertices.time_ns[task->start];
        int64_t compute_ns = 0;
        for (uint32_t v = task->start + 1; v <= task->end; v++) compute_ns += f.dag->vertices.compute_ns[v];
        assert_in_range(compute_ns, length_ns * 3 / 10 - 2, length_ns * 3 / 10 + 2);
    }
    end(&f);
}

// Waits with a limit that end with nothing leave the thread idle.
static void takes_that_get_nothing_are_no_tasks(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    tb_event(f.tb, TAKER, 3000, EVENT_LIMIT, 500);
    tb_event(f.tb, TAKER, 3001, EVENT_ACQUIRE_BEGIN, QUEUE, 600, one(&f));
    tb_event(f.tb, TAKER, 3501, EVENT_GIVEN_UP, QUEUE, 610, GIVEN_UP_TIME);
    tb_event(f.tb, TAKER, 3510, EVENT_LIMIT, 500);
    tb_event(f.tb, TAKER, 3511, EVENT_ACQUIRE_BEGIN, QUEUE, 620, one(&f));
    tb_event(f.tb, TAKER, 4011, EVENT_GIVEN_UP, QUEUE, 630, GIVEN_UP_TIME);
    ends_at(&f, 4100, 640);
    build(&f);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        if (f.dag->tasks[t].pool == 1) assert_in_range(f.dag->vertices.time_ns[f.dag->tasks[t].end], 0, 3002);
    }
    assert_int_equal(f.dag->await_count, 0);
    end(&f);
}

// What was taken out unseen is left out where a thread finds the queue empty; the rest still belongs together.
static void what_went_unseen_shifts_nothing_behind_a_wait(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    tb_event(f.tb, MAIN, 200000, EVENT_RELEASED, QUEUE, one(&f)); // removed, or cleared
    tb_event(f.tb, MAIN, 400000, EVENT_RELEASED, QUEUE, one(&f));
    tb_event(f.tb, TAKER, 300000, EVENT_ACQUIRE_BEGIN, QUEUE, 600, one(&f));
    tb_event(f.tb, TAKER, 400010, EVENT_ACQUIRED, QUEUE, 610);
    ends_at(&f, 400100, 640);
    tb_event(f.tb, MAIN, 500000, EVENT_THREAD_END, 100, 900);
    struct error error = ERROR_INIT;
    f.trace = tb_open(f.tb);
    assert_non_null(f.dag = dag_build(f.trace, &error));
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS + 1);
    const struct dag_task *last = &f.dag->tasks[f.dag->task_count - 1];
    assert_int_equal(f.dag->vertices.time_ns[last->spawn_begin], 400000);
    end(&f);
}

// Attached, or in a part of a recording: two more come out than were put when the queue is empty for the first time.
static void what_lay_there_before_comes_out_first(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_running(f.tb, RUN);
    for (uint64_t i = 0; i < ELEMENTS + 2; i++) tb_event(f.tb, TAKER, 2000 + 300 * i, EVENT_HELD, QUEUE, one(&f));
    tb_event(f.tb, TAKER, 5000, EVENT_ACQUIRE_BEGIN, QUEUE, 600, one(&f));
    ends_at(&f, 9000, 640);
    build(&f);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS + 2);
    assert_int_equal(f.dag->pools[1].discipline, DISCIPLINE_FIFO);
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        const struct dag_task *task = &f.dag->tasks[t];
        if (task->pool != 1) continue;
        const int64_t number = (f.dag->vertices.time_ns[task->start] - 2000) / 300;
        if (number < 2)
            assert_int_equal(task->spawn_begin, DAG_NONE);
        else
            assert_int_equal(f.dag->vertices.time_ns[task->spawn_begin], 1000 + 100 * (number - 2));
    }
    end(&f);
}

// It was at an element, which nobody saw it take.
static void a_thread_that_ran_before_may_be_at_an_element(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_running(f.tb, RUN);
    tb_event(f.tb, TAKER, 210, EVENT_SPAWN_BEGIN, 400, f.site, 0);
    tb_event(f.tb, TAKER, 220, EVENT_SPAWN_END, 400);
    tb_event(f.tb, TAKER, 230, EVENT_WAIT_BEGIN, 401, 15, wait_operand(WAIT_FOR_RELEASE, 0, f.site));
    tb_event(f.tb, TAKER, 240, EVENT_WAIT_END, 401, 16);
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    end(&f);
}

// A home-made pool: what is taken is a Runnable with an id of its own, which is the task, with its class and outcome.
static void a_runnable_that_is_taken_is_the_task(void **state) {
    (void)state;
    struct fixture f = begin_of("java.util.concurrent.ArrayBlockingQueue", "Main.lambda$run$0");
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        tb_event(f.tb, TAKER, 2000 + 300 * i, EVENT_HELD, QUEUE, one(&f));
        tb_event(f.tb, TAKER, 2010 + 300 * i, EVENT_TASK_START, 300 + i, 20 + 300 * i);
        tb_event(f.tb, TAKER, 2290 + 300 * i, EVENT_TASK_END, 300 + i, 100 + 300 * i, i ? TASK_RETURNED : TASK_THREW);
    }
    ends_at(&f, 4000, 2000);
    build(&f);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        const struct dag_task *task = &f.dag->tasks[t];
        if (task->pool != 1) continue;
        assert_in_range(task->id, 300, 300 + ELEMENTS - 1);
        assert_string_equal(f.dag->trace->classes[task->task_class].name, "Main.lambda$run$0");
        assert_int_equal(task->outcome, task->id == 300 ? TASK_THREW : TASK_RETURNED);
        assert_in_range(f.dag->vertices.time_ns[task->start], 2000 + 300 * (int64_t)(task->id - 300),
                        2004 + 300 * (int64_t)(task->id - 300));
    }
    end(&f);
}

// A pool's worker that runs a loop from 310 on, which takes all and ends at 3,000. `pool`: the pool's id.
// `handed`: it was seen to be given the loop.
static struct fixture begin_loop_of(uint32_t *pool, bool handed) {
    struct fixture f = {.tb = tb_new()};
    f.site = tb_site(f.tb, "Main", "run", 12);
    *pool = tb_pool(f.tb, "pool-1", 1);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, TAKER, "pool-1-thread-1", 0);
    tb_resource(f.tb, QUEUE, RESOURCE_QUEUE, -1, 0);
    tb_resource_is(f.tb, QUEUE, "Main.orders", tb_class(f.tb, "java.util.concurrent.LinkedBlockingQueue"));
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, 100, 1);
    if (handed) tb_event(f.tb, MAIN, 90, EVENT_SPAWN_BEGIN, LOOP, f.site, *pool);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, RUN, f.site, 0);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_END, RUN);
    if (handed) tb_event(f.tb, MAIN, 120, EVENT_SPAWN_END, LOOP);
    tb_event(f.tb, MAIN, 130, EVENT_POOL_SHUTDOWN, *pool);
    for (uint64_t i = 0; i < ELEMENTS; i++) tb_event(f.tb, MAIN, 1000 + 100 * i, EVENT_RELEASED, QUEUE, one(&f));
    tb_event(f.tb, TAKER, 200, EVENT_THREAD_START, RUN, 10);
    tb_event(f.tb, TAKER, 210, EVENT_WORKER_BEGIN, *pool);
    tb_event(f.tb, TAKER, 220, EVENT_TASK_START, LOOP, 12);
    take_all(&f);
    tb_event(f.tb, TAKER, 2990, EVENT_RESULT, LOOP);
    tb_event(f.tb, TAKER, 3000, EVENT_TASK_END, LOOP, 600);
    tb_event(f.tb, TAKER, 3010, EVENT_IDLE, *pool);
    tb_event(f.tb, TAKER, 3020, EVENT_RETIRE, *pool);
    ends_at(&f, 3030, 630);
    return f;
}

static struct fixture begin_loop(uint32_t *pool) {
    return begin_loop_of(pool, true);
}

// What takes in a loop may be given to a pool that does nothing else: that is the stage then, and what it is given last
// ends it, not its shutdown.
static void a_pool_of_loops_is_a_stage(void **state) {
    (void)state;
    uint32_t pool;
    struct fixture f = begin_loop(&pool);
    build(&f);
    assert_int_equal(f.dag->trace->pool_count, f.trace->pool_count);
    assert_true(f.dag->pools[pool].is_stage);
    assert_int_equal(f.dag->pools[pool].discipline, DISCIPLINE_FIFO);
    assert_string_equal(f.dag->trace->pools[pool].name, "pool-1");
    assert_int_equal(tasks_of(f.dag, pool), ELEMENTS);
    assert_int_equal(f.dag->task_count, ELEMENTS + 1); // main's
    assert_int_equal(f.dag->trace->events_of_kind[EVENT_POOL_SHUTDOWN], 0);
    end(&f);
}

static void loops_that_a_pool_had_before_are_a_stage(void **state) {
    (void)state;
    uint32_t pool;
    struct fixture f = begin_loop_of(&pool, false);
    tb_running(f.tb, LOOP);
    build(&f);
    assert_true(f.dag->pools[pool].is_stage);
    assert_int_equal(tasks_of(f.dag, pool), ELEMENTS);
    end(&f);
}

static void a_pool_that_has_something_else_to_do_is_none(void **state) {
    (void)state;
    uint32_t pool;
    struct fixture f = begin_loop(&pool);
    tb_event(f.tb, MAIN, 4000, EVENT_SPAWN_BEGIN, 260, f.site, pool);
    tb_event(f.tb, MAIN, 4010, EVENT_SPAWN_END, 260);
    build(&f);
    assert_false(f.dag->pools[pool].is_stage);
    end(&f);
}

static void a_loop_whose_result_is_asked_for_is_a_task(void **state) {
    (void)state;
    uint32_t pool;
    struct fixture f = begin_loop(&pool);
    tb_event(f.tb, MAIN, 4000, EVENT_TAKEN, LOOP);
    build(&f);
    assert_false(f.dag->pools[pool].is_stage);
    end(&f);
}

// ---- what is no stage ----------------------------------------------------------------------------------------------

static void what_main_takes_is_its_own(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    tb_event(f.tb, MAIN, 5000, EVENT_HELD, QUEUE, one(&f));
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

static void what_takers_put_back_goes_round(void **state) {
    (void)state;
    struct fixture f = begin();
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        tb_event(f.tb, TAKER, 2000 + 300 * i, EVENT_HELD, QUEUE, one(&f));
        tb_event(f.tb, TAKER, 2100 + 300 * i, EVENT_RELEASED, QUEUE, one(&f));
    }
    ends_at(&f, 4000, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// It has something else to do: it finds the queue empty again and again, and never waits there.
static void a_thread_that_looks_in_serves_nothing(void **state) {
    (void)state;
    struct fixture f = begin();
    for (uint64_t i = 0; i < ELEMENTS; i++) tb_event(f.tb, TAKER, 1050 + 100 * i, EVENT_HELD, QUEUE, one(&f));
    ends_at(&f, 4000, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

static void a_few_looks_in_are_no_stage(void **state) {
    (void)state;
    struct fixture f = begin();
    for (uint64_t i = 0; i < 3; i++) tb_event(f.tb, TAKER, 1050 + 100 * i, EVENT_HELD, QUEUE, one(&f));
    ends_at(&f, 4000, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// A put was not seen as the recording began, so that by the count there is always one left.
static void who_looks_in_after_an_unseen_put_serves_nothing(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_running(f.tb, RUN);
    tb_event(f.tb, TAKER, 900, EVENT_HELD, QUEUE, one(&f));
    for (uint64_t i = 0; i < ELEMENTS; i++) tb_event(f.tb, TAKER, 1050 + 100 * i, EVENT_HELD, QUEUE, one(&f));
    ends_at(&f, 4000, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// What is there from the beginning is all that there is to do.
static void a_full_queue_is_emptied_without_a_wait(void **state) {
    (void)state;
    struct fixture f = begin();
    for (uint64_t i = 0; i < ELEMENTS; i++) tb_event(f.tb, TAKER, 2000 + 100 * i, EVENT_HELD, QUEUE, one(&f));
    ends_at(&f, 4000, 630);
    build(&f);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    end(&f);
}

static void a_thread_that_takes_once_serves_nothing(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_event(f.tb, TAKER, 2000, EVENT_HELD, QUEUE, one(&f));
    ends_at(&f, 3010, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// What a thread hands over before it takes would be in no task.
static void a_thread_that_acts_first_serves_nothing(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_event(f.tb, TAKER, 210, EVENT_SPAWN_BEGIN, 400, f.site, 0); // behind its start, at 200
    tb_event(f.tb, TAKER, 220, EVENT_SPAWN_END, 400);
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

static void a_virtual_thread_serves_nothing(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_thread(f.tb, TAKER, "pricer-1", THREAD_VIRTUAL);
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// It gets nothing, and so what it waits for is not its work.
static void what_main_waits_for_in_vain_is_no_stage(void **state) {
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    tb_event(f.tb, MAIN, 5000, EVENT_ACQUIRE_BEGIN, QUEUE, 700, one(&f));
    tb_event(f.tb, MAIN, 5100, EVENT_GIVEN_UP, QUEUE, 710, GIVEN_UP_TIME);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// A thread that never gets anything is one of the stage's all the same.
static void who_gets_nothing_serves_too(void **state) {
    enum { IDLER = 3, IDLES = 201 };
    (void)state;
    struct fixture f = begin();
    take_all(&f);
    ends_at(&f, 3010, 630);
    tb_thread(f.tb, IDLER, "pricer-2", 0);
    tb_event(f.tb, IDLER, 200, EVENT_THREAD_START, IDLES, 10);
    tb_event(f.tb, IDLER, 310, EVENT_ACQUIRE_BEGIN, QUEUE, 20, one(&f));
    tb_event(f.tb, IDLER, 3100, EVENT_GIVEN_UP, QUEUE, 30, GIVEN_UP_INTERRUPTED);
    tb_event(f.tb, IDLER, 3110, EVENT_THREAD_END, IDLES, 40);
    build(&f);
    assert_int_equal(f.dag->pools[1].core, 2);
    assert_int_equal(tasks_of(f.dag, 1), ELEMENTS);
    end(&f);
}

static void a_queue_of_another_order_is_no_stage(void **state) {
    (void)state;
    struct fixture f = begin_of("java.util.concurrent.PriorityBlockingQueue", NULL);
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    assert_false(has_stage(&f));
    end(&f);
}

// A thread serves the queue from which it takes most.
static void the_other_queue_stays_what_it_was(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_resource(f.tb, SECOND_QUEUE, RESOURCE_QUEUE, -1, 0);
    tb_resource_is(f.tb, SECOND_QUEUE, "Main.rest", tb_class(f.tb, "java.util.concurrent.ArrayBlockingQueue"));
    for (uint64_t i = 0; i < 3; i++) tb_event(f.tb, MAIN, 1650 + 10 * i, EVENT_RELEASED, SECOND_QUEUE, one(&f));
    take_all(&f);
    for (uint64_t i = 0; i < 3; i++) tb_event(f.tb, TAKER, 2600 + 10 * i, EVENT_HELD, SECOND_QUEUE, one(&f));
    ends_at(&f, 3010, 630);
    build(&f);
    assert_int_equal(f.dag->trace->pool_count, 2);
    assert_int_equal(f.dag->trace->events_of_kind[EVENT_HELD], 3);
    end(&f);
}

// ---- the whole -----------------------------------------------------------------------------------------------------

// Told once, nothing is left to tell; and all else is as it was.
static void what_is_told_anew_is_told_once(void **state) {
    (void)state;
    struct fixture f = begin();
    tb_running(f.tb, 7);
    take_all(&f);
    ends_at(&f, 3010, 630);
    build(&f);
    struct error error = ERROR_INIT;
    struct trace_memory memory = {0};
    assert_null(stages_told(f.dag->trace, &memory, &error));
    assert_int_equal(error.status, STATUS_OK);
    assert_int_equal(f.dag->trace->running_count, 1);
    assert_int_equal(f.dag->trace->stream_count, f.trace->stream_count);
    assert_string_equal(f.dag->trace->path, f.trace->path);
    assert_int_equal(f.dag->trace->site_count, f.trace->site_count);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_the_stage_of_the_thread_that_takes),
        cmocka_unit_test(takes_get_what_was_put_in_that_order),
        cmocka_unit_test(what_is_not_measured_is_shared_out_by_time),
        cmocka_unit_test(takes_that_get_nothing_are_no_tasks),
        cmocka_unit_test(what_went_unseen_shifts_nothing_behind_a_wait),
        cmocka_unit_test(what_lay_there_before_comes_out_first),
        cmocka_unit_test(a_thread_that_ran_before_may_be_at_an_element),
        cmocka_unit_test(a_runnable_that_is_taken_is_the_task),
        cmocka_unit_test(a_pool_of_loops_is_a_stage),
        cmocka_unit_test(loops_that_a_pool_had_before_are_a_stage),
        cmocka_unit_test(a_pool_that_has_something_else_to_do_is_none),
        cmocka_unit_test(a_loop_whose_result_is_asked_for_is_a_task),
        cmocka_unit_test(what_main_takes_is_its_own),
        cmocka_unit_test(what_takers_put_back_goes_round),
        cmocka_unit_test(a_thread_that_looks_in_serves_nothing),
        cmocka_unit_test(a_few_looks_in_are_no_stage),
        cmocka_unit_test(who_looks_in_after_an_unseen_put_serves_nothing),
        cmocka_unit_test(a_full_queue_is_emptied_without_a_wait),
        cmocka_unit_test(a_thread_that_takes_once_serves_nothing),
        cmocka_unit_test(a_thread_that_acts_first_serves_nothing),
        cmocka_unit_test(a_virtual_thread_serves_nothing),
        cmocka_unit_test(what_main_waits_for_in_vain_is_no_stage),
        cmocka_unit_test(who_gets_nothing_serves_too),
        cmocka_unit_test(a_queue_of_another_order_is_no_stage),
        cmocka_unit_test(the_other_queue_stays_what_it_was),
        cmocka_unit_test(what_is_told_anew_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
