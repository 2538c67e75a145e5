// SPDX-License-Identifier: GPL-3.0-or-later
// Run-to-run noise as people and programs read it (metrics/runs.h).
#ifndef REHYPE_REPORT_NOISE_H
#define REHYPE_REPORT_NOISE_H

#include "metrics/runs.h"
#include "report/text.h"

#include <cjson/cJSON.h>

// "±12.0 ms" behind a figure's text: how far a median may be off. `look` as of report/look.h.
struct text noise_text(struct text half_width, unsigned look);

// Behind a figure's text in a sentence: " ±12.0 ms"; empty where nothing is known of noise (noises may be NULL).
// digits: behind the point; NOISE_IN_TIME: a duration.
enum { NOISE_IN_TIME = -1 };
struct text noise_behind(const struct noises *noises, enum run_figure figure, int digits, unsigned look);

// "40 more runs", "1 more run", "over 1,000 more runs".
struct text noise_more_text(uint64_t more_runs);

// A sentence on how well the noise of so many runs is known; empty of enough of them.
const char *noise_caveat(size_t runs);

// A figure as JSON has it: times are whole ns.
cJSON *noise_json_figure(enum run_figure figure, double value);

// By figure {"median", "half_width"}; with what they are compared with also whether the change is within the noise
// ("within", null where that is unknown) and how many more runs would tell ("more_runs", null: over 1,000).
cJSON *noise_json(const struct noises *noises, const struct noises *base);

#endif
