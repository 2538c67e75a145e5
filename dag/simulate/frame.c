// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/frame.h"

#include <stdlib.h>

uint32_t frame_new(struct simulation *sim) {
    uint32_t index = sim->unused_frame;
    if (index != DAG_NONE) {
        sim->unused_frame = sim->frames[index].outer;
        return index;
    }
    if (sim->frame_count == sim->frame_capacity) {
        uint32_t larger = sim->frame_capacity ? sim->frame_capacity * 2 : 256;
        struct frame *moved = realloc(sim->frames, larger * sizeof *moved);
        if (!moved) {
            sim->no_memory = true;
            return DAG_NONE;
        }
        sim->frames = moved;
        sim->frame_capacity = larger;
    }
    return sim->frame_count++;
}

bool frame_is_stage_at(const struct simulation *sim, const struct frame *frame, uint32_t vertex) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t start = frame->staged ? sim->dag->tasks[frame->task].start : DAG_NONE, ended = 0;
    if (!frame->staged) return false;
    for (uint32_t v = vertex; v-- > start + 1;) {
        if (vertices->kind[v] == VERTEX_END) ended++;
        if (vertices->kind[v] == VERTEX_START && ended-- == 0) return false;
    }
    return true;
}

void frames_clear(struct simulation *sim) {
    sim->frame_count = 0;
    sim->unused_frame = DAG_NONE;
}
