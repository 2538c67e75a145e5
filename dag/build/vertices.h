// SPDX-License-Identifier: GPL-3.0-or-later
// Threads and vertices are laid behind one another, in arrays that grow.
#ifndef REHYPE_DAG_VERTICES_H
#define REHYPE_DAG_VERTICES_H

#include "dag/build/builder.h"

bool add_thread(struct builder *builder, uint32_t stream); // that following vertices belong to

// Rare, and so kept out of where each vertex passes. More than there will be as a rule, the first time; then doubles.
__attribute__((cold)) bool reserve_vertices(struct builder *builder);

// All false: no memory, or too many vertices, as builder->error says.
static inline bool add_vertex(struct builder *builder, enum vertex_kind kind, int64_t time_ns, uint64_t event,
                              uint32_t task) {
    struct dag *dag = builder->dag;
    if (dag->vertex_count >= builder->vertex_capacity && !reserve_vertices(builder)) return false;
    uint32_t v = dag->vertex_count++;
    dag->vertices.time_ns[v] = time_ns;
    dag->vertices.cause[v] = DAG_NONE;
    dag->vertices.task[v] = task;
    dag->vertices.event[v] = event;
    dag->vertices.kind[v] = (uint8_t)kind;
    dag->vertices.rule[v] = RULE_RUN;
    if (builder->has_cpu) dag->vertices.compute_ns[v] = 0;
    if (builder->has_delay) dag->vertices.queued_ns[v] = 0;
    if (builder->has_costs) {
        dag->tracer.edge_ns[v] = 0;
        dag->tracer.event_kind[v] = EVENT_NONE;
    }
    dag->threads[dag->thread_count - 1].count++;
    return true;
}

// The first touch of a page takes long: another thread than the one that adds vertices gets them their memory ahead of
// it, piece by piece, until the room is closed. What is open stays where it is.
struct vertex_array {
    void *array; // where the pointer to it lies
    size_t size; // of an element
};

enum { VERTEX_ARRAYS = 10 };

struct vertex_room {
    struct builder *builder;
    struct vertex_array arrays[VERTEX_ARRAYS];
    char *memory[VERTEX_ARRAYS]; // where they are unless they move
    uint32_t count, capacity, pieces;
};

bool vertex_room_open(struct builder *builder, struct vertex_room *room); // reserves what is expected
void vertex_room_get(const struct vertex_room *room, uint32_t piece);
void vertex_room_close(struct builder *builder); // all vertices are laid, or their arrays move

#endif
