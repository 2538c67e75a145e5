// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct table *table) {
    size_t capacity = table->cell_capacity ? table->cell_capacity * 2 : 64;
    char **cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells) return false;
    table->cells = cells;
    table->cell_capacity = capacity;
    return true;
}

void table_add(struct table *table, const char *cell) {
    char *copy = arena_string(&table->arena, cell, strlen(cell));
    if (!copy || (table->cell_count == table->cell_capacity && !grow(table))) {
        table->out_of_memory = true;
        return;
    }
    table->cells[table->cell_count++] = copy;
}

// A byte that can't be shown as it is becomes '?'.
static char shown(char byte, bool utf8) {
    unsigned char code = (unsigned char)byte;
    return code < 0x20 || code == 0x7f || (code >= 0x80 && !utf8) ? '?' : byte;
}

// In code points: right for the letters that class names are made of.
static size_t width_of(const char *cell, bool utf8) {
    size_t width = 0;
    for (; *cell; cell++) width += !utf8 || ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static void write_blanks(FILE *file, size_t count) {
    while (count-- > 0) putc(' ', file);
}

static void write_cell(FILE *file, const char *cell, size_t width, enum table_align align, bool last, bool utf8) {
    size_t blanks = width - width_of(cell, utf8);
    if (align == TABLE_RIGHT) write_blanks(file, blanks);
    for (const char *byte = cell; *byte; byte++) putc(shown(*byte, utf8), file);
    if (align == TABLE_LEFT && !last) write_blanks(file, blanks);
}

static void write_rule(FILE *file, const size_t *widths, size_t columns) {
    for (size_t column = 0; column < columns; column++) {
        fputs("  ", file);
        for (size_t i = 0; i < widths[column]; i++) putc('-', file);
    }
    putc('\n', file);
}

static const char *cell_at(const struct table *table, size_t row, size_t column) {
    size_t at = row * table->column_count + column;
    return at < table->cell_count ? table->cells[at] : "";
}

static bool has_headings(const struct table *table) {
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].heading) return true;
    }
    return false;
}

static const char *heading_at(const struct table *table, size_t column) {
    return table->columns[column].heading ? table->columns[column].heading : "";
}

static void measure(const struct table *table, size_t rows, size_t *widths, bool utf8) {
    for (size_t column = 0; column < table->column_count; column++) {
        widths[column] = width_of(heading_at(table, column), utf8);
        for (size_t row = 0; row < rows; row++) {
            size_t width = width_of(cell_at(table, row, column), utf8);
            if (width > widths[column]) widths[column] = width;
        }
    }
}

static void write_headings(const struct table *table, FILE *file, const size_t *widths, bool utf8) {
    size_t last = table->column_count - 1;
    for (size_t column = 0; column <= last; column++) {
        fputs("  ", file);
        write_cell(file, heading_at(table, column), widths[column], table->columns[column].align, column == last, utf8);
    }
    putc('\n', file);
    write_rule(file, widths, table->column_count);
}

// Trailing empty cells are left out, so that no line ends in blanks.
static void write_row(const struct table *table, FILE *file, size_t row, const size_t *widths, bool utf8) {
    size_t used = table->column_count;
    while (used > 1 && !*cell_at(table, row, used - 1)) used--;
    for (size_t column = 0; column < used; column++) {
        fputs("  ", file);
        write_cell(file, cell_at(table, row, column), widths[column], table->columns[column].align, column + 1 == used,
                   utf8);
    }
    putc('\n', file);
}

bool table_write(const struct table *table, FILE *file, bool utf8, struct error *error) {
    size_t *widths = calloc(table->column_count, sizeof *widths);
    if (!widths || table->out_of_memory) {
        free(widths);
        return error_set(error, STATUS_FAILED, "no memory for a table");
    }
    size_t rows = (table->cell_count + table->column_count - 1) / table->column_count;
    measure(table, rows, widths, utf8);
    if (has_headings(table)) write_headings(table, file, widths, utf8);
    for (size_t row = 0; row < rows; row++) write_row(table, file, row, widths, utf8);
    free(widths);
    return true;
}

void table_destroy(struct table *table) {
    free(table->cells);
    arena_destroy(&table->arena);
    table->cells = NULL;
    table->cell_count = table->cell_capacity = 0;
}
