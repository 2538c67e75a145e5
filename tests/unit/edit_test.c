// SPDX-License-Identifier: GPL-3.0-or-later
// What edits refuse, and how merging groups tasks, on traces made by hand. Every event takes 10 ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/edit/edit.h"
#include "steps.h"

enum { MAIN = STEP_MAIN, WORKER = STEP_WORKER, OTHER = STEP_OTHER, M = STEP_M };
enum { LAST = 32 }; // ids of tasks are below

struct fixture {
    struct steps steps;
    uint32_t second_pool;
    struct dag *dag;
    struct dag_edit edit;
    uint32_t all[LAST], count; // tasks of the site
};

static struct fixture begin(void) {
    struct fixture f = {0};
    steps_begin(&f.steps);
    f.second_pool = tb_pool(f.steps.tb, "pool-2", 2);
    return f;
}

#define happen(f, thread, ...) step(&(f)->steps, (thread), __VA_ARGS__)

static void spawn_on(struct fixture *f, uint32_t thread, uint64_t task, uint32_t pool) {
    uint32_t first = f->steps.pool;
    f->steps.pool = pool;
    step_spawn(&f->steps, thread, task);
    f->steps.pool = first;
}

static void spawn(struct fixture *f, uint64_t task) {
    step_spawn(&f->steps, MAIN, task);
}

static void body(struct fixture *f, uint64_t task) {
    step_body(&f->steps, task);
}

static void await(struct fixture *f, uint32_t thread, uint64_t task) {
    step_await(&f->steps, thread, task);
}

static void build(struct fixture *f) {
    struct error error = ERROR_INIT;
    steps_build(&f->steps);
    f->dag = f->steps.dag;
    assert_true(dag_edit_init(&f->edit, f->dag, &error));
    for (uint32_t t = 0; t < f->dag->task_count; t++) {
        if (f->dag->tasks[t].site != DAG_NONE) f->all[f->count++] = t;
    }
}

static void end(struct fixture *f) {
    dag_edit_destroy(&f->edit);
    steps_end(&f->steps);
}

static uint32_t task(const struct fixture *f, uint64_t id) {
    return steps_task(&f->steps, id);
}

// The groups as ids: "1 2 3 | 4 5". Each from its first member, by id of that.
static char *groups(const struct fixture *f, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t id = 1; id < LAST; id++) {
        uint32_t first = 0;
        while (first < f->dag->task_count && f->dag->tasks[first].id != id) first++;
        if (first == f->dag->task_count || f->edit.merged_next[first] == DAG_NONE) continue;
        bool leads = true;
        for (uint32_t t = 0; t < f->dag->task_count; t++) leads &= t == first || f->edit.merged_next[t] != first;
        if (!leads) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%d", used ? " | " : "", (int)id);
        for (uint32_t t = first; f->edit.merged_next[t] != t;) {
            t = f->edit.merged_next[t];
            used += (size_t)snprintf(text + used, size - used, " %d", (int)f->dag->tasks[t].id);
        }
    }
    return text;
}

static void check_groups(struct fixture *f, uint32_t factor, uint32_t merged, const char *expected) {
    char text[256];
    dag_edit_clear(&f->edit, f->dag);
    assert_int_equal(dag_edit_merge(&f->edit, f->dag, f->all, f->count, factor), merged);
    assert_int_equal(f->edit.merged_count, merged);
    assert_string_equal(groups(f, text, sizeof text), expected);
    assert_int_equal(dag_edit_only_inlines(&f->edit), merged == 0);
}

static void test_groups_of_factor(void **state) {
    struct fixture f = begin();
    for (uint64_t id = 1; id <= 5; id++) spawn(&f, id);
    for (uint64_t id = 1; id <= 5; id++) body(&f, id);
    for (uint64_t id = 1; id <= 5; id++) await(&f, MAIN, id); // after all spawns: they end no group
    build(&f);
    check_groups(&f, 2, 4, "1 2 | 3 4");
    check_groups(&f, 3, 5, "1 2 3 | 4 5");
    check_groups(&f, 100, 5, "1 2 3 4 5");
    for (uint32_t i = 0; i < f.count; i++) assert_null(dag_merge_refusal(f.dag, f.all[i]));
    dag_edit_clear(&f.edit, f.dag);
    for (uint32_t i = 0; i < f.count; i++) assert_int_equal(f.edit.merged_next[f.all[i]], DAG_NONE);
    end(&f);
}

