// SPDX-License-Identifier: GPL-3.0-or-later
// How changes are made (report/sketch.h), of every kind; and the real lines (report/sources.h). Where there is a javac,
// all sketches that came up are compiled, before and after, behind tests/tools/SketchStubs.java.
#include "report/sketch.h"
#include "report/sketch_text.h"
#include "report/sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "actor_story.h"
#include "steps.h"

enum { MAIN = STEP_MAIN, WORKER = STEP_WORKER, OTHER = STEP_OTHER, OWN_THREAD = 9 };
enum { ASKED = 1, TOLD, FORKED, ON_THREAD, ELSEWHERE, RETURNED, TASKS }; // a task each, and a site

// ---- a trace with one task each of what sketches tell apart

struct fixture {
    struct steps steps;
    uint32_t sub_site, other_site;
    struct arena arena;
    struct sketch sketch;
    struct error error;
};

static struct {
    FILE *file; // the class with all sketches, if there is a javac
    char folder[40];
    unsigned count;
} java;

static const struct {
    const char *method;
    uint32_t line;
    const char *class_name;
} spawns[TASKS] = {
    [ASKED] = {"ask", 10, "acme.Shop.lambda$ask$0"},
    [TOLD] = {"tell", 20, "acme.Shop$Letter"},
    [FORKED] = {"half", 30, "acme.Fib"},
    [ON_THREAD] = {"lambda$run$3", 40, "acme.Shop$1"},
    [ELSEWHERE] = {"hand", 50, "java.util.concurrent.X"},
    [RETURNED] = {"submit", 60, "acme.Shop.lambda$submit$1"},
};

static void hand_over(struct fixture *f, uint64_t task, uint32_t pool) {
    struct trace_builder *tb = f->steps.tb;
    const uint32_t site = tb_site(tb, "acme.Shop", spawns[task].method, spawns[task].line);
    step(&f->steps, MAIN, EVENT_TASK_CREATED, task, tb_class(tb, spawns[task].class_name));
    step(&f->steps, MAIN, EVENT_SPAWN_BEGIN, task, site, pool);
    step(&f->steps, MAIN, EVENT_SPAWN_END, task);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->error = (struct error)ERROR_INIT;
    steps_begin(&f->steps);
    struct trace_builder *tb = f->steps.tb;
    const uint32_t stealing =
        tb_pool_like(tb, (struct trace_pool){.kind = "java.util.concurrent.ForkJoinPool",
                                             .queue = "java.util.concurrent.ForkJoinPool$WorkQueue",
                                             .name = "ForkJoinPool-1",
                                             .core = 4,
                                             .maximum = 4,
                                             .capacity = -1});
    tb_thread(tb, OWN_THREAD, "own", 0);
    f->sub_site = tb_site(tb, "acme.Shop", "sub", 70);
    f->other_site = tb_site(tb, "acme.Shop", "lambda$other$5", 80);
    for (uint64_t task = ASKED; task < TASKS; task++)
        hand_over(f, task, task == ON_THREAD ? 0 : task == FORKED ? stealing : f->steps.pool);
    step(&f->steps, MAIN, EVENT_SPAWN_BEGIN, 20, f->sub_site, f->steps.pool);
    step(&f->steps, MAIN, EVENT_SPAWN_END, 20);
    step(&f->steps, MAIN, EVENT_SPAWN_BEGIN, 21, f->other_site, f->steps.pool);
    step(&f->steps, MAIN, EVENT_SPAWN_END, 21);
    step(&f->steps, OWN_THREAD, EVENT_THREAD_START, ON_THREAD);
    for (uint64_t task = ASKED; task <= 21; task = task == RETURNED ? 20 : task + 1) {
        if (task != ON_THREAD) step_body(&f->steps, task);
    }
    step(&f->steps, OWN_THREAD, EVENT_THREAD_END, ON_THREAD);
    for (uint64_t task = ASKED; task < TASKS; task++) {
        if (task != TOLD && task != ELSEWHERE) step_await(&f->steps, MAIN, task);
    }
    step_await(&f->steps, OTHER, ELSEWHERE);
    steps_build(&f->steps);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_destroy(&f->arena);
    steps_end(&f->steps);
    free(f);
    return 0;
}

static uint32_t site_of(struct fixture *f, uint32_t line) {
    for (uint32_t s = 0; s < f->steps.dag->site_count; s++) {
        if (f->steps.dag->sites[s].site.line == line) return s;
    }
    fail_msg("no site at line %u", line);
    return DAG_NONE;
}

// Of the one task of a site.
static struct improvement change_of(struct fixture *f, enum improvement_kind kind, uint64_t task, uint32_t *index) {
    *index = steps_task(&f->steps, task);
    return (struct improvement){.kind = kind,
                                .dag = f->steps.dag,
                                .site = f->steps.dag->tasks[*index].site,
                                .context = DAG_NONE,
                                .path = DAG_NONE,
                                .resource = DAG_NONE,
                                .tasks = index,
                                .task_count = 1};
}

// ---- what a sketch says

