// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's options: what is taken, what is refused and with which words, and what the globs match.
#include "tracer/options.h"

#include "tracer/executors.h"
#include "tracer/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena = ARENA_INIT;

static int free_arena(void **state) {
    arena_destroy(&arena);
    return 0;
}

static struct options parsed(const char *text) {
    struct options options;
    struct error error = ERROR_INIT;
    if (!options_parse(text, &arena, &options, &error)) fail_msg("%s: %s", text, error.cause[0]);
    return options;
}

static void assert_refused(const char *text, const char *why) {
    struct options options;
    struct error error = ERROR_INIT;
    assert_false(options_parse(text, &arena, &options, &error));
    assert_int_equal(error.status, STATUS_USAGE);
    assert_string_equal(error.cause[0], why);
}

static void test_without_options_the_defaults_hold(void **state) {
    static const char *const nothing[] = {NULL, ""};
    for (size_t i = 0; i < 2; i++) {
        struct options options = parsed(nothing[i]);
        assert_string_equal(options.out, "trace.msgpack");
        assert_string_equal(options.text, nothing[i] ? nothing[i] : "");
        assert_int_equal(options.buffer_records, 0);
        assert_null(options.includes);
        assert_null(options.excludes);
        assert_false(options.claim || options.children);
    }
}

static void test_each_option_is_taken(void **state) {
    struct options options = parsed("out=/tmp/a.msgpack,include=com.acme.*,exclude=*::get*,buffer=1024,claim=1,"
                                    "children=1");
    assert_string_equal(options.out, "/tmp/a.msgpack");
    assert_string_equal(options.includes->class_name, "com.acme.*");
    assert_string_equal(options.includes->method, "*");
    assert_string_equal(options.excludes->class_name, "*");
    assert_string_equal(options.excludes->method, "get*");
    assert_int_equal(options.buffer_records, 1024);
    assert_true(options.claim && options.children);
    assert_false(options.bytecodes);
    assert_true(parsed("bytecodes=1").bytecodes);
    assert_false(parsed("claim=0,children=0").claim);
    assert_false(rotation_wanted(&options.rotation));
    options = parsed("rotate-size=1048576,rotate-time=5,rotate-keep=3");
    assert_int_equal(options.rotation.most_bytes, 1048576);
    assert_int_equal(options.rotation.most_ns, 5);
    assert_int_equal(options.rotation.most_files, 3);
    assert_true(rotation_wanted(&options.rotation));
}

static void test_the_last_of_two_counts_but_globs_add_up(void **state) {
    struct options options = parsed("out=a,out=b,include=A,include=B");
    assert_string_equal(options.out, "b");
    assert_true(options_trace_class(&options, "A"));
    assert_true(options_trace_class(&options, "B"));
    assert_false(options_trace_class(&options, "C"));
}

static void test_percent_stands_for_bytes_that_end_a_value(void **state) {
    assert_string_equal(parsed("out=a%2Cb%3dc%25d").out, "a,b=c%d");
    assert_string_equal(parsed("out=a%2").out, "a%2");
    assert_string_equal(parsed("out=a%zz%").out, "a%zz%");
    assert_string_equal(parsed("out=a=b").out, "a=b");
}

static void test_the_process_id_is_filled_in(void **state) {
    char expected[64];
    snprintf(expected, sizeof expected, "a.%d.msgpack", (int)getpid());
    assert_string_equal(parsed("out=a.%p.msgpack").out, expected);
    assert_string_equal(options_out_with_pid("a.msgpack", &arena), expected);
    snprintf(expected, sizeof expected, "%d-%d", (int)getpid(), (int)getpid());
    assert_string_equal(parsed("out=%p-%p").out, expected);
    assert_int_equal(strlen(parsed("out=a.%t.msgpack").out), strlen("a.20261121-190000.msgpack"));
    snprintf(expected, sizeof expected, "dir.d/trace.%d", (int)getpid());
    assert_string_equal(options_out_with_pid("dir.d/trace", &arena), expected);
}

#define KEYS                                                                                                           \
    "out, include, exclude, min-duration, without, executor, library, app, buffer, memory, clock, sample, calls, "     \
    "bytecodes, rotate-size, rotate-time, rotate-keep, claim, children"

