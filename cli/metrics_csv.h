// SPDX-License-Identifier: GPL-3.0-or-later
// What `metrics --csv` prints: a row for each run, and below it one for each of its endpoints; or its actors alone.
#ifndef REHYPE_CLI_METRICS_CSV_H
#define REHYPE_CLI_METRICS_CSV_H

#include "metrics/actor_findings.h"
#include "metrics/endpoints.h"
#include "metrics/metrics.h"

// To stdout; the columns' names above, where it is the first.
void metrics_csv_write(const char *path, const struct dag *dag, const struct metrics *metrics,
                       const struct endpoints *endpoints, bool first);

// The same of report/actors_csv.h's rows.
void metrics_csv_write_actors(const char *path, const struct actor_findings *findings, bool first);

#endif
