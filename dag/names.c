// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/names.h"

#include <stdio.h>
#include <string.h>

// A class that the JVM made up: its name means nothing to its program.
static bool is_hidden(const char *class_name) {
    return strstr(class_name, "$$") || strchr(class_name, '/') || class_name[0] == '[';
}

static const char *class_of(const struct dag *dag, uint32_t class) {
    const char *name = class && class < dag->trace->class_count ? dag->trace->classes[class].name : NULL;
    return name && !is_hidden(name) ? name : NULL;
}

const char *dag_place_text(const struct dag *dag, uint32_t trace_site, char *text, size_t size) {
    const struct trace_site *site =
        trace_site && trace_site < dag->trace->site_count ? &dag->trace->sites[trace_site] : NULL;
    if (!site || !site->class_name || !site->method)
        snprintf(text, size, "an unknown place");
    else if (site->line)
        snprintf(text, size, "%s.%s:%u", site->class_name, site->method, site->line);
    else
        snprintf(text, size, "%s.%s", site->class_name, site->method);
    return text;
}

const char *dag_pool_text(const struct dag *dag, uint32_t pool, char *text, size_t size) {
    const char *name = pool < dag->trace->pool_count ? dag->trace->pools[pool].name : NULL;
    if (name)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "pool %u", pool);
    return text;
}

// ---- resources

static const char *const kind_before_name[RESOURCE_KINDS] = {
    [RESOURCE_MONITOR] = "monitor of ", [RESOURCE_LOCK] = "lock ",    [RESOURCE_READ_WRITE_LOCK] = "lock ",
    [RESOURCE_PERMITS] = "semaphore ",  [RESOURCE_PLACES] = "queue ", [RESOURCE_POOL] = "",
    [RESOURCE_QUEUE] = "queue ",        [RESOURCE_RATE] = "rate ",
};
static const char *const kind_alone[RESOURCE_KINDS] = {
    [RESOURCE_MONITOR] = "monitor",   [RESOURCE_LOCK] = "lock",    [RESOURCE_READ_WRITE_LOCK] = "lock",
    [RESOURCE_PERMITS] = "semaphore", [RESOURCE_PLACES] = "queue", [RESOURCE_POOL] = "pool of objects",
    [RESOURCE_QUEUE] = "queue",       [RESOURCE_RATE] = "rate",
};

// "ReentrantLock" of java.util.concurrent.locks.ReentrantLock$NonfairSync; NULL of what is none of the JDK's.
static const char *jdk_class(const char *class_name, char *text, size_t size) {
    if (strncmp(class_name, "java.", 5) != 0) return NULL;
    const char *simple = strrchr(class_name, '.') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(simple, "$"), simple);
    return text;
}

// What was a block_begin is a monitor unless its class is one of the locks'.
static const char *text_of_class(const struct dag_resource *resource, const char *class_name, uint32_t site,
                                 const struct dag *dag, char *text, size_t size) {
    char simple[128], place[400];
    const char *jdk = class_name ? jdk_class(class_name, simple, sizeof simple) : NULL;
    bool lock_of_jdk = jdk && strncmp(class_name, "java.util.concurrent.", 21) == 0;
    bool monitor = resource->kind == RESOURCE_MONITOR || (resource->kind == RESOURCE_LOCK && !lock_of_jdk);
    if (class_name && monitor && (!jdk || !site))
        snprintf(text, size, "monitor of %s", jdk ? jdk : class_name);
    else if (site)
        snprintf(text, size, "%s taken at %s", monitor ? "monitor" : kind_alone[resource->kind],
                 dag_place_text(dag, site, place, sizeof place));
    else if (jdk)
        snprintf(text, size, "a %s", jdk);
    else
        snprintf(text, size, "a %s", kind_alone[resource->kind]);
    return text;
}

bool dag_initialises_class(const struct dag *dag, uint32_t resource) {
    uint32_t class = dag->resources[resource].resource_class;
    const char *name = class && class < dag->trace->class_count ? dag->trace->classes[class].name : NULL;
    return name && strcmp(name, "[I") == 0;
}

const char *dag_resource_text(const struct dag *dag, uint32_t index, uint32_t site, char *text, size_t size) {
    const struct dag_resource *resource = &dag->resources[index];
    if (resource->name && !is_hidden(resource->name)) {
        snprintf(text, size, "%s%s", kind_before_name[resource->kind], resource->name);
        return text;
    }
    if (dag_initialises_class(dag, index)) {
        snprintf(text, size, "initialisation of a class");
        return text;
    }
    return text_of_class(resource, class_of(dag, resource->resource_class), site, dag, text, size);
}

uint32_t dag_resource_site(const struct dag *dag, uint32_t resource) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        if (dag->asks[i].resource == resource && dag->asks[i].site) return dag->asks[i].site;
    }
    return 0;
}

// ---- tasks

static const char *thread_name(const struct dag *dag, const struct dag_task *task) {
    uint32_t stream = task->thread == DAG_NONE ? DAG_NONE : dag->threads[task->thread].stream;
    return stream == DAG_NONE ? NULL : dag->trace->streams[stream].thread.name;
}

static const char *text_without_spawn(const struct dag *dag, const struct dag_task *task, char *text, size_t size) {
    char pool[300];
    const char *class_name = class_of(dag, task->task_class), *thread = thread_name(dag, task);
    bool is_run = task->flags & TASK_THREAD_RUN;
    if (class_name && !is_run)
        snprintf(text, size, "a task of %s", class_name);
    else if (is_run && thread)
        snprintf(text, size, "thread %s", thread);
    else if (task->pool)
        snprintf(text, size, "a task of %s", dag_pool_text(dag, task->pool, pool, sizeof pool));
    else if (thread)
        snprintf(text, size, "a task on thread %s", thread);
    else
        snprintf(text, size, "a task");
    return text;
}

const char *dag_task_text(const struct dag *dag, uint32_t index, char *text, size_t size) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->flags & TASK_MAIN) {
        snprintf(text, size, "main");
        return text;
    }
    if (task->site != DAG_NONE) return dag_site_text(dag, task->site, text, size);
    return text_without_spawn(dag, task, text, size);
}

bool dag_is_jdk_class(const char *class_name) {
    static const char *const prefixes[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(class_name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    }
    return false;
}

bool dag_is_named(const char *class_name, const char *method, const char *name, size_t length) {
    if (!class_name || !method) return false;
    size_t class_length = strlen(class_name), method_length = strlen(method);
    if (length <= method_length + 1 || length > class_length + 1 + method_length) return false;
    size_t kept = length - method_length - 1, left_out = class_length - kept;
    return memcmp(name + length - method_length, method, method_length) == 0 && name[kept] == '.' &&
           memcmp(name, class_name + left_out, kept) == 0 && (left_out == 0 || class_name[left_out - 1] == '.');
}