static void test_what_is_recorded_can_be_chosen(void **state) {
    struct options options = parsed("min-duration=20000,without=locks,without=gc,memory=1048576,clock=monotonic");
    assert_int_equal(options.least_ns, 20000);
    assert_int_equal(options.memory_bytes, 1048576);
    assert_true(options.without_locks && options.without_gc && options.monotonic);
    assert_false(options.without_samples);
    assert_false(parsed("clock=counter").monotonic);
    assert_refused("min-duration=2us", "option min-duration=2us: expected a number above 0");
    assert_refused("memory=0", "option memory=0: expected a number above 0");
    assert_refused("without=tasks",
                   "option without=tasks: expected locks, gc, samples, calling-contexts, cycles or actors");
    assert_refused("clock=tsc", "option clock=tsc: expected counter or monotonic");
}

// While stacks are sampled only a method named outright is woven; other globs say what is counted afterwards.
static void test_sampling(void **state) {
    struct options options =
        parsed("sample=250,include=com.acme.*,include=com.acme.Main::step,include=com.acme.Main::*");
    assert_int_equal(options.sample_hz, 250);
    assert_int_equal(parsed("").sample_hz, 0);
    assert_true(options_trace_class(&options, "com.acme.Main"));
    assert_false(options_trace_class(&options, "com.acme.Other"));
    assert_true(options_trace_method(&options, "com.acme.Main", "step"));
    assert_false(options_trace_method(&options, "com.acme.Main", "other"));
    options = parsed("sample=1,include=com.acme.Main::step,exclude=*::step");
    assert_false(options_trace_method(&options, "com.acme.Main", "step"));
    assert_int_equal(parsed("calls=3").calls_s, 3);
    assert_refused("calls=61", "option calls=61: expected 1 to 60 seconds");
    assert_refused("sample=0", "option sample=0: expected 1 to 1000 samples a second");
    assert_refused("sample=1001", "option sample=1001: expected 1 to 1000 samples a second");
    assert_refused("sample=-1", "option sample=-1: expected 1 to 1000 samples a second");
    assert_refused("sample=10Hz", "option sample=10Hz: expected 1 to 1000 samples a second");
}

static const struct executor_hook *hook_of(const struct options *options, const char *class_name,
                                           enum executor_role role) {
    const struct executor_hook *hook = options->executors;
    while (hook && (strcmp(hook->class_name, class_name) != 0 || hook->role != role)) hook = hook->next;
    return hook;
}

static void test_executors_are_built_in(void **state) {
    struct options options = parsed(NULL);
    static const char *const classes[] = {"org/apache/tomcat/util/threads/ThreadPoolExecutor",
                                          "org/eclipse/jetty/util/thread/QueuedThreadPool",
                                          "io/netty/util/concurrent/SingleThreadEventExecutor"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct executor_hook *hook = hook_of(&options, classes[i], EXECUTOR_SPAWN);
        assert_non_null(hook);
        assert_int_equal(hook->argument, 1);
        assert_string_equal(hook->descriptor, "(Ljava/lang/Runnable;)V");
        assert_true(executors_concern(options.executors, (struct utf8){classes[i], (uint16_t)strlen(classes[i])}));
    }
    assert_true(options_is_library(&options, "io.netty.channel.nio.NioEventLoop"));
    assert_false(options_is_library(&options, "com.acme.Main"));
}

static void test_executors_are_told(void **state) {
    struct options options =
        parsed("executor=com.acme.Pool$Worker loop * worker outer,executor=com.acme.Pool size ()I "
               "core,executor=com.acme.Pool hand (JLjava/lang/Runnable;)V spawn 2,library=com.acme.P*");
    const struct executor_hook *worker = hook_of(&options, "com/acme/Pool$Worker", EXECUTOR_WORKER);
    assert_non_null(worker);
    assert_true(worker->outer);
    assert_null(worker->descriptor);
    assert_string_equal(worker->method, "loop");
    assert_int_equal(hook_of(&options, "com/acme/Pool", EXECUTOR_SPAWN)->argument, 2);
    assert_non_null(hook_of(&options, "com/acme/Pool", EXECUTOR_CORE));
    assert_true(options_is_library(&options, "com.acme.Pool"));
}

static struct utf8 utf8_of(const char *text) {
    return (struct utf8){text, (uint16_t)strlen(text)};
}

