// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for results that have a time limit. Of a result that was ready the trace tells no limit, but of the waits for
// such a result that slept: where all of one site's tasks for those of another site had one, so had those that did not
// sleep, the longest of them.
#include "dag/build/builder.h"

#include <stdlib.h>

// Tasks of one site wait for those of another.
struct pair {
    uint32_t waits, awaited; // index into dag->sites, DAG_NONE
    uint32_t site;           // trace site of a wait that slept
    int64_t limit_ns;        // INT64_MAX: one of them had none
};

struct pairs {
    struct pair *items;
    uint32_t count, capacity;
};

static int by_sites(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->waits != y->waits) return x->waits < y->waits ? -1 : 1;
    if (x->awaited != y->awaited) return x->awaited < y->awaited ? -1 : 1;
    return (x->limit_ns < y->limit_ns) - (x->limit_ns > y->limit_ns);
}

static int by_end(const void *a, const void *b) {
    const struct dag_await *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static struct pair pair_at(const struct dag *dag, uint32_t body, uint32_t v) {
    uint32_t waits = body == DAG_NONE ? DAG_NONE : dag->tasks[body].site;
    return (struct pair){.waits = waits, .awaited = dag->tasks[dag->vertices.task[v]].site, .limit_ns = INT64_MAX};
}

// Whether a vertex ends a wait for a task that was there already: both its vertices stand for one event.
static bool is_taken(const struct dag *dag, uint32_t v) {
    return v > 0 && dag->vertices.kind[v - 1] == VERTEX_WAIT_BEGIN &&
           dag->vertices.event[v] == dag->vertices.event[v - 1];
}

static bool waits_for_task(const struct dag *dag, uint32_t v) {
    uint32_t task = dag->vertices.task[v];
    return dag->vertices.kind[v] == VERTEX_WAIT_END && task != DAG_NONE && !(dag->tasks[task].flags & TASK_NESTED);
}

typedef bool (*wait_visitor)(struct builder *builder, struct pairs *pairs, uint32_t body, uint32_t v);

static bool each_wait(struct builder *builder, struct pairs *pairs, bool taken, wait_visitor visit) {
    const struct dag *dag = builder->dag;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            bool meant = waits_for_task(dag, v) && is_taken(dag, v) == taken;
            if (meant && !visit(builder, pairs, body, v)) return no_memory(builder);
        }
    }
    return true;
}

static bool list_pair(struct builder *builder, struct pairs *pairs, uint32_t body, uint32_t v) {
    struct pair pair = pair_at(builder->dag, body, v);
    uint32_t await = dag_await_at(builder->dag, v);
    if (await != DAG_NONE) {
        pair.limit_ns = builder->dag->awaits[await].limit_ns;
        pair.site = builder->dag->awaits[await].site;
    }
    if (!GROW(pairs->items, pairs->count, pairs->capacity)) return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

// Of all waits between two sites the longest limit counts, which comes first.
static void keep_longest(struct pairs *pairs) {
    uint32_t kept = 0;
    qsort(pairs->items, pairs->count, sizeof *pairs->items, by_sites);
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct pair *last = kept ? &pairs->items[kept - 1] : NULL;
        bool same = last && last->waits == pairs->items[i].waits && last->awaited == pairs->items[i].awaited;
        if (!same) pairs->items[kept++] = pairs->items[i];
    }
    pairs->count = kept;
}

static int by_sites_alone(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->waits != y->waits) return x->waits < y->waits ? -1 : 1;
    return (x->awaited > y->awaited) - (x->awaited < y->awaited);
}

static bool add_taken(struct builder *builder, struct pairs *pairs, uint32_t body, uint32_t v) {
    struct dag *dag = builder->dag;
    struct pair wanted = pair_at(dag, body, v);
    const struct pair *pair = bsearch(&wanted, pairs->items, pairs->count, sizeof *pairs->items, by_sites_alone);
    if (!pair || pair->limit_ns == INT64_MAX) return true;
    if (!GROW(dag->awaits, dag->await_count, builder->await_capacity)) return false;
    dag->awaits[dag->await_count++] = (struct dag_await){v - 1, v, pair->site, false, pair->limit_ns};
    return true;
}

bool find_taken_awaits(struct builder *builder) {
    struct dag *dag = builder->dag;
    struct pairs pairs = {0};
    if (dag->await_count == 0) return true;
    bool ok = each_wait(builder, &pairs, false, list_pair);
    if (ok && pairs.count) {
        keep_longest(&pairs);
        ok = each_wait(builder, &pairs, true, add_taken);
    }
    if (ok) qsort(dag->awaits, dag->await_count, sizeof *dag->awaits, by_end);
    free(pairs.items);
    return ok;
}
