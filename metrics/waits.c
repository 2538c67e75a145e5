// SPDX-License-Identifier: GPL-3.0-or-later
// Where threads wait, and what blocks them: sites and classes are in the trace's events, which are decoded once.
#include "dag/names.h"
#include "metrics/events.h"
#include "metrics/work.h"

#include <stdlib.h>
#include <string.h>

enum { OF_NONE, OF_UNNAMED, OF_NAMED };

struct wait {
    uint32_t site;     // the trace's, 0 unknown (a result that was ready tells no site)
    uint32_t spawned;  // index into dag->sites of what is waited for, or of who sleeps unseen, or DAG_NONE
    uint32_t class;    // the trace's, of what the thread slept on, where it is blocked
    uint32_t of;       // resource that it is blocked on: OF_NONE, OF_UNNAMED, or OF_NAMED + its index
    uint32_t resource; // of these, its index
    bool slept, blocked, unseen, timed_out;
    int64_t ns;
};

struct open_body {
    uint32_t task;
    uint32_t depth; // of the waits that are open around it
};

struct wait_list {
    const struct dag *dag;
    const struct window *window;
    struct wait *waits;
    size_t count;
    uint32_t *open; // stack of the thread's WAIT_BEGINs, as indices of waits
    struct open_body *bodies;
    uint32_t depth, body_count, thread;
    bool time_is_up; // of the wait that ends next
};

static bool is_within(const struct wait_list *list, uint32_t vertex) {
    int64_t time = list->dag->vertices.time_ns[vertex];
    return !list->window || (time >= list->window->from_ns && time <= list->window->to_ns);
}

// The task that is awaited; of a release that in which it was made.
static uint32_t awaited_by(const struct dag *dag, uint32_t vertex) {
    uint32_t task = dag->vertices.task[vertex];
    bool released = task != DAG_NONE && dag->tasks[task].flags & TASK_NESTED && dag->tasks[task].enclosing != DAG_NONE;
    return released ? dag->tasks[task].enclosing : task;
}

static struct wait wait_begun(const struct dag *dag, uint32_t vertex, const struct event *event) {
    struct wait wait = {.ns = -dag->vertices.time_ns[vertex], .spawned = DAG_NONE};
    wait.slept = event->kind != EVENT_TAKEN;
    if (dag->vertices.kind[vertex] == VERTEX_ACQUIRE) {
        wait.blocked = true;
        const struct dag_ask *ask = &dag->asks[dag->vertices.task[vertex]];
        wait.class = dag->resources[ask->resource].resource_class;
        wait.resource = ask->resource;
        wait.of = dag->resources[ask->resource].name ? OF_NAMED + ask->resource : OF_UNNAMED;
        wait.site = ask->site;
        return wait;
    }
    uint32_t task = awaited_by(dag, vertex);
    wait.blocked = task == DAG_NONE && wait.slept && wait_for_of(event->operand[2]) >= WAIT_FOR_UNKNOWN;
    wait.site = wait.slept ? (uint32_t)event->operand[2] : 0;
    wait.class = wait.blocked ? wait_class_of(event->operand[2]) : 0;
    wait.spawned = task != DAG_NONE ? dag->tasks[task].site : DAG_NONE;
    return wait;
}

// When recording ended, and so did the window.
static bool goes_on(const struct wait_list *list, uint32_t thread, uint32_t vertex) {
    const struct dag *dag = list->dag;
    bool to_the_end = !list->window || list->window->to_ns >= dag->last_ns;
    return to_the_end && vertex + 1 == dag_thread_end(dag, &dag->threads[thread]);
}

static void see_body(struct wait_list *list, uint32_t vertex) {
    const uint32_t task = list->dag->vertices.task[vertex];
    if (list->dag->vertices.kind[vertex] == VERTEX_START)
        list->bodies[list->body_count++] = (struct open_body){task, list->depth};
    if (list->dag->vertices.kind[vertex] != VERTEX_END) return;
    uint32_t level = list->body_count; // ends of those within it were lost
    while (level > 0 && list->bodies[level - 1].task != task) level--;
    if (level > 0) list->body_count = level - 1;
}

