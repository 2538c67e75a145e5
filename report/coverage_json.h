// SPDX-License-Identifier: GPL-3.0-or-later
// rehype.coverage/1 (docs/json.md): all that a chart of it needs is in it.
#ifndef REHYPE_REPORT_COVERAGE_JSON_H
#define REHYPE_REPORT_COVERAGE_JSON_H

#include "metrics/coverage_find.h"
#include "optimize/warnings.h"

#include <cjson/cJSON.h>

// Of the document what is not of the question: everything but traces, whole and unit.
void coverage_json_add(cJSON *document, const struct coverage_found *found, const struct coverage_forecast *wanted,
                       const struct warnings *warnings);

// "sampled" of rehype.info/1: rate, losses, costs, and the share seen; that of nothing (all 0, whole.all NAN) is null.
cJSON *coverage_json_sampled(const struct trace_stacks *stacks, double seconds, const struct coverage_found *seen);

#endif
