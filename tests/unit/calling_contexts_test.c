// SPDX-License-Identifier: GPL-3.0-or-later
// Whose calling contexts are whose, and how they look, on traces by hand.
#include "report/calling_text.h"
#include "report/look.h"
#include "trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN = 1, WORKER = 2, M = 100 };

struct fixture {
    struct trace_builder *tb;
    uint32_t site, other, class, in_left, in_right, deep;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct calling_contexts found;
};

// main calls left and right, which both spawn; `deep`: a stack of which the outer part was left out.
static void make_contexts(struct fixture *f) {
    uint32_t main_frame = tb_frame(f->tb, "p.Main", "main", 9), left = tb_frame(f->tb, "p.Main", "left", 3);
    uint32_t right = tb_frame(f->tb, "p.Main$Inner", "right", 5),
             lambda = tb_frame(f->tb, "p.A$$Lambda/0x7f", "run", 0);
    uint32_t submit = tb_frame(f->tb, "java.util.concurrent.AbstractExecutorService", "submit", 122);
    uint32_t execute = tb_frame(f->tb, "java.util.concurrent.ThreadPoolExecutor", "execute", 1300);
    uint32_t add = tb_frame(f->tb, "java.util.concurrent.ThreadPoolExecutor", "addWorker", 900);
    uint32_t root = tb_calling_context(f->tb, 0, main_frame);
    uint32_t contexts[] = {tb_calling_context(f->tb, root, left), tb_calling_context(f->tb, root, right)};
    for (size_t i = 0; i < 2; i++) {
        contexts[i] = tb_calling_context(f->tb, contexts[i], submit);
        contexts[i] = tb_calling_context(f->tb, contexts[i], execute);
        contexts[i] = tb_calling_context(f->tb, contexts[i], add);
    }
    f->in_left = contexts[0];
    f->in_right = contexts[1];
    f->deep = tb_calling_context(f->tb, 0, 0);
    for (int i = 0; i < 3; i++) {
        f->deep = tb_calling_context(f->tb, f->deep, lambda);
        f->deep = tb_calling_context(f->tb, f->deep, left);
    }
}

static void spawn(struct fixture *f, uint64_t time_ns, uint64_t task, uint32_t site) {
    tb_event(f->tb, MAIN, time_ns, EVENT_TASK_CREATED, task, f->class);
    tb_event(f->tb, MAIN, time_ns + 1, EVENT_SPAWN_BEGIN, task, site, 1);
    tb_event(f->tb, MAIN, time_ns + 2, EVENT_SPAWN_END, task);
}

// Tasks 1 to 3 of a site, 4 of another, 5 handed to another thread without a spawn.
static struct fixture begin(void) {
    struct fixture f = {.tb = tb_new(), .arena = ARENA_INIT};
    tb_pool(f.tb, "pool-1", 1);
    f.site = tb_site(f.tb, "p.Main", "left", 3);
    f.other = tb_site(f.tb, "p.Main", "other", 30);
    f.class = tb_class(f.tb, "p.Job");
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, WORKER, "worker", 0);
    make_contexts(&f);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M, 10);
    for (uint64_t task = 1; task <= 4; task++) spawn(&f, 10 * task, task, task == 4 ? f.other : f.site);
    tb_event(f.tb, MAIN, 60, EVENT_TASK_CREATED, 5, f.class);
    tb_event(f.tb, WORKER, 70, EVENT_TASK_START, 5, 10);
    tb_event(f.tb, WORKER, 80, EVENT_TASK_END, 5, 20);
    tb_event(f.tb, MAIN, 90, EVENT_THREAD_END, M, 100);
    return f;
}

static void find(struct fixture *f) {
    struct error error = ERROR_INIT;
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &error);
    if (!f->dag) fail_msg("%s", error.cause[0]);
    assert_true(calling_contexts_find(f->dag, &f->arena, &f->found, &error));
}

static void end(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
    arena_destroy(&f->arena);
}