// Builds put the packages of a library below their own.
static void test_relocated_copies_are_known(void **state) {
    struct options options = parsed(NULL);
    struct utf8 prefix;
    char text[100];
    const struct executor_hook *hook =
        hook_of(&options, "org/eclipse/jetty/util/thread/QueuedThreadPool", EXECUTOR_SPAWN);
    assert_true(executor_is_of(hook, utf8_of("org/eclipse/jetty/util/thread/QueuedThreadPool"), &prefix));
    assert_int_equal(prefix.length, 0);
    assert_true(executor_is_of(hook, utf8_of("wiremock/org/eclipse/jetty/util/thread/QueuedThreadPool"), &prefix));
    assert_int_equal(prefix.length, strlen("wiremock/"));
    assert_string_equal(executor_relocated(prefix, "Lorg/eclipse/A;", text, sizeof text), "Lwiremock/org/eclipse/A;");
    assert_string_equal(executor_relocated(prefix, "Ljava/util/Queue;", text, sizeof text), "Ljava/util/Queue;");
    assert_string_equal(executor_relocated(prefix, "J", text, sizeof text), "J");
    assert_false(executor_is_of(hook, utf8_of("xorg/eclipse/jetty/util/thread/QueuedThreadPool"), NULL));
    assert_false(executor_is_of(hook, utf8_of("org/eclipse/jetty/util/thread/QueuedThreadPool$Runner"), NULL));
    assert_false(executor_is_of(hook, utf8_of("QueuedThreadPool"), NULL));
    assert_true(executors_concern(options.executors, utf8_of("a/b/com/zaxxer/hikari/pool/HikariPool")));
    assert_true(options_is_library(&options, "a.b.com.zaxxer.hikari.pool.ProxyConnection"));
    assert_true(options_is_library(&options, "wiremock.org.eclipse.jetty.util.thread.QueuedThreadPool"));
    assert_false(options_is_library(&options, "com.acme.akka.Shop")); // a name of one part is none of a copy's
}

// The example is right in what only the agent checks; the rest is tests/golden's.
static void test_executors_of_the_example_are_taken(void **state) {
    FILE *file = fopen(REHYPE_SOURCE_DIR "/fixtures/rehype.conf", "r");
    char line[512];
    unsigned taken = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct error error = ERROR_INIT;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "executor = ", 11) != 0) continue;
        if (!executor_parse(line + 11, &arena, &error)) fail_msg("%s", error.cause[0]);
        taken++;
    }
    fclose(file);
    assert_true(taken >= 5);
}

static void test_actors_of_a_library_are_taken(void **state) {
    struct error error = ERROR_INIT;
    const struct executor_hook *hook = executor_parse("com.acme.Bus publish * message 2 1", &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_MESSAGE);
    assert_int_equal(hook->argument, 2);
    assert_int_equal(hook->receiver, 1);
    hook = executor_parse("com.acme.Actor receive (Ljava/lang/Object;)V handle 1", &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_HANDLE);
    assert_int_equal(hook->receiver, 0);
    hook = executor_parse("com.acme.Actor <init> * init", &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_INIT);
}

static void test_wrong_requests_are_refused(void **state) {
    static const char *const wrong[] = {
        "com.acme.Web read * request part 0 if=1",
        "com.acme.Web read * request part 0 if=x:com.acme.Head",
        "com.acme.Web read * request part 0 if=1:",
        "com.acme.Web read * request part if=1:com.acme.Head",
        "com.acme.Web read * request more 0 0",
        "com.acme.Web read * request code 0",
        "com.acme.Web read * request thrown",
        "com.acme.Web read * request mapped 1",
        "com.acme.Web read * request mapped 1 2 3 4",
        "com.acme.Web call * request name - 0.a()Ljava/lang/String;+1.a()Ljava/lang/String;", // of two arguments
        "com.acme.Pools make * called",
        "com.acme.Pools make * called name",
        "com.acme.Web call * request name - 0.class+0.a()Ljava/lang/String;",
        "com.acme.Web call * request name - 0.a()Ljava/lang/String;+",
        "com.acme.Web call * spawn 1 2 3",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error error = ERROR_INIT;
        if (executor_parse(wrong[i], &arena, &error)) fail_msg("%s was taken", wrong[i]);
    }
}

