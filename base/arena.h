// SPDX-License-Identifier: Apache-2.0
// An arena for what lives as long as a trace, a class or a plan: allocation is a pointer bump, release is all at once.
// Returned memory is zeroed and aligned to 16 bytes. Not thread-safe. Allocation cost: a few ns.
#ifndef REHYPE_BASE_ARENA_H
#define REHYPE_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; // newest first
    size_t bytes;              // handed out so far
};

#define ARENA_INIT                                                                                                     \
    { .chunk = NULL, .bytes = 0 }

// NULL when the system has no memory left or count * size overflows; nothing else fails.
void *arena_alloc(struct arena *arena, size_t count, size_t size);
char *arena_string(struct arena *arena, const char *text, size_t length); // a terminated copy

// Frees everything; the arena is empty and may be used again. Copes with an arena that was never used.
void arena_destroy(struct arena *arena);

#define ARENA_NEW(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

#endif
