// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads as a resource, and the threads that keep one while they do not compute. A virtual thread
// that is mounted computes, waits for a core, or is pinned: it sleeps and keeps its carrier, since it is in native
// code, in the initialiser of a class or, before JDK 24, in a monitor (JEP 491). On an edge for all of which it was
// mounted it kept its carrier whatever it did. Of others the first two are measured; what is left of the time for which
// it was mounted, but for the JVM's pauses, is the third.
#include "dag/build/builder.h"
#include "dag/edge.h"
#include "dag/ns.h"
#include "dag/order.h"

#include <stdlib.h>
#include <string.h>

// It was mounted, or was not, up to now.
static void pass(struct mounting *mounting, bool mounted, int64_t now_ns) {
    *(mounted ? &mounting->ns : &mounting->unmounted_ns) += now_ns - mounting->since_ns;
    mounting->since_ns = now_ns;
}

// A thread that is mounted again where it was, and was not ready before, had asked to be unmounted, and could not be.
// Before it is mounted first there is but the beginning of its thread.
static void note_event(struct mounting *mounting, const struct event *event, bool tells_ready) {
    bool stays;
    switch (event->kind) {
    case EVENT_UNMOUNT:
        pass(mounting, mounting->mounted, (int64_t)event->time);
        mounting->mounted = mounting->ready = false;
        mounting->left = true;
        mounting->carrier = event->operand[0];
        break;
    case EVENT_READY:
        mounting->ready = true;
        break;
    case EVENT_MOUNT:
        stays = mounting->left && tells_ready && !mounting->ready && mounting->carrier == event->operand[0];
        pass(mounting, stays || !mounting->left, (int64_t)event->time);
        mounting->refused |= stays;
        mounting->mounted = true;
        break;
    default:
        break;
    }
}

bool note_mounting(struct builder *builder, struct mounting *mounting, const struct event *event, uint32_t vertex,
                   int64_t delay_ns) {
    note_event(mounting, event, builder->trace->events_of_kind[EVENT_READY]);
    if (builder->dag->vertex_count == vertex) return true;
    pass(mounting, mounting->mounted || event->kind == EVENT_THREAD_END, (int64_t)event->time);
    struct mounted_edge edge = {vertex, mounting->refused, mounting->ns - (delay_ns - mounting->delay_ns)};
    if (mounting->unmounted_ns == 0) edge.ns = PINNED_WHOLE;
    mounting->ns = mounting->unmounted_ns = 0;
    mounting->refused = false;
    mounting->delay_ns = delay_ns;
    if (edge.ns < PINNED_LEAST_NS) return true;
    if (!GROW(builder->mounted, builder->mounted_count, builder->mounted_capacity)) return no_memory(builder);
    builder->mounted[builder->mounted_count++] = edge;
    return true;
}

static int64_t asleep_ns(const struct dag *dag, uint32_t v) {
    return edge_asleep_ns(dag, v, dag->vertices.time_ns[v - 1]);
}

// A thread that was mounted for a moment of waiting, and had not asked to be unmounted, would have been in a longer
// wait.
static int64_t pinned_in_wait_ns(const struct dag *dag, const struct mounted_edge *edge) {
    const uint32_t v = edge->vertex;
    if (edge->refused || asleep_ns(dag, v) >= PINNED_LEAST_NS) return PINNED_WHOLE;
    return dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1];
}

// Where the kernel does not account for waits for a core, a thread that did not compute may have waited for one.
static int64_t pinned_in_part_ns(const struct dag *dag, const struct mounted_edge *edge) {
    if (!dag->trace->events_of_kind[EVENT_RUN_DELAY]) return 0;
    const uint32_t v = edge->vertex;
    const int64_t pinned_ns = min_ns(edge->ns - dag->vertices.compute_ns[v], asleep_ns(dag, v));
    return pinned_ns < PINNED_LEAST_NS ? 0 : pinned_ns;
}

static int64_t pinned_ns_of(const struct dag *dag, const struct mounted_edge *edge) {
    const uint32_t v = edge->vertex;
    if (dag->threads[dag_thread_of(dag, v)].first == v) return 0;
    if (edge->ns != PINNED_WHOLE) return pinned_in_part_ns(dag, edge);
    return edge_sleeps(dag, v) ? pinned_in_wait_ns(dag, edge) : PINNED_WHOLE;
}

