// SPDX-License-Identifier: Apache-2.0
// The layout is HotSpot's PerfMemory (perfMemory.hpp), the same from JDK 6 to 25: a prologue, then entries, each with
// where its name and its value lie from the entry's own begin. Numbers are the machine's.
#include "tracer/jvm_counters.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct prologue {
    uint8_t magic[4];
    uint8_t byte_order, major, minor, accessible;
    int32_t used, overflow;
    int64_t modified;
    int32_t first_entry, entries;
};

struct entry {
    int32_t length, name, elements;
    uint8_t type, flags, units, variability;
    int32_t value;
};

static const uint8_t magic[] = {0xca, 0xfe, 0xc0, 0xc0};

const uint8_t *jvm_counters_map(size_t *size) {
    char line[4352];
    unsigned long long from = 0, to = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return NULL;
    while (!to && fgets(line, sizeof line, maps)) {
        if (strstr(line, "/hsperfdata_") && sscanf(line, "%llx-%llx", &from, &to) != 2) to = 0;
    }
    fclose(maps);
    *size = (size_t)(to - from);
    return to ? (const uint8_t *)(uintptr_t)from : NULL; // NOLINT(performance-no-int-to-ptr)
}

static bool is_named(const uint8_t *at, const struct entry *entry, const char *name) {
    size_t length = strlen(name) + 1;
    return entry->name >= (int32_t)sizeof *entry && (int64_t)entry->name + (int64_t)length <= entry->length &&
           memcmp(at + entry->name, name, length) == 0;
}

static bool has_number(const struct entry *entry) {
    return entry->type == 'J' && entry->elements == 0 && entry->value >= (int32_t)sizeof *entry &&
           entry->value % (int32_t)sizeof(int64_t) == 0 && (int64_t)entry->value + 8 <= entry->length;
}

const volatile int64_t *jvm_counters_find(const uint8_t *map, size_t size, const char *name) {
    struct prologue prologue;
    struct entry entry;
    if (!map || size < sizeof prologue) return NULL;
    memcpy(&prologue, map, sizeof prologue);
    if (memcmp(prologue.magic, magic, sizeof magic) != 0 || prologue.major != 2) return NULL;
    size_t at = prologue.first_entry > 0 ? (size_t)prologue.first_entry : size;
    for (int32_t i = 0; i < prologue.entries && at < size && size - at >= sizeof entry; i++) {
        memcpy(&entry, map + at, sizeof entry);
        if (entry.length < (int32_t)sizeof entry || (size_t)entry.length > size - at) return NULL;
        if (is_named(map + at, &entry, name) && has_number(&entry))
            return (const volatile int64_t *)(const void *)(map + at + entry.value);
        at += (size_t)entry.length;
    }
    return NULL;
}
