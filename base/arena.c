// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

// Under AddressSanitizer what was not handed out is poisoned, to the byte: else it would see no overflow in a chunk.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)0)
enum { GAP_BYTES = 0 }; // between two allocations
#endif

enum { ALIGNMENT = 16, FIRST_CHUNK_BYTES = 16 << 10, LARGEST_STEP_BYTES = 64 << 20 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t used, size; // of memory[]
    _Alignas(ALIGNMENT) unsigned char memory[];
};

static struct arena_chunk *chunk_new(struct arena *arena, size_t least) {
    size_t size = arena->chunk ? arena->chunk->size * 2 : FIRST_CHUNK_BYTES;
    if (size > LARGEST_STEP_BYTES) size = LARGEST_STEP_BYTES;
    if (size < least) size = least;
    if (size > SIZE_MAX - sizeof(struct arena_chunk)) return NULL;
    struct arena_chunk *chunk =
        calloc(1, sizeof(struct arena_chunk) + size); // calloc: large chunks come zeroed for free
    if (!chunk) return NULL;
    pages_prefer_huge(chunk, size);
    chunk->older = arena->chunk;
    chunk->size = size;
    ASAN_POISON_MEMORY_REGION(chunk->memory, size);
    arena->chunk = chunk;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
    size_t asked;
    if (__builtin_mul_overflow(count, size, &asked) || asked > SIZE_MAX - ALIGNMENT - GAP_BYTES) return NULL;
    const size_t bytes = ((asked + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + GAP_BYTES;
    struct arena_chunk *chunk = arena->chunk;
    if (!chunk || chunk->size - chunk->used < bytes) chunk = chunk_new(arena, bytes);
    if (!chunk) return NULL;
    void *memory = chunk->memory + chunk->used;
    ASAN_UNPOISON_MEMORY_REGION(memory, asked);
    chunk->used += bytes;
    arena->bytes += bytes;
    return memory;
}

char *arena_string(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void arena_destroy(struct arena *arena) {
    while (arena->chunk) {
        struct arena_chunk *older = arena->chunk->older;
        ASAN_UNPOISON_MEMORY_REGION(arena->chunk->memory, arena->chunk->size);
        free(arena->chunk);
        arena->chunk = older;
    }
    arena->bytes = 0;
}
