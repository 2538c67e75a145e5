// SPDX-License-Identifier: GPL-3.0-or-later
// Shares of methods seen against repetitions (S Fig. 3), as text: the points, both curves, and the logarithm's
// interval. Repetitions are on a logarithmic axis, so that S's curve is a straight line.
#ifndef REHYPE_REPORT_COVERAGE_CHART_H
#define REHYPE_REPORT_COVERAGE_CHART_H

#include "metrics/coverage_find.h"

#include <stdio.h>

// How far charts reach: to the wanted share's repetitions, or the recorded ones, whichever is more; but no further than
// a hundred times these.
double coverage_chart_end(const struct coverage_found *found, const struct coverage_forecast *wanted);

void coverage_chart_write(const struct coverage_found *found, double end, FILE *file, bool utf8);

#endif