static void test_requests_are_taken(void **state) {
    struct error error = ERROR_INIT;
    const struct executor_hook *hook =
        executor_parse("com.acme.Web done ()V request end - 0.answer:Lcom/acme/Answer;.getStatus()I", &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_REQUEST_END);
    assert_null(hook->telling[0]);
    const struct telling *status = hook->telling[1];
    assert_int_equal(status->argument, 0);
    assert_int_equal(status->count, 2);
    assert_false(status->steps[0].is_method);
    assert_string_equal(status->steps[0].name, "answer");
    assert_string_equal(status->steps[0].type, "Lcom/acme/Answer;");
    assert_true(status->steps[1].is_method);
    assert_string_equal(status->steps[1].type, "()I");
    assert_false(telling_is_boolean(status));
    hook = executor_parse("com.acme.Web done (Lcom/acme/Answer;)V request end 0 1.isGood()Z", &arena, &error);
    assert_non_null(hook);
    assert_true(telling_is_boolean(hook->telling[1]));
    hook = executor_parse("com.acme.Web fail (Ljava/lang/Throwable;)V request thrown 1", &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_REQUEST_THROWN);
    assert_false(telling_is_boolean(hook->telling[0]));
    hook =
        executor_parse("com.acme.Web serve * request mapped 1.verb()Ljava/lang/String; 1.pattern()Ljava/lang/String; "
                       "1.base()Ljava/lang/String;",
                       &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->role, EXECUTOR_REQUEST_MAPPED);
    assert_string_equal(hook->telling[2]->steps[0].name, "base");
    hook = executor_parse("com.acme.Web match * request matched 2.verb()Ljava/lang/String; "
                          "2.get(Ljava/lang/String;)Ljava/lang/Object;=com.acme.Web.route",
                          &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->telling[1]->count, 1);
    assert_string_equal(hook->telling[1]->steps[0].argument, "com.acme.Web.route");
    hook = executor_parse("com.acme.Page show * request name - 0.class", &arena, &error);
    assert_non_null(hook);
    assert_true(hook->telling[1]->is_class);
    hook = executor_parse("com.acme.Loop read (Ljava/lang/Object;)V request part 0 - 1.verb()Ljava/lang/String; "
                          "if=1:com.acme.Head",
                          &arena, &error);
    assert_non_null(hook);
    assert_null(hook->telling[1]);
    assert_string_equal(hook->telling[2]->steps[0].name, "verb");
    assert_int_equal(hook->only->argument, 1);
    assert_string_equal(hook->only_class, "com.acme.Head");
    hook = executor_parse("com.acme.Web call ()V request name - 0.above:Lcom/acme/Web;.path()Ljava/lang/String;+"
                          "0.path()Ljava/lang/String;",
                          &arena, &error);
    assert_non_null(hook);
    assert_int_equal(hook->telling[1]->count, 2);
    assert_int_equal(hook->telling[1]->behind->count, 1);
    assert_null(hook->telling[1]->behind->behind);
    const int number = executor_number(hook);
    assert_int_equal(executor_number(hook), number);
    assert_ptr_equal(executor_numbered(number), hook);
}

#define ROLES                                                                                                          \
    "a role: spawn, run, worker, idle, standby, called, take, shutdown, core, maximum, queue, capacity, "              \
    "keep-alive-ms, "                                                                                                  \
    "keep-alive-ns, delegate, grows, wakes, message, handle, init, resource with acquire, release, capacity, name "    \
    "or limit, or request with serve, part, more, async, end, last, code, thrown, connection, name, mapped or "        \
    "matched"

