// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/chart.h"

#include "report/text.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8, EIGHTHS = 8 };

double chart_top(const struct chart *charts, size_t count) {
    static const double steps[] = {1, 2, 3, 4, 5, 6, 8, 10};
    double most = 0, scale = 1;
    for (size_t i = 0; i < count; i++) {
        for (size_t column = 0; column < CHART_COLUMNS; column++) most = fmax(most, charts[i].values[column]);
    }
    while (most > 10 * scale * 1.001) scale *= 10;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (most <= steps[i] * scale * 1.001) return steps[i] * scale;
    }
    return 10 * scale;
}

// How much of a character cell is filled, in eighths. What isn't nothing shows at least a sliver.
static int filled(double value, double top, int row) {
    double level = value / top * ROWS - row;
    if (row == 0 && value > 0 && level < 1.0 / EIGHTHS) return 1;
    int eighths = (int)lround(level * EIGHTHS);
    return eighths < 0 ? 0 : eighths > EIGHTHS ? EIGHTHS : eighths;
}

static const char *block(int eighths, unsigned look) {
    static const char *const unicode[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (look & LOOK_UTF8) return unicode[eighths];
    return eighths == 0 ? " " : eighths < 3 ? "_" : eighths < 6 ? "=" : "#";
}

static void write_row(const struct chart *chart, double top, int row, FILE *file, unsigned look) {
    bool labelled = row == ROWS - 1 || row == ROWS / 2 - 1; // the label is that of the row's upper edge
    fprintf(file, "  %6s |", labelled ? text_number(top * (row + 1) / ROWS).s : "");
    int last = CHART_COLUMNS - 1;
    while (last >= 0 && filled(chart->values[last], top, row) == 0) last--;
    for (int column = 0; column <= last; column++) fputs(block(filled(chart->values[column], top, row), look), file);
    putc('\n', file);
}

static void write_axis(const struct chart *chart, FILE *file) {
    static const char percent[] = "0 %                          50 %                        100 %";
    fprintf(file, "  %6s +", "0");
    for (int column = 0; column < CHART_COLUMNS; column++) putc('-', file);
    fprintf(file, "\n          %s of %s\n", percent, text_duration(chart->wall_ns).s);
}

void chart_write(const struct chart *chart, double top, FILE *file, unsigned look) {
    fprintf(file, "%s: occupied threads\n", chart->title);
    for (int row = ROWS - 1; row >= 0; row--) write_row(chart, top, row, file, look);
    write_axis(chart, file);
}
