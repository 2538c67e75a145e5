// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/agenda.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY agenda_entry_of(AGENDA_NONE, INT64_MAX) // comes after everybody

static void *grown(void *array, size_t count, size_t size) {
    return realloc(array, count * size);
}

// Who is near, the next one last.
static agenda_entry *list_of(struct agenda *agenda) {
    return &agenda->near[AGENDA_STEP];
}

static uint32_t leaves_for(uint32_t strands) {
    uint32_t leaves = 2;
    while (leaves < strands) leaves *= 2;
    return leaves;
}

bool agenda_reserve(struct agenda *agenda, uint32_t strands) {
    for (uint32_t i = 0; i < AGENDA_STEP; i++) agenda->near[i] = NOBODY;
    if (strands <= agenda->capacity) return true;
    size_t most = leaves_for(strands);
    agenda_entry *far = grown(agenda->far, 2 * most, sizeof *far);
    if (far) agenda->far = far;
    uint32_t *place = grown(agenda->place, strands, sizeof *place);
    if (place) agenda->place = place;
    uint32_t *unused = grown(agenda->unused, most, sizeof *unused);
    if (unused) agenda->unused = unused;
    if (!far || !place || !unused) return false;
    for (uint32_t s = agenda->capacity; s < strands; s++) place[s] = AGENDA_NONE;
    agenda->capacity = strands;
    return true;
}

void agenda_clear(struct agenda *agenda) {
    const agenda_entry *near = list_of(agenda);
    for (uint32_t i = 0; i < agenda->near_count; i++) agenda->place[(uint32_t)near[i]] = AGENDA_NONE;
    for (uint32_t leaf = 0; leaf < agenda->leaves; leaf++) {
        agenda_entry entry = agenda->far[agenda->leaves + leaf];
        if (entry != NOBODY) agenda->place[(uint32_t)entry] = AGENDA_NONE;
    }
    agenda->near_count = agenda->far_count = agenda->leaves = 0;
}

void agenda_destroy(struct agenda *agenda) {
    free(agenda->far);
    free(agenda->place);
    free(agenda->unused);
    *agenda = (struct agenda){0};
}

// ---- far: the tournament

// Whoever stood on leaves stands on the same ones, which lie further back now.
static void add_leaves(struct agenda *agenda) {
    uint32_t before = agenda->leaves, leaves = before ? 2 * before : 2;
    for (uint32_t leaf = before; leaf < leaves; leaf++) agenda->unused[leaf] = leaf;
    for (uint32_t leaf = leaves; leaf-- > 0;)
        agenda->far[leaves + leaf] = leaf < before ? agenda->far[before + leaf] : NOBODY;
    for (uint32_t node = leaves; node-- > 1;) {
        agenda_entry left = agenda->far[2 * node], right = agenda->far[2 * node + 1];
        agenda->far[node] = left < right ? left : right;
    }
    agenda->leaves = leaves;
}

static void set_leaf(struct agenda *agenda, uint32_t leaf, agenda_entry entry) {
    agenda_entry *nodes = agenda->far;
    uint32_t node = agenda->leaves + leaf;
    nodes[node] = entry;
    while (node > 1) {
        agenda_entry other = nodes[node ^ 1];
        entry = other < entry ? other : entry;
        node /= 2;
        nodes[node] = entry;
    }
}

static void put_far(struct agenda *agenda, agenda_entry entry) {
    if (agenda->far_count == agenda->leaves) add_leaves(agenda);
    uint32_t leaf = agenda->unused[agenda->far_count++];
    agenda->place[(uint32_t)entry] = leaf;
    set_leaf(agenda, leaf, entry);
}

static void leave_far(struct agenda *agenda, uint32_t leaf) {
    agenda->unused[--agenda->far_count] = leaf;
    set_leaf(agenda, leaf, NOBODY);
}

static agenda_entry take_far(struct agenda *agenda) {
    agenda_entry next = agenda->far[1];
    leave_far(agenda, agenda->place[(uint32_t)next]);
    return next;
}

// ---- near: the list

enum { HALF = AGENDA_NEAR / 2 };

// Those that come later go, so that there is room. Rare, like the next one, and so kept out of what calls it.
static __attribute__((noinline, cold)) void spill(struct agenda *agenda) {
    agenda_entry *near = list_of(agenda);
    for (uint32_t i = 0; i < HALF; i++) put_far(agenda, near[i]);
    for (uint32_t i = HALF; i < AGENDA_NEAR; i++) near[i - HALF] = near[i];
    agenda->near_count -= HALF;
}

// Nobody is near, but some are far.
static __attribute__((noinline, cold)) void refill(struct agenda *agenda) {
    agenda_entry *near = list_of(agenda);
    uint32_t count = agenda->far_count < HALF ? agenda->far_count : HALF;
    for (uint32_t i = count; i-- > 0;) {
        near[i] = take_far(agenda);
        agenda->place[(uint32_t)near[i]] = AGENDA_IS_NEAR;
    }
    agenda->near_count = count;
}

static agenda_entry earlier(agenda_entry a, agenda_entry b) {
    return a < b ? a : b;
}

static agenda_entry later(agenda_entry a, agenda_entry b) {
    return a < b ? b : a;
}

// Those that come before make room, which there is at `at`. How many they are nobody can foresee, so a step moves as
// many as it can without asking, and the last one puts the entry where it belongs by minima and maxima.
static void put_in_order(agenda_entry *at, agenda_entry entry) {
    for (; at[-AGENDA_STEP] < entry; at -= AGENDA_STEP) {
        struct {
            agenda_entry entries[AGENDA_STEP];
        } moved;
        memcpy(&moved, at - AGENDA_STEP, sizeof moved);
        memcpy(at + 1 - AGENDA_STEP, &moved, sizeof moved);
    }
    agenda_entry first = at[-3], second = at[-2], third = at[-1];
    at[0] = earlier(third, entry);
    at[-1] = earlier(second, later(third, entry));
    at[-2] = earlier(first, later(second, entry));
    at[-3] = later(first, entry);
}

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    agenda_entry entry = agenda_entry_of(strand, time_ns);
    if (agenda->near_count == AGENDA_NEAR) spill(agenda);
    if (agenda->far_count && agenda->far[1] < entry) {
        put_far(agenda, entry);
        return;
    }
    agenda->place[strand] = AGENDA_IS_NEAR;
    put_in_order(&list_of(agenda)[agenda->near_count++], entry);
}

static void leave_near(struct agenda *agenda, uint32_t strand) {
    agenda_entry *near = list_of(agenda);
    uint32_t at = 0;
    while ((uint32_t)near[at] != strand) at++;
    agenda->near_count--;
    for (; at < agenda->near_count; at++) near[at] = near[at + 1];
    if (agenda->near_count == 0 && agenda->far_count) refill(agenda);
}

void agenda_remove(struct agenda *agenda, uint32_t strand) {
    uint32_t leaf = agenda->place[strand];
    if (leaf == AGENDA_NONE) return;
    agenda->place[strand] = AGENDA_NONE;
    if (leaf == AGENDA_IS_NEAR)
        leave_near(agenda, strand);
    else
        leave_far(agenda, leaf);
}

uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns) {
    if (agenda->near_count == 0) return AGENDA_NONE;
    agenda_entry next = list_of(agenda)[--agenda->near_count];
    agenda->place[(uint32_t)next] = AGENDA_NONE;
    if (agenda->near_count == 0 && agenda->far_count) refill(agenda);
    *time_ns = (int64_t)(next >> 64);
    return (uint32_t)next;
}
