// SPDX-License-Identifier: GPL-3.0-or-later
// Sketch of resize-pool, by what the pool is: its class, its queue, and where a framework makes it, its name.
#include "report/sketch_kinds.h"

#include <inttypes.h>
#include <string.h>

struct pool {
    const struct trace_pool *as;
    const struct dag_pool *rules;
    struct java_name variable, name; // name: as its threads have it
    uint32_t size;                   // 0: without bound
    int32_t threads;                 // that it is to have
};

static bool has(const char *text, const char *part) {
    return text && strstr(text, part);
}

static bool begins(const char *text, const char *with) {
    return text && strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
    const size_t length = text ? strlen(text) : 0;
    return length >= strlen(with) && strcmp(text + length - strlen(with), with) == 0;
}

static struct java_name size_of(const struct pool *pool) {
    return pool->size ? draft_number(pool->size) : (struct java_name){"Integer.MAX_VALUE"};
}

// ---- what frameworks make, of which the size is a setting

// A setting of a framework that names its pools in its own way.
struct setting {
    const char *begins, *ends; // of the pool's name; NULL: anything
    const char *kind;          // part of the executor's class; NULL: any
    const char *key;           // of the setting
    const char *whose;
};

static const struct setting settings[] = {
    {"http", NULL, "tomcat.util.threads", "server.tomcat.threads.max",
     "Tomcat (in server.xml: maxThreads of the Connector)"},
    {"task", "task", "springframework", "spring.task.execution.pool.core-size", "Spring Boot's own executor"},
    {"applicationTaskExecutor", "applicationTaskExecutor", "springframework", "spring.task.execution.pool.core-size",
     "Spring Boot's own executor"},
    {"taskScheduler", "taskScheduler", "Schedul", "spring.task.scheduling.pool.size", "Spring Boot's own scheduler"},
    {"scheduling", "scheduling", "Schedul", "spring.task.scheduling.pool.size", "Spring Boot's own scheduler"},
    {"qtp", NULL, "jetty", "server.jetty.threads.max", "Jetty under Spring Boot (else new QueuedThreadPool(n))"},
};

static const struct setting *setting_of(const struct pool *pool) {
    const char *name = pool->as->name;
    for (size_t i = 0; name && i < sizeof settings / sizeof *settings; i++) {
        const struct setting *setting = &settings[i];
        if (begins(name, setting->begins) && (!setting->ends || ends(name, setting->ends)) &&
            (!setting->kind || has(pool->as->kind, setting->kind)))
            return setting;
    }
    return NULL;
}

static void write_setting(struct draft *draft, const struct pool *pool, const struct setting *setting) {
    draft_both(draft, "// application.properties, of %s\n", setting->whose);
    if (pool->size)
        draft_before(draft, "// %s=%s\n", setting->key, size_of(pool).s);
    else
        draft_before(draft, "// %s as it is by default\n", setting->key);
    draft_after(draft, "// %s=%d\n", setting->key, pool->threads);
}

static bool is_dispatcher(const struct pool *pool) {
    return has(pool->as->name, "akka.actor.") || has(pool->as->name, "pekko.actor.");
}

static void write_dispatcher(struct draft *draft, const struct pool *pool) {
    const char *pekko = strstr(pool->as->name, "pekko.actor.");
    const struct java_name path = java_text(pekko ? pekko : strstr(pool->as->name, "akka.actor."));
    draft_both(draft, "// application.conf\n// %s.fork-join-executor {\n", path.s);
    draft_before(draft, "//   parallelism-min = %s\n//   parallelism-max = %s\n", size_of(pool).s, size_of(pool).s);
    draft_after(draft, "//   parallelism-min = %d\n//   parallelism-max = %d\n", pool->threads, pool->threads);
    draft_both(draft, "// }\n");
    draft_watch(draft, "If the dispatcher is a thread-pool-executor, the setting is fixed-pool-size in its block.");
}

// ---- what the program makes

static bool is_common(const struct pool *pool) {
    return has(pool->as->name, "commonPool") || (!pool->as->name && has(pool->as->kind, "ForkJoinPool"));
}

static void write_fork_join(struct draft *draft, const struct pool *pool) {
    if (is_common(pool)) {
        draft_both(draft, "// the command line: the common pool's parallelism\n");
        draft_before(draft, "// -Djava.util.concurrent.ForkJoinPool.common.parallelism=%s\n", size_of(pool).s);
        draft_after(draft, "// -Djava.util.concurrent.ForkJoinPool.common.parallelism=%d\n", pool->threads);
        draft_watch(draft, "Parallel streams and CompletableFuture's ...Async methods use the common pool, too.");
        return;
    }
    const char *rest =
        has(pool->as->queue, "async") ? ", ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true" : "";
    draft_before(draft, "ForkJoinPool %s = new ForkJoinPool(%s%s);\n", pool->variable.s, size_of(pool).s, rest);
    draft_after(draft, "ForkJoinPool %s = new ForkJoinPool(%d%s);\n", pool->variable.s, pool->threads, rest);
}

