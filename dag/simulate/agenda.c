// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/agenda.h"

#include <stdlib.h>

#define NOBODY agenda_entry_of(AGENDA_NONE, INT64_MAX) // comes after everybody

static void *grown(void *array, size_t count, size_t size) {
    return realloc(array, count * size);
}

static uint32_t leaves_for(uint32_t strands) {
    uint32_t leaves = 2;
    while (leaves < strands) leaves *= 2;
    return leaves;
}

bool agenda_reserve(struct agenda *agenda, uint32_t strands) {
    if (strands <= agenda->capacity) return true;
    size_t most = leaves_for(strands);
    agenda_entry *nodes = grown(agenda->nodes, 2 * most, sizeof *nodes);
    if (nodes) agenda->nodes = nodes;
    uint32_t *place = grown(agenda->place, strands, sizeof *place);
    if (place) agenda->place = place;
    uint32_t *unused = grown(agenda->unused, most, sizeof *unused);
    if (unused) agenda->unused = unused;
    if (!nodes || !place || !unused) return false;
    for (uint32_t s = agenda->capacity; s < strands; s++) place[s] = AGENDA_NONE;
    agenda->capacity = strands;
    return true;
}

// Whoever stood on leaves stands on the same ones, which lie further back now. Rare, and so kept out of agenda_put.
static __attribute__((noinline, cold)) void add_leaves(struct agenda *agenda) {
    uint32_t before = agenda->leaves, leaves = before ? 2 * before : 2;
    for (uint32_t leaf = before; leaf < leaves; leaf++) agenda->unused[leaf] = leaf;
    for (uint32_t leaf = leaves; leaf-- > 0;)
        agenda->nodes[leaves + leaf] = leaf < before ? agenda->nodes[before + leaf] : NOBODY;
    for (uint32_t node = leaves; node-- > 1;) {
        agenda_entry left = agenda->nodes[2 * node], right = agenda->nodes[2 * node + 1];
        agenda->nodes[node] = left < right ? left : right;
    }
    agenda->leaves = leaves;
}

void agenda_clear(struct agenda *agenda) {
    for (uint32_t leaf = 0; leaf < agenda->leaves; leaf++) {
        agenda_entry entry = agenda->nodes[agenda->leaves + leaf];
        if (entry != NOBODY) agenda->place[(uint32_t)entry] = AGENDA_NONE;
    }
    agenda->count = agenda->leaves = 0;
}

void agenda_destroy(struct agenda *agenda) {
    free(agenda->nodes);
    free(agenda->place);
    free(agenda->unused);
    *agenda = (struct agenda){0};
}

static void set_leaf(struct agenda *agenda, uint32_t leaf, agenda_entry entry) {
    agenda_entry *nodes = agenda->nodes;
    uint32_t node = agenda->leaves + leaf;
    nodes[node] = entry;
    while (node > 1) {
        agenda_entry other = nodes[node ^ 1];
        entry = other < entry ? other : entry;
        node /= 2;
        nodes[node] = entry;
    }
}

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    if (agenda->count == agenda->leaves) add_leaves(agenda);
    uint32_t leaf = agenda->unused[agenda->count++];
    agenda->place[strand] = leaf;
    set_leaf(agenda, leaf, agenda_entry_of(strand, time_ns));
}

void agenda_remove(struct agenda *agenda, uint32_t strand) {
    uint32_t leaf = agenda->place[strand];
    if (leaf == AGENDA_NONE) return;
    agenda->place[strand] = AGENDA_NONE;
    agenda->unused[--agenda->count] = leaf;
    set_leaf(agenda, leaf, NOBODY);
}

uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns) {
    if (agenda->count == 0) return AGENDA_NONE;
    agenda_entry next = agenda->nodes[1];
    agenda_remove(agenda, (uint32_t)next);
    *time_ns = (int64_t)(next >> 64);
    return (uint32_t)next;
}
