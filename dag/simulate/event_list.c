// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/event_list.h"

#include <stdlib.h>
#include <string.h>

// Comes after all others. A notice at INT64_MAX comes before it.
#define NO_EVENT event_entry_of(NOTICE_TYPES, NOTICE_NONE, INT64_MAX)

static void *grown(void *array, size_t count, size_t size) {
    return realloc(array, count * size);
}

static uint32_t number_of(event_entry entry) {
    return (uint32_t)((uint64_t)entry >> 8);
}

// Where the entry's subject says where it stands.
static uint32_t *place_of(struct event_list *events, event_entry entry) {
    return &events->place[(uint64_t)entry >> 40][number_of(entry)];
}

// What is near, the next one last.
static event_entry *list_of(struct event_list *events) {
    return &events->near[EVENTS_STEP];
}

static uint32_t leaves_for(uint32_t subjects) {
    uint32_t leaves = 2;
    while (leaves < subjects) leaves *= 2;
    return leaves;
}

static bool reserve_places(struct event_list *events, enum notice_subject kind, uint32_t subjects) {
    uint32_t *place = grown(events->place[kind], subjects, sizeof *place);
    if (!place) return false;
    for (uint32_t s = events->subjects[kind]; s < subjects; s++) place[s] = NOTICE_NONE;
    events->place[kind] = place;
    events->capacity += subjects - events->subjects[kind];
    events->subjects[kind] = subjects;
    return true;
}

bool events_reserve(struct event_list *events, enum notice_subject kind, uint32_t subjects) {
    for (uint32_t i = 0; i < EVENTS_STEP; i++) events->near[i] = NO_EVENT;
    if (subjects <= events->subjects[kind]) return true;
    size_t most = leaves_for(events->capacity + subjects - events->subjects[kind]);
    event_entry *far = grown(events->far, 2 * most, sizeof *far);
    if (far) events->far = far;
    uint32_t *unused = grown(events->unused, most, sizeof *unused);
    if (unused) events->unused = unused;
    return far && unused && reserve_places(events, kind, subjects);
}

void events_clear(struct event_list *events) {
    const event_entry *near = list_of(events);
    for (uint32_t i = 0; i < events->near_count; i++) *place_of(events, near[i]) = NOTICE_NONE;
    for (uint32_t leaf = 0; leaf < events->leaves; leaf++) {
        event_entry entry = events->far[events->leaves + leaf];
        if (entry != NO_EVENT) *place_of(events, entry) = NOTICE_NONE;
    }
    events->near_count = events->far_count = events->leaves = 0;
}

void events_destroy(struct event_list *events) {
    free(events->far);
    for (int kind = 0; kind < SUBJECT_KINDS; kind++) free(events->place[kind]);
    free(events->unused);
    *events = (struct event_list){0};
}

// ---- far: the tournament

// What stood on leaves stands on the same ones, which lie further back now.
static void add_leaves(struct event_list *events) {
    uint32_t before = events->leaves, leaves = before ? 2 * before : 2;
    for (uint32_t leaf = before; leaf < leaves; leaf++) events->unused[leaf] = leaf;
    for (uint32_t leaf = leaves; leaf-- > 0;)
        events->far[leaves + leaf] = leaf < before ? events->far[before + leaf] : NO_EVENT;
    for (uint32_t node = leaves; node-- > 1;) {
        event_entry left = events->far[2 * node], right = events->far[2 * node + 1];
        events->far[node] = left < right ? left : right;
    }
    events->leaves = leaves;
}

static void set_leaf(struct event_list *events, uint32_t leaf, event_entry entry) {
    event_entry *nodes = events->far;
    uint32_t node = events->leaves + leaf;
    nodes[node] = entry;
    while (node > 1) {
        event_entry other = nodes[node ^ 1];
        entry = other < entry ? other : entry;
        node /= 2;
        nodes[node] = entry;
    }
}

static void put_far(struct event_list *events, event_entry entry) {
    if (events->far_count == events->leaves) add_leaves(events);
    uint32_t leaf = events->unused[events->far_count++];
    *place_of(events, entry) = leaf;
    set_leaf(events, leaf, entry);
}

static void leave_far(struct event_list *events, uint32_t leaf) {
    events->unused[--events->far_count] = leaf;
    set_leaf(events, leaf, NO_EVENT);
}

