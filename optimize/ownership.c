// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/ownership.h"

#include <stdlib.h>
#include <string.h>

struct look {
    const struct dag *dag;
    struct ownership *found;
    uint8_t *runs_own;                  // a task each: code of the program's is seen in it
    int64_t first_ns, last_ns;          // of the requests' begins and ends
    uint32_t *handed_over, *under_load; // a site each: tasks, and those that are handed over while requests come
    uint32_t *ended;                    // ... and those that end before the last request does
    uint32_t *own_tasks, *others;       // a pool each: of its tasks those of the program, and those of libraries
};

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

// What runs code that others give it; of the JDK's classes nobody can say whose task they are.
static bool hands_on(const char *class_name) {
    static const char *const prefixes[] = {
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "akka.",
        "brave.",
        "com.google.common.util.concurrent.",
        "com.linecorp.armeria.",
        "io.helidon.",
        "io.micrometer.",
        "io.micronaut.",
        "io.opentelemetry.",
        "io.quarkus.",
        "io.reactivex.",
        "io.smallrye.",
        "io.vertx.",
        "kotlin.",
        "kotlinx.",
        "org.apache.pekko.",
        "org.glassfish.enterprise.concurrent.",
        "org.quartz.",
        "org.springframework.aop.",
        "org.springframework.core.task.",
        "org.springframework.scheduling.",
        "org.springframework.util.concurrent.",
        "reactor.",
        "rx.",
        "scala.",
        "zio.",
    };
    bool does = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !does; i++)
        does = begins_with(class_name, prefixes[i]);
    return does;
}

// Of com.acme.shop.Main the first two parts; of a class with fewer packages all before its own name, or that.
static size_t family_length(const char *class_name) {
    size_t length = 0;
    for (unsigned parts = 0; parts < 2; parts++) {
        const char *dot = strchr(class_name + length, '.');
        if (!dot) break;
        length = (size_t)(dot - class_name) + 1;
    }
    return length ? length : strcspn(class_name, "$.");
}

static bool is_of_family(const char *class_name, const char *of) {
    const size_t length = family_length(of);
    return family_length(class_name) == length && strncmp(class_name, of, length) == 0;
}

// Classes in which the program's sites are, one a family.
enum { FAMILIES_MOST = 64 };
struct families {
    const char *of[FAMILIES_MOST];
    unsigned count; // FAMILIES_MOST: there may be others
};

static bool has_family(const struct families *families, const char *class_name) {
    bool has = families->count == FAMILIES_MOST;
    for (unsigned i = 0; i < families->count && !has; i++) has = is_of_family(class_name, families->of[i]);
    return has;
}

static void find_families(const struct dag *dag, struct families *families) {
    families->count = 0;
    for (uint32_t s = 0; s < dag->site_count; s++) {
        const struct trace_site *site = &dag->sites[s].site;
        if (site->of_library || !site->class_name || has_family(families, site->class_name)) continue;
        families->of[families->count++] = site->class_name;
    }
}

// Of each class whether it may be the program's: it is unknown, or where the program's sites are, or runs what it is
// given.
static void judge_classes(const struct dag *dag, uint8_t *own_class) {
    struct families families;
    find_families(dag, &families);
    for (uint32_t c = 0; c < dag->trace->class_count; c++) {
        const char *name = c ? dag->trace->classes[c].name : NULL;
        own_class[c] = !name || hands_on(name) || has_family(&families, name);
    }
}

// What has no package may be one class of many of the program's.
static void judge_actor_types(const struct dag *dag, const uint8_t *own_class, uint8_t *actor_type) {
    for (uint32_t c = 0; c < dag->trace->class_count; c++)
        actor_type[c] = own_class[c] || !strchr(dag->trace->classes[c].name, '.');
}

static bool is_own_place(const struct dag *dag, uint32_t trace_site) {
    return trace_site && trace_site < dag->trace->site_count && !dag->trace->sites[trace_site].of_library;
}

// Whether what a vertex tells is done by code of the program's.
static bool tells_own(const struct dag *dag, uint32_t vertex) {
    const uint32_t of = dag->vertices.task[vertex];
    switch (dag->vertices.kind[vertex]) {
    case VERTEX_SPAWN_BEGIN:
        return of != DAG_NONE && dag->tasks[of].site != DAG_NONE && !dag->sites[dag->tasks[of].site].site.of_library;
    case VERTEX_ACQUIRE:
    case VERTEX_HELD:
        return of != DAG_NONE && is_own_place(dag, dag->asks[of].site);
    default:
        return false;
    }
}

static void see_time_of_request(struct look *look, int64_t time_ns) {
    const bool first = look->found->requests++ == 0;
    if (first || time_ns < look->first_ns) look->first_ns = time_ns;
    if (first || time_ns > look->last_ns) look->last_ns = time_ns;
}

static void see_requests(struct look *look) {
    const struct dag *dag = look->dag;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        if (request->begin != DAG_NONE) see_time_of_request(look, dag->vertices.time_ns[request->begin]);
        if (request->end != DAG_NONE) see_time_of_request(look, dag->vertices.time_ns[request->end]);
        if (request->task != DAG_NONE) look->runs_own[request->task] = true;
    }
}

static void see_threads(struct look *look) {
    const struct dag *dag = look->dag;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE;
        const uint32_t end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            if (body != DAG_NONE && tells_own(dag, v)) look->runs_own[body] = true;
        }
    }
}

