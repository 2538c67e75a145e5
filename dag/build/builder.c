// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/builder.h"

#include "base/pages.h"

#include <stdlib.h>

bool no_memory(struct builder *builder) {
    return error_set(builder->error, STATUS_FAILED, "no memory for the graph of %llu events",
                     (unsigned long long)builder->trace->event_count);
}

bool grow_array(void **array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return true;
    if (*capacity > UINT32_MAX / 2) return false;
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *moved = realloc(*array, larger * size);
    if (!moved) return false;
    pages_prefer_huge(moved, larger * size);
    *array = moved;
    *capacity = larger;
    return true;
}

bool open_push(struct open_stack *stack, struct open_entry entry) {
    if (!GROW(stack->entries, stack->depth, stack->capacity)) return false;
    stack->entries[stack->depth++] = entry;
    return true;
}

uint32_t open_find(const struct open_stack *stack, enum open_kind kind, uint64_t id) {
    uint32_t depth = stack->depth;
    while (depth && (stack->entries[depth - 1].kind != kind || stack->entries[depth - 1].id != id)) depth--;
    return depth;
}
