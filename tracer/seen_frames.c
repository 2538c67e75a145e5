// SPDX-License-Identifier: Apache-2.0
#include "tracer/seen_frames.h"

#include <stdlib.h>

enum {
    LEAST = 256,         // slots
    ROOM_ENOUGH = 65536, // also for those that are seen in turn, each as it has been forgotten: 2 MiB
};

static size_t hash(const void *method, int64_t bci) {
    return (size_t)(((uintptr_t)method >> 3 ^ (uintptr_t)bci * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 20);
}

static struct seen_frame *slot_of(const struct seen_frames *map, const void *method, int64_t bci) {
    size_t at = hash(method, bci) & (map->capacity - 1);
    while (map->slots[at].method && (map->slots[at].method != method || map->slots[at].bci != bci))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

// Whether to make more room than there was. What is seen for a while only is used when it is new, too: that takes up to
// half of the room, and must not make the map grow.
static bool needs_more(const struct seen_frames *map, size_t used) {
    bool misses_often = map->added * 8 > map->asked;
    return used * 8 > map->capacity * 3 || (misses_often && map->capacity < ROOM_ENOUGH);
}

// Keeps what was used since the last time, of which each has to be used again to stay.
static bool sweep(struct seen_frames *map) {
    size_t used = 0;
    for (size_t i = 0; i < map->capacity; i++) used += map->slots[i].used;
    struct seen_frames swept = {.capacity = needs_more(map, used) ? map->capacity * 2 : map->capacity};
    if (!swept.capacity) swept.capacity = LEAST;
    swept.slots = calloc(swept.capacity, sizeof *swept.slots);
    if (!swept.slots) return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].used) continue;
        struct seen_frame *slot = slot_of(&swept, map->slots[i].method, map->slots[i].bci);
        *slot = map->slots[i];
        slot->used = false;
        swept.count++;
    }
    free(map->slots);
    *map = swept;
    return true;
}

const struct seen_frame *seen_frames_find(struct seen_frames *map, const void *method, int64_t bci) {
    struct seen_frame *slot = map->capacity ? slot_of(map, method, bci) : NULL;
    map->asked++;
    if (!slot || !slot->method) return NULL;
    slot->used = true;
    return slot;
}

void seen_frames_add(struct seen_frames *map, const struct seen_frame *frame) {
    if (map->count * 2 >= map->capacity && !sweep(map)) return;
    struct seen_frame *slot = slot_of(map, frame->method, frame->bci);
    if (slot->method) return;
    *slot = *frame;
    slot->used = false;
    map->count++;
    map->added++;
}

void seen_frames_clear(struct seen_frames *map) {
    free(map->slots);
    *map = (struct seen_frames){0};
}
