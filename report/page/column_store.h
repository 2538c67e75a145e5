// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of numbers, as bytes that gzip makes small: each number as LEB128, whose first, second and further bytes lie
// in planes of their own, since they are distributed differently. Written or read: one code for both (column_value), so
// that what reads a number always follows what wrote it.
#ifndef REHYPE_REPORT_PAGE_COLUMN_STORE_H
#define REHYPE_REPORT_PAGE_COLUMN_STORE_H

#include "tracefile/writer.h"

enum { COLUMN_PLANES = 3 };

struct column {
    struct trace_memory planes[COLUMN_PLANES]; // written; as read they point into the packed bytes, `room` is 0
    size_t at[COLUMN_PLANES];                  // read so far
};

struct column_store {
    struct column *columns;
    uint32_t count;
    bool writes;
    bool failed; // written: no memory; read: a column ended too early, or holds what is no number
};

bool column_store_init(struct column_store *store, uint32_t count, bool writes); // false: no memory
void column_store_destroy(struct column_store *store);

// Writes the value and returns it, or returns the next one; 0 after a failure. Cost: some 3 ns.
uint64_t column_value(struct column_store *store, uint32_t column, uint64_t value);

// Sizes, and then the bytes.
bool column_store_put(const struct column_store *store, struct trace_memory *packed);      // false: no memory
bool column_store_get(struct column_store *store, const uint8_t **at, const uint8_t *end); // false: they are short
bool column_store_is_used_up(const struct column_store *store); // all that was there has been read

// Bytes to the end of memory. false: no memory.
bool memory_put(struct trace_memory *memory, const void *bytes, size_t size);
bool memory_put_number(struct trace_memory *memory, uint64_t number);

#endif
