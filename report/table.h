// SPDX-License-Identifier: GPL-3.0-or-later
// A text table with aligned columns. Cells come from untrusted traces: control characters are shown as '?', and bytes
// outside ASCII too where the terminal is not UTF-8. Without LOOK_WIDE no line is longer than LOOK_COLUMNS: texts are
// shortened in the middle, the longest first, and where that is not enough the last columns stand in a table of their
// own below, with the first column again. Not thread-safe.
#ifndef REHYPE_REPORT_TABLE_H
#define REHYPE_REPORT_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "report/look.h"

#include <stdio.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *heading;    // NULL in every column: no heading line
    enum table_align align; // what is aligned to the left is text, which may be shortened
};

struct table_cell {
    char *text;
    enum look_tone tone;
};

struct table {
    const struct table_column *columns; // the caller's
    size_t column_count;
    struct table_cell *cells; // row by row
    size_t cell_count, cell_capacity;
    bool out_of_memory;
    struct arena arena;
};

#define TABLE_INIT(columns_array)                                                                                      \
    { .columns = (columns_array), .column_count = sizeof(columns_array) / sizeof *(columns_array) }

// The next cell, row by row; copied. Running out of memory is remembered until table_write.
void table_add(struct table *table, const char *cell);
void table_add_toned(struct table *table, const char *cell, enum look_tone tone);

// Writes the rows, indented by two spaces, without trailing blanks. A last row that isn't full is filled up.
bool table_write(const struct table *table, FILE *file, unsigned look, struct error *error);
void table_destroy(struct table *table);

#endif
