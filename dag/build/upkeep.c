// SPDX-License-Identifier: GPL-3.0-or-later
// What of threads' time is upkeep: how long a library made or stopped an actor, and which messages it sent for that.
// A nested upkeep is the outer one's as well.
#include "dag/build/builder.h"
#include "dag/ns.h"

#include <stdlib.h>

void upkeep_begin(const struct builder *builder, struct open_upkeeps *open, int64_t time_ns) {
    if (open->depth < UPKEEPS_MOST)
        open->frames[open->depth] = (struct upkeep_frame){time_ns, builder->dag->vertex_count};
    open->depth++;
}

// `actor`: by its number in the trace; 0: none was made.
bool upkeep_end(struct builder *builder, struct open_upkeeps *open, int64_t time_ns, uint64_t actor) {
    if (open->depth == 0) return true;
    if (--open->depth >= UPKEEPS_MOST || actor == 0) return true;
    const struct upkeep_frame *frame = &open->frames[open->depth];
    if (!GROW(builder->upkeeps, builder->upkeep_count, builder->upkeep_capacity)) return no_memory(builder);
    builder->upkeeps[builder->upkeep_count++] =
        (struct upkeep_span){frame->begin_ns, time_ns, frame->vertex, builder->dag->vertex_count, actor};
    return true;
}

static bool add_edge(struct builder *builder, uint32_t *capacity, struct dag_upkeep upkeep) {
    struct dag *dag = builder->dag;
    if (upkeep.ns <= 0) return true;
    if (!GROW(dag->upkeeps, dag->upkeep_count, *capacity)) return no_memory(builder);
    dag->upkeeps[dag->upkeep_count++] = upkeep;
    return true;
}

static bool is_first_of_thread(const struct dag *dag, uint32_t vertex) {
    return dag->threads[dag_thread_of(dag, vertex)].first == vertex;
}

// The edges that a span lies in, up to the one behind it.
static bool lay_span(struct builder *builder, uint32_t *capacity, const struct upkeep_span *span, uint32_t actor) {
    struct dag *dag = builder->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    bool ok = true;
    for (uint32_t v = span->from; ok && v <= span->to && v < dag->vertex_count; v++) {
        if (v == 0 || is_first_of_thread(dag, v)) continue;
        const int64_t ns = min_ns(span->end_ns, time_ns[v]) - max_ns(span->begin_ns, time_ns[v - 1]);
        ok = add_edge(builder, capacity, (struct dag_upkeep){v, actor, ns});
        const uint32_t task = dag_task_of(&dag->vertices, v);
        const bool sends = v < span->to && dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN && task != DAG_NONE;
        if (sends && dag->tasks[task].flags & TASK_UPKEEP) dag->upkeep_of[task] = actor;
    }
    return ok;
}

// Messages of the library to an actor are its upkeep, unless they are sent for another one's.
static void note_receivers(struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].flags & TASK_UPKEEP && dag->upkeep_of[t] == 0) dag->upkeep_of[t] = dag->actor_of[t];
    }
}

bool find_upkeeps(struct builder *builder) {
    struct dag *dag = builder->dag;
    uint32_t capacity = 0;
    bool ok = true;
    if (!dag->actor_of) return true;
    dag->upkeep_of = calloc((size_t)dag->task_count + 1, sizeof *dag->upkeep_of);
    if (!dag->upkeep_of) return no_memory(builder);
    for (uint32_t i = 0; ok && i < builder->upkeep_count; i++) {
        const uint32_t actor = idmap_get(&builder->actor_of_id, builder->upkeeps[i].actor);
        if (actor != IDMAP_NONE) ok = lay_span(builder, &capacity, &builder->upkeeps[i], actor);
    }
    note_receivers(dag);
    return ok;
}
