// SPDX-License-Identifier: GPL-3.0-or-later
// Sketches of inline, hoist-branch, merge and split: what hands a task over, and what waits for it, as far as the trace
// tells.
#include "report/sketch_kinds.h"

#include "optimize/branch.h"
#include "optimize/sentence.h"

#include <string.h>

enum hand_over { BY_POOL, BY_THREAD, BY_FORK };
enum awaited { AWAITED_NEVER, AWAITED_ELSEWHERE, AWAITED_LATER, AWAITED_AT_ONCE }; // the last two by the spawner

// A site's tasks.
struct tasks {
    enum hand_over by;
    enum awaited awaited;
    bool returns_future;        // the method that hands them over
    struct java_name pool;      // its variable
    struct java_name task;      // what is handed over: "() -> work(input)"
    struct java_name call;      // what does the same at once: "work(input)"
    struct java_name call_what; // what work() is: " // the lambda in submit", or nothing
};

// ---- what the trace tells

enum { STEPS_MOST = 10000 }; // from a spawn to a wait that is looked for

static enum awaited awaited_by(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (!task->awaited) return AWAITED_NEVER;
    if (task->spawn_end == DAG_NONE) return AWAITED_ELSEWHERE;
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, task->spawn_end)];
    uint32_t end = thread->first + thread->count, body = task->spawner;
    if (end - task->spawn_end > STEPS_MOST) end = task->spawn_end + STEPS_MOST;
    for (uint32_t v = task->spawn_end + 1; v < end; v++) {
        body = dag_body_after(dag, v, body);
        if (dag->vertices.kind[v] != VERTEX_WAIT_BEGIN || dag->vertices.task[v] != index) continue;
        if (body != task->spawner) return AWAITED_ELSEWHERE;
        return v == task->spawn_end + 1 ? AWAITED_AT_ONCE : AWAITED_LATER;
    }
    return AWAITED_ELSEWHERE;
}

// As most of them are; of two as frequent the one with more to do.
static enum awaited mostly_awaited(const struct improvement *improvement) {
    enum { LOOKED_AT = 100 };
    uint32_t counts[AWAITED_AT_ONCE + 1] = {0};
    enum awaited most = AWAITED_NEVER;
    for (uint32_t i = 0; i < improvement->task_count && i < LOOKED_AT; i++)
        counts[awaited_by(improvement->dag, improvement->tasks[i])]++;
    for (enum awaited kind = AWAITED_NEVER; kind <= AWAITED_AT_ONCE; kind++) {
        if (counts[kind] > counts[most]) most = kind;
    }
    return most;
}

static const struct dag_task *first_started(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        if (dag->tasks[improvement->tasks[i]].thread != DAG_NONE) return &dag->tasks[improvement->tasks[i]];
    }
    return NULL;
}

static enum hand_over handed_over_by(const struct dag *dag, const struct dag_task *task, bool has_class) {
    if (!task) return BY_POOL;
    const bool steals =
        task->pool && task->pool < dag->pool_count && dag->pools[task->pool].discipline == DISCIPLINE_STEALING;
    if (task->pool == 0 && task->dispatch == DISPATCH_THREAD && !dag->threads[task->thread].is_virtual)
        return BY_THREAD;
    return steals && has_class ? BY_FORK : BY_POOL;
}

static bool returns_future(const struct trace_site *site) {
    static const char *const types[] = {")Ljava/util/concurrent/Future;", ")Ljava/util/concurrent/CompletableFuture;",
                                        ")Ljava/util/concurrent/CompletionStage;"};
    const char *result = site->descriptor ? strchr(site->descriptor, ')') : NULL;
    for (size_t i = 0; result && i < sizeof types / sizeof *types; i++) {
        if (strcmp(result, types[i]) == 0) return true;
    }
    return false;
}