static void write_method(const char *lines) {
    if (!java.file) return;
    fprintf(java.file,
            "\n    static Object sketch%u() throws Exception {\n        if (i == 0) {\n%s        }\n"
            "        return null;\n    }\n",
            java.count++, lines);
}

static void make(struct fixture *f, const struct improvement *improvement) {
    assert_true(sketch_make(improvement, &f->arena, &f->sketch));
    assert_true(f->sketch.watch_count > 0);
    write_method(f->sketch.before);
    write_method(f->sketch.after);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" lacks \"%s\"", text, part);
}

static void before_has(struct fixture *f, const char *part) {
    assert_has(f->sketch.before, part);
}

static void after_has(struct fixture *f, const char *part) {
    assert_has(f->sketch.after, part);
}

static void watch_has(struct fixture *f, const char *part) {
    for (size_t i = 0; i < f->sketch.watch_count; i++) {
        if (strstr(f->sketch.watch[i], part)) return;
    }
    fail_msg("\"%s\" and %zu more lack \"%s\"", f->sketch.watch[0], f->sketch.watch_count - 1, part);
}

// ---- tasks

static void test_inline(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_INLINE, ASKED, &task);
    make(f, &change);
    assert_string_equal(f->sketch.before,
                        "// acme.Shop.ask(Test.java:10)\n"
                        "Future<Result> future = pool1.submit(() -> work(input)); // the lambda in ask\n"
                        "// ... what the caller does meanwhile\nResult result = future.get();\n");
    assert_string_equal(f->sketch.after, "// acme.Shop.ask(Test.java:10)\nResult result = work(input);\n");
    watch_has(f, "Thread-locals");
    change = change_of(f, KIND_INLINE, TOLD, &task);
    make(f, &change);
    before_has(f, "pool1.execute(new Letter(input));\n");
    after_has(f, "\nnew Letter(input).run();\n");
    watch_has(f, "catch here");
    change = change_of(f, KIND_INLINE, ELSEWHERE, &task);
    make(f, &change);
    before_has(f, "Future<Result> future = pool1.submit(() -> work(input));\n");
    after_has(f, "Future<Result> future = CompletableFuture.completedFuture(work(input));\n");
}

static void test_inline_by_other_ways(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_INLINE, FORKED, &task);
    make(f, &change);
    before_has(f, "ForkJoinTask<Result> task = new Fib(input).fork();\n");
    before_has(f, "Result result = task.join();\n");
    after_has(f, "Result result = new Fib(input).invoke();\n");
    change = change_of(f, KIND_INLINE, ON_THREAD, &task);
    make(f, &change);
    before_has(f, "// acme.Shop.run(Test.java:40), in a lambda\nThread thread = new Thread(() -> work(input));\n");
    before_has(f, "thread.start();\n");
    after_has(f, "\nwork(input);\n");
    change = change_of(f, KIND_INLINE, RETURNED, &task);
    f->steps.dag->sites[change.site].site.descriptor = "(I)Ljava/util/concurrent/Future;";
    make(f, &change);
    before_has(f, "return pool1.submit(() -> work(input)); // the lambda in submit\n");
    after_has(f, "return CompletableFuture.completedFuture(work(input));\n");
}

static void test_a_context_is_said(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_INLINE, ASKED, &task);
    struct trace_method methods[] = {
        {0}, {.class_name = "acme.Main", .name = "main"}, {.class_name = "acme.Web", .name = "lambda$serve$0"}};
    const uint32_t ids[] = {1, 2};
    struct dag_context contexts[] = {{.methods = NULL}, {.methods = ids, .length = 2}};
    struct trace trace = *f->steps.dag->trace;
    struct dag dag = *f->steps.dag;
    trace.methods = methods;
    dag.trace = &trace;
    dag.contexts = contexts;
    change.dag = &dag;
    change.context = 1;
    make(f, &change);
    before_has(f, "// where it is called by way of acme.Main.main > acme.Web.serve\n");
    watch_has(f, "variant");
}

static void test_hoist_branch(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_HOIST_BRANCH, ASKED, &task);
    make(f, &change); // where the paths part is not known, since there is one only
    after_has(f, "Future<Result> future;\nif (takesPath(input)) {\n");
    after_has(f, "    future = CompletableFuture.completedFuture(work(input));\n} else {\n"
                 "    future = pool1.submit(() -> work(input));\n}\n");
    watch_has(f, "is not known");
    for (uint64_t id = TOLD; id <= ON_THREAD; id++) {
        change = change_of(f, KIND_HOIST_BRANCH, id, &task);
        make(f, &change);
        after_has(f, "if (takesPath(input)) {\n");
    }
    after_has(f, "    new Thread(() -> work(input)).start();\n");
}

static void test_merge(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_MERGE, ASKED, &task);
    change.factor = 4;
    make(f, &change);
    before_has(f, "    futures.add(pool1.submit(() -> work(item))); // the lambda in ask\n");
    after_has(f, "for (int from = 0; from < items.size(); from += 4) {\n");
    after_has(f, "            results.add(work(item));\n");
    change = change_of(f, KIND_MERGE, TOLD, &task);
    change.factor = 16;
    change.follows_cores = true;
    make(f, &change);
    after_has(f, "Math.min(from + 16, items.size())");
    after_has(f, "    pool1.execute(() -> {\n");
    watch_has(f, "follow the cores");
}

