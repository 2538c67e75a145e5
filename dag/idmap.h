// SPDX-License-Identifier: GPL-3.0-or-later
// A map from 64-bit keys to 32-bit numbers: open addressing, at most half full. Zero-initialise. Not shared by threads.
#ifndef REHYPE_DAG_IDMAP_H
#define REHYPE_DAG_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX // no number may be this

struct idmap_slot {
    uint64_t key;
    uint32_t value;
};

struct idmap {
    struct idmap_slot *slots;
    size_t count, capacity; // capacity is 0 or a power of two
};

uint32_t idmap_get(const struct idmap *map, uint64_t key); // IDMAP_NONE if it isn't there

// Adds a key that isn't there. false when there is no memory.
bool idmap_add(struct idmap *map, uint64_t key, uint32_t value);
void idmap_destroy(struct idmap *map);

// The same for ids that are handed out one after the other, as the tracer's threads do, in pages of consecutive ones:
// what is near in time is near in memory. An id without such neighbours costs a page. Zero-initialise.
#define IDPAGE 64

struct idpages {
    struct idmap page_of; // by id / IDPAGE
    uint32_t (*pages)[IDPAGE];
    uint32_t count, capacity;
    uint64_t recent; // 1 + id / IDPAGE of what was found last, and as a rule is asked for again; 0: none
    uint32_t recent_page;
};

// The numbers of several ids, IDMAP_NONE of those that aren't there. Their memory is fetched side by side, which of one
// after the other takes its time.
#define IDS_AT_ONCE 32 // at most
void idpages_get_all(const struct idpages *pages, const uint64_t *ids, uint32_t count, uint32_t *numbers);

// Where the id's number stands or, being IDMAP_NONE, is to be put; valid until the next call. NULL when there is no
// memory.
uint32_t *idpages_at(struct idpages *pages, uint64_t id);
void idpages_destroy(struct idpages *pages);

#endif