// A wait for a task that is left out ends no group: the others can be gathered over it.
static void test_wait_for_another_ends_no_group(void **state) {
    struct fixture f = begin();
    char text[256];
    spawn(&f, 1);
    spawn(&f, 2);
    body(&f, 1);
    body(&f, 2);
    await(&f, MAIN, 2);
    spawn(&f, 3);
    body(&f, 3);
    build(&f);
    const uint32_t others[] = {task(&f, 1), task(&f, 3)};
    assert_int_equal(dag_edit_merge(&f.edit, f.dag, others, 2, 8), 2);
    assert_string_equal(groups(&f, text, sizeof text), "1 3");
    dag_edit_clear(&f.edit, f.dag);
    assert_int_equal(dag_edit_merge(&f.edit, f.dag, f.all, f.count, 8), 2);
    assert_string_equal(groups(&f, text, sizeof text), "1 2");
    end(&f);
}

// Awaited one by one, tasks can't be gathered: the second is spawned only when the first is done.
static void test_wait_ends_group(void **state) {
    struct fixture f = begin();
    for (uint64_t id = 1; id <= 3; id++) {
        spawn(&f, id);
        body(&f, id);
        await(&f, MAIN, id);
    }
    for (uint64_t id = 4; id <= 5; id++) spawn(&f, id);
    for (uint64_t id = 4; id <= 5; id++) body(&f, id);
    happen(&f, MAIN, EVENT_TAKEN, 4); // without sleeping, but after an edit it may have to
    for (uint64_t id = 6; id <= 7; id++) spawn(&f, id);
    await(&f, MAIN, 1); // of another group
    spawn(&f, 8);
    for (uint64_t id = 6; id <= 8; id++) body(&f, id);
    build(&f);
    // 4 follows 3 only once 3 was awaited, and so is alone with 5 until 4 is taken.
    check_groups(&f, 8, 5, "4 5 | 6 7 8");
    end(&f);
}

static void test_bodies_keep_apart(void **state) {
    struct fixture f = begin();
    spawn(&f, 1);
    spawn(&f, 2);
    for (uint64_t id = 1; id <= 2; id++) { // 11 and 12 in 1's body, 21 and 22 in 2's
        happen(&f, WORKER, EVENT_TASK_START, id);
        spawn_on(&f, WORKER, 10 * id + 1, f.steps.pool);
        spawn_on(&f, WORKER, 10 * id + 2, f.steps.pool);
        happen(&f, WORKER, EVENT_TASK_END, id);
    }
    for (uint64_t id = 1; id <= 2; id++) {
        body(&f, 10 * id + 1);
        body(&f, 10 * id + 2);
    }
    build(&f);
    check_groups(&f, 8, 6, "1 2 | 11 12 | 21 22");
    end(&f);
}

static void test_threads_keep_apart(void **state) {
    struct fixture f = begin();
    happen(&f, OTHER, EVENT_THREAD_START, 0);
    happen(&f, WORKER, EVENT_THREAD_START, 0);
    for (uint64_t id = 1; id <= 2; id++) spawn_on(&f, OTHER, id, f.steps.pool);
    for (uint64_t id = 3; id <= 4; id++) spawn_on(&f, WORKER, id, f.steps.pool);
    for (uint64_t id = 1; id <= 4; id++) body(&f, id);
    build(&f);
    check_groups(&f, 8, 4, "1 2 | 3 4");
    end(&f);
}

static void test_contexts_and_pools_keep_apart(void **state) {
    struct fixture f = begin();
    uint32_t handle = tb_method(f.steps.tb, "Main", "handle");
    spawn(&f, 1);
    happen(&f, MAIN, EVENT_ENTER, handle);
    spawn(&f, 2);
    spawn(&f, 3);
    happen(&f, MAIN, EVENT_EXIT, handle);
    spawn(&f, 4);
    spawn_on(&f, MAIN, 5, f.second_pool);
    spawn_on(&f, MAIN, 6, f.second_pool);
    for (uint64_t id = 1; id <= 6; id++) body(&f, id);
    build(&f);
    check_groups(&f, 8, 6, "1 4 | 2 3 | 5 6");
    end(&f);
}

