// SPDX-License-Identifier: GPL-3.0-or-later
// Endpoints as text: the answer, how long their requests take, and where the time goes.
#ifndef REHYPE_REPORT_ENDPOINTS_TEXT_H
#define REHYPE_REPORT_ENDPOINTS_TEXT_H

#include "metrics/endpoints.h"

#include <stdio.h>

// Of the most important endpoint in a sentence. Nothing without requests.
void endpoints_text_write_answer(const struct dag *dag, const struct endpoints *endpoints, FILE *file, unsigned look);

// At most `most` endpoints, and a line that says how many more there are.
bool endpoints_text_write(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                          unsigned look, struct error *error);

// Where the time of their requests goes, the causes that take a hundredth of it or more.
bool endpoints_text_write_causes(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                                 unsigned look, struct error *error);

// How many threads and units of resources they hold at once on average.
bool endpoints_text_write_held(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                               unsigned look, struct error *error);

#endif