static void name_work(struct tasks *tasks, const struct java_name *type, const char *class_name) {
    const struct java_name home = java_lambda_home(class_name);
    if (!*type->s) {
        tasks->task = (struct java_name){"() -> work(input)"};
        tasks->call = (struct java_name){"work(input)"};
        if (*home.s) snprintf(tasks->call_what.s, sizeof tasks->call_what.s, " // the lambda in %.120s", home.s);
        return;
    }
    const char *method = tasks->by == BY_FORK                                      ? "invoke"
                         : tasks->awaited == AWAITED_NEVER || tasks->by != BY_POOL ? "run"
                                                                                   : "call";
    snprintf(tasks->task.s, sizeof tasks->task.s, "new %.120s(input)", type->s);
    snprintf(tasks->call.s, sizeof tasks->call.s, "new %.120s(input).%s()", type->s, method);
}

static struct tasks tasks_of(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct dag_site *site = &dag->sites[improvement->site];
    const struct dag_task *task = first_started(improvement);
    const char *class_name = site->task_class && site->task_class < dag->trace->class_count
                                 ? dag->trace->classes[site->task_class].name
                                 : NULL;
    const struct java_name type = java_class(class_name);
    struct tasks tasks = {.awaited = mostly_awaited(improvement), .returns_future = returns_future(&site->site)};
    tasks.by = handed_over_by(dag, task, *type.s);
    tasks.pool = task && dag->threads[task->thread].is_virtual ? (struct java_name){"virtualThreads"}
                                                               : draft_pool(dag, task ? task->pool : 0);
    name_work(&tasks, &type, class_name);
    return tasks;
}

// ---- handing over

static void write_thread(struct draft *draft, const struct tasks *tasks) {
    draft_before(draft, "Thread thread = new Thread(%s);%s\nthread.start();\n", tasks->task.s, tasks->call_what.s);
    if (tasks->awaited != AWAITED_NEVER) draft_before(draft, "thread.join();\n");
    draft_after(draft, "%s;\n", tasks->call.s);
}

static void write_meanwhile(struct draft *draft, const struct tasks *tasks) {
    if (tasks->awaited == AWAITED_LATER) draft_before(draft, "// ... what the caller does meanwhile\n");
    if (tasks->awaited == AWAITED_ELSEWHERE) draft_before(draft, "// ... where it is awaited:\n");
}

static void write_fork(struct draft *draft, const struct tasks *tasks) {
    draft_before(draft, "ForkJoinTask<Result> task = %s.fork();\n", tasks->task.s);
    write_meanwhile(draft, tasks);
    if (tasks->awaited != AWAITED_NEVER) draft_before(draft, "Result result = task.join();\n");
    draft_after(draft, tasks->awaited == AWAITED_NEVER ? "%s;\n" : "Result result = %s;\n", tasks->call.s);
}

static void write_pool(struct draft *draft, const struct tasks *tasks) {
    const char *pool = tasks->pool.s, *task = tasks->task.s, *call = tasks->call.s, *what = tasks->call_what.s;
    if (tasks->awaited == AWAITED_NEVER) {
        draft_before(draft, "%s.execute(%s);%s\n", pool, task, what);
        draft_after(draft, "%s;\n", call);
    } else if (tasks->returns_future) {
        draft_before(draft, "return %s.submit(%s);%s\n", pool, task, what);
        draft_after(draft, "return CompletableFuture.completedFuture(%s);\n", call);
        draft_after(draft, "// or return the result itself, and leave out get() where it is awaited\n");
    } else if (tasks->awaited == AWAITED_ELSEWHERE) {
        draft_before(draft, "Future<Result> future = %s.submit(%s);%s\n", pool, task, what);
        draft_after(draft, "Future<Result> future = CompletableFuture.completedFuture(%s);\n", call);
    } else {
        draft_before(draft, "Future<Result> future = %s.submit(%s);%s\n", pool, task, what);
        write_meanwhile(draft, tasks);
        draft_before(draft, "Result result = future.get();\n");
        draft_after(draft, "Result result = %s;\n", call);
    }
}

