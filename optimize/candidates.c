// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/candidates.h"

#include "metrics/grain.h"
#include "metrics/resources.h"
#include "optimize/actor_candidates.h"
#include "optimize/actor_change.h"
#include "optimize/ownership.h"
#include "optimize/plan_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATHS = 8, MOST_SIZES = 40 };

// Tasks of an improvement

static const char *refusal_of(const struct improvement *improvement, uint32_t task) {
    switch (improvement->kind) {
    case KIND_COMBINATOR:
        return dag_combinator_refusal(improvement->dag, task);
    case KIND_MERGE:
        return dag_merge_refusal(improvement->dag, task);
    case KIND_SPLIT:
        return dag_split_refusal(improvement->dag, task);
    default:
        return dag_inline_refusal(improvement->dag, task);
    }
}

// Of an improvement that leaves out all tasks there are.
static const char *none_left(const struct improvement *improvement) {
    static const char *const reasons[LEFT_OUT_KINDS] = {
        [LEFT_OUT_CANCELLED] = "all of its tasks were cancelled",
        [LEFT_OUT_REJECTED] = "its pool rejected all of its tasks",
        [LEFT_OUT_UNENDED] = "none of its tasks ended before recording did",
        [LEFT_OUT_LOST_END] = "the end of none of its tasks was recorded",
        [LEFT_OUT_OUT_OF_ORDER] = "all of its tasks were recorded as starting before their spawn",
        [LEFT_OUT_MIXED] = "the hand-over of all of its tasks does work for other tasks",
    };
    for (unsigned kind = LEFT_OUT_NOT + 1; kind < LEFT_OUT_KINDS; kind++) {
        if (improvement->left_out[kind] == improvement_left_out(improvement)) return reasons[kind];
    }
    return "each of its tasks was cancelled or rejected, or has no end that was recorded";
}

static bool can_keep_pool(const struct improvement *improvement) {
    bool can = true;
    for (uint32_t i = 0; i < improvement->task_count && can; i++)
        can = dag_combinator_keeps_pool(improvement->dag, improvement->tasks[i]);
    return can;
}

static void set_refusal(struct improvement *improvement) {
    improvement->refusal = NULL;
    if (improvement->kind == KIND_RESIZE_POOL) {
        improvement->refusal = dag_resize_refusal(improvement->dag, improvement->pool);
        return;
    }
    if (improvement_is_of_resource(improvement)) {
        improvement->refusal = (improvement->kind == KIND_UNLOCK ? dag_unlock_refusal : dag_resize_resource_refusal)(
            improvement->dag, improvement->resource);
        return;
    }
    if (improvement->task_count == 0 && improvement_left_out(improvement) > 0)
        improvement->refusal = none_left(improvement);
    else if (improvement->task_count == 0 && improvement->kind == KIND_COMBINATOR)
        improvement->refusal = "none of its tasks awaits one that it spawned";
    for (uint32_t i = 0; i < improvement->task_count && !improvement->refusal; i++) {
        improvement->refusal = refusal_of(improvement, improvement->tasks[i]);
    }
    if (!improvement->refusal && improvement->first == FIRST_STAGE_ON_POOL && !can_keep_pool(improvement))
        improvement->refusal = "its first stage can't stay on its pool, by whose rules nothing can be dispatched";
}

// What follows from the tasks.
static bool set_facts(struct improvement *improvement, struct arena *arena) {
    const struct dag *dag = improvement->dag;
    improvement->shares_line =
        improvement->site != DAG_NONE && site_shares_line(dag, &dag->sites[improvement->site].site, improvement->site);
    set_refusal(improvement);
    improvement->stages = (struct stages){0};
    return improvement->kind != KIND_COMBINATOR || stages_find(dag, improvement->tasks, improvement->task_count,
                                                               improvement->first, arena, &improvement->stages);
}

// Whether it is of the site and context.
static bool is_concerned(const struct improvement *improvement, const struct dag_task *task) {
    bool of_context = improvement->context == DAG_NONE || task->context == improvement->context;
    return task->site == improvement->site && of_context && !(task->flags & TASK_NESTED);
}

// Whether its own hand-over could not be dropped alone.
static bool is_mixed(const struct improvement *improvement, uint32_t index) {
    const struct dag_task *task = &improvement->dag->tasks[index];
    const unsigned never_handed_over = TASK_MAIN | TASK_NESTED | TASK_HANDED_OVER;
    if (improvement->kind != KIND_INLINE && improvement->kind != KIND_HOIST_BRANCH) return false;
    if (task->spawn_begin == DAG_NONE || task->flags & never_handed_over) return false;
    return dag_bracket_serves_others(improvement->dag, index);
}

