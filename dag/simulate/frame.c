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

void frames_clear(struct simulation *sim) {
    sim->frame_count = 0;
    sim->unused_frame = DAG_NONE;
}
