// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/column_store.h"

#include "tracefile/format.h"

#include <stdlib.h>
#include <string.h>

bool column_store_init(struct column_store *store, uint32_t count, bool writes) {
    *store = (struct column_store){calloc(count, sizeof *store->columns), count, writes, false};
    return store->columns;
}

void column_store_destroy(struct column_store *store) {
    for (uint32_t c = 0; store->writes && store->columns && c < store->count; c++) {
        for (int plane = 0; plane < COLUMN_PLANES; plane++) free(store->columns[c].planes[plane].bytes);
    }
    free(store->columns);
    *store = (struct column_store){0};
}

static bool make_room(struct trace_memory *memory, size_t more) {
    if (memory->room - memory->size >= more) return true;
    size_t room = memory->room < 64 ? 64 : 2 * memory->room;
    if (room < memory->size + more) room = memory->size + more;
    uint8_t *bytes = realloc(memory->bytes, room);
    if (!bytes) return false;
    memory->bytes = bytes;
    memory->room = room;
    return true;
}

bool memory_put(struct trace_memory *memory, const void *bytes, size_t size) {
    if (!make_room(memory, size)) return false;
    if (size) memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return true;
}

bool memory_put_number(struct trace_memory *memory, uint64_t number) {
    uint8_t bytes[VARINT_BYTES_MAX];
    return memory_put(memory, bytes, (size_t)(varint_put(bytes, number) - bytes));
}

static inline bool put_byte(struct trace_memory *plane, uint8_t byte) {
    if (plane->size == plane->room && !make_room(plane, 1)) return false;
    plane->bytes[plane->size++] = byte;
    return true;
}

static uint64_t put_value(struct column_store *store, struct column *column, uint64_t value) {
    uint64_t left = value;
    int plane = 0;
    bool ok = true;
    for (; left >= 0x80; left >>= 7) {
        ok &= put_byte(&column->planes[plane], (uint8_t)(left | 0x80));
        if (plane < COLUMN_PLANES - 1) plane++;
    }
    ok &= put_byte(&column->planes[plane], (uint8_t)left);
    store->failed |= !ok;
    return value;
}

static uint64_t get_value(struct column_store *store, struct column *column) {
    uint64_t value = 0;
    int plane = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (column->at[plane] == column->planes[plane].size) break;
        const uint8_t byte = column->planes[plane].bytes[column->at[plane]++];
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
        if (plane < COLUMN_PLANES - 1) plane++;
    }
    store->failed = true;
    return 0;
}

uint64_t column_value(struct column_store *store, uint32_t column, uint64_t value) {
    struct column *of = &store->columns[column];
    return store->writes ? put_value(store, of, value) : get_value(store, of);
}

bool column_store_put(const struct column_store *store, struct trace_memory *packed) {
    bool ok = true;
    for (uint32_t c = 0; ok && c < store->count; c++) {
        for (int plane = 0; ok && plane < COLUMN_PLANES; plane++)
            ok = memory_put_number(packed, store->columns[c].planes[plane].size);
    }
    for (uint32_t c = 0; ok && c < store->count; c++) {
        for (int plane = 0; ok && plane < COLUMN_PLANES; plane++)
            ok = memory_put(packed, store->columns[c].planes[plane].bytes, store->columns[c].planes[plane].size);
    }
    return ok;
}

bool column_store_get(struct column_store *store, const uint8_t **at, const uint8_t *end) {
    for (uint32_t c = 0; c < store->count; c++) {
        for (int plane = 0; plane < COLUMN_PLANES; plane++) {
            uint64_t size;
            if (!varint_get(at, end, &size) || size > SIZE_MAX) return false;
            store->columns[c].planes[plane].size = (size_t)size;
        }
    }
    for (uint32_t c = 0; c < store->count; c++) {
        for (int plane = 0; plane < COLUMN_PLANES; plane++) {
            struct trace_memory *of = &store->columns[c].planes[plane];
            if (of->size > (size_t)(end - *at)) return false;
            of->bytes = (uint8_t *)(uintptr_t)*at; // which is only read
            *at += of->size;
        }
    }
    return *at == end;
}

bool column_store_is_used_up(const struct column_store *store) {
    for (uint32_t c = 0; c < store->count; c++) {
        for (int plane = 0; plane < COLUMN_PLANES; plane++)
            if (store->columns[c].at[plane] != store->columns[c].planes[plane].size) return false;
    }
    return true;
}