static void test_split(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    struct improvement change = change_of(f, KIND_SPLIT, ASKED, &task);
    change.factor = 3;
    make(f, &change);
    after_has(f, "int parts = 3;\n");
    after_has(f, "    result = combine(result, future.get());\n");
    change = change_of(f, KIND_SPLIT, TOLD, &task);
    make(f, &change);
    assert_has(f->sketch.after, "int parts = n;\n"); // still to be chosen
    watch_has(f, "count them down");
}

// ---- stages

static void make_stages(struct fixture *f, enum dag_first_stage first, const struct stage *stages, uint32_t count) {
    uint32_t task;
    struct improvement change = change_of(f, KIND_COMBINATOR, ASKED, &task);
    change.first = first;
    change.stages = (struct stages){.items = stages, .count = count, .coordinators = 1};
    make(f, &change);
}

static void test_stages_on_the_spawner(void **state) {
    struct fixture *f = *state;
    const uint32_t inputs[] = {site_of(f, 70), site_of(f, 80)};
    const struct stage one = {inputs, 1, 1, 1, "thenApply"}, two = {inputs, 2, 2, 1, "thenCombine"};
    make_stages(f, FIRST_STAGE_ON_SPAWNER, &one, 1);
    before_has(f, "// sub: a Future from acme.Shop.sub(Test.java:70)\n");
    before_has(f, "    Future<Result> a1 = sub(input);\n    so = part1(so, a1.get());\n");
    after_has(f, "Result so = part0(input); // on the caller's thread\n");
    after_has(f, "CompletableFuture<Result> result = a1.thenApply(x -> part1(so, x));\n");
    make_stages(f, FIRST_STAGE_ON_SPAWNER, &two, 1);
    after_has(f, "CompletableFuture<Result> b1 = other(input);\n");
    after_has(f, "result = a1.thenCombine(b1, (x, y) -> part1(so, x, y));\n");
    const struct stage all[] = {{inputs, 1, 5, 1, "allOf"},
                                {inputs, 1, 1, 1, "thenCombine"},
                                {inputs + 1, 1, 6, 2, "allOf"},
                                {NULL, 0, 1, 1, "thenCompose"}};
    make_stages(f, FIRST_STAGE_ON_SPAWNER, all, 3);
    after_has(f, "List<CompletableFuture<Result>> all1 = new ArrayList<>(); // 5 results\n");
    after_has(f, "    .thenApply(none -> part1(so, all1));\n");
    after_has(f, "result = result.thenCombine(a2, (before, x) -> part2(before, x));\n");
    after_has(f, "    (before, none) -> part3(before, all3));\n");
}

static void test_stages_on_the_pool(void **state) {
    struct fixture *f = *state;
    const uint32_t inputs[] = {site_of(f, 70), site_of(f, 80)};
    const struct stage chain[] = {{inputs, 1, 1, 1, "thenCompose"},   // alone
                                  {inputs, 2, 2, 1, "thenCompose"},   // two at once
                                  {inputs, 1, 9, 1, "thenCompose"},   // many at once
                                  {inputs, 1, 50, 50, "thenCompose"}, // a loop
                                  {inputs, 1, 1, 1, "thenCompose"}};
    make_stages(f, FIRST_STAGE_ON_POOL, chain, 5);
    after_has(f, "CompletableFuture<Result> result = CompletableFuture.supplyAsync(() -> part0(input), pool1);\n");
    after_has(f, "\nresult = result.thenCompose(before -> sub(before).thenApply(x -> part1(before, x)));\n");
    after_has(f, "    sub(before).thenCombine(other(before), (x, y) -> part2(before, x, y)));\n");
    after_has(f, "        .thenApply(none -> part3(before, all));\n");
    after_has(f, "for (int i = 0; i < 50; i++) {\n    result = result.thenCompose(before -> sub(before)");
    after_has(f, "// ... and 1 more, alike\n");
    const struct stage given[] = {
        {inputs, 1, 1, 1, "thenCombine"}, {inputs + 1, 1, 4, 4, "thenCombine"}, {inputs, 1, 3, 1, "allOf"}};
    make_stages(f, FIRST_STAGE_ON_POOL, given, 3);
    after_has(f, "for (CompletableFuture<Result> one : all2) {\n"
                 "    result = result.thenCombine(one, (before, x) -> part2(before, x));\n}\n");
    watch_has(f, "CompletionException");
}

// ---- pools

