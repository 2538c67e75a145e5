// SPDX-License-Identifier: GPL-3.0-or-later
// In which functions requests sleep, and calls that follow one another (metrics/calls.h), in words.
#ifndef REHYPE_REPORT_CALLS_TEXT_H
#define REHYPE_REPORT_CALLS_TEXT_H

#include "metrics/calls.h"
#include "metrics/endpoints.h"

#include <stdio.h>

// A table of the functions in which the first `most` endpoints' requests sleep.
bool calls_text_write(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls, size_t most,
                      FILE *file, unsigned look, struct error *error);

// How that could be told, where no functions were recorded and requests sleep for long.
void calls_text_write_missing(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file);

// Whether there is a sequence that would save enough of some request's time to be told; then, of the first `most`
// endpoints, a paragraph each.
bool calls_text_has_sequences(const struct endpoints *endpoints, const struct calls *calls, size_t most);
void calls_text_write_sequences(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls,
                                size_t most, FILE *file, unsigned look);

void calls_text_write_advice(const struct dag *dag, const struct call_advice *advice, FILE *file, unsigned look);

#endif