static void test_samples_go_to_the_sites_of_their_tasks(void **state) {
    struct fixture f = begin();
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 1, f.in_left, 1);
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 2, f.in_right, 4);
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 3, f.in_left, 3);
    tb_calling_sample(f.tb, CALLING_CREATED, 3, f.in_left, 2);
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 4, f.in_right, 1);
    tb_calling_sample(f.tb, CALLING_EXECUTED, 5, f.deep, 1);
    tb_calling_sample(f.tb, CALLING_EXECUTED, 77, f.deep, 1); // of which nothing is known
    find(&f);
    assert_int_equal(f.found.site_count, 3);
    const struct calling_site *site = &f.found.sites[0];
    assert_int_equal(f.dag->sites[site->site].site.line, 3);
    assert_int_equal(site->tasks, 3);
    assert_int_equal(site->context_count, 3);
    assert_int_equal(site->contexts[0].kind, CALLING_CREATED);
    assert_int_equal(site->contexts[1].context, f.in_left);
    assert_true(site->contexts[1].samples == 2 && site->contexts[1].share == 0.5);
    assert_int_equal(site->contexts[2].context, f.in_right);
    assert_true(site->contexts[2].samples == 1 && site->contexts[2].share == 0.5);
    assert_int_equal(f.found.sites[1].tasks, 1);
    assert_int_equal(f.dag->sites[f.found.sites[1].site].site.line, 30);
    assert_int_equal(f.found.sites[2].site, DAG_NONE);
    assert_int_equal(f.found.sites[2].task_class, f.class);
    assert_int_equal(f.found.sites[2].tasks, 1);
    end(&f);
}

static void test_a_trace_without_any_has_none(void **state) {
    struct fixture f = begin();
    find(&f);
    assert_int_equal(f.found.site_count, 0);
    end(&f);
}

static void expect_text(const struct fixture *f, uint32_t context, size_t size, const char *expected) {
    char text[256];
    assert_string_equal(calling_text(f->trace, context, text, size), expected);
}

static void test_frames_of_the_jdk_are_folded(void **state) {
    struct fixture f = begin();
    find(&f);
    expect_text(&f, f.in_left, 256, "[ThreadPoolExecutor, AbstractExecutorService] < Main.left:3 < Main.main:9");
    expect_text(&f, f.in_right, 256,
                "[ThreadPoolExecutor, AbstractExecutorService] < Main$Inner.right:5 < Main.main:9");
    expect_text(&f, f.in_right, 60, "[ThreadPoolExecutor, AbstractExecutorService] ...");
    expect_text(&f, f.in_right, 40, "[ThreadPoolExecutor ...");
    end(&f);
}

static void test_recursion_and_what_was_left_out_are_dots(void **state) {
    struct fixture f = begin();
    find(&f);
    expect_text(&f, f.deep, 256, "Main.left:3 < [A$$Lambda] < ...");
    end(&f);
}

static void test_the_text_tells_what_most_tasks_come_by(void **state) {
    struct fixture f = begin();
    struct error error = ERROR_INIT;
    char *text = NULL;
    size_t size;
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 1, f.in_left, 1);
    tb_calling_sample(f.tb, CALLING_SUBMITTED, 2, f.in_right, 3);
    tb_calling_sample(f.tb, CALLING_CREATED, 5, f.deep, 1);
    find(&f);
    FILE *file = open_memstream(&text, &size);
    assert_true(calling_text_write(f.dag, &f.found, 1, file, LOOK_UTF8 | LOOK_WIDE, &error));
    fclose(file);
    assert_string_equal(text, "  spawned in p.Main.left:3, 3 tasks\n"
                              "    submitted  75.0 %  [ThreadPoolExecutor, AbstractExecutorService] < "
                              "Main$Inner.right:5 < Main.main:9\n"
                              "               25.0 %  [ThreadPoolExecutor, AbstractExecutorService] < "
                              "Main.left:3 < Main.main:9\n"
                              "  and 1 more: --json lists them\n");
    free(text);
    end(&f);
}

static void expect_heading(enum calling_kind kind, const char *expected) {
    struct fixture f = begin();
    struct error error = ERROR_INIT;
    char *text = NULL;
    size_t size;
    tb_calling_sample(f.tb, kind, 5, f.in_left, 1);
    find(&f);
    FILE *file = open_memstream(&text, &size);
    assert_true(calling_text_write(f.dag, &f.found, 1, file, LOOK_UTF8 | LOOK_WIDE, &error));
    fclose(file);
    assert_memory_equal(text, expected, strlen(expected));
    free(text);
    end(&f);
}

static void test_tasks_without_a_site_say_whether_the_jdk_handed_them_over(void **state) {
    expect_heading(CALLING_CREATED, "  not handed over: p.Job, 1 task\n");
    expect_heading(CALLING_SUBMITTED, "  handed over by the JDK alone: p.Job, 1 task\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_go_to_the_sites_of_their_tasks),
        cmocka_unit_test(test_a_trace_without_any_has_none),
        cmocka_unit_test(test_frames_of_the_jdk_are_folded),
        cmocka_unit_test(test_recursion_and_what_was_left_out_are_dots),
        cmocka_unit_test(test_the_text_tells_what_most_tasks_come_by),
        cmocka_unit_test(test_tasks_without_a_site_say_whether_the_jdk_handed_them_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