static void write_scheduled(struct draft *draft, const struct pool *pool) {
    const char *name = pool->variable.s;
    if (has(pool->as->kind, "java.util.Timer")) {
        draft_before(draft, "Timer %s = new Timer();\n", name);
        draft_watch(draft, "A Timer has one thread: TimerTasks become Runnables, and cancel() is Future.cancel().");
    } else {
        draft_before(draft, "ScheduledExecutorService %s = Executors.newScheduledThreadPool(%s);\n", name,
                     size_of(pool).s);
    }
    draft_after(draft, "ScheduledExecutorService %s = Executors.newScheduledThreadPool(%d);\n", name, pool->threads);
    if (pool->threads > 1)
        draft_watch(draft, "Different tasks of it may run side by side; one periodic task never beside itself.");
}

static struct java_name queue_of(const struct pool *pool) {
    struct java_name queue = {"new LinkedBlockingQueue<>()"};
    if (has(pool->as->queue, "PriorityBlockingQueue")) return (struct java_name){"new PriorityBlockingQueue<>()"};
    const int64_t capacity = pool->as->capacity;
    if (capacity > 0)
        snprintf(queue.s, sizeof queue.s, "new %sBlockingQueue<>(%" PRId64 ")",
                 has(pool->as->queue, "Array") ? "Array" : "Linked", capacity);
    return queue;
}

static int64_t keep_alive_s(const struct pool *pool) {
    return pool->as->keep_alive_ns > 0 ? pool->as->keep_alive_ns / 1000000000 : 0;
}

static void write_hand_off(struct draft *draft, const struct pool *pool) {
    const char *name = pool->variable.s;
    const int64_t seconds = keep_alive_s(pool) > 0 ? keep_alive_s(pool) : 60;
    if (pool->as->core <= 0 && !pool->size)
        draft_before(draft, "ExecutorService %s = Executors.newCachedThreadPool();\n", name);
    else
        draft_before(draft,
                     "ThreadPoolExecutor %s = new ThreadPoolExecutor(%d, %s, %" PRId64 ", TimeUnit.SECONDS,\n"
                     "    new SynchronousQueue<>());\n",
                     name, pool->as->core > 0 ? pool->as->core : 0, size_of(pool).s, seconds);
    draft_after(draft,
                "ThreadPoolExecutor %s = new ThreadPoolExecutor(%d, %d, %" PRId64 ", TimeUnit.SECONDS,\n"
                "    new LinkedBlockingQueue<>());\n%s.allowCoreThreadTimeOut(true);\n",
                name, pool->threads, pool->threads, seconds, name);
    draft_watch(draft, "The pool handed each task to a thread at once, or rejected it; now tasks wait in a queue, and "
                       "none is rejected: bound the queue if what submits must be slowed down.");
}

static void write_executor(struct draft *draft, const struct pool *pool) {
    const char *name = pool->variable.s;
    const struct java_name queue = queue_of(pool);
    const int32_t core = pool->as->core, maximum = pool->as->maximum;
    if (core == maximum && strcmp(queue.s, "new LinkedBlockingQueue<>()") == 0) {
        draft_before(draft, "ExecutorService %s = Executors.newFixedThreadPool(%d);\n", name, core);
        draft_after(draft, "ExecutorService %s = Executors.newFixedThreadPool(%d);\n", name, pool->threads);
        return;
    }
    const struct java_name most =
        maximum == INT32_MAX ? (struct java_name){"Integer.MAX_VALUE"} : draft_number(maximum);
    draft_before(draft,
                 "ThreadPoolExecutor %s = new ThreadPoolExecutor(%d, %s, %" PRId64 ", TimeUnit.SECONDS,\n    %s);\n",
                 name, core, most.s, keep_alive_s(pool), queue.s);
    draft_after(draft,
                "ThreadPoolExecutor %s = new ThreadPoolExecutor(%d, %d, %" PRId64 ", TimeUnit.SECONDS,\n    %s);\n",
                name, pool->threads, pool->threads, keep_alive_s(pool), queue.s);
    if (maximum > dag_pool_most(pool->rules))
        draft_watch(draft, "The queue has no bound, so that the pool never has more than its core threads: the maximum "
                           "has no effect.");
}

static void write_stage(struct draft *draft, const struct pool *pool) {
    const char *name = *pool->name.s ? pool->name.s : "its stage";
    draft_both(draft, "// where the threads of %s are started, which a recording does not tell\n", name);
    draft_before(draft, "for (int i = 0; i < %s; i++) new Thread(%s).start();\n", size_of(pool).s, pool->variable.s);
    draft_after(draft, "for (int i = 0; i < %d; i++) new Thread(%s).start();\n", pool->threads, pool->variable.s);
    draft_watch(draft, "Where an element tells each of them to end, as many are to be put.");
    if (pool->size == 1) draft_watch(draft, "One thread did one after the other: their order is lost.");
}

