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

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Pools: pool, and two that are called twin. Sites: Main.main:5 spawns tasks 10 and 11 in two contexts, Main.main:6,
// Other.run:7 and Twice.call:9 one.
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
    tb_pool(f->tb, "twin", 2);
    tb_pool(f->tb, "twin", 2);
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

#define AT_FIVE(kind, params) "{\"kind\": \"" kind "\", \"site\": \"acme.Main.main:5\", \"params\": {" params "}}"
#define RESIZE(params)        "{\"kind\": \"resize-pool\", \"params\": {" params "}}"

static void test_reads_all_kinds(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    char text[256];
    assert_true(read_list(f,
                          AT_FIVE("merge", "\"factor\": 2") "," RESIZE("\"pool\": \"twin@2\", \"threads\": 7") //
                          ",{\"kind\": \"split\", \"site\": \"acme.Main.main:6\"}"
                          ",{\"kind\": \"hoist-branch\", \"site\": \"acme.Other.run\", \"params\": {}}"
                          ",{\"kind\": \"combinator\", \"site\": \"acme.Twice.call\", \"stages\": [3]}",
                          &plan));
    assert_int_equal(plan.count, 5);
    assert_int_equal(plan.improvements[0].factor, 2);
    assert_int_equal(plan.improvements[0].task_count, 2);
    assert_false(improvement_is_open(&plan.improvements[0]));
    assert_int_equal(plan.improvements[1].pool, 2);
    assert_int_equal(plan.improvements[1].threads, 7);
    assert_int_equal(plan.improvements[1].site, DAG_NONE);
    assert_true(improvement_is_open(&plan.improvements[2]));
    assert_true(improvement_is_open(&plan.improvements[3]));
    assert_int_equal(plan.improvements[4].task_count, 0);
    assert_string_equal(plan.improvements[4].refusal, "none of its tasks awaits one that it spawned");
    assert_string_equal(improvement_text(&plan.improvements[0], text, sizeof text), "merge acme.Main.main:5 by 2");
    assert_string_equal(improvement_text(&plan.improvements[1], text, sizeof text), "resize-pool twin@2 to 7 threads");
    assert_string_equal(improvement_text(&plan.improvements[2], text, sizeof text), "split acme.Main.main:6");
    for (size_t size = 1; size < 40; size++) { // cut short, never overrun
        assert_true(strlen(improvement_text(&plan.improvements[0], text, size)) < size);
    }
}

static void test_refuses_params(void **state) {
    struct fixture *f = *state;
    const char *range = "\"factor\" is not a whole number from 2 to 1000000";
    refuse(f, AT_FIVE("merge", "\"factor\": 1"), range);
    refuse(f, AT_FIVE("merge", "\"factor\": -2"), range);
    refuse(f, AT_FIVE("merge", "\"factor\": 2.5"), range);
    refuse(f, AT_FIVE("split", "\"factor\": 1e300"), range);
    refuse(f, AT_FIVE("split", "\"factor\": 1e999"), range);
    refuse(f, AT_FIVE("split", "\"factor\": 4294967298"), range);
    refuse(f, AT_FIVE("split", "\"factor\": \"2\""), range);
    refuse(f, AT_FIVE("split", "\"factor\": null"), range);
    refuse(f, AT_FIVE("split", "\"factor\": [2]"), range);
    refuse(f, AT_FIVE("split", "\"factors\": 2"), "unknown key \"factors\" in params of split");
    refuse(f, AT_FIVE("split", "\"factor\": 2, \"factor\": 3"), "\"factor\" twice");
    refuse(f, AT_FIVE("combinator", "\"first\": \"worker\""), "\"first\" is neither \"spawner\" nor \"pool\"");
    refuse(f, AT_FIVE("combinator", "\"first\": 1"), "\"first\" is neither");
    refuse(f, AT_FIVE("combinator", "\"factor\": 2"), "unknown key \"factor\" in params of combinator");
    refuse(f, "{\"kind\": \"merge\", \"site\": \"acme.Main.main:5\", \"params\": 2}", "\"params\" is not an object");
    refuse(f, "{\"kind\": \"merge\", \"site\": \"acme.Main.main:5\", \"stages\": []}", "unknown key \"stages\"");
    refuse(f, RESIZE(""), "\"pool\" is missing");
    refuse(f, RESIZE("\"pool\": 3, \"threads\": 2"), "\"pool\" is missing");
    refuse(f, RESIZE("\"pool\": \"pol\", \"threads\": 2"), "the trace has no pool pol; nearest: pool");
    refuse(f, RESIZE("\"pool\": \"twin\", \"threads\": 2"), "pool twin is ambiguous; it could be: twin@2, twin@3");
    refuse(f, RESIZE("\"pool\": \"pool\""), "\"threads\" is missing");
    refuse(f, RESIZE("\"pool\": \"pool\", \"threads\": 0"), "\"threads\" is not a whole number from 1 to 1000000");
    refuse(f, "{\"kind\": \"resize-pool\", \"site\": \"acme.Main.main:5\"}", "unknown key \"site\" in a resize-pool");
    refuse(f, AT_FIVE("hoist-branch", "\"path\": 7"), "\"path\" is not a text of 16 hex digits");
    refuse(f, AT_FIVE("hoist-branch", "\"path\": \"12345678\""), "\"path\" is not a text of 16 hex digits");
    refuse(f, AT_FIVE("hoist-branch", "\"path\": \"0123456789abcdeg\""), "\"path\" is not a text of 16 hex digits");
    refuse(f, AT_FIVE("hoist-branch", "\"path\": \"0123456789abcdef\""),
           "no task of the site took path 0123456789abcdef; its paths: ");
}

