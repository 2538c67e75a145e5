// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a program was seen, for people: the answer, the tables, the chart, and what it rests on.
#ifndef REHYPE_REPORT_COVERAGE_TEXT_H
#define REHYPE_REPORT_COVERAGE_TEXT_H

#include "metrics/coverage_find.h"
#include "optimize/warnings.h"

#include <stdio.h>

extern const char *const coverage_whole_names[]; // by enum coverage_whole: woven, chao2, chao1

// "36 of 40 methods (90.0 %)", with where the 40 come from.
const char *coverage_seen_text(const struct coverage_found *found, char *text, size_t size);

// What the figures do not hold for: a curve of too few repetitions, a share above FIT_LOG_MOST, an estimated whole,
// methods that the whole lacks, what sampling lost. false and *error: no memory.
bool coverage_warn(struct warnings *warnings, const struct coverage_found *found,
                   const struct coverage_forecast *wanted, struct error *error);

bool coverage_text_write(const struct coverage_found *found, const struct coverage_forecast *wanted, FILE *file,
                         unsigned look, struct error *error);

#endif