// Reactor's own schedulers, by the name of their threads.
static const char *reactor_property(const struct pool *pool) {
    const char *name = pool->as->name;
    if (name && strcmp(name, "parallel") == 0) return "reactor.schedulers.defaultPoolSize";
    return name && strcmp(name, "boundedElastic") == 0 ? "reactor.schedulers.defaultBoundedElasticSize" : NULL;
}

static void write_made_scheduler(struct draft *draft, const struct pool *pool) {
    const char *name = pool->variable.s, *text = pool->name.s;
    draft_before(draft, "Scheduler %s = Schedulers.newBoundedElastic(%s, Integer.MAX_VALUE, \"%s\");\n", name,
                 size_of(pool).s, text);
    draft_after(draft, "Scheduler %s = Schedulers.newBoundedElastic(%d, Integer.MAX_VALUE, \"%s\");\n", name,
                pool->threads, text);
}

// Executors of one thread each.
static void write_dealt(struct draft *draft, const struct pool *pool) {
    const char *property = reactor_property(pool), *name = pool->variable.s;
    if (property) {
        draft_both(draft, "// the command line: Reactor's own scheduler\n");
        draft_before(draft, "// -D%s=%s\n", property, size_of(pool).s);
        draft_after(draft, "// -D%s=%d\n", property, pool->threads);
    } else {
        draft_both(draft, "// where the executors of %s are made, which a recording does not tell\n", pool->name.s);
        if (has(pool->as->kind, "BoundedElastic")) {
            write_made_scheduler(draft, pool);
        } else {
            draft_before(draft, "ExecutorService[] %s = new ExecutorService[%s]; // of one thread each\n", name,
                         size_of(pool).s);
            draft_after(draft, "ExecutorService[] %s = new ExecutorService[%d];\n", name, pool->threads);
            draft_watch(draft, "A library's scheduler is made with that number, as Reactor's by newParallel(name, n).");
        }
    }
    draft_watch(draft, "Tasks are taken to be dealt to the threads by turns: where a key decides, or who asked, they "
                       "may be spread less evenly.");
}

static void watch_size(struct draft *draft, const struct pool *pool) {
    if (pool->size && (uint32_t)pool->threads > pool->size)
        draft_watch(draft, "What its tasks share (connections, locks, memory, other services) must bear %d at once.",
                    pool->threads);
    else
        draft_watch(draft,
                    "With %d thread%s, tasks that wait for others of the same pool may find none to run them: "
                    "wait for these outside of it.",
                    pool->threads, pool->threads == 1 ? "" : "s");
}

static void write_pool(struct draft *draft, const struct pool *pool) {
    const struct setting *setting = setting_of(pool);
    if (setting) {
        write_setting(draft, pool, setting);
        return;
    }
    if (is_dispatcher(pool)) {
        write_dispatcher(draft, pool);
        return;
    }
    if (pool->rules->is_stage) {
        write_stage(draft, pool);
        return;
    }
    if (pool->rules->is_dealt) {
        write_dealt(draft, pool);
        return;
    }
    draft_both(draft, "// where %s is made, which a recording does not tell\n",
               *pool->name.s ? pool->name.s : "the pool");
    if (has(pool->as->kind, "ForkJoinPool"))
        write_fork_join(draft, pool);
    else if (has(pool->as->kind, "Scheduled") || has(pool->as->kind, "java.util.Timer"))
        write_scheduled(draft, pool);
    else if (has(pool->as->queue, "SynchronousQueue"))
        write_hand_off(draft, pool);
    else
        write_executor(draft, pool);
    if (has(pool->as->kind, "springframework"))
        draft_watch(draft, "Spring makes this one: setCorePoolSize(%d) and setMaxPoolSize(%d) of its bean.",
                    pool->threads, pool->threads);
}

void sketch_resize_pool(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct dag *dag = improvement->dag;
    const uint32_t id = improvement->pool;
    if (!id || id >= dag->trace->pool_count || id >= dag->pool_count) {
        draft_both(draft, "// a pool that this recording does not have\n");
        draft_watch(draft, "Another recording has it.");
        return;
    }
    const struct pool pool = {.as = &dag->trace->pools[id],
                              .rules = &dag->pools[id],
                              .variable = draft_pool(dag, id),
                              .name = java_text(dag->trace->pools[id].name),
                              .size = improvement_pool_size(dag, id),
                              .threads = improvement->threads};
    write_pool(draft, &pool);
    watch_size(draft, &pool);
    if (improvement->alike)
        draft_watch(draft, "%u pools were made so. If several places make them, change all of these.",
                    dag->pools[id].alike_count);
}