static void test_refuses_conflicts(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    refuse(f, AT_FIVE("merge", "\"factor\": 2") "," INLINE("acme.Main.main:5"),
           "inline acme.Main.main:5 conflicts with improvement 1, merge acme.Main.main:5 by 2");
    refuse(f, AT_FIVE("merge", "\"factor\": 2") "," AT_FIVE("merge", "\"factor\": 4"), "conflicts");
    refuse(f, AT_FIVE("split", "") "," AT_FIVE("hoist-branch", ""), "conflicts");
    refuse(f, AT_FIVE("combinator", "") "," AT_FIVE("combinator", ""), "conflicts"); // though there is no coordinator
    refuse(f, RESIZE("\"pool\": \"pool\", \"threads\": 2") "," RESIZE("\"pool\": \"pool\", \"threads\": 3"),
           "resize-pool pool to 3 threads conflicts with improvement 1, resize-pool pool to 2 threads");
    assert_true(read_list(f,
                          RESIZE("\"pool\": \"pool\", \"threads\": 2") "," RESIZE(
                              "\"pool\": \"twin@3\", \"threads\": 2") "," AT_FIVE("merge", "\"factor\": 2"),
                          &plan));
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
    char deep[4096] = "{\"schema\": \"rehype.plan/1\", \"improvements\": ";
    memset(deep + strlen(deep), '[', sizeof deep - strlen(deep) - 1);
    check_bad_file(f, deep, strlen(deep), "not JSON", 1043); // where cJSON stops: 1,000 levels
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

static void check_round_trip(struct fixture *f, const struct improvement *improvement) {
    struct plan written = {.improvements = (struct improvement *)improvement, .count = 1}, read;
    char before[256], after[256];
    assert_true(plan_write(f->path, NULL, &written, &f->error));
    assert_true(plan_read(f->path, f->dag, &f->arena, &read, &f->error));
    assert_int_equal(read.count, 1);
    const struct improvement *back = &read.improvements[0];
    assert_int_equal(back->kind, improvement->kind);
    assert_int_equal(back->site, improvement->site);
    assert_int_equal(back->context, improvement->context);
    assert_int_equal(back->factor, improvement->factor);
    assert_int_equal(back->path, improvement->path);
    assert_int_equal(back->pool, improvement->pool);
    assert_int_equal(back->threads, improvement->threads);
    assert_int_equal(back->task_count, improvement->task_count);
    assert_memory_equal(back->tasks, improvement->tasks, improvement->task_count * sizeof(uint32_t));
    assert_string_equal(improvement_text(back, after, sizeof after),
                        improvement_text(improvement, before, sizeof before));
    assert_true(improvement_key(back, 0) == improvement_key(improvement, 0));
    assert_null(read.trace_path);
    assert_true(plan_for_other(&written, f->dag, &f->arena, &read, &f->error));
    assert_int_equal(read.count, 1);
    assert_true(improvement_key(&read.improvements[0], 0) == improvement_key(improvement, 0));
}

// What is written is read back, in a file that only its owner may read.
static void test_round_trip(void **state) {
    struct fixture *f = *state;
    struct improvement *all;
    struct plan plan;
    size_t count;
    assert_true(candidates_find(f->dag, KIND_BIT(KIND_INLINE), &f->arena, &all, &count, &f->error));
    assert_int_equal(count, 6); // Main.main:5 with all contexts and with each, three other sites
    for (size_t i = 0; i < count; i++) check_round_trip(f, &all[i]);
    assert_true(candidates_find(f->dag, KINDS_ALL, &f->arena, &all, &count, &f->error));
    for (size_t i = 0; i < count; i++) check_round_trip(f, &all[i]);
    assert_true(read_list(f,
                          AT_FIVE("merge", "\"factor\": 2") "," RESIZE("\"pool\": \"twin@2\", \"threads\": 7") //
                          ",{\"kind\": \"split\", \"site\": \"acme.Main.main:6\"}"
                          ",{\"kind\": \"hoist-branch\", \"site\": \"acme.Other.run\", \"context\": []}"
                          ",{\"kind\": \"combinator\", \"site\": \"acme.Twice.call\"}",
                          &plan));
    for (size_t i = 0; i < plan.count; i++) check_round_trip(f, &plan.improvements[i]);
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

static void test_models(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    struct dag_edit edit;
    char message[512];
    assert_true(dag_edit_init(&edit, f->dag, &f->error));
    assert_true(read_list(f, AT_FIVE("split", "\"factor\": 2"), &plan));
    assert_false(plan_apply(&plan, MODEL_DAG, &edit, &f->error));
    assert_int_equal(f->error.status, STATUS_FAILED);
    assert_non_null(strstr(error_text(&f->error, message, sizeof message), "use --model pool or --model cpu"));
    assert_true(plan_apply(&plan, MODEL_POOL, &edit, &f->error));
    assert_int_equal(edit.parts_count, 2);
    assert_true(model_kinds(MODEL_DAG) & KIND_BIT(KIND_MERGE));
    assert_false(model_kinds(MODEL_DAG) & KIND_BIT(KIND_RESIZE_POOL));
    assert_int_equal(model_kinds(MODEL_CPU), KINDS_ALL);
    dag_edit_clear(&edit, f->dag);
    assert_true(
        read_list(f, "{\"kind\": \"merge\", \"site\": \"acme.Main.main:6\", \"params\": {\"factor\": 2}}", &plan));
    assert_false(plan_apply(&plan, MODEL_CPU, &edit, &f->error));
    assert_non_null(strstr(error_text(&f->error, message, sizeof message),
                           "merge acme.Main.main:6 by 2: no two of its tasks can be gathered"));
    dag_edit_destroy(&edit);
}

// Best is the factor that the context names; `tried` counts.
struct judgement {
    uint32_t best, tried;
    bool fails, none;
};

static bool judge(void *context, const struct plan *plan, bool wall, double *value, struct error *error) {
    struct judgement *judgement = context;
    const struct improvement *last = &plan->improvements[plan->count - 1];
    judgement->tried++;
    for (size_t i = 0; i < plan->count; i++) assert_false(improvement_is_open(&plan->improvements[i]));
    *value = judgement->none ? INFINITY : fabs((double)last->factor - judgement->best);
    return !judgement->fails || error_set(error, STATUS_FAILED, "no memory");
}

static void test_resolves(void **state) {
    struct fixture *f = *state;
    struct plan plan;
    struct judgement wants = {.best = 8};
    char message[512];
    const char *open = AT_FIVE("split", "") "," INLINE("acme.Main.main:6");
    assert_true(read_list(f, open, &plan));
    assert_true(plan_resolve(&plan, judge, &wants, &f->arena, &f->error));
    assert_int_equal(plan.improvements[0].factor, 8);
    assert_int_equal(wants.tried, 5); // without, and 2, 4, 8, 16: four times four cores
    assert_int_equal(plan.improvements[1].kind, KIND_INLINE);
    assert_true(plan_resolve(&plan, judge, &wants, &f->arena, &f->error)); // nothing is open any more
    assert_int_equal(wants.tried, 5);
    assert_true(read_list(f, open, &plan));
    wants.fails = true;
    assert_false(plan_resolve(&plan, judge, &wants, &f->arena, &f->error));
    wants = (struct judgement){.none = true};
    assert_true(read_list(f, open, &plan));
    assert_false(plan_resolve(&plan, judge, &wants, &f->arena, &f->error));
    assert_non_null(strstr(error_text(&f->error, message, sizeof message), "nothing that could be chosen for it"));
    assert_true(read_list(f, "{\"kind\": \"merge\", \"site\": \"acme.Main.main:6\"}", &plan)); // of one task
    assert_false(plan_resolve(&plan, judge, &wants, &f->arena, &f->error));
    assert_non_null(strstr(error_text(&f->error, message, sizeof message), "there is nothing to choose from"));
}

// Equal effects have equal keys, and only those.
static void test_keys(void **state) {
    struct fixture *f = *state;
    struct improvement *all;
    struct plan plan;
    size_t count;
    assert_true(candidates_find(f->dag, KIND_BIT(KIND_INLINE), &f->arena, &all, &count, &f->error));
    assert_true(improvement_key(&all[0], 0) == (improvement_key(&all[1], 0) ^ improvement_key(&all[2], 0)));
    assert_true(improvement_key(&all[0], 0) != improvement_key(&all[0], 1));
    static const char *const others[] = {
        AT_FIVE("hoist-branch", ""),
        AT_FIVE("merge", "\"factor\": 2"),
        AT_FIVE("merge", "\"factor\": 4"),
        AT_FIVE("split", "\"factor\": 2"),
        AT_FIVE("split", "\"factor\": 4"),
        RESIZE("\"pool\": \"pool\", \"threads\": 2"),
        RESIZE("\"pool\": \"pool\", \"threads\": 3"),
    };
    enum { OTHERS = sizeof others / sizeof *others };
    uint64_t keys[OTHERS];
    for (size_t i = 0; i < OTHERS; i++) {
        assert_true(read_list(f, others[i], &plan));
        keys[i] = improvement_key(&plan.improvements[0], 0);
        for (size_t j = 0; j < i; j++) assert_true(keys[i] != keys[j]);
    }
    assert_true(keys[0] == improvement_key(&all[0], 0)); // hoisting inlines
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
        cmocka_unit_test_setup_teardown(test_reads_all_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_params, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_conflicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trace_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writes_relative_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conflicts_and_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resolves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