// As if the trace had one pool more.
static void make_resized(struct fixture *f, struct trace_pool pool, int32_t threads) {
    struct trace_pool pools[] = {{0}, pool};
    struct dag_pool rules[] = {{0}, {.core = pool.core, .maximum = pool.maximum, .capacity = INT64_MAX}};
    struct trace trace = *f->steps.dag->trace;
    struct dag dag = *f->steps.dag;
    trace.pools = pools;
    dag.trace = &trace;
    dag.pools = rules;
    trace.pool_count = dag.pool_count = 2;
    if (pool.capacity > 0) rules[1].capacity = pool.capacity;
    rules[1].is_dealt = pool.flags & POOL_DEALT;
    if (pool.queue && strstr(pool.queue, "Synchronous")) rules[1].capacity = 0;
    const struct improvement change = {
        .kind = KIND_RESIZE_POOL, .dag = &dag, .site = DAG_NONE, .context = DAG_NONE, .pool = 1, .threads = threads};
    make(f, &change);
}

#define JUC "java.util.concurrent."
static const struct trace_pool fixed = {
    JUC "ThreadPoolExecutor", JUC "LinkedBlockingQueue", "pool-1", 4, 4, -1, -1, NULL, 0};

static void test_resize_executors(void **state) {
    struct fixture *f = *state;
    struct trace_pool pool = fixed;
    make_resized(f, pool, 8);
    assert_string_equal(f->sketch.after, "// where pool-1 is made, which a recording does not tell\n"
                                         "ExecutorService pool1 = Executors.newFixedThreadPool(8);\n");
    watch_has(f, "must bear 8 at once");
    make_resized(f, pool, 1);
    watch_has(f, "With 1 thread, ");
    pool.core = 2;
    pool.keep_alive_ns = 30000000000;
    make_resized(f, pool, 6);
    before_has(f, "new ThreadPoolExecutor(2, 4, 30, TimeUnit.SECONDS,\n    new LinkedBlockingQueue<>());\n");
    watch_has(f, "never has more than its core threads");
    pool.queue = JUC "ArrayBlockingQueue";
    pool.capacity = 100;
    make_resized(f, pool, 6);
    after_has(f, "new ThreadPoolExecutor(6, 6, 30, TimeUnit.SECONDS,\n    new ArrayBlockingQueue<>(100));\n");
    pool.queue = JUC "PriorityBlockingQueue";
    make_resized(f, pool, 6);
    after_has(f, "new PriorityBlockingQueue<>());\n");
}

static void test_resize_hand_off(void **state) {
    struct fixture *f = *state;
    struct trace_pool pool = fixed;
    pool.queue = JUC "SynchronousQueue";
    pool.core = 0;
    pool.maximum = INT32_MAX;
    make_resized(f, pool, 8);
    before_has(f, "ExecutorService pool1 = Executors.newCachedThreadPool();\n");
    after_has(f, "new ThreadPoolExecutor(8, 8, 60, TimeUnit.SECONDS,\n    new LinkedBlockingQueue<>());\n");
    after_has(f, "pool1.allowCoreThreadTimeOut(true);\n");
    watch_has(f, "none is rejected");
    pool.core = 3;
    pool.maximum = 9;
    make_resized(f, pool, 8);
    before_has(f, "new ThreadPoolExecutor(3, 9, 60, TimeUnit.SECONDS,\n    new SynchronousQueue<>());\n");
}

static void test_resize_executors_of_one_thread(void **state) {
    struct fixture *f = *state;
    struct trace_pool pool = fixed;
    pool.flags = POOL_EVENT_LOOPS | POOL_DEALT;
    make_resized(f, pool, 8);
    before_has(f, "ExecutorService[] pool1 = new ExecutorService[4]; // of one thread each\n");
    after_has(f, "ExecutorService[] pool1 = new ExecutorService[8];\n");
    watch_has(f, "by turns");
    pool.kind = "reactor.core.scheduler.BoundedElasticScheduler$BoundedScheduledExecutorService";
    make_resized(f, pool, 8);
    after_has(f, "Scheduler pool1 = Schedulers.newBoundedElastic(8, Integer.MAX_VALUE, \"pool-1\");\n");
    pool.name = "boundedElastic";
    make_resized(f, pool, 8);
    after_has(f, "// -Dreactor.schedulers.defaultBoundedElasticSize=8\n");
}

static void test_resize_other_pools(void **state) {
    struct fixture *f = *state;
    struct trace_pool pool = {JUC "ForkJoinPool", JUC "ForkJoinPool$WorkQueue", "tiles", 2, 2, -1, -1, NULL, 0};
    make_resized(f, pool, 6);
    after_has(f, "ForkJoinPool tilesPool = new ForkJoinPool(6);\n");
    pool.queue = JUC "ForkJoinPool$WorkQueue async";
    make_resized(f, pool, 6);
    after_has(f, "new ForkJoinPool(6, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);\n");
    pool.name = "ForkJoinPool.commonPool";
    make_resized(f, pool, 6);
    after_has(f, "// -Djava.util.concurrent.ForkJoinPool.common.parallelism=6\n");
    watch_has(f, "Parallel streams");
    pool = (struct trace_pool){JUC "ScheduledThreadPoolExecutor", NULL, "beat", 1, 1, -1, -1, NULL, 0};
    make_resized(f, pool, 2);
    before_has(f, "ScheduledExecutorService beatPool = Executors.newScheduledThreadPool(1);\n");
    watch_has(f, "never beside itself");
    pool.kind = "java.util.Timer";
    make_resized(f, pool, 2);
    before_has(f, "Timer beatPool = new Timer();\n");
    pool.name = NULL;
    pool.kind = JUC "ThreadPoolExecutor";
    make_resized(f, pool, 2);
    before_has(f, "// where the pool is made, which a recording does not tell\n");
}

