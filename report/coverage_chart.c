// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/coverage_chart.h"

#include "report/text.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 60, ROWS = 12 };
enum mark { MARK_NONE, MARK_BAND, MARK_SATURATING, MARK_LOG, MARK_POINT, MARKS };

struct grid {
    enum mark of[ROWS][COLUMNS];
    double end;
};

double coverage_chart_end(const struct coverage_found *found, const struct coverage_forecast *wanted) {
    const double own = fmax((double)found->repetitions, 2), most = 100 * own;
    double end = isnan(wanted->measured) ? wanted->by_log : own;
    if (!isfinite(end)) end = wanted->by_saturation;
    return isfinite(end) ? fmin(fmax(end, own), most) : own;
}

static double repetitions_at(const struct grid *grid, int column) {
    return pow(grid->end, (double)column / (COLUMNS - 1));
}

// The row of a share, from the bottom; -1 where it is none.
static int row_of(double share) {
    if (!(share >= 0) || share > 1) return -1;
    int row = (int)(share * ROWS);
    return row < ROWS ? row : ROWS - 1;
}

static void set(struct grid *grid, int column, double share, enum mark mark) {
    int row = row_of(share);
    if (row >= 0 && grid->of[row][column] < mark) grid->of[row][column] = mark;
}

static void draw_curves(struct grid *grid, const struct coverage_found *found, int column) {
    const double at = repetitions_at(grid, column);
    double low, high;
    coverage_band(found, at, &low, &high);
    for (int row = 0; row < ROWS; row++) {
        double middle = (row + 0.5) / ROWS;
        if (middle >= low && middle <= high) set(grid, column, middle, MARK_BAND);
    }
    if (found->has_log) set(grid, column, log_curve_at(&found->log, at), MARK_LOG);
    if (found->has_saturating) set(grid, column, saturating_curve_at(&found->saturating, at), MARK_SATURATING);
}

static void draw(struct grid *grid, const struct coverage_found *found) {
    for (int column = 0; column < COLUMNS; column++) draw_curves(grid, found, column);
    for (size_t i = 0; i < found->point_count; i++) {
        double column = (COLUMNS - 1) * log(found->points[i].repetitions) / log(grid->end);
        set(grid, (int)lround(column), found->points[i].share, MARK_POINT);
    }
}

static const char *symbol(enum mark mark, bool utf8) {
    static const char *const unicode[MARKS] = {" ", "░", "·", "─", "×"}, *const ascii[MARKS] = {" ", ":", ".", "-",
                                                                                                "x"};
    return utf8 ? unicode[mark] : ascii[mark];
}

static void write_row(const struct grid *grid, int row, FILE *file, bool utf8) {
    bool labelled = (row + 1) % (ROWS / 4) == 0; // the label is that of the row's upper edge
    fprintf(file, "  %7s |", labelled ? text_percent((double)(row + 1) / ROWS).s : "");
    int last = COLUMNS - 1;
    while (last >= 0 && grid->of[row][last] == MARK_NONE) last--;
    for (int column = 0; column <= last; column++) fputs(symbol(grid->of[row][column], utf8), file);
    putc('\n', file);
}

static void write_axis(const struct grid *grid, FILE *file) {
    const struct text end = text_count((uint64_t)llround(grid->end));
    const struct text middle = text_number(round(sqrt(grid->end)));
    const int before = COLUMNS / 2 - 1, after = COLUMNS - before - 1 - (int)strlen(middle.s) - (int)strlen(end.s);
    fprintf(file, "  %7s +", "0");
    for (int column = 0; column < COLUMNS; column++) putc('-', file);
    fprintf(file, "\n           1%*s%s%*s%s\n", before, "", middle.s, after, "", end.s);
}

void coverage_chart_write(const struct coverage_found *found, double end, FILE *file, bool utf8) {
    struct grid grid = {.end = end};
    draw(&grid, found);
    fputs("share of methods seen, by repetitions\n", file);
    for (int row = ROWS - 1; row >= 0; row--) write_row(&grid, row, file, utf8);
    write_axis(&grid, file);
    fprintf(file, "           %s seen", symbol(MARK_POINT, utf8));
    if (found->has_log) fprintf(file, "   %s logarithm", symbol(MARK_LOG, utf8));
    if (found->has_log && !isnan(found->log.var_a)) fprintf(file, "   %s its 95 %% interval", symbol(MARK_BAND, utf8));
    if (found->has_saturating) fprintf(file, "   %s saturation", symbol(MARK_SATURATING, utf8));
    putc('\n', file);
}