static enum dag_left_out left_out(const struct improvement *improvement, uint32_t index) {
    bool of_site = improvement_is_of_site(improvement) && is_concerned(improvement, &improvement->dag->tasks[index]);
    if (!of_site) return LEFT_OUT_NOT;
    const enum dag_left_out kind = dag_left_out(improvement->dag, index);
    return kind == LEFT_OUT_NOT && is_mixed(improvement, index) ? LEFT_OUT_MIXED : kind;
}

static bool is_changed(const struct improvement *improvement, uint32_t index) {
    const struct dag_task *task = &improvement->dag->tasks[index];
    if (improvement_is_of_resource(improvement)) return !(task->flags & TASK_NESTED);
    if (improvement->kind == KIND_RESIZE_POOL)
        return improvement_is_of_pool(improvement, task->pool) && !(task->flags & TASK_NESTED);
    if (!is_concerned(improvement, task) || left_out(improvement, index)) return false;
    if (improvement->kind == KIND_HOIST_BRANCH && improvement->path != DAG_NONE) {
        return task->path == improvement->path && task->start != DAG_NONE;
    }
    return improvement->kind != KIND_COMBINATOR || stages_coordinates(improvement->dag, index);
}

// Keeps those of the tasks, which rise, that the improvement changes.
static bool take_tasks(struct improvement *improvement, const uint32_t *tasks, uint32_t count, struct arena *arena) {
    uint32_t changed = 0;
    memset(improvement->left_out, 0, sizeof improvement->left_out);
    for (uint32_t i = 0; i < count; i++) {
        changed += is_changed(improvement, tasks[i]);
        improvement->left_out[left_out(improvement, tasks[i])]++;
    }
    uint32_t *kept = ARENA_NEW(arena, uint32_t, (size_t)changed + 1);
    if (!kept) return false;
    improvement->tasks = kept;
    improvement->task_count = 0;
    for (uint32_t i = 0; i < count && improvement->task_count < changed; i++) {
        if (is_changed(improvement, tasks[i])) kept[improvement->task_count++] = tasks[i];
    }
    return set_facts(improvement, arena);
}

static bool is_carried(const struct dag *dag, const struct dag_task *task) {
    return task->thread != DAG_NONE && dag->threads[task->thread].is_virtual;
}

// Marks the tasks that ask for a resource.
static void find_askers(const struct dag *dag, uint32_t resource, uint8_t *asks) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t t = 0; dag->carriers == resource + 1 && t < dag->task_count; t++)
        asks[t] = is_carried(dag, &dag->tasks[t]);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            bool of_resource = vertex_is_of_resource(vertices->kind[v]) && body != DAG_NONE;
            if (of_resource && dag->asks[vertices->task[v]].resource == resource) asks[body] = true;
        }
    }
}

static bool fill_of_actors(struct improvement *improvement, struct arena *arena) {
    struct actor_log log = {0};
    struct error error = ERROR_INIT;
    bool done = actor_log_read(improvement->dag, &log, &error) && actor_change_fill(improvement, &log, arena);
    actor_log_destroy(&log);
    return done;
}

bool candidates_fill(struct improvement *improvement, struct arena *arena) {
    const struct dag *dag = improvement->dag;
    if (improvement_is_of_actors(improvement)) return fill_of_actors(improvement, arena);
    const bool of_resource = improvement_is_of_resource(improvement), of_pool = improvement->kind == KIND_RESIZE_POOL;
    uint32_t *all = malloc(((size_t)dag->task_count + 1) * sizeof *all), count = 0;
    uint8_t *asks = calloc((size_t)dag->task_count + 1, 1);
    bool done = all && asks;
    if (done && of_resource && improvement->resource != DAG_NONE) find_askers(dag, improvement->resource, asks);
    for (uint32_t t = 0; done && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool concerned = of_pool ? improvement_is_of_pool(improvement, task->pool) : task->site == improvement->site;
        if (of_resource ? asks[t] : concerned) all[count++] = t;
    }
    done = done && take_tasks(improvement, all, count, arena);
    free(all);
    free(asks);
    return done;
}

// One DAG

struct listing {
    const struct dag *dag;
    unsigned kinds;
    struct arena *arena; // of the tasks
    struct improvement *items;
    size_t count, capacity;
    const struct grain_group *groups;
    size_t group_count;
    struct ownership ownership;
};

// No code of the program's is there to be changed: their place is a time, or they are actors' mailboxes.
static bool is_no_code(const struct improvement *improvement) {
    return improvement->refusal == dag_delayed_refusal || improvement->refusal == dag_mailbox_refusal;
}

// Unless it changes nothing, or nothing that could be.
static bool list(struct listing *listing, const struct improvement *improvement) {
    if (improvement->task_count == 0 || is_no_code(improvement)) return true;
    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
        struct improvement *larger = realloc(listing->items, capacity * sizeof *larger);
        if (!larger) return false;
        listing->items = larger;
        listing->capacity = capacity;
    }
    listing->items[listing->count++] = *improvement;
    return true;
}