static void test_resize_by_settings(void **state) {
    struct fixture *f = *state;
    struct trace_pool pool = fixed;
    pool.name = "http-nio-8080";
    pool.kind = "org.apache.tomcat.util.threads.ThreadPoolExecutor";
    make_resized(f, pool, 50);
    before_has(f, "// server.tomcat.threads.max=4\n");
    after_has(f, "// server.tomcat.threads.max=50\n");
    pool.name = "task";
    pool.kind = fixed.kind;
    make_resized(f, pool, 9);
    after_has(f, "ExecutorService taskPool = Executors.newFixedThreadPool(9);\n"); // of its own, for all that is known
    pool.kind = "org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor$1";
    make_resized(f, pool, 9);
    after_has(f, "// spring.task.execution.pool.core-size=9\n");
    pool.name = "mails";
    make_resized(f, pool, 9);
    watch_has(f, "setCorePoolSize(9)");
    pool.name = "shop-akka.actor.default-dispatcher";
    make_resized(f, pool, 3);
    after_has(f, "// akka.actor.default-dispatcher.fork-join-executor {\n");
    after_has(f, "//   parallelism-max = 3\n");
}

// ---- resources

enum resource { PERMITS, PLACES, HIKARI, DBCP, TOMCAT, OBJECTS, MONITOR, LOCK, READ_WRITE, CARRIERS, HARD, RESOURCES };

static const struct {
    enum resource_kind kind;
    int64_t capacity;
    const char *name, *class_name;
} resources[RESOURCES] = {
    [PERMITS] = {RESOURCE_PERMITS, 3, "Gate.permits", JUC "Semaphore"},
    [PLACES] = {RESOURCE_PLACES, 8, "Jobs.waiting", JUC "LinkedBlockingDeque"},
    [HIKARI] = {RESOURCE_POOL, 4, "shop-db", "com.zaxxer.hikari.pool.HikariPool"},
    [DBCP] = {RESOURCE_POOL, 4, NULL, "org.apache.commons.pool2.impl.GenericObjectPool"},
    [TOMCAT] = {RESOURCE_POOL, 4, "jdbc", "org.apache.tomcat.jdbc.pool.ConnectionPool"},
    [OBJECTS] = {RESOURCE_QUEUE, 4, "Shop.clients", JUC "LinkedBlockingQueue"},
    [MONITOR] = {RESOURCE_MONITOR, 1, NULL, "acme.Cache"},
    [LOCK] = {RESOURCE_LOCK, 1, "Bank.lock", JUC "locks.ReentrantLock$NonfairSync"},
    [READ_WRITE] = {RESOURCE_READ_WRITE_LOCK, 1, "Bank.state", NULL},
    [CARRIERS] = {RESOURCE_POOL, 2, "carriers", NULL},
    [HARD] = {RESOURCE_PERMITS, 2, "a\"\n\x1b[2J\xff.class", NULL},
};

// As if the trace had that one, which is waited for at acme.Shop.half:30 twice, and at acme.Shop.ask:10 once.
static void make_resource(struct fixture *f, enum improvement_kind kind, enum resource which, int32_t capacity) {
    struct trace_class classes[] = {{0}, {resources[which].class_name}};
    struct trace_site sites[] = {{0},
                                 {"acme.Shop", "ask", "()V", "Shop.java", 10, 0, NULL, NULL, false},
                                 {"acme.Shop", "half", "()V", NULL, 30, 0, NULL, NULL, false}};
    struct dag_resource one = {.kind = resources[which].kind,
                               .resource_class = resources[which].class_name ? 1 : 0,
                               .name = resources[which].name,
                               .capacity = resources[which].capacity,
                               .fair = which == PERMITS};
    struct dag_ask asks[] = {
        {.site = 1, .asked = 1}, {.site = 2, .asked = 1}, {.site = 1, .asked = DAG_NONE}, {.site = 2, .asked = 3}};
    struct trace trace = *f->steps.dag->trace;
    struct dag dag = *f->steps.dag;
    trace.classes = classes;
    trace.class_count = 2;
    trace.sites = sites;
    trace.site_count = 3;
    dag.trace = &trace;
    dag.resources = &one;
    dag.resource_count = 1;
    dag.asks = asks;
    dag.ask_count = which == HARD ? 0 : 4;
    dag.carriers = which == CARRIERS;
    const struct improvement change = {
        .kind = kind, .dag = &dag, .site = DAG_NONE, .context = DAG_NONE, .capacity = capacity};
    make(f, &change);
}

static void test_absent_resource(void **state) {
    struct fixture *f = *state;
    struct improvement change = {.kind = KIND_UNLOCK, .dag = f->steps.dag, .site = DAG_NONE, .resource = DAG_NONE};
    assert_null(sketch_site(&change));
    make(f, &change);
    watch_has(f, "Another recording has it.");
    change.kind = KIND_RESIZE_RESOURCE;
    make(f, &change);
    watch_has(f, "Another recording has it.");
}

