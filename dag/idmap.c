// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/idmap.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static size_t first_slot_of(const struct idmap *map, uint64_t key) {
    uint64_t mixed = key * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio: consecutive ids spread over the table
    return (size_t)(mixed >> 32) & (map->capacity - 1);
}

static size_t slot_of(const struct idmap *map, uint64_t key) {
    size_t slot = first_slot_of(map, key);
    while (map->slots[slot].value != IDMAP_NONE && map->slots[slot].key != key) slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

uint32_t idmap_get(const struct idmap *map, uint64_t key) {
    return map->capacity ? map->slots[slot_of(map, key)].value : IDMAP_NONE;
}

static bool grow(struct idmap *map) {
    struct idmap larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY, .count = map->count};
    larger.slots = malloc(larger.capacity * sizeof *larger.slots);
    if (!larger.slots) return false;
    for (size_t i = 0; i < larger.capacity; i++) larger.slots[i] = (struct idmap_slot){.value = IDMAP_NONE};
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].value != IDMAP_NONE) larger.slots[slot_of(&larger, map->slots[i].key)] = map->slots[i];
    }
    free(map->slots);
    *map = larger;
    return true;
}

bool idmap_add(struct idmap *map, uint64_t key, uint32_t value) {
    if (map->count * 2 >= map->capacity && !grow(map)) return false;
    map->slots[slot_of(map, key)] = (struct idmap_slot){key, value};
    map->count++;
    return true;
}

void idmap_destroy(struct idmap *map) {
    free(map->slots);
    *map = (struct idmap){0};
}

static uint32_t find_page(struct idpages *pages, uint64_t key) {
    if (key + 1 == pages->recent) return pages->recent_page;
    uint32_t page = idmap_get(&pages->page_of, key);
    if (page == IDMAP_NONE) return IDMAP_NONE;
    pages->recent = key + 1;
    pages->recent_page = page;
    return page;
}

// One step for all before the next for any.
void idpages_get_all(const struct idpages *pages, const uint64_t *ids, uint32_t count, uint32_t *numbers) {
    if (pages->count == 0) {
        for (uint32_t i = 0; i < count; i++) numbers[i] = IDMAP_NONE;
        return;
    }
    uint32_t page_of[IDS_AT_ONCE];
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&pages->page_of.slots[first_slot_of(&pages->page_of, ids[i] / IDPAGE)]);
    for (uint32_t i = 0; i < count; i++) {
        page_of[i] = idmap_get(&pages->page_of, ids[i] / IDPAGE);
        if (page_of[i] != IDMAP_NONE) __builtin_prefetch(&pages->pages[page_of[i]][ids[i] % IDPAGE]);
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = page_of[i] == IDMAP_NONE ? IDMAP_NONE : pages->pages[page_of[i]][ids[i] % IDPAGE];
}

static bool add_page(struct idpages *pages, uint64_t key) {
    if (pages->count == pages->capacity) {
        uint32_t larger = pages->capacity ? pages->capacity * 2 : 16;
        void *moved = realloc(pages->pages, larger * sizeof *pages->pages);
        if (!moved) return false;
        pages_prefer_huge(moved, larger * sizeof *pages->pages);
        pages->pages = moved;
        pages->capacity = larger;
    }
    if (!idmap_add(&pages->page_of, key, pages->count)) return false;
    memset(pages->pages[pages->count++], 0xff, sizeof *pages->pages); // IDMAP_NONE
    return true;
}

uint32_t *idpages_at(struct idpages *pages, uint64_t id) {
    uint32_t page = find_page(pages, id / IDPAGE);
    if (page == IDMAP_NONE) {
        page = pages->count;
        if (!add_page(pages, id / IDPAGE)) return NULL;
    }
    return &pages->pages[page][id % IDPAGE];
}

void idpages_destroy(struct idpages *pages) {
    idmap_destroy(&pages->page_of);
    free(pages->pages);
    *pages = (struct idpages){0};
}