static struct improvement of_site(const struct dag *dag, enum improvement_kind kind, uint32_t site, uint32_t context) {
    return (struct improvement){.kind = kind, .dag = dag, .site = site, .context = context, .path = DAG_NONE};
}

// Doubles from 2 to `most`.
static bool list_factors(struct listing *listing, struct improvement *improvement, uint64_t most) {
    bool done = true;
    for (uint64_t factor = 2; factor <= most && done; factor *= 2) {
        improvement->factor = (uint32_t)factor;
        done = list(listing, improvement);
    }
    return done;
}

static uint64_t most_parts(const struct dag *dag) {
    return dag->trace->header.cores ? 4ull * dag->trace->header.cores : 4;
}

static bool list_grain(struct listing *listing, unsigned kinds, const uint32_t *tasks, uint32_t count, uint32_t site) {
    for (size_t g = 0; g < listing->group_count; g++) {
        const struct grain_group *group = &listing->groups[g];
        enum improvement_kind kind = group->grain == GRAIN_FINE ? KIND_MERGE : KIND_SPLIT;
        if (group->site != site || !(kinds & KIND_BIT(kind)) || (kind == KIND_SPLIT && !group->divides)) continue;
        struct improvement improvement = of_site(listing->dag, kind, site, DAG_NONE);
        improvement.follows_cores = group->follows_cores;
        uint64_t most = kind == KIND_MERGE ? group->largest_batch : most_parts(listing->dag);
        if (!take_tasks(&improvement, tasks, count, listing->arena)) return false;
        if (!improvement.refusal && !list_factors(listing, &improvement, most)) return false;
    }
    return true;
}

// Paths

struct path_cost {
    uint32_t path, count;
    double sum_ns;
};

static double mean_of(const struct path_cost *cost) {
    return cost->sum_ns / cost->count;
}

static int compare_path_ids(const void *a, const void *b) {
    const struct path_cost *left = a, *right = b;
    return (left->path > right->path) - (left->path < right->path);
}

static int compare_paths(const void *a, const void *b) { // the commonest first
    const struct path_cost *left = a, *right = b;
    if (left->count != right->count) return left->count > right->count ? -1 : 1;
    return compare_path_ids(a, b);
}

// The paths that these tasks took, the commonest first, in costs (as many as tasks). Returns how many.
static uint32_t find_paths(const struct dag *dag, const uint32_t *tasks, uint32_t count, struct path_cost *costs) {
    uint32_t found = 0, paths = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        if (task->start == DAG_NONE) continue;
        double ns = (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
        costs[found++] = (struct path_cost){task->path, 1, ns};
    }
    qsort(costs, found, sizeof *costs, compare_path_ids);
    for (uint32_t i = 0; i < found; i++) {
        if (paths && costs[paths - 1].path == costs[i].path) {
            costs[paths - 1].count++;
            costs[paths - 1].sum_ns += costs[i].sum_ns;
        } else {
            costs[paths++] = costs[i];
        }
    }
    qsort(costs, paths, sizeof *costs, compare_paths);
    return paths;
}

static bool paths_differ(const struct path_cost *costs, uint32_t paths) {
    double least = INFINITY, most = 0;
    for (uint32_t p = 0; p < paths; p++) {
        least = fmin(least, mean_of(&costs[p]));
        most = fmax(most, mean_of(&costs[p]));
    }
    return most >= 2 * least && most > 0;
}

// A hoist-branch a path, at most `most` of them; `always`: even if all cost the same.
static bool list_paths(struct listing *listing, const uint32_t *tasks, uint32_t count, struct improvement *improvement,
                       uint32_t most, bool always) {
    if (!listing->dag->path_count || !listing->dag->trace->events_of_kind[EVENT_ENTER]) return true;
    struct path_cost *costs = malloc(((size_t)count + 1) * sizeof *costs);
    uint32_t paths = costs ? find_paths(listing->dag, tasks, count, costs) : 0;
    bool offered = always || (paths > 1 && paths_differ(costs, paths)), done = costs;
    for (uint32_t p = 0; offered && done && p < paths && p < most; p++) {
        improvement->path = costs[p].path;
        done = take_tasks(improvement, tasks, count, listing->arena);
        if (done && (!always || !improvement->refusal)) done = list(listing, improvement);
    }
    free(costs);
    return done;
}

// Sites

struct spawned {
    uint32_t site, context, task;
};

