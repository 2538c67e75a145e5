// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of suggest's tables that hold an estimate. What decides comes first: of a service the requests answered a
// second, with what their answers took and the threads that are occupied; of all else wall time, and peak and mean of
// occupied threads.
#ifndef REHYPE_CLI_SUGGEST_COLUMNS_H
#define REHYPE_CLI_SUGGEST_COLUMNS_H

#include "metrics/runs.h"
#include "optimize/search_result.h"
#include "report/table.h"

enum { ESTIMATE_COLUMNS_MOST = 4 };

bool columns_are_of_service(const struct search_result *result);

// Appends the names behind the `count` columns that there are; returns how many there are then.
size_t columns_name(const struct search_result *result, struct table_column *columns, size_t count);

// What the names mean, and what of is better than the run.
const char *columns_legend(const struct search_result *result);
const char *columns_compared(const struct search_result *result);

// The figures that the columns show; returns how many there are.
size_t columns_figures(const struct search_result *result, enum run_figure figures[ESTIMATE_COLUMNS_MOST]);

// Adds their cells; better or worse than the run by more than what the model is off by and, where there are several
// runs, by more than their noise, which stands behind each figure (base, noises: NULL of single runs). NULL: there is
// no estimate.
void columns_add(struct table *table, const struct search_result *result, const struct metrics *estimate,
                 const struct noises *base, const struct noises *noises);

// The same against other figures than the result's.
void columns_add_against(struct table *table, const struct search_result *result, const struct metrics *before,
                         const struct metrics *estimate, const struct noises *base, const struct noises *noises);

#endif
