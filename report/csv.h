// SPDX-License-Identifier: GPL-3.0-or-later
// CSV (RFC 4180, lines end in \n).
#ifndef REHYPE_REPORT_CSV_H
#define REHYPE_REPORT_CSV_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

void csv_text(FILE *file, const char *text); // one field, quoted where needed, as UTF-8; NULL is empty

// The leaves of a JSON object as columns: names joined by dots ("threads.occupied.peak"), each after a comma unless it
// is the first of its line. null is empty; arrays are left out.
void csv_names(FILE *file, const cJSON *object, const char *prefix, bool first);
void csv_values(FILE *file, const cJSON *object, bool first);
void csv_blanks(FILE *file, const cJSON *object); // as many empty columns, none of them the first

#endif