static int compare_spawned(const void *a, const void *b) {
    const struct spawned *left = a, *right = b;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    if (left->context != right->context) return left->context < right->context ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

// `by_context`: the tasks, context by context, as they are in `spawned`.
static bool list_inline(struct listing *listing, const struct spawned *spawned, uint32_t count, const uint32_t *tasks,
                        const uint32_t *by_context) {
    struct improvement improvement = of_site(listing->dag, KIND_INLINE, spawned[0].site, DAG_NONE);
    if (!take_tasks(&improvement, tasks, count, listing->arena) || !list(listing, &improvement)) return false;
    if (spawned[0].context == spawned[count - 1].context) return true;
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && spawned[end].context == spawned[first].context;) end++;
        improvement.context = spawned[first].context;
        if (!take_tasks(&improvement, by_context + first, end - first, listing->arena)) return false;
        if (!list(listing, &improvement)) return false;
    }
    return true;
}

// Both ways to begin, where both can be.
static bool list_first_stages(struct listing *listing, struct improvement *improvement, const uint32_t *tasks,
                              uint32_t count) {
    improvement->first = FIRST_STAGE_ON_SPAWNER;
    if (!take_tasks(improvement, tasks, count, listing->arena) || !list(listing, improvement)) return false;
    if (!(listing->kinds & KINDS_ON_POOL) || improvement->refusal || !can_keep_pool(improvement)) return true;
    improvement->first = FIRST_STAGE_ON_POOL;
    return take_tasks(improvement, tasks, count, listing->arena) && list(listing, improvement);
}

static bool list_combinator(struct listing *listing, const uint32_t *tasks, uint32_t count, uint32_t site) {
    struct improvement improvement = of_site(listing->dag, KIND_COMBINATOR, site, DAG_NONE);
    return list_first_stages(listing, &improvement, tasks, count);
}

static bool begins_with(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

// What a program can do about the tasks of a site. Where it calls something that makes tasks of its own, such as the
// JDK's HTTP client, or which are a library's own, it has no say in them; nor is there anything to gain from what a
// service does once. What is done in parallel for it, as by a stream, it can have done in turn.
static unsigned changeable_kinds(const struct listing *listing, uint32_t site) {
    const struct dag *dag = listing->dag;
    if (!listing->ownership.site[site]) return 0;
    const uint32_t class = dag->sites[site].task_class;
    const char *name = class && class < dag->trace->class_count ? dag->trace->classes[class].name : "";
    if (begins_with(name, "jdk.internal.") || begins_with(name, "sun.")) return 0;
    bool in_parallel = begins_with(name, "java.util.stream.") || begins_with(name, "java.util.Array");
    return in_parallel ? KIND_BIT(KIND_INLINE) : KINDS_ALL;
}

// `tasks`: room for twice as many as are spawned.
static bool list_site(struct listing *listing, const struct spawned *spawned, uint32_t count, uint32_t *tasks) {
    const unsigned kinds = listing->kinds & changeable_kinds(listing, spawned[0].site);
    struct improvement hoist = of_site(listing->dag, KIND_HOIST_BRANCH, spawned[0].site, DAG_NONE);
    for (uint32_t i = 0; i < count; i++) tasks[i] = tasks[count + i] = spawned[i].task;
    qsort(tasks, count, sizeof *tasks, compare_numbers);
    return (!(kinds & KIND_BIT(KIND_INLINE)) || list_inline(listing, spawned, count, tasks, tasks + count)) &&
           (!(kinds & KIND_BIT(KIND_HOIST_BRANCH)) || list_paths(listing, tasks, count, &hoist, MOST_PATHS, false)) &&
           (!(kinds & KIND_BIT(KIND_COMBINATOR)) || list_combinator(listing, tasks, count, spawned[0].site)) &&
           list_grain(listing, kinds, tasks, count, spawned[0].site);
}

static size_t sort_spawned(const struct dag *dag, struct spawned *spawned) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site == DAG_NONE || task->flags & TASK_NESTED) continue;
        spawned[count++] = (struct spawned){task->site, task->context, t};
    }
    qsort(spawned, count, sizeof *spawned, compare_spawned);
    return count;
}

static bool list_sites(struct listing *listing) {
    const size_t room = (size_t)listing->dag->task_count + 1;
    struct spawned *spawned = malloc(room * sizeof *spawned);
    uint32_t *tasks = malloc(2 * room * sizeof *tasks);
    bool done = spawned && tasks;
    size_t count = done ? sort_spawned(listing->dag, spawned) : 0;
    for (size_t first = 0, end; done && first < count; first = end) {
        for (end = first + 1; end < count && spawned[end].site == spawned[first].site;) end++;
        done = list_site(listing, &spawned[first], (uint32_t)(end - first), tasks);
    }
    free(spawned);
    free(tasks);
    return done;
}

// Pools

struct body_edge {
    int64_t time_ns;
    int32_t change;
};

static int compare_edges(const void *a, const void *b) {
    const struct body_edge *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return left->change - right->change;
}

