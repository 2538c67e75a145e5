// SPDX-License-Identifier: GPL-3.0-or-later
// Where threads wait: the site is in the trace's events, which are decoded once.
#include "metrics/events.h"
#include "metrics/metrics.h"

#include <stdlib.h>

struct wait {
    uint32_t site;    // the trace's, 0 unknown (a result that was ready tells no site)
    uint32_t spawned; // index into dag->sites of what is waited for, or DAG_NONE
    bool slept;
    int64_t ns;
};

struct wait_list {
    const struct dag *dag;
    const struct window *window;
    struct wait *waits;
    size_t count;
    uint32_t *open; // stack of the thread's WAIT_BEGINs, as indices of waits
    uint32_t depth, thread;
};

static bool is_within(const struct wait_list *list, uint32_t vertex) {
    int64_t time = list->dag->vertices.time_ns[vertex];
    return !list->window || (time >= list->window->from_ns && time <= list->window->to_ns);
}

static void wait_visit(void *context, uint32_t thread, uint32_t vertex, const struct event *event) {
    struct wait_list *list = context;
    const struct dag_vertices *vertices = &list->dag->vertices;
    if (thread != list->thread) list->depth = 0;
    list->thread = thread;
    if (vertices->kind[vertex] == VERTEX_WAIT_BEGIN) {
        uint32_t task = vertices->task[vertex];
        struct wait *wait = &list->waits[list->count];
        wait->slept = event->kind == EVENT_WAIT_BEGIN;
        wait->site = wait->slept ? (uint32_t)event->operand[2] : 0;
        wait->spawned = task != DAG_NONE ? list->dag->tasks[task].site : DAG_NONE;
        wait->ns = -vertices->time_ns[vertex];
        list->open[list->depth++] = (uint32_t)list->count++;
    } else if (vertices->kind[vertex] == VERTEX_WAIT_END && list->depth > 0) {
        list->waits[list->open[--list->depth]].ns += vertices->time_ns[vertex];
        if (!is_within(list, vertex)) list->waits[list->open[list->depth]].ns = -1;
    }
}

static int compare_waits(const void *a, const void *b) {
    const struct wait *left = a, *right = b;
    if (left->site != right->site) return left->site < right->site ? -1 : 1;
    return (left->spawned > right->spawned) - (left->spawned < right->spawned);
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
        site.total_ns += waits[i].ns;
        if (waits[i].ns > site.longest_ns) site.longest_ns = waits[i].ns;
        run = i > 0 && waits[i].spawned == waits[i - 1].spawned ? run + 1 : 1;
        if (run <= longest_run || waits[i].spawned == DAG_NONE) continue;
        longest_run = run;
        site.spawned = dag->sites[waits[i].spawned].site;
    }
    return site;
}

// Waits that never ended, or not within the window, have a negative length and are left out.
static size_t drop_unended(struct wait *waits, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (waits[i].ns >= 0) waits[kept++] = waits[i];
    }
    return kept;
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

bool metrics_waits(const struct dag *dag, const struct window *window, struct arena *arena, struct wait_site **sites,
                   size_t *count, struct error *error) {
    struct wait_list list = {.dag = dag, .window = window, .thread = DAG_NONE};
    list.waits = malloc(((size_t)dag->vertex_count + 1) * sizeof *list.waits);
    list.open = malloc(((size_t)dag->vertex_count + 1) * sizeof *list.open);
    bool done = list.waits && list.open;
    if (!done) error_set(error, STATUS_FAILED, "no memory for waits");
    if (done && (done = events_visit(dag, wait_visit, &list, error))) {
        list.count = drop_unended(list.waits, list.count);
        qsort(list.waits, list.count, sizeof *list.waits, compare_waits);
        *sites = group(dag, list.waits, list.count, arena, count);
        done = *sites || error_set(error, STATUS_FAILED, "no memory for waits");
    }
    free(list.waits);
    free(list.open);
    return done;
}