// Tasks count from their first mention, which may be their making; groups follow the spawns.
static void test_groups_follow_spawns(void **state) {
    struct fixture f = begin();
    for (uint64_t id = 4; id >= 1; id--) happen(&f, MAIN, EVENT_TASK_CREATED, id, 0);
    for (uint64_t id = 1; id <= 4; id++) spawn(&f, id);
    for (uint64_t id = 1; id <= 4; id++) body(&f, id);
    build(&f);
    check_groups(&f, 2, 4, "1 2 | 3 4");
    end(&f);
}

#define assert_refused(refusal, text)                                                                                  \
    do {                                                                                                               \
        const char *refused = (refusal);                                                                               \
        assert_non_null(refused);                                                                                      \
        assert_string_equal(refused, text);                                                                            \
    } while (0)

// 1 awaits main, which spawned it. Inlined that would be a ring of waits, which times show (dag_test); the other edits
// leave it beside its spawner.
static void test_waits_for_spawner(void **state) {
    struct fixture f = begin();
    spawn(&f, 1);
    happen(&f, WORKER, EVENT_TASK_START, 1);
    happen(&f, WORKER, EVENT_WAIT_BEGIN, M, 0, tb_wait(WAIT_FOR_TASK, f.steps.site));
    happen(&f, MAIN, EVENT_THREAD_END, M);
    happen(&f, WORKER, EVENT_WAIT_END, M);
    happen(&f, WORKER, EVENT_TASK_END, 1);
    build(&f);
    assert_null(dag_inline_refusal(f.dag, task(&f, 1)));
    assert_null(dag_merge_refusal(f.dag, task(&f, 1)));
    assert_null(dag_combinator_refusal(f.dag, task(&f, 1)));
    assert_refused(dag_split_refusal(f.dag, task(&f, 1)), "it waits");
    assert_refused(dag_inline_refusal(f.dag, task(&f, M)), "it is main");
    assert_refused(dag_merge_refusal(f.dag, task(&f, M)), "it is main");
    assert_refused(dag_split_refusal(f.dag, task(&f, M)), "it is main");
    assert_refused(dag_combinator_refusal(f.dag, task(&f, M)), "it is main");
    end(&f);
}

// 1 only computes; 2 spawns 3; 4 waits for 3; 5 waits for what is no task; 6 has no end; 7 waits for 1 and meanwhile
// helps 8, which waits for what is no task.
static void test_bodies(void **state) {
    struct fixture f = begin();
    for (uint64_t id = 1; id <= 8; id++) {
        if (id != 3) spawn(&f, id);
    }
    body(&f, 1);
    happen(&f, WORKER, EVENT_TASK_START, 2);
    spawn_on(&f, WORKER, 3, f.steps.pool);
    happen(&f, WORKER, EVENT_TASK_END, 2);
    body(&f, 3);
    happen(&f, WORKER, EVENT_TASK_START, 4);
    await(&f, WORKER, 3);
    happen(&f, WORKER, EVENT_TASK_END, 4);
    happen(&f, WORKER, EVENT_TASK_START, 5);
    happen(&f, WORKER, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, f.steps.site));
    happen(&f, WORKER, EVENT_WAIT_END, 0);
    happen(&f, WORKER, EVENT_TASK_END, 5);
    happen(&f, WORKER, EVENT_TASK_START, 7);
    happen(&f, WORKER, EVENT_TAKEN, 1);
    happen(&f, WORKER, EVENT_TASK_START, 8);
    happen(&f, WORKER, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, f.steps.site));
    happen(&f, WORKER, EVENT_WAIT_END, 0);
    happen(&f, WORKER, EVENT_TASK_END, 8);
    happen(&f, WORKER, EVENT_TASK_END, 7);
    happen(&f, WORKER, EVENT_TASK_START, 6);
    build(&f);
    assert_null(dag_split_refusal(f.dag, task(&f, 1)));
    assert_refused(dag_split_refusal(f.dag, task(&f, 2)), "it spawns tasks");
    assert_refused(dag_split_refusal(f.dag, task(&f, 4)), "it waits");
    assert_refused(dag_split_refusal(f.dag, task(&f, 5)), "it waits");
    assert_refused(dag_split_refusal(f.dag, task(&f, 6)), "its end was not recorded");
    assert_refused(dag_split_refusal(f.dag, task(&f, 7)), "it waits");
    assert_refused(dag_combinator_refusal(f.dag, task(&f, 1)), "it waits for no task");
    assert_refused(dag_combinator_refusal(f.dag, task(&f, 2)), "it waits for no task");
    assert_null(dag_combinator_refusal(f.dag, task(&f, 4)));
    assert_refused(dag_combinator_refusal(f.dag, task(&f, 5)), "it waits for what is no task");
    assert_refused(dag_combinator_refusal(f.dag, task(&f, 6)), "its end was not recorded");
    assert_null(dag_combinator_refusal(f.dag, task(&f, 7)));
    assert_refused(dag_merge_refusal(f.dag, task(&f, 6)), "its end was not recorded");
    end(&f);
}