static void test_resize_resources(void **state) {
    struct fixture *f = *state;
    make_resource(f, KIND_RESIZE_RESOURCE, PERMITS, 6);
    assert_string_equal(f->sketch.after, "// semaphore Gate.permits; waited for at acme.Shop.half(line 30)\nSemaphore "
                                         "permits = new Semaphore(6, true);\n");
    make_resource(f, KIND_RESIZE_RESOURCE, PLACES, 64);
    after_has(f, "BlockingDeque<Item> waiting = new LinkedBlockingDeque<>(64);\n");
    make_resource(f, KIND_RESIZE_RESOURCE, HIKARI, 16);
    before_has(f, "config.setMaximumPoolSize(4);\n");
    after_has(f, "// with Spring Boot: spring.datasource.hikari.maximum-pool-size=16\n");
    make_resource(f, KIND_RESIZE_RESOURCE, DBCP, 16);
    after_has(f, "dataSource.setMaxTotal(16);\n");
    make_resource(f, KIND_RESIZE_RESOURCE, TOMCAT, 16);
    after_has(f, "dataSource.setMaxActive(16);\n");
    make_resource(f, KIND_RESIZE_RESOURCE, OBJECTS, 9);
    after_has(f, "for (int i = 0; i < 9; i++) {\n    clients.add(new Item());\n}\n");
    make_resource(f, KIND_RESIZE_RESOURCE, CARRIERS, 8);
    after_has(f, "// -Djdk.virtualThreadScheduler.parallelism=8\n");
}

static void test_unlock(void **state) {
    struct fixture *f = *state;
    make_resource(f, KIND_UNLOCK, MONITOR, 0);
    before_has(f, "// monitor of acme.Cache; waited for at acme.Shop.half(line 30)\nsynchronized (cache) {\n");
    after_has(f, "synchronized (stripe) {\n    store(key, result);\n}\n");
    watch_has(f, "at most");
    make_resource(f, KIND_UNLOCK, LOCK, 0);
    before_has(f, "lock.lock();\n");
    make_resource(f, KIND_UNLOCK, READ_WRITE, 0);
    after_has(f, "state.writeLock().lock();\n");
}

// Names from a trace can't leave their line, their quotes or the terminal.
static void test_hard_names(void **state) {
    struct fixture *f = *state;
    make_resource(f, KIND_RESIZE_RESOURCE, HARD, 3);
    assert_string_equal(f->sketch.after,
                        "// semaphore a???[2J\xef\xbf\xbd.class\nSemaphore class_ = new Semaphore(3);\n");
    struct trace_pool pool = fixed;
    pool.name = "1 \xc3\xa4\xff\r\n(\"x\")";
    make_resized(f, pool, 2);
    after_has(f, "// where 1 \xc3\xa4\xef\xbf\xbd?"
                 "?(?x?) is made");
    after_has(f, "ExecutorService _1");
}

// ---- actors

static void test_actors(void **state) {
    struct fixture *f = *state;
    struct trace_builder *tb = actor_story(false);
    struct trace *trace = tb_open(tb);
    struct dag *dag = dag_build(trace, &f->error);
    assert_non_null(dag);
    const uint32_t renderer = 2;
    const char *messages[] = {"p.Scene$Moved", "p.Scene$Hit"};
    struct improvement change = {
        .kind = KIND_OWN_POOL, .dag = dag, .site = DAG_NONE, .context = DAG_NONE, .threads = 2};
    change.change.of = "p.Sound";
    make(f, &change);
    before_has(f, "ActorRef sound = context.actorOf(Props.create(Sound.class), \"sound\");\n");
    after_has(f, "//   thread-pool-executor.fixed-pool-size = 2\n");
    after_has(f, "    .withDispatcher(\"sound-dispatcher\"), \"sound\");\n");
    change.change.of = "acme.Shop.pricer";
    make(f, &change);
    after_has(f, "ActorRef<Message> pricer = context.spawn(Shop.pricer(), \"pricer\",\n"
                 "    DispatcherSelector.fromConfig(\"pricer-dispatcher\"));\n");
    change = (struct improvement){.kind = KIND_MERGE_ACTORS, .dag = dag, .factor = 4, .change = {.of = "p.Sound"}};
    make(f, &change);
    after_has(f, "int remain = (count + 4 - 1) / 4;");
    after_has(f, "ActorRef to = sounds.get(i % remain);");
    change.change.of = "acme.Shop.pricer";
    make(f, &change);
    after_has(f, "pricers.add(context.spawnAnonymous(Shop.pricer()));\n");
    change = (struct improvement){.kind = KIND_SPLIT_ACTOR, .dag = dag, .factor = 3};
    change.change = (struct actor_change){.of = "akka://ris/user/renderer", .actors = &renderer, .actor_count = 1};
    make(f, &change);
    after_has(f, "    new RoundRobinPool(3).props(Props.create(");
    after_has(f, ".class)), \"renderer\");\n");
    change = (struct improvement){.kind = KIND_INLINE_MESSAGE, .dag = dag};
    change.change = (struct actor_change){.types = messages, .type_count = 2};
    make(f, &change);
    before_has(f, "receiver.tell(new Moved(value), getSelf());\n");
    after_has(f, "receiver.onHit(new Hit(value));");
    dag_free(dag);
    trace_close(trace);
    tb_free(tb);
}

