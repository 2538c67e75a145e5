// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads as a resource, and who keeps one while he does not compute. A virtual thread that is
// mounted computes, waits for a core, or is pinned: it sleeps and keeps its carrier, since it is in native code, in the
// initialiser of a class or, before JDK 24, in a monitor (JEP 491). The first two are measured; what is left of the
// time for which it was mounted, but for the JVM's pauses, is the third.
#include "dag/build/builder.h"
#include "dag/edge.h"
#include "dag/ns.h"
#include "dag/order.h"

#include <stdlib.h>
#include <string.h>

static void mounted_until(struct mounting *mounting, int64_t now_ns) {
    if (mounting->mounted) mounting->ns += now_ns - mounting->since_ns;
    mounting->since_ns = now_ns;
}

bool note_mounting(struct builder *builder, struct mounting *mounting, const struct event *event, uint32_t vertex,
                   int64_t delay_ns) {
    if (event->kind == EVENT_MOUNT || event->kind == EVENT_UNMOUNT) {
        mounted_until(mounting, (int64_t)event->time);
        mounting->mounted = event->kind == EVENT_MOUNT;
    }
    if (builder->dag->vertex_count == vertex) return true;
    mounted_until(mounting, (int64_t)event->time);
    const struct mounted_edge edge = {vertex, mounting->ns - (delay_ns - mounting->delay_ns)};
    mounting->ns = 0;
    mounting->delay_ns = delay_ns;
    if (edge.ns < PINNED_LEAST_NS) return true;
    if (!GROW(builder->mounted, builder->mounted_count, builder->mounted_capacity)) return no_memory(builder);
    builder->mounted[builder->mounted_count++] = edge;
    return true;
}

static int64_t pinned_ns_of(const struct dag *dag, const struct mounted_edge *edge) {
    const uint32_t v = edge->vertex;
    if (dag->threads[dag_thread_of(dag, v)].first == v) return 0;
    return min_ns(edge->ns - dag->vertices.compute_ns[v], edge_asleep_ns(dag, v, dag->vertices.time_ns[v - 1]));
}

// Drops those that are none, and leaves in `ns` for how long the others were pinned.
static void keep_pinned(struct builder *builder) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < builder->mounted_count; i++) {
        const struct mounted_edge edge = {builder->mounted[i].vertex, pinned_ns_of(builder->dag, &builder->mounted[i])};
        if (edge.ns >= PINNED_LEAST_NS) builder->mounted[kept++] = edge;
    }
    builder->mounted_count = kept;
}

// For some of what pins a thread (Object.wait, files) the JVM makes another carrier meanwhile. Which threads those were
// is not told, but that there were some shows where more were pinned at once than there are carriers. Sleeps are taken
// to be what their edges end with. false: no memory.
static bool are_made_up_for(const struct builder *builder, int64_t carriers, bool *made_up_for) {
    const int64_t *time_ns = builder->dag->vertices.time_ns;
    const uint32_t count = builder->mounted_count;
    struct order_key *turns = malloc((2 * (size_t)count + 1) * sizeof *turns);
    if (!turns) return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct mounted_edge *edge = &builder->mounted[i];
        turns[2 * i] = (struct order_key){time_ns[edge->vertex] - edge->ns, 1, 2 * i};
        turns[2 * i + 1] = (struct order_key){time_ns[edge->vertex], 0, 2 * i + 1};
    }
    const bool sorted = order_sort(turns, 2 * count);
    *made_up_for = false;
    for (uint32_t i = 0; sorted && i < 2 * count; i++) {
        carriers -= turns[i].item % 2 == 0 ? 1 : -1;
        *made_up_for |= carriers < 0;
    }
    free(turns);
    return sorted;
}

// Where the kernel does not account for waits for a core, nobody knows that who did not compute had one. An estimate's
// file has its mounts where they were in proportion, and so nothing follows from them.
static bool tells_pinned(const struct builder *builder) {
    const struct trace *trace = builder->trace;
    const bool recorded = trace->header.origin && strcmp(trace->header.origin, "recorded") == 0;
    return recorded && builder->dag->vertices.queued_ns && trace->events_of_kind[EVENT_RUN_DELAY];
}

static bool find_pinned(struct builder *builder, int64_t carriers) {
    struct dag *dag = builder->dag;
    bool made_up_for;
    if (!tells_pinned(builder)) return true;
    keep_pinned(builder);
    if (!are_made_up_for(builder, carriers, &made_up_for)) return no_memory(builder);
    if (made_up_for || builder->mounted_count == 0) return true;
    dag->pinned_ns = ARENA_NEW(&dag->arena, int64_t, (size_t)dag->vertex_count + 1);
    if (!dag->pinned_ns) return no_memory(builder);
    memset(dag->pinned_ns, 0, ((size_t)dag->vertex_count + 1) * sizeof *dag->pinned_ns);
    for (uint32_t i = 0; i < builder->mounted_count; i++)
        dag->pinned_ns[builder->mounted[i].vertex] = builder->mounted[i].ns;
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
