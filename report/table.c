// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct table *table) {
    size_t capacity = table->cell_capacity ? table->cell_capacity * 2 : 64;
    struct table_cell *cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells) return false;
    table->cells = cells;
    table->cell_capacity = capacity;
    return true;
}

void table_add_toned(struct table *table, const char *cell, enum look_tone tone) {
    char *copy = arena_string(&table->arena, cell, strlen(cell));
    if (!copy || (table->cell_count == table->cell_capacity && !grow(table))) {
        table->out_of_memory = true;
        return;
    }
    table->cells[table->cell_count++] = (struct table_cell){copy, tone};
}

void table_add(struct table *table, const char *cell) {
    table_add_toned(table, cell, TONE_PLAIN);
}

static const struct table_cell *cell_at(const struct table *table, size_t row, size_t column) {
    static const struct table_cell none = {"", TONE_PLAIN};
    size_t at = row * table->column_count + column;
    return at < table->cell_count ? &table->cells[at] : &none;
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

// ---- Layout

enum { GAP = 2, TEXT_LEAST = 12, HEADING_LEAST = 12, TEXT_MOST = 40, FIGURES_MOST = 32 };

// What is written: columns `first` to `last` - 1, and before them column 0 again where first is not 0.
struct layout {
    const struct table *table;
    FILE *file;
    size_t rows, first, last;
    size_t *widths;
    unsigned look;
};

static size_t max(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t cells_width(const struct layout *layout, size_t column) {
    size_t width = 0;
    for (size_t row = 0; row < layout->rows; row++)
        width = max(width, look_width(cell_at(layout->table, row, column)->text, layout->look));
    return width;
}

static void measure(const struct layout *layout) {
    for (size_t column = 0; column < layout->table->column_count; column++) {
        layout->widths[column] =
            max(cells_width(layout, column), look_width(heading_at(layout->table, column), layout->look));
    }
}

static size_t total_width(const struct layout *layout) {
    size_t total = 0;
    for (size_t column = 0; column < layout->table->column_count; column++) total += GAP + layout->widths[column];
    return total;
}

// The widest text that may still be shortened (also one among figures); column_count where there is none.
static size_t widest_text(const struct layout *layout) {
    const size_t none = layout->table->column_count;
    size_t widest = none;
    for (size_t column = 0; column < none; column++) {
        const bool figures = layout->table->columns[column].align == TABLE_RIGHT;
        if (layout->widths[column] <= (figures ? FIGURES_MOST : TEXT_LEAST)) continue;
        if (widest == none || layout->widths[column] > layout->widths[widest]) widest = column;
    }
    return widest;
}

static void narrow_texts(const struct layout *layout) {
    size_t total = total_width(layout), column;
    for (; total > LOOK_COLUMNS && (column = widest_text(layout)) < layout->table->column_count; total--)
        layout->widths[column]--;
}

// Figures can't be shortened, but the names above them can.
static void narrow_headings(const struct layout *layout) {
    for (size_t column = 0; column < layout->table->column_count; column++) {
        size_t cells = max(cells_width(layout, column), HEADING_LEAST);
        if (layout->table->columns[column].align != TABLE_RIGHT || layout->widths[column] <= cells) continue;
        size_t total = total_width(layout), excess = total > LOOK_COLUMNS ? total - LOOK_COLUMNS : 0;
        layout->widths[column] = layout->widths[column] > cells + excess ? layout->widths[column] - excess : cells;
    }
}

// The columns from layout->first on that stand in one table, beside column 0: as many as fit a line, and of the tables
// that it takes each about as wide.
static void choose_last(struct layout *layout) {
    const size_t count = layout->table->column_count, repeated = GAP + layout->widths[0];
    size_t rest = 0, used = 0, column = max(layout->first, 1);
    for (size_t c = column; c < count; c++) rest += GAP + layout->widths[c];
    const size_t room = LOOK_COLUMNS > repeated ? LOOK_COLUMNS - repeated : 1, tables = (rest + room - 1) / room;
    for (; column < count; column++) {
        const size_t next = used + GAP + layout->widths[column];
        if (used > 0 && (next > room || used * tables >= rest)) break;
        used = next;
    }
    layout->last = layout->look & LOOK_WIDE ? count : column;
}

// Where narrow columns are not enough it will be several tables, which have room for longer texts again.
static void fit(const struct layout *layout) {
    if (layout->look & LOOK_WIDE) return;
    narrow_texts(layout);
    narrow_headings(layout);
    if (total_width(layout) <= LOOK_COLUMNS) return;
    measure(layout);
    for (size_t column = 0; column < layout->table->column_count; column++) {
        if (layout->widths[column] > TEXT_MOST) layout->widths[column] = TEXT_MOST;
    }
    narrow_headings(layout);
}

// ---- Writing

static void write_blanks(FILE *file, size_t count) {
    while (count-- > 0) putc(' ', file);
}

static void write_cell(const struct layout *layout, const struct table_cell *cell, size_t column, bool ends_line) {
    char text[1024];
    const size_t width = layout->widths[column];
    const char *shown = cell->text;
    if (look_width(shown, layout->look) > width) shown = look_shorten(shown, width, layout->look, text, sizeof text);
    const size_t blanks = width - look_width(shown, layout->look);
    write_blanks(layout->file, GAP);
    if (layout->table->columns[column].align == TABLE_RIGHT) write_blanks(layout->file, blanks);
    fputs(look_begin(layout->look, cell->tone), layout->file);
    look_put(layout->file, shown, layout->look);
    fputs(look_end(layout->look, cell->tone), layout->file);
    if (layout->table->columns[column].align == TABLE_LEFT && !ends_line) write_blanks(layout->file, blanks);
}

static bool is_written(const struct layout *layout, size_t column) {
    return column == 0 || column >= layout->first;
}

// Trailing empty cells are left out, so that no line ends in blanks.
static void write_row(const struct layout *layout, size_t row) {
    size_t used = layout->last;
    while (used > 1 && (!is_written(layout, used - 1) || !*cell_at(layout->table, row, used - 1)->text)) used--;
    for (size_t column = 0; column < used; column++) {
        if (is_written(layout, column))
            write_cell(layout, cell_at(layout->table, row, column), column, column + 1 == used);
    }
    putc('\n', layout->file);
}

static void write_headings(const struct layout *layout) {
    for (size_t column = 0; column < layout->last; column++) {
        const struct table_cell heading = {(char *)heading_at(layout->table, column), TONE_PLAIN};
        if (is_written(layout, column)) write_cell(layout, &heading, column, column + 1 == layout->last);
    }
    putc('\n', layout->file);
}

static void write_rule(const struct layout *layout) {
    for (size_t column = 0; column < layout->last; column++) {
        if (!is_written(layout, column)) continue;
        write_blanks(layout->file, GAP);
        for (size_t i = 0; i < layout->widths[column]; i++) putc('-', layout->file);
    }
    putc('\n', layout->file);
}

static void write_columns(const struct layout *layout) {
    if (has_headings(layout->table)) {
        write_headings(layout);
        write_rule(layout);
    }
    for (size_t row = 0; row < layout->rows; row++) write_row(layout, row);
}

bool table_write(const struct table *table, FILE *file, unsigned look, struct error *error) {
    struct layout layout = {.table = table, .file = file, .look = look};
    layout.widths = calloc(table->column_count, sizeof *layout.widths);
    if (!layout.widths || table->out_of_memory) {
        free(layout.widths);
        return error_set(error, STATUS_FAILED, "no memory for a table");
    }
    layout.rows = (table->cell_count + table->column_count - 1) / table->column_count;
    measure(&layout);
    fit(&layout);
    for (; layout.first < table->column_count; layout.first = layout.last) {
        choose_last(&layout);
        if (layout.first > 0) putc('\n', file);
        write_columns(&layout);
    }
    free(layout.widths);
    return true;
}

void table_destroy(struct table *table) {
    free(table->cells);
    arena_destroy(&table->arena);
    table->cells = NULL;
    table->cell_count = table->cell_capacity = 0;
}