static bool is_own_task(const struct look *look, uint32_t t, const uint8_t *own_class) {
    const struct dag_task *task = &look->dag->tasks[t];
    if (task->site == DAG_NONE || look->dag->sites[task->site].site.of_library) return false;
    const bool own = task->task_class >= look->dag->trace->class_count || own_class[task->task_class];
    return own || task->awaited || look->runs_own[t];
}

static bool is_under_load(const struct look *look, const struct dag_task *task) {
    const int64_t time_ns = task->spawn_begin != DAG_NONE ? look->dag->vertices.time_ns[task->spawn_begin] : 0;
    return time_ns >= look->first_ns && time_ns <= look->last_ns;
}

static void see_tasks(struct look *look, const uint8_t *own_class) {
    const struct dag *dag = look->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        const bool own = look->runs_own[t] || is_own_task(look, t, own_class);
        if (task->pool < dag->pool_count) (own ? look->own_tasks : look->others)[task->pool]++;
        if (task->site == DAG_NONE) continue;
        look->handed_over[task->site]++;
        look->under_load[task->site] += is_under_load(look, task);
        look->ended[task->site] += task->end != DAG_NONE && dag->vertices.time_ns[task->end] < look->last_ns;
    }
}

// To a library's pool a program may hand over once: what ends the library, say.
static void judge_pools(struct look *look) {
    for (uint32_t p = 0; p < look->dag->pool_count; p++)
        look->found->pool[p] = look->own_tasks[p] > 1 || (look->own_tasks[p] == 1 && look->others[p] == 0);
}

static void judge_sites(struct look *look, const uint8_t *own_class) {
    const struct dag *dag = look->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const uint32_t pool = dag->tasks[t].pool;
        if (pool < dag->pool_count && !look->found->pool[pool]) continue;
        if (is_own_task(look, t, own_class)) look->found->site[dag->tasks[t].site] = true;
    }
}

// What a service does once, or while no request comes, and loops that last as long as it does.
static void leave_out_start_and_end(struct look *look) {
    for (uint32_t s = 0; look->found->requests && s < look->dag->site_count; s++) {
        if (look->handed_over[s] < 2 || look->under_load[s] == 0 || look->ended[s] == 0) look->found->site[s] = false;
    }
}

// Of a service that begins with what libraries do the pools that have tasks of such sites only.
static void leave_out_pools(struct look *look) {
    const struct dag *dag = look->dag;
    if (look->found->requests == 0) return;
    memset(look->found->pool, false, dag->pool_count);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        const bool own = look->runs_own[t] || (task->site != DAG_NONE && look->found->site[task->site]);
        if (task->pool < dag->pool_count && own) look->found->pool[task->pool] = true;
    }
}

// Where nothing is known of the application.
static void judge_without_application(struct look *look) {
    memset(look->found->site, true, look->dag->site_count);
    memset(look->found->pool, true, look->dag->pool_count);
    memset(look->found->actor_type, true, look->dag->trace->class_count);
    leave_out_start_and_end(look);
    leave_out_pools(look);
}

static void judge_by_application(struct look *look, const uint8_t *own_class) {
    judge_actor_types(look->dag, own_class, look->found->actor_type);
    judge_pools(look);
    judge_sites(look, own_class);
    leave_out_start_and_end(look);
}

static bool knows_application(const struct dag *dag) {
    bool of_library = false, own = false;
    for (uint32_t s = 0; s < dag->site_count; s++) {
        of_library |= dag->sites[s].site.of_library;
        own |= !dag->sites[s].site.of_library;
    }
    return of_library && own;
}

static bool look_closely(struct look *look) {
    const struct dag *dag = look->dag;
    uint8_t *own_class = malloc((size_t)dag->trace->class_count + 1);
    look->runs_own = calloc((size_t)dag->task_count + 1, 1);
    look->handed_over = calloc((size_t)dag->site_count + 1, sizeof *look->handed_over);
    look->under_load = calloc((size_t)dag->site_count + 1, sizeof *look->under_load);
    look->ended = calloc((size_t)dag->site_count + 1, sizeof *look->ended);
    look->own_tasks = calloc((size_t)dag->pool_count + 1, sizeof *look->own_tasks);
    look->others = calloc((size_t)dag->pool_count + 1, sizeof *look->others);
    const bool done = own_class && look->runs_own && look->handed_over && look->under_load && look->ended &&
                      look->own_tasks && look->others;
    if (done) {
        judge_classes(dag, own_class);
        see_requests(look);
        see_threads(look);
        see_tasks(look, own_class);
        if (look->found->knows_application)
            judge_by_application(look, own_class);
        else
            judge_without_application(look);
    }
    free(own_class);
    free(look->runs_own);
    free(look->handed_over);
    free(look->under_load);
    free(look->ended);
    free(look->own_tasks);
    free(look->others);
    return done;
}

bool ownership_find(struct ownership *ownership, const struct dag *dag) {
    struct look look = {.dag = dag, .found = ownership};
    *ownership = (struct ownership){.knows_application = knows_application(dag)};
    ownership->site = calloc((size_t)dag->site_count + 1, 1);
    ownership->pool = calloc((size_t)dag->pool_count + 1, 1);
    ownership->actor_type = calloc((size_t)dag->trace->class_count + 1, 1);
    return ownership->site && ownership->pool && ownership->actor_type && look_closely(&look);
}

void ownership_destroy(struct ownership *ownership) {
    free(ownership->site);
    free(ownership->pool);
    free(ownership->actor_type);
    *ownership = (struct ownership){0};
}