static event_entry take_far(struct event_list *events) {
    event_entry next = events->far[1];
    leave_far(events, *place_of(events, next));
    return next;
}

// ---- near: the list

enum { HALF = EVENTS_NEAR / 2 };

// Those that come later go, so that there is room. Rare, like the next one, and so kept out of what calls it.
static __attribute__((noinline, cold)) void spill(struct event_list *events) {
    event_entry *near = list_of(events);
    for (uint32_t i = 0; i < HALF; i++) put_far(events, near[i]);
    for (uint32_t i = HALF; i < EVENTS_NEAR; i++) near[i - HALF] = near[i];
    events->near_count -= HALF;
}

// None is near, but some are far.
static __attribute__((noinline, cold)) void refill(struct event_list *events) {
    event_entry *near = list_of(events);
    uint32_t count = events->far_count < HALF ? events->far_count : HALF;
    for (uint32_t i = count; i-- > 0;) {
        near[i] = take_far(events);
        *place_of(events, near[i]) = NOTICE_IS_NEAR;
    }
    events->near_count = count;
}

static event_entry earlier(event_entry a, event_entry b) {
    return a < b ? a : b;
}

static event_entry later(event_entry a, event_entry b) {
    return a < b ? b : a;
}

// Those that come before make room, which there is at `at`. How many they are is not to be foreseen, so a step moves as
// many as it can without asking, and the last one puts the entry where it belongs by minima and maxima.
static void put_in_order(event_entry *at, event_entry entry) {
    for (; at[-EVENTS_STEP] < entry; at -= EVENTS_STEP) {
        struct {
            event_entry entries[EVENTS_STEP];
        } moved;
        memcpy(&moved, at - EVENTS_STEP, sizeof moved);
        memcpy(at + 1 - EVENTS_STEP, &moved, sizeof moved);
    }
    event_entry first = at[-3], second = at[-2], third = at[-1];
    at[0] = earlier(third, entry);
    at[-1] = earlier(second, later(third, entry));
    at[-2] = earlier(first, later(second, entry));
    at[-3] = later(first, entry);
}

void event_put(struct event_list *events, enum notice_type type, uint32_t subject, int64_t time_ns) {
    event_entry entry = event_entry_of(type, subject, time_ns);
    if (events->near_count == EVENTS_NEAR) spill(events);
    if (events->far_count && events->far[1] < entry) {
        put_far(events, entry);
        return;
    }
    *place_of(events, entry) = NOTICE_IS_NEAR;
    put_in_order(&list_of(events)[events->near_count++], entry);
}

static void leave_near(struct event_list *events, enum notice_subject kind, uint32_t subject) {
    event_entry *near = list_of(events);
    uint32_t at = 0;
    while ((uint64_t)near[at] >> 8 != ((uint64_t)kind << 32 | subject)) at++;
    events->near_count--;
    for (; at < events->near_count; at++) near[at] = near[at + 1];
    if (events->near_count == 0 && events->far_count) refill(events);
}

void event_remove(struct event_list *events, enum notice_subject kind, uint32_t subject) {
    uint32_t *place = &events->place[kind][subject], leaf = *place;
    if (leaf == NOTICE_NONE) return;
    *place = NOTICE_NONE;
    if (leaf == NOTICE_IS_NEAR)
        leave_near(events, kind, subject);
    else
        leave_far(events, leaf);
}

static struct notice notice_of(event_entry entry) {
    return (struct notice){(int64_t)(entry >> 64), number_of(entry), (enum notice_type)((uint64_t)entry & 0xff)};
}

void events_list(const struct event_list *events, struct notice *notices) {
    for (uint32_t i = 0; i < events->near_count; i++) *notices++ = notice_of(events->near[EVENTS_STEP + i]);
    for (uint32_t leaf = 0; leaf < events->leaves; leaf++) {
        const event_entry entry = events->far[events->leaves + leaf];
        if (entry != NO_EVENT) *notices++ = notice_of(entry);
    }
}

struct notice event_take(struct event_list *events) {
    if (events->near_count == 0) return (struct notice){.time_ns = INT64_MAX, .subject = NOTICE_NONE};
    event_entry next = list_of(events)[--events->near_count];
    *place_of(events, next) = NOTICE_NONE;
    if (events->near_count == 0 && events->far_count) refill(events);
    return notice_of(next);
}
