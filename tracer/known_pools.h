// SPDX-License-Identifier: Apache-2.0
// The pools that there are, by id, until each is collected and written: a program may make pools without end. The one
// made last stays, so that in every file the numbers of pools reach as far as any event's. Not for several threads at
// once.
#ifndef REHYPE_TRACER_KNOWN_POOLS_H
#define REHYPE_TRACER_KNOWN_POOLS_H

#include "tracefile/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_pool {
    uint32_t id;
    bool is_written;
    bool is_collected;
    struct trace_pool rules;
};

struct known_pools {
    struct known_pool *pools; // by rising id
    size_t count, capacity;
    size_t unwritten, collected;
    uint32_t made; // ids given so far
};

// The new pool's id; 0 without memory. Of its strings, `name` is the set's own, from malloc or NULL; the others are the
// caller's, and stay.
uint32_t known_pools_add(struct known_pools *known, const struct trace_pool *rules);

// NULL: there is no such pool, or it is forgotten. O(log n).
struct trace_pool *known_pools_find(const struct known_pools *known, uint32_t id);

// The same, for a change: it will be written again.
struct trace_pool *known_pools_change(struct known_pools *known, uint32_t id);

void known_pools_collected(struct known_pools *known, uint32_t id);

void known_pools_write_again(struct known_pools *known);

// Forgets those that are collected and written.
void known_pools_forget(struct known_pools *known);

// Copies of those not written yet, which count as written from now on; to be freed. NULL when there are none (*count
// 0) or no memory. The strings stay until known_pools_forget.
struct known_pool *known_pools_take(struct known_pools *known, size_t *count);

#endif
