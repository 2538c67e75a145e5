// SPDX-License-Identifier: Apache-2.0
#include "tracer/known_pools.h"

#include <stdlib.h>

static bool has_room(struct known_pools *known) {
    if (known->count < known->capacity) return true;
    size_t capacity = known->capacity ? known->capacity * 2 : 64;
    struct known_pool *grown = realloc(known->pools, capacity * sizeof *grown);
    if (!grown) return false;
    known->pools = grown;
    known->capacity = capacity;
    return true;
}

uint32_t known_pools_add(struct known_pools *known, const struct trace_pool *rules) {
    if (!has_room(known)) return 0;
    known->pools[known->count++] = (struct known_pool){.id = ++known->made, .rules = *rules};
    known->unwritten++;
    return known->made;
}

static int by_id(const void *id, const void *pool) {
    uint32_t a = *(const uint32_t *)id, b = ((const struct known_pool *)pool)->id;
    return (a > b) - (a < b);
}

static struct known_pool *find(const struct known_pools *known, uint32_t id) {
    return known->count ? bsearch(&id, known->pools, known->count, sizeof *known->pools, by_id) : NULL;
}

struct trace_pool *known_pools_find(const struct known_pools *known, uint32_t id) {
    struct known_pool *pool = find(known, id);
    return pool ? &pool->rules : NULL;
}

struct trace_pool *known_pools_change(struct known_pools *known, uint32_t id) {
    struct known_pool *pool = find(known, id);
    if (pool && pool->is_written) known->unwritten++;
    if (pool) pool->is_written = false;
    return pool ? &pool->rules : NULL;
}

void known_pools_collected(struct known_pools *known, uint32_t id) {
    struct known_pool *pool = find(known, id);
    if (pool && !pool->is_collected) known->collected++;
    if (pool) pool->is_collected = true;
}

void known_pools_write_again(struct known_pools *known) {
    for (size_t i = 0; i < known->count; i++) known->pools[i].is_written = false;
    known->unwritten = known->count;
}

void known_pools_forget(struct known_pools *known) {
    size_t kept = 0;
    if (known->collected == 0) return;
    for (size_t i = 0; i < known->count; i++) {
        struct known_pool *pool = &known->pools[i];
        if (pool->is_collected && pool->is_written && pool->id != known->made)
            free((char *)pool->rules.name);
        else
            known->pools[kept++] = *pool;
    }
    known->collected -= known->count - kept;
    known->count = kept;
}

struct known_pool *known_pools_take(struct known_pools *known, size_t *count) {
    *count = known->unwritten;
    struct known_pool *taken = *count ? malloc(*count * sizeof *taken) : NULL;
    for (size_t i = 0, to = 0; taken && to < *count; i++) {
        if (known->pools[i].is_written) continue;
        taken[to++] = known->pools[i];
        known->pools[i].is_written = true;
    }
    if (taken) known->unwritten = 0;
    return taken;
}
