// SPDX-License-Identifier: GPL-3.0-or-later
// Concurrency profiles (R Fig. 4) as text: occupied threads over normalised time, in block characters.
#ifndef REHYPE_REPORT_CHART_H
#define REHYPE_REPORT_CHART_H

#include "report/look.h"

#include <stdio.h>

#define CHART_COLUMNS 60

struct chart {
    const char *title;
    double values[CHART_COLUMNS]; // mean threads in each part of the run
    double wall_ns;               // what 100 % stands for
};

// A round number that no value of the charts exceeds: the common top of their axes, so that they can be compared by
// eye.
double chart_top(const struct chart *charts, size_t count);

void chart_write(const struct chart *chart, double top, FILE *file, unsigned look);

#endif