// What the thread slept before the vertex though no event says so.
static void see_sleep(struct wait_list *list, uint32_t vertex) {
    const struct open_body *body = list->body_count ? &list->bodies[list->body_count - 1] : NULL;
    if (!body || body->depth != list->depth || !is_within(list, vertex)) return;
    const int64_t slept_ns = work_slept_ns(list->dag, vertex);
    if (slept_ns == 0) return;
    list->waits[list->count++] = (struct wait){
        .spawned = list->dag->tasks[body->task].site, .slept = true, .blocked = true, .unseen = true, .ns = slept_ns};
}

static void wait_visit(void *context, uint32_t thread, uint32_t vertex, const struct event *event) {
    struct wait_list *list = context;
    const struct dag_vertices *vertices = &list->dag->vertices;
    if (list->dag->threads[thread].system) return;
    if (thread != list->thread) list->depth = list->body_count = list->time_is_up = 0;
    list->thread = thread;
    if (vertex == DAG_NONE) {
        list->time_is_up = true;
        return;
    }
    see_sleep(list, vertex);
    see_body(list, vertex);
    unsigned kind = vertices->kind[vertex];
    if (kind == VERTEX_WAIT_BEGIN || kind == VERTEX_ACQUIRE) {
        list->waits[list->count] = wait_begun(list->dag, vertex, event);
        if (goes_on(list, thread, vertex)) list->waits[list->count].ns += list->dag->last_ns + list->dag->still_ns;
        list->open[list->depth++] = (uint32_t)list->count++;
    } else if ((kind == VERTEX_WAIT_END || kind == VERTEX_ACQUIRED || kind == VERTEX_GIVEN_UP) && list->depth > 0) {
        struct wait *wait = &list->waits[list->open[--list->depth]];
        wait->ns = is_within(list, vertex) ? wait->ns + vertices->time_ns[vertex] : -1;
        wait->timed_out = list->time_is_up;
        list->time_is_up = false;
    }
}

// What is blocked comes last.
static int compare_waits(const void *a, const void *b) {
    const struct wait *left = a, *right = b;
    if (left->blocked != right->blocked) return left->blocked - right->blocked;
    if (left->unseen != right->unseen) return left->unseen - right->unseen;
    if (left->of != right->of) return left->of < right->of ? -1 : 1;
    if (left->class != right->class) return left->class < right->class ? -1 : 1;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    return (left->spawned > right->spawned) - (left->spawned < right->spawned);
}

static int compare_blockers(const void *a, const void *b) {
    const struct blocker *left = a, *right = b;
    if (left->total_ns != right->total_ns) return left->total_ns > right->total_ns ? -1 : 1;
    return (left->times < right->times) - (left->times > right->times);
}

static int compare_sites(const void *a, const void *b) {
    const struct wait_site *left = a, *right = b;
    if (left->total_ns != right->total_ns) return left->total_ns > right->total_ns ? -1 : 1;
    return (left->taken < right->taken) - (left->taken > right->taken);
}

// Waits of one site, sorted by what they wait for.
static struct wait_site summarise(const struct dag *dag, const struct wait *waits, size_t count) {
    struct wait_site site = {0};
    if (waits[0].site != 0 && waits[0].site < dag->trace->site_count) site.site = dag->trace->sites[waits[0].site];
    size_t run = 0, longest_run = 0;
    for (size_t i = 0; i < count; i++) {
        site.waits += waits[i].slept;
        site.taken += !waits[i].slept;
        site.timed_out += waits[i].timed_out;
        site.total_ns += waits[i].ns;
        if (waits[i].ns > site.longest_ns) site.longest_ns = waits[i].ns;
        run = i > 0 && waits[i].spawned == waits[i - 1].spawned ? run + 1 : 1;
        if (run <= longest_run || waits[i].spawned == DAG_NONE) continue;
        longest_run = run;
        site.spawned = dag->sites[waits[i].spawned].site;
    }
    return site;
}

// Waits whose end was lost, or is not within the window, have a negative length and are left out.
static size_t drop_unended(struct wait *waits, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (waits[i].ns >= 0) waits[kept++] = waits[i];
    }
    return kept;
}

static const char *class_name(const struct dag *dag, uint32_t class) {
    return class && class < dag->trace->class_count ? dag->trace->classes[class].name : NULL;
}

