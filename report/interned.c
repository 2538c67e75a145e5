// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/interned.h"

#include "tracefile/format.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct interned *interned) {
    if (interned->count < interned->capacity) return true;
    const uint32_t larger = 2 * interned->capacity + 64;
    const char **moved = realloc(interned->texts, larger * sizeof *moved);
    if (!moved) return false;
    interned->texts = moved;
    interned->capacity = larger;
    return true;
}

uint32_t interned_number(struct interned *interned, const char *text) {
    const size_t length = strlen(text);
    uint64_t key = format_checksum(text, length);
    for (uint32_t known; (known = idmap_get(&interned->number_of, key)) != IDMAP_NONE; key++) {
        if (strcmp(interned->texts[known - 1], text) == 0) return known;
    }
    const char *copy = make_room(interned) ? arena_string(&interned->arena, text, length) : NULL;
    if (!copy || !idmap_add(&interned->number_of, key, interned->count + 1)) return 0;
    interned->texts[interned->count] = copy;
    return ++interned->count;
}

void interned_destroy(struct interned *interned) {
    idmap_destroy(&interned->number_of);
    free(interned->texts);
    arena_destroy(&interned->arena);
    *interned = (struct interned){0};
}
