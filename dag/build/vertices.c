// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/vertices.h"

#include "base/pages.h"

#include <string.h>

enum { PIECE = 1 << 18 };

bool add_thread(struct builder *builder, uint32_t stream) {
    struct dag *dag = builder->dag;
    if (!GROW(dag->threads, dag->thread_count, builder->thread_capacity)) return no_memory(builder);
    dag->threads[dag->thread_count++] =
        (struct dag_thread){.stream = stream, .first = dag->vertex_count, .run_task = DAG_NONE};
    return true;
}

// More as a rule, and never less by far: an event is one vertex at most, but for TAKEN, which is two.
static uint32_t expected_vertices(const struct trace *trace) {
    static const uint8_t none[] = {EVENT_ENTER, EVENT_EXIT, EVENT_EXIT_THROW, EVENT_TASK_CREATED, EVENT_RUN_DELAY};
    uint64_t count = 1024 + trace->event_count + trace->events_of_kind[EVENT_TAKEN];
    for (size_t i = 0; i < sizeof none; i++) count -= trace->events_of_kind[none[i]];
    return count < DAG_NONE / 2 ? (uint32_t)count : DAG_NONE / 2;
}

// Those that the trace gives something to put into. Returns how many.
static uint32_t list_arrays(struct builder *builder, struct vertex_array *arrays) {
    struct dag_vertices *vertices = &builder->dag->vertices;
    struct dag_tracer_cost *tracer = &builder->dag->tracer;
    uint32_t count = 0;
    arrays[count++] = (struct vertex_array){&vertices->time_ns, sizeof *vertices->time_ns};
    arrays[count++] = (struct vertex_array){&vertices->cause, sizeof *vertices->cause};
    arrays[count++] = (struct vertex_array){&vertices->task, sizeof *vertices->task};
    arrays[count++] = (struct vertex_array){&vertices->event, sizeof *vertices->event};
    arrays[count++] = (struct vertex_array){&vertices->kind, sizeof *vertices->kind};
    arrays[count++] = (struct vertex_array){&vertices->rule, sizeof *vertices->rule};
    if (builder->has_cpu) arrays[count++] = (struct vertex_array){&vertices->compute_ns, sizeof *vertices->compute_ns};
    if (builder->has_delay) arrays[count++] = (struct vertex_array){&vertices->queued_ns, sizeof *vertices->queued_ns};
    if (builder->has_costs) {
        arrays[count++] = (struct vertex_array){&tracer->edge_ns, sizeof *tracer->edge_ns};
        arrays[count++] = (struct vertex_array){&tracer->event_kind, sizeof *tracer->event_kind};
    }
    return count;
}

void vertex_room_close(struct builder *builder) {
    atomic_store(&builder->room_is_made, true);
}

bool reserve_vertices(struct builder *builder) {
    if (builder->vertex_capacity > DAG_NONE / 2) {
        return error_set(builder->error, STATUS_FAILED, "the trace has more than %u events of tasks and threads",
                         DAG_NONE / 2);
    }
    uint32_t larger = builder->vertex_capacity ? builder->vertex_capacity * 2 : expected_vertices(builder->trace);
    struct vertex_array arrays[VERTEX_ARRAYS];
    if (builder->vertex_capacity) vertex_room_close(builder);
    for (uint32_t i = list_arrays(builder, arrays); i--;) {
        if (!pages_resize(arrays[i].array, larger, arrays[i].size)) return no_memory(builder);
    }
    builder->vertex_capacity = larger;
    return true;
}

bool vertex_room_open(struct builder *builder, struct vertex_room *room) {
    if (!reserve_vertices(builder)) return false;
    *room = (struct vertex_room){.builder = builder, .capacity = builder->vertex_capacity};
    room->count = list_arrays(builder, room->arrays);
    room->pieces = (room->capacity + PIECE - 1) / PIECE;
    for (uint32_t i = 0; i < room->count; i++) memcpy(&room->memory[i], room->arrays[i].array, sizeof(char *));
    return true;
}

void vertex_room_get(const struct vertex_room *room, uint32_t piece) {
    size_t first = (size_t)piece * PIECE, count = room->capacity - first;
    if (count > PIECE) count = PIECE;
    for (uint32_t i = 0; i < room->count && !atomic_load(&room->builder->room_is_made); i++) {
        size_t size = room->arrays[i].size;
        pages_get(room->memory[i], first * size, count * size);
    }
}
