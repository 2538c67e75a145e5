// SPDX-License-Identifier: Apache-2.0
#include "tracer/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *name, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

static bool is_name(const char *slot, const char *name, size_t length) {
    return strncmp(slot, name, length) == 0 && slot[length] == '\0';
}

static char **find(char **slots, size_t capacity, const char *name, size_t length) {
    size_t at = hash(name, length) & (capacity - 1);
    while (slots[at] && !is_name(slots[at], name, length)) at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct names *names) {
    size_t capacity = names->capacity ? names->capacity * 2 : 64;
    char **slots = calloc(capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < names->capacity; i++) {
        char *name = names->slots[i];
        if (name) *find(slots, capacity, name, strlen(name)) = name;
    }
    free(names->slots);
    names->slots = slots;
    names->capacity = capacity;
    return true;
}

const char *names_keep(struct names *names, const char *name, size_t length) {
    if (names->count * 2 >= names->capacity && !grow(names)) return NULL;
    char **slot = find(names->slots, names->capacity, name, length);
    if (*slot) return *slot;
    *slot = strndup(name, length);
    names->count += *slot != NULL;
    return *slot;
}

bool names_add(struct names *names, const char *name, size_t length) {
    return names_keep(names, name, length);
}

bool names_have(const struct names *names, const char *name, size_t length) {
    return names->capacity && *find(names->slots, names->capacity, name, length);
}

void names_clear(struct names *names) {
    for (size_t i = 0; i < names->capacity; i++) free(names->slots[i]);
    free(names->slots);
    *names = (struct names){0};
}