static void test_resize(void **state) {
    struct fixture f = begin();
    spawn(&f, 1);
    body(&f, 1);
    const uint32_t loop = tb_pool_like(f.steps.tb, (struct trace_pool){.kind = "io.netty.channel.nio.NioEventLoop",
                                                                       .core = -1,
                                                                       .maximum = -1,
                                                                       .capacity = -1,
                                                                       .keep_alive_ns = -1});
    const uint32_t own = tb_pool_like(
        f.steps.tb,
        (struct trace_pool){.kind = "acme.Pool", .core = -1, .maximum = -1, .capacity = -1, .keep_alive_ns = -1});
    build(&f);
    assert_non_null(strstr(dag_resize_refusal(f.dag, loop), "event loop"));
    assert_non_null(strstr(dag_resize_refusal(f.dag, own), "does not tell its queue and size"));
    struct dag_pool pools[3] = {0}, *recorded = f.dag->pools;
    uint32_t recorded_count = f.dag->pool_count;
    f.dag->pools = pools;
    f.dag->pool_count = 3;
    pools[1] = (struct dag_pool){.discipline = DISCIPLINE_FIFO, .core = 2, .maximum = 2};
    assert_null(dag_resize_refusal(f.dag, 1));
    assert_refused(dag_resize_refusal(f.dag, 0), "it is no pool");
    assert_refused(dag_resize_refusal(f.dag, own + 1), "it is no pool");
    assert_non_null(strstr(dag_resize_refusal(f.dag, 2), "its workers had tasks that it was not seen to be given"));
    pools[2] = (struct dag_pool){.discipline = DISCIPLINE_HAND_OFF, .maximum = INT32_MAX};
    assert_null(dag_resize_refusal(f.dag, 2)); // it gets a queue
    f.dag->pools = recorded;
    f.dag->pool_count = recorded_count;
    end(&f);
}

static void test_counts_and_clear(void **state) {
    struct fixture f = begin();
    for (uint64_t id = 1; id <= 4; id++) spawn(&f, id);
    for (uint64_t id = 1; id <= 4; id++) body(&f, id);
    build(&f);
    struct dag_edit *edit = &f.edit;
    for (int twice = 0; twice < 2; twice++) {
        dag_edit_inline(edit, task(&f, 1));
        dag_edit_split(edit, task(&f, 2), 4);
        dag_edit_combine(edit, task(&f, 3), FIRST_STAGE_ON_SPAWNER);
        dag_edit_resize(edit, f.steps.pool, 8);
    }
    assert_int_equal(edit->inlined_count, 1);
    assert_int_equal(edit->parts_count, 1);
    assert_int_equal(edit->parts[task(&f, 2)], 4);
    assert_int_equal(edit->staged_count, 1);
    assert_int_equal(edit->staged[task(&f, 3)], 1);
    assert_int_equal(edit->resized_count, 1);
    assert_int_equal(edit->pool_threads[f.steps.pool], 8);
    assert_false(dag_edit_only_inlines(edit));
    dag_edit_clear(edit, f.dag);
    assert_true(dag_edit_only_inlines(edit));
    assert_int_equal(edit->inlined_count, 0);
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        assert_int_equal(edit->inlined[t] + edit->parts[t] + edit->staged[t], 0);
    }
    assert_int_equal(edit->pool_threads[f.steps.pool], 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_of_factor),
        cmocka_unit_test(test_wait_ends_group),
        cmocka_unit_test(test_wait_for_another_ends_no_group),
        cmocka_unit_test(test_bodies_keep_apart),
        cmocka_unit_test(test_threads_keep_apart),
        cmocka_unit_test(test_contexts_and_pools_keep_apart),
        cmocka_unit_test(test_groups_follow_spawns),
        cmocka_unit_test(test_waits_for_spawner),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_counts_and_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