// Drops those that are none, and leaves in `ns` for how long the others were pinned.
static void keep_pinned(struct builder *builder) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < builder->mounted_count; i++) {
        struct mounted_edge edge = builder->mounted[i];
        edge.ns = pinned_ns_of(builder->dag, &edge);
        if (edge.ns > 0) builder->mounted[kept++] = edge;
    }
    builder->mounted_count = kept;
}

static int64_t pinned_asleep_ns(const struct dag *dag, const struct mounted_edge *edge) {
    return min_ns(edge->ns, asleep_ns(dag, edge->vertex));
}

// For some of what pins a thread (Object.wait, files) the JVM makes another carrier meanwhile. Which threads those were
// is not told, but that there were some shows where more were pinned at once than there are carriers. Sleeps are taken
// to be what their edges end with. false: no memory.
static bool are_made_up_for(const struct builder *builder, int64_t carriers, bool *made_up_for) {
    const struct dag *dag = builder->dag;
    const uint32_t count = builder->mounted_count;
    uint32_t turn_count = 0;
    struct order_key *turns = malloc((2 * (size_t)count + 1) * sizeof *turns);
    if (!turns) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t v = builder->mounted[i].vertex;
        const int64_t until_ns = dag->vertices.time_ns[v], slept_ns = pinned_asleep_ns(dag, &builder->mounted[i]);
        if (slept_ns < PINNED_LEAST_NS) continue;
        turns[turn_count++] = (struct order_key){until_ns - slept_ns, 1, v};
        turns[turn_count++] = (struct order_key){until_ns, 0, v};
    }
    const bool sorted = order_sort(turns, turn_count);
    *made_up_for = false;
    for (uint32_t i = 0; sorted && i < turn_count; i++) {
        carriers -= turns[i].tie ? 1 : -1;
        *made_up_for |= carriers < 0;
    }
    free(turns);
    return sorted;
}

// An estimate's file has its mounts where they were in proportion, and so nothing follows from them.
static bool tells_pinned(const struct builder *builder) {
    const char *origin = builder->trace->header.origin;
    return origin && strcmp(origin, "recorded") == 0 && builder->dag->vertices.compute_ns;
}

static bool find_pinned(struct builder *builder, int64_t carriers) {
    struct dag *dag = builder->dag;
    bool made_up_for;
    if (!tells_pinned(builder)) return true;
    keep_pinned(builder);
    if (builder->mounted_count == 0) return true;
    if (!are_made_up_for(builder, carriers, &made_up_for)) return no_memory(builder);
    dag->pinned_ns = ARENA_NEW(&dag->arena, int64_t, (size_t)dag->vertex_count + 1);
    if (!dag->pinned_ns) return no_memory(builder);
    memset(dag->pinned_ns, 0, ((size_t)dag->vertex_count + 1) * sizeof *dag->pinned_ns);
    for (uint32_t i = 0; i < builder->mounted_count; i++) {
        const struct mounted_edge *edge = &builder->mounted[i];
        if (made_up_for && pinned_asleep_ns(dag, edge) >= PINNED_LEAST_NS) continue;
        dag->pinned_ns[edge->vertex] = edge->ns;
    }
    return true;
}

static uint32_t find_scheduler(const struct trace *trace) {
    for (uint32_t p = 1; p < trace->pool_count; p++) {
        const struct trace_pool *pool = &trace->pools[p];
        if (pool->kind && strcmp(pool->kind, "java.lang.VirtualThread") == 0 && pool->core > 0) return p;
    }
    return 0;
}

static bool has_virtual_threads(const struct dag *dag) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag->threads[i].is_virtual) return true;
    }
    return false;
}

bool add_carriers(struct builder *builder) {
    struct dag *dag = builder->dag;
    const struct trace *trace = builder->trace;
    const uint32_t scheduler = find_scheduler(trace);
    const int64_t count = scheduler ? (int64_t)trace->pools[scheduler].core : (int64_t)trace->header.cores;
    if (count <= 0 || !has_virtual_threads(dag)) return true;
    if (!find_pinned(builder, count)) return false;
    if (!GROW(dag->resources, dag->resource_count, builder->resource_capacity)) return no_memory(builder);
    dag->resources[dag->resource_count++] = (struct dag_resource){
        .kind = RESOURCE_POOL, .name = "carriers", .capacity = count, .initial = count, .goes_round = true};
    dag->carriers = dag->resource_count;
    dag->carriers_pool = scheduler;
    return true;
}