// The most workers of a pool that were in a task at once; 0 without memory.
static uint32_t most_busy(const struct dag *dag, uint32_t pool, const uint32_t *tasks, uint32_t count) {
    struct body_edge *edges = malloc(((size_t)count * 2 + 1) * sizeof *edges);
    int32_t busy = 0, most = 0;
    size_t edge_count = 0;
    for (uint32_t i = 0; edges && i < count; i++) {
        const struct dag_task *task = &dag->tasks[tasks[i]];
        if (task->start == DAG_NONE || task->enclosing != DAG_NONE || dag->threads[task->thread].pool != pool) continue;
        edges[edge_count++] = (struct body_edge){dag->vertices.time_ns[task->start], 1};
        if (dag_task_outlasts(dag, task)) continue;
        edges[edge_count++] = (struct body_edge){dag->vertices.time_ns[task->end], -1};
    }
    if (edge_count) qsort(edges, edge_count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < edge_count; i++) {
        busy += edges[i].change;
        if (busy > most) most = busy;
    }
    free(edges);
    return (uint32_t)most;
}

static bool list_pool(struct listing *listing, uint32_t pool) {
    const struct dag *dag = listing->dag;
    struct improvement improvement = of_site(dag, KIND_RESIZE_POOL, DAG_NONE, DAG_NONE);
    improvement.pool = pool;
    improvement.alike = dag->pools[pool].alike_count > 1;
    if (!candidates_fill(&improvement, listing->arena)) return false;
    if (improvement.refusal || !improvement.task_count) return true;
    const uint32_t busy = most_busy(dag, pool, improvement.tasks, improvement.task_count);
    const uint32_t bound = improvement_pool_size(dag, pool), size = bound ? bound : busy;
    uint32_t sizes[MOST_SIZES] = {size * 3 / 4, size + size / 2, size * 2, busy, dag->trace->header.cores}, count = 5;
    for (uint32_t smaller = size / 2; smaller > 0; smaller /= 2) sizes[count++] = smaller;
    qsort(sizes, count, sizeof *sizes, compare_numbers);
    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] == 0 || sizes[i] == bound || sizes[i] > INT32_MAX || (i && sizes[i] == sizes[i - 1])) continue;
        improvement.threads = (int32_t)sizes[i];
        if (!list(listing, &improvement)) return false;
    }
    return true;
}

static bool list_pools(struct listing *listing) {
    bool done = true;
    for (uint32_t p = 1; done && listing->kinds & KIND_BIT(KIND_RESIZE_POOL) && p < listing->dag->pool_count; p++) {
        const bool first = listing->dag->pools[p].alike == p; // of those alike
        if (first && listing->ownership.pool[p]) done = list_pool(listing, p);
    }
    return done;
}

// Moves what was listed to the arena.
static bool hand_over(struct listing *listing, struct improvement **improvements, size_t *count) {
    *count = listing->count;
    *improvements = ARENA_NEW(listing->arena, struct improvement, listing->count + 1);
    if (*improvements && listing->count) {
        memcpy(*improvements, listing->items, listing->count * sizeof *listing->items);
    }
    free(listing->items);
    return *improvements;
}

// ---- resources

enum { RESOURCES_MOST = 8 }; // those that are waited for longest

struct contended {
    uint32_t resource, most; // most that are held or waited for at once
    int64_t waited_ns;
};

static int by_waited(const void *a, const void *b) {
    const struct contended *x = a, *y = b;
    if (x->waited_ns != y->waited_ns) return x->waited_ns > y->waited_ns ? -1 : 1;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

// By time waited, the longest first. NULL: no memory.
static struct contended *find_contended(const struct dag *dag, uint32_t *count) {
    struct contended *contended = calloc((size_t)dag->resource_count + 1, sizeof *contended);
    for (uint32_t r = 0; contended && r < dag->resource_count; r++) contended[r].resource = r;
    for (uint32_t i = 0; contended && i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (ask->asked == DAG_NONE || ask->got == DAG_NONE) continue;
        contended[ask->resource].waited_ns += dag->vertices.time_ns[ask->got] - dag->vertices.time_ns[ask->asked];
    }
    if (contended && dag->carriers) contended[dag->carriers - 1].waited_ns = metrics_carrier_waits(dag).wait_ns;
    if (contended) qsort(contended, dag->resource_count, sizeof *contended, by_waited);
    *count = 0;
    while (contended && *count < dag->resource_count && *count < RESOURCES_MOST && contended[*count].waited_ns > 0)
        ++*count;
    return contended;
}

static bool list_capacities(struct listing *listing, struct improvement *improvement, int64_t capacity) {
    const int64_t sizes[] = {capacity / 2, capacity - 1, capacity + 1, capacity * 3 / 2, capacity * 2, capacity * 4};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool again = sizes[i] == capacity || (i && sizes[i] == sizes[i - 1]);
        if (sizes[i] < 1 || sizes[i] > INT32_MAX || again) continue;
        improvement->capacity = (int32_t)sizes[i];
        if (!list(listing, improvement)) return false;
    }
    return true;
}