static void test_wrong_executors_are_named(void **state) {
    static const struct {
        const char *line, *expected;
    } cases[] = {
        {"com.acme.Pool hand *", "CLASS METHOD DESCRIPTOR ROLE [ARGUMENT [RECEIVER]]"},
        {"com.acme.Pool hand * message 1 2 3", "CLASS METHOD DESCRIPTOR ROLE [ARGUMENT [RECEIVER]]"},
        {"com.acme.Pool hand * spawn 1 2", "another argument, see rehype-record(1)"},
        {"com.acme.Actor tell * message", "another argument, see rehype-record(1)"},
        {"com.acme.Actor tell * message 0", "another argument, see rehype-record(1)"},
        {"com.acme.Actor tell * message 1 256", "another argument, see rehype-record(1)"},
        {"com.acme.Actor tell * handle 1 this", "another argument, see rehype-record(1)"},
        {"com.acme.Actor <init> * init 1", "another argument, see rehype-record(1)"},
        {"com.acme.Pool hand * give", ROLES},
        {"com.acme.Pool hand * take 1", "another argument, see rehype-record(1)"},
        {"com.acme.Pool hand * spawn", "another argument, see rehype-record(1)"},
        {"com.acme.Pool hand * spawn 0", "another argument, see rehype-record(1)"},
        {"com.acme.Pool hand * spawn outer", "another argument, see rehype-record(1)"},
        {"com.acme.Pool loop * worker 1", "another argument, see rehype-record(1)"},
        {"com.acme.Pool loop * worker outer", "another argument, see rehype-record(1)"}, // it is nested in nothing
        {"com.acme.Pool size ()I core 1", "another argument, see rehype-record(1)"},
        {"com.acme.Pool get * resource take", ROLES},
        {"com.acme.Pool get * resource acquire 0", "another argument, see rehype-record(1)"},
        {"com.acme.Web take * request serve", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request serve this", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request serve 1.()I", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request serve 1.get(I)I", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request serve 1.count:I", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request serve 1.get", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request name 1", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request async 1", "what it tells, see rehype-record(1)"},
        {"com.acme.Web take * request begin 1", ROLES},
        {"com.acme.Pool put * resource release 1", "another argument, see rehype-record(1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], why[400];
        snprintf(text, sizeof text, "executor=%s", cases[i].line);
        snprintf(why, sizeof why, "executor '%s': expected %s", cases[i].line, cases[i].expected);
        assert_refused(text, why);
    }
}

static void test_what_is_wrong_is_named(void **state) {
    assert_refused("outt=a", "unknown option 'outt': expected one of " KEYS);
    assert_refused("=a", "unknown option '': expected one of " KEYS);
    assert_refused("out=a,children", "option 'children': expected key=value");
    assert_refused(",", "option '': expected key=value");
    assert_refused("children=yes", "option children=yes: expected 0 or 1");
    assert_refused("claim=", "option claim=: expected 0 or 1");
    static const char *const sizes[] = {"", "15", "16777217", "1k", "-1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64], why[128];
        snprintf(text, sizeof text, "buffer=%s", sizes[i]);
        snprintf(why, sizeof why, "option %s: expected a number of records from 16 to 16777216", text);
        assert_refused(text, why);
    }
}

static void test_globs(void **state) {
    static const struct {
        const char *glob, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "com.acme.Main", true},
        {"**", "a", true},
        {"?", "a", true},
        {"?", "", false},
        {"com.acme.*", "com.acme.Main", true},
        {"com.acme.*", "com.acme.deep.Main$Inner", true},
        {"com.acme.*", "com.acme", false},
        {"com.acme.*", "xcom.acme.Main", false},
        {"*.Main", "com.acme.Main", true},
        {"*.Main", "com.acme.Mainly", false},
        {"com.?cme.Main", "com.acme.Main", true},
        {"*a*b*", "xxaxxbxx", true},
        {"*a*b*", "xxbxxaxx", false},
        {"*ab", "aab", true},
        {"a*a*a", "aa", false},
        {"a*a*a", "aaa", true},
        {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (glob_match(cases[i].glob, cases[i].text) != cases[i].matches) {
            fail_msg("%s should %smatch %s", cases[i].glob, cases[i].matches ? "" : "not ", cases[i].text);
        }
    }
}

static void test_methods_are_included_and_left_out_again(void **state) {
    struct options options = parsed("include=com.acme.*,include=org.Only::run,exclude=com.acme.Noise,exclude=*::get*");
    assert_true(options_trace_class(&options, "com.acme.Main"));
    assert_true(options_trace_class(&options, "org.Only"));
    assert_false(options_trace_class(&options, "org.Other"));
    assert_true(options_trace_method(&options, "com.acme.Main", "run"));
    assert_false(options_trace_method(&options, "com.acme.Main", "getName"));
    assert_false(options_trace_method(&options, "com.acme.Noise", "run"));
    assert_true(options_trace_method(&options, "org.Only", "run"));
    assert_false(options_trace_method(&options, "org.Only", "stop"));
}

static void test_found_methods_are_traced(void **state) {
    struct options options = parsed("sample=100,exclude=com.acme.Main::other");
    const struct class_glob other = {"com.acme.Main", "other", NULL}, step = {"com.acme.Main", "step", &other};
    assert_false(options_trace_class(&options, "com.acme.Main"));
    atomic_store(&options.found, &step);
    assert_true(options_trace_class(&options, "com.acme.Main"));
    assert_false(options_trace_class(&options, "com.acme.Main2"));
    assert_true(options_trace_method(&options, "com.acme.Main", "step"));
    assert_false(options_trace_method(&options, "com.acme.Main", "stepped"));
    assert_false(options_trace_method(&options, "com.acme.Main", "other"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_options_the_defaults_hold),
        cmocka_unit_test(test_each_option_is_taken),
        cmocka_unit_test(test_the_last_of_two_counts_but_globs_add_up),
        cmocka_unit_test(test_percent_stands_for_bytes_that_end_a_value),
        cmocka_unit_test(test_the_process_id_is_filled_in),
        cmocka_unit_test(test_what_is_recorded_can_be_chosen),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_executors_are_built_in),
        cmocka_unit_test(test_executors_are_told),
        cmocka_unit_test(test_relocated_copies_are_known),
        cmocka_unit_test(test_executors_of_the_example_are_taken),
        cmocka_unit_test(test_actors_of_a_library_are_taken),
        cmocka_unit_test(test_requests_are_taken),
        cmocka_unit_test(test_wrong_requests_are_refused),
        cmocka_unit_test(test_wrong_executors_are_named),
        cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_methods_are_included_and_left_out_again),
        cmocka_unit_test(test_found_methods_are_traced),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, free_arena);
}
