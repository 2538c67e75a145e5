// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that sleep for something outside until they are stopped: an acceptor in accept, a selector in select. Nothing
// recorded says what woke such a thread, but the one that stops it awaits its end at once. Where a thread's last long
// sleep has no known cause, and about when that ended another thread began to wait for the thread's end, that one woke
// it. In an edited run it sleeps until then, not for as long as it did.
//
// Likewise what hands requests over sleeps until one comes, and what wakes right behind the last answer slept until the
// end of the load.
#include "dag/build/builder.h"
#include "dag/edge.h"
#include "dag/ns.h"

#include <stdlib.h>

// A sleep that counts, what may be slept after it, and how long after its wake-up a thread may go on. By accident one
// ends as near to the beginning of a wait in one of a hundred cases, as it lasted a hundred times as long.
#define LONG_SLEEP_NS  INT64_C(10000000)
#define SHORT_SLEEP_NS INT64_C(1000000)
enum { TIMES_LONGER = 100 };

// The last vertices of a thread, behind its last long sleep.
struct last_part {
    uint32_t woken, last; // woken: ends the sleep
    uint32_t site;        // of the body that ends in it
    uint32_t waker;       // DAG_NONE: not found yet
    int64_t slept_ns;
};

static int64_t slept_before_ns(const struct dag *dag, uint32_t v) {
    return edge_asleep_ns(dag, v, dag->vertices.time_ns[v - 1]);
}

// Whether a vertex ends what no event tells of: no wait, no resource's, and of no known cause.
static bool is_of_nothing_known(const struct dag *dag, uint32_t v) {
    const unsigned kind = dag->vertices.kind[v];
    if (dag->vertices.cause[v] != DAG_NONE || dag->vertices.rule[v] != RULE_RUN) return false;
    return !vertex_is_of_resource(kind) && !edge_sleeps(dag, v);
}

// Of a pool's worker only what is run but once: tasks alike end one after the other, awaited or not.
static bool find_site(const struct dag *dag, const struct dag_thread *thread, struct last_part *part) {
    uint32_t v = part->woken;
    while (v <= part->last && dag->vertices.kind[v] != VERTEX_END) v++;
    if (v > part->last || dag->vertices.task[v] == DAG_NONE) return false;
    part->site = dag->tasks[dag->vertices.task[v]].site;
    return part->site < dag->site_count && (!thread->worker || dag->sites[part->site].task_count == 1);
}

static bool find_last_part(const struct dag *dag, const struct dag_thread *thread, struct last_part *part) {
    if (thread->system || thread->stream == DAG_NONE || thread->count < 2) return false;
    *part = (struct last_part){.last = thread->first + thread->count - 1, .waker = DAG_NONE};
    for (uint32_t v = part->last; v > thread->first; v--) {
        part->slept_ns = slept_before_ns(dag, v);
        part->woken = v;
        if (part->slept_ns >= SHORT_SLEEP_NS) break;
    }
    return part->slept_ns >= LONG_SLEEP_NS && is_of_nothing_known(dag, part->woken) && find_site(dag, thread, part);
}

bool ends_for_nothing_known(const struct dag *dag, uint32_t v) {
    const bool wait = dag->vertices.kind[v] == VERTEX_WAIT_END && dag->vertices.cause[v] == DAG_NONE;
    return wait || is_of_nothing_known(dag, v);
}

void set_waker(struct dag *dag, uint32_t v, uint32_t waker) {
    dag->vertices.cause[v] = waker;
    dag->vertices.rule[v] = dag->vertices.kind[v] == VERTEX_WAIT_END ? RULE_WAIT : RULE_WOKEN;
}

static struct last_part *part_with(struct last_part *parts, uint32_t count, uint32_t vertex) {
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (parts[middle].last < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && parts[low].woken <= vertex ? &parts[low] : NULL;
}

// Threads alike that sleep for as long end one after the other by themselves: the thread that awaited one before awaits
// the next.
static bool awaited_one_alike(const struct dag *dag, uint32_t wait, const struct last_part *part) {
    const struct dag_vertices *vertices = &dag->vertices;
    const uint32_t first = dag->threads[dag_thread_of(dag, wait)].first;
    for (uint32_t v = wait; v-- > first && vertices->time_ns[wait] - vertices->time_ns[v] <= SHORT_SLEEP_NS;) {
        const uint32_t awaited = vertices->kind[v] == VERTEX_WAIT_END ? vertices->task[v] : DAG_NONE;
        if (awaited != DAG_NONE && dag->tasks[awaited].site == part->site) return true;
    }
    return false;
}

// A thread that ends at once may have done so before the other one waits for it: then the latter's vertex before that.
static void try_waker(const struct dag *dag, struct last_part *part, uint32_t wait) {
    const struct dag_vertices *vertices = &dag->vertices;
    const int64_t woken_ns = vertices->time_ns[part->woken],
                  near_ns = min_ns(part->slept_ns / TIMES_LONGER, SHORT_SLEEP_NS);
    const int64_t awake_ns = woken_ns - vertices->time_ns[part->woken - 1] - part->slept_ns;
    const uint32_t first = dag->threads[dag_thread_of(dag, wait)].first;
    uint32_t waker = wait;
    if (vertices->time_ns[wait] - woken_ns > near_ns) return;
    while (waker > first && vertices->time_ns[waker] > woken_ns) waker--;
    if (vertices->time_ns[waker] > woken_ns || woken_ns - vertices->time_ns[waker] > near_ns + awake_ns) return;
    if (vertices->time_ns[waker] <= vertices->time_ns[part->woken - 1] || awaited_one_alike(dag, wait, part)) return;
    if (part->waker == DAG_NONE || vertices->time_ns[part->waker] < vertices->time_ns[waker]) part->waker = waker;
}

// What a wait awaits: a vertex, or, by way of a chain of barriers, the last ones of a pool's workers.
static void try_wait(const struct dag *dag, struct last_part *parts, uint32_t count, uint32_t wait, uint32_t awaited) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (vertices->kind[awaited] != VERTEX_BARRIER) {
        struct last_part *part = part_with(parts, count, awaited);
        if (part) try_waker(dag, part, wait);
        return;
    }
    const uint32_t first = dag->threads[dag_thread_of(dag, awaited)].first;
    for (uint32_t barrier = first; barrier <= awaited; barrier++) {
        if (vertices->cause[barrier] != DAG_NONE) try_wait(dag, parts, count, wait, vertices->cause[barrier]);
    }
}