// The JDK's concurrent collections lock their nodes, one of many at a time: no program does, nor can it lock otherwise.
static bool is_node_of_collection(const struct dag *dag, uint32_t resource) {
    static const char CONCURRENT[] = "java.util.concurrent.";
    const struct dag_resource *as = &dag->resources[resource];
    const bool is_monitor = as->kind == RESOURCE_MONITOR && as->resource_class < dag->trace->class_count;
    const char *class = is_monitor ? dag->trace->classes[as->resource_class].name : NULL;
    return class && strncmp(class, CONCURRENT, sizeof CONCURRENT - 1) == 0 && strchr(class, '$');
}

// Whether the program's own code locks it. What only a library does inside a call of the program's is not the program's
// to lock otherwise.
static bool is_of_program(const struct listing *listing, uint32_t resource) {
    const struct dag *dag = listing->dag;
    bool own = !listing->ownership.knows_application;
    for (uint32_t i = 0; i < dag->ask_count && !own; i++) {
        if (dag->asks[i].resource != resource || dag->asks[i].site == 0) continue;
        const struct trace_site *site = &dag->trace->sites[dag->asks[i].site];
        own = !site->of_library && !site->through_class;
    }
    return own;
}

// Of a service: hardly any request waits for it, as for what the JVM locks while it loads a class.
static bool is_rarely_waited_for(const struct listing *listing, uint32_t resource) {
    enum { REQUESTS_A_WAIT = 50 };
    const struct dag *dag = listing->dag;
    uint64_t waits = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++)
        waits += dag->asks[i].resource == resource && dag->asks[i].asked != DAG_NONE;
    return waits * 2 * REQUESTS_A_WAIT < listing->ownership.requests; // each has a begin and an end
}

static bool list_resource(struct listing *listing, uint32_t resource) {
    const struct dag *dag = listing->dag;
    struct improvement unlocked = of_site(dag, KIND_UNLOCK, DAG_NONE, DAG_NONE);
    struct improvement resized = of_site(dag, KIND_RESIZE_RESOURCE, DAG_NONE, DAG_NONE);
    unlocked.resource = resized.resource = resource;
    if (!candidates_fill(&unlocked, listing->arena) || !candidates_fill(&resized, listing->arena)) return false;
    const bool unlocks = listing->kinds & KIND_BIT(KIND_UNLOCK) && !unlocked.refusal &&
                         is_of_program(listing, resource) && !is_node_of_collection(dag, resource) &&
                         !is_rarely_waited_for(listing, resource);
    if (unlocks && !list(listing, &unlocked)) return false;
    if (!(listing->kinds & KIND_BIT(KIND_RESIZE_RESOURCE)) || resized.refusal) return true;
    return list_capacities(listing, &resized, dag->resources[resource].capacity);
}

static bool list_resources(struct listing *listing) {
    uint32_t count;
    struct contended *contended = find_contended(listing->dag, &count);
    bool done = contended;
    for (uint32_t i = 0; done && i < count; i++) done = list_resource(listing, contended[i].resource);
    free(contended);
    return done;
}

static bool list_of_actors(void *listing, const struct improvement *improvement) {
    return list(listing, improvement);
}

bool candidates_find(const struct dag *dag, unsigned kinds, struct arena *arena, struct improvement **improvements,
                     size_t *count, struct error *error) {
    struct listing listing = {.dag = dag, .kinds = kinds, .arena = arena};
    struct grain_group *groups;
    if (kinds & (KIND_BIT(KIND_MERGE) | KIND_BIT(KIND_SPLIT))) {
        if (!grain_survey(dag, arena, &groups, &listing.group_count, error)) return false;
        listing.groups = groups;
    }
    bool done = ownership_find(&listing.ownership, dag) && list_sites(&listing) && list_pools(&listing) &&
                list_resources(&listing);
    if (!done) error_set(error, STATUS_FAILED, "no memory for candidates");
    done = done && actor_candidates(dag, &listing.ownership, kinds, arena, list_of_actors, &listing, error);
    ownership_destroy(&listing.ownership);
    if (hand_over(&listing, improvements, count)) return done;
    return error_set(error, STATUS_FAILED, "no memory for candidates");
}

bool candidates_same_family(const struct improvement *a, const struct improvement *b) {
    if (improvement_is_of_actors(a)) return improvements_of_like_actors(a, b);
    return a->kind == b->kind && a->site == b->site && a->context == b->context && a->path == b->path &&
           a->pool == b->pool && a->resource == b->resource;
}