static const char *resource_name(const struct dag *dag, const struct wait *wait, struct arena *arena) {
    char name[600];
    if (wait->of == OF_NONE) return NULL;
    dag_resource_text(dag, wait->resource, wait->site, name, sizeof name);
    return arena_string(arena, name, strlen(name));
}

static struct blocker blocked_by(const struct dag *dag, const struct wait *waits, size_t count, struct arena *arena) {
    struct blocker blocker = {.class_name = class_name(dag, waits[0].class), .times = count, .unseen = waits[0].unseen};
    if (waits[0].unseen && waits[0].spawned != DAG_NONE) blocker.spawned = dag->sites[waits[0].spawned].site;
    if (waits[0].site != 0 && waits[0].site < dag->trace->site_count) blocker.site = dag->trace->sites[waits[0].site];
    blocker.resource = resource_name(dag, &waits[0], arena);
    for (size_t i = 0; i < count; i++) {
        blocker.total_ns += waits[i].ns;
        if (waits[i].ns > blocker.longest_ns) blocker.longest_ns = waits[i].ns;
    }
    return blocker;
}

static bool same_group(const struct wait *left, const struct wait *right) {
    bool alike = left->unseen ? left->spawned == right->spawned : left->site == right->site;
    return left->unseen == right->unseen && left->of == right->of && left->class == right->class && alike;
}

static struct blocker *group_blockers(const struct dag *dag, const struct wait *waits, size_t wait_count,
                                      struct arena *arena, size_t *count) {
    size_t groups = 0;
    for (size_t i = 0; i < wait_count; i++) groups += i == 0 || !same_group(&waits[i], &waits[i - 1]);
    struct blocker *blockers = ARENA_NEW(arena, struct blocker, groups + 1);
    if (!blockers) return NULL;
    *count = 0;
    for (size_t first = 0, next; first < wait_count; first = next) {
        for (next = first + 1; next < wait_count && same_group(&waits[next], &waits[first]);) next++;
        blockers[(*count)++] = blocked_by(dag, &waits[first], next - first, arena);
    }
    qsort(blockers, *count, sizeof *blockers, compare_blockers);
    return blockers;
}

static struct wait_site *group(const struct dag *dag, const struct wait *waits, size_t wait_count, struct arena *arena,
                               size_t *count) {
    size_t groups = 0;
    for (size_t i = 0; i < wait_count; i++) groups += i == 0 || waits[i].site != waits[i - 1].site;
    struct wait_site *sites = ARENA_NEW(arena, struct wait_site, groups + 1);
    if (!sites) return NULL;
    *count = 0;
    for (size_t first = 0, next; first < wait_count; first = next) {
        for (next = first + 1; next < wait_count && waits[next].site == waits[first].site;) next++;
        sites[(*count)++] = summarise(dag, &waits[first], next - first);
    }
    qsort(sites, *count, sizeof *sites, compare_sites);
    return sites;
}

static bool group_all(const struct wait_list *list, struct arena *arena, struct wait_findings *found,
                      struct error *error) {
    size_t known = 0;
    while (known < list->count && !list->waits[known].blocked) known++;
    found->sites = group(list->dag, list->waits, known, arena, &found->site_count);
    found->blockers = group_blockers(list->dag, list->waits + known, list->count - known, arena, &found->blocker_count);
    return (found->sites && found->blockers) || error_set(error, STATUS_FAILED, "no memory for waits");
}

bool metrics_waits(const struct dag *dag, const struct window *window, struct arena *arena, struct wait_findings *found,
                   struct error *error) {
    struct wait_list list = {.dag = dag, .window = window, .thread = DAG_NONE};
    list.waits = malloc((2 * (size_t)dag->vertex_count + 1) * sizeof *list.waits);
    list.open = malloc(((size_t)dag->vertex_count + 1) * sizeof *list.open);
    list.bodies = malloc(((size_t)dag->vertex_count + 1) * sizeof *list.bodies);
    bool done = list.waits && list.open && list.bodies;
    if (!done) error_set(error, STATUS_FAILED, "no memory for waits");
    if (done && (done = events_visit(dag, wait_visit, &list, error))) {
        list.count = drop_unended(list.waits, list.count);
        qsort(list.waits, list.count, sizeof *list.waits, compare_waits);
        done = group_all(&list, arena, found, error);
    }
    free(list.waits);
    free(list.open);
    free(list.bodies);
    return done;
}
