// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/idmap.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static size_t slot_of(const struct idmap *map, uint64_t key) {
    uint64_t mixed = key * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio: consecutive ids spread over the table
    size_t slot = (size_t)(mixed >> 32) & (map->capacity - 1);
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

uint32_t idpages_get(struct idpages *pages, uint64_t id) {
    uint32_t page = find_page(pages, id / IDPAGE);
    return page == IDMAP_NONE ? IDMAP_NONE : pages->pages[page][id % IDPAGE];
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