static bool largest_batch(const struct improvement *improvement, uint32_t *largest, struct error *error) {
    struct dag_edit edit;
    if (!dag_edit_init(&edit, improvement->dag, error)) return false;
    dag_edit_merge(&edit, improvement->dag, improvement->tasks, improvement->task_count, UINT32_MAX);
    *largest = 0;
    for (uint32_t first = 0, size; first < improvement->task_count; first += size) {
        size = dag_edit_group(&edit, first);
        if (size > *largest) *largest = size;
    }
    dag_edit_destroy(&edit);
    return true;
}

bool candidates_variants(const struct improvement *open, struct arena *arena, struct improvement **variants,
                         size_t *count, struct error *error) {
    struct listing listing = {.dag = open->dag, .kinds = KINDS_ALL, .arena = arena};
    struct improvement improvement = *open;
    uint32_t batch = 0;
    bool done = true;
    if (open->kind == KIND_MERGE && !open->refusal && !largest_batch(open, &batch, error)) return false;
    if (open->kind == KIND_HOIST_BRANCH)
        done = list_paths(&listing, open->tasks, open->task_count, &improvement, UINT32_MAX, true);
    else if (open->kind == KIND_COMBINATOR)
        done = list_first_stages(&listing, &improvement, open->tasks, open->task_count);
    else if (open->kind == KIND_MERGE_ACTORS && !open->refusal)
        done = list_factors(&listing, &improvement, open->change.actor_count);
    else if (!open->refusal)
        done = list_factors(&listing, &improvement, open->kind == KIND_MERGE ? batch : most_parts(open->dag));
    return (hand_over(&listing, variants, count) && done) ||
           error_set(error, STATUS_FAILED, "no memory for candidates");
}

// Several DAGs

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_site(const struct trace_site *a, const struct trace_site *b) {
    return a->bci == b->bci && (a->bci >= 0 || a->line == b->line) && is_same_text(a->class_name, b->class_name) &&
           is_same_text(a->method, b->method) && is_same_text(a->descriptor, b->descriptor);
}

// Of two versions of a class that one JVM loaded, the one with the line wanted.
static uint32_t find_site(const struct dag *dag, const struct trace_site *wanted) {
    uint32_t found = DAG_NONE;
    for (uint32_t s = 0; s < dag->site_count; s++) {
        const struct trace_site *site = &dag->sites[s].site;
        if (!is_same_site(site, wanted)) continue;
        if (site->line == wanted->line) return s;
        if (found == DAG_NONE) found = s;
    }
    return found;
}

static bool is_same_context(const struct dag *a, const struct dag_context *here, const struct dag *b,
                            const struct dag_context *there) {
    bool same = here->length == there->length;
    for (uint32_t i = 0; same && i < here->length; i++) {
        const struct trace_method *left = &a->trace->methods[here->methods[i]];
        const struct trace_method *right = &b->trace->methods[there->methods[i]];
        same = is_same_text(left->class_name, right->class_name) && is_same_text(left->name, right->name) &&
               is_same_text(left->descriptor, right->descriptor);
    }
    return same;
}

static uint32_t find_context(const struct dag *dag, const struct dag *other, uint32_t wanted) {
    for (uint32_t c = 0; c < dag->context_count; c++) {
        if (is_same_context(dag, &dag->contexts[c], other, &other->contexts[wanted])) return c;
    }
    return DAG_NONE;
}

static uint32_t find_path(const struct dag *dag, uint64_t hash) {
    uint32_t p = 0;
    while (p < dag->path_count && dag->paths[p].hash != hash) p++;
    return p < dag->path_count ? p : DAG_NONE;
}

// The pool of the same name, and of several the one that is as far down among them. 0: there is none.
static uint32_t find_pool(const struct dag *dag, const struct dag *other, uint32_t wanted) {
    const struct trace_pool *pools = other->trace->pools;
    uint32_t before = 0, found = 0;
    for (uint32_t p = 1; p < wanted; p++) before += is_same_text(pools[p].name, pools[wanted].name);
    for (uint32_t p = 1; p < dag->trace->pool_count && !found; p++) {
        if (is_same_text(dag->trace->pools[p].name, pools[wanted].name) && before-- == 0) found = p;
    }
    return found;
}

// Itself, where one is a part of the other, in which names may be shared that are not in the part; else the first of
// the same name as plans have it.
static uint32_t find_resource(const struct dag *dag, const struct dag *other, uint32_t wanted) {
    char name[512];
    for (uint32_t same = 0; same < dag->resource_count; same++) {
        if (resource_is_same(dag, same, other, wanted)) return same;
    }
    resource_plan_text(other, wanted, name, sizeof name);
    uint32_t r = 0;
    while (r < dag->resource_count && !resource_is_named(dag, r, name)) r++;
    return r < dag->resource_count ? r : DAG_NONE;
}

