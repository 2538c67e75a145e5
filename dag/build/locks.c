// SPDX-License-Identifier: GPL-3.0-or-later
// Who had a contended lock before whoever got it (RULE_LOCK). Only acquisitions that had to wait are recorded, so the
// one before may be unknown. Found once times are repaired; no constraint of the recorded graph.
#include "dag/build/builder.h"

#include <stdlib.h>

struct acquisition {
    uint32_t begin, end; // vertices; laying pairs them
    uint32_t thread, lock;
    uint32_t body_end; // of the task that got it, DAG_NONE outside of any
};

struct acquisitions {
    struct acquisition *items;
    uint32_t count, capacity;
};

static bool note_acquisition(struct builder *builder, struct acquisitions *all, uint32_t thread, uint32_t end,
                             uint32_t body) {
    const struct dag *dag = builder->dag;
    if (!GROW(all->items, all->count, all->capacity)) return no_memory(builder);
    all->items[all->count++] = (struct acquisition){.begin = end - 1,
                                                    .end = end,
                                                    .thread = thread,
                                                    .lock = dag->vertices.task[end],
                                                    .body_end = body == DAG_NONE ? DAG_NONE : dag->tasks[body].end};
    return true;
}

static bool collect(struct builder *builder, struct acquisitions *all) {
    const struct dag *dag = builder->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, last = dag->threads[i].first + dag->threads[i].count - 1;
        for (uint32_t v = dag->threads[i].first; v <= last; v++) {
            if (vertices->kind[v] == VERTEX_START) body = vertices->task[v];
            if (vertices->kind[v] == VERTEX_END) body = dag->tasks[vertices->task[v]].enclosing;
            if (vertices->kind[v] != VERTEX_BLOCK_END) continue;
            if (!note_acquisition(builder, all, i, v, body)) return false;
        }
    }
    return true;
}

static int by_lock_and_time(const void *a, const void *b, void *context) {
    const int64_t *time_ns = context;
    const struct acquisition *x = a, *y = b;
    if (x->lock != y->lock) return x->lock < y->lock ? -1 : 1;
    if (time_ns[x->end] != time_ns[y->end]) return time_ns[x->end] < time_ns[y->end] ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

// Whether the thread that got the lock can have kept it until someone else got it: it did not have to get it anew
// (`again`), and the body in which it got it went on.
static bool may_have_kept(const int64_t *time_ns, const struct acquisition *holder, const struct acquisition *again,
                          int64_t until_ns) {
    if (holder->body_end == DAG_NONE || time_ns[holder->body_end] < until_ns) return false;
    return !again || time_ns[again->begin] >= until_ns;
}

// `before` is the acquisition of the lock that was recorded before `now`; `again` its thread's next one, or NULL.
static void find_cause(struct dag *dag, const struct acquisition *before, const struct acquisition *now,
                       const struct acquisition *again) {
    const int64_t *time_ns = dag->vertices.time_ns;
    bool meanwhile = time_ns[before->end] >= time_ns[now->begin];
    if (before->thread == now->thread) return;
    if (!meanwhile && !may_have_kept(time_ns, before, again, time_ns[now->end])) return;
    dag->vertices.cause[now->end] = before->end;
    dag->vertices.rule[now->end] = RULE_LOCK;
}

// From the last to the first, so that each thread's next acquisition is known.
static void find_causes_of(struct dag *dag, const struct acquisitions *all, uint32_t *next_of_thread) {
    for (uint32_t i = 0; i < dag->thread_count; i++) next_of_thread[i] = DAG_NONE;
    for (uint32_t i = all->count; i-- > 0;) {
        const struct acquisition *holder = &all->items[i], *after = holder + 1;
        uint32_t *next = &next_of_thread[holder->thread];
        bool has_again = *next != DAG_NONE && all->items[*next].lock == holder->lock;
        bool is_last = i + 1 == all->count || after->lock != holder->lock;
        if (!is_last) find_cause(dag, holder, after, has_again ? &all->items[*next] : NULL);
        *next = i;
    }
}

bool find_lock_causes(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!dag->lock_count) return true;
    struct acquisitions all = {0};
    uint32_t *next_of_thread = malloc(((size_t)dag->thread_count + 1) * sizeof *next_of_thread);
    bool ok = (next_of_thread || no_memory(builder)) && collect(builder, &all);
    if (ok && all.count) {
        qsort_r(all.items, all.count, sizeof *all.items, by_lock_and_time, dag->vertices.time_ns);
        find_causes_of(dag, &all, next_of_thread);
    }
    free(all.items);
    free(next_of_thread);
    return ok;
}
