// SPDX-License-Identifier: GPL-3.0-or-later
// Actors and messages as rows of CSV: one for each actor type; one for each message type with it, of what the two had
// to do with each other; and one for each message type, of all actors. Which a row is, its empty names say.
#ifndef REHYPE_REPORT_ACTORS_CSV_H
#define REHYPE_REPORT_ACTORS_CSV_H

#include "metrics/actor_findings.h"

#include <stdio.h>

void actors_csv_names(FILE *file); // the first line
// `trace`: what the run is called in its rows. A trace without actors has none.
void actors_csv_write(const char *trace, const struct actor_findings *findings, FILE *file);

#endif