// Site, context, path and pool in another DAG. false: it lacks one of them.
static bool find_place(const struct improvement *offered, const struct dag *dag, struct improvement *improvement) {
    if (offered->kind == KIND_RESIZE_POOL) {
        improvement->pool = find_pool(dag, offered->dag, offered->pool);
        improvement->alike = offered->alike && dag->pools[improvement->pool].alike_count > 1;
        return improvement->pool;
    }
    if (improvement_is_of_resource(offered))
        return (improvement->resource = find_resource(dag, offered->dag, offered->resource)) != DAG_NONE;
    if (offered->context != DAG_NONE) {
        improvement->context = find_context(dag, offered->dag, offered->context);
        if (improvement->context == DAG_NONE) return false;
    }
    if (offered->path != DAG_NONE) {
        improvement->path = find_path(dag, offered->dag->paths[offered->path].hash);
        if (improvement->path == DAG_NONE) return false;
    }
    improvement->site = find_site(dag, &offered->dag->sites[offered->site].site);
    return improvement->site != DAG_NONE;
}

bool candidates_translate(const struct improvement *offered, const struct dag *dag, struct arena *arena,
                          struct improvement *improvement) {
    *improvement = of_site(dag, offered->kind, DAG_NONE, DAG_NONE);
    improvement->factor = offered->factor;
    improvement->first = offered->first;
    improvement->threads = offered->threads;
    improvement->capacity = offered->capacity;
    improvement->follows_cores = offered->follows_cores;
    improvement->change = offered->change;
    if (!improvement_is_of_actors(offered) && !find_place(offered, dag, improvement)) return true;
    if (!candidates_fill(improvement, arena)) return false;
    if (improvement->task_count) return true;
    improvement->site = DAG_NONE; // it has none of the tasks: nothing to change, and nothing to refuse
    improvement->pool = 0;
    memset(improvement->left_out, 0, sizeof improvement->left_out);
    improvement->resource = DAG_NONE;
    improvement->refusal = NULL;
    return true;
}

struct joining {
    const struct dag *const *dags;
    size_t dag_count;
    struct arena *arena;
    struct improvement *improvements;
    size_t count;
};

// A name must tell sites of one line apart even where no single DAG has both.
static void share_lines(const struct joining *joining, struct improvement *row, const struct trace_site *site) {
    bool shared = false;
    for (size_t d = 0; d < joining->dag_count; d++) {
        shared |= site_shares_line(joining->dags[d], site, find_site(joining->dags[d], site));
    }
    for (size_t d = 0; d < joining->dag_count; d++) row[d].shares_line = shared;
}

static bool is_known(const struct joining *joining, const struct improvement *offered, size_t dag) {
    for (size_t c = 0; c < joining->count; c++) {
        const struct improvement *known = &joining->improvements[c * joining->dag_count + dag];
        if (candidates_same_family(known, offered) && known->factor == offered->factor &&
            known->first == offered->first && known->threads == offered->threads &&
            known->capacity == offered->capacity) {
            return true;
        }
    }
    return false;
}

static bool add_row(struct joining *joining, const struct improvement *offered, size_t dag) {
    struct improvement *row = &joining->improvements[joining->count++ * joining->dag_count];
    for (size_t d = 0; d < joining->dag_count; d++) {
        if (d == dag)
            row[d] = *offered;
        else if (!candidates_translate(offered, joining->dags[d], joining->arena, &row[d]))
            return false;
    }
    if (offered->site != DAG_NONE) share_lines(joining, row, &offered->dag->sites[offered->site].site);
    return true;
}

static bool join(struct joining *joining, struct improvement *const *offered, const size_t *counts) {
    for (size_t d = 0; d < joining->dag_count; d++) {
        for (size_t i = 0; i < counts[d]; i++) {
            if (!is_known(joining, &offered[d][i], d) && !add_row(joining, &offered[d][i], d)) return false;
        }
    }
    return true;
}

bool candidates_join(const struct dag *const *dags, size_t dag_count, unsigned kinds, struct arena *arena,
                     struct improvement **improvements, size_t *count, struct error *error) {
    struct improvement **offered = ARENA_NEW(arena, struct improvement *, dag_count);
    size_t *counts = ARENA_NEW(arena, size_t, dag_count), most = 0;
    if (!offered || !counts) return error_set(error, STATUS_FAILED, "no memory for candidates");
    for (size_t d = 0; d < dag_count; d++) {
        if (!candidates_find(dags[d], kinds, arena, &offered[d], &counts[d], error)) return false;
        most += counts[d];
    }
    struct joining joining = {.dags = dags, .dag_count = dag_count, .arena = arena};
    joining.improvements = ARENA_NEW(arena, struct improvement, most * dag_count + 1);
    if (!joining.improvements || !join(&joining, offered, counts)) {
        return error_set(error, STATUS_FAILED, "no memory for candidates");
    }
    *improvements = joining.improvements;
    *count = joining.count;
    return true;
}