static void find_wakers(const struct dag *dag, struct last_part *parts, uint32_t count) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        if (vertices->kind[v] != VERTEX_WAIT_END || vertices->kind[v - 1] != VERTEX_WAIT_BEGIN) continue;
        if (vertices->cause[v] != DAG_NONE) try_wait(dag, parts, count, v - 1, vertices->cause[v]);
    }
}

// What hands requests over slept until one came.
static void wake_pollers(struct dag *dag) {
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const uint32_t v = dag->requests[i].polled;
        if (v == DAG_NONE || v == dag->threads[dag_thread_of(dag, v)].first) continue;
        if (!is_of_nothing_known(dag, v) || slept_before_ns(dag, v) == 0) continue;
        dag->vertices.cause[v] = dag->requests[i].arrival;
        dag->vertices.rule[v] = RULE_WOKEN;
    }
}

// A thread's first vertex after that time, but not its very first; DAG_NONE: it has none.
static uint32_t first_after(const struct dag *dag, const struct dag_thread *thread, int64_t time_ns) {
    const int64_t *at_ns = dag->vertices.time_ns;
    uint32_t low = thread->first, high = thread->first + thread->count - 1;
    if (at_ns[low] > time_ns || at_ns[high] <= time_ns) return DAG_NONE;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (at_ns[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static bool ends_long_sleep_near(const struct dag *dag, uint32_t v, int64_t time_ns) {
    if (v == DAG_NONE) return false;
    const int64_t *at_ns = dag->vertices.time_ns;
    const int64_t slept_ns = dag->vertices.compute_ns ? slept_before_ns(dag, v) : at_ns[v] - at_ns[v - 1];
    const int64_t off_ns = max_ns(at_ns[v] - time_ns, time_ns - at_ns[v]);
    return slept_ns >= LONG_SLEEP_NS && off_ns <= slept_ns / TIMES_LONGER && ends_for_nothing_known(dag, v);
}

// The load's end is later than any request's, so that at most one sleep of a thread's spans it. A thread that
// a request wakes before its answer is written (it is counted) wakes a little before; one that answers ends its own
// sleeps.
uint32_t woken_at(const struct dag *dag, const struct dag_thread *thread, int64_t time_ns) {
    if (thread->system || thread->request || thread->stream == DAG_NONE || thread->count < 2) return DAG_NONE;
    const uint32_t behind = first_after(dag, thread, time_ns),
                   before = first_after(dag, thread, time_ns - SHORT_SLEEP_NS);
    if (ends_long_sleep_near(dag, behind, time_ns)) return behind;
    const bool answers = thread->worker || before == DAG_NONE || dag->vertices.kind[before] == VERTEX_REQUEST;
    return !answers && ends_long_sleep_near(dag, before, time_ns) ? before : DAG_NONE;
}

// The last of the barriers behind the answers, up to the load's end, that is before a vertex; DAG_NONE: none is.
static uint32_t barrier_before(const struct builder *builder, uint32_t v) {
    const struct dag *dag = builder->dag;
    const uint32_t first = dag->threads[dag_thread_of(dag, builder->end_of_load)].first;
    uint32_t barrier = builder->end_of_load;
    while (barrier > first && dag->vertices.time_ns[barrier] >= dag->vertices.time_ns[v]) barrier--;
    return dag->vertices.time_ns[barrier] < dag->vertices.time_ns[v] ? barrier : DAG_NONE;
}

static void wake_at_load_end(struct builder *builder) {
    struct dag *dag = builder->dag;
    for (uint32_t t = 0; t < dag->thread_count && builder->end_of_load != DAG_NONE; t++) {
        const uint32_t v = woken_at(dag, &dag->threads[t], dag->vertices.time_ns[builder->end_of_load]);
        const uint32_t barrier = v == DAG_NONE ? DAG_NONE : barrier_before(builder, v);
        if (barrier != DAG_NONE) set_waker(dag, v, barrier);
    }
}

bool find_woken(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!dag->vertices.compute_ns) return true; // nothing says which thread slept
    wake_pollers(dag);
    struct last_part *parts = malloc(((size_t)dag->thread_count + 1) * sizeof *parts);
    uint32_t count = 0;
    if (!parts) return no_memory(builder);
    for (uint32_t t = 0; t < dag->thread_count; t++) count += find_last_part(dag, &dag->threads[t], &parts[count]);
    if (count) find_wakers(dag, parts, count);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].waker == DAG_NONE) continue;
        dag->vertices.cause[parts[i].woken] = parts[i].waker;
        dag->vertices.rule[parts[i].woken] = RULE_WOKEN;
    }
    free(parts);
    wake_at_load_end(builder);
    return true;
}
