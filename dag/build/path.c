// SPDX-License-Identifier: GPL-3.0-or-later
// Paths of tasks: the sets of functions that they entered, each kept once. The sets of the bodies that are open on a
// thread stand on one stack. What entered a set last time is told by a stamp a method, so that entering a function
// costs one comparison; a body within another takes stamps over, so that a set may hold a method twice until it is
// packed.
#include "dag/build/builder.h"

#include <stdlib.h>
#include <string.h>

enum { PACK_LEAST = 64 };

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Sorts, and leaves one of each.
static uint32_t pack(uint32_t *methods, uint32_t count) {
    uint32_t kept = 0;
    qsort(methods, count, sizeof *methods, by_number);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || methods[i] != methods[i - 1]) methods[kept++] = methods[i];
    }
    return kept;
}

struct path_mark path_begin(struct builder *builder) {
    struct path_stack *paths = &builder->paths;
    struct path_mark outer = paths->open;
    paths->open = (struct path_mark){.begin = paths->depth, .stamp = ++paths->stamps, .pack_at = PACK_LEAST};
    return outer;
}

// A packed set that is still large may double before it is packed again.
bool path_add(struct builder *builder, uint32_t method) {
    struct path_stack *paths = &builder->paths;
    if (paths->stamp_of[method] == paths->open.stamp) return true;
    paths->stamp_of[method] = paths->open.stamp;
    uint32_t count = paths->depth - paths->open.begin;
    if (count >= paths->open.pack_at) {
        count = pack(paths->methods + paths->open.begin, count);
        paths->depth = paths->open.begin + count;
        paths->open.pack_at = 2 * count > PACK_LEAST ? 2 * count : PACK_LEAST;
    }
    if (!GROW(paths->methods, paths->depth, paths->capacity)) return no_memory(builder);
    paths->methods[paths->depth++] = method;
    return true;
}

static bool add_path(struct builder *builder, uint64_t hash, const uint32_t *methods, uint32_t length) {
    struct dag *dag = builder->dag;
    if (!GROW(dag->paths, dag->path_count, builder->path_capacity)) return false;
    uint32_t *kept = ARENA_NEW(&dag->arena, uint32_t, length);
    if (!kept) return false;
    if (length) memcpy(kept, methods, length * sizeof *kept);
    dag->paths[dag->path_count++] = (struct dag_path){kept, length, hash};
    return true;
}

static bool path_intern(struct builder *builder, const uint32_t *methods, uint32_t length, uint32_t *path) {
    struct dag *dag = builder->dag;
    uint64_t key = numbers_hash(methods, length);
    for (;; key++) { // the next key where two paths share one
        *path = idmap_get(&builder->path_of_numbers, key);
        if (*path == IDMAP_NONE) break;
        const struct dag_path *known = &dag->paths[*path];
        if (known->length == length && memcmp(known->methods, methods, length * sizeof *methods) == 0) return true;
    }
    *path = dag->path_count;
    if (add_path(builder, methods_hash(builder->trace, methods, length), methods, length) &&
        idmap_add(&builder->path_of_numbers, key, *path))
        return true;
    return no_memory(builder);
}

bool path_end(struct builder *builder, struct path_mark outer, uint32_t *path) {
    struct path_stack *paths = &builder->paths;
    const uint32_t begin = paths->open.begin, count = paths->depth - begin;
    paths->depth = begin;
    paths->open = outer;
    *path = 0;
    if (count == 0) return true; // and methods may be NULL
    uint32_t *methods = paths->methods + begin;
    return path_intern(builder, methods, pack(methods, count), path);
}

bool paths_prepare(struct builder *builder) {
    builder->paths.stamp_of = calloc((size_t)builder->trace->method_count + 1, sizeof *builder->paths.stamp_of);
    uint32_t empty;
    return builder->paths.stamp_of ? path_intern(builder, &(uint32_t){0}, 0, &empty) : no_memory(builder);
}

void paths_destroy(struct builder *builder) {
    free(builder->paths.methods);
    free(builder->paths.stamp_of);
    idmap_destroy(&builder->path_of_numbers);
}
