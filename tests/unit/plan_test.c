// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "optimize/text.h"
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Sites: Main.main:5 spawns tasks 10 and 11 in two contexts, Main.main:6, Other.run:7
// and Twice.call:9 one.
struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct error error;
    char folder[32], path[64];
};

static uint64_t now_ns;

static void spawn(struct fixture *f, uint64_t task, uint32_t site, uint32_t pool) {
    tb_event(f->tb, 1, now_ns += 10, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(f->tb, 1, now_ns += 10, EVENT_SPAWN_END, task);
}

static void run_body(struct fixture *f, uint64_t task) {
    tb_event(f->tb, 2, now_ns += 10, EVENT_TASK_START, task);
    tb_event(f->tb, 2, now_ns += 10, EVENT_TASK_END, task);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->error = (struct error)ERROR_INIT;
    f->tb = tb_new();
    strcpy(f->folder, "/tmp/rehype-plan-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->path, sizeof f->path, "%s/plan.json", f->folder);
    uint32_t pool = tb_pool(f->tb, "pool", 1), handle = tb_method(f->tb, "acme.Main", "handle");
    uint32_t five = tb_site(f->tb, "acme.Main", "main", 5), six = tb_site(f->tb, "acme.Main", "main", 6);
    uint32_t seven = tb_site(f->tb, "acme.Other", "run", 7), nine = tb_site(f->tb, "acme.Twice", "call", 9);
    tb_thread(f->tb, 1, "main", 0);
    tb_thread(f->tb, 2, "worker", 0);
    now_ns = 0;
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    spawn(f, 10, five, pool);
    tb_event(f->tb, 1, now_ns += 10, EVENT_ENTER, handle);
    spawn(f, 11, five, pool);
    tb_event(f->tb, 1, now_ns += 10, EVENT_EXIT, handle);
    spawn(f, 12, six, pool);
    spawn(f, 13, seven, pool);
    spawn(f, 14, nine, pool);
    tb_event(f->tb, 2, now_ns += 10, EVENT_THREAD_START, 90);
    tb_event(f->tb, 2, now_ns += 10, EVENT_WORKER_BEGIN, pool);
    for (uint64_t task = 10; task < 15; task++) run_body(f, task);
    tb_event(f->tb, 2, now_ns += 10, EVENT_THREAD_END, 90);
    tb_event(f->tb, 1, now_ns += 10, EVENT_THREAD_END, 1);
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &f->error);
    *state = f;
    return f->dag ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    unlink(f->path);
    rmdir(f->folder);
    arena_destroy(&f->arena);
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
    free(f);
    return 0;
}

static void write_text(struct fixture *f, const char *text, size_t length) {
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static bool read_text(struct fixture *f, const char *text, struct plan *plan) {
    write_text(f, text, strlen(text));
    f->error = (struct error)ERROR_INIT;
    return plan_read(f->path, f->dag, &f->arena, plan, &f->error);
}

static bool read_list(struct fixture *f, const char *improvements, struct plan *plan) {
    char text[2048];
    snprintf(text, sizeof text, "{\"schema\": \"rehype.plan/1\", \"trace\": \"t.msgpack\", \"improvements\": [%s]}",
             improvements);
    return read_text(f, text, plan);
}

static void refuse(struct fixture *f, const char *improvements, const char *why) {
    struct plan plan;
    char message[2048];
    assert_false(read_list(f, improvements, &plan));
    assert_int_equal(f->error.status, STATUS_BAD_INPUT);
    error_text(&f->error, message, sizeof message);
    if (!strstr(message, why)) fail_msg("\"%s\" does not say \"%s\"", message, why);
}

#define INLINE(site) "{\"kind\": \"inline\", \"site\": \"" site "\"}"

static void test_reads(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    char expected[64];
    assert_true(read_list(f, INLINE("acme.Main.main:5") "," INLINE("acme.Other.run"), &plan));
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.improvements[0].task_count, 2);
    assert_int_equal(plan.improvements[0].context, DAG_NONE);
    assert_int_equal(f->dag->tasks[plan.improvements[0].tasks[0]].id, 10);
    assert_int_equal(f->dag->tasks[plan.improvements[0].tasks[1]].id, 11);
    assert_int_equal(f->dag->tasks[plan.improvements[1].tasks[0]].id, 13);
    assert_null(plan.improvements[0].refusal);
    snprintf(expected, sizeof expected, "%s/t.msgpack", f->folder);
    assert_string_equal(plan.trace_path, expected);
    assert_true(read_list(f, INLINE("acme.Twice.call:9@9"), &plan));
    assert_true(read_list(f, "", &plan));
    assert_int_equal(plan.count, 0);
}

static void test_context(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    const char *in_handle =
        "{\"kind\": \"inline\", \"site\": \"acme.Main.main:5\", \"context\": [\"acme.Main.handle\"]}";
    assert_true(read_list(f, in_handle, &plan));
    assert_int_equal(plan.improvements[0].task_count, 1);
    assert_int_equal(f->dag->tasks[plan.improvements[0].tasks[0]].id, 11);
    assert_true(read_list(f, "{\"kind\": \"inline\", \"site\": \"acme.Main.main:5\", \"context\": []}", &plan));
    assert_int_equal(f->dag->tasks[plan.improvements[0].tasks[0]].id, 10);
    refuse(f, "{\"kind\": \"inline\", \"site\": \"acme.Other.run:7\", \"context\": [\"acme.Main.handle\"]}",
           "the site has no task in that \"context\"");
    refuse(f, "{\"kind\": \"inline\", \"site\": \"acme.Other.run:7\", \"context\": [3]}", "no task in that");
    refuse(f, "{\"kind\": \"inline\", \"site\": \"acme.Other.run:7\", \"context\": 3}", "is not an array");
}

static void test_refuses_improvements(void **state) {
    struct fixture *f = *state;
    refuse(f, "{\"kind\": \"merged\", \"site\": \"acme.Other.run:7\"}", "unknown kind \"merged\"; nearest: merge");
    refuse(f, "{\"site\": \"acme.Other.run:7\"}", "\"kind\" is missing");
    refuse(f, "{\"kind\": \"inline\"}", "\"site\" is missing");
    refuse(f, "3", "not an object");
    refuse(f, "{\"kind\": \"inline\", \"site\": \"acme.Other.run:7\", \"contxt\": []}", "unknown key \"contxt\"");
    refuse(f, "{\"kind\": \"inline\", \"kind\": \"inline\", \"site\": \"acme.Other.run:7\"}", "\"kind\" twice");
    refuse(f, "{\"kind\": \"inline\", \"site\": \"acme.Other.run:7\", \"params\": {\"factor\": 2}}", "\"factor\"");
    refuse(f, INLINE("acme.Main.main"), "is ambiguous; it could be: acme.Main.main:5, acme.Main.main:6");
    refuse(f, INLINE("acme.Other.rum:7"), "nearest: acme.Other.run:7");
    refuse(f, INLINE("Main.main:6"), "nearest: acme.Main.main:6, acme.Main.main:5");
    refuse(f, INLINE("acme.Other.run:8"), "no spawn site acme.Other.run:8");
    refuse(f, INLINE(""), "no spawn site");
    refuse(f, INLINE("acme.Other.run:7") "," INLINE("acme.Other.run"),
           "improvement 2: inline acme.Other.run:7 conflicts with improvement 1, inline acme.Other.run:7");
}

static void check_bad_file(struct fixture *f, const char *text, size_t length, const char *why, uint64_t offset) {
    struct plan plan;
    char message[2048];
    write_text(f, text, length);
    f->error = (struct error)ERROR_INIT;
    assert_false(plan_read(f->path, f->dag, &f->arena, &plan, &f->error));
    assert_int_equal(f->error.status, STATUS_BAD_INPUT);
    assert_int_equal(f->error.offset, offset);
    error_text(&f->error, message, sizeof message);
    if (!strstr(message, why)) fail_msg("\"%s\" does not say \"%s\"", message, why);
}

#define BAD_FILE(f, text, why, offset) check_bad_file((f), (text), sizeof(text) - 1, (why), (offset))

static void test_refuses_files(void **state) {
    struct fixture *f = *state;
    BAD_FILE(f, "", "not JSON", 0);
    BAD_FILE(f, "{\"schema\": x}", "not JSON", 11);
    BAD_FILE(f, "{} x", "not JSON", 3);
    BAD_FILE(f, "{}\0x", "zero byte", 2);
    BAD_FILE(f, "[]", "is missing", ERROR_NO_OFFSET);
    BAD_FILE(f, "{\"schema\": \"rehype.plan/2\", \"improvements\": []}", "this version reads rehype.plan/1",
             ERROR_NO_OFFSET);
    BAD_FILE(f, "{\"schema\": \"rehype.info/1\"}", "is no plan", ERROR_NO_OFFSET);
    BAD_FILE(f, "{\"schema\": \"rehype.plan/1\"}", "not an array", ERROR_NO_OFFSET);
    BAD_FILE(f, "{\"schema\": \"rehype.plan/1\", \"trace\": 3, \"improvements\": []}", "not a file name",
             ERROR_NO_OFFSET);
    struct plan plan;
    assert_false(plan_read("/nowhere/plan.json", f->dag, &f->arena, &plan, &f->error));
    assert_int_equal(f->error.status, STATUS_FAILED);
}

static void test_trace_path(void **state) {
    struct fixture *f = *state;
    const char *path;
    const char absolute[] = "{\"schema\": \"rehype.plan/1\", \"trace\": \"/a/t\"}",
               none[] = "{\"schema\": \"rehype.plan/1\"}";
    write_text(f, absolute, strlen(absolute));
    assert_true(plan_trace_path(f->path, &f->arena, &path, &f->error));
    assert_string_equal(path, "/a/t");
    write_text(f, none, strlen(none));
    assert_true(plan_trace_path(f->path, &f->arena, &path, &f->error));
    assert_null(path);
}

// What is written is read back, in a file that only its owner may read.
static void test_round_trip(void **state) {
    struct fixture *f = *state;
    struct improvement *all;
    size_t count;
    assert_true(candidates_find(f->dag, KIND_BIT(KIND_INLINE), &f->arena, &all, &count, &f->error));
    assert_int_equal(count, 6); // Main.main:5 with all contexts and with each, three other sites
    for (size_t i = 0; i < count; i++) {
        struct plan written = {.improvements = &all[i], .count = 1}, read;
        assert_true(plan_write(f->path, NULL, &written, &f->error));
        assert_true(plan_read(f->path, f->dag, &f->arena, &read, &f->error));
        assert_int_equal(read.count, 1);
        assert_int_equal(read.improvements[0].site, all[i].site);
        assert_int_equal(read.improvements[0].context, all[i].context);
        assert_int_equal(read.improvements[0].task_count, all[i].task_count);
        assert_memory_equal(read.improvements[0].tasks, all[i].tasks, all[i].task_count * sizeof(uint32_t));
        assert_null(read.trace_path);
    }
    struct stat status;
    assert_int_equal(stat(f->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

// The trace is named relative to the plan, wherever both are seen from.
static void test_writes_relative_trace(void **state) {
    struct fixture *f = *state;
    char trace[128], below[64], plan_path[80];
    struct plan empty = {0};
    const char *found;
    snprintf(below, sizeof below, "%s/below", f->folder);
    snprintf(trace, sizeof trace, "%s/t.msgpack", f->folder);
    snprintf(plan_path, sizeof plan_path, "below/plan.json");
    assert_int_equal(mkdir(below, 0700), 0);
    char *back = getcwd(NULL, 0);
    assert_int_equal(chdir(f->folder), 0);
    fclose(fopen("t.msgpack", "w"));
    assert_true(plan_write(plan_path, "t.msgpack", &empty, &f->error));
    assert_true(plan_trace_path(plan_path, &f->arena, &found, &f->error));
    assert_string_equal(found, "below/../t.msgpack");
    assert_true(plan_write("plan.json", "t.msgpack", &empty, &f->error));
    assert_true(plan_trace_path("plan.json", &f->arena, &found, &f->error));
    assert_string_equal(found, "t.msgpack");
    assert_true(plan_write("plan.json", trace, &empty, &f->error));
    assert_true(plan_trace_path("plan.json", &f->arena, &found, &f->error));
    assert_string_equal(found, trace);
    assert_false(plan_write("nowhere/plan.json", NULL, &empty, &f->error));
    unlink(plan_path);
    unlink("t.msgpack");
    rmdir(below);
    assert_int_equal(chdir(back), 0);
    free(back);
}

static void test_conflicts_and_apply(void **state) {
    struct fixture *f = *state;
    struct improvement *all;
    size_t count;
    struct dag_edit edit;
    assert_true(candidates_find(f->dag, KIND_BIT(KIND_INLINE), &f->arena, &all, &count, &f->error));
    assert_true(improvements_conflict(&all[0], &all[1]));  // all contexts and one of them
    assert_false(improvements_conflict(&all[1], &all[2])); // two contexts
    assert_false(improvements_conflict(&all[0], &all[3]));
    assert_true(dag_edit_init(&edit, f->dag, &f->error));
    struct plan plan = {.improvements = all, .count = 1};
    assert_true(plan_apply(&plan, MODEL_DAG, &edit, &f->error));
    assert_int_equal(edit.inlined_count, 2);
    all[0].refusal = "it is main";
    assert_false(plan_apply(&plan, MODEL_DAG, &edit, &f->error));
    assert_int_equal(f->error.status, STATUS_FAILED);
    char text[256];
    assert_string_equal(improvement_text(&all[0], text, sizeof text), "inline acme.Main.main:5");
    assert_string_equal(improvement_text(&all[2], text, sizeof text), "inline acme.Main.main:5 in acme.Main.handle");
    dag_edit_destroy(&edit);
}

static void test_distance(void **state) {
    static const char *const names[] = {"a.Main.run:1", "a.Main.rum:1", "b.Other.go:2", "a.Main.run:1", "c.Main.run:1"};
    char text[200];
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("abc", "abc"), 0);
    assert_string_equal(text_nearest("Main.run:1", names, 5, text, sizeof text),
                        "a.Main.run:1, c.Main.run:1, a.Main.rum:1");
    assert_string_equal(text_nearest("x", names, 0, text, sizeof text), "none");
    assert_int_equal(strlen(text_nearest("Main.run:1", names, 5, text, 8)), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_context, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_improvements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trace_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writes_relative_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conflicts_and_apply, set_up, tear_down),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