// ---- inline

static void watch_inlined(struct draft *draft, const struct tasks *tasks) {
    if (tasks->awaited == AWAITED_NEVER)
        draft_watch(draft, "The caller is busy until the task is done, and gets its exceptions: catch here what only "
                           "the worker's handler saw.");
    else if (tasks->awaited == AWAITED_AT_ONCE)
        draft_watch(draft, "Exceptions reach the caller as they are, no longer within an ExecutionException, and a "
                           "time limit or cancel() on the future has no effect.");
    else
        draft_watch(draft, "The task no longer runs beside what comes between its submission and the wait for it; its "
                           "exceptions come at the call, not at get().");
    draft_watch(draft, "Thread-locals (transaction, security, logging context) and locks are the caller's: the task "
                       "must do with them.");
}

void sketch_inline(struct draft *draft) {
    const struct tasks tasks = tasks_of(draft->improvement);
    if (tasks.by == BY_FORK)
        write_fork(draft, &tasks);
    else if (tasks.by == BY_POOL)
        write_pool(draft, &tasks);
    else
        write_thread(draft, &tasks);
    watch_inlined(draft, &tasks);
}

// ---- hoist-branch

// "callsLoad(input)", true of tasks on this path.
static struct java_name condition_of(const struct improvement *improvement, const struct branch *branch) {
    struct java_name text = {"takesPath(input)"};
    if (!branch->known) return text;
    const struct trace_method *method = &improvement->dag->trace->methods[branch->leads_to];
    snprintf(text.s, sizeof text.s, "%scalls%.120s(input)", branch->on_this ? "" : "!",
             java_capital(java_method(method->name).s).s);
    return text;
}

static void write_choice(struct draft *draft, const struct tasks *tasks, const struct java_name *condition) {
    const bool has_result = tasks->by == BY_POOL && tasks->awaited != AWAITED_NEVER;
    if (has_result) {
        draft_both(draft, "Future<Result> future%s", "");
        draft_before(draft, " = %s.submit(%s);%s\n", tasks->pool.s, tasks->task.s, tasks->call_what.s);
        draft_after(draft,
                    ";\nif (%s) {\n    future = CompletableFuture.completedFuture(%s);\n} else {\n"
                    "    future = %s.submit(%s);\n}\n",
                    condition->s, tasks->call.s, tasks->pool.s, tasks->task.s);
        return;
    }
    char spawn[400];
    if (tasks->by == BY_POOL)
        snprintf(spawn, sizeof spawn, "%s.execute(%s);", tasks->pool.s, tasks->task.s);
    else if (tasks->by == BY_FORK)
        snprintf(spawn, sizeof spawn, "%s.fork();", tasks->task.s);
    else
        snprintf(spawn, sizeof spawn, "new Thread(%s).start();", tasks->task.s);
    draft_before(draft, "%s%s\n", spawn, tasks->call_what.s);
    draft_after(draft, "if (%s) {\n    %s;\n} else {\n    %s\n}\n", condition->s, tasks->call.s, spawn);
}

void sketch_hoist_branch(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct tasks tasks = tasks_of(improvement);
    const struct branch branch = branch_find(improvement);
    const struct java_name condition = condition_of(improvement, &branch);
    write_choice(draft, &tasks, &condition);
    if (branch.known)
        draft_watch(draft,
                    "The paths part in %s, where %s is called or not: the caller has to know that from what it hands "
                    "over%s.",
                    branch.decides ? phrase_method(improvement->dag, branch.decides).text : "the task itself",
                    phrase_method(improvement->dag, branch.leads_to).text,
                    branch.late ? ", which the recording lets doubt (the task first awaits or computes something)"
                                : "");
    else
        draft_watch(draft,
                    "Where the paths part is not known: the caller has to tell them apart by what it hands over.");
    watch_inlined(draft, &tasks);
}

