// SPDX-License-Identifier: GPL-3.0-or-later
// Endpoints as columns of CSV: what they are, and the mean time of a request by cause.
#ifndef REHYPE_REPORT_ENDPOINTS_CSV_H
#define REHYPE_REPORT_ENDPOINTS_CSV_H

#include "metrics/endpoints.h"

#include <stdio.h>

// All begin with a comma: other columns stand before.
void endpoints_csv_names(FILE *file);
void endpoints_csv_blanks(FILE *file);
void endpoints_csv_values(const struct dag *dag, const struct endpoint *endpoint, FILE *file);

#endif