// ---- the real lines

static void write_text(const char *folder, const char *name, const char *text, size_t length) {
    char path[400], parent[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        mkdir(parent, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static void write_numbered(const char *folder, const char *name, unsigned lines, const char *end) {
    char text[2000] = "";
    for (unsigned i = 1; i <= lines; i++) sprintf(text + strlen(text), "line %u%s", i, i < lines ? end : "");
    write_text(folder, name, text, strlen(text));
}

static struct excerpt excerpt_of(struct fixture *f, struct sources *sources, const char *class_name, const char *file,
                                 uint32_t line) {
    const struct trace_site site = {.class_name = class_name, .method = "m", .file = file, .line = line};
    struct excerpt excerpt;
    assert_true(sources_excerpt(sources, &site, &f->arena, &excerpt));
    return excerpt;
}

static void open_sources(struct fixture *f, const char *folder, struct sources *sources) {
    assert_true(sources_open(sources, &folder, 1, &f->error));
}

static void remove_folder(const char *folder) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void test_sources_are_found(void **state) {
    struct fixture *f = *state;
    struct sources sources;
    char folder[] = "/tmp/rehype-sources-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_numbered(folder, "app/src/main/java/com/acme/Main.java", 9, "\n");
    write_numbered(folder, "lib/Main.java", 9, "\n");
    write_numbered(folder, "app/src/main/kotlin/Web.kt", 3, "\r\n");
    write_numbered(folder, "app/src/main/scala/com/acme/Tile.scala", 1, "\n");
    write_numbered(folder, ".git/com/acme/Hidden.java", 3, "\n");
    open_sources(f, folder, &sources);
    assert_int_equal(sources.count, 4);
    struct excerpt excerpt = excerpt_of(f, &sources, "com.acme.Main$Inner$1", "Main.java", 5);
    assert_int_equal(excerpt.status, EXCERPT_FOUND);
    assert_has(excerpt.path, "/app/src/main/java/com/acme/Main.java");
    assert_int_equal(excerpt.first, 2);
    assert_int_equal(excerpt.count, EXCERPT_LINES);
    assert_string_equal(excerpt.lines[3], "line 5");
    excerpt = excerpt_of(f, &sources, "com.acme.Main", NULL, 1);
    assert_int_equal(excerpt.count, 4);
    assert_has(excerpt_of(f, &sources, "Main", "Main.java", 1).path, "/lib/Main.java"); // the shortest path
    excerpt = excerpt_of(f, &sources, "com.acme.WebKt", "Web.kt", 3);                   // its package is left out
    assert_string_equal(excerpt.lines[1], "line 2");
    assert_string_equal(excerpt.lines[2], "line 3");
    assert_has(excerpt_of(f, &sources, "com.acme.Tile", NULL, 1).path, "Tile.scala");
    assert_int_equal(excerpt_of(f, &sources, "com.acme.Hidden", NULL, 1).status, EXCERPT_NO_FILE);
    assert_int_equal(excerpt_of(f, &sources, "com.acme.Main", "Main.java", 0).status, EXCERPT_NO_PLACE);
    assert_int_equal(excerpt_of(f, &sources, NULL, "Main.java", 1).status, EXCERPT_NO_PLACE);
    sources_close(&sources);
    remove_folder(folder);
}

static void test_sources_are_not_trusted(void **state) {
    struct fixture *f = *state;
    struct sources sources;
    char folder[] = "/tmp/rehype-sources-XXXXXX", link[100], wide[5000];
    assert_non_null(mkdtemp(folder));
    memset(wide, 'x', sizeof wide);
    memcpy(wide, "\x1b\t\xff\xc3\xa4", 5);
    write_text(folder, "Wide.java", wide, sizeof wide);
    write_text(folder, "Binary.java", "a\0b\n", 4);
    write_text(folder, "Empty.java", "", 0);
    write_numbered(folder, "Short.java", 3, "\n");
    snprintf(link, sizeof link, "%s/again", folder);
    assert_int_equal(symlink(folder, link), 0);
    snprintf(link, sizeof link, "%s/Linked.java", folder);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    snprintf(link, sizeof link, "%s/Pipe.java", folder);
    assert_int_equal(mkfifo(link, 0600), 0);
    open_sources(f, folder, &sources);
    assert_int_equal(sources.count, 4);
    struct excerpt excerpt = excerpt_of(f, &sources, "Wide", NULL, 1);
    assert_int_equal(strlen(excerpt.lines[0]), EXCERPT_COLUMNS + 2 + 1 + 3); // U+FFFD, a-umlaut, "..."
    assert_int_equal(strncmp(excerpt.lines[0], "?   \xef\xbf\xbd\xc3\xa4x", 10), 0);
    assert_int_equal(excerpt_of(f, &sources, "Binary", NULL, 1).status, EXCERPT_UNREADABLE);
    assert_int_equal(excerpt_of(f, &sources, "Empty", NULL, 1).status, EXCERPT_PAST_END);
    excerpt = excerpt_of(f, &sources, "Short", "Short.java", UINT32_MAX);
    assert_int_equal(excerpt.status, EXCERPT_PAST_END);
    assert_int_equal(excerpt.last, 3);
    excerpt = excerpt_of(f, &sources, "a.b.Gone", "../../etc/Gone.java", 1);
    assert_int_equal(excerpt.status, EXCERPT_NO_FILE);
    assert_string_equal(excerpt.path, "a/b/Gone.java");
    assert_false(excerpt.told);
    assert_true(excerpt_of(f, &sources, "a.b.Gone", "Gone.java", 7).told);
    sources_close(&sources);
    const char *absent[] = {folder, "/tmp/rehype-no-such-folder"};
    assert_false(sources_open(&sources, absent, 2, &f->error));
    assert_int_equal(f->error.status, STATUS_FAILED);
    assert_int_equal(sources.count, 0);
    remove_folder(folder);
}

// Without UTF-8 other bytes are '?'.
static void test_written(void **state) {
    struct fixture *f = *state;
    uint32_t task;
    char *text = NULL;
    size_t size = 0;
    struct improvement change = change_of(f, KIND_INLINE, TOLD, &task);
    f->steps.dag->sites[change.site].site.class_name = "acme.Gr\xc3\xb6\xc3\x9f"
                                                       "e";
    const struct sketch_writer writer = {.file = open_memstream(&text, &size), .arena = &f->arena};
    assert_true(sketch_write(&writer, 3, &change, "", &f->error));
    sketch_write_alike(&writer, 4, &change, 3);
    fclose(writer.file);
    assert_has(text, "\n3  inline acme.Gr????e.tell:20\n   before\n     // acme.Gr????e.tell(Test.java:20)\n");
    assert_has(
        text,
        "   after\n     // acme.Gr????e.tell(Test.java:20)\n     new Letter(input).run();\n   watch\n     The caller");
    assert_has(text, "\n4  inline acme.Gr????e.tell:20: as 3, with this number\n");
    free(text);
    cJSON *json = sketch_json(&writer, &change);
    assert_true(cJSON_IsArray(cJSON_GetObjectItem(json, "watch")));
    assert_null(cJSON_GetObjectItem(json, "source"));
    cJSON_Delete(json);
}

// ---- compiling

static int begin_java(void **state) {
    (void)state;
    char stubs[4096];
    FILE *from = fopen(REHYPE_SOURCE_DIR "/tests/tools/SketchStubs.java", "r");
    if (!from || system("javac -version >/dev/null 2>&1") != 0) {
        puts("sketches are not compiled: no javac");
        if (from) fclose(from);
        return 0;
    }
    strcpy(java.folder, "/tmp/rehype-sketches-XXXXXX");
    if (!mkdtemp(java.folder)) return -1;
    char path[80];
    snprintf(path, sizeof path, "%s/Sketches.java", java.folder);
    java.file = fopen(path, "w");
    for (size_t got; java.file && (got = fread(stubs, 1, sizeof stubs, from)) > 0;) fwrite(stubs, 1, got, java.file);
    fclose(from);
    return java.file ? 0 : -1;
}

static void test_they_compile(void **state) {
    (void)state;
    if (!java.file) skip();
    fputs("}\n", java.file);
    fclose(java.file);
    assert_true(java.count > 60);
    char command[200];
    snprintf(command, sizeof command, "javac -encoding UTF-8 -Xlint:-options -nowarn -d %s %s/Sketches.java",
             java.folder, java.folder);
    assert_int_equal(system(command), 0);
    remove_folder(java.folder);
}

#define OF_TRACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        OF_TRACE(test_inline),
        OF_TRACE(test_inline_by_other_ways),
        OF_TRACE(test_a_context_is_said),
        OF_TRACE(test_hoist_branch),
        OF_TRACE(test_merge),
        OF_TRACE(test_split),
        OF_TRACE(test_stages_on_the_spawner),
        OF_TRACE(test_stages_on_the_pool),
        OF_TRACE(test_resize_executors),
        OF_TRACE(test_resize_hand_off),
        OF_TRACE(test_resize_executors_of_one_thread),
        OF_TRACE(test_resize_other_pools),
        OF_TRACE(test_resize_by_settings),
        OF_TRACE(test_absent_resource),
        OF_TRACE(test_resize_resources),
        OF_TRACE(test_unlock),
        OF_TRACE(test_hard_names),
        OF_TRACE(test_actors),
        OF_TRACE(test_sources_are_found),
        OF_TRACE(test_sources_are_not_trusted),
        OF_TRACE(test_written),
        cmocka_unit_test(test_they_compile),
    };
    return cmocka_run_group_tests(tests, begin_java, NULL);
}