// ---- merge and split

static const char *spawn_of(const struct tasks *tasks) {
    return tasks->awaited == AWAITED_NEVER ? "execute" : "submit";
}

static const char *type_of_results(const struct tasks *tasks, bool many) {
    if (tasks->awaited == AWAITED_NEVER) return "";
    return many ? "List<Future<List<Result>>> futures = new ArrayList<>();\n"
                : "List<Future<Result>> futures = new ArrayList<>();\n";
}

void sketch_merge(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct tasks tasks = tasks_of(improvement);
    const struct java_name factor = draft_number(improvement->factor);
    const bool awaited = tasks.awaited != AWAITED_NEVER;
    draft_before(draft, "%sfor (Item item : items) {\n    %s%s.%s(() -> work(item))%s;%s\n}\n",
                 type_of_results(&tasks, false), awaited ? "futures.add(" : "", tasks.pool.s, spawn_of(&tasks),
                 awaited ? ")" : "", tasks.call_what.s);
    draft_after(draft,
                "%sfor (int from = 0; from < items.size(); from += %s) {\n"
                "    List<Item> some = items.subList(from, Math.min(from + %s, items.size()));\n",
                type_of_results(&tasks, true), factor.s, factor.s);
    if (awaited)
        draft_after(draft,
                    "    futures.add(%s.submit(() -> {\n        List<Result> results = new ArrayList<>();\n"
                    "        for (Item item : some) {\n            results.add(work(item));\n        }\n"
                    "        return results;\n    }));\n}\n",
                    tasks.pool.s);
    else
        draft_after(draft,
                    "    %s.execute(() -> {\n        for (Item item : some) {\n            work(item);\n        }\n"
                    "    });\n}\n",
                    tasks.pool.s);
    draft_watch(draft,
                "An exception of one item must not keep the others of its task from running: catch it for each.");
    draft_watch(draft, awaited ? "A result is there only when all of its task are, and the list must not change "
                                 "meanwhile: subList() is a view."
                               : "What was to run first waits for the last of its group to be there, and the list must "
                                 "not change meanwhile: subList() is a view.");
    if (improvement->follows_cores)
        draft_watch(draft, "The number of tasks seems to follow the cores or the pool's size: make fewer parts where "
                           "that number is worked out.");
}

void sketch_split(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct tasks tasks = tasks_of(improvement);
    const bool awaited = tasks.awaited != AWAITED_NEVER;
    draft_before(draft,
                 awaited ? "Future<Result> future = %s.submit(() -> work(items));%s\n"
                         : "%s.execute(() -> work(items));%s\n",
                 tasks.pool.s, tasks.call_what.s);
    if (awaited) draft_before(draft, "Result result = future.get();\n");
    draft_after(
        draft,
        "int parts = %s;\n%sfor (int part = 0; part < parts; part++) {\n"
        "    List<Item> some = items.subList(items.size() * part / parts, items.size() * (part + 1) / parts);\n",
        draft_number(improvement->factor).s, type_of_results(&tasks, false));
    if (awaited)
        draft_after(draft,
                    "    futures.add(%s.submit(() -> work(some)));\n}\nResult result = null;\n"
                    "for (Future<Result> future : futures) {\n    result = combine(result, future.get());\n}\n",
                    tasks.pool.s);
    else
        draft_after(draft, "    %s.execute(() -> work(some));\n}\n", tasks.pool.s);
    draft_watch(draft, "That the work divides evenly is assumed: the parts may share no state that one of them writes, "
                       "and need no order.");
    draft_watch(draft, awaited
                           ? "The result is there when the last part is; where one fails, cancel the others or wait "
                             "for them."
                           : "What follows the task's end has to follow the last part's: count them down.");
    if (improvement->follows_cores)
        draft_watch(draft, "The number of tasks seems to follow the cores or the pool's size: make more parts where "
                           "that number is worked out.");
}
